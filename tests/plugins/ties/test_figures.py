"""Figures of what a rule that breaks ties makes of each query."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import altair as alt
import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import figures
from deadheat.errors import FigureError, SourceTypeError
from support.figure_data import TIES, notes_of, row_of, rows_of, title_of
from support.numbers_in_text import numbers_in


@pytest.mark.parametrize(("draw", "column"), [(figures.tie_ratio, "tie_ratio"), (figures.largest_tie, "largest_tie")])
def test_each_query_is_a_point_and_equal_ones_are_counted(draw: Callable[..., alt.LayerChart], column: str) -> None:
    expected = TIES.group_by("run", column, "difference").agg(pl.len())
    points = {(row["run"], row["x"], row["y"]): row["n_queries"] for row in rows_of(draw(TIES))}
    assert points == {(run, x, y): n for run, x, y, n in expected.rows()}
    one = draw(TIES.filter(run="one"))
    assert sum(row["n_queries"] for row in rows_of(one)) == 4
    assert "color" not in one.to_dict()["layer"][1]["encoding"]
    many = draw(pl.concat([TIES.with_columns(run=pl.lit(f"run {n}")) for n in range(9)]))
    assert sum(row["n_queries"] for row in rows_of(many)) == 72
    assert "color" not in many.to_dict()["layer"][1]["encoding"]
    r = np.corrcoef(TIES[column], TIES["difference"].abs())[0, 1]
    assert f"r = {r:.2f}" in title_of(draw(TIES))
    assert "RR of 5 of 8 pairs" in title_of(draw(TIES))


def test_without_any_variation_there_is_no_correlation() -> None:
    chart = figures.tie_ratio(TIES.with_columns(tie_ratio=pl.lit(1.0)))
    assert "no r with the tie ratio" in title_of(chart)
    assert "tie ratio is the same in all" in notes_of(chart)


def test_a_histogram_counts_every_query_once() -> None:
    rows = rows_of(figures.tie_histogram(TIES))
    assert sum(row["n_queries"] for row in rows) == len(TIES)
    assert {row["run"]: row["n_queries"] for row in rows if row["kind"] == "equal"} == {"one": 1, "other": 2}
    assert row_of(figures.tie_histogram(TIES.filter(run="one")), kind="equal")["n_queries"] == 1
    for row in rows:
        if row["kind"] == "apart":
            inside = TIES.filter(
                (pl.col("run") == row["run"]) & (pl.col("difference") != 0) & (pl.col("difference") >= row["low"])
            )
            last = row["high"] == pytest.approx(0.5)
            below = (pl.col("difference") <= row["high"] + 1e-9) if last else (pl.col("difference") < row["high"])
            assert row["n_queries"] == len(inside.filter(below))
    title = title_of(figures.tie_histogram(TIES))
    assert numbers_in(title) == [5, 8, 0.5]  # pairs of query and run, of all, and the largest difference
    assert "document id" in title
    assert title.endswith("(q3)")
    settled = TIES.with_columns(difference=pl.lit(0.0), traditional=pl.col("exact"))
    title = title_of(figures.tie_histogram(settled))
    assert "the exact RR on all of 8 pairs" in title


def test_a_correlation_is_of_the_differences_by_two_measures() -> None:
    other = TIES.with_columns(measure=pl.lit("Hit@3"), difference=pl.col("difference") * -2 + 0.1)
    chart = figures.tie_correlation(pl.concat([TIES, other]))
    assert "r = -1.00 (8 pairs of query and run)" in title_of(chart)
    assert sum(row["n_queries"] for row in rows_of(chart)) == 8
    for row in rows_of(chart):
        assert row["y"] == pytest.approx(0.1 - 2 * row["x"])
    with pytest.raises(FigureError, match=r"two measures, .* is RR"):
        figures.tie_correlation(TIES)


def test_traditional_bars_are_the_means_of_each_run() -> None:
    chart = figures.traditional(TIES)
    for run in ("one", "other"):
        own = TIES.filter(run=run)
        assert row_of(chart, system=run, kind="exact")["value"] == pytest.approx(own["exact"].mean(), abs=1e-15)
        assert row_of(chart, system=run, kind="by document id, as trec_eval")["value"] == pytest.approx(
            own["traditional"].mean(), abs=1e-15
        )


def test_the_mean_tie_ratio_is_a_bar_of_each_run() -> None:
    chart = figures.mean_tie_ratio(pl.concat([TIES, TIES.with_columns(measure=pl.lit("AP"))]))
    bars = {row["run"]: (row["ratio"], row["n_queries"]) for row in rows_of(chart)}
    assert bars == {"one": ((0 + 0.5 + 1 + 1) / 4, 4), "other": ((0 + 0 + 0.5 + 0.5) / 4, 4)}
    assert "25% in other, 62% in one (" in title_of(chart)
    assert numbers_in(title_of(chart)) == [0.25, 0.62, 4]
    assert numbers_in(title_of(figures.mean_tie_ratio(TIES.filter(run="one"))))[:1] == [0.62]


@pytest.mark.slow
def test_an_overview_is_the_figures_themselves() -> None:
    """Of one run two rows of three; of several two of two, as the notebook of source 1 has them."""
    ties = pl.concat([TIES, TIES.with_columns(measure=pl.lit("Hit@3"), difference=pl.col("difference") / 2)])
    one = ties.filter(run="one")
    pages: list[tuple[pl.DataFrame, int, list[alt.LayerChart]]] = [
        (
            one,
            3,
            [
                *(draw(one, "RR") for draw in (figures.tie_ratio, figures.largest_tie, figures.tie_histogram)),
                *(draw(one, "Hit@3") for draw in (figures.tie_ratio, figures.largest_tie)),
                figures.tie_correlation(one),
            ],
        ),
        (
            ties,
            2,
            [
                figures.traditional(ties),
                figures.mean_tie_ratio(ties),
                figures.tie_ratio(ties),
                figures.tie_histogram(ties),
            ],
        ),
        (one.filter(measure="RR"), 3, [draw(one) for draw in (figures.tie_ratio, figures.largest_tie)]),
    ]
    for table, n_columns, charts in pages:
        page = figures.overview(table).to_dict()
        assert page["columns"] == n_columns
        for part, chart in zip(page["concat"], charts, strict=False):
            alone = chart.to_dict()
            assert part["title"] == alone["title"]
            assert part["layer"] == alone["layer"]
            assert page["datasets"][part["data"]["name"]] == rows_of(chart)
    assert [len(figures.overview(table).concat) for table, _, _ in pages] == [6, 4, 3]
    assert "document id" in title_of(figures.overview(ties))
    assert title_of(figures.overview(ties)).endswith(" in 2 runs")
    assert figures.rendered(figures.overview(one), "svg").startswith(b"<svg")


def test_a_simulation_draws_itself() -> None:
    simulation = dh.simulate_rerankers(20, ["low", "high"])
    chart = simulation.plot("traditional", measure="Hit@5")
    rows = simulation.summary().filter(measure="Hit@5").to_dicts()
    for row in rows:
        assert row_of(chart, system=row["reranker"], kind="exact")["value"] == pytest.approx(row["exact"])
        of_input = row_of(chart, system=row["reranker"], kind="in the order of the input")
        assert of_input["value"] == pytest.approx(row["input_order"])
    bars = rows_of(simulation.plot("mean_tie_ratio"))
    assert {row["run"]: row["ratio"] for row in bars} == pytest.approx(
        {row["reranker"]: row["tie_ratio"] for row in rows}
    )


def test_a_table_without_what_is_needed_is_refused() -> None:
    with pytest.raises(FigureError, match="no traditional, difference"):
        figures.tie_ratio(TIES.drop("traditional", "difference"))
    with pytest.raises(FigureError, match="no values of AP, only of RR"):
        figures.tie_ratio(TIES, "AP")
    with pytest.raises(FigureError, match="no query has a value of RR"):
        figures.tie_ratio(TIES.with_columns(exact=pl.lit(None, pl.Float64)))
    with pytest.raises(FigureError, match="there are no values"):
        figures.tie_ratio(TIES.head(0))
    with pytest.raises(FigureError, match=r"tie_profile\(\)"):
        figures.tie_ratio(dh.tie_profile({"q": {"a": 1, "b": 1}}))


def test_what_is_no_profile_is_refused() -> None:
    refused: list[Any] = [{"a": 1}, 5, [], "run.txt"]
    for wrong in refused:
        with pytest.raises(SourceTypeError, match="ties must be a TieProfile, or several by name"):
            figures.tie_ratio(wrong)


def test_titles_count_queries_of_one_run_and_pairs_of_several() -> None:
    assert "change RR of 3 of 4 queries" in title_of(figures.tie_ratio(TIES.filter(run="one")))
    assert "RR of 5 of 8 pairs" in title_of(figures.tie_ratio(TIES))
