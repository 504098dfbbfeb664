"""Excel workbooks as tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

import deadheat as dh
from deadheat.core.io import memory_limits
from deadheat.core.io.records import read_records
from deadheat.errors import ColumnError, DataError, DeadheatWarning, FileFormatError
from support.error_parts import raises_parts
from support.workbook import write_workbook

ROWS: dict[int, list[object]] = {
    1: ["text", "expected_ids", None, "language"],
    3: ["Fieber & <Frost>\nnachts", "D1", "a remark without a column", "de"],
    4: [None, None, "only a remark"],
    7: [7, 0.25, None, None],
}


@pytest.mark.parametrize("is_inline", [False, True])
@pytest.mark.parametrize(
    "main", ["http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/x"]
)
def test_cells_are_text_with_the_numbers_of_their_rows(tmp_path: Path, main: str, *, is_inline: bool) -> None:
    records = read_records(write_workbook(tmp_path / "x.xlsx", {"A": ROWS}, is_inline=is_inline, main=main))
    assert records.columns == ["text", "expected_ids", "language"]
    assert records.lines == [3, 4, 7]
    assert list(records.frame.iter_rows()) == [
        ("Fieber & <Frost>\nnachts", "D1", "de"),
        ("", "", ""),
        ("7", "0.25", ""),
    ]


@pytest.mark.plugins("bench")
def test_a_workbook_is_what_its_csv_is(tmp_path: Path) -> None:
    rows = {1: ["text", "expected_ids", "language"], 2: ["Fieber", "D1|D2", "de"], 3: ["Husten", "D2", "de"]}
    (tmp_path / "x.csv").write_text("".join(",".join(row) + "\n" for row in rows.values()))
    assert (
        dh.read_cases(write_workbook(tmp_path / "x.xlsx", {"A": rows})).cases == dh.read_cases(tmp_path / "x.csv").cases
    )
    documents: dict[int, list[object]] = {1: ["doc_id", "text"], 2: ["D1", "fever"]}
    assert dh.read_collection(write_workbook(tmp_path / "d.xlsx", {"A": documents})).texts == ("fever",)
    queries: dict[int, list[object]] = {1: ["qid", "topic"], 2: [7, "x"]}
    assert dh.Queries(write_workbook(tmp_path / "q.xlsx", {"A": queries})).column("topic", ["7"]) == ["x"]


def test_the_first_sheet_with_content_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    sheets: dict[str, dict[int, list[object]]] = {"empty": {}, "cases": ROWS, "legend": {1: ["x"]}}
    with pytest.warns(DeadheatWarning, match=r"x\.xlsx: .*'legend' not$"):
        assert read_records(write_workbook(tmp_path / "x.xlsx", sheets)).lines == [3, 4, 7]
    assert read_records(write_workbook(tmp_path / "y.xlsx", {"empty": {}, "cases": ROWS})).lines == [3, 4, 7]


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    for content in (b"text;ids\n", b"PK\x03\x04", b""):
        path.write_bytes(content)
        with raises_parts(FileFormatError, "got something else", allowed="an Excel workbook (.xlsx)", path=path):
            read_records(path)
    write_workbook(path, {"A": ROWS})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="or a damaged one"):
        read_records(path)
    with ZipFile(path, "w") as book:
        book.writestr("word/document.xml", "<x/>")
    with pytest.raises(FileFormatError, match="or a damaged one"):
        read_records(path)
    with raises_parts(DataError, problem="no sheet has a cell", allowed="column names and rows", path=path):
        read_records(write_workbook(path, {"A": {}}))
    with pytest.raises(ColumnError, match="column 'a' appears 2 times"):
        read_records(write_workbook(path, {"A": {1: ["a", "a"], 2: ["x", "y"]}}))


@pytest.mark.slow
def test_a_workbook_that_is_damaged_anywhere_is_read_or_refused(tmp_path: Path) -> None:
    rows = {1: ["text", "ids"], **{n: [f"text {n * n}", f"HP:{n:07}"] for n in range(2, 60)}}
    whole = write_workbook(tmp_path / "whole.xlsx", {"A": rows})
    with ZipFile(whole) as book, ZipFile(tmp_path / "packed.xlsx", "w", ZIP_DEFLATED) as packed:
        for part in book.infolist():
            packed.writestr(part.filename, book.read(part))
    content = (tmp_path / "packed.xlsx").read_bytes()
    path = tmp_path / "damaged.xlsx"
    n_refused = 0
    for place in range(0, len(content), 11):
        damaged = bytearray(content)
        damaged[place] ^= 0xA5
        path.write_bytes(damaged)
        with warnings.catch_warnings(action="ignore"):
            try:
                read_records(path)
            except DataError:
                n_refused += 1
    assert n_refused > 20


def test_a_workbook_cannot_fill_the_memory(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "x.xlsx", {"A": {line: ["x" * 1000] for line in range(1, 1000)}})
    with (
        patch.multiple(memory_limits, _LEAST_ALLOWED=1_000_000, _LARGEST_RATIO=1),
        pytest.raises(FileFormatError, match="more than 1,000,000 bytes"),
    ):
        read_records(path)
    with ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    parts["xl/workbook.xml"] = b'<!DOCTYPE x [<!ENTITY a "aaaa">]>' + parts["xl/workbook.xml"]
    with ZipFile(path, "w") as book:
        for name, data in parts.items():
            book.writestr(name, data)
    with pytest.raises(FileFormatError, match="it has a document type"):
        read_records(path)


@pytest.mark.plugins("bench")
def test_an_error_of_a_formula_is_no_text(tmp_path: Path) -> None:
    path, error = tmp_path / "x.xlsx", ValueError("#N/A")
    readers: dict[tuple[str, ...], Callable[[Path], object]] = {
        ("query_id", "topic"): dh.Queries,
        ("text", "expected_ids"): dh.read_cases,
        ("doc_id", "text"): dh.read_collection,
        ("query_id", "doc_id", "answer"): dh.read_judgments,
    }
    for header, read in readers.items():
        for wrong in range(len(header)):
            row = [error if place == wrong else "x" for place in range(len(header))]
            write_workbook(path, {"A": {1: header, 3: ["y"] * len(header), 4: row}})
            problem = f"cell {'ABC'[wrong]}4 has the error #N/A"
            with raises_parts(DataError, problem=problem, hint="mend the formula, or empty the cell", path=path):
                read(path)
    rows: dict[int, list[object]] = {1: ["text", "ids"], 2: ["#N/A", "a", error]}  # written as text, and without a name
    assert list(read_records(write_workbook(path, {"A": rows}, is_inline=True)).frame.iter_rows()) == [("#N/A", "a")]
    with pytest.raises(DataError, match="cell B1"):
        read_records(write_workbook(path, {"A": {1: ["text", error], 2: ["a", "b"]}}))


@pytest.mark.plugins("spans")
def test_true_and_false_of_excel(tmp_path: Path) -> None:
    rows: dict[int, Sequence[object]] = {
        1: ["query_id", "doc_id", "start", "end", "answerable"],
        2: ["q1", "d", 0, 5, True],
        3: ["q2", *3 * [None], False],
    }
    spans = dh.Spans(write_workbook(tmp_path / "x.xlsx", {"A": rows}))
    assert (spans.rows["query_id"].to_list(), spans.unanswerable) == (["q1"], ("q2",))


def test_a_long_header_above_short_rows(tmp_path: Path) -> None:
    """383 KB were a header of 16,384 columns above 60,000 short rows, which took 8 GB."""
    names = [f"c{n}" for n in range(1_000)]
    path = write_workbook(tmp_path / "x.xlsx", {"A": {1: names, **{line: ["x"] for line in range(2, 302)}}})
    few = patch.multiple(memory_limits, _LEAST_ALLOWED=5_000_000, _LARGEST_RATIO=1)
    with few, pytest.raises(FileFormatError, match="about 7,224,000 bytes"):
        read_records(path)
    assert len(read_records(path).columns) == 1_000
