"""Averages over the relevant documents of precision and of recall: AP and AR."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.kernels import counts, pairwise
from deadheat.kernels.counts import Relevant
from deadheat.kernels.segments import batches, ratio
from deadheat.measures.base import CutMeasure, JointMeasure, Measure, SumMeasure, also_called, register
from deadheat.measures.parameters import Choice, parameter
from deadheat.measures.top import RelevanceMeasure, constant_norm
from deadheat.placements.placements import Placements

NORM = Choice(("R", "min", "retrieved", "retrieved_all"))
NORM_MEANING = "divisor: relevant documents, min(that, k), those in the retrieved top k, those in the whole list"


class CountConditional(RelevanceMeasure, CutMeasure, JointMeasure):
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

    def empty(self, placements: Placements) -> FloatArray:
        """Return the value without a relevant document in the top k, of shape (n_queries,)."""
        return np.zeros(placements.n_queries)

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

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        found, inside, cut, n, (sums, spread) = self._split(placements, self.part_moments)
        mean, slope = self._value(placements, n, sums, slice(None))
        variance, query = spread * slope**2, found.query[cut]

        def given(index: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
            tie, of = cut[index], query[index, None]
            part, part_variance = self.part_moments(found, tie, inside[tie], count)
            value, slope = self._value(placements, found.before[tie, None] + count, sums[of] + part, of)
            return value, (spread[of] + part_variance) * slope**2

        mean[query], variance[query] = counts.mix(found.tied[cut], inside[cut], found.count[cut], given)
        return mean, variance

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        found, inside, cut, n, ends = self._split(placements, self.part_extremes)
        one, other = (self._value(placements, n, end, slice(None))[0] for end in ends)
        low, high = np.minimum(one, other), np.maximum(one, other)
        for index, count, _ in counts.distribution(found.tied[cut], inside[cut], found.count[cut]):
            tie, query = cut[index], found.query[cut[index]]
            size, parts = found.before[tie, None] + count, self.part_extremes(found, tie, inside[tie], count)
            sums = [end[query, None] + part for end, part in zip(ends, parts, strict=True)]
            values = np.array([self._value(placements, size, total, query[:, None])[0] for total in sums])
            low[query], high[query] = values.min(axis=(0, 2)), values.max(axis=(0, 2))
        return low, high

    def _split(
        self,
        placements: Placements,
        part: Callable[[Relevant, IntArray, IntArray, IntArray], tuple[FloatArray, FloatArray]],
    ) -> tuple[Relevant, IntArray, IntArray, FloatArray, list[FloatArray]]:
        """Return the ties, their ranks inside, which of them are cut, and what those wholly inside add up to.

        That is each query's number of relevant documents in them, and its sums of the two numbers that `part` finds.
        """
        found = placements.relevant(self.rel)
        inside = self.inside(found.above, found.tied)
        whole = np.flatnonzero(inside == found.tied)
        cut = np.flatnonzero((inside > 0) & (inside < found.tied))
        parts = part(found, whole, inside[whole], found.count[whole, None])
        count, *sums = (
            placements.by_query(one, found.query[whole]) for one in (found.count[whole], *(two[:, 0] for two in parts))
        )
        return found, inside, cut, count, sums

    def _value(
        self, placements: Placements, size: FloatArray | IntArray, sums: FloatArray, query: IntArray | slice
    ) -> tuple[FloatArray, FloatArray]:
        """Return the value of so many relevant documents with such a sum, and how it grows with the sum."""
        slope, start = self.line(placements, np.maximum(size, 1.0), query)
        value = np.where(size > 0, start + slope * sums, self.empty(placements)[query])
        return value, np.where(size > 0, slope, 0.0)


@register(
    "average precision",
    "AP@k = 1/N ∑ C_i / i over the ranks i ≤ k of relevant documents",
    aliases=("MAP",),
    trec_eval=("map", "map_cut_{}"),
)
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
        return (CountConditional if self.is_conditional else SumMeasure).mean(self, placements)

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return (CountConditional if self.is_conditional else SumMeasure).variance(self, placements)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum of precisions over all tie orders, or its variance (`squares`)."""
        found = placements.relevant(self.rel)
        inside = self.inside(found.above, found.tied)
        if not (squares or placements.have_ties):  # as in drawn orders, which are many: the same, to the last bit
            precision = np.where(inside > 0, (found.before + 1) * (1 / (found.above + 1)), 0.0)
            return placements.by_query(precision, found.query)
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
        return (CountConditional if self.is_conditional else Measure).extremes(self, placements)

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


@register(
    "average recall",
    "AR@k = 1/N ∑ C_i / R over the ranks i ≤ k of relevant documents, or C_k (C_k + 1) / (2 R N)",
    aliases=("MAR",),
)
class AR(CountConditional):
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

    norm: str = parameter("R", NORM, NORM_MEANING)

    def part_moments(
        self,
        found: Relevant,  # noqa: ARG002 - of measures that look at the ranks
        index: IntArray,  # noqa: ARG002 - as above
        inside: IntArray,  # noqa: ARG002 - as above
        count: IntArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return 0: only the number of relevant documents matters."""
        return np.zeros(count.shape), np.zeros(count.shape)

    part_extremes = part_moments

    def line(self, placements: Placements, size: FloatArray, query: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return the value of so many relevant documents, which depends on no sum."""
        n_relevant = placements.n_relevant(self.rel)[query].astype(np.float64)
        norm = size if self.norm == "retrieved" else constant_norm(self.norm, placements, self.rel, self.cutoff)[query]
        return np.zeros(size.shape), ratio(size * (size + 1), 2 * n_relevant * norm)


MAP, MAR = also_called(AP, "MAP"), also_called(AR, "MAR")
