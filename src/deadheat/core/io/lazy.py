"""Frames of any engine: fetched, and their rows read and checked where they are.

They need Narwhals, so this module is imported only where they are used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import narwhals as nw

from deadheat.core.errors import ColumnError, DataError
from deadheat.core.io.chunk_ids import DocIdOf
from deadheat.core.io.guarding import check_threads
from deadheat.core.io.id_columns import IdRuns, are_ids
from deadheat.core.io.ids import NUL, make_nul_error
from deadheat.core.io.kinds import KEYS, VALUE_COLUMN, Kind
from deadheat.core.io.values import BEYOND, is_beyond
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count

Frame = nw.LazyFrame[Any]


@dataclass(frozen=True)
class WrongRows:
    """How many rows a table has, how many of them cannot be evaluated, and an example of each problem.

    Attributes
    ----------
    n_rows : int
    n_without_id : int
        Rows with a null or empty id.
    n_bad : int
        Rows whose number is missing, or cannot be.
    bad : tuple of str, str and float, or None
        query_id, doc_id and number of one of these rows.
    beyond : str or None
        A number that float64 would merge with its neighbours, as it was written.
    with_nul : str or None
        An id with a NUL.
    """

    n_rows: int
    n_without_id: int = 0
    n_bad: int = 0
    bad: tuple[str, str, float | None] | None = None
    beyond: str | None = None
    with_nul: str | None = None

    def __bool__(self) -> bool:
        """Whether a row is wrong; a table without rows is judged by `Reading.check` alone."""
        return bool(self.n_without_id or self.n_bad or self.beyond is not None or self.with_nul is not None)


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Rows in Polars, and what is wrong with them.

    Attributes
    ----------
    frame : polars.DataFrame
        query_id, doc_id, and relevance or score.
    query_runs : IdRuns
    wrong : WrongRows
    excluded : polars.DataFrame or None, default None
        query_id and doc_id of the rows that a reading left out, as a subclass does.
    """

    frame: pl.DataFrame
    query_runs: IdRuns
    wrong: WrongRows
    excluded: pl.DataFrame | None = None


@dataclass(frozen=True)
class Reading:
    """Reads and checks rows whose columns are known: query_id and doc_id as text, and a number.

    Attributes
    ----------
    kind : {"qrels", "run"}
    value : {"relevance", "score", "rank"}
        The column of the number.
    ascending : bool
        Whether lower scores rank first.
    doc_id_of : DocIdOf or None
        How ids of documents are made of those of chunks.
    """

    kind: Kind
    value: str
    ascending: bool = False
    doc_id_of: DocIdOf | None = None

    def read_in_polars(self, frame: Frame) -> CheckedRows:
        """Return the rows of a Polars frame in memory, and what is wrong; if something is, the rows are not usable."""
        beyond = self._find_beyond(frame)
        rows = collect(self._select_numbers(frame))
        query_runs = IdRuns.of(rows["query_id"])
        lazy = nw.from_native(rows.lazy())
        # mostly nothing is wrong, and this shows it faster than a search
        have_ids = are_ids(query_runs.ids) and are_ids(rows["doc_id"])
        if have_ids and self._are_surely_right(rows[self.value]):
            wrong = WrongRows(rows.height, beyond=beyond)
        else:
            wrong = self._find_wrong_rows(lazy, beyond)
        if self._lower_ranks_first:
            rows = collect(self._select_scores(lazy))
        if self.doc_id_of is not None:
            rows = rows.with_columns(self.doc_id_of.expression)
        return CheckedRows(rows, query_runs, wrong)

    def read_in_engine(self, frame: Frame, where: str) -> Frame:
        """Return the rows of a lazy frame in its engine, checked there."""
        numbers = self._select_numbers(frame)
        wrong = self._find_wrong_rows(numbers, self._find_beyond(frame))
        self.check(wrong, where)
        return self._select_scores(numbers)

    def check(self, wrong: WrongRows, where: str) -> None:
        """Raise for what is wrong; `where` is for messages."""
        if wrong.beyond is not None:
            raise DataError(f"{VALUE_COLUMN[self.kind]} {wrong.beyond} is {BEYOND}", path=where)
        if not wrong.n_rows:
            raise DataError("empty: it has no rows", path=where)
        if wrong.n_without_id:
            raise DataError(
                f"{wrong.n_without_id:,} of {format_count(wrong.n_rows, 'row')} lack a query_id or doc_id",
                hint="every row needs both",
                path=where,
            )
        if wrong.with_nul is not None:
            raise make_nul_error(wrong.with_nul, where)
        if wrong.bad is not None:
            query, doc, number = wrong.bad
            problem = self._describe_number(number)
            if wrong.n_bad > 1:
                problem += f"; this holds for {wrong.n_bad:,} rows"
            raise DataError(f"{self.value} of document {doc!r} for query {query!r} is {problem}", path=where)

    def _describe_number(self, number: float | None) -> str:
        """Say why a number cannot be read."""
        if number is None:
            return "missing (null or NaN)"
        if math.isnan(number):
            return "NaN"
        if self.value == "rank":
            return f"{number:g}, expected a whole number from 0"
        return "infinite"

    @property
    def _lower_ranks_first(self) -> bool:
        """Whether the lowest number is the best."""
        return self.ascending or self.value == "rank"

    def _select_numbers(self, frame: Frame) -> Frame:
        """Return the ids, and the numbers as floats."""
        number = nw.col(self.value).cast(nw.Float64) + 0.0  # -0.0 equals 0.0 in Polars, but perhaps not elsewhere
        return frame.select(*KEYS, number.alias(self.value))

    def _select_scores(self, frame: Frame) -> Frame:
        """Return the ids, and scores of which the highest ranks first."""
        if not self._lower_ranks_first:
            return frame
        return frame.select(*KEYS, score=0.0 - nw.col(self.value))

    def _find_beyond(self, frame: Frame) -> str | None:
        """Return a number that float64 would merge with its neighbours; None if there is none."""
        dtype = frame.collect_schema()[self.value]
        if not (dtype.is_integer() or dtype.is_decimal()):
            return None
        number = nw.col(self.value)
        low, high = collect(frame.select(low=number.min(), high=number.max())).row(0)
        for extreme in (low, high):
            if extreme is not None and is_beyond(extreme):
                return str(extreme)
        return None

    def _are_surely_right(self, numbers: pl.Series) -> bool:
        """Tell whether a fast look shows that no number is wrong; it is never enough for ranks."""
        return self.value != "rank" and not numbers.null_count() and bool(numbers.is_finite().all())

    def _find_wrong_rows(self, frame: Frame, beyond: str | None) -> WrongRows:
        """Count nulls, empty ids, NULs, NaN and wrong ranks in one pass; if there are any, fetch an example."""
        number = nw.col(self.value)
        is_missing = number.is_null()
        is_wrong = ~number.is_finite() if self.kind == "qrels" else number.is_nan()
        if self.value == "rank":
            is_wrong = is_wrong | (number < 0) | (number % 1 != 0)
        lack_id = [nw.col(key).is_null() | (nw.col(key) == "") for key in KEYS]
        lacks_any_id = nw.any_horizontal(*lack_id, ignore_nulls=True)
        have_nul = [nw.col(key).str.contains(NUL, literal=True) for key in KEYS]
        has_any_nul = nw.any_horizontal(*have_nul, ignore_nulls=True)
        counts = frame.select(
            n_rows=nw.len(),
            n_without_id=_count(lacks_any_id),
            n_missing=_count(is_missing),
            n_wrong=_count(is_wrong),
            n_with_nul=_count(has_any_nul),
        )
        # a sum of no rows may be null
        n_rows, n_without_id, n_missing, n_wrong, n_with_nul = (count or 0 for count in collect(counts).row(0))
        bad = None
        if n_missing or n_wrong:
            bad = collect(frame.filter(is_missing | is_wrong).head(1)).row(0)
        with_nul = None
        if n_with_nul:
            keys = collect(frame.filter(has_any_nul).select(*KEYS).head(1)).row(0)
            with_nul = next(key for key in keys if key and NUL in key)
        return WrongRows(n_rows, n_without_id, n_missing + n_wrong, bad, beyond, with_nul)


def _count(is_marked: nw.Expr) -> nw.Expr:
    """Return in how many rows a condition holds; Spark cannot sum booleans."""
    return is_marked.cast(nw.Int64).sum()


def add_up(parts: Sequence[WrongRows]) -> WrongRows:
    """Return what is wrong in several parts of a table; the bad row is the one with the lowest ids."""
    bad_rows = [part.bad for part in parts if part.bad is not None]
    numbers_beyond = [part.beyond for part in parts if part.beyond is not None]
    ids_with_nul = [part.with_nul for part in parts if part.with_nul is not None]
    return WrongRows(
        n_rows=sum(part.n_rows for part in parts),
        n_without_id=sum(part.n_without_id for part in parts),
        n_bad=sum(part.n_bad for part in parts),
        bad=min(bad_rows, key=lambda row: row[:2], default=None),
        beyond=min(numbers_beyond, default=None),
        with_nul=min(ids_with_nul, default=None),
    )


def collect(frame: Frame) -> pl.DataFrame:
    """Fetch a lazy frame into Polars; Polars' own frames stream."""
    check_threads()
    if frame.implementation.is_polars():
        return cast("pl.LazyFrame", frame.to_native()).collect(engine="streaming")
    try:
        return cast("pl.DataFrame", frame.collect(backend="polars").to_native())
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # how DuckDB says that Ctrl-C was pressed
            raise KeyboardInterrupt from error
        raise


def as_narwhals(source: object, where: str) -> object:
    """Return a frame of any engine, or a single column, as one of Narwhals, and anything else unchanged."""
    try:
        return nw.from_native(cast("Any", source), pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:  # pandas allows two columns of the same name
        raise ColumnError(" ".join(str(error).split()), path=where) from error
