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
    """How many rows there are, and how many of them cannot be evaluated.

    Attributes
    ----------
    n_rows : int
    n_without_id : int
        Rows with a null or empty id.
    n_bad : int
        Rows whose number is missing, or cannot be.
    bad : tuple of str, str and float, or None
        query_id, doc_id and number of one of them.
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


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Rows in Polars, and what is wrong with them.

    Attributes
    ----------
    frame : polars.DataFrame
        query_id, doc_id, and relevance or score.
    query_runs : IdRuns
    wrong : WrongRows
    """

    frame: pl.DataFrame
    query_runs: IdRuns
    wrong: WrongRows


@dataclass(frozen=True)
class Reading:
    """How rows are read whose columns have been found: query_id and doc_id as text, and a number.

    Attributes
    ----------
    kind : {"qrels", "run"}
    value : {"relevance", "score", "rank"}
        The column of the number.
    ascending : bool
        Whether lower scores rank first.
    """

    kind: Kind
    value: str
    ascending: bool = False

    def in_polars(self, frame: Frame) -> CheckedRows:
        """Return the rows of a Polars frame in memory, and what is wrong: then they are worth nothing."""
        beyond, rows = self._beyond(frame), collect(self._numbers(frame))
        runs = IdRuns.of(rows["query_id"])
        lazy = nw.from_native(rows.lazy())
        are_right = are_ids(runs.ids) and are_ids(rows["doc_id"]) and self._are_right(rows[self.value])
        wrong = WrongRows(rows.height, beyond=beyond) if are_right else self._wrong(lazy, beyond)
        if self.ascending or self.value == "rank":
            rows = collect(self._scores(lazy))
        return CheckedRows(rows, runs, wrong)

    def in_engine(self, frame: Frame, where: str) -> Frame:
        """Return the rows of a lazy frame in its engine, checked there."""
        numbers = self._numbers(frame)
        self.check(self._wrong(numbers, self._beyond(frame)), where)
        return self._scores(numbers)

    def check(self, found: WrongRows, where: str) -> None:
        """Raise for what is wrong; `where` is for messages."""
        if found.beyond is not None:
            raise DataError(f"{VALUE_COLUMN[self.kind]} {found.beyond} is {BEYOND}", path=where)
        if not found.n_rows:
            raise DataError("empty: it has no rows", path=where)
        if found.n_without_id:
            raise DataError(
                f"{found.n_without_id:,} of {format_count(found.n_rows, 'row')} lack a query_id or doc_id",
                hint="every row needs both",
                path=where,
            )
        if found.with_nul is not None:
            raise make_nul_error(found.with_nul, where)
        if found.bad is not None:
            query, doc, given = found.bad
            what = "missing (null or NaN)" if given is None else "NaN" if math.isnan(given) else "infinite"
            if self.value == "rank" and given is not None and not math.isnan(given):
                what = f"{given:g}, expected a whole number from 1"
            count = f"; this holds for {found.n_bad:,} rows" if found.n_bad > 1 else ""
            raise DataError(f"{self.value} of document {doc!r} for query {query!r} is {what}{count}", path=where)

    def _numbers(self, frame: Frame) -> Frame:
        # -0.0 equals 0.0 in Polars, but perhaps not elsewhere
        return frame.select(*KEYS, (nw.col(self.value).cast(nw.Float64) + 0.0).alias(self.value))

    def _scores(self, frame: Frame) -> Frame:
        lower_first = self.value == "rank" or self.ascending
        return frame.select(*KEYS, score=0.0 - nw.col(self.value)) if lower_first else frame

    def _beyond(self, frame: Frame) -> str | None:
        """Return a number that float64 would merge with its neighbours, if there is one."""
        dtype = frame.collect_schema()[self.value]
        if not (dtype.is_integer() or dtype.is_decimal()):
            return None
        ends = collect(frame.select(low=nw.col(self.value).min(), high=nw.col(self.value).max())).row(0)
        return next((str(end) for end in ends if end is not None and is_beyond(end)), None)

    def _are_right(self, numbers: pl.Series) -> bool:
        """Tell whether numbers show at once that none is wrong; ranks have to be looked at."""
        return self.value != "rank" and not numbers.null_count() and bool(numbers.is_finite().all())

    def _wrong(self, frame: Frame, beyond: str | None) -> WrongRows:
        """Look for nulls, empty ids, NUL, NaN and wrong ranks in one pass; another one fetches a bad row."""
        number = nw.col(self.value)
        wrong = ~number.is_finite() if self.kind == "qrels" else number.is_nan()
        if self.value == "rank":
            wrong = wrong | (number < 1) | (number % 1 != 0)
        no_id = nw.any_horizontal(*(nw.col(key).is_null() | (nw.col(key) == "") for key in KEYS), ignore_nulls=True)
        has_nul = nw.any_horizontal(*(nw.col(key).str.contains(NUL, literal=True) for key in KEYS), ignore_nulls=True)
        marks = {"ids": no_id, "null": number.is_null(), "wrong": wrong, "nul": has_nul}
        counts = {name: mark.cast(nw.Int64).sum() for name, mark in marks.items()}  # Spark cannot sum booleans
        rows, ids, null, bad, n_nul = (count or 0 for count in collect(frame.select(rows=nw.len(), **counts)).row(0))
        example = collect(frame.filter(number.is_null() | wrong).head(1)).row(0) if null or bad else None
        nul = None
        if n_nul:
            nul = next(key for key in collect(frame.filter(has_nul).select(*KEYS).head(1)).row(0) if key and NUL in key)
        return WrongRows(rows, ids, null + bad, example, beyond, nul)


def add_up(parts: Sequence[WrongRows]) -> WrongRows:
    """Return what is wrong in several parts of a table; the bad row is the one with the lowest ids."""
    return WrongRows(
        sum(one.n_rows for one in parts),
        sum(one.n_without_id for one in parts),
        sum(one.n_bad for one in parts),
        min((one.bad for one in parts if one.bad is not None), key=lambda row: row[:2], default=None),
        min((one.beyond for one in parts if one.beyond is not None), default=None),
        min((one.with_nul for one in parts if one.with_nul is not None), default=None),
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
