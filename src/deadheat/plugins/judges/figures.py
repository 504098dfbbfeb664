"""Figures of judges beside human labels."""

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

MOST = 60  # systems that a page has room for


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
    return own, list(zip(unique_labels(own.systems[n] for n in placed), placed, strict=True))


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
    grades = [format_exactly(grade) for grade in own.grades]
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
    low, high = (format_number(end) for end in (own.kappa.low, own.kappa.high))
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
        title=f"{own.judge} gives {format_percentage(own.estimates['agreement'])} of documents the human grade",
        notes=[
            (
                f"kappa {format_number(own.kappa)} [{low}, {high}]{doubt},"
                f" quadratic {format_number(own.quadratic_kappa)};"
                f" {format_count(own.n_documents, 'document')} of"
                f" {format_count(len(own.query_ids), 'query', 'queries')}."
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
        title=(
            f"{own.judge} orders {format_count(len(own.systems), 'system')} with tau_b {own.tau_b:.2f} to the human"
            " order"
        ),
        notes=[
            (
                f"line: {format_level(found[own.judge].confidence_level)} interval of means over"
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
        title=(
            f"{own.judge} moves means by {format_signed(min(biases))} to {format_signed(max(biases))}"
            f" {own.measure.label}{unit_of(own.measure)}"
        ),
        notes=[
            f"line: {format_level(found[own.judge].confidence_level)} interval, of each system by itself.",
            (
                f"favoured: helped more than the others, by more than chance ({', '.join(own.favoured)})."
                if own.favoured
                else ""
            ),
            left_out(len(placed), len(own.systems)),
        ],
    )
