"""deadheat evaluate --beside: values under a rule that breaks ties beside the exact ones, in every format."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest

import deadheat as dh
from support.command import call, facts_of, names_in, ok
from support.random_runs import QRELS, RUNS
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data

pytestmark = pytest.mark.usefixtures("folder")
EVALUATE = ("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--beside", "doc_id")


def test_beside_in_every_format() -> None:
    assert "RR        0.3125       0.2500     -0.0625   0.0625   0.2500   0.3750" in ok(*EVALUATE)
    assert "| RR | bm25 | 0.3125 | 0.2500 | -0.0625 | 0.0625 |" in ok(*EVALUATE, "--format", "markdown")
    assert r"RR & 0.3125 & 0.2500 & -0.0625 & 0.0625 &" in ok(*EVALUATE, "--format", "latex")
    ((row),) = csv.DictReader(ok(*EVALUATE, "--format", "csv").splitlines())
    assert (row["value"], row["traditional"], row["difference"]) == ("0.3125", "0.25", "-0.0625")
    document = json.loads(ok(*EVALUATE, "--format", "json"))
    assert document["beside"] == "doc_id"
    found = document["scores"]["bm25"]["RR"]
    assert (found["value"], found["traditional"], found["difference"]) == (0.3125, 0.25, -0.0625)
    assert (found["mean_difference"], found["max_difference"]) == (0.0625, 0.25)
    assert found["std_difference"] == pytest.approx(statistics.stdev([0.25, 0, 0, 0]))


def test_beside_of_queries() -> None:
    out = ok(*EVALUATE, "--per-query", "--format", "csv")
    (first, *_) = csv.DictReader(out.splitlines())
    assert (first["query_id"], first["value"], first["traditional"], first["difference"]) == (
        "q1",
        "0.75",
        "0.5",
        "-0.25",
    )


def test_beside_counts_the_pairs_that_change_places(folder: Path) -> None:
    (folder / "judged.json").write_text(json.dumps(QRELS))
    for name, run in RUNS.items():
        (folder / f"{name}.json").write_text(json.dumps(run))
    files = [f"{name}.json" for name in RUNS]
    arguments = ("evaluate", "judged.json", *files, "-m", "RR P@1 nDCG@3", "--beside", "input", "--format", "json")
    document = json.loads(ok(*arguments))
    for measure in ("RR", "P@1", "nDCG@3"):
        exact, by_input = (
            [dh.evaluate(QRELS, run, measure, ties=ties)[measure].mean for run in RUNS.values()]
            for ties in ("expected", "input")
        )
        n = len(RUNS)
        swapped = sum(
            (exact[a] - exact[b]) * (by_input[a] - by_input[b]) < 0 for a in range(n) for b in range(a + 1, n)
        )
        assert document["swapped_pairs"]["n_swapped"][measure] == swapped
        for name, one, other in zip(RUNS, exact, by_input, strict=True):
            found = document["scores"][name][measure]
            assert (found["value"], found["traditional"]) == pytest.approx((one, other), abs=1e-12)
    assert document["swapped_pairs"]["n_pairs"] == 3


def test_beside_says_where_another_run_leads(folder: Path) -> None:
    (folder / "flat.run").write_text("q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.5 t\n")
    (folder / "one.qrels").write_text("q1 0 b 1\n")
    (folder / "late.run").write_text("q1 Q0 c 1 0.9 t\nq1 Q0 b 2 0.5 t\n")
    arguments = ("evaluate", "one.qrels", "flat.run", "late.run", "-m", "RR", "--beside", "input")
    assert json.loads(ok(*arguments, "--format", "json"))["leader_changes"] == {
        "RR": {"exact": ["flat"], "input": ["flat", "late"]}
    }
    assert facts_of(*arguments)["best run"] == "RR: flat (exact), flat and late (input)"


def test_beside_with_intervals_and_strata(folder: Path) -> None:
    (folder / "queries.csv").write_text("query_id,kind\nq1,x\nq2,y\nq3,x\nq4,y\n")
    out = ok(*EVALUATE, "--by", "kind", "--queries", "queries.csv", "--format", "json", "--ci")
    strata = json.loads(out)["strata"]
    assert strata["bm25"]["x"]["RR"]["traditional"] == 0.25
    assert strata["bm25"]["x"]["RR"]["value"] == 0.375
    assert strata["bm25"]["y"]["RR"]["difference"] == 0


def test_beside_is_refused_where_it_has_no_place() -> None:
    for options, names in {
        ("--beside", "input", "--ties", "best"): ["--beside", "--ties"],
        ("--beside", "input", "--format", "trec"): ["--format", "--beside"],
        ("--beside", "random"): ["--beside", "random", "doc_id", "input"],
    }.items():
        result = call(*EVALUATE[:-2], *options)
        assert result.exit_code == 2
        assert names_in(result.stderr) == names


@pytest.mark.slow
@needs_shared_data
def test_beside_of_twelve_runs_is_what_trec_eval_prints() -> None:
    """With trec_eval's own rule, and its scores."""
    runs = [llm_run(name) for name in LLM_RUNS]
    beside = json.loads(ok("evaluate", llm_qrels(), *runs, "-m", "nDCG@10", "--beside", "doc_id", "--format", "json"))
    by_rule = json.loads(ok("evaluate", llm_qrels(), *runs, "-m", "nDCG@10", "--ties", "doc_id", "--format", "json"))
    for name in LLM_RUNS:
        one, other = (document["scores"][name]["nDCG@10"] for document in (beside, by_rule))
        assert one["traditional"] == other["value"]
