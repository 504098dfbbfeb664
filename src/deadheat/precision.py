"""Rounding scores on purpose, the same way for every system."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deadheat.errors import ParameterError

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray

ScorePrecision: TypeAlias = str | int | None
FORMATS = ("float32", "float16", "bfloat16")
MAX_DECIMALS = 15


def check_precision(precision: ScorePrecision) -> ScorePrecision:
    """Return `precision` if it is allowed; a number of decimals may be given as text."""
    if isinstance(precision, str) and precision.isdigit():
        precision = int(precision)
    decimals = isinstance(precision, int) and not isinstance(precision, bool) and 0 <= precision <= MAX_DECIMALS
    if precision is None or precision in FORMATS or decimals:
        return precision
    msg = (
        f"score_precision must be one of {', '.join(map(repr, FORMATS))}, a number of decimals"
        f" from 0 to {MAX_DECIMALS}, or None, got {precision!r}"
    )
    raise ParameterError(msg)


def round_scores(scores: FloatArray, precision: ScorePrecision) -> FloatArray:
    """Return the scores as they would be stored in the given precision.

    Parameters
    ----------
    scores : ndarray
    precision : {"float32", "float16", "bfloat16"}, int or None
        A floating-point format (rounding to nearest, ties to even) or a number of decimals.

    Returns
    -------
    ndarray
        Shaped as `scores`, in float64; values beyond the format's range become infinite, as they would there.

    Examples
    --------
    >>> round_scores(np.array([0.1234, 0.1235]), "bfloat16").tolist()
    [0.12353515625, 0.12353515625]
    """
    if precision is None:
        return scores
    precision = check_precision(precision)
    if isinstance(precision, int):
        return np.round(scores, precision) + 0.0
    if precision == "bfloat16":
        return _to_bfloat16(scores) + 0.0
    with np.errstate(over="ignore"):
        return scores.astype(precision).astype(np.float64) + 0.0


def _to_bfloat16(scores: FloatArray) -> FloatArray:
    """Keep 8 significant bits of the float64 mantissa; NumPy has no bfloat16."""
    mantissa, exponent = np.frexp(scores)
    with np.errstate(over="ignore"):
        return np.ldexp(np.rint(mantissa * 256), exponent - 8).astype(np.float32).astype(np.float64)
