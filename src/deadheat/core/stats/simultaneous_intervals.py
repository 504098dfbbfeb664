"""Intervals of the mean differences of a family that hold all at once, from the largest statistics of sign flips.

The formulas are derived in docs/math.md, section 18.
"""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.stats.alternatives import Alternative
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE, Units, split_into_units


def simultaneous_bounds(
    differences: FloatArray,
    critical: float,
    *,
    alternative: Alternative,
    cluster: IntArray | None,
    weights: FloatArray | None,
) -> FloatArray:
    """Return the lower and upper bounds of mean differences that hold together, shape (2, n_columns).

    The same critical value decides p-values and intervals: a difference is significant if its statistic r (see
    `families.py`) is above it, and the interval holds every mean that, taken from all queries, leaves an r of at most
    the critical value.

    Parameters
    ----------
    differences : ndarray of float, shape (n_queries, n_columns)
        NaN where a value is missing.
    critical : float
        The quantile of the largest statistic, as :class:`FamilyTest` has it. NaN gives NaN; so does a single unit.
    alternative : {"two-sided", "greater", "less"}
    cluster : ndarray of int, shape (n_queries,), or None
    weights : ndarray of float, shaped as `differences`, or None

    References
    ----------
    Westfall and Young 1993, Resampling-Based Multiple Testing.
    """
    bounds = np.full((2, differences.shape[1]), np.nan)
    if np.isnan(critical):
        return bounds
    for units in split_into_units(differences, cluster, weights=weights):
        low, high = _score_bounds(units, critical)
        if alternative == "greater":
            high = np.full_like(high, np.inf)
        elif alternative == "less":
            low = np.full_like(low, -np.inf)
        bounds[:, units.columns] = low, high
    return bounds


def _score_bounds(units: Units, critical: float) -> tuple[FloatArray, FloatArray]:
    r"""Return the lowest and the highest mean that leave no statistic above the critical value, each (n_columns,).

    .. math:: \left|\sum_g (S_g - n_g \mu)\right| \le c \sqrt{\sum_g (S_g - n_g \mu)^2}

    Squared, this is a quadratic inequality in :math:`\mu`, and the bounds are its roots. Without clusters and weights
    they are :math:`\bar{d} \pm t \cdot se` with :math:`t = c \sqrt{(n - 1) / (n - c^2)}`. They are infinite where so
    few units allow no difference to be significant, except for a difference that is 0 in all units.
    """
    sizes = np.asarray(units.sizes, np.float64)
    n_queries = sizes.sum()
    totals = units.sums.sum(axis=0)
    squares = (units.sums**2).sum(axis=0)
    products = sizes @ units.sums
    # quadratic mu^2 - 2 linear mu + constant <= 0
    quadratic = n_queries**2 - critical**2 * (sizes**2).sum()
    if not quadratic > 0:
        is_zero = (np.abs(units.sums) < NEGLIGIBLE_DIFFERENCE).all(axis=0)
        return np.where(is_zero, 0.0, -np.inf), np.where(is_zero, 0.0, np.inf)
    linear = n_queries * totals - critical**2 * products
    constant = totals**2 - critical**2 * squares
    root = np.sqrt(np.maximum(linear**2 - quadratic * constant, 0.0))
    return (linear - root) / quadratic, (linear + root) / quadratic
