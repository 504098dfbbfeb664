"""How the rows of a table are stored: as a dict of dicts, or as a frame in memory, grouped by query.

Rows that stay in their own engine, or in a file, are in `unread_rows.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.io.chunk_ids import DocIdOf
from deadheat.core.io.duplicates import merge_rows
from deadheat.core.io.id_columns import IdRuns
from deadheat.core.io.id_hashes import hash_doc_ids
from deadheat.core.io.ids import normalize_keys
from deadheat.core.io.kinds import Kind
from deadheat.core.io.nested import Nested, build_frame, read_numbers
from deadheat.core.libraries import polars as pl

if TYPE_CHECKING:
    import narwhals as nw


NumberArray = TypeVar("NumberArray", NDArray[np.float64], NDArray[np.uint32])
ROWS_OF_THREAD = 1 << 18  # fewer rows are not worth a thread
FEW_ROWS = 1 << 10  # up to so many rows, pairs are compared without hashes
CACHED_ROWS = 1 << 16  # about so many hashes are sorted together, in the processor's cache


@dataclass(frozen=True, eq=False)
class MergedRows:
    """The rows of a run of which one is left for each document of a query.

    Attributes
    ----------
    rows : Rows
    n_results : int
        Rows that there were.
    n_left_out : int
        Rows that are not left; 0 also where that is found out when the rows are placed.
    """

    rows: Rows
    n_results: int = 0
    n_left_out: int = 0


@dataclass(frozen=True, eq=False)
class NamedRows:
    """The rows of a run with the ids of documents in place of those of chunks.

    Attributes
    ----------
    rows : Rows
    n_results : int
        Rows that there are.
    n_chunks : int or None
        Rows whose id was that of a chunk; None where that is found out when the rows are placed.
    """

    rows: Rows
    n_results: int = 0
    n_chunks: int | None = None


@dataclass(frozen=True)
class Blocks:
    """The rows of a frame that are grouped by query, as those of runs usually are: one block for each query.

    Attributes
    ----------
    frame : polars.DataFrame
        query_id, doc_id, and relevance or score.
    query_ids : polars.Series of length n_blocks
    bounds : ndarray of int, shape (n_blocks + 1,)
        Where each block starts, and the number of rows.
    hashes : polars.Series of UInt32, length n_rows
        The high bits of each document id's hash.
    """

    frame: pl.DataFrame
    query_ids: pl.Series
    bounds: IntArray
    hashes: pl.Series

    def split(self, n: int) -> list[Blocks]:
        """Return the blocks in at most `n` parts of about as many rows each."""
        ends = np.searchsorted(self.bounds, np.linspace(0, self.bounds[-1], n + 1))
        return [self._slice(first, last) for first, last in pairwise(ends.tolist()) if first < last]

    def _slice(self, first: int, last: int) -> Blocks:
        """Return the blocks from the first one to that before the last."""
        start = int(self.bounds[first])
        stop = int(self.bounds[last])
        return Blocks(
            self.frame[start:stop],
            self.query_ids[first:last],
            self.bounds[first : last + 1] - start,
            self.hashes[start:stop],
        )


def is_grouped(queries: pl.Series) -> bool:
    """Tell whether the rows of each query are adjacent: then no id begins a second stretch."""
    ids = IdRuns.of(queries).ids
    return ids.n_unique() == len(ids)


def make_blocks(frame: pl.DataFrame, hashes: pl.Series | None = None, query_runs: IdRuns | None = None) -> Blocks:
    """Return the blocks of a frame; where the rows of some query are not adjacent, they are brought together.

    Parameters
    ----------
    frame : polars.DataFrame
    hashes : polars.Series of UInt32, optional
        The hashes of the document ids by :func:`~deadheat.core.io.id_hashes.hash_doc_ids`, if they are known.
    query_runs : IdRuns, optional
        The stretches of equal query_id, if they are known.
    """
    if query_runs is None:
        query_runs = IdRuns.of(frame["query_id"])
    ids = query_runs.ids
    if ids.n_unique() < len(ids):  # grouping takes a tenth of a sort's time, and keeps the order of rows
        other_columns = frame.columns[1:]
        return make_blocks(frame.group_by("query_id").agg(other_columns).explode(other_columns))
    if hashes is None:
        hashes = frame.lazy().select(hash_doc_ids()).collect(engine="streaming").to_series()
    return Blocks(frame, ids, np.append(0, query_runs.ends), hashes)


def write_numbers(column: pl.Series, memory: NumberArray) -> NumberArray:
    """Write the numbers of a column, of shape (n,), to the first n places of an array, and return that part of it.

    An array that is used again is faster than new memory, which the system clears.
    """
    chunks = [chunk.to_numpy() for chunk in column.get_chunks()]
    if not chunks:
        return memory[:0]
    return np.concatenate(chunks, out=memory[: len(column)])


def may_repeat(blocks: Blocks) -> bool:
    """Tell whether a document may appear twice in a block: False is certain, True needs a closer look.

    The hashes of each block are sorted, in the processor's cache. Only blocks with two equal hashes have their ids
    compared, in one call for all of them, as there may be as many blocks as rows.
    """
    has_equal_hashes = _find_equal_hashes(blocks)
    if not has_equal_hashes.any():
        return False
    rows = np.flatnonzero(np.repeat(has_equal_hashes, np.diff(blocks.bounds)))
    return bool(blocks.frame.select(pl.col("query_id", "doc_id").gather(rows)).is_duplicated().any())


def _find_equal_hashes(blocks: Blocks) -> BoolArray:
    """Tell which blocks have two rows with the same hash, of shape (n_blocks,)."""
    n_blocks = len(blocks.bounds) - 1
    # A part has whole blocks, of about CACHED_ROWS rows: it begins with the block that holds such a multiple.
    first_rows = np.arange(0, blocks.bounds[-1], CACHED_ROWS)
    first_blocks = np.searchsorted(blocks.bounds, first_rows, side="right") - 1
    first_blocks = first_blocks[run_starts(first_blocks)]  # a block that holds several multiples begins one part
    parts = list(pairwise([*first_blocks.tolist(), n_blocks]))

    def find_in_part(part: tuple[int, int]) -> IntArray:
        return _find_equal_hashes_in_part(blocks, *part)

    if len(parts) > 1:
        from concurrent.futures import ThreadPoolExecutor  # takes 3 ms to load, and few runs are so large

        with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
            blocks_of_parts = list(threads.map(find_in_part, parts))
    else:
        blocks_of_parts = [find_in_part(part) for part in parts]
    has_equal_hashes = np.zeros(n_blocks, np.bool_)
    for numbers in blocks_of_parts:
        has_equal_hashes[numbers] = True
    return has_equal_hashes


def _find_equal_hashes_in_part(blocks: Blocks, first: int, last: int) -> IntArray:
    """Return the numbers of the blocks with two equal hashes, from the block `first` to that before `last`."""
    start = int(blocks.bounds[first])
    stop = int(blocks.bounds[last])
    bounds = blocks.bounds[first : last + 1] - start
    hashes = np.empty(stop - start, np.uint32)
    write_numbers(blocks.hashes[start:stop], hashes)
    sizes = np.diff(bounds)
    # neighbouring blocks of one size are the rows of a matrix, sorted in one call
    for begin, end in pairwise([*run_starts(sizes).tolist(), len(sizes)]):
        hashes[bounds[begin] : bounds[end]].reshape(end - begin, -1).sort(axis=1)
    equals_next = np.flatnonzero(hashes[1:] == hashes[:-1])
    block = np.searchsorted(bounds, equals_next, side="right") - 1
    is_next_in_block = equals_next + 1 < bounds[block + 1]
    return first + block[is_next_in_block]


def collect_rows(frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Fetch a lazy frame into Polars."""
    from deadheat.core.io.lazy import collect  # only frames of engines need it

    return collect(frame)


class Rows:
    """Checked rows of (query_id, doc_id, number), and what every kind of storage can do with them.

    Attributes
    ----------
    in_polars : bool
        Whether the rows are in Polars, in their order; another engine may have no order.
    are_unique : bool
        Whether it is known that no (query, document) pair comes twice.
    """

    in_polars: bool = True
    are_unique: bool = False

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows in the order of the source, built or fetched once."""
        raise NotImplementedError

    @cached_property
    def lazy(self) -> nw.LazyFrame[Any]:
        """The rows as a lazy Narwhals frame, in their engine."""
        import narwhals as nw  # only joins need it

        return nw.from_native(self.frame.lazy())

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the rows as ``{query_id: {doc_id: number}}``."""
        nested: dict[str, dict[str, float]] = {}
        for query, doc, value in self.frame.iter_rows():
            nested.setdefault(query, {})[doc] = value
        return nested

    def negate(self) -> Rows:
        """Return the rows of a run with the lowest scores first."""
        return MemoryRows(self.frame.with_columns(score=0.0 - pl.col("score")))

    def normalize(self, form: str) -> Rows:
        """Return the rows, in memory, with their ids in a form of Unicode."""
        return MemoryRows(self.frame.with_columns(pl.col("query_id", "doc_id").str.normalize(cast("Any", form))))

    @cached_property
    def unchecked(self) -> nw.LazyFrame[Any]:
        """The rows as a lazy frame that may not be checked yet, for a look at a few of them."""
        return self.lazy

    def check_same(self) -> None:
        """Raise `DataError` if the rows were evaluated in their engine, and may have changed since."""

    def sample_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        return collect_rows(self.unchecked.select("doc_id").head(size))["doc_id"].to_list()

    def pick_document(self, query: str) -> str:
        """Return a document of a query, the first where rows have an order."""
        return str(collect_rows(self.unchecked.filter(query_id=query).head(1))["doc_id"][0])

    def find_documents(self, ids: pl.Series) -> pl.Series:
        """Return the given ids that are ids of documents, of any query."""
        import narwhals as nw

        documents = self.unchecked.select("doc_id").filter(nw.col("doc_id").is_in(ids.to_list()))
        present = collect_rows(documents.unique())["doc_id"]
        return ids.filter(ids.is_in(present.implode()))

    def engine(self, qrels: Any, run: Any, precision: Any) -> Any:  # noqa: ANN401, ARG002 - of files above this one
        """Return the `Engine` that only such rows have; None if `choose_engine` chooses one."""
        return None

    def qrels_by_position(self, source: object) -> Any:  # noqa: ANN401, ARG002 - of a file above this one
        """Return `Qrels` if neither the judgments nor these rows have query ids, so that positions match; else None."""
        return None

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return query_id, doc_id and n of each pair that comes n > 1 times; None if it is known that none does."""
        from deadheat.core.io.frames import find_repeated_pairs

        return find_repeated_pairs(self.lazy)

    def name_documents(self, doc_id_of: DocIdOf) -> NamedRows:
        """Return the rows of a run, in memory, with the documents that its chunks are of."""
        frame = self.frame.with_columns(doc_id_of.expression)
        n_chunks = int((frame["doc_id"] != self.frame["doc_id"]).sum())
        return NamedRows(MemoryRows(frame), frame.height, n_chunks)

    def merge(self, duplicates: str) -> MergedRows:
        """Return the rows of a run with one for each document of a query.

        Parameters
        ----------
        duplicates : {"best", "first"}
            Which one is left, as :func:`~deadheat.core.io.duplicates.merge_rows` says.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class MappingRows(Rows):
    """A dict of dicts; a frame is built only when asked for.

    Attributes
    ----------
    mapping : dict of dict
        ``{query_id: {doc_id: number}}``; a query of qrels may have no document, though no row can say so.
    kind : {"qrels", "run"}
    where : str
        For messages.
    """

    mapping: Nested
    kind: Kind
    where: str

    are_unique = True  # a dict has each key once

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows as columns, built once."""
        return build_frame(self.mapping, self.kind, self.where)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return a copy of the dicts."""
        return {query: dict(documents) for query, documents in self.mapping.items()}

    def negate(self) -> MappingRows:
        """Return a copy with the lowest scores first."""
        self.numbers(list(self.mapping))  # raises for a value that is not a number
        mapping = {}
        for query, documents in self.mapping.items():
            mapping[query] = {doc: -score for doc, score in documents.items()}
        return MappingRows(mapping, self.kind, self.where)

    def merge(self, duplicates: str) -> MergedRows:  # noqa: ARG002 - no document comes twice
        """Return the rows, as they are."""
        return MergedRows(self)

    def normalize(self, form: str) -> MappingRows:
        """Return a copy with its ids in a form of Unicode; raise for two ids that are one then."""
        mapping = {query: normalize_keys(documents, form) for query, documents in self.mapping.items()}
        return MappingRows(normalize_keys(mapping, form), self.kind, self.where)

    def numbers(self, queries: Sequence[str]) -> FloatArray:
        """Return the checked numbers of the given queries, concatenated in the order of the dicts."""
        return read_numbers(self.mapping, queries, self.kind, self.where)

    def sample_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        documents = chain.from_iterable(self.mapping.values())
        return list(islice(documents, size))


class MemoryRows(Rows):
    """A frame in memory.

    Parameters
    ----------
    frame : polars.DataFrame
    hashes : polars.Series of UInt32, optional
        The hashes of the document ids, if the reader of a file has computed them.
    query_runs : IdRuns, optional
        The stretches of equal query_id, if they are known.
    """

    def __init__(self, frame: pl.DataFrame, hashes: pl.Series | None = None, query_runs: IdRuns | None = None) -> None:
        self.frame = frame
        self.hashes = hashes
        self.query_runs = query_runs

    @cached_property
    def blocks(self) -> Blocks:
        """The rows, grouped by query."""
        return make_blocks(self.frame, self.hashes, self.query_runs)

    def sample_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        return self.frame["doc_id"].head(size).to_list()

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return the pairs that occur more than once; hashes usually show that none does."""
        if not self._has_repeated:
            return None
        return super().repeated_pairs()

    def merge(self, duplicates: str) -> MergedRows:
        """Return the rows with one for each document of a query; hashes usually show that no document comes twice."""
        if self.are_unique or not self._has_repeated:
            self.are_unique = True
            return MergedRows(self)
        rows = MemoryRows(merge_rows(self.frame, duplicates))
        rows.are_unique = True
        n_results = self.frame.height
        return MergedRows(rows, n_results, n_results - rows.frame.height)

    @cached_property
    def _has_repeated(self) -> bool:
        """Whether a pair occurs more than once; kept, as judgments are checked again for each of many runs."""
        if self.hashes is not None or self.frame.height > FEW_ROWS:
            return may_repeat(self.blocks)
        return self.frame[["query_id", "doc_id"]].is_duplicated().any()  # `select` would take as long again


def find_first_row(rows: pl.DataFrame, condition: pl.Expr, *columns: str) -> tuple[Any, ...] | None:
    """Return some columns of the first row that meets a condition; None if no row does.

    Examples
    --------
    >>> rows = pl.DataFrame({"query_id": ["a", "b"], "n": [1, 0]})
    >>> find_first_row(rows, pl.col("n") == 0, "query_id")
    ('b',)
    """
    first = rows.filter(condition).select(columns).head(1)
    if first.is_empty():
        return None
    return first.row(0)
