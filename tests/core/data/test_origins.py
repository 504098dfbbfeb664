"""Qrels and a run that are read from one column: every retrieved document would count as relevant."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import ColumnError
from support.command import call, ok
from support.error_parts import raises_parts

ROWS = [{"question": q, "retrieved_docs": ["a", "b"], "gold_docs": ["b", "c"]} for q in ("q1", "q2")]
RETRIEVED = {"doc_id": "retrieved_docs"}
GOLD = {"doc_id": "gold_docs"}
TABLES: dict[str, Any] = {
    "rows": ROWS,
    "Polars": pl.DataFrame(ROWS),
    "lazy": pl.DataFrame(ROWS).lazy(),
    "pandas": pd.DataFrame(ROWS),
    "Arrow": pl.DataFrame(ROWS).to_arrow(),
}
each_table = pytest.mark.parametrize("source", TABLES.values(), ids=TABLES)


def refused() -> Any:  # noqa: ANN401 - a context of pytest
    return raises_parts(ColumnError, "column 'retrieved_docs'", allowed="a column for each")


@pytest.mark.plugins("compare")
@each_table
def test_one_column_of_documents_is_refused_in_python(source: Any) -> None:  # noqa: ANN401 - any table
    """P and R of any retriever were 1."""
    qrels = dh.Qrels(source, columns=RETRIEVED)
    run = dh.Run(source, columns=RETRIEVED)
    with refused():
        dh.evaluate(qrels, run, ["P", "R"])
    with refused():
        dh.evaluate(qrels, {"x": run}, ["P", "R"])
    with refused():
        dh.compare(qrels, {"x": run, "y": run}, "R")
    with refused():
        dh.place(qrels, run)
    assert dh.evaluate(dh.Qrels(source, columns=GOLD), run, ["P", "R"]).means() == {"P": 1 / 2, "R": 1 / 2}


@pytest.mark.plugins
def test_one_column_of_documents_is_refused_by_commands(tmp_path: Path) -> None:
    for name, text in {"x.jsonl": "\n".join(map(json.dumps, ROWS)), "x.json": json.dumps(ROWS)}.items():
        (path := tmp_path / name).write_text(text)
        for command in (["evaluate"], ["gate", "-c", "R >= 0.5"], ["compare", str(path)]):
            both = call(command[0], path, path, *command[1:], "--columns", "doc_id=retrieved_docs")
            assert both.exit_code == 3
            assert "column 'retrieved_docs'" in both.stderr
            assert "--columns qrels.doc_id=..." in both.stderr
        printed = ok("evaluate", path, path, "-m", "R", "--columns", "qrels.doc_id=gold_docs,run.doc_id=retrieved_docs")
        assert "0.5000" in printed


def test_one_column_of_scores_is_refused() -> None:
    rows = [{"query_id": "q", "doc_id": doc, "score": score} for doc, score in (("a", 2), ("b", 1))]
    with pytest.raises(ColumnError, match="columns 'doc_id' and 'score'"):
        dh.evaluate(rows, rows, "R")
    lists = [{"query_id": "q", "doc_ids": ["a"]}]  # a name that both know
    with pytest.raises(ColumnError, match="the column 'doc_ids'"):
        dh.evaluate(lists, lists, "R")


def test_equal_tables_are_two_sources() -> None:
    """A retriever may be perfect."""
    run = copy.deepcopy(ROWS)
    found = dh.evaluate(dh.Qrels(ROWS, columns=RETRIEVED), dh.Run(run, columns=RETRIEVED), "R")
    assert found.means() == {"R": 1.0}
    frame = pl.DataFrame(ROWS)
    found = dh.evaluate(dh.Qrels(frame, columns=RETRIEVED), dh.Run(frame.clone(), columns=RETRIEVED), "R")
    assert found.means() == {"R": 1.0}


def test_a_run_of_a_frame_can_be_copied_and_pickled() -> None:
    run = dh.Run(pl.DataFrame(ROWS), columns=RETRIEVED)
    for copied in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):  # noqa: S301 - our own
        assert copied.to_dict() == run.to_dict()
