"""Means and standard deviations of weighted values, and how many equally weighted ones they are worth."""

import math

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, use_default_arithmetic


def divide_by_largest(weights: FloatArray | IntArray | None, n: int) -> FloatArray:
    """Return the weights over the largest one, so that equal weights are 1 and change no digit.

    Parameters
    ----------
    weights : ndarray of float, shape (n,), or None
        Above 0; None: all equal.
    n : int
    """
    if weights is None or not n:
        return np.ones(n)
    return weights / weights.max()


def are_equal(weights: FloatArray | None) -> bool:
    """Return whether all values count the same."""
    return weights is None or not len(weights) or bool(weights.min() == weights.max())


@use_default_arithmetic
def mean(values: FloatArray, weights: FloatArray | None = None) -> float:
    r"""Return the weighted mean, :math:`\sum w x / \sum w`; NaN if there is no value.

    Examples
    --------
    >>> mean(np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    0.25
    """
    if not len(values):
        return math.nan
    if weights is None:
        return float(values.sum() / len(values))
    w = divide_by_largest(weights, len(values))
    return float((w * values).sum() / w.sum())


@use_default_arithmetic
def std(values: FloatArray, weights: FloatArray | None = None) -> float:
    r"""Return the weighted standard deviation; NaN of fewer than two values.

    .. math:: s^2 = \frac{n}{n - 1} \frac{\sum w (x - \bar{x})^2}{\sum w}

    Examples
    --------
    >>> std(np.array([0.0, 0.0, 3.0])), round(std(np.array([0.0, 3.0]), np.array([2.0, 1.0])), 4)
    (1.7320508075688772, 2.0)
    """
    n = len(values)
    if n < 2:
        return math.nan
    w = divide_by_largest(weights, n)
    squares = (w * (values - mean(values, weights)) ** 2).sum()
    return float(np.sqrt(squares / (w.sum() * (n - 1) / n)))


def linearise(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    r"""Return values whose plain mean and standard error are those of the weighted mean; without weights as they are.

    .. math:: z = \bar{x} + \frac{n w}{\sum w} (x - \bar{x}), \quad \bar{x} = \frac{\sum w x}{\sum w}

    References
    ----------
    Särndal, Swensson and Wretman 1992, https://doi.org/10.1007/978-1-4612-4378-6, section 5.5.

    Examples
    --------
    >>> linearise(np.array([0.0, 1.0]), np.array([3.0, 1.0])).tolist()
    [-0.125, 0.625]
    """
    if weights is None or not len(values):
        return values
    weighted_mean = mean(values, weights)
    return weighted_mean + weights / weights.mean() * (values - weighted_mean)


def effective_number(weights: FloatArray | IntArray) -> float:
    r"""Return how many values of equal weight give a mean as precise, :math:`(\sum w)^2 / \sum w^2`.

    References
    ----------
    Kish 1965, Survey Sampling, section 11.7.

    Examples
    --------
    >>> effective_number(np.array([1.0, 1.0, 2.0])), effective_number(np.array([5.0, 5.0]))
    (2.6666666666666665, 2.0)
    """
    if not len(weights):
        return 0.0
    w = divide_by_largest(weights, len(weights))
    return float(w.sum() ** 2 / (w**2).sum())
