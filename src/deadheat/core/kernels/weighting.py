"""Means and standard deviations of values that count differently, and how many equal ones they are worth."""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, with_own_arithmetic


def relative(weights: FloatArray | IntArray | None, n: int) -> FloatArray:
    """Return weights over the largest: ones where there are none, or all are equal, so that these change no digit.

    Parameters
    ----------
    weights : ndarray of float, shape (n,), or None
        Above 0.
    n : int
    """
    return np.ones(n) if weights is None or not n else weights / weights.max()


def are_equal(weights: FloatArray | None) -> bool:
    """Return whether all values count the same."""
    return weights is None or not len(weights) or bool(weights.min() == weights.max())


@with_own_arithmetic
def mean(values: FloatArray, weights: FloatArray | None = None) -> float:
    r"""Return the weighted mean, :math:`\sum w x / \sum w`; NaN of none.

    Examples
    --------
    >>> mean(np.array([0.0, 1.0]), np.array([3.0, 1.0]))
    0.25
    """
    if weights is None or not len(values):
        return float(values.mean()) if len(values) else float("nan")
    own = relative(weights, len(values))
    return float((own * values).sum() / own.sum())


@with_own_arithmetic
def std(values: FloatArray, weights: FloatArray | None = None) -> float:
    r"""Return the weighted standard deviation; NaN of fewer than two.

    .. math:: s^2 = \frac{n}{n - 1} \frac{\sum w (x - \bar{x})^2}{\sum w}

    Examples
    --------
    >>> std(np.array([0.0, 0.0, 3.0])), round(std(np.array([0.0, 3.0]), np.array([2.0, 1.0])), 4)
    (1.7320508075688772, 2.0)
    """
    n, own = len(values), relative(weights, len(values))
    centred = values - mean(values, weights)
    return float(np.sqrt((own * centred**2).sum() / (own.sum() * (n - 1) / n))) if n > 1 else float("nan")


def linearised(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    r"""Return values whose plain mean and standard error are those of the weighted mean; without weights as they are.

    .. math:: z = \bar{x} + \frac{n w}{\sum w} (x - \bar{x}), \quad \bar{x} = \frac{\sum w x}{\sum w}

    References
    ----------
    Särndal, Swensson and Wretman 1992, https://doi.org/10.1007/978-1-4612-4378-6, section 5.5.

    Examples
    --------
    >>> linearised(np.array([0.0, 1.0]), np.array([3.0, 1.0])).tolist()
    [-0.125, 0.625]
    """
    if weights is None or not len(values):
        return values
    centre = mean(values, weights)
    return centre + weights / weights.mean() * (values - centre)


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
    own = relative(weights, len(weights))
    return float(own.sum() ** 2 / (own**2).sum()) if len(weights) else 0.0
