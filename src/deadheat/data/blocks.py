"""Rows in memory that are grouped by query, as runs usually are: where each query begins, and whether pairs repeat."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.arrays import BoolArray, IntArray

HASH_BITS = 32  # of each document id's hash that are kept: half the memory to sort


@dataclass(frozen=True)
class Blocks:
    """The rows of a frame, one block for each query.

    Attributes
    ----------
    frame : polars.DataFrame
        query_id, doc_id, and relevance or score.
    query_ids : polars.Series of length n_blocks
    bounds : ndarray of int, shape (n_blocks + 1,)
        Where each block starts, and the number of rows.
    """

    frame: pl.DataFrame
    query_ids: pl.Series
    bounds: IntArray

    @cached_property
    def hashes(self) -> NDArray[np.uint32]:
        """The high bits of each document id's hash, of shape (n_rows,)."""
        high = pl.col("doc_id").hash(1) // 2 ** (64 - HASH_BITS)
        return self.frame.lazy().select(high.cast(pl.UInt32)).collect(engine="streaming").to_series().to_numpy()


def blocks_of(frame: pl.DataFrame) -> Blocks | None:
    """Return the blocks of a frame, or None if the rows of some query are not adjacent."""
    runs = frame["query_id"].rle().struct.unnest()
    if runs["value"].n_unique() < runs.height:
        return None
    return Blocks(frame, runs["value"], np.append(0, runs["len"].cum_sum().to_numpy()).astype(np.int64))


def may_repeat(blocks: Blocks) -> bool:
    """Tell whether a document may appear twice in a block: False is certain, True needs a closer look.

    Hashes of the ids are sorted block by block, in the processor's cache. The ids of all blocks with two equal hashes
    are then compared at once, as there may be as many blocks as rows.
    """
    doubtful = _with_equal_hashes(blocks)
    if not doubtful.any():
        return False
    rows = np.flatnonzero(np.repeat(doubtful, np.diff(blocks.bounds)))
    return bool(blocks.frame.select(pl.col("query_id", "doc_id").gather(rows)).is_duplicated().any())


def _with_equal_hashes(blocks: Blocks) -> BoolArray:
    """Tell which blocks have two rows with the same hash, of shape (n_blocks,)."""
    bounds, hashes = blocks.bounds, blocks.hashes.copy()
    for start, stop in pairwise(bounds.tolist()):
        if stop - start > 1:
            hashes[start:stop].sort()
    equal = np.flatnonzero(hashes[1:] == hashes[:-1])
    block = np.searchsorted(bounds, equal, side="right") - 1
    within = equal + 1 < bounds[block + 1]  # the neighbour of a block's last row is in the next block
    return np.bincount(block[within], minlength=len(bounds) - 1) > 0
