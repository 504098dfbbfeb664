"""`check_reader` passes what ships, and finds what is wrong with wrong formats."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import polars as pl
import pytest

from deadheat import api
from deadheat.core.io.formats import FORMATS, SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

Rows = list[tuple[int, str, str, float]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["trec", "csv", "tsv", "jsonl", "json", "parquet"])
def test_what_ships_passes(name: str) -> None:
    api.check_reader(name)


@pytest.mark.slow
def test_a_format_of_judgments_alone_passes() -> None:
    api.check_reader("letor", kinds=["qrels"])


def test_examples_and_wrong_files_are_read() -> None:
    api.check_reader(
        "trec",
        kinds=["qrels"],
        examples={"q 0 d 1\nq 0 e 0\n": [("q", "d", 1.0), ("q", "e", 0.0)]},
        wrong={"q 0 d 1\nq 0 e\n": 2, "q 0 d one\n": 1},
    )


def rows_of(path: Path, kind: api.Kind) -> Rows:
    """Read lines query|document|number, each with its line."""
    rows = []
    for line, text in enumerate(api.read_text(path, "rows").split("\n"), start=1):
        fields = text.rstrip("\r").split("|")
        if fields == [""]:
            continue
        if len(fields) != 3 or "" in fields:
            raise api.MalformedRowError(allowed="query|document|number", given=text, path=path, line=line)
        api.check_ids_of_row(fields[0], fields[1], path, line)
        rows.append((line, fields[0], fields[1], api.read_value(fields[2], kind, path=path, line=line)))
    return rows


def content_of(rows: Rows, kind: api.Kind) -> api.Content:
    names = ("query_id", "doc_id", api.VALUE_COLUMN[kind])
    return api.Content(api.frame_of_rows([row[1:] for row in rows], names))


def read(path: Path, kind: api.Kind, _: Mapping[str, str]) -> api.Content:
    return content_of(rows_of(path, kind), kind)


def write(rows: pl.DataFrame, file: IO[bytes], kind: api.Kind, _tag: str, compression: api.Compression) -> None:
    line = pl.concat_str("query_id", "doc_id", api.value_as_text(kind), separator="|")
    api.write_text(rows.select(line), file, compression)


def locate(path: Path, kind: api.Kind, query_id: str, doc_id: str, _: Mapping[str, str]) -> list[int]:
    return [row[0] for row in rows_of(path, kind) if row[1:3] == (query_id, doc_id)]


def read_last_row_never(path: Path, kind: api.Kind, _: Mapping[str, str]) -> api.Content:
    rows = rows_of(path, kind)
    return content_of(rows[:-1] or rows, kind)


def read_numbers_as_ids(path: Path, kind: api.Kind, _: Mapping[str, str]) -> api.Content:
    rows = [(line, query, doc.lstrip("0"), value) for line, query, doc, value in rows_of(path, kind)]
    return content_of(rows, kind)


def read_plain_files(path: Path, kind: api.Kind, _: Mapping[str, str]) -> api.Content:
    path.read_text(encoding="utf-8")  # of a compressed file it is no text
    return content_of(rows_of(path, kind), kind)


def read_with_python(path: Path, kind: api.Kind, _: Mapping[str, str]) -> api.Content:
    rows = []
    for line, text in enumerate(api.read_text(path, "rows").splitlines(), start=1):
        query, doc, number = text.split("|")
        rows.append((line, query, doc, float(number)))
    return content_of(rows, kind)


def read_merging(path: Path, kind: api.Kind, _: Mapping[str, str]) -> api.Content:
    rows = {(query, doc): (line, query, doc, value) for line, query, doc, value in rows_of(path, kind)}
    return content_of(list(rows.values()), kind)


def read_without_line(path: Path, kind: api.Kind, given: Mapping[str, str]) -> api.Content:
    try:
        return read(path, kind, given)
    except api.DataError as error:
        error.line = None
        raise


def read_without_path(path: Path, kind: api.Kind, given: Mapping[str, str]) -> api.Content:
    try:
        return read(path, kind, given)
    except api.DataError as error:
        error.path = None
        raise


def write_few_digits(
    rows: pl.DataFrame, file: IO[bytes], kind: api.Kind, tag: str, compression: api.Compression
) -> None:
    write(rows.with_columns(pl.col(api.VALUE_COLUMN[kind]).round(3)), file, kind, tag, compression)


def locate_from_0(path: Path, kind: api.Kind, query_id: str, doc_id: str, given: Mapping[str, str]) -> list[int]:
    return [max(line - 1, 1) for line in locate(path, kind, query_id, doc_id, given)]


def locate_first(path: Path, kind: api.Kind, query_id: str, doc_id: str, given: Mapping[str, str]) -> list[int]:
    return locate(path, kind, query_id, doc_id, given)[:1]


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "loses a row": ({"read": read_last_row_never}, "39 rows are read, expected 40"),
    "ids": ({"read": read_numbers_as_ids}, "is read as ('q1', '7'"),
    "compressed": ({"read": read_plain_files}, "a file compressed by gzip"),
    "no checks": ({"read": read_with_python}, "the value 'nan' is taken, expected DataError"),
    "merges": ({"read": read_merging}, "a pair that comes twice is taken, expected DuplicateError"),
    "no line": ({"read": read_without_line}, "is refused with an error for line None, expected line 2"),
    "no path": ({"read": read_without_path}, "is refused with an error that does not name the file"),
    "digits": ({"write": write_few_digits}, "is read as"),
    "separator": ({"splits_at": ""}, "the document 'a|b' cannot be read"),
    "line": ({"locate": locate_from_0}, "which lacks the document"),
    "one line": ({"locate": locate_first}, "a pair that comes twice is located on the lines [1], expected two lines"),
    "ending": ({"suffixes": ("pipes",)}, "the ending 'pipes' is not a dot and small letters"),
    "no ending": ({"suffixes": ()}, "it has no ending"),
}


@pytest.fixture
def register() -> Iterator[Callable[..., None]]:
    """Register a format for one test."""

    def add(**changed: Any) -> None:  # noqa: ANN401 - fields of a format
        fields = {"suffixes": (".pipes",), "read": read, "write": write, "locate": locate, "splits_at": r"[|\r\n]"}
        form = api.FileFormat(name="pipes", **{**fields, **changed})
        api.register_file_format(form)
        SUFFIXES.update(dict.fromkeys(form.suffixes, "pipes"))

    suffixes = dict(SUFFIXES)
    yield add
    FORMATS.pop("pipes", None)
    SUFFIXES.clear()
    SUFFIXES.update(suffixes)


def test_a_format_of_a_plugin_passes(register: Callable[..., None]) -> None:
    register()
    api.check_reader("pipes", wrong={"q|d|1\nq|d\n": 2})


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_format_fails_with_what_is_wrong(name: str, register: Callable[..., None]) -> None:
    changed, problem = WRONG[name]
    register(**changed)
    with pytest.raises(api.CheckFailedError) as raised:
        api.check_reader("pipes", wrong={"q|d|1\nq|d\n": 2})
    assert problem in str(raised.value)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(api.ParameterError, match="unknown format"):
        api.check_reader("pipse")


def test_no_two_formats_have_one_ending(register: Callable[..., None]) -> None:
    with pytest.raises(api.ParameterError, match=r"\.csv of the file format pipes is taken by the format csv"):
        register(suffixes=(".pipes", ".csv"))
