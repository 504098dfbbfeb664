"""Ranks of means, of which those that only rounding separates are equal."""

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.scalars import ROUNDING


def first_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value, the highest first; NaN for a value that is NaN.

    Values that only rounding separates share a rank, the first of theirs.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Examples
    --------
    >>> first_ranks(np.array([0.1 + 0.2, 0.5, 0.3, np.nan, 0.0])).tolist()
    [2.0, 1.0, 2.0, nan, 4.0]
    """
    ranks = np.full(len(values), np.nan)
    order = np.argsort(-values, kind="stable")  # NaN comes last
    order = order[~np.isnan(values[order])]
    if not len(order):
        return ranks
    descending = values[order]
    finite = descending[np.isfinite(descending)]
    rounding = ROUNDING * max(1.0, np.abs(finite).max(initial=0.0))
    is_lower = np.ones(len(order), np.bool_)
    with np.errstate(invalid="ignore"):  # of two that are infinite
        is_lower[1:] = descending[:-1] - descending[1:] > rounding
    places = np.arange(1, len(order) + 1)
    ranks[order] = np.maximum.accumulate(np.where(is_lower, places, 0))
    return ranks
