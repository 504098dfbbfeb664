"""The randomization test of "each difference is as likely d as -d": exact for few units, by drawn signs for more.

The method is explained in docs/math.md, section 18.
"""

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.alternatives import Alternative, count_extreme, extremeness
from deadheat.core.stats.resamples import batches
from deadheat.core.stats.sign_sums import sign_flip_sums
from deadheat.core.stats.significance import Significance
from deadheat.core.stats.units import sum_by_unit

MAX_EXACT_UNITS = 30  # up to so many units all sign patterns are counted: 2 x 2^15 sums
MAX_EXACT_SUMS = 1 << 25  # of all columns together: they take a second
BATCH_CELLS = 1 << 17  # sums drawn at a time, 1 MB: they are still in the cache when they are counted


def randomization_p_values(
    differences: FloatArray,
    *,
    alternative: Alternative,
    n_resamples: int,
    cluster: IntArray | None,
    rng: np.random.Generator,
) -> Significance:
    """Return the p-values of the randomization test; exact ones count all sign patterns.

    Parameters
    ----------
    differences : ndarray of shape (n_queries, n_columns)
        A missing value counts as 0: its sign changes nothing.
    alternative : {"two-sided", "greater", "less"}
    n_resamples : int
        For the columns that have too many units for all patterns.
    cluster : ndarray of int, shape (n_queries,), or None
    rng : numpy.random.Generator

    References
    ----------
    Smucker, Allan and Carterette 2007, https://doi.org/10.1145/1321440.1321528. Phipson and Smyth 2010,
    https://doi.org/10.2202/1544-6115.1585.
    """
    sums, _ = sum_by_unit(np.nan_to_num(differences), cluster)
    n_units = np.count_nonzero(sums, axis=0)
    is_exact = n_units <= find_exact_limit(n_units)
    p_values = np.ones(sums.shape[1])
    for column in np.flatnonzero(is_exact).tolist():
        values = sums[:, column]
        p_values[column] = count_sign_patterns(values[values != 0], alternative)
    if not is_exact.all():
        p_values[~is_exact] = _draw_p_values(sums[:, ~is_exact], alternative, n_resamples, rng)
    return Significance(p_values, is_exact)


def _draw_p_values(
    sums: FloatArray, alternative: Alternative, n_resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the p-value of each column of sums by unit from random signs."""
    total = sums.sum(axis=0)
    tolerance = ROUNDING * np.abs(sums).sum(axis=0)
    n_extreme = np.zeros(len(total))
    for start, stop in batches(n_resamples, len(total), BATCH_CELLS):
        null = sign_flip_sums(sums, n_resamples=stop - start, rng=rng)
        n_extreme += count_extreme(null, total, alternative=alternative, tolerance=tolerance)
    return (n_extreme + 1) / (n_resamples + 1)


def find_exact_limit(n_units: IntArray) -> int:
    """Return the number of units up to which all sign patterns are counted; it is smaller for very many columns.

    Parameters
    ----------
    n_units : ndarray of int, shape (n_columns,)
        Units of each column that differ from 0.
    """
    numbers = np.arange(MAX_EXACT_UNITS + 1)
    n_columns = np.bincount(n_units[n_units <= MAX_EXACT_UNITS], minlength=len(numbers))  # that have each number
    n_sums_of_column = 2.0 ** (numbers / 2 + 1)  # of two halves: see `count_sign_patterns`
    n_sums = np.cumsum(n_columns * n_sums_of_column)
    return int(np.searchsorted(n_sums, MAX_EXACT_SUMS, side="right")) - 1


def count_sign_patterns(values: FloatArray, alternative: Alternative) -> float:
    """Return the share of all 2^n sign patterns whose sum is at least as extreme as that of the values.

    Meet in the middle: the sum of a pattern is a sum of the first half of the values plus one of the second. For each
    sum of the first half, binary search counts those of the second half that are large enough.

    References
    ----------
    Horowitz and Sahni 1974, https://doi.org/10.1145/321812.321823.
    """
    bound = extremeness(values.sum(), alternative) - ROUNDING * np.abs(values).sum()
    if alternative == "two-sided" and bound <= 0:
        return 1.0
    middle = len(values) // 2
    first = np.sort(_sum_sign_patterns(values[:middle]))
    second = np.sort(_sum_sign_patterns(values[middle:]))
    n_extreme = len(first) * len(second) - np.searchsorted(second, bound - first).sum()
    if alternative == "two-sided":
        n_extreme = 2 * n_extreme  # the opposite signs give the opposite sum
    return float(n_extreme / 2.0 ** len(values))


def _sum_sign_patterns(values: FloatArray) -> FloatArray:
    """Return the sums of the values with all patterns of signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums - value, sums + value])
    return sums
