"""bpref: preference of judged relevant over judged non-relevant documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.arrays import FloatArray, run_starts
from deadheat.kernels import preference
from deadheat.kernels.segments import ratio, scan_before, segment_sums
from deadheat.measures.base import JointMeasure, TrecName, register
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.placements import Placements


@register
@dataclass(frozen=True, kw_only=True, repr=False)
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

    title = "binary preference"
    formula = "bpref = 1/R ∑ (1 - min(n_d, R) / min(R, N)) over the retrieved relevant documents d"
    aliases = (TrecName("bpref"),)

    def moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance over all tie orders."""
        rows = np.flatnonzero(placements.relevance >= min(0, self.rel))
        query, above = placements.query[rows], placements.above[rows]
        starts = run_starts(query, above)
        of = query[starts]
        relevant = segment_sums((placements.relevance[rows] >= self.rel).astype(np.int64), starts)
        nonrelevant = np.diff(np.append(starts, len(rows))) - relevant
        before = scan_before(nonrelevant.astype(np.float64), of, np.add).astype(np.int64)
        n_relevant = placements.n_relevant(self.rel)
        n_judged = placements.n_relevant(min(0, self.rel))
        bound = np.minimum(n_relevant, n_judged - n_relevant)
        keep = relevant > 0
        mean, variance = preference.moments(
            relevant[keep], nonrelevant[keep], before[keep], n_relevant[of[keep]], bound[of[keep]]
        )
        return (
            ratio(placements.by_query(mean, of[keep]), n_relevant),
            ratio(placements.by_query(variance, of[keep]), n_relevant**2),
        )
