"""CSV and TSV with a header line: parsed by Polars, and row by row where its result is in doubt.

Python's csv module in strict mode reads these rows, with their lines (`csv_rows.py`): slow but right.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO

from deadheat.core.errors import Advice, ColumnError, DataError, DeadheatWarning
from deadheat.core.io.byte_counts import count_separators
from deadheat.core.io.columns import are_cases, find_value_column, has_semicolons, resolve_columns
from deadheat.core.io.content import COMPARED_ROWS, Content
from deadheat.core.io.decimals import DecimalColumn, get_decimal_mark
from deadheat.core.io.files import (
    BOM,
    blocks,
    check_file_lines,
    misleads_polars,
    read_all,
    read_plain_head,
    refuse_binary,
)
from deadheat.core.io.formats.base import (
    LABELLED_CASES,
    Format,
    advise_on_row,
    collect_ranks,
    frame_of_rows,
    read_answerable,
    register,
    split_off_subtopics,
)
from deadheat.core.io.formats.csv_rows import FileRows
from deadheat.core.io.formats.dialects import find_dialect
from deadheat.core.io.formats.trec import locate_in_lines, read_trec
from deadheat.core.io.ids import check_ids_of_row, has_control_characters, has_only_ids
from deadheat.core.io.kinds import ANSWERABLE, KEYS, KNOWN_NAMES, LIST_NAMES, SUBTOPIC, TEXTS, VALUE_COLUMN, Kind
from deadheat.core.io.unpacking import HEAD, open_file
from deadheat.core.io.values import are_plain, is_number_text, read_value
from deadheat.core.io.writing import Compression, value_as_text, write_text
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count


class HeaderFile:
    """A file with a header: where it is, and once `choose_columns` was called, which of its columns are wanted.

    Parameters
    ----------
    path : pathlib.Path
    kind : {"qrels", "run"}
    separator : str
        That of the format; a file of commas may have semicolons, and a first line ``sep=;`` says another one.
    given_names : collection of str
        Columns that the user names; a header that has them tells semicolons from commas.

    Attributes
    ----------
    path : pathlib.Path
    kind : {"qrels", "run"}
    data : pathlib.Path or bytes
        What Polars reads: the path, or the bytes of a compressed file.
    head : bytes
        How it begins, without a byte order mark.
    separator : str
        That of the file.
    header : list of str
    n_header_lines, n_header_bytes : int
        How much of the file is the header; a quoted name may hold a newline.
    dialect : Dialect or None
        How it is written, if it is not plain CSV: then rows may lack what is not known.
    unanswerable : set of str
        The queries without an answer among the rows that were read.
    given, columns : mapping of str to str
        Names of columns in the file, by canonical name: those that the user gives, and all that are wanted.
    places : dict of str to int
        The positions of the wanted ones.
    """

    def __init__(self, path: Path, kind: Kind, separator: str, given_names: Collection[str] = ()) -> None:
        self.path = path
        self.kind = kind
        self.data: Path | bytes = path
        head = read_plain_head(path)
        if head is None:
            self.data = unpacked = read_all(path, has_lines=True)
            head = unpacked[:HEAD]
        else:
            refuse_binary(head, path)
            check_file_lines(path)
        self.head = head.removeprefix(BOM)
        if separator == "," and has_semicolons(self.head, given_names):
            separator = ";"
        with self.open() as file:
            rows = FileRows(file, path, separator)
            self.separator = rows.separator
            self.header = rows.header
            self.n_header_lines = rows.n_lines
            self.n_header_bytes = rows.n_bytes
        self.unanswerable: set[str] = set()
        self.dialect = find_dialect(self.header)

    def open(self) -> BinaryIO:
        """Open the file, unpacked."""
        return open_file(self.data) if isinstance(self.data, Path) else BytesIO(self.data)

    def choose_columns(self, given: Mapping[str, str]) -> None:
        """Find the wanted columns in the header.

        Raises
        ------
        ColumnError, SwappedFilesError
            As `resolve_columns`; or the documents would be in a column of lists.
        """
        self.given = given
        if not given:
            self._refuse_data_as_header()
        names: dict[str, str] = {}
        if self.dialect is not None:
            for key, name in self.dialect.columns[self.kind].items():
                if name in self.header:
                    names[key] = name
        names |= given
        self.columns = resolve_columns(self.header, self.kind, where=self.path, given=names)
        doc_name = self.columns["doc_id"]
        if doc_name in LIST_NAMES[self.kind]:
            raise ColumnError(
                f"column {doc_name!r} would hold lists of documents, which a table of text cannot",
                hint="write .jsonl, or a row for each document",
                path=self.path,
            )
        self.places = {key: self.header.index(name) for key, name in self.columns.items()}

    def _refuse_data_as_header(self) -> None:
        """Raise `ColumnError` if the first line holds data: no known name, and a number, or a row of a format.

        To give these names as those of the columns would lose that line.
        """
        if not KNOWN_NAMES.isdisjoint(self.header):
            return
        hint: str | Advice | None = None
        if self.separator == "\t":
            hint = advise_on_row(self.header, self.kind)
        if hint is None and any(is_number_text(name) for name in self.header):
            names = self.separator.join((*KEYS, VALUE_COLUMN[self.kind]))
            hint = f"if that line is data, write a header above it, such as {names!r}"
        if hint is not None:
            raise ColumnError(
                f"{self.kind} without a header",
                allowed="names of columns in the first line",
                given=self.separator.join(self.header),
                hint=hint,
                python=f"dh.read_{self.kind} takes these" if isinstance(hint, Advice) else None,
                path=self.path,
                line=1,
            )

    @property
    def value_key(self) -> str | None:
        """Which of the wanted columns holds the numbers; None where every row is a relevant document."""
        return find_value_column(self.columns)

    @property
    def places_of_texts(self) -> dict[str, int]:
        """The positions of the wanted columns of text."""
        return {key: place for key, place in self.places.items() if key in TEXTS}

    @property
    def places_of_numbers(self) -> dict[str, int]:
        """The position of the wanted column of numbers, if there is one."""
        return {key: place for key, place in self.places.items() if key not in TEXTS}

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row below the header with its line, or raise if it has not as many fields as the header.

        Of qrels, rows that only say that a query has no answer are left out.
        """
        has_flags = self.kind == "qrels" and ANSWERABLE in self.header
        with self.open() as file:
            rows = FileRows(file, self.path, self.separator)
            for line, fields in rows:
                n_missing = len(self.header) - len(fields)
                if self.dialect is not None and n_missing > 0:
                    fields.extend([""] * n_missing)
                misfit = rows.misfit(fields, line)
                if misfit is not None:
                    raise misfit
                if has_flags and not self._is_judged(fields, line):
                    continue
                yield line, fields

    def _is_judged(self, fields: list[str], line: int) -> bool:
        """Tell whether a row judges a document; keep its query if that has no answer."""
        flag = fields[self.header.index(ANSWERABLE)]
        is_answerable = read_answerable(flag, self.path, line)
        if not is_answerable:
            self.unanswerable.add(fields[self.places["query_id"]])
        has_document = fields[self.places["doc_id"]] != ""
        return is_answerable or has_document


def is_trec(path: Path, separator: str) -> bool:
    """Return whether a TSV file is TREC with tabs: its first line has 4 or 6 fields and no known name of a column."""
    if separator != "\t" or not path.is_file():
        return False
    first_block = next(blocks(path))
    first_line = b""
    for line in first_block.split(b"\n"):
        if line.strip():
            first_line = line
            break
    text = first_line.decode("utf-8", "replace").strip("\r")
    names = [name.strip(' "') for name in text.split("\t")]
    return len(names) in {4, 6} and KNOWN_NAMES.isdisjoint(names)


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
        return LABELLED_CASES
    if not any(table.header):
        raise DataError(f"{kind} without a header line", allowed="column names and rows", path=path)
    table.choose_columns(given)
    frame, notes = read_columns(table, table.places_of_numbers)
    if kind == "qrels" and not given:
        _warn_of_fractions(frame, table)
    if SUBTOPIC in table.columns:
        content = split_off_subtopics(frame, path, notes)
    else:
        has_ranks_and_scores = "rank" in table.header and table.value_key == "score"
        ranks = _read_ranks(table) if has_ranks_and_scores else None
        content = Content(frame, notes, ranks)
    return replace(content, unanswerable=tuple(sorted(table.unanswerable)), columns=table.columns)


def _warn_of_fractions(qrels: pl.DataFrame, table: HeaderFile) -> None:
    """Warn if a column that may hold scores was read as relevance and has fractions."""
    if table.columns.get("relevance") != "score":
        return
    has_fractions = (qrels["relevance"] % 1 != 0).any()
    if has_fractions:
        warnings.warn(
            f"{table.path}: the column 'score' is read as relevance, as in BEIR's qrels, and has fractions: is it a"
            " run?",
            DeadheatWarning,
            stacklevel=3,
        )


def _read_ranks(table: HeaderFile) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows; null where a field is not a number."""
    places = {"query_id": table.places["query_id"], "rank": table.header.index("rank"), "score": table.places["score"]}
    rows = _scan(table, (), n_rows=COMPARED_ROWS, truncate_ragged_lines=True)
    return collect_ranks(rows.select(**_name_columns(places)))


def _scan(
    table: HeaderFile,
    places_of_numbers: Collection[int],
    *,
    n_rows: int | None = None,
    truncate_ragged_lines: bool = False,
) -> pl.LazyFrame:
    """Let Polars split the rows below the header into columns ``column_0``, ``column_1``, ..."""
    schema = {}
    for place in range(len(table.header)):
        schema[f"column_{place}"] = pl.Float64 if place in places_of_numbers else pl.String
    return pl.scan_csv(
        table.data,
        has_header=False,
        skip_lines=table.n_header_lines,
        separator=table.separator,
        schema=schema,
        glob=False,
        n_rows=n_rows,
        truncate_ragged_lines=truncate_ragged_lines,
    )


def _name_columns(places: Mapping[str, int]) -> dict[str, str]:
    """Return the columns of :func:`_scan` at some places, by their canonical names."""
    return {key: f"column_{place}" for key, place in places.items()}


def list_columns(path: Path, *, separator: str) -> list[str]:
    """Return the names in the header, none if there is none."""
    return HeaderFile(path, "run", separator).header


def locate_in_table(
    path: Path, kind: Kind, query_id: str, doc_id: str, given: Mapping[str, str], *, separator: str
) -> list[int]:
    """Return the 1-based lines on which the rows of this pair begin."""
    if not given and is_trec(path, separator):
        return locate_in_lines(path, kind, query_id, doc_id, given)
    table = HeaderFile(path, kind, separator, given.values())
    table.choose_columns(given)
    query_place, doc_place = (table.places[key] for key in KEYS)
    lines = []
    for line, fields in table.rows():
        if fields[query_place] == query_id and fields[doc_place] == doc_id:
            lines.append(line)
    return lines


def read_columns(table: HeaderFile, places: Mapping[str, int]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the ids and the numbers of a table, and notes.

    Parameters
    ----------
    table : HeaderFile
        With its columns chosen.
    places : mapping of str to int
        The positions of the columns of numbers, by the names that they get.
    """
    frame = parse_rows(table, places)
    notes: tuple[str, ...] = ()
    if frame is None:
        frame, notes = read_rows(table, places)
    if frame.is_empty():
        raise DataError(f"{table.kind} without a single row below the header", path=table.path)
    return frame, notes


def parse_rows(table: HeaderFile, places: Mapping[str, int]) -> pl.DataFrame | None:
    """Let Polars read the rows; None where it cannot, or where they may not be what the file says.

    Polars looks at the fields that it is asked for, and fills a short row with nulls: if the last field of each row is
    there and the file holds exactly as many separators as rows take, then no row is short or long.
    """
    if not _may_be_parsed(table):
        return None
    separators = count_separators(table.data, table.separator, skip=table.n_header_bytes)
    n_columns = len(table.header)
    if separators is None or separators.n_separators != separators.n_lines * (n_columns - 1):
        return None
    rows = _scan(table, set(places.values()))
    names = _name_columns(table.places_of_texts | dict(places))
    ends_early = pl.col(f"column_{n_columns - 1}").is_null()
    try:
        frame = rows.select(**names, ends_early=ends_early).collect()
    except pl.exceptions.PolarsError:
        return None
    if frame.height != separators.n_lines or frame["ends_early"].any() or not has_only_ids(frame):
        return None
    if not all(are_plain(frame[name]) for name in places):
        return None
    if separators.may_hold_controls and (_has_mark_below_header(table) or has_control_characters(frame)):
        return None
    return frame.drop("ends_early")


def _may_be_parsed(table: HeaderFile) -> bool:
    """Tell whether Polars can read a table as the row by row reader does, as far as its header and first bytes show."""
    if table.dialect is not None or ANSWERABLE in table.header or misleads_polars(table.head):
        return False
    if table.value_key is None:
        return True
    # Where numbers may have commas and points, one of them may group thousands: each number is looked at.
    return table.separator != ";" and get_decimal_mark() is None


def _has_mark_below_header(table: HeaderFile) -> bool:
    """Tell whether the first row begins with a byte order mark, which Polars takes off there, too."""
    with table.open() as file:
        file.seek(table.n_header_bytes)
        return file.read(len(BOM)) == BOM


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers of a table that is read row by row.

    Attributes
    ----------
    place : int
        Its position in a row.
    name : str
        What messages call it.
    decimals : DecimalColumn
        Which decimal mark its numbers have.
    """

    place: int
    name: str
    decimals: DecimalColumn

    def read(self, fields: list[str], table: HeaderFile, line: int) -> float:
        """Return the number of a row; raise `DataError` if it is none."""
        text = self.decimals.plain(fields[self.place].strip(), line)
        return read_value(text, table.kind, path=table.path, line=line, name=self.name)


def read_rows(table: HeaderFile, places: Mapping[str, int]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read the rows one by one; return the ids and the numbers, and notes.

    Raises
    ------
    DataError
        For the first row that is wrong, with its line.
    """
    text_places = table.places_of_texts
    query_place, doc_place, *subtopic_places = text_places.values()
    columns = _number_columns(table, places)
    rows: list[tuple[str | float, ...]] = []
    n_skipped = 0
    for line, fields in table.rows():
        if table.dialect is not None:
            fields[query_place] = table.dialect.text_of(fields[query_place])
            fields[doc_place] = table.dialect.text_of(fields[doc_place])
            if not all(fields[place] for place in (doc_place, *places.values())):
                n_skipped += 1
                continue
        query_id = fields[query_place]
        doc_id = fields[doc_place]
        if not query_id or not doc_id:
            name = table.header[query_place if not query_id else doc_place]
            raise DataError(f"empty field in column {name!r}", allowed="an id", path=table.path, line=line)
        check_ids_of_row(query_id, doc_id, table.path, line)
        subtopics = [fields[place] for place in subtopic_places]
        numbers = [column.read(fields, table, line) for column in columns]
        rows.append((query_id, doc_id, *subtopics, *numbers))
    notes = []
    if table.dialect is not None and n_skipped:
        notes.append(f"{format_count(n_skipped, 'row')} {table.dialect.skipped[table.kind]} skipped")
    for column in columns:
        notes += column.decimals.notes()
    return frame_of_rows(rows, [*text_places, *places]), tuple(notes)


def _number_columns(table: HeaderFile, places: Mapping[str, int]) -> list[NumberColumn]:
    """Return the columns of numbers at some places; messages use the user's name for them, if one was given."""
    columns = []
    for key, place in places.items():
        header_name = table.header[place]
        name = header_name if "score" in table.given else key
        decimals = DecimalColumn(header_name, table.path, has_semicolons=table.separator == ";")
        columns.append(NumberColumn(place, name, decimals))
    return columns


def write_table(
    rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression, *, separator: str
) -> None:
    """Write a table with a header."""
    write_text(rows.with_columns(value_as_text(kind)), file, compression, separator)


for format_name, mark in (("csv", ","), ("tsv", "\t")):
    register(
        Format(
            name=format_name,
            suffixes=(f".{format_name}",),
            read=partial(read_table, separator=mark),
            write=partial(write_table, separator=mark),
            locate=partial(locate_in_table, separator=mark),
            columns=partial(list_columns, separator=mark),
            has_subtopics=True,
        )
    )
