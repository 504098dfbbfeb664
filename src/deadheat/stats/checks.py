"""Matrices, clusters and alternatives that several functions take, refused with what was given and what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from deadheat.errors import ParameterError, check_choice

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from deadheat.arrays import FloatArray, IntArray

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


def alternative(given: str) -> Alternative:
    """Return the word for what is tested against "the mean difference is 0"."""
    check_choice("alternative", given, ALTERNATIVES)
    return cast("Alternative", given)
