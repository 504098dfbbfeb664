"""Averages of graded relevance that sum over pairs of documents: GAP and Q."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_sizes, run_starts
from deadheat.core.kernels import pairwise
from deadheat.core.kernels.segments import scan_before, segment_sums
from deadheat.core.measures.families import CutMeasure, SumMeasure, computed_once
from deadheat.core.measures.gains import compute_gains, scale_top
from deadheat.core.measures.parameters import Number, parameter
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements

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
        sizes = run_sizes(starts, len(rows))
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
        """Return the ties with their sums over pairs of documents.

        A pair counts for the users who call both documents relevant: those who do so for the lower of the two levels.
        """
        rows = np.flatnonzero(placements.relevance >= 1)
        values = self._values(placements, placements.relevance[rows])
        query = placements.query[rows]
        starts = run_starts(query, placements.above[rows])
        sizes = run_sizes(starts, len(rows))
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
        """Return the ties with their sums over pairs of documents.

        Each relevant document adds 1 + beta times its gain to its own term, and to that of each relevant one below it.
        """
        rows = np.flatnonzero(placements.relevance >= self.rel)
        query = placements.query[rows]
        starts = run_starts(query, placements.above[rows])
        sizes = run_sizes(starts, len(rows))
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
        n_judged = placements.n_relevant(-np.inf)  # of any relevance
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
