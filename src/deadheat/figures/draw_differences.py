"""Differences query by query, sorted, and how far the order of ties can move each."""

from __future__ import annotations

from functools import partial
from typing import Any

import altair as alt
import numpy as np

from deadheat.arrays import IntArray
from deadheat.comparison.comparison import Comparison
from deadheat.figures.base import figure
from deadheat.figures.duels import Duel, duel_of, tested_by
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
    zero_line,
)
from deadheat.measures.notation import MeasureLike
from deadheat.wording import counted

MOST_NAMED = 40  # queries whose ids fit below the bars
MOST_BARS = 300


@figure("comparison", place=20)
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
    n_settled = int(is_settled.sum())
    # most of many queries, but not all of them
    n_left_out = n_settled if MOST_NAMED < len(order) <= 2 * n_settled < 2 * len(order) else 0
    if n_left_out:
        order = order[~is_settled[order]]
    step = -(-len(order) // MOST_BARS)
    rows = _rows(duel, order, step)
    is_named = len(rows) <= MOST_NAMED
    bar: dict[str, Any] = {}
    if is_named:
        x = alt.X(
            "label:N",
            sort=[row["label"] for row in rows],
            title="query",
            axis=alt.Axis(labelAngle=-90, labelLimit=70, labelFontSize=9 if len(rows) > 24 else 10, ticks=False),
            scale=alt.Scale(paddingInner=0.25, paddingOuter=0.2),
        )
    else:
        title = "queries, sorted by difference" + (f" (a bar is the mean of up to {step})" if step > 1 else "")
        x = alt.X("place:Q", title=title, scale=alt.Scale(domain=[0, len(order)], nice=False))
        bar = {"width": max(0.6, 270 / len(rows))}
    y = partial(alt.Y, type="quantitative", title=f"difference in {duel.measure.label}")
    scale = alt.Scale(domain=["better", "equal", "worse"], range=[BLUE, GREY, ORANGE])
    base = alt.Chart().encode(x=x, tooltip=["label:N", "difference:Q", "low:Q", "high:Q", "n_queries:Q"])
    whisker = base.transform_filter("datum.high - datum.low > 1e-12").mark_rule(
        color=BLACK, strokeWidth=1 if len(rows) <= 100 else 0.4
    )
    layers = [
        base.mark_bar(**bar).encode(y("difference"), color=alt.Color("sign:N", scale=scale, legend=None)),
        whisker.encode(y("low"), y2="high:Q"),
        zero_line(),
    ]
    notes = _notes(duel, n_left_out, tested_by(comparison.design, len(comparison[duel.measure])))
    return finished(layers, rows, height=200, title=_finding(duel), notes=notes)


def _rows(duel: Duel, order: IntArray, step: int) -> list[Row]:
    """Return a row for each bar: of a query, or of neighbours in the sorted list."""
    ids = duel.query_ids[order].tolist()
    names = labels(ids)
    columns = np.stack([duel.difference, duel.low, duel.high])[:, order]
    better = 1.0 if duel.measure.higher_is_better else -1.0
    rows: list[Row] = []
    for start in range(0, len(order), step):
        held = columns[:, start : start + step]
        difference, low, high = held.mean(axis=1).tolist()
        size, towards = held.shape[1], better * difference
        rows.append(
            {
                "label": names[start] if step == 1 else "",
                "query_id": str(ids[start]) if size == 1 else "",
                "place": start + size / 2,
                "difference": difference,
                "low": low,
                "high": high,
                "sign": "equal" if abs(towards) <= NOISE else "better" if towards > 0 else "worse",
                "n_queries": size,
            }
        )
    return rows


def _finding(duel: Duel) -> str:
    """Say who is better on how many queries, and by how much."""
    n = n_queries(len(duel.query_ids))
    if not duel.wins and not duel.losses:
        return f"{shown(duel.system)} and {shown(duel.baseline)} have the same {duel.measure.label} on all of {n}"
    return (
        f"{shown(duel.system)} is better than {shown(duel.baseline)} on {duel.wins:,} of {n}, worse on"
        f" {duel.losses:,}; mean difference {signed(float(duel.difference.mean()))} ({p_text(duel.p_value)})"
    )


def _notes(duel: Duel, n_left_out: int, tested: str) -> list[str]:
    is_moved = bool((duel.high - duel.low > NOISE).any())
    whiskers = "whisker: its range over tie orders" if is_moved else "no order of ties changes one"
    n_open = int(duel.is_open.sum())
    decided = f" Tie order decides who is better on {counted(n_open, 'query', 'queries')}." if n_open else ""
    better = "up" if duel.measure.higher_is_better else "down"
    pair = f"{shown(duel.system)} - {shown(duel.baseline)}"
    without = (
        f"{counted(n_left_out, 'query', 'queries')} without any difference, in any order of the ties, are left out."
    )
    return [
        f"bar: {pair} (blue, {better}: the former is better); {whiskers}.{decided}",
        without if n_left_out else "",
        tested,
    ]
