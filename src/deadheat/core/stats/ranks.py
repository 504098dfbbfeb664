"""Ranks of systems among each other when queries are resampled, and how sure the best one is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, with_own_arithmetic
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.scalars import ROUNDING
from deadheat.core.stats.resamples import batches, drawn_counts

MOST = 1 << 22  # counts of queries that are drawn at once
CELLS = 1 << 19  # units drawn at a time where each draw has a tie-break of its own: 4 MB


@with_own_arithmetic
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
    a tie-break of its own, independent for each system: a value of its pool where there is one; else the sum of all
    is exact mean plus a normal number of the exact variance. The mean over the drawn queries decides the ranks. Systems
    with equal means have the same two ranks, the first and the last of those that they share.

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
        Ranks from 1 on.

    Examples
    --------
    >>> means = np.array([[1.0, 0.5, 0.5], [1.0, 0.25, 0.25]])
    >>> best, worst = resampled_ranks(
    ...     means, np.zeros((2, 3)), np.ones(2, int), n_resamples=99, rng=np.random.default_rng(1)
    ... )
    >>> best[0].tolist(), worst[0].tolist()
    ([1, 2, 2], [1, 3, 3])
    """
    best, worst = np.empty((2, n_resamples, means.shape[1]), np.int32)
    drawn = (
        _drawn(means, variances, sizes, list(pools or ()), n_resamples=n_resamples, rng=rng)
        if pools is not None and any(pool is not None for pool in pools)
        else _normal(means, variances, sizes, n_resamples=n_resamples, rng=rng)
    )
    for first, scores in drawn:
        of_batch = ranks(scores if higher_is_better else -scores)
        best[first : first + len(scores)], worst[first : first + len(scores)] = of_batch
    return best, worst


def bounds_of_ranks(
    best: IntArray, worst: IntArray, confidence_level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the range of each system's ranks in most resamples, and how often it is first; equal ones share that.

    Parameters
    ----------
    best, worst : ndarray of int, shape (n_resamples, n_systems)
        The first and the last rank that a system shares.
    confidence_level : float

    Examples
    --------
    >>> [one.tolist() for one in bounds_of_ranks(np.array([[1, 2], [1, 1]]), np.array([[1, 2], [2, 2]]), 0.95)]
    [[1, 1], [2, 2], [0.75, 0.25]]
    """
    is_first, tail = best == 1, (1 - confidence_level) / 2
    low = np.quantile(best, tail, axis=0, method="inverted_cdf")
    high = np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf")
    return low, high, (is_first / is_first.sum(axis=1, keepdims=True)).mean(axis=0)


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
    rounding = ROUNDING * np.maximum(1.0, np.abs(scores).max(axis=1, keepdims=True))
    ends = np.pad(
        -np.diff(np.take_along_axis(scores, order, axis=1)) > rounding, ((0, 0), (1, 1)), constant_values=True
    )
    places = np.arange(scores.shape[1])
    first = np.maximum.accumulate(np.where(ends[:, :-1], places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends[:, 1:], places, len(places))[:, ::-1], axis=1)[:, ::-1]
    found = np.empty((2, *scores.shape), np.int32)
    for of_sorted, of_systems in zip((first, last), found, strict=True):
        np.put_along_axis(of_systems, order, of_sorted.astype(np.int32) + 1, axis=1)
    return found[0], found[1]


def _normal(
    means: FloatArray,
    variances: FloatArray,
    sizes: IntArray | FloatArray,
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[tuple[int, FloatArray]]:
    """Give means over resamples, with a normal number for the ties of all drawn units together."""
    n_systems = means.shape[1]
    operand = np.column_stack([means, variances, sizes]).astype(np.float64)
    has_ties = bool(variances.any())
    for first, counts in drawn_counts(len(sizes), n_resamples, rng):
        drawn = counts @ operand
        sums, spread, n = drawn[:, :n_systems], drawn[:, n_systems:-1], drawn[:, -1:]
        noise = rng.standard_normal(sums.shape) * np.sqrt(np.maximum(spread, 0.0)) if has_ties else 0.0
        yield first, (sums + noise) / n


def _drawn(
    means: FloatArray,
    variances: FloatArray,
    sizes: IntArray | FloatArray,
    pools: Sequence[FloatArray | None],
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> Iterator[tuple[int, FloatArray]]:
    """Give means over resamples, in which every drawn unit has a value of its pool."""
    n_units, n_systems = means.shape
    for start, stop in batches(n_resamples, n_units, CELLS):
        units = rng.integers(0, n_units, (stop - start, n_units))
        scores = np.empty((stop - start, n_systems))
        for system, pool in enumerate(pools):
            if pool is not None:
                scores[:, system] = pool[units, rng.integers(0, pool.shape[1], units.shape)].sum(axis=1)
            else:
                spread = np.sqrt(variances[units, system].sum(axis=1))
                scores[:, system] = means[units, system].sum(axis=1) + rng.standard_normal(len(units)) * spread
        yield start, scores / sizes[units].sum(axis=1)[:, None]


@dataclass(frozen=True, eq=False)
class Selection:
    """What resamples say of a choice.

    Attributes
    ----------
    shares : ndarray of float, shape (n_columns,)
        Share of the resamples in which each is best; equal ones share one.
    optimism : float
        How much too good the mean of the best is, on average: the mean of the best in a resample, less its mean on
        all queries.
    n_resamples : int
    """

    shares: FloatArray
    optimism: float
    n_resamples: int


def resample_choice(
    values: FloatArray, *, higher_is_better: bool = True, n_resamples: int = 1000, rng: Rng = 0
) -> Selection:
    r"""Return how often each column is the best one if the queries are resampled, and the optimism of the choice.

    .. math:: optimism = \frac{1}{B} \sum_b \left( \max_c \bar{x}_{cb} - \bar{x}_{c_b} \right)

    where :math:`c_b` is the best column of resample b, and the second mean is over all queries.

    Parameters
    ----------
    values : ndarray of float, shape (n_columns, n_queries)
        NaN where a query has no value.
    higher_is_better : bool, default True
    n_resamples : int, default 1000
    rng : numpy.random.Generator or int, default 0

    Returns
    -------
    Selection

    References
    ----------
    Efron and Gong 1983, https://doi.org/10.1080/00031305.1983.10483087.

    Examples
    --------
    >>> resample_choice(np.array([[0.1, 0.2, 0.3], [0.5, 0.6, 0.7]])).shares.tolist()
    [0.0, 1.0]
    """
    own, n_queries = random_generator(rng), values.shape[1]
    is_known = ~np.isnan(values)
    known = np.where(is_known, values if higher_is_better else -values, 0.0)
    of_all = known.sum(1) / np.maximum(is_known.sum(1), 1)
    shares, optimism = np.zeros(len(values)), 0.0
    for start, stop in batches(n_resamples, n_queries, MOST):
        drawn = own.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=stop - start).T.astype(np.float64)
        counts = is_known.astype(np.float64) @ drawn
        means = np.where(counts > 0, known @ drawn / np.maximum(counts, 1.0), -np.inf)
        best = means.max(0)
        is_best = means >= best - ROUNDING * np.maximum(1.0, np.abs(best))
        weights = is_best / is_best.sum(0)
        shares += weights.sum(1)
        optimism += float((best - of_all @ weights).sum())
    return Selection(shares / n_resamples, optimism / n_resamples, n_resamples)


def tiers_of(order: Sequence[int], better: BoolArray) -> IntArray:
    """Return the tier of each column: the first holds all from which the best is not separated; remove and repeat.

    Parameters
    ----------
    order : sequence of int
        Columns, best first.
    better : ndarray of bool, shape (n_columns, n_columns)

    Examples
    --------
    >>> tiers_of([0, 1, 2], np.array([[False, False, True], [False] * 3, [False] * 3])).tolist()
    [1, 1, 2]
    """
    found: IntArray = np.ones(len(better), np.int64)
    left = list(order)
    while left := [one for one in left if better[left[0], one]]:
        found[left] += 1
    return found
