"""The paper table: which number is bold, what each mark says, and a page of LaTeX that holds it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

import deadheat as dh
from deadheat import parse_measure
from deadheat.core.report.as_data import as_json
from deadheat.core.report.as_latex import as_latex
from deadheat.core.report.as_markdown import as_markdown
from deadheat.core.report.cells import NumberCell
from deadheat.core.report.model import SYSTEM, Column, Report, tabulate
from deadheat.core.report.text import as_text
from deadheat.plugins.compare.deciding import explain_doubt, find_favourite
from deadheat.plugins.compare.report import report_comparison
from deadheat.plugins.compare.report_compact import report_compact
from support.random_runs import random_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MEASURES = ["nDCG@10", "RR", "P@5", "MR"]
needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="no pdflatex: install texlive-latex-recommended"
)


def many(n_systems: int = 12, n_queries: int = 40, name: str = "system-{}") -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments, and runs of which each is better than the one before."""
    rng = np.random.default_rng(1)
    docs = [f"d{n}" for n in range(12)]
    qrels: dict[str, Any] = {}
    runs: dict[str, Any] = {name.format(n): {} for n in range(n_systems)}
    for query in (f"q{n:02d}" for n in range(n_queries)):
        relevance = rng.choice([0, 0, 0, 1, 2], len(docs))
        qrels[query] = dict(zip(docs, relevance.tolist(), strict=True))
        for help_of_relevance, run in enumerate(runs.values()):
            scores = rng.integers(0, 6, len(docs)) + 0.25 * help_of_relevance * relevance
            run[query] = dict(zip(docs, scores.tolist(), strict=True))
    return qrels, runs


def compared(**options: Any) -> dh.Comparison:  # noqa: ANN401 - of compare
    qrels, runs = random_runs()
    return dh.compare(qrels, runs, MEASURES, **{"n_resamples": 500, **options})


def cells(report: Report) -> dict[tuple[str, str], NumberCell]:
    (table,) = report.tables
    return {
        (row.labels[-1], column.key): cell
        for row in table.rows
        for column, cell in zip(table.columns, row.cells[0], strict=True)
        if isinstance(cell, NumberCell)
    }


def test_numbers_are_those_of_json() -> None:
    comparison = compared()
    data = json.loads(as_json(report_comparison(comparison, qrels="q", for_people=False)))
    found = cells(report_compact(comparison, qrels="q"))
    assert len(found) == 3 * len(MEASURES)
    for (system, measure), cell in found.items():
        assert cell.value == data["systems"][system][measure]["mean"]


@pytest.mark.parametrize("digits", [4, 1, 0])
def test_the_best_are_bold_by_the_printed_value(digits: int) -> None:
    comparison = compared()
    found = cells(report_compact(comparison, qrels="q", digits=digits))
    for measure in MEASURES:
        means = {name: one[measure].mean for name, one in comparison.evaluations.items()}
        best = (max if parse_measure(measure).higher_is_better else min)(means.values())
        bold = {name for name in means if found[name, measure].is_best}
        assert bold == {name for name, mean in means.items() if f"{mean:.{digits}f}" == f"{best:.{digits}f}"}


@pytest.mark.parametrize("test", ["randomization", "sign", "tukey"])
def test_daggers_are_the_significant_differences_from_the_baseline(test: str) -> None:
    comparison = compared(baseline="fair", test=test)
    report = report_compact(comparison, qrels="q")
    found = cells(report)
    marks = {}
    for pair in comparison.pairs:
        own = find_favourite(pair, parse_measure(pair.measure), comparison.design)
        mark = "" if own is None else "†" if own == pair.system else "‡"
        marks[pair.system, pair.measure] = mark + ("?" if mark and explain_doubt(pair, comparison.design) else "")
    assert {key: cell.marks for key, cell in found.items() if key[0] != "fair (baseline)"} == marks
    assert "‡" in marks.values()
    assert all(found["fair (baseline)", measure].marks == "" for measure in MEASURES)
    said = "† significantly better, ‡ significantly worse" if "†" in marks.values() else "‡ significantly worse"
    assert f" {said} than fair." in report.tables[0].caption


@pytest.mark.slow
def test_letters_are_the_systems_that_one_beats() -> None:
    qrels, runs = many()
    comparison = dh.compare(qrels, runs, MEASURES, n_resamples=500)
    (table,) = report_compact(comparison, qrels="q").tables
    letters = {row.labels[-1]: row.labels[0] for row in table.rows}
    assert list(letters.values()) == list("abcdefghijkl")
    means = [row.cells[0][0] for row in table.rows]
    assert means == sorted(means, key=lambda one: one.value, reverse=True)  # type: ignore[union-attr]
    beaten: dict[tuple[str, str], set[str]] = {}
    for pair in comparison.pairs:
        own = find_favourite(pair, parse_measure(pair.measure), comparison.design)
        if own is not None:
            loser = pair.baseline if own == pair.system else pair.system
            beaten.setdefault((own, pair.measure), set()).add(letters[loser])
    found = cells(report_compact(comparison, qrels="q"))
    assert any("-" in cell.marks for cell in found.values())
    for key, cell in found.items():
        shown: set[str] = set()
        for first, last in re.findall("([a-z])(?:-([a-z]))?", cell.marks):
            shown |= {chr(code) for code in range(ord(first), ord(last or first) + 1)}
        assert shown == beaten.get(key, set())


def test_more_systems_than_letters_have_tiers() -> None:
    qrels, runs = many(30, 20)
    found = dh.compare(qrels, runs, "RR", test="t", correction="none")
    (table,) = report_compact(found, qrels="q").tables
    beaten = {
        (one.system, one.baseline) if one.difference > 0 else (one.baseline, one.system)
        for one in found.pairs
        if one.significant
    }
    left, tier = sorted(runs, key=lambda name: -found.evaluations[name]["RR"].mean), 0
    expected: dict[str, str] = {}
    while left:  # all that the best does not beat, and so on
        tier += 1
        expected |= {name: str(tier) for name in left if (left[0], name) not in beaten}
        left = [name for name in left if name not in expected]
    marks = {row.labels[0]: row.cells[0][0].marks for row in table.rows}  # type: ignore[union-attr]
    assert marks == expected
    assert tier > 1
    assert "tiers" in table.caption


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values after Holm's correction, by its definition."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for n, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - n) * p_values[place])
        adjusted[place] = min(1.0, largest)
    return adjusted


def marks_by_system(report: Report) -> dict[str, str]:
    """Return the marks of each row's first number, by the name of the system."""
    (table,) = report.tables
    return {row.labels[-1].removesuffix(" (baseline)"): row.cells[0][0].marks for row in table.rows}  # type: ignore[union-attr]


@pytest.mark.slow
def test_more_systems_than_letters_have_a_sign_against_each_of_two_baselines_and_no_tiers() -> None:
    """Held against t tests of SciPy, corrected by hand: what was not tested has no mark."""
    qrels, runs = many(40, 30)
    baselines = ["system-1", "system-20"]
    found = dh.compare(qrels, runs, "RR", test="t", baseline=baselines)
    values = {name: dh.evaluate(qrels, run, "RR")["RR"].values for name, run in runs.items()}
    pairs = [(name, base) for base in baselines for name in runs if name != base and (name, base) != tuple(baselines)]
    adjusted = holm([float(scipy_stats.ttest_rel(values[a], values[b]).pvalue) for a, b in pairs])
    letters = dict(zip(sorted(baselines, key=lambda name: -values[name].mean()), "ab", strict=True))
    expected = {name: dict.fromkeys("ab", "") for name in runs}
    for (system, baseline), p in zip(pairs, adjusted, strict=True):
        for name, other in ((system, baseline), (baseline, system)):
            if other in letters and p < 0.05:
                is_better = values[name].mean() > values[other].mean()
                expected[name][letters[other]] = letters[other] + ("†" if is_better else "‡")
    report = report_compact(found, qrels="q")
    shown = {name: marks.replace("?", "") for name, marks in marks_by_system(report).items()}
    assert shown == {name: "".join(own.values()) for name, own in expected.items()}
    assert {"b†", "a‡"} <= set(re.findall("[ab][†‡]", "".join(shown.values())))
    (table,) = report.tables
    assert table.caption.index("† significantly better") < table.caption.index("‡ significantly worse")
    assert "from system-1 and system-20" in table.caption
    assert "tier" not in table.caption
    assert {row.labels[-1]: row.labels[0] for row in table.rows if row.labels[0]} == {
        f"{name} (baseline)": letters[name] for name in baselines
    }
    latex = found.to_latex(compact=True)
    assert r"\textsuperscript{b\dag{}}" in latex
    assert "tiers" not in latex


def test_fewer_systems_than_letters_have_the_same_signs() -> None:
    comparison = compared(baseline=["weak", "fair"])
    marks = marks_by_system(report_compact(comparison, qrels="q"))
    assert set("".join(marks.values())) <= set("ab†‡?")
    for pair in comparison["nDCG@10"]:
        winner = find_favourite(pair, parse_measure("nDCG@10"), comparison.design)
        letter = {"fair": "a", "weak": "b"}[pair.baseline]
        dagger = "" if winner is None else "†" if winner == pair.system else "‡"
        assert (f"{letter}{dagger}" in marks[pair.system]) == bool(dagger)


@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_a_test_of_one_side_gives_no_tiers(alternative: str) -> None:
    """Who leads a pair the other way round was not looked for: that makes nobody an equal."""
    qrels, runs = many(30, 20)
    found = dh.compare(qrels, runs, "RR", test="t", correction="none", alternative=alternative)
    report = report_compact(found, qrels="q")
    assert set(marks_by_system(report).values()) == {""}
    assert "one-sided" in report.tables[0].caption
    assert "tiers" not in report.tables[0].caption


def test_pairs_that_cannot_be_tested_give_no_tiers() -> None:
    """By a t test: one system is better than another by the same on each query, which has no p value."""
    qrels, runs = many(30, 20)
    runs["even"] = {query: dict.fromkeys(docs, 2.0) for query, docs in qrels.items()}
    alike = {f"q{n:02d}": {"hit": 1} for n in range(20)}
    runs |= {"one": {q: {"hit": 2.0, "x": 1.0} for q in alike}, "two": {q: {"hit": 1.0, "x": 2.0} for q in alike}}
    qrels = {query: docs | {"hit": 1} for query, docs in qrels.items()}
    found = dh.compare(qrels, runs, ["P@1", "RR"], test="t", correction="none")
    assert np.isnan(found.pairs.column("p_adjusted").astype(float)).any()
    report = report_compact(found, qrels="q")
    assert all(cell.marks == "" for cell in cells(report).values())
    assert "By P@1, RR some pairs" in report.tables[0].caption
    assert "could not be tested" in report.tables[0].caption
    assert "No difference" not in report.tables[0].caption


def test_a_system_without_a_value_has_no_tier() -> None:
    """It lacks the queries of one stratum, in which the others have tiers."""
    qrels, runs = many(30, 40)
    ids = list(qrels)
    runs["half"] = {query: runs["system-0"][query] for query in ids[:20]}
    comparison = dh.compare(qrels, runs, "RR", test="t", correction="none", missing="skip")
    table = pl.DataFrame({"query_id": ids, "level": ["easy"] * 20 + ["hard"] * 20})
    strata = comparison.by("level", table)
    (found,) = report_compact(comparison, qrels="q", columns=["level"], strata=strata).tables
    numbers = {(row.labels[0], row.labels[-1]): row.cells[0][0] for row in found.rows}
    assert numbers["hard", "half"] is None
    for level in ("easy", "hard"):
        marks = {cell.marks for (own, _), cell in numbers.items() if own == level and isinstance(cell, NumberCell)}
        assert {"1", "2"} <= marks
    assert "could not be tested" not in found.caption


def test_marks_of_a_p_value_in_doubt_are_questioned() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(12)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    bad = {
        query: {"a": 0.5 if n < 6 else 2.0, **{f"x{m}": 1.0 + m for m in range(20 * (n == 0) + 1)}}
        for n, query in enumerate(qrels)
    }
    comparison = dh.compare(qrels, {"bad": bad, "good": good}, "MR", baseline="bad")
    (pair,) = comparison.pairs
    assert pair.significant
    assert pair.doubtful
    (table,) = report_compact(comparison, qrels="q").tables
    (p,) = [cell for cell in table.rows[0].cells[0] if isinstance(cell, NumberCell) and cell.kind == "p"]
    assert p.marks == "*?"
    assert "question mark" in table.caption
    assert "Of MR less is better." in table.caption
    comparison = dh.compare(qrels, {"bad": bad, "good": good, "third": bad}, "MR", baseline="bad", correction="none")
    (table,) = report_compact(comparison, qrels="q").tables
    assert {row.cells[0][0].marks for row in table.rows} == {"†?", ""}  # type: ignore[union-attr]
    assert "question mark" in table.caption
    assert "Of MR (↓) less is better." in table.caption


@pytest.mark.slow
def test_the_caption_says_how() -> None:
    said = report_compact(compared(), qrels="data/qrels.txt").tables[0].caption
    sentences = [sentence.split(": ")[0] for sentence in said.removesuffix(".").split(". ")]
    assert sentences[0].startswith("Means over 30 queries; ")
    assert sentences[1] == "Of MR (↓) less is better"
    assert sentences[2].startswith("Letters")
    assert sentences[-2:] == ["Significant", "Ties"]
    assert "p < 0.05 by a paired randomisation test" in said
    assert "corrected by max-t" in said
    lacking = {"some": {"q1": {"a": 1}}, "every": {"q1": {"a": 1}, "q2": {"a": 1}}, "base": {"q1": {"a": 1}}}
    partly = dh.compare({"q1": {"a": 1}, "q2": {"a": 1}}, lacking, "RR", missing="skip", baseline="base")
    assert report_compact(partly, qrels="q").tables[0].caption.startswith("Means over 1 to 2 queries;")
    said = report_compact(compared(test="tukey", confidence_level=0.9, ties="doc_id"), qrels="q").tables[0].caption
    assert "p < 0.1 by Tukey's HSD " in said
    assert "accounts for all pairs" in said
    assert "Ties: by document id, " in said
    alike = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    runs = {"one": alike, "two": alike, "three": alike}
    same = dh.compare({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "NumRelRet")
    (table,) = report_compact(same, qrels="q").tables
    assert table.caption.startswith("Totals over 2 queries;")
    assert "No difference between" in table.caption
    assert all(cell.is_best for row in table.rows for cell in row.cells[0])  # type: ignore[union-attr]


@pytest.mark.slow
def test_each_format_prints_bold_and_marks_in_its_way() -> None:
    comparison = compared(baseline="fair", n_resamples=10_000)
    report = report_compact(comparison, qrels="q")
    found = cells(report)
    best, worse = found["good", "nDCG@10"], found["weak", "nDCG@10"]
    assert (best.is_best, best.marks, worse.marks) == (True, "†", "‡")
    text = as_text(report, width=80).plain
    assert f"**{best.value:.4f}** †" in text
    assert f" {worse.value:.4f}   ‡" in text
    assert text.startswith(f"{comparison.verdict.headline}\n\nnDCG@10 ")
    markdown = as_markdown(report)
    assert f"| **{best.value:.4f}** † |" in markdown
    assert f"| {worse.value:.4f} ‡ |" in markdown
    latex = as_latex(report)
    assert rf"\textbf{{{best.value:.4f}}} & \textsuperscript{{\dag{{}}}}" in latex
    assert rf"{worse.value:.4f} & \textsuperscript{{\ddag{{}}}}" in latex
    assert r"\label{tab:comparison}" in latex
    assert r"MR $\downarrow$" in latex


@pytest.mark.slow
def test_strata_have_a_block_each_with_the_best_of_each() -> None:
    comparison = compared()
    table = pl.DataFrame({"query_id": comparison.query_ids.tolist(), "level": ["hard", "easy", "medium"] * 10})
    strata = comparison.by("level", table)
    (found,) = report_compact(comparison, qrels="q", columns=["level"], strata=strata).tables
    assert list(dict.fromkeys(row.labels[0] for row in found.rows)) == ["easy", "medium", "hard"]
    for level, part in strata.items():
        own = [row for row in found.rows if row.labels[0] == level]
        assert [row.labels[2] for row in own if row.cells[0][0].is_best] == [part.verdict.leader]  # type: ignore[union-attr]
    assert "10 queries in each stratum" in found.caption


EVIL = [
    "\\input{/etc/passwd} % & # $ _ { } ~ ^",
    "</script><b>\"'`|",
    "\u202e\x1b[2J\nx",
    "木 🎯 ü é ß ñ ő",
    "msmarco-passage-dev-cross-encoder-large-v2.1_final",
    "x" * 70,
    "[2cm] -- ?` !`",
]


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("kind", ["letters", "baseline", "long", "evil", "strata"])
def test_latex_sets_it_on_a_page(kind: str, tmp_path: Path) -> None:
    long = "msmarco-passage-dev_cross-encoder-large-{}" if kind == "long" else "system-{}"
    qrels, runs = many(12, 20, long)
    if kind == "evil":
        runs = dict(zip(EVIL, runs.values(), strict=False))
    baseline = list(runs)[3] if kind == "baseline" else None
    comparison = dh.compare(qrels, runs, MEASURES, n_resamples=200, baseline=baseline)
    by: dict[str, Any] = {}
    if kind == "strata":
        table = pl.DataFrame({"query_id": comparison.query_ids.tolist(), "level": ["hard", "easy"] * 10})
        by = {"columns": ["level"], "strata": comparison.by("level", table)}
    report = report_compact(comparison, qrels="a/long_folder/qrels.human_and_very_long_name.txt.gz", **by)
    (tmp_path / "table.tex").write_text(as_latex(report), encoding="utf-8")
    page = ["\\documentclass{article}", "\\usepackage{booktabs,textcomp}", "\\begin{document}", "\\input{table}"]
    (tmp_path / "page.tex").write_text("\n".join([*page, "\\end{document}", ""]))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "page.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert not [line for line in log.splitlines() if line.startswith(("Overfull", "!")) or "too large for page" in line]
    assert re.search(r"Output written on page.pdf \(1 page", log)


RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


@pytest.mark.parametrize("baseline", [None, 0])
def test_evil_names_are_text_in_verdict_marks_and_caption(baseline: int | None) -> None:
    qrels, runs = many(len(EVIL), 12)
    runs = dict(zip(EVIL, runs.values(), strict=True))
    chosen = None if baseline is None else EVIL[baseline]
    comparison = dh.compare(qrels, runs, ["RR", "MR"], n_resamples=99, baseline=chosen)
    for report in (report_compact(comparison, qrels="<i>\x1b$q$"), report_comparison(comparison, qrels="<i>\x1b$q$")):
        text = as_text(report, width=300).plain
        markdown, latex = as_markdown(report), as_latex(report)
        assert not any(RAW.search(one) for one in (text, markdown, latex))
        assert not re.search(r"(?<!\\)(?:\\\\)*[<`~$]", markdown)
        assert "\\input{/etc" not in re.sub(r"(?m)^%.*$", "", latex)
        before = latex.partition(r"\begin{tab")[0].splitlines()
        assert all(line.startswith(("% ", r"\par\medskip", r"{\small", r"\resizebox")) for line in before)


def test_python_gives_it_in_each_format() -> None:
    qrels, runs = random_runs()
    comparison = dh.compare(qrels, runs, ["MAP", "nDCG@10"], baseline="fair", correction="holm")
    best = comparison.evaluations["good"]["MAP"].mean
    assert rf"\textbf{{{best:.2f}}} & \textsuperscript{{\dag{{}}}}" in comparison.to_latex(compact=True, digits=2)
    assert f"| **{best:.4f}** † |" in comparison.to_markdown(compact=True)
    html = comparison.to_html(compact=True)
    assert f'<strong>{best:.4f}</strong><span class="marks" style="width:1ch">†</span>' in html
    assert "† significantly better" in html
    assert '<div class="summary">' in html
    assert f"<dt>MAP</dt>\n<dd>good {best:.4f}, first of 3; baseline fair " in html
    assert html.count("<table>") == comparison.to_html().count("<table>") == 1
    assert comparison.to_html(compact=False).count("<table>") > 2
    said = json.loads(as_json(report_compact(comparison, qrels="q")))["verdict"]
    assert (said["measure"], said["asked"]) == ("AP", "MAP")
    assert said["facts"]["MAP"].startswith("good ")
    assert said["text"].splitlines()[0] == said["headline"]


@pytest.mark.slow
def test_several_baselines_say_which_differences_were_tested() -> None:
    (table,) = report_compact(compared(baseline=["weak", "fair"]), qrels="q").tables
    assert "Only differences from weak" in table.caption
    (table,) = report_compact(compared(), qrels="q").tables
    assert "Only differences" not in table.caption


@pytest.mark.parametrize(("baseline", "n_queries"), [(None, 40), ("system-0", 40), (None, 4), ("system-0", 4)])
def test_decimals_of_a_measure_are_below_each_other(baseline: str | None, n_queries: int) -> None:
    """Bold numbers have asterisks around them, and some have marks; of four queries none has."""
    qrels, runs = many(4, n_queries)
    found = report_compact(dh.compare(qrels, runs, "nDCG@10", baseline=baseline, n_resamples=500), qrels="q")
    rows = [line for line in as_text(found).plain.splitlines() if re.search(r"system-\d.*   .*\d\.\d{4}", line)]
    assert len(rows) == 4
    assert any("**" in line for line in rows)
    assert len({line.index(".") for line in rows}) == 1


@pytest.mark.parametrize(("n_rows", "environment"), [(45, "tabular"), (46, "longtable")])
def test_a_table_that_is_longer_than_a_page_is_a_longtable(n_rows: int, environment: str) -> None:
    rows = [{"system": f"s{n}", "mean": 0.5} for n in range(n_rows)]
    table = tabulate("systems", [SYSTEM], [Column("mean", "mean")], rows)
    latex = as_latex(Report((table,)))
    assert rf"\begin{{{environment}}}{{lr}}" in latex
    assert latex.endswith(rf"\end{{{environment}}}")
    assert ("longtable}" in latex.splitlines()[0]) == (r"\endhead" in latex) == (environment == "longtable")
    captioned = as_latex(Report((replace(table, caption="Means."),)))
    assert r"\begin{tabular}" in captioned


def test_a_table_that_is_wider_than_a_page_is_scaled_without_what_can_be_spared() -> None:
    comparison = dh.compare(*many(4, 20, "a-system-with-a-name-{}"), "nDCG@10", n_resamples=200)
    latex = as_latex(report_comparison(comparison, qrels="q"))
    assert "graphicx" in latex.splitlines()[0]
    (comment,) = [line for line in latex.splitlines() if line.startswith("% too wide for a page")]
    assert ": effect, std," in comment
    (differences,) = [line for line in latex.splitlines() if line.startswith("baseline &")]
    assert "p adj" in differences
    assert "effect" not in differences


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("name", ["{}", "a-system-{}", "msmarco-passage-dev-cross-encoder-{}"])
def test_the_full_report_is_set_within_its_lines(name: str, tmp_path: Path) -> None:
    comparison = dh.compare(*many(4, 20, name), MEASURES, n_resamples=200)
    latex = as_latex(report_comparison(comparison, qrels="q"))
    (tmp_path / "table.tex").write_text(latex, encoding="utf-8")
    packages = latex.splitlines()[0].removeprefix("% needs ")
    page = ["\\documentclass{article}", packages, "\\begin{document}", "\\input{table}", "\\end{document}", ""]
    (tmp_path / "page.tex").write_text("\n".join(page))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert "Overfull" not in (tmp_path / "page.log").read_text(encoding="utf-8", errors="replace")


@pytest.mark.slow
@needs_latex
def test_a_long_table_is_set_on_several_pages(tmp_path: Path) -> None:
    rows = [{"system": f"s{n}", "mean": 0.5} for n in range(175)]
    latex = as_latex(Report((tabulate("systems", [SYSTEM], [Column("mean", "mean")], rows, title="Systems"),)))
    (tmp_path / "table.tex").write_text(latex, encoding="utf-8")
    packages = "\\usepackage{booktabs,textcomp,longtable}"
    page = ["\\documentclass{article}", packages, "\\begin{document}", "\\input{table}", "\\end{document}", ""]
    (tmp_path / "page.tex").write_text("\n".join(page))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    log = (tmp_path / "page.log").read_text(encoding="utf-8", errors="replace")
    assert re.search(r"Output written on page.pdf \([4-9] pages", log)
    assert "Overfull" not in log


@pytest.mark.parametrize(("names", "correction"), [(["weak", "good"], "Holm"), (["weak", "fair", "good"], "max-t")])
def test_the_caption_names_the_correction_of_the_strata(names: list[str], correction: str) -> None:
    qrels, runs = random_runs(12)
    runs = {name: runs[name] for name in names}
    queries = pl.DataFrame({"query_id": list(qrels), "level": ["easy", "hard"] * 6})
    found = dh.compare(qrels, runs, "AP")
    report = report_compact(found, qrels="qrels", columns=["level"], strata=found.by("level", queries))
    (table,) = report.tables
    assert f"corrected by {correction} " in table.caption
    assert "over all strata" in table.caption
