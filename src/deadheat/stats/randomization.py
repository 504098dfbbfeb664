"""Randomization tests: the signs of paired differences, also of many pairs at once; and Tukey's test of all pairs."""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from deadheat.arrays import ArrayLike, BoolArray, FloatArray, IntArray, run_starts
from deadheat.errors import ROUNDING, ParameterError, Plain, Rng, as_resamples, generator
from deadheat.stats.units import (
    NEGLIGIBLE_DIFFERENCE,
    Alternative,
    as_clusters,
    as_matrix,
    as_weights,
    batches,
    sign_flip_sums,
    towards,
    unit_sums,
)

EXACT_UNITS = 30  # up to so many units all sign patterns are counted: 2 x 2^15 sums
EXACT_SUMS = 1 << 25  # in all columns: a second
PERMUTED_CELLS = 1 << 20  # permuted at a time: 8 MB
FLIPPED_CELLS = 1 << 16  # flipped sums compared at a time: 0.25 MB of float32
FLIPPED_AT_ONCE = 1 << 21  # computed at a time: 16 MB
HUGE = 1e30
ROUGH = 2.0**-22  # relative, of sums and of a bound: four times the rounding error of a float32, as two are subtracted


def randomization_p_values(
    differences: FloatArray,
    *,
    alternative: Alternative,
    n_resamples: int,
    cluster: IntArray | None,
    rng: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Return the p-value of each column, and whether all sign patterns were counted.

    Parameters
    ----------
    differences : ndarray of shape (n_queries, n_columns)
        A missing value counts as 0: its sign changes nothing.
    alternative : {"two-sided", "greater", "less"}
    n_resamples : int
    cluster : ndarray of int, shape (n_queries,), or None
    rng : numpy.random.Generator

    Returns
    -------
    p_values : ndarray of float, shape (n_columns,)
    is_exact : ndarray of bool, shape (n_columns,)
    """
    sums, _ = unit_sums(np.nan_to_num(differences), cluster)
    n_units = np.count_nonzero(sums, axis=0)
    is_exact = n_units <= _most_exact(n_units)
    found = np.ones(sums.shape[1])
    for column in np.flatnonzero(is_exact).tolist():
        found[column] = _exact(sums[sums[:, column] != 0, column], alternative)
    sampled = sums[:, ~is_exact]
    if sampled.size:
        null = sign_flip_sums(sampled, n_resamples=n_resamples, rng=rng)
        tolerance = ROUNDING * np.abs(sampled).sum(axis=0)
        extreme = count_extreme(null, sampled.sum(axis=0), alternative=alternative, tolerance=tolerance)
        found[~is_exact] = (extreme + 1) / (n_resamples + 1)
    return found, is_exact


def paired_p_values(
    values: FloatArray,
    first: IntArray,
    second: IntArray,
    *,
    alternative: Alternative,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, BoolArray]:
    """Return what :func:`randomization_p_values` does for pairs of many systems of which none lacks a value.

    A flipped sum is linear: those of each system are computed once, and those of a pair are their difference.

    Parameters
    ----------
    values : ndarray of float, shape (n_systems, n_queries)
    first, second : ndarray of int, shape (n_pairs,)
        The rows of each pair, whose differences are those of the first less the second.
    alternative, n_resamples, rng
        As there.

    Returns
    -------
    p_values : ndarray of float, shape (n_pairs,)
    is_exact : ndarray of bool, shape (n_pairs,)
    """
    found = np.ones(len(first))
    observed, scales, n_units = np.empty(len(first)), np.empty(len(first)), np.empty(len(first), np.int64)
    for start, stop in batches(len(first), values.shape[1], PERMUTED_CELLS):
        own = _differences(values, first[start:stop], second[start:stop])
        observed[start:stop], scales[start:stop] = own.sum(axis=1), np.abs(own).sum(axis=1)
        n_units[start:stop] = np.count_nonzero(own, axis=1)
    is_exact = n_units <= _most_exact(n_units)
    for pair in np.flatnonzero(is_exact).tolist():
        (own,) = _differences(values, first[[pair]], second[[pair]])
        found[pair] = _exact(own[own != 0], alternative)
    left = np.flatnonzero(~is_exact)
    if len(left):
        order = left[np.argsort(second[left], kind="stable")]
        runs = np.split(order, run_starts(second[order])[1:])
        bounds = towards(observed, alternative) - ROUNDING * scales

        def counted(flipped: FloatArray, rough: FloatArray, off: float, own: IntArray) -> IntArray:
            return _n_extreme(
                flipped, rough, off, first[own], int(second[own[0]]), bounds=bounds[own], alternative=alternative
            )

        extreme = np.zeros(len(order), np.int64)
        with ThreadPoolExecutor(os.cpu_count()) as beside:
            for start, stop in batches(n_resamples, len(values), FLIPPED_AT_ONCE):
                flipped = sign_flip_sums(values.T, n_resamples=stop - start, rng=rng).T
                largest = float(np.abs(flipped).max())
                # float32 rounds such numbers relative to the largest
                rough = flipped.astype(np.float32) if 1 / HUGE < largest < HUGE else flipped
                extreme += np.concatenate(list(beside.map(partial(counted, flipped, rough, ROUGH * largest), runs)))
        found[order] = (extreme + 1) / (n_resamples + 1)
    return found, is_exact


def _differences(values: FloatArray, first: IntArray, second: IntArray) -> FloatArray:
    """Return the differences of pairs, of shape (n_pairs, n_queries); 0 for what rounding leaves of equal values."""
    found = values[first] - values[second]
    found[np.abs(found) < NEGLIGIBLE_DIFFERENCE] = 0.0
    return found


def _n_extreme(
    flipped: FloatArray,
    rough: FloatArray,
    off: float,
    first: IntArray,
    second: int,
    *,
    bounds: FloatArray,
    alternative: Alternative,
) -> IntArray:
    """Count what :func:`count_extreme` does, for several systems less one; few sums at a time stay in the cache.

    They are compared as float32 (`rough`, which is `off` by so much at most; `flipped` itself if these would not do)
    where that decides: it takes three quarters of the time. A system with a sum near its bound is counted again as
    float64. If most of some systems have one, as of values that repeat, all others are counted as float64 at once.
    """
    bounds = bounds[:, None]
    error = off + ROUGH * np.abs(bounds)
    low, high = (bounds - error).astype(rough.dtype), (bounds + error).astype(rough.dtype)
    counts = np.empty(len(first), np.int64)
    use_rough = rough is not flipped
    for start, stop in batches(len(first), flipped.shape[1], FLIPPED_CELLS):
        left = np.arange(start, stop)
        if use_rough:
            null = _beyond(rough, first[left], second, alternative)
            reached = null >= low[left]
            counts[left] = [*map(np.count_nonzero, reached)]  # row by row it is fast
            is_near = reached != (null >= high[left])
            left = left[is_near.any(axis=1)] if is_near.any() else left[:0]  # mostly none is
            use_rough = 2 * len(left) <= stop - start
        if len(left):
            counts[left] = [*map(np.count_nonzero, _beyond(flipped, first[left], second, alternative) >= bounds[left])]
    return counts


def _beyond(sums: FloatArray, first: IntArray, second: int, alternative: Alternative) -> FloatArray:
    """Return how far sums of some systems less those of one are from 0, as :func:`towards` does, in their own place."""
    rows = slice(first[0], first[-1] + 1) if (np.diff(first) == 1).all() else first  # a slice needs no copy
    null = sums[rows] - sums[second]
    if alternative == "two-sided":
        return np.abs(null, out=null)
    return np.negative(null, out=null) if alternative == "less" else null


def _most_exact(n_units: IntArray) -> int:
    """Return up to how many units all sign patterns are counted: fewer where very many columns have so many."""
    counts = np.bincount(np.minimum(n_units, EXACT_UNITS + 1), minlength=EXACT_UNITS + 2)[: EXACT_UNITS + 1]
    n_sums = np.cumsum(counts * 2.0 ** (np.arange(EXACT_UNITS + 1) / 2 + 1))
    return int(np.searchsorted(n_sums, EXACT_SUMS, side="right")) - 1


def count_extreme(
    null: FloatArray, observed: FloatArray, *, alternative: Alternative, tolerance: FloatArray
) -> IntArray:
    """Count the resamples that are at least as far from 0 as the data.

    Parameters
    ----------
    null : ndarray of shape (n_resamples, n_columns)
        The statistic in each resample, with mean 0.
    observed : ndarray of shape (n_columns,)
    alternative : {"two-sided", "greater", "less"}
    tolerance : ndarray of shape (n_columns,)
        What rounding may take from statistics that are equal in theory.

    Returns
    -------
    ndarray of int, shape (n_columns,)
    """
    return (towards(null, alternative) >= towards(observed, alternative) - tolerance).sum(axis=0)


def _exact(values: FloatArray, alternative: Alternative) -> float:
    """Count the sign patterns whose sum is at least as extreme, out of all 2^n.

    Meet in the middle: a sum of all is one of the sums of the first half plus one of the second; for each of the
    former, binary search counts the latter.
    """
    bound = towards(values.sum(), alternative) - ROUNDING * np.abs(values).sum()
    if alternative == "two-sided" and bound <= 0:
        return 1.0
    middle = len(values) // 2
    first, second = (np.sort(_signed_sums(half)) for half in (values[:middle], values[middle:]))
    reached = len(first) * len(second) - np.searchsorted(second, bound - first).sum()
    # changing all signs mirrors the sums
    return float((2 if alternative == "two-sided" else 1) * reached / 2.0 ** len(values))


def _signed_sums(values: FloatArray) -> FloatArray:
    """Return the sums of the values with all patterns of signs, shape (2^n,)."""
    sums = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums - value, sums + value])
    return sums


def tukey_p_values(
    values: ArrayLike,
    *,
    n_resamples: int = 10_000,
    cluster: ArrayLike | None = None,
    rng: Rng = None,
    weights: ArrayLike | None = None,
) -> FloatArray:
    """Compare all pairs of systems at once: randomised Tukey HSD.

    Each resample permutes the systems' values within every query and notes the largest mean minus the smallest.
    The p-value of a pair, (b + 1) / (m + 1), counts the resamples where that range reaches the pair's difference;
    so it is corrected for the number of pairs, if no system differs from any other. Systems that vary more than the
    others from query to query are found different too often.

    Parameters
    ----------
    values : array-like of shape (n_queries, n_systems)
        One measure. A query with a missing value (NaN) is left out.
    n_resamples : int, default 10000
    cluster : array-like of int, shape (n_queries,), optional
        Code of each query's cluster; the systems change places in all queries of a cluster alike.
    rng : numpy.random.Generator or int, optional
    weights : array-like of float, shape (n_queries,), optional
        How much each query counts, above 0 where there is a value.

    Returns
    -------
    ndarray of float, shape (n_systems, n_systems)
        Symmetric, with ones on the diagonal; two-sided.

    Raises
    ------
    ParameterError

    References
    ----------
    Carterette 2012, https://doi.org/10.1145/2094072.2094076. Boytsov, Belova and Westfall 2013,
    https://doi.org/10.1145/2484028.2484034.

    Examples
    --------
    >>> values = np.array([[0.1, 0.1, 0.6], [0.3, 0.2, 0.7], [0.2, 0.3, 0.9], [0.1, 0.1, 0.5], [0.4, 0.3, 0.8]])
    >>> (tukey_p_values(values, rng=1) < 0.05).tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    values = as_matrix("values", values)
    if values.shape[1] < 2:
        raise ParameterError(
            "must have a column for each of two or more systems", argument="values", given=Plain(values.shape[1])
        )
    n_resamples = as_resamples("n_resamples", n_resamples)
    codes = as_clusters(cluster, len(values))
    complete = np.asarray(~np.isnan(values).any(axis=1))
    own = as_weights(weights, np.where(complete[:, None], values, np.nan))  # over the largest of the same queries
    weighed = values if own is None else values * own
    units, _ = unit_sums(weighed[complete], None if codes is None else codes[complete])
    ranges = np.sort(_permuted_ranges(units, n_resamples, generator(rng)))
    sums, tolerance = units.sum(axis=0), ROUNDING * np.abs(units).sum()
    return (1 + n_resamples - np.searchsorted(ranges, np.abs(sums[:, None] - sums) - tolerance)) / (n_resamples + 1)


def _permuted_ranges(values: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Return the largest sum of a column minus the smallest, with each row permuted, shape (n_resamples,)."""
    ranges = np.empty(n_resamples)
    for start, stop in batches(n_resamples, values.size, PERMUTED_CELLS):
        copies = np.broadcast_to(values, (stop - start, *values.shape))
        ranges[start:stop] = np.ptp(rng.permuted(copies, axis=2).sum(axis=1), axis=1)
    return ranges
