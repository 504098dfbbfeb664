"""Scores in blocks, one block for each query: how many are above and equal to some of them. Arrays in, arrays out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray


def count_above_and_tied(
    scores: FloatArray, bounds: IntArray, block: IntArray, own: FloatArray, rows: IntArray | None = None
) -> tuple[IntArray, IntArray, BoolArray, FloatArray]:
    """Count the scores above and equal to each given one in its block, and find how each block begins and ends.

    Most runs are written from the highest score to the lowest: only blocks that are not are sorted.

    Parameters
    ----------
    scores : ndarray of float, shape (n_rows,)
        Block by block.
    bounds : ndarray of int, shape (n_blocks + 1,)
        Where each block starts, and the number of rows.
    block : ndarray of int, shape (n,)
        The block of each given score.
    own : ndarray of float, shape (n,)
        The given scores.
    rows : ndarray of int, shape (n,), optional
        Where they are; it need not be searched for the first of equal scores that are in order.

    Returns
    -------
    above, tied : ndarray of int, shape (n,)
    ends_in_tie : ndarray of bool, shape (n_blocks,)
        Whether two or more scores are the lowest of the block.
    top_score : ndarray of float, shape (n_blocks,)
        The highest score of each block, NaN of an empty one.
    """
    is_unsorted = rising_blocks(scores, bounds)
    start, stop = bounds[block], bounds[block + 1]
    is_first_known = np.zeros(len(block), np.bool_)  # of equal scores, where blocks are in order
    if rows is not None:
        is_first_known = ~is_unsorted[block] & ((rows == start) | (scores[rows - 1] != own))
    is_still_unsorted = is_unsorted
    if is_unsorted.any():
        has_given = np.zeros_like(is_unsorted)
        has_given[block] = True
        scores = sort_blocks(scores, bounds, is_unsorted & has_given)
        is_still_unsorted = is_unsorted & ~has_given
    first = start.copy() if rows is None else rows.copy()
    searched = np.flatnonzero(~is_first_known)
    first[searched] = _bisect(scores, start[searched], stop[searched], own[searched], np.greater)
    tied = np.ones_like(first)
    next_scores = scores[np.minimum(first + 1, len(scores) - 1)]
    in_tie = np.flatnonzero((first + 1 < stop) & (next_scores == own))
    end = _bisect(scores, first[in_tie] + 1, stop[in_tie], own[in_tie], np.greater_equal)
    tied[in_tie] = end - first[in_tie]
    return first - start, tied, *_ends(scores, bounds, is_still_unsorted)


def rising_blocks(scores: FloatArray, bounds: IntArray) -> BoolArray:
    """Tell in which blocks a score is above the one before it."""
    rises = scores[1:] > scores[:-1]
    rises[bounds[(bounds > 0) & (bounds < len(scores))] - 1] = False  # a rise from one block to the next is none
    found = np.zeros(len(bounds) - 1, np.bool_)
    if rises.any():  # mostly none does, and this look is the faster one
        found[np.searchsorted(bounds, np.flatnonzero(rises), side="right") - 1] = True
    return found


def descending(scores: FloatArray, bounds: IntArray) -> FloatArray:
    """Return scores that are sorted from the highest to the lowest within each block."""
    unsorted = rising_blocks(scores, bounds)
    return sort_blocks(scores, bounds, unsorted) if unsorted.any() else scores


def sort_blocks(scores: FloatArray, bounds: IntArray, wanted: BoolArray) -> FloatArray:
    """Return the scores with the wanted blocks sorted, those of one length in one call."""
    ordered = scores.copy()
    for rows in rows_by_length(bounds, wanted):
        ordered[rows] = np.sort(scores[rows], axis=1)[:, ::-1]
    return ordered


def rows_by_length(bounds: IntArray, wanted: BoolArray) -> Iterator[IntArray]:
    """Give the rows of the wanted blocks, those of one length together, of shape (n_blocks, length)."""
    sizes = np.diff(bounds)
    for size in sorted({*sizes[wanted].tolist()}):  # np.unique loads numpy.ma, longer than it takes to evaluate
        yield bounds[:-1][wanted & (sizes == size), np.newaxis] + np.arange(size)


def _ends(scores: FloatArray, bounds: IntArray, unsorted: BoolArray) -> tuple[BoolArray, FloatArray]:
    """Tell which blocks end in a tie, as the last two scores of a descending one are equal, and where they begin."""
    sizes = np.diff(bounds)
    in_tie, top, some = sizes > 1, np.full(len(sizes), np.nan), sizes > 0
    last = bounds[1:][in_tie] - 1
    in_tie[in_tie] = scores[last] == scores[last - 1]
    top[some] = scores[bounds[:-1][some]]
    for n in np.flatnonzero(unsorted).tolist():
        part = scores[bounds[n] : bounds[n + 1]]
        in_tie[n], top[n] = np.count_nonzero(part == part.min()) > 1, part.max()
    return in_tie, top


def _bisect(scores: FloatArray, start: IntArray, stop: IntArray, own: FloatArray, is_before: np.ufunc) -> IntArray:
    """Return the first place from `start` to `stop` whose score, in descending order, is not before each of `own`."""
    last, end = start - 1, stop - 1  # the last place that is before, and the last one at all
    # memory that each step uses again
    place, distance = np.empty_like(start), np.empty_like(start)
    score, is_further = np.empty_like(own), np.empty(len(own), np.bool_)
    step = 1 << int(np.max(stop - start, initial=0)).bit_length()
    while step := step >> 1:
        np.minimum(np.add(last, step, out=place), end, out=place)
        is_before(scores.take(place, out=score, mode="clip"), own, out=is_further)
        np.subtract(place, last, out=distance)
        last += np.multiply(distance, is_further, out=distance)  # faster than np.where: there is no branch to guess
    return last + 1
