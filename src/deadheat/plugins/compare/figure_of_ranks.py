"""The figure of ranks: each system's as an interval, and how likely it is the best."""

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import polars as pl

from deadheat.core.errors import FigureError
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.wording import format_level, format_percentage
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import BLUE, SKY, Record, finished, quantity, row_axis, row_height, tips
from deadheat.plugins.figures.systems import measure_of, refuse_systems, refuse_two
from deadheat.plugins.figures.texts import left_out, n_queries, short, unique_labels

MOST = 60  # systems that a page has room for
MOST_TICKS = 12


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
        There are fewer than three systems, none has a rank, or there are repeats.

    Examples
    --------
    >>> import polars as pl
    >>> from deadheat import compare
    >>> runs = {name: {"q1": {"a": 1, "b": 1}} for name in ("one", "other", "third")}
    >>> found = {"measure": "RR", "system": list(runs), "rank": [1.0, 2.0, 3.0], "low": [1, 1, 3], "high": [2, 2, 3]}
    >>> chart = ranks(compare({"q1": {"a": 1}}, runs, "RR"), intervals=pl.DataFrame(found).with_columns(p_best=0.5))
    >>> [(row["system"], row["low"], row["high"]) for row in chart.data.values]
    [('one', 1, 2), ('other', 1, 2), ('third', 3, 3)]
    """
    refuse_systems(comparison.evaluations)
    refuse_two(comparison.evaluations)
    of = measure_of(comparison.evaluations, measure).label
    table = comparison.rank_intervals(of) if intervals is None else intervals
    has_rank = pl.col("rank").is_not_null() & pl.col("low").is_not_null()
    ranked = table.filter((pl.col("measure") == of) & has_rank).sort("rank", "low", "high", "system").to_dicts()
    if not ranked:
        raise FigureError(f"no system has a rank by {of}")
    kept = ranked[:MOST]
    names = unique_labels(row["system"] for row in kept)
    rows: list[Record] = []
    for label, row in zip(names, kept, strict=True):
        rows.append({"label": label, **row, "best": format_percentage(row["p_best"])})
    size = row_height(len(rows))
    n = n_queries(*(evaluation[of].n_queries for evaluation in comparison.evaluations.values()))
    first = ranked[0]
    confidence = format_level(comparison.design.confidence_level)
    return finished(
        _layers(names, _rank_axis(rows, of), size),
        rows,
        height=len(rows) * size,
        title=(
            f"{short(first['system'])} ranks {first['low']:g} to {first['high']:g} of {len(ranked)} by {of};"
            f" it is best with probability {format_percentage(first['p_best'])} ({n})"
        ),
        notes=[
            f"dot: rank; bar: {confidence} of the ranks over resampled queries and drawn tie orders.",
            "Percentage: probability to be the best.",
            left_out(len(kept), len(ranked)),
        ],
    )


def _rank_axis(rows: Sequence[Record], measure: str) -> Callable[[str], Any]:
    """Return the axis of ranks from 1 to the last one, with room for the percentages."""
    last = max(2.0, *(float(row["high"]) for row in rows))
    step = max(1, round((last - 1) / MOST_TICKS))
    axis = alt.Axis(values=list(range(1, int(last) + 1, step)), format="d")
    end = 1 + 1.13 * (last - 1)
    return quantity(alt.X, f"rank by {measure} (1 is best)", axis, domain=[1, end], nice=False, padding=8)


def _layers(labels: Sequence[str], x: Callable[[str], Any], size: float) -> list[alt.Chart]:
    """Return the marks of each row: the interval as a bar with a line, the rank, the probability to be the best."""
    tooltip = tips("label:N", "rank:Q", "low:Q", "high:Q", "p_best:Q")
    base = alt.Chart().encode(row_axis(labels, grid=True), tooltip=tooltip)
    bar = base.mark_bar(color=SKY, opacity=0.6, height=size * 0.45, cornerRadius=2)
    line = base.mark_rule(color=BLUE, strokeWidth=1.2)
    dot = base.mark_point(filled=True, color=BLUE, opacity=1, size=size * 2.2, stroke="white", strokeWidth=0.6)
    percentage = base.mark_text(align="right", fontSize=10, color="#222", dx=-4)
    opacity = alt.condition("datum.p_best >= 0.005", alt.value(1), alt.value(0))
    return [
        bar.encode(x("low"), alt.X2("high")),
        line.encode(x("low"), alt.X2("high")),
        dot.encode(x("rank")),
        percentage.encode(x=alt.value("width"), text="best:N", opacity=opacity),
    ]
