"""Judgments that are added to qrels, from a file that people filled in in part."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.data.added_judgments import add_judgments
from deadheat.errors import ColumnError, DataError, DuplicateError
from support.command import call, ok

HEAD = "query_id,doc_id,relevance,weight,rank a\n"


@pytest.fixture(name="qrels")
def _qrels(tmp_path: Path) -> Path:
    path = tmp_path / "qrels.txt"
    path.write_text("q 0 a 1\np 0 x 2\n", encoding="utf-8")
    return path


def written(folder: Path, text: str, name: str = "judge.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_filled_in_is_added(tmp_path: Path, qrels: Path) -> None:
    path = written(tmp_path, HEAD + "q,u,1,0.5,1\nq,v,,0.4,2\np,w,0,0.3,1\np,y, ,0.3,1\n")
    judgments = add_judgments(dh.read_qrels(qrels), path)
    assert judgments.frame.rows() == [("q", "a", 1.0), ("p", "x", 2.0), ("q", "u", 1.0), ("p", "w", 0.0)]
    assert (judgments.n_added, judgments.n_open) == (2, 2)


def test_other_tables_are_read_too(tmp_path: Path, qrels: Path) -> None:
    rows = [{"query_id": "q", "doc_id": "7", "relevance": 1.5}, {"query_id": "q", "doc_id": "8", "relevance": None}]
    as_json = written(tmp_path, json.dumps(rows), "judge.json")
    as_tsv = written(tmp_path, "doc_id\trelevance\tquery_id\n7\t1.5\tq\n8\t\tq\n", "judge.tsv")
    for path in (as_json, as_tsv):
        judgments = add_judgments(dh.read_qrels(qrels), path)
        assert (judgments.frame.rows()[2:], judgments.n_open) == ([("q", "7", 1.5)], 1)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ("q,u,,0,1\n", DataError, "nothing is judged yet"),
        ("q,u,1,0,1\nq,a,1,0,1\n", DuplicateError, r"judge.csv:3: document 'a' of query 'q' is judged already"),
        ("q,u,1,0,1\nq,u,,0,1\nq,u,0,0,1\n", DuplicateError, r"judge.csv:4"),
        ("q,u,yes,0,1\n", DataError, r"judge.csv:2: relevance must be a number, got 'yes'"),
    ],
)
def test_what_cannot_be_added_is_named(
    tmp_path: Path, qrels: Path, rows: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        add_judgments(dh.read_qrels(qrels), written(tmp_path, HEAD + rows))
    with pytest.raises(ColumnError, match="no column 'relevance'"):
        add_judgments(dh.read_qrels(qrels), written(tmp_path, "query_id,doc_id\nq,u\n"))


@pytest.mark.plugins("weeks")
def test_from_holes_to_new_qrels(tmp_path: Path, qrels: Path) -> None:
    """The way of the documentation: find, judge in part, add, evaluate; nothing judged is ever overwritten."""
    run, file, more = tmp_path / "a.run", tmp_path / "to-judge.csv", tmp_path / "more.txt"
    run.write_text("q Q0 u 1 3 t\nq Q0 a 2 2 t\np Q0 x 1 1 t\np Q0 w 2 0 t\n", encoding="utf-8")
    said = call("holes", qrels, run, "-m", "RR", "--judge", file).stderr
    assert "2 documents to judge" in said
    assert "--add" in said
    file.write_text(file.read_text().replace("q,u,,", "q,u,1,"), encoding="utf-8")
    again = call("holes", qrels, run, "-m", "RR", "--judge", file)
    assert (again.exit_code, "exists already" in again.output) == (2, True)
    assert "q,u,1," in file.read_text()
    partly = call("evaluate", file, run)
    assert (partly.exit_code, "convert --add" in partly.output) == (3, True)
    result = call("convert", qrels, more, "--add", file)
    assert "3 rows of qrels as trec, 1 of" in result.stderr
    assert more.read_text() == "q 0 a 1\np 0 x 2\nq 0 u 1\n"
    assert "1.0000" in ok("evaluate", more, run, "-m", "RR")
    assert call("convert", run, more, "--kind", "run", "--add", file, "--force").exit_code == 2


def test_judgments_without_subtopics_are_not_added_to_those_with(tmp_path: Path) -> None:
    qrels, file = written(tmp_path, "q 1 a 1\nq 2 a 2\nq 2 b 1\n", "div.qrels"), written(tmp_path, HEAD + "q,u,1,0,1\n")
    result = call("convert", qrels, tmp_path / "out.txt", "--add", file)
    assert (result.exit_code, "by subtopic" in result.output) == (2, True)
    ok("convert", qrels, tmp_path / "out.txt", "--add", file, "--no-subtopics")
    assert (tmp_path / "out.txt").read_text() == "q 0 a 2\nq 0 b 1\nq 0 u 1\n"


HOSTILE = ["=1+2", "\n=1", "'=1", "''=1", "\t-x", "@SUM(A1)", "::error::d", "##[error]d", "a\rb", "-1.5", "'d"]


@pytest.mark.plugins("weeks")
@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_the_sheet_for_annotators_has_no_formulas_and_gives_back_its_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """Once `=1+2` was worked out when the sheet was opened, and its document lost when it was saved."""
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"query_id": ["=q"], "doc_id": ["judged"], "relevance": [1]}).write_parquet("qrels.parquet")
    hostile = [doc for doc in HOSTILE if ending == "csv" or "\r" not in doc]  # which no TSV file may have
    run = {"query_id": ["=q"] * len(hostile), "doc_id": hostile, "score": [1.0 / (n + 1) for n in range(len(hostile))]}
    pl.DataFrame(run).write_parquet("run.parquet")
    ok("holes", "qrels.parquet", "run.parquet", "-m", "P@20", "--judge", f"sheet.{ending}")
    separator = {"csv": ",", "tsv": "\t"}[ending]
    with (tmp_path / f"sheet.{ending}").open(newline="") as file:
        head, *rows = list(csv.reader(file, delimiter=separator))
    assert not any(re.match(r"\s*[=+@]|\s*-[^\d]|::", field) for row in rows for field in row)
    rows = [["1" if name == "relevance" else field for name, field in zip(head, row, strict=True)] for row in rows]
    with (tmp_path / f"filled.{ending}").open("w", newline="") as file:
        csv.writer(file, delimiter=separator).writerows([head, *rows])
    ok("convert", "qrels.parquet", "all.parquet", "--add", f"filled.{ending}")
    found = pl.read_parquet("all.parquet")
    assert set(found.rows()) == {("=q", "judged", 1), *(("=q", doc, 1) for doc in hostile)}
