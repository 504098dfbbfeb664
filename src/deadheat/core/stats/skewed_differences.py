"""Skewness of differences, and where it makes the level of a test of the mean doubtful.

See docs/math.md, section 20.
"""

import numpy as np

from deadheat.core.arrays import ArrayLike, BoolArray, FloatArray, IntArray, use_default_arithmetic
from deadheat.core.checks import check_choice
from deadheat.core.design import RANK_TESTS
from deadheat.core.stats.units import as_clusters, as_matrix, as_weights, split_into_units

BEARABLE_SKEWNESS = {  # |G1| / sqrt(n) above which a test rejects too often: see `is_doubtful`
    "randomization": 0.2,
    "tukey": 0.2,
    "bootstrap": 0.2,
    "t": 0.2,
    "bootstrap-t": 0.5,
}
VISIBLE_SKEWNESS = 1.0  # |G1| of 10 normal values is above it in one sample of seven


@use_default_arithmetic
def skewness(
    values: ArrayLike, *, cluster: ArrayLike | None = None, weights: ArrayLike | None = None
) -> tuple[FloatArray, IntArray]:
    r"""Return the sample skewness of each column, and over how many units.

    .. math:: G_1 = \frac{\sqrt{n (n - 1)}}{n - 2} \cdot \frac{m_3}{m_2^{3/2}}

    Parameters
    ----------
    values : array-like of shape (n_queries, n_columns)
        NaN where a value is missing: the row is left out of that column.
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster: the skewness is then that of the sums over clusters, less what their sizes
        explain.
    weights : array-like of float, shape (n_queries,) or that of `values`, optional
        How much each query counts, above 0 where there is a value.
        The skewness is that of weight times difference from the mean.

    Returns
    -------
    skewness : ndarray of float, shape (n_columns,)
        NaN with fewer than three units, and where all values are equal.
    n_units : ndarray of int, shape (n_columns,)
        Queries, or clusters, that have a value.

    Raises
    ------
    ParameterError

    References
    ----------
    Joanes and Gill 1998, https://doi.org/10.1111/1467-9884.00122.

    Examples
    --------
    >>> skewnesses, n_units = skewness([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0]])
    >>> skewnesses.round(3).tolist(), n_units.tolist()
    ([1.732, 0.0], [3, 3])
    """
    matrix = as_matrix("values", values)
    codes = as_clusters(cluster, len(matrix))
    weights = as_weights(weights, matrix)
    n_columns = matrix.shape[1]
    skewnesses = np.full(n_columns, np.nan)
    n_units = np.zeros(n_columns, np.int64)
    for units in split_into_units(matrix, codes, fewest=0, weights=weights):
        n = units.n_units
        n_units[units.columns] = n
        if n < 3:
            continue
        residuals = units.residuals
        has_spread = residuals.any(axis=0)
        residuals = residuals[:, has_spread]
        scaled = residuals / np.abs(residuals).max(axis=0)  # so that no power of them is out of range
        ratio = (scaled**3).mean(axis=0) / (scaled**2).mean(axis=0) ** 1.5
        skewnesses[units.columns[has_spread]] = ratio * np.sqrt(n * (n - 1)) / (n - 2)
    return skewnesses, n_units


def is_doubtful(skewness: FloatArray, n_units: IntArray, test: str) -> BoolArray:
    r"""Return where skewness and the number of units make the level of a test of the mean doubtful.

    The probability that Student's t is beyond the quantile z on one side is off by about
    :math:`|\gamma| \phi(z) (2 z^2 + 1) / (6 \sqrt n)`, so that :math:`|G_1| / \sqrt n` decides. Above 0.2 a two-sided
    test at 5%, by t or by sign flips, rejects more than 6% of equal systems; "bootstrap-t" does above 0.5
    (simulated: docs/simulations.md). This is Cochran's rule of thumb: n should be above 25 times the square.
    A skewness below 1 says nothing where n is small.

    Parameters
    ----------
    skewness : ndarray of float, shape (n_columns,)
    n_units : ndarray of int, shape (n_columns,)
    test : str
        Skewness makes none doubtful of "wilcoxon" and "sign", which do not test the mean.

    Returns
    -------
    ndarray of bool, shape (n_columns,)
        False where the skewness is NaN. False is no proof: a sample that missed the rare large differences does not
        show its skewness.

    References
    ----------
    Cochran 1977, Sampling Techniques, section 2.15. Hall 1992, The Bootstrap and Edgeworth Expansion,
    https://doi.org/10.1007/978-1-4612-4384-7, for the formula.

    Examples
    --------
    >>> is_doubtful(np.array([1.5, 1.5, 0.9]), np.array([25, 100, 10]), "randomization").tolist()
    [True, False, False]
    """
    check_choice("test", test, (*BEARABLE_SKEWNESS, *RANK_TESTS))
    if test not in BEARABLE_SKEWNESS:
        return np.zeros(len(skewness), np.bool_)
    bearable = BEARABLE_SKEWNESS[test] * np.sqrt(n_units)
    return np.abs(skewness) > np.maximum(VISIBLE_SKEWNESS, bearable)
