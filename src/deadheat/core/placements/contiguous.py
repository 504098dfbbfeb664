"""Placements of rows in memory: grouped by query, without a sort of all rows.

The results are those of the relational engine, in a fraction of its time. A large run is cut into parts, one for each
thread, and a part into pieces whose scores stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import BoolArray, IntArray, find_codes, run_sizes, run_starts
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import ROWS_OF_THREAD, Blocks, write_numbers
from deadheat.core.data.run import Run
from deadheat.core.io.guarding import check_threads, guard_polars
from deadheat.core.io.id_hashes import HASH_BITS, hash_doc_ids
from deadheat.core.io.kinds import KEYS
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.building import build_from_frames
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.score_counts import ScoreCounts, count_above_and_tied
from deadheat.core.placements.tied_rows import count_first_of_ties, find_tied_rows

TABLE_BITS = 22  # of each hash, at most, to look up judged documents: a table of 4 MB stays in the processor's cache
AT_ONCE = 1 << 16  # hashes looked up together, whose indices stay in the cache too
ROWS_OF_PIECE = 1 << 18  # rows looked at together: their scores stay in the processor's cache

Hashes: TypeAlias = NDArray[np.uint32]


class ContiguousEngine:
    """An engine for rows in memory, where the rows of each query are adjacent.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        For messages.
    blocks : Blocks
        The rows of the run, with scores already rounded.
    judged : JudgedRows, optional
        The judged documents among the rows, if they are known.
    """

    def __init__(self, qrels: Qrels, run: Run, blocks: Blocks, judged: JudgedRows | None = None) -> None:
        self._qrels = qrels
        self._run = run
        self._blocks = blocks
        self._judged = judged

    def place(self) -> Placements:
        """Return the placements, counted within each query's rows."""
        with guard_polars(self._run.where):
            counts, rows = count_blocks(self._blocks, self._qrels.to_polars(), self._judged)
            return build_from_frames(self._qrels, self._run, counts, rows)

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        ties, tie_of_judged = group_ties(placements.query[rows], placements.above[rows], placements.tied[rows])
        ties = replace(ties, block=self._find_blocks(placements, ties.block))
        judged_docs = pl.Series(placements.doc_ids[rows].tolist(), dtype=pl.String)
        return count_first_in_blocks(self._blocks, ties, judged_docs, tie_of_judged, rule)

    def _find_blocks(self, placements: Placements, query: IntArray) -> IntArray:
        """Return the block of each of some queries of placements."""
        return find_codes(placements.query_ids[query], self._blocks.query_ids)


@dataclass(frozen=True, eq=False)
class TiesOfBlocks:
    """Ties of blocks of rows, in the order of the blocks.

    Attributes
    ----------
    block, above, sizes : ndarray of int, shape (n_ties,)
        The block of each tie, the number of documents above it, and in it.
    """

    block: IntArray
    above: IntArray
    sizes: IntArray


def group_ties(block: IntArray, above: IntArray, sizes: IntArray) -> tuple[TiesOfBlocks, IntArray]:
    """Return the ties that judged documents are in, and the tie of each document.

    Parameters
    ----------
    block, above, sizes : ndarray of int, shape (n_rows,)
        Of each judged document the block, and the number of documents above its tie and in it; sorted by the first two.

    Returns
    -------
    ties : TiesOfBlocks
    tie_of_judged : ndarray of int, shape (n_rows,)
        It ascends.
    """
    starts = run_starts(block, above)
    tie_of_judged = np.repeat(np.arange(len(starts)), run_sizes(starts, len(block)))
    return TiesOfBlocks(block[starts], above[starts], sizes[starts]), tie_of_judged


def count_first_in_blocks(
    blocks: Blocks, ties: TiesOfBlocks, judged_docs: pl.Series, tie_of_judged: IntArray, rule: str
) -> IntArray:
    """Count, for each judged document that ties, the documents of its tie that a rule puts before it.

    Parameters
    ----------
    blocks : Blocks
    ties : TiesOfBlocks
        Those with judged documents.
    judged_docs : polars.Series of str, length n
    tie_of_judged : ndarray of int, shape (n,)
        The tie of each judged document; it ascends.
    rule : {"doc_id", "input"}

    Returns
    -------
    ndarray of int, shape (n,)
    """
    check_threads()
    scores = blocks.frame["score"].to_numpy()
    tied_rows = find_tied_rows(scores, blocks.bounds, ties.block, ties.above, ties.sizes)
    tied_docs = blocks.frame["doc_id"].gather(tied_rows)
    return count_first_of_ties(tied_docs, ties.sizes, judged_docs, tie_of_judged, by_id=rule == "doc_id")


def count_blocks(
    blocks: Blocks, judgments: pl.DataFrame, judged: JudgedRows | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many documents each query has, and where the judged ones among them are.

    Parameters
    ----------
    blocks : Blocks
        Of one run, or of several that are one below the other: then a query has several blocks.
    judgments : polars.DataFrame
        query_id, doc_id and relevance; they may be of other queries too.
    judged : JudgedRows, optional
        The judged documents among the rows, if they are known.

    Returns
    -------
    counts : polars.DataFrame
        query_id, n_retrieved, ends_in_tie, top_score and retrieves_itself, block by block.
    rows : polars.DataFrame
        query_id, doc_id, relevance, above, tied and block.
    """
    if judged is not None:
        return _count_part(blocks, judged)
    n_parts = min(pl.thread_pool_size(), blocks.frame.height // ROWS_OF_THREAD)
    if n_parts < 2:
        return _count_part(blocks, find_judged(judgments, blocks))
    parts = blocks.split(n_parts)
    with ThreadPoolExecutor(n_parts) as threads:
        results = list(threads.map(lambda part: _count_part(part, find_judged(judgments, part)), parts))
    counts = []
    rows = []
    first_block = 0
    for part, (counts_of_part, rows_of_part) in zip(parts, results, strict=True):
        counts.append(counts_of_part)
        rows.append(rows_of_part.with_columns(pl.col("block") + first_block))
        first_block += len(part.query_ids)
    return pl.concat(counts), pl.concat(rows)


def _count_part(blocks: Blocks, judged: JudgedRows) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the frames of :func:`count_blocks` for the blocks that one thread looks at."""
    pieces = list(_count_pieces(blocks, judged))
    counts = pl.DataFrame(
        {
            "query_id": blocks.query_ids,
            "n_retrieved": np.diff(blocks.bounds),
            "ends_in_tie": np.concatenate([piece.ends_in_tie for piece in pieces]),
            "top_score": np.concatenate([piece.top_score for piece in pieces]),
            "retrieves_itself": find_self_retrieving(blocks),
        }
    )
    rows = judged.judgments.with_columns(
        above=np.concatenate([piece.above for piece in pieces]),
        tied=np.concatenate([piece.tied for piece in pieces]),
        block=judged.block,
    )
    return counts, rows


def _count_pieces(blocks: Blocks, judged: JudgedRows) -> Iterator[ScoreCounts]:
    """Yield the counts of the judged documents' scores, piece by piece of the blocks."""
    n_pieces = -(-blocks.frame.height // ROWS_OF_PIECE)  # rounded up
    pieces = [blocks]
    if n_pieces > 1:
        pieces = blocks.split(n_pieces)
    memory = np.empty(max(piece.frame.height for piece in pieces))
    first_row = 0
    first_block = 0
    for piece in pieces:
        scores = write_numbers(piece.frame["score"], memory)
        end_row = first_row + piece.frame.height
        first_judged, end_judged = np.searchsorted(judged.rows, [first_row, end_row]).tolist()
        rows = judged.rows[first_judged:end_judged] - first_row
        block = judged.block[first_judged:end_judged] - first_block
        yield count_above_and_tied(scores, piece.bounds, block, scores[rows], rows)
        first_row = end_row
        first_block += len(piece.query_ids)


def find_self_retrieving(blocks: Blocks) -> BoolArray:
    """Tell which blocks have a document with the id of their query, of shape (n_blocks,).

    The hashes of the documents are compared with that of their query: of seven million rows this takes less than a
    hundredth of the time of placing them. The ids themselves decide.
    """
    query_hashes = blocks.query_ids.rename("doc_id").to_frame().select(hash_doc_ids()).to_series().to_numpy()
    retrieves_itself = np.zeros(len(query_hashes), np.bool_)
    n_pieces = max(1, -(-blocks.frame.height // ROWS_OF_PIECE))
    memory = np.empty(blocks.frame.height, np.uint32)
    first_block = 0
    for piece in blocks.split(n_pieces):
        end_block = first_block + len(piece.query_ids)
        hash_of_query = np.repeat(query_hashes[first_block:end_block], np.diff(piece.bounds))
        rows = np.flatnonzero(write_numbers(piece.hashes, memory) == hash_of_query)
        if len(rows):
            block = np.searchsorted(piece.bounds, rows, side="right") - 1
            is_same = piece.frame["doc_id"].gather(rows) == piece.query_ids.gather(block)
            retrieves_itself[first_block + block[is_same.to_numpy()]] = True
        first_block = end_block
    return retrieves_itself


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """The judged documents that are retrieved, in the order of their rows.

    Attributes
    ----------
    judgments : polars.DataFrame of height n_judged
        query_id, doc_id and relevance.
    rows, block : ndarray of int, shape (n_judged,)
        The row of each, and its block.
    """

    judgments: pl.DataFrame
    rows: IntArray
    block: IntArray


def find_judged(judgments: pl.DataFrame, blocks: Blocks) -> JudgedRows:
    """Find the judged documents among the rows, in two steps.

    1. Candidates are the rows whose hash may be that of a document that is judged for any query.
    2. Of these, those remain that have a judgment by their ids.

    Parameters
    ----------
    judgments : polars.DataFrame
        query_id, doc_id and relevance; they may be of other queries too.
    blocks : Blocks
    """
    judged = judgments.filter(pl.col("query_id").is_in(blocks.query_ids.unique().implode()))
    judged_hashes = judged.select(hash_doc_ids()).to_series().to_numpy()
    rows = _find_candidates(judged_hashes, blocks.hashes)
    block = np.searchsorted(blocks.bounds, rows, side="right") - 1
    candidates = pl.DataFrame(
        {
            "query_id": blocks.query_ids.gather(block),
            "doc_id": blocks.frame["doc_id"].gather(rows),
            "row": rows,
            "block": block,
        }
    )
    found = candidates.join(judged, on=KEYS, how="inner", maintain_order="left")
    return JudgedRows(found.select(judgments.columns), found["row"].to_numpy(), found["block"].to_numpy())


def _find_candidates(judged_hashes: Hashes, hashes: pl.Series) -> IntArray:
    """Return the rows whose hash has the first bits of some judged hash, and the last bits of some judged hash."""
    n_bits = min(TABLE_BITS, len(judged_hashes).bit_length() + 4)  # so many that few other hashes share them
    shift = np.uint32(HASH_BITS - n_bits)
    low_bits = np.uint32((1 << n_bits) - 1)
    beginnings = np.zeros(1 << n_bits, np.bool_)
    beginnings[judged_hashes >> shift] = True
    ends = np.zeros(1 << n_bits, np.bool_)
    ends[judged_hashes & low_bits] = True

    candidates = [np.zeros(0, np.int64)]
    first_row = 0
    for chunk in hashes.get_chunks():
        for piece in np.split(chunk.to_numpy(), range(AT_ONCE, len(chunk), AT_ONCE)):
            rows = np.flatnonzero(beginnings.take(piece >> shift))
            candidates.append(rows[ends.take(piece[rows] & low_bits)] + first_row)
            first_row += len(piece)
    return np.concatenate(candidates)
