"""The command line as a user meets it: what it prints, in which format, and with which exit code."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import pytest

from deadheat import evaluate
from deadheat.errors import UnknownMeasureError
from support.command import RUN, call, error_of, facts_of, names_in, ok
from support.shared_data import llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("folder")
def test_table_shows_the_mean_and_what_ties_could_make_of_it() -> None:
    out = ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "-m", "nDCG@1")
    assert out.splitlines()[:5] == [
        "          bm25",
        "          ─────────────────────────────────",
        "measure     mean  tie std  tie min  tie max",
        "RR        0.3125   0.0625   0.2500   0.3750",
        "nDCG@1    0.1250   0.1250   0.0000   0.2500",
    ]


@pytest.mark.usefixtures("folder")
def test_table_says_what_was_silent() -> None:
    facts = facts_of("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--score-precision", "3", "--full")
    assert facts["queries"] == "4 in qrels.txt"
    assert facts["ties"].startswith("expected: ")
    assert facts["tie order"].endswith("RR of bm25 by up to 0.1250")
    assert "3 decimals" in facts["scores"]
    assert facts["missing queries"].startswith("bm25: 1 (q4), counted as empty")
    assert facts["unjudged queries"].startswith("bm25: 1 (q9), left out")
    assert facts["nothing relevant"] == "1 query (q3), count as 0"


@pytest.mark.usefixtures("folder")
def test_counts_are_totals_without_decimals() -> None:
    out = ok("evaluate", "qrels.txt", "bm25.run", "-m", "NumQ NumRelRet NumRelRet@1")
    assert re.search(r"^NumQ +4 +0 +4 +4$", out, re.MULTILINE)
    assert re.search(r"^NumRelRet +2 +0 +2 +2$", out, re.MULTILINE)
    assert re.search(r"^NumRelRet@1 +0\.5000 +0\.5000 +0 +1$", out, re.MULTILINE)


@pytest.mark.usefixtures("folder")
def test_measures_default_to_those_of_the_library() -> None:
    out = ok("evaluate", "qrels.txt", "bm25.run", "--format", "json")
    assert list(json.loads(out)["scores"]["bm25"]) == list(evaluate("qrels.txt", "bm25.run", missing="empty").means())


@pytest.mark.usefixtures("folder")
def test_json_holds_all_that_the_table_says() -> None:
    document = json.loads(ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR FRP", "--format", "json", "--per-query"))
    assert document["missing_queries"] == {"bm25": ["q4"]}
    assert document["unjudged_queries"] == {"bm25": ["q9"]}
    assert document["queries_without_relevant"] == {"RR": ["q3"], "FRP": ["q3"]}
    assert document["queries_without_value"] == {"bm25": {"FRP": ["q4"]}}
    assert document["ties"] == "expected"
    assert document["n_queries"] == 4
    assert document["scores"]["bm25"]["RR"]["value"] == (0.75 + 0.5) / 4
    assert document["per_query"]["bm25"]["q1"]["RR"] == {"value": 0.75, "tie_std": 0.25, "tie_min": 0.5, "tie_max": 1.0}
    assert document["per_query"]["bm25"]["q4"]["FRP"]["value"] is None


@pytest.mark.usefixtures("folder")
def test_csv_is_long_and_exact() -> None:
    rows = list(csv.DictReader(io.StringIO(ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR P@1", "--format", "csv"))))
    assert list(rows[0]) == ["run", "measure", "value", "tie_std", "tie_min", "tie_max"]
    assert [(row["run"], row["measure"], float(row["value"])) for row in rows] == [
        ("bm25", "RR", 0.3125),
        ("bm25", "P@1", 0.125),
    ]


@pytest.mark.usefixtures("folder")
def test_csv_per_query() -> None:
    out = ok("evaluate", "qrels.txt", "bm25.run", "-m", "FRP", "--format", "csv", "--per-query")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["run", "measure", "query_id", "value", "tie_std", "tie_min", "tie_max"]
    assert [row["query_id"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert [row["value"] for row in rows] == ["1.5", "2.0", "2.0", ""]


@pytest.mark.usefixtures("folder")
def test_per_query_table_stands_above_the_means() -> None:
    lines = ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--per-query").splitlines()
    assert lines[3].split() == ["q1", "RR", "0.7500", "0.2500", "0.5000", "1.0000"]
    assert "measure     mean  tie std  tie min  tie max" in lines


@pytest.mark.plugins("more_measures")
@pytest.mark.usefixtures("folder")
def test_trec_format() -> None:
    measures = "num_q num_rel_ret map recip_rank P_5 ndcg_cut_10 nDCG(gain='exp')@5 Abstain"
    out = ok("evaluate", "qrels.txt", "bm25.run", "-m", measures, "--format", "trec")
    assert out.splitlines()[:4] == [
        "runid                 \tall\tbm25",
        "num_q                 \tall\t4",
        "num_rel_ret           \tall\t2",
        "map                   \tall\t0.3125",
    ]
    names = [line.split()[0] for line in out.splitlines()[4:]]
    assert names == ["recip_rank", "P_5", "ndcg_cut_10", "nDCG(gain='exp')@5", "Abstain"]
    refused = call("evaluate", "qrels.txt", "bm25.run", "--judge", "qrels.txt", "--format", "trec")
    assert refused.exit_code == 2
    assert names_in(refused.stderr) == ["--format", "--judge"]


@pytest.mark.usefixtures("folder")
def test_trec_format_per_query_first() -> None:
    lines = ok(
        "evaluate", "qrels.txt", "bm25.run", "-m", "num_q num_ret RR", "--format", "trec", "--per-query"
    ).splitlines()
    assert lines[:2] == ["num_ret               \tq1\t2", "recip_rank            \tq1\t0.7500"]
    assert lines[-4:] == [
        "runid                 \tall\tbm25",
        "num_q                 \tall\t4",
        "num_ret               \tall\t5",
        "recip_rank            \tall\t0.3125",
    ]


@pytest.mark.usefixtures("folder")
def test_markdown_and_latex() -> None:
    markdown = ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--format", "markdown")
    assert "| RR | bm25 | 0.3125 | 0.0625 | 0.2500 | 0.3750 |" in markdown
    latex = ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--format", "latex", "--digits", "2")
    assert "RR & 0.31 & 0.06 & 0.25 & 0.38 \\\\" in latex
    assert latex.count("\\toprule") == latex.count("\\bottomrule") == 1


def test_output_is_a_file_in_the_format_of_its_name(folder: Path) -> None:
    assert ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "-o", "scores.json") == ""
    assert json.loads((folder / "scores.json").read_text())["scores"]["bm25"]["RR"]["value"] == 0.3125
    ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "-o", "scores.txt")
    assert (folder / "scores.txt").read_text().startswith("          bm25\n")
    assert sorted(path.name for path in folder.iterdir()) == ["bm25.run", "qrels.txt", "scores.json", "scores.txt"]


def test_a_failed_output_leaves_the_old_file(folder: Path) -> None:
    (folder / "scores.csv").write_text("old")
    assert call("evaluate", "qrels.txt", "nothing.run", "-o", "scores.csv").exit_code == 3
    assert (folder / "scores.csv").read_text() == "old"
    assert call("evaluate", "qrels.txt", "bm25.run", "-o", "no/such/folder.csv").exit_code == 2


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("ties", ["best", "worst", "doc_id", "input"])
def test_tie_policies_are_those_of_the_library(ties: str) -> None:
    document = json.loads(ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "--ties", ties, "--format", "json"))
    assert (
        document["scores"]["bm25"]["RR"]["value"]
        == evaluate("qrels.txt", "bm25.run", "RR", ties=ties, missing="empty")["RR"].mean
    )


@pytest.mark.usefixtures("folder")
def test_a_random_order_can_be_had_again() -> None:
    first = json.loads(ok("evaluate", "qrels.txt", "bm25.run", "--ties", "random", "--format", "json"))
    again = ok("evaluate", "qrels.txt", "bm25.run", "--ties", "random", "--rng", first["rng"], "--format", "json")
    assert json.loads(again) == first


@pytest.mark.usefixtures("folder")
def test_every_tie_policy_is_in_the_help() -> None:
    from deadheat.core.settings import TIES

    text = ok("evaluate", "--help")
    assert all(policy in text for policy in TIES)


@pytest.mark.usefixtures("folder")
def test_runs_of_the_same_name_are_told_apart(folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "bm25.run").write_text(RUN)
    out = ok("evaluate", "qrels.txt", "bm25.run", "other/bm25.run", "--format", "json", "-m", "RR")
    assert list(json.loads(out)["scores"]) == [f"{folder.name}/bm25", "other/bm25"]


@pytest.mark.usefixtures("folder")
def test_one_option_takes_several_measures_and_bundles() -> None:
    out = ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR, nDCG(discount='zipf(1, 1)')@5 trec", "--format", "json")
    measures = list(json.loads(out)["scores"]["bm25"])
    assert measures[:3] == ["RR", "nDCG(discount='zipf(1, 1)')@5", "num_q"]
    assert {"map", "Rprec", "bpref", "P_1000"} <= set(measures)  # the bundle asks by trec_eval's names
    assert "recip_rank" not in measures  # asked for before, as RR


@pytest.mark.plugins
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["evaluate", "qrels.txt", "bm25.rnu"], 3, "no such file. Did you mean 'bm25.run'?"),
        (["evaluate", "bm25.run", "qrels.txt"], 3, "wrong order"),
        (["evaluate", "qrels.txt", "bm25.run", "--missing", "error"], 3, "lacks 1 of 4 queries"),
        (["evaluate", "qrels.txt", "bm25.run", "-m", "ndgc"], 2, "Did you mean 'nDCG' or 'RnDCG'?"),
        (["evaluate", "qrels.txt", "bm25.run", "-m", "P(rel=x)@5"], 2, "'x'"),
        (["evaluate", "qrels.txt", "bm25.run", "--ties", "bets"], 2, "Did you mean 'best'?"),
        (["evaluate", "qrels.txt", "bm25.run", "--missing", "emtpy"], 2, "Did you mean 'empty'?"),
        (["evaluate", "qrels.txt", "broken.run", "--missing", "emtpy"], 2, "Did you mean 'empty'?"),  # not read
        (["evaluate", "qrels.txt", "bm25.run", "--score-precision", "float8"], 2, "float16"),
        (["evaluate", "qrels.txt", "bm25.run", "--formt", "csv"], 2, "--format"),
        (["evaluate", "qrels.txt"], 2, "RUN"),
        (["evalute", "qrels.txt"], 2, "Did you mean 'evaluate'?"),
        (["ties", "bm25.run", "-m", "RR"], 2, "needs QRELS"),
        (["ties", "bm25.run", "--at", "0,x"], 2, "1,5,10"),
        (["ties", "qrels.txt"], 3, "qrels.txt"),
        (["measures", "ndgc"], 2, "Did you mean 'nDCG' or 'RnDCG'?"),
        (["measures", "--for", "voce"], 2, "Did you mean 'voice'?"),
        (["measures", "RR", "--for", "voice"], 2, "either"),
        (["convert", "bm25.run", "qrels.txt"], 2, "--force"),
        (["convert", "bm25.run", "out.csv", "--to", "cvs"], 2, "Did you mean 'csv'?"),
    ],
)
def test_errors_are_one_message_and_an_exit_code(arguments: list[str], code: int, message: str) -> None:
    result = call(*arguments)
    assert result.exit_code == code
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments", [["--debug", "evaluate", "qrels.txt", "x"], ["evaluate", "qrels.txt", "x", "--debug"]]
)
def test_debug_shows_the_traceback_wherever_it_stands(arguments: list[str]) -> None:
    result = call(*arguments)
    assert result.exit_code == 3
    assert "Traceback" in result.stderr


@pytest.mark.usefixtures("folder")
def test_a_bug_is_a_message_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("deadheat.core.report.of_evaluation.report_evaluations", fail)
    result = call("evaluate", "qrels.txt", "bm25.run")
    assert result.exit_code == 70
    assert "--debug" in result.stderr


@pytest.mark.plugins("ties")
@pytest.mark.parametrize("command", ["evaluate", "gate", "ties", "measures", "convert", "demo"])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_has_examples(command: str, option: str) -> None:
    assert f"Examples:\n  deadheat {command}" in ok(command, option)
    assert command in ok(option)


def test_version() -> None:
    assert re.fullmatch(r"deadheat \d+\.\d+.*\n", ok("--version"))


@needs_shared_data
@pytest.mark.parametrize(("width", "n_runs", "is_side_by_side"), [(80, 3, False), (140, 3, False), (80, 2, True)])
def test_three_runs_are_rows(
    width: int, n_runs: int, monkeypatch: pytest.MonkeyPatch, *, is_side_by_side: bool
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    runs = [llm_run(name) for name in ("Olz-gpt4o", "TREMA-CoT", "willia-umbrela1")][:n_runs]
    out = ok("evaluate", llm_qrels(), *runs, "-m", "nDCG@10", "-m", "RR")
    lines = out.splitlines()
    assert any(line.split()[:2] == ["measure", "run"] for line in lines) is not is_side_by_side
    # the path of the qrels is not broken
    assert max(len(line) for line in lines if str(llm_qrels()) not in line) <= width
    assert out.count("0.6636") == 1
    assert "…" not in out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("given", "message"), [("", "names no measure"), ("RR P(rel=2", "'P(rel=2'"), ("RR@5)", "'RR@5)'")]
)
def test_measures_that_cannot_be_read(given: str, message: str) -> None:
    result = call("evaluate", "qrels.txt", "bm25.run", "-m", given)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ([], ["best", "other", "worst"]),
        (["--sort", "given"], ["worst", "best", "other"]),
        (["--sort", "name"], ["best", "other", "worst"]),
        (["--sort", "FRP"], ["best", "other", "worst"]),
        (["--sort", "P@1", "--format", "trec"], ["best", "worst", "other"]),
        (["--format", "trec"], ["worst", "best", "other"]),
    ],
)
def test_runs_are_sorted(sort: list[str], expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    for name, docs in {"worst": "xyza", "best": "abxy", "other": "xabc"}.items():
        rows = [f"q Q0 {doc} {rank} {9 - rank} T\n" for rank, doc in enumerate(docs, 1)]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    files = [str(tmp_path / name) for name in ("qrels", "worst.run", "best.run", "other.run")]
    form = [] if "--format" in sort else ["--format", "csv"]
    rows = ok("evaluate", *files, "-m", "RR", "-m", "FRP", "-m", "P@1", *sort, *form).splitlines()
    names = [row.split()[-1] for row in rows if row.startswith("runid")] or [row.split(",")[0] for row in rows[1:]]
    assert list(dict.fromkeys(names)) == expected


def test_a_measure_to_sort_by_is_one_that_was_evaluated(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "a.run").write_text("q Q0 a 1 1 T\n")
    (tmp_path / "b.run").write_text("q Q0 a 1 1 T\n")
    files = [tmp_path / name for name in ("qrels", "a.run", "b.run")]
    command = ("evaluate", *files, "-m", "RR", "--sort", "AP")
    assert call(*command).exit_code == 2
    error = error_of(*command)
    assert isinstance(error, UnknownMeasureError)
    assert {"AP", "RR"} <= set(re.findall(r"\w+", str(error)))


def test_latex_of_several_runs_has_a_row_a_system(folder: Path) -> None:
    (folder / "other.run").write_text((folder / "bm25.run").read_text())
    latex = ok("evaluate", "qrels.txt", "bm25.run", "other.run", "-m", "RR", "-m", "FRP", "--format", "latex")
    assert latex.count("table*") == 2
    means = evaluate(str(folder / "qrels.txt"), str(folder / "bm25.run"), ["RR", "FRP"]).means()
    rows = [line for line in latex.splitlines() if line.startswith(("bm25 &", "other &"))]
    assert len(rows) == 2
    assert all(rf"\textbf{{{value:.4f}}}" in row for row in rows for value in means.values())
    caption = latex[latex.index("caption") :]
    assert "bold. Of FRP" in caption
    assert "qrels.txt" not in caption


def test_latex_of_many_runs_with_intervals_has_a_row_a_run(folder: Path) -> None:
    """Beside each other the columns of three runs are wider than a page."""
    runs = ["bm25.run", "second.run", "third.run"]
    for name in runs[1:]:
        (folder / name).write_text((folder / "bm25.run").read_text())
    latex = ok("evaluate", "qrels.txt", *runs, "-m", "RR", "-m", "AP", "--ci", "--format", "latex")
    rows = [line.split(" & ")[:2] for line in latex.splitlines() if line.startswith(("RR", "AP"))]
    assert rows == [[measure, name] for measure in ("RR", "AP") for name in ("bm25", "second", "third")]


@pytest.mark.usefixtures("folder")
def test_a_file_with_both_is_to_be_given_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It said that RUN is missing, and nothing of a file that has both."""
    monkeypatch.chdir(tmp_path)
    samples = [{"question": "q", "retrieved": [{"id": "a", "score": 1}, {"id": "b", "score": 2}], "expected": ["a"]}]
    (tmp_path / "samples.json").write_text(json.dumps(samples))
    refused = call("evaluate", "samples.json")
    assert refused.exit_code == 2
    typed = " ".join(refused.stderr.split()).rpartition("deadheat ")[2].split()
    assert typed == ["evaluate", "samples.json", "samples.json"]
    assert "0.5000" in ok(*typed, "-m", "RR")
    (tmp_path / "qrels.json").write_text(json.dumps([{"question": "q", "expected": ["a"]}]))
    assert "give it twice" not in call("evaluate", "qrels.json").stderr
