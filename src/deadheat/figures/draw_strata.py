"""Means by stratum of queries, such as difficulty or language, of one system or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import altair as alt

from deadheat.errors import FigureError, SourceTypeError
from deadheat.evaluation.evaluation import Strata
from deadheat.evaluation.intervals import IntervalOptions
from deadheat.evaluation.strata import label as label_of
from deadheat.figures.base import STRATA, figure
from deadheat.figures.style import BAND, NOISE, SERIES, SHAPES, Row, finished, labels, number, shown
from deadheat.figures.systems import better, counted_as, interval_options, measure_of
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike
from deadheat.wording import Plain, counted, three

MOST_SYSTEMS = 6
MOST_STRATA = 40

StrataOf: TypeAlias = "Strata | Mapping[str, Strata] | Sequence[Strata]"
"""The strata of one system, or of several."""


@figure(STRATA, place=80)
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
    named = _named(systems)
    of = measure_of({name: one.whole for name, one in named.items()}, measure)
    ranked = sorted(named, key=lambda name: named[name].whole[of].mean, reverse=of.higher_is_better)
    named = {name: named[name] for name in ranked}
    asked = interval_options(options)
    kept = dict(list(named.items())[:MOST_SYSTEMS])
    rows = [row for name, one in zip(labels(kept), kept.values(), strict=True) for row in _rows(name, one, of, asked)]
    having = [row for row in rows if row["mean"] == row["mean"]]
    if not having:
        raise FigureError(f"no stratum has a value of {of.label}")
    order = list(dict.fromkeys(row["label"] for row in having))
    having = [row for row in having if row["label"] in order[:MOST_STRATA]]
    shown_order = order[:MOST_STRATA]
    size = max(20, 13 * len(kept) + 6)
    layers = _layers(
        shown_order,
        list(dict.fromkeys(row["system"] for row in having)),
        f"{of.label}, mean over queries ({better(of)})",
    )
    return finished(
        layers,
        having,
        height=size * len(shown_order),
        title=_finding(having, of.label, of.higher_is_better, next(iter(named.values()))),
        notes=_notes(having, len(named), len(order), next(iter(named.values()))),
    )


def _named(systems: StrataOf) -> dict[str, Strata]:
    if isinstance(systems, Strata):
        return {systems.whole.name: systems}
    if isinstance(systems, Mapping):
        several = [(str(name), one) for name, one in systems.items()]
    else:
        several = [(_name_of(one), one) for one in systems]
    found = {name: one for name, one in several if isinstance(one, Strata)}
    if not found:
        raise SourceTypeError(
            argument="systems", given=Plain(type(systems).__name__), allowed="Strata, or several by name"
        )
    return found


def _name_of(strata: object) -> str:
    return strata.whole.name if isinstance(strata, Strata) else ""


def _rows(system: str, own: Strata, measure: Measure, options: IntervalOptions) -> list[Row]:
    found = own.estimate(options)
    rows = []
    for stratum, evaluation in own.items():
        scores, interval = evaluation[measure], found[stratum][own.whole[measure].measure.label]
        rows.append(
            {
                "system": system,
                "stratum": label_of(stratum),
                "label": f"{shown(label_of(stratum))} (n = {scores.n_queries:,})",
                "n_queries": scores.n_queries,
                "mean": scores.mean,
                "low": interval.low if interval.is_known else None,
                "high": interval.high if interval.is_known else None,
                "tie_min": scores.mean_tie_min,
                "tie_max": scores.mean_tie_max,
                "unknown": interval.unknown,
                "level": interval.confidence_level,
            }
        )
    return rows


def _layers(order: Sequence[str], systems: Sequence[str], title: str) -> list[alt.Chart]:
    y = alt.Y("label:N", sort=list(order), title=None, axis=alt.Axis(ticks=False, domain=False, grid=True))
    legend = alt.Legend(title=None, columns=2, symbolOpacity=1) if len(systems) > 1 else None
    names = list(systems)
    colour = alt.Color(
        "system:N", sort=names, scale=alt.Scale(domain=names, range=list(SERIES[: len(names)])), legend=legend
    )
    shape = alt.Shape(
        "system:N", sort=names, scale=alt.Scale(domain=names, range=list(SHAPES[: len(names)])), legend=legend
    )
    base = alt.Chart().encode(y)
    if len(names) > 1:
        base = base.encode(
            yOffset=alt.YOffset(
                "system:N", sort=names, scale=alt.Scale(domain=names, paddingInner=0.3, paddingOuter=0.25)
            )
        )

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=False, nice=True))

    tip = [
        alt.Tooltip(one)
        for one in ("system:N", "label:N", "n_queries:Q", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q")
    ]
    return [
        base.mark_bar(color=BAND, height=9).encode(x("tie_min"), alt.X2("tie_max")),
        base.mark_rule(strokeWidth=1.6).encode(x("low"), alt.X2("high"), color=colour),
        base.mark_point(filled=True, opacity=1, size=46, stroke="white", strokeWidth=0.6).encode(
            x("mean"), color=colour, shape=shape, tooltip=tip
        ),
    ]


def _finding(rows: Sequence[Row], measure: str, higher: bool, first: Strata) -> str:  # noqa: FBT001 - of a measure
    own = [row for row in rows if row["system"] == rows[0]["system"]]
    enough = [row for row in own if row["n_queries"] >= first.smallest]
    own = enough if len(enough) > 1 else own
    best, worst = (pick(own, key=lambda row: row["mean"]) for pick in ((max, min) if higher else (min, max)))
    by = " and ".join(map(shown, first.columns))
    if best is worst:
        return f"{shown(best['system'])}: {measure} {number(best['mean'])} for {best['label']}"
    return (
        f"{shown(best['system'])} by {by}: {measure} is best for {shown(best['stratum'])} ({_level(best)}),"
        f" worst for {shown(worst['stratum'])} ({_level(worst)})"
    )


def _level(row: Row) -> str:
    return f"{number(row['mean'])}, n = {row['n_queries']:,}"


def _notes(rows: Sequence[Row], n_systems: int, n_strata: int, first: Strata) -> list[str]:
    parts = [f"dot: mean ({counted_as(first.whole)})"]
    smallest = first.smallest
    known = [row for row in rows if row["low"] is not None]
    if known:
        parts.append(f"line: {known[0]['level']:.0%} interval over queries")
    if any(row["tie_max"] - row["tie_min"] > NOISE for row in rows):
        parts.append("band: range over tie orders")
    lacking = [row for row in rows if row["low"] is None]
    reasons = three(list(dict.fromkeys(row["unknown"] for row in lacking)))
    without = f"No interval for {counted(len(lacking), 'mean')}: {reasons}." if lacking else ""
    left = f"The first {MOST_SYSTEMS} of {counted(n_systems, 'system')}." if n_systems > MOST_SYSTEMS else ""
    strata_left = f"The first {MOST_STRATA} of {n_strata:,} strata." if n_strata > MOST_STRATA else ""
    n_small = sum(row["n_queries"] < smallest for row in rows)
    is_named = 0 < n_small < len(rows)
    named = f"The title is about strata of {smallest} queries and more." if is_named else ""
    return ["; ".join(parts) + ".", without, named, left, strata_left]
