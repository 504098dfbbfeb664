"""Scores rounded on purpose, for every system alike: to a floating-point format, or to decimals."""

from __future__ import annotations

import warnings
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import FloatArray
from deadheat.core.checks import as_precision
from deadheat.core.errors import DeadheatWarning
from deadheat.core.scalars import LARGEST_INTEGER

ScorePrecision: TypeAlias = str | int | None


def round_scores(scores: FloatArray, precision: ScorePrecision) -> FloatArray:
    """Return the scores as they would be stored in the given precision.

    Parameters
    ----------
    scores : ndarray
    precision : {"float32", "float16", "bfloat16"}, int or None
        A floating-point format (round to nearest, ties to even; bfloat16 by way of float32, as PyTorch and
        TensorFlow convert) or a number of decimals (rounded as Python's ``round`` does).

    Returns
    -------
    ndarray
        Shaped as `scores`, in float64; values beyond the format's range become infinite.

    Examples
    --------
    >>> round_scores(np.array([0.1234, 0.1235]), "bfloat16").tolist()
    [0.12353515625, 0.12353515625]
    >>> round_scores(np.array([2.675, 1e300]), 2).tolist()
    [2.67, 1e+300]
    """
    if precision is None:
        return scores
    precision = as_precision("score_precision", precision)
    if isinstance(precision, int):
        return _to_decimals(scores, precision) + 0.0
    with np.errstate(over="ignore"):
        if precision == "bfloat16":
            stored = _to_bfloat16(scores.astype(np.float32))
        else:
            stored = scores.astype(precision)
    return stored.astype(np.float64) + 0.0  # without -0.0


def round_and_warn(scores: FloatArray, precision: ScorePrecision) -> FloatArray:
    """Return the scores rounded; warn if some become infinite, as these tie."""
    rounded = round_scores(scores, precision)
    if precision is None or not np.isinf(rounded).any():
        return rounded
    became_infinite = np.isinf(rounded) & ~np.isinf(scores)
    if became_infinite.any():
        example = scores[became_infinite].ravel()[0]
        warnings.warn(
            f"{precision} cannot hold the score {example:g}: it becomes infinite, and ties with all such scores",
            DeadheatWarning,
            stacklevel=2,
        )
    return rounded


def _to_bfloat16(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Keep the upper half of each float32; NumPy has no bfloat16."""
    bits = scores.view(np.uint32)
    is_odd = (bits >> 16) & 1
    return ((bits + 0x7FFF + is_odd) & 0xFFFF0000).view(np.float32)


def _to_decimals(scores: FloatArray, decimals: int) -> FloatArray:
    """Round to the nearest decimal, halves to even, as `round` does.

    A score stays as it is where neighbouring floats are further apart than neighbouring decimals. `np.round`
    multiplies it all the same, which changes its last digit, or overflows.
    """
    factor = 10.0**decimals
    can_change = np.abs(scores) < LARGEST_INTEGER / factor
    changing = np.where(can_change, scores, 0.0)
    scaled = changing * factor
    nearest = np.rint(scaled)
    rounded = nearest / factor
    # the error of the product is at most half of its last digit: elsewhere it cannot change the nearest decimal
    is_doubtful = (np.abs(scaled - nearest) == 0.5) | (np.abs(scaled) >= LARGEST_INTEGER / 2)
    rounded[is_doubtful] = [round(score, decimals) for score in changing[is_doubtful].tolist()]
    return np.where(can_change, rounded, scores)
