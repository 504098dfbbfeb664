r"""Least and greatest nDCG over all gains of unjudged documents, of many queries at once.

The numerator N is linear in the gains, the ideal D convex. Of a difference of two runs both have the same ideal, and N
is the difference of two sums: a document weighs as much as its weights in the two differ, which may be below 0.

A greatest value c that is 0 or more makes the maximum of N - cD, which is concave, zero (Dinkelbach). Both are sums
over the levels of gain: what a level adds depends only on how many documents reach it, so that numbers
X_1 >= X_2 >= ... are sought, each for the documents of the highest weights: one pass over the levels. Between two
neighbouring judged gains all levels have the same best number: no other gains need to be tried. Documents of a
weight below 0 have no gain.

Where no gains make N as large as 0, c is below 0 and N - cD convex. So the value is greatest at a corner: some
documents have the highest gain and others none; for each number of them, those of the highest weights.

The least value is that of the other sign turned round.

Documents of weight 0, as all those below the cutoff, change D alone. It grows with their number, so that none of them
or all are tried.
"""

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_sizes, run_starts
from deadheat.core.kernels.segments import batches, divide_or_zero

Ends = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class OpenSums:
    """The discounted gains of some queries, and the documents that may add to them.

    Attributes
    ----------
    base : ndarray of float, shape (n_queries,)
        The DCG of the judged documents, a mean over ties; of a difference, that of one run less that of the other.
    query : ndarray of int, shape (n_documents,)
        The query of each unjudged document, ascending.
    weights : ndarray of float, shape (n_documents,)
        The mean discount of each unjudged document, or its difference.
    n_weightless : ndarray of int, shape (n_queries,)
        How many more unjudged documents there are, of weight 0.
    """

    base: FloatArray
    query: IntArray
    weights: FloatArray
    n_weightless: IntArray

    def turned(self) -> "OpenSums":
        """Return the sums with the other sign."""
        return OpenSums(-self.base, self.query, -self.weights, self.n_weightless)


@dataclass(frozen=True, eq=False)
class Levels:
    """The ideal DCG of each query as a sum over levels of gain; those that a query does not have are 0 high.

    Attributes
    ----------
    heights : ndarray of float, shape (n_queries, n_levels)
        How far each level of gain, judged or attainable, is above the one before.
    reached : ndarray of int, shape (n_queries, n_levels)
        The judgments that reach each level.
    needed : ndarray of int, shape (n_queries, n_levels)
        The lowest attainable gain that reaches each level, by its place; `n_attainable` where none does.
    steps : ndarray of float, shape (n_queries, n_attainable)
        How far each attainable gain is above the one before.
    discount_sums : ndarray of float, shape (n_ranks + 1,)
        Sums of the first discounts.
    """

    heights: FloatArray
    reached: IntArray
    needed: IntArray
    steps: FloatArray
    discount_sums: FloatArray

    @property
    def n_attainable(self) -> int:
        """The most attainable gains of a query."""
        return self.steps.shape[1]

    @property
    def tops(self) -> FloatArray:
        """The highest attainable gain of each query, shape (n_queries,); 0 where there is none."""
        return self.steps.sum(axis=1)

    def select(self, queries: IntArray | BoolArray) -> "Levels":
        """Return those of some queries."""
        return Levels(
            self.heights[queries],
            self.reached[queries],
            self.needed[queries],
            self.steps[queries],
            self.discount_sums,
        )

    def part(self, level: int, numbers: IntArray) -> FloatArray:
        """Return what a level adds to the ideals where so many unjudged documents reach it, shape (n_queries, n)."""
        n_documents = np.minimum(self.reached[:, level, None] + numbers, len(self.discount_sums) - 1)
        return np.asarray(self.heights[:, level, None] * self.discount_sums[n_documents])

    def ideals_with_top_gains(self, numbers: IntArray) -> FloatArray:
        """Return the ideals where so many documents have the highest attainable gain, and others none."""
        total = np.zeros(numbers.shape)
        for level in range(self.heights.shape[1]):
            is_attainable = self.needed[:, level, None] < self.n_attainable
            total += self.part(level, np.where(is_attainable, numbers, 0))
        return total

    def ideals(self, numbers: IntArray) -> FloatArray:
        """Return the ideal of each query where so many documents reach each attainable gain, shape (n_queries,)."""
        n_queries = len(numbers)
        with_none = np.column_stack([numbers, np.zeros(n_queries, np.int64)])
        total = np.zeros(n_queries)
        for level in range(self.heights.shape[1]):
            numbers_of_level = np.take_along_axis(with_none, self.needed[:, level, None], axis=1)
            total += self.part(level, numbers_of_level)[:, 0]
        return total


def split_into_levels(
    judged_query: IntArray,
    judged: FloatArray,
    n_queries: int,
    offered: FloatArray,
    discounts: FloatArray,
    *,
    tries_judged: bool,
) -> Levels:
    """Return the levels of gain of each query.

    Parameters
    ----------
    judged_query : ndarray of int, shape (n_judged,)
    judged : ndarray of float, shape (n_judged,)
        The gains of all judgments.
    n_queries : int
    offered : ndarray of float, shape (n_offered,)
        The gains above 0 that a label can have in each query and that are tried, ascending.
    discounts : ndarray of float, shape (n_ranks,)
        Of the ranks of the ideal, as many as the longest has.
    tries_judged : bool
        Whether those of judged documents of the query are tried too, below the highest that is offered.
    """
    is_gain = judged > 0
    query = np.concatenate([judged_query[is_gain], np.repeat(np.arange(n_queries), len(offered))])
    gain = np.concatenate([judged[is_gain], np.tile(offered, n_queries)])
    is_judged = np.arange(len(query)) < np.count_nonzero(is_gain)
    order = np.lexsort((gain, query))
    query, gain, is_judged = query[order], gain[order], is_judged[order]
    starts = run_starts(query, gain)
    n_judged_before = np.concatenate([[0], np.cumsum(is_judged)])
    level_query, level_gain = query[starts], gain[starts]
    is_attainable = np.isin(level_gain, offered)
    if tries_judged:
        is_attainable |= level_gain < offered.max(initial=0.0)
    place = _count_before(level_query, np.ones(len(starts), np.int64))
    needed = _count_before(level_query, is_attainable.astype(np.int64))
    n_attainable = np.bincount(level_query, is_attainable, n_queries).astype(np.int64)
    most_levels, most_attainable = int(place.max(initial=-1)) + 1, int(n_attainable.max(initial=0))
    ends_of_queries = np.searchsorted(query, level_query, side="right")
    heights = np.zeros((n_queries, most_levels))
    heights[level_query, place] = _rise(level_query, level_gain)
    reached: IntArray = np.zeros((n_queries, most_levels), np.int64)
    reached[level_query, place] = n_judged_before[ends_of_queries] - n_judged_before[starts]
    needed_by_level: IntArray = np.full((n_queries, most_levels), most_attainable)
    is_reachable = needed < n_attainable[level_query]
    needed_by_level[level_query, place] = np.where(is_reachable, needed, most_attainable)
    steps = np.zeros((n_queries, most_attainable))
    tried_query = level_query[is_attainable]
    steps[tried_query, needed[is_attainable]] = _rise(tried_query, level_gain[is_attainable])
    discount_sums = np.concatenate([[0.0], np.cumsum(discounts)])
    return Levels(heights, reached, needed_by_level, steps, discount_sums)


def _count_before(query: IntArray, counts: IntArray) -> IntArray:
    """Return the sum of the counts that come before each in its query; queries ascend."""
    before = np.cumsum(counts) - counts
    starts = run_starts(query)
    sizes = run_sizes(starts, len(query))
    return np.asarray(before - np.repeat(before[starts], sizes))


def _rise(query: IntArray, ascending: FloatArray) -> FloatArray:
    """Return how far each number is above the one before it in its query; the first, above 0."""
    rise = np.diff(ascending, prepend=0.0)
    starts = run_starts(query)
    rise[starts] = ascending[starts]
    return rise


def ndcg_ends(sums: OpenSums, levels: Levels) -> Ends:
    """Return the least and the greatest nDCG of each query, or difference of two, over all gains of the documents."""
    low = -_greatest_ndcg(sums.turned(), levels)
    high = _greatest_ndcg(sums, levels)
    return np.minimum(low, high), high


@dataclass(frozen=True, eq=False)
class Choices:
    """For each query the numbers of documents that are tried: those of the highest weights get a gain.

    Attributes
    ----------
    numbers : ndarray of int, shape (n_queries, n_choices)
    weight_sums : ndarray of float, shape (n_queries, n_choices)
        The sums of so many of the highest weights.
    n_positive : ndarray of int, shape (n_queries,)
        How many weights are above 0: the first choices are the numbers from 0 to this.
    is_choice : ndarray of bool, shape (n_queries, n_choices)
        False where a query has fewer choices.
    """

    numbers: IntArray
    weight_sums: FloatArray
    n_positive: IntArray
    is_choice: BoolArray


def _list_choices(falling: FloatArray, lengths: IntArray, n_weightless: IntArray) -> Choices:
    """Return the choices of some queries.

    Parameters
    ----------
    falling : ndarray of float, shape (n_queries, width)
        The weights that are not 0 in falling order; behind the last one zeros.
    lengths : ndarray of int, shape (n_queries,)
        How many they are.
    n_weightless : ndarray of int, shape (n_queries,)
        Documents of weight 0.
    """
    n_queries, width = falling.shape
    prefix = np.zeros((n_queries, width + 1))
    np.cumsum(falling, axis=1, out=prefix[:, 1:])
    n_positive = np.count_nonzero(falling > 0, axis=1)
    place = np.arange(width + 2)
    is_before_weightless = place <= n_positive[:, None]
    n_weighted = np.where(is_before_weightless, place, place - 1)  # taken of the weights that are not 0
    numbers = np.where(is_before_weightless, place, place - 1 + n_weightless[:, None])
    return Choices(
        numbers,
        np.take_along_axis(prefix, n_weighted, axis=1),
        n_positive,
        place <= lengths[:, None] + 1,
    )


def _greatest_ndcg(sums: OpenSums, levels: Levels) -> FloatArray:
    """Return the greatest value of each query over all gains; weights may be below 0."""
    n_queries = len(sums.base)
    has_weight = sums.weights != 0
    query, weights = sums.query[has_weight], sums.weights[has_weight]
    n_weightless = sums.n_weightless + np.bincount(sums.query[~has_weight], minlength=n_queries)
    weights = weights[np.lexsort((-weights, query))]
    lengths = np.bincount(query, minlength=n_queries)
    starts = np.cumsum(lengths) - lengths
    greatest = np.empty(n_queries)
    n_rows = 1 + max(levels.heights.shape[1], levels.n_attainable)
    for index, width in batches((lengths + 2) * n_rows):
        place = np.arange(width // n_rows - 2)
        is_weight = place < lengths[index, None]
        falling = np.zeros(is_weight.shape)
        falling[is_weight] = weights[(starts[index, None] + place)[is_weight]]
        choices = _list_choices(falling, lengths[index], n_weightless[index])
        greatest[index] = _greatest_of_batch(sums.base[index], choices, levels.select(index))
    return greatest


def _greatest_of_batch(base: FloatArray, choices: Choices, levels: Levels) -> FloatArray:
    """Return the greatest value of each query of a batch."""
    numerators = base[:, None] + levels.tops[:, None] * choices.weight_sums
    at_corners = divide_or_zero(numerators, levels.ideals_with_top_gains(choices.numbers))
    greatest = np.where(choices.is_choice, at_corners, -np.inf).max(axis=1)
    largest = np.take_along_axis(numerators, choices.n_positive[:, None], axis=1)[:, 0]
    is_reachable = (largest >= 0) & (levels.tops > 0)
    if not is_reachable.any():
        return greatest
    n_useful = choices.n_positive[is_reachable]
    useful = choices.weight_sums[is_reachable, : n_useful.max() + 1]
    by_levels = _greatest_by_levels(base[is_reachable], useful, n_useful, levels.select(is_reachable))
    greatest[is_reachable] = np.maximum(greatest[is_reachable], by_levels)
    return greatest


def _greatest_by_levels(base: FloatArray, useful: FloatArray, n_useful: IntArray, levels: Levels) -> FloatArray:
    """Return the greatest value of each query where it is 0 or more, by Dinkelbach's method.

    Parameters
    ----------
    base : ndarray of float, shape (n_queries,)
    useful : ndarray of float, shape (n_queries, n + 1)
        Sums of the highest weights.
    n_useful : ndarray of int, shape (n_queries,)
        The weights above 0: only their sums are taken.
    levels : Levels
    """
    all_useful = np.repeat(n_useful[:, None], levels.n_attainable, axis=1)  # with which no numerator is below 0
    greatest = _compute_values(base, useful, all_useful, levels)
    is_rising = np.ones(len(base), np.bool_)
    while is_rising.any():
        rising = np.flatnonzero(is_rising)
        levels_of_rising = levels.select(rising)
        rows = _gains_over_values(greatest[rising], useful[rising], n_useful[rising], levels_of_rising)
        values = _compute_values(base[rising], useful[rising], _choose_falling(rows), levels_of_rising)
        is_rising[rising] = values > greatest[rising]
        greatest[rising] = np.maximum(greatest[rising], values)
    return greatest


def _compute_values(base: FloatArray, useful: FloatArray, numbers: IntArray, levels: Levels) -> FloatArray:
    """Return the nDCG of each query where so many documents reach each attainable gain."""
    sums = np.take_along_axis(useful, numbers, axis=1)
    numerators = base + (levels.steps * sums).sum(axis=1)
    return divide_or_zero(numerators, levels.ideals(numbers))


def _gains_over_values(values: FloatArray, useful: FloatArray, n_useful: IntArray, levels: Levels) -> FloatArray:
    """Return what N - cD has of each attainable gain and number of documents, shape (n_queries, n_attainable, n + 1).

    Parameters
    ----------
    values : ndarray of float, shape (n_queries,)
        c of each query.
    useful, n_useful, levels
        As `_greatest_by_levels` takes them.
    """
    n_queries, n_numbers = useful.shape
    numbers = np.arange(n_numbers)
    every_query = np.arange(n_queries)
    rows = np.zeros((n_queries, levels.n_attainable + 1, n_numbers))  # the last one is of levels that no label reaches
    for level in range(levels.heights.shape[1]):
        gained = levels.heights[:, level, None] * useful
        rows[every_query, levels.needed[:, level]] += gained - values[:, None] * levels.part(level, numbers)
    is_number = numbers <= n_useful[:, None]
    return np.where(is_number[:, None], rows[:, :-1], -np.inf)


def _choose_falling(rows: FloatArray) -> IntArray:
    """Return a column for each row, never rising from one row to the next, so that the entries' sum is largest.

    Parameters
    ----------
    rows : ndarray of float, shape (n_queries, n_rows, n_columns)

    Returns
    -------
    ndarray of int, shape (n_queries, n_rows)
    """
    n_queries, n_rows, n_columns = rows.shape
    places: IntArray = np.empty(rows.shape, np.int64)
    total = np.zeros((n_queries, n_columns))
    for row in range(n_rows - 1, -1, -1):
        total = rows[:, row] + total
        best = np.maximum.accumulate(total, axis=1)
        is_best = total >= best
        # the last column up to here that has the best entry
        places[:, row] = np.maximum.accumulate(np.where(is_best, np.arange(n_columns), 0), axis=1)
        total = best
    columns: IntArray = np.empty((n_queries, n_rows), np.int64)
    most = np.full((n_queries, 1), n_columns - 1)
    for row in range(n_rows):
        most = np.take_along_axis(places[:, row], most, axis=1)
        columns[:, row] = most[:, 0]
    return columns
