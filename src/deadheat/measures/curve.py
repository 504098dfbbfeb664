"""The area under the curve of precision over recall: AUPRC."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadheat.arrays import FloatArray, IntArray
from deadheat.kernels import prefix_counts
from deadheat.measures.base import register
from deadheat.measures.prefix import KindTies, PrefixMeasure, along
from deadheat.measures.top import RelevanceMeasure
from deadheat.placements.placements import Placements


@register
class AUPRC(RelevanceMeasure, PrefixMeasure):
    r"""Area under the precision-recall curve, whose points, one for each rank, are joined by straight lines.

    .. math::
        \text{AUPRC} = \frac{1}{R} \sum_{d_i\ \text{relevant}} \frac{1}{2}
        \left(\frac{C_i}{i} + \frac{C_{i-1}}{i-1}\right)

    with :math:`C_i` the relevant documents in the top i and R those of the qrels. At i = 1 the second term is 1: the
    curve begins at precision 1. Beyond the recall of the whole list there is no area. It is never above `AP`, which
    takes the precision at the end of each step. Ties are averaged over their orders; scikit-learn joins the two ends of
    a tie by one straight line, which is no mean over orders. The points themselves are P@k and R@k, and ``pr_curve``
    stands for interpolated precision at eleven levels of recall (`IPrec`). Moments and extremes over ties are exact.
    For ties of several thousand documents with many relevant ones, orders are drawn, and ``Scores.standard_error``
    says how far the mean may be off.

    References
    ----------
    Davis and Goadrich 2006, https://doi.org/10.1145/1143844.1143874, also on what straight lines between far points do.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["AUPRC"]).means()
    {'AUPRC': 0.625}
    """

    title = "area under the precision-recall curve"
    formula = "AUPRC = 1/R ∑ (C_i / i + C_(i-1) / (i - 1)) / 2 over the ranks i of relevant documents"
    aliases = ("PRAUC", "PR_AUC")

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return 1 for relevant documents, else 0."""
        return 1.0 * (relevance >= self.rel)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return R."""
        return placements.n_relevant(self.rel).astype(np.float64)

    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties with a relevant document."""
        found = placements.relevant(self.rel)

        def added(ties: IntArray, j: int, _kind: int, seen: Sequence[IntArray]) -> FloatArray:
            n_axes = seen[0].ndim
            return _strip(along(found.above[ties] + j, n_axes), along(found.before[ties] + 1, n_axes) + seen[0])

        return KindTies(found.query, found.tied, found.count[:, None]), added

    def of_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking."""
        strips = _strip(np.arange(1, rankings.shape[1] + 1), np.cumsum(rankings, axis=1))
        total: FloatArray = np.where(rankings == 1, strips, 0.0).sum(axis=1)
        return total / max(placements.n_relevant(self.rel)[query], 1)


def _strip(rank: IntArray, count: IntArray | FloatArray) -> FloatArray:
    """Return the mean precision of a rank, which holds the last of `count` relevant documents, and the one above."""
    return (count / rank + np.where(rank > 1, (count - 1) / np.maximum(rank - 1, 1), 1.0)) / 2
