"""Intervals of means by Student's t: as it is, corrected for skewness, and by leaving out each unit once."""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import FloatArray, special
from deadheat.core.stats.units import Units

SYMMETRIC = 1e-6  # skewness below which the cubic transformation is none, but for rounding


def jackknife_bounds(value: float, left_out: FloatArray, confidence_level: float) -> tuple[float, float]:
    r"""Return the bounds of a statistic by leaving out each unit once, with Student's t.

    .. math:: \hat\theta \pm t_{n-1} \sqrt{\frac{n - 1}{n} \sum_i (\theta_{(i)} - \bar\theta_{(\cdot)})^2}

    Parameters
    ----------
    value : float
        The statistic of all units.
    left_out : ndarray of float, shape (n_units,)
        The statistic without each unit; NaN where it does not exist, which is left out.
    confidence_level : float

    Returns
    -------
    low, high : float
        NaN with fewer than two units.

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11.

    Examples
    --------
    >>> low, high = jackknife_bounds(0.5, np.array([0.7, 0.55, 0.25]), 0.95)  # of 0.1, 0.4 and 1.0, as by Student's t
    >>> round(low, 3), round(high, 3)
    (-0.638, 1.638)
    """
    kept = left_out[~np.isnan(left_out)]
    n = len(kept)
    if n < 2 or np.isnan(value):
        return float("nan"), float("nan")
    error = float(np.sqrt((n - 1) / n * ((kept - kept.mean()) ** 2).sum()))
    half = float(special.stdtrit(n - 1, (1 + confidence_level) / 2)) * error
    return value - half, value + half


def t_bounds(units: Units, level: float) -> FloatArray:
    """Return the lower and upper bounds by Student's t, shape (2, n_columns)."""
    half = special.stdtrit(units.freedom, (1 + level) / 2) * units.standard_errors
    return np.stack([units.means - half, units.means + half])


def skewed_t_bounds(units: Units, level: float) -> FloatArray:
    r"""Return bounds by Student's t after a correction for skewness, shape (2, n_columns), but none within Student's.

    .. math:: g(t) = t + \frac{a}{3} t^2 + \frac{a^2}{27} t^3 + \frac{a}{6}, \quad
        a = \frac{\sum_g r_g^3}{\left(\sum_g r_g^2\right)^{3/2}}, \quad
        \bar{x} - g^{-1}(\pm q)\, se

    with the residuals r of the units (a is their skewness over :math:`\sqrt n`) and a quantile q of Student's t. g
    rises everywhere, and g(t) is less skewed than t: the error of a one-sided bound falls with 1 / n.

    References
    ----------
    Hall 1992, "On the removal of skewness by transformation", https://doi.org/10.1111/j.2517-6161.1992.tb01876.x.
    """
    residuals = units.residuals
    squares = (residuals**2).sum(axis=0)
    scale = np.where(squares > 0, squares, 1.0)
    skew = ((residuals / np.sqrt(scale)) ** 3).sum(axis=0)
    skew = np.where(np.abs(skew) < SYMMETRIC, SYMMETRIC, skew)
    quantile = special.stdtrit(units.freedom, (1 + level) / 2)
    high, low = (3 / skew * (np.cbrt(1 + skew * (z - skew / 6)) - 1) for z in (-quantile, quantile))
    errors = units.standard_errors
    lowest = units.means - np.maximum(low, quantile) * errors
    highest = units.means - np.minimum(high, -quantile) * errors
    return np.stack([lowest, highest])
