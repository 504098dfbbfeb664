"""One system against another, query by query: points, and boxes where ties leave values open."""

from __future__ import annotations

from functools import partial

import altair as alt
import numpy as np

from deadheat.arrays import BoolArray
from deadheat.comparison.comparison import Comparison
from deadheat.figures.base import figure
from deadheat.figures.duels import Duel, duel_of, tested_by
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
    n_queries,
    p_text,
    shown,
)
from deadheat.measures.notation import MeasureLike
from deadheat.wording import counted

MOST_POINTS = 500
CELLS = 30  # of a grid, along each axis, for more queries than that
RANGES = ("system", "system_min", "system_max", "baseline", "baseline_min", "baseline_max")


@figure("comparison", place=30)
def scatter(
    comparison: Comparison,
    measure: MeasureLike | None = None,
    *,
    system: str | None = None,
    baseline: str | None = None,
) -> alt.LayerChart:
    """Draw one system against another, a point for each query, and a box where tie order leaves its values open.

    Parameters
    ----------
    comparison : Comparison
    measure : measure, optional
        By default the first.
    system, baseline : str, optional
        By default the best system against the baseline, or against the second best.

    Returns
    -------
    altair.LayerChart
        Of more than 500 queries, circles on a grid say how many lie there.

    Raises
    ------
    FigureError
        The two were not compared, or have no query in common.

    Examples
    --------
    >>> from deadheat import compare
    >>> one, other = {"q1": {"a": 2, "b": 1}}, {"q1": {"a": 1, "b": 1}}
    >>> chart = scatter(compare({"q1": {"a": 1}}, {"one": one, "other": other}, "RR"))
    >>> row, = chart.data.values
    >>> row["system"], row["baseline"], row["baseline_min"], row["baseline_max"]
    (1.0, 0.75, 0.5, 1.0)
    """
    duel = duel_of(comparison, measure, system, baseline)
    is_share = duel.measure.range == (0.0, 1.0)
    ranges = np.stack([duel.values, duel.lowest, duel.highest])
    low, high = (0.0, 1.0) if is_share else (float(ranges.min()), float(ranges.max()))
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    scale = alt.Scale(domain=[low, high], nice=not is_share, zero=False)
    x, y = (
        partial(channel, type="quantitative", title=f"{duel.measure.label} of {shown(name)}", scale=scale)
        for channel, name in ((alt.X, duel.baseline), (alt.Y, duel.system))
    )
    ends = alt.Chart(alt.InlineData(values=[{"x": low, "y": low}, {"x": high, "y": high}]))
    diagonal = ends.mark_line(color="#555", strokeDash=[4, 3], strokeWidth=1).encode(x("x"), y("y"))
    colour = alt.condition("datum.is_open", alt.value(ORANGE), alt.value(BLUE))
    base = alt.Chart().encode(x("baseline"), y("system"), color=colour)
    better = "above" if duel.measure.higher_is_better else "below"
    where = f"{better} the dashed line {shown(duel.system)} is better"
    if len(duel.query_ids) > MOST_POINTS:
        rows = _cells(duel, low, high)
        most = max(row["n_queries"] for row in rows)
        size = alt.Size(
            "n_queries:Q",
            title="queries",
            scale=alt.Scale(type="sqrt", domain=[0, most], range=[0, 260]),
            legend=alt.Legend(values=sorted({1, most // 4, most} - {0}), format="d"),
        )
        circles = base.mark_circle(opacity=0.75, stroke="white", strokeWidth=0.4)
        tip = ["n_queries:Q", "system:Q", "baseline:Q", "share_open:Q"]
        layers = [diagonal, circles.encode(size=size, tooltip=tip)]
        note = f"circle: queries with about these values (orange: tie order decides at least half of them); {where}."
    else:
        rows = _points(duel)
        n_boxes = sum(row["has_range"] for row in rows)
        shape = alt.condition("datum.is_open", alt.value("square"), alt.value("circle"))
        dots = base.mark_point(filled=True, opacity=1, size=34, stroke=BLACK, strokeWidth=0.5)
        tip = ["label:N", *(f"{name}:Q" for name in RANGES)]
        box = _box(n_boxes).encode(x("baseline_min"), y("system_min"), alt.X2("baseline_max"), alt.Y2("system_max"))
        layers = [box, diagonal, dots.encode(shape=shape, tooltip=tip)]
        queries = counted(n_boxes, "query", "queries")
        boxes = f"box: range over tie orders ({queries})" if n_boxes else "no order of ties moves one"
        note = f"point: a query; {boxes}; orange and square: tie order decides who is better; {where}."
    n_open, n = int(duel.is_open.sum()), n_queries(len(duel.query_ids))
    pair = f"{shown(duel.system)} against {shown(duel.baseline)}"
    decided = f"tie order decides {f'{n_open:,}' if n_open else 'none'} of {n}"
    title = f"{pair} by {duel.measure.label}: {decided} ({p_text(duel.p_value)})"
    notes = [note, tested_by(comparison.design, len(comparison[duel.measure]))]
    return finished(layers, rows, height=330, title=title, notes=notes)


def _box(n_boxes: int) -> alt.Chart:
    """Return the marks of boxes: the more there are, the fainter, as they lie on each other."""
    n = max(1, n_boxes)
    colour = alt.condition("datum.is_open", alt.value(BAND), alt.value(SKY))
    edge = alt.condition("datum.is_open", alt.value("#9A6700"), alt.value("#2F7FB5"))
    boxes = alt.Chart().transform_filter("datum.has_range").encode(color=colour, stroke=edge)
    return boxes.mark_rect(fillOpacity=min(0.4, 1.2 / n), strokeWidth=0.7, strokeOpacity=max(0.12, min(0.8, 12 / n)))


def _points(duel: Duel) -> list[Row]:
    """Return a row for each query: both values with their ranges over tie orders."""
    is_open = duel.is_open
    has_range: BoolArray = (duel.highest - duel.lowest > NOISE).any(axis=0)
    ids = duel.query_ids.tolist()
    columns = np.stack([duel.values, duel.lowest, duel.highest], axis=1).reshape(len(RANGES), -1)
    return [
        {
            "query_id": str(ids[n]),
            "label": label,
            **dict(zip(RANGES, columns[:, n].tolist(), strict=True)),
            "has_range": bool(has_range[n]),
            "is_open": bool(is_open[n]),
        }
        for n, label in enumerate(labels(ids))
    ]


def _cells(duel: Duel, low: float, high: float) -> list[Row]:
    """Count queries on a grid; each cell is at the mean of its queries."""
    places = np.clip(((duel.values - low) / ((high - low) / CELLS)).astype(np.int64), 0, CELLS - 1)
    cell = places[1] * CELLS + places[0]
    rows: list[Row] = []
    for code in np.unique(cell).tolist():
        own = cell == code
        system, baseline = (float(values[own].mean()) for values in duel.values)
        share_open = float(duel.is_open[own].mean())
        rows.append(
            {
                "baseline": baseline,
                "system": system,
                "n_queries": int(own.sum()),
                "share_open": share_open,
                "is_open": share_open >= 0.5,
            }
        )
    return rows
