"""Figures of pairs of systems show the numbers of the comparison."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import deadheat as dh
from deadheat import Comparison, figures
from deadheat.core import stats
from deadheat.errors import FigureError, ParameterError
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.figures.style import GAIN, LOSS, UNDECIDED
from support.figure_data import notes_of, row_of, rows_of, title_of
from support.random_runs import QRELS, RUNS, random_runs, values

NOISE = 1e-12


@pytest.fixture(scope="module")
def compared() -> Comparison:
    return dh.compare(QRELS, RUNS, ["RR", "MR"], n_resamples=999)


@pytest.mark.slow
def test_differences_are_those_of_each_query_sorted(compared: Comparison) -> None:
    chart = figures.differences(compared, "RR", system="weak", baseline="good")
    own, other = (compared.evaluations[name]["RR"] for name in ("weak", "good"))
    expected = dict(zip(own.query_ids.tolist(), (own.values - other.values).tolist(), strict=True))
    assert {row["query_id"]: row["difference"] for row in rows_of(chart)} == expected
    assert [row["difference"] for row in rows_of(chart)] == sorted(expected.values(), reverse=True)
    for row in rows_of(chart):
        place = own.query_ids.tolist().index(row["query_id"])
        assert row["low"] == own.tie_min[place] - other.tie_max[place]
        assert row["high"] == own.tie_max[place] - other.tie_min[place]


@pytest.mark.parametrize(("system", "baseline"), [("fair", "weak"), ("weak", "fair")])
def test_the_title_counts_wins_as_the_comparison_does(compared: Comparison, system: str, baseline: str) -> None:
    for measure in ("RR", "MR"):
        (pair,) = (one for one in compared[measure] if {one.system, one.baseline} == {system, baseline})
        wins, losses = (pair.wins, pair.losses) if pair.system == system else (pair.losses, pair.wins)
        title = title_of(figures.differences(compared, measure, system=system, baseline=baseline))
        assert title.startswith(
            f"{system} is better than {baseline} on {wins} of {pair.n_queries} queries, worse on {losses};"
        )
        p = "p < 0.001" if pair.p_adjusted < 0.001 else f"p = {pair.p_adjusted:.3f}"
        difference = pair.difference if pair.system == system else -pair.difference
        assert title.endswith(f"mean difference {difference:+.3f} ({p})")


@pytest.mark.slow
def test_by_default_the_best_is_against_the_second_or_the_baseline(compared: Comparison) -> None:
    assert title_of(figures.differences(compared, "RR")).startswith("good is better than fair")
    against = dh.compare(QRELS, RUNS, "RR", baseline="weak", n_resamples=99)
    assert title_of(figures.differences(against)).startswith("good is better than weak")
    assert title_of(figures.differences(against, system="weak")).startswith("weak is better than good")
    with pytest.raises(FigureError, match="good and fair were not"):
        figures.differences(against, system="good", baseline="fair")
    with pytest.raises(ParameterError, match="Did you mean 'good'"):
        figures.differences(against, system="goood")


def test_a_one_sided_p_value_is_not_told_of_the_other_side() -> None:
    compared = dh.compare(QRELS, RUNS, "RR", baseline="weak", alternative="greater")
    assert title_of(figures.scatter(compared, system="good")).endswith("(p < 0.001)")
    assert title_of(figures.scatter(compared, system="weak", baseline="good")).endswith("(no p value)")


def test_a_title_has_the_difference_of_weighed_queries() -> None:
    weights = {query: 1.0 + 9 * (n % 3 == 0) for n, query in enumerate(QRELS)}
    compared = dh.compare(QRELS, {name: RUNS[name] for name in ("weak", "good")}, "RR", weights=weights, n_resamples=99)
    (pair,) = compared.pairs
    differences = values(QRELS, RUNS[pair.system], "RR") - values(QRELS, RUNS[pair.baseline], "RR")
    weighed = np.average(differences, weights=[weights[query] for query in sorted(QRELS)])
    assert abs(weighed - differences.mean()) > 0.005
    assert f"mean difference {weighed:+.3f} (" in title_of(figures.differences(compared))


@pytest.mark.slow
def test_bars_of_many_queries_are_means_of_neighbours() -> None:
    qrels, runs = random_runs(n_queries=1000, seed=1)
    compared = dh.compare(qrels, {name: runs[name] for name in ("weak", "good")}, "nDCG@5", n_resamples=99)
    chart = figures.differences(compared)
    rows = rows_of(chart)
    assert len(rows) <= 300
    assert sum(row["n_queries"] for row in rows) == 1000
    found = np.sort(values(qrels, runs["good"], "nDCG@5") - values(qrels, runs["weak"], "nDCG@5"))[::-1]
    start = 0
    for row in rows:
        own = found[start : (start := start + row["n_queries"])]
        assert row["difference"] == pytest.approx(own.mean(), abs=NOISE)
    assert len(figures.rendered(chart, "svg")) < 300_000


def test_queries_that_are_alike_in_every_order_are_left_out_and_counted() -> None:
    qrels = {f"q{n:03d}": {"a": 1} for n in range(100)}
    one = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    other = one | {f"q{n:03d}": {"a": 1.0, "b": 1.0} for n in range(10)}
    chart = figures.differences(dh.compare(qrels, {"one": one, "other": other}, "RR", n_resamples=99))
    assert len(rows_of(chart)) == 10
    assert re.search(r"\b90 queries .* left out\.", notes_of(chart))
    assert "on 10 of 100 queries" in title_of(chart)


@pytest.mark.slow
def test_scatter_has_values_and_ranges_of_both(compared: Comparison) -> None:
    chart = figures.scatter(compared, "MR", system="fair", baseline="weak")
    one, other = (compared.evaluations[name]["MR"] for name in ("fair", "weak"))
    n_open = 0
    for place, query in enumerate(one.query_ids.tolist()):
        row = row_of(chart, query_id=query)
        mine = one.values[place], one.tie_min[place], one.tie_max[place]
        its = other.values[place], other.tie_min[place], other.tie_max[place]
        assert (row["system"], row["system_min"], row["system_max"]) == mine
        assert (row["baseline"], row["baseline_min"], row["baseline_max"]) == its
        is_open = mine[1] - its[2] < -NOISE and mine[2] - its[1] > NOISE
        assert row["is_open"] == is_open
        n_open += is_open
    assert n_open
    assert f"tie order decides {n_open} of 30 queries" in title_of(chart)


@pytest.mark.slow
def test_scatter_of_many_queries_counts_them_in_cells() -> None:
    qrels, runs = random_runs(n_queries=7000, seed=2)
    compared = dh.compare(qrels, {name: runs[name] for name in ("weak", "good")}, "RR", n_resamples=99, method="t")
    chart = figures.scatter(compared)
    rows = rows_of(chart)
    assert len(rows) <= 900
    assert sum(row["n_queries"] for row in rows) == 7000
    means = compared.evaluations["good"].means()["RR"], compared.evaluations["weak"].means()["RR"]
    weighted = (sum(row["n_queries"] * row[key] for row in rows) / 7000 for key in ("system", "baseline"))
    assert tuple(weighted) == pytest.approx(means, abs=1e-12)
    assert len(figures.rendered(chart, "svg")) < 300_000


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["RR", "MR"])
def test_a_matrix_has_each_pair_twice(compared: Comparison, measure: str) -> None:
    chart = figures.matrix(compared, measure)
    pairs = compared[measure]
    assert len(rows_of(chart)) == 2 * len(pairs)
    for pair in pairs:
        cells = [row for row in rows_of(chart) if {row["system"], row["against"]} == {pair.system, pair.baseline}]
        lower, upper = sorted(cells, key=lambda row: str(row["part"]))
        for cell in cells:
            towards = 1 if cell["system"] == pair.system else -1
            assert cell["difference"] == towards * pair.difference
            assert (cell["p_adjusted"], cell["significant"]) == (pair.p_adjusted, pair.significant)
            assert cell["flip_probability"] == pair.flip_probability
        assert lower["advantage"] == abs(pair.difference)
        number = str(lower["text"]).splitlines()[0]
        assert number.endswith("*") == pair.significant
        assert float(number.rstrip("*")) == pytest.approx(abs(pair.difference), abs=0.005 + NOISE)
        assert upper["advantage"] is None
    n = sum(pair.significant for pair in pairs)
    assert title_of(chart).startswith(f"{n} of {len(pairs)} differences in {measure} are significant (30 queries)")
    n_open = sum(pair.can_flip is True for pair in pairs)
    assert title_of(chart).endswith(f"tie order can reverse {n_open} of the {len(pairs)}")
    assert "p value (a star: significant)" in notes_of(chart)


@pytest.mark.slow
def test_a_matrix_says_which_reversals_are_unknown_and_what_was_compared(compared: Comparison) -> None:
    vague = [replace(pair, can_flip=True, flip_probability=0.39, flip_standard_error=0.43) for pair in compared.pairs]
    chart = figures.matrix(replace(compared, pairs=Pairs.of(vague)), "RR")
    cells = [row for row in rows_of(chart) if row["part"] == "flip"]
    assert {(row["text"], row["flip_probability"]) for row in cells} == {("?", None)}
    assert "question mark" in notes_of(chart)
    assert "question mark" not in notes_of(figures.matrix(compared, "RR"))
    qrels, runs = random_runs(n_queries=6)
    found = dh.compare(qrels, runs, "RR", n_resamples=99, baseline=["weak", "fair"])
    assert "against weak and fair only" in notes_of(figures.matrix(found))


@pytest.mark.slow
@pytest.mark.parametrize("n_systems", [9, 17])
def test_notes_of_a_matrix_name_what_its_cells_have(n_systems: int) -> None:
    qrels, runs = random_runs(n_queries=6)
    many = {f"s{n}": list(runs.values())[n % len(runs)] for n in range(n_systems)}
    chart = figures.matrix(dh.compare(qrels, many, "RR", n_resamples=99))
    assert "(a star: significant)" in notes_of(chart)
    assert "p value" not in notes_of(chart)
    percents = [row["text"] for row in rows_of(chart) if row["part"] == "flip"]
    assert ("(empty: 0)" in notes_of(chart)) == any(percents) == (n_systems == 9)


def test_power_is_that_of_sample_sizes(compared: Comparison) -> None:
    chart = figures.power(compared, "RR", system="good", baseline="weak")
    own = compared.sample_sizes().filter(measure="RR", system="good", baseline="weak")
    pair = next(one for one in compared.pairs if (one.measure, one.system, one.baseline) == ("RR", "good", "weak"))
    assert compared.sample_sizes(pair=pair).equals(own)
    (row,) = own.to_dicts()
    here = row_of(chart, n_queries=row["n_queries"], power=0.8)
    assert here["detectable"] == row["detectable_difference"]
    for point in rows_of(chart)[::7]:
        power = stats.power(point["detectable"], row["std"], point["n_queries"])
        assert power == pytest.approx(point["power"], abs=1e-9)
    found = f"{row['n_queries']} queries detect a difference of {row['detectable_difference']:.3f} in RR"
    assert title_of(chart).startswith(found)
    assert title_of(chart).endswith(f"{row['n_needed']:,}")


def test_power_with_clusters_is_that_of_sample_sizes() -> None:
    cluster = {query: query[-1] for query in QRELS}
    compared = dh.compare(QRELS, RUNS, "RR", baseline="weak", cluster=cluster, n_resamples=999)
    (row,) = compared.sample_sizes().filter(system="good").to_dicts()
    here = row_of(figures.power(compared), n_queries=30, power=0.8)
    assert here["detectable"] == pytest.approx(row["detectable_difference"], abs=1e-15)


def test_a_single_query_has_no_power() -> None:
    runs = {"one": {"q": {"a": 2, "b": 1}}, "other": {"q": {"a": 1, "b": 1}}}
    compared = dh.compare({"q": {"a": 1}}, runs, "RR")
    with pytest.raises(FigureError, match="no spread"):
        figures.power(compared)
    assert math.isclose(row_of(figures.differences(compared))["difference"], 0.25)
    three = dh.compare({"q": {"a": 1}}, runs | {"third": {"q": {"b": 2, "a": 1}}}, "RR")
    assert "tie order can" in title_of(figures.matrix(three))


@pytest.mark.slow
def test_two_equal_systems_are_drawn() -> None:
    compared = dh.compare(QRELS, {"one": RUNS["weak"], "other": RUNS["weak"]}, "RR", n_resamples=99)
    assert "the same RR on all of 30 queries" in title_of(figures.differences(compared))
    assert all(row["baseline"] == row["system"] for row in rows_of(figures.scatter(compared)))
    assert {row["winner"] for row in rows_of(figures.scatter(compared))} == {"neither"}
    with pytest.raises(FigureError, match="all with the same difference"):
        figures.power(compared)


@pytest.mark.parametrize("name", ["matrix", "ranks"])
def test_figures_of_all_systems_are_not_drawn_of_two(name: str) -> None:
    compared = dh.compare(QRELS, {name: RUNS[name] for name in ("weak", "good")}, "RR", n_resamples=99)
    with pytest.raises(FigureError, match=r"two systems.*differences"):
        compared.plot(name)


@pytest.mark.slow
def test_points_have_the_colour_of_who_wins_in_every_order_of_the_ties(compared: Comparison) -> None:
    for measure, sign in (("RR", 1), ("MR", -1)):
        rows = rows_of(figures.scatter(compared, measure, system="fair", baseline="weak"))
        for row in rows:
            lead = sign * (row["system"] - row["baseline"])
            decided = "system" if lead > NOISE else "baseline" if lead < -NOISE else "neither"
            assert row["winner"] == ("neither" if row["is_open"] else decided)
        assert {row["winner"] for row in rows} == {"system", "neither", "baseline"}
    scale = figures.scatter(compared, "RR").to_dict()["layer"][-1]["encoding"]["color"]["scale"]
    assert scale["range"] == [GAIN, UNDECIDED, LOSS]


def test_ranges_are_drawn_behind_the_bars_of_differences(compared: Comparison) -> None:
    marks = [layer["mark"]["type"] for layer in figures.differences(compared, "RR").to_dict()["layer"]]
    assert marks == ["rule", "bar", "tick", "tick", "rule"]  # the last is where nothing differs
