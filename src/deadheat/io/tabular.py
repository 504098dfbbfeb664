"""CSV and TSV with a header line: parsed by Polars, and row by row where its result is in doubt."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

import polars as pl

from deadheat.errors import EmptyDataError, MalformedRowError, NullIdError
from deadheat.io.kinds import VALUE_COLUMN, known_names, resolve_columns
from deadheat.io.source import HEAD, count_lines, decoded, plain_head, read_all, refuse_binary, without_bom
from deadheat.io.values import frame_of_rows, holds_large, holds_only_ids, holds_only_numbers, read_value, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from deadheat.io.kinds import Kind

_TREC_WIDTHS = {4, 6}


@dataclass(frozen=True)
class _Table:
    """A file with a header: where it is, and which of its columns are wanted.

    Attributes
    ----------
    path : pathlib.Path
    data : pathlib.Path or bytes
        What Polars reads: the path, or the bytes of a compressed file.
    kind : {"qrels", "run"}
    separator : str
    header : list of str
    n_header_lines : int
        Lines that the header takes; a quoted name may hold a newline.
    """

    path: Path
    data: Path | bytes
    kind: Kind
    separator: str
    header: list[str]
    n_header_lines: int

    @property
    def places(self) -> list[int]:
        """The positions of the query id, the document id and the value."""
        columns = resolve_columns(self.header, self.kind, where=self.path)
        return [self.header.index(columns[name]) for name in ("query_id", "doc_id", VALUE_COLUMN[self.kind])]

    def read_bytes(self) -> bytes:
        """Return the decompressed bytes."""
        return self.data if isinstance(self.data, bytes) else read_all(self.path)


def is_trec_with_tabs(path: Path) -> bool:
    """Return whether a .tsv file is TREC with tabs: no known column name in its first line, and 4 or 6 fields."""
    header = _open(path, "run", "\t").header
    return len(header) in _TREC_WIDTHS and not known_names() & set(header)


def read_table(path: Path, kind: Kind, separator: str) -> pl.DataFrame:
    """Read a table with a header into query_id, doc_id and the value, in file order.

    Raises
    ------
    ColumnError, FileFormatError, NullIdError, ScoreError, RelevanceError, EmptyDataError
        With the first line that is wrong.
    """
    table = _open(path, kind, separator)
    if not any(table.header):
        raise EmptyDataError(f"{kind} without a header line, expected column names and rows", path=path)
    frame = _parse(table, table.places)
    if frame is None:
        frame = _read_rows(table, table.places)
    if frame.is_empty():
        raise EmptyDataError(f"{kind} without a single row below the header", path=path)
    return frame


def locate_in_table(path: Path, kind: Kind, query_id: str, doc_id: str, separator: str) -> list[int]:
    """Return the 1-based lines on which the rows of this pair begin."""
    table = _open(path, kind, separator)
    query, doc, _ = table.places
    return [line for line, row in _rows(table) if row[query] == query_id and row[doc] == doc_id]


def _open(path: Path, kind: Kind, separator: str) -> _Table:
    data: Path | bytes = path
    head = plain_head(path)
    if head is None:
        data = read_all(path)
        head = data[:HEAD]
    refuse_binary(head, path)
    lines = csv.reader(StringIO(without_bom(head).decode("utf-8", "replace"), newline=""), delimiter=separator)
    header = next((row for row in lines if any(row)), [])
    return _Table(path, data, kind, separator, [name.strip() for name in header], lines.line_num)


def _parse(table: _Table, places: list[int]) -> pl.DataFrame | None:
    """Let Polars read the rows; None where it cannot, or where they may not be what the file says."""
    query, doc, value = (f"column_{place}" for place in places)
    last = f"column_{len(table.header) - 1}"
    rows = pl.scan_csv(
        table.data,
        has_header=False,
        skip_lines=table.n_header_lines,
        separator=table.separator,
        schema={f"column_{n}": pl.Float64 if n == places[2] else pl.String for n in range(len(table.header))},
        glob=False,
    )
    # Polars looks for a field too many only where the last column is read, and fills a short row with nulls.
    wanted = rows.select(
        query_id=query, doc_id=doc, **{VALUE_COLUMN[table.kind]: value}, may_be_short=pl.col(last).is_null()
    )
    try:
        frame = wanted.collect()
    except pl.exceptions.PolarsError:
        return None
    return frame.drop("may_be_short") if _is_beyond_doubt(frame, table) else None


def _is_beyond_doubt(frame: pl.DataFrame, table: _Table) -> bool:
    """Return whether the rows are complete, their values exact, and each one is a line of the file."""
    value = frame[VALUE_COLUMN[table.kind]]
    if frame["may_be_short"].any() or not holds_only_ids(frame):
        return False
    if not holds_only_numbers(value) or holds_large(value):
        return False
    return frame.height == count_lines(table.data) - table.n_header_lines


def _read_rows(table: _Table, places: list[int]) -> pl.DataFrame:
    query, doc, value = places
    read: list[tuple[str, str, float]] = []
    for line, row in _rows(table):
        if not (row[query] and row[doc]):
            name = table.header[doc if row[query] else query]
            raise NullIdError(f"empty field in column {name!r}, expected an id", path=table.path, line=line)
        number = read_value(row[value].strip(), table.kind, path=table.path, line=line)
        read.append((row[query], row[doc], number))
    return frame_of_rows(read, table.kind)


def _rows(table: _Table) -> Iterator[tuple[int, list[str]]]:
    """Yield each row below the header with its line, or raise if it has not as many fields as the header."""
    rows = csv.reader(StringIO(decoded(table.read_bytes(), table.path), newline=""), delimiter=table.separator)
    line, joined = 1, table.separator.join
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise MalformedRowError(f"cannot be read as CSV: {error}", path=table.path, line=line) from error
        if row is None:
            return
        if line > table.n_header_lines and any(row):
            if len(row) != len(table.header):
                expected = f"expected {len(table.header)} fields ({joined(table.header)})"
                message = f"{expected}, got {len(row)}: {shown(joined(row))}"
                raise MalformedRowError(message, path=table.path, line=line)
            yield line, row
        line = rows.line_num + 1
