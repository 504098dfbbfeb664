"""JSON lines: one object a row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from deadheat.errors import EmptyDataError, MalformedRowError, NullIdError
from deadheat.io.kinds import VALUE_COLUMN, resolve_columns
from deadheat.io.source import blocks, decoded, plain_head, read_all, refuse_binary
from deadheat.io.values import frame_of_rows, holds_large, holds_only_numbers, read_value, shown, value_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat.io.kinds import Kind

# An id that is neither a string nor a plain integer; Polars would turn 1.50 into "1.5" and true into "true".
_DOUBTFUL_ID = r'"(?:{}|{})"\s*:\s*(?:-?[0-9]+[.eE]|-0|[^"0-9\s-])'

_PATTERN = frozenset("*?[")


class _Number(str):
    """A JSON number, as it is written."""

    __slots__ = ()


def read_jsonl(path: Path, kind: Kind) -> pl.DataFrame:
    """Read JSON lines into query_id, doc_id and the value, in file order.

    An id may be a JSON number; its text is the id then.

    Raises
    ------
    ColumnError, FileFormatError, NullIdError, ScoreError, RelevanceError, EmptyDataError
        With the first line that is wrong.
    """
    head = plain_head(path)
    # scan_ndjson() expands a path as a pattern, and cannot be told not to.
    is_pattern = not _PATTERN.isdisjoint(str(path))
    data: Path | bytes = read_all(path) if head is None or is_pattern else path
    refuse_binary(data if isinstance(data, bytes) else head or b"", path)
    columns = _columns(data, path, kind)
    frame = _parse(data, columns)
    if frame is None:
        frame = frame_of_rows([row for _, row in _rows(data, columns, kind, path)], kind)
    return frame


def locate_in_jsonl(path: Path, kind: Kind, query_id: str, doc_id: str) -> list[int]:
    """Return the 1-based lines that hold this pair."""
    data = read_all(path)
    rows = _rows(data, _columns(data, path, kind), kind, path)
    return [line for line, row in rows if row[:2] == (query_id, doc_id)]


def _columns(data: Path | bytes, path: Path, kind: Kind) -> dict[str, str]:
    """Return the names that the first object has for the columns."""
    first = next(_objects(data, path), None)
    if first is None:
        raise EmptyDataError(f"{kind} without a single row, expected one JSON object a line", path=path)
    return resolve_columns(list(first[1]), kind, where=path)


def _parse(data: Path | bytes, columns: dict[str, str]) -> pl.DataFrame | None:
    """Let Polars read the rows; None where it cannot, or where they may not be what the file says."""
    query, doc, value = columns.values()
    rows = pl.scan_ndjson(data, schema={query: pl.String, doc: pl.String, value: pl.Float64})
    try:
        frame = rows.select(**{canonical: pl.col(name) for canonical, name in columns.items()}).collect()
    except (pl.exceptions.PolarsError, OSError):
        return None
    values = frame.to_series(2)
    if sum(frame.null_count().row(0)) or not holds_only_numbers(values) or holds_large(values):
        return None
    doubtful = pl.col("line").str.contains(_DOUBTFUL_ID.format(re.escape(query), re.escape(doc)))
    n_lines, n_doubtful = pl.scan_lines(data, glob=False).select(pl.len(), doubtful.sum()).collect().row(0)
    return frame if n_lines == frame.height and not n_doubtful else None


def _rows(
    data: Path | bytes, columns: dict[str, str], kind: Kind, path: Path
) -> Iterator[tuple[int, tuple[str, str, float]]]:
    """Yield each row with its line, or raise what is wrong with it."""
    for line, row in _objects(data, path):
        missing = next((name for name in columns.values() if name not in row), None)
        if missing is not None:
            message = f"object without {missing!r}, expected {', '.join(columns.values())}: {shown(json.dumps(row))}"
            raise MalformedRowError(message, path=path, line=line)
        query, doc, value = (row[name] for name in columns.values())
        for name, given in (("query_id", query), ("doc_id", doc)):
            if not (isinstance(given, str) and given):
                message = f"{columns[name]} must be a string or a number, got {shown(json.dumps(given))}"
                raise (NullIdError if given in (None, "") else MalformedRowError)(message, path=path, line=line)
        if not isinstance(value, _Number):
            problem = f"{columns[VALUE_COLUMN[kind]]} must be a number, got {shown(json.dumps(value))}"
            raise value_error(kind, problem, path, line)
        yield line, (str(query), str(doc), read_value(str(value), kind, path=path, line=line))


def _objects(data: Path | bytes, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with its line; numbers keep their text."""
    first_line = 1
    for block in blocks(data) if isinstance(data, Path) else (data,):
        for line, raw in enumerate(decoded(block, path, first_line).split("\n"), first_line):
            if raw.strip():
                yield line, _object(raw, path, line)
        first_line += block.count(b"\n")


def _object(raw: str, path: Path, line: int) -> dict[str, Any]:
    try:
        row = json.loads(raw, parse_float=_Number, parse_int=_Number, parse_constant=_Number)
    except json.JSONDecodeError as error:
        message = f"expected one JSON object a line, got {shown(raw.strip())} ({error.msg})"
        raise MalformedRowError(message, path=path, line=line) from error
    if not isinstance(row, dict):
        raise MalformedRowError(f"expected one JSON object a line, got {shown(raw.strip())}", path=path, line=line)
    return row
