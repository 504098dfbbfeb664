"""Which rows of a block tie, and how many of them a rule puts before a judged document."""

from __future__ import annotations

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, concatenate_ranges
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.score_counts import find_rising_blocks, group_rows_by_length, sort_descending

PAIRS_PER_ROW = 10  # with more pairs of a judged document and one of its tie, per tied row, sorting ties is faster
MAX_PAIRS = 1 << 20  # pairs that are compared at once


def find_tied_rows(scores: FloatArray, bounds: IntArray, block: IntArray, above: IntArray, sizes: IntArray) -> IntArray:
    """Return the rows of the given ties, one tie after the other, each in input order.

    Parameters
    ----------
    scores, bounds : ndarray
        As for :func:`count_above_and_tied`.
    block, above, sizes : ndarray of int, shape (n_ties,)
        For each tie, in the order of the blocks: its block, the number of documents above it, and in it.
    """
    places = concatenate_ranges(bounds[block] + above, sizes)  # in descending order of each block's scores
    is_unsorted = find_rising_blocks(scores, bounds)
    if not is_unsorted[block].any():
        return places
    order = np.arange(len(scores))
    for rows in group_rows_by_length(bounds, is_unsorted):
        order[rows] = np.take_along_axis(rows, np.argsort(-scores[rows], axis=1), axis=1)
    # Sorting the rows of each tie afterwards is ten times as fast as a stable sort of the scores.
    offsets = np.repeat(np.arange(len(sizes)) * len(scores), sizes)
    return np.sort(offsets + order[places]) - offsets


def count_first_of_ties(
    docs: pl.Series, sizes: IntArray, judged_docs: pl.Series, tie_of_judged: IntArray, *, by_id: bool
) -> IntArray:
    """Count, for each judged document, the documents of its tie that come before it, of shape (n,).

    Parameters
    ----------
    docs : polars.Series of str, length n_rows
        The documents of all ties, one tie after the other, each in input order.
    sizes : ndarray of int, shape (n_ties,)
        Documents of each tie.
    judged_docs : polars.Series of str, length n
    tie_of_judged : ndarray of int, shape (n,)
        The tie of each judged document.
    by_id : bool
        Whether documents with a higher id come first, or those that are earlier in the input.
    """
    n_pairs = sizes[tie_of_judged].sum()
    if n_pairs > PAIRS_PER_ROW * len(docs):
        return _count_by_sorting(docs, sizes, judged_docs, tie_of_judged, by_id=by_id)
    return _count_by_comparing(docs, sizes, judged_docs, tie_of_judged, by_id=by_id)


def _count_by_comparing(
    docs: pl.Series, sizes: IntArray, judged_docs: pl.Series, tie_of_judged: IntArray, *, by_id: bool
) -> IntArray:
    """Compare each judged document with all of its tie, by bytes, as Polars compares strings.

    Each judged document is a pair with every document of its tie. Batches of judged documents have about `MAX_PAIRS`.
    """
    starts = np.cumsum(sizes) - sizes
    n_before = np.zeros(len(tie_of_judged), np.int64)
    n_pairs_so_far = np.cumsum(sizes[tie_of_judged])
    batch_starts = np.flatnonzero(np.diff(n_pairs_so_far // MAX_PAIRS)) + 1
    for batch in np.split(np.arange(len(tie_of_judged)), batch_starts):
        tie = tie_of_judged[batch]
        judged_of_pair = np.repeat(np.arange(len(batch)), sizes[tie])
        judged = judged_docs.gather(batch).gather(judged_of_pair)
        tied = docs.gather(concatenate_ranges(starts[tie], sizes[tie]))
        if by_id:
            is_before = (tied > judged).to_numpy()
            n_before[batch] = np.bincount(judged_of_pair, is_before, len(batch)).astype(np.int64)
        else:
            is_same = (tied == judged).to_numpy()
            place_in_tie = concatenate_ranges(np.zeros_like(batch), sizes[tie])
            n_before[batch] = place_in_tie[is_same]
    return n_before


def _count_by_sorting(
    docs: pl.Series, sizes: IntArray, judged_docs: pl.Series, tie_of_judged: IntArray, *, by_id: bool
) -> IntArray:
    """Sort every tie and look up the judged documents."""
    tied = pl.DataFrame({"tie": np.repeat(np.arange(len(sizes)), sizes), "doc_id": docs})
    if by_id:
        tied = tied.sort("tie", "doc_id", descending=[False, True])
    tied = tied.with_columns(n_before=concatenate_ranges(np.zeros_like(sizes), sizes))
    judged = pl.DataFrame({"tie": tie_of_judged, "doc_id": judged_docs})
    # a join on one column is faster, and leaves few rows for that on two
    candidates = tied.join(judged.select("doc_id").unique(), on="doc_id", how="semi")
    return judged.join(candidates, on=["tie", "doc_id"], how="left", maintain_order="left")["n_before"].to_numpy()


def are_tied(scores: FloatArray, bounds: IntArray) -> BoolArray:
    """Tell of each score, sorted within its block, whether another one of the block is the same."""
    ordered = sort_descending(scores, bounds)
    is_same_as_next = ordered[1:] == ordered[:-1]
    is_same_as_next[bounds[1:-1] - 1] = False  # the next one is in another block
    is_tied = np.zeros(len(scores), np.bool_)
    is_tied[1:] = is_same_as_next
    is_tied[:-1] |= is_same_as_next
    return is_tied
