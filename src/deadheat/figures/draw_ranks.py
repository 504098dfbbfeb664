"""Rank intervals: which places each system may take, over queries and tie orders."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import altair as alt
import polars as pl

from deadheat.comparison.comparison import Comparison
from deadheat.errors import FigureError
from deadheat.figures.base import COMPARISON, figure
from deadheat.figures.style import BLUE, SKY, Row, finished, labels, n_queries, row_height, share_text, shown
from deadheat.figures.systems import measure_of
from deadheat.measures.notation import MeasureLike

MOST = 60
FOUND: WeakKeyDictionary[Comparison, pl.DataFrame] = WeakKeyDictionary()


@figure(COMPARISON, place=15)
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
    size, last = row_height(len(rows)), max(float(row["high"]) for row in rows)
    y = alt.Y("label:N", sort=names, title=None, axis=alt.Axis(ticks=False, domain=False, grid=True))
    end = max(2.0, last)
    scale = alt.Scale(domain=[1, 1 + 1.13 * (end - 1)], nice=False, padding=8)  # with room for the percentages
    step = max(1, round((last - 1) / 12))
    axis = alt.Axis(values=list(range(1, int(end) + 1, step)), format="d")

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=f"rank by {of} (1 is best)", scale=scale, axis=axis)

    base = alt.Chart().encode(
        y, tooltip=[alt.Tooltip(one) for one in ("label:N", "rank:Q", "low:Q", "high:Q", "p_best:Q")]
    )
    layers = [
        base.mark_bar(color=SKY, opacity=0.6, height=size * 0.45, cornerRadius=2).encode(x("low"), alt.X2("high")),
        base.mark_rule(color=BLUE, strokeWidth=1.2).encode(x("low"), alt.X2("high")),
        base.mark_point(filled=True, color=BLUE, opacity=1, size=size * 2.2, stroke="white", strokeWidth=0.6).encode(
            x("rank")
        ),
        base.mark_text(align="right", fontSize=10, color="#222", dx=-4).encode(
            x=alt.value("width"),
            text="best:N",
            opacity=alt.condition("datum.p_best >= 0.005", alt.value(1), alt.value(0)),
        ),
    ]
    return finished(
        layers,
        rows,
        height=len(rows) * size,
        title=_finding(comparison, of, ranked),
        notes=_notes(comparison, ranked, len(kept)),
    )


def found_for(comparison: Comparison) -> pl.DataFrame:
    """Return the intervals of ranks by all measures, found once for a comparison: figures are of one measure each."""
    if comparison not in FOUND:
        FOUND[comparison] = comparison.rank_intervals()
    return FOUND[comparison]


def _finding(comparison: Comparison, measure: str, ranked: list[Row]) -> str:
    first = ranked[0]
    n = n_queries(*(one[measure].n_queries for one in comparison.evaluations.values()))
    return (
        f"{shown(first['system'])} ranks {first['low']:g} to {first['high']:g} of {len(ranked)} by {measure};"
        f" it is best with probability {share_text(float(first['p_best']))} ({n})"
    )


def _notes(comparison: Comparison, ranked: list[Row], n_shown: int) -> list[str]:
    level = f"{comparison.design.confidence_level:.0%}"
    more = f"The first {n_shown} of {len(ranked):,} systems." if n_shown < len(ranked) else ""
    return [
        f"dot: rank; bar: {level} of the ranks over resampled queries and drawn tie orders.",
        "Percentage: probability to be the best.",
        more,
    ]
