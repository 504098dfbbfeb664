"""One reader for all tables of records: what it gives, and the line of each record."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from unittest.mock import patch

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io import memory_limits
from deadheat.core.io.formats import FORMATS
from deadheat.core.io.records import READERS, Records, Wanted, read_records
from deadheat.errors import DataError, DuplicateError, FileFormatError, MalformedRowError, ParameterError
from support.error_parts import raises_parts
from support.workbook import write_workbook

if TYPE_CHECKING:
    from pathlib import Path

CASES = Wanted(what="cases", keys=("cases", "test_cases"), keeps_misfits=True)
ROWS = [{"id": "a", "n": 1.5}, {"id": "b", "n": None}]
LINES = {"csv": [3, 5], "tsv": [3, 5], "jsonl": [1, 3], "json": [2, 4], "parquet": None, "xlsx": [3, 5]}
TEXTS = {
    "csv": 'id,n\n\n"a",1.5\n\nb,\n',
    "tsv": "id\tn\n\na\t1.5\n\nb\t\n",
    "jsonl": '{"id": "a", "n": 1.5}\n\n{"id": "b", "n": null}\n',
    "json": '[\n{"id": "a", "n": 1.5},\n\n{"id": "b", "n": null}]',
}


def written(folder: Path, form: str, text: str = "") -> Path:
    path = folder / f"x.{form}"
    if form == "parquet":
        pl.DataFrame(ROWS).write_parquet(path)
    elif form == "xlsx":
        write_workbook(path, {"A": {1: ["id", "n"], 3: ["a", 1.5], 5: ["b", None]}})
    else:
        path.write_text(text or TEXTS[form], encoding="utf-8")
    return path


def test_every_format_that_is_read_is_one_of_files() -> None:
    assert set(READERS) == set(FORMATS) - {"trec", "letor", "npz", "msmarco"} | {"xlsx"}


@pytest.mark.parametrize("form", list(READERS))
def test_each_format_gives_the_same_records_and_their_lines(form: str, tmp_path: Path) -> None:
    records = read_records(written(tmp_path, form), wanted=Wanted())
    assert records.columns == ["id", "n"]
    assert records.lines == LINES[form]
    is_typed = form in {"json", "jsonl", "parquet"}
    assert list(records.rows({"id", "n"})) == (ROWS if is_typed else [{"id": "a", "n": "1.5"}, {"id": "b", "n": ""}])
    assert records.frame["id"].to_list() == ["a", "b"]


def test_numbers_are_as_they_are_written_where_that_is_wanted(tmp_path: Path) -> None:
    path = written(tmp_path, "json", '[{"id": 1.50, "n": 10000000000000000000001}]')
    assert read_records(path).frame.rows() == [("1.50", "10000000000000000000001")]
    assert list(read_records(path, wanted=Wanted()).rows(())) == [{"id": 1.5, "n": 10**22 + 1}]


@pytest.mark.parametrize(
    ("form", "text", "message"),
    [
        ("csv", "id,n\na,1\nb\n", "x.csv:3: expected 2 fields (id,n), got 1: 'b'"),
        ("tsv", "id\tn\na\t1\nb\n", "x.tsv:3: expected 2 fields (id\tn), got 1: 'b'"),
        ("jsonl", '{"id": "a"}\n\n[7]', "x.jsonl:3: expected one JSON object a line, got '[7]'"),
        ("json", '[{"id": "a"},\n7]', "x.json:2: expected a list of objects, got '7'"),
    ],
)
def test_what_is_no_record_is_refused_or_kept(form: str, text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, form, text)
    with pytest.raises(MalformedRowError, match=re.escape(message)):
        read_records(path, wanted=Wanted())
    records = read_records(path, wanted=CASES)
    assert {place: str(error)[-len(message) :] for place, error in records.misfits.items()} == {1: message}
    assert records.lines is not None
    assert len(records.lines) == len(list(records.rows(records.columns))) == 2


def test_metadata_beside_the_records(tmp_path: Path) -> None:
    rows = [{"qid": "a"}, {"qid": "b", "language": "en"}]
    about = {"metadata": {"language": "de"}}
    in_json = written(tmp_path, "json", json.dumps({**about, "cases": rows}))
    in_lines = written(tmp_path, "jsonl", "\n".join(map(json.dumps, [about, *rows])))
    for path in (in_json, in_lines):
        assert read_records(path, wanted=CASES).metadata == about["metadata"]
        assert dh.Queries(path).column("language", ["a", "b"]) == ["de", "en"]
    with raises_parts(MalformedRowError, problem="found both 'cases' and 'test_cases'", allowed="one of them", line=1):
        read_records(written(tmp_path, "json", json.dumps({"cases": rows, "test_cases": rows})), wanted=CASES)


def test_where_two_records_are(tmp_path: Path) -> None:
    text = '[{"qid": "a"}, {"qid": "a"},\n{"qid": "b"}]'
    records = read_records(written(tmp_path, "json", text))
    assert (records.where(0, 1), records.where(0, 2)) == ("in rows 1 and 2", "on lines 1 and 2")
    assert Records([]).where(0, 2) == "in rows 1 and 3"
    with raises_parts(DuplicateError, problem="query 'a' appears in rows 1 and 2", path=tmp_path / "x.json", line=1):
        dh.Queries(tmp_path / "x.json")


def test_a_file_that_is_something_else_is_not_one_of_misfits(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x.jsonl:1: "):
        read_records(written(tmp_path, "jsonl", "no JSON\nno JSON\n"), wanted=CASES)


TABLE = "qid;topic\r\na;Schlüsselbein\r\n"


def test_a_table_of_excel_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(TABLE.encode("cp1252"))
    found = r"x\.csv:2: the text is not UTF-8 \(byte 0xFC, ü in Windows-1252\)"
    advice = rf"{found}.* Or give encoding='cp1252'; as with dh\.encoding"
    with pytest.raises(FileFormatError, match=advice):
        read_records(path)
    with dh.encoding("cp1252"):
        assert dh.Queries(path).column("topic", ["a"]) == ["Schlüsselbein"]
        path.write_bytes(TABLE.encode())  # and UTF-8 stays UTF-8
        assert dh.Queries(path).column("topic", ["a"]) == ["Schlüsselbein"]
    path.write_bytes(TABLE.encode("cp1252") + b"b;\x9d\n")  # which Windows-1252 does not have
    with (
        dh.encoding("cp1252"),
        raises_parts(FileFormatError, "got neither", allowed="text in UTF-8 or cp1252"),
    ):
        read_records(path)


@pytest.mark.parametrize("name", ["cp99999", "hex", None])
def test_encodings_that_are_none(name: str) -> None:
    with raises_parts(ParameterError, "of text that Python knows", argument="encoding", given=name):
        dh.encoding(name)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('id\tn\nq1\t"the matrix\nq2\towl\nq3\ttv 55"\n', [("q1", '"the matrix'), ("q2", "owl"), ("q3", 'tv 55"')]),
        ('id\tn\nq1\t"two\nlines"\n\nq2\t"owl"\n', [("q1", "two\nlines"), ("q2", "owl")]),
        ('id\tn\n\nq1\t"owl"\nq2\t"say ""hi"""', [("q1", "owl"), ("q2", 'say "hi"')]),
    ],
)
def test_no_row_of_a_tsv_is_lost_between_two_quotes(text: str, rows: list[tuple[str, str]], tmp_path: Path) -> None:
    assert read_records(written(tmp_path, "tsv", text)).frame.rows() == rows


def test_a_long_header_above_short_rows(tmp_path: Path) -> None:
    """Each row was filled up to the header's length, and kept an error with the whole header."""
    path = tmp_path / "x.csv"
    path.write_text(",".join(f"c{n}" for n in range(1_000)) + "\n" + "x,y\n" * 300)
    few = patch.multiple(memory_limits, _LEAST_ALLOWED=5_000_000, _LARGEST_RATIO=1)
    with few, pytest.raises(FileFormatError, match="about 7,200,000 bytes"):
        read_records(path)
    with raises_parts(MalformedRowError, r"1000 fields \('c0,c1,c2", path=path, line=2) as caught:
        read_records(path)
    assert len(str(caught.value)) < 1_000


def test_records_that_share_no_field(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f'{{"c{n}": 1}}\n' for n in range(500)))
    records = read_records(path)
    assert len(records.frame) == 500
    few = patch.multiple(memory_limits, _LEAST_ALLOWED=5_000_000, _LARGEST_RATIO=1)
    with few, pytest.raises(FileFormatError, match="about 6,000,000 bytes"):
        assert len(read_records(path).frame) == 500
