"""Figures of judges beside human labels."""

from typing import Any

import altair as alt
import numpy as np

from deadheat.core.checks import check_choice
from deadheat.core.errors import FigureError
from deadheat.core.evaluation.intervals import why_unknown
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures.notation import MeasureLike, unit_of
from deadheat.core.wording import format_count, format_exactly, format_level, format_percentage
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import BLACK, BLUE, ORANGE, Record, finished, quantity, row_axis, row_height, tips
from deadheat.plugins.figures.systems import name_among
from deadheat.plugins.figures.texts import format_number, format_signed, left_out, unique_labels
from deadheat.plugins.judges.conclusions import Conclusions
from deadheat.plugins.judges.judge_agreement import JudgeAgreement
from deadheat.plugins.judges.label_agreement import LabelAgreement

MOST = 60  # systems that a page has room for
CELL_HEIGHT = 44  # pixels


def _name_judge(agreement: JudgeAgreement, judge: str | None) -> str:
    """Return the judge that was asked for, by default the first; raise if there is no such judge."""
    name = next(iter(agreement.judges)) if judge is None else judge
    check_choice("judge", name, agreement.judges)
    return name


def _find_conclusion(agreement: JudgeAgreement, measure: MeasureLike | None, judge: str | None) -> Conclusions:
    """Return what follows from a judge's labels by a measure; by default those of the first judge and measure."""
    if not agreement.conclusions:
        raise FigureError("no systems were compared", hint="give runs to judge_agreement()")
    judge_name = _name_judge(agreement, judge)
    by_measure = {}
    for conclusion in agreement.conclusions:
        if conclusion.judge == judge_name:
            by_measure[conclusion.measure.label] = conclusion
    return by_measure[name_among(by_measure, measure)]


def _place_systems(conclusion: Conclusions) -> dict[str, int]:
    """Return the place of each system that is shown, by its label, the best by humans first."""
    human_means = np.array([bias.baseline_mean for bias in conclusion.biases])
    human_ranks = first_ranks(conclusion.measure.sign * human_means)
    places = np.argsort(human_ranks, kind="stable")[:MOST].tolist()
    labels = unique_labels(conclusion.systems[place] for place in places)
    return dict(zip(labels, places, strict=True))


def _draw_intervals(base: alt.Chart, x: Any, middle: str) -> list[alt.Chart]:  # noqa: ANN401 - what `quantity` returns
    """Return the layers of intervals: a line from low to high, and a point at the column `middle`."""
    line = base.mark_rule(strokeWidth=2).encode(x("low"), alt.X2("high"))
    point = base.mark_point(filled=True, size=46, opacity=1).encode(x(middle))
    return [line, point]


@figure("judges", measures="all", place=10)
def confusion(agreement: JudgeAgreement, *, judge: str | None = None) -> alt.LayerChart:
    """Draw how often each grade of a judge meets each human grade, as shares of the human grade.

    Parameters
    ----------
    agreement : JudgeAgreement
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
    labels = agreement[_name_judge(agreement, judge)]
    grades = [format_exactly(grade) for grade in labels.grades]
    rows: list[Record] = []
    for human_grade, counts in zip(grades, labels.confusion.tolist(), strict=True):
        n_of_grade = sum(counts)
        for judge_grade, n_documents in zip(grades, counts, strict=True):
            share = n_documents / n_of_grade if n_of_grade else 0.0
            rows.append({"label": human_grade, "judge": judge_grade, "documents": n_documents, "share": share})
    base = alt.Chart().encode(
        alt.X("judge:N", sort=grades, title=f"grade of {labels.judge}", axis=alt.Axis(labelAngle=0, ticks=False)),
        row_axis(grades).title("human grade"),
        tooltip=tips("label:N", "judge:N", "documents:Q", "share:Q"),
    )
    colour = alt.Color(
        "share:Q",
        scale=alt.Scale(domain=[0, 1], range=["#f7f7f7", BLUE]),
        title="share of the human grade",
        legend=alt.Legend(format="%", values=[0, 0.5, 1]),
    )
    text_colour = alt.condition("datum.share > 0.6", alt.value("white"), alt.value(BLACK))
    cells = base.mark_rect().encode(colour)
    numbers = base.mark_text().encode(alt.Text("documents:Q", format=","), color=text_colour)
    agreement_share = format_percentage(labels.estimates["agreement"])
    return finished(
        [cells, numbers],
        rows,
        height=CELL_HEIGHT * len(grades),
        title=f"{labels.judge} gives {agreement_share} of documents the human grade",
        notes=[_describe_kappa(labels)],
    )


def _describe_kappa(labels: LabelAgreement) -> str:
    """Return both kappas of a judge, and how many documents they are of."""
    kappa = labels.kappa
    interval = f"[{format_number(kappa.low)}, {format_number(kappa.high)}]"
    if not kappa.is_known:
        interval += f"? ({kappa.unknown})"
    quadratic_kappa = format_number(labels.quadratic_kappa)
    n_documents = format_count(labels.n_documents, "document")
    n_queries = format_count(len(labels.query_ids), "query", "queries")
    return f"kappa {format_number(kappa)} {interval}, quadratic {quadratic_kappa}; {n_documents} of {n_queries}."


@figure("judges", place=20)
def judged_means(
    agreement: JudgeAgreement, measure: MeasureLike | None = None, *, judge: str | None = None
) -> alt.LayerChart:
    """Draw the mean of each system under human labels and under a judge's, each with its interval.

    Parameters
    ----------
    agreement : JudgeAgreement
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
    conclusion = _find_conclusion(agreement, measure, judge)
    judge_name = conclusion.judge
    places = _place_systems(conclusion)
    rows: list[Record] = []
    for label, place in places.items():
        bias = conclusion.biases[place]
        human_ends, judge_ends = conclusion.ends[:, place].tolist()
        rows.append(_make_row_of_mean(conclusion, label, "human", bias.baseline_mean, human_ends))
        rows.append(_make_row_of_mean(conclusion, label, judge_name, bias.mean, judge_ends))
    base = alt.Chart().encode(
        row_axis(list(places), grid=True),
        alt.YOffset("labels:N", sort=["human", judge_name]),
        alt.Color("labels:N", scale=alt.Scale(domain=["human", judge_name], range=[BLACK, ORANGE]), title=None),
        tooltip=tips("label:N", "labels:N", "mean:Q", "low:Q", "high:Q"),
    )
    x = quantity(alt.X, conclusion.measure.label, zero=False, nice=False, padding=6)
    n_systems = format_count(len(conclusion.systems), "system")
    level = format_level(agreement[judge_name].confidence_level)
    return finished(
        _draw_intervals(base, x, "mean"),
        rows,
        height=2 * row_height(len(places)) * len(places),
        title=f"{judge_name} orders {n_systems} with tau_b {conclusion.tau_b:.2f} to the human order",
        notes=[
            f"line: {level} interval of means over {len(conclusion.query_ids)} queries, by t.",
            left_out(len(places), len(conclusion.systems)),
        ],
    )


def _make_row_of_mean(conclusion: Conclusions, label: str, labels_by: str, mean: float, ends: list[float]) -> Record:
    """Return the data of a mean of a system; an interval that is not known is left out.

    Parameters
    ----------
    conclusion : Conclusions
    label : str
        Of the system.
    labels_by : str
        Whose labels the mean is under: "human", or the judge.
    mean : float
    ends : list of two float
        Of the interval of the mean, by Student's t.
    """
    low, high = ends
    row: Record = {"label": label, "labels": labels_by, "mean": mean, "low": low, "high": high}
    if why_unknown(low, high, len(conclusion.query_ids), None, "t"):
        row["low"] = row["high"] = None
    return row


@figure("judges", place=30)
def judge_bias(
    agreement: JudgeAgreement, measure: MeasureLike | None = None, *, judge: str | None = None
) -> alt.LayerChart:
    """Draw by how much a judge's labels raise the mean of each system, with intervals.

    Parameters
    ----------
    agreement : JudgeAgreement
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
    conclusion = _find_conclusion(agreement, measure, judge)
    judge_name = conclusion.judge
    places = _place_systems(conclusion)
    rows: list[Record] = []
    for label, place in places.items():
        bias = conclusion.biases[place]
        is_favoured = conclusion.systems[place] in conclusion.favoured
        row: Record = {"label": label, "bias": bias.difference, "low": None, "high": None}
        if bias.is_known:
            row |= {"low": bias.low, "high": bias.high}
        row["kind"] = "favoured" if is_favoured else "as others"
        rows.append(row)
    base = alt.Chart().encode(
        row_axis(list(places), grid=True),
        alt.Color("kind:N", scale=alt.Scale(domain=["favoured", "as others"], range=[ORANGE, BLUE]), title=None),
        tooltip=tips("label:N", "bias:Q", "low:Q", "high:Q", "kind:N"),
    )
    measure_label = conclusion.measure.label
    unit = unit_of(conclusion.measure)
    x = quantity(alt.X, f"{measure_label} by {judge_name} - by humans{unit}", zero=True, nice=False, padding=6)
    differences = [bias.difference for bias in conclusion.biases]
    lowest = format_signed(min(differences))
    highest = format_signed(max(differences))
    level = format_level(agreement[judge_name].confidence_level)
    notes = [f"line: {level} interval, of each system by itself."]
    if conclusion.favoured:
        favoured = ", ".join(conclusion.favoured)
        notes.append(f"favoured: helped more than the others, by more than chance ({favoured}).")
    notes.append(left_out(len(places), len(conclusion.systems)))
    return finished(
        _draw_intervals(base, x, "bias"),
        rows,
        height=row_height(len(rows)) * len(rows),
        title=f"{judge_name} moves means by {lowest} to {highest} {measure_label}{unit}",
        notes=notes,
    )
