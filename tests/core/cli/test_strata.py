"""deadheat evaluate --queries and --by: every number against a group-by by hand, and nothing averaged silently."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat.errors import FileFormatError
from support.command import call, error_of, facts_of, names_in, ok, report_of
from support.shared_data import hpo_qrels, hpo_run, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

N_QUERIES = 40
COLUMNS = ["language", "difficulty", "document"]
EVALUATE = ("evaluate", "qrels.txt", "bm25.run", "-m", "nDCG@3", "-m", "RR", "--queries", "queries.csv")
TWO = ("evaluate", "qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--queries", "queries.csv")
T = ("--ci", "--ci-method", "t")


def language(n: int) -> str:
    return "de" if n < 24 else "en" if n < 36 else "fr"


def difficulty(n: int) -> str:
    return "" if n == 5 else ("easy", "hard")[n % 2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(11)
    names = [f"q{n:02}" for n in range(N_QUERIES)]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 d{d} {rng.integers(0, 3)}\n" for query in names for d in range(6))
    )
    for run, first in (("bm25", 0), ("dense", 36)):  # dense.run has the French queries only
        rows = [f"{query} Q0 d{d} 1 {rng.integers(0, 3)} t\n" for query in names[first:] for d in range(6)]
        (tmp_path / f"{run}.run").write_text("".join(rows))
    (tmp_path / "broken.run").write_text("q1 Q0 d1\n")
    rows = [f"q{n:02},{language(n)},{difficulty(n)},doc{n // 3}\n" for n in range(N_QUERIES)]
    (tmp_path / "queries.csv").write_text("qid,language,difficulty,document\n" + "".join(rows))
    (tmp_path / "one.csv").write_text(
        "qid,language,difficulty\n" + "".join(f"q{n:02},de,x\n" for n in range(N_QUERIES))
    )
    (tmp_path / "plain.csv").write_text("qid,difficulty\n" + "".join(f"q{n:02},x\n" for n in range(N_QUERIES)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def scores() -> pl.DataFrame:
    """Join the scores of queries with the table by hand."""
    rows = dh.evaluate("qrels.txt", "bm25.run", ["nDCG@3", "RR"]).to_polars()
    number = pl.col("query_id").str.slice(1).cast(pl.Int64)
    return rows.with_columns(
        language=number.map_elements(language, return_dtype=pl.String),
        difficulty=number.map_elements(lambda n: difficulty(n) or "(none)", return_dtype=pl.String),
    )


def document(*arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ok(*arguments, "--format", "json"))
    return found


def test_several_languages_are_reported_by_language() -> None:
    found = document(*EVALUATE, *T)
    assert "scores" not in found
    assert (found["by"], found["languages"]) == (["language"], ["de", "en", "fr"])
    assert found["small_strata"] == {"fr": 4}
    for (name, measure), part in scores().group_by("language", "measure"):
        cells, values = found["strata"]["bm25"][name][measure], part["value"].to_numpy()
        error = values.std(ddof=1) / math.sqrt(len(values))
        half = scipy.stats.t.ppf(0.975, len(values) - 1) * error
        assert (cells["n_queries"], cells["is_small"]) == (len(values), len(values) < 10)
        expected = {
            "value": values.mean(),
            "low": values.mean() - half,
            "high": values.mean() + half,
            "standard_error": error,
            "tie_std": math.sqrt((part["tie_std"].to_numpy() ** 2).sum()) / len(values),
            "tie_min": part["tie_min"].to_numpy().mean(),
            "tie_max": part["tie_max"].to_numpy().mean(),
        }
        for key, value in expected.items():
            assert math.isclose(cells[key], value, rel_tol=1e-9, abs_tol=1e-12), key


def test_the_averages_are_means_of_languages() -> None:
    found = document(*EVALUATE)["averages"]["bm25"]
    for (measure,), part in scores().group_by("measure"):
        means = part.group_by("language").agg(pl.col("value").mean()).sort("value")
        values, cells = means["value"].to_numpy(), found[measure]
        assert "micro" not in cells  # it would average the queries of all languages
        assert math.isclose(cells["macro"], values.mean(), rel_tol=1e-12)
        assert math.isclose(cells["variance"], np.var(values), rel_tol=1e-9)
        assert math.isclose(cells["std"], np.std(values), rel_tol=1e-9)
        assert cells["n_strata"] == 3
        assert [cells["lowest"], cells["highest"]] == means["language"].to_list()[:: len(means) - 1]
    lines = ok(*EVALUATE).splitlines()
    start = lines.index("Averages over language")
    assert lines[start + 3].split() == "measure mean of languages variance std lowest highest".split()  # noqa: SIM905 - as the line is printed


def test_the_table_has_a_block_a_language() -> None:
    lines = ok(*EVALUATE, *T).splitlines()
    assert lines[0].strip() == "bm25"
    assert lines[2].split()[:6] == ["language", "measure", "n", "mean", "95%", "CI"]
    assert [line.split()[0] for line in lines[3:11] if line] == ["de", "RR", "en", "RR", "fr", "RR"]
    assert lines[5] == lines[8] == ""
    assert lines[9].split()[3].endswith("°")
    assert lines[3].split()[3][-1].isdigit()
    facts = facts_of(*EVALUATE, *T, "--full")
    assert facts["strata"] == "by language, from queries.csv"
    assert facts["languages"].startswith("de, en, fr: ")
    assert "--pool-languages" in facts["languages"]
    assert "languages' means" in facts["averages"]
    assert facts["°"].endswith(": fr (4)")


def test_tie_order_is_reported_within_a_language() -> None:
    found = document(*EVALUATE)
    means = scores().group_by("language", "measure").agg(span=(pl.col("tie_max") - pl.col("tie_min")).mean())
    largest = means.sort("span")[-1].row(0, named=True)
    effect = found["effect_of_ties"]
    assert (effect["stratum"], effect["measure"]) == ([largest["language"]], largest["measure"])
    assert math.isclose(effect["range"], largest["span"], rel_tol=1e-9)
    shown = facts_of(*EVALUATE)["tie order"]
    assert f"{largest['measure']} of bm25 ({largest['language']})" in shown
    assert shown.endswith(f" {largest['span']:.4f}")


def test_a_column_is_crossed_with_the_language() -> None:
    found = document(*EVALUATE, "--by", "difficulty")
    assert found["by"] == ["language", "difficulty"]
    strata = found["strata"]["bm25"]
    assert {name: list(parts) for name, parts in strata.items()} == {
        "de": ["easy", "hard", "(none)"],
        "en": ["easy", "hard"],
        "fr": ["easy", "hard"],
    }
    for (name, of, measure), part in scores().group_by("language", "difficulty", "measure"):
        assert math.isclose(strata[name][of][measure]["value"], part["value"].to_numpy().mean(), rel_tol=1e-12)
    for (name, measure), part in scores().group_by("language", "measure"):
        cells = found["averages"]["bm25"][name][measure]
        means = [part.filter(difficulty=of)["value"].to_numpy().mean() for of in ("easy", "hard")]
        assert math.isclose(cells["micro"], part["value"].to_numpy().mean(), rel_tol=1e-12)
        assert math.isclose(cells["macro"], np.mean(means), rel_tol=1e-12)
        assert math.isclose(cells["variance"], np.var(means), rel_tol=1e-9)
    assert found["unassigned_queries"] == ["q05"]
    report = report_of(*EVALUATE, "--by", "difficulty", "--full")
    averages = next(table for table in report.tables if table.key == "averages")
    assert [column.key for column in averages.labels] == ["language", "measure"]
    facts = {fact.heading: fact.text for fact in report.shown}
    assert facts["(none)"].startswith("1 query (q05) without ")
    assert {"macro", "micro"} <= set(re.findall(r"(\w+):", facts["averages"]))


def test_languages_are_pooled_if_that_is_asked_for() -> None:
    assert document(*EVALUATE, "--pool-languages")["scores"] == document(*EVALUATE[:-2])["scores"]
    facts = facts_of(*EVALUATE, "--pool-languages", "--full")
    assert facts["languages"].startswith("de, en, fr: averaged")
    assert "strata" not in facts
    found = document(*EVALUATE, "--pool-languages", "--by", "difficulty")
    assert list(found["strata"]["bm25"]) == ["easy", "hard", "(none)"]
    whole = dh.evaluate("qrels.txt", "bm25.run", ["nDCG@3", "RR"]).means()
    for measure, cells in found["averages"]["bm25"].items():
        assert math.isclose(cells["micro"], whole[measure], rel_tol=1e-12)
    by_language = document(*EVALUATE, "--by", "language", "--pool-languages")["averages"]["bm25"]
    assert math.isclose(by_language["RR"]["micro"], whole["RR"], rel_tol=1e-12)


def test_a_language_that_was_asked_for_needs_no_word() -> None:
    assert "kept apart" not in ok(*EVALUATE, "--by", "language")
    assert document(*EVALUATE, "--by", "difficulty:language")["by"] == ["difficulty", "language"]


def test_one_language_is_no_stratum() -> None:
    with_table = document(*EVALUATE[:-1], "one.csv")
    assert with_table["scores"] == document(*EVALUATE[:-2])["scores"]
    assert (with_table["languages"], with_table["by"]) == (["de"], [])
    strata = facts_of(*EVALUATE[:-1], "plain.csv")["strata"]
    assert strata.startswith("none: --by ")
    assert "plain.csv" in strata
    assert document(*EVALUATE[:-1], "one.csv", "--by", "difficulty")["by"] == ["difficulty"]


def test_queries_of_no_language_are_named(folder: Path) -> None:
    (folder / "few.csv").write_text("qid,language\n" + "".join(f"q{n:02},de\n" for n in range(38)))
    assert facts_of(*EVALUATE[:-1], "few.csv")["languages"].startswith("de; 2 queries (q38, q39) ")
    rows = "".join(f"q{n:02},{language(n)}\n" for n in range(30))
    (folder / "few.csv").write_text("qid,language\n" + rows)
    found = document(*EVALUATE[:-1], "few.csv")
    assert list(found["strata"]["bm25"]) == ["de", "en", "(none)"]
    assert found["unassigned_queries"] == [f"q{n}" for n in range(30, 40)]
    assert found["averages"]["bm25"]["RR"]["n_strata"] == 2


def test_csv_names_the_stratum() -> None:
    rows = list(csv.DictReader(io.StringIO(ok(*EVALUATE, "--by", "difficulty", *T, "--format", "csv"))))
    assert list(rows[0])[:8] == ["run", "measure", "language", "difficulty", "n_queries", "value", "low", "high"]
    assert len(rows) == 14
    found = document(*EVALUATE, "--by", "difficulty", *T)["strata"]["bm25"]
    for row in rows:
        cells = found[row["language"]][row["difficulty"]][row["measure"]]
        assert row["value"] == repr(cells["value"])
        assert row["is_small"] == str(cells["is_small"]).lower()
    alone = next(row for row in rows if row["difficulty"] == "(none)")
    assert (alone["n_queries"], alone["low"]) == ("1", "")


def test_scores_of_queries_name_the_stratum() -> None:
    rows = list(csv.DictReader(io.StringIO(ok(*EVALUATE, "--per-query", "--format", "csv"))))
    assert [(row["query_id"], row["language"]) for row in rows[::2]] == [
        (f"q{n:02}", language(n)) for n in range(N_QUERIES)
    ]
    found = document(*EVALUATE, "--per-query")["per_query"]["bm25"]
    assert found["fr"]["q39"]["RR"]["value"] == dh.evaluate("qrels.txt", "bm25.run", "RR").to_dict()["q39"]["RR"]


def test_markdown_has_a_heading_a_run_and_language() -> None:
    lines = ok(*EVALUATE, *T, "--format", "markdown").splitlines()
    assert [line for line in lines if line.startswith("#")] == ["### bm25 (de)", "### bm25 (en)", "### bm25 (fr)"]
    assert lines[2].startswith("| Metric | Value | 95% CI |")
    assert lines[2].endswith("| n |")
    assert "**Averages over language**" in lines
    plain = ok(*EVALUATE, "--format", "markdown").splitlines()
    assert plain[0].startswith("| language | measure | run | n | mean |")


def test_latex_has_booktabs() -> None:
    out = ok(*EVALUATE, *T, "--format", "latex")
    assert out.count("\\toprule") == out.count("\\bottomrule") == 2
    assert "\\begin{tabular}{llrrrrrr}" in out
    assert "language & measure & n & mean & 95\\% CI & tie std" in out
    assert "\\begin{tabular}{lrrrll}" in out


def test_a_run_without_a_stratum_is_empty_there() -> None:
    found = document(*TWO, "--missing", "skip")["strata"]
    assert list(found["bm25"]) == list(found["dense"]) == ["de", "en", "fr"]
    assert found["dense"]["de"]["RR"] == dict.fromkeys(found["bm25"]["de"]["RR"])
    assert found["dense"]["fr"]["RR"]["n_queries"] == 4
    missing = facts_of(*TWO, "--missing", "skip")["missing queries"]
    assert missing.startswith("dense: 36 (q00, q01, q02 ")
    assert missing.endswith(", left out")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "left_out"),
    [(140, []), (80, []), (60, ["tie min, tie max (-o FILE.txt has", "std (-o FILE.txt has all)"])],
)
def test_no_table_is_wider_than_the_screen(width: int, left_out: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = ok(*EVALUATE, *T)
    assert [line.partition(": ")[2] for line in out.splitlines() if line.startswith("not shown")] == left_out
    assert ("●" in out) is (width > 100)
    wide = [[*T, "--by", "difficulty"], ["--by", "difficulty"]] if width > 60 else []
    for arguments in (EVALUATE, TWO)[: 1 + (width > 60)]:
        for options in ([*T], *wide):
            assert max(map(len, ok(*arguments, *options).splitlines())) <= width


@pytest.mark.parametrize(
    ("arguments", "code", "names"),
    [
        (["--by", "language"], 2, ["--by", "--queries"]),
        (["--pool-languages"], 2, ["--pool-languages", "--queries"]),
        (["--queries", "querys.csv"], 3, ["queries.csv"]),
        (["--queries", "queries.csv", "--by", "langauge"], 3, ["langauge", *COLUMNS, "language"]),
        (["--queries", "queries.csv", "--by", "language", "--by", "language"], 2, ["--by", "language", "language"]),
        (["--queries", "queries.csv", "--ci", "--cluster", "doc"], 3, ["doc", *COLUMNS]),
        (["--queries", "queries.csv", "--by", "language", "--format", "trec"], 2, ["--format", "--by"]),
    ],
)
def test_what_is_wrong_is_said_before_runs_are_read(arguments: list[str], code: int, names: list[str]) -> None:
    result = call("evaluate", "qrels.txt", "broken.run", *arguments)
    assert result.exit_code == code
    assert names_in(result.stderr) == names
    assert result.stdout == ""


def test_a_table_of_another_format_is_refused_before_runs_are_read() -> None:
    error = error_of("evaluate", "qrels.txt", "broken.run", "--queries", "qrels.txt")
    assert isinstance(error, FileFormatError)
    assert str(error.path) == "qrels.txt"


def test_a_stratum_column_has_no_name_of_a_column_of_the_result(folder: Path) -> None:
    rows = "".join(f"q{n:02},a,b\n" for n in range(N_QUERIES))
    (folder / "queries.csv").write_text("qid,macro,tie_share\n" + rows)
    result = call("evaluate", "qrels.txt", "broken.run", "--queries", "queries.csv", "--by", "macro")
    assert (result.exit_code, result.stdout) == (3, "")
    assert names_in(result.stderr) == ["macro"]
    result = call(*EVALUATE, *T, "--by", "tie_share", "--format", "csv")
    assert (result.exit_code, result.stdout) == (3, "")
    assert names_in(result.stderr) == ["tie_share"]
    assert "tie_share" in ok(*EVALUATE, *T, "--by", "tie_share")


def test_trec_eval_has_no_strata() -> None:
    result = call(*EVALUATE, "--format", "trec")
    assert result.exit_code == 2
    assert "de, en, fr" in result.stderr
    assert names_in(result.stderr) == ["--format", "--pool-languages"]
    assert "recip_rank" in ok(*EVALUATE, "--format", "trec", "--pool-languages")


@pytest.mark.parametrize("by", [(), ("--by", "difficulty")])
def test_a_table_of_other_queries_is_an_error(folder: Path, by: tuple[str, ...]) -> None:
    (folder / "other.csv").write_text("qid,difficulty\n1,x\n")
    result = call(*EVALUATE[:-1], "other.csv", *by)
    assert result.exit_code == 3
    assert "other.csv" in result.stderr
    assert names_in(result.stderr) == ["q00", "q01", "q02", "1"]
    assert "37 more" in result.stderr


def test_an_output_does_not_replace_the_table() -> None:
    result = call(*EVALUATE, "-o", "queries.csv")
    assert result.exit_code == 2
    assert names_in(result.stderr) == ["queries.csv", "queries.csv"]


def test_saved_means_are_over_all_queries(folder: Path) -> None:
    assert facts_of(*EVALUATE, "--save", "bm25.json")["saved"].endswith("over all queries")
    saved = json.loads((folder / "bm25.json").read_text())
    assert saved["measures"]["RR"]["mean"] == dh.evaluate("qrels.txt", "bm25.run", "RR")["RR"].mean


@pytest.mark.slow
@needs_shared_data
def test_german_and_english_in_one_file_are_those_of_two(folder: Path) -> None:
    run = "minilm-2dec"
    frames: dict[str, list[pl.DataFrame]] = {"qrels": [], "run": [], "queries": []}
    for name in ("de", "en"):
        key = (pl.lit(f"{name}-") + pl.col("query_id")).alias("query_id")
        frames["qrels"].append(dh.read_qrels(hpo_qrels(name)).to_polars().with_columns(key))
        frames["run"].append(dh.read_run(hpo_run(f"{name}.{run}")).to_polars().with_columns(key))
        frames["queries"].append(frames["qrels"][-1].select("query_id", language=pl.lit(name)).unique())
    for name, parts in frames.items():
        pl.concat(parts).write_parquet(folder / f"{name}.parquet")
    found = document("evaluate", "qrels.parquet", "run.parquet", "-m", "RR", "--queries", "queries.parquet", *T)
    for name in ("de", "en"):
        alone = document("evaluate", hpo_qrels(name), hpo_run(f"{name}.{run}"), "-m", "RR", *T)["scores"]
        cells = found["strata"]["run"][name]["RR"]
        for key, value in next(iter(alone.values()))["RR"].items():
            is_same = cells[key] == value if isinstance(value, str) else math.isclose(cells[key], value, rel_tol=1e-9)
            assert is_same, key
