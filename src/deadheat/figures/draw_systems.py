"""Systems, a row each: the forest plot, rank intervals, and values with ties broken by a rule beside the exact ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

import altair as alt
import polars as pl

from deadheat.comparison.comparison import Comparison
from deadheat.errors import FigureError, MeasureError
from deadheat.evaluation.intervals import IntervalOptions
from deadheat.figures.base import figure, kind_of
from deadheat.figures.draw_ties import Ties, of_measure, rule_of, table_of
from deadheat.figures.style import (
    BAND,
    BLACK,
    BLUE,
    NOISE,
    ORANGE,
    SKY,
    Row,
    finished,
    labels,
    left_out,
    n_queries,
    number,
    row_axis,
    row_height,
    share_text,
    short,
    signed,
)
from deadheat.figures.systems import (
    System,
    Systems,
    better,
    marks,
    measure_of,
    named,
    of_mean,
    systems_of,
    ties_count_as,
)
from deadheat.measures import parse_measure
from deadheat.measures.notation import MeasureLike
from deadheat.wording import BY_DOC_ID, counted

MOST, MOST_RULED = 60, 40  # systems that a page has room for, with one row each and with two bars
FOUND: WeakKeyDictionary[Comparison, pl.DataFrame] = WeakKeyDictionary()


@figure("systems", "comparison", place=10)
def forest(
    systems: Systems,
    measure: MeasureLike | None = None,
    *,
    beside: Systems | None = None,
    options: Mapping[str, Any] | IntervalOptions | None = None,
) -> alt.LayerChart:
    """Draw each system's mean, its confidence interval, and the range in which tie order alone can move it.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
    measure : measure, optional
        By default the first.
    beside : Evaluation or several, optional
        The same systems with ``ties="doc_id"``: a tick, ties by document id, as trec_eval. A comparison knows it.
    options : dict, optional
        Of the intervals, as for :meth:`Scores.interval`; a comparison has its own.

    Returns
    -------
    altair.LayerChart
        The best system first.

    Raises
    ------
    FigureError
        No system has a value.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, "RR")
    >>> row, = forest(ev).data.values
    >>> row["mean"], row["tie_min"], row["tie_max"]
    (0.75, 0.5, 1.0)
    """
    found = systems_of(systems, measure, beside, options)
    kept = found[:MOST]
    rows: list[Row] = [
        {
            "label": label,
            "system": one.name,
            "measure": str(one.scores.measure.label),
            "by_doc_id": one.by_doc_id,
            **of_mean(one.scores, one.interval),
        }
        for label, one in zip(labels(one.name for one in kept), kept, strict=True)
    ]
    of = found[0].scores.measure
    size = row_height(len(rows))
    title = f"{of.label}, mean over queries ({better(of)})"
    x = partial(alt.X, type="quantitative", title=title, scale=alt.Scale(zero=False, nice=True))
    base = alt.Chart().encode(
        row_axis([row["label"] for row in rows]),
        tooltip=["label:N", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q", "by_doc_id:Q", "n_queries:Q"],
    )
    end = base.mark_tick(color=BLUE, opacity=1, thickness=1.6, height=size * 0.3)
    layers = [
        base.mark_bar(color=BAND, height=size * 0.55).encode(x("tie_min"), alt.X2("tie_max")),
        base.mark_rule(color=BLUE, strokeWidth=1.6).encode(x("low"), alt.X2("high")),
        end.encode(x("low")),
        end.encode(x("high")),
        base.mark_tick(color=BLACK, opacity=1, thickness=2, height=size * 0.75).encode(x("by_doc_id")),
        base.mark_point(fill=BLUE, opacity=1, size=size * 1.8, stroke="white", strokeWidth=0.7).encode(x("mean")),
    ]
    has_rule = any(one.by_doc_id == one.by_doc_id for one in found)
    dot = f"dot: mean ({ties_count_as(named(systems))})"
    notes = [*marks(rows, dot, f"tick: ties {BY_DOC_ID}" if has_rule else ""), left_out(len(kept), len(found))]
    return finished(layers, rows, height=len(rows) * size, title=_who_leads(found), notes=notes)


def _who_leads(found: Sequence[System]) -> str:
    """Say who leads, over how many queries, and what tie order can make of it."""
    first, *others = found
    of, scores = first.scores.measure, first.scores
    over = n_queries(*(one.scores.n_queries for one in found))
    low, high = scores.mean_tie_min, scores.mean_tie_max
    if not others:
        moved = (
            f"tie order alone moves it from {number(low)} to {number(high)}"
            if high - low > NOISE
            else "no order of ties changes it"
        )
        return f"{short(first.name)}: {of.label} {number(scores.mean)} over {over}; {moved}"
    end = "highest" if of.higher_is_better else "lowest"
    equal = sum(abs(one.scores.mean - scores.mean) <= NOISE for one in others)
    who = f"{short(first.name)} and {counted(equal, 'other')} have" if equal else f"{short(first.name)} has"
    return f"{who} the {end} {of.label}: {number(scores.mean)} over {over}; {_of_ties(found)}"


def _of_ties(found: Sequence[System]) -> str:
    """Say whether an order of the ties puts another system first; those of two runs are independent."""
    sign = 1 if found[0].scores.measure.higher_is_better else -1
    ends = [sorted((sign * one.scores.mean_tie_min, sign * one.scores.mean_tie_max)) for one in found]
    if all(best - worst <= NOISE for worst, best in ends):
        return "no order of ties changes a mean"
    first, highest = ends[0][0], max(worst for worst, _ in ends)
    rivals = [
        one.name
        for one, (_, best) in zip(found[1:], ends[1:], strict=True)
        if best > first + NOISE and best >= highest - NOISE
    ]
    if not rivals:
        return "no order of ties puts another system ahead"
    whom = short(rivals[0]) if len(rivals) == 1 else f"any of {len(rivals)} others"
    return f"tie order alone can put {whom} first"


@figure("comparison", place=15)
def ranks(
    comparison: Comparison, measure: MeasureLike | None = None, *, intervals: pl.DataFrame | None = None
) -> alt.LayerChart:
    """Draw each system's rank as an interval, over resampled queries and drawn tie orders, and how likely it is best.

    Parameters
    ----------
    comparison : Comparison
    measure : measure, optional
        By default the first.
    intervals : polars.DataFrame, optional
        Columns measure, system, rank, low, high, p_best; by default those of :meth:`Comparison.rank_intervals`.

    Returns
    -------
    altair.LayerChart
        The best system first.

    Raises
    ------
    FigureError
        No system has a rank.

    Examples
    --------
    >>> import polars as pl
    >>> from deadheat import compare
    >>> runs = {"one": {"q1": {"a": 2, "b": 1}}, "other": {"q1": {"a": 1, "b": 1}}}
    >>> found = {"measure": "RR", "system": ["one", "other"], "rank": [1.0, 2.0], "low": [1, 1], "high": [2, 2]}
    >>> chart = ranks(compare({"q1": {"a": 1}}, runs, "RR"), intervals=pl.DataFrame(found).with_columns(p_best=0.5))
    >>> [(row["system"], row["low"], row["high"]) for row in chart.data.values]
    [('one', 1, 2), ('other', 1, 2)]
    """
    of = measure_of(comparison.evaluations, measure).label
    frame = found_for(comparison) if intervals is None else intervals
    own = frame.filter((pl.col("measure") == of) & pl.col("rank").is_not_null() & pl.col("low").is_not_null())
    ranked = own.sort("rank", "low", "high", "system").to_dicts()
    if not ranked:
        raise FigureError(f"no system has a rank by {of}")
    kept = ranked[:MOST]
    names = labels(row["system"] for row in kept)
    rows: list[Row] = [
        {"label": label, **row, "best": share_text(float(row["p_best"]))}
        for label, row in zip(names, kept, strict=True)
    ]
    size, last = row_height(len(rows)), max(2.0, *(float(row["high"]) for row in rows))
    scale = alt.Scale(domain=[1, 1 + 1.13 * (last - 1)], nice=False, padding=8)  # with room for the percentages
    axis = alt.Axis(values=list(range(1, int(last) + 1, max(1, round((last - 1) / 12)))), format="d")
    x = partial(alt.X, type="quantitative", title=f"rank by {of} (1 is best)", scale=scale, axis=axis)
    tip = ["label:N", "rank:Q", "low:Q", "high:Q", "p_best:Q"]
    base = alt.Chart().encode(row_axis(names, grid=True), tooltip=tip)
    is_likely = alt.condition("datum.p_best >= 0.005", alt.value(1), alt.value(0))
    point = base.mark_point(filled=True, color=BLUE, opacity=1, size=size * 2.2, stroke="white", strokeWidth=0.6)
    text = base.mark_text(align="right", fontSize=10, color="#222", dx=-4)
    layers = [
        base.mark_bar(color=SKY, opacity=0.6, height=size * 0.45, cornerRadius=2).encode(x("low"), alt.X2("high")),
        base.mark_rule(color=BLUE, strokeWidth=1.2).encode(x("low"), alt.X2("high")),
        point.encode(x("rank")),
        text.encode(x=alt.value("width"), text="best:N", opacity=is_likely),
    ]
    first = ranked[0]
    n = n_queries(*(one[of].n_queries for one in comparison.evaluations.values()))
    title = (
        f"{short(first['system'])} ranks {first['low']:g} to {first['high']:g} of {len(ranked)} by {of};"
        f" it is best with probability {share_text(float(first['p_best']))} ({n})"
    )
    level = f"{comparison.design.confidence_level:.0%}"
    notes = [
        f"dot: rank; bar: {level} of the ranks over resampled queries and drawn tie orders.",
        "Percentage: probability to be the best.",
        left_out(len(kept), len(ranked)),
    ]
    return finished(layers, rows, height=len(rows) * size, title=title, notes=notes)


def found_for(comparison: Comparison) -> pl.DataFrame:
    """Return the intervals of ranks by all measures, found once for a comparison: figures are of one measure each."""
    if comparison not in FOUND:
        FOUND[comparison] = comparison.rank_intervals()
    return FOUND[comparison]


@figure("ties", "systems", "comparison", place=50)
def traditional(
    systems: Systems | Ties, measure: MeasureLike | None = None, *, beside: Systems | None = None
) -> alt.LayerChart:
    """Draw each system's mean with ties broken by a rule beside the exact mean, and the range over tie orders.

    Parameters
    ----------
    systems : Evaluation, Comparison, several evaluations, or profiles of ties
    measure : measure, optional
        By default the first.
    beside : Evaluation or several, optional
        Of evaluations: the same systems with ``ties="doc_id"``; a comparison and a profile know it.

    Returns
    -------
    altair.LayerChart
        The best system first.

    Raises
    ------
    FigureError
        The values with ties broken so are not known.
    """
    if kind_of(systems) == "ties":
        table = table_of(cast("Ties", systems))
        of, own = of_measure(table, measure)
        rows, rule = _of_table(own, of), rule_of(table)
    else:
        of, rows = _of_systems(cast("Systems", systems), measure, beside)
        rule = BY_DOC_ID
    kept = rows[:MOST_RULED]
    order = labels(row["system"] for row in kept)
    data = [
        {"label": label, "kind": kind, "value": row[key], **row}
        for label, row in zip(order, kept, strict=True)
        for kind, key in (("exact", "exact"), (rule, "traditional"))
    ]
    names = ["exact", rule]
    offset = alt.YOffset("kind:N", sort=names, scale=alt.Scale(domain=names, paddingInner=0, paddingOuter=0.18))
    colour = alt.Color(
        "kind:N", sort=names, scale=alt.Scale(domain=names, range=[BLUE, ORANGE]), legend=alt.Legend(title=None)
    )
    tip = ["label:N", "exact:Q", "traditional:Q", "tie_min:Q", "tie_max:Q", "n_queries:Q"]
    x = partial(alt.X, type="quantitative", title=f"{of}, mean over queries", scale=alt.Scale(zero=True))
    base = alt.Chart().encode(row_axis(order))
    ranges = base.transform_filter("datum.kind == 'exact' && datum.tie_max - datum.tie_min > 1e-12")
    layers = [
        base.mark_bar().encode(x("value"), yOffset=offset, color=colour, tooltip=tip),
        ranges.mark_rule(color=BLACK, strokeWidth=1.2).encode(x("tie_min"), alt.X2("tie_max")),
    ]
    moved = any(row.get("tie_max") is not None and row["tie_max"] - row["tie_min"] > NOISE for row in rows)
    lines = "; black line: range over tie orders" if moved else ""
    return finished(
        layers,
        data,
        height=max(24, 2 * row_height(len(kept)) - 8) * len(kept),
        title=_what_changes(rows, of, rule),
        notes=[f"exact: mean over all tie orders{lines}.", left_out(len(kept), len(rows))],
    )


def _of_systems(systems: Systems, measure: MeasureLike | None, beside: Systems | None) -> tuple[str, list[Row]]:
    found = [(one, one.scores) for one in systems_of(systems, measure, beside) if one.by_doc_id == one.by_doc_id]
    if not found:
        raise FigureError(
            f"values with ties broken {BY_DOC_ID}, are not known: they take the runs, and ties that count by their"
            " exact mean",
            python="evaluations with ties='doc_id' may be given as beside",
        )
    rows = [
        {
            "system": one.name,
            "exact": replace(scores, values=scores.tie_mean).mean,
            "traditional": one.by_doc_id,
            "tie_min": scores.mean_tie_min,
            "tie_max": scores.mean_tie_max,
            "n_queries": scores.n_queries,
        }
        for one, scores in found
    ]
    return found[0][1].measure.label, rows


def _of_table(own: pl.DataFrame, measure: str) -> list[Row]:
    means = [pl.col("exact").mean(), pl.col("traditional").mean(), pl.len().alias("n_queries")]
    ends = [pl.col(name).mean() for name in ("tie_min", "tie_max") if name in own.columns]
    rows = own.group_by("run", maintain_order=True).agg(*means, *ends).rename({"run": "system"}).to_dicts()
    try:
        higher = parse_measure(measure).higher_is_better
    except MeasureError:  # of a caller's own
        higher = True
    return sorted(rows, key=lambda row: -row["exact"] if higher else row["exact"])


def _what_changes(rows: Sequence[Row], measure: str, rule: str) -> str:
    n = n_queries(*(row["n_queries"] for row in rows))
    widest = max(rows, key=lambda row: abs(row["traditional"] - row["exact"]))
    off = widest["traditional"] - widest["exact"]
    if abs(off) <= NOISE:
        return f"Ties broken {rule}, give the exact mean {measure} (over {n})"
    order = [[row["system"] for row in sorted(rows, key=lambda row: row[key])] for key in ("exact", "traditional")]
    changed = "; they rank the systems in another order" if order[0] != order[1] else ""
    return f"Ties broken {rule}, change {measure} of {short(widest['system'])} by {signed(off)} ({n}){changed}"
