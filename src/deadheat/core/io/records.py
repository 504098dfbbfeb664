"""Tables of records, such as queries, documents or labelled cases: the reader of all files except qrels and runs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

from deadheat.core.errors import Advice, DataError, FileFormatError, MalformedRowError, ParameterError, SourceTypeError
from deadheat.core.io.columns import check_column, find_suggestion, has_semicolons
from deadheat.core.io.decimals import DecimalColumn, get_decimal_mark
from deadheat.core.io.files import check_readable, decode_utf8, read_all
from deadheat.core.io.formats import choose_format, ending
from deadheat.core.io.formats.csv_rows import FileRows
from deadheat.core.io.formats.parquet import scan_parquet
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.memory_limits import check_cells
from deadheat.core.io.objects import JsonText, parse_object, read_text
from deadheat.core.io.pages import check_texts
from deadheat.core.io.unpacking import HEAD
from deadheat.core.io.with_value import WithValue
from deadheat.core.io.workbooks import read_sheet
from deadheat.core.libraries import polars as pl

_encoding: ContextVar[str | None] = ContextVar("encoding", default=None)


def as_written(number: str) -> str | None:
    """Return a number in JSON as it is written; None for NaN and infinities."""
    return number if number[-1].isdigit() else None


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a table of records contains, and which forms it may have.

    Attributes
    ----------
    what : str
        The records, for messages, such as "cases".
    expected : str
        What a JSON file should hold, for messages.
    record : str
        What a single record should be, for messages; empty: `expected` says it.
    formats : tuple of str
        The formats that are read; advice names the first.
    keys : tuple of str
        Keys under which a JSON object, which may have metadata too, may hold the records.
    id : str
        Name of the column for the keys of a JSON object of objects; empty if such an object is not a table.
    number : callable, optional
        Makes the value of a number in JSON from its text, as of `parse_json`; `as_written` keeps the text.
    keeps_misfits : bool
        Whether rows that are not records are reported in `Records.misfits` instead of refused.
    """

    what: str = "records"
    expected: str = "a list of objects"
    record: str = ""
    formats: tuple[str, ...] = ("csv", "tsv", "jsonl", "json", "parquet", "xlsx")
    keys: tuple[str, ...] = ()
    id: str = ""
    number: Callable[[str], object] | None = None
    keeps_misfits: bool = False


@dataclass(frozen=True, eq=False)
class Records:
    """A table of records.

    Attributes
    ----------
    table : polars.DataFrame or list of dict
        A frame of text, or of the columns of a Parquet file; or the objects of a JSON file.
    own_lines : sequence of int, optional
        The line on which each row of a text begins, of shape (n_records,); `json` knows those of JSON.
    misfits : dict of int to DataError
        What is wrong with rows that are not records, by their place; their fields are empty.
    metadata : dict
        Metadata about all records, from JSON.
    keys : tuple of str
        Key of the records in JSON; empty if the file is a list of records.
    json : JsonText or None
        The whole text, which knows the line of each part of a record.
    separator : str
        What separates the fields of a table of text; where it is a semicolon, a comma may be the mark of decimals.
    """

    table: pl.DataFrame | list[dict[str, Any]]
    own_lines: Sequence[int] | None = None
    misfits: Mapping[int, DataError] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    json: JsonText | None = None
    separator: str = ""

    @cached_property
    def lines(self) -> Sequence[int] | None:
        """The line on which each record begins, of shape (n_records,); None for a format without lines."""
        if self.json is None:
            return self.own_lines
        return self.json.lines_of_items(self.keys)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The records as columns; those of JSON as text."""
        if isinstance(self.table, pl.DataFrame):
            return self.table
        check_cells(len(self.table), len(self.columns), None, 0)
        columns = {name: [as_text(row.get(name)) for row in self.table] for name in self.columns}
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))

    @cached_property
    def columns(self) -> list[str]:
        """The names of all fields."""
        if isinstance(self.table, pl.DataFrame):
            return self.table.columns
        return list(dict.fromkeys(name for row in self.table for name in row))

    def with_points(self, names: Collection[str], path: Path | str) -> tuple[pl.DataFrame, tuple[str, ...]]:
        """Return the records with points as decimal marks in some columns, and notes which mark was taken for one.

        Parameters
        ----------
        names : collection of str
            Of the columns, if they are there.
        path : pathlib.Path or str
            For messages.

        Raises
        ------
        MalformedRowError
            The numbers of a column can be read in two ways.
        """
        has_semicolons = self.separator == ";"
        if not (has_semicolons or (self.separator and get_decimal_mark())):
            return self.frame, ()
        columns = []
        for name in self.columns:
            if name in names and self.frame[name].str.contains(r"[\s,.]").any():
                columns.append(DecimalColumn(name, Path(path), has_semicolons=has_semicolons))
        with_points = []
        for column in columns:
            texts = self.frame[column.name].str.strip_chars()
            numbers = []
            for text, line in zip(texts, self.own_lines or (), strict=True):
                numbers.append(column.plain(text, line) if text else text)
            with_points.append(pl.Series(column.name, numbers))
        notes: list[str] = []
        for column in columns:
            notes += column.notes()
        return self.frame.with_columns(with_points), tuple(notes)

    def rows(self, names: Collection[str]) -> Iterable[dict[str, Any]]:
        """Return the records with at least the named fields, except where JSON lacks them."""
        if not isinstance(self.table, pl.DataFrame):
            return self.table
        needed = [name for name in self.columns if name in names]
        return self.table.select(needed).iter_rows(named=True)

    def line(self, place: int) -> int | None:
        """Return the line on which a record begins, if there are lines."""
        if self.lines is None:
            return None
        return self.lines[place]

    def where(self, place: int, other_place: int) -> str:
        """Return where two records are, in words: their lines, or their rows if both are on one line."""
        line, other_line = self.line(place), self.line(other_place)
        if line == other_line:
            return f"in rows {place + 1} and {other_place + 1}"
        return f"on lines {line} and {other_line}"


def read_records(
    path: Path,
    format: str | None = None,  # noqa: A002 - the word that users look for
    wanted: Wanted = Wanted(number=as_written),
) -> Records:
    """Read a table of records from a CSV, TSV, Parquet, JSON Lines or JSON file.

    Parameters
    ----------
    path : pathlib.Path
    format : str, optional
        Default: what the file name says.
    wanted : Wanted

    Raises
    ------
    DataError
        The subclass that says what is wrong, with the line if the format has lines.
    """
    path = check_readable(path)
    read = READERS[choose_record_format(path, format, wanted)]
    records = read(path, wanted)
    _check_misfits(records, wanted)
    return records


def _check_misfits(records: Records, wanted: Wanted) -> None:
    """Raise the error of the first row that is not a record, unless such rows are reported."""
    if records.misfits and not wanted.keeps_misfits:
        raise next(iter(records.misfits.values()))


def choose_record_format(path: Path, given: str | None, wanted: Wanted) -> str:
    """Return the given format, or else that of the file name; raise if it is not one of those wanted."""
    allowed = wanted.formats
    if given is not None and given not in allowed:
        raise ParameterError(f"unknown format of {wanted.what}", given=given, allowed=allowed)
    ending_of_path = ending(path).removeprefix(".")
    if given is not None:
        chosen = given
    elif ending_of_path in allowed:
        chosen = ending_of_path
    else:
        chosen = choose_format(path)
    if chosen not in allowed:
        endings = [f".{name}" for name in allowed]
        raise FileFormatError(
            f"cannot tell the format of these {wanted.what}",
            hint=Advice("format", allowed[0], f"{', '.join(endings[:-1])} or {endings[-1]}", of=wanted.what),
            path=path,
        )
    return chosen


def as_text(value: object) -> str | None:
    """Return a value as text, or None for null and NaN; booleans as JSON writes them.

    Examples
    --------
    >>> as_text("0880"), as_text(7), as_text(True), as_text(float("nan")), as_text(["a"])
    ('0880', '7', 'true', None, '["a"]')
    """
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _read_parquet(path: Path, _wanted: Wanted) -> Records:
    try:
        with guard_polars(path):
            table = scan_parquet(path, is_whole=True).collect()
            check_texts(table, path, path.stat().st_size)
            return Records(table)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(allowed=f"a Parquet file ({error})", path=path) from error


def encoding(name: str) -> AbstractContextManager[None]:
    """Set the encoding of CSV and TSV files of cases, documents, queries and translations that are not UTF-8.

    Files in UTF-8 are read as UTF-8 nevertheless: text in another encoding almost never looks like it.

    Parameters
    ----------
    name : str
        Such as "cp1252", which Excel writes as "CSV" in Western Europe.

    Raises
    ------
    ParameterError
        Python knows no such encoding of text.

    Examples
    --------
    >>> import deadheat as dh
    >>> with dh.encoding("cp1252"):
    ...     pass  # dh.read_cases("phrases.csv")
    """
    try:
        "".encode(name)
    except (LookupError, TypeError, ValueError) as error:
        raise ParameterError(
            argument="encoding", given=name, allowed="an encoding of text that Python knows, such as 'cp1252'"
        ) from error
    return WithValue(_encoding, name)


def _to_utf8(data: bytes, path: Path) -> bytes:
    """Return the bytes of a table in UTF-8: as they are, or from the encoding that :func:`encoding` set."""
    other_encoding = _encoding.get()
    advice = Advice("encoding", "cp1252", when="Or ")
    try:
        decode_utf8(data, path, advice=advice, python="as with dh.encoding('cp1252'):")
    except FileFormatError:
        if other_encoding is None:
            raise
        try:
            return data.decode(other_encoding).encode()
        except UnicodeDecodeError as error:
            raise FileFormatError(
                allowed=f"text in UTF-8 or {other_encoding}", found=f"neither ({error})", path=path
            ) from error
    return data


def _read_workbook(path: Path, _wanted: Wanted) -> Records:
    header, *rows = read_sheet(path)
    frame = _make_frame(header.cells, [row.cells for row in rows], path)
    return Records(frame, [row.line for row in rows])


def _make_frame(names: Sequence[str], rows: Sequence[Sequence[str]], path: Path) -> pl.DataFrame:
    """Return rows of text below their header, whose names differ."""
    header = [name.strip() for name in names]
    check_cells(len(rows), len(header), path, path.stat().st_size)
    if len(set(header)) < len(header):
        for name in header:
            check_column(name, header, path)
    return pl.DataFrame(rows, schema=dict.fromkeys(header, pl.String), orient="row")


def _read_table(path: Path, _wanted: Wanted, *, separator: str) -> Records:
    """Read CSV or TSV, with quotes around fields or without."""
    data = _to_utf8(read_all(path, has_lines=True, as_objects=True), path)
    if not decode_utf8(data, path).strip():
        raise DataError("empty", allowed="column names and rows", path=path)
    if separator == "," and has_semicolons(data[:HEAD]):
        separator = ";"
    if separator != "\t":
        return _parse_table(data, path, separator, quoting=csv.QUOTE_MINIMAL)
    quoted = None
    with suppress(MalformedRowError):
        quoted = _parse_table(data, path, separator, quoting=csv.QUOTE_MINIMAL)
        has_row_on_each_line = len(quoted.table) == data.strip().count(b"\n")
        if not quoted.misfits and has_row_on_each_line:
            return quoted
    plain = _parse_table(data, path, separator, quoting=csv.QUOTE_NONE)
    if quoted is None or quoted.misfits:
        return plain
    # a query may begin with a quote, and a later one end with it; the lines of a quoted cell are no rows by themselves
    is_plain = not plain.misfits and len(plain.table) > len(quoted.table)
    return plain if is_plain else quoted


def _parse_table(data: bytes, path: Path, separator: str, *, quoting: Literal[0, 3]) -> Records:
    table: list[list[str]] = []
    lines: list[int] = []
    misfits: dict[int, DataError] = {}
    rows = FileRows(BytesIO(data), path, separator, quoting=quoting)
    blank = [""] * len(rows.header)
    for line, row in rows:
        misfit = rows.misfit(row, line)
        if misfit is not None:
            misfits[len(table)] = misfit
            row = blank  # noqa: PLW2901 - what is wrong with it is kept
        table.append(row)
        lines.append(line)
    return Records(_make_frame(rows.header, table, path), lines, misfits, separator=separator)


def _read_lines(path: Path, wanted: Wanted) -> Records:
    """Read JSON lines, the first of which may be ``{"metadata": {...}}``."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    misfits: dict[int, DataError] = {}
    metadata: dict[str, Any] = {}
    for line, raw in enumerate(read_text(path, "one object a line", has_lines=True).split("\n"), 1):
        if not raw.strip():
            continue
        try:
            row = parse_object(raw, path, line, number=wanted.number)
        except DataError as error:
            is_first_line = not rows and not metadata
            if is_first_line or not wanted.keeps_misfits:  # a bad first line: this is another kind of file
                raise
            row = {}
            misfits[len(rows)] = error
        if wanted.keys and not rows and set(row) == {"metadata"}:
            metadata = _check_metadata(row["metadata"], path, line)
        else:
            rows.append(row)
            lines.append(line)
    return Records(rows, lines, misfits, metadata, wanted.keys[:1])


def read_json_records(text: str, path: Path, wanted: Wanted) -> Records:
    """Return the records of a JSON text.

    Raises
    ------
    MalformedRowError
        It has no list of records.
    """
    json_text = JsonText(text, path, number=wanted.number)
    given = json_text.value
    rows = given
    keys: tuple[str, ...] = ()
    metadata: dict[str, Any] = {}
    if isinstance(given, dict):
        keys = _find_keys_of_records(given, json_text, path, wanted)
        rows = given[keys[0]] if keys else list(given.values())
        if keys and "metadata" in given:
            metadata = _check_metadata(given["metadata"], path, json_text.line_of(["metadata"]))
    if not isinstance(rows, list):
        raise MalformedRowError(
            given=json.dumps(rows), allowed=wanted.expected, path=path, line=json_text.line_of(keys)
        )
    misfits = _find_misfits(rows, keys, json_text, path, wanted)
    rows = [{} if place in misfits else row for place, row in enumerate(rows)]
    if isinstance(given, dict) and not keys:
        rows = [{**row, wanted.id: key} for key, row in zip(given, rows, strict=True)]
    records = Records(rows, None, misfits, metadata, keys, json_text)
    _check_misfits(records, wanted)
    return records


def _find_misfits(
    rows: Sequence[object], keys: Sequence[str], json_text: JsonText, path: Path, wanted: Wanted
) -> dict[int, DataError]:
    """Return the error for each row that is not an object, by its place."""
    misfits: dict[int, DataError] = {}
    if all(isinstance(row, dict) for row in rows):
        return misfits
    lines = json_text.lines_of_items(keys)
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            misfits[place] = MalformedRowError(
                allowed=wanted.record or wanted.expected, given=json.dumps(row), path=path, line=lines[place]
            )
    return misfits


def _find_keys_of_records(given: dict[str, Any], json_text: JsonText, path: Path, wanted: Wanted) -> tuple[str, ...]:
    """Return the key under which an object has its records; none if its keys are their ids."""
    keys = []
    for key in wanted.keys:
        if key in given and (isinstance(given[key], list) or not wanted.id):
            keys.append(key)
    if len(keys) > 1:
        raise MalformedRowError(
            f"found both {' and '.join(map(repr, keys))}",
            allowed="one of them",
            path=path,
            line=json_text.line_of(keys[1:]),
        )
    if not keys and not wanted.id:
        shown_keys = ", ".join(map(repr, list(given)[:8]))
        raise MalformedRowError(
            found=f"an object with {shown_keys or 'nothing'}",
            allowed=wanted.expected,
            hint=find_suggestion(given, wanted.keys),
            path=path,
            line=json_text.line_of([]),
        )
    return tuple(keys)


def _check_metadata(metadata: object, path: Path, line: int) -> dict[str, Any]:
    if not isinstance(metadata, dict):
        raise MalformedRowError(
            'metadata must be an object such as {"dataset_id": "..."}',
            given=json.dumps(metadata),
            path=path,
            line=line,
        )
    return metadata


def _read_json(path: Path, wanted: Wanted) -> Records:
    return read_json_records(read_text(path, wanted.expected), path, wanted)


READERS: dict[str, Callable[[Path, Wanted], Records]] = {
    "csv": partial(_read_table, separator=","),
    "tsv": partial(_read_table, separator="\t"),
    "xlsx": _read_workbook,
    "jsonl": _read_lines,
    "json": _read_json,
    "parquet": _read_parquet,
}


def read_rows(source: object, path: Path | None, what: str) -> Iterable[Mapping[str, Any]]:
    """Return the rows of a table: a file, a list of dicts or a frame.

    Parameters
    ----------
    source
    path : Path or None
        Of the source, if it is a file.
    what : str
        The records, for messages.
    """
    if path is not None:
        table = read_records(path, None, Wanted(what=what)).table
        return table.iter_rows(named=True) if isinstance(table, pl.DataFrame) else table
    if isinstance(source, list) and all(isinstance(row, Mapping) for row in source):
        return source
    import narwhals as nw

    from deadheat.core.io.lazy import as_narwhals, collect

    frame = as_narwhals(source, what)
    if not isinstance(frame, nw.LazyFrame | nw.DataFrame):
        raise SourceTypeError(found=f"{source!r:.60}", allowed=f"{what}: a path, a list of dicts or a dataframe")
    return collect(frame.lazy()).iter_rows(named=True)
