"""Measures of how many documents are in the top k: P, R, F, R-precision, Judged."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.kernels import counts
from deadheat.measures.base import CutMeasure, Measure, SumMeasure, register
from deadheat.measures.parameters import Choice, Number, parameter, parameters
from deadheat.placements.placements import Placements, Relevant

REL = "lowest relevance that counts as relevant"


@parameters
class RelevanceMeasure(Measure):
    """A measure that tells relevant documents from others by their lowest relevance."""

    binary = True

    rel: float = parameter(1, Number(), REL)

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a judgment of relevance `rel` or more."""
        return placements.n_relevant(self.rel) > 0


class TopMeasure(SumMeasure):
    """The number of relevant documents in the top k, or of judged ones if it has no `rel`, divided by a constant."""

    @abstractmethod
    def top(self, placements: Placements, ties: Relevant) -> IntArray:
        """Return how many ranks of each tie are in the top."""

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's number over all tie orders, or its variance (`squares`)."""
        found = placements.relevant(getattr(self, "rel", 0))
        part = (counts.variance if squares else counts.mean)(found.tied, self.top(placements, found), found.count)
        return placements.by_query(part, found.query)


class CutTopMeasure(TopMeasure, CutMeasure):
    """The same with a cutoff."""

    @property
    def is_zero_or_one(self) -> bool:
        """Whether it is a share of which only the first rank is looked at."""
        return self.cutoff == 1 and not self.total

    def top(self, placements: Placements, ties: Relevant) -> IntArray:  # noqa: ARG002 - the cutoff is the same for all
        """Return how many ranks of each tie are within the cutoff."""
        return self.inside(ties.above, ties.tied)


def retrieved_relevant(placements: Placements, rel: float) -> FloatArray:
    """Return the number of relevant documents in the whole list, by query."""
    found = placements.relevant(rel)
    return placements.by_query(found.count, found.query)


def constant_norm(norm: str, placements: Placements, rel: float, cutoff: int | None = None) -> FloatArray:
    """Return the number of relevant documents that no tie order changes, of shape (n_queries,).

    Those of the qrels (``"R"``), at most the cutoff (``"min"``), or those of the whole list.
    """
    if norm in {"R", "min"}:
        return np.minimum(placements.n_relevant(rel), cutoff if norm == "min" and cutoff else np.inf)
    return retrieved_relevant(placements, rel)


@register
class P(RelevanceMeasure, CutTopMeasure):
    r"""Share of the top k that is relevant.

    .. math:: P@k = C_k / k

    with :math:`C_k` the relevant documents in the top k. The divisor stays k where fewer are retrieved; without a
    cutoff it is the number of retrieved documents.

    References
    ----------
    McSherry and Najork 2008, section 2.1, https://doi.org/10.1007/978-3-540-78646-7_38, for the mean over ties.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["P@1"]).means()
    {'P@1': 0.5}
    """

    title = "precision"
    formula = "P@k = C_k / k"
    aliases = ("precision", "Precision", "SetP")
    trec_eval = ("set_P", "P_{}")

    def divisor(self, placements: Placements) -> FloatArray:
        """Return k."""
        return self.k(placements).astype(np.float64)


@register
class R(RelevanceMeasure, CutTopMeasure):
    r"""Share of the relevant documents that are in the top k.

    .. math:: R@k = C_k / R

    with R the relevant documents of the qrels; ``norm="retrieved_all"`` divides by those in the whole list, as
    McSherry and Najork do.

    References
    ----------
    McSherry and Najork 2008, section 2.2, https://doi.org/10.1007/978-3-540-78646-7_38, for the mean over ties.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["R@1"]).means()
    {'R@1': 0.25}
    """

    title = "recall"
    formula = "R@k = (relevant documents in the top k) / R"
    aliases = ("Recall", "SetR", "MHits")
    trec_eval = ("recall_{}", "set_recall")

    norm: str = parameter("R", Choice(("R", "retrieved_all")), "relevant documents of the qrels, or of the whole list")

    @property
    def is_zero_or_one(self) -> bool:
        """Whether everything that counts is found, as soon as something is."""
        return self.cutoff is None and self.norm == "retrieved_all"

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the number of relevant documents."""
        return constant_norm(self.norm, placements, self.rel)


@register
class F(RelevanceMeasure, CutTopMeasure):
    r"""Weighted harmonic mean of precision and recall.

    .. math:: F_\beta@k = \frac{(1 + \beta^2)\, C_k}{k + \beta^2 R}

    with :math:`C_k` the relevant documents in the top k and R those of the qrels (``norm="retrieved_all"``: of the
    whole list). Without a cutoff, k is the number of retrieved documents. This form is linear in :math:`C_k`, so its
    mean over ties is its value at the mean count.

    References
    ----------
    Van Rijsbergen, Information Retrieval, 1979, chapter 7. McSherry and Najork 2008, section 2.3,
    https://doi.org/10.1007/978-3-540-78646-7_38, for the mean over ties.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["F@1", "F(beta=2)@2"]).means()
    {'F@1': 0.5, 'F(beta=2)@2': 0.8333333333333334}
    """

    title = "F measure"
    formula = "F@k = (1 + β^2) C_k / (k + β^2 R)"
    aliases = ("F1", "SetF")
    trec_eval = ("set_F",)

    beta: float = parameter(1, Number(low=0), "weight of recall against precision")
    norm: str = parameter("R", Choice(("R", "retrieved_all")), "relevant documents of the qrels, or of the whole list")

    @property
    def is_zero_or_one(self) -> bool:
        """Whether it is the precision of the first rank."""
        return self.cutoff == 1 and self.beta == 0

    def divisor(self, placements: Placements) -> FloatArray:
        """Return (k + beta^2 R) / (1 + beta^2), with the larger of 1 and beta^2 divided out, which may overflow."""
        of_k, of_relevant = (1.0, self.beta**2) if self.beta <= 1 else ((1 / self.beta) ** 2, 1.0)
        return (of_k * self.k(placements) + of_relevant * constant_norm(self.norm, placements, self.rel)) / (
            of_k + of_relevant
        )


@register
class Rprec(RelevanceMeasure, TopMeasure):
    r"""Precision at R, the number of relevant documents.

    .. math:: \text{Rprec} = C_R / R

    References
    ----------
    Buckley and Voorhees 2000, https://doi.org/10.1145/345508.345543.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "c": 1}}, {"q": {"a": 3, "b": 2, "c": 2}}, ["Rprec"]).means()
    {'Rprec': 0.75}
    """

    title = "R-precision"
    formula = "Rprec = (relevant documents in the top R) / R"
    aliases = ("RPrec",)
    trec_eval = ("Rprec",)

    def top(self, placements: Placements, ties: Relevant) -> IntArray:
        """Return how many ranks of each tie are among the first R."""
        return np.clip(placements.n_relevant(self.rel)[ties.query] - ties.above, 0, ties.tied)

    def divisor(self, placements: Placements) -> FloatArray:
        """Return R."""
        return placements.n_relevant(self.rel).astype(np.float64)


@register
class NumRelRet(RelevanceMeasure, CutTopMeasure):
    """Number of relevant documents retrieved (in the top k, with a cutoff).

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "z": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["NumRelRet", "NumRelRet@1"]).means()
    {'NumRelRet': 1.0, 'NumRelRet@1': 0.5}
    """

    title = "relevant documents retrieved"
    formula = "NumRelRet@k = relevant documents in the top k"
    trec_eval = ("num_rel_ret",)
    range = (0.0, np.inf)
    total = True


@register
class Judged(CutTopMeasure):
    r"""Share of the top k that is judged; negative relevance counts as unjudged, in ir_measures as judged.

    .. math:: \text{Judged}@k = J_k / \min(k, n)

    with :math:`J_k` the judged documents in the top k and n the retrieved ones.

    References
    ----------
    MacAvaney, Macdonald and Ounis 2022, https://doi.org/10.48550/arXiv.2111.13466, whose ir-measures calls it so.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1, "c": 0}}, {"q": {"a": 3, "b": 2, "c": 2}}, ["Judged@2"]).means()
    {'Judged@2': 0.75}
    """

    title = "judged documents"
    is_quality = False
    formula = "Judged@k = J_k / min(k, n)"

    def divisor(self, placements: Placements) -> IntArray:
        """Return min(k, n)."""
        return self.depth(placements)
