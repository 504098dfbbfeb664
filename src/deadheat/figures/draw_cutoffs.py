"""A measure against its cutoff: how deep a list has to be read, with tie ranges and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any

import altair as alt

from deadheat.errors import FigureError
from deadheat.evaluation.evaluate import score_of
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import IntervalOptions
from deadheat.evaluation.scores import Scores, intervals
from deadheat.figures.base import figure
from deadheat.figures.style import Row, finished, labels, left_out, n_queries, number, series, short
from deadheat.figures.systems import Systems, better, interval_options, is_moved, marks, named, of_mean
from deadheat.measures import Measure, parse_measure
from deadheat.measures.interpolated import InterpolatedMeasure
from deadheat.measures.notation import MeasureLike
from deadheat.wording import three

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
LEVELS = tuple(n / 10 for n in range(11))
MOST = 8  # lines that can be told apart
MOST_BANDS = 2  # systems whose bands do not hide each other
METHODS = {"bca": "BCa", "clopper-pearson": "Clopper-Pearson", "gaffke": "Gaffke's bounds", "t": "Student's t"}
MANY = 1000  # queries for which Student's t does as well as a bootstrap
STEPS_A_SECOND = 300_000_000  # of the exact mean of interpolated precision
MOST_STEPS = 10 * STEPS_A_SECOND


@figure("systems", "comparison", measures="nDCG R", place=50)
def cutoffs(
    systems: Systems,
    measure: MeasureLike = "nDCG",
    *,
    at: Sequence[int] = CUTOFFS,
    options: Mapping[str, Any] | IntervalOptions | None = None,
) -> alt.LayerChart:
    """Draw a measure against its cutoff, with the interval over queries and the range over tie orders.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
        Their ties count by the exact mean, whatever their policy.
    measure : measure, default "nDCG"
        One that has a cutoff, such as "R" or "P"; its own cutoff is not used.
    at : sequence of int
        The cutoffs.
    options : dict, optional
        Of the intervals, as for :meth:`Scores.interval`; by default those of the comparison.

    Returns
    -------
    altair.LayerChart
        With more than two systems without bands; of more than eight, the best eight.

    Raises
    ------
    FigureError
        The measure has no cutoff, or an evaluation was saved without placements.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, "RR")
    >>> [(row["cutoff"], row["mean"]) for row in cutoffs(ev, "R", at=[1, 2]).data.values]
    [(1, 0.5), (2, 1.0)]
    """
    of = parse_measure(measure)
    if "cutoff" not in {one.name for one in fields(of)}:
        raise FigureError(f"{of.label} has no cutoff", hint="take one that has, such as nDCG, R or P")
    whole = of(cutoff=None)
    found = curves(systems, "cutoff", [(cutoff, of(cutoff=cutoff)) for cutoff in sorted(at)], options)
    own = [row for row in found if row["label"] == found[0]["label"]]
    widest = max(own, key=lambda row: row["tie_max"] - row["tie_min"])
    of_ties = f"; tie order moves it most @{widest['cutoff']}" if is_moved(own) else ""
    ends = " to ".join(f"{number(row['mean'])} @{row['cutoff']:g}" for row in (own[0], own[-1]))
    scale, axis = alt.Scale(type="log", nice=False), alt.Axis(values=list(at), grid=False)
    x = alt.X("cutoff:Q", title="cutoff (log scale)", scale=scale, axis=axis)
    title = f"{whole.label}@k, mean over queries ({better(whole)})"
    return _lines(found, x, title, f"{whole.label} from {ends}", of_ties)


@figure("systems", "comparison", measures="all", place=60)
def precision_recall(
    systems: Systems, *, options: Mapping[str, Any] | IntervalOptions | None = None, even_if_slow: bool = False
) -> alt.LayerChart:
    """Draw interpolated precision against recall, with the interval over queries and the range over tie orders.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
        Their ties count by the exact mean, whatever their policy.
    options : dict, optional
        Of the intervals, as for :meth:`Scores.interval`; by default those of the comparison.
    even_if_slow : bool, default False
        Whether to compute it where large ties make its exact means take more than some seconds.

    Returns
    -------
    altair.LayerChart
        At the eleven levels of recall; with more than two systems without bands; of more than eight, the best eight.

    Raises
    ------
    FigureError
        An evaluation was saved without placements, or it would take long.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, "RR")
    >>> row, *_ = precision_recall(ev).data.values
    >>> row["recall"], row["mean"], row["tie_min"], row["tie_max"]
    (0.0, 0.75, 0.5, 1.0)
    """
    family = [(level, parse_measure(f"IPrec@{level:g}")) for level in LEVELS]
    _check_cost(named(systems), [measure for _, measure in family], even_if_slow=even_if_slow)
    found = curves(systems, "recall", family, options)
    steps = " and ".join(
        f"{number(row['mean'])} at recall {row['recall']:g}"
        for row in found
        if row["system"] == found[0]["system"] and row["recall"] in {0.0, 0.5}
    )
    x = alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(grid=False))
    return _lines(found, x, "interpolated precision, mean over queries", f"interpolated precision {steps}")


def _check_cost(evaluations: Mapping[str, Evaluation], family: Sequence[Measure], *, even_if_slow: bool) -> None:
    """Raise `FigureError` if the exact means of interpolated precision would take long."""
    steps = sum(
        one.n_steps(evaluation.placements)
        for evaluation in evaluations.values()
        for one in family
        if isinstance(one, InterpolatedMeasure)
    )
    if steps > MOST_STEPS and not even_if_slow:
        seconds = round(steps / STEPS_A_SECOND)
        raise FigureError(
            f"interpolated precision of ties as large as these takes about {seconds:,} seconds",
            python="even_if_slow=True computes it",
        )


def curves(
    systems: Systems,
    step: str,
    family: Sequence[tuple[float, Measure]],
    options: Mapping[str, Any] | IntervalOptions | None,
) -> list[Row]:
    """Return a row for each system and measure of a family, the best systems first (by the mean over the family).

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
    step : {"cutoff", "recall"}
        The column of the numbers by which the measures of the family differ.
    family : sequence of (float, Measure)
    options : dict or IntervalOptions, optional
    """
    evaluations = named(systems)
    asked = interval_options(options, systems)
    if options is None and max(len(one.query_ids) for one in evaluations.values()) > MANY and asked.method == "auto":
        asked = replace(asked, method="t")  # as good with so many queries, and at once
    found: dict[str, list[Row]] = {}
    for label, (name, evaluation) in zip(labels(evaluations), evaluations.items(), strict=True):
        scores = _exact_scores(evaluation, [measure for _, measure in family])
        rows = [
            {
                "system": name,
                "label": label,
                step: value,
                **of_mean(one, interval),
                "method": METHODS.get(interval.method, interval.method),
            }
            for (value, _), one, interval in zip(family, scores, intervals(scores, asked), strict=True)
        ]
        if any(row["n_queries"] for row in rows):
            found[label] = rows
    if not found:
        raise FigureError("no system has a value: no query counts, or none has a relevant document")
    sign = -1 if family[0][1].higher_is_better else 1
    ranked = sorted(found.values(), key=lambda rows: sign * sum(row["mean"] for row in rows))
    return [row for rows in ranked for row in rows]


def _exact_scores(evaluation: Evaluation, family: Sequence[Measure]) -> list[Scores]:
    """Return the exact scores of each measure of a family."""
    placed = [evaluation.placements_of(one) for one in family]
    no_relevant = evaluation.conventions.no_relevant
    return [score_of(one, its, its, no_relevant) for one, its in zip(family, placed, strict=True)]


def _lines(found: Sequence[Row], x: alt.X, title: str, finding: str, of_ties: str = "") -> alt.LayerChart:
    """Draw a line for each system, with bands if there are few; the finding is about the first."""
    order = list(dict.fromkeys(row["label"] for row in found))
    kept = order[:MOST]
    rows = [row for row in found if row["label"] in kept]
    colour, shape, dash = series("label", kept, alt.Legend(title=None, columns=2, labelLimit=190, symbolOpacity=1))
    y = partial(alt.Y, type="quantitative", title=title, scale=alt.Scale(zero=False, nice=True))
    tip = ["label:N", x.shorthand, "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q"]
    base = alt.Chart().encode(x, color=colour)
    layers = [
        base.mark_line(strokeWidth=1.8).encode(y("mean"), strokeDash=dash),
        base.mark_point(filled=True, size=34, opacity=1).encode(y("mean"), shape=shape, tooltip=tip),
    ]
    if len(kept) <= MOST_BANDS:
        band = base.mark_area(opacity=0.22).encode(y("tie_min"), alt.Y2("tie_max"))
        line = base.mark_rule(opacity=0.9, strokeWidth=1.2).encode(y("low"), alt.Y2("high"))
        layers = [band, line, *layers]
        methods = three(list(dict.fromkeys(row["method"] for row in rows if row["low"] is not None)))
        notes = marks(rows, "point: exact mean over tie orders", f"intervals by {methods}" if methods else "")
    else:
        others = f"Tie ranges and intervals are drawn for one or two systems, not for {len(order)}."
        notes = [f"point: exact mean over tie orders. {others}"]
    notes.append(left_out(len(kept), len(order)))
    over = n_queries(*(row["n_queries"] for row in found))
    headline = f"{short(found[0]['system'])}: {finding} ({over}){of_ties}"
    return finished(layers, rows, height=240, title=headline, notes=notes)
