r"""Interpolated precision: the highest precision at any rank from the one of the c-th relevant document on.

.. math:: M_c = \max_{d \ge c} d / T_d

with :math:`T_d` the rank of the d-th relevant document. docs/math.md, section 11: the list is walked from its end. A
state is how many relevant documents are left in the tie, and the highest precision so far. Its probability is kept
cumulated over the possible precisions, since a relevant document then only cuts off those below its own.
"""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.kernels.counts import Relevant
from deadheat.core.kernels.segments import MAX_CELLS, batches, segment_sums


@dataclass(frozen=True)
class Bounds:
    """Between which the values of all levels of a query are, of shape (n_queries,), but for 0 of those not reached."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True)
class PossibleRanks:
    """The ranks that each relevant document may have, of shape (n_documents,).

    Ranks far from any where its precision is between the bounds of its query are left out.

    Attributes
    ----------
    tie : ndarray
        The tie of the document.
    number : ndarray
        Its number c among the relevant documents of its query.
    first, n_ranks : ndarray
        The first of its ranks, and how many they are.
    """

    tie: IntArray
    number: IntArray
    first: IntArray
    n_ranks: IntArray


@dataclass(frozen=True)
class PossiblePrecisions:
    """The different precisions that are possible, ascending in each query.

    Attributes
    ----------
    query, value : ndarray of shape (n_values,)
    n_of_query : ndarray of shape (n_queries,)
    """

    query: IntArray
    value: FloatArray
    n_of_query: IntArray


def certain(ties: Relevant, need: IntArray) -> FloatArray:
    """Return the interpolated precision of each level where all documents of all ties are relevant.

    Parameters
    ----------
    ties : Relevant
    need : ndarray of int, shape (n_queries, n_levels)
        Relevant documents from which on precision counts for a level.

    Returns
    -------
    ndarray of shape (n_queries, n_levels)
    """
    query, place = np.repeat(ties.query, ties.count), _count_up(ties.count)
    number = np.repeat(ties.before, ties.count) + place
    precision = number / (np.repeat(ties.above, ties.count) + place)
    highest = np.zeros(need.shape)
    for level in range(need.shape[1]):
        is_deep = number >= need[query, level]
        np.maximum.at(highest[:, level], query[is_deep], precision[is_deep])
    return highest


def n_steps(ties: Relevant, need: IntArray) -> IntArray | FloatArray:
    """Return how many numbers :func:`moments` computes for each query, of shape (n_queries,)."""
    starts = run_starts(ties.query)
    ranks = _list_possible_ranks(ties, _find_bounds(ties, need))
    n_precisions = np.bincount(ties.query[ranks.tie], weights=ranks.n_ranks)
    n_states = np.maximum.reduceat(ties.count + 1, starts)
    return segment_sums(ties.tied, starts) * n_states * n_precisions


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
    precisions = _list_precisions(ties, _find_bounds(ties, need))
    n_states = np.maximum.reduceat(ties.count, run_starts(ties.query)) + 1
    power = np.frexp(n_states)[1]  # queries of similar size are walked together
    for exponent in np.unique(power).tolist():
        alike = np.flatnonzero(power == exponent)
        for chosen, width in batches(precisions.n_of_query[alike], MAX_CELLS >> exponent):
            queries = np.sort(alike[chosen])
            table = _tabulate(precisions, queries, width)
            walk = _Walk(ties[np.isin(ties.query, queries)], need[queries], table)
            mean[queries], square[queries] = walk.walk()
    return mean / n_levels, np.maximum(square - mean**2, 0.0) / n_levels**2


def _find_bounds(ties: Relevant, need: IntArray) -> Bounds:
    """Return the values with the relevant documents of each tie last, and first."""
    last_ranks = ties.above + ties.tied - ties.count
    lowest = certain(Relevant(ties.query, last_ranks, ties.count, ties.count, ties.before), need)
    highest = certain(Relevant(ties.query, ties.above, ties.count, ties.count, ties.before), need)
    return Bounds(low=np.where(lowest > 0, lowest, np.inf).min(axis=1), high=highest.max(axis=1))


def _list_possible_ranks(ties: Relevant, bounds: Bounds) -> PossibleRanks:
    """Return the ranks that each relevant document may have."""
    tie = np.repeat(np.arange(len(ties.query)), ties.count)
    place = _count_up(ties.count)
    above, query = ties.above[tie], ties.query[tie]
    number = ties.before[tie] + place
    highest_rank = above + place
    lowest_rank = above + ties.tied[tie] - ties.count[tie] + place
    first = np.maximum(highest_rank, np.floor(number / bounds.high[query]).astype(np.int64))
    last = np.minimum(lowest_rank, np.ceil(number / bounds.low[query]).astype(np.int64))
    return PossibleRanks(tie, number, first, np.maximum(last - first + 1, 0))


def _list_precisions(ties: Relevant, bounds: Bounds) -> PossiblePrecisions:
    """Return the possible precisions between the bounds."""
    ranks = _list_possible_ranks(ties, bounds)
    rank = np.repeat(ranks.first, ranks.n_ranks) + _count_up(ranks.n_ranks) - 1
    value = np.repeat(ranks.number, ranks.n_ranks) / rank
    query = np.repeat(ties.query[ranks.tie], ranks.n_ranks)
    is_possible = (value >= bounds.low[query]) & (value <= bounds.high[query])
    query, value = query[is_possible], value[is_possible]
    order = np.lexsort((value, query))
    query, value = query[order], value[order]
    distinct = run_starts(query, value)
    query, value = query[distinct], value[distinct]
    return PossiblePrecisions(query, value, np.bincount(query, minlength=len(bounds.low)))


def _tabulate(precisions: PossiblePrecisions, queries: IntArray, width: int) -> FloatArray:
    """Return the ascending precisions of some queries, of shape (len(queries), width), padded with infinity."""
    table = np.full((len(queries), width), np.inf)
    is_chosen = np.isin(precisions.query, queries)
    row = np.searchsorted(queries, precisions.query[is_chosen])
    column = _count_up(precisions.n_of_query[queries]) - 1
    table[row, column] = precisions.value[is_chosen]
    return table


def _count_up(sizes: IntArray) -> IntArray:
    """Return 1 .. size for each size, one after the other."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes) + 1


class _Walk:
    """The walk through some queries at once, from the last rank of their ties to the first.

    Attributes
    ----------
    ties : Relevant
        Ties of the queries, which are rows 0, 1, ... here.
    precisions : ndarray of shape (n_queries, n_values)
        Ascending possible precisions, then infinity.
    tie_of_step : ndarray of int, shape (n_queries, n_steps)
        The tie whose lowest remaining rank each step takes; -1 after the last step of a query.
    n_levels : ndarray of shape (n_queries, n_numbers)
        How many levels begin with relevant document number 0, 1, ...
    reached : ndarray of shape (n_queries, n_left, n_values)
        Probability that so many relevant documents are left in the tie, and that the highest precision so far is at
        most the value.
    gained : ndarray of shape (n_queries, n_left, n_values), or None
        The same for the mean of the sum of levels so far; of one level there is no sum.
    mean, square : ndarray of shape (n_queries,)
        Mean of the sum over levels, and of its square.
    """

    def __init__(self, ties: Relevant, need: IntArray, precisions: FloatArray) -> None:
        n_queries, n_values = precisions.shape
        n_left = int(ties.count.max()) + 1
        most = max(int(need.max()), int((ties.before + ties.count).max()))
        self.ties = ties
        self.precisions = precisions
        self.tie_of_step = _order_steps(ties, n_queries)
        self.n_levels = np.zeros((n_queries, most + 1))
        np.add.at(self.n_levels, (np.arange(n_queries)[:, None], need), 1.0)
        self.reached = np.zeros((n_queries, n_left, n_values))
        self.reached[:, 0] = 1.0
        self.gained = np.zeros((n_queries, n_left, n_values)) if need.shape[1] > 1 else None
        self.mean, self.square = np.zeros(n_queries), np.zeros(n_queries)

    def walk(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean of the sum over levels, and of its square."""
        ranks_left = np.zeros(len(self.precisions), np.int64)  # in the current tie of each query
        documents_left = np.arange(self.reached.shape[1])
        for tie_of_query in self.tie_of_step.T:
            queries = np.flatnonzero(tie_of_query >= 0)
            tie = tie_of_query[queries]
            is_new = ranks_left[queries] == 0
            self._enter_ties(queries[is_new], tie[is_new])
            ranks_left[queries[is_new]] = self.ties.tied[tie[is_new]]
            chance = np.minimum(documents_left / ranks_left[queries, None], 1.0)
            number = self.ties.before[tie, None] + documents_left
            rank = self.ties.above[tie] + ranks_left[queries]
            self._take_rank(queries, chance, number, number / rank[:, None])
            ranks_left[queries] -= 1
        return self.mean, self.square

    def _enter_ties(self, queries: IntArray, tie: IntArray) -> None:
        """Begin with all relevant documents of a tie left; nothing is left of the tie below."""
        for state in (self.reached, self.gained):
            if state is None:
                continue
            below = state[queries, 0]
            state[queries] = 0.0
            state[queries, self.ties.count[tie]] = below

    def _take_rank(self, queries: IntArray, chance: FloatArray, number: IntArray, precision: FloatArray) -> None:
        """Take one rank of each query.

        Parameters
        ----------
        queries : ndarray of shape (b,)
        chance : ndarray of shape (b, n_left)
            Probability that its document is relevant.
        number, precision : ndarray of shape (b, n_left)
            The number of this relevant document, and the precision there.
        """
        is_at_least = self.precisions[queries, None] >= precision[..., None]
        to_relevant = chance[..., None] * is_at_least
        before = self.reached[queries]
        moved = before * to_relevant
        gained_before = None if self.gained is None else self.gained[queries]
        gained_moved = None if gained_before is None else gained_before * to_relevant
        column = np.minimum(number, self.n_levels.shape[1] - 1)
        n_levels = np.take_along_axis(self.n_levels[queries], column, axis=1)
        row, left = np.nonzero((n_levels > 0) & (chance > 0))
        if len(row):
            gained_in_cells = None if gained_moved is None else gained_moved[row, left]
            added = self._add_levels(queries[row], n_levels[row, left], moved[row, left], gained_in_cells)
            if gained_moved is not None:
                gained_moved[row, left] += added
        self.reached[queries] = _step(before, moved, chance)
        if self.gained is not None and gained_before is not None and gained_moved is not None:
            self.gained[queries] = _step(gained_before, gained_moved, chance)

    def _add_levels(
        self, query: IntArray, n_levels: FloatArray, moved: FloatArray, gained: FloatArray | None
    ) -> FloatArray:
        """Add the highest precision to the sum, for the levels that begin with this relevant document.

        Parameters
        ----------
        query, n_levels : ndarray of shape (n_cells,)
        moved, gained : ndarray of shape (n_cells, n_values)
            The cumulated states behind this document.

        Returns
        -------
        ndarray of shape (n_cells, n_values)
            What the levels add to the state of sums.
        """
        precisions = np.where(np.isfinite(self.precisions[query]), self.precisions[query], 0.0)
        highest = np.diff(moved, axis=1, prepend=0.0) * precisions
        np.add.at(self.mean, query, n_levels * highest.sum(axis=1))
        np.add.at(self.square, query, n_levels**2 * (highest * precisions).sum(axis=1))
        if gained is not None:
            sums = np.diff(gained, axis=1, prepend=0.0)
            np.add.at(self.square, query, 2 * n_levels * (sums * precisions).sum(axis=1))
        return np.cumsum(n_levels[:, None] * highest, axis=1)


def _order_steps(ties: Relevant, n_queries: int) -> IntArray:
    """Return the tie of each step of a walk from the last rank to the first, of shape (n_queries, n_steps)."""
    starts = run_starts(ties.query)
    row_of_tie = np.repeat(np.arange(n_queries), np.diff(np.append(starts, len(ties.query))))
    n_ranks = segment_sums(ties.tied, starts)
    upwards = np.lexsort((-np.arange(len(row_of_tie)), row_of_tie))
    tie_of_step = np.full((n_queries, int(n_ranks.max())), -1)
    row, step = np.repeat(np.arange(n_queries), n_ranks), _count_up(n_ranks) - 1
    tie_of_step[row, step] = np.repeat(upwards, ties.tied[upwards])
    return tie_of_step


def _step(before: FloatArray, moved: FloatArray, chance: FloatArray) -> FloatArray:
    """Return the states above a rank: those without a relevant document there, and those with one document less."""
    stayed = before * (1 - chance[..., None])
    stayed[:, :-1] += moved[:, 1:]
    return stayed
