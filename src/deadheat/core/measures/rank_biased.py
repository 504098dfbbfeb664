"""Sums of gains of a user who goes on with one probability: RBP and its residual."""

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.errors import MeasureError
from deadheat.core.measures.gains import LOWEST_POSITIVE, binary_gains, scale_top
from deadheat.core.measures.parameters import FLAG, Choice, Number, parameter, parameters
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import REL
from deadheat.core.measures.weighted import WeightedMeasure
from deadheat.core.placements.placements import Placements


@parameters
class RankBiased(WeightedMeasure):
    """A measure of a user who goes on to the next document with probability p."""

    p: float = parameter(0.8, Number(low=0, high=1, open_high=True), "probability of going on to the next document")

    def weights(self, n_ranks: int) -> FloatArray:
        """Return (1 - p) p^(i - 1)."""
        return (1 - self.p) * float(self.p) ** np.arange(n_ranks)


@register(
    "rank-biased precision",
    "RBP@k = (1 - p) ∑ gain(d_i) · p^(i - 1) over the ranks i = 1..k",
    presets={"rbp": {"p": 0.9, "graded": True, "top": "query"}},
)
class RBP(RankBiased):
    r"""Rank-biased precision: the gain of a user who goes on to the next document with probability p.

    .. math:: RBP = (1 - p) \sum_i g(d_i)\, p^{i-1}

    The gain is 1 for a relevant document, or, with ``graded=True``, its relevance over `max_rel`. With
    ``top="query"`` it is the relevance over the highest one of the same query's judgments, if that is above 1: so
    ``RBP(p=0.9, graded=True, top='query')`` is rbp of trec_eval 10, and read by this name, in small letters.

    References
    ----------
    Moffat and Zobel 2008, https://doi.org/10.1145/1416950.1416952; rbp of trec_eval,
    https://github.com/usnistgov/trec_eval/blob/main/m_rbp.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["RBP(p=0.5)"]).means()
    {'RBP(p=0.5)': 0.375}
    """

    rel: float = parameter(1, Number(), REL + " (graded=False)")
    graded: bool = parameter(False, FLAG, "whether the gain is relevance / max_rel instead of 0 or 1")  # noqa: FBT003 - a default
    max_rel: float | None = parameter(
        None, Number(low=0, open_low=True, optional=True), "top of the scale; None: highest relevance of the qrels"
    )
    top: str = parameter("qrels", Choice(("qrels", "query")), "whose highest relevance is the top, if not max_rel")

    def __post_init__(self) -> None:
        """Refuse `max_rel` where gains are not graded, or where each query has its own top."""
        super().__post_init__()
        if self.max_rel is not None and (self.top == "query" or not self.graded):
            raise MeasureError(
                "max_rel is the top of the scale of graded=True, without top='query'",
                measure="RBP",
                given=self.max_rel,
            )

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return the gain of each row."""
        if not self.graded:
            return binary_gains(placements, self.rel)
        grades = np.maximum(placements.relevance, 0.0)
        if self.top == "query":
            return "graded by query", grades / self._tops(placements)[placements.query]
        top = scale_top(self.max_rel, placements, "RBP") or 1.0
        return ("graded", top), grades / top

    @staticmethod
    def _tops(placements: Placements) -> FloatArray:
        """Return the highest relevance of each query's judgments, at least 1."""
        tops = np.ones(placements.n_queries)
        np.maximum.at(tops, placements.judged_query, placements.judged_relevance)
        return tops

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document with a gain."""
        lowest = LOWEST_POSITIVE if self.graded else self.rel
        return placements.n_relevant(lowest) > 0


@register(
    "residual of rank-biased precision",
    "RBPResidual@k = p^n + (1 - p) ∑ p^(i - 1) over the ranks i ≤ n of unjudged documents",
    presets={"rbp_resid": {"p": 0.9, "tail": "unjudged"}},
    higher_is_better=False,
    is_quality=False,
)
class RBPResidual(RankBiased):
    r"""How much RBP could grow if every unjudged document, and every one not retrieved, were relevant.

    .. math:: \text{RBPResidual} = (1 - p) \sum_{i \le n,\ d_i\ \text{unjudged}} p^{i-1} + p^n

    with n the documents looked at. It is 1 for an empty list. Negative relevance counts as unjudged. rbp_resid of
    trec_eval 10 leaves out the end of the list where every document in it is judged (``tail="unjudged"``); this name
    is ``RBPResidual(p=0.9, tail='unjudged')``.

    References
    ----------
    Moffat and Zobel 2008, section 4, https://doi.org/10.1145/1416950.1416952; rbp_resid of trec_eval,
    https://github.com/usnistgov/trec_eval/blob/main/m_rbp_resid.c.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 2, "b": 1}}, ["RBPResidual(p=0.5)"]).means()
    {'RBPResidual(p=0.5)': 0.5}
    """

    tail: str = parameter(
        "always", Choice(("always", "unjudged")), "when the ranks below the list count: always, or if one is unjudged"
    )

    def __post_init__(self) -> None:
        """Refuse tail="unjudged" with a cutoff."""
        super().__post_init__()
        if self.tail == "unjudged" and self.cutoff is not None:
            raise MeasureError("tail='unjudged' takes no cutoff", measure="RBPResidual", found=f"@{self.cutoff}")

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return 1 for each judged row."""
        return "judged", (placements.relevance >= 0).astype(np.float64)

    def mean(self, placements: Placements) -> FloatArray:
        """Return 1, the weight of all ranks, less the weight at the ranks of judged documents."""
        residual = 1 - super().mean(placements)
        if self.tail == "always":
            return residual
        query_of_judged = placements.query[placements.relevance >= 0]
        n_judged = np.bincount(query_of_judged, minlength=placements.n_queries)
        has_unjudged = n_judged < placements.n_retrieved
        return np.where(has_unjudged, residual, 0.0)
