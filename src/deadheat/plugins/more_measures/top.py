"""Measures of how many documents are in the top k: RelP, RprecMult and Hole."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.parameters import Number, parameter
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import CutShare, RelevanceMeasure, Rprec
from deadheat.core.placements.placements import Placements


@register(
    "relative precision",
    "RelP@k = C_k / min(k, R)",
    aliases=("SetRelP", "R_cap"),
    trec_eval=("set_relative_P", "relative_P_{}"),
)
class RelP(RelevanceMeasure, CutShare):
    r"""Precision as a share of the highest one possible.

    .. math:: \text{RelP}@k = C_k / \min(k, R)

    with :math:`C_k` the relevant documents in the top k: precision up to k = R, and recall from there on. Without a
    cutoff, k is the number of retrieved documents, and no tie changes the value. With a cutoff, BEIR calls it recall
    that is capped (``R_cap@k``).

    References
    ----------
    relative_P and set_relative_P of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_rel_P.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.1}}, ["RelP@1", "RelP@3", "RelP"]).means()
    {'RelP@1': 0.5, 'RelP@3': 0.5, 'RelP': 0.5}
    """

    def divisor(self, placements: Placements) -> FloatArray:
        """Return min(k, R)."""
        return np.minimum(self.k(placements), placements.n_relevant(self.rel)).astype(np.float64)


@register(
    "precision at a multiple of R",
    "RprecMult@m = C_k / k, with k = m R + 0.9 rounded down",
    trec_eval=("Rprec_mult_{}",),
    at="multiple",
)
class RprecMult(Rprec):
    r"""Precision at a multiple of R, the number of relevant documents.

    .. math:: \text{RprecMult}@m = C_k / k, \quad k = \lfloor m R + 0.9 \rfloor

    with :math:`C_k` the relevant documents in the top k. The rounding of k is trec_eval's, in floating-point numbers.
    ``@`` sets the multiple; at 1 it is `Rprec`. A query without relevant documents has 0.

    References
    ----------
    Rprec_mult of trec_eval, https://github.com/usnistgov/trec_eval/blob/main/m_Rprec_mult.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 3, "b": 2, "c": 2, "d": 1}}
    >>> evaluate({"q": {"a": 1, "c": 1}}, run, ["RprecMult@0.5", "RprecMult@1", "RprecMult@2"]).means()
    {'RprecMult@0.5': 1.0, 'RprecMult@1': 0.75, 'RprecMult@2': 0.5}
    """

    multiple: float = parameter(  # so that ranks stay exact integers
        1, Number(low=0, high=1e6, open_low=True), "k as a multiple of R, before rounding; what @ sets"
    )

    def k(self, placements: Placements) -> IntArray:
        """Return m R, rounded."""
        return np.floor(self.multiple * placements.n_relevant(self.rel) + 0.9).astype(np.int64)


@register(
    "unjudged documents",
    "Hole@k = (min(k, n) - J_k) / k",
    trec_eval=("unj_{}",),
    higher_is_better=False,
    is_quality=False,
)
class Hole(CutShare):
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

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean number of unjudged documents, or its variance (`squares`), which is that of the judged."""
        judged = super().moment(placements, squares=squares)
        return judged if squares else self.depth(placements) - judged

    def distributions(self, placements: Placements, queries: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the values of some queries over all tie orders, and their probabilities."""
        most = divide_or_zero(self.depth(placements).astype(np.float64), self.divisor(placements))[queries]
        judged = zip(most, super().distributions(placements, queries), strict=True)
        return [(top - values, chances) for top, (values, chances) in judged]
