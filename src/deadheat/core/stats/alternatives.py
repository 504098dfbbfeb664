"""The alternative to "the mean difference is 0", and how far values lie on its side."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.checks import check_choice
from deadheat.core.design import ALTERNATIVES

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]


def as_alternative(given: str) -> Alternative:
    """Return the given alternative; raise `ParameterError` if it is not one of the three."""
    check_choice("alternative", given, ALTERNATIVES)
    return cast("Alternative", given)


def extremeness(values: FloatArray, alternative: Alternative) -> FloatArray:
    """Return how far values lie on the side of the alternative: negative on the other side; two-sided, their size."""
    if alternative == "two-sided":
        return np.abs(values)
    if alternative == "greater":
        return values
    return -values


def count_extreme(
    null: FloatArray, observed: FloatArray, *, alternative: Alternative, tolerance: FloatArray
) -> IntArray:
    """Return in how many resamples the statistic of each column is at least as extreme as in the data.

    Parameters
    ----------
    null : ndarray of shape (n_resamples, n_columns)
        The statistic in each resample, with mean 0.
    observed : ndarray of shape (n_columns,)
    alternative : {"two-sided", "greater", "less"}
    tolerance : ndarray of shape (n_columns,)
        How much rounding may separate statistics that are equal in theory.

    Returns
    -------
    ndarray of int, shape (n_columns,)
    """
    bound = extremeness(observed, alternative) - tolerance
    return (extremeness(null, alternative) >= bound).sum(axis=0)
