"""Gains of documents, weights of ranks, and the ideal ranking that they are compared with."""

from functools import cache
from typing import Any

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.errors import MeasureError
from deadheat.kernels.segments import segment_sums
from deadheat.measures.base import Measure
from deadheat.measures.parameters import Call, Gains, Number, parameter, parameters
from deadheat.placements import policies
from deadheat.placements.placements import Placements

GAIN = Call({"linear": (), "exp": ()}, mapping=True)
DISCOUNT = Call(
    {
        "log": (Number("b", low=1, open_low=True),),
        "linear": (),
        "zipf": (Number("s", low=0), Number("p", low=-1, open_low=True)),
        "exp": (Number("p", low=0, high=1, open_low=True),),
        "none": (),
    }
)
LOWEST_POSITIVE = np.nextafter(0.0, 1.0)  # as a lowest relevance that counts: any above 0
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
        largest = counted[np.abs(gains).argmax()]
        msg = f"the gain of relevance {largest:g} is beyond 2**{LARGEST_POWER}, above which squares overflow"
        advice = "gain='linear' or a mapping" if gain == "exp" else "a smaller scale"
        raise MeasureError(msg, hint=f"use {advice}")
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


@cache  # a measure asks for it again and again
def parts_of_discount(discount: str) -> tuple[str, tuple[float, ...]]:
    """Return the word and the numbers of a discount."""
    return DISCOUNT.split(discount)


@parameters
class GainMeasure(Measure):
    """A measure of gains, which a relevance is mapped to."""

    gain: Any = parameter("linear", GAIN, "gain of a relevance")

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a positive gain."""
        gains = ideal_gains(placements, self.gain)
        return np.bincount(placements.judged_query[gains > 0], minlength=placements.n_queries) > 0

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the values with the gains of each tie ascending and descending, also if a mapping does not rise."""
        if not isinstance(self.gain, Gains):
            return super().extremes(placements)
        key = gains_of(self.gain, placements.relevance)
        low, high = (self.mean(policies.arrange(placements, key, best=best)) for best in (False, True))
        return low, high


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
        starts, sizes = placements.tie_starts, placements.tie_sizes
        tied = placements.tied[starts]
        total = segment_sums(gains, starts)
        centre = total / np.maximum(tied, 1)
        squares = segment_sums((gains - np.repeat(centre, sizes)) ** 2, starts)
        return total, squares + (tied - sizes) * centre**2

    return placements.cached(("gain_moments", key), find)


def binary_gains(placements: Placements, rel: float) -> tuple[object, FloatArray]:
    """Return a name for the gains, and the gain of each row: 1 for relevance `rel` or more, else 0."""
    return ("binary", rel), (placements.relevance >= rel).astype(np.float64)


def ideal_rank(placements: Placements) -> IntArray:
    """Return the 0-based rank of each judgment in its query's ideal ranking, of shape (n_judged,)."""

    def find() -> IntArray:
        starts = run_starts(placements.judged_query)
        n_judged = len(placements.judged_query)
        return np.arange(n_judged) - np.repeat(starts, np.diff(starts, append=n_judged))

    return placements.of_judgments("ideal_rank", find)


def ideal_gains(placements: Placements, gain: Any) -> FloatArray:  # noqa: ANN401 - a word or a mapping
    """Return the gains of all judgments, highest first within each query, of shape (n_judged,)."""
    gains = gains_of(gain, placements.judged_relevance)
    if isinstance(gain, Gains):  # a mapping need not rise with relevance
        gains = gains[np.lexsort((-gains, placements.judged_query))]
    return gains
