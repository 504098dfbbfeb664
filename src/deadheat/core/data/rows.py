"""How the rows of a table are stored: as a dict of dicts, as a frame in memory, or in their own engine.

Their scores may be rounded, deliberately and for every system alike. Other scores may order equal ones, as second keys;
what these leave tied too stays tied.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.checks import as_precision
from deadheat.core.errors import DataError, DeadheatWarning
from deadheat.core.io.files import BLOCK, FileState
from deadheat.core.io.formats.trec import Marked, note_of_comments, read_blocks
from deadheat.core.io.guarding import guarded_rows
from deadheat.core.io.id_columns import IdRuns
from deadheat.core.io.kinds import KEYS, TREC_FIELDS, Kind
from deadheat.core.io.pages import check_texts
from deadheat.core.io.splitting import doc_hash
from deadheat.core.io.values import Nested, all_numbers, check_number, frame_of_mapping, normalized_keys
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count

if TYPE_CHECKING:
    import narwhals as nw

    from deadheat.core.io.lazy import Reading


ScorePrecision: TypeAlias = str | int | None


def round_scores(scores: FloatArray, precision: ScorePrecision) -> FloatArray:
    """Return the scores as they would be stored in the given precision.

    Parameters
    ----------
    scores : ndarray
    precision : {"float32", "float16", "bfloat16"}, int or None
        A floating-point format (round to nearest, ties to even; bfloat16 by way of float32, as PyTorch and
        TensorFlow convert) or a number of decimals (rounded as Python's ``round`` does).

    Returns
    -------
    ndarray
        Shaped as `scores`, in float64; values beyond the format's range become infinite.

    Examples
    --------
    >>> round_scores(np.array([0.1234, 0.1235]), "bfloat16").tolist()
    [0.12353515625, 0.12353515625]
    >>> round_scores(np.array([2.675, 1e300]), 2).tolist()
    [2.67, 1e+300]
    """
    if precision is None:
        return scores
    precision = as_precision("score_precision", precision)
    if isinstance(precision, int):
        return _to_decimals(scores, precision) + 0.0
    with np.errstate(over="ignore"):
        stored = _to_bfloat16(scores.astype(np.float32)) if precision == "bfloat16" else scores.astype(precision)
    return stored.astype(np.float64) + 0.0


def round_and_warn(scores: FloatArray, precision: ScorePrecision) -> FloatArray:
    """Return the scores rounded; warn if some become infinite, as these tie."""
    stored = round_scores(scores, precision)
    if precision is not None and np.isinf(stored).any() and (beyond := np.isinf(stored) & ~np.isinf(scores)).any():
        example = scores[beyond].ravel()[0]
        warnings.warn(
            f"{precision} cannot hold the score {example:g}: it becomes infinite, and ties with all such scores",
            DeadheatWarning,
            stacklevel=2,
        )
    return stored


def _to_bfloat16(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Keep the upper half of each float32; NumPy has no bfloat16."""
    bits = scores.view(np.uint32)
    is_odd = (bits >> 16) & 1
    return ((bits + 0x7FFF + is_odd) & 0xFFFF0000).view(np.float32)


def _to_decimals(scores: FloatArray, decimals: int) -> FloatArray:
    """Round to the nearest decimal, halves to even, as `round` does.

    A score stays as it is where neighbouring floats are further apart than neighbouring decimals. `np.round`
    multiplies it all the same, which changes its last digit, or overflows.
    """
    factor = 10.0**decimals
    fine = np.where(np.abs(scores) < LARGEST_INTEGER / factor, scores, 0.0)
    scaled = fine * factor
    found = np.rint(scaled) / factor
    # the error of the product is at most half of its last digit: elsewhere it cannot change the nearest decimal
    close = (np.abs(scaled - np.rint(scaled)) == 0.5) | (np.abs(scaled) >= LARGEST_INTEGER / 2)
    found[close] = [round(one, decimals) for one in fine[close].tolist()]
    return np.where(fine == scores, found, scores)


Numbers = TypeVar("Numbers", NDArray[np.float64], NDArray[np.uint32])
WORTH = 1 << 18  # rows that are worth a thread
FEW = 1 << 10  # rows that are compared at once
ROW, SMALLEST = 40, 1 << 20  # bytes: of a short row of TREC, and of the smallest block that is read at once
AT_ONCE = 1 << 16  # rows whose hashes are sorted together, in the processor's cache


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

    def parts(self, n: int) -> list[Blocks]:
        """Return the blocks in at most `n` parts of about as many rows each."""
        ends = np.searchsorted(self.bounds, np.linspace(0, self.bounds[-1], n + 1))
        return [self._part(first, last) for first, last in pairwise(ends.tolist()) if first < last]

    def _part(self, first: int, last: int) -> Blocks:
        start, stop = int(self.bounds[first]), int(self.bounds[last])
        return Blocks(
            self.frame[start:stop],
            self.query_ids[first:last],
            self.bounds[first : last + 1] - start,
            self.hashes[start:stop],
        )


def is_grouped(queries: pl.Series) -> bool:
    """Tell whether the rows of each query are adjacent, by the runs of equal ids: of rows there are many more."""
    found = IdRuns.of(queries).ids
    return found.n_unique() == len(found)


def blocks_of(frame: pl.DataFrame, hashes: pl.Series | None = None, query_runs: IdRuns | None = None) -> Blocks:
    """Return the blocks of a frame; where the rows of some query are not adjacent, they are brought together.

    Parameters
    ----------
    frame : polars.DataFrame
    hashes : polars.Series of UInt32, optional
        Those of the document ids by :func:`~deadheat.core.io.splitting.doc_hash`, if they are known.
    query_runs : IdRuns, optional
        Those of query_id, if they are known.
    """
    if query_runs is None:
        query_runs = IdRuns.of(frame["query_id"])
    ids = query_runs.ids
    if ids.n_unique() < len(ids):  # grouping takes a tenth of a sort's time, and keeps the order of rows
        others = frame.columns[1:]
        return blocks_of(frame.group_by("query_id").agg(others).explode(others))
    if hashes is None:
        hashes = frame.lazy().select(doc_hash()).collect(engine="streaming").to_series()
    return Blocks(frame, ids, np.append(0, query_runs.ends), hashes)


def written(column: pl.Series, memory: Numbers) -> Numbers:
    """Write the numbers of a column, of shape (n,), to the first n places of some memory, and return these.

    To use memory again is faster than to have the system clear new one.
    """
    chunks = [chunk.to_numpy() for chunk in column.get_chunks()]
    return np.concatenate(chunks, out=memory[: len(column)]) if chunks else memory[:0]


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
    found = np.zeros(len(blocks.bounds) - 1, np.bool_)
    firsts = np.searchsorted(blocks.bounds, np.arange(0, blocks.bounds[-1], AT_ONCE), side="right") - 1
    parts = list(pairwise([*firsts[run_starts(firsts)].tolist(), len(found)]))
    with ThreadPoolExecutor(pl.thread_pool_size()) as beside:
        some = (beside.map if len(parts) > 1 else map)(lambda part: (part[0], _doubtful(blocks, *part)), parts)
        for first, doubtful in some:
            found[first + doubtful] = True
    return found


def _doubtful(blocks: Blocks, first: int, last: int) -> IntArray:
    """Return which of some blocks have two rows with the same hash, counted from the first one."""
    bounds = blocks.bounds[first : last + 1] - blocks.bounds[first]
    hashes = np.empty(bounds[-1], np.uint32)
    written(blocks.hashes[int(blocks.bounds[first]) : int(blocks.bounds[last])], hashes)
    sizes = np.diff(bounds)
    for start, stop in pairwise([*run_starts(sizes).tolist(), len(sizes)]):  # blocks of one length, sorted in one call
        hashes[bounds[start] : bounds[stop]].reshape(stop - start, -1).sort(axis=1)
    equal = np.flatnonzero(hashes[1:] == hashes[:-1])
    block = np.searchsorted(bounds, equal, side="right") - 1
    return block[equal + 1 < bounds[block + 1]]  # the row after a block's last one is in the next


def is_in_memory(frame: nw.LazyFrame[Any]) -> bool:
    """Tell whether a lazy frame of Polars computes its rows from frames in memory, and reads no file."""
    native: pl.LazyFrame = frame.to_native()
    return "SCAN" not in native.explain(optimized=False)


def _collected(frame: nw.LazyFrame[Any]) -> pl.DataFrame:
    """Fetch a lazy frame into Polars."""
    from deadheat.core.io.lazy import collect  # only frames of engines need it

    return collect(frame)


class Rows:
    """Checked rows of (query_id, doc_id, number), and what every kind of storage can do with them.

    Attributes
    ----------
    in_polars : bool
        Whether Polars can take them in their order; else they are in another engine, which may have no order.
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

    def negated(self) -> Rows:
        """Return the rows of a run with the lowest scores first."""
        return MemoryRows(self.frame.with_columns(score=0.0 - pl.col("score")))

    def normalized(self, form: str) -> Rows:
        """Return the rows, in memory, with their ids in a form of Unicode."""
        return MemoryRows(self.frame.with_columns(pl.col("query_id", "doc_id").str.normalize(cast("Any", form))))

    @cached_property
    def unchecked(self) -> nw.LazyFrame[Any]:
        """The same where one looks at a few of them, before all are checked."""
        return self.lazy

    def check_same(self) -> None:
        """Raise `DataError` if the rows were not held when they were evaluated, and may be others now."""

    def some_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        return _collected(self.unchecked.select("doc_id").head(size))["doc_id"].to_list()

    def a_document(self, query: str) -> str:
        """Return a document of a query, the first where rows have an order."""
        return str(_collected(self.unchecked.filter(query_id=query).head(1))["doc_id"][0])

    def which_documents(self, ids: pl.Series) -> pl.Series:
        """Return those of the given ids that documents have, for any query."""
        import narwhals as nw

        own = self.unchecked.select("doc_id").filter(nw.col("doc_id").is_in(ids.to_list()))
        return ids.filter(ids.is_in(_collected(own.unique())["doc_id"].implode()))

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return query_id, doc_id and count of the pairs that occur more than once; None where none can."""
        from deadheat.core.io.frames import repeated_pairs

        return repeated_pairs(self.lazy)


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
        return frame_of_mapping(self.mapping, self.kind, self.where)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return a copy of the dicts."""
        return {query: dict(documents) for query, documents in self.mapping.items()}

    def negated(self) -> MappingRows:
        """Return a copy with the lowest scores first."""
        self.numbers(list(self.mapping))  # raises for a value that is not a number
        mapping = {query: {doc: -score for doc, score in own.items()} for query, own in self.mapping.items()}
        return MappingRows(mapping, self.kind, self.where)

    def normalized(self, form: str) -> MappingRows:
        """Return a copy with its ids in a form of Unicode; raise for two ids that are one then."""
        mapping = {query: normalized_keys(own, form) for query, own in self.mapping.items()}
        return MappingRows(normalized_keys(mapping, form), self.kind, self.where)

    def numbers(self, queries: Sequence[str]) -> FloatArray:
        """Return the checked numbers of the given queries, concatenated in the order of the dicts."""
        return all_numbers(self.mapping, queries, self.kind, self.where)

    def some_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        return list(islice(chain.from_iterable(self.mapping.values()), size))


class MemoryRows(Rows):
    """A frame in memory.

    Parameters
    ----------
    frame : polars.DataFrame
    hashes : polars.Series of UInt32, optional
        Those of the document ids, if the reader of a file has found them.
    query_runs : IdRuns, optional
        Those of query_id, if they are known.
    """

    def __init__(self, frame: pl.DataFrame, hashes: pl.Series | None = None, query_runs: IdRuns | None = None) -> None:
        self.frame, self.hashes, self.query_runs = frame, hashes, query_runs

    @cached_property
    def blocks(self) -> Blocks:
        """The rows, grouped by query."""
        return blocks_of(self.frame, self.hashes, self.query_runs)

    def some_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        return self.frame["doc_id"].head(size).to_list()

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return the pairs that occur more than once; of many rows, hashes usually show that none does."""
        return super().repeated_pairs() if self._has_repeated else None

    @cached_property
    def _has_repeated(self) -> bool:
        """Whether a pair occurs more than once: judgments are asked again for each of many runs."""
        if self.hashes is not None or self.frame.height > FEW:
            return may_repeat(self.blocks)
        return self.frame[["query_id", "doc_id"]].is_duplicated().any()  # `select` would take as long again


class LazyRows(Rows):
    """A frame that stays in its engine until its rows are needed.

    Parameters
    ----------
    frame : narwhals.LazyFrame
    where : str
        For messages.

    Attributes
    ----------
    is_read_again : bool
        Whether an evaluation was made of them where they are, so that whoever wants them afterwards reads them again.
    """

    is_read_again = False

    def __init__(self, frame: nw.LazyFrame[Any], where: str) -> None:
        self.lazy, self.where = frame, where
        self.in_polars = bool(frame.implementation.is_polars())

    def negated(self) -> LazyRows:
        """Return the rows in their engine with the lowest scores first."""
        import narwhals as nw

        return LazyRows(self.lazy.with_columns(score=0.0 - nw.col("score")), self.where)

    def check_same(self) -> None:
        """Raise `DataError` if the rows are read again: nothing shows whether they are others now."""
        if self.is_read_again:
            raise DataError(
                "was evaluated where its rows are, which may have changed since",
                hint="fetch the rows into memory and evaluate them",
                path=self.where,
            )

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows, fetched once."""
        return _collected(self.lazy)


class UnreadRows(LazyRows):
    """Rows that are read and checked in the pass that needs them: of Spark, or of a large file, in Polars.

    Parameters
    ----------
    frame : narwhals.LazyFrame
        query_id and doc_id as text, and the number in its own type.
    reading : Reading
    where : str
        For messages.
    file : FileState, optional
        Of rows in a file.

    Attributes
    ----------
    check_duplicates : bool
        Whether the pass that places them looks for repeated pairs too.
    """

    check_duplicates = False

    def __init__(self, frame: nw.LazyFrame[Any], reading: Reading, where: str, file: FileState | None = None) -> None:
        self.unchecked, self.reading, self.where, self.file = frame, reading, where, file
        self.in_polars = bool(frame.implementation.is_polars())

    def check_file(self) -> None:
        """Raise `DataError` if the file of the rows changed since it was first read."""
        if self.file is not None:
            self.file.check()

    def check_same(self) -> None:
        """Raise `DataError` if the rows are read again, unless they are in memory, or in a file that did not change."""
        self.check_file()
        if self.file is None and not (self.in_polars and is_in_memory(self.unchecked)):
            super().check_same()

    @cached_property
    def lazy(self) -> nw.LazyFrame[Any]:
        """The rows where they are, checked in a pass of their own."""
        self.check_file()
        return self.reading.in_engine(self.unchecked, self.where)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows, fetched and checked once."""
        self.check_file()
        with guarded_rows(self.where):
            checked = self.reading.in_polars(MemoryRows(_collected(self.unchecked)).lazy)
        self.reading.check(checked.wrong, self.where)
        return checked.frame

    def batches(self, n_rows: int) -> Iterator[pl.DataFrame]:
        """Yield the unchecked rows of a file in their order, about so many at a time."""
        self.check_file()
        frame: pl.LazyFrame = self.unchecked.to_native()
        with guarded_rows(self.where):
            for batch in frame.collect_batches(chunk_size=n_rows, maintain_order=True):
                check_texts(batch, Path(self.where), 0)
                yield batch
        self.check_file()

    def notes(self) -> tuple[str, ...]:
        """Return what people should know of the batches that were read."""
        return ()

    def negated(self) -> UnreadRows:
        """Return the rows where they are with the lowest scores first."""
        return copy_with(self, reading=replace(self.reading, ascending=True))

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return the pairs of the fetched rows that occur more than once."""
        return MemoryRows(self.frame).repeated_pairs()


class UnreadTrec(UnreadRows):
    """A run in a TREC file, compressed or not, that is larger than memory: it is read block by block."""

    def __init__(self, path: Path) -> None:
        from deadheat.core.io.lazy import Reading  # which needs Narwhals

        self._path, self._marked, self.file = path, Marked("run"), FileState.of(path)
        self.reading, self.where, self.in_polars = Reading("run", "score"), str(path), True

    @cached_property
    def unchecked(self) -> nw.LazyFrame[Any]:
        """All rows, in memory."""
        import narwhals as nw

        return nw.from_native(pl.concat(self.batches(BLOCK // ROW)).lazy())

    def batches(self, n_rows: int) -> Iterator[pl.DataFrame]:
        """Yield the rows, block by block, about so many at a time."""
        self.check_file()
        self._marked = Marked("run")
        size, has_rows = min(BLOCK, max(SMALLEST, n_rows * ROW)), False
        for frame in filter(len, read_blocks(self._path, "run", self._marked, size)):
            has_rows = True
            yield frame
        self.check_file()
        if not has_rows:
            raise DataError("run without a single row", allowed=" ".join(TREC_FIELDS["run"]), path=self._path)

    def notes(self) -> tuple[str, ...]:
        """Return a note on the comments that were skipped."""
        return note_of_comments(len(self._marked.comments), self._path)


def ordered_by(
    frame: pl.DataFrame, others: Mapping[str, pl.DataFrame], precision: ScorePrecision
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return a run whose scores are ranks by several keys, and notes on documents that have no second key.

    Parameters
    ----------
    frame : polars.DataFrame
        query_id, doc_id, score.
    others : mapping of str to polars.DataFrame
        The next keys in order, by name, each with the same columns.
    precision : str, int or None
        To which the scores of all keys are rounded first.

    Returns
    -------
    frame : polars.DataFrame
        The same rows in the same order; the lowest score is 1, equal scores are equal by every key.
    notes : tuple of str
    """
    ranks, notes = _ranked(_rounded(frame["score"], precision)), []
    for name, other in others.items():
        joined = frame.select(*KEYS).join(other.select(*KEYS, then="score"), on=KEYS, how="left", maintain_order="left")
        is_tied = pl.DataFrame({"query_id": frame["query_id"], "rank": ranks}).is_duplicated()
        n_lacking = int((is_tied & joined["then"].is_null()).sum())
        are = "is not in it: it comes last" if n_lacking == 1 else "are not in it: they come last"
        lacking = f", {n_lacking:,} of them {are}" if n_lacking else ""
        notes.append(f"{format_count(int(is_tied.sum()), 'tied document')} ordered by {name}{lacking}")
        ranks = _ranked(ranks, _rounded(joined["then"], precision))
    return frame.with_columns(score=ranks), tuple(notes)


def rank_tuples(source: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, dict[str, float]] | None:
    """Return a run with ranks in place of tuples or lists of scores, which order documents by their parts in turn.

    None if the first score is neither.

    Raises
    ------
    DataError
        Some scores have more parts than others, or a part is no number.

    Examples
    --------
    >>> rank_tuples({"q": {"a": (3, 0.5), "b": (3, 0.7), "c": (3, 0.5), "d": (1, 9.0)}}, "the run")
    {'q': {'a': 2.0, 'b': 3.0, 'c': 2.0, 'd': 1.0}}
    """
    first = next((score for documents in source.values() for score in documents.values()), None)
    if not isinstance(first, tuple | list):
        return None
    scores = list(chain.from_iterable(documents.values() for documents in source.values()))
    if wrong := [one for one in scores if not isinstance(one, tuple | list) or len(one) != len(first) or not one]:
        raise DataError(
            found=f"{wrong[0]!r}",
            allowed=f"a tuple of {len(first)} numbers, as the first score is" if first else "a tuple of numbers",
            path=where,
        )
    try:
        columns = np.array(scores, np.float64).T
    except (TypeError, ValueError, OverflowError):
        columns = np.zeros(0)
    if columns.ndim != 2 or not (np.abs(columns) < LARGEST_INTEGER).all():  # a part may be a list, text or NaN
        for query, documents in source.items():
            for doc, part in ((doc, part) for doc, score in documents.items() for part in score):
                check_number("run", query, doc, part, where)
    numbers = iter(_ranked(*map(pl.Series, columns + 0.0)).to_list())
    return {query: dict(zip(documents, numbers, strict=False)) for query, documents in source.items()}


def _rounded(scores: pl.Series, precision: ScorePrecision) -> pl.Series:
    """Return scores rounded; null where there is none."""
    if precision is None:
        return scores
    rounded = pl.Series(round_and_warn(scores.fill_null(0.0).to_numpy(), precision))
    return pl.select(pl.when(scores.is_not_null()).then(rounded)).to_series()


def _ranked(*keys: pl.Series) -> pl.Series:
    """Return dense ranks from the lowest, 1, on, by the first key, then by the next; null is below every number."""
    return (
        pl.DataFrame({f"key {number}": key for number, key in enumerate(keys)})
        .select(pl.struct(pl.all()).rank("dense").cast(pl.Float64))
        .to_series()
    )


def first_row_where(rows: pl.DataFrame, condition: pl.Expr, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of the first row that meets a condition; an empty list if none does.

    Examples
    --------
    >>> rows = pl.DataFrame({"query_id": ["a", "b"], "n": [1, 0]})
    >>> first_row_where(rows, pl.col("n") == 0, "query_id")
    [('b',)]
    """
    return rows.filter(condition).select(columns).head(1).rows()
