"""Averages over the relevant documents of precision and of recall: AP and AR; GAP and Q of graded relevance."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.kernels import counts, pairwise
from deadheat.core.kernels.counts import Relevant
from deadheat.core.kernels.segments import batches, divide_or_zero, scan_before, segment_sums
from deadheat.core.measures.discounted import gains_of, scale_top
from deadheat.core.measures.families import CutMeasure, JointMeasure, SumMeasure, computed_once
from deadheat.core.measures.parameters import Choice, Number, parameter
from deadheat.core.measures.registration import alias_class, register
from deadheat.core.measures.top import NormMeasure, RelevanceMeasure, constant_norm
from deadheat.core.placements.placements import Placements

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

    def contributing(self, placements: Placements) -> Placements:
        """Return the placements of the relevant documents."""
        found = super().contributing(placements)
        return found.rows(found.relevance >= self.rel)

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
class AP(NormMeasure, SumMeasure, CountConditional):
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
        return CountConditional.mean(self, placements) if self.is_conditional else SumMeasure.mean(self, placements)

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return (
            CountConditional.variance(self, placements)
            if self.is_conditional
            else SumMeasure.variance(self, placements)
        )

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum of precisions over all tie orders, or its variance (`squares`)."""
        return self._moment(placements, placements.relevant(self.rel), squares=squares)

    def _moment(self, placements: Placements, found: Relevant, *, squares: bool) -> FloatArray:
        inside = self.inside(found.above, found.tied)
        part = np.zeros(len(inside))
        if not squares:  # of a document that ties with no other, as most do: the same, to the last bit
            part = np.where(inside > 0, (found.before + 1) * (1 / (found.above + 1)), 0.0)
        index = np.flatnonzero((inside > 0) & ((found.count < found.tied) if squares else (found.tied > 1)))
        if len(index):
            sums = self._rank_sums(found, index, inside[index], squares=squares)
            patterns = pairwise.binary_patterns(found.count[index], found.before[index])
            part[index] = (pairwise.variance if squares else pairwise.mean)(patterns, sums, found.tied[index])
        return placements.by_query(part, found.query)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return N."""
        return constant_norm(self.norm, placements, self.rel, self.cutoff)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        if self.is_conditional:
            return CountConditional.extremes(self, placements)
        ties, divisor = placements.relevant(self.rel), self.divisor(placements)
        low, high = (self._moment(placements, ties.separate(best=best), squares=False) for best in (False, True))
        return divide_or_zero(low, divisor), divide_or_zero(high, divisor)

    def part_moments(
        self, found: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's sum of precisions."""
        sums = self._rank_sums(found, index, inside, squares=True).as_columns()
        patterns = pairwise.binary_patterns(count, found.before[index, None])
        n = inside[:, None]
        return pairwise.mean(patterns, sums, n), np.where(count < n, pairwise.variance(patterns, sums, n), 0.0)

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
        return pairwise.rank_sums(inside, lambda rows, j: 1 / (found.above[index[rows], None] + j), squares=squares)


@register(
    "average recall",
    "AR@k = 1/N ∑ C_i / R over the ranks i ≤ k of relevant documents, or C_k (C_k + 1) / (2 R N)",
    aliases=("MAR",),
)
class AR(NormMeasure, CountConditional):
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
        norm = size if self.norm == "retrieved" else constant_norm(self.norm, placements, self.rel, self.cutoff)[query]
        return np.zeros(size.shape), divide_or_zero(
            size * (size + 1), 2.0 * placements.n_relevant(self.rel)[query] * norm
        )


MAP, MAR = alias_class(AP, "MAP"), alias_class(AR, "MAR")


LARGEST_BETA = 1e6  # the count is lost in the gain from there on, and squares of still larger ones overflow


@dataclass(frozen=True)
class Sums:
    """Pairwise sums of the ties that hold documents with a value; `varied` tells which hold different ones."""

    patterns: pairwise.Patterns
    varied: BoolArray
    query: IntArray
    above: IntArray
    tied: IntArray

    @classmethod
    def of(
        cls, placements: Placements, rows: IntArray, starts: IntArray, values: FloatArray, patterns: pairwise.Patterns
    ) -> "Sums":
        """Return the sums of patterns that were made from the values of some rows, whose ties start at `starts`."""
        query, above, tied = (column[rows][starts] for column in (placements.query, placements.above, placements.tied))
        sizes = np.diff(np.append(starts, len(rows)))
        other = values != values[np.repeat(starts, sizes)]
        varied = (segment_sums(other.astype(np.int64), starts) > 0) | (sizes < tied)
        return cls(patterns, varied, query, above, tied)


def moment(
    placements: Placements,
    found: Sums,
    inside: IntArray,
    weight: Callable[[IntArray, IntArray], FloatArray],
    *,
    squares: bool,
) -> FloatArray:
    """Return the mean of the pairwise sum by query, or its variance (`squares`)."""
    sums = pairwise.rank_sums(inside, weight, squares=squares)
    part = (pairwise.variance if squares else pairwise.mean)(found.patterns, sums, found.tied)
    if squares:  # a tie of equal documents has no variance, and no rounding error of one
        part = np.where(found.varied, part, 0.0)
    return placements.by_query(part, found.query)


@register(
    "graded average precision",
    "GAP@k = ∑ g_h C_(i,h) / i over i ≤ k and levels h ≤ r_i, divided by ∑ g_h over judged d and h ≤ r_d",
)
class GAP(SumMeasure, CutMeasure):
    r"""Graded average precision.

    .. math:: GAP = \frac{\sum_h g_h \sum_{i \le k,\ r_i \ge h} C_{i,h} / i}{\sum_d \sum_{h \le r_d} g_h}

    with ``C_(i,h)`` the documents of relevance h or more in the top i, and equal weights g on the levels
    1 .. `max_rel`: the average over users who each call another level relevant.

    References
    ----------
    Robertson, Kanoulas and Yilmaz 2010, https://doi.org/10.1145/1835449.1835550.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 0.5, "b": 0.5}}, ["GAP"]).means()
    {'GAP': 0.9166666666666666}
    """

    max_rel: float | None = parameter(
        None, Number(low=1, optional=True), "top of the scale; None: highest relevance of the qrels"
    )

    def _values(self, placements: Placements, relevance: FloatArray) -> FloatArray:
        """Return the weight of all levels that each relevance reaches."""
        return np.floor(np.maximum(relevance, 0.0)) / max(np.floor(scale_top(self.max_rel, placements, "GAP")), 1.0)

    @computed_once("max_rel")
    def _sums(self, placements: Placements) -> Sums:
        """Sum over pairs: two documents are both relevant for all who call the lower of their levels relevant."""
        rows = np.flatnonzero(placements.relevance >= 1)
        values, query = self._values(placements, placements.relevance[rows]), placements.query[rows]
        starts = run_starts(query, placements.above[rows])
        group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
        above = pairwise.minima_above(values, query, group - np.searchsorted(query[starts], query))
        return Sums.of(placements, rows, starts, values, pairwise.minimum_patterns(values, above, starts))

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the value of each query's judgments, added up."""
        return placements.by_query(self._values(placements, placements.judged_relevance), placements.judged_query)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        found = self._sums(placements)
        inside = self.inside(found.above, found.tied)
        return moment(placements, found, inside, lambda rows, j: 1 / (found.above[rows, None] + j), squares=squares)

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a judgment of level 1 or more."""
        return placements.n_relevant(1) > 0


@register("Q-measure", "Q@k = 1/R ∑ (C_i + β cg_i) / (i + β cg^*_i) over the ranks i ≤ k of relevant documents")
class Q(SumMeasure, RelevanceMeasure, CutMeasure):
    r"""Q-measure: average precision whose precision is blended with cumulative gain.

    .. math:: Q@k = \frac{1}{R} \sum_{i \le k,\ d_i\ \text{relevant}} \frac{C_i + \beta\, cg_i}{i + \beta\, cg^*_i}

    with :math:`C_i` relevant documents and :math:`cg_i` their cumulative gain (positive relevance) in the top i, and
    :math:`cg^*_i` the same for the ideal ranking of all judged documents. Documents of relevance below `rel` gain
    nothing. ``beta=0`` is average precision.

    References
    ----------
    Sakai 2007, https://doi.org/10.1016/j.ipm.2006.07.020.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "b": 2}}, {"q": {"a": 0.5, "b": 0.5}}, ["Q"]).means()
    {'Q': 0.9166666666666666}
    """

    binary = False

    beta: float = parameter(1, Number(low=0, high=LARGEST_BETA), "weight of the gain against the count")

    @computed_once("rel", "beta")
    def _sums(self, placements: Placements) -> Sums:
        rows = np.flatnonzero(placements.relevance >= self.rel)
        query, relevant = placements.query[rows], np.ones(len(rows))
        starts = run_starts(query, placements.above[rows])
        values = relevant + self.beta * gains_of("linear", placements.relevance[rows])
        before = scan_before(segment_sums(values, starts), query[starts], np.add)
        above = np.repeat(before, np.diff(np.append(starts, len(rows))))
        return Sums.of(placements, rows, starts, values, pairwise.product_patterns(relevant, values, above, starts))

    @computed_once("rel")
    def _ideal(self, placements: Placements) -> FloatArray:
        """Return the cumulative gain of the ideal ranking down to each judgment, of shape (n_judged,)."""
        relevance = placements.judged_relevance
        gains = np.where(relevance >= self.rel, gains_of("linear", relevance), 0.0)
        return gains + scan_before(gains, placements.judged_query, np.add)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        found, ideal = self._sums(placements), self._ideal(placements)
        judged = placements.n_relevant(-np.inf)
        start = np.cumsum(judged) - judged

        def weight(rows: IntArray, j: IntArray) -> FloatArray:
            rank, query = found.above[rows, None] + j, found.query[rows, None]
            gain = ideal[start[query] + np.minimum(rank, judged[query]) - 1]
            return 1 / (rank + self.beta * gain)

        return moment(placements, found, self.inside(found.above, found.tied), weight, squares=squares)

    def divisor(self, placements: Placements) -> IntArray:
        """Return R."""
        return placements.n_relevant(self.rel)
