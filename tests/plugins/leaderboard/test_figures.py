"""The figures of a leaderboard hold its numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import FigureError
from support.figure_data import notes_of, rows_of, title_of


def board(n_tasks: int = 3, n_queries: int = 12, level: float = 0.95) -> dh.Leaderboard:
    rng = np.random.default_rng(4)
    rows = [
        (f"t{task}", f"q{query}", f"m{model}", float(rng.random() / 4 + model / 6))
        for task in range(n_tasks)
        for query in range(n_queries)
        for model in range(4)
    ]
    frame = pl.DataFrame(rows, ["task", "query_id", "model", "value"], orient="row")
    return dh.leaderboard(frame, n_resamples=500, confidence_level=level)


def test_intervals_and_tiers() -> None:
    found = board()
    frame = found.to_polars()
    rows = rows_of(found.plot("rank_intervals"))
    assert [(row["label"], row["rank_low"], row["rank_high"]) for row in rows] == frame.select(
        "model", "rank_low", "rank_high"
    ).rows()
    n_others = (found.tiers or ()).count(1) - 1
    others = f"is first; {n_others} of {len(found.models) - 1} other models cannot be told from it"
    said = " ".join(str(found).split())
    assert said.startswith(f"{found.models[0]} {others if n_others else 'is above all others'}")
    chart = found.plot("tiers")
    assert title_of(chart).startswith(f"{found.models[0]} {others if n_others else 'is best for sure'}")
    drawn = rows_of(chart)
    assert [row["mean"] for row in drawn] == frame["mean"].to_list()
    colours = {row["tier"]: row["colour"] for row in drawn}
    assert [row["colour"] for row in drawn] == [colours[tier] for tier in found.tiers or ()]


def test_a_level_is_shown_with_all_of_its_digits() -> None:
    found = board(level=0.995)
    assert "99.5% CI" in str(found)
    assert "simultaneous 99.5% intervals" in notes_of(found.plot("rank_intervals"))


def test_values_by_task_and_orders_without_one() -> None:
    found = board()
    cells = {(row["label"], row["task"]): row["value"] for row in rows_of(found.plot("heat_map"))}
    assert cells["m3", "t1"] == found.task_values().filter(model="m3")["t1"][0]
    chart = found.plot("without_task")
    assert chart.to_dict()["layer"][0]["encoding"]["y"]["scale"]["nice"] is False  # else there is a rank 0
    rows = rows_of(chart)
    for task, means in found.without_tasks:
        own = {row["label"]: row["rank"] for row in rows if row["without"] == task}
        assert own == {name: 1 + int((means > mean).sum()) for name, mean in zip(found.models, means, strict=True)}


def test_who_may_be_first_where_values_are_missing() -> None:
    rows = [(f"t{n % 2}", f"q{n}", name, mean + n / 200) for n in range(12) for name, mean in (("a", 0.5), ("b", 0.1))]
    lacks = [("t0", f"q{n}", "c", 0.6 + n % 3 / 100) for n in range(0, 12, 2)]  # 0.3 to 0.8 over both tasks
    frame = pl.DataFrame([*rows, *lacks], ["task", "query_id", "model", "value"], orient="row")
    found = dh.leaderboard(frame, missing="bounds", n_resamples=500)
    said = "may be first; 1 of 2 other models cannot be told from it"
    assert " ".join(str(found).split()).startswith(f"{found.models[0]} {said}")
    listed = found.to_polars()
    assert listed["p_best"].is_null().all()
    assert listed["resampled_rank_low"].is_null().all()
    for name in ("rank_intervals", "tiers"):
        chart = found.plot(name)
        assert title_of(chart).startswith(f"{found.models[0]} {said}")
        assert [row["label"] for row in rows_of(chart)] == list(found.models)


def test_ranks_without_intervals_are_not_drawn() -> None:
    with pytest.raises(FigureError, match="1 task"):
        dh.leaderboard({"task": ["t", "t"], "model": ["a", "b"], "value": [0.5, 0.25]}).plot("rank_intervals")
