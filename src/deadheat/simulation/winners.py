"""Which of two systems wins if ties are broken at random, seen from another, finer scoring of both."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deadheat.comparison.flips import TieSums, flip, normal_error_of
from deadheat.comparison.sums import ROUNDING


@dataclass(frozen=True)
class Winner:
    """Who is ahead in random orders of the ties of two systems.

    Attributes
    ----------
    wrong : float
        Probability that the wrong system is ahead; NaN if neither is the right one.
    none : float
        Probability that neither is.
    method : {"exact", "grid", "sampled", "normal", "none"}
        How they were found, as for `Pair.flip_method`.
    standard_error : float
        Of a sampled probability; of a normal one the most that it can be off.
    """

    wrong: float
    none: float
    method: str
    standard_error: float = 0.0


UNKNOWN = Winner(math.nan, math.nan, "none")


def winner(sums: TieSums, a: int, b: int, sign: float) -> Winner:
    """Return how likely the difference of a and b does not have its right sign.

    Parameters
    ----------
    sums : TieSums
        Of several systems.
    a, b : int
        Places of two systems.
    sign : float
        The right sign of the difference, a less b: above 0, below 0 or 0.
    """
    one, other = sums.sides[a], sums.sides[b]
    keep = ~np.isnan(one.values - other.values)
    if not sign or math.isnan(sign) or not keep.any():
        return UNKNOWN
    n = int(keep.sum())
    lowest, highest = (float(part[keep].sum()) / n for part in (one.low - other.high, one.high - other.low))
    mean = float((one.mean - other.mean)[keep].sum()) / n
    equal = ROUNDING * max(1.0, abs(lowest), abs(highest))
    if highest - lowest < equal:  # no tie moves the difference
        is_none = abs(mean) < equal
        return Winner(float(not is_none and mean * sign < 0), float(is_none), "none")
    variance = float((one.variance + other.variance)[keep].sum()) / n**2
    normal = _normal(mean, variance, sign, normal_error_of(one, other, keep, n * mean))
    found = sums.exact(a, b, keep) or sums.drawn(a, b, keep, normal.standard_error)
    if found is None:
        return normal
    # flips ask how likely the sign is that is opposite to the one given; the size of the difference plays no part
    size = math.copysign(max(1.0, 2 * equal), sign)
    wrong, right = (flip(towards, variance, lowest, highest, found) for towards in (size, -size))
    neither = max(0.0, 1.0 - wrong.probability - right.probability)
    error = max(wrong.standard_error, right.standard_error)
    method = next((one for one in ("sampled", "grid") if one in {wrong.method, right.method}), "exact")
    # drawn probabilities, and rounding on a grid, do not add up exactly
    return Winner(wrong.probability, 0.0 if method == "sampled" or neither < ROUNDING else neither, method, error)


def _normal(mean: float, variance: float, sign: float, most_off: float) -> Winner:
    """Take the difference as normally distributed."""
    from scipy.special import ndtr  # slow to load, and only some differences need it

    towards = math.copysign(mean, mean * sign) if mean else 0.0
    deviations = towards / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, towards)
    cantelli = variance / (variance + mean**2) if variance + mean**2 > 0 else 1.0
    return Winner(float(ndtr(-deviations)), 0.0, "normal", min(most_off, cantelli))
