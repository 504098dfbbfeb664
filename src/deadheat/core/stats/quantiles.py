"""Intervals of quantiles: two of the ordered values."""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import FloatArray, special, use_default_arithmetic
from deadheat.core.checks import as_level
from deadheat.core.scalars import ROUNDING


@use_default_arithmetic
def quantile_bounds(values: FloatArray, quantile: float, confidence_level: float = 0.95) -> tuple[float, float]:
    r"""Return the bounds of a confidence interval for a quantile: two of the ordered values.

    Let B be the number of values at or below the quantile q, which is binomial with n and q. The l-th smallest value
    lies above the quantile with probability :math:`P(B < l)`, and the u-th below it with probability
    :math:`P(B \ge u)`. Each of the two may be half of 1 - `confidence_level` at most. So the interval covers the
    quantile at least as often as it says, for values of any distribution.

    Parameters
    ----------
    values : ndarray of shape (n,)
        NaN is left out.
    quantile : float
        Between 0 and 1; 0.5 is the median.
    confidence_level : float, default 0.95

    Returns
    -------
    low, high : float
        Infinite where no value can be a bound: for the median of fewer than six values at 0.95.

    Raises
    ------
    ParameterError
        The quantile or the level is not between 0 and 1.

    References
    ----------
    W. J. Conover, Practical Nonparametric Statistics, 3rd edition (1999), section 3.2.

    Examples
    --------
    >>> quantile_bounds(np.arange(1.0, 11), 0.5), quantile_bounds(np.arange(1.0, 6), 0.5)
    ((2.0, 9.0), (-inf, inf))
    """
    quantile = as_level("quantile", quantile, example="0.5")
    level = as_level("confidence_level", confidence_level)
    tail = (1 - level) / 2 + ROUNDING  # half of 1 - 0.8 is less than 0.1
    ordered = np.sort(values[~np.isnan(values)])
    n = len(ordered)
    counts = np.arange(n)
    rank_of_low = int((special.bdtr(counts, n, quantile) <= tail).sum())  # the largest l, 0 if there is none
    rank_of_high = int((special.bdtrc(counts, n, quantile) <= tail).sum())  # n - u + 1, from the largest value on
    low, high = -np.inf, np.inf
    if rank_of_low:
        low = float(ordered[rank_of_low - 1])
    if rank_of_high:
        high = float(ordered[n - rank_of_high])
    return low, high
