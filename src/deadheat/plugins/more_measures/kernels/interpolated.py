r"""Interpolated precision: the highest precision at any rank from the one of the c-th relevant document on.

.. math:: M_c = \max_{d \ge c} d / T_d

with :math:`T_d` the rank of the d-th relevant document. The list is walked from its end. Of the l relevant documents
left in a tie of which i ranks are left, the lowest of these ranks has one with probability l / i. So a state is the
number left and the highest precision so far; its probability is kept cumulated over the possible precisions, since a
relevant document then only cuts off those below its own. Verified by enumeration.
"""

from collections.abc import Sequence

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.kernels.counts import Relevant
from deadheat.core.kernels.segments import MAX_CELLS, batches, segment_sums


def certain(ties: Relevant, need: IntArray) -> FloatArray:
    """Return the interpolated precision of each level where all documents of all ties are relevant.

    Parameters
    ----------
    ties : Relevant
    need : ndarray of int, shape (n_queries, n_levels)
        Relevant documents from which on precision is looked at.

    Returns
    -------
    ndarray of shape (n_queries, n_levels)
    """
    query, place = np.repeat(ties.query, ties.count), _places(ties.count)
    count = np.repeat(ties.before, ties.count) + place
    precision = count / (np.repeat(ties.above, ties.count) + place)
    highest = np.zeros(need.shape)
    for level in range(need.shape[1]):
        is_deep = count >= need[query, level]
        np.maximum.at(highest[:, level], query[is_deep], precision[is_deep])
    return highest


def _places(sizes: IntArray) -> IntArray:
    """Return 1 .. size for each size, one after the other."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1


def n_steps(ties: Relevant, need: IntArray) -> IntArray | FloatArray:
    """Return how many numbers :func:`moments` computes for each query, of shape (n_queries,)."""
    starts = run_starts(ties.query)
    tie, _, _, n_ranks = _ranks(ties, *_bounds(ties, need))
    n_precisions = np.bincount(ties.query[tie], weights=n_ranks)
    return segment_sums(ties.tied, starts) * np.maximum.reduceat(ties.count + 1, starts) * n_precisions


def moments(ties: Relevant, need: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of the average over the levels.

    Parameters
    ----------
    ties : Relevant
    need : ndarray of int, shape (n_queries, n_levels)
        As for :func:`certain`, 1 or more.

    Returns
    -------
    mean, variance : ndarray of shape (n_queries,)
    """
    n_queries, n_levels = need.shape
    mean, square = np.zeros(n_queries), np.zeros(n_queries)
    values_of, values, n_values = _precisions(ties, *_bounds(ties, need))
    size_class = np.frexp(np.maximum.reduceat(ties.count, run_starts(ties.query)) + 1)[1]
    for size in np.unique(size_class).tolist():
        own = np.flatnonzero(size_class == size)
        for chosen, width in batches(n_values[own], MAX_CELLS >> size):
            queries = np.sort(own[chosen])
            is_own = np.isin(values_of, queries)
            table = np.full((len(queries), width), np.inf)
            table[np.searchsorted(queries, values_of[is_own]), _places(n_values[queries]) - 1] = values[is_own]
            mean[queries], square[queries] = _Walk(ties[np.isin(ties.query, queries)], need[queries], table).walk()
    return mean / n_levels, np.maximum(square - mean**2, 0.0) / n_levels**2


def _bounds(ties: Relevant, need: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest value that any level can have, but for 0 where too few are retrieved."""
    last, first = (
        certain(Relevant(ties.query, above, ties.count, ties.count, ties.before), need)
        for above in (ties.above + ties.tied - ties.count, ties.above)
    )
    return np.where(last > 0, last, np.inf).min(axis=1), first.max(axis=1)


def _ranks(ties: Relevant, low: FloatArray, high: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return, of each relevant document, its tie, its number, and the first rank and number of ranks it may have.

    Of these ranks, those far from any where its precision is between the bounds of its query are left out.
    """
    tie, place = np.repeat(np.arange(len(ties.query)), ties.count), _places(ties.count)
    number, query = ties.before[tie] + place, ties.query[tie]
    first = np.maximum(ties.above[tie] + place, np.floor(number / high[query]).astype(np.int64))
    deepest = ties.above[tie] + ties.tied[tie] - ties.count[tie] + place
    last = np.minimum(deepest, np.ceil(number / low[query]).astype(np.int64))
    return tie, number, first, np.maximum(last - first + 1, 0)


def _precisions(ties: Relevant, low: FloatArray, high: FloatArray) -> tuple[IntArray, FloatArray, IntArray]:
    """Return the possible precisions between bounds: their query, ascending values, and number by query."""
    tie, number, first, n_ranks = _ranks(ties, low, high)
    rank = np.repeat(first, n_ranks) + _places(n_ranks) - 1
    values, query = np.repeat(number, n_ranks) / rank, np.repeat(ties.query[tie], n_ranks)
    is_possible = (values >= low[query]) & (values <= high[query])
    query, values = query[is_possible], values[is_possible]
    order = np.lexsort((values, query))
    query, values = query[order], values[order]
    distinct = run_starts(query, values)
    query, values = query[distinct], values[distinct]
    return query, values, np.bincount(query, minlength=len(low))


class _Walk:
    """The walk through some queries at once, from the last rank of their ties to the first."""

    def __init__(self, ties: Relevant, need: IntArray, values: FloatArray) -> None:
        """Start below the last tie of each query.

        Parameters
        ----------
        ties : Relevant
        need : ndarray of int, shape (n_queries, n_levels)
        values : ndarray of float, shape (n_queries, n_values)
            Ascending possible precisions, then infinity.
        """
        n_queries = len(values)
        starts = run_starts(ties.query)
        own = np.repeat(np.arange(n_queries), np.diff(np.append(starts, len(ties.query))))
        ranks = segment_sums(ties.tied, starts)
        upwards = np.lexsort((-np.arange(len(own)), own))
        self.ties, self.values, self.size = ties, values, int(ties.count.max()) + 1
        self.tie_of_step = np.full((n_queries, int(ranks.max())), -1)
        self.tie_of_step[np.repeat(np.arange(n_queries), ranks), _places(ranks) - 1] = np.repeat(
            upwards, ties.tied[upwards]
        )
        self.weight = np.zeros((n_queries, max(int(need.max()), int((ties.before + ties.count).max())) + 1))
        np.add.at(self.weight, (np.arange(n_queries)[:, None], need), 1.0)
        # the share of the orders in each state, and of several levels the sum so far, averaged over all orders
        self.states = [np.zeros((n_queries, self.size, values.shape[1])) for _ in range(min(need.shape[1], 2))]
        self.states[0][:, 0] = 1.0
        self.mean, self.square = np.zeros(n_queries), np.zeros(n_queries)

    def walk(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean of the sum over levels, and of its square."""
        left = np.zeros(len(self.values), np.int64)
        numbers = np.arange(self.size)
        for tie in self.tie_of_step.T:
            on = np.flatnonzero(tie >= 0)
            own = tie[on]
            entered = left[on] == 0
            for state in self.states:  # nothing is left of the ties below
                below = state[on[entered], 0]
                state[on[entered]] = 0.0
                state[on[entered], self.ties.count[own[entered]]] = below
            left[on[entered]] = self.ties.tied[own[entered]]
            chance = np.minimum(numbers / left[on, None], 1.0)
            count = self.ties.before[own, None] + numbers
            precision = count / (self.ties.above[own] + left[on])[:, None]
            self._step(on, chance, count, precision)
            left[on] -= 1
        return self.mean, self.square

    def _step(self, on: IntArray, chance: FloatArray, count: IntArray, precision: FloatArray) -> None:
        """Take one rank of each query, of which `chance` is the probability that its document is relevant."""
        reaches = self.values[on, None] >= precision[..., None]
        before = [state[on] for state in self.states]
        moved = [state * (chance[..., None] * reaches) for state in before]
        weight = np.take_along_axis(self.weight[on], np.minimum(count, self.weight.shape[1] - 1), axis=1)
        row, number = np.nonzero((weight > 0) & (chance > 0))
        if len(row):
            self._add(on[row], weight[row, number], moved, (row, number))
        for state, old, gone in zip(self.states, before, moved, strict=True):
            stayed = old * (1 - chance[..., None])
            stayed[:, :-1] += gone[:, 1:]
            state[on] = stayed

    def _add(
        self, query: IntArray, weight: FloatArray, moved: Sequence[FloatArray], index: tuple[IntArray, IntArray]
    ) -> None:
        """Add the highest precision to the sum of the levels that begin with this relevant document."""
        values = np.where(np.isfinite(self.values[query]), self.values[query], 0.0)
        share, *summed = (np.diff(state[index], axis=1, prepend=0.0) for state in moved)
        highest, w = share * values, weight[:, None]
        np.add.at(self.mean, query, weight * highest.sum(axis=1))
        np.add.at(self.square, query, weight**2 * (highest * values).sum(axis=1))
        for sums, state in zip(summed, moved[1:], strict=True):
            np.add.at(self.square, query, 2 * weight * (sums * values).sum(axis=1))
            state[index] += np.cumsum(w * highest, axis=1)
