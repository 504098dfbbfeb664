"""Averages over the relevant documents of precision and of recall: AP and AR."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.kernels import counts, pairwise
from deadheat.kernels.segments import batches, ratio
from deadheat.measures.base import CutMeasure, JointMeasure, SumMeasure, also_called, register
from deadheat.measures.parameters import Choice, parameter
from deadheat.measures.top import RelevanceMeasure, constant_norm
from deadheat.placements.placements import Placements, Relevant

NORM = Choice(("R", "min", "retrieved", "retrieved_all"))
NORM_MEANING = "divisor: relevant documents, min(that, k), those in the retrieved top k, those in the whole list"


class CountConditional(RelevanceMeasure, CutMeasure):
    """A sum over the relevant documents in the top k, divided by their number, random when the cutoff cuts a tie.

    Given that number, the rest is independent: the moments are mixed over its distribution, and the extremes are
    searched over all numbers that can occur, as they need not be at an end.
    """

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

    def line(
        self,
        placements: Placements,  # noqa: ARG002 - of measures that look at more
        size: FloatArray,
        query: IntArray | slice,  # noqa: ARG002 - as above
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slope and the start of the value as a line over the sum, for so many relevant documents.

        Parameters
        ----------
        placements : Placements
        size : ndarray
            Relevant documents in the top k, 1 or more.
        query : ndarray or slice
            Whose they are.
        """
        return 1 / size, np.zeros_like(size)

    def conditional_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance over all tie orders."""
        found, inside, whole, cut = self._split(placements)
        mean, variance = self._parts(found, whole, inside, self.part_moments)
        mean, variance = (placements.by_query(part, found.query[whole]) for part in (mean, variance))
        n = placements.by_query(found.count[whole], found.query[whole])
        sums, spread, empty = mean.copy(), variance.copy(), self.empty(placements)
        slope, start = self.line(placements, np.maximum(n, 1.0), slice(None))
        mean, variance = np.where(n > 0, start + slope * sums, empty), np.where(n > 0, spread * slope**2, 0.0)
        query = found.query[cut]

        def given(index: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
            part, part_variance = self.part_moments(found, cut[index], inside[cut[index]], count)
            of = query[index, None]
            size = found.before[cut[index], None] + count
            slope, start = self.line(placements, np.maximum(size, 1.0), of)
            value = np.where(size > 0, start + slope * (sums[of] + part), empty[of])
            return value, np.where(size > 0, (spread[of] + part_variance) * slope**2, 0.0)

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
        slope, start = self.line(placements, np.maximum(n, 1.0), slice(None))
        one, other = (np.where(n > 0, start + slope * end, empty) for end in ends)
        low, high = np.minimum(one, other), np.maximum(one, other)
        for index, count, _ in counts.distribution(found.tied[cut], inside[cut], found.count[cut]):
            group = cut[index]
            query = found.query[group]
            size = found.before[group, None] + count
            parts = self.part_extremes(found, group, inside[group], count)
            slope, start = self.line(placements, np.maximum(size, 1.0), query[:, None])
            values = np.array(
                [
                    np.where(size > 0, start + slope * (end[query, None] + part), empty[query, None])
                    for end, part in zip(ends, parts, strict=True)
                ]
            )
            low[query], high[query] = values.min(axis=(0, 2)), values.max(axis=(0, 2))
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


@register
class AP(SumMeasure, CountConditional):
    r"""Average precision.

    .. math:: AP@k = \frac{1}{N} \sum_{i \le k,\ d_i\ \text{relevant}} C_i / i

    with :math:`C_i` the relevant documents in the top i. N is R (``norm="R"``), min(R, k) (``"min"``), the relevant
    documents in the retrieved top k (``"retrieved"``) or in the whole list (``"retrieved_all"``).

    References
    ----------
    Buckley and Voorhees 2000, https://doi.org/10.1145/345508.345543; ties: McSherry and Najork 2008, section 2.4,
    https://doi.org/10.1007/978-3-540-78646-7_38, where the term of a tie of one is 0 and not 0/0.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AP", "AP(norm='min')@1"]).means()
    {'AP': 0.375, "AP(norm='min')@1": 0.5}
    """

    title = "average precision"
    formula = "AP@k = 1/N ∑ C_i / i over the ranks i ≤ k of relevant documents"
    aliases = ("MAP",)
    trec_eval = ("map", "map_cut_{}")

    norm: str = parameter("R", NORM, NORM_MEANING)

    @property
    def is_zero_or_one(self) -> bool:
        """Whether it is the precision of the first rank, divided by 1."""
        return self.cutoff == 1 and self.norm in {"min", "retrieved"}

    @property
    def is_conditional(self) -> bool:
        """Whether the divisor depends on the order."""
        return self.norm == "retrieved" and self.cutoff is not None

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        return self.conditional_moments(placements)[0] if self.is_conditional else super().mean(placements)

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return self.conditional_moments(placements)[1] if self.is_conditional else super().variance(placements)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum of precisions over all tie orders, or its variance (`squares`)."""
        found = placements.relevant(self.rel)
        inside = self.inside(found.above, found.tied)
        is_needed = (inside > 0) & (found.count < found.tied) if squares else inside > 0
        index = np.flatnonzero(is_needed)
        sums = self._rank_sums(found, index, inside[index], squares=squares)
        patterns = pairwise.binary_patterns(found.count[index], found.before[index])
        part = (pairwise.variance if squares else pairwise.mean)(patterns, sums, found.tied[index])
        return placements.by_query(part, found.query[index])

    def divisor(self, placements: Placements) -> FloatArray:
        """Return N."""
        return constant_norm(self.norm, placements, self.rel, self.cutoff)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        return self.conditional_extremes(placements) if self.is_conditional else super().extremes(placements)

    def empty(self, placements: Placements) -> FloatArray:
        """Return 0."""
        return np.zeros(placements.n_queries)

    def part_moments(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's sum of precisions."""
        flat = self._rank_sums(found, index, inside, squares=True)
        sums = pairwise.RankSums(*(getattr(flat, name)[:, None] for name in flat.__dataclass_fields__))
        patterns = pairwise.binary_patterns(count, found.before[index, None])
        n = inside[:, None]
        variance = np.where(count < n, pairwise.variance(patterns, sums, n), 0.0)
        return pairwise.mean(patterns, sums, n), variance

    def part_extremes(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sum with the relevant documents on the last ranks, and on the first ones."""
        low, high = np.zeros(count.shape), np.zeros(count.shape)
        for rows, width in batches(inside):
            j, m, x = np.arange(1, width + 1), inside[rows, None], count[rows]
            above, before = found.above[index[rows], None], found.before[index[rows], None]
            real = j <= m
            first = np.where(real, (before + j) / (above + j), 0.0)
            last = np.where(real, 1 / np.maximum(above + m - j + 1, 1), 0.0)
            first, last = (np.pad(np.cumsum(part, axis=1), ((0, 0), (1, 0))) for part in (first, last))
            high[rows] = np.take_along_axis(first, x, axis=1)
            low[rows] = x + (before - above - m + x) * np.take_along_axis(last, x, axis=1)
        return low, high

    @staticmethod
    def _rank_sums(found: Relevant, index: IntArray, inside: IntArray, *, squares: bool) -> pairwise.RankSums:
        above = found.above[index]
        return pairwise.rank_sums(inside, lambda rows, j: 1 / (above[rows, None] + j), squares=squares)


@register
class AR(JointMeasure, RelevanceMeasure, CutMeasure):
    r"""Average recall.

    .. math:: AR@k = \frac{1}{N} \sum_{i \le k,\ d_i\ \text{relevant}} \frac{C_i}{R} = \frac{C_k (C_k + 1)}{2 R N}

    with :math:`C_i` the relevant documents in the top i and N as for `AP`. The order inside the top k does not matter;
    divided by the retrieved relevant documents it is (C_k + 1) / 2R.

    References
    ----------
    No paper that we know of: tutorials define it like `AP`, with recall in place of precision.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AR", "AR@1"]).means()
    {'AR': 0.25, 'AR@1': 0.125}
    """

    title = "average recall"
    formula = "AR@k = 1/N ∑ C_i / R over the ranks i ≤ k of relevant documents, or C_k (C_k + 1) / (2 R N)"
    aliases = ("MAR",)

    norm: str = parameter("R", NORM, NORM_MEANING)

    def moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance over all tie orders."""
        found = placements.relevant(self.rel)
        inside = self.inside(found.above, found.tied)
        cut = np.flatnonzero((inside > 0) & (inside < found.tied))
        whole = inside == found.tied
        query = found.query[cut]
        mean = self._of_count(placements, placements.by_query(found.count * whole, found.query), slice(None))
        variance = np.zeros(placements.n_queries)

        def given(index: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
            total = (found.before[cut[index], None] + count).astype(np.float64)
            return self._of_count(placements, total, query[index, None]), np.zeros(count.shape)

        mean[query], variance[query] = counts.mix(found.tied[cut], inside[cut], found.count[cut], given)
        return mean, variance

    def _of_count(self, placements: Placements, count: FloatArray, query: IntArray | slice) -> FloatArray:
        n_relevant = placements.n_relevant(self.rel)[query].astype(np.float64)
        if self.norm == "retrieved":
            return ratio(np.where(count > 0, count + 1, 0.0), 2 * n_relevant)
        norm = constant_norm(self.norm, placements, self.rel, self.cutoff)[query]
        return ratio(count * (count + 1), 2 * n_relevant * norm)


MAP, MAR = also_called(AP, "MAP"), also_called(AR, "MAR")
