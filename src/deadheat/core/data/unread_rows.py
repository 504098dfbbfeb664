"""Rows that are not in memory: frames that stay in their engine, and files that are read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadheat.core.data.rows import MemoryRows, MergedRows, NamedRows, Rows, collect_rows
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.chunk_ids import DocIdOf
from deadheat.core.io.duplicates import MERGING, merge_rows, note_left_out
from deadheat.core.io.files import FileState
from deadheat.core.io.guarding import guard_rows
from deadheat.core.io.kinds import KEYS
from deadheat.core.libraries import polars as pl
from deadheat.core.structures import copy_with

if TYPE_CHECKING:
    import narwhals as nw

    from deadheat.core.io.lazy import Reading


def is_in_memory(frame: nw.LazyFrame[Any]) -> bool:
    """Tell whether a lazy frame of Polars computes its rows from frames in memory, and reads no file."""
    native: pl.LazyFrame = frame.to_native()
    return "SCAN" not in native.explain(optimized=False)


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
        Whether the rows were evaluated in their engine and not kept, so that a later use reads them again.
    """

    is_read_again = False

    def __init__(self, frame: nw.LazyFrame[Any], where: str) -> None:
        self.lazy = frame
        self.where = where
        self.in_polars = bool(frame.implementation.is_polars())

    def negate(self) -> LazyRows:
        """Return the rows in their engine with the lowest scores first."""
        import narwhals as nw

        return LazyRows(self.lazy.with_columns(score=0.0 - nw.col("score")), self.where)

    def check_same(self) -> None:
        """Raise `DataError` if a use would read the rows again, as nothing shows whether they have changed."""
        if self.is_read_again:
            raise DataError(
                "was evaluated where its rows are, which may have changed since",
                hint="fetch the rows into memory and evaluate them",
                path=self.where,
            )

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows, fetched once."""
        return collect_rows(self.lazy)

    def merge(self, duplicates: str) -> MergedRows:
        """Return the rows with one for each document of a query, merged in their engine; it has no first one."""
        self.check_has_first(duplicates)
        import narwhals as nw

        merged = self.lazy.group_by(*KEYS).agg(score=nw.col("score").max(), n=nw.len())
        counts = collect_rows(merged.select(n_results=nw.col("n").sum(), n_kept=nw.len()))
        n_results, n_kept = (count or 0 for count in counts.row(0))
        if n_results == n_kept:
            self.are_unique = True
            return MergedRows(self)
        rows = LazyRows(merged.drop("n"), self.where)
        rows.are_unique = True
        return MergedRows(rows, n_results, n_results - n_kept)

    def check_has_first(self, duplicates: str) -> None:
        """Raise `ParameterError` if the first of several rows is wanted, and these have no order."""
        if duplicates == "first" and not self.in_polars:
            raise ParameterError(
                f"needs rows that have an order, and those of {self.where} do not",
                argument="duplicates",
                given=duplicates,
                hint="take 'best', or a file, a dict or an eager frame",
            )


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
        The state of the file that the rows are in.

    Attributes
    ----------
    duplicates : {"error", "best", "first", "trust"}
        What the pass that places them does with a document that a query has twice.
    on_excluded : callable or None
        Called after a pass whose reading leaves rows out: takes the run, the query_id and doc_id of these rows, and the
        queries that have rows left.
    """

    duplicates = "trust"
    on_excluded: Callable[[Any, pl.DataFrame, pl.Series], None] | None = None
    _notes_on_frame: tuple[str, ...] = ()

    def __init__(self, frame: nw.LazyFrame[Any], reading: Reading, where: str, file: FileState | None = None) -> None:
        self.unchecked = frame
        self.reading = reading
        self.where = where
        self.file = file
        self.in_polars = bool(frame.implementation.is_polars())

    def check_file(self) -> None:
        """Raise `DataError` if the file of the rows changed since it was first read."""
        if self.file is not None:
            self.file.check()

    def check_same(self) -> None:
        """Raise `DataError` if they would be read again, except from memory or from a file that has not changed."""
        self.check_file()
        if self.file is None and not (self.in_polars and is_in_memory(self.unchecked)):
            super().check_same()

    @cached_property
    def lazy(self) -> nw.LazyFrame[Any]:
        """The rows where they are, checked in a pass of their own."""
        self.check_file()
        rows = self.reading.read_in_engine(self.unchecked, self.where)
        if self.duplicates not in MERGING:
            return rows
        if self.in_polars or self.reading.doc_id_of is not None:
            return MemoryRows(self.frame).lazy
        return LazyRows(rows, self.where).merge(self.duplicates).rows.lazy

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows, fetched and checked once."""
        self.check_file()
        with guard_rows(self.where):
            checked = self.reading.read_in_polars(MemoryRows(collect_rows(self.unchecked)).lazy)
        self.reading.check(checked.wrong, self.where)
        if self.duplicates not in MERGING:
            return checked.frame
        rows = merge_rows(checked.frame, self.duplicates)
        n_left_out = checked.frame.height - rows.height
        if n_left_out:
            self._notes_on_frame = (note_left_out(n_left_out, checked.frame.height, self.duplicates),)
        return rows

    def batches(self, n_rows: int) -> Iterator[pl.DataFrame]:
        """Yield the unchecked rows of a file in their order, about `n_rows` at a time."""
        from deadheat.core.io.pages import check_texts  # few rows are read in batches

        self.check_file()
        frame: pl.LazyFrame = self.unchecked.to_native()
        with guard_rows(self.where):
            for batch in frame.collect_batches(chunk_size=n_rows, maintain_order=True):
                check_texts(batch, Path(self.where), 0)
                yield batch
        self.check_file()

    def count_rows(self) -> int | None:
        """Return how many rows there are, if that is known without a look at them, as in a file of Parquet."""
        if self.file is None:
            return None
        frame: pl.LazyFrame = self.unchecked.to_native()
        with guard_rows(self.where):
            return int(frame.select(pl.len()).collect().item())

    def notes(self) -> tuple[str, ...]:
        """Return notes on the rows that were read."""
        return self._notes_on_frame

    def negate(self) -> UnreadRows:
        """Return the rows where they are with the lowest scores first."""
        return copy_with(self, reading=replace(self.reading, ascending=True))

    def merge(self, duplicates: str) -> MergedRows:
        """Return the rows where they are, which the pass that places them merges."""
        self.check_has_first(duplicates)
        return MergedRows(self.copy_unread(duplicates=duplicates))

    def name_documents(self, doc_id_of: DocIdOf) -> NamedRows:
        """Return the rows where they are, whose documents the pass that places them names."""
        return NamedRows(self.copy_unread(reading=replace(self.reading, doc_id_of=doc_id_of)))

    def copy_unread(self, **attributes: Any) -> UnreadRows:  # noqa: ANN401 - of any attribute
        """Return a copy with other attributes, and without rows that were read under those of now."""
        rows = copy_with(self, **attributes)
        for computed in ("lazy", "frame", "_notes_on_frame"):
            vars(rows).pop(computed, None)
        return rows

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return the pairs of the fetched rows that occur more than once."""
        return MemoryRows(self.frame).repeated_pairs()
