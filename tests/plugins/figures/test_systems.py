"""Figures of systems show the numbers of the objects that they are drawn of."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import Comparison, figures
from deadheat.errors import FigureError, ParameterError, SourceTypeError, UnknownMeasureError
from support.figure_data import notes_of, row_of, rows_of, title_of
from support.numbers_in_text import numbers_in
from support.random_runs import QRELS, RUNS

MEASURES = ["nDCG@3", "RR", "MR"]


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return dh.compare(QRELS, RUNS, MEASURES, n_resamples=999)


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_a_forest_has_means_intervals_tie_ranges_and_the_value_of_trec_eval(compared: Comparison, measure: str) -> None:
    chart = figures.forest(compared, measure)
    by_rule = {name: dh.evaluate(QRELS, run, measure, ties="doc_id")[measure].mean for name, run in RUNS.items()}
    assert len(rows_of(chart)) == len(RUNS)
    for name, evaluation in compared.evaluations.items():
        row, scores = row_of(chart, system=name), evaluation[measure]
        interval = compared.intervals[name, measure]
        assert (row["mean"], row["low"], row["high"]) == (scores.mean, interval.low, interval.high)
        assert (row["tie_min"], row["tie_max"]) == (scores.mean_tie_min, scores.mean_tie_max)
        assert row["n_queries"] == scores.n_queries
        assert row["by_doc_id"] == by_rule[name]


@pytest.mark.slow
@pytest.mark.parametrize("measure", MEASURES)
def test_the_best_system_is_first_and_in_the_title(compared: Comparison, measure: str) -> None:
    chart = figures.forest(compared, measure)
    means = [row["mean"] for row in rows_of(chart)]
    higher = compared[measure][0].measure != "MR"
    assert means == sorted(means, reverse=higher)
    best = max(RUNS, key=lambda name: compared.evaluations[name][measure].mean * (1 if higher else -1))
    assert title_of(chart).startswith(f"{best} has the {'highest' if higher else 'lowest'} {measure}")
    assert "30 queries" in title_of(chart)


@pytest.mark.slow
def test_a_forest_of_evaluations_has_the_intervals_that_they_report(compared: Comparison) -> None:
    chart = figures.forest(compared.evaluations, "RR", options={"n_resamples": 500, "rng": 3})
    for name, evaluation in compared.evaluations.items():
        row, own = row_of(chart, system=name), evaluation.intervals(n_resamples=500, rng=3)["RR"]
        assert (row["low"], row["high"]) == (own.low, own.high)
        assert row["by_doc_id"] is None
    beside = {name: dh.evaluate(QRELS, run, "RR", ties="doc_id") for name, run in RUNS.items()}
    ticks = figures.forest(compared.evaluations, "RR", beside=beside, options={"n_resamples": 500})
    assert {row["system"]: row["by_doc_id"] for row in rows_of(ticks)} == {
        name: one["RR"].mean for name, one in beside.items()
    }


def reversals(qrels: dict[str, dict[str, int]], runs: dict[str, dict[str, dict[str, float]]]) -> str:
    return title_of(figures.forest(dh.compare(qrels, runs, "RR", n_resamples=99)))


@pytest.mark.slow
def test_the_title_says_whether_tie_order_alone_decides_the_lead() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(6)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    tied = {query: {"a": 1.0, "b": 1.0} for query in qrels}
    bad = {query: {"a": 1.0, "b": 3.0, "c": 2.0} for query in qrels}
    safe = "no order of ties puts another system ahead"
    for runs in ({"good": good, "bad": bad}, {"tied": tied, "bad": bad}):
        assert reversals(qrels, runs).endswith(safe)
    shared = reversals(qrels, {"one": good, "other": good})
    assert shared.startswith("one and 1 other ")
    assert numbers_in(shared)[:2] == [1, 1.0]
    worse = {query: {"a": 1.0, "b": 1.0} | ({"c": 2.0} if query == "q0" else {}) for query in qrels}
    assert reversals(qrels, {"tied": tied, "worse": worse}).endswith(" can put worse first")
    both = {"tied": tied, "worse": worse, "worst": worse}
    assert reversals(qrels, both).endswith(" can put any of 2 others first")
    half = {query: {"a": 9.0} if query < "q3" else {"b": 3.0, "c": 2.0, "a": 1.0} for query in qrels}
    never = {query: {"a": 9.0} if query == "q0" else {"c": 2.0, "a": 1.0, "b": 1.0} for query in qrels}
    said = reversals(qrels, {"tied": tied, "half": half, "never": never})  # 0.5 to 1; 0.6667; at most 0.5833
    assert said.endswith(" can put half first")
    alone = title_of(figures.forest(dh.evaluate(qrels, {"q0": {"a": 1.0, "b": 1.0}}, "RR", missing="skip")))
    assert numbers_in(alone)[-2:] == [0.5, 1.0]
    assert "tie order alone moves" in alone


@pytest.mark.slow
def test_cutoffs_are_those_measures_evaluated_one_by_one(compared: Comparison) -> None:
    chart = figures.cutoffs(compared, "P", at=[1, 2, 4])
    for name, run in RUNS.items():
        for cutoff in (1, 2, 4):
            scores = dh.evaluate(QRELS, run, f"P@{cutoff}")[f"P@{cutoff}"]
            row = row_of(chart, system=name, cutoff=cutoff)
            assert row["mean"] == scores.mean
            assert (row["tie_min"], row["tie_max"]) == (scores.mean_tie_min, scores.mean_tie_max)
            interval = scores.interval(n_resamples=999)
            assert (row["low"], row["high"]) == (interval.low, interval.high)


def test_cutoffs_against_a_system_are_differences_of_means(compared: Comparison) -> None:
    chart = figures.cutoffs(compared, "P", at=[1, 3], against="weak")
    shown = {(row["system"], row["cutoff"]): row["difference"] for row in rows_of(chart)}
    means = {
        (name, cutoff): dh.evaluate(QRELS, run, f"P@{cutoff}")[f"P@{cutoff}"].mean
        for name, run in RUNS.items()
        for cutoff in (1, 3)
    }
    apart = {key: mean - means["weak", key[1]] for key, mean in means.items() if key[0] != "weak"}
    assert shown == pytest.approx(apart, abs=1e-12)
    with pytest.raises(ParameterError, match="against"):
        figures.cutoffs(compared, "P", against="nobody")
    with pytest.raises(FigureError, match="one system alone"):
        figures.cutoffs(compared.evaluations["weak"], "P", against="weak")


def test_cutoffs_are_exact_means_whatever_the_policy() -> None:
    expected, worst = (dh.evaluate(QRELS, RUNS["weak"], "RR", ties=ties) for ties in ("expected", "worst"))
    one, other = (rows_of(figures.cutoffs(ev, "R", at=[1, 3], options={"n_resamples": 99})) for ev in (expected, worst))
    assert [row["mean"] for row in one] == [row["mean"] for row in other]


def test_curves_count_queries_by_their_weights() -> None:
    ev = dh.evaluate(QRELS, RUNS["weak"], ["P@2", "IPrec@0.5"])
    weights = {query: float(n % 4) for n, query in enumerate(ev.query_ids.tolist())}
    by_hand = {
        name: sum(weights[query] * value for query, value in zip(ev.query_ids, ev[name].values, strict=True))
        / sum(weights.values())
        for name in ("P@2", "IPrec@0.5")
    }
    cutoffs = row_of(figures.cutoffs(ev.weighted(weights), "P", at=[2]), cutoff=2)
    assert cutoffs["mean"] == pytest.approx(by_hand["P@2"], abs=1e-12)
    precision = row_of(figures.precision_recall(ev.weighted(weights)), recall=0.5)
    assert precision["mean"] == pytest.approx(by_hand["IPrec@0.5"], abs=1e-12)
    totals = figures.cutoffs(dh.evaluate(QRELS, RUNS["weak"], "RR").weighted(weights), "NumRelRet", at=[2])
    assert row_of(totals, cutoff=2)["n_queries"] == len(weights)


def test_curves_are_not_drawn_where_placements_are_not_all_there_is() -> None:
    repeated = dh.evaluate(QRELS, dh.Repeats(list(RUNS.values())[:2]), "RR")
    for draw in (figures.cutoffs, figures.precision_recall):
        with pytest.raises(FigureError, match="repeats"):
            draw(repeated)


def test_a_measure_without_a_cutoff_has_no_curve(compared: Comparison) -> None:
    with pytest.raises(FigureError, match="bpref has no cutoff"):
        figures.cutoffs(compared, "bpref")


def test_precision_against_recall_is_interpolated_precision() -> None:
    evaluation = dh.evaluate(QRELS, RUNS["weak"], "RR")
    chart = figures.precision_recall(evaluation, options={"n_resamples": 99})
    found = dh.evaluate(QRELS, RUNS["weak"], [f"IPrec@{n / 10:g}" for n in range(11)])
    assert [row["mean"] for row in rows_of(chart)] == list(found.means().values())


def test_precision_that_takes_long_is_not_drawn_unless_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deadheat.plugins.more_measures.figures.MOST_STEPS", 10)
    evaluation = dh.evaluate(QRELS, RUNS["weak"], "RR")
    with pytest.raises(FigureError, match="takes about"):
        figures.precision_recall(evaluation)
    assert rows_of(figures.precision_recall(evaluation, options={"n_resamples": 99}, even_if_slow=True))


@pytest.mark.slow
def test_strata_have_the_numbers_of_their_summary(compared: Comparison) -> None:
    levels = pl.DataFrame({"query_id": sorted(QRELS), "level": ["hard", "easy", "medium"] * 10})
    of_each = {name: one.by("level", levels) for name, one in compared.evaluations.items()}
    chart = figures.strata(of_each, "RR", options={"n_resamples": 999})
    for name, strata in of_each.items():
        for own in strata.summary(n_resamples=999).filter(measure="RR").to_dicts():
            row = row_of(chart, system=name, stratum=own["level"])
            keys = ("n_queries", "mean", "low", "high", "tie_min", "tie_max")
            assert [row[key] for key in keys] == [own[key] for key in keys]
    drawn = [row["stratum"] for row in rows_of(chart) if row["system"] == "good"]
    assert drawn == ["easy", "medium", "hard"]
    assert title_of(chart).startswith("good by level: RR is best ")


def test_systems_of_one_name_in_a_list_are_all_drawn() -> None:
    levels = pl.DataFrame({"query_id": sorted(QRELS), "level": ["hard", "easy"] * 15})
    both = [dh.evaluate(QRELS, dh.Run(RUNS[name], name="run"), "RR") for name in ("weak", "good")]
    for chart in (
        figures.strata([one.by("level", levels) for one in both], options={"n_resamples": 99}),
        figures.forest(both, options={"n_resamples": 99}),
    ):
        assert {row["system"] for row in rows_of(chart)} == {"run (1)", "run (2)"}


def test_names_that_are_one_as_text_are_refused(compared: Comparison) -> None:
    one, other = compared.evaluations["good"], compared.evaluations["weak"]
    level = pl.DataFrame({"query_id": sorted(QRELS), "level": ["hard", "easy"] * 15})
    profile = dh.tie_profile(RUNS["good"], QRELS, measures="RR")
    given: list[tuple[Any, Any, Any]] = [
        (figures.forest, one, other),
        (figures.strata, one.by("level", level), other.by("level", level)),
        (figures.tie_ratio, profile, profile),
    ]
    for draw, first, second in given:
        with pytest.raises(ParameterError, match="two runs are named '1'"):
            draw({1: first, "1": second})


def test_the_note_of_cutoffs_names_every_method_of_intervals(compared: Comparison) -> None:
    chart = figures.cutoffs(compared.evaluations["good"], "P", at=[1, 3])
    assert "Clopper-Pearson, Gaffke's" in notes_of(chart)


def test_ranks_are_drawn_as_they_are_given(compared: Comparison) -> None:
    frame = pl.DataFrame(
        {
            "measure": ["RR", "RR", "RR", "nDCG@3"],
            "system": ["weak", "good", "fair", "weak"],
            "rank": [3.0, 1.0, 2.0, 1.0],
            "low": [2, 1, 1, 1],
            "high": [3, 2, 3, 1],
            "p_best": [0.0, 0.9, 0.1, 1.0],
        }
    )
    chart = figures.ranks(compared, "RR", intervals=frame)
    assert [row["system"] for row in rows_of(chart)] == ["good", "fair", "weak"]
    for row in rows_of(chart):
        assert row.items() >= frame.filter(system=row["system"], measure="RR").row(0, named=True).items()
    assert title_of(chart).startswith("good ranks 1 to 2 of 3 by RR")
    assert numbers_in(title_of(chart)) == [1, 2, 3, 0.9, 30]
    with pytest.raises(FigureError, match="no system has a rank by MR"):
        figures.ranks(compared, "MR", intervals=frame)


@pytest.mark.slow
def test_traditional_is_the_rule_beside_the_exact_means(compared: Comparison) -> None:
    for systems, beside in (
        (compared, None),
        (compared.evaluations, {name: dh.evaluate(QRELS, run, "RR", ties="doc_id") for name, run in RUNS.items()}),
    ):
        chart = figures.traditional(systems, "RR", beside=beside)
        for name, run in RUNS.items():
            row = row_of(chart, system=name, kind="by document id, as trec_eval")
            assert row["value"] == row["traditional"] == dh.evaluate(QRELS, run, "RR", ties="doc_id").means()["RR"]
            exact = row_of(chart, system=name, kind="exact")["value"]
            assert exact == pytest.approx(dh.evaluate(QRELS, run, "RR").means()["RR"], abs=1e-15)
    with pytest.raises(FigureError, match="by document id, as trec_eval, are not known"):
        figures.traditional(compared.evaluations, "RR")


def test_equal_systems_are_in_the_order_given_as_in_the_report() -> None:
    found = dh.compare(QRELS, {"z": RUNS["good"], "a": RUNS["good"], "weak": RUNS["weak"]}, "RR", n_resamples=99)
    assert [row["system"] for row in rows_of(figures.forest(found))] == ["z", "a", "weak"]
    assert "z and a" in str(found.judge())


def test_a_rule_that_leaves_equal_means_equal_changes_no_order() -> None:
    rows = [("a", 0.1, 0.15), ("a", 0.2, 0.15), ("b", 0.15, 0.15), ("b", 0.15, 0.15), ("c", 0.3, 0.9), ("c", 0.4, 0.9)]
    table = pl.DataFrame(
        [
            {"run": run, "query_id": f"q{n % 2}", "exact": own, "traditional": by}
            for n, (run, own, by) in enumerate(rows)
        ]
    ).with_columns(pl.lit("RR").alias("measure"), pl.lit("doc_id").alias("rule"), tie_ratio=0.5, largest_tie=2)
    table = table.with_columns(difference=pl.col("traditional") - pl.col("exact"))
    assert "another order" not in title_of(figures.traditional(table))


@pytest.mark.slow
def test_more_systems_than_there_is_room_for_are_said_to_be_left_out() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(6)}
    rng = np.random.default_rng(4)
    runs = {f"s{n}": {q: {"a": float(rng.integers(3)), "b": 1.0} for q in qrels} for n in range(1000)}
    evaluations = {name: dh.evaluate(qrels, run, "RR") for name, run in runs.items()}
    chart = figures.forest(evaluations, options={"method": "t"})
    assert len(rows_of(chart)) == 60
    assert "The best 60 of 1,000 systems." in notes_of(chart)
    curves = figures.cutoffs(evaluations, "R", at=[1, 2], options={"method": "t"})
    assert len({row["system"] for row in rows_of(curves)}) == 8
    assert "The best 8 of 1,000 systems." in notes_of(curves)


def test_one_query_has_no_interval_and_the_figure_says_so() -> None:
    chart = figures.forest(dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, "MR"))
    assert row_of(chart)["low"] is None
    assert "No interval: only 1 query." in notes_of(chart)
    assert "line:" not in notes_of(chart)


def test_without_ties_there_is_no_band() -> None:
    chart = figures.forest(dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 2}}, "RR"))
    assert "band" not in notes_of(chart)
    assert title_of(chart).endswith("no order of ties changes it")


def test_no_relevant_document_that_counts_has_no_figure() -> None:
    evaluation = dh.evaluate({"q": {"a": 0}}, {"q": {"a": 1, "b": 1}}, ["RR", "nDCG@10"], no_relevant="skip")
    for draw in (figures.forest, figures.cutoffs):
        with pytest.raises(FigureError, match="no system has a value"):
            draw(evaluation)
    strata = evaluation.by("level", pl.DataFrame({"query_id": ["q"], "level": ["easy"]}))
    with pytest.raises(FigureError, match="no stratum has a value"):
        figures.strata(strata)


@pytest.mark.slow
def test_a_measure_without_an_upper_end_is_drawn() -> None:
    evaluation = dh.evaluate(QRELS, RUNS, ["MR", "NumRel", "GMAP"])
    for measure in ("MR", "NumRel", "GMAP"):
        assert len(rows_of(figures.forest(evaluation, measure, options={"n_resamples": 99}))) == len(RUNS)


def test_what_cannot_be_a_system_is_refused() -> None:
    for wrong in ({}, [], ["runs"], {"a": 1}, "run.txt"):
        with pytest.raises(SourceTypeError):
            figures.forest(wrong)  # type: ignore[arg-type]
        with pytest.raises(SourceTypeError):
            figures.plot_of(wrong)
    evaluation = dh.evaluate(QRELS, RUNS["weak"], "RR")
    with pytest.raises(UnknownMeasureError):
        figures.forest(evaluation, "P@5")
    with pytest.raises(ParameterError, match="Did you mean 'forest'"):
        figures.plot_of(evaluation, "forrest")
    assert rows_of(figures.plot_of(evaluation, "forest", measure="MRR"))[0]["measure"] == "RR"
    assert figures.plot_of(evaluation).to_dict() == figures.forest(evaluation).to_dict()
