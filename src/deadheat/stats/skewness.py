"""Skewness of differences, and when it makes the level of a test of their mean doubtful."""

from __future__ import annotations

import numpy as np

from deadheat.arguments import check_choice
from deadheat.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from deadheat.stats import checks
from deadheat.stats.units import units_of

BEARABLE = {"randomization": 0.2, "tukey": 0.2, "bootstrap": 0.2, "t": 0.2, "bootstrap-t": 0.5}  # |G1| / sqrt(n)
VISIBLE = 1.0  # |G1| of 10 normal values is above it in one sample of seven


def skewness(values: ArrayLike, *, cluster: ArrayLike | None = None) -> tuple[FloatArray, IntArray]:
    r"""Return the sample skewness of each column, and over how many units.

    .. math:: G_1 = \frac{\sqrt{n (n - 1)}}{n - 2} \cdot \frac{m_3}{m_2^{3/2}}

    Parameters
    ----------
    values : array-like of shape (n_queries, n_columns)
        NaN where a value is missing: the row is left out of that column.
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster: the skewness is then that of the sums over clusters, less what their sizes
        explain.

    Returns
    -------
    skewness : ndarray of float, shape (n_columns,)
        NaN with fewer than three units, and where all values are equal.
    n_units : ndarray of int, shape (n_columns,)
        Queries, or clusters, that have a value.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> found, n_units = skewness([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0]])
    >>> found.round(3).tolist(), n_units.tolist()
    ([1.732, 0.0], [3, 3])
    """
    given = checks.matrix("values", values)
    found, n_units = np.full(given.shape[1], np.nan), np.zeros(given.shape[1], np.int64)
    for units in units_of(given, checks.clusters(cluster, len(given)), fewest=0):
        n_units[units.columns] = n = units.n_units
        if n < 3:
            continue
        residuals = units.residuals
        spread = np.flatnonzero(residuals.any(axis=0))
        scaled = residuals[:, spread] / np.abs(residuals[:, spread]).max(axis=0)
        moments = (scaled**3).mean(axis=0) / (scaled**2).mean(axis=0) ** 1.5
        found[units.columns[spread]] = moments * np.sqrt(n * (n - 1)) / (n - 2)
    return found, n_units


def is_doubtful(skewness: FloatArray, n_units: IntArray, test: str) -> BoolArray:
    r"""Tell where skewness and the number of units make the level of a test of the mean doubtful.

    The probability that Student's t is beyond one quantile z is off by about
    :math:`|\gamma| \phi(z) (2 z^2 + 1) / (6 \sqrt n)`, so that :math:`|G_1| / \sqrt n` decides. Above 0.2 a two-sided
    test at 5%, by t or by sign flips, rejects more than 6% of equal systems, and "bootstrap-t" does above 0.5
    (simulated: docs/statistics.md). It is Cochran's rule of thumb: n should be above 25 times the square.
    A skewness below 1 says nothing where n is small.

    Parameters
    ----------
    skewness : ndarray of float, shape (n_columns,)
    n_units : ndarray of int, shape (n_columns,)
    test : str
        Of those that test no mean, "wilcoxon" and "sign", none is doubtful by skewness.

    Returns
    -------
    ndarray of bool, shape (n_columns,)
        False where the skewness is NaN. True says what the sample shows: one that missed the rare large differences
        does not show its skewness.

    References
    ----------
    Cochran 1977, Sampling Techniques, section 2.15. Hall 1992, The Bootstrap and Edgeworth Expansion, for the formula.

    Examples
    --------
    >>> is_doubtful(np.array([1.5, 1.5, 0.9]), np.array([25, 100, 10]), "randomization").tolist()
    [True, False, False]
    """
    check_choice("test", test, (*BEARABLE, "wilcoxon", "sign"))
    if test not in BEARABLE:
        return np.zeros(len(skewness), np.bool_)
    return np.abs(skewness) > np.maximum(VISIBLE, BEARABLE[test] * np.sqrt(n_units))
