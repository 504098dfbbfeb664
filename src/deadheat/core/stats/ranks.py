"""Ranks of systems among each other: those that they share, their range when queries are resampled, and tiers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, use_default_arithmetic
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.resamples import batches, draw_counts

BATCH_CELLS = 1 << 19  # units drawn at a time where each draw has its own tie-break: 4 MB


def ranks(scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first and the last of the ranks that a system shares with those of equal score, by row.

    Parameters
    ----------
    scores : ndarray of float, shape (n_rows, n_systems)
        Higher is better.

    Examples
    --------
    >>> [row.tolist() for row in ranks(np.array([[0.5, 0.7, 0.5]]))]
    [[[2, 1, 2]], [[3, 1, 3]]]
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    descending = np.take_along_axis(scores, order, axis=1)
    rounding = ROUNDING * np.maximum(1.0, np.abs(scores).max(axis=1, keepdims=True))
    is_lower = -np.diff(descending) > rounding  # than the system before it
    # Whether a tie ends between two places; the columns are before the first place, between the first two, and so on
    is_boundary = np.pad(is_lower, ((0, 0), (1, 1)), constant_values=True)
    is_first = is_boundary[:, :-1]
    is_last = is_boundary[:, 1:]
    n_systems = scores.shape[1]
    places = np.arange(n_systems)
    first_places = np.maximum.accumulate(np.where(is_first, places, 0), axis=1)
    last_or_none = np.where(is_last, places, n_systems)
    last_places = np.minimum.accumulate(last_or_none[:, ::-1], axis=1)[:, ::-1]
    first = np.empty(scores.shape, np.int32)
    last = np.empty(scores.shape, np.int32)
    np.put_along_axis(first, order, first_places.astype(np.int32) + 1, axis=1)
    np.put_along_axis(last, order, last_places.astype(np.int32) + 1, axis=1)
    return first, last


@use_default_arithmetic
def resampled_ranks(
    means: FloatArray,
    variances: FloatArray,
    sizes: IntArray | FloatArray,
    *,
    pools: Sequence[FloatArray | None] | None = None,
    higher_is_better: bool = True,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray]:
    """Return the best and the worst rank of each system in every resample.

    A resample draws as many units (queries, or clusters of them) as there are, with replacement. Every drawn unit gets
    its own tie-break, independent for each system: a value of the system's pool if there is one. Without a pool, the
    tie-breaks of all drawn units together are a normal number with their exact variance. The mean over the drawn
    queries decides the ranks. Systems with equal means get the same two ranks, the first and the last of those that
    they share.

    Parameters
    ----------
    means, variances : ndarray of float, shape (n_units, n_systems)
        Of the sum over the queries of a unit, over tie orders.
    sizes : ndarray of int or float, shape (n_units,)
        Number of queries in each unit, or the sum of their weights, which sums over queries then have as factors.
    pools : sequence of (ndarray of float, shape (n_units, n_draws), or None), optional
        For each system the sums over the queries of a unit in orders of the ties, all equally likely.
    higher_is_better : bool, default True
    n_resamples : int
    rng : numpy.random.Generator

    Returns
    -------
    best, worst : ndarray of int, shape (n_resamples, n_systems)
        Ranks, 1-based.

    Examples
    --------
    >>> means = np.array([[1.0, 0.5, 0.5], [1.0, 0.25, 0.25]])
    >>> best, worst = resampled_ranks(
    ...     means, np.zeros((2, 3)), np.ones(2, int), n_resamples=99, rng=np.random.default_rng(1)
    ... )
    >>> best[0].tolist(), worst[0].tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    n_systems = means.shape[1]
    best = np.empty((n_resamples, n_systems), np.int32)
    worst = np.empty((n_resamples, n_systems), np.int32)
    has_pools = pools is not None and any(pool is not None for pool in pools)
    if pools is not None and has_pools:
        scored_batches = _resample_from_pools(means, variances, sizes, pools, n_resamples=n_resamples, rng=rng)
    else:
        scored_batches = _resample_with_normal_ties(means, variances, sizes, n_resamples=n_resamples, rng=rng)
    for start, scores in scored_batches:
        rows = slice(start, start + len(scores))
        best[rows], worst[rows] = ranks(scores if higher_is_better else -scores)
    return best, worst


def _resample_with_normal_ties(
    means: FloatArray,
    variances: FloatArray,
    sizes: IntArray | FloatArray,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[tuple[int, FloatArray]]:
    """Yield the first resample of each batch and the means of its systems, with a normal number for all tie-breaks."""
    n_systems = means.shape[1]
    columns = np.column_stack([means, variances, sizes]).astype(np.float64)
    has_ties = bool(variances.any())
    for start, counts in draw_counts(len(sizes), n_resamples, rng):
        drawn = counts @ columns
        sums = drawn[:, :n_systems]
        n_queries = drawn[:, -1:]
        if has_ties:
            tie_variances = np.maximum(drawn[:, n_systems:-1], 0.0)
            sums = sums + rng.standard_normal(sums.shape) * np.sqrt(tie_variances)
        yield start, sums / n_queries


def _resample_from_pools(
    means: FloatArray,
    variances: FloatArray,
    sizes: IntArray | FloatArray,
    pools: Sequence[FloatArray | None],
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[tuple[int, FloatArray]]:
    """Yield the first resample of each batch and the means of its systems, with a value of the pool for each unit."""
    n_units, n_systems = means.shape
    for start, stop in batches(n_resamples, n_units, BATCH_CELLS):
        units = rng.integers(0, n_units, (stop - start, n_units))
        sums = np.empty((stop - start, n_systems))
        for system, pool in enumerate(pools):
            if pool is not None:
                draws = rng.integers(0, pool.shape[1], units.shape)
                sums[:, system] = pool[units, draws].sum(axis=1)
            else:
                tie_std = np.sqrt(variances[units, system].sum(axis=1))
                sums[:, system] = means[units, system].sum(axis=1) + rng.standard_normal(len(units)) * tie_std
        n_queries = sizes[units].sum(axis=1)
        yield start, sums / n_queries[:, None]


@dataclass(frozen=True, eq=False)
class RankSummary:
    """Ranks of systems over resamples, of shape (n_systems,) each.

    Attributes
    ----------
    low, high : ndarray of float
        The range that holds the rank in most resamples.
    p_best : ndarray of float
        Share of the resamples in which the system is first; systems that are first together share it.
    """

    low: FloatArray
    high: FloatArray
    p_best: FloatArray


def summarize_ranks(best: IntArray, worst: IntArray, confidence_level: float) -> RankSummary:
    """Return the range of each system's rank over resamples, and how often it is first.

    Parameters
    ----------
    best, worst : ndarray of int, shape (n_resamples, n_systems)
        The first and the last of the ranks that a system shares.
    confidence_level : float

    Examples
    --------
    >>> summary = summarize_ranks(np.array([[1, 2], [1, 1]]), np.array([[1, 2], [2, 2]]), 0.95)
    >>> summary.low.tolist(), summary.high.tolist(), summary.p_best.tolist()
    ([1, 1], [2, 2], [0.75, 0.25])
    """
    tail = (1 - confidence_level) / 2
    low = np.quantile(best, tail, axis=0, method="inverted_cdf")
    high = np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf")
    is_first = best == 1
    n_first = is_first.sum(axis=1, keepdims=True)
    return RankSummary(low, high, (is_first / n_first).mean(axis=0))


def assign_tiers(order: Sequence[int], better: BoolArray) -> IntArray:
    """Return the tier of each column, 1-based.

    The first tier holds the best column and all from which it is not separated. They are removed, and the best of those
    that are left begins the next tier.

    Parameters
    ----------
    order : sequence of int
        Columns, best first.
    better : ndarray of bool, shape (n_columns, n_columns)
        Whether the column of the row is better than the other, beyond doubt; False on the diagonal.

    Examples
    --------
    >>> assign_tiers([0, 1, 2], np.array([[False, False, True], [False] * 3, [False] * 3])).tolist()
    [1, 1, 2]
    """
    tiers: IntArray = np.ones(len(better), np.int64)
    left = [column for column in order if better[order[0], column]]
    while left:
        tiers[left] += 1
        left = [column for column in left if better[left[0], column]]
    return tiers
