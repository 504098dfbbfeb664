"""Sums of gains, each discounted by its rank: DCG, nDCG and the ideal DCG."""

from functools import cache

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.families import CutMeasure
from deadheat.core.measures.gains import (
    compute_gains,
    exponents_of_small,
    ideal_gains,
    ideal_rank,
    rank_within_query,
)
from deadheat.core.measures.parameters import Call, Choice, Gains, Number, parameter
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import Count
from deadheat.core.measures.weighted import GainMeasure, WeightedMeasure, weighted_sum
from deadheat.core.placements.placements import Placements

DISCOUNT = Call(
    {
        "log": (Number("b", low=1, open_low=True),),
        "linear": (),
        "zipf": (Number("s", low=0, high=50), Number("p", low=-0.99)),
        "exp": (Number("p", low=0, high=1, open_low=True),),
        "none": (),
    }
)
split_discount = cache(DISCOUNT.split)  # a measure asks for the same one again and again

# Fields of several measures
DISCOUNT_FIELD = parameter("log(2)", DISCOUNT, "weight of a rank")
IDEAL_FIELD = parameter("judged", Choice(("judged", "retrieved")), "documents of the ideal ranking")


@register(
    "discounted cumulative gain",
    "DCG@k = ∑ gain(d_i) · D(i) over the ranks i = 1..k",
    aliases=("dcg",),
    range=(0.0, np.inf),
)
class DCG(GainMeasure, WeightedMeasure):
    r"""Discounted cumulative gain.

    .. math:: DCG@k = \sum_{i=1}^{k} g(d_i)\, D(i)

    The gain of relevance r is r (``"linear"``), 2^r - 1 (``"exp"``) or what a mapping says. The discount D(i) is
    1 / log_b(i + 1) (``"log(b)"``), 1 / i (``"linear"``), 1 / (i + p)^s (``"zipf(s, p)"``), p^i (``"exp(p)"``) or 1
    (``"none"``). The base of the logarithm is a common factor, which nDCG divides out.

    Negative relevance has gain 0, as in trec_eval; with ``negative="gain"`` it has that of the formula, such as -1, so
    that a harmful document is worse than an unjudged one. ``ties="best"`` and ``"worst"`` put unjudged documents last
    and first, so those are not the extremes then; `tie_min` and `tie_max` are.

    References
    ----------
    Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418; gain ``"exp"``: Burges et al. 2005,
    https://doi.org/10.1145/1102351.1102363; ties: McSherry and Najork 2008, section 2.6,
    https://doi.org/10.1007/978-3-540-78646-7_38.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 3}}, {"q": {"a": 0.5, "b": 0.5}}, ["DCG(discount='linear')"]).means()
    {"DCG(discount='linear')": 2.25}
    >>> evaluate({"q": {"a": 3, "b": -1}}, {"q": {"b": 0.7, "a": 0.5}}, "DCG(negative='gain')@1").means()
    {"DCG(negative='gain')@1": -1.0}
    """

    discount: str = DISCOUNT_FIELD
    negative: str = parameter("zero", Choice(("zero", "gain")), "gain of negative relevance: 0, or that of the formula")

    def __post_init__(self) -> None:
        """Refuse negative gains with a mapping. With them the range has no lower end."""
        super().__post_init__()
        if self.negative == "zero":
            return
        if isinstance(self.gain, Gains):
            raise MeasureError(
                measure=type(self).__name__,
                argument="gain",
                given=self.gain,
                allowed="'linear' or 'exp'",
                beside={"negative": "gain"},
            )
        highest = type(self).range[1]
        object.__setattr__(self, "range", (-np.inf, highest))

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return the gain of each row."""
        name = ("gain", self.gain, self.negative)
        return name, compute_gains(self.gain, placements.relevance, self.negative)

    def contributing(self, placements: Placements) -> Placements:
        """Return the placements of the documents that have a gain."""
        placements = super().contributing(placements)
        _, gains = self.gains(placements)
        return placements.rows(gains != 0)

    def weights(self, n_ranks: int) -> FloatArray:
        """Return the discounts."""
        word, numbers = split_discount(self.discount)
        rank = np.arange(1.0, n_ranks + 1)
        if word == "log":
            (b,) = numbers
            if b == 2:
                return 1 / np.log2(rank + 1)
            return np.log(b) / np.log(rank + 1)
        if word == "linear":
            return 1 / rank
        if word == "zipf":
            s, p = numbers
            return (rank + p) ** -s
        if word == "exp":
            (p,) = numbers
            return p**rank
        return np.ones(n_ranks)


@register(
    "normalised discounted cumulative gain",
    "nDCG@k = ∑ gain(d_i) · D(i) over the ranks i = 1..k, divided by that sum of the ideal ranking",
    aliases=("NDCG",),
    trec_eval=("ndcg", "ndcg_cut_{}"),
    range=(0.0, 1.0),
)
class nDCG(DCG):
    r"""Discounted cumulative gain as a share of the ideal one.

    .. math:: nDCG@k = DCG@k \,/\, \max DCG@k

    The ideal ranking holds all judged documents, the highest gain first, and is cut at k. With
    ``ideal="retrieved"`` it holds the retrieved ones alone, as where a tool sees nothing but the list: then relevant
    documents that were not found cost nothing, and a query of which none was found has 0. Gains and discounts are
    those of `DCG`.

    With ``negative="gain"`` the ideal ranking leaves documents of negative gain out: unjudged ones, which have 0, are
    better. A value may be below 0 then, without a limit; ``floor="worst"`` makes it the place between the worst ranking
    and the ideal one, (DCG - worst) / (ideal - worst), from 0 to 1. The worst ranking has the lowest negative gain
    first, and unjudged documents after all negative ones.

    References
    ----------
    Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418; ties: McSherry and Najork 2008,
    section 2.6, https://doi.org/10.1007/978-3-540-78646-7_38.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 3}}, {"q": {"a": 0.5, "b": 0.5}}, ["nDCG@10"]).means()
    {'nDCG@10': 0.8154648767857288}
    """

    ideal: str = IDEAL_FIELD
    floor: str = parameter("zero", Choice(("zero", "worst")), "what has the value 0: a DCG of 0, or the worst ranking")

    def __post_init__(self) -> None:
        """Refuse floor="worst" without negative gains, where the worst ranking has a DCG of 0 anyway."""
        super().__post_init__()
        if self.floor == "zero":
            return
        if self.negative == "zero":
            raise MeasureError(
                measure="nDCG", argument="floor", given="worst", allowed="'zero'", beside={"negative": "zero"}
            )
        object.__setattr__(self, "range", type(self).range)  # from the worst ranking on, the value is from 0 to 1

    @property
    def deepest(self) -> int | None:
        """The cutoff; None if the ideal ranking is of the whole list."""
        return None if self.ideal == "retrieved" else self.cutoff

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        if self.floor == "zero":
            return super().mean(placements)
        above_worst = self.moment(placements, squares=False) - self._worst_dcg(placements)
        return divide_or_zero(above_worst, self.divisor(placements))

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders, also where float64 cannot hold the squares of small gains.

        There gains and divisor are multiplied by the same power of two first.
        """
        ideal = self.divisor(placements)
        exponent = exponents_of_small(ideal)
        if not exponent.any():
            return super().variance(placements)
        _, gains = self.gains(placements)
        scaled_gains = np.ldexp(gains, -exponent[placements.query])
        scaled_ideal = np.ldexp(ideal, -exponent)
        name = ("scaled", self.key)
        weights = self.weights_to_depth(placements)
        variance = weighted_sum(self, placements, (name, scaled_gains), weights, squares=True)
        return divide_or_zero(variance, scaled_ideal**2)

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a positive gain; with floor="worst" also those that have a negative one."""
        if self.floor == "zero":
            return super().has_relevant(placements)
        return self.divisor(placements) > 0

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the DCG of the ideal ranking, by query; with floor="worst" less that of the worst ranking."""
        ideal = self._ideal_dcg(placements)
        if self.floor == "zero":
            return ideal
        return ideal - self._worst_dcg(placements)

    def _ideal_dcg(self, placements: Placements) -> FloatArray:
        """Return the DCG of the ideal ranking: the highest gain first."""
        key = ("ideal", self.key)

        def sum_judged() -> FloatArray:
            gains = ideal_gains(placements, self.gain)
            return self._sum_ranking(placements, placements.judged_query, ideal_rank(placements), gains)

        def sum_retrieved() -> FloatArray:
            query = placements.query
            gains = compute_gains(self.gain, placements.relevance)
            highest_first = np.lexsort((-gains, query))
            return self._sum_ranking(placements, query, rank_within_query(query), gains[highest_first])

        if self.ideal == "retrieved":
            return placements.cached(key, sum_retrieved)
        return placements.of_judgments(key, sum_judged, per_query=True)

    def _worst_dcg(self, placements: Placements) -> FloatArray:
        """Return the DCG of the worst ranking: the documents of negative gain, the lowest first."""
        if self.ideal == "retrieved":
            query, relevance = placements.query, placements.relevance
        else:
            query, relevance = placements.judged_query, placements.judged_relevance
        gains = np.minimum(compute_gains(self.gain, relevance, self.negative), 0.0)
        lowest_first = np.lexsort((gains, query))
        return self._sum_ranking(placements, query, rank_within_query(query), gains[lowest_first])

    def _sum_ranking(self, placements: Placements, query: IntArray, rank: IntArray, gains: FloatArray) -> FloatArray:
        """Return the DCG of one ranking of each query, given the query, the 0-based rank and the gain of each row."""
        if self.cutoff is not None:
            is_inside = rank < self.cutoff
            query, rank, gains = query[is_inside], rank[is_inside], gains[is_inside]
        weights = self.weights(int(rank.max(initial=0)) + 1)
        return placements.by_query(gains * weights[rank], query)


@register(
    "ideal discounted cumulative gain",
    "IDCG@k = ∑ gain(d_i) · D(i) over the ranks i = 1..k of the ideal ranking",
    aliases=("iDCG", "ideal_DCG"),
    range=(0.0, np.inf),
    is_quality=False,
)
class IDCG(GainMeasure, CutMeasure):
    r"""Discounted cumulative gain of the ideal ranking, which nDCG divides by.

    .. math:: IDCG@k = \max DCG@k

    Parameters are those of `nDCG`. It says what the judgments allow, not how good a ranking is, and no order of ties
    changes it. Without a positive gain it is 0.

    References
    ----------
    Jarvelin and Kekalainen 2002, https://doi.org/10.1145/582415.582418.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> evaluate({"q": {"a": 3, "z": 2}}, {"q": {"a": 0.5, "b": 0.5}}, ["IDCG(discount='linear')"]).means()
    {"IDCG(discount='linear')": 4.0}
    """

    discount: str = DISCOUNT_FIELD
    ideal: str = IDEAL_FIELD

    @property
    def deepest(self) -> int | None:
        """The cutoff; None if the ideal ranking is of the whole list."""
        return None if self.ideal == "retrieved" else self.cutoff

    @property
    def share(self) -> nDCG:
        """The measure that divides by it."""
        return nDCG(gain=self.gain, discount=self.discount, ideal=self.ideal, cutoff=self.cutoff)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the DCG of the ideal ranking, by query."""
        return self.share.divisor(placements)

    variance = Count.variance
