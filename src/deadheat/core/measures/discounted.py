"""Sums of gains, each weighted by its rank: DCG, nDCG, RBP and its residual."""

import math
from abc import abstractmethod
from functools import cache
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.errors import MeasureError
from deadheat.core.kernels import linear
from deadheat.core.kernels.segments import divide_or_zero, segment_sums
from deadheat.core.measures.base import Measure, ideal_ties
from deadheat.core.measures.families import MANY, CutMeasure, SumMeasure
from deadheat.core.measures.parameters import FLAG, Call, Choice, Gains, Number, parameter, parameters
from deadheat.core.measures.registration import register
from deadheat.core.measures.top import REL, Count
from deadheat.core.placements import policies
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
LOWEST_POSITIVE = math.ulp(0.0)  # as a lowest relevance that counts: any above 0
LARGEST_POWER = 500  # of two, in gains and stop probabilities: sums of their squares are within float64


def gains_of(
    gain: Any,  # noqa: ANN401 - a word or a mapping
    relevance: FloatArray,
    negative: str = "zero",
) -> FloatArray:
    """Return the gain of each relevance.

    Parameters
    ----------
    gain : {"linear", "exp"} or mapping
    relevance : ndarray
    negative : {"zero", "gain"}, default "zero"
        Whether negative relevance has no gain, or that of the formula.

    Returns
    -------
    ndarray
        Shaped as `relevance`.
    """
    counted = relevance if negative == "gain" else np.maximum(relevance, 0.0)
    with np.errstate(over="ignore"):
        if isinstance(gain, Gains):
            gains = _mapped(gain, relevance)
        else:
            gains = exp2_minus_one(counted) if gain == "exp" else counted
    if np.abs(gains).max(initial=0.0) > 2.0**LARGEST_POWER:
        raise MeasureError(
            f"the gain of relevance {counted[np.abs(gains).argmax()]:g} is beyond 2**{LARGEST_POWER}, above which"
            " squares overflow",
            hint="use gain='linear' or a mapping" if gain == "exp" else "use a smaller scale",
        )
    return gains


def exp2_minus_one(relevance: FloatArray) -> FloatArray:
    """Return ``2 ** relevance - 1``, which does not cancel where relevance is small."""
    return np.where(relevance < 0.5, np.expm1(relevance * np.log(2)), np.exp2(relevance) - 1)


def _mapped(gain: Gains, relevance: FloatArray) -> FloatArray:
    levels, values = np.array(list(gain)), np.array(list(gain.values()))
    place = np.minimum(np.searchsorted(levels, relevance), len(levels) - 1)
    known = levels[place] == relevance
    forgotten = ~known & (relevance > 0)
    if forgotten.any():
        missing = ", ".join(f"{level:g}" for level in np.unique(relevance[forgotten])[:5])
        raise MeasureError(
            f"gain names no gain for relevance {missing}; it names {', '.join(f'{level:g}' for level in levels)}"
        )
    return np.where(known, values[place], 0.0)


# the word and the numbers of a discount, for which a measure asks again and again
parts_of_discount = cache(DISCOUNT.split)


@parameters
class GainMeasure(Measure):
    """A measure of gains, which a relevance is mapped to."""

    gain: Any = parameter("linear", Call({"linear": (), "exp": ()}, mapping=True), "gain of a relevance")

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a positive gain."""
        has_gain = ideal_gains(placements, self.gain) > 0
        return np.bincount(placements.judged_query[has_gain], minlength=placements.n_queries) > 0

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the values with the gains of each tie ascending and descending, also if a mapping does not rise."""
        if not isinstance(self.gain, Gains) or isinstance(self, WeightedMeasure):
            return super().extremes(placements)
        key = gains_of(self.gain, placements.relevance)
        low, high = (self.mean(policies.arrange(placements, key, best=best)) for best in (False, True))
        return low, high


class PositiveMeasure(Measure):
    """A measure to which all documents of positive relevance are relevant."""

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a judgment of positive relevance."""
        return placements.n_relevant(LOWEST_POSITIVE) > 0


def gain_moments(placements: Placements, key: object, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, for each tie, the sum of the gains and the sum of their squares about the tie's mean.

    Parameters
    ----------
    placements : Placements
    key : hashable
        Names the gains, so that measures with the same ones share the sums.
    gains : ndarray of shape (n_rows,)

    Returns
    -------
    total, squares : ndarray of shape (n_groups,)
    """

    def find() -> tuple[FloatArray, FloatArray]:
        if not placements.have_ties:
            return gains, np.zeros(len(gains))
        starts, sizes = placements.tie_starts, placements.tie_sizes
        tied = placements.tied[starts]
        total = segment_sums(gains, starts)
        centre = total / np.maximum(tied, 1)
        squares = segment_sums((gains - np.repeat(centre, sizes)) ** 2, starts)
        return total, squares + (tied - sizes) * centre**2

    return placements.cached(("gain_moments", key), find)


def exponents_of_small(gains: FloatArray) -> IntArray:
    """Return the powers of two that very small gains are divided by, so that float64 holds their squares; 0 of others.

    Examples
    --------
    >>> exponents_of_small(np.array([0.0, 1e-310, 0.5])).tolist()
    [0, -1029, 0]
    """
    is_small = (gains > 0) & (gains < 2.0**-LARGEST_POWER)
    return np.where(is_small, np.frexp(gains)[1], 0)


def binary_gains(placements: Placements, rel: float) -> tuple[object, FloatArray]:
    """Return a name for the gains, and the gain of each row: 1 for relevance `rel` or more, else 0."""
    return ("binary", rel), (placements.relevance >= rel).astype(np.float64)


def ideal_rank(placements: Placements) -> IntArray:
    """Return the 0-based rank of each judgment in its query's ideal ranking, of shape (n_judged,)."""
    return placements.of_judgments("ideal_rank", lambda: ranks_within(placements.judged_query), per_query=False)


def ranks_within(query: IntArray) -> IntArray:
    """Return the 0-based rank of each row among those of its query, which are adjacent."""
    starts = run_starts(query)
    return np.arange(len(query)) - np.repeat(starts, np.diff(starts, append=len(query)))


def ideal_gains(placements: Placements, gain: Any) -> FloatArray:  # noqa: ANN401 - a word or a mapping
    """Return the gains of all judgments, highest first within each query, of shape (n_judged,)."""
    gains = gains_of(gain, placements.judged_relevance)
    if isinstance(gain, Gains):  # a mapping need not rise with relevance
        gains = gains[np.lexsort((-gains, placements.judged_query))]
    return gains


def weighted_sum(
    measure: CutMeasure, placements: Placements, gains: tuple[object, FloatArray], weights: FloatArray, *, squares: bool
) -> FloatArray:
    """Return the mean of each query's sum of weight(rank) x gain(document), or its variance (`squares`).

    Parameters
    ----------
    measure : CutMeasure
        Whose cutoff is taken.
    placements : Placements
    gains : tuple
        A name for the gains, and the gain of each row.
    weights : ndarray of shape (n_ranks,)
        Of all ranks that count.
    squares : bool
    """
    starts = placements.tie_starts
    above, tied = placements.above[starts], placements.tied[starts]
    total, spread = gain_moments(placements, *gains)
    inside = measure.inside(above, tied)
    part = (
        linear.variance(above, tied, inside, spread, weights=weights)
        if squares
        else linear.mean(above, tied, inside, total, weights=weights)
    )
    return placements.by_query(part, placements.query[starts])


def weights_fall(weights: FloatArray) -> bool:
    """Tell whether no rank has a larger weight than one above it, nor a negative one."""
    return bool((weights >= 0).all() and (weights[1:] <= weights[:-1]).all())


class WeightedMeasure(SumMeasure, CutMeasure):
    """A sum of weight(rank) x gain(document)."""

    @abstractmethod
    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return a name for the gains, and the gain of each row."""

    @abstractmethod
    def weights(self, n_ranks: int) -> FloatArray:
        """Return the weights of ranks 1 .. n_ranks."""

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        return weighted_sum(self, placements, self.gains(placements), self.weights_in(placements), squares=squares)

    def weights_in(self, placements: Placements) -> FloatArray:
        """Return the weights of all ranks that count in some of these lists."""
        return self.weights(int(self.depth(placements).max(initial=1)))

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value: the gains of each tie against its weights, and along with them."""
        if not placements.have_ties:
            return super().extremes(placements)
        weights = self.weights_in(placements)
        falls = weights_fall(weights)
        if falls and self.gains_follow_relevance(placements):
            return super().extremes(placements)
        gains = self.gains(placements)[1]
        ends = []
        for key in (gains, -gains):
            if falls:
                arranged = policies.arrange_around_unjudged(placements, key)
            else:
                arranged = policies.arrange_by_weight(placements, key, weights)
            ends.append(self.mean(arranged))
        along, against = ends
        return np.minimum(along, against), np.maximum(along, against)

    def gains_follow_relevance(self, placements: Placements) -> bool:
        """Tell whether the gains of each tie rise with relevance, from 0 on, so that its rows are best first."""
        name, gains = self.gains(placements)

        def find() -> bool:
            is_in_order = gains[1:] <= gains[:-1]
            is_in_order[placements.tie_starts[1:] - 1] = True
            return bool(is_in_order.all() and gains.min(initial=0.0) >= 0)

        return placements.cached(("gains_follow_relevance", name), find)

    def reachable(self, placements: Placements) -> FloatArray:
        """Return the best value that the judgments of each query allow a ranking; NaN where none is known.

        Where weights do not fall, unjudged documents may keep the others from ranks of a low weight. Then the limit is
        known with a cutoff alone.
        """
        found = super().reachable(placements)
        if not self.can_list_orders(placements):
            return found
        judged = ideal_ties(placements, np.ones(len(placements.judged_query), np.bool_), min(self.cutoff or 1, MANY))
        falls = weights_fall(self.weights_in(judged))
        if falls and self.gains_follow_relevance(judged):
            return found
        if falls:
            judged = ideal_ties(placements, self.gains(judged)[1] > 0)
        elif self.cutoff is None or self.cutoff > MANY:
            return np.full(placements.n_queries, np.nan)
        low, high = self.extremes(judged)
        return np.fmax(found, high) if self.higher_is_better else np.fmin(found, low)


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

    discount: str = parameter("log(2)", DISCOUNT, "weight of a rank")
    negative: str = parameter("zero", Choice(("zero", "gain")), "gain of negative relevance: 0, or that of the formula")

    def __post_init__(self) -> None:
        """Refuse a mapping with negative gains, and say that they have no lowest value."""
        super().__post_init__()
        if self.negative == "gain":
            if isinstance(self.gain, Gains):
                raise MeasureError(
                    measure=type(self).__name__,
                    argument="gain",
                    given=self.gain,
                    allowed="'linear' or 'exp'",
                    beside={"negative": "gain"},
                )
            object.__setattr__(self, "range", (-np.inf, type(self).range[1]))

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return the gain of each row."""
        return ("gain", self.gain, self.negative), gains_of(self.gain, placements.relevance, self.negative)

    def contributing(self, placements: Placements) -> Placements:
        """Return the placements of the documents that have a gain."""
        found = super().contributing(placements)
        return found.rows(self.gains(found)[1] != 0)

    def weights(self, n_ranks: int) -> FloatArray:
        """Return the discounts."""
        word, numbers = parts_of_discount(self.discount)
        rank = np.arange(1.0, n_ranks + 1)
        match word:
            case "log":
                return np.log(numbers[0]) / np.log(rank + 1) if numbers[0] != 2 else 1 / np.log2(rank + 1)
            case "linear":
                return 1 / rank
            case "zipf":
                return (rank + numbers[1]) ** -numbers[0]
            case "exp":
                return numbers[0] ** rank
            case _:
                return np.ones(n_ranks)


@parameters
class IdealMeasure(GainMeasure, CutMeasure):
    """A measure of the ideal ranking, which may be that of the whole list."""

    discount: str = parameter("log(2)", DISCOUNT, "weight of a rank")
    ideal: str = parameter("judged", Choice(("judged", "retrieved")), "documents of the ideal ranking")

    @property
    def deepest(self) -> int | None:
        """The cutoff; None if the ideal ranking is of the whole list."""
        return None if self.ideal == "retrieved" else self.cutoff


@register(
    "normalised discounted cumulative gain",
    "nDCG@k = ∑ gain(d_i) · D(i) over the ranks i = 1..k, divided by that sum of the ideal ranking",
    aliases=("NDCG",),
    trec_eval=("ndcg", "ndcg_cut_{}"),
    range=(0.0, 1.0),
)
class nDCG(IdealMeasure, DCG):
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

    floor: str = parameter("zero", Choice(("zero", "worst")), "what has the value 0: a DCG of 0, or the worst ranking")

    def __post_init__(self) -> None:
        """Refuse a worst ranking without negative gains, whose DCG is 0."""
        super().__post_init__()
        if self.floor == "worst":
            if self.negative == "zero":
                raise MeasureError(
                    measure="nDCG", argument="floor", given="worst", allowed="'zero'", beside={"negative": "zero"}
                )
            object.__setattr__(self, "range", type(self).range)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        if self.floor == "zero":
            return super().mean(placements)
        return divide_or_zero(
            self.moment(placements, squares=False) - self._worst(placements), self.divisor(placements)
        )

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders, also of gains whose squares float64 cannot hold."""
        ideal = self.divisor(placements)
        exponent = exponents_of_small(ideal)
        if not exponent.any():
            return super().variance(placements)
        gains = np.ldexp(self.gains(placements)[1], -exponent[placements.query])
        weights = self.weights(int(self.depth(placements).max(initial=1)))
        squares = weighted_sum(self, placements, (("scaled", self.key), gains), weights, squares=True)
        return divide_or_zero(squares, np.ldexp(ideal, -exponent) ** 2)

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a positive gain, or of which a worst ranking differs from the ideal one."""
        return super().has_relevant(placements) if self.floor == "zero" else self.divisor(placements) > 0

    def divisor(self, placements: Placements) -> FloatArray:
        """Return the DCG of the ideal ranking, by query, or how far it is above the worst."""

        def of_retrieved() -> FloatArray:
            query, gains = placements.query, gains_of(self.gain, placements.relevance)
            return self._of_sorted(placements, query, gains[np.lexsort((-gains, query))])

        def of_judged() -> FloatArray:
            return self._of_sorted(placements, placements.judged_query, ideal_gains(placements, self.gain))

        if self.ideal == "retrieved":
            ideal = placements.cached(("ideal", self.key), of_retrieved)
        else:
            ideal = placements.of_judgments(("ideal", self.key), of_judged, per_query=True)
        return ideal if self.floor == "zero" else ideal - self._worst(placements)

    def _worst(self, placements: Placements) -> FloatArray:
        """Return the DCG of the worst ranking: the documents of negative gain, the lowest first."""
        query, relevance = (
            (placements.query, placements.relevance)
            if self.ideal == "retrieved"
            else (placements.judged_query, placements.judged_relevance)
        )
        gains = np.minimum(gains_of(self.gain, relevance, self.negative), 0.0)
        return self._of_sorted(placements, query, gains[np.lexsort((gains, query))])

    def _of_sorted(self, placements: Placements, query: IntArray, gains: FloatArray) -> FloatArray:
        """Return the DCG of a ranking of each query, given all of them one after the other."""
        rank = ideal_rank(placements) if query is placements.judged_query else ranks_within(query)
        kept = slice(None) if self.cutoff is None else rank < self.cutoff
        weights = self.weights(int(rank[kept].max(initial=0)) + 1)
        return placements.by_query(gains[kept] * weights[rank[kept]], query[kept])


@register(
    "ideal discounted cumulative gain",
    "IDCG@k = ∑ gain(d_i) · D(i) over the ranks i = 1..k of the ideal ranking",
    aliases=("iDCG", "ideal_DCG"),
    range=(0.0, np.inf),
    is_quality=False,
)
class IDCG(IdealMeasure):
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

    @property
    def share(self) -> nDCG:
        """The measure that divides by it."""
        return nDCG(gain=self.gain, discount=self.discount, ideal=self.ideal, cutoff=self.cutoff)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the DCG of the ideal ranking, by query."""
        return self.share.divisor(placements)

    variance = Count.variance


def scale_top(max_rel: float | None, placements: Placements, name: str) -> float:
    """Return the top of the relevance scale: what was given, else the highest relevance of the whole qrels."""
    highest = placements.max_relevance
    if max_rel is None:
        return max(highest, 0.0)
    if highest > max_rel:
        raise MeasureError(f"max_rel={max_rel} is below the highest relevance of the qrels, {highest:g}", measure=name)
    return float(max_rel)


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
        """Refuse a top of the scale where there is no scale, or another top."""
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
        if self.top == "query":
            tops = np.ones(placements.n_queries)
            np.maximum.at(tops, placements.judged_query, placements.judged_relevance)
            return "graded by query", np.maximum(placements.relevance, 0.0) / tops[placements.query]
        top = scale_top(self.max_rel, placements, "RBP") or 1.0
        return ("graded", top), np.maximum(placements.relevance, 0.0) / top

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a document with a gain."""
        return placements.n_relevant(LOWEST_POSITIVE if self.graded else self.rel) > 0


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
        """Refuse what a cutoff gives no meaning to."""
        super().__post_init__()
        if self.tail == "unjudged" and self.cutoff is not None:
            raise MeasureError("tail='unjudged' takes no cutoff", measure="RBPResidual", found=f"@{self.cutoff}")

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return 1 for each judged row."""
        return "judged", (placements.relevance >= 0).astype(np.float64)

    def mean(self, placements: Placements) -> FloatArray:
        """Return what the judged documents leave of all weight, which is 1."""
        left = 1 - super().mean(placements)
        if self.tail == "always":
            return left
        n_judged = np.bincount(placements.query[placements.relevance >= 0], minlength=placements.n_queries)
        return np.where(n_judged < placements.n_retrieved, left, 0.0)
