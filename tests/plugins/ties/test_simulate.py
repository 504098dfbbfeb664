"""deadheat simulate."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat import simulate_rerankers, simulate_scenarios
from deadheat.plugins.ties.coarsening_profile import LEVELS, coarsening_profile
from support.command import call, facts_of, ok
from support.demo import DEMO
from support.numbers_in_text import numbers_in

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("folder")

QRELS, OLZ, NIST = (
    str(DEMO / name) for name in ("qrels.human.txt.gz", "Olz-gpt4o.run.gz", "NISTRetrieval-instruct0.run.gz")
)


@pytest.mark.slow
def test_the_summary_fits_a_screen_and_has_the_numbers_of_python() -> None:
    out = ok("simulate")
    assert max(map(len, out.splitlines())) <= 80
    assert numbers_in(out.partition("\n")[0])[:2] == [4, 100]  # rerankers, queries
    document = json.loads(ok("simulate", "--format", "json"))
    for row in simulate_rerankers().summary().iter_rows(named=True):
        shown = document["rerankers"][row["measure"]][row["reranker"]]
        for name in set(row) - {"reranker", "measure"}:
            assert shown[name] == row[name], name
        assert shown["n_queries"] == 100
    assert (document["seed"], document["n_queries"]) == (0, 100)


@pytest.mark.slow
def test_scenarios_show_what_ties_do_to_them(folder: Path) -> None:
    options = ["--figures", "pictures", "--figure", "overview", "-o", "made"]
    out = " ".join(ok("simulate", "--scenarios", "200", *options).split())
    profile = simulate_scenarios(200).profiles["chance"]
    assert f"queries with ties {profile.n_queries_with_ties} of 200 (30%)" in out
    rr = profile.stability[0].difference
    assert f"{rr.mean:.4f} {rr.max:.4f} {rr.distance_std:.4f}" in out
    assert (folder / "pictures" / "overview.svg").is_file()
    assert sorted(path.name for path in (folder / "made").iterdir()) == ["chance.run", "qrels.txt", "queries.csv"]
    again = dh.tie_profile("made/chance.run", "made/qrels.txt", measures=["RR", "Hit@3"], beside="input")
    assert again.stability[0].difference.mean == pytest.approx(rr.mean, abs=1e-15)
    rows = list(csv.DictReader(ok("simulate", "--scenarios", "30", "-m", "AP", "--format", "csv").splitlines()))
    assert [row["measure"] for row in rows] == ["AP"]
    assert float(rows[0]["std_difference"]) > 0


@pytest.mark.slow
def test_rerankers_are_drawn(folder: Path) -> None:
    options = ["--figures", "pictures", "--figure", "all", "--figure-format", "json"]
    out = ok("simulate", "--queries", "20", "-m", "RR", "-m", "nDCG@3", *options)
    assert "files in pictures" in " ".join(out.split())
    names = {path.stem for path in (folder / "pictures").iterdir()}
    assert names >= {
        "traditional-RR",
        "traditional-nDCG@3",
        "mean_tie_ratio",
        "overview",
        "tie_correlation",
        "tie_histogram-nDCG@3",
    }
    assert len(json.loads((folder / "pictures" / "overview.json").read_text())["concat"]) == 4


def test_csv_has_a_row_for_each_reranker_and_measure() -> None:
    rows = list(csv.DictReader(ok("simulate", "--queries", "30", "--preset", "low", "--format", "csv").splitlines()))
    assert [(row["reranker"], row["measure"], row["n_queries"]) for row in rows] == [
        ("low", "RR", "30"),
        ("low", "Hit@5", "30"),
    ]


def test_files_are_written_and_can_be_evaluated(folder: Path) -> None:
    out = ok("simulate", "--queries", "40", "--preset", "high", "--query-type", "plain", "--rng", "3", "-o", "made")
    assert "made/qrels.txt" in " ".join(out.split())
    assert sorted(path.name for path in (folder / "made").iterdir()) == ["high.run", "qrels.txt", "queries.csv"]
    made = simulate_rerankers(40, "high", 3, query_types="plain")
    assert dh.read_run(folder / "made" / "high.run").to_dict() == made.runs["high"].to_dict()
    exact = dh.evaluate("made/qrels.txt", "made/high.run", "RR").means()
    assert exact == dh.evaluate(made.qrels, made.runs["high"], "RR").means()


def test_what_is_there_is_not_replaced(folder: Path) -> None:
    (folder / "made").mkdir()
    (folder / "made" / "low.run").write_text("mine")
    failed = call("simulate", "-o", "made")
    assert failed.exit_code == 3
    assert "low.run in it " in failed.output
    assert (folder / "made" / "low.run").read_text() == "mine"
    ok("simulate", "-o", "made", "--force")
    ok("simulate", "-o", "made")  # the same files again
    assert (folder / "made" / "low.run").read_text() != "mine"


@pytest.mark.slow
def test_coarser_scores_have_the_numbers_of_python() -> None:
    arguments = ("simulate", "--coarsen", OLZ, NIST, QRELS, "-m", "nDCG@10", "--levels", "2,4")
    document = json.loads(ok(*arguments, "--format", "json"))
    runs = {"Olz-gpt4o": dh.read_run(OLZ), "NISTRetrieval-instruct0": dh.read_run(NIST)}
    found = coarsening_profile(QRELS, runs, "nDCG@10", levels=[2, 4])
    for row in found.rows:
        shown = document["scores"][row.measure][row.run][row.scores]
        for name in ("share_tied", "value", "tie_min", "tie_max", "doc_id", "original", "error", "change", "rival"):
            assert shown[name] == getattr(row, name), name
        assert shown["wrong_winner"] == row.wrong_winner
    for pair in found.pairs:
        shown = document["pairs"][pair.measure][pair.system][pair.baseline][pair.scores]
        assert (shown["wrong_winner"], shown["original"]) == (pair.wrong_winner, pair.original)
    assert document["n_queries"] == 25
    rows = list(csv.DictReader(ok(*arguments, "--format", "csv").splitlines()))
    assert [(row["run"], row["scores"]) for row in rows][:3] == [
        ("Olz-gpt4o", "as given"),
        ("Olz-gpt4o", "2 levels"),
        ("Olz-gpt4o", "4 levels"),
    ]
    assert [float(row["error"]) for row in rows] == [row.error for row in found.rows]


def test_a_single_run_shows_the_range_of_ties_on_a_screen() -> None:
    out = ok("simulate", "--coarsen", OLZ, QRELS, "-m", "nDCG@10")
    assert max(map(len, out.splitlines())) <= 80
    assert out.startswith("Olz-gpt4o with coarser scores")
    assert numbers_in(out.partition("\n")[0]) == [25]
    header = next(line for line in out.splitlines() if line.startswith("measure"))
    columns = ["measure", "scores", "tied", "exact", "tie min", "tie max", "error", "change"]
    assert re.split("  +", header.strip()) == columns
    assert [line.split()[0] for line in out.splitlines() if " levels " in line] == [str(n) for n in LEVELS]
    assert "wrong winner" not in out


@pytest.mark.slow
def test_three_runs_name_the_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    third = str(DEMO / "TREMA-CoT.run.gz")
    out = ok("simulate", "--coarsen", OLZ, NIST, third, QRELS, "-m", "RR", "--levels", "3")
    assert "wrong winner" in out
    assert "against" in out
    document = json.loads(
        ok(
            "simulate",
            "--coarsen",
            OLZ,
            NIST,
            third,
            QRELS,
            "-m",
            "RR",
            "--levels",
            "3",
            "--baseline",
            "TREMA-CoT",
            "--format",
            "json",
        )
    )
    assert {base for of_system in document["pairs"]["RR"].values() for base in of_system} == {"TREMA-CoT"}


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--decimals", "0,2"], ["0 decimals", "2 decimals"]),
        (["--dtypes", "bfloat16,float32"], ["bfloat16", "float32"]),
    ],
)
def test_decimals_and_formats(options: list[str], names: list[str]) -> None:
    rows = csv.DictReader(
        ok("simulate", "--coarsen", "bm25.run", "qrels.txt", "-m", "RR", *options, "--format", "csv").splitlines()
    )
    assert [row["scores"] for row in rows] == ["as given", *names]


@pytest.mark.slow
def test_what_a_run_lacks_is_said(folder: Path) -> None:
    document = json.loads(ok("simulate", "--coarsen", "bm25.run", "qrels.txt", "-m", "RR", "--format", "json"))
    assert document["missing_queries"] == {"bm25": ["q4"]}
    assert document["unjudged_queries"] == {"bm25": ["q9"]}
    asked = ("simulate", "--coarsen", "bm25.run", "qrels.txt", "-m", "RR", "-m", "NumRet")
    facts = facts_of(*asked)
    assert facts["missing queries"].startswith("bm25: 1 (q4), ")
    assert "nothing relevant" in facts
    assert "NumRet: means over queries" in " ".join(ok(*asked).split())
    (folder / "other.run").write_text("q1 Q0 unknown 1 0.5 t\n")
    out = " ".join(ok("simulate", "--coarsen", "other.run", "qrels.txt", "-m", "RR").split())
    assert " other retrieves is judged" in out


@pytest.mark.slow
def test_the_report_may_go_to_a_file(folder: Path) -> None:
    assert not ok("simulate", "--coarsen", "bm25.run", "qrels.txt", "-m", "RR", "-o", "report.md")
    assert "| measure" in (folder / "report.md").read_text()
    for form in ("markdown", "csv", "json", "table"):
        assert ok("simulate", "--queries", "5", "--format", form)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["bm25.run", "qrels.txt"], 2, "files are for --coarsen"),
        (["--coarsen", "bm25.run"], 2, "--coarsen RUN... QRELS"),
        (["--levels", "2"], 2, "--levels is for --coarsen"),
        (["--missing", "skip"], 2, "--missing is for --coarsen"),
        (["--ascending"], 2, "--ascending is for --coarsen"),
        (["--scenarios", "9", "--queries", "7"], 2, "--queries is not for --scenarios"),
        (["--scenarios", "9", "--preset", "low"], 2, "--preset is not for --scenarios"),
        (["--scenarios", "0"], 2, "--scenarios"),
        (["--coarsen", "bm25.run", "qrels.txt", "--scenarios", "7"], 2, "--scenarios is not for --coarsen"),
        (["--coarsen", "bm25.run", "qrels.txt", "--queries", "7"], 2, "--queries is not for --coarsen"),
        (["--coarsen", "bm25.run", "qrels.txt", "--force"], 2, "--force is not for --coarsen"),
        (["--coarsen", "bm25.run", "qrels.txt", "--levels", "2", "--dtypes", "float16"], 2, "one of them"),
        (["--coarsen", "bm25.run", "qrels.txt", "--levels", "0"], 2, "whole numbers from 1 on"),
        (["--coarsen", "bm25.run", "qrels.txt", "--decimals", "x"], 2, "whole numbers from 0 on"),
        (["--coarsen", "bm25.run", "qrels.txt", "--decimals", "99"], 2, "0 to 15"),
        (["--coarsen", "bm25.run", "qrels.txt", "--dtypes", "float8"], 2, "Did you mean"),
        (["--coarsen", "qrels.txt", "bm25.run"], 3, "bm25.run"),
        (["--coarsen", "no.run", "qrels.txt"], 3, "no.run"),
        (["--coarsen", "bm25.run", "qrels.txt", "--baseline", "other"], 2, "--baseline"),
        (["--preset", "lwo"], 2, "Did you mean 'low'"),
        (["--query-type", "hard"], 2, "simple factual"),
        (["--force"], 2, "give -o FOLDER too"),
        (["-o", "-"], 2, "-o names a folder"),
        (["-o", "no/such/folder"], 3, "cannot be made"),
        (["-o", "qrels.txt"], 3, "cannot be made"),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], code: int, message: str) -> None:
    result = call("simulate", *arguments)
    assert result.exit_code == code, result.output
    assert message in " ".join(result.output.split())
    assert "Traceback" not in result.output
