"""One system against another, query by query: points, and boxes where ties leave values open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import altair as alt
import numpy as np

from deadheat.comparison.comparison import Comparison
from deadheat.figures.base import COMPARISON, figure
from deadheat.figures.duels import Duel, duel_of, tested
from deadheat.figures.style import BAND, BLACK, BLUE, ORANGE, SKY, Row, finished, labels, n_queries, p_text, shown
from deadheat.measures.notation import MeasureLike
from deadheat.wording import counted

Axis: TypeAlias = Callable[[str], Any]
"""Makes the channel of a field."""

MOST_POINTS = 500
CELLS = 30  # of a grid, along each axis, for more queries than that
HEIGHT = 330


@figure(COMPARISON, place=30)
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
    ends = [column for side in (duel.of_system, duel.of_baseline) for column in (side.low, side.high, side.values)]
    low, high = float(min(one.min() for one in ends)), float(max(one.max() for one in ends))
    if duel.measure.range == (0.0, 1.0):
        low, high = 0.0, 1.0
    low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
    scale = alt.Scale(domain=[low, high], nice=duel.measure.range != (0.0, 1.0), zero=False)
    x_title, y_title = (f"{duel.measure.label} of {shown(name)}" for name in (duel.baseline, duel.system))

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=x_title, scale=scale)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=y_title, scale=scale)

    line = alt.Chart(alt.InlineData(values=[{"x": low, "y": low}, {"x": high, "y": high}]))
    diagonal = line.mark_line(color="#555", strokeDash=[4, 3], strokeWidth=1).encode(x("x"), y("y"))
    if len(duel.query_ids) > MOST_POINTS:
        rows = _cells(duel, low, high)
        layers = [diagonal, *_of_cells(x("baseline"), y("system"), max(row["n_queries"] for row in rows))]
    else:
        rows = _points(duel)
        layers = [_box(duel, x, y), diagonal, _dots(x("baseline"), y("system"))]
    return finished(layers, rows, height=HEIGHT, title=finding(duel), notes=_notes(duel))


def _box(duel: Duel, x: Axis, y: Axis) -> alt.Chart:
    """Return the boxes: the more there are, the fainter, as they lie on each other."""
    n = max(1, int((duel.of_system.has_range | duel.of_baseline.has_range).sum()))
    colour = alt.condition("datum.is_open", alt.value(BAND), alt.value(SKY))
    edge = alt.condition("datum.is_open", alt.value("#9A6700"), alt.value("#2F7FB5"))
    return (
        alt.Chart()
        .transform_filter("datum.has_range")
        .mark_rect(fillOpacity=min(0.4, 1.2 / n), strokeWidth=0.7, strokeOpacity=max(0.12, min(0.8, 12 / n)))
        .encode(
            x("baseline_min"), y("system_min"), alt.X2("baseline_max"), alt.Y2("system_max"), color=colour, stroke=edge
        )
    )


def _dots(x: alt.X, y: alt.Y) -> alt.Chart:
    tip = [alt.Tooltip(f"{name}:{kind}") for name, kind in TIPS.items()]
    shape = alt.condition("datum.is_open", alt.value("square"), alt.value("circle"))
    colour = alt.condition("datum.is_open", alt.value(ORANGE), alt.value(BLUE))
    return (
        alt.Chart()
        .mark_point(filled=True, opacity=1, size=34, stroke=BLACK, strokeWidth=0.5)
        .encode(x, y, tooltip=tip, shape=shape, color=colour)
    )


TIPS = {
    "label": "N",
    "system": "Q",
    "system_min": "Q",
    "system_max": "Q",
    "baseline": "Q",
    "baseline_min": "Q",
    "baseline_max": "Q",
}


def _points(duel: Duel) -> list[Row]:
    one, other = duel.of_system, duel.of_baseline
    is_open = (duel.low < -1e-12) & (duel.high > 1e-12)
    ids = duel.query_ids.tolist()
    return [
        {
            "query_id": str(query),
            "label": label,
            "system": float(one.values[n]),
            "system_min": float(one.low[n]),
            "system_max": float(one.high[n]),
            "baseline": float(other.values[n]),
            "baseline_min": float(other.low[n]),
            "baseline_max": float(other.high[n]),
            "has_range": bool(one.has_range[n] or other.has_range[n]),
            "is_open": bool(is_open[n]),
        }
        for n, (query, label) in enumerate(zip(ids, labels(ids), strict=True))
    ]


def _cells(duel: Duel, low: float, high: float) -> list[Row]:
    """Count queries on a grid; each cell is at the mean of its queries."""
    width = (high - low) / CELLS
    columns, lines = (
        np.clip(((side.values - low) / width).astype(np.int64), 0, CELLS - 1)
        for side in (duel.of_baseline, duel.of_system)
    )
    is_open = (duel.low < -1e-12) & (duel.high > 1e-12)
    cell = columns * CELLS + lines
    rows: list[Row] = []
    for code in np.unique(cell).tolist():
        own = cell == code
        rows.append(
            {
                "baseline": float(duel.of_baseline.values[own].mean()),
                "system": float(duel.of_system.values[own].mean()),
                "n_queries": int(own.sum()),
                "share_open": float(is_open[own].mean()),
                "is_open": bool(is_open[own].mean() >= 0.5),
            }
        )
    return rows


def _of_cells(x: alt.X, y: alt.Y, most: int) -> list[alt.Chart]:
    steps = sorted({1, most // 4, most} - {0})
    scale = alt.Scale(type="sqrt", domain=[0, most], range=[0, 260])
    size = alt.Size("n_queries:Q", title="queries", scale=scale, legend=alt.Legend(values=steps, format="d"))
    tip = [alt.Tooltip(one) for one in ("n_queries:Q", "system:Q", "baseline:Q", "share_open:Q")]
    colour = alt.condition("datum.is_open", alt.value(ORANGE), alt.value(BLUE))
    return [
        alt.Chart()
        .mark_circle(opacity=0.75, stroke="white", strokeWidth=0.4)
        .encode(x, y, size=size, color=colour, tooltip=tip)
    ]


def finding(duel: Duel) -> str:
    """Say on how many queries ties decide who is better, or that they do on none."""
    n = len(duel.query_ids)
    of_ties = (
        f"tie order decides {duel.n_open:,} of {n_queries(n)}"
        if duel.n_open
        else f"tie order decides none of {n_queries(n)}"
    )
    pair = f"{shown(duel.system)} against {shown(duel.baseline)}"
    return f"{pair} by {duel.measure.label}: {of_ties} ({p_text(duel.p_value)})"


def _notes(duel: Duel) -> list[str]:
    better = "above" if duel.measure.higher_is_better else "below"
    where = f"{better} the dashed line {shown(duel.system)} is better"
    if len(duel.query_ids) > MOST_POINTS:
        return [
            f"circle: queries with about these values (orange: tie order decides at least half of them); {where}.",
            tested(duel),
        ]
    n_boxes = int((duel.of_system.has_range | duel.of_baseline.has_range).sum())
    boxes = (
        f"box: range over tie orders ({counted(n_boxes, 'query', 'queries')})"
        if n_boxes
        else "no order of ties moves one"
    )
    return [f"point: a query; {boxes}; orange and square: tie order decides who is better; {where}.", tested(duel)]
