"""Quantiles of values and their exact intervals, whatever the distribution."""

import math

import numpy as np

from deadheat.arguments import is_number, level
from deadheat.arrays import FloatArray
from deadheat.errors import ParameterError

ROUNDING = 1e-12  # of probabilities: half of 1 - 0.8 is less than 0.1


def quantile_bounds(
    values: FloatArray,
    quantile: float,
    confidence_level: float = 0.95,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[float, float]:
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
    limits : tuple of float
        What an end is where no value can be: the median of fewer than six values has none at 0.95.

    Returns
    -------
    low, high : float

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
    from scipy import special  # slow to load

    if not is_number(quantile) or not 0 < quantile < 1:
        raise ParameterError(argument="quantile", given=quantile, allowed="a number between 0 and 1")
    tail = (1 - level("confidence_level", confidence_level)) / 2 + ROUNDING
    ordered = np.sort(values[~np.isnan(values)])
    n, counts = len(ordered), np.arange(len(ordered))
    n_low = int((special.bdtr(counts, n, quantile) <= tail).sum())  # of l = 1, 2, ...
    n_high = int((special.bdtrc(counts, n, quantile) <= tail).sum())  # of u = n, n - 1, ...
    return (
        float(ordered[n_low - 1]) if n_low else limits[0],
        float(ordered[n - n_high]) if n_high else limits[1],
    )
