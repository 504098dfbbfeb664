"""--then-by: ties ordered by another run or column."""

import json
import re
from pathlib import Path

import pytest

import deadheat as dh
from support.command import call, facts_of, names_in, ok

QRELS = {f"q{n}": {"a": 1, "c": 1} for n in range(6)}
LLM = {f"q{n}": {"a": 3.0, "b": 3.0, "c": 1.0, "d": 1.0} for n in range(6)}
BM25 = {f"q{n}": {"a": 7.0, "b": float(n), "c": 2.0} for n in range(6)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.qrels").write_text("".join(f"{q} 0 {d} {r}\n" for q, own in QRELS.items() for d, r in own.items()))
    for name, run in (("llm", LLM), ("bm25", BM25)):
        rows = [f"{q} Q0 {d} 0 {s} {name}\n" for q, own in run.items() for d, s in own.items()]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    rows = [f"{q},{d},{s},{BM25[q].get(d, -1)}\n" for q, own in LLM.items() for d, s in own.items()]
    (tmp_path / "llm.csv").write_text("query_id,doc_id,score,bm25\n" + "".join(rows))
    return tmp_path


@pytest.mark.parametrize(("run", "key"), [("llm.run", "bm25.run"), ("llm.csv", "bm25"), ("llm.csv", "bm25.run")])
def test_evaluate(folder: Path, run: str, key: str) -> None:
    key = str(folder / key) if key.endswith(".run") else key
    report = ok("evaluate", folder / "x.qrels", folder / run, "--then-by", key, "-m", "RR", "--format", "json")
    document = json.loads(report)
    value = document["scores"]["llm"]["RR"]["value"]
    assert value == dh.evaluate(QRELS, LLM, "RR", then_by=BM25).means()["RR"] == 1.0
    (note,) = document["notes"]["llm"]
    n_absent = [] if key == "bm25" else ["6"]  # the column has a value for d, the run lacks it
    assert re.findall(r"\b(?:bm25|\d+)\b", note) == ["24", "bm25", *n_absent]


@pytest.mark.plugins("compare")
def test_compare_shows_the_run_alone_and_with_the_second_key(folder: Path) -> None:
    files = (folder / "x.qrels", folder / "llm.run", "--then-by", folder / "bm25.run")
    found = json.loads(ok("compare", *files, "-m", "RR", "--format", "json"))
    means = {name: own["RR"]["mean"] for name, own in found["systems"].items()}
    assert means == {"llm": 0.75, "llm, then bm25": 1.0}


@pytest.mark.plugins("compare")
def test_several_runs_are_all_ordered(folder: Path) -> None:
    (folder / "other.run").write_text((folder / "llm.run").read_text().replace("1.0", "3.0"))
    files = (folder / "x.qrels", folder / "llm.run", folder / "other.run", "--then-by", folder / "bm25.run")
    found = json.loads(ok("compare", *files, "-m", "RR", "--format", "json"))
    assert {name: own["RR"]["mean"] for name, own in found["systems"].items()} == {"llm": 1.0, "other": 1.0}


def test_what_is_no_file_and_no_column(folder: Path) -> None:
    missing = call("evaluate", folder / "x.qrels", folder / "llm.run", "--then-by", "bm25x.run")
    assert missing.exit_code == 3
    assert "bm25x.run: no such file" in missing.stderr
    assert "only if the run has columns" in missing.stderr
    near = call("evaluate", folder / "x.qrels", folder / "llm.csv", "--then-by", "bm52")
    assert names_in(near.stderr)[-1] == "bm25"


@pytest.mark.plugins("ties")
def test_ties_say_what_the_second_key_would_decide(folder: Path) -> None:
    files = (folder / "llm.run", folder / "x.qrels", "--then-by", folder / "bm25.run", "-m", "RR")
    found = json.loads(ok("ties", *files, "--format", "json"))
    before, after = dh.evaluate(QRELS, LLM, "RR")["RR"], dh.evaluate(QRELS, LLM, "RR", then_by=BM25)["RR"]
    decided = found["second_key"]["RR"]
    assert (decided["value"], decided["then_value"]) == (before.mean, after.mean) == (0.75, 1.0)
    assert (decided["tie_min"], decided["tie_max"]) == (before.mean_tie_min, before.mean_tie_max)
    assert (decided["then_tie_min"], decided["then_tie_max"]) == (after.mean_tie_min, after.mean_tie_max)
    assert found["n_tied"] == 24
    assert found["then_by"] == {"name": "bm25", "n_tied": 0, "n_queries_with_ties": 0}
    alone = facts_of("ties", folder / "llm.run", "--then-by", folder / "bm25.run")
    assert any(text.startswith("0 of 24 ") for text in alone.values())
