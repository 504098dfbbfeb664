"""What the report of a comparison shows: which rows, in which order, on which scale, and what it says beside them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import takewhile

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat.core.design import Design
from deadheat.core.report.as_data import as_json
from deadheat.core.report.cells import Bar
from deadheat.core.report.model import Row
from deadheat.core.report.text import as_text
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.report import report_comparison
from deadheat.plugins.compare.report_compact import report_compact
from deadheat.plugins.compare.report_tables import report_with_requests
from deadheat.plugins.compare.report_tests import tell_tests
from support.numbers_in_text import numbers_in
from support.report_facts import facts_by_heading

QUERIES = [f"q{number:02}" for number in range(12)]
QRELS = {query: {"a": 1} for query in QUERIES}
TABLE = pl.DataFrame({"query_id": QUERIES, "half": ["early"] * 6 + ["late"] * 6})
Run = dict[str, dict[str, float]]


def run(*ranks: float, without: str = "") -> Run:
    """Return a run that has the relevant document at these ranks, in turn."""
    found = {
        query: {"a": -ranks[n % len(ranks)], **{f"x{m}": -m - 0.5 for m in range(1, 9)}}
        for n, query in enumerate(QUERIES)
    }
    return {
        query: {doc: float(score) for doc, score in docs.items()} for query, docs in found.items() if query != without
    }


def halves(early: Run, late: Run) -> Run:
    """Return one run for the early queries, another for the late ones."""
    return {query: (early if query < "q06" else late)[query] for query in QUERIES}


def compared(runs: dict[str, Run], measures: str | list[str] = "RR", **options: object) -> dh.Comparison:
    return dh.compare(QRELS, runs, measures, n_resamples=200, **{"missing": "empty", **options})  # type: ignore[arg-type]


def text_of(comparison: dh.Comparison, column: str = "") -> str:
    strata = comparison.by(column, TABLE) if column else None
    return as_text(
        report_comparison(comparison, qrels="q", columns=[column] * bool(column), strata=strata), width=150
    ).plain


def rows_below(text: str, title: str) -> list[list[str]]:
    """Return the words of the lines from a title to the next empty line, but for the ruler."""
    lines = text[text.index(title) :].splitlines()[1:]
    return [line.split() for line in takewhile(bool, lines) if not line.startswith("─")]


def facts_of(comparison: dh.Comparison, column: str = "") -> dict[str, str]:
    strata = comparison.by(column, TABLE) if column else None
    report = report_comparison(comparison, qrels="q", columns=[column] * bool(column), strata=strata)
    return facts_by_heading(report)


def test_pairs_may_share_fewer_queries_than_either_system_has() -> None:
    comparison = compared({"one": run(1, 2, without="q01"), "two": run(2, 3, without="q02")}, missing="skip")
    text = text_of(comparison)
    means, differences = rows_below(text, "RR: means"), rows_below(text, "RR: differences, system - baseline")
    assert [row[:2] for row in means] == [["system", "queries"], ["one", "11"], ["two", "11"]]
    assert [row[:3] for row in differences] == [["baseline", "system", "queries"], ["one", "two", "10"]]
    assert facts_of(comparison)["queries"].startswith("10, by pair in q")


def test_numbers_of_queries_have_no_column_where_all_are_the_same() -> None:
    comparison = compared({"one": run(1, 2), "two": run(2, 3)})
    text = text_of(comparison)
    assert [row[1] for row in rows_below(text, "RR: means")] == ["mean", f"{3 / 4:.4f}", f"{5 / 12:.4f}"]
    assert rows_below(text, "RR: differences")[1][2] == f"{5 / 12 - 3 / 4:.4f}"
    assert facts_of(comparison)["queries"] == "12 in q"


def test_the_main_column_of_differences_is_the_difference() -> None:
    for runs, options in (
        ({"one": run(1, 2), "two": run(2)}, {}),
        ({"one": run(1), "two": run(2, without="q02")}, {"missing": "skip"}),
    ):
        report = report_comparison(compared(runs, **options), qrels="q")
        for table in report.tables[:2]:
            shown = table.for_people()
            assert shown.columns[shown.main].key in {"mean", "difference"}


def test_bars_of_all_strata_are_on_one_scale() -> None:
    comparison = compared({"one": run(1, 2), "two": halves(run(2, 3), run(4, 5, 6))})
    strata = comparison.by("half", TABLE)
    report = report_comparison(comparison, qrels="q", columns=["half"], strata=strata)
    for table, spans in (
        (report.tables[0], [one for part in strata.values() for one in part.intervals.values()]),
        (report.tables[1], [pair for part in strata.values() for pair in part.pairs]),
    ):
        drawn = [cell for row in table.rows for cell in row.cells[0] if isinstance(cell, Bar)]
        assert len(drawn) == len(spans)
        start, end = min(one.low for one in spans), max(one.high for one in spans)
        assert {(bar.start, bar.end) for bar in drawn} == {(start, end)}


@pytest.mark.parametrize(("measure", "order"), [("RR", ["good", "fair", "poor"]), ("MR", ["good", "fair", "poor"])])
def test_the_best_system_comes_first(measure: str, order: list[str]) -> None:
    comparison = compared({"fair": run(2, 3), "poor": run(3, 4), "good": run(1, 2)}, measure)
    text = text_of(comparison)
    assert [row[0] for row in rows_below(text, f"{measure}: means")[1:]] == order
    data = report_comparison(comparison, qrels="q", for_people=False).tables[1]
    assert [row.labels[0] for row in data.rows] == order


def test_a_system_without_a_mean_comes_last() -> None:
    late = {query: docs for query, docs in run(1).items() if query >= "q06"}
    strata = compared({"late": late, "some": run(2, 3), "more": run(1, 2)}, "FRP").by("half", TABLE)
    assert math.isnan(strata["early"].evaluations["late"]["FRP"].mean)
    means = report_comparison(strata["early"], qrels="q", columns=["half"], strata=strata).tables[0]
    assert [row.labels[1] for row in means.rows] == ["more", "some", "late", "late", "more", "some"]


def test_the_best_system_of_each_stratum_comes_first_there() -> None:
    strata = compared({"steady": run(2, 3), "early": halves(run(1), run(4))}).by("half", TABLE)
    means = report_comparison(strata["early"], qrels="q", columns=["half"], strata=strata).tables[0]
    assert [row.labels for row in means.rows] == [
        ("early", "early"),
        ("early", "steady"),
        ("late", "steady"),
        ("late", "early"),
    ]


def test_what_a_run_lacks_is_named() -> None:
    runs = {"one": run(1, 2, without="q01"), "two": {**run(2, 3), "q50": {"a": 1.0}}}
    facts = facts_of(compared(runs, ["RR", "FRP"]))
    assert facts["missing queries"].startswith("one: 1 (q01), counted ")
    assert facts["left out"].startswith("FRP of one: ")
    assert facts["unjudged queries"].startswith("two: 1 (q50), left out")
    facts = facts_of(compared(runs, missing="skip"))
    assert facts["missing queries"] == "one: 1 (q01), left out"


def test_what_was_skipped_on_demand_is_not_missing() -> None:
    qrels = {**QRELS, "q02": {"a": 0}}
    runs = {"one": run(1, 2, without="q01"), "two": run(2, 3)}
    comparison = dh.compare(qrels, runs, "RR", no_relevant="skip", n_resamples=200, missing="empty")
    facts = facts_of(comparison)
    assert facts["missing queries"].startswith("one: 1 (q01), counted ")
    assert facts["nothing relevant"] == "1 query (q02), left out"
    comparison = dh.compare(qrels, runs, ["RR", "MR"], n_resamples=200, missing="empty")
    assert facts_of(comparison)["nothing relevant"].startswith("1 query (q02), count as ")


@pytest.mark.parametrize(
    ("test", "correction", "alone", "by_strata"),
    [
        ("tukey", None, "which accounts for all pairs", ", within each stratum only"),
        ("t", "holm", "corrected by Holm within a measure", ", over all strata"),
        ("t", "none", "not corrected", ""),
    ],
)
def test_what_p_values_account_for(test: str, correction: str | None, alone: str, by_strata: str) -> None:
    comparison = compared({"one": run(1, 2), "two": run(2, 3, 4)}, test=test, correction=correction)
    assert facts_of(comparison)["test"].endswith(f"; {alone}")
    assert facts_of(comparison, "half")["test"].endswith(f"; {alone}{by_strata}")


def test_pairs_that_trec_eval_ranks_the_other_way_are_named_with_their_stratum() -> None:
    comparison = compared({"one": run(1, 3), "two": halves(run(1.5), run(1))})  # at 1.5 two documents tie
    assert facts_of(comparison, "half")["by id"].endswith("1 pair: two / one (RR; early)")
    assert "by id" not in facts_of(compared({"one": run(1, 3), "two": run(1)}), "half")


def skewed(test: str = "randomization") -> dh.Comparison:
    """Compare two systems of which one is much better for one query of twelve, and a bit worse for all others."""
    ranks = [2.5] * 11 + [1]
    return compared({"one": run(1, *[2.5] * 11), "two": run(*ranks), "three": run(2.5)}, baseline="three", test=test)


def test_differences_too_skewed_for_so_few_queries_are_named() -> None:
    comparison = skewed()
    expected = scipy.stats.skew([*[0.0] * 11, 1 - 1 / 3], bias=False)
    assert [pair.skewness for pair in comparison.pairs] == pytest.approx([expected, expected])
    assert all(pair.doubtful for pair in comparison.pairs)
    assert "2 with a p value in doubt" in repr(comparison)
    said = facts_of(comparison)["skewed"]
    assert numbers_in(said)[:2] == [2, 2]
    assert f"(one / three (RR: {expected:+.1f}), two / three (RR: {expected:+.1f}))" in said
    assert said.endswith("use the test bootstrap-t")
    assert len(re.findall(r"\d\*?s", text_of(comparison))) == 2
    by_bootstrap = facts_of(skewed(test="bootstrap-t"))["skewed"]
    assert numbers_in(by_bootstrap)[:2] == [2, 2]
    assert "bootstrap-t" not in by_bootstrap
    assert "skewed" not in facts_of(skewed(test="sign"))


def test_brief_notes_name_up_to_three_differences_or_the_option_that_lists_them() -> None:
    def brief(comparison: dh.Comparison) -> dict[str, str]:
        return facts_by_heading(report_compact(comparison, qrels="q").in_brief())

    assert brief(skewed())["skewed"].endswith(": one / three (RR), two / three (RR)")
    two = {"one": run(1, *[2.5] * 11), "three": run(2.5)}
    assert brief(compared(two, ["RR", "MR"]))["skewed"].endswith(": RR, MR")
    assert brief(compared(two, ["RR", "RR@1", "RR@2", "RR@3"]))["skewed"].endswith("; --full marks them")
    tied = {"one": run(1, 3), "two": run(1.5), "three": run(2.5)}
    told = brief(compared(tied, ["RR", "RR@2"]))["reversed"]
    n_likely, *others = numbers_in(told)[:3]
    assert 1 <= n_likely <= 6
    assert others == [6, 0.05]
    assert ("--full lists them" in told) or (" / " in told)


def test_differences_that_are_not_skewed_need_no_note() -> None:
    comparison = compared({"one": run(1, 2), "two": run(2, 1)})
    assert comparison.pairs[0].skewness == pytest.approx(0)
    assert not comparison.pairs[0].doubtful
    assert "skewed" not in facts_of(comparison)
    assert "skew" not in repr(comparison)
    assert comparison.to_polars(details=True)["skewness", "doubtful"].rows() == [(pytest.approx(0), False)]


def test_wilcoxon_says_whether_it_is_exact() -> None:
    runs = {"one": run(1, 2), "two": run(2, 3, 1)}
    test = facts_of(compared(runs, test="wilcoxon"))["test"]
    assert test.startswith("Wilcoxon's signed-rank test, ")
    assert ", exact; " in test
    queries = [f"q{n}" for n in range(201)]
    qrels = {query: {"a": 1} for query in queries}
    many = {
        name: {query: {"a": 1.0, "b": score + 0.001 * n * sign} for n, query in enumerate(queries)}
        for name, score, sign in (("one", 0.5, 0), ("two", 2.0, 1))
    }
    comparison = dh.compare(qrels, many, "RR", test="wilcoxon", n_resamples=200)
    assert not comparison.pairs[0].exact_p_value
    test = facts_of(comparison)["test"]
    assert "normal distribution" in test
    assert " for 1 of 1 difference; " in test


def test_a_difference_of_0_that_ties_move_is_said() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    tied, alone = {"a": 1, "b": 1}, {"a": 1}
    moved = dh.compare(qrels, {"one": {"q1": tied, "q2": alone}, "two": {"q1": alone, "q2": tied}}, "RR")
    assert "1 difference of 0 either way" in facts_of(moved)["reversed"]
    assert "either way" in moved.to_markdown()
    still = dh.compare(qrels, {"one": {"q1": alone, "q2": alone}, "two": {"q1": alone, "q2": alone}}, "RR")
    assert "either way" not in still.to_markdown()


def without_bars(row: Row) -> tuple[object, ...]:
    """Return what a row says; bars are on the scale of the rows that are shown."""
    return row.labels, *(cell for cells in row.cells for cell in cells if not isinstance(cell, Bar))


def test_of_very_many_pairs_people_see_those_of_the_two_best(monkeypatch: pytest.MonkeyPatch) -> None:
    """All else is of all pairs: what is said below, and the tables for programs. With a baseline all are shown."""
    found = compared({f"s{n}": run(n + 1, n + 3, 1) for n in range(6)}, ["RR", "P@1"])
    whole = report_comparison(found, qrels="qrels")
    monkeypatch.setattr("deadheat.plugins.compare.report.MOST_PAIRS", 14)
    few = report_comparison(found, qrels="qrels")
    assert few.facts == whole.facts
    for n, measure in enumerate(("RR", "P@1")):
        (all_of, own) = ([one for one in report.tables if one.key == "pairs"][n] for report in (whole, few))
        best = sorted(found.systems, key=lambda name: -found.evaluations[name].means()[measure])[:2]
        shown = [row for row in all_of.rows if not {*best}.isdisjoint(row.labels)]
        assert [without_bars(row) for row in own.rows] == [without_bars(row) for row in shown]
        assert (len(all_of.rows), len(own.rows)) == (15, 9)
        assert own.title.startswith(f"{all_of.title} (the two best against all")
    for_programs = report_comparison(found, qrels="qrels", for_people=False)
    assert len(for_programs.tables[0].rows) == 30
    for_people, for_programs = (
        report_with_requests(found, qrels="qrels", margin=0.1, detect=0.2, queries_worst=1, for_people=one)
        for one in (True, False)
    )
    for key in ("equivalence", "sample_sizes"):
        own, every = (next(one for one in of.tables if one.key == key) for of in (for_people, for_programs))
        assert (len(own.rows), len(every.rows)) == (18, 30)
        assert "the two best against all" in own.title
        assert "the two best against all" not in every.title
        of_all = {row.labels: row.cells for row in every.rows}
        assert all(of_all[row.labels] == row.cells for row in own.rows)  # the tests are uncorrected
    deciding = [one for one in for_people.tables if one.key == "queries"]
    assert 0 < len(deciding) <= 18
    against = compared({f"s{n}": run(n + 1, n + 3, 1) for n in range(18)}, baseline="s0")
    assert len(next(one for one in report_comparison(against, qrels="qrels").tables if one.key == "pairs").rows) == 17


@pytest.mark.filterwarnings("ignore::deadheat.core.errors.NothingJudgedWarning")
def test_a_system_of_which_nothing_is_judged_is_named() -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}}
    good = {"q": {"a": 2.0, "z": 1.0}, "r": {"b": 2.0}}
    found = dh.compare(qrels, {"good": good, "foreign": {"q": {"x1": 1.0}, "r": {"x2": 1.0}}}, "RR")
    (warned,) = [fact for fact in report_comparison(found, qrels="qrels").facts if fact.heading == "WARNING"]
    assert " foreign retrieves is judged" in warned.text


@pytest.mark.parametrize("n_queries", [24, 25])
def test_with_few_queries_a_p_near_the_level_decides_nothing(n_queries: int) -> None:
    """In every format, whatever the differences look like; of tests that are of no mean it is not said."""
    is_said = n_queries < 25
    qrels = {f"q{n}": {"a": 1} for n in range(n_queries)}
    runs = {
        "one": {query: {"a": 2.0, "b": float(n % 4)} for n, query in enumerate(qrels)},
        "two": {query: {"a": 2.0, "b": float(n % 7)} for n, query in enumerate(qrels)},
    }
    found = dh.compare(qrels, runs, "RR", n_resamples=200)
    text = "with so few queries a p near 0.05 decides nothing"
    for shown in (str(found), found.to_markdown(), found.to_latex(), found.to_html()):
        assert (text in " ".join(shown.split())) == is_said
    assert json.loads(as_json(report_comparison(found, qrels="q", for_people=False)))["few_queries"] == int(is_said)
    signs = dh.compare(qrels, runs, "RR", test="sign")
    assert text not in " ".join(str(signs).split())
    clusters = {query: str(n // 2) for n, query in enumerate(qrels)}
    by_cluster = dh.compare(qrels, runs, "RR", cluster=clusters)
    assert numbers_in(facts_of(by_cluster)["few clusters"]) == [0.05]


@pytest.mark.slow
def test_what_few_skewed_differences_find_is_never_unmarked() -> None:
    """Of 300 sets of ten exponential differences with the mean 0 far more than 5% are found different."""
    rng = np.random.default_rng(10)
    pairs = [dh.paired_test(rng.exponential(1, 10) - 1, np.zeros(10)) for _ in range(300)]
    significant = [pair for pair in pairs if pair.p_value <= 0.05]
    assert len(significant) > 0.07 * len(pairs)
    assert sum(not pair.doubtful for pair in significant) > 0.2 * len(significant)
    facts = {fact.key: fact.value for fact in tell_tests(Design(), [""] * len(pairs), Pairs.of(pairs))}
    assert facts["few_queries"] == len(pairs)


def test_an_undecided_p_has_a_mark_that_is_explained() -> None:
    comparison = compared({"one": run(1, 3), "two": run(1.5), "three": run(2.5)})
    pairs = [replace(comparison.pairs[0], undecided=True, significant=False), *comparison.pairs[1:]]
    text = facts_of(replace(comparison, pairs=Pairs.of(pairs)))["undecided"]
    assert numbers_in(text)[:2] == [1, len(pairs)]
    assert "marked ? behind p" in text
