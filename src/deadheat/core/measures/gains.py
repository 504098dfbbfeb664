"""Gains: what a relevance is worth to a measure, in the list and in the ideal ranking."""

import math
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_sizes, run_starts
from deadheat.core.errors import MeasureError
from deadheat.core.measures.base import Measure
from deadheat.core.measures.parameters import Gains
from deadheat.core.placements.placements import Placements

LOWEST_POSITIVE = math.ulp(0.0)  # the smallest number above 0: a lowest relevance that lets any positive one count
LARGEST_POWER = 500  # gains and scales are at most 2 to this power: then float64 holds the sums of their squares
MOST_NAMED = 5  # levels of relevance that an error lists


class PositiveMeasure(Measure):
    """A measure to which all documents of positive relevance are relevant."""

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a judgment of positive relevance."""
        return placements.n_relevant(LOWEST_POSITIVE) > 0


def compute_gains(
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
    with np.errstate(over="ignore"):  # refused below
        if isinstance(gain, Gains):
            gains = _look_up_gains(gain, relevance)
        elif gain == "exp":
            gains = exp2_minus_one(counted)
        else:
            gains = counted
    sizes = np.abs(gains)
    if sizes.max(initial=0.0) > 2.0**LARGEST_POWER:
        raise MeasureError(
            f"the gain of relevance {counted[sizes.argmax()]:g} is beyond 2**{LARGEST_POWER}, above which"
            " squares overflow",
            hint="use gain='linear' or a mapping" if gain == "exp" else "use a smaller scale",
        )
    return gains


def exp2_minus_one(relevance: FloatArray) -> FloatArray:
    """Return ``2 ** relevance - 1``, which does not cancel where relevance is small."""
    return np.where(relevance < 0.5, np.expm1(relevance * np.log(2)), np.exp2(relevance) - 1)


def _look_up_gains(gain: Gains, relevance: FloatArray) -> FloatArray:
    """Return the gain that a mapping has for each relevance; 0 for those up to 0 that it leaves out."""
    levels = np.array(list(gain))
    gains = np.array(list(gain.values()))
    place = np.minimum(np.searchsorted(levels, relevance), len(levels) - 1)
    is_named = levels[place] == relevance
    is_left_out = ~is_named & (relevance > 0)
    if is_left_out.any():
        left_out = np.unique(relevance[is_left_out])[:MOST_NAMED]
        raise MeasureError(
            f"gain names no gain for relevance {_list_levels(left_out)}; it names {_list_levels(levels)}"
        )
    return np.where(is_named, gains[place], 0.0)


def _list_levels(levels: FloatArray) -> str:
    return ", ".join(f"{level:g}" for level in levels)


def exponents_of_small(gains: FloatArray) -> IntArray:
    """Return the exponent e of each very small gain, so that float64 can square gain / 2**e; 0 for other gains.

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


def ideal_gains(placements: Placements, gain: Any) -> FloatArray:  # noqa: ANN401 - a word or a mapping
    """Return the gains of all judgments, highest first within each query, of shape (n_judged,)."""
    gains = compute_gains(gain, placements.judged_relevance)
    if isinstance(gain, Gains):  # a mapping need not rise with relevance
        return gains[np.lexsort((-gains, placements.judged_query))]
    return gains


def ideal_rank(placements: Placements) -> IntArray:
    """Return the 0-based rank of each judgment in its query's ideal ranking, of shape (n_judged,)."""
    return placements.of_judgments("ideal_rank", lambda: rank_within_query(placements.judged_query), per_query=False)


def rank_within_query(query: IntArray) -> IntArray:
    """Return the 0-based rank of each row among those of its query, which are adjacent."""
    starts = run_starts(query)
    sizes = run_sizes(starts, len(query))
    return np.arange(len(query)) - np.repeat(starts, sizes)


def scale_top(max_rel: float | None, placements: Placements, name: str) -> float:
    """Return the top of the relevance scale: `max_rel`, or for None the highest relevance of all judgments."""
    highest = placements.max_relevance
    if max_rel is None:
        return max(highest, 0.0)
    if highest > max_rel:
        raise MeasureError(f"max_rel={max_rel} is below the highest relevance of the qrels, {highest:g}", measure=name)
    return float(max_rel)
