"""Intervals by Student's t: of means, of means corrected for skewness, and of any statistic by the jackknife.

The correction for skewness is derived in docs/math.md, section 20.
"""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import FloatArray, special
from deadheat.core.stats.units import Units

LEAST_SKEW = 1e-6  # with less, the cubic transformation changes nothing but digits that rounding takes


def jackknife_bounds(value: float, left_out: FloatArray, confidence_level: float) -> tuple[float, float]:
    r"""Return the bounds of a statistic by the jackknife, which leaves out each unit once, with Student's t.

    .. math:: \hat\theta \pm t_{n-1} \sqrt{\frac{n - 1}{n} \sum_i (\theta_{(i)} - \bar\theta_{(\cdot)})^2}

    Parameters
    ----------
    value : float
        The statistic of all units.
    left_out : ndarray of float, shape (n_units,)
        The statistic without each unit; a NaN, where it does not exist, is skipped.
    confidence_level : float

    Returns
    -------
    low, high : float
        NaN with fewer than two units.

    References
    ----------
    Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11, https://doi.org/10.1201/9780429246593.

    Examples
    --------
    >>> low, high = jackknife_bounds(0.5, np.array([0.7, 0.55, 0.25]), 0.95)  # of 0.1, 0.4 and 1.0, as by Student's t
    >>> round(low, 3), round(high, 3)
    (-0.638, 1.638)
    """
    statistics = left_out[~np.isnan(left_out)]
    n = len(statistics)
    if n < 2 or np.isnan(value):
        return float("nan"), float("nan")
    deviations = statistics - statistics.mean()
    error = float(np.sqrt((n - 1) / n * (deviations**2).sum()))
    quantile = float(special.stdtrit(n - 1, (1 + confidence_level) / 2))
    half_width = quantile * error
    return value - half_width, value + half_width


def t_bounds(units: Units, level: float) -> FloatArray:
    """Return the lower and upper bounds by Student's t, shape (2, n_columns)."""
    half_widths = special.stdtrit(units.freedom, (1 + level) / 2) * units.standard_errors
    return np.stack([units.means - half_widths, units.means + half_widths])


def skewed_t_bounds(units: Units, level: float) -> FloatArray:
    r"""Return bounds by Student's t corrected for skewness, but no narrower than Student's, shape (2, n_columns).

    Hall's transformation of t is a cubic that rises everywhere,

    .. math:: g(t) = t + \frac{a}{3} t^2 + \frac{a^2}{27} t^3 + \frac{a}{6}, \quad
        a = \frac{\sum_g r_g^3}{\left(\sum_g r_g^2\right)^{3/2}}

    with the residuals r of the units (a is their skewness over :math:`\sqrt n`). g(t) is less skewed than t, so the
    bounds come from a quantile q of Student's t by the inverse,

    .. math:: \bar{x} - g^{-1}(\pm q)\, se, \quad
        g^{-1}(z) = \frac{3}{a} \left(\sqrt[3]{1 + a \left(z - \frac{a}{6}\right)} - 1\right)

    since :math:`1 + a (g(t) - a / 6) = (1 + a t / 3)^3`. The error of a one-sided bound falls with 1 / n.

    References
    ----------
    Hall 1992, "On the removal of skewness by transformation", https://doi.org/10.1111/j.2517-6161.1992.tb01876.x.
    """
    residuals = units.residuals
    squares = (residuals**2).sum(axis=0)
    scale = np.where(squares > 0, squares, 1.0)
    skew = ((residuals / np.sqrt(scale)) ** 3).sum(axis=0)
    return skewed_t_of_moments(units.means, units.standard_errors, skew, units.freedom, level)


def skewed_t_of_moments(
    means: FloatArray, errors: FloatArray, skew: FloatArray, freedom: FloatArray | float, level: float
) -> FloatArray:
    """Return the bounds of :func:`skewed_t_bounds`, shape (2, n_columns), of what these need of the values.

    Parameters
    ----------
    means, errors, skew : ndarray of float, shape (n_columns,)
        The mean, its standard error, and a in the formula.
    freedom : ndarray of float, shape (n_columns,), or float
        Degrees of freedom of Student's t.
    level : float
    """
    skew = np.where(np.abs(skew) < LEAST_SKEW, LEAST_SKEW, skew)
    quantile = special.stdtrit(freedom, (1 + level) / 2)
    t_of_high = _invert_transformation(-quantile, skew)
    t_of_low = _invert_transformation(quantile, skew)
    low = means - np.maximum(t_of_low, quantile) * errors
    high = means - np.minimum(t_of_high, -quantile) * errors
    return np.stack([low, high])


def _invert_transformation(z: FloatArray | float, skew: FloatArray) -> FloatArray:
    """Return the t that Hall's transformation takes to z."""
    return 3 / skew * (np.cbrt(1 + skew * (z - skew / 6)) - 1)
