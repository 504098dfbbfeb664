"""Differences query by query, sorted, and how far the order of ties can move each."""

from __future__ import annotations

import altair as alt
import numpy as np

from deadheat.comparison.comparison import Comparison
from deadheat.figures.base import COMPARISON, figure
from deadheat.figures.duels import Duel, duel_of, tested
from deadheat.figures.style import (
    BLACK,
    BLUE,
    GREY,
    NOISE,
    ORANGE,
    Row,
    finished,
    labels,
    n_queries,
    p_text,
    shown,
    signed,
)
from deadheat.measures.notation import MeasureLike
from deadheat.wording import counted

MOST_NAMED = 40  # queries whose ids fit below the bars
MOST_BARS = 300


@figure(COMPARISON, place=20)
def differences(
    comparison: Comparison,
    measure: MeasureLike | None = None,
    *,
    system: str | None = None,
    baseline: str | None = None,
) -> alt.LayerChart:
    """Draw the differences of two systems query by query, sorted, with whiskers for what tie order can make of each.

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
        Of more than 300 queries, each bar is the mean of as many neighbours in the sorted list.

    Raises
    ------
    FigureError
        The two were not compared, or have no query in common.

    Examples
    --------
    >>> from deadheat import compare
    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> one, other = {"q1": {"a": 2, "b": 1}, "q2": {"a": 1}}, {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> chart = differences(compare(qrels, {"one": one, "other": other}, "RR"))
    >>> [(row["query_id"], row["difference"], row["high"]) for row in chart.data.values]
    [('q1', 0.25, 0.5), ('q2', 0.0, 0.0)]
    """
    duel = duel_of(comparison, measure, system, baseline)
    order = np.lexsort((duel.query_ids, -duel.difference))
    is_settled = (np.abs(duel.low) <= NOISE) & (np.abs(duel.high) <= NOISE)
    n_left = int(is_settled.sum()) if len(order) > MOST_NAMED else 0
    if 2 * n_left < len(order) or n_left == len(order):
        n_left = 0
    if n_left:
        order = order[~is_settled[order]]
    step = -(-len(order) // MOST_BARS)
    rows = _rows(duel, order, step)
    is_named = step == 1 and len(rows) <= MOST_NAMED
    if is_named:
        x: alt.X = alt.X(
            "label:N",
            sort=[row["label"] for row in rows],
            title="query",
            axis=alt.Axis(labelAngle=-90, labelLimit=70, labelFontSize=9 if len(rows) > 24 else 10, ticks=False),
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.2),
        )
    else:
        title = "queries, sorted by difference" + (f" (a bar is the mean of up to {step})" if step > 1 else "")
        x = alt.X("place:Q", title=title, scale=alt.Scale(domain=[0, len(order)], nice=False))
    title = f"difference in {duel.measure.label}"
    y = alt.Y("difference:Q", title=title)
    tip = [alt.Tooltip(one) for one in ("label:N", "difference:Q", "low:Q", "high:Q", "n_queries:Q")]
    colour = alt.Color(
        "sign:N",
        scale=alt.Scale(domain=["better", "equal", "worse"], range=[BLUE, GREY, ORANGE]),
        legend=None,
    )
    base = alt.Chart().encode(x=x, tooltip=tip)
    layers = [
        (base.mark_bar() if is_named else base.mark_bar(width=max(0.6, 270 / len(rows)))).encode(y, color=colour),
        base.transform_filter("datum.high - datum.low > 1e-12")
        .mark_rule(color=BLACK, strokeWidth=1 if len(rows) <= 100 else 0.4)
        .encode(y=alt.Y("low:Q", title=title), y2="high:Q"),
        alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color="#444", strokeWidth=0.8).encode(y="zero:Q"),
    ]
    return finished(layers, rows, height=200, title=finding(duel), notes=_notes(duel, n_left))


def _rows(duel: Duel, order: np.ndarray[tuple[int], np.dtype[np.int64]], step: int) -> list[Row]:
    """Return a row for each bar: of a query, or of neighbours in the sorted list."""
    names = labels(duel.query_ids[order].tolist()) if step == 1 else []
    columns = [column[order] for column in (duel.difference, duel.low, duel.high)]
    better = 1.0 if duel.measure.higher_is_better else -1.0
    rows: list[Row] = []
    for start in range(0, len(order), step):
        held = slice(start, start + step)
        difference, low, high = (float(column[held].mean()) for column in columns)
        size = len(columns[0][held])
        towards = better * difference
        rows.append(
            {
                "label": names[start] if step == 1 else "",
                "query_id": str(duel.query_ids[order[start]]) if size == 1 else "",
                "place": start + size / 2,
                "difference": difference,
                "low": low,
                "high": high,
                "sign": "equal" if abs(towards) <= 1e-12 else "better" if towards > 0 else "worse",
                "n_queries": size,
            }
        )
    return rows


def finding(duel: Duel) -> str:
    """Say who is better on how many queries, and by how much."""
    n = len(duel.query_ids)
    mean = float(duel.difference.mean())
    if not duel.wins and not duel.losses:
        both = f"{shown(duel.system)} and {shown(duel.baseline)}"
        return f"{both} have the same {duel.measure.label} on all of {n_queries(n)}"
    return (
        f"{shown(duel.system)} is better than {shown(duel.baseline)} on {duel.wins:,} of {n_queries(n)}, worse on"
        f" {duel.losses:,}; mean difference {signed(mean)} ({p_text(duel.p_value)})"
    )


def _notes(duel: Duel, n_left: int) -> list[str]:
    moved = bool((duel.high - duel.low > 1e-12).any())
    whiskers = "whisker: its range over tie orders" if moved else "no order of ties changes one"
    decided = f" Tie order decides who is better on {counted(duel.n_open, 'query', 'queries')}." if duel.n_open else ""
    better = "up" if duel.measure.higher_is_better else "down"
    pair = f"{shown(duel.system)} - {shown(duel.baseline)}"
    return [
        f"bar: {pair} (blue, {better}: the former is better); {whiskers}.{decided}",
        f"{counted(n_left, 'query', 'queries')} without any difference, in any order of the ties, are left out."
        if n_left
        else "",
        tested(duel),
    ]
