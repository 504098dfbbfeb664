"""Figures of leaderboards."""

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
MOST_TASKS = 60  # tasks


def _of_tiers(found: Leaderboard, title: str, keys: tuple[str, str, str], text: str) -> alt.LayerChart:
    """Draw an interval of each model, of which those of one tier have one colour."""
    if found.tiers is None:
        raise FigureError(f"ranks have no intervals: {found.unknown}")
    low, middle, high = keys
    given = found.rows()[: min(len(found.models), MOST)]
    rows = [
        {"label": label, **row, "colour": ["odd", "even"][row["tier"] % 2 == 0]}
        for label, row in zip(unique_labels(row["model"] for row in given), given, strict=True)
    ]
    base = alt.Chart().encode(
        row_axis([row["label"] for row in rows], grid=True),
        alt.Color("colour:N", scale=alt.Scale(domain=["odd", "even"], range=[BLUE, ORANGE]), legend=None),
        tooltip=tips("model:N", "tier:Q", f"{low}:Q", f"{middle}:Q", f"{high}:Q"),
    )
    x: Any = quantity(alt.X, title, zero=False, nice=False, padding=6)
    first = found.tiers.count(1)
    told = (
        f"{'is' if found.ranks[0] else 'may be'} first; {first - 1} of"
        f" {format_count(len(found.models) - 1, 'other model')} cannot be told from it"
    )
    title = f"{short(found.models[0])} {'is best for sure' if first == 1 else told}"
    return finished(
        [
            base.mark_rule(strokeWidth=2.5).encode(x(low), alt.X2(high)),
            base.mark_point(filled=True, size=46, opacity=1, color=BLACK).encode(x(middle)),
        ],
        rows,
        height=row_height(len(rows)) * len(rows),
        title=f"{title} ({format_count(len(found.tasks), 'task')}, {format_count(max(found.tiers), 'tier')})",
        notes=[text, "colour: alternates from tier to tier.", left_out(len(rows), len(found.models), "models")],
    )


@figure("leaderboard", measures="all", place=10)
def rank_intervals(found: Leaderboard) -> alt.LayerChart:
    """Draw the interval of each model's rank.

    Parameters
    ----------
    found : Leaderboard

    Returns
    -------
    altair.LayerChart
        The best model first; of more than 60, the best 60.

    Raises
    ------
    FigureError
        Ranks have no intervals.
    """
    return _of_tiers(
        found,
        "rank",
        ("rank_low", "rank", "rank_high"),
        f"line: ranks that simultaneous {format_level(found.confidence_level)} intervals of all differences allow.",
    )


@figure("leaderboard", measures="all", place=20)
def tiers(found: Leaderboard) -> alt.LayerChart:
    """Draw the mean of each model with its interval, and the tiers.

    Parameters
    ----------
    found : Leaderboard

    Returns
    -------
    altair.LayerChart
        The best model first; of more than 60, the best 60.

    Raises
    ------
    FigureError
        Ranks have no intervals.
    """
    return _of_tiers(
        found,
        f"{found.measure}, mean over tasks",
        ("low", "mean", "high"),
        f"line: {format_level(found.confidence_level)} interval of each mean by itself; it does not tell which differ.",
    )


@figure("leaderboard", measures="all", place=30)
def heat_map(found: Leaderboard) -> alt.LayerChart:
    """Draw how far each model is above or below the mean of all models, task by task.

    Parameters
    ----------
    found : Leaderboard

    Returns
    -------
    altair.LayerChart
        The best model first; of more than 60 models or tasks, the first 60.

    Raises
    ------
    FigureError
        There is a single model, which has no mean of others beside it.
    """
    if len(found.models) < 2:
        raise FigureError("a single model is not compared with others")
    values = found.values[:MOST, :MOST_TASKS]
    apart = (values - np.nanmean(found.values, axis=0)[:MOST_TASKS]) * (1 if found.higher_is_better else -1)
    names, tasks = unique_labels(found.models[:MOST]), unique_labels(found.tasks[:MOST_TASKS])
    rows: list[Record] = [
        {"label": name, "task": task, "value": float(values[i, j]), "lead": float(apart[i, j])}
        for i, name in enumerate(names)
        for j, task in enumerate(tasks)
    ]
    largest = float(np.nanmax(np.abs(apart))) or 1.0
    cells = alt.Chart().encode(
        alt.X("task:N", sort=tasks, title=None, axis=alt.Axis(labelAngle=-60, labelLimit=90, ticks=False)),
        row_axis(names),
        alt.Color(
            "lead:Q",
            scale=alt.Scale(domain=[-largest, 0, largest], range=[LOSS, "#f7f7f7", GAIN]),
            title="above the mean of models",
        ),
        tooltip=tips("label:N", "task:N", "value:Q", "lead:Q"),
    )
    best = int(np.nanargmax(np.nanmax(np.abs(apart), axis=0)))
    return finished(
        [cells.mark_rect()],
        rows,
        height=row_height(len(names)) * len(names),
        title=f"{found.measure} of {format_count(len(names), 'model')} differs most on {short(tasks[best])}",
        notes=[
            "blue: better than the mean of all models on the task; models by rank.",
            left_out(len(names), len(found.models), "models"),
            left_out(len(tasks), len(found.tasks), "tasks", "first"),
        ],
    )


@figure("leaderboard", measures="all", place=40)
def without_task(found: Leaderboard) -> alt.LayerChart:
    """Draw the rank of the best models by all tasks, and without each.

    Parameters
    ----------
    found : Leaderboard

    Returns
    -------
    altair.LayerChart
        A line for each of the best eight models.

    Raises
    ------
    FigureError
        There is a single task, or a model lacks one.
    """
    if not found.without_tasks:
        raise FigureError("an order without a task takes two tasks and more, with values of all models")
    sign = 1 if found.higher_is_better else -1
    steps = [("all", found.mean_low), *found.without_tasks[:MOST_TASKS]]
    ranks_of_steps = [first_ranks(sign * means) for _, means in steps]
    names, order = unique_labels(found.models[:MOST_LINES]), unique_labels(name for name, _ in steps)
    rows: list[Record] = [
        {
            "label": label,
            "without": step,
            "rank": int(ranks[n]),
            "mean": float(means[n]),
        }
        for n, label in enumerate(names)
        for step, (_, means), ranks in zip(order, steps, ranks_of_steps, strict=True)
    ]
    x = alt.X("without:N", sort=order, title="without the task", axis=alt.Axis(labelAngle=-60, labelLimit=90))
    y = alt.Y(
        "rank:Q",
        title="rank",
        scale=alt.Scale(reverse=True, zero=False, nice=False, padding=6),
        axis=alt.Axis(tickMinStep=1),
    )
    decides = found.deciding_task
    return finished(
        lines(x, y, "label", names, ["mean"]),
        rows,
        height=240,
        title=f"Without {short(decides)}, another model leads"
        if decides
        else "No single task decides which model leads",
        notes=[f"models by the mean {found.measure}.", left_out(len(names), len(found.models), "models")],
    )
