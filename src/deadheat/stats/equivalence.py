"""Tests that a system is no worse than another by more than a margin, or as good up to the margin."""

from dataclasses import dataclass

import numpy as np

from deadheat import arguments
from deadheat.arrays import ArrayLike, BoolArray, FloatArray
from deadheat.errors import ParameterError
from deadheat.stats import checks
from deadheat.stats.corrections import significant
from deadheat.stats.intervals import t_bounds
from deadheat.stats.significance import t_tail
from deadheat.stats.units import units_of
from deadheat.wording import Plain


@dataclass(frozen=True, eq=False)
class Equivalence:
    """What a test against a margin found in each column.

    Attributes
    ----------
    margin : ndarray of float, shape (n_columns,)
        What was allowed.
    p_values : ndarray of float, shape (n_columns,)
        NaN with fewer than two units.
    low, high : ndarray of float, shape (n_columns,)
        The t interval with level 2 confidence_level - 1, whose bounds decide: no worse if low > -margin, equivalent
        if high < margin as well.
    is_shown : ndarray of bool, shape (n_columns,)
        Whether the p-value is below 1 - confidence_level.
    """

    margin: FloatArray
    p_values: FloatArray
    low: FloatArray
    high: FloatArray
    is_shown: BoolArray


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
    >>> found = no_worse([[-0.01], [0.02], [0.0], [0.01], [-0.02]], 0.03)
    >>> bool(found.is_shown[0]), round(float(found.low[0]), 4)
    (True, -0.0151)
    """
    return _against_margin(differences, margin, confidence_level, cluster, weights, both_sides=False)


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
    >>> found = equivalent([[-0.01], [0.02], [0.0], [0.01], [-0.02]], [0.01])
    >>> bool(found.is_shown[0]), round(float(found.high[0]), 4)
    (False, 0.0151)
    """
    return _against_margin(differences, margin, confidence_level, cluster, weights, both_sides=True)


def _margins(margin: ArrayLike, values: FloatArray, *, allow_zero: bool) -> FloatArray:
    try:
        margins = np.broadcast_to(np.asarray(margin, np.float64), values.shape[1]).copy()
    except (TypeError, ValueError):
        raise ParameterError(
            argument="margin",
            given=Plain(f"{margin!r:.80}"),
            allowed=f"a number, or one for each of {values.shape[1]} columns",
        ) from None
    allowed = np.isfinite(margins) & ((margins >= 0) if allow_zero else (margins > 0))
    if not allowed.all():
        raise ParameterError(
            argument="margin", given=Plain(margins[~allowed][0]), allowed="0 or more" if allow_zero else "above 0"
        )
    return margins


def _against_margin(
    differences: ArrayLike,
    margin: ArrayLike,
    confidence_level: float,
    cluster: ArrayLike | None,
    weights: ArrayLike | None,
    *,
    both_sides: bool,
) -> Equivalence:
    values = checks.matrix("differences", differences)
    margins = _margins(margin, values, allow_zero=not both_sides)
    level = arguments.level("confidence_level", confidence_level)
    found, low, high = np.full((3, values.shape[1]), np.nan)
    for units in units_of(values, checks.clusters(cluster, len(values)), weights=checks.weights(weights, values)):
        means, errors, freedom = units.means, units.standard_errors, units.freedom
        tails = [t_tail(margins[units.columns] + side * means, errors, freedom) for side in (1, -1)[: 1 + both_sides]]
        found[units.columns] = np.max(tails, axis=0)
        low[units.columns], high[units.columns] = t_bounds(units, 2 * level - 1)
    return Equivalence(margins, found, low, high, significant(found, 1 - level))
