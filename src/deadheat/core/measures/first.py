"""Measures of the rank of the first relevant documents: RR, Hit, FRP, those of the G-RAG paper, and ESL."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.errors import MeasureError
from deadheat.core.kernels import first
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.base import Measure
from deadheat.core.measures.families import CutMeasure, JointMeasure
from deadheat.core.measures.parameters import COUNT, Choice, parameter, parameters
from deadheat.core.measures.registration import alias_class, register
from deadheat.core.measures.top import RelevanceMeasure, retrieved_relevant
from deadheat.core.placements.placements import Placements


class RankValued(CutMeasure):
    """A measure whose values are ranks, from 1 on."""

    @property
    def has_limits(self) -> bool:
        """Whether there is a cutoff, which sets the value of a query without a relevant document in the top k."""
        return self.cutoff is not None

    def limits(self, placements: Placements) -> tuple[float, float]:
        """Return 1 and, with a cutoff, k + 1."""
        if self.cutoff is None:
            return super().limits(placements)
        return 1.0, self.cutoff + 1.0


@dataclass(frozen=True, eq=False)
class FirstTies:
    """The first tie with a relevant document, of each query that retrieves one.

    Attributes
    ----------
    query : ndarray of shape (n_ties,)
        Query code, ascending.
    above, tied : ndarray of shape (n_ties,)
        Documents above the tie and in it.
    inside : ndarray of shape (n_ties,)
        Ranks of the tie within the cutoff.
    count : ndarray of shape (n_ties,)
        Relevant documents in the tie.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    inside: IntArray
    count: IntArray

    def select(self, keep: BoolArray) -> "FirstTies":
        """Return some of the ties."""
        return FirstTies(self.query[keep], self.above[keep], self.tied[keep], self.inside[keep], self.count[keep])


class FirstMeasure(RelevanceMeasure, CutMeasure):
    """A function of the rank of the first relevant document."""

    @abstractmethod
    def value_at_rank(self, rank: IntArray) -> FloatArray:
        """Return the value of a first relevant document at each rank."""

    def value_if_none(self, placements: Placements) -> FloatArray:
        """Return the value of a list without a relevant document in the top k, of shape (n_queries,)."""
        return np.zeros(placements.n_queries)

    def first_ties(self, placements: Placements) -> FirstTies:
        """Return the first tie with a relevant document, of each query that retrieves one."""
        ties = placements.relevant(self.rel)
        first = ties[run_starts(ties.query)]
        inside = self.inside(first.above, first.tied)
        return FirstTies(query=first.query, above=first.above, tied=first.tied, inside=inside, count=first.count)

    def looked_at(self, placements: Placements) -> IntArray:
        """Return the documents up to the first tie with a relevant one, or to the cutoff."""
        ties = self.first_ties(placements)
        n_seen = super().looked_at(placements).copy()
        n_seen[ties.query] = np.minimum(n_seen[ties.query], ties.above + ties.tied)
        return n_seen

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders, computed once for the same placements."""
        return placements.cached(("mean", self.key), lambda: self._find_mean(placements))

    def _find_mean(self, placements: Placements) -> FloatArray:
        ties = self.first_ties(placements)
        if_none = self.value_if_none(placements)
        mean_of_ties = first.mean(
            ties.above, ties.tied, ties.inside, ties.count, if_none[ties.query], value=self.value_at_rank
        )
        mean = if_none
        mean[ties.query] = mean_of_ties
        return mean

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        ties = self.first_ties(placements)
        if_none = self.value_if_none(placements)
        variance = np.zeros(placements.n_queries)
        variance[ties.query] = first.variance(
            ties.above, ties.tied, ties.inside, ties.count, if_none[ties.query], value=self.value_at_rank
        )
        return variance

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value: the first relevant document is the first or last of its tie."""
        ties = self.first_ties(placements)
        earliest = self._values_at(placements, ties, ties.above + 1)
        latest = self._values_at(placements, ties, ties.above + ties.tied - ties.count + 1)
        return np.minimum(earliest, latest), np.maximum(earliest, latest)

    def _values_at(self, placements: Placements, ties: FirstTies, rank: IntArray) -> FloatArray:
        """Return the value of each query; `rank` is that of the first relevant document of each tie."""
        values = self.value_if_none(placements)
        is_inside = self.inside(rank - 1, np.ones_like(rank)) > 0  # a tie of one document at this rank
        values[ties.query] = np.where(is_inside, self.value_at_rank(rank), values[ties.query])
        return values

    def distributions(self, placements: Placements, queries: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the values of some queries over all tie orders, and their probabilities."""
        if_none = self.value_if_none(placements)
        ties = self.first_ties(placements)
        ties = ties.select(np.isin(ties.query, queries))
        distributions_of_ties = first.distributions(
            ties.above, ties.tied, ties.inside, ties.count, if_none[ties.query], value=self.value_at_rank
        )
        by_query = dict(zip(ties.query.tolist(), distributions_of_ties, strict=True))
        distributions = []
        for query in queries.tolist():
            certainly_none = (if_none[[query]], np.ones(1))
            distributions.append(by_query.get(query, certainly_none))
        return distributions


@register(
    "reciprocal rank",
    "RR@k = 1 / rank of the first relevant document",
    aliases=("MRR", "mrr"),
    trec_eval=("recip_rank",),
)
class RR(FirstMeasure):
    r"""Reciprocal of the rank of the first relevant document.

    .. math:: RR@k = 1 / \text{rank of the first relevant document}

    and 0 if there is none in the top k.

    References
    ----------
    Kantor and Voorhees 2000, https://doi.org/10.1023/A:1009902609570; ties: McSherry and Najork 2008, section 2.5,
    https://doi.org/10.1007/978-3-540-78646-7_38, whose printed sum needs f(x - 1) - f(x) in place of f(x).

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["RR"]).means()
    {'RR': 0.75}
    """

    @property
    def is_zero_or_one(self) -> bool:
        """Whether only the first rank is looked at."""
        return self.cutoff == 1

    def value_at_rank(self, rank: IntArray) -> FloatArray:
        """Return 1 / rank."""
        return 1 / rank


@register(
    "hit",
    "Hit@k = 1 if C_k > 0, else 0",
    aliases=("Success", "HR", "hit_rate", "HitRate", "Hits", "accuracy"),
    trec_eval=("success_{}",),
)
class Hit(FirstMeasure):
    r"""Whether a relevant document is in the top k.

    .. math:: \text{Hit}@k = [C_k > 0]

    with :math:`C_k` the relevant documents in the top k. Its mean over ties is the probability of a hit.

    References
    ----------
    Raghavan, Bollmann and Jung 1989, https://doi.org/10.1145/65943.65945, for probabilities over ties.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5, "c": 0.5}}, ["Hit@2"]).means()
    {'Hit@2': 0.6666666666666666}
    """

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the value is 0 or 1: always."""
        return True

    def value_at_rank(self, rank: IntArray) -> FloatArray:
        """Return 1."""
        return np.ones(rank.shape)


def rank_below_list(measure: CutMeasure, placements: Placements) -> FloatArray:
    """Return k + 1; without a cutoff n_retrieved + 1, and NaN for a query that the run lacks."""
    if measure.cutoff is not None:
        return np.full(placements.n_queries, measure.cutoff + 1.0)
    return np.where(placements.missing, np.nan, placements.n_retrieved + 1.0)


@register(
    "first relevant position",
    "FRP@k = min(rank of the first relevant document, k + 1)",
    range=(1.0, np.inf),
    higher_is_better=False,
)
class FRP(RankValued, FirstMeasure):
    r"""Rank of the first relevant document.

    .. math:: FRP@k = \min(\text{rank of the first relevant document},\ k + 1)

    Without a cutoff, n_retrieved + 1 means "none retrieved"; a query that the run lacks has no value (NaN) and
    is left out of the mean.

    References
    ----------
    Cooper 1968, https://doi.org/10.1002/asi.5090190108, whose expected search length for one relevant document is
    the mean over ties of FRP - 1.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}, ["FRP", "FRP@1"]).means()
    {'FRP': 1.5, 'FRP@1': 1.5}
    """

    def value_at_rank(self, rank: IntArray) -> FloatArray:
        """Return the rank itself."""
        return rank.astype(np.float64)

    value_if_none = rank_below_list


@parameters
class PaperMeasure(FirstMeasure):
    """A measure of the G-RAG paper: a mean over permutations, or the formula that the paper prints."""

    definition: str = parameter(
        "permutations",
        Choice(("permutations", "mid_rank")),
        "mean over all tie orders, or the paper's formula on the tie itself, under every tie policy",
    )

    def looked_at(self, placements: Placements) -> IntArray:
        """Return how many documents of each list count; for the paper's formula all do."""
        if self.definition == "permutations":
            return super().looked_at(placements)
        return placements.n_retrieved

    @abstractmethod
    def value_of_tie(self, above: IntArray, tied: IntArray) -> FloatArray:
        """Return the paper's value of a relevant document in a tie."""

    def mean(self, placements: Placements) -> FloatArray:
        """Return the mean over all tie orders; the paper's formula looks at the ties before any policy."""
        if self.definition == "permutations":
            return super().mean(placements)
        before_policy = placements.before or placements
        ties = before_policy.relevant(self.rel)
        part = ties.count * self.value_of_tie(ties.above, ties.tied)
        return divide_or_zero(placements.by_query(part, ties.query), placements.n_relevant(self.rel))

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders; the paper's formula has none."""
        if self.definition == "permutations":
            return super().variance(placements)
        return np.zeros(placements.n_queries)

    def distributions(self, placements: Placements, queries: IntArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return values and probabilities; the paper's formula takes one value."""
        if self.definition == "permutations":
            return super().distributions(placements, queries)
        values = self.mean(placements)[queries]
        return [(np.array([value]), np.ones(1)) for value in values]

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders."""
        if self.definition == "permutations":
            return super().extremes(placements)
        return Measure.extremes(self, placements)


@register("mean tied reciprocal rank", "MTRR@k = mean over all orders of the ties of RR@k")
class MTRR(PaperMeasure):
    r"""Tied reciprocal rank of the G-RAG paper.

    .. math:: MTRR = \text{mean over all orders of the ties of } RR

    and so `RR` itself. With ``definition="mid_rank"`` it is the paper's equation 11 instead: the mean over all
    relevant documents d of :math:`2 / (2 r_d + t_d - 1)`, with :math:`r_d` the best rank of d and :math:`t_d` the
    size of its tie: reciprocals of middle ranks, which is not a mean over orders but a function of the ties
    themselves. No order of them changes it, and so no tie policy does.

    References
    ----------
    Dong et al. 2024, https://doi.org/10.48550/arXiv.2405.18414, section 4.1.1.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, ["MTRR", "MTRR(definition='mid_rank')"]).means()
    {'MTRR': 0.75, "MTRR(definition='mid_rank')": 0.6666666666666666}
    """

    @property
    def is_zero_or_one(self) -> bool:
        """Whether only the first rank is looked at; the paper's formula takes other values there too."""
        return self.definition == "permutations" and self.cutoff == 1

    def __post_init__(self) -> None:
        """Refuse a cutoff, which the paper's formula does not have."""
        super().__post_init__()
        if self.definition == "mid_rank" and self.cutoff is not None:
            raise MeasureError("definition='mid_rank' takes no cutoff", measure="MTRR", found=f"@{self.cutoff}")

    value_at_rank = RR.value_at_rank

    def value_of_tie(self, above: IntArray, tied: IntArray) -> FloatArray:
        """Return the reciprocal of the middle rank."""
        return 2 / (2 * above + tied + 1)


@register("tied mean hits", "TMHits@k = mean over all orders of the ties of Hit@k")
class TMHits(PaperMeasure):
    r"""Tied Hits@k of the G-RAG paper.

    .. math:: \text{TMHits}@k = \text{mean over all orders of the ties of } \text{Hit}@k

    and so `Hit` itself. With ``definition="mid_rank"`` it is the paper's equation 12 instead, read as the mean over
    all relevant documents d of ``min(1, max(0, k - a_d) / t_d)``, with :math:`a_d` documents above and
    :math:`t_d` in the tie of d: the expected recall at k, whatever the tie policy. (As printed, the equation exceeds
    1 for two documents above a tie of two.)

    References
    ----------
    Dong et al. 2024, https://doi.org/10.48550/arXiv.2405.18414, section 4.1.1.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, ["TMHits(definition='mid_rank')@1"]).means()
    {"TMHits(definition='mid_rank')@1": 0.5}
    """

    @property
    def is_zero_or_one(self) -> bool:
        """Whether the value is 0 or 1: always, except by the paper's formula."""
        return self.definition == "permutations"

    value_at_rank = Hit.value_at_rank

    def value_of_tie(self, above: IntArray, tied: IntArray) -> FloatArray:
        """Return the share of the tie that is in the top k."""
        return self.inside(above, tied) / tied


@register(
    "expected search length",
    "ESL = documents that are not relevant above the s-th relevant one (s = wanted)",
    range=(0.0, np.inf),
    higher_is_better=False,
)
class ESL(JointMeasure, RelevanceMeasure):
    r"""Expected search length: documents that are not relevant above the s-th relevant one.

    .. math:: \text{ESL} = T_s - s

    with :math:`T_s` the rank of the s-th relevant document (s is ``wanted``). Its mean over the orders of ties is
    t - b + (s - b) (n - r) / (r + 1), where the tie that holds it has n documents, r of them relevant, below t
    documents of which b are relevant. Unjudged documents are not relevant. Where fewer than s are retrieved, a search
    goes through all others in vain: their number counts. A query that the run lacks has no value (NaN) and is left out
    of the mean.

    References
    ----------
    Cooper 1968, https://doi.org/10.1002/asi.5090190108, who defined it for weak orderings, which is: over ties.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> run = {"q": {"a": 2, "b": 2, "c": 2, "d": 1}}
    >>> evaluate({"q": {"a": 1, "d": 1}}, run, ["ESL", "ESL(wanted=2)"]).means()
    {'ESL': 1.0, 'ESL(wanted=2)': 2.0}
    """

    wanted: int = parameter(1, COUNT, "relevant documents that the search is for")

    def find_moments(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Compute mean and variance over all tie orders."""
        n_missed = placements.n_retrieved - retrieved_relevant(placements, self.rel)
        mean = np.where(placements.missing, np.nan, n_missed)
        variance = np.zeros(placements.n_queries)
        ties = placements.relevant(self.rel)
        ties = ties[(ties.before < self.wanted) & (self.wanted <= ties.before + ties.count)]
        n, r = ties.tied, ties.count
        place = self.wanted - ties.before  # of the wanted document among the relevant ones of its tie
        mean[ties.query] = ties.above - ties.before + place * ((n - r) / (r + 1))
        # the variance of an order statistic of a draw without replacement
        variance[ties.query] = place * (r + 1 - place) * (n - r) * ((n + 1.0) / ((r + 1.0) ** 2 * (r + 2)))
        return mean, variance


MRR = alias_class(RR, "MRR")
HR = alias_class(Hit, "HR")
Success = alias_class(Hit, "Success")
