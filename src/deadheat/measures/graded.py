"""Averages over graded relevance: GAP and the Q-measure."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.kernels import pairwise
from deadheat.kernels.segments import scan_before, segment_sums
from deadheat.measures.base import CutMeasure, SumMeasure, once, register
from deadheat.measures.discounted import scale_top
from deadheat.measures.gains import gains_of
from deadheat.measures.parameters import Number, parameter
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.placements import Placements

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
    if squares:
        # A tie of equal documents has no variance, and no rounding error of one.
        part = np.where(found.varied, pairwise.variance(found.patterns, sums, found.tied), 0.0)
    else:
        part = pairwise.mean(found.patterns, sums, found.tied)
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
        top = max(np.floor(scale_top(self.max_rel, placements, "GAP")), 1.0)
        return np.floor(np.maximum(relevance, 0.0)) / top

    @once("max_rel")
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
        reached = self._values(placements, placements.judged_relevance)
        return placements.by_query(reached, placements.judged_query)

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

    @once("rel", "beta")
    def _sums(self, placements: Placements) -> Sums:
        rows = np.flatnonzero(placements.relevance >= self.rel)
        query, relevant = placements.query[rows], np.ones(len(rows))
        starts = run_starts(query, placements.above[rows])
        values = relevant + self.beta * gains_of("linear", placements.relevance[rows])
        before = scan_before(segment_sums(values, starts), query[starts], np.add)
        above = np.repeat(before, np.diff(np.append(starts, len(rows))))
        return Sums.of(placements, rows, starts, values, pairwise.product_patterns(relevant, values, above, starts))

    @once("rel")
    def _ideal(self, placements: Placements) -> FloatArray:
        """Return the cumulative gain of the ideal ranking down to each judgment, of shape (n_judged,)."""
        relevance = placements.judged_relevance
        gains = np.where(relevance >= self.rel, gains_of("linear", relevance), 0.0)
        return gains + scan_before(gains, placements.judged_query, np.add)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        found, ideal = self._sums(placements), self._ideal(placements)
        judged = placements.cached(
            "n_judged", lambda: np.bincount(placements.judged_query, minlength=placements.n_queries)
        )
        start = np.cumsum(judged) - judged

        def weight(rows: IntArray, j: IntArray) -> FloatArray:
            rank, query = found.above[rows, None] + j, found.query[rows, None]
            gain = ideal[start[query] + np.minimum(rank, judged[query]) - 1]
            return 1 / (rank + self.beta * gain)

        return moment(placements, found, self.inside(found.above, found.tied), weight, squares=squares)

    def divisor(self, placements: Placements) -> IntArray:
        """Return R."""
        return placements.n_relevant(self.rel)
