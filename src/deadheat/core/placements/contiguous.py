"""Placements of rows in memory: grouped by query, without a sort of all rows; and of dicts, without building a frame.

The results are those of the relational engine, in a fraction of its time. What each of several runs costs by itself,
however small it is, is paid once. Rankings are kept beside an evaluation: the first documents of each list, so that it
can be scored again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, codes_of, concatenated_ranges, run_starts
from deadheat.core.data.rows import (
    WORTH,
    Blocks,
    MappingRows,
    MemoryRows,
    ScorePrecision,
    UnreadRows,
    round_and_warn,
    round_scores,
    written,
)
from deadheat.core.data.source_columns import refuse_one_column
from deadheat.core.data.tables import Qrels, Run
from deadheat.core.io.guarding import check_threads, guard_polars
from deadheat.core.io.splitting import HASH_BITS, doc_hash
from deadheat.core.io.values import look_up
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import beside_table, find_beside
from deadheat.core.placements.placements import (
    Listed,
    Placements,
    check_placed_once,
    from_frames,
    have_repeated,
    refuse_no_common_query,
    sort_rows,
)
from deadheat.core.structures import copy_with

TABLE_BITS = 22  # of each hash, at most, to look up judged documents: a table of 4 MB stays in the processor's cache
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
        some = rows_of_ties(blocks.frame["score"].to_numpy(), blocks.bounds, block, placements.above[first], sizes)
        docs = blocks.frame["doc_id"].gather(some)
        own = pl.Series(placements.doc_ids[rows].tolist(), dtype=pl.String)
        many = sizes[tie].sum() > PAIRS_PER_ROW * len(docs)
        return (_first_by_sorting if many else _first_by_comparing)(docs, sizes, own, tie, by_id=rule == "doc_id")

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
        return _count_in(blocks, found or find_judged(judgments, blocks))
    parts = blocks.parts(n_parts)
    with ThreadPoolExecutor(n_parts) as beside:
        counts, rows = zip(*beside.map(lambda part: _count_in(part, find_judged(judgments, part)), parts), strict=True)
    firsts = np.cumsum([0, *(len(part.query_ids) for part in parts[:-1])]).tolist()
    placed = (own.with_columns(pl.col("block") + first) for own, first in zip(rows, firsts, strict=True))
    return pl.concat(counts), pl.concat(placed)


def _count_in(blocks: Blocks, found: JudgedRows) -> tuple[pl.DataFrame, pl.DataFrame]:
    above, tied, ends_in_tie, top_score = map(np.concatenate, zip(*_in_pieces(blocks, found), strict=True))
    counts = {
        "query_id": blocks.query_ids,
        "n_retrieved": np.diff(blocks.bounds),
        "ends_in_tie": ends_in_tie,
        "top_score": top_score,
        "retrieves_itself": find_own_queries(blocks),
    }
    return pl.DataFrame(counts), found.judgments.with_columns(above=above, tied=tied, block=found.block)


def _in_pieces(blocks: Blocks, found: JudgedRows) -> Iterator[tuple[IntArray, IntArray, BoolArray, FloatArray]]:
    """Yield what :func:`count_above_and_tied` finds in some blocks after the other.

    Few scores stay in the cache.
    """
    n_parts = -(-blocks.frame.height // SCORES)
    parts = blocks.parts(n_parts) if n_parts > 1 else [blocks]
    memory = np.empty(max(part.frame.height for part in parts))
    start = first = 0
    for part in parts:
        scores, stop = written(part.frame["score"], memory), start + part.frame.height
        own = slice(*np.searchsorted(found.rows, [start, stop]))
        rows = found.rows[own] - start
        yield count_above_and_tied(scores, part.bounds, found.block[own] - first, scores[rows], rows)
        start, first = stop, first + len(part.query_ids)


def find_own_queries(blocks: Blocks) -> BoolArray:
    """Tell which blocks have a document with the id of their query, of shape (n_blocks,).

    The hashes of the documents are compared with that of their query: of seven million rows this takes less than a
    hundredth of what placing them takes. The ids themselves decide.
    """
    hashes = blocks.query_ids.rename("doc_id").to_frame().select(doc_hash()).to_series().to_numpy()
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
    pair, judgment = np.repeat(np.arange(len(rows)), sizes), order[concatenated_ranges(starts[place], sizes)]
    # of several with one hash, one at most is the document
    own, theirs = blocks.frame["doc_id"].gather(rows[pair]), judged["doc_id"].gather(judgment)
    is_own = (own == theirs).to_numpy()
    return JudgedRows(judged.drop("query")[judgment[is_own]], rows[pair[is_own]], block[pair[is_own]])


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
    return first - start, tied, *_ends(scores, bounds, unsorted)


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
    rows = concatenated_ranges(bounds[block] + above, sizes)
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
        within = concatenated_ranges(np.zeros_like(batch), sizes[of_tie])
        others, judged = docs.gather(concatenated_ranges(starts[of_tie], sizes[of_tie])), own.gather(batch).gather(n)
        is_so = (others > judged if by_id else others == judged).to_numpy()
        found[batch] = np.bincount(n, is_so, len(batch)).astype(np.int64) if by_id else within[is_so]
    return found


def _first_by_sorting(docs: pl.Series, sizes: IntArray, own: pl.Series, tie: IntArray, *, by_id: bool) -> IntArray:
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


class OfDicts:
    """An engine for a run that is a dict of dicts.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With `MappingRows`.
    precision : str, int or None
        To which the scores are rounded.
    """

    def __init__(self, qrels: Qrels, run: Run, precision: ScorePrecision) -> None:
        self._qrels, self._run, self._precision = qrels, run, precision
        self._judged = qrels.rows.mapping if isinstance(qrels.rows, MappingRows) else qrels.to_dict()
        self._retrieved = cast("MappingRows", run.rows)
        self._query_ids = sorted(self._judged)
        self._found = look_up(self._retrieved.mapping, self._judged, self._query_ids, run.where, qrels.where)
        self._scores = round_and_warn(self._found.scores, precision)

    def place(self) -> Placements:
        """Return the placements: look up the judged documents and count scores."""
        query_ids, found, retrieved = self._query_ids, self._found, self._retrieved.mapping
        unjudged = sorted(self._retrieved.mapping.keys() - self._judged.keys())
        if len(unjudged) == len(self._retrieved.mapping):
            refuse_no_common_query(self._qrels, self._run, query_ids, unjudged)
        self._retrieved.numbers(unjudged)  # bad scores of unjudged queries are refused too, as in a frame
        code = np.repeat(np.arange(len(query_ids)), np.diff(found.judged_bounds))
        rows = np.flatnonzero(~np.isnan(found.own))
        above, tied, ends_in_tie, top_score = count_above_and_tied(
            self._scores, found.bounds, code[rows], round_scores(found.own[rows], self._precision)
        )
        return sort_rows(
            np.array(query_ids, dtype=object),
            np.diff(found.bounds),
            judged_query=code,
            judged_relevance=found.relevance,
            rows=(code[rows], Listed(found.docs, rows), found.relevance[rows], above, tied),
            unjudged_queries=tuple(unjudged),
            ends_in_tie=ends_in_tie,
            top_score=top_score,
            retrieves_itself=np.array([query in retrieved.get(query, ()) for query in query_ids], np.bool_),
            beside=find_beside(self._qrels, query_ids),
        )

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        starts = run_starts(placements.query[rows], placements.above[rows])
        queries = placements.query_ids[placements.query[rows[starts]]]
        block = codes_of(queries, self._query_ids)
        above, sizes, bounds = placements.above[rows[starts]], placements.tied[rows[starts]], self._found.bounds
        found = rows_of_ties(self._scores, bounds, block, above, sizes) - np.repeat(bounds[block], sizes)
        places, judged = found.tolist(), placements.doc_ids[rows].tolist()
        documents = {query: [*self._retrieved.mapping[query]] for query in dict.fromkeys(queries.tolist())}
        ties, of_judged = pairwise([0, *np.cumsum(sizes).tolist()]), pairwise([*starts.tolist(), len(rows)])
        first = list[int]()
        for query, of_tie, of_own in zip(queries, ties, of_judged, strict=True):
            tie = [documents[query][place] for place in places[slice(*of_tie)]]
            if rule == "doc_id":
                tie.sort(reverse=True)  # the order of code points is that of UTF-8 bytes
            first += map(dict(zip(tie, range(len(tie)), strict=True)).__getitem__, judged[slice(*of_own)])
        return np.array(first)


def can_be_together(qrels: Qrels, runs: Sequence[Run]) -> bool:
    """Tell whether runs are of rows in memory and scores by one key, and no measure looks beside the judgments."""
    if any(beside_table(key).placed for key in qrels.beside()):
        return False
    return all(type(run.rows) is MemoryRows and run.by_keys is None for run in runs)


class Together(Contiguous):
    """An engine for several runs: the queries of the first one, then those of the second, and so on.

    Parameters
    ----------
    qrels : Qrels
    runs : sequence of Run
        For which :func:`can_be_together` is true.
    precision : {"float32", "float16", "bfloat16"} or int, optional
        To which the scores are rounded.

    Attributes
    ----------
    unjudged : list of tuple of str
        Of each run the queries without judgments, once it has been placed.
    """

    def __init__(self, qrels: Qrels, runs: Sequence[Run], precision: ScorePrecision) -> None:
        for run in runs:
            refuse_one_column(qrels.source_columns, run.source_columns, qrels.where)
        self._runs = runs
        each = [cast("MemoryRows", run.rounded(precision).rows).blocks for run in runs]
        starts = np.cumsum([0, *(one.bounds[-1] for one in each)])
        bounds = [one.bounds[:-1] + start for one, start in zip(each, starts[:-1], strict=True)]
        blocks = Blocks(
            pl.concat([one.frame.select("doc_id", "score") for one in each]),
            pl.concat([one.query_ids for one in each]),
            np.append(np.concatenate(bounds), starts[-1]),
            pl.concat([one.hashes for one in each]),
        )
        super().__init__(qrels, runs[0], blocks)
        self._run_of = np.repeat(np.arange(len(runs)), [len(one.query_ids) for one in each])
        self.unjudged: list[tuple[str, ...]] = []

    def place(self) -> Placements:
        """Return the placements of all runs; each has all queries of the qrels, in one order."""
        queries, judged_query, judged_relevance = self._qrels.in_order
        n_queries, n_runs = queries.height, len(self._runs)
        with guard_polars(", ".join(run.where for run in self._runs)):
            counts, rows = count_in(self._blocks, self._qrels.to_polars())
            counts = (
                counts.with_columns(block=pl.int_range(pl.len(), dtype=pl.Int64))
                .join(queries, on="query_id", how="left", maintain_order="left")
                .with_columns(place=pl.Series(self._run_of * n_queries) + pl.col("code"))
            )
        self._check_common(counts, queries)
        self._check_placed_once(rows)
        places = pl.DataFrame({"place": np.arange(n_runs * n_queries)})
        every = places.join(counts, on="place", how="left", maintain_order="left")
        self._block = every["block"].fill_null(0).to_numpy()
        firsts = np.arange(n_runs)[:, None] * n_queries
        return sort_rows(
            np.tile(np.array(queries["query_id"].to_list(), dtype=object), n_runs),
            every["n_retrieved"].fill_null(0).to_numpy(),
            judged_query=(firsts + judged_query).ravel(),
            judged_relevance=np.tile(judged_relevance, n_runs),
            rows=(
                counts["place"].to_numpy()[rows["block"].to_numpy()].astype(np.int64),
                rows["doc_id"],
                *(rows[name].to_numpy() for name in ("relevance", "above", "tied")),
            ),
            ends_in_tie=every["ends_in_tie"].fill_null(value=False).to_numpy(),
            top_score=every["top_score"].to_numpy(),
            retrieves_itself=every["retrieves_itself"].fill_null(value=False).to_numpy(),
        )

    def _check_placed_once(self, rows: pl.DataFrame) -> None:
        """Raise for the first run that retrieves a judged document twice, if nobody looked for it before."""
        are_checked = all(run.rows.are_unique for run in self._runs)
        if are_checked or not have_repeated(rows["block"], rows["doc_id"]):
            return
        run_of_row = self._run_of[rows["block"].to_numpy()]
        for n, run in enumerate(self._runs):
            check_placed_once(run, rows.filter(pl.Series(run_of_row == n)))

    def _check_common(self, counts: pl.DataFrame, queries: pl.DataFrame) -> None:
        """Note the queries of each run without judgments; raise if it has no others."""
        is_judged = counts["place"].is_not_null().to_numpy()
        for n, run in enumerate(self._runs):
            own = self._run_of == n
            unjudged = sorted(counts["query_id"].filter(pl.Series(own & ~is_judged)).to_list())
            if not (own & is_judged).any():
                refuse_no_common_query(self._qrels, run, queries["query_id"].to_list(), unjudged)
            self.unjudged.append(tuple(unjudged))

    def _block_of(self, placements: Placements, query: IntArray) -> IntArray:  # noqa: ARG002 - of all runs
        return self._block[query]


LARGEST_TIE = 10  # times the depth: a larger tie at the end of what is kept is left out


class KeptRows(MemoryRows):
    """The first documents of each list of a run, in the order of the run and with its scores.

    Attributes
    ----------
    queries : polars.DataFrame
        query_id, n_retrieved and next_score, the highest score that is not kept; null where all are.
    depth : int
        Documents of each list that were to be kept; the tie of the last one is there as a whole, or not at all.
    """

    def __init__(self, frame: pl.DataFrame, queries: pl.DataFrame, depth: int) -> None:
        super().__init__(frame)
        self.queries, self.depth = queries, depth


def kept(run: Run, depth: int, precision: ScorePrecision = None) -> Run | None:
    """Return a run with the first documents of each list.

    Parameters
    ----------
    run : Run
        One that is kept already stays as it is.
    depth : int
        Above 0.
    precision : {"float32", "float16", "bfloat16"} or int, optional
        To which scores are rounded when it is said what ties; they are kept as they are.

    Returns
    -------
    Run or None
        With `KeptRows`. None also of rows that are in a cluster, or too many to hold.
    """
    rows = run.rows
    if isinstance(rows, UnreadRows) or not rows.in_polars:
        return None
    if isinstance(rows, KeptRows):
        return run
    blocks = (rows if isinstance(rows, MemoryRows) else MemoryRows(run.to_polars())).blocks
    scores, starts, sizes = blocks.frame["score"].to_numpy(), blocks.bounds[:-1], np.diff(blocks.bounds)
    rounded = round_scores(scores, None if run.by_keys else precision)
    last = np.repeat(descending(rounded, blocks.bounds)[starts + np.minimum(depth, sizes) - 1], sizes)
    n_above, n_tied = (np.add.reduceat(of, starts, dtype=np.int64) for of in (rounded > last, rounded == last))
    is_large = (n_above + n_tied > depth) & (n_tied > LARGEST_TIE * depth)
    keep = (rounded > last) | ((rounded == last) & ~np.repeat(is_large, sizes))
    left = np.maximum.reduceat(np.where(keep, -np.inf, scores), starts)
    is_whole = np.add.reduceat(keep, starts, dtype=np.int64) == sizes
    queries = pl.DataFrame({"query_id": blocks.query_ids, "n_retrieved": sizes, "next_score": left}).with_columns(
        next_score=pl.when(~pl.Series(is_whole)).then("next_score")
    )
    return copy_with(run, rows=KeptRows(blocks.frame.filter(keep), queries, depth))


class Kept(Contiguous):
    """An engine for what is kept of a run: where its documents are ranked, and how many ranks of each list are known.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With `KeptRows`.
    precision : str, int or None
        To which the scores are rounded.
    """

    def __init__(self, qrels: Qrels, run: Run, precision: ScorePrecision) -> None:
        rows = cast("KeptRows", run.rows)
        super().__init__(
            qrels, run, (rows if precision is None else MemoryRows(run.rounded(precision).to_polars())).blocks
        )
        scores, starts = self._blocks.frame["score"].to_numpy(), self._blocks.bounds[:-1]
        sizes = np.diff(self._blocks.bounds)
        lowest = np.minimum.reduceat(scores, starts) if len(starts) else scores
        n_lowest = np.add.reduceat(scores == np.repeat(lowest, sizes), starts, dtype=np.int64) if len(starts) else sizes
        own = pl.DataFrame(
            {"query_id": self._blocks.query_ids, "n_kept": sizes, "lowest": lowest, "n_lowest": n_lowest}
        )
        queries = rows.queries.join(own, on="query_id", how="left", maintain_order="left")
        following = round_scores(queries["next_score"].to_numpy(), precision)  # it may tie with the last one kept
        is_cut = (pl.Series(following) == pl.col("lowest")) & pl.col("next_score").is_not_null()
        self.depth = rows.depth
        self.known = queries.select(
            "query_id",
            "n_retrieved",
            is_whole=pl.col("next_score").is_null(),
            n_known=pl.col("n_kept").fill_null(0) - pl.when(is_cut).then("n_lowest").otherwise(0),
        )

    def place(self) -> Placements:
        """Return the placements of the judged documents in the ranks that are known."""
        with guard_polars(self._run.where):
            counts, rows = count_in(self._blocks, self._qrels.to_polars())
            queries = self.known.join(counts.drop("n_retrieved"), on="query_id", how="left").with_columns(
                pl.col("ends_in_tie") & pl.col("is_whole")
            )
            rows = rows.join(self.known, on="query_id").filter(pl.col("above") < pl.col("n_known"))
            return from_frames(self._qrels, self._run, queries, rows)
