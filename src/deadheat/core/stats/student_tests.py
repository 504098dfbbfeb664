"""Tests by Student's t: that a mean difference is 0, at least minus a margin, or within a margin."""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, IntArray, special, use_default_arithmetic
from deadheat.core.checks import as_level
from deadheat.core.errors import ParameterError
from deadheat.core.stats.alternatives import Alternative, extremeness
from deadheat.core.stats.significance import Significance, significant
from deadheat.core.stats.student_intervals import t_bounds
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE, as_clusters, as_matrix, as_weights, split_into_units


def t_tail(excess: FloatArray, standard_error: FloatArray, freedom: float) -> FloatArray:
    """Return P(T >= excess / standard_error); where there is no spread its limit, 0 or 1.

    Parameters
    ----------
    excess, standard_error : ndarray of float, shape (n_columns,)
    freedom : float
        Degrees of freedom.

    Returns
    -------
    ndarray of float, shape (n_columns,)
    """
    has_spread = standard_error > 0
    t = np.divide(excess, standard_error, out=np.zeros(len(excess)), where=has_spread)
    return np.where(has_spread, special.stdtr(freedom, -t), excess <= NEGLIGIBLE_DIFFERENCE)


def student_p_values(
    differences: FloatArray, *, alternative: Alternative, cluster: IntArray | None, weights: FloatArray | None
) -> Significance:
    """Return the p-values of the paired t test; with clusters by the cluster-robust standard error.

    Parameters
    ----------
    differences : ndarray of float, shape (n_queries, n_columns)
        NaN where a value is missing.
    alternative : {"two-sided", "greater", "less"}
    cluster : ndarray of int, shape (n_queries,), or None
    weights : ndarray of float, shaped as `differences`, or None

    References
    ----------
    Student 1908, https://doi.org/10.1093/biomet/6.1.1.
    """
    n_columns = differences.shape[1]
    p_values = np.full(n_columns, np.nan)
    for units in split_into_units(differences, cluster, weights=weights):
        tail = t_tail(extremeness(units.means, alternative), units.standard_errors, units.freedom)
        if alternative == "two-sided":
            tail = np.minimum(1.0, 2 * tail)
        p_values[units.columns] = tail
    return Significance(p_values, np.ones(n_columns, np.bool_))


@dataclass(frozen=True, eq=False)
class Equivalence:
    """What a test against a margin shows in each column.

    Attributes
    ----------
    p_values : ndarray of float, shape (n_columns,)
        NaN with fewer than two units.
    low, high : ndarray of float, shape (n_columns,)
        The t interval with level 2 confidence_level - 1. Its bounds decide: no worse if low > -margin, equivalent
        if high < margin as well.
    is_shown : ndarray of bool, shape (n_columns,)
        Whether the p-value is below 1 - confidence_level.
    """

    p_values: FloatArray
    low: FloatArray
    high: FloatArray
    is_shown: BoolArray


@use_default_arithmetic
def no_worse(
    differences: ArrayLike,
    margin: ArrayLike,
    *,
    confidence_level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Equivalence:
    """Test whether a system is at most `margin` worse than the baseline (non-inferiority).

    A one-sided t test of "the mean difference is -margin or less".

    Parameters
    ----------
    differences : array-like of shape (n_queries, n_columns)
        System minus baseline, query by query, higher being better; NaN where a value is missing.
    margin : float or array-like of shape (n_columns,)
        0 or more, in the units of the measure; 0 asks whether the system is better.
    confidence_level : float, default 0.95
        One minus the probability of a false "no worse".
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster.
    weights : array-like of float, shape (n_queries,) or that of `differences`, optional
        How much each query counts, above 0 where there is a value.

    Returns
    -------
    Equivalence

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> test = no_worse([[-0.01], [0.02], [0.0], [0.01], [-0.02]], 0.03)
    >>> bool(test.is_shown[0]), round(float(test.low[0]), 4)
    (True, -0.0151)
    """
    return _test_against_margin(differences, margin, confidence_level, cluster, weights, both_sides=False)


@use_default_arithmetic
def equivalent(
    differences: ArrayLike,
    margin: ArrayLike,
    *,
    confidence_level: float = 0.95,
    cluster: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> Equivalence:
    """Test whether two systems differ by less than `margin`: two one-sided t tests.

    The p-value is the larger of the two.

    Parameters
    ----------
    differences : array-like of shape (n_queries, n_columns)
        System minus baseline, query by query; NaN where a value is missing.
    margin : float or array-like of shape (n_columns,)
        Above 0, in the units of the measure.
    confidence_level : float, default 0.95
        One minus the probability of a false "equivalent".
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster.
    weights : array-like of float, shape (n_queries,) or that of `differences`, optional
        How much each query counts, above 0 where there is a value.

    Returns
    -------
    Equivalence

    Raises
    ------
    ParameterError

    References
    ----------
    Schuirmann 1987, https://doi.org/10.1007/BF01068419.

    Examples
    --------
    >>> test = equivalent([[-0.01], [0.02], [0.0], [0.01], [-0.02]], [0.01])
    >>> bool(test.is_shown[0]), round(float(test.high[0]), 4)
    (False, 0.0151)
    """
    return _test_against_margin(differences, margin, confidence_level, cluster, weights, both_sides=True)


def _test_against_margin(
    differences: ArrayLike,
    margin: ArrayLike,
    confidence_level: float,
    cluster: ArrayLike | None,
    weights: ArrayLike | None,
    *,
    both_sides: bool,
) -> Equivalence:
    """Test whether each mean difference is above -margin; with both sides, whether it is below margin as well."""
    values = as_matrix("differences", differences)
    n_columns = values.shape[1]
    margins = _as_margins(margin, n_columns, allow_zero=not both_sides)
    level = as_level("confidence_level", confidence_level)
    codes = as_clusters(cluster, len(values))
    weights = as_weights(weights, values)
    p_values, low, high = np.full((3, n_columns), np.nan)
    for units in split_into_units(values, codes, weights=weights):
        columns = units.columns
        tail = t_tail(margins[columns] + units.means, units.standard_errors, units.freedom)
        if both_sides:
            upper_tail = t_tail(margins[columns] - units.means, units.standard_errors, units.freedom)
            tail = np.maximum(tail, upper_tail)
        p_values[columns] = tail
        low[columns], high[columns] = t_bounds(units, 2 * level - 1)
    return Equivalence(p_values, low, high, significant(p_values, 1 - level))


def _as_margins(margin: ArrayLike, n_columns: int, *, allow_zero: bool) -> FloatArray:
    """Return the margin of each column; raise `ParameterError` unless all are finite and above 0, or 0 if allowed."""
    try:
        margins = np.broadcast_to(np.asarray(margin, np.float64), n_columns).copy()
    except (TypeError, ValueError):
        raise ParameterError(
            argument="margin", found=f"{margin!r:.80}", allowed=f"a number, or one for each of {n_columns} columns"
        ) from None
    is_allowed = np.isfinite(margins) & (margins >= 0)
    allowed = "0 or more"
    if not allow_zero:
        is_allowed &= margins > 0
        allowed = "above 0"
    if not is_allowed.all():
        raise ParameterError(argument="margin", found=str(margins[~is_allowed][0]), allowed=allowed)
    return margins
