"""Placements of rows in memory that are grouped by query: no grouping, no sort of all rows.

The results are those of the relational engine, in a fraction of its time.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from deadheat.arrays import BoolArray, FloatArray, IntArray, run_starts, spans
from deadheat.data.rows import WORTH, Blocks, written
from deadheat.data.tables import Qrels, Run
from deadheat.io.guarding import check_threads, guarded
from deadheat.io.splitting import HASH_BITS, doc_hash
from deadheat.placements.placements import Placements, from_frames

TABLE_BITS = 22  # of each hash, to look up judged documents: a table of 4 MB stays in the processor's cache
UNUSED, END = np.uint32(HASH_BITS - TABLE_BITS), np.uint32((1 << TABLE_BITS) - 1)
PAIRS_PER_ROW = 10  # with more (document, judged document) pairs per tied row, sorting the ties is faster
MAX_PAIRS = 1 << 20  # compared at once
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
    found : Found, optional
        The judged documents among the rows, if they are known.
    """

    def __init__(self, qrels: Qrels, run: Run, blocks: Blocks, found: "JudgedRows | None" = None) -> None:
        self._qrels, self._run, self._blocks, self._found = qrels, run, blocks, found

    def place(self) -> Placements:
        """Return the placements, counted within each query's rows."""
        with guarded(self._run.where):
            return from_frames(self._qrels, self._run, *count(self._blocks, self._qrels.to_polars(), self._found))

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        check_threads()
        blocks, first = self._blocks, rows[run_starts(placements.query[rows], placements.above[rows])]
        tie = np.searchsorted(first, rows, side="right") - 1
        block = self._block_of(placements, placements.query[first])
        sizes = placements.tied[first]
        some = rows_of_ties(blocks.frame["score"].to_numpy(), blocks.bounds, block, placements.above[first], sizes)
        docs = blocks.frame["doc_id"].gather(some)
        own = pl.Series(placements.doc_ids[rows].tolist(), dtype=pl.String)
        many = sizes[tie].sum() > PAIRS_PER_ROW * len(docs)
        return (_first_by_sorting if many else _first_by_comparing)(docs, sizes, own, tie, by_id=rule == "doc_id")

    def _block_of(self, placements: Placements, query: IntArray) -> IntArray:
        """Return the block of each of some queries of placements."""
        block_of = {query: n for n, query in enumerate(self._blocks.query_ids)}
        return np.array([block_of[one] for one in placements.query_ids[query].tolist()])


def count(
    blocks: Blocks, judgments: pl.DataFrame, found: "JudgedRows | None" = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many documents each query has, and where the judged ones among them are.

    Parameters
    ----------
    blocks : Blocks
        Of one run, or of several that are one below the other: then there are several blocks of a query.
    judgments : polars.DataFrame
        query_id, doc_id and relevance; they may be of other queries too.
    found : Found, optional
        The judged documents among the rows, if they are known.

    Returns
    -------
    counts : polars.DataFrame
        query_id, n_retrieved, ends_in_tie and top_score, block by block.
    rows : polars.DataFrame
        query_id, doc_id, relevance, above, tied and block.
    """
    n_parts = min(pl.thread_pool_size(), blocks.frame.height // WORTH)
    if n_parts < 2 or found is not None:
        return _count(blocks, found or find_judged(judgments, blocks))
    parts = blocks.parts(n_parts)
    with ThreadPoolExecutor(n_parts) as beside:
        counts, rows = zip(*beside.map(lambda part: _count(part, find_judged(judgments, part)), parts), strict=True)
    firsts = np.cumsum([0, *(len(part.query_ids) for part in parts[:-1])]).tolist()
    placed = [own.with_columns(pl.col("block") + first) for own, first in zip(rows, firsts, strict=True)]
    return pl.concat(counts), pl.concat(placed)


def _count(blocks: Blocks, found: "JudgedRows") -> tuple[pl.DataFrame, pl.DataFrame]:
    above, tied, ends_in_tie, top_score = map(np.concatenate, zip(*_in_pieces(blocks, found), strict=True))
    counts = {
        "query_id": blocks.query_ids,
        "n_retrieved": np.diff(blocks.bounds),
        "ends_in_tie": ends_in_tie,
        "top_score": top_score,
    }
    return pl.DataFrame(counts), found.judgments.with_columns(above=above, tied=tied, block=found.block)


def _in_pieces(blocks: Blocks, found: "JudgedRows") -> Iterator[tuple[IntArray, IntArray, BoolArray, FloatArray]]:
    """Yield what :func:`count_above_and_tied` and :func:`highest` find in some blocks after the other.

    Few scores stay in the cache.
    """
    parts = blocks.parts(-(-blocks.frame.height // SCORES)) or [blocks]
    memory = np.empty(max(part.frame.height for part in parts))
    start = first = 0
    for part in parts:
        scores, stop = written(part.frame["score"], memory), start + part.frame.height
        own = slice(*np.searchsorted(found.rows, [start, stop]))
        rows = found.rows[own] - start
        counts = count_above_and_tied(scores, part.bounds, found.block[own] - first, scores[rows], rows)
        yield *counts, highest(scores, part.bounds)
        start, first = stop, first + len(part.query_ids)


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
    hashes = judged.select(doc_hash()).to_series().to_numpy()
    keys = _keys(judged["query"].to_numpy(), hashes)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = run_starts(keys)
    rows = _candidates(hashes, blocks.hashes)
    block = np.searchsorted(blocks.bounds, rows, side="right") - 1
    wanted = _keys(of_blocks["query"].to_numpy()[block], blocks.hashes.gather(rows).to_numpy())
    place = np.searchsorted(keys[starts], wanted, side="right") - 1
    sizes = np.where(keys[starts[place]] == wanted, np.diff(starts, append=len(keys))[place], 0)
    pair, judgment = np.repeat(np.arange(len(rows)), sizes), order[spans(starts[place], sizes)]
    # of several with one hash, one at most is the document
    own, theirs = blocks.frame["doc_id"].gather(rows[pair]), judged["doc_id"].gather(judgment)
    is_own = (own == theirs).to_numpy()
    return JudgedRows(judged.drop("query")[judgment[is_own]], rows[pair[is_own]], block[pair[is_own]])


def _keys(query: IntArray, hashes: Hashes) -> NDArray[np.uint64]:
    """Return one number for a query and a hash."""
    return (query.astype(np.uint64) << np.uint64(HASH_BITS)) | hashes


def _candidates(judged: Hashes, hashes: pl.Series) -> IntArray:
    """Return the rows whose hashes begin as one of the judged documents does, and end as one does."""
    beginnings, ends = np.zeros((2, 1 << TABLE_BITS), np.bool_)
    beginnings[judged >> UNUSED] = True
    ends[judged & END] = True

    found, start = [np.zeros(0, np.int64)], 0
    for chunk in hashes.get_chunks():
        for piece in np.split(chunk.to_numpy(), range(AT_ONCE, len(chunk), AT_ONCE)):
            rows = np.flatnonzero(beginnings.take(piece >> UNUSED))
            found.append(rows[ends.take(piece[rows] & END)] + start)
            start += len(piece)
    return np.concatenate(found)


def count_above_and_tied(
    scores: FloatArray, bounds: IntArray, block: IntArray, own: FloatArray, rows: IntArray | None = None
) -> tuple[IntArray, IntArray, BoolArray]:
    """Count the scores above and equal to each given one in its block, and find the blocks that end in a tie.

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
    """
    unsorted = _rising_blocks(scores, bounds)
    start, stop = bounds[block], bounds[block + 1]
    is_first = np.zeros(len(block), np.bool_)
    if rows is not None:
        is_first = ~unsorted[block] & ((rows == start) | (scores[rows - 1] != own))
    if unsorted.any():
        wanted = np.zeros_like(unsorted)
        wanted[block] = True
        scores = _sorted(scores, bounds, unsorted & wanted)
        unsorted &= ~wanted
    first = start.copy() if rows is None else rows.copy()
    others = np.flatnonzero(~is_first)
    first[others] = _bisect(scores, start[others], stop[others], own[others], np.greater)
    tied = np.ones_like(first)
    more = np.flatnonzero((first + 1 < stop) & (scores[np.minimum(first + 1, len(scores) - 1)] == own))
    tied[more] = _bisect(scores, first[more] + 1, stop[more], own[more], np.greater_equal) - first[more]
    return first - start, tied, _ends_in_tie(scores, bounds, unsorted)


def highest(scores: FloatArray, bounds: IntArray) -> FloatArray:
    """Return the highest score of each block, NaN of an empty one, of shape (n_blocks,)."""
    found, some = np.full(len(bounds) - 1, np.nan), np.diff(bounds) > 0
    if some.any():
        found[some] = np.maximum.reduceat(scores, bounds[:-1][some])
    return found


def _rising_blocks(scores: FloatArray, bounds: IntArray) -> BoolArray:
    """Tell in which blocks a score is above the one before it."""
    rises = scores[1:] > scores[:-1]
    rises[bounds[(bounds > 0) & (bounds < len(scores))] - 1] = False  # a rise from one block to the next is none
    found = np.zeros(len(bounds) - 1, np.bool_)
    if rises.any():  # mostly none does, and this look is the faster one
        found[np.searchsorted(bounds, np.flatnonzero(rises), side="right") - 1] = True
    return found


def descending(scores: FloatArray, bounds: IntArray) -> FloatArray:
    """Return scores that are sorted from the highest to the lowest within each block."""
    unsorted = _rising_blocks(scores, bounds)
    return _sorted(scores, bounds, unsorted) if unsorted.any() else scores


def _sorted(scores: FloatArray, bounds: IntArray, wanted: BoolArray) -> FloatArray:
    """Return the scores with the wanted blocks sorted, those of one length in one call."""
    ordered = scores.copy()
    for rows in _of_one_length(bounds, wanted):
        ordered[rows] = np.sort(scores[rows], axis=1)[:, ::-1]
    return ordered


def _of_one_length(bounds: IntArray, wanted: BoolArray) -> Iterator[IntArray]:
    """Give the rows of the wanted blocks, those of one length together, of shape (n_blocks, length)."""
    sizes = np.diff(bounds)
    for size in np.unique(sizes[wanted]).tolist():
        yield bounds[:-1][wanted & (sizes == size), np.newaxis] + np.arange(size)


def _ends_in_tie(scores: FloatArray, bounds: IntArray, unsorted: BoolArray) -> BoolArray:
    """Tell which blocks end in a tie: in a descending block, the last two scores are equal."""
    found = np.diff(bounds) > 1
    last = bounds[1:][found] - 1
    found[found] = scores[last] == scores[last - 1]
    for n in np.flatnonzero(unsorted).tolist():
        part = scores[bounds[n] : bounds[n + 1]]
        found[n] = np.count_nonzero(part == part.min()) > 1
    return found


def _bisect(scores: FloatArray, start: IntArray, stop: IntArray, own: FloatArray, is_before: np.ufunc) -> IntArray:
    """Return the first place from `start` to `stop` whose score, in descending order, is not before each of `own`."""
    last, end = start - 1, stop - 1  # the last place that is before, and the last one at all
    place, there, found = np.empty_like(start), np.empty_like(own), np.empty(len(own), np.bool_)
    step = 1 << int(np.max(stop - start, initial=0)).bit_length()
    while step := step >> 1:
        np.minimum(np.add(last, step, out=place), end, out=place)
        is_before(scores.take(place, out=there, mode="clip"), own, out=found)
        np.subtract(place, last, out=place)
        last += np.multiply(place, found, out=place)  # faster than np.where: there is no branch to guess
    return last + 1


def rows_of_ties(scores: FloatArray, bounds: IntArray, block: IntArray, above: IntArray, sizes: IntArray) -> IntArray:
    """Return the rows of the given ties, one tie after the other, each in input order.

    Parameters
    ----------
    scores, bounds : ndarray
        As for :func:`count_above_and_tied`.
    block, above, sizes : ndarray of int, shape (n_ties,)
        For each tie, in the order of the blocks: its block, the number of documents above it, and in it.
    """
    rows = spans(bounds[block] + above, sizes)
    unsorted = _rising_blocks(scores, bounds)
    if not unsorted[block].any():
        return rows
    order = np.arange(len(scores))
    for some in _of_one_length(bounds, unsorted):
        order[some] = np.take_along_axis(some, np.argsort(-scores[some], axis=1), axis=1)
    # Sorting the rows of each tie afterwards is ten times as fast as a stable sort of the scores.
    offsets = np.repeat(np.arange(len(sizes)) * len(scores), sizes)
    return np.sort(offsets + order[rows]) - offsets


def _first_by_comparing(docs: pl.Series, sizes: IntArray, own: pl.Series, tie: IntArray, *, by_id: bool) -> IntArray:
    """Compare each judged document with all others of its tie, by bytes, as Polars compares strings."""
    starts, found = np.cumsum(sizes) - sizes, np.zeros(len(tie), np.int64)
    n_pairs = np.cumsum(sizes[tie])
    for batch in np.split(np.arange(len(tie)), np.flatnonzero(np.diff(n_pairs // MAX_PAIRS)) + 1):
        of_tie = tie[batch]
        n = np.repeat(np.arange(len(batch)), sizes[of_tie])
        within = spans(np.zeros_like(batch), sizes[of_tie])
        others, judged = docs.gather(spans(starts[of_tie], sizes[of_tie])), own.gather(batch).gather(n)
        if by_id:
            found[batch] = np.bincount(n, (others > judged).to_numpy(), len(batch)).astype(np.int64)
        else:
            found[batch] = within[(others == judged).to_numpy()]
    return found


def _first_by_sorting(docs: pl.Series, sizes: IntArray, own: pl.Series, tie: IntArray, *, by_id: bool) -> IntArray:
    """Sort every tie and look up the judged documents."""
    frame = pl.DataFrame({"tie": np.repeat(np.arange(len(sizes)), sizes), "doc_id": docs})
    wanted = pl.DataFrame({"tie": tie, "doc_id": own})
    if by_id:
        frame = frame.sort("tie", "doc_id", descending=[False, True])
    frame = frame.with_columns(first=spans(np.zeros_like(sizes), sizes))
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
