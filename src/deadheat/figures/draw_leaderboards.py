"""Figures of leaderboards, and of judges beside human labels."""

from typing import Any

import altair as alt
import numpy as np

from deadheat.comparison.judges import Conclusions, JudgeAgreement
from deadheat.comparison.leaderboard import Leaderboard
from deadheat.errors import FigureError, check_choice, counted, exact_text, level_text, percentage
from deadheat.evaluation.intervals import why_unknown
from deadheat.figures.base import (
    BLACK,
    BLUE,
    GAIN,
    LOSS,
    ORANGE,
    Record,
    figure,
    finished,
    labels,
    left_out,
    name_among,
    number,
    quantity,
    row_axis,
    row_height,
    short,
    signed,
    tips,
)
from deadheat.figures.draw_lines import MOST as MOST_LINES, lines
from deadheat.kernels.ranks import first_ranks
from deadheat.measures.notation import MeasureLike, unit_of

MOST, MOST_TASKS = 60, 60  # models or systems, and tasks, that a page has room for


def _of_tiers(found: Leaderboard, title: str, keys: tuple[str, str, str], text: str) -> alt.LayerChart:
    """Draw an interval of each model, of which those of one tier have one colour."""
    if found.tiers is None:
        raise FigureError(f"ranks have no intervals: {found.unknown}")
    low, middle, high = keys
    given = found.rows()[: min(len(found.models), MOST)]
    rows = [
        {"label": label, **row, "colour": ["odd", "even"][row["tier"] % 2 == 0]}
        for label, row in zip(labels(row["model"] for row in given), given, strict=True)
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
        f" {counted(len(found.models) - 1, 'other model')} cannot be told from it"
    )
    title = f"{short(found.models[0])} {'is best for sure' if first == 1 else told}"
    return finished(
        [
            base.mark_rule(strokeWidth=2.5).encode(x(low), alt.X2(high)),
            base.mark_point(filled=True, size=46, opacity=1, color=BLACK).encode(x(middle)),
        ],
        rows,
        height=row_height(len(rows)) * len(rows),
        title=f"{title} ({counted(len(found.tasks), 'task')}, {counted(max(found.tiers), 'tier')})",
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
        f"line: ranks that simultaneous {level_text(found.confidence_level)} intervals of all differences allow.",
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
        f"line: {level_text(found.confidence_level)} interval of each mean by itself; it does not tell which differ.",
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
    names, tasks = labels(found.models[:MOST]), labels(found.tasks[:MOST_TASKS])
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
        title=f"{found.measure} of {counted(len(names), 'model')} differs most on {short(tasks[best])}",
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
    names, order = labels(found.models[:MOST_LINES]), labels(name for name, _ in steps)
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


def _judge_of(found: JudgeAgreement, judge: str | None) -> str:
    name = next(iter(found.judges)) if judge is None else judge
    check_choice("judge", name, found.judges)
    return name


def _ranked(
    found: JudgeAgreement, measure: MeasureLike | None, judge: str | None
) -> tuple[Conclusions, list[tuple[str, int]]]:
    """Return what follows from a judge's labels, and each system's label and place, the best by humans first."""
    if not found.conclusions:
        raise FigureError("no systems were compared", hint="give runs to judge_agreement()")
    name = _judge_of(found, judge)
    every = {one.measure.label: one for one in found.conclusions if one.judge == name}
    own = every[name_among(every, measure)]
    means = np.array([bias.baseline_mean for bias in own.biases])
    placed = np.argsort(first_ranks(own.measure.sign * means), kind="stable")[:MOST].tolist()
    return own, list(zip(labels(own.systems[n] for n in placed), placed, strict=True))


@figure("judges", measures="all", place=10)
def confusion(found: JudgeAgreement, *, judge: str | None = None) -> alt.LayerChart:
    """Draw how often each grade of a judge meets each human grade, as shares of the human grade.

    Parameters
    ----------
    found : JudgeAgreement
    judge : str, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        A row for each human grade; numbers are documents.

    Raises
    ------
    ParameterError
        There is no such judge.
    """
    own = found[_judge_of(found, judge)]
    grades = [exact_text(grade) for grade in own.grades]
    totals = own.confusion.sum(1)
    rows: list[Record] = [
        {"label": human, "judge": by_judge, "documents": int(n), "share": n / size if size else 0.0}
        for human, size, counts in zip(grades, totals.tolist(), own.confusion.tolist(), strict=True)
        for by_judge, n in zip(grades, counts, strict=True)
    ]
    base = alt.Chart().encode(
        alt.X("judge:N", sort=grades, title=f"grade of {own.judge}", axis=alt.Axis(labelAngle=0, ticks=False)),
        row_axis(grades).title("human grade"),
        tooltip=tips("label:N", "judge:N", "documents:Q", "share:Q"),
    )
    low, high = (number(end) for end in (own.kappa.low, own.kappa.high))
    doubt = "" if own.kappa.is_known else f"? ({own.kappa.unknown})"
    return finished(
        [
            base.mark_rect().encode(
                alt.Color(
                    "share:Q",
                    scale=alt.Scale(domain=[0, 1], range=["#f7f7f7", BLUE]),
                    title="share of the human grade",
                    legend=alt.Legend(format="%", values=[0, 0.5, 1]),
                )
            ),
            base.mark_text().encode(
                alt.Text("documents:Q", format=","),
                color=alt.condition("datum.share > 0.6", alt.value("white"), alt.value(BLACK)),
            ),
        ],
        rows,
        height=44 * len(grades),
        title=f"{own.judge} gives {percentage(own.estimates['agreement'])} of documents the human grade",
        notes=[
            (
                f"kappa {number(own.kappa)} [{low}, {high}]{doubt}, quadratic {number(own.quadratic_kappa)};"
                f" {counted(own.n_documents, 'document')} of {counted(len(own.query_ids), 'query', 'queries')}."
            )
        ],
    )


@figure("judges", place=20)
def judged_means(
    found: JudgeAgreement, measure: MeasureLike | None = None, *, judge: str | None = None
) -> alt.LayerChart:
    """Draw the mean of each system under human labels and under a judge's, each with its interval.

    Parameters
    ----------
    found : JudgeAgreement
        With runs.
    measure : measure, optional
        By default the first.
    judge : str, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        The best by human labels first; of more than 60 systems, the best 60.

    Raises
    ------
    FigureError
        No runs were given.
    """
    own, placed = _ranked(found, measure, judge)
    rows: list[Record] = []
    for name, n in placed:
        means = (("human", own.biases[n].baseline_mean), (own.judge, own.biases[n].mean))
        for which, (by, mean) in enumerate(means):
            low, high = own.ends[which][n].tolist()
            is_known = not why_unknown(low, high, len(own.query_ids), None, "t")
            ends = {"low": low, "high": high} if is_known else {"low": None, "high": None}
            rows.append({"label": name, "labels": by, "mean": mean, **ends})
    base = alt.Chart().encode(
        row_axis([name for name, _ in placed], grid=True),
        alt.YOffset("labels:N", sort=["human", own.judge]),
        alt.Color("labels:N", scale=alt.Scale(domain=["human", own.judge], range=[BLACK, ORANGE]), title=None),
        tooltip=tips("label:N", "labels:N", "mean:Q", "low:Q", "high:Q"),
    )
    x = quantity(alt.X, own.measure.label, zero=False, nice=False, padding=6)
    return finished(
        [
            base.mark_rule(strokeWidth=2).encode(x("low"), alt.X2("high")),
            base.mark_point(filled=True, size=46, opacity=1).encode(x("mean")),
        ],
        rows,
        height=2 * row_height(len(placed)) * len(placed),
        title=f"{own.judge} orders {counted(len(own.systems), 'system')} with tau_b {own.tau_b:.2f} to the human order",
        notes=[
            (
                f"line: {level_text(found[own.judge].confidence_level)} interval of means over"
                f" {len(own.query_ids)} queries, by t."
            ),
            left_out(len(placed), len(own.systems)),
        ],
    )


@figure("judges", place=30)
def judge_bias(
    found: JudgeAgreement, measure: MeasureLike | None = None, *, judge: str | None = None
) -> alt.LayerChart:
    """Draw by how much a judge's labels raise the mean of each system, with intervals.

    Parameters
    ----------
    found : JudgeAgreement
        With runs.
    measure : measure, optional
        By default the first.
    judge : str, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        The best by human labels first; of more than 60 systems, the best 60.

    Raises
    ------
    FigureError
        No runs were given.
    """
    own, placed = _ranked(found, measure, judge)
    rows: list[Record] = [
        {
            "label": name,
            "bias": own.biases[n].difference,
            "low": own.biases[n].low if own.biases[n].is_known else None,
            "high": own.biases[n].high if own.biases[n].is_known else None,
            "kind": "favoured" if own.systems[n] in own.favoured else "as others",
        }
        for name, n in placed
    ]
    base = alt.Chart().encode(
        row_axis([name for name, _ in placed], grid=True),
        alt.Color("kind:N", scale=alt.Scale(domain=["favoured", "as others"], range=[ORANGE, BLUE]), title=None),
        tooltip=tips("label:N", "bias:Q", "low:Q", "high:Q", "kind:N"),
    )
    x = quantity(
        alt.X,
        f"{own.measure.label} by {own.judge} - by humans{unit_of(own.measure)}",
        zero=True,
        nice=False,
        padding=6,
    )
    biases = [one.difference for one in own.biases]
    return finished(
        [
            base.mark_rule(strokeWidth=2).encode(x("low"), alt.X2("high")),
            base.mark_point(filled=True, size=46, opacity=1).encode(x("bias")),
        ],
        rows,
        height=row_height(len(rows)) * len(rows),
        title=f"{own.judge} moves means by {signed(min(biases))} to {signed(max(biases))} {own.measure.label}"
        f"{unit_of(own.measure)}",
        notes=[
            f"line: {level_text(found[own.judge].confidence_level)} interval, of each system by itself.",
            f"favoured: helped more than the others, by more than chance ({', '.join(own.favoured)})."
            if own.favoured
            else "",
            left_out(len(placed), len(own.systems)),
        ],
    )
