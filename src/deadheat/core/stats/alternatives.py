"""The alternative to 'the mean difference is 0' that is tested."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.checks import check_choice
from deadheat.core.design import ALTERNATIVES

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


def towards(values: FloatArray, alternative: Alternative) -> FloatArray:
    """Return how far values are from 0 on the side, or the sides, of the alternative."""
    if alternative == "two-sided":
        return np.abs(values)
    return values if alternative == "greater" else -values


def as_alternative(given: str) -> Alternative:
    """Return the alternative to "the mean difference is 0" that is tested."""
    check_choice("alternative", given, ALTERNATIVES)
    return cast("Alternative", given)
