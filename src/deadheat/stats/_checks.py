"""Arguments that several functions take: checked once, refused with what was given and what is allowed."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from deadheat.errors import ParameterError, check_choice

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deadheat.arrays import FloatArray, IntArray

Rng: TypeAlias = np.random.Generator | int | None
Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
ALTERNATIVES = ("two-sided", "greater", "less")


def matrix(name: str, given: ArrayLike) -> FloatArray:
    """Return a matrix of float64, finite or NaN, with a row for each query."""
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        msg = f"{name} must be a matrix of numbers with a row for each query, got {given!r:.80}"
        raise ParameterError(msg) from None
    if values.ndim != 2:
        msg = f"{name} must have the shape (n_queries, n_columns), got the shape {values.shape}"
        raise ParameterError(msg)
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, column = infinite[0].tolist()
        place = f"row {row}, column {column}"
        msg = f"{name} must be finite, or NaN for a missing value; got {values[row, column]} in {place}"
        raise ParameterError(msg)
    return values


def clusters(given: ArrayLike | None, n_queries: int) -> IntArray | None:
    """Return the code of each query's cluster, or None without clusters."""
    if given is None:
        return None
    codes = np.asarray(given)
    if codes.shape != (n_queries,) or codes.dtype.kind not in "iub":
        msg = (
            f"cluster must be whole numbers of shape ({n_queries},), the cluster of each query,"
            f" got {codes.dtype} of shape {codes.shape}"
        )
        raise ParameterError(msg)
    return codes


def level(given: float) -> float:
    """Return a confidence level, which lies between 0 and 1."""
    if not is_number(given) or not 0 < given < 1:
        percent = f". Did you mean {given / 100:g}?" if is_number(given) and 1 < given < 100 else ""
        msg = f"confidence_level must be a number between 0 and 1, such as 0.95, got {given!r}{percent}"
        raise ParameterError(msg)
    return float(given)


def count(name: str, given: int, low: int = 1) -> int:
    """Return a whole number that is `low` or more."""
    try:
        number = operator.index(given)
    except TypeError:
        number = low - 1
    if isinstance(given, bool) or number < low:
        msg = f"{name} must be a whole number from {low} on, got {given!r}"
        raise ParameterError(msg)
    return number


def positive(name: str, given: float) -> float:
    """Return a finite number above 0."""
    if not is_number(given) or not 0 < given < math.inf:
        msg = f"{name} must be a number above 0, got {given!r}"
        raise ParameterError(msg)
    return float(given)


def alternative(given: str) -> Alternative:
    """Return the word for what is tested against "the mean difference is 0"."""
    check_choice("alternative", given, ALTERNATIVES)
    return cast("Alternative", given)


def generator(rng: Rng) -> np.random.Generator:
    """Return a generator; the same seed gives the same one."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        msg = f"rng must be a whole number from 0 on, a numpy.random.Generator or None, got {rng!r}"
        raise ParameterError(msg) from None


def is_number(given: object) -> bool:
    """Tell whether an argument is one real number."""
    return isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool)
