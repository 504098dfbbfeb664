"""CSV and TSV with a header line: parsed by Polars, and row by row where its result is in doubt.

Python's csv module in strict mode reads these rows, with their lines: slow but right.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

from deadheat.core.errors import ColumnError, DataError, DeadheatWarning, MalformedRowError
from deadheat.core.io import files
from deadheat.core.io.byte_counts import count_separators
from deadheat.core.io.columns import are_cases, find_value_column, has_semicolons, resolve_columns
from deadheat.core.io.decimals import DecimalColumn, get_decimal_mark
from deadheat.core.io.files import (
    BOM,
    blocks,
    check_file_lines,
    decode_utf8,
    misleads_polars,
    read_all,
    read_plain_head,
    refuse_binary,
)
from deadheat.core.io.formats.base import (
    CASES,
    ROWS,
    Content,
    Format,
    frame_of_rows,
    is_judged,
    ranks_of,
    register,
    split_off,
)
from deadheat.core.io.formats.dialects import dialect_of
from deadheat.core.io.formats.trec import locate_in_lines, read_trec
from deadheat.core.io.ids import LINE_ENDS, check_ids_of_row, has_control_characters, has_only_ids
from deadheat.core.io.kinds import ANSWERABLE, KEYS, KNOWN_NAMES, LIST_NAMES, SUBTOPIC, TEXTS, Kind
from deadheat.core.io.unpacking import HEAD, open_file
from deadheat.core.io.values import are_plain, read_value
from deadheat.core.io.writing import Compression, value_as_text, write_text
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count, quote_text


class HeaderFile:
    """A file with a header: where it is, and once `choose` was called, which of its columns are wanted.

    Parameters
    ----------
    said : collection of str
        Columns that the user names, which tell the separator.

    Attributes
    ----------
    data : pathlib.Path or bytes
        What Polars reads: the path, or the bytes of a compressed file.
    head : bytes
        How it begins, without a byte order mark.
    header : list of str
    n_header_lines, n_header_bytes : int
        How much of the file is the header; a quoted name may hold a newline.
    dialect : Dialect or None
        How it is written, if it is not plain CSV: then rows may lack what is not known.
    unanswerable : set of str
        Those of the rows that were read.
    given, columns : mapping of str to str
        Names of columns in the file, by canonical name: those that the user says, and all that are wanted.
    places : dict of str to int
        The positions of the wanted ones.
    """

    def __init__(self, path: Path, kind: Kind, separator: str, said: Collection[str] = ()) -> None:
        self.path, self.kind = path, kind
        self.data: Path | bytes = path
        head = read_plain_head(path)
        if head is None:
            self.data = unpacked = read_all(path, has_lines=True)
            head = unpacked[:HEAD]
        else:
            refuse_binary(head, path)
            check_file_lines(path)
        self.head = head.removeprefix(BOM)
        if separator == "," and has_semicolons(self.head, said):
            separator = ";"
        with self.opened() as file:
            rows = FileRows(file, path, separator)
            self.header, self.n_header_lines, self.n_header_bytes = rows.header, rows.n_lines, rows.n_bytes
        self.separator = rows.separator
        self.unanswerable: set[str] = set()
        self.dialect = dialect_of(self.header)

    def opened(self) -> BinaryIO:
        """Open the file, unpacked."""
        return open_file(self.data) if isinstance(self.data, Path) else BytesIO(self.data)

    def choose(self, given: Mapping[str, str]) -> None:
        """Find the wanted columns in the header."""
        self.given = given
        known = {} if self.dialect is None else self.dialect.columns[self.kind]
        named = {canonical: name for canonical, name in known.items() if name in self.header} | dict(given)
        self.columns = resolve_columns(self.header, self.kind, where=self.path, given=named)
        if self.columns["doc_id"] in LIST_NAMES[self.kind]:
            raise ColumnError(
                f"column {self.columns['doc_id']!r} would hold lists of documents, which a table of text cannot",
                hint="write .jsonl, or a row for each document",
                path=self.path,
            )
        self.places = {name: self.header.index(column) for name, column in self.columns.items()}

    @property
    def value(self) -> str | None:
        """Which column holds the numbers; None where every row is a relevant document."""
        return find_value_column(self.columns)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row below the header with its line, or raise if it has not as many fields as the header."""
        with self.opened() as file:
            rows = FileRows(file, self.path, self.separator)
            has_flags = self.kind == "qrels" and ANSWERABLE in self.header
            places = [self.header.index(ANSWERABLE), *(self.places[key] for key in KEYS)] if has_flags else []
            for line, row in rows:
                lacks = 0 if self.dialect is None else len(self.header) - len(row)
                if lacks <= 0 and (misfit := rows.misfit(row, line)):
                    raise misfit
                if not places or is_judged([row[place] for place in places], self.unanswerable, self.path, line):
                    yield line, row + [""] * lacks


def is_trec(path: Path, separator: str) -> bool:
    """Return whether a TSV file is TREC with tabs: no known column name in its first line, and 4 or 6 fields."""
    if separator != "\t" or not path.is_file():
        return False
    first = next((line for line in next(blocks(path)).split(b"\n") if line.strip()), b"")
    names = [name.strip(' "') for name in first.decode("utf-8", "replace").strip("\r").split("\t")]
    return len(names) in {4, 6} and not KNOWN_NAMES & set(names)


def read_table(path: Path, kind: Kind, given: Mapping[str, str], *, separator: str) -> Content:
    """Read a table with a header into query_id, doc_id and the value, in file order; TREC with tabs as such.

    Raises
    ------
    ColumnError, FileFormatError, DataError
        With the first line that is wrong.
    """
    if not given and is_trec(path, separator):
        return read_trec(path, kind, given)
    table = HeaderFile(path, kind, separator, given.values())
    if are_cases(table.header, kind, given):
        return CASES
    if not any(table.header):
        raise DataError(f"{kind} without a header line", allowed="column names and rows", path=path)
    table.choose(given)
    frame, notes = read_numbers(table, {name: place for name, place in table.places.items() if name not in TEXTS})
    if (
        kind == "qrels"
        and table.columns.get("relevance") == "score"
        and not given
        and (frame["relevance"] % 1 != 0).any()
    ):
        warnings.warn(
            f"{path}: the column 'score' is read as relevance, as in BEIR's qrels, and has fractions: is it a run?",
            DeadheatWarning,
            stacklevel=2,
        )
    ranks = _ranks(table) if "rank" in table.header and table.value == "score" else None
    content = split_off(frame, path, notes) if SUBTOPIC in table.columns else Content(frame, notes, ranks)
    return replace(content, unanswerable=tuple(sorted(table.unanswerable)), columns=table.columns)


def _scan(table: HeaderFile, numbers: Collection[int], **options: Any) -> pl.LazyFrame:  # noqa: ANN401 - of scan_csv
    """Let Polars split the rows below the header; the columns at some places hold numbers."""
    return pl.scan_csv(
        table.data,
        has_header=False,
        skip_lines=table.n_header_lines,
        separator=table.separator,
        schema={f"column_{n}": pl.Float64 if n in numbers else pl.String for n in range(len(table.header))},
        glob=False,
        **options,
    )


def _ranks(table: HeaderFile) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows; null where a field is not a number."""
    rows = _scan(table, (), n_rows=ROWS, truncate_ragged_lines=True)
    places = {"query_id": table.places["query_id"], "rank": table.header.index("rank"), "score": table.places["score"]}
    return ranks_of(rows.select(**{name: f"column_{place}" for name, place in places.items()}))


def names_in_table(path: Path, *, separator: str) -> list[str]:
    """Return the names in the header, none if there is none."""
    return HeaderFile(path, "run", separator).header


def locate_in_table(
    path: Path, kind: Kind, query_id: str, doc_id: str, given: Mapping[str, str], *, separator: str
) -> list[int]:
    """Return the 1-based lines on which the rows of this pair begin."""
    if not given and is_trec(path, separator):
        return locate_in_lines(path, kind, query_id, doc_id, given)
    table = HeaderFile(path, kind, separator, given.values())
    table.choose(given)
    query, doc = (table.places[name] for name in KEYS)
    return [line for line, row in table.rows() if row[query] == query_id and row[doc] == doc_id]


def read_numbers(table: HeaderFile, values: Mapping[str, int]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the ids and the numbers of a table, and notes; `values` are the places of the numbers, by name."""
    frame = _parse(table, values)
    found = _read_rows(table, values) if frame is None else (frame, ())
    if found[0].is_empty():
        raise DataError(f"{table.kind} without a single row below the header", path=table.path)
    return found


def _parse(table: HeaderFile, values: Mapping[str, int]) -> pl.DataFrame | None:
    """Let Polars read the rows; None where it cannot, or where they may not be what the file says.

    Polars looks at the fields that it is asked for, and fills a short row with nulls: if the last field of each row is
    there and the file holds exactly as many separators as rows take, then no row is short or long.
    """
    has_marks = table.separator == ";" or get_decimal_mark() is not None
    if misleads_polars(table.head) or (has_marks and table.value) or table.dialect or ANSWERABLE in table.header:
        return None  # where numbers have commas and points, one may group thousands: each is looked at
    separators = count_separators(table.data, table.separator, skip=table.n_header_bytes)
    n_columns = len(table.header)
    if separators is None or separators.n_separators != separators.n_lines * (n_columns - 1):
        return None
    places = {name: place for name, place in table.places.items() if name in TEXTS} | dict(values)
    rows = _scan(table, set(values.values()))
    ends_early = pl.col(f"column_{n_columns - 1}").is_null()
    try:
        frame = rows.select(**{name: f"column_{n}" for name, n in places.items()}, ends_early=ends_early).collect()
    except pl.exceptions.PolarsError:
        return None
    is_whole = frame.height == separators.n_lines and not frame["ends_early"].any() and has_only_ids(frame)
    if not is_whole or not all(are_plain(frame[name]) for name in values):
        return None
    if separators.may_hold_controls:
        with table.opened() as file:
            file.seek(table.n_header_bytes)
            begins_with_mark = file.read(len(BOM)) == BOM  # which Polars takes off after the header too
        if begins_with_mark or has_control_characters(frame):
            return None
    return frame.drop("ends_early")


def _read_rows(table: HeaderFile, values: Mapping[str, int]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    texts = {name: place for name, place in table.places.items() if name in TEXTS}
    query, doc, *topic = texts.values()
    found: list[tuple[str | float, ...]] = []
    n_skipped = 0
    fields = [
        (
            place,
            DecimalColumn(table.header[place], table.path, has_semicolons=table.separator == ";"),
            table.header[place] if "score" in table.given else name,
        )
        for name, place in values.items()
    ]
    for line, row in table.rows():
        if table.dialect is not None:
            row[query], row[doc] = table.dialect.text_of(row[query]), table.dialect.text_of(row[doc])
            if not all(row[place] for place in (doc, *values.values())):
                n_skipped += 1
                continue
        if not (row[query] and row[doc]):
            raise DataError(
                f"empty field in column {table.header[doc if row[query] else query]!r}",
                allowed="an id",
                path=table.path,
                line=line,
            )
        check_ids_of_row(row[query], row[doc], table.path, line)
        numbers = [
            read_value(column.plain(row[place].strip(), line), table.kind, path=table.path, line=line, name=name)
            for place, column, name in fields
        ]
        found.append((row[query], row[doc], *(row[place] for place in topic), *numbers))
    notes = []
    if table.dialect is not None and n_skipped:
        notes.append(f"{format_count(n_skipped, 'row')} {table.dialect.skipped[table.kind]} skipped")
    for _, column, _ in fields:
        notes += column.notes()
    return frame_of_rows(found, [*texts, *values]), tuple(notes)


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
            has_subtopics=True,
        )
    )


_LONGEST_HEADER = 1_000  # characters of a header that an error shows as a whole
_SEPARATOR = re.compile(rb"""["']?sep=([;,\t|])["']?[;,\t|]*\s*""", re.IGNORECASE)


class FileRows:
    """The rows of an open file below its header, one after the other; blank rows are skipped.

    A first line such as ``sep=;``, which Excel writes and reads, says the separator.

    Parameters
    ----------
    file : binary file
        At its start.
    path : pathlib.Path
        For messages.
    separator : str
    quoting : int
        ``csv.QUOTE_MINIMAL`` or ``csv.QUOTE_NONE``.

    Attributes
    ----------
    separator : str
    header : list of str
        The first row that is not blank; empty in a file without rows.
    n_lines, n_bytes : int
        How much of the file has been read so far; at first, the header.
    """

    def __init__(
        self, file: BinaryIO, path: Path, separator: str, *, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    ) -> None:
        self.n_lines = self.n_bytes = 0
        self._file, self._path = file, path
        self._last = b""
        self._allowed = ""  # of a row, once it is asked for
        self._first = file.readline(files.LONGEST_LINE + 2)
        said = _SEPARATOR.fullmatch(self._first.removeprefix(BOM))
        self.separator = said[1].decode() if said else separator
        if said:
            self.n_lines, self.n_bytes, self._first = 1, len(self._first), b""
        # for all readers of the process: it can only be larger
        csv.field_size_limit(max(csv.field_size_limit(), files.LONGEST_LINE))
        self._rows = csv.reader(self._lines(), delimiter=self.separator, quoting=quoting, strict=True)
        self.header = [name.strip() for name in next((row for _, row in self), [])]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line on which a row begins, and its fields.

        Raises
        ------
        MalformedRowError
            Quotes do not match, a carriage return is not part of a line end, or a line is too long.
        FileFormatError
            The text is not UTF-8.
        """
        while True:
            line = self.n_lines + 1
            try:
                row = next(self._rows, None)
            except csv.Error as error:
                if "new-line character" in str(error):
                    raise self._stray_return() from error
                raise MalformedRowError(
                    f"unmatched quotes from here on ({error}): a field that begins with a quote must end with one, and"
                    ' a quote inside it is doubled, ""',
                    path=self._path,
                    line=line,
                ) from error
            if row is None:
                return
            if self._last.endswith((b"\r\r\n", b"\r\r")):
                raise self._stray_return()
            if any(row):
                yield line, row

    def misfit(self, row: list[str], line: int) -> MalformedRowError | None:
        """Return the error for a row that has more or fewer fields than the header."""
        if len(row) == len(self.header):
            return None
        if not self._allowed:
            names = self.separator.join(self.header)
            if len(names) > _LONGEST_HEADER:  # each row may be wrong, and keeps its error
                names = quote_text(names)
            self._allowed = f"{len(self.header)} fields ({names})"
        return MalformedRowError(
            allowed=self._allowed,
            found=f"{len(row)}: {quote_text(self.separator.join(row))}",
            path=self._path,
            line=line,
        )

    def _lines(self) -> Iterator[str]:
        longest = files.LONGEST_LINE
        for raw in chain([self._first] if self._first else [], iter(partial(self._file.readline, longest + 2), b"")):
            self.n_lines += 1
            self.n_bytes += len(raw)
            self._last = raw
            if len(raw) > longest:
                files.check_lines(raw, self._path, self.n_lines)
            yield decode_utf8(raw.removeprefix(BOM) if self.n_lines == 1 else raw, self._path, self.n_lines)

    def _stray_return(self) -> MalformedRowError:
        return MalformedRowError(
            f"a carriage return inside a line, {LINE_ENDS}: {quote_text(self._last.decode())}",
            path=self._path,
            line=self.n_lines,
        )
