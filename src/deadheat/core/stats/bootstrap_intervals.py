"""Intervals of means by the bootstrap: BCa, percentiles, and the resampled t."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.gaffke import NORMAL_QUANTILE
from deadheat.core.stats.resamples import bootstrap_t
from deadheat.core.stats.student_intervals import t_bounds
from deadheat.core.stats.units import Units

NORMAL_SHARE = np.vectorize(NormalDist().cdf, [float])
LEAST_DENOMINATOR = 1e-9  # of BCa: far in the tail of very skewed values it reaches 0, and the quantile is the extreme


def bootstrap_t_bounds(units: Units, level: float, *, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return bounds by the bootstrap-t, but no narrower than Student's, shape (2, n_columns).

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, section 12.5, https://doi.org/10.1201/9780429246593.
    """
    ordered = np.sort(bootstrap_t(units, n_resamples=n_resamples, rng=rng), axis=0)
    n_beyond = int(np.floor((1 - level) / 2 * (n_resamples + 1)))
    # Drawn values, not interpolated ones: t may be infinite. A bound is mean - t * error: a low t gives the high one.
    t_of_high = ordered[max(n_beyond - 1, 0)]
    t_of_low = ordered[min(n_resamples - n_beyond, n_resamples - 1)]
    means = units.means
    errors = units.linear_errors
    has_spread = errors > 0
    with np.errstate(invalid="ignore"):  # infinite t times an error of 0
        low = np.where(has_spread, means - t_of_low * errors, means)
        high = np.where(has_spread, means - t_of_high * errors, means)
    student_low, student_high = t_bounds(units, level)
    return np.stack([np.minimum(student_low, low), np.maximum(student_high, high)])


def percentile_bounds(units: Units, resampled: FloatArray, level: float) -> FloatArray:
    """Return quantiles of the resampled means, shape (2, n_columns).

    Parameters
    ----------
    units : Units
    resampled : ndarray of float, shape (n_resamples, n_columns)
    level : float

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 13, https://doi.org/10.1201/9780429246593.
    """
    return _compute_quantiles(units, resampled, _list_levels(units, level))


def bca_bounds(units: Units, resampled: FloatArray, level: float) -> FloatArray:
    r"""Return quantiles of the resampled means that are corrected for bias and skewness, shape (2, n_columns).

    .. math:: \alpha_i = \Phi\left(z_0 + \frac{z_0 + z_i}{1 - a (z_0 + z_i)}\right)

    Parameters
    ----------
    units : Units
    resampled : ndarray of float, shape (n_resamples, n_columns)
    level : float

    References
    ----------
    Efron 1987, https://doi.org/10.1080/01621459.1987.10478410.
    """
    bias = _estimate_bias(units, resampled)
    acceleration = _estimate_acceleration(units)
    z = bias + NORMAL_QUANTILE(_list_levels(units, level))
    denominator = np.maximum(1 - acceleration * z, LEAST_DENOMINATOR)
    return _compute_quantiles(units, resampled, NORMAL_SHARE(bias + z / denominator))


def _list_levels(units: Units, level: float) -> FloatArray:
    """Return the levels of the lower and the upper quantile, shape (2, n_columns)."""
    return np.repeat([[(1 - level) / 2], [(1 + level) / 2]], len(units.columns), axis=1)


def _estimate_bias(units: Units, resampled: FloatArray) -> FloatArray:
    """Return z0 of BCa, shape (n_columns,); finite also if all resampled means lie on one side of the mean."""
    tolerance = ROUNDING * units.scales
    n_resamples = len(resampled)
    n_below = (resampled < units.means - tolerance).sum(axis=0)
    n_not_above = (resampled <= units.means + tolerance).sum(axis=0)
    n_below_or_half = (n_below + n_not_above) / 2  # equal means count half
    return NORMAL_QUANTILE(np.clip(n_below_or_half, 0.5, n_resamples - 0.5) / n_resamples)


def _estimate_acceleration(units: Units) -> FloatArray:
    """Return a of BCa, shape (n_columns,), from the mean without each unit; 0 in a constant column."""
    residuals = units.residuals
    is_constant: BoolArray = ~np.any(residuals, axis=0)
    # the mean less the mean without the unit, in closed form
    influence = residuals / (units.sizes.sum() - units.sizes)[:, None]
    influence -= influence.mean(axis=0)
    influence /= np.where(is_constant, 1.0, np.abs(influence).max(axis=0))
    squares = np.where(is_constant, 1.0, (influence**2).sum(axis=0))
    return (influence**3).sum(axis=0) / (6 * squares**1.5)


def _compute_quantiles(units: Units, resampled: FloatArray, levels: FloatArray) -> FloatArray:
    """Return quantiles of each column at its levels, both (2, n_columns); the mean in a constant column."""
    is_constant: BoolArray = ~np.any(units.residuals, axis=0)
    ordered = np.sort(np.ascontiguousarray(resampled.T), axis=1).T  # a column is adjacent in memory
    position = levels * (len(ordered) - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, len(ordered) - 1)
    low = np.take_along_axis(ordered, below, axis=0)
    high = np.take_along_axis(ordered, above, axis=0)
    interpolated = low + (high - low) * (position - below)
    return np.where(is_constant, units.means, interpolated)
