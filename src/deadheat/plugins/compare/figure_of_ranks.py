"""The figure of ranks: each system's as an interval, and how likely it is the best."""

import altair as alt
import polars as pl

from deadheat.core.errors import FigureError
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.wording import format_level, format_percentage
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import BLUE, SKY, finished, quantity, row_axis, row_height, tips
from deadheat.plugins.figures.systems import measure_of, refuse_systems, refuse_two
from deadheat.plugins.figures.texts import left_out, n_queries, short, unique_labels

MOST = 60  # systems that a page has room for


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
    own = (comparison.rank_intervals(of) if intervals is None else intervals).filter(
        (pl.col("measure") == of) & pl.col("rank").is_not_null() & pl.col("low").is_not_null()
    )
    ranked = own.sort("rank", "low", "high", "system").to_dicts()
    if not ranked:
        raise FigureError(f"no system has a rank by {of}")
    kept, first = ranked[:MOST], ranked[0]
    names = unique_labels(row["system"] for row in kept)
    rows = [
        {"label": label, **row, "best": format_percentage(row["p_best"])}
        for label, row in zip(names, kept, strict=True)
    ]
    size, last = row_height(len(rows)), max(2.0, *(float(row["high"]) for row in rows))
    axis = alt.Axis(values=list(range(1, int(last) + 1, max(1, round((last - 1) / 12)))), format="d")
    # with room for the percentages
    x = quantity(alt.X, f"rank by {of} (1 is best)", axis, domain=[1, 1 + 1.13 * (last - 1)], nice=False, padding=8)
    base = alt.Chart().encode(
        row_axis(names, grid=True), tooltip=tips("label:N", "rank:Q", "low:Q", "high:Q", "p_best:Q")
    )
    n = n_queries(*(one[of].n_queries for one in comparison.evaluations.values()))
    return finished(
        [
            base.mark_bar(color=SKY, opacity=0.6, height=size * 0.45, cornerRadius=2).encode(x("low"), alt.X2("high")),
            base.mark_rule(color=BLUE, strokeWidth=1.2).encode(x("low"), alt.X2("high")),
            base.mark_point(
                filled=True, color=BLUE, opacity=1, size=size * 2.2, stroke="white", strokeWidth=0.6
            ).encode(x("rank")),
            base.mark_text(align="right", fontSize=10, color="#222", dx=-4).encode(
                x=alt.value("width"),
                text="best:N",
                opacity=alt.condition("datum.p_best >= 0.005", alt.value(1), alt.value(0)),
            ),
        ],
        rows,
        height=len(rows) * size,
        title=(
            f"{short(first['system'])} ranks {first['low']:g} to {first['high']:g} of {len(ranked)} by {of};"
            f" it is best with probability {format_percentage(first['p_best'])} ({n})"
        ),
        notes=[
            (
                f"dot: rank; bar: {format_level(comparison.design.confidence_level)} of the ranks over resampled"
                " queries and drawn tie orders."
            ),
            "Percentage: probability to be the best.",
            left_out(len(kept), len(ranked)),
        ],
    )
