"""Notes on labels that count otherwise than they look: positive ones below the lowest relevant level, negative ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from support.command import ok

if TYPE_CHECKING:
    from pathlib import Path

SHARES = {"q": {"A": 1.0, "B": 0.8}}
RUN = {"q": {"A": 2.0, "x": 1.0}}
NEGATIVE = [("q", "a", 1), ("q", "b", -1), ("q", "c", -1), ("p", "a", -2)]
NOTE = "3 negative labels (the lowest -2): no gain, and unjudged for bpref, infAP and Judged"


def told(found: object) -> str:
    return " ".join(str(found).split())


@pytest.mark.plugins("compare")
def test_positive_labels_below_the_relevant_level_are_counted() -> None:
    """R and AP are 1, and nobody said that B does not count."""
    found = dh.evaluate(SHARES, RUN, ["R", "AP", "nDCG@10"])
    assert (found.means()["R"], found.means()["AP"]) == (1, 1)
    expected = "1 of 2 positive labels lies below 1, from which on R, AP count a document as relevant; rel sets another"
    assert expected in told(found)
    assert expected in told(dh.compare(SHARES, {"one": RUN, "two": {"q": {"B": 1.0}}}, ["R", "AP"]))


@pytest.mark.parametrize(
    ("qrels", "measures", "options"),
    [
        (SHARES, ["R(rel=0.5)", "nDCG"], {}),
        (SHARES, ["R(rel=1)"], {}),  # who names a level knows of it
        (SHARES, ["R"], {"rel": 0.5}),
        (SHARES, ["nDCG@10"], {}),
        ({"q": {"A": 1, "B": 0}}, ["R"], {}),
        ({"q": {"A": 1, "B": -0.5}}, ["R"], {}),
        ({"q": {"A": 1, "B": 2}}, ["R"], {}),
    ],
)
def test_nothing_is_said_where_a_level_is_named_or_reached(qrels: Any, measures: Any, options: Any) -> None:  # noqa: ANN401 - cases
    assert "below" not in told(dh.evaluate(qrels, RUN, measures, **options))


def test_json_has_the_counts(tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(json.dumps(SHARES))
    (tmp_path / "x.json").write_text(json.dumps(RUN))
    held = json.loads(ok("evaluate", tmp_path / "q.json", tmp_path / "x.json", "-m", "R AP nDCG", "--format", "json"))
    assert held["below_rel"] == [{"rel": 1, "n": 1, "n_positive": 2, "measures": ["R", "AP"]}]
    held = json.loads(ok("evaluate", tmp_path / "q.json", tmp_path / "x.json", "-m", "nDCG", "--format", "json"))
    assert held["below_rel"] == []


def sources(folder: Path) -> dict[str, Any]:
    """Return the same judgments in all forms but TREC's."""
    frame = pl.DataFrame(NEGATIVE, ["query_id", "doc_id", "relevance"], orient="row")
    frame.write_csv(folder / "x.csv")
    frame.write_ndjson(folder / "x.jsonl")
    frame.write_parquet(folder / "x.parquet")
    nested: dict[str, dict[str, int]] = {}
    for query, doc, grade in NEGATIVE:
        nested.setdefault(query, {})[doc] = grade
    (folder / "x.json").write_text(json.dumps(nested))
    files = {name: folder / name for name in ("x.csv", "x.jsonl", "x.parquet", "x.json")}
    letor = folder / "x.letor"
    letor.write_text("".join(f"{grade} qid:{query} # docid = {doc}\n" for query, doc, grade in NEGATIVE))
    return {"dict": nested, "tuples": NEGATIVE, "frame": frame, "lazy": frame.lazy(), "letor": letor, **files}


@pytest.mark.slow
@pytest.mark.plugins("columns")
def test_negative_labels_are_noted_in_every_form_but_trec(tmp_path: Path) -> None:
    run = {"q": {"a": 1.0, "b": 0.5}, "p": {"a": 1.0}}
    for name, qrels in sources(tmp_path).items():
        found = dh.evaluate(qrels, run, "RR")
        assert NOTE in found.notes, name
        assert NOTE in told(found), name
    several = dh.evaluate(NEGATIVE, {"one": dh.Run([("q", "a", 1.0)]), "two": dh.Run([("q", "b", 1.0)])}, "RR")
    assert all(NOTE in one.notes for one in several.values())
    for name in ("x.txt", "x.qrels", "qrels"):
        path = tmp_path / name
        path.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in NEGATIVE))
        evaluation = dh.evaluate(path, run, "RR")
        assert not evaluation.notes
        evaluation.save(tmp_path / "e.json")
        assert not dh.load_evaluation(tmp_path / "e.json").rescored(measures="P@1").notes
    evaluation = dh.evaluate(NEGATIVE, run, "RR")
    evaluation.save(tmp_path / "f.json")
    assert NOTE in dh.load_evaluation(tmp_path / "f.json").notes


@pytest.mark.plugins("dense")
def test_arrays_are_told_of_mask() -> None:
    labels, scores = [[1, -1], [0, 1]], [[2.0, 1.0], [2.0, 1.0]]
    one = "1 negative label (the lowest -1): no gain, and unjudged for bpref, infAP and Judged"
    expected = f"{one}; padding is left out by mask= of evaluate_dense"
    assert dh.evaluate(*dh.from_arrays(labels, scores), "RR").notes == (expected,)
    relevant = np.array(labels)
    assert dh.evaluate_dense(np.array(scores), relevant, "RR").notes == (expected,)
    assert expected in dh.evaluate_dense(np.array(scores), relevant, "RR", sampled=1).notes
    masked = dh.evaluate_dense(np.array(scores), np.maximum(relevant, 0), "RR", mask=relevant >= 0)
    assert not masked.notes
    accumulator = dh.Accumulator("RR")
    accumulator.add(np.array(scores), relevant)
    assert accumulator.evaluation().notes == (expected,)
