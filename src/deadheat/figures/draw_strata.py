"""Means by stratum of queries, such as difficulty or language, of one system or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import altair as alt

from deadheat.errors import FigureError
from deadheat.evaluation.evaluation import Strata
from deadheat.evaluation.intervals import IntervalOptions
from deadheat.evaluation.strata import label as label_of
from deadheat.figures.base import figure
from deadheat.figures.style import BAND, Row, finished, labels, left_out, number, row_axis, series, short
from deadheat.figures.systems import (
    better,
    interval_options,
    marks,
    measure_of,
    of_mean,
    several_by_name,
    ties_count_as,
)
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike

MOST_SYSTEMS = 6
MOST_STRATA = 40

StrataOf: TypeAlias = "Strata | Mapping[str, Strata] | Sequence[Strata]"
"""The strata of one system, or of several."""


@figure("strata", place=80)
def strata(
    systems: StrataOf, measure: MeasureLike | None = None, *, options: Mapping[str, Any] | IntervalOptions | None = None
) -> alt.LayerChart:
    """Draw the mean of each stratum with its interval and tie range, a line for each system.

    Parameters
    ----------
    systems : Strata, or several by the name of the system
        As :meth:`Evaluation.by` returns them.
    measure : measure, optional
        By default the first.
    options : dict, optional
        Of the intervals, as for :meth:`Scores.interval`.

    Returns
    -------
    altair.LayerChart
        The strata in their own order, such as easy, medium, hard.

    Raises
    ------
    FigureError
        No stratum has a value.

    Examples
    --------
    >>> import polars as pl
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}, "RR")
    >>> levels = pl.DataFrame({"query_id": ["q1", "q2"], "level": ["easy", "hard"]})
    >>> [(row["stratum"], row["mean"]) for row in strata(ev.by("level", levels)).data.values]
    [('easy', 1.0), ('hard', 0.75)]
    """
    named = several_by_name("systems", systems, Strata, "Strata, or several by name")
    evaluations = {name: one.whole for name, one in named.items()}
    of = measure_of(evaluations, measure)
    ranked = sorted(named, key=lambda name: evaluations[name][of].mean, reverse=of.higher_is_better)
    kept = ranked[:MOST_SYSTEMS]
    asked = interval_options(options)
    rows = [row for label, name in zip(labels(kept), kept, strict=True) for row in _rows(label, named[name], of, asked)]
    rows = [row for row in rows if row["mean"] == row["mean"]]
    if not rows:
        raise FigureError(f"no stratum has a value of {of.label}")
    order = list(dict.fromkeys(row["label"] for row in rows))
    drawn = order[:MOST_STRATA]
    rows = [row for row in rows if row["label"] in drawn]
    names = list(dict.fromkeys(row["system"] for row in rows))
    colour, shape, _ = series("system", names, alt.Legend(title=None, columns=2, symbolOpacity=1))
    base = alt.Chart().encode(row_axis(drawn, grid=True))
    if len(names) > 1:
        scale = alt.Scale(domain=names, paddingInner=0.3, paddingOuter=0.25)
        base = base.encode(yOffset=alt.YOffset("system:N", sort=names, scale=scale))
    title = f"{of.label}, mean over queries ({better(of)})"
    x = partial(alt.X, type="quantitative", title=title, scale=alt.Scale(zero=False, nice=True))
    tip = ["system:N", "label:N", "n_queries:Q", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q"]
    point = base.mark_point(filled=True, opacity=1, size=46, stroke="white", strokeWidth=0.6)
    layers = [
        base.mark_bar(color=BAND, height=9).encode(x("tie_min"), alt.X2("tie_max")),
        base.mark_rule(strokeWidth=1.6).encode(x("low"), alt.X2("high"), color=colour),
        point.encode(x("mean"), color=colour, shape=shape, tooltip=tip),
    ]
    first = named[ranked[0]]
    n_small = sum(row["n_queries"] < first.smallest for row in rows)
    notes = [
        *marks(rows, f"dot: mean ({ties_count_as(evaluations)})"),
        f"The title is about strata of {first.smallest} queries and more." if 0 < n_small < len(rows) else "",
        left_out(len(kept), len(named)),
        left_out(len(drawn), len(order), "strata", "first"),
    ]
    height = max(20, 13 * len(kept) + 6) * len(drawn)
    return finished(layers, rows, height=height, title=_finding(rows, of, first), notes=notes)


def _rows(system: str, own: Strata, measure: Measure, options: IntervalOptions) -> list[Row]:
    found = own.estimate(options)
    rows = []
    for stratum, evaluation in own.items():
        scores, name = evaluation[measure], label_of(stratum)
        label = f"{short(name)} (n = {scores.n_queries:,})"
        interval = found[stratum][own.whole[measure].measure.label]
        rows.append({"system": system, "stratum": name, "label": label, **of_mean(scores, interval)})
    return rows


def _finding(rows: Sequence[Row], measure: Measure, first: Strata) -> str:
    """Say for which stratum the best system has the best mean, and for which the worst."""
    own = [row for row in rows if row["system"] == rows[0]["system"]]
    enough = [row for row in own if row["n_queries"] >= first.smallest]
    ranked = sorted(enough if len(enough) > 1 else own, key=lambda row: row["mean"], reverse=measure.higher_is_better)
    best, worst, system = ranked[0], ranked[-1], short(rows[0]["system"])
    if len(ranked) == 1:
        return f"{system}: {measure.label} {number(best['mean'])} for {best['label']}"
    ends = (f"{short(row['stratum'])} ({number(row['mean'])}, n = {row['n_queries']:,})" for row in (best, worst))
    by = " and ".join(map(short, first.columns))
    return f"{system} by {by}: {measure.label} is best for {', worst for '.join(ends)}"
