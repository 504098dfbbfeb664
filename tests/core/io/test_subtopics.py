"""Judgments by subtopic: read from all that can hold them, and written to what can."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

import duckdb
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io.formats import FORMATS, write
from deadheat.errors import ColumnError, DuplicateError, MalformedRowError, ParameterError
from support.command import call, ok
from support.error_parts import raises_parts

ROWS = [("q1", "a", "1", 1.0), ("q1", "a", "2", 2.0), ("q1", "b", "1", 0.0), ("q2", "a", "x, y", 1.0)]
PLAIN = {"q1": {"a": 2.0, "b": 0.0}, "q2": {"a": 1.0}}
NOTE = "has 3 subtopics; without them a document has its highest relevance, 1 row merged"
NAMES = ["query_id", "doc_id", "subtopic", "relevance"]
ABLE = [name for name, form in FORMATS.items() if form.has_subtopics]
FIRST = '"query_id":"q","doc_id":"a"'
TEXT = [name for name in ABLE if name not in {"trec", "parquet"}]


def frame(rows: list[tuple[str, str, str, float]] = ROWS, topic: str = "subtopic") -> pl.DataFrame:
    return pl.DataFrame(rows, schema=[topic if name == "subtopic" else name for name in NAMES], orient="row")


def held(qrels: dh.Qrels) -> list[tuple[object, ...]]:
    assert qrels.subtopics is not None
    assert qrels.subtopics.columns == NAMES
    return qrels.subtopics.rows()


def refused(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code, result.output
    return " ".join(result.stderr.split())


def test_formats_that_have_subtopics() -> None:
    assert sorted(ABLE) == ["csv", "jsonl", "parquet", "trec", "tsv"]


@pytest.mark.parametrize("topic", ["subtopic", "subtopic_id", "iteration", "intent"])
@pytest.mark.parametrize("name", [*TEXT, "parquet", "json"])
def test_a_column_of_a_file_holds_subtopics(tmp_path: Path, name: str, topic: str) -> None:
    path, rows = tmp_path / f"x.{name}", frame(topic=topic)
    if name == "parquet":
        rows.write_parquet(path)
    elif name == "jsonl":
        rows.write_ndjson(path)
    elif name == "json":
        path.write_text(json.dumps(rows.to_dicts()), encoding="utf-8")
    else:
        rows.write_csv(path, separator="," if name == "csv" else "\t")
    qrels = dh.read_qrels(path)
    assert held(qrels) == ROWS
    assert qrels.to_dict() == PLAIN
    assert qrels.notes == (f"{path} {NOTE}",)
    assert qrels.fingerprint == dh.read_qrels(frame()).fingerprint


def test_frames_of_all_libraries_hold_subtopics() -> None:
    rows = frame()
    connection = duckdb.connect()
    connection.register("judged", rows.to_arrow())
    sources = [rows, rows.lazy(), rows.to_pandas(), rows.to_arrow(), rows.to_dicts(), connection.sql("FROM judged")]
    for one in sources:
        assert sorted(held(dh.read_qrels(one))) == sorted(ROWS), type(one)


def test_numbers_are_subtopics() -> None:
    rows = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "a"], "subtopic": [1, 10], "relevance": [1, 0]})
    assert held(dh.read_qrels(rows)) == [("q", "a", "1", 1.0), ("q", "a", "10", 0.0)]


class Iteration(NamedTuple):
    """As ir_measures has it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Intent(NamedTuple):
    """As ir_datasets has it, of diversity tasks."""

    query_id: str
    doc_id: str
    relevance: int
    subtopic_id: str


@pytest.mark.parametrize("kind", [Iteration, Intent])
def test_named_tuples_of_other_tools_hold_subtopics(kind: type[Iteration | Intent]) -> None:
    assert held(dh.read_qrels([kind(query, doc, int(rel), topic) for query, doc, topic, rel in ROWS])) == ROWS
    assert dh.read_qrels([kind(query, doc, int(rel), "0") for query, doc, _, rel in ROWS[1:]]).subtopics is None


@pytest.mark.parametrize("name", TEXT)
def test_a_column_of_any_name_can_be_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"x.{name}"
    rows = frame(topic="facet")
    rows.write_ndjson(path) if name == "jsonl" else rows.write_csv(path, separator="," if name == "csv" else "\t")
    assert held(dh.read_qrels(path, columns={"subtopic": "facet"})) == ROWS
    assert held(dh.read_qrels(rows, columns={"subtopic": "facet"})) == ROWS
    with raises_parts(ColumnError, "no column 'facets'", hint="Did you mean 'facet'?", path=path):
        dh.read_qrels(path, columns={"subtopic": "facets"})
    with pytest.raises(ParameterError, match="subtopic"):
        dh.read_qrels(path, columns={"subtopics": "facet"})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("csv", 'query_id;doc_id;subtopic;relevance\nq;a;"1";1,0\nq;a;;0,5\n'),  # decimal commas: read row by row
        ("csv", 'query_id,doc_id,subtopic,relevance\n"q",a,1,1\nq,a,,0.5\n'),
        ("jsonl", f'{{{FIRST},"subtopic":"1","relevance":1}}\n{{{FIRST},"relevance":0.5}}'),
        ("jsonl", f'{{{FIRST},"subtopic":1,"relevance":1}}\n{{{FIRST},"subtopic":null,"relevance":0.5}}'),
    ],
)
def test_a_row_may_lack_its_subtopic(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / f"x.{name}"
    path.write_text(text, encoding="utf-8")
    assert held(dh.read_qrels(path)) == [("q", "a", "1", 1.0), ("q", "a", "", 0.5)]


@pytest.mark.parametrize("number", ["1.50", "01", "1e3", "1"])
def test_numbers_in_json_lines_keep_their_text(tmp_path: Path, number: str) -> None:
    path = tmp_path / "x.jsonl"
    text = "".join(
        f'{{"query_id":"q","doc_id":"a","subtopic":{one},"relevance":1}}\n' for one in (number.removeprefix("0"), 7)
    )
    path.write_text(text, encoding="utf-8")
    assert [row[2] for row in held(dh.read_qrels(path))] == [number.removeprefix("0"), "7"]


def test_a_subtopic_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"query_id":"q","doc_id":"a","subtopic":["1","2"],"relevance":1}', encoding="utf-8")
    with raises_parts(MalformedRowError, problem="subtopic must be a string or a number", path=path, line=1):
        dh.read_qrels(path)
    rows = pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "subtopic": [["1", "2"]], "relevance": [1]})
    with raises_parts(ColumnError, "one subtopic a row", problem="column 'subtopic' holds List(String)"):
        dh.read_qrels(rows)
    twice = '{"query_id":"q","doc_id":"a","subtopic":"1","subtopic":"2","relevance":1}'
    path.write_text(twice, encoding="utf-8")
    with pytest.raises(DuplicateError, match="key 'subtopic' appears twice"):
        dh.read_qrels(path)


@pytest.mark.parametrize("name", TEXT)
def test_rows_without_a_relevance_are_relevant(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"x.{name}"
    rows = pl.DataFrame({"query_id": ["q", "q"], "expected_doc_id": ["a", "a"], "subtopic": ["1", "2"]})
    rows.write_ndjson(path) if name == "jsonl" else rows.write_csv(path, separator="," if name == "csv" else "\t")
    qrels = dh.read_qrels(path)
    assert held(qrels) == [("q", "a", "1", 1.0), ("q", "a", "2", 1.0)] == held(dh.read_qrels(rows))
    assert len(qrels.notes) == 2


def test_one_subtopic_is_none_and_a_row_that_comes_twice_is_an_error(tmp_path: Path) -> None:
    for name in TEXT:
        path = tmp_path / f"x.{name}"
        for rows in (frame([("q", "a", "0", 1), ("q", "b", "0", 0)]), frame([*ROWS, ("q1", "a", "1", 0)])):
            with path.open("wb") as file:
                rows.write_ndjson(file) if name == "jsonl" else rows.write_csv(
                    file, separator="," if name == "csv" else "\t"
                )
            qrels = dh.read_qrels(path)
            assert qrels.subtopics is None
        with pytest.raises(DuplicateError, match="'a' is judged 2 times"):
            qrels.check_duplicates()


@pytest.mark.parametrize("target", ABLE)
@pytest.mark.parametrize("source", ABLE)
def test_conversions_keep_subtopics(tmp_path: Path, source: str, target: str) -> None:
    rows = frame([(query, doc, topic.replace(", ", "-"), relevance) for query, doc, topic, relevance in ROWS])
    one, other = tmp_path / f"qrels.{source}", tmp_path / f"other-qrels.{target}.gz"
    other = other.with_suffix("") if target == "parquet" else other
    write(rows, one, "qrels", format=source)
    told = ok("convert", one, other, "--from", source, "--to", target).splitlines()
    assert told == []
    assert held(dh.read_qrels(other, format=target)) == rows.rows()
    if target != "parquet":
        assert len(gzip.decompress(other.read_bytes()).decode().splitlines()) == 4 + (target in {"csv", "tsv"})


@pytest.mark.parametrize("target", [name for name in FORMATS if name not in ABLE])
def test_a_format_without_a_place_for_subtopics_is_refused(tmp_path: Path, target: str) -> None:
    source, other = tmp_path / "qrels.csv", tmp_path / f"other-qrels.{target}"
    write(frame(), source, "qrels")
    told = refused("convert", source, other, "--to", target)
    assert f"which {target} has no place for" in told
    assert not other.exists()
    if target == "json":
        ok("convert", source, other, "--no-subtopics")
        assert dh.read_qrels(other).to_dict() == PLAIN


def test_conversions_without_subtopics(tmp_path: Path) -> None:
    source, other = tmp_path / "qrels.csv", tmp_path / "other.qrels"
    write(frame(), source, "qrels")
    run = tmp_path / "x.run"
    run.write_text("q Q0 a 1 2 t\n", encoding="utf-8")
    assert "--no-subtopics is about qrels" in refused("convert", run, tmp_path / "x.csv", "--no-subtopics")
    ok("convert", source, other, "--no-subtopics")
    assert other.read_text(encoding="utf-8") == "q1 0 a 2\nq1 0 b 0\nq2 0 a 1\n"


def test_trec_cannot_hold_every_subtopic(tmp_path: Path) -> None:
    source = tmp_path / "qrels.csv"
    write(frame(), source, "qrels")
    assert "subtopic cannot be 'x, y'" in refused("convert", source, tmp_path / "x.qrels")
    write(frame([("q", "a", "", 1), ("q", "a", "1", 1)]), source, "qrels")
    assert "'subtopic' holds a null" in refused("convert", source, tmp_path / "x.qrels")
    write(frame([("q", "a", "", 1), ("q", "a", "1", 1)]), tmp_path / "y.jsonl", "qrels")
    assert [row[2] for row in held(dh.read_qrels(tmp_path / "y.jsonl"))] == ["", "1"]
