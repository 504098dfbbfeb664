"""Rows that tie in their block: which they are, and how many of them a rule puts before a document."""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, concatenated_ranges
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.score_counts import descending, rising_blocks, rows_by_length

PAIRS_PER_ROW = 10  # with more (document, judged document) pairs per tied row, sorting the ties is faster
MAX_PAIRS = 1 << 20  # compared at once


def rows_of_ties(scores: FloatArray, bounds: IntArray, block: IntArray, above: IntArray, sizes: IntArray) -> IntArray:
    """Return the rows of the given ties, one tie after the other, each in input order.

    Parameters
    ----------
    scores, bounds : ndarray
        As for :func:`count_above_and_tied`.
    block, above, sizes : ndarray of int, shape (n_ties,)
        For each tie, in the order of the blocks: its block, the number of documents above it, and in it.
    """
    rows = concatenated_ranges(bounds[block] + above, sizes)
    unsorted = rising_blocks(scores, bounds)
    if not unsorted[block].any():
        return rows
    order = np.arange(len(scores))
    for some in rows_by_length(bounds, unsorted):
        order[some] = np.take_along_axis(some, np.argsort(-scores[some], axis=1), axis=1)
    # Sorting the rows of each tie afterwards is ten times as fast as a stable sort of the scores.
    offsets = np.repeat(np.arange(len(sizes)) * len(scores), sizes)
    return np.sort(offsets + order[rows]) - offsets


def count_first_of_ties(docs: pl.Series, sizes: IntArray, own: pl.Series, tie: IntArray, *, by_id: bool) -> IntArray:
    """Count, for some documents, those of their tie that come before them.

    Parameters
    ----------
    docs : polars.Series of str, length n_rows
        The documents of all ties, one tie after the other, each in input order.
    sizes : ndarray of int, shape (n_ties,)
        Documents of each tie.
    own : polars.Series of str, length n
        The documents that are asked for.
    tie : ndarray of int, shape (n,)
        The tie that each is in.
    by_id : bool
        Whether documents with a higher id come first, or those that are earlier in the input.
    """
    n_pairs = sizes[tie].sum()
    if n_pairs > PAIRS_PER_ROW * len(docs):
        return _count_by_sorting(docs, sizes, own, tie, by_id=by_id)
    return _count_by_comparing(docs, sizes, own, tie, by_id=by_id)


def _count_by_comparing(docs: pl.Series, sizes: IntArray, own: pl.Series, tie: IntArray, *, by_id: bool) -> IntArray:
    """Compare each judged document with all others of its tie, by bytes, as Polars compares strings."""
    starts, found = np.cumsum(sizes) - sizes, np.zeros(len(tie), np.int64)
    n_pairs = np.cumsum(sizes[tie])
    for batch in np.split(np.arange(len(tie)), np.flatnonzero(np.diff(n_pairs // MAX_PAIRS)) + 1):
        of_tie = tie[batch]
        n = np.repeat(np.arange(len(batch)), sizes[of_tie])
        within = concatenated_ranges(np.zeros_like(batch), sizes[of_tie])
        others, judged = docs.gather(concatenated_ranges(starts[of_tie], sizes[of_tie])), own.gather(batch).gather(n)
        is_so = (others > judged if by_id else others == judged).to_numpy()
        found[batch] = np.bincount(n, is_so, len(batch)).astype(np.int64) if by_id else within[is_so]
    return found


def _count_by_sorting(docs: pl.Series, sizes: IntArray, own: pl.Series, tie: IntArray, *, by_id: bool) -> IntArray:
    """Sort every tie and look up the judged documents."""
    frame = pl.DataFrame({"tie": np.repeat(np.arange(len(sizes)), sizes), "doc_id": docs})
    wanted = pl.DataFrame({"tie": tie, "doc_id": own})
    if by_id:
        frame = frame.sort("tie", "doc_id", descending=[False, True])
    frame = frame.with_columns(first=concatenated_ranges(np.zeros_like(sizes), sizes))
    candidates = frame.join(wanted.select("doc_id").unique(), on="doc_id", how="semi")  # on one column it is faster
    return wanted.join(candidates, on=["tie", "doc_id"], how="left", maintain_order="left")["first"].to_numpy()


def are_tied(scores: FloatArray, bounds: IntArray) -> BoolArray:
    """Tell of each score, sorted within its block, whether another one of the block is the same."""
    ordered = descending(scores, bounds)
    is_same = ordered[1:] == ordered[:-1]
    is_same[bounds[1:-1] - 1] = False  # the next one is in another block
    found = np.zeros(len(scores), np.bool_)
    found[1:] = is_same
    found[:-1] |= is_same
    return found
