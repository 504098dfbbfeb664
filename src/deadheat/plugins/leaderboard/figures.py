"""Figures of leaderboards."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from deadheat.core.errors import FigureError
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.wording import format_count, format_level
from deadheat.plugins.figures.draw_lines import MOST as MOST_LINES, lines
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import (
    BLACK,
    BLUE,
    GAIN,
    LOSS,
    ORANGE,
    Record,
    finished,
    quantity,
    row_axis,
    row_height,
    tips,
)
from deadheat.plugins.figures.texts import left_out, short, unique_labels
from deadheat.plugins.leaderboard.board import Leaderboard

MOST = 60  # models that a page has room for
MOST_TASKS = 60


def _draw_tiers(board: Leaderboard, axis_title: str, *, low: str, middle: str, high: str, note: str) -> alt.LayerChart:
    """Draw an interval of each model; neighbouring tiers have different colours.

    Parameters
    ----------
    board : Leaderboard
    axis_title : str
    low, middle, high : str
        The columns of the board that hold the ends of the line and its point.
    note : str
        What the line is.
    """
    if board.tiers is None:
        raise FigureError(f"ranks have no intervals: {board.unknown}")
    n_shown = min(len(board.models), MOST)
    model_rows = board.rows()[:n_shown]
    labels = unique_labels(row["model"] for row in model_rows)
    rows: list[Record] = []
    for label, model_row in zip(labels, model_rows, strict=True):
        colour = "even" if model_row["tier"] % 2 == 0 else "odd"
        rows.append({"label": label, **model_row, "colour": colour})
    base = alt.Chart().encode(
        row_axis(labels, grid=True),
        alt.Color("colour:N", scale=alt.Scale(domain=["odd", "even"], range=[BLUE, ORANGE]), legend=None),
        tooltip=tips("model:N", "tier:Q", f"{low}:Q", f"{middle}:Q", f"{high}:Q"),
    )
    x: Any = quantity(alt.X, axis_title, zero=False, nice=False, padding=6)
    line = base.mark_rule(strokeWidth=2.5).encode(x(low), alt.X2(high))
    point = base.mark_point(filled=True, size=46, opacity=1, color=BLACK).encode(x(middle))
    n_tasks = format_count(len(board.tasks), "task")
    n_tiers = format_count(max(board.tiers), "tier")
    return finished(
        [line, point],
        rows,
        height=row_height(len(rows)) * len(rows),
        title=f"{_describe_first(board, board.tiers)} ({n_tasks}, {n_tiers})",
        notes=[note, "colour: alternates from tier to tier.", left_out(len(rows), len(board.models), "models")],
    )


def _describe_first(board: Leaderboard, tier_of_models: Sequence[int]) -> str:
    """Say which model is first, and how many others may be."""
    best = short(board.models[0])
    n_not_told_apart = tier_of_models.count(1) - 1
    if not n_not_told_apart:
        return f"{best} is best for sure"
    verb = "is" if board.ranks[0] else "may be"
    n_others = format_count(len(board.models) - 1, "other model")
    return f"{best} {verb} first; {n_not_told_apart} of {n_others} cannot be told from it"


@figure("leaderboard", measures="all", place=10)
def rank_intervals(board: Leaderboard) -> alt.LayerChart:
    """Draw the interval of each model's rank.

    Parameters
    ----------
    board : Leaderboard

    Returns
    -------
    altair.LayerChart
        The best model first; of more than 60, the best 60.

    Raises
    ------
    FigureError
        Ranks have no intervals.
    """
    level = format_level(board.confidence_level)
    note = f"line: ranks that simultaneous {level} intervals of all differences allow."
    return _draw_tiers(board, "rank", low="rank_low", middle="rank", high="rank_high", note=note)


@figure("leaderboard", measures="all", place=20)
def tiers(board: Leaderboard) -> alt.LayerChart:
    """Draw the mean of each model with its interval, and the tiers.

    Parameters
    ----------
    board : Leaderboard

    Returns
    -------
    altair.LayerChart
        The best model first; of more than 60, the best 60.

    Raises
    ------
    FigureError
        Ranks have no intervals.
    """
    level = format_level(board.confidence_level)
    note = f"line: {level} interval of each mean by itself; it does not tell which differ."
    axis_title = f"{board.measure}, mean over tasks"
    return _draw_tiers(board, axis_title, low="low", middle="mean", high="high", note=note)


@figure("leaderboard", measures="all", place=30)
def heat_map(board: Leaderboard) -> alt.LayerChart:
    """Draw how far each model is above or below the mean of all models, task by task.

    Parameters
    ----------
    board : Leaderboard

    Returns
    -------
    altair.LayerChart
        The best model first; of more than 60 models or tasks, the first 60.

    Raises
    ------
    FigureError
        There is a single model, which has no mean of others beside it.
    """
    if len(board.models) < 2:
        raise FigureError("a single model is not compared with others")
    models = unique_labels(board.models[:MOST])
    tasks = unique_labels(board.tasks[:MOST_TASKS])
    values = board.values[:MOST, :MOST_TASKS]
    means_of_tasks = np.nanmean(board.values, axis=0)[:MOST_TASKS]
    leads = (values - means_of_tasks) * (1 if board.higher_is_better else -1)
    rows: list[Record] = []
    for model_place, model in enumerate(models):
        for task_place, task in enumerate(tasks):
            value = float(values[model_place, task_place])
            lead = float(leads[model_place, task_place])
            rows.append({"label": model, "task": task, "value": value, "lead": lead})
    sizes = np.abs(leads)
    largest = float(np.nanmax(sizes)) or 1.0
    most_different_task = tasks[int(np.nanargmax(np.nanmax(sizes, axis=0)))]
    cells = alt.Chart().encode(
        alt.X("task:N", sort=tasks, title=None, axis=alt.Axis(labelAngle=-60, labelLimit=90, ticks=False)),
        row_axis(models),
        alt.Color(
            "lead:Q",
            scale=alt.Scale(domain=[-largest, 0, largest], range=[LOSS, "#f7f7f7", GAIN]),
            title="above the mean of models",
        ),
        tooltip=tips("label:N", "task:N", "value:Q", "lead:Q"),
    )
    n_models = format_count(len(models), "model")
    return finished(
        [cells.mark_rect()],
        rows,
        height=row_height(len(models)) * len(models),
        title=f"{board.measure} of {n_models} differs most on {short(most_different_task)}",
        notes=[
            "blue: better than the mean of all models on the task; models by rank.",
            left_out(len(models), len(board.models), "models"),
            left_out(len(tasks), len(board.tasks), "tasks", "first"),
        ],
    )


@figure("leaderboard", measures="all", place=40)
def without_task(board: Leaderboard) -> alt.LayerChart:
    """Draw the rank of the best models by all tasks, and without each.

    Parameters
    ----------
    board : Leaderboard

    Returns
    -------
    altair.LayerChart
        A line for each of the best eight models.

    Raises
    ------
    FigureError
        There is a single task, or a model lacks one.
    """
    if not board.without_tasks:
        raise FigureError("an order without a task takes two tasks and more, with values of all models")
    sign = 1 if board.higher_is_better else -1
    orders = [("all", board.mean_low), *board.without_tasks[:MOST_TASKS]]
    steps = unique_labels(name for name, _ in orders)
    models = unique_labels(board.models[:MOST_LINES])
    ranks_by_step = [first_ranks(sign * means) for _, means in orders]
    rows: list[Record] = []
    for place, model in enumerate(models):
        for step, (_, means), ranks in zip(steps, orders, ranks_by_step, strict=True):
            rows.append({"label": model, "without": step, "rank": int(ranks[place]), "mean": float(means[place])})
    x = alt.X("without:N", sort=steps, title="without the task", axis=alt.Axis(labelAngle=-60, labelLimit=90))
    y = alt.Y(
        "rank:Q",
        title="rank",
        scale=alt.Scale(reverse=True, zero=False, nice=False, padding=6),
        axis=alt.Axis(tickMinStep=1),
    )
    title = "No single task decides which model leads"
    if board.deciding_task:
        title = f"Without {short(board.deciding_task)}, another model leads"
    return finished(
        lines(x, y, "label", models, ["mean"]),
        rows,
        height=240,
        title=title,
        notes=[f"models by the mean {board.measure}.", left_out(len(models), len(board.models), "models")],
    )
