"""deadheat compare: what it prints, in which format, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.cli import main
from support.command import facts_of, names_in, runner
from support.demo import DEMO
from support.numbers_in_text import numbers_in
from support.shared_data import LLM_RUNS, llm_qrels, llm_run, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

pytestmark = pytest.mark.usefixtures("narrow")

QRELS = DEMO / "qrels.human.txt.gz"
RUNS = sorted(DEMO.glob("*.run.gz"))
NAMES = [path.name.removesuffix(".run.gz") for path in RUNS]


def call(*arguments: object) -> Result:
    return runner().invoke(main, list(map(str, arguments)))


def ok(*arguments: object) -> str:
    result = call("compare", QRELS, *RUNS, *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    """A table of queries in two languages and of two levels."""
    ids = dh.evaluate(QRELS, RUNS[0], "RR").query_ids.tolist()
    table = pl.DataFrame(
        {
            "query_id": ids,
            "language": ["de", "en", "en"] * 8 + ["de"],
            "level": ["easy", "hard"] * 12 + ["easy"],
        }
    )
    table.write_csv(tmp_path / "queries.csv")
    return tmp_path / "queries.csv"


@pytest.mark.slow
def test_csv_is_the_frame_of_the_api() -> None:
    rows = list(csv.DictReader(io.StringIO(ok("-m", "nDCG@10 RR", "--format", "csv"))))
    found = dh.compare(QRELS, dict(zip(NAMES, RUNS, strict=True)), ["nDCG@10", "RR"]).to_polars(details=True)
    assert list(rows[0]) == found.columns
    for row, expected in zip(rows, found.iter_rows(named=True), strict=True):
        for name, value in expected.items():
            shown = row[name]
            if isinstance(value, bool):
                assert shown == str(value).lower()
            elif isinstance(value, float):
                assert float(shown) == value
            else:
                assert shown == ("" if value is None else str(value))


@pytest.mark.slow
def test_json_holds_every_pair_and_system() -> None:
    document = json.loads(ok("-m", "nDCG@10", "--baseline", RUNS[0], "--format", "json"))
    found = dh.compare(QRELS, dict(zip(NAMES, RUNS, strict=True)), "nDCG@10", baseline=NAMES[0])
    assert (document["baseline"], document["baselines"]) == (NAMES[0], [NAMES[0]])
    assert document["least_p_adjusted"] == 0  # no correction multiplies p
    assert document["correction"] == "max-t"
    for pair in found.pairs:
        held = document["pairs"][pair.system][pair.baseline]["nDCG@10"]
        assert held["p_adjusted"] == pair.p_adjusted
        assert held["flip_probability"] == pair.flip_probability
    for name in NAMES:
        interval = found.evaluations[name]["nDCG@10"].interval()
        held = document["systems"][name]["nDCG@10"]
        assert held["mean"] == pytest.approx(interval.mean)
        assert (held["low"], held["high"]) == pytest.approx((interval.low, interval.high))
        assert held["tie_standard_error"] == pytest.approx(interval.tie_standard_error)


@pytest.mark.slow
def test_table_shows_rounded_what_the_api_says() -> None:
    out = ok("-m", "nDCG@10", "--baseline", "Olz-gpt4o", "--full")
    found = dh.compare(QRELS, dict(zip(NAMES, RUNS, strict=True)), "nDCG@10", baseline="Olz-gpt4o")
    for pair in found.pairs:
        (line,) = [
            line
            for line in out.split("differences from")[1].splitlines()
            if line.startswith(pair.system) and "[" in line
        ]
        star = "*" * pair.significant + "s" * (pair.doubtful and "s" in line.split("]")[1].split()[1])
        assert f" {pair.difference:.4f}  " in line
        assert f"[{pair.simultaneous_low:.4f}, {pair.simultaneous_high:.4f}]" in line
        p_value, p_adjusted = ("<.0001" if p < 0.0001 else f"{p:.4f}" for p in (pair.p_value, pair.p_adjusted))
        p_adjusted = "<=.0001" if pair.p_is_bound else p_adjusted
        assert line.split("]")[1].split()[:2] == [p_value, p_adjusted + star]
    assert "<.0001" in out
    flipping = max(found.pairs, key=lambda pair: pair.flip_probability)
    after = out.split("what ties can reverse")[1].splitlines()
    assert after[5].split()[:2] == [flipping.system, f"{100 * flipping.flip_probability:.0f}%"]
    assert f"p below 0.05: {sum(pair.significant for pair in found.pairs)} of 3 differences" in out


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 140])
@needs_shared_data
def test_twelve_runs_fit(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    paths = [llm_run(name) for name in LLM_RUNS]
    short = call("compare", llm_qrels(), *paths, "-m", "nDCG@10")
    assert max(map(len, short.stdout.splitlines())) <= width
    result = call("compare", llm_qrels(), *paths, "-m", "nDCG@10", "--full")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= width
    assert "├" in result.stdout
    assert "of 66 differences" in result.stdout


@pytest.mark.slow
def test_markdown_and_latex() -> None:
    markdown = ok("-m", "RR", "--format", "markdown", "--full")
    assert ["system", "mean", "95% CI (n=25)"] in [line.strip("| ").split(" | ")[:3] for line in markdown.splitlines()]
    latex = ok("-m", "RR", "--format", "latex", "--full")
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") >= 2


@pytest.mark.slow
def test_tukey_has_one_p_value() -> None:
    out = ok("-m", "RR", "--test", "tukey", "--full")
    assert "p adj" not in out.partition("what ties can reverse")[0]
    test = facts_of("compare", QRELS, *RUNS, "-m", "RR", "--test", "tukey", "--full")["test"]
    assert test.startswith("Tukey's HSD ")
    assert numbers_in(test) == [10_000]


@pytest.mark.slow
def test_languages_are_kept_apart(queries: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(ok("-m", "RR", "--queries", queries, "--format", "csv"))))
    table = pl.read_csv(queries, schema_overrides={"query_id": pl.String})
    values = {
        name: dh.evaluate(QRELS, path, "RR").to_polars().join(table, on="query_id")
        for name, path in zip(NAMES, RUNS, strict=True)
    }
    assert {row["language"] for row in rows} == {"de", "en"}
    for row in rows:
        means = [
            values[row[which]].filter(language=row["language"])["value"].mean() for which in ("system", "baseline")
        ]
        assert float(row["difference"]) == pytest.approx(means[0] - means[1])  # type: ignore[operator]
        assert row["doc_id_difference"]
    pooled = ok("-m", "RR", "--queries", queries, "--pool-languages", "--format", "csv")
    assert "language" not in pooled.splitlines()[0]


@pytest.mark.slow
def test_crossed_strata_in_a_table(queries: Path) -> None:
    out = ok("-m", "RR", "--queries", queries, "--by", "level", "--baseline", "Olz-gpt4o", "--full")
    heading = next(line for line in out.splitlines() if line.startswith("language"))
    assert heading.split()[:5] == ["language", "level", "system", "queries", "mean"]


@pytest.mark.slow
def test_clusters(queries: Path) -> None:
    asked = ("-m", "RR", "--queries", queries, "--pool-languages", "--cluster", "level", "--full")
    facts = facts_of("compare", QRELS, *RUNS, *asked)
    assert ", by cluster, " in facts["test"]
    assert "in 2 clusters" in facts["queries"]


@pytest.mark.slow
def test_margins_and_sample_sizes() -> None:
    document = json.loads(ok("-m", "RR", "--margin", "0.05", "--detect", "0.02", "--format", "json"))
    found = dh.compare(QRELS, dict(zip(NAMES, RUNS, strict=True)), "RR")
    for row in found.equivalence(0.05).iter_rows(named=True):
        held = document["equivalence"][row["system"]][row["baseline"]]["RR"]
        assert held["p_no_worse"] == row["p_no_worse"]
    for row in found.sample_sizes(0.02).iter_rows(named=True):
        held = document["sample_sizes"][row["system"]][row["baseline"]]["RR"]
        assert held["n_needed"] == row["n_needed"]


@pytest.mark.slow
def test_margins_and_sample_sizes_are_columns_of_csv(queries: Path) -> None:
    arguments = ("-m", "RR nDCG@10", "--queries", queries, "--margin", "0.05", "--detect", "0.02")
    rows = list(csv.DictReader(io.StringIO(ok(*arguments, "--format", "csv"))))
    plain = list(csv.DictReader(io.StringIO(ok(*arguments[:4], "--format", "csv"))))
    document = json.loads(ok(*arguments, "--format", "json"))
    added = ("p_no_worse", "p_equivalent", "power", "n_needed", "detectable_difference")
    assert tuple(rows[0])[len(plain[0]) :] == added
    assert len(rows) == len(plain) == 2 * 2 * 6
    for row, before in zip(rows, plain, strict=True):
        assert {name: row[name] for name in before} == before
        for name in added:
            table = document["equivalence" if name.startswith("p_") else "sample_sizes"]
            held = table[row["language"]][row["system"]][row["baseline"]][row["measure"]][name]
            assert row[name] == ("" if held is None else str(held))


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([RUNS[0]], 2, "two runs or more, got 1"),
        ([RUNS[0], "missing.run"], 3, "no such file"),
        ([RUNS[0], "broken.run"], 3, "broken.run:1: expected 6 fields"),
        ([RUNS[0], "broken.run", "--baseline", "Olz-gpt4"], 2, "--baseline must be one of"),
        ([RUNS[0], "broken.run", "--test", "welch"], 2, "'randomization'"),
        ([RUNS[0], "broken.run", "--correction", "holmes"], 2, "Did you mean 'holm'?"),
        ([RUNS[0], "broken.run", "--by", "level"], 2, "--queries FILE"),
        ([RUNS[0], "broken.run", "--cluster", "level"], 2, "--queries FILE"),
        (
            [RUNS[0], "broken.run", "--cluster", "level", "--queries", "broken.run", "--test", "sign"],
            2,
            "with --cluster, got 'sign'",
        ),
        ([RUNS[0], "broken.run", "--margin", "0"], 2, "--margin"),
        ([RUNS[0], "broken.run", "--format", "trec"], 2, "trec"),
        ([RUNS[0], "broken.run", "-m", "nDGC"], 2, "Did you mean 'nDCG' or 'RnDCG'?"),
        ([RUNS[0], "broken.run", "--ties", "bets"], 2, "Did you mean 'best'?"),
        ([RUNS[0], "broken.run", "--missing", "emtpy"], 2, "Did you mean 'empty'?"),
        ([RUNS[0], "broken.run", "--no-relevant", "none"], 2, "--no-relevant must be one of 'zero', 'skip'"),
        ([RUNS[0], "broken.run", "--score-precision", "99"], 2, "a number of decimals from 0 to 15"),
        ([RUNS[0], "broken.run", "--ci-method", "t", "--test", "t", "--n-resamples", "99"], 2, "takes no resamples"),
    ],
)
def test_options_are_refused_before_files_are_read(
    arguments: list[object], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken.run").write_text("q1 Q0 d1\n")
    monkeypatch.chdir(tmp_path)
    result = call("compare", QRELS, *arguments)
    assert result.exit_code == code, result.output
    assert message in " ".join(result.output.split())


def test_unknown_columns_are_named(queries: Path) -> None:
    result = call("compare", QRELS, *RUNS, "--queries", queries, "--by", "levle")
    assert result.exit_code == 3
    assert "Did you mean 'level'?" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_every_format_begins_with_the_verdict(form: str) -> None:
    found = dh.compare(QRELS, dict(zip(NAMES, RUNS, strict=True)), "nDCG@10").verdict
    for options in ([], ["--full"]):
        text = ok("-m", "nDCG@10", "--format", form, *options)
        shown = "\n".join(text.splitlines()[form == "latex" :])  # the first line names the packages
        words = plain_words(shown)
        assert words.startswith(plain_words(found.headline))
        first = 0
        for label, fact in found.facts.items():
            first = words.index(f"{plain_words(label)} {plain_words(fact)}", first)
        assert first < 900  # above all tables


def plain_words(text: str) -> str:
    """Return the words of a text without what formats put around them."""
    bare = re.sub(r"[\\*%]", "", text)
    return " ".join(re.sub(r":|^- |\n- ", " ", bare).split())


@pytest.mark.slow
def test_json_has_the_verdict_and_its_numbers() -> None:
    document = json.loads(ok("-m", "nDCG@10 AP", "--format", "json", "--margin", "0.05"))
    verdict = document["verdict"]
    pair = document["pairs"][verdict["system"]][verdict["baseline"]][verdict["measure"]]
    assert next(iter(document)) == "verdict"
    held = set(pair) & set(verdict) - {"difference", "low", "high"}
    assert held >= {"p_value", "p_adjusted", "n_queries", "flip_probability", "can_flip"}
    assert {name: pair[name] for name in held} == {name: verdict[name] for name in held}
    row = document["equivalence"][verdict["system"]][verdict["baseline"]][verdict["measure"]]
    assert verdict["margin"] == 0.05
    assert verdict["no_worse"] == (row["p_no_worse"] < 0.05)
    assert verdict["text"].splitlines() == [
        verdict["headline"],
        *(f"{label}: {text}" for label, text in verdict["facts"].items()),
    ]


@pytest.mark.slow
def test_json_has_the_verdict_of_each_stratum(queries: Path) -> None:
    document = json.loads(
        ok("-m", "nDCG@10", "--by", "level", "--queries", queries, "--pool-languages", "--format", "json")
    )
    found = document["verdict"]
    assert list(found["strata"]) == ["easy", "hard"]
    assert found["facts"]["nDCG@10"].startswith("2 strata of level: ")
    assert found["text"].startswith(f"{found['headline']}\nnDCG@10: 2 strata of level: ")
    for level, verdict in found["strata"].items():
        pair = document["pairs"][level][verdict["system"]][verdict["baseline"]]["nDCG@10"]
        assert verdict["p_adjusted"] == pair["p_adjusted"]


@pytest.mark.slow
def test_a_compact_table_is_written_whole_whatever_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "a.md", "a.tex"):
        texts = []
        for columns in ("40", "200"):
            monkeypatch.setenv("COLUMNS", columns)
            for options in ([], ["--full"]):
                ok("-m", "nDCG@10 RR P@10", *options, "-o", tmp_path / name)
                texts.append((tmp_path / name).read_text(encoding="utf-8"))
        assert texts[:2] == texts[2:]
        assert "not shown at this width" not in "".join(texts)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_the_full_report_is_for_people(form: str) -> None:
    result = call("compare", QRELS, *RUNS, "--full", "--format", form)
    assert result.exit_code == 2
    assert names_in(result.stderr) == ["--full"]
    assert form in result.stderr


@pytest.mark.slow
def test_what_changes_the_decision_fits_a_screen() -> None:
    out = ok("-m", "nDCG@10 RR")
    lines = out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 100
    full = ok("-m", "nDCG@10 RR", "--full")
    assert full.startswith(out.partition("\n\n   system")[0])  # the same verdict
    assert "p adj" in full.partition(": differences, ")[2]


@pytest.mark.slow
def test_queries_that_decide_are_those_of_the_api() -> None:
    options = ["-m", "nDCG@10 RR", "--queries-worst", "2", "--baseline", "Olz-gpt4o"]
    document = json.loads(ok(*options, "--format", "json"))
    found = dh.compare(QRELS, dict(zip(NAMES, RUNS, strict=True)), ["nDCG@10", "RR"], baseline="Olz-gpt4o").queries(2)
    listed = []
    for row in found.iter_rows(named=True):
        keys = [row.pop(name) for name in ("system", "baseline", "measure", "kind", "query_id")]
        held = document["queries"]
        for key in keys:
            held = held[key]
        assert row.pop("weight") is None  # without weights, JSON has no key for it
        assert held == row
        listed.append((keys[2], keys[4], row))
    out = ok(*options)
    for measure, query, row in listed:
        assert f"{measure}: queries that decide, " in out
        assert re.search(
            rf"\b{query}\s+{row['difference']:.4f}\s+{row['value']:.4f}\s+{row['baseline_value']:.4f}\s", out
        )


@pytest.mark.slow
def test_queries_that_decide_have_their_texts(tmp_path: Path) -> None:
    ids = dh.evaluate(QRELS, RUNS[0], "RR").query_ids.tolist()
    table = pl.DataFrame({"query_id": ids, "text": [f"<b>{query}</b> | \x1b[2J" for query in ids]})
    table.write_csv(tmp_path / "queries.csv")
    options = ["-m", "RR", "--queries-worst", "1", "--queries", tmp_path / "queries.csv"]
    assert re.search(r"<b>q\d+</b> \| \\x1b\[2J", ok(*options))
    assert re.search(r"\\<b>q\d+\\</b> \\\| \\\\x1b", ok(*options, "--format", "markdown"))
    assert r"\textless{}b\textgreater{}q" in ok(*options, "--format", "latex")
    document = json.loads(ok(*options, "--format", "json"))
    (best,) = document["queries"]["TREMA-CoT"]["Olz-gpt4o"]["RR"]["worst"].items()
    assert best[1]["text"].startswith(f"<b>{best[0]}</b>")


@pytest.mark.slow
def test_ranks_are_those_of_the_api(queries: Path) -> None:
    options = ["-m", "nDCG@10 MR", "--ranks"]
    document = json.loads(ok(*options, "--format", "json"))
    found = dh.compare(QRELS, dict(zip(NAMES, RUNS, strict=True)), ["nDCG@10", "MR"]).rank_intervals()
    out = ok(*options, "--full")
    for row in found.iter_rows(named=True):
        measure, system = row.pop("measure"), row.pop("system")
        assert document["ranks"][measure][system] == row
        percent = "<1%" if 0 < row["p_best"] < 0.01 else ">99%" if 0.99 < row["p_best"] < 1 else f"{row['p_best']:.0%}"
        assert re.search(rf"{system}\s+{row['rank']}\s+\[{row['low']}, {row['high']}\]\s+{percent}\s", out)
    assert facts_of("compare", QRELS, *RUNS, *options, "--full")["ranks"].startswith("by the exact mean; bootstrap ")
    document = json.loads(ok(*options, "--by", "level", "--queries", queries, "--pool-languages", "--format", "json"))
    assert list(document["ranks"]) == ["easy", "hard"]


@pytest.mark.slow
def test_orders_are_a_table_of_their_own_for_csv() -> None:
    result = call("compare", QRELS, *RUNS, "--orders", "--format", "csv")
    assert result.exit_code == 2
    assert names_in(result.stderr) == ["--orders", "--table"]
    assert ok("-m", "RR AP", "--orders", "--table", "orders", "--format", "csv").startswith("second,first,")


@pytest.mark.parametrize("option", [["--ranks"], ["--queries-worst", "3"]])
def test_tables_of_other_rows_are_not_for_csv(option: list[str]) -> None:
    result = call("compare", QRELS, *RUNS, *option, "--format", "csv")
    assert result.exit_code == 2
    assert names_in(result.stderr) == [option[0]]
    assert "csv" in result.stderr
