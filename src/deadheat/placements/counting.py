"""Counting the documents above and at a score, among scores that stand query by query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from deadheat.arrays import BoolArray, FloatArray, IntArray


def count(
    scores: FloatArray, bounds: IntArray, block: IntArray, own: FloatArray
) -> tuple[IntArray, IntArray, BoolArray]:
    """Count, in the blocks of some scores, the scores above and at each of them, and look at the end of each block.

    Runs are mostly written from the highest score to the lowest: only blocks that are not are sorted.

    Parameters
    ----------
    scores : ndarray of float, shape (n_rows,)
        Block by block.
    bounds : ndarray of int, shape (n_blocks + 1,)
        Where each block starts, and the number of rows.
    block : ndarray of int, shape (n,)
        In which to count.
    own : ndarray of float, shape (n,)
        Scores of their blocks.

    Returns
    -------
    above, tied : ndarray of int, shape (n,)
    ends_in_tie : ndarray of bool, shape (n_blocks,)
        Whether two scores or more are the lowest of the block.
    """
    falls = scores[1:] <= scores[:-1]
    falls[bounds[(bounds > 0) & (bounds < len(scores))] - 1] = True  # from one block to the next anything goes
    unsorted = np.zeros(len(bounds) - 1, np.bool_)
    if not falls.all():
        unsorted[np.searchsorted(bounds, np.flatnonzero(~falls), side="right") - 1] = True
        wanted = np.zeros_like(unsorted)
        wanted[block] = True
        scores = _sorted(scores, bounds, unsorted & wanted)
        unsorted &= ~wanted
    start, stop = bounds[block], bounds[block + 1]
    first = _bisect(scores, start, stop, own, np.greater)
    tied = np.ones_like(first)
    more = np.flatnonzero((first + 1 < stop) & (scores[np.minimum(first + 1, len(scores) - 1)] == own))
    tied[more] = _bisect(scores, first[more] + 1, stop[more], own[more], np.greater_equal) - first[more]
    return first - start, tied, _ends_in_tie(scores, bounds, unsorted)


def _sorted(scores: FloatArray, bounds: IntArray, wanted: BoolArray) -> FloatArray:
    """Return the scores with those blocks sorted that are wanted."""
    ordered = scores.copy()
    for n in np.flatnonzero(wanted).tolist():
        part = ordered[bounds[n] : bounds[n + 1]]
        part[:] = np.sort(part)[::-1]
    return ordered


def _ends_in_tie(scores: FloatArray, bounds: IntArray, unsorted: BoolArray) -> BoolArray:
    """Tell which blocks end in a tie: the last two scores of one that falls are equal."""
    found = np.diff(bounds) > 1
    last = bounds[1:][found] - 1
    found[found] = scores[last] == scores[last - 1]
    for n in np.flatnonzero(unsorted).tolist():
        part = scores[bounds[n] : bounds[n + 1]]
        found[n] = np.count_nonzero(part == part.min()) > 1
    return found


def _bisect(scores: FloatArray, start: IntArray, stop: IntArray, own: FloatArray, is_before: np.ufunc) -> IntArray:
    """Return where, between `start` and `stop`, falling scores stop to stand before each of `own`; all at once."""
    low, high = start, stop
    while (is_open := low < high).any():
        middle = (low + high) // 2
        before = is_open & is_before(scores[np.minimum(middle, len(scores) - 1)], own)
        low, high = np.where(before, middle + 1, low), np.where(is_open & ~before, middle, high)
    return low
