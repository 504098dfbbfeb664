"""What the command takes, Python takes: several runs by name, several measures in one text, others' measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import deadheat as dh

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS = {"q": {"a": 1, "c": 1}, "r": {"b": 2}}
ONE = {"q": {"a": 0.5, "b": 0.5}, "r": {"b": 1.0}}
OTHER = {"q": ["c", "b", "a"], "r": ["a", "b"]}


def test_runs_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.run").write_text("q Q0 a 1 0.5 t\nq Q0 b 2 0.5 t\nr Q0 b 1 1 t\n")
    frame = pl.DataFrame({"query_id": ["q", "q", "r"], "doc_id": ["a", "b", "b"], "score": [0.5, 0.5, 1]})
    alone = dh.evaluate(QRELS, ONE, "nDCG@10 RR").to_dict()
    (tmp_path / "y.json").write_text(json.dumps(OTHER))
    for runs in (
        {"one": str(tmp_path / "x.run"), "other": str(tmp_path / "y.json")},
        {"one": ONE, "other": OTHER},
        {"one": tmp_path / "x.run", "other": dh.Run(OTHER)},
        {"one": frame, "other": OTHER},
        {"one": dh.Run(ONE), "other": OTHER},
    ):
        found: Any = dh.evaluate(QRELS, runs, "nDCG@10 RR")
        assert list(found) == ["one", "other"]
        assert found["one"].to_dict() == alone
        assert found["other"].to_dict() == dh.evaluate(QRELS, OTHER, ["nDCG@10", "RR"]).to_dict()
        assert [one.name for one in found.values()] == ["one", "other"]


def test_runs_by_name_may_be_of_several_kinds(tmp_path: Path) -> None:
    """A path beside dicts, repeats beside rows; a file that is not there is named where another one is."""
    path, table = tmp_path / "x.run", tmp_path / "rep.csv"
    path.write_text("q Q0 a 1 0.5 t\nq Q0 b 2 0.5 t\nr Q0 b 1 1 t\n")
    table.write_text("query_id,doc_id,score,repeat\n" + "".join(f"{q},a,1,{n}\n" for q in "qr" for n in (1, 2)))
    found: Any = dh.evaluate(QRELS, {"path": str(path), "dict": ONE}, "RR")
    assert found["path"].to_dict() == found["dict"].to_dict()
    rows = [("q", "a", 0.5), ("q", "b", 0.5), ("r", "b", 1.0)]
    both = dh.compare(QRELS, {"rows": rows, "repeats": str(table)}, "RR").evaluations
    assert both["rows"]["RR"].repeats is None
    assert both["repeats"]["RR"].repeats is not None
    typo = str(tmp_path / "y.run")
    for runs in ({"one": str(path), "two": typo}, {"two": typo, "one": str(path)}):
        with pytest.raises(dh.errors.DataError, match=r"y\.run: .* 'x\.run'"):
            dh.evaluate(QRELS, runs, "RR")
    chunks = tmp_path / "c.jsonl"
    chunks.write_text('{"query_id": "q", "doc_id": "d", "start": 0, "end": 10, "score": 1}\n')
    with pytest.raises(dh.errors.DataError, match=r"y\.run: no such file"):
        dh.evaluate(dh.Spans([("q", "d", 0, 10)]), {"one": typo, "two": str(chunks)}, "R@1")


@pytest.mark.plugins("compare")
@pytest.mark.parametrize("missing", ["empty", "skip"])
def test_runs_are_placed_in_batches(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of which may be smaller; a page of several runs counts what none of them retrieved in batches too."""
    from deadheat.plugins.compare.report import report_comparison

    monkeypatch.setattr("deadheat.core.evaluation.evaluate_runs.MOST_TOGETHER", 2)
    monkeypatch.setattr("deadheat.core.report.data_facts.RUNS_AT_ONCE", 2)
    runs = {
        f"s{n}": dh.Run({"q": {"a": 1.0, "b": 1.0 + n % 2}} | ({} if n == 3 else {"r": {"b": n}})) for n in range(5)
    }
    found = dh.compare(QRELS, runs, ["RR", "nDCG"], missing=missing)
    for name, run in runs.items():
        alone = dh.evaluate(QRELS, run, ["RR", "nDCG"], missing=missing)
        assert found.evaluations[name].to_dict() == alone.to_dict()
        assert found.evaluations[name].missing_queries == alone.missing_queries
    facts = {fact.key: fact.value for fact in report_comparison(found, qrels="qrels").facts}
    assert facts.get("not_retrieved") == (None if missing == "skip" else {"n_relevant": 3, "n": 1})


def test_a_seed_gives_each_run_the_same_order() -> None:
    found = dh.evaluate(QRELS, {"a": dh.Run(ONE), "b": dh.Run(ONE)}, "RR", ties="random", rng=3)
    assert found["a"].to_dict() == found["b"].to_dict() == dh.evaluate(QRELS, ONE, "RR", ties="random", rng=3).to_dict()


@pytest.mark.parametrize("empty", ["", " ", ",", [""], []])
def test_no_measure_is_an_error(empty: object) -> None:
    with pytest.raises(dh.DeadheatError, match="measures names no measure"):
        dh.evaluate(QRELS, ONE, empty)  # type: ignore[call-overload]


def test_measures_of_ir_measures() -> None:
    ir = pytest.importorskip("ir_measures", reason="ir-measures is in the test extra")
    theirs = [ir.nDCG @ 10, ir.AP(rel=2), ir.RR, ir.P(rel=1) @ 5, ir.Success @ 1]
    found = dh.evaluate(QRELS, OTHER, theirs).means()
    assert found == dh.evaluate(QRELS, OTHER, "nDCG@10, AP(rel=2) RR P@5 Success@1").means()


def test_what_has_no_value_is_null() -> None:
    found = dh.evaluate({"q": {"a": 0}}, {name: {"q": ["a"]} for name in "xy"}, "RR", no_relevant="skip")
    assert [found.to_polars()[name].to_list() for name in ("n_queries", "mean", "tie_max")] == [
        [0, 0],
        [None] * 2,
        [None] * 2,
    ]


@pytest.mark.parametrize("function", [dh.evaluate, dh.compare])
def test_an_error_of_one_of_several_runs_names_it(function: Callable[..., object]) -> None:
    runs = {"bm25": {"q": {"a": 1.0}}, "dense": pl.DataFrame({"query_id": ["q"], "doc_id": ["a"], "scor": [1.0]})}
    with pytest.raises(dh.errors.ColumnError, match=r"^dense: .* column 'score'"):
        function({"q": {"a": 1}}, runs, "RR")
