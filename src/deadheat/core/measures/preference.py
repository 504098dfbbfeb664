"""Relevant documents above judged others: bpref."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.kernels import preference
from deadheat.core.kernels.segments import scan_before, segment_sums
from deadheat.core.measures.families import JointMeasure, divide_moments
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import RelevanceMeasure
from deadheat.core.placements.placements import Placements


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

    def judged_ties(self, placements: Placements) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the ties with a relevant document: query, relevant and other judged documents, others above."""
        rows = np.flatnonzero(placements.relevance >= min(0, self.rel))
        query, above = placements.query[rows], placements.above[rows]
        starts = run_starts(query, above)
        of = query[starts]
        relevant = segment_sums((placements.relevance[rows] >= self.rel).astype(np.int64), starts)
        others = np.diff(np.append(starts, len(rows))) - relevant
        before = scan_before(others.astype(np.float64), of, np.add).astype(np.int64)
        keep = np.flatnonzero(relevant)
        return of[keep], relevant[keep], others[keep], before[keep]

    def bound(self, placements: Placements) -> IntArray:
        """Return the smaller of the numbers of relevant and of other judged documents, by query."""
        n_relevant = placements.n_relevant(self.rel)
        return np.minimum(n_relevant, placements.n_relevant(min(0, self.rel)) - n_relevant)

    def kept(self, placements: Placements, query: IntArray, above: IntArray) -> FloatArray:
        """Return what a relevant document counts with so many judged others above it."""
        n_relevant, bound = placements.n_relevant(self.rel)[query], self.bound(placements)[query]
        return np.where(above > 0, 1 - np.minimum(above, n_relevant) / np.maximum(bound, 1), 1.0)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        query, relevant, others, before = self.judged_ties(placements)
        parts = preference.moments(
            relevant, others, lambda index, x: self.kept(placements, query[index, None], before[index, None] + x)
        )
        return divide_moments(placements, parts, query, placements.n_relevant(self.rel))
