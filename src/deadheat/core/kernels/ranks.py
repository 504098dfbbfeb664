"""Ranks of means; means that differ by rounding alone share a rank."""

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.scalars import ROUNDING


def first_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value, the highest first; NaN for a value that is NaN.

    Values that differ by rounding alone share the first of their ranks.

    Parameters
    ----------
    values : ndarray of float, shape (n,)

    Examples
    --------
    >>> first_ranks(np.array([0.1 + 0.2, 0.5, 0.3, np.nan, 0.0])).tolist()
    [2.0, 1.0, 2.0, nan, 4.0]
    """
    ranks = np.full(len(values), np.nan)
    order = np.argsort(-values, kind="stable")
    order = order[~np.isnan(values[order])]
    if not len(order):
        return ranks
    descending = values[order]
    largest = np.abs(descending[np.isfinite(descending)]).max(initial=0.0)
    rounding = ROUNDING * max(1.0, largest)
    is_lower = np.ones(len(order), np.bool_)  # than the value before it
    with np.errstate(invalid="ignore"):  # the difference of two infinite values is NaN: they share a rank
        is_lower[1:] = descending[:-1] - descending[1:] > rounding
    place = np.arange(1, len(order) + 1)
    ranks[order] = np.maximum.accumulate(np.where(is_lower, place, 0))
    return ranks
