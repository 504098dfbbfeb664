"""Relevant documents above judged others: bpref."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_sizes, run_starts
from deadheat.core.kernels import preference
from deadheat.core.kernels.segments import scan_before, segment_sums
from deadheat.core.measures.families import JointMeasure, divide_moments
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements


@dataclass(frozen=True, eq=False)
class JudgedTies:
    """The ties with a relevant document, as if unjudged documents were not there.

    Attributes
    ----------
    query : ndarray of shape (n_ties,)
        Query code.
    n_relevant, n_others : ndarray of shape (n_ties,)
        Relevant documents in the tie, and judged others.
    others_above : ndarray of shape (n_ties,)
        Judged others above the tie.
    """

    query: IntArray
    n_relevant: IntArray
    n_others: IntArray
    others_above: IntArray


@register(
    "binary preference",
    "bpref = 1/R ∑ (1 - min(n_d, R) / min(R, N)) over the retrieved relevant documents d",
    trec_eval=("bpref",),
)
class bpref(JointMeasure, RelevanceMeasure):
    r"""Binary preference: how rarely judged non-relevant documents are ranked above relevant ones.

    .. math::
        \text{bpref} = \frac{1}{R} \sum_{d\ \text{relevant, retrieved}} \left(1 - \frac{\min(n_d, R)}{\min(R, N)}\right)

    with :math:`n_d` the judged non-relevant documents above d and N all of them. Unjudged documents, and those of
    negative relevance, drop out. A document with none above it counts 1.

    References
    ----------
    Buckley and Voorhees 2004, https://doi.org/10.1145/1008992.1009000, in the form of trec_eval.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.9}}, ["bpref"]).means()
    {'bpref': 0.5}
    """

    def judged_ties(self, placements: Placements) -> JudgedTies:
        """Return the ties with a relevant document, by the numbers of judged documents."""
        rows = np.flatnonzero(placements.relevance >= min(0, self.rel))
        starts = run_starts(placements.query[rows], placements.above[rows])
        sizes = run_sizes(starts, len(rows))
        query = placements.query[rows][starts]
        is_relevant = placements.relevance[rows] >= self.rel
        n_relevant = segment_sums(is_relevant.astype(np.int64), starts)
        n_others = sizes - n_relevant
        others_above = scan_before(n_others.astype(np.float64), query, np.add).astype(np.int64)
        keep = np.flatnonzero(n_relevant)
        return JudgedTies(
            query=query[keep],
            n_relevant=n_relevant[keep],
            n_others=n_others[keep],
            others_above=others_above[keep],
        )

    def bound(self, placements: Placements) -> IntArray:
        """Return min(R, N), by query: the number of relevant documents, or of judged others if that is smaller."""
        n_relevant = placements.n_relevant(self.rel)
        n_others = placements.n_relevant(min(0, self.rel)) - n_relevant
        return np.minimum(n_relevant, n_others)

    def value_below(self, placements: Placements, query: IntArray, others_above: IntArray) -> FloatArray:
        """Return the term of a relevant document, given the number of judged others above it."""
        n_relevant = placements.n_relevant(self.rel)[query]
        bound = self.bound(placements)[query]
        term = 1 - np.minimum(others_above, n_relevant) / np.maximum(bound, 1)
        return np.where(others_above > 0, term, 1.0)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        ties = self.judged_ties(placements)

        def value(index: IntArray, others_in_tie: IntArray) -> FloatArray:
            others_above = ties.others_above[index, None] + others_in_tie
            return self.value_below(placements, ties.query[index, None], others_above)

        parts = preference.moments(ties.n_relevant, ties.n_others, value)
        return divide_moments(placements, parts, ties.query, placements.n_relevant(self.rel))
