"""Matrices, clusters and alternatives that several functions take, refused with what was given and what is allowed."""

from typing import Literal, TypeAlias, cast

import numpy as np

from deadheat.arrays import ArrayLike, FloatArray, IntArray
from deadheat.errors import ParameterError, Plain, array_of, check_choice
from deadheat.settings import ALTERNATIVES

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


def matrix(name: str, given: ArrayLike) -> FloatArray:
    """Return a matrix of float64, finite or NaN, with a row for each query."""
    try:
        values = array_of(name, given).astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            argument=name, given=Plain(f"{given!r:.80}"), allowed="a matrix of numbers with a row for each query"
        ) from None
    if values.ndim != 2:
        raise ParameterError(
            "must have the shape (n_queries, n_columns)", argument=name, given=Plain(f"the shape {values.shape}")
        )
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, column = infinite[0].tolist()
        place = f"row {row}, column {column}"
        raise ParameterError(
            argument=name,
            given=Plain(f"{values[row, column]} in {place}"),
            allowed="finite, or NaN for a missing value",
        )
    return values


def clusters(given: ArrayLike | None, n_queries: int) -> IntArray | None:
    """Return the code of each query's cluster, or None without clusters."""
    if given is None:
        return None
    codes = array_of("cluster", given)
    if codes.shape != (n_queries,) or codes.dtype.kind not in "iub":
        raise ParameterError(
            argument="cluster",
            given=Plain(f"{codes.dtype} of shape {codes.shape}"),
            allowed=f"whole numbers of shape ({n_queries},), the cluster of each query",
        )
    return codes


def weights(given: ArrayLike | None, values: FloatArray) -> FloatArray | None:
    """Return the weight of each value, over the largest of its column and shaped as `values`; None without weights."""
    if given is None:
        return None
    found = array_of("weights", given).astype(np.float64)
    if found.shape not in {values.shape, (len(values),)}:
        raise ParameterError(
            argument="weights",
            given=Plain(f"the shape {found.shape}"),
            allowed=f"the shape ({len(values)},) or {values.shape}",
        )
    found = np.broadcast_to(found.reshape(len(values), -1), values.shape)
    wrong = found[~np.isnan(values) & ~((found > 0) & (found < np.inf))]
    if len(wrong):
        raise ParameterError(
            argument="weights", given=Plain(wrong[0]), allowed="above 0 where there is a value: NaN leaves one out"
        )
    return found / np.where(np.isnan(values), 0.0, found).max(axis=0, initial=np.finfo(np.float64).tiny)


def alternative(given: str) -> Alternative:
    """Return the word for what is tested against "the mean difference is 0"."""
    check_choice("alternative", given, ALTERNATIVES)
    return cast("Alternative", given)
