"""Queries that retrieve a document with their own id: counted by every engine, and noted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from support.command import facts_of, ok

if TYPE_CHECKING:
    from pathlib import Path

QRELS = [("test-a", "ctr-a", 1), ("test-b", "test-b", 1), ("test-c", "ctr-c", 1)]
RUN = [
    ("test-a", "test-a", 1.0),
    ("test-a", "ctr-a", 0.8),
    ("test-b", "test-b", 0.5),
    ("test-c", "ctr-c", 0.5),
    ("test-d", "test-d", 0.5),  # not judged: left out
]
OWN = ("test-a", "test-b")
JUDGED, SCORED = ["query_id", "doc_id", "relevance"], ["query_id", "doc_id", "score"]


def nested(rows: list[Any]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, doc, number in rows:
        found.setdefault(query, {})[doc] = number
    return found


def pairs(folder: Path) -> dict[str, tuple[Any, Any]]:
    """Return the same qrels and run in several forms."""
    qrels, run = pl.DataFrame(QRELS, JUDGED, orient="row"), pl.DataFrame(RUN, SCORED, orient="row")
    text = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in RUN)
    (folder / "x.run").write_text(text)
    run.write_parquet(folder / "x.parquet")
    return {
        "dicts": (nested(QRELS), nested(RUN)),
        "tuples": (QRELS, RUN),
        "rows that are not adjacent": (QRELS, [RUN[0], *RUN[2:], RUN[1]]),
        "frames": (qrels, run),
        "lazy frames": (qrels.lazy(), run.lazy()),
        "TREC": (QRELS, folder / "x.run"),
        "Parquet": (QRELS, folder / "x.parquet"),
    }


def test_every_engine_finds_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, (qrels, run) in pairs(tmp_path).items():
        found = dh.evaluate(qrels, run, "nDCG@10")
        assert found.facts.own_queries == OWN, name
        assert "retrieving themselves=2" in repr(found)
    monkeypatch.setattr("deadheat.core.io.formats.is_too_large", lambda *_: True)
    in_blocks = dh.Run(tmp_path / "x.run")
    assert type(in_blocks.rows).__name__ == "UnreadTrec"
    assert dh.evaluate(QRELS, in_blocks, "RR").facts.own_queries == OWN


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("judged", pl.DataFrame(QRELS, JUDGED, orient="row").to_arrow())
    connection.register("retrieved", pl.DataFrame(RUN, SCORED, orient="row").to_arrow())
    assert dh.evaluate(connection.table("judged"), connection.table("retrieved"), "RR").facts.own_queries == OWN


@pytest.mark.slow
def test_many_rows_against_a_plain_comparison() -> None:
    """Blocks of several lengths, in several pieces."""
    rng = np.random.default_rng(0)
    queries = np.repeat(np.arange(6000), rng.integers(1, 200, 6000))
    docs = rng.integers(0, 3000, len(queries))
    run = pl.DataFrame({"query_id": queries, "doc_id": docs, "score": rng.random(len(queries))})
    run = run.unique(["query_id", "doc_id"], maintain_order=True)
    qrels = pl.DataFrame({"query_id": np.arange(6000), "doc_id": 1, "relevance": 1})
    expected = run.filter(pl.col("query_id") == pl.col("doc_id"))["query_id"].cast(pl.String).sort().to_list()
    assert len(expected) > 50
    assert list(dh.evaluate(qrels, run, "RR").facts.own_queries) == expected


@pytest.mark.plugins("compare")
def test_several_runs_at_once() -> None:
    runs = {"one": dh.Run(RUN), "two": dh.Run(RUN[1:]), "none": dh.Run([RUN[1], RUN[3]])}
    found = dh.evaluate(QRELS, runs, "RR", missing="empty")
    assert {name: one.facts.own_queries for name, one in found.items()} == {
        "one": OWN,
        "two": ("test-b",),
        "none": (),
    }
    told = " ".join(str(found).split())
    assert "one 2 (test-a, test-b); two 1 (test-b); " in told
    compared = " ".join(str(dh.compare(QRELS, runs, "RR", missing="empty")).split())
    assert "one 2 (test-a, test-b); two 1 (test-b); " in compared


def test_lists_without_unjudged_documents_have_judged_ones_alone() -> None:
    assert dh.evaluate(QRELS, RUN, "RR", judged_only=True).facts.own_queries == ("test-b",)


@pytest.mark.plugins("weeks")
def test_saves_and_parts_keep_them(tmp_path: Path) -> None:
    evaluation = dh.evaluate(QRELS, RUN, "RR")
    evaluation.save(tmp_path / "e.json")
    assert dh.load_evaluation(tmp_path / "e.json").facts.own_queries == OWN
    assert evaluation.rescored(measures="P@1").facts.own_queries == OWN
    assert evaluation.select(np.array([True, False, True])).facts.own_queries == ("test-a",)
    none = dh.evaluate(QRELS, [RUN[1], RUN[3]], "RR", missing="empty")
    none.save(tmp_path / "none.json")
    assert not dh.load_evaluation(tmp_path / "none.json").facts.own_queries


def test_the_report_and_its_json(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("test-a 0 ctr-a 1\n")
    (tmp_path / "x.run").write_text("test-a Q0 test-a 1 1.0 t\ntest-a Q0 ctr-a 2 0.8 t\n")
    (tmp_path / "y.run").write_text("test-a Q0 ctr-a 2 0.8 t\n")
    facts = facts_of("evaluate", tmp_path / "q.txt", tmp_path / "x.run", "-m", "nDCG@10")
    assert ": x 1 (test-a); " in facts["same id"]
    held = json.loads(ok("evaluate", tmp_path / "q.txt", tmp_path / "x.run", tmp_path / "y.run", "--format", "json"))
    assert held["retrieving_themselves"] == {"x": ["test-a"], "y": []}
    assert "same id" not in ok("evaluate", tmp_path / "q.txt", tmp_path / "y.run")


@pytest.mark.plugins("dense")
def test_matrices_and_vectors_with_ids_of_text() -> None:
    """Numbers count rows and columns, such as users and items, each by itself."""
    scores, relevant = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]), [[1], [0]]
    ids: dict[str, Any] = {"query_ids": ["b", "a"], "doc_ids": ["b", "c", "d"]}
    assert dh.evaluate_dense(scores, relevant, "RR", **ids).facts.own_queries == ("b",)
    assert not dh.evaluate_dense(scores, [[1], [1]], "RR", exclude=[[0], []], **ids).facts.own_queries
    mask = np.array([[False, True, True], [True, True, True]])
    assert not dh.evaluate_dense(scores, relevant, "RR", mask=mask, **ids).facts.own_queries
    numbers: dict[str, Any] = {"query_ids": [0, 1], "doc_ids": [0, 1, 2]}
    assert not dh.evaluate_dense(scores, relevant, "RR", **numbers).facts.own_queries
    assert not dh.evaluate_dense(scores, relevant, "RR").facts.own_queries
    vectors = dh.evaluate_embeddings(np.eye(3)[:2], np.eye(3), relevant, "RR", **ids)
    assert vectors.facts.own_queries == ("b",)
    accumulator = dh.Accumulator("RR")
    accumulator.add(scores[:1], relevant[:1], query_ids=["b"], doc_ids=ids["doc_ids"])
    accumulator.add(scores[1:], relevant[1:], query_ids=["a"], doc_ids=ids["doc_ids"])
    assert accumulator.evaluation().facts.own_queries == ("b",)
