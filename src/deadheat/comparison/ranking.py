"""How sure the ranks of systems are: by a bootstrap over queries and, in each drawn query, over the orders of ties."""

from collections.abc import Mapping, Sequence

import numpy as np

from deadheat import stats
from deadheat.arrays import BoolArray, FloatArray, IntArray, TextArray, members
from deadheat.comparison.flips import Side, side_of
from deadheat.comparison.orders import MAX_ORDERS, draw_values, listed_values
from deadheat.errors import generator
from deadheat.evaluation.evaluation import Evaluation
from deadheat.measures import Measure
from deadheat.settings import Design
from deadheat.stats.ranks import bounds_of_ranks

STEPS = 1_000  # values that stand for the distribution of a query, all equally likely
MOST_DRAWN = 1 << 26  # units that get a tie-break of their own, in all resamples of all systems: some seconds
MOST_POOLED = 1 << 24  # values of all queries and systems: 134 MB


def rank_intervals(
    evaluations: Mapping[str, Evaluation],
    measure: Measure,
    query_ids: TextArray,
    cluster: IntArray | None,
    *,
    design: Design,
) -> list[tuple[float | None, ...]]:
    """Return rank, low, high, p_best and n_queries of each system, as `Comparison.rank_intervals` has them.

    Each resample draws as many queries (or clusters) as there are, and breaks the ties of every drawn query at random,
    for each system by itself: what queries and tie orders might have been. The value of a query comes from its exact
    distribution over tie orders where that is known or can be listed (in steps of 0.1%), else from drawn orders. Where
    there are so many queries that drawing each would take long, or no order can be drawn (a saved evaluation of an
    early version), the ties of all drawn queries together move the mean by a normal number of the exact variance.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
    measure : Measure
    query_ids : ndarray of str, shape (n_queries,)
        Of all evaluations together, sorted.
    cluster : ndarray of int, shape (n_queries,), or None
    design : Design
        Of which confidence level, number of resamples and seed count.
    """
    sides = [side_of(one, measure, members(query_ids, one.query_ids)) for one in evaluations.values()]
    keep: BoolArray = np.asarray(~np.isnan(np.column_stack([side.mean for side in sides])).any(axis=1))
    n_queries = int(keep.sum())
    if not n_queries:
        return [(None, None, None, None, 0)] * len(sides)
    units: IntArray = np.arange(n_queries) if cluster is None else np.unique(cluster[keep], return_inverse=True)[1]
    n_units, random = int(units.max()) + 1, generator(design.rng)
    own = sides[0].factors(keep)
    means, variances = (
        _sums(units, [own * side.mean[keep] for side in sides]),
        _sums(units, [own**2 * side.variance[keep] for side in sides]),
    )
    is_few = n_units * len(sides) * design.n_resamples <= MOST_DRAWN and n_queries * len(sides) * STEPS <= MOST_POOLED
    pools = [_pool(side, keep, units, n_units, random) for side in sides] if is_few and variances.any() else None
    higher = sides[0].measure.higher_is_better
    best, worst = stats.resampled_ranks(
        means,
        variances,
        np.bincount(units, own, minlength=n_units),
        pools=pools,
        higher_is_better=higher,
        n_resamples=design.n_resamples,
        rng=random,
    )
    by_mean = means.sum(axis=0, keepdims=True) / own.sum()
    (own,), _ = stats.ranks(by_mean if higher else -by_mean)
    found = bounds_of_ranks(best, worst, design.confidence_level)
    return [(*row, n_queries) for row in zip(own.tolist(), *(one.tolist() for one in found), strict=True)]


def _sums(units: IntArray, columns: Sequence[FloatArray]) -> FloatArray:
    """Return the sum of each column by unit, of shape (n_units, n_columns)."""
    return np.column_stack([np.bincount(units, weights=column) for column in columns]).astype(np.float64, copy=False)


def _pool(side: Side, keep: BoolArray, units: IntArray, n_units: int, rng: np.random.Generator) -> FloatArray | None:
    """Return sums over the queries of each unit in orders of their ties, all equally likely: (n_units, n_draws).

    None where no order can be listed or drawn.
    """
    if not side.can_draw:
        return None
    moved = side.moved(keep)
    found: FloatArray | None = np.zeros((0, 1))
    if moved.any():
        measure, placements, queries = side.measure, side.placements, np.flatnonzero(moved[side.own])
        parts = measure.distributions(placements, queries)
        if parts is None:
            parts = listed_values(measure, placements, queries, MAX_ORDERS)
        if parts is None:
            found = draw_values(measure, placements, moved[side.own], rng)
        else:
            found = np.array([_steps(*part) for part in parts])
    if found is None:
        return None
    values = np.broadcast_to(side.mean[keep][:, None], (int(keep.sum()), found.shape[1])).copy()
    # each query's own order of draws, as those of one unit are added
    values[moved[keep]] = rng.permuted(found, axis=1)
    sums = np.zeros((n_units, found.shape[1]))
    np.add.at(sums, units, side.factors(keep)[:, None] * values)
    return sums


def _steps(values: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Return a thousand values that are as frequent as a distribution makes them."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(probabilities[order])
    at = np.searchsorted(reached, (np.arange(STEPS) + 0.5) / STEPS * reached[-1])
    return np.asarray(values[order][at])
