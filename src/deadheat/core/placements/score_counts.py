"""How many scores of a query are above a given one, and equal to it. Each query's scores are a block of an array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ScoreCounts:
    """How many scores are above and equal to each given one, and how each block begins and ends.

    Attributes
    ----------
    above, tied : ndarray of int, shape (n,)
        Scores of the block that are higher than each given one, and equal to it, itself included.
    ends_in_tie : ndarray of bool, shape (n_blocks,)
        Whether two or more scores are the lowest of the block.
    top_score : ndarray of float, shape (n_blocks,)
        The highest score of each block, NaN of an empty one.
    """

    above: IntArray
    tied: IntArray
    ends_in_tie: BoolArray
    top_score: FloatArray


def count_above_and_tied(
    scores: FloatArray, bounds: IntArray, block: IntArray, given: FloatArray, rows: IntArray | None = None
) -> ScoreCounts:
    """Count the scores above and equal to each given one in its block.

    Most runs are written from the highest score to the lowest: only blocks that are not are sorted.

    Parameters
    ----------
    scores : ndarray of float, shape (n_rows,)
        Block by block.
    bounds : ndarray of int, shape (n_blocks + 1,)
        Where each block starts, and the number of rows.
    block : ndarray of int, shape (n,)
        The block of each given score.
    given : ndarray of float, shape (n,)
        The given scores.
    rows : ndarray of int, shape (n,), optional
        The row of each given score. With rows, no search is needed for a score that is the first of equal ones, in a
        block that is sorted already.
    """
    is_unsorted = find_rising_blocks(scores, bounds)
    start = bounds[block]
    stop = bounds[block + 1]
    # `first` is the place of the first of the scores that are equal to the given one, in sorted blocks
    first = start.copy()
    searched: IntArray | slice = slice(None)
    if rows is not None:
        is_first_of_equal = (rows == start) | (scores[rows - 1] != given)
        is_first_known = ~is_unsorted[block] & is_first_of_equal
        first = rows.copy()
        searched = np.flatnonzero(~is_first_known)
    if is_unsorted.any():  # blocks without a given score need no sort
        has_given = np.zeros_like(is_unsorted)
        has_given[block] = True
        scores = sort_blocks(scores, bounds, is_unsorted & has_given)
        is_unsorted = is_unsorted & ~has_given
    first[searched] = _bisect(scores, start[searched], stop[searched], given[searched], np.greater)
    tied = np.ones_like(first)
    next_scores = scores[np.minimum(first + 1, len(scores) - 1)]
    in_tie = np.flatnonzero((first + 1 < stop) & (next_scores == given))
    end = _bisect(scores, first[in_tie] + 1, stop[in_tie], given[in_tie], np.greater_equal)
    tied[in_tie] = end - first[in_tie]
    ends_in_tie, top_score = _find_ends(scores, bounds, is_unsorted)
    return ScoreCounts(first - start, tied, ends_in_tie, top_score)


def find_rising_blocks(scores: FloatArray, bounds: IntArray) -> BoolArray:
    """Tell in which blocks a score is above the one before it, of shape (n_blocks,)."""
    rises = scores[1:] > scores[:-1]
    inner_bounds = bounds[(bounds > 0) & (bounds < len(scores))]
    rises[inner_bounds - 1] = False  # from one block to the next a score may rise
    if not rises.any():  # mostly none does, and this look is the faster one
        return np.zeros(len(bounds) - 1, np.bool_)
    n_rises_before = np.searchsorted(np.flatnonzero(rises), bounds)
    return n_rises_before[1:] > n_rises_before[:-1]


def sort_descending(scores: FloatArray, bounds: IntArray) -> FloatArray:
    """Return scores that are sorted from the highest to the lowest within each block."""
    is_unsorted = find_rising_blocks(scores, bounds)
    if not is_unsorted.any():
        return scores
    return sort_blocks(scores, bounds, is_unsorted)


def sort_blocks(scores: FloatArray, bounds: IntArray, is_wanted: BoolArray) -> FloatArray:
    """Return the scores with the wanted blocks sorted, the highest score first."""
    ordered = scores.copy()
    for rows in group_rows_by_length(bounds, is_wanted):
        ordered[rows] = np.sort(scores[rows], axis=1)[:, ::-1]
    return ordered


def group_rows_by_length(bounds: IntArray, is_wanted: BoolArray) -> Iterator[IntArray]:
    """Yield the rows of the wanted blocks, those of one length together, of shape (n_blocks, length)."""
    sizes = bounds[1:] - bounds[:-1]
    starts = bounds[:-1]
    lengths = sorted(set(sizes[is_wanted].tolist()))  # np.unique loads numpy.ma, longer than it takes to evaluate
    for length in lengths:
        starts_of_length = starts[is_wanted & (sizes == length)]
        yield starts_of_length[:, np.newaxis] + np.arange(length)


def _find_ends(scores: FloatArray, bounds: IntArray, is_unsorted: BoolArray) -> tuple[BoolArray, FloatArray]:
    """Return which blocks end in a tie, and the highest score of each, NaN of an empty one."""
    sizes = bounds[1:] - bounds[:-1]
    ends_in_tie = sizes > 1
    last = bounds[1:][ends_in_tie] - 1
    ends_in_tie[ends_in_tie] = scores[last] == scores[last - 1]
    has_scores = sizes > 0
    top_score = np.full(len(sizes), np.nan)
    top_score[has_scores] = scores[bounds[:-1][has_scores]]
    for block in np.flatnonzero(is_unsorted).tolist():
        block_scores = scores[bounds[block] : bounds[block + 1]]
        n_lowest = np.count_nonzero(block_scores == block_scores.min())
        ends_in_tie[block] = n_lowest > 1
        top_score[block] = block_scores.max()
    return ends_in_tie, top_score


def _bisect(scores: FloatArray, start: IntArray, stop: IntArray, given: FloatArray, is_before: np.ufunc) -> IntArray:
    """Return the first place from `start` to `stop` whose score is not before the given one.

    Scores are in descending order there; with `np.greater` a score is before the given one if it is higher.
    """
    last_before = start - 1  # the last place that is known to be before
    end = stop - 1
    # each step uses the same memory again
    place = np.empty_like(start)
    distance = np.empty_like(start)
    score = np.empty_like(given)
    is_place_before = np.empty(len(given), np.bool_)
    longest = int(np.max(stop - start, initial=0))
    step = 1 << longest.bit_length()
    while step := step >> 1:
        np.minimum(np.add(last_before, step, out=place), end, out=place)
        is_before(scores.take(place, out=score, mode="clip"), given, out=is_place_before)
        np.subtract(place, last_before, out=distance)
        # a product is faster than np.where: there is no branch to guess
        last_before += np.multiply(distance, is_place_before, out=distance)
    return last_before + 1
