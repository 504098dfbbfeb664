"""Measures of how many documents are in the top k, or in the whole list: P, R, F, R-precision, Judged."""

from abc import abstractmethod

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.kernels import counts
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.base import Measure
from deadheat.core.measures.families import CutMeasure, SumMeasure
from deadheat.core.measures.parameters import Choice, Number, parameter, parameters
from deadheat.core.measures.registration import register
from deadheat.core.placements.placements import Placements

REL = "lowest relevance that counts as relevant"


@parameters
class RelevanceMeasure(Measure):
    """A measure that tells relevant documents from others by their lowest relevance."""

    binary = True

    rel: float = parameter(1, Number(), REL)

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a judgment of relevance `rel` or more."""
        return placements.n_relevant(self.rel) > 0

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return 1 for relevant documents, else 0: a measure that lists orders sees no more of them."""
        return 1.0 * (relevance >= self.rel)


class TopMeasure(SumMeasure):
    """The relevant documents in the top k (judged ones, if there is no `rel`), divided by k or another number."""

    @abstractmethod
    def k(self, placements: Placements) -> IntArray:
        """Return the size of the top, of shape (n_queries,)."""

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's number over all tie orders, or its variance (`squares`)."""
        ties, inside = self._ties(placements)
        moment = counts.variance if squares else counts.mean
        return placements.by_query(moment(ties.tied, inside, ties.count), ties.query)

    def _ties(self, placements: Placements) -> tuple[counts.Relevant, IntArray]:
        """Return the ties with a document that counts, and how many ranks of each are in the top k."""
        ties = placements.relevant(getattr(self, "rel", 0))
        inside = np.minimum(np.maximum(self.k(placements)[ties.query] - ties.above, 0), ties.tied)
        return ties, inside

    def divisor(self, placements: Placements) -> FloatArray:
        """Return k."""
        return self.k(placements).astype(np.float64)

    def distributions(self, placements: Placements, queries: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the values of some queries over all tie orders, and their probabilities: only one tie is cut at k."""
        ties, inside = self._ties(placements)
        divisor = self.divisor(placements)
        n_sure = placements.by_query(np.where(inside == ties.tied, ties.count, 0), ties.query)
        by_query = {}
        for query in queries.tolist():
            value = divide_or_zero(n_sure[[query]], divisor[[query]])
            by_query[query] = (value, np.ones(1))
        is_cut = (inside > 0) & (inside < ties.tied) & np.isin(ties.query, queries)
        cut = ties[is_cut]
        for index, count, probability in counts.distribution(cut.tied, inside[is_cut], cut.count):
            for row, query in enumerate(cut.query[index].tolist()):
                is_possible = probability[row] > 0  # the rest is padding
                values = divide_or_zero(n_sure[query] + count[row, is_possible], divisor[query])
                by_query[query] = (values, probability[row, is_possible])
        return [by_query[query] for query in queries.tolist()]


class CutTopMeasure(CutMeasure, TopMeasure):
    """The share of the top k that counts, at a cutoff."""


class CutShare(CutTopMeasure):
    """The share of the top k that counts, over a divisor that is 1 at cutoff 1: there the value is 0 or 1."""

    @property
    def is_zero_or_one(self) -> bool:
        """Whether only the first rank is looked at."""
        return self.cutoff == 1


class NormMeasure(CutMeasure):
    """A measure whose parameter `norm` chooses the divisor, which may look at the whole list."""

    norm: str

    @property
    def deepest(self) -> int | None:
        """The cutoff; None if the norm counts the whole list."""
        if self.norm == "retrieved_all":
            return None
        return self.cutoff


def retrieved_relevant(placements: Placements, rel: float) -> FloatArray:
    """Return the number of relevant documents in the whole list, by query."""
    ties = placements.relevant(rel)
    return placements.by_query(ties.count, ties.query)


def constant_norm(norm: str, placements: Placements, rel: float, cutoff: int | None = None) -> FloatArray:
    """Return the divisor that a `norm` names, of shape (n_queries,); no tie order changes it.

    It is the number of relevant documents in the qrels (``"R"``), the same up to the cutoff (``"min"``), or that of the
    relevant documents in the whole list (any other norm).
    """
    if norm not in {"R", "min"}:
        return retrieved_relevant(placements, rel)
    n_relevant = placements.n_relevant(rel).astype(np.float64)
    if norm == "min" and cutoff:
        return np.minimum(n_relevant, cutoff)
    return n_relevant


@register(
    "precision",
    "P@k = C_k / k",
    aliases=("precision", "Precision", "SetP", "Pr\N{LATIN SMALL LETTER A WITH DIAERESIS}zision"),
    trec_eval=("set_P", "P_{}"),
)
class P(RelevanceMeasure, CutShare):
    r"""Share of the top k that is relevant.

    .. math:: P@k = C_k / k

    with :math:`C_k` the relevant documents in the top k. The divisor stays k where fewer are retrieved, unless
    ``norm="retrieved"`` makes it min(k, retrieved); without a cutoff it is the number of retrieved documents.

    References
    ----------
    McSherry and Najork 2008, section 2.1, https://doi.org/10.1007/978-3-540-78646-7_38, for the mean over ties.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["P@1", "P@5", "P(norm='retrieved')@5"]).means()
    {'P@1': 0.5, 'P@5': 0.2, "P(norm='retrieved')@5": 0.5}
    """

    norm: str = parameter("k", Choice(("k", "retrieved")), "divisor: k, or min(k, retrieved documents)")

    def divisor(self, placements: Placements) -> FloatArray:
        """Return k, or the documents in the top k."""
        size = self.k(placements) if self.norm == "k" else self.depth(placements)
        return size.astype(np.float64)


@register(
    "recall",
    "R@k = (relevant documents in the top k) / R",
    aliases=("Recall", "SetR", "MHits"),
    trec_eval=("recall_{}", "set_recall"),
)
class R(RelevanceMeasure, NormMeasure, CutTopMeasure):
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

    norm: str = parameter("R", Choice(("R", "retrieved_all")), "relevant documents of the qrels, or of the whole list")

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the divisor is what is found: then the value is 1, or 0 if nothing is."""
        return self.cutoff is None and self.norm == "retrieved_all"

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the number of relevant documents."""
        return constant_norm(self.norm, placements, self.rel)


@register("F measure", "F@k = (1 + β^2) C_k / (k + β^2 R)", aliases=("F1", "SetF", "F1Score"), trec_eval=("set_F",))
class F(RelevanceMeasure, NormMeasure, CutTopMeasure):
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

    beta: float = parameter(1, Number(low=0), "weight of recall against precision")
    norm: str = parameter("R", Choice(("R", "retrieved_all")), "relevant documents of the qrels, or of the whole list")

    @property
    def is_zero_or_one(self) -> bool:
        """Whether it is the precision of the first rank."""
        return self.cutoff == 1 and self.beta == 0

    def weights(self) -> tuple[float, float]:
        """Return the weights of k and of R: 1 and beta^2, divided by the larger of them so that no square overflows."""
        if self.beta <= 1:
            return 1.0, self.beta**2
        return (1 / self.beta) ** 2, 1.0

    def divisor(self, placements: Placements) -> FloatArray:
        """Return (k + beta^2 R) / (1 + beta^2)."""
        weight_of_k, weight_of_r = self.weights()
        n_relevant = constant_norm(self.norm, placements, self.rel)
        weighted = weight_of_k * self.k(placements) + weight_of_r * n_relevant
        return weighted / (weight_of_k + weight_of_r)


@register("R-precision", "Rprec = (relevant documents in the top R) / R", aliases=("RPrec",), trec_eval=("Rprec",))
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

    def k(self, placements: Placements) -> IntArray:
        """Return R."""
        return placements.n_relevant(self.rel)

    def looked_at(self, placements: Placements) -> IntArray:
        """Return k, or the number of retrieved documents."""
        return np.minimum(self.k(placements), placements.n_retrieved)


@register("judged documents", "Judged@k = J_k / min(k, n)", is_quality=False)
class Judged(CutShare):
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

    def divisor(self, placements: Placements) -> FloatArray:
        """Return min(k, n)."""
        return self.depth(placements).astype(np.float64)


class Count(Measure):
    """A number of queries or documents that no tie order changes."""

    range = (0.0, np.inf)
    total = True
    is_quality = False

    def variance(self, placements: Placements) -> FloatArray:
        """Return 0."""
        return np.zeros(placements.n_queries)
