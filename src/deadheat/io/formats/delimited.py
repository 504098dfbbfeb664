"""CSV and TSV with a header line: parsed by Polars, and row by row where its result is in doubt."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO

import polars as pl

from deadheat.errors import EmptyDataError, FractionsWarning, NullIdError
from deadheat.io.census import count_separators
from deadheat.io.formats.base import Format, register
from deadheat.io.formats.trec import locate_in_lines, read_trec
from deadheat.io.kinds import VALUE_COLUMN, Kind, known_names, resolve_columns
from deadheat.io.rows import Rows
from deadheat.io.source import (
    HEAD,
    blocks,
    check_lines_of,
    misleads_polars,
    plain_head,
    read_all,
    refuse_binary,
    without_bom,
)
from deadheat.io.values import (
    check_ids_of_row,
    frame_of_rows,
    holds_controls,
    holds_large,
    holds_only_ids,
    holds_only_numbers,
    read_value,
)
from deadheat.io.writing import Compression, value_as_text, write_text

_TREC_WIDTHS = {4, 6}


@dataclass(frozen=True)
class _Table:
    """A file with a header: where it is, and which of its columns are wanted.

    Attributes
    ----------
    path : pathlib.Path
    data : pathlib.Path or bytes
        What Polars reads: the path, or the bytes of a compressed file.
    head : bytes
        How it begins, without a byte order mark.
    kind : {"qrels", "run"}
    separator : str
    header : list of str
    n_header_lines, n_header_bytes : int
        What the header takes of the file; a quoted name may hold a newline.
    """

    path: Path
    data: Path | bytes
    head: bytes
    kind: Kind
    separator: str
    header: list[str]
    n_header_lines: int
    n_header_bytes: int

    @property
    def places(self) -> list[int]:
        """The positions of the query id, the document id and the value."""
        columns = resolve_columns(self.header, self.kind, where=self.path)
        return [self.header.index(columns[name]) for name in ("query_id", "doc_id", VALUE_COLUMN[self.kind])]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row below the header with its line, or raise if it has not as many fields as the header."""
        with _opened(self.data) as file:
            rows = Rows(file, self.path, self.separator)
            for line, row in rows:
                if misfit := rows.misfit(row, line):
                    raise misfit
                yield line, row


def _is_trec(path: Path, separator: str) -> bool:
    """Return whether a TSV file is TREC with tabs: no known column name in its first line, and 4 or 6 fields."""
    if separator != "\t" or not path.is_file():
        return False
    first = next((line for line in next(blocks(path, has_lines=True)).split(b"\n") if line.strip()), b"")
    names = [name.strip(' "') for name in first.decode("utf-8", "replace").strip("\r").split("\t")]
    return len(names) in _TREC_WIDTHS and not known_names() & set(names)


def read_table(path: Path, kind: Kind, *, separator: str) -> pl.DataFrame:
    """Read a table with a header into query_id, doc_id and the value, in file order; TREC with tabs as such.

    Raises
    ------
    ColumnError, FileFormatError, NullIdError, ScoreError, RelevanceError, EmptyDataError
        With the first line that is wrong.
    """
    if _is_trec(path, separator):
        return read_trec(path, kind)
    table = _open(path, kind, separator)
    if not any(table.header):
        raise EmptyDataError(f"{kind} without a header line", allowed="column names and rows", path=path)
    frame = _parse(table, table.places)
    if frame is None:
        frame = _read_rows(table, table.places)
    if frame.is_empty():
        raise EmptyDataError(f"{kind} without a single row below the header", path=path)
    if kind == "qrels" and table.header[table.places[2]] == "score" and (frame["relevance"] % 1 != 0).any():
        warnings.warn(
            f"{path}: the column 'score' is read as relevance, as in BEIR's qrels, and has fractions: is it a run?",
            FractionsWarning,
            stacklevel=2,
        )
    return frame


def names_in_table(path: Path, *, separator: str) -> list[str]:
    """Return the names in the header, none if there is none."""
    return _open(path, "run", separator).header


def locate_in_table(path: Path, kind: Kind, query_id: str, doc_id: str, *, separator: str) -> list[int]:
    """Return the 1-based lines on which the rows of this pair begin."""
    if _is_trec(path, separator):
        return locate_in_lines(path, kind, query_id, doc_id)
    table = _open(path, kind, separator)
    query, doc, _ = table.places
    return [line for line, row in table.rows() if row[query] == query_id and row[doc] == doc_id]


def _open(path: Path, kind: Kind, separator: str) -> _Table:
    head = plain_head(path)
    data: Path | bytes = path
    if head is None:
        data = read_all(path, has_lines=True)
        head = data[:HEAD]
    else:
        refuse_binary(head, path)
        check_lines_of(path)
    with _opened(data) as file:
        rows = Rows(file, path, separator)
        return _Table(path, data, without_bom(head), kind, separator, rows.header, rows.n_lines, rows.n_bytes)


def _opened(data: Path | bytes) -> BinaryIO:
    return data.open("rb") if isinstance(data, Path) else BytesIO(data)


def _parse(table: _Table, places: list[int]) -> pl.DataFrame | None:
    """Let Polars read the rows; None where it cannot, or where they may not be what the file says.

    Polars looks at the fields that it is asked for, and fills a short row with nulls: if the last field of each row is
    there and the file holds exactly as many separators as rows take, then no row is short or long.
    """
    if misleads_polars(table.head):
        return None
    census = count_separators(table.data, table.separator, skip=table.n_header_bytes)
    n_columns = len(table.header)
    if census is None or census.n_separators != census.n_lines * (n_columns - 1):
        return None
    query, doc, value = (f"column_{place}" for place in places)
    rows = pl.scan_csv(
        table.data,
        has_header=False,
        skip_lines=table.n_header_lines,
        separator=table.separator,
        schema={f"column_{n}": pl.Float64 if n == places[2] else pl.String for n in range(n_columns)},
        glob=False,
    )
    last = pl.col(f"column_{n_columns - 1}")
    wanted = rows.select(query_id=query, doc_id=doc, **{VALUE_COLUMN[table.kind]: value}, ends_early=last.is_null())
    try:
        frame = wanted.collect()
    except pl.exceptions.PolarsError:
        return None
    if frame.height != census.n_lines or frame["ends_early"].any() or not holds_only_ids(frame):
        return None
    numbers = frame[VALUE_COLUMN[table.kind]]
    if not holds_only_numbers(numbers) or holds_large(numbers):
        return None
    return None if census.may_hold_controls and holds_controls(frame) else frame.drop("ends_early")


def _read_rows(table: _Table, places: list[int]) -> pl.DataFrame:
    query, doc, value = places
    read: list[tuple[str, str, float]] = []
    for line, row in table.rows():
        if not (row[query] and row[doc]):
            name = table.header[doc if row[query] else query]
            raise NullIdError(f"empty field in column {name!r}", allowed="an id", path=table.path, line=line)
        check_ids_of_row(row[query], row[doc], table.path, line)
        number = read_value(row[value].strip(), table.kind, path=table.path, line=line)
        read.append((row[query], row[doc], number))
    return frame_of_rows(read, table.kind)


def write_table(
    rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression, *, separator: str
) -> None:
    """Write a table with a header."""
    write_text(rows.with_columns(value_as_text(kind)), file, compression, separator)


for name, mark in (("csv", ","), ("tsv", "\t")):
    register(
        Format(
            name=name,
            suffixes=(f".{name}",),
            read=partial(read_table, separator=mark),
            write=partial(write_table, separator=mark),
            locate=partial(locate_in_table, separator=mark),
            columns=partial(names_in_table, separator=mark),
        )
    )
