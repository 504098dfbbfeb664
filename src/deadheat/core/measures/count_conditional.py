"""Sums over the relevant documents in the top k, divided by their number, which the order of ties may change."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels import counts
from deadheat.core.kernels.counts import Relevant
from deadheat.core.measures.families import CutMeasure, JointMeasure
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements


@dataclass(frozen=True, eq=False)
class SplitTies:
    """The ties with a relevant document: those that the cutoff cuts, and what is known of those wholly within it.

    Attributes
    ----------
    relevant : Relevant
        All of these ties.
    inside : ndarray of shape (n_ties,)
        How many ranks of each tie are within the cutoff.
    cut : ndarray of int
        The indices of the ties that the cutoff cuts: at most one in each query.
    n_sure : ndarray of shape (n_queries,)
        Relevant documents in the ties wholly within the cutoff.
    sums : tuple of two ndarray of shape (n_queries,)
        What the ties wholly within the cutoff add to the sum: its mean and variance, or its minimum and maximum.
    """

    relevant: Relevant
    inside: IntArray
    cut: IntArray
    n_sure: FloatArray
    sums: tuple[FloatArray, FloatArray]


class CountConditional(RelevanceMeasure, CutMeasure, JointMeasure):
    """A sum over the relevant documents in the top k, divided by their number.

    That number is random where the cutoff cuts a tie. Given the number, the parts of the ties are independent, so the
    moments are mixed over its distribution. The extremes are searched over all numbers that can occur, as they need not
    be at the smallest or the largest one.
    """

    @abstractmethod
    def part_moments(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's part of the sum.

        Parameters
        ----------
        ties : Relevant
        index : ndarray of shape (b,)
            The ties to compute.
        inside : ndarray of shape (b,)
            Ranks over which the documents are spread.
        count : ndarray of shape (b, w)
            Relevant documents on these ranks.
        """

    @abstractmethod
    def part_extremes(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest part of the sum; parameters as for :meth:`part_moments`."""

    def value_if_none(self, placements: Placements) -> FloatArray:
        """Return the value of a list without a relevant document in the top k, of shape (n_queries,)."""
        return np.zeros(placements.n_queries)

    def line(
        self,
        placements: Placements,  # noqa: ARG002 - some measures need it
        size: FloatArray,
        query: IntArray | slice,  # noqa: ARG002 - and this one
    ) -> tuple[FloatArray, FloatArray]:
        """Return slope and intercept of the value over the sum, which is a line for each number of relevant documents.

        Parameters
        ----------
        placements : Placements
        size : ndarray
            Numbers of relevant documents in the top k, each 1 or more.
        query : ndarray or slice
            The query of each number.
        """
        return 1 / size, np.zeros_like(size)

    def contributing(self, placements: Placements) -> Placements:
        """Return the placements of the relevant documents, within the cutoff if it is the deepest rank that counts."""
        placements = super().contributing(placements)
        return placements.rows(placements.relevance >= self.rel)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        ties = self._split_ties(placements, self.part_moments)
        sum_mean, sum_variance = ties.sums
        mean, slope = self._find_value(placements, ties.n_sure, sum_mean, slice(None))
        variance = sum_variance * slope**2
        cut = ties.relevant[ties.cut]

        def moments_given(index: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
            """Return mean and variance, given that `count` relevant documents of each cut tie are within the cutoff."""
            tie = ties.cut[index]
            query = cut.query[index, None]
            size = cut.before[index, None] + count
            part_mean, part_variance = self.part_moments(ties.relevant, tie, ties.inside[tie], count)
            value, slope = self._find_value(placements, size, sum_mean[query] + part_mean, query)
            return value, (sum_variance[query] + part_variance) * slope**2

        cut_mean, cut_variance = counts.mix(cut.tied, ties.inside[ties.cut], cut.count, moments_given)
        mean[cut.query] = cut_mean
        variance[cut.query] = cut_variance
        return mean, variance

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        ties = self._split_ties(placements, self.part_extremes)
        smallest_sum, largest_sum = ties.sums
        of_smallest, _ = self._find_value(placements, ties.n_sure, smallest_sum, slice(None))
        of_largest, _ = self._find_value(placements, ties.n_sure, largest_sum, slice(None))
        low, high = np.minimum(of_smallest, of_largest), np.maximum(of_smallest, of_largest)
        cut = ties.relevant[ties.cut]
        for index, count, _ in counts.distribution(cut.tied, ties.inside[ties.cut], cut.count):
            tie = ties.cut[index]
            query = cut.query[index, None]
            size = cut.before[index, None] + count
            smallest_part, largest_part = self.part_extremes(ties.relevant, tie, ties.inside[tie], count)
            of_smallest, _ = self._find_value(placements, size, smallest_sum[query] + smallest_part, query)
            of_largest, _ = self._find_value(placements, size, largest_sum[query] + largest_part, query)
            values = np.array((of_smallest, of_largest))  # of shape (2, n_ties, n_counts)
            low[query[:, 0]] = values.min(axis=(0, 2))
            high[query[:, 0]] = values.max(axis=(0, 2))
        return low, high

    def _split_ties(
        self,
        placements: Placements,
        find_part: Callable[[Relevant, IntArray, IntArray, IntArray], tuple[FloatArray, FloatArray]],
    ) -> SplitTies:
        """Return the ties, and what those wholly within the cutoff add; `find_part` is a method of this class."""
        relevant = placements.relevant(self.rel)
        inside = self.inside(relevant.above, relevant.tied)
        uncut = np.flatnonzero(inside == relevant.tied)
        query, count = relevant.query[uncut], relevant.count[uncut]
        first, second = find_part(relevant, uncut, inside[uncut], count[:, None])
        return SplitTies(
            relevant=relevant,
            inside=inside,
            cut=np.flatnonzero((inside > 0) & (inside < relevant.tied)),
            n_sure=placements.by_query(count, query),
            sums=(placements.by_query(first[:, 0], query), placements.by_query(second[:, 0], query)),
        )

    def _find_value(
        self, placements: Placements, size: FloatArray | IntArray, sums: FloatArray, query: IntArray | slice
    ) -> tuple[FloatArray, FloatArray]:
        """Return the value for numbers of relevant documents and their sums, and its slope over the sum."""
        slope, intercept = self.line(placements, np.maximum(size, 1.0), query)
        value = np.where(size > 0, intercept + slope * sums, self.value_if_none(placements)[query])
        return value, np.where(size > 0, slope, 0.0)
