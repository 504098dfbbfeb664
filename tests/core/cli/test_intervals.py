"""deadheat evaluate --ci and --save: intervals in every format, how the error splits, and saved evaluations."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat import load_evaluation
from support.command import call, facts_of, names_in, ok

if TYPE_CHECKING:
    from pathlib import Path

N_QUERIES = 24
EVALUATE = ("evaluate", "qrels.txt", "bm25.run")
T = ("--ci", "--ci-method", "t")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(3)
    qrels = [f"q{n} 0 d{d} {rng.integers(0, 3)}\n" for n in range(N_QUERIES) for d in range(6)]
    (tmp_path / "qrels.txt").write_text("".join(qrels))
    for name in ("bm25", "dense"):
        run = [f"q{n} Q0 d{d} 1 {rng.integers(0, 3)} t\n" for n in range(N_QUERIES) for d in range(6)]
        (tmp_path / f"{name}.run").write_text("".join(run))
    (tmp_path / "broken.run").write_text("q1 Q0 d1\n")
    rows = [f"q{n},doc{n // 3}\n" for n in range(N_QUERIES)]
    (tmp_path / "queries.csv").write_text("qid,document\n" + "".join(rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def values(measure: str) -> list[float]:
    return [row[measure] for row in dh.evaluate("qrels.txt", "bm25.run", [measure]).to_dict().values()]


def by_t(measure: str, level: float = 0.95) -> tuple[float, float, float]:
    """Return the standard error and the interval of the mean by the textbook."""
    found = np.array(values(measure))
    error = found.std(ddof=1) / math.sqrt(len(found))
    half = scipy.stats.t.ppf((1 + level) / 2, len(found) - 1) * error
    return error, found.mean() - half, found.mean() + half


def test_the_interval_stands_behind_the_mean() -> None:
    _, low, high = by_t("RR")
    lines = ok(*EVALUATE, *T, "-m", "RR nDCG@3").splitlines()
    assert lines[2].split() == ["measure", "mean", "95%", "CI", "(n=24)", "tie", "std", "tie", "min", "tie", "max"]
    assert lines[3].split()[1:4] == [f"{np.mean(values('RR')):.4f}", f"[{low:.4f},", f"{high:.4f}]"]


def test_data_holds_two_numbers_and_the_errors() -> None:
    error, low, high = by_t("RR")
    cells = json.loads(ok(*EVALUATE, *T, "-m", "RR", "--format", "json"))["scores"]["bm25"]["RR"]
    assert list(cells)[:4] == ["value", "low", "high", "standard_error"]
    assert math.isclose(cells["low"], low, rel_tol=1e-12)
    assert math.isclose(cells["high"], high, rel_tol=1e-12)
    assert math.isclose(cells["standard_error"], error, rel_tol=1e-12)
    assert cells["query_standard_error"] == cells["standard_error"]
    assert math.isclose(cells["tie_share"], cells["tie_std"] ** 2 / (cells["tie_std"] ** 2 + error**2), rel_tol=1e-12)
    (row,) = csv.DictReader(io.StringIO(ok(*EVALUATE, *T, "-m", "RR", "--format", "csv")))
    told = {name: cells.pop(name) for name in ("ci_method", "known", "unknown")}
    assert told == {"ci_method": "t", "known": True, "unknown": ""}
    assert (row["ci_method"], row["known"], row["unknown"]) == ("t", "true", "")
    assert cells["n_queries"] == N_QUERIES
    assert {name: float(row[name]) for name in cells} == cells


@pytest.mark.slow
def test_every_format_names_the_method_of_each_measure_and_the_queries(folder: Path) -> None:
    """Ties or not, Hit@1 and P@1 are proportions; a query that has no rank for MR is one query less."""
    (folder / "short.run").write_text("".join((folder / "bm25.run").read_text().splitlines(keepends=True)[:-6]))
    common = ["evaluate", "qrels.txt", "short.run", "--ci", "-m", "Hit@1 P@1 RR MR"]
    told = "Hit@1, P@1: Clopper-Pearson; RR: Gaffke's bounds; others: Student's t, corrected for skewness over queries"
    for form, of_method in (("table", "intervals "), ("markdown", "- intervals: "), ("latex", "% intervals: ")):
        assert of_method + told in " ".join(ok(*common, "--format", form, "--full").split())
    rows = {row["measure"]: row for row in csv.DictReader(io.StringIO(ok(*common, "--format", "csv")))}
    cells = json.loads(ok(*common, "--format", "json"))["scores"]["short"]
    wanted = dict(zip(rows, [("clopper-pearson", 24)] * 2 + [("gaffke", 24), ("skewed-t", 23)], strict=True))
    assert {name: (row["ci_method"], int(row["n_queries"])) for name, row in rows.items()} == wanted
    assert {name: (one["ci_method"], one["n_queries"]) for name, one in cells.items()} == wanted
    lines = [line.split() for line in ok(*common).splitlines()]
    assert lines[2] == ["measure", "mean", "95%", "CI", "n", "tie", "std", "tie", "min", "tie", "max"]
    assert [line[4] for line in lines[3:7]] == ["24", "24", "24", "23"]
    total = sum(values("P@1"))  # by hand: ties make it a fraction
    low, high = scipy.stats.beta.ppf(0.025, total, 25 - total), scipy.stats.beta.ppf(0.975, total + 1, 24 - total)
    whole = json.loads(ok(*EVALUATE, "--ci", "-m", "P@1", "--format", "json"))["scores"]["bm25"]["P@1"]
    assert [whole["low"], whole["high"]] == pytest.approx([low, high], rel=1e-9)
    assert total % 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "why"), [(3, "only 3 queries"), (29, "all 29 values are equal"), (1, "")], ids=["few", "equal", "one"]
)
def test_what_cannot_be_known_is_marked_and_named(lines: int, why: str, folder: Path) -> None:
    (folder / "few.txt").write_text("".join(f"q{n} 0 d0 1\n" for n in range(lines)))
    (folder / "few.run").write_text("".join(f"q{n} Q0 d0 1 1 t\n" for n in range(lines)))
    common = ["evaluate", "few.txt", "few.run", "--ci", "-m", "Hit@1 RR DCG"]
    cells = json.loads(ok(*common, "--format", "json"))["scores"]["few"]
    for measure in ("Hit@1", "RR"):
        assert (cells[measure]["known"], cells[measure]["unknown"]) == (True, "")
        assert cells[measure]["low"] == pytest.approx(0.025 ** (1 / lines), abs=0.01)
    assert cells["DCG"]["known"] is False
    shown = ok(*common)
    if why:
        assert cells["DCG"]["unknown"] == why
        assert "[1.0000, 1.0000]?" in shown
        assert facts_of(*common)["?"].endswith(f": {why}")
        assert facts_of(*common, "--full")["?"].endswith(f": {why} (DCG of few)")
        notes = [line for line in call(*common, "--format", "csv").stderr.splitlines() if line.startswith("Note: ?")]
        assert [note.endswith(f": {why} (DCG of few)") for note in notes] == [True]
        for form in ("markdown", "latex"):
            assert "[1.0000, 1.0000]?" in ok(*common, "--format", form)
    widths = [len(line) for line in shown.splitlines()]
    assert max(widths) <= 100


def test_the_largest_share_of_ties_is_named() -> None:
    document = json.loads(ok(*EVALUATE, "dense.run", *T, "-m", "RR AP NumRelRet@2", "--format", "json"))
    shares = {
        (run, measure): cells["tie_share"]
        for run, measures in document["scores"].items()
        for measure, cells in measures.items()
        if measure != "NumRelRet@2"
    }
    run, measure = max(shares, key=shares.__getitem__)
    cells = document["scores"][run][measure]
    assert document["largest_tie_share"] == {"run": run, "measure": measure, "tie_share": shares[run, measure]}
    facts = facts_of(*EVALUATE, "dense.run", *T, "-m", "RR AP NumRelRet@2", "--full")
    parts = facts["std err"]
    assert parts.startswith(f"{measure} of {run}: ")
    numbers = [f"{cells['query_standard_error']:.4f}", f"{cells['tie_std']:.4f}", f"{100 * shares[run, measure]:.0f}"]
    assert re.findall(r"\d\S*\d", parts.partition(": ")[2]) == numbers
    assert facts["intervals"].startswith("Student's t over queries")


def test_ties_that_add_nothing() -> None:
    document = json.loads(ok(*EVALUATE, *T, "-m", "R", "--format", "json"))
    assert document["largest_tie_share"]["tie_share"] == 0
    assert "std err" not in ok(*EVALUATE, *T, "-m", "R", "--full")


def test_counts_have_no_interval() -> None:
    cells = json.loads(ok(*EVALUATE, *T, "-m", "NumRelRet@2", "--format", "json"))["scores"]["bm25"]["NumRelRet@2"]
    assert (cells["low"], cells["high"], cells["standard_error"]) == (None, None, None)
    line = ok(*EVALUATE, *T, "-m", "NumRelRet@2").splitlines()[3]
    assert line.split()[2] == "-"


def test_intervals_of_the_bootstrap_are_those_of_the_library() -> None:
    ev = dh.evaluate("qrels.txt", "bm25.run", ["RR"])
    for method in ("bca", "percentile"):
        options = ["--ci", "--ci-method", method, "--n-resamples", 500, "--rng", 7, "--confidence-level", "0.9"]
        cells = json.loads(ok(*EVALUATE, "-m", "RR", *options, "--format", "json"))["scores"]["bm25"]["RR"]
        found = ev["RR"].interval(method, confidence_level=0.9, n_resamples=500, rng=7)
        assert (cells["low"], cells["high"]) == (found.low, found.high)
    facts = facts_of(*EVALUATE, "-m", "RR", "--ci", "--full")
    assert facts["intervals"].startswith("Gaffke's bounds over queries")
    assert "resamples" not in facts["intervals"]


def test_values_without_limits_that_are_skewed_are_marked(folder: Path) -> None:
    (folder / "skewed.txt").write_text("".join(f"q{n} 0 d1 {40 if n == 0 else 1}\n" for n in range(24)))
    (folder / "skewed.run").write_text("".join(f"q{n} Q0 d1 1 1 skewed\n" for n in range(24)))
    command = ("evaluate", "skewed.txt", "skewed.run", "--ci", "-m", "DCG")
    cells = json.loads(ok(*command, "--format", "json"))["scores"]["skewed"]["DCG"]
    assert cells["ci_method"] == "skewed-t"
    facts = facts_of(*command, "--full")
    assert "skewness" in facts["intervals"]
    assert facts["skewed"].endswith("(DCG of skewed: +4.9)")


@pytest.mark.parametrize("level", ["0.9", ".9", "9e-1"])
def test_levels_as_people_write_them(level: str) -> None:
    document = json.loads(ok(*EVALUATE, *T, "--confidence-level", level, "-m", "RR", "--format", "json"))
    cells = document["scores"]["bm25"]["RR"]
    assert document["intervals"]["confidence_level"] == 0.9
    assert math.isclose(cells["low"], by_t("RR", 0.9)[1], rel_tol=1e-12)
    assert "90% CI" in ok(*EVALUATE, *T, "--confidence-level", level, "-m", "RR")


def test_the_flag_swallows_no_file() -> None:
    assert ok("evaluate", "--ci", "qrels.txt", "bm25.run") == ok("evaluate", "qrels.txt", "bm25.run", "--ci")


def test_markdown_as_in_source_3() -> None:
    _, low, high = by_t("RR")
    text = ok(*EVALUATE, "dense.run", *T, "-m", "RR nDCG@3", "--format", "markdown", "--digits", 3, "--sort", "given")
    lines = text.splitlines()
    assert lines[0] == "### bm25"
    assert lines[2].startswith("| Metric | Value | 95% CI (n=24) |")
    assert lines[4].startswith(f"| RR | {np.mean(values('RR')):.3f} | [{low:.3f}, {high:.3f}] |")
    assert lines[7] == "### dense"


def test_latex_has_the_interval_in_one_column() -> None:
    _, low, high = by_t("RR")
    out = ok(*EVALUATE, *T, "-m", "RR", "--format", "latex")
    assert "measure & mean & 95\\% CI (n=24) & tie std" in out
    assert f"& [{low:.4f}, {high:.4f}] &" in out


def test_a_random_order_and_its_intervals_can_be_had_again() -> None:
    first = json.loads(ok(*EVALUATE, "--ties", "random", "--ci", "--format", "json"))
    again = ok(*EVALUATE, "--ties", "random", "--ci", "--rng", first["rng"], "--format", "json")
    assert json.loads(again) == first


def test_clusters_are_a_column_of_the_queries() -> None:
    options = [*T, "--queries", "queries.csv", "--cluster", "document", "-m", "RR"]
    document = json.loads(ok(*EVALUATE, *options, "--format", "json"))
    sums = np.array(values("RR"))
    ids = dh.evaluate("qrels.txt", "bm25.run", ["RR"]).query_ids.tolist()
    codes = np.array([int(query[1:]) // 3 for query in ids])
    residuals = np.array([(sums[codes == code] - sums.mean()).sum() for code in range(8)])
    error = math.sqrt(8 / 7 * (residuals**2).sum()) / N_QUERIES
    assert math.isclose(document["scores"]["bm25"]["RR"]["standard_error"], error, rel_tol=1e-12)
    assert document["intervals"]["cluster"] == "document"
    facts = facts_of(*EVALUATE, *options, "--full")
    assert "values of document" in facts["intervals"]
    assert "strata" not in facts


def test_a_mean_of_one_query_has_no_interval(folder: Path) -> None:
    (folder / "one.txt").write_text("q1 0 d1 1\n")
    facts = facts_of("evaluate", "one.txt", "bm25.run", "--ci", "-m", "DCG", "--full")
    assert "fewer than two queries" in facts["intervals"]
    cells = json.loads(ok("evaluate", "one.txt", "bm25.run", "--ci", "-m", "DCG", "--format", "json"))
    assert cells["scores"]["bm25"]["DCG"]["low"] is None


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--ci-method", "t"], ["--ci-method", "--ci"]),
        (["--cluster", "document"], ["--cluster", "--ci"]),
        (["--n-resamples", "100"], ["--n-resamples", "--ci"]),
        (["--confidence-level", "0.9"], ["--confidence-level", "--ci"]),
        (["--ci", "--ci-method", "t", "--n-resamples", "100"], ["--n-resamples", "--ci-method"]),
        (["--ci", "--confidence-level", "95%"], ["--confidence-level", "95%"]),
        (["--ci", "--cluster", "document"], ["--cluster", "--queries"]),
        (["--ci", "--ci-method", "clopper-pearson", "--n-resamples", "100"], ["--n-resamples", "--ci-method"]),
        (["--ci", "--format", "trec"], ["--format", "--ci"]),
        (["--rng", "1"], ["--rng", "--ties", "--ci", "--ties"]),
    ],
)
def test_options_that_do_not_go_together_are_refused_before_files_are_read(
    options: list[str], names: list[str]
) -> None:
    result = call("evaluate", "qrels.txt", "broken.run", *options)
    assert result.exit_code == 2
    assert names_in(result.stderr) == names
    assert result.stdout == ""


METHODS = ["auto", "bca", "bootstrap-t", "percentile", "t", "skewed-t", "gaffke"]


@pytest.mark.parametrize(
    ("options", "names", "given"),
    [
        (["--ci-method", "bac"], ["--ci-method", *METHODS, "clopper-pearson", "bac", "bca"], "'bac'"),
        (["--n-resamples", "98"], ["--n-resamples"], "98"),
        (["--confidence-level", "1"], ["--confidence-level"], "1.0"),
        (["--confidence-level", "95"], ["--confidence-level"], "95.0. Did you mean 0.95?"),
        (["--confidence-level", "nan"], ["--confidence-level"], "nan"),
        (
            ["--ci-method", "clopper-pearson", "--cluster", "document", "--queries", "queries.csv"],
            ["--ci-method", *METHODS, "--cluster", "clopper-pearson", "clopper-pearson"],
            "'clopper-pearson'",
        ),
        (
            ["--ci-method", "clopper-pearson", "-m", "Hit@1 RR"],
            ["--ci-method", *METHODS, "clopper-pearson", "clopper-pearson"],
            "'clopper-pearson'",
        ),
        (["--ci-method", "gaffke", "-m", "DCG"], ["--ci-method", *METHODS[:-1], "gaffke", "gaffke"], "'gaffke'"),
    ],
)
def test_values_of_options_are_checked_before_files_are_read(options: list[str], names: list[str], given: str) -> None:
    result = call("evaluate", "qrels.txt", "broken.run", "--ci", *options)
    assert result.exit_code == 2
    assert names_in(result.stderr) == names
    assert f", got {given}" in result.stderr
    assert result.stdout == ""


def test_one_run_is_saved_in_a_file(folder: Path) -> None:
    saving = (*EVALUATE, "-m", "RR AP", "--save", "results/bm25.json", "--ci-method", "t")
    assert facts_of(*saving)["saved"] == "results/bm25.json"
    assert sorted(path.name for path in (folder / "results").iterdir()) == ["bm25.json"]
    saved = json.loads((folder / "results" / "bm25.json").read_text())
    assert math.isclose(saved["measures"]["RR"]["low"], by_t("RR")[1], rel_tol=1e-12)
    loaded = load_evaluation(folder / "results" / "bm25.json")
    assert loaded.means() == dh.evaluate("qrels.txt", "bm25.run", ["RR", "AP"]).means()
    ok(*EVALUATE, "--save", "results", "--replace")
    assert load_evaluation("results/bm25.json").name == "bm25"
    document = json.loads(ok(*EVALUATE, "--save", "x.json", "--rng", 5, "--format", "json"))
    assert document["saved"] == ["x.json"]


@pytest.mark.plugins("weeks")
def test_a_file_that_is_replaced_is_told() -> None:
    command = (*EVALUATE, "-m", "RR", "--save", "nightly/", "--replace")
    found = [" ".join(ok(*command).split()) for _ in range(2)]
    assert found[0].endswith("saved nightly/bm25.json")
    assert found[1] == f"{found[0]} (replaced an earlier one)"
    assert json.loads(ok(*command, "--format", "json"))["saved"] == ["nightly/bm25.json"]
    for name, told in (("new.json", ""), ("nightly/bm25.json", " (replaced an earlier one)")):
        out = ok("rescore", "nightly/bm25.json", "-m", "RR", "--save", name, "--replace")
        assert " ".join(out.split()).endswith(f"saved {name}{told}")


def test_several_runs_are_saved_in_a_folder(folder: Path) -> None:
    (folder / "b").mkdir()
    (folder / "b" / "bm25.run").write_text((folder / "bm25.run").read_text())
    ok(*EVALUATE, "b/bm25.run", "dense.run", "-m", "RR", "--save", "out", "--replace")
    names = sorted(path.name for path in (folder / "out").glob("*.json"))
    assert names == sorted([f"{folder.name}_bm25.json", "b_bm25.json", "dense.json"])
    assert load_evaluation(folder / "out" / "b_bm25.json").name == "b/bm25"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels.txt", "broken.run", "--save", "results"], "--save results: name a file"),
        (["qrels.txt", "broken.run", "dense.run", "--save", "x.json"], "--save x.json: 2 runs"),
        (["qrels.txt", "broken.run", "dense.run", "--save", "queries.csv"], "--save queries.csv: 2 runs"),
        (["qrels.txt", "run.json", "--save", "run.json"], "is the input 'run.json'"),
        (["qrels.txt", "a:b.run", "a_b.run", "--save", "out", "--replace"], "as out/a_b.json"),
    ],
)
def test_what_cannot_be_saved(arguments: list[str], message: str, folder: Path) -> None:
    (folder / "run.json").write_text("{}")
    result = call("evaluate", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert (folder / "run.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("arguments", "refused"),
    [
        (["broken.run", "--save", "x.json"], "x.json"),
        (["broken.run", "dense.run", "--save", "out", "--replace"], "out/dense.json"),
    ],
)
def test_a_file_of_someone_else_is_refused_before_anything_is_computed(
    arguments: list[str], refused: str, folder: Path
) -> None:
    theirs = [folder / "x.json", folder / "out" / "dense.json"]
    theirs[1].parent.mkdir()
    for path in theirs:
        path.write_text('{"mine": 1}')
    result = call("evaluate", "qrels.txt", *arguments)
    assert (result.exit_code, result.stdout) == (3, "")
    assert f"{refused}: " in result.stderr
    assert "not a saved evaluation" in result.stderr  # not of broken.run
    assert [path.read_text() for path in theirs] == ['{"mine": 1}'] * 2
