"""Rank intervals: which places each system may take, over queries and tie orders."""

from __future__ import annotations

from functools import partial
from weakref import WeakKeyDictionary

import altair as alt
import polars as pl

from deadheat.comparison.comparison import Comparison
from deadheat.errors import FigureError
from deadheat.figures.base import figure
from deadheat.figures.style import (
    BLUE,
    SKY,
    Row,
    finished,
    labels,
    left_out,
    n_queries,
    row_axis,
    row_height,
    share_text,
    shown,
)
from deadheat.figures.systems import measure_of
from deadheat.measures.notation import MeasureLike

MOST = 60
FOUND: WeakKeyDictionary[Comparison, pl.DataFrame] = WeakKeyDictionary()


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
        f"{shown(first['system'])} ranks {first['low']:g} to {first['high']:g} of {len(ranked)} by {of};"
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
