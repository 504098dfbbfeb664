"""Intervals of proportions by Clopper and Pearson, also for the probabilities that ties give."""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import ArrayLike, FloatArray, special, use_default_arithmetic
from deadheat.core.checks import as_level


@use_default_arithmetic
def proportion_bounds(totals: ArrayLike, n: int, confidence_level: float = 0.95) -> FloatArray:
    r"""Return the bounds of a proportion by Clopper and Pearson, also for values between 0 and 1.

    A proportion is the mean of values that are 0 or 1, or with ties the probability of a 1.

    .. math:: I_{low}(S, n - S + 1) = \frac{1 - c}{2}, \quad I_{high}(S + 1, n - S) = \frac{1 + c}{2}

    with S the sum of n values, c the confidence level and I the regularised incomplete beta function; low is 0 for
    S = 0, high is 1 for S = n. If every value is 0 or 1 these are the exact bounds of a binomial proportion, which
    cover the true one with a probability of c or more.

    A query with ties has the probability of a 1 as its value, a number between 0 and 1. That the bounds cover the true
    proportion then, too, is supported by three facts:

    * Of all values from 0 to 1 with a given mean, 0 and 1 vary most: the mean of every convex function of S is largest
      for them (by its chord, as in Hoeffding 1963). So S lies closer to its mean than a binomial count, and the bounds
      cover more. This is no proof for the tails.
    * A weaker statement is proved. Draw a 1 with the probability of each value; their number T is binomial. The median
      of T is S, rounded up or down (Jogdeo and Samuels 1968). So T reaches the whole number below S in half of all
      draws or more, and S is at most twice as likely as T to lie so far out.
    * Many distributions of three values were searched for the worst. None misses more often than 0 and 1 do
      (``docs/figures/coverage_proportions.py``).

    Parameters
    ----------
    totals : array-like of float
        Sums of n values each, from 0 to n, of any shape.
    n : int
        Number of values.
    confidence_level : float, default 0.95
        Between 0 and 1.

    Returns
    -------
    ndarray of float, shape (2, ...)
        Lower and upper bounds; NaN if n is 0.

    Raises
    ------
    ParameterError
        The level is not between 0 and 1.

    References
    ----------
    Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404. Hoeffding 1963,
    https://doi.org/10.1080/01621459.1963.10500830. Jogdeo and Samuels 1968, https://doi.org/10.1214/aoms/1177698243.

    Examples
    --------
    Two hits of two, and two ties of two documents each:

    >>> proportion_bounds([2, 1], 2).round(3).tolist()
    [[0.158, 0.013], [1.0, 0.987]]
    """
    tail = (1 - as_level("confidence_level", confidence_level)) / 2
    sums = np.clip(np.asarray(totals, np.float64), 0, n)
    if not n:
        return np.full((2, *sums.shape), np.nan)
    has_low = sums > 0
    has_high = sums < n
    low = special.betaincinv(np.where(has_low, sums, 1.0), n - sums + 1, tail)
    high = special.betaincinv(sums + 1, np.where(has_high, n - sums, 1.0), 1 - tail)
    return np.stack([np.where(has_low, low, 0.0), np.where(has_high, high, 1.0)])
