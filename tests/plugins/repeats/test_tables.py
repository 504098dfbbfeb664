"""A column of repeats: each kind of table gives what the runs give one by one."""

from __future__ import annotations

import json
from collections import namedtuple
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deadheat as dh
from deadheat.core.evaluation.systems import runs_by
from deadheat.errors import ColumnError, DuplicateError
from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 1, "c": 1}, "q2": {"b": 1}}
RUNS: list[dict[str, dict[str, float]]] = [
    {"q1": {"a": 1, "b": 1}, "q2": {"a": 2, "b": 1}},
    {"q1": {"a": 1, "b": 2}, "q2": {"a": 2, "b": 3.5}},
]
WANTED = dh.evaluate(QRELS, dh.Repeats(RUNS), ["RR", "AP"])
MEANS = WANTED.means()
ROWS: list[dict[str, Any]] = [
    {"repeat": n, "query_id": query, "doc_id": doc, "score": float(score)}
    for n, run in enumerate(RUNS)
    for query, docs in run.items()
    for doc, score in docs.items()
]
LISTS: list[dict[str, Any]] = [
    {"query_id": query, "retrieved": list(docs), "score": [float(one) for one in docs.values()], "repeat": f"seed {n}"}
    for n, run in enumerate(RUNS)
    for query, docs in run.items()
]


def write(folder: Path, kind: str) -> str:
    path, rows = folder / f"run.{kind}", ROWS
    if kind.startswith("list"):
        path, rows = folder / kind.replace("list", "run"), LISTS
    frame = pl.DataFrame(ROWS)
    if kind in {"csv", "tsv"}:
        frame.write_csv(path, separator="," if kind == "csv" else "\t")
    elif kind == "parquet":
        frame.write_parquet(path)
    elif kind.endswith("jsonl"):
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        path.write_text(json.dumps(rows))
    return str(path)


def check(found: dh.Evaluation) -> None:
    assert found.means() == WANTED.means()
    for own, wanted in zip(found, WANTED, strict=True):
        assert own.repeats
        assert wanted.repeats
        assert own.repeats.values.tolist() == wanted.repeats.values.tolist()
        assert own.variance_components == wanted.variance_components


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet", "jsonl", "json", "list.jsonl", "list.json"])
def test_files_with_a_column_of_repeats(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path, kind)
    check(dh.evaluate(QRELS, path, ["RR", "AP"]))
    check(dh.evaluate(QRELS, dh.Repeats(path), ["RR", "AP"]))


def test_frames_and_rows_with_a_column_of_repeats() -> None:
    frame = pl.DataFrame(ROWS)
    sources: list[Any] = [frame, ROWS, LISTS, pl.DataFrame(LISTS), frame.sort("doc_id", maintain_order=True)]
    for source in sources:
        check(dh.evaluate(QRELS, source, ["RR", "AP"]))
    both: Any = dh.evaluate(QRELS, {"many": frame, "one": RUNS[0]}, "RR")
    assert both["many"]["RR"].mean == MEANS["RR"]
    assert [one["RR"].repeats is None for one in both.values()] == [False, True]


# Each repeat has queries of its own, so that nothing comes twice if the column is ignored.
APART: list[dict[str, Any]] = [
    {"query_id": "q1", "doc_id": "a", "score": 1, "repeat": 1},
    {"query_id": "q1", "doc_id": "b", "score": 2, "repeat": 1},
    {"query_id": "q2", "doc_id": "b", "score": 2.5, "repeat": 2},
]
APART_LISTS: list[dict[str, Any]] = [
    {"query_id": "q1", "doc_id": ["a", "b"], "score": [1, 2], "repeat": 1},
    {"query_id": "q2", "doc_id": ["b", "a"], "score": [2.5, 2.4], "repeat": 2},
]
JUDGED = {"q1": {"a": 1}, "q2": {"b": 1}}
FORMS: dict[str, Any] = {
    "dicts": lambda rows: rows,
    "a tuple of dicts": tuple,
    "a generator of dicts": iter,
    "named tuples": lambda rows: [namedtuple("Row", row)(**row) for row in rows],  # noqa: PYI024 - names are data
    "Polars": pl.DataFrame,
    "lazy": lambda rows: pl.DataFrame(rows).lazy(),
    "pandas": pd.DataFrame,
    "arrays in pandas": lambda rows: pd.DataFrame(
        [{name: np.array(held) if isinstance(held, list) else held for name, held in row.items()} for row in rows]
    ),
    "tuples in pandas": lambda rows: pd.DataFrame(
        [{name: tuple(held) if isinstance(held, list) else held for name, held in row.items()} for row in rows]
    ),
    "Arrow": lambda rows: pl.DataFrame(rows).to_arrow(),
    "a reader of Arrow": lambda rows: pl.DataFrame(rows).to_arrow().to_reader(),
    "a batch of Arrow": lambda rows: pa.RecordBatch.from_pylist(pl.DataFrame(rows).to_dicts()),
    "DuckDB": lambda rows: duckdb.from_arrow(
        pl.DataFrame(rows).to_arrow()
    ),  # old ones close a connection without a name
    "a data set": lambda rows: SimpleNamespace(to_polars=lambda: pl.DataFrame(rows)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [APART, APART_LISTS], ids=["rows", "lists"])
def test_no_form_of_a_table_ignores_the_column(rows: list[dict[str, Any]], form: str) -> None:
    """By hand: the first repeat has a for q1 at rank 2 and lacks q2, the second has b for q2 at rank 1 and lacks q1."""
    found = dh.evaluate(JUDGED, FORMS[form](rows), "RR")["RR"]
    assert found.values.tolist() == [1 / 4, 1 / 2]
    assert found.repeats is not None
    assert found.repeats.values.tolist() == [[1 / 2, 0], [0, 1]]


@pytest.mark.parametrize("rows", [APART, APART_LISTS], ids=["rows", "lists"])
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_no_engine_ignores_the_column(engine: str, rows: list[dict[str, Any]], tmp_path: Path) -> None:
    qrels, path = tmp_path / "qrels.json", tmp_path / "own.parquet"
    qrels.write_text(json.dumps(JUDGED))
    pl.DataFrame(rows).write_parquet(path)
    check_mean = dh.evaluate(JUDGED, path, "RR")["RR"].mean
    assert check_mean == 3 / 8
    shown = json.loads(ok("evaluate", qrels, path, "-m", "RR", "--engine", engine, "--format", "json"))
    assert shown["scores"]["own"]["RR"]["value"] == check_mean
    assert shown["variance_components"]["own"]["RR"]["n_repeats"] == 2


def test_spans_refuse_the_column(tmp_path: Path) -> None:
    """Chunks of several runs would be one ranking."""
    spans = dh.Spans([{"query_id": query, "doc_id": "d", "start": 0, "end": 9} for query in ("q1", "q2")])
    chunks = [{"query_id": f"q{n}", "doc_id": "d", "start": 0, "end": 9, "score": 1.0, "repeat": n} for n in (1, 2)]
    path = tmp_path / "chunks.csv"
    pl.DataFrame(chunks).write_csv(path)
    for source in (chunks, pl.DataFrame(chunks), pl.DataFrame(chunks).lazy(), path, {"own": path}):
        with pytest.raises(ColumnError, match="spans judge one by one"):
            dh.evaluate(spans, source, "RR")
    with pytest.raises(ColumnError, match="spans judge one by one"):
        dh.evaluate(spans, iter(chunks), "RR")
    one, other = ([{name: row[name] for name in row if name != "repeat"}] for row in chunks)
    assert dh.evaluate(spans, iter([*one, *other]), "RR").means() == {"RR": 1.0}  # what can be read once is not used up
    assert dh.evaluate(spans, dh.Repeats([one, other]), "RR")["RR"].mean == 1 / 2


def test_comparisons_take_tables_of_repeats(tmp_path: Path) -> None:
    one, other, lists = write(tmp_path, "csv"), RUNS[1], str(tmp_path / "lists.json")
    (tmp_path / "lists.json").write_text(json.dumps(LISTS))
    found = dh.compare(QRELS, {"many": one, "one": other}, "RR").pairs[0]
    wanted = dh.compare(QRELS, {"many": dh.Repeats(RUNS), "one": other}, "RR").pairs[0]
    assert (found.difference, found.p_value, found.low) == (wanted.difference, wanted.p_value, wanted.low)
    (pair,) = dh.compare(QRELS, [one, lists], "RR").pairs
    assert pair.difference == 0


def test_comparisons_find_the_column_in_all_rows() -> None:
    """Of two repeats, each finds one of the two documents: half of the queries that it lacks are 0."""
    rows = [("q1", "a", 1.0, "1"), ("q1", "b", 2.0, "1"), ("q2", "b", 2.5, "2")]
    row: Any = namedtuple("row", ("query_id", "doc_id", "score", "repeat"))  # noqa: PYI024 - names are data
    named = [row(*one) for one in rows]
    dicts = [one._asdict() for one in named]
    frame = pl.DataFrame(dicts)
    qrels, other = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["b"]}
    for source in (dicts, tuple(dicts), iter(dicts), named, frame, frame.lazy(), frame.to_arrow()):
        runs: Any = {"x": source, "y": other}
        assert dh.compare(qrels, runs, "RR").evaluations["x"].means() == {"RR": (0.5 / 2 + 1 / 2) / 2}


def test_lower_scores_first_in_a_table_of_repeats() -> None:
    negated = [{query: {doc: -score for doc, score in docs.items()} for query, docs in run.items()} for run in RUNS]
    wanted = dh.evaluate(QRELS, dh.Repeats(negated), "RR").means()
    assert dh.evaluate(QRELS, pl.DataFrame(ROWS), "RR", ascending=True).means() == wanted
    several: Any = dh.evaluate(QRELS, {"a": pl.DataFrame(ROWS)}, "RR", ascending=True)
    assert several["a"].means() == wanted


def test_commands_take_tables_of_repeats(tmp_path: Path) -> None:
    qrels, other = tmp_path / "qrels.json", tmp_path / "other.json"
    qrels.write_text(json.dumps(QRELS))
    other.write_text(json.dumps(RUNS[0]))
    renamed = pl.DataFrame(ROWS).rename({"score": "points"})
    renamed.write_csv(tmp_path / "own.csv")
    shown = ok("evaluate", qrels, tmp_path / "own.csv", "-m", "RR", "--columns", "run.score=points", "--format", "json")
    assert f'"value": {MEANS["RR"]}' in shown
    text = ok("compare", qrels, write(tmp_path, "list.jsonl"), other, "-m", "RR")
    assert "over 2 repeats" in " ".join(text.split())


@pytest.mark.parametrize("command", ["ties", "gate"])
def test_what_reads_no_repeats_says_what_does(command: str, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.json"
    qrels.write_text(json.dumps(QRELS))
    pl.DataFrame(ROWS).write_csv(tmp_path / "own.csv")
    given = [tmp_path / "own.csv"] if command == "ties" else [qrels, tmp_path / "own.csv", "--check", "RR >= 0"]
    found = call(command, *given)
    assert found.exit_code == 3
    assert "column 'repeat' tells several runs apart, which evaluate and compare read" in " ".join(found.stderr.split())


def test_one_repeat_is_a_run_and_rows_without_one_are_named() -> None:
    single = [row for row in ROWS if row["repeat"] == 0]
    assert runs_by("repeat", single) == []
    assert dh.evaluate(QRELS, pl.DataFrame(single), "RR")["RR"].repeats is None
    without = {"query_id": "q1", "doc_id": "x", "score": 1.0}, {"query_id": "q1", "retrieved": ["x"], "score": [1.0]}
    for row, rows in zip(without, (ROWS, LISTS), strict=True):
        for some in ([row, *rows], [*rows, row]):
            for source in (some, tuple(some), pl.DataFrame(some), pl.DataFrame(some).lazy()):
                with pytest.raises(ColumnError, match="a row has no 'repeat'"):
                    dh.evaluate(QRELS, source, "RR")
    with pytest.raises(DuplicateError):
        dh.evaluate(QRELS, pl.DataFrame([*ROWS, ROWS[0]]), "RR")
