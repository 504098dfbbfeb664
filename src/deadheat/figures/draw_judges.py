"""Judges: the grades of one against those of humans, and what it does to the means of systems."""

import altair as alt

from deadheat.comparison.judges import Conclusions, JudgeAgreement
from deadheat.errors import FigureError, check_choice, counted, percentage
from deadheat.figures.base import figure
from deadheat.figures.style import (
    BLACK,
    BLUE,
    ORANGE,
    Record,
    finished,
    labels,
    left_out,
    number,
    quantity,
    row_axis,
    row_height,
    signed,
    tips,
)
from deadheat.figures.systems import name_among
from deadheat.measures.notation import MeasureLike

MOST = 60  # systems that a page has room for


def _judge_of(found: JudgeAgreement, judge: str | None) -> str:
    name = next(iter(found.judges)) if judge is None else judge
    check_choice("judge", name, found.judges)
    return name


def _ranked(
    found: JudgeAgreement, measure: MeasureLike | None, judge: str | None
) -> tuple[Conclusions, list[tuple[str, int]]]:
    """Return what follows from the labels of a judge, and label and place of each system, the best by humans first."""
    if not found.conclusions:
        raise FigureError("no systems were compared", hint="give runs to judge_agreement()")
    name = _judge_of(found, judge)
    every = {one.measure.label: one for one in found.conclusions if one.judge == name}
    own = every[name_among(every, measure)]
    sign = -1 if own.measure.higher_is_better else 1
    placed = sorted(range(len(own.systems)), key=lambda n: sign * own.biases[n].baseline_mean)[:MOST]
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
    grades = [f"{grade:g}" for grade in own.grades]
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
    scale = alt.Scale(domain=[0, 1], range=["#f7f7f7", BLUE])
    colour = alt.Color("share:Q", scale=scale, title="share of the human grade", legend=alt.Legend(format="%"))
    text = alt.condition("datum.share > 0.6", alt.value("white"), alt.value(BLACK))
    layers = [
        base.mark_rect().encode(colour),
        base.mark_text().encode(alt.Text("documents:Q", format=","), color=text),
    ]
    low, high = (number(end) for end in (own.kappa.low, own.kappa.high))
    title = f"{own.judge} gives {percentage(own.estimates['agreement'])} of documents the human grade"
    note = f"kappa {number(own.kappa)} [{low}, {high}], quadratic {number(own.quadratic_kappa)}"
    sizes = f"{counted(own.n_documents, 'document')} of {counted(len(own.query_ids), 'query', 'queries')}"
    return finished(layers, rows, height=44 * len(grades), title=title, notes=[f"{note}; {sizes}."])


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
    rows: list[Record] = [
        {"label": name, "labels": by, "mean": mean, "low": own.ends[which][n][0], "high": own.ends[which][n][1]}
        for name, n in placed
        for which, (by, mean) in enumerate(
            (("human", own.biases[n].baseline_mean), (own.judge, own.biases[n].mean)),
        )
    ]
    base = alt.Chart().encode(
        row_axis([name for name, _ in placed], grid=True),
        alt.YOffset("labels:N", sort=["human", own.judge]),
        alt.Color("labels:N", scale=alt.Scale(domain=["human", own.judge], range=[BLACK, ORANGE]), title=None),
        tooltip=tips("label:N", "labels:N", "mean:Q", "low:Q", "high:Q"),
    )
    x = quantity(alt.X, own.measure.label, zero=False, nice=False, padding=6)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x("low"), alt.X2("high")),
        base.mark_point(filled=True, size=46, opacity=1).encode(x("mean")),
    ]
    title = f"{own.judge} orders {counted(len(own.systems), 'system')} with tau_b {own.tau_b:.2f} to the human order"
    notes = [
        f"line: {found[own.judge].confidence_level:.0%} interval of the mean over {len(own.query_ids)} queries, by t.",
        left_out(len(placed), len(own.systems)),
    ]
    return finished(layers, rows, height=2 * row_height(len(placed)) * len(placed), title=title, notes=notes)


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
            "low": own.biases[n].low,
            "high": own.biases[n].high,
            "kind": "favoured" if own.systems[n] in own.favoured else "as others",
        }
        for name, n in placed
    ]
    base = alt.Chart().encode(
        row_axis([name for name, _ in placed], grid=True),
        alt.Color("kind:N", scale=alt.Scale(domain=["favoured", "as others"], range=[ORANGE, BLUE]), title=None),
        tooltip=tips("label:N", "bias:Q", "low:Q", "high:Q", "kind:N"),
    )
    x = quantity(alt.X, f"{own.measure.label} by {own.judge} - by humans", zero=True, nice=False, padding=6)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x("low"), alt.X2("high")),
        base.mark_point(filled=True, size=46, opacity=1).encode(x("bias")),
    ]
    biases = [one.difference for one in own.biases]
    title = f"{own.judge} moves means by {signed(min(biases))} to {signed(max(biases))} {own.measure.label}"
    favoured = f"favoured: its bias exceeds that of the others by more than chance ({', '.join(own.favoured)})."
    notes = [
        f"line: {found[own.judge].confidence_level:.0%} interval, of each system by itself.",
        favoured if own.favoured else "",
        left_out(len(placed), len(own.systems)),
    ]
    return finished(layers, rows, height=row_height(len(rows)) * len(rows), title=title, notes=notes)
