"""Intervals of quantiles: two of the ordered values."""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import FloatArray, special, with_own_arithmetic
from deadheat.core.checks import as_level
from deadheat.core.scalars import ROUNDING


@with_own_arithmetic
def quantile_bounds(values: FloatArray, quantile: float, confidence_level: float = 0.95) -> tuple[float, float]:
    r"""Return the bounds of a confidence interval for a quantile: two of the ordered values.

    The l-th smallest of n values lies above the quantile q with probability :math:`P(B < l)`, the u-th below it with
    :math:`P(B \ge u)`, where B is binomial with n and q; each may be half of 1 - `confidence_level` at most. So the
    interval covers at least as often as it says, for values of any distribution.

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
        Infinite where no value can be an end: the median of fewer than six values has none at 0.95.

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
    tail = (1 - as_level("confidence_level", confidence_level)) / 2 + ROUNDING  # half of 1 - 0.8 is less than 0.1
    ordered = np.sort(values[~np.isnan(values)])
    n, counts = len(ordered), np.arange(len(ordered))
    n_low = int((special.bdtr(counts, n, quantile) <= tail).sum())  # of l = 1, 2, ...
    n_high = int((special.bdtrc(counts, n, quantile) <= tail).sum())  # of u = n, n - 1, ...
    return (
        float(ordered[n_low - 1]) if n_low else -np.inf,
        float(ordered[n - n_high]) if n_high else np.inf,
    )
