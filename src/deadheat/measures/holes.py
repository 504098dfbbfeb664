"""The share of the top k that is not judged: Hole."""

from __future__ import annotations

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.measures.base import register
from deadheat.measures.top import CutTopMeasure
from deadheat.placements.placements import Placements


@register
class Hole(CutTopMeasure):
    r"""Share of the top k that is not judged; negative relevance counts as unjudged.

    .. math:: \text{Hole}@k = (\min(k, n) - J_k) / k

    with :math:`J_k` the judged documents in the top k and n the retrieved ones. The divisor stays k where fewer are
    retrieved; without a cutoff it is n. A document is judged if it is judged for this query: hole@k of BEIR also
    counts one that is judged for another query alone.

    References
    ----------
    unj of trec_eval 10, https://github.com/usnistgov/trec_eval/blob/main/m_unjudged.c; Thakur et al. 2021,
    https://doi.org/10.48550/arXiv.2104.08663, where it is Hole@k.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "c": 0}}, {"q": {"a": 3, "b": 2, "c": 2}}, ["Hole@2", "Hole@5"]).means()
    {'Hole@2': 0.25, 'Hole@5': 0.2}
    """

    title = "unjudged documents"
    formula = "Hole@k = (min(k, n) - J_k) / k"
    higher_is_better = False
    trec_eval = ("unj_{}",)

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean number of unjudged documents, or its variance (`squares`), which is that of the judged."""
        judged = super().moment(placements, squares=squares)
        return judged if squares else self.depth(placements) - judged

    def divisor(self, placements: Placements) -> FloatArray:
        """Return k."""
        return self.k(placements).astype(np.float64)
