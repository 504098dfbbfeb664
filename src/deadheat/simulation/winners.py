"""Which of two systems wins if ties are broken at random, seen from another, finer scoring of both."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from deadheat.arrays import BoolArray
from deadheat.comparison.drawing import Drawn
from deadheat.comparison.flips import flip
from deadheat.comparison.pairs import DEAR, FEW, PROVED, normal_error_of
from deadheat.comparison.sides import Side
from deadheat.comparison.sums import ROUNDING, Distribution, comparable

T = TypeVar("T")


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


@dataclass(frozen=True, eq=False)
class Winners:
    """The winners among several systems; what is found of a system serves all its pairs.

    Attributes
    ----------
    sides : list of Side
    """

    sides: list[Side]
    known: dict[tuple[object, int, bytes], Any] = field(default_factory=dict, repr=False)

    def between(self, a: int, b: int, sign: float) -> Winner:
        """Return how likely the difference of a and b does not have its right sign.

        Parameters
        ----------
        a, b : int
            Places of two systems.
        sign : float
            The right sign of the difference, a less b: above 0, below 0 or 0.
        """
        one, other = self.sides[a], self.sides[b]
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
        sums = self._sums(a, b, keep, normal)
        if sums is None:
            return normal
        # flips ask how likely the sign is that is opposite to the one given; the size of the difference plays no part
        size = math.copysign(max(1.0, 2 * equal), sign)
        wrong, right = (flip(towards, variance, lowest, highest, sums) for towards in (size, -size))
        neither = max(0.0, 1.0 - wrong.probability - right.probability)
        error = max(wrong.standard_error, right.standard_error)
        method = next((one for one in ("sampled", "grid") if one in {wrong.method, right.method}), "exact")
        # drawn probabilities, and rounding on a grid, do not add up exactly
        return Winner(wrong.probability, 0.0 if method == "sampled" or neither < ROUNDING else neither, method, error)

    def _sums(
        self, a: int, b: int, keep: BoolArray, normal: Winner
    ) -> tuple[Distribution, Distribution] | tuple[Drawn, Drawn] | None:
        """Return the distributions of both sums, or drawn sums; None where the normal distribution will do."""
        one, other = self.sides[a], self.sides[b]
        if not (one.can_draw and other.can_draw):
            return None
        own, others = self._once(Side.summands, a, keep), self._once(Side.summands, b, keep)
        if own and others and (found := comparable(own, others)):
            return found
        enough = DEAR if min(side.n_draws(keep) for side in (one, other)) < FEW else PROVED
        if not normal.standard_error > enough:
            return None
        first, second = self._once(Side.drawn, a, keep), self._once(Side.drawn, b, keep)
        return (first, second) if first and second else None

    def _once(self, find: Callable[[Side, BoolArray], T], place: int, keep: BoolArray) -> T:
        key = find, place, keep.tobytes()
        if key not in self.known:
            self.known[key] = find(self.sides[place], keep)
        return cast("T", self.known[key])


def _normal(mean: float, variance: float, sign: float, most_off: float) -> Winner:
    """Take the difference as normally distributed."""
    from scipy.special import ndtr  # slow to load, and only some differences need it

    towards = math.copysign(mean, mean * sign) if mean else 0.0
    deviations = towards / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, towards)
    cantelli = variance / (variance + mean**2) if variance + mean**2 > 0 else 1.0
    return Winner(float(ndtr(-deviations)), 0.0, "normal", min(most_off, cantelli))
