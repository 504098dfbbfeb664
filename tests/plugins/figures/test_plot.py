"""Objects draw themselves with .plot()."""

from __future__ import annotations

import gc
import weakref

import polars as pl
import pytest

import deadheat as dh
from deadheat import figures
from deadheat.errors import ParameterError
from support.demo import DEMO
from support.figure_data import rows_of
from support.random_runs import QRELS, RUNS


@pytest.mark.slow
def test_objects_draw_what_the_functions_draw() -> None:
    compared = dh.compare(QRELS, RUNS, ["MRR", "nDCG@3"], n_resamples=99)
    evaluation = compared.evaluations["weak"]
    levels = pl.DataFrame({"query_id": sorted(QRELS), "level": ["hard", "easy", "medium"] * 10})
    strata = evaluation.by("level", levels)
    profile = dh.tie_profile(RUNS["weak"], QRELS, measures=["RR"])
    for shown, chart in (
        (evaluation.plot(), figures.forest(evaluation)),
        (compared.plot("matrix", measure="nDCG@3"), figures.matrix(compared, "nDCG@3")),
        (compared.plot("differences", system="weak"), figures.differences(compared, system="weak")),
        (strata.plot(), figures.strata(strata)),
        (profile.plot("tie_histogram"), figures.tie_histogram(profile)),
    ):
        assert shown.to_dict() == chart.to_dict()


@pytest.mark.slow
def test_measures_go_by_the_names_that_they_were_asked_for() -> None:
    compared = dh.compare(QRELS, RUNS, ["MRR"], n_resamples=99)
    chart = compared.plot("forest", measure="RR")
    assert rows_of(chart)[0]["measure"] == "MRR"
    names = {one.name for one in figures.drawings(compared, ["MRR"])}
    assert {"forest-MRR", "matrix-MRR", "power-MRR", "ranks-MRR"} <= names
    assert all(one.chart is not None for one in figures.drawings(compared, ["MRR"]))


@pytest.mark.slow
def test_ranks_are_those_of_the_comparison() -> None:
    compared = dh.compare(QRELS, RUNS, ["RR", "MR"], n_resamples=99)
    found = compared.rank_intervals()
    for measure in ("RR", "MR"):
        rows = rows_of(compared.plot("ranks", measure=measure))
        assert len(rows) == len(RUNS)
        for row in rows:
            own = found.filter(measure=measure, system=row["system"]).row(0, named=True)
            assert row.items() >= own.items()
    weak = weakref.ref(compared)
    del compared
    gc.collect()
    assert weak() is None  # a figure keeps no comparison


def test_ties_of_profiles_are_their_tables() -> None:
    profiles = {name: dh.tie_profile(run, QRELS, measures=["RR", "Hit@3"]) for name, run in RUNS.items()}
    rows = rows_of(figures.tie_ratio(profiles, "RR"))
    assert sum(row["n_queries"] for row in rows) == 3 * len(QRELS)
    one = profiles["weak"]
    r = one.stability[0].with_tie_ratio.value
    assert r is not None
    assert f"r = {r:.2f} with the tie ratio" in " ".join(one.plot("tie_ratio").to_dict()["title"]["text"])
    found = one.stability[0].with_largest_tie.value
    assert found is not None
    assert f"r = {found:.2f}" in " ".join(one.plot("largest_tie").to_dict()["title"]["text"])


@pytest.mark.slow
def test_a_bench_draws_one_set_in_one_language() -> None:
    result = dh.bench(DEMO / "phrases.csv", DEMO / "documents.csv", ["bm25", "bm25(k1=1.9)", "string"], n_resamples=200)
    keys = list(result.parts)
    if len(keys) > 1:
        with pytest.raises(ParameterError, match="a figure is of one set of cases: in one language"):
            result.plot()
    cases, language = keys[0]
    chart = result.plot("matrix", cases=cases, language=language, measure="RR")
    pairs = result.comparisons[keys[0]]["RR"]
    assert {abs(row["difference"]) for row in rows_of(chart)} == {abs(pair.difference) for pair in pairs}
    with pytest.raises(ParameterError, match="0 of them"):
        result.plot(cases="none")
