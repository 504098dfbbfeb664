"""CSV and TSV with a header line: parsed by Polars, and row by row where its result is in doubt."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO

import polars as pl

from deadheat.errors import ColumnError, DataError, DeadheatWarning
from deadheat.io.census import count_separators
from deadheat.io.decimals import Column, given_decimal, may_be_number
from deadheat.io.exports.quepid import columns_of, is_quepid, skipped, text_of
from deadheat.io.formats.base import (
    ROWS,
    SAMPLE,
    Content,
    Format,
    ScoreColumns,
    chosen_names,
    ranks_of,
    register,
    split_off,
)
from deadheat.io.formats.trec import locate_in_lines, read_trec
from deadheat.io.kinds import (
    KEYS,
    SUBTOPIC,
    Kind,
    has_semicolons,
    is_list_name,
    known_names,
    resolve_columns,
    subtopic_column,
)
from deadheat.io.rows import Rows
from deadheat.io.source import (
    BOM,
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
    are_plain,
    check_ids_of_row,
    holds_controls,
    holds_only_ids,
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
    given: Mapping[str, str]
    header: list[str]
    n_header_lines: int
    n_header_bytes: int

    @cached_property
    def places(self) -> dict[str, int]:
        """The positions of the columns, by canonical name."""
        known = columns_of(self.header, self.kind) if self.is_quepid else {}
        columns = resolve_columns(self.header, self.kind, where=self.path, given={**known, **self.given})
        if is_list_name(columns["doc_id"], self.kind):
            problem = f"column {columns['doc_id']!r} would hold lists of documents, which a table of text cannot"
            raise ColumnError(problem, hint="write .jsonl, or a row for each document", path=self.path)
        return {name: self.header.index(column) for name, column in columns.items()}

    @property
    def is_quepid(self) -> bool:
        """Whether Quepid wrote it, whose rows may lack what is not known."""
        return is_quepid(self.header)

    @cached_property
    def topic(self) -> int | None:
        """The position of the column with subtopics, if there may be some."""
        columns = {name: self.header[place] for name, place in self.places.items()}
        found = subtopic_column(self.header, self.kind, columns, where=self.path, given=self.given)
        return None if found is None else self.header.index(found)

    @property
    def value(self) -> str | None:
        """Which column holds the numbers; None where every row is a relevant document."""
        return next((name for name in self.places if name not in KEYS), None)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row below the header with its line, or raise if it has not as many fields as the header."""
        with _opened(self.data) as file:
            rows = Rows(file, self.path, self.separator)
            for line, row in rows:
                lacks = len(self.header) - len(row) if self.is_quepid else 0
                if lacks <= 0 and (misfit := rows.misfit(row, line)):
                    raise misfit
                yield line, row + [""] * lacks


def _is_trec(path: Path, separator: str) -> bool:
    """Return whether a TSV file is TREC with tabs: no known column name in its first line, and 4 or 6 fields."""
    if separator != "\t" or not path.is_file():
        return False
    first = next((line for line in next(blocks(path, has_lines=True)).split(b"\n") if line.strip()), b"")
    names = [name.strip(' "') for name in first.decode("utf-8", "replace").strip("\r").split("\t")]
    return len(names) in _TREC_WIDTHS and not known_names() & set(names)


def read_table(path: Path, kind: Kind, given: Mapping[str, str], *, separator: str) -> Content:
    """Read a table with a header into query_id, doc_id and the value, in file order; TREC with tabs as such.

    Raises
    ------
    ColumnError, FileFormatError, DataError
        With the first line that is wrong.
    """
    if not given and _is_trec(path, separator):
        return read_trec(path, kind, given)
    table = _open(path, kind, separator, given)
    if not any(table.header):
        raise DataError(f"{kind} without a header line", allowed="column names and rows", path=path)
    frame = _parse(table)
    notes: tuple[str, ...] = ()
    if frame is None:
        frame, notes = _read_rows(table)
    if frame.is_empty():
        raise DataError(f"{kind} without a single row below the header", path=path)
    if kind == "qrels" and table.value and table.header[table.places["relevance"]] == "score" and not given:
        _doubt_fractions(frame, path)
    if table.topic is not None:
        return split_off(frame, path, notes)
    has_ranks = "rank" in table.header and table.value == "score"
    return Content(frame, notes, _ranks(table) if has_ranks else None)


def _ranks(table: _Table) -> pl.DataFrame | None:
    """Return the ranks and scores of the first rows; null for what is no number."""
    rows = pl.scan_csv(
        table.data,
        has_header=False,
        skip_lines=table.n_header_lines,
        separator=table.separator,
        schema={f"column_{n}": pl.String for n in range(len(table.header))},
        n_rows=ROWS,
        truncate_ragged_lines=True,
        glob=False,
    )
    places = {"query_id": table.places["query_id"], "rank": table.header.index("rank"), "score": table.places["score"]}
    return ranks_of(rows.select(**{name: f"column_{place}" for name, place in places.items()}))


def _doubt_fractions(frame: pl.DataFrame, path: Path) -> None:
    if (frame["relevance"] % 1 != 0).any():
        msg = f"{path}: the column 'score' is read as relevance, as in BEIR's qrels, and has fractions: is it a run?"
        warnings.warn(msg, DeadheatWarning, stacklevel=2)


def read_score_columns(
    path: Path, names: Sequence[str] | None, given: Mapping[str, str], *, separator: str
) -> ScoreColumns:
    """Read the ids of a table and several columns of scores, in file order."""
    header = _open(path, "run", separator, given).header
    first = next((name for name in names or header), "")
    table = _open(path, "run", separator, {**given, "score": first})
    chosen, notes = chosen_names(names, _numeric(table) if names is None else (), header, given, path)
    table = replace(table, given={**given, "score": chosen[0]})
    # names of their own, as a column of scores may be called as ids are
    frame = _parse(table, {f"score {n}": header.index(name) for n, name in enumerate(chosen)})
    if frame is not None and len(frame):
        scores = {name: frame[f"score {n}"].to_numpy() + 0.0 for n, name in enumerate(chosen)}
        return ScoreColumns(frame.select(KEYS), scores, notes)
    contents = {name: read_table(path, "run", {**given, "score": name}, separator=separator) for name in chosen}
    scores = {name: content.rows["score"].to_numpy() + 0.0 for name, content in contents.items()}
    return ScoreColumns(contents[chosen[0]].rows.select(KEYS), scores, notes)


def _numeric(table: _Table) -> list[str]:
    """Return the columns whose first rows hold numbers, some of which may be missing."""
    rows = [row for _, row in islice(table.rows(), SAMPLE)]
    columns = zip(*rows, strict=True) if rows else [()] * len(table.header)
    found = []
    for name, texts in zip(table.header, columns, strict=True):
        own = [may_be_number(text.strip(), has_semicolons=table.separator == ";") for text in texts if text.strip()]
        found += [name] if own and all(own) else []
    return found


def names_in_table(path: Path, *, separator: str) -> list[str]:
    """Return the names in the header, none if there is none."""
    return _open(path, "run", separator, {}).header


def locate_in_table(
    path: Path, kind: Kind, query_id: str, doc_id: str, given: Mapping[str, str], *, separator: str
) -> list[int]:
    """Return the 1-based lines on which the rows of this pair begin."""
    if not given and _is_trec(path, separator):
        return locate_in_lines(path, kind, query_id, doc_id, given)
    table = _open(path, kind, separator, given)
    query, doc = (table.places[name] for name in KEYS)
    return [line for line, row in table.rows() if row[query] == query_id and row[doc] == doc_id]


def _open(path: Path, kind: Kind, separator: str, given: Mapping[str, str]) -> _Table:
    head = plain_head(path)
    data: Path | bytes = path
    if head is None:
        data = read_all(path, has_lines=True)
        head = data[:HEAD]
    else:
        refuse_binary(head, path)
        check_lines_of(path)
    if separator == "," and has_semicolons(without_bom(head), given.values()):
        separator = ";"
    with _opened(data) as file:
        rows = Rows(file, path, separator)
        header, n_lines, n_bytes = rows.header, rows.n_lines, rows.n_bytes
    return _Table(path, data, without_bom(head), kind, rows.separator, given, header, n_lines, n_bytes)


def _opened(data: Path | bytes) -> BinaryIO:
    return data.open("rb") if isinstance(data, Path) else BytesIO(data)


def _parse(table: _Table, values: Mapping[str, int] | None = None) -> pl.DataFrame | None:
    """Let Polars read the rows; None where it cannot, or where they may not be what the file says.

    `values` are the places of columns of numbers, by name; by default that of the table.

    Polars looks at the fields that it is asked for, and fills a short row with nulls: if the last field of each row is
    there and the file holds exactly as many separators as rows take, then no row is short or long.
    """
    has_marks = table.separator == ";" or given_decimal() is not None
    if misleads_polars(table.head) or (has_marks and table.value) or table.is_quepid:
        return None  # of commas and points in numbers, one may group thousands: each is looked at
    census = count_separators(table.data, table.separator, skip=table.n_header_bytes)
    n_columns = len(table.header)
    if census is None or census.n_separators != census.n_lines * (n_columns - 1):
        return None
    if values is None:
        values = {name: place for name, place in table.places.items() if name not in KEYS}
    topic = {} if table.topic is None else {SUBTOPIC: table.topic}
    places = {name: table.places[name] for name in KEYS} | topic | dict(values)
    numbers = set(values.values())
    rows = pl.scan_csv(
        table.data,
        has_header=False,
        skip_lines=table.n_header_lines,
        separator=table.separator,
        schema={f"column_{n}": pl.Float64 if n in numbers else pl.String for n in range(n_columns)},
        glob=False,
    )
    last = pl.col(f"column_{n_columns - 1}")
    wanted = rows.select(**{name: f"column_{n}" for name, n in places.items()}, ends_early=last.is_null())
    try:
        frame = wanted.collect()
    except pl.exceptions.PolarsError:
        return None
    if frame.height != census.n_lines or frame["ends_early"].any() or not holds_only_ids(frame):
        return None
    if not all(are_plain(frame[name]) for name in values):
        return None
    has_controls = census.may_hold_controls and (holds_controls(frame) or _begins_with_mark(table))
    return None if has_controls else frame.drop("ends_early")


def _begins_with_mark(table: _Table) -> bool:
    """Return whether the first row begins with a byte order mark, which Polars takes off after the header too."""
    with _opened(table.data) as file:
        file.seek(table.n_header_bytes)
        return file.read(len(BOM)) == BOM


def _read_rows(table: _Table) -> tuple[pl.DataFrame, tuple[str, ...]]:
    query, doc, *value = table.places.values()
    queries: list[str] = []
    docs: list[str] = []
    topics: list[str] = []
    n_skipped = 0
    numbers: list[float] = []
    column = _column(table)
    for line, row in table.rows():
        if table.is_quepid:
            row[query], row[doc] = text_of(row[query]), text_of(row[doc])
            if not all(row[place] for place in (doc, *value)):
                n_skipped += 1
                continue
        if not (row[query] and row[doc]):
            name = table.header[doc if row[query] else query]
            raise DataError(f"empty field in column {name!r}", allowed="an id", path=table.path, line=line)
        check_ids_of_row(row[query], row[doc], table.path, line)
        queries.append(row[query])
        docs.append(row[doc])
        if table.topic is not None:
            topics.append(row[table.topic])
        for place in value:
            text = column.plain(row[place].strip(), line)
            name = table.given.get("score", table.value or "")
            numbers.append(read_value(text, table.kind, path=table.path, line=line, name=name))
    ids = {name: pl.Series(column, dtype=pl.String) for name, column in zip(KEYS, (queries, docs), strict=True)}
    if table.topic is not None:
        ids[SUBTOPIC] = pl.Series(topics, dtype=pl.String)
    values = {} if table.value is None else {table.value: pl.Series(numbers, dtype=pl.Float64)}
    return pl.DataFrame(ids | values), (*skipped(n_skipped, table.kind), *column.notes())


def _column(table: _Table) -> Column:
    """Return a reader of the numbers: which mark is the decimal one."""
    name = table.header[table.places[table.value]] if table.value else ""
    return Column(name, table.path, has_semicolons=table.separator == ";")


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
            read_columns=partial(read_score_columns, separator=mark),
            columns=partial(names_in_table, separator=mark),
            has_subtopics=True,
        )
    )
