"""Measures whose divisor is the number of relevant documents in the top k, a random number when the cutoff cuts a tie.

Given that number, the rest is independent: the moments are mixed over its distribution, and the extremes are
searched over all numbers that can occur, as they need not lie at an end.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.kernels import counts
from deadheat.measures.base import CutMeasure
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.placements import Placements, Relevant


class CountConditional(RelevanceMeasure, CutMeasure):
    """A sum over the relevant documents in the top k, divided by their number."""

    @abstractmethod
    def part_moments(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's part of the sum.

        Parameters
        ----------
        found : Relevant
        index : ndarray of shape (b,)
            The ties.
        inside : ndarray of shape (b,)
            Ranks over which the documents are spread.
        count : ndarray of shape (b, w)
            Relevant documents on these ranks.
        """

    @abstractmethod
    def part_extremes(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest part of the sum; parameters as for :meth:`part_moments`."""

    @abstractmethod
    def empty(self, placements: Placements) -> FloatArray:
        """Return the value without a relevant document in the top k, of shape (n_queries,)."""

    def conditional_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance over all tie orders."""
        found, inside, whole, cut = self._split(placements)
        mean, variance = self._parts(found, whole, inside, self.part_moments)
        mean, variance = (placements.by_query(part, found.query[whole]) for part in (mean, variance))
        n = placements.by_query(found.count[whole], found.query[whole])
        sums, spread, empty = mean.copy(), variance.copy(), self.empty(placements)
        mean = np.where(n > 0, sums / np.maximum(n, 1), empty)
        variance = np.where(n > 0, spread / np.maximum(n, 1) ** 2, 0.0)
        query = found.query[cut]

        def given(index: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
            part, part_variance = self.part_moments(found, cut[index], inside[cut[index]], count)
            of = query[index, None]
            size = found.before[cut[index], None] + count
            value = np.where(size > 0, (sums[of] + part) / np.maximum(size, 1), empty[of])
            return value, np.where(size > 0, (spread[of] + part_variance) / np.maximum(size, 1) ** 2, 0.0)

        mean[query], variance[query] = counts.mix(found.tied[cut], inside[cut], found.count[cut], given)
        return mean, variance

    def conditional_extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        found, inside, whole, cut = self._split(placements)
        ends = [
            placements.by_query(part, found.query[whole])
            for part in self._parts(found, whole, inside, self.part_extremes)
        ]
        n, empty = placements.by_query(found.count[whole], found.query[whole]), self.empty(placements)
        low, high = (np.where(n > 0, end / np.maximum(n, 1), empty) for end in ends)
        for index, count, _ in counts.distribution(found.tied[cut], inside[cut], found.count[cut]):
            group = cut[index]
            query = found.query[group]
            size = found.before[group, None] + count
            parts = self.part_extremes(found, group, inside[group], count)
            values = [
                np.where(size > 0, (end[query, None] + part) / np.maximum(size, 1), empty[query, None])
                for end, part in zip(ends, parts, strict=True)
            ]
            low[query], high[query] = values[0].min(axis=1), values[1].max(axis=1)
        return low, high

    def _split(self, placements: Placements) -> tuple[Relevant, IntArray, IntArray, IntArray]:
        """Return the ties, their ranks inside, and which of them are wholly inside and which are cut."""
        found = placements.relevant(self.rel)
        inside = self.inside(found.above, found.tied)
        whole = np.flatnonzero(inside == found.tied)
        return found, inside, whole, np.flatnonzero((inside > 0) & (inside < found.tied))

    @staticmethod
    def _parts(
        found: Relevant,
        index: IntArray,
        inside: IntArray,
        part: Callable[[Relevant, IntArray, IntArray, IntArray], tuple[FloatArray, FloatArray]],
    ) -> tuple[FloatArray, FloatArray]:
        one, other = part(found, index, inside[index], found.count[index, None])
        return one[:, 0], other[:, 0]
