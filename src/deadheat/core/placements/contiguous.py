"""Placements of rows in memory: grouped by query, without a sort of all rows.

The results are those of the relational engine, in a fraction of its time. Many rows are cut twice: in parts, one for
each thread, and each part in pieces, whose scores stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, codes_of, concatenated_ranges, run_starts
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import WORTH, Blocks, written
from deadheat.core.data.run import Run
from deadheat.core.io.guarding import check_threads, guard_polars
from deadheat.core.io.splitting import HASH_BITS, hash_doc_ids
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.placements import Placements, from_frames
from deadheat.core.placements.score_counts import count_above_and_tied
from deadheat.core.placements.tied_rows import count_first_of_ties, rows_of_ties

TABLE_BITS = 22  # of each hash, at most, to look up judged documents: a table of 4 MB stays in the processor's cache
AT_ONCE = 1 << 16  # hashes looked up together, whose indices stay in the cache too
SCORES = 1 << 18  # scores looked at together: they stay in the processor's cache

Hashes: TypeAlias = NDArray[np.uint32]


class Contiguous:
    """An engine for rows in memory.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        For messages.
    blocks : Blocks
        Of the run, with its scores already rounded.
    found : JudgedRows, optional
        The judged documents among the rows, if they are known.
    """

    def __init__(self, qrels: Qrels, run: Run, blocks: Blocks, found: JudgedRows | None = None) -> None:
        self._qrels, self._run, self._blocks, self._found = qrels, run, blocks, found

    def place(self) -> Placements:
        """Return the placements, counted within each query's rows."""
        with guard_polars(self._run.where):
            return from_frames(self._qrels, self._run, *count_in(self._blocks, self._qrels.to_polars(), self._found))

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        check_threads()
        blocks, first = self._blocks, rows[run_starts(placements.query[rows], placements.above[rows])]
        tie = np.searchsorted(first, rows, side="right") - 1
        block = self._block_of(placements, placements.query[first])
        sizes = placements.tied[first]
        scores = blocks.frame["score"].to_numpy()
        tied_rows = rows_of_ties(scores, blocks.bounds, block, placements.above[first], sizes)
        tied_docs = blocks.frame["doc_id"].gather(tied_rows)
        judged_docs = pl.Series(placements.doc_ids[rows].tolist(), dtype=pl.String)
        return count_first_of_ties(tied_docs, sizes, judged_docs, tie, by_id=rule == "doc_id")

    def _block_of(self, placements: Placements, query: IntArray) -> IntArray:
        """Return the block of each of some queries of placements."""
        return codes_of(placements.query_ids[query], self._blocks.query_ids)


def count_in(
    blocks: Blocks, judgments: pl.DataFrame, found: JudgedRows | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many documents each query has, and where the judged ones among them are.

    Parameters
    ----------
    blocks : Blocks
        Of one run, or of several that are one below the other: then there are several blocks of a query.
    judgments : polars.DataFrame
        query_id, doc_id and relevance; they may be of other queries too.
    found : JudgedRows, optional
        The judged documents among the rows, if they are known.

    Returns
    -------
    counts : polars.DataFrame
        query_id, n_retrieved, ends_in_tie, top_score and retrieves_itself, block by block.
    rows : polars.DataFrame
        query_id, doc_id, relevance, above, tied and block.
    """
    n_parts = min(pl.thread_pool_size(), blocks.frame.height // WORTH)
    if n_parts < 2 or found is not None:
        return _count_in_part(blocks, found or find_judged(judgments, blocks))
    parts = blocks.parts(n_parts)
    with ThreadPoolExecutor(n_parts) as threads:
        results = list(threads.map(lambda part: _count_in_part(part, find_judged(judgments, part)), parts))
    counts, rows = [], []
    first_block = 0
    for part, (counts_of_part, rows_of_part) in zip(parts, results, strict=True):
        counts.append(counts_of_part)
        rows.append(rows_of_part.with_columns(pl.col("block") + first_block))
        first_block += len(part.query_ids)
    return pl.concat(counts), pl.concat(rows)


def _count_in_part(blocks: Blocks, found: JudgedRows) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return what :func:`count_in` does of the blocks that one thread looks at."""
    above, tied, ends_in_tie, top_score = map(np.concatenate, zip(*_count_in_pieces(blocks, found), strict=True))
    counts = {
        "query_id": blocks.query_ids,
        "n_retrieved": np.diff(blocks.bounds),
        "ends_in_tie": ends_in_tie,
        "top_score": top_score,
        "retrieves_itself": find_own_queries(blocks),
    }
    return pl.DataFrame(counts), found.judgments.with_columns(above=above, tied=tied, block=found.block)


def _count_in_pieces(blocks: Blocks, found: JudgedRows) -> Iterator[tuple[IntArray, IntArray, BoolArray, FloatArray]]:
    """Yield what :func:`count_above_and_tied` finds, for one piece of the blocks after the other."""
    n_pieces = -(-blocks.frame.height // SCORES)
    pieces = blocks.parts(n_pieces) if n_pieces > 1 else [blocks]
    memory = np.empty(max(piece.frame.height for piece in pieces))
    first_row = first_block = 0
    for piece in pieces:
        scores = written(piece.frame["score"], memory)
        end = first_row + piece.frame.height
        in_piece = slice(*np.searchsorted(found.rows, [first_row, end]))
        rows = found.rows[in_piece] - first_row
        block = found.block[in_piece] - first_block
        yield count_above_and_tied(scores, piece.bounds, block, scores[rows], rows)
        first_row = end
        first_block += len(piece.query_ids)


def find_own_queries(blocks: Blocks) -> BoolArray:
    """Tell which blocks have a document with the id of their query, of shape (n_blocks,).

    The hashes of the documents are compared with that of their query: of seven million rows this takes less than a
    hundredth of what placing them takes. The ids themselves decide.
    """
    hashes = blocks.query_ids.rename("doc_id").to_frame().select(hash_doc_ids()).to_series().to_numpy()
    found = np.zeros(len(hashes), np.bool_)
    n_parts = max(1, -(-blocks.frame.height // SCORES))
    memory = np.empty(blocks.frame.height, np.uint32)
    first = 0
    for part in blocks.parts(n_parts):
        own = np.repeat(hashes[first : first + len(part.query_ids)], np.diff(part.bounds))
        rows = np.flatnonzero(written(part.hashes, memory) == own)
        if len(rows):
            block = np.searchsorted(part.bounds, rows, side="right") - 1
            is_own = part.frame["doc_id"].gather(rows) == part.query_ids.gather(block)
            found[first + block[is_own.to_numpy()]] = True
        first += len(part.query_ids)
    return found


@dataclass(frozen=True, eq=False)
class JudgedRows:
    """The judged documents that are retrieved, in the order of their rows.

    Attributes
    ----------
    judgments : polars.DataFrame of height n_found
        query_id, doc_id and relevance.
    rows, block : ndarray of int, shape (n_found,)
        The row of each, and its block.
    """

    judgments: pl.DataFrame
    rows: IntArray
    block: IntArray


def find_judged(judgments: pl.DataFrame, blocks: Blocks) -> JudgedRows:
    """Find the judged documents among the rows.

    Hashes of ids find candidates: first those that are judged for any query, by tables that stay in the processor's
    cache, then those whose block is of the same query. The ids themselves decide.

    Parameters
    ----------
    judgments : polars.DataFrame
        query_id, doc_id and relevance; they may be of other queries too.
    blocks : Blocks
    """
    of_blocks = pl.DataFrame({"query_id": blocks.query_ids}).with_columns(query=pl.col("query_id").rank("dense"))
    judged = judgments.join(of_blocks.unique(), on="query_id", how="inner", maintain_order="left")
    hashes = judged.select(hash_doc_ids()).to_series().to_numpy()
    keys = _keys(judged["query"].to_numpy(), hashes)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = run_starts(keys)
    # the judgments, sorted by key, are groups of equal keys: for each candidate the last group up to its key
    rows = _candidates(hashes, blocks.hashes)
    block = np.searchsorted(blocks.bounds, rows, side="right") - 1
    row_keys = _keys(of_blocks["query"].to_numpy()[block], blocks.hashes.gather(rows).to_numpy())
    group = np.searchsorted(keys[starts], row_keys, side="right") - 1  # -1: its key is below all
    group_sizes = np.diff(starts, append=len(keys))
    n_alike = np.where(keys[starts[group]] == row_keys, group_sizes[group], 0)
    # pairs of a candidate and a judgment with its key; of several with one hash, one at most is the document
    candidate = np.repeat(np.arange(len(rows)), n_alike)
    judgment = order[concatenated_ranges(starts[group], n_alike)]
    retrieved_docs = blocks.frame["doc_id"].gather(rows[candidate])
    judged_docs = judged["doc_id"].gather(judgment)
    is_same = (retrieved_docs == judged_docs).to_numpy()
    candidate, judgment = candidate[is_same], judgment[is_same]
    return JudgedRows(judged.drop("query")[judgment], rows[candidate], block[candidate])


def _keys(query: IntArray, hashes: Hashes) -> NDArray[np.uint64]:
    """Return one number for a query and a hash."""
    return (query.astype(np.uint64) << np.uint64(HASH_BITS)) | hashes


def _candidates(judged: Hashes, hashes: pl.Series) -> IntArray:
    """Return the rows whose hashes begin as one of the judged documents does, and end as one does."""
    bits = min(TABLE_BITS, len(judged).bit_length() + 4)  # so that few other documents have places of these
    unused, end = np.uint32(HASH_BITS - bits), np.uint32((1 << bits) - 1)
    beginnings, ends = np.zeros((2, 1 << bits), np.bool_)
    beginnings[judged >> unused] = True
    ends[judged & end] = True

    found, start = [np.zeros(0, np.int64)], 0
    for chunk in hashes.get_chunks():
        for piece in np.split(chunk.to_numpy(), range(AT_ONCE, len(chunk), AT_ONCE)):
            rows = np.flatnonzero(beginnings.take(piece >> unused))
            found.append(rows[ends.take(piece[rows] & end)] + start)
            start += len(piece)
    return np.concatenate(found)
