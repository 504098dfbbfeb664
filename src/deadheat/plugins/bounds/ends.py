"""Bounds over unjudged documents: the least and greatest value if each retrieved one had any relevance up to a top.

The value is that under the tie policy: under "expected" the mean over tie orders. Labels are any numbers from 0 to the
top, whole or not; both ends are values that some labels give. Documents that are judged below 0 stay as they are.

P, Hit, RR, DCG, RBP and ERR never fall if a document's relevance rises: they are least if all unjudged documents have
relevance 0, and greatest if all have the top. R, F, R-precision, AP and nDCG divide by what rises with it, too: the
arguments are with the kernels.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, concatenate_ranges
from deadheat.core.errors import MeasureError
from deadheat.core.measures.average import AP
from deadheat.core.measures.base import Measure
from deadheat.core.measures.cascade import ERR
from deadheat.core.measures.discounted import DCG, nDCG
from deadheat.core.measures.first import RR, Hit
from deadheat.core.measures.gains import compute_gains, ideal_gains
from deadheat.core.measures.parameters import Gains
from deadheat.core.measures.rank_biased import RBP
from deadheat.core.measures.top import F, P, R, Rprec, constant_norm
from deadheat.core.measures.weighted import GainMeasure
from deadheat.core.placements.placements import Placements
from deadheat.plugins.bounds import kernel as kernels
from deadheat.plugins.bounds.documents import Unjudged, with_judged
from deadheat.plugins.bounds.ndcg_ends import OpenSums, ndcg_ends, split_into_levels

Ends = tuple[FloatArray, FloatArray]


def has_ends(measure: Measure) -> bool:
    """Tell whether a measure has bounds over unjudged documents; none are known for some changing divisors."""
    is_changing = (
        (isinstance(measure, RBP) and measure.top == "query")
        or (isinstance(measure, AP) and measure.is_conditional)
        or (isinstance(measure, nDCG) and measure.negative == "gain")
    )
    return type(measure) in ENDS and not is_changing


def deepest_counted(measure: Measure) -> int | None:
    """Return the rank below which judgments of retrieved documents change nothing; None: they do, through R or ideals.

    Parameters
    ----------
    measure : Measure
        One that has bounds.

    Examples
    --------
    >>> from deadheat import P, R
    >>> deepest_counted(P @ 5), deepest_counted(R @ 5)
    (5, None)
    """
    return measure.deepest if ENDS[type(measure)] is _rising else None


def ends(measure: Measure, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    """Return the least and the greatest value of each query over all relevance of its unjudged documents.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        After a tie policy that leaves ties as they are, or none.
    unjudged : Unjudged
        Under the same policy.
    top : float
        The highest relevance that an unjudged document can have.

    Returns
    -------
    low, high : ndarray of shape (n_queries,)

    Raises
    ------
    MeasureError
        There are no bounds for this measure.

    Examples
    --------
    >>> from deadheat import R, place
    >>> from deadheat.plugins.bounds.documents import as_placed
    >>> placements = place({"q": {"b": 1}}, {"q": {"a": 3, "b": 2, "c": 1}})
    >>> low, high = ends(R() @ 1, placements, as_placed(placements), top=1)
    >>> low.tolist(), high.tolist()
    ([0.0], [0.5])
    """
    if not has_ends(measure):
        raise MeasureError(
            "there are no bounds over unjudged documents for it",
            measure=str(measure),
            allowed=f"one of {', '.join(one.__name__ for one in ENDS)}",
        )
    low, high = ENDS[type(measure)](measure, placements, unjudged, top)
    exact = measure.mean(placements)
    has_some = np.isin(np.arange(placements.n_queries), unjudged.concerned())
    return np.where(has_some, low, exact), np.where(has_some, high, exact)


def _rising(measure: Any, placements: Placements, unjudged: Unjudged, top: float) -> Ends:  # noqa: ANN401 - one of `ENDS`
    """Return the ends of a measure that rises with the relevance of every document."""
    check_scale(measure, placements, top)
    query, above, tied = (
        np.repeat(column, unjudged.count) for column in (unjudged.query, unjudged.above, unjudged.tied)
    )
    low, high = (
        measure.mean(with_judged(placements, query, label, above, tied)) for label in labels_of_ends(measure, top)
    )
    return low, high


def check_scale(measure: Any, placements: Placements, top: float) -> None:  # noqa: ANN401 - one of `ENDS`
    """Raise `MeasureError` if an unjudged document can be above the top of the measure's scale."""
    has_scale = (isinstance(measure, RBP) and measure.graded) or (isinstance(measure, ERR) and measure.stop == "exp")
    if has_scale and top > (scale := measure.max_rel or placements.max_relevance):
        raise MeasureError(
            f"unjudged_max_rel={top:g} is above the top of its scale",
            measure=str(measure),
            found=f"{scale:g}",
            hint=f"write {measure(max_rel=top)}",
        )


def labels_of_ends(measure: Measure, top: float) -> tuple[float, float]:
    """Return the labels of the least and of the greatest gain."""
    if not isinstance(measure, GainMeasure) or not isinstance(measure.gain, Gains):
        return 0.0, top
    labels = np.array(_named(measure.gain, top))
    gains = compute_gains(measure.gain, labels)
    return float(labels[np.argmin(gains)]), float(labels[np.argmax(gains)])


def _named(gain: Gains, top: float) -> list[float]:
    """Return the labels that a mapping allows: 0, and those up to the top that it names."""
    return sorted({0.0, *(float(level) for level in gain if 0 <= level <= top)})


def allowed_numbers(measure: Any, n_unjudged: int, top: float) -> slice:  # noqa: ANN401 - any measure with a level
    """Return how many unjudged documents can be relevant: any number, but for levels that all or none reach."""
    return slice(n_unjudged if measure.rel <= 0 else 0, (n_unjudged if measure.rel <= top else 0) + 1)


def _by_query(placements: Placements, unjudged: Unjudged, find: Callable[[int, slice], kernels.Ends]) -> Ends:
    """Return the ends that a function finds for each query that retrieves an unjudged document; 0 elsewhere."""
    low, high = np.zeros((2, placements.n_queries))
    for code in unjudged.concerned().tolist():
        low[code], high[code] = find(code, unjudged.of_query(code))
    return low, high


def _of_count(measure: Any, placements: Placements, unjudged: Unjudged, top: float) -> Ends:  # noqa: ANN401 - R or F
    """Return the ends of recall and of the F measure."""
    sums, known = measure.moment(placements, squares=False), constant_norm(measure.norm, placements, measure.rel)
    of_k, of_relevant = measure.weights() if isinstance(measure, F) else (0.0, 1.0)
    k = measure.k(placements)

    def find(code: int, own: slice) -> kernels.Ends:
        lost = 0 if measure.norm == "retrieved_all" else int(unjudged.lost[code])
        above, tied = unjudged.above[own], unjudged.tied[own]
        # how likely each document is inside the cutoff
        shares = np.append(np.repeat(measure.inside(above, tied) / tied, unjudged.count[own]), np.zeros(lost))
        total = of_k * k[code] + of_relevant * (known[code] + np.arange(len(shares) + 1))
        return kernels.ratio_ends(
            float(sums[code]), shares, total / (of_k + of_relevant), allowed_numbers(measure, len(shares), top)
        )

    return _by_query(placements, unjudged, find)


def _rprec(measure: Rprec, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    found, known = placements.relevant(measure.rel), placements.n_relevant(measure.rel)

    def find(code: int, own: slice) -> kernels.Ends:
        judged = np.zeros(int(placements.n_retrieved[code]))
        ties = slice(*np.searchsorted(found.query, (code, code + 1)))
        tied = found.tied[ties]
        judged[concatenate_ranges(found.above[ties], tied)] = np.repeat(found.count[ties] / tied, tied)
        count = unjudged.count[own]
        return kernels.rprec_ends(
            judged,
            unjudged.above[own],
            unjudged.tied[own],
            count,
            int(known[code]),
            allowed_numbers(measure, int(count.sum()) + int(unjudged.lost[code]), top),
            n_lost=int(unjudged.lost[code]),
        )

    return _by_query(placements, unjudged, find)


def _ap(measure: AP, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    found, known = placements.relevant(measure.rel), constant_norm(measure.norm, placements, measure.rel)

    def find(code: int, own: slice) -> kernels.Ends:
        ties = slice(*np.searchsorted(found.query, (code, code + 1)))
        above = np.union1d(found.above[ties], unjudged.above[own])
        tied, relevant, count = np.zeros((3, len(above)), np.int64)
        for columns, some, numbers in ((found, ties, relevant), (unjudged, own, count)):
            place = np.searchsorted(above, columns.above[some])
            tied[place], numbers[place] = columns.tied[some], columns.count[some]
        low, high = kernels.precision_sums(above, tied, measure.inside(above, tied), relevant=relevant, unjudged=count)
        lost = int(unjudged.lost[code]) if measure.norm in {"R", "min"} else 0
        low, high = np.append(np.repeat(low[0], lost), low), np.append(high, np.repeat(high[-1], lost))
        divisor = known[code] + np.arange(len(low))
        if measure.norm == "k":
            divisor = np.full(len(low), measure.cutoff)
        elif measure.norm == "min" and measure.cutoff is not None:
            divisor = np.minimum(divisor, measure.cutoff)
        return kernels.sum_ends(low, high, divisor, allowed_numbers(measure, len(low) - 1, top))

    return _by_query(placements, unjudged, find)


def _ndcg(measure: nDCG, placements: Placements, unjudged: Unjudged, top: float) -> Ends:
    sums, is_list = measure.moment(placements, squares=False), measure.ideal == "retrieved"
    judged_query, gains = gains_of_judgments(measure, placements)
    longest = int(max(measure.depth(placements).max(initial=0), np.bincount(placements.judged_query).max(initial=0)))
    longest += int((unjudged.counts() + unjudged.lost).max(initial=0))
    discounts = measure.weights(max(longest, 1) if measure.cutoff is None else min(longest, measure.cutoff))
    prefix = np.concatenate(([0.0], np.cumsum(discounts)))
    first = np.minimum(unjudged.above, len(discounts))
    inside = measure.inside(unjudged.above, unjudged.tied)
    weights = (prefix[first + inside] - prefix[first]) / unjudged.tied
    has_weight = weights > 0
    n_queries = placements.n_queries
    n_weightless = np.bincount(unjudged.query, np.where(has_weight, 0, unjudged.count), n_queries).astype(np.int64)
    if not is_list:
        n_weightless += unjudged.lost
    count = unjudged.count[has_weight]
    open_sums = OpenSums(
        sums, np.repeat(unjudged.query[has_weight], count), np.repeat(weights[has_weight], count), n_weightless
    )
    levels = split_into_levels(
        judged_query,
        gains,
        n_queries,
        offered_gains(measure, top),
        discounts,
        tries_judged=not isinstance(measure.gain, Gains),
    )
    return ndcg_ends(open_sums, levels)


def gains_of_judgments(measure: nDCG, placements: Placements) -> tuple[IntArray, FloatArray]:
    """Return the query and the gain of each document of the ideal ranking: those judged, or those retrieved."""
    if measure.ideal == "retrieved":
        return placements.query, compute_gains(measure.gain, placements.relevance)
    return placements.judged_query, ideal_gains(placements, measure.gain)


def offered_gains(measure: nDCG, top: float) -> FloatArray:
    """Return the gains above 0 that are tried for unjudged documents of every query, ascending.

    Those that a mapping names; else the highest. Below it those of judged documents are tried too, as the best label is
    among them.
    """
    if isinstance(measure.gain, Gains):
        gains = compute_gains(measure.gain, np.array(_named(measure.gain, top)))
        if gains.min() > 0:
            raise MeasureError("there are no bounds where no label has a gain of 0", measure=str(measure))
    else:
        gains = compute_gains(measure.gain, np.array([top]))
    return np.unique(gains[gains > 0])


def levels_of(measure: Any, relevance: FloatArray) -> FloatArray:  # noqa: ANN401 - any measure with bounds
    """Return what a measure sees of each relevance, from 0 on."""
    if isinstance(measure, GainMeasure):
        return compute_gains(measure.gain, relevance)
    if isinstance(measure, ERR) or (isinstance(measure, RBP) and measure.graded):
        return np.maximum(relevance, 0.0)
    return (relevance >= measure.rel).astype(np.float64)


ENDS: dict[type[Measure], Callable[[Any, Placements, Unjudged, float], Ends]] = {
    **dict.fromkeys((P, Hit, RR, DCG, RBP, ERR), _rising),
    R: _of_count,
    F: _of_count,
    Rprec: _rprec,
    AP: _ap,
    nDCG: _ndcg,
}
