"""A measure against its cutoff: how deep a list has to be read, with tie ranges and intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import altair as alt

from deadheat.errors import FigureError
from deadheat.evaluation.evaluate import score_of
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import IntervalOptions
from deadheat.evaluation.scores import Scores, intervals
from deadheat.figures.base import COMPARISON, SYSTEMS, figure
from deadheat.figures.style import (
    DASHES,
    NOISE,
    SERIES,
    SHAPES,
    Row,
    finished,
    labels,
    n_queries,
    number,
    shown,
)
from deadheat.figures.systems import Systems, better, interval_options, named
from deadheat.measures import Measure, parse_measure
from deadheat.measures.interpolated import InterpolatedMeasure
from deadheat.measures.notation import MeasureLike

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
LEVELS = tuple(n / 10 for n in range(11))
MOST = 8  # lines that can be told apart
MOST_BANDS = 2  # systems whose bands do not hide each other
METHODS = {"bca": "BCa", "t": "Student's t"}
MANY = 1000  # queries for which Student's t does as well as a bootstrap
HEIGHT = 240
STEPS_A_SECOND = 300_000_000  # of the exact mean of interpolated precision
MOST_STEPS = 10 * STEPS_A_SECOND


@figure(SYSTEMS, COMPARISON, measures="nDCG R", place=50)
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
    family = [(cutoff, of(cutoff=cutoff)) for cutoff in sorted(at)]
    whole = of(cutoff=None)
    found = curves(systems, family, options)
    log = alt.Scale(type="log", nice=False)
    x = alt.X("cutoff:Q", title="cutoff (log scale)", scale=log, axis=alt.Axis(values=list(at), grid=False))
    title = _finding(found, whole, family)
    return drawn(found, "cutoff", x, f"{whole.label}@k, mean over queries ({better(whole)})", title)


@figure(SYSTEMS, COMPARISON, measures="all", place=60)
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
    found = curves(systems, family, options)
    first, over = found[0], n_queries(*(row["n_queries"] for row in found))
    steps = " and ".join(
        f"{number(row['mean'])} at recall {row['recall']:g}"
        for row in found
        if row["system"] == first["system"] and row["recall"] in {0.0, 0.5}
    )
    x = alt.X("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(grid=False))
    title = f"{shown(first['system'])}: interpolated precision {steps} ({over})"
    return drawn(found, "recall", x, "interpolated precision, mean over queries", title)


def _check_cost(evaluations: Mapping[str, Evaluation], family: Sequence[Measure], *, even_if_slow: bool) -> None:
    """Raise `FigureError` if the exact means of interpolated precision would take long."""
    steps = sum(
        one.n_steps(evaluation.placements)
        for evaluation in evaluations.values()
        if evaluation.has_placements
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
    systems: Systems, family: Sequence[tuple[float, Measure]], options: Mapping[str, Any] | IntervalOptions | None
) -> list[Row]:
    """Return a row for each system and measure of a family, the best systems first (by the mean over the family)."""
    evaluations = named(systems)
    asked = interval_options(options, systems)
    if options is None and max(len(one.query_ids) for one in evaluations.values()) > MANY and asked.method == "auto":
        asked = replace(asked, method="t")  # as good with so many queries, and at once
    names = labels(evaluations)
    found = []
    for label, (name, evaluation) in zip(names, evaluations.items(), strict=True):
        scores = _scores(evaluation, [measure for _, measure in family])
        if not any(one.n_queries for one in scores):
            continue
        rows = [
            {
                "system": name,
                "label": label,
                "cutoff" if isinstance(step, int) else "recall": step,
                "mean": one.mean,
                "low": interval.low if interval.is_known else None,
                "high": interval.high if interval.is_known else None,
                "tie_min": one.mean_tie_min,
                "tie_max": one.mean_tie_max,
                "n_queries": one.n_queries,
                "unknown": interval.unknown,
                "level": interval.confidence_level,
                "method": METHODS.get(interval.method, interval.method),
            }
            for (step, _), one, interval in zip(family, scores, intervals(scores, asked), strict=True)
        ]
        found.append((sum(one.mean for one in scores) * (1 if family[0][1].higher_is_better else -1), rows))
    if not found:
        raise FigureError("no system has a value: no query counts, or none has a relevant document")
    return [row for _, rows in sorted(found, key=lambda one: -one[0]) for row in rows]


def _scores(evaluation: Evaluation, family: Sequence[Measure]) -> list[Scores]:
    """Return the exact scores of each measure of a family."""
    if not evaluation.has_placements:
        raise FigureError(
            f"{evaluation.name} was saved by an earlier deadheat, without placements", hint="evaluate it again"
        )
    placed = [evaluation.placements_of(one) for one in family]
    no_relevant = evaluation.conventions.no_relevant
    return [score_of(one, its, its, no_relevant) for one, its in zip(family, placed, strict=True)]


def drawn(found: Sequence[Row], step: str, x: alt.X, title: str, finding: str) -> alt.LayerChart:
    """Return lines of several systems, with bands if there are few."""
    order = list(dict.fromkeys(row["label"] for row in found))
    kept = order[:MOST]
    rows = [row for row in found if row["label"] in kept]
    scale = alt.Scale(domain=kept, range=list(SERIES[: len(kept)]))
    legend = None if len(kept) == 1 else alt.Legend(title=None, columns=2, labelLimit=190, symbolOpacity=1)
    colour = alt.Color("label:N", scale=scale, legend=legend, sort=kept)
    dash = alt.StrokeDash(
        "label:N",
        scale=alt.Scale(domain=kept, range=[list(one) for one in DASHES[: len(kept)]]),
        legend=legend,
        sort=kept,
    )
    shape = alt.Shape(
        "label:N", scale=alt.Scale(domain=kept, range=list(SHAPES[: len(kept)])), legend=legend, sort=kept
    )
    tip = [alt.Tooltip(one) for one in ("label:N", f"{step}:Q", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q")]

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=False, nice=True))

    base = alt.Chart().encode(x)
    layers = []
    if len(kept) <= MOST_BANDS:
        layers += [
            base.mark_area(opacity=0.22).encode(y("tie_min"), alt.Y2("tie_max"), color=colour),
            base.mark_rule(opacity=0.9, strokeWidth=1.2).encode(y("low"), alt.Y2("high"), color=colour),
        ]
    layers += [
        base.mark_line(strokeWidth=1.8).encode(y("mean"), color=colour, strokeDash=dash),
        base.mark_point(filled=True, size=34, opacity=1).encode(y("mean"), color=colour, shape=shape, tooltip=tip),
    ]
    return finished(layers, rows, height=HEIGHT, title=finding, notes=_notes(found, kept, len(order)))


def _notes(found: Sequence[Row], kept: Sequence[str], n_systems: int) -> list[str]:
    notes = ["point: exact mean over tie orders"]
    is_moved = any(row["tie_max"] - row["tie_min"] > NOISE for row in found)
    if len(kept) <= MOST_BANDS:
        notes.append("band: range over tie orders" if is_moved else "no order of ties changes one")
        known = [row for row in found if row["low"] is not None]
        notes.append(
            f"line: {known[0]['level']:.0%} interval over queries ({known[0]['method']})"
            if known
            else f"no interval: {found[0]['unknown']}"
        )
    text = "; ".join(notes) + "."
    if len(kept) > MOST_BANDS:
        text += f" Tie ranges and intervals are drawn for one or two systems, not for {n_systems}."
    return [text, f"The best {len(kept)} of {n_systems:,} systems." if len(kept) < n_systems else ""]


def _finding(found: Sequence[Row], whole: Measure, family: Sequence[tuple[float, Measure]]) -> str:
    first = found[0]
    own = [row for row in found if row["label"] == first["label"]]
    over = n_queries(*(row["n_queries"] for row in found))
    ends = (
        f"{whole.label} from {number(own[0]['mean'])} @{family[0][0]:g} to {number(own[-1]['mean'])} @{family[-1][0]:g}"
    )
    widest = max(own, key=lambda row: row["tie_max"] - row["tie_min"])
    of_ties = f"; tie order moves it most @{widest['cutoff']}" if widest["tie_max"] - widest["tie_min"] > NOISE else ""
    return f"{shown(first['system'])}: {ends} ({over}){of_ties}"
