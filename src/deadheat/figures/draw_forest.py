"""The forest plot: each system's mean, its interval, and the range that tie order alone can move it in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import altair as alt

from deadheat.evaluation.intervals import IntervalOptions
from deadheat.figures.base import figure
from deadheat.figures.style import (
    BAND,
    BLACK,
    BLUE,
    NOISE,
    Row,
    finished,
    labels,
    left_out,
    n_queries,
    number,
    row_axis,
    row_height,
    shown,
)
from deadheat.figures.systems import System, Systems, better, marks, named, of_mean, systems_of, ties_count_as
from deadheat.measures.notation import MeasureLike
from deadheat.wording import counted

MOST = 60  # systems that a page has room for


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
        The same systems with ``ties="doc_id"``: what trec_eval reports, a tick. A comparison knows it.
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
    notes = [*marks(rows, dot, "black tick: trec_eval's value" if has_rule else ""), left_out(len(kept), len(found))]
    return finished(layers, rows, height=len(rows) * size, title=_finding(found), notes=notes)


def _finding(found: Sequence[System]) -> str:
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
        return f"{shown(first.name)}: {of.label} {number(scores.mean)} over {over}; {moved}"
    end = "highest" if of.higher_is_better else "lowest"
    equal = sum(abs(one.scores.mean - scores.mean) <= NOISE for one in others)
    who = f"{shown(first.name)} and {counted(equal, 'other')} have" if equal else f"{shown(first.name)} has"
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
    whom = shown(rivals[0]) if len(rivals) == 1 else f"any of {len(rivals)} others"
    return f"tie order alone can put {whom} first"
