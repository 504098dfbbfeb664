"""Averages over the relevant documents of precision and of recall: AP and AR; GAP and Q of graded relevance."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.kernels import counts, pairwise
from deadheat.core.kernels.counts import Relevant
from deadheat.core.kernels.segments import batches, divide_or_zero, scan_before, segment_sums
from deadheat.core.measures.families import CutMeasure, JointMeasure, SumMeasure, computed_once
from deadheat.core.measures.gains import compute_gains, scale_top
from deadheat.core.measures.parameters import Choice, Number, parameter
from deadheat.core.measures.registration import alias_class, register
from deadheat.core.measures.top import NormMeasure, RelevanceMeasure, constant_norm
from deadheat.core.placements.placements import Placements

NORM = Choice(("R", "min", "retrieved", "retrieved_all"))
NORM_MEANING = "divisor: relevant documents, min(that, k), those in the retrieved top k, those in the whole list"


@dataclass(frozen=True, eq=False)
class SplitTies:
    """The ties with a relevant document, apart by whether the cutoff cuts them.

    Attributes
    ----------
    relevant : Relevant
        All of them.
    inside : ndarray of shape (n_ties,)
        Ranks of each that are within the cutoff.
    cut : ndarray of int
        Which ones the cutoff cuts: at most one of each query.
    n_sure : ndarray of shape (n_queries,)
        Relevant documents in the ties wholly within the cutoff.
    sums : tuple of two ndarray of shape (n_queries,)
        What these ties add to the sum: mean and variance, or the smallest and the largest.
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

    def empty(self, placements: Placements) -> FloatArray:
        """Return the value without a relevant document in the top k, of shape (n_queries,)."""
        return np.zeros(placements.n_queries)

    def line(
        self,
        placements: Placements,  # noqa: ARG002 - of measures that look at more
        size: FloatArray,
        query: IntArray | slice,  # noqa: ARG002 - as above
    ) -> tuple[FloatArray, FloatArray]:
        """Return the slope and the intercept of the value as a line over the sum, for so many relevant documents.

        Parameters
        ----------
        placements : Placements
        size : ndarray
            Relevant documents in the top k, 1 or more.
        query : ndarray or slice
            The query of each.
        """
        return 1 / size, np.zeros_like(size)

    def contributing(self, placements: Placements) -> Placements:
        """Return the placements of the relevant documents."""
        placements = super().contributing(placements)
        return placements.rows(placements.relevance >= self.rel)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        ties = self._split_ties(placements, self.part_moments)
        sum_mean, sum_variance = ties.sums
        mean, slope = self._value(placements, ties.n_sure, sum_mean, slice(None))
        variance = sum_variance * slope**2
        cut = ties.relevant[ties.cut]

        def moments_given(index: IntArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
            """Return the moments if `count` relevant documents of the cut ties are within the cutoff."""
            tie = ties.cut[index]
            query = cut.query[index, None]
            size = cut.before[index, None] + count
            part_mean, part_variance = self.part_moments(ties.relevant, tie, ties.inside[tie], count)
            value, slope = self._value(placements, size, sum_mean[query] + part_mean, query)
            return value, (sum_variance[query] + part_variance) * slope**2

        cut_mean, cut_variance = counts.mix(cut.tied, ties.inside[ties.cut], cut.count, moments_given)
        mean[cut.query] = cut_mean
        variance[cut.query] = cut_variance
        return mean, variance

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        ties = self._split_ties(placements, self.part_extremes)
        smallest_sum, largest_sum = ties.sums
        of_smallest, _ = self._value(placements, ties.n_sure, smallest_sum, slice(None))
        of_largest, _ = self._value(placements, ties.n_sure, largest_sum, slice(None))
        low, high = np.minimum(of_smallest, of_largest), np.maximum(of_smallest, of_largest)
        cut = ties.relevant[ties.cut]
        for index, count, _ in counts.distribution(cut.tied, ties.inside[ties.cut], cut.count):
            tie = ties.cut[index]
            query = cut.query[index]
            size = cut.before[index, None] + count
            smallest_part, largest_part = self.part_extremes(ties.relevant, tie, ties.inside[tie], count)
            of_smallest, _ = self._value(placements, size, smallest_sum[query, None] + smallest_part, query[:, None])
            of_largest, _ = self._value(placements, size, largest_sum[query, None] + largest_part, query[:, None])
            values = np.array((of_smallest, of_largest))
            low[query] = values.min(axis=(0, 2))
            high[query] = values.max(axis=(0, 2))
        return low, high

    def _split_ties(
        self,
        placements: Placements,
        part: Callable[[Relevant, IntArray, IntArray, IntArray], tuple[FloatArray, FloatArray]],
    ) -> SplitTies:
        """Return the ties by whether the cutoff cuts them; `part` finds what each of those that it does not adds."""
        relevant = placements.relevant(self.rel)
        inside = self.inside(relevant.above, relevant.tied)
        uncut = np.flatnonzero(inside == relevant.tied)
        query, count = relevant.query[uncut], relevant.count[uncut]
        first, second = part(relevant, uncut, inside[uncut], count[:, None])
        return SplitTies(
            relevant=relevant,
            inside=inside,
            cut=np.flatnonzero((inside > 0) & (inside < relevant.tied)),
            n_sure=placements.by_query(count, query),
            sums=(placements.by_query(first[:, 0], query), placements.by_query(second[:, 0], query)),
        )

    def _value(
        self, placements: Placements, size: FloatArray | IntArray, sums: FloatArray, query: IntArray | slice
    ) -> tuple[FloatArray, FloatArray]:
        """Return the value of so many relevant documents with such a sum, and how it grows with the sum."""
        slope, intercept = self.line(placements, np.maximum(size, 1.0), query)
        value = np.where(size > 0, intercept + slope * sums, self.empty(placements)[query])
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
        if self.is_conditional:
            return CountConditional.mean(self, placements)
        return SumMeasure.mean(self, placements)

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        if self.is_conditional:
            return CountConditional.variance(self, placements)
        return SumMeasure.variance(self, placements)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum of precisions over all tie orders, or its variance (`squares`)."""
        return self._moment_of_ties(placements, placements.relevant(self.rel), squares=squares)

    def _moment_of_ties(self, placements: Placements, ties: Relevant, *, squares: bool) -> FloatArray:
        inside = self.inside(ties.above, ties.tied)
        if squares:
            part = np.zeros(len(inside))
            depends_on_order = (inside > 0) & (ties.count < ties.tied)
        else:
            # of a document that ties with no other, as most do: the same as below, to the last bit
            part = np.where(inside > 0, (ties.before + 1) * (1 / (ties.above + 1)), 0.0)
            depends_on_order = (inside > 0) & (ties.tied > 1)
        index = np.flatnonzero(depends_on_order)
        if len(index):
            sums = self._rank_sums(ties, index, inside[index], squares=squares)
            patterns = pairwise.binary_patterns(ties.count[index], ties.before[index])
            moment = pairwise.variance if squares else pairwise.mean
            part[index] = moment(patterns, sums, ties.tied[index])
        return placements.by_query(part, ties.query)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return N."""
        return constant_norm(self.norm, placements, self.rel, self.cutoff)

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        if self.is_conditional:
            return CountConditional.extremes(self, placements)
        ties = placements.relevant(self.rel)
        divisor = self.divisor(placements)
        low = self._moment_of_ties(placements, ties.separate(best=False), squares=False)
        high = self._moment_of_ties(placements, ties.separate(best=True), squares=False)
        return divide_or_zero(low, divisor), divide_or_zero(high, divisor)

    def part_moments(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of a tie's sum of precisions."""
        sums = self._rank_sums(ties, index, inside, squares=True).as_columns()
        patterns = pairwise.binary_patterns(count, ties.before[index, None])
        n = inside[:, None]
        mean = pairwise.mean(patterns, sums, n)
        variance = pairwise.variance(patterns, sums, n)
        return mean, np.where(count < n, variance, 0.0)

    def part_extremes(
        self, ties: Relevant, index: IntArray, inside: IntArray, count: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the sum with the relevant documents on the last ranks, and on the first ones."""
        low, high = np.zeros(count.shape), np.zeros(count.shape)
        for rows, width in batches(inside):
            n_ranks = inside[rows, None]
            n_relevant = count[rows]
            above, before = ties.above[index[rows], None], ties.before[index[rows], None]
            j = np.arange(1, width + 1)
            is_inside = j <= n_ranks
            # with the relevant documents first, the precision at the j-th rank
            precision = np.where(is_inside, (before + j) / (above + j), 0.0)
            high[rows] = _sum_of_first(precision, n_relevant)
            # with x of m documents relevant and last, C_i is i + (before - above - m + x)
            rank_from_end = np.maximum(above + n_ranks - j + 1, 1)
            reciprocal = np.where(is_inside, 1 / rank_from_end, 0.0)
            low[rows] = n_relevant + (before - above - n_ranks + n_relevant) * _sum_of_first(reciprocal, n_relevant)
        return low, high

    @staticmethod
    def _rank_sums(ties: Relevant, index: IntArray, inside: IntArray, *, squares: bool) -> pairwise.RankSums:
        def reciprocal_rank(rows: IntArray, j: IntArray) -> FloatArray:
            return 1 / (ties.above[index[rows], None] + j)

        return pairwise.rank_sums(inside, reciprocal_rank, squares=squares)


def _sum_of_first(values: FloatArray, number: IntArray) -> FloatArray:
    """Return the sum of the first values of each row, of as many as `number` says in each column."""
    sums = np.cumsum(values, axis=1)
    from_zero_on = np.pad(sums, ((0, 0), (1, 0)))
    return np.take_along_axis(from_zero_on, number, axis=1)


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
        ties: Relevant,  # noqa: ARG002 - of measures that look at the ranks
        index: IntArray,  # noqa: ARG002 - as above
        inside: IntArray,  # noqa: ARG002 - as above
        count: IntArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return 0: only the number of relevant documents matters."""
        return np.zeros(count.shape), np.zeros(count.shape)

    part_extremes = part_moments

    def line(self, placements: Placements, size: FloatArray, query: IntArray | slice) -> tuple[FloatArray, FloatArray]:
        """Return the value of so many relevant documents, which depends on no sum."""
        if self.norm == "retrieved":
            norm = size
        else:
            norm = constant_norm(self.norm, placements, self.rel, self.cutoff)[query]
        n_relevant = placements.n_relevant(self.rel)[query]
        return np.zeros(size.shape), divide_or_zero(size * (size + 1), 2.0 * n_relevant * norm)


MAP = alias_class(AP, "MAP")
MAR = alias_class(AR, "MAR")


LARGEST_BETA = 1e6  # the count is lost in the gain from there on, and squares of still larger ones overflow


@dataclass(frozen=True, eq=False)
class ValueTies:
    """The ties with a document that has a value, for sums over pairs of documents.

    Attributes
    ----------
    query, above, tied : ndarray of shape (n_ties,)
        Query code; documents above the tie and in it.
    is_varied : ndarray of bool, shape (n_ties,)
        Whether it has documents of different values.
    patterns : Patterns
        Sums over the pairs of its documents.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    is_varied: BoolArray
    patterns: pairwise.Patterns

    @classmethod
    def from_rows(
        cls, placements: Placements, rows: IntArray, starts: IntArray, values: FloatArray, patterns: pairwise.Patterns
    ) -> "ValueTies":
        """Return the ties of some rows.

        Parameters
        ----------
        placements : Placements
        rows : ndarray of int
            The rows of documents with a value.
        starts : ndarray of shape (n_ties,)
            Where each tie begins among these rows.
        values : ndarray of shape (n_rows,)
        patterns : Patterns
            Made from the values.
        """
        first = rows[starts]
        tied = placements.tied[first]
        sizes = np.diff(np.append(starts, len(rows)))
        differs_from_first = values != values[np.repeat(starts, sizes)]
        has_two_values = segment_sums(differs_from_first.astype(np.int64), starts) > 0
        return cls(
            query=placements.query[first],
            above=placements.above[first],
            tied=tied,
            is_varied=has_two_values | (sizes < tied),
            patterns=patterns,
        )

    def moment(
        self,
        placements: Placements,
        inside: IntArray,
        weight: Callable[[IntArray, IntArray], FloatArray],
        *,
        squares: bool,
    ) -> FloatArray:
        """Return the mean of each query's sum over pairs, or its variance (`squares`).

        Parameters
        ----------
        placements : Placements
        inside : ndarray of shape (n_ties,)
            Ranks of each tie that count.
        weight : callable
            ``weight(index, j)`` returns the weights of ranks j of the ties `index`.
        squares : bool
        """
        sums = pairwise.rank_sums(inside, weight, squares=squares)
        if squares:  # a tie of equal documents has no variance, and no rounding error of one
            variance = pairwise.variance(self.patterns, sums, self.tied)
            part = np.where(self.is_varied, variance, 0.0)
        else:
            part = pairwise.mean(self.patterns, sums, self.tied)
        return placements.by_query(part, self.query)


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
        n_levels = max(np.floor(scale_top(self.max_rel, placements, "GAP")), 1.0)
        return np.floor(np.maximum(relevance, 0.0)) / n_levels

    @computed_once("max_rel")
    def _ties(self, placements: Placements) -> ValueTies:
        """Sum over pairs: two documents are both relevant for all who call the lower of their levels relevant."""
        rows = np.flatnonzero(placements.relevance >= 1)
        values = self._values(placements, placements.relevance[rows])
        query = placements.query[rows]
        starts = run_starts(query, placements.above[rows])
        sizes = np.diff(np.append(starts, len(rows)))
        tie = np.repeat(np.arange(len(starts)), sizes)
        first_tie_of_query = np.searchsorted(query[starts], query)
        above = pairwise.minima_above(values, query, tie - first_tie_of_query)
        patterns = pairwise.minimum_patterns(values, above, starts)
        return ValueTies.from_rows(placements, rows, starts, values, patterns)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the value of each query's judgments, added up."""
        values = self._values(placements, placements.judged_relevance)
        return placements.by_query(values, placements.judged_query)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        ties = self._ties(placements)

        def reciprocal_rank(index: IntArray, j: IntArray) -> FloatArray:
            return 1 / (ties.above[index, None] + j)

        return ties.moment(placements, self.inside(ties.above, ties.tied), reciprocal_rank, squares=squares)

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
    def _ties(self, placements: Placements) -> ValueTies:
        """Sum over pairs: a document adds 1 + beta times its gain to the term of each relevant one from its rank on."""
        rows = np.flatnonzero(placements.relevance >= self.rel)
        query = placements.query[rows]
        starts = run_starts(query, placements.above[rows])
        sizes = np.diff(np.append(starts, len(rows)))
        is_relevant = np.ones(len(rows))
        values = is_relevant + self.beta * compute_gains("linear", placements.relevance[rows])
        above_tie = scan_before(segment_sums(values, starts), query[starts], np.add)
        above = np.repeat(above_tie, sizes)
        patterns = pairwise.product_patterns(is_relevant, values, above, starts)
        return ValueTies.from_rows(placements, rows, starts, values, patterns)

    @computed_once("rel")
    def _ideal_gains(self, placements: Placements) -> FloatArray:
        """Return the cumulative gain of the ideal ranking down to each judgment, of shape (n_judged,)."""
        relevance = placements.judged_relevance
        gains = np.where(relevance >= self.rel, compute_gains("linear", relevance), 0.0)
        return gains + scan_before(gains, placements.judged_query, np.add)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        ties = self._ties(placements)
        ideal_gains = self._ideal_gains(placements)
        n_judged = placements.n_relevant(-np.inf)
        start = np.cumsum(n_judged) - n_judged

        def weight(index: IntArray, j: IntArray) -> FloatArray:
            query = ties.query[index, None]
            rank = ties.above[index, None] + j
            ideal_gain = ideal_gains[start[query] + np.minimum(rank, n_judged[query]) - 1]
            return 1 / (rank + self.beta * ideal_gain)

        return ties.moment(placements, self.inside(ties.above, ties.tied), weight, squares=squares)

    def divisor(self, placements: Placements) -> IntArray:
        """Return R."""
        return placements.n_relevant(self.rel)
