"""The forest plot: each system's mean, its interval, and the range that tie order alone can move it in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from deadheat.evaluation.intervals import IntervalOptions
from deadheat.figures.base import COMPARISON, SYSTEMS, figure
from deadheat.figures.style import BAND, BLACK, BLUE, NOISE, Row, finished, labels, n_queries, number, row_height, shown
from deadheat.figures.systems import System, Systems, better, counted_as, systems_of
from deadheat.measures.notation import MeasureLike
from deadheat.wording import BY_DOC_ID, counted

MOST = 60  # systems that a page has room for


@figure(SYSTEMS, COMPARISON, place=10)
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
    rows = list(map(_row, kept, labels(one.name for one in kept)))
    order = [row["label"] for row in rows]
    of = found[0].measure
    y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False, grid=False))
    scale = alt.Scale(zero=False, nice=True)
    title = f"{of.label}, mean over queries ({better(of)})"

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=title, scale=scale)

    size = row_height(len(rows))
    tip = [alt.Tooltip(f"{name}:{kind}") for name, kind in TIPS.items()]
    base = alt.Chart().encode(y=y, tooltip=tip)
    layers = [
        base.mark_bar(color=BAND, height=size * 0.55).encode(x("tie_min"), alt.X2("tie_max")),
        base.mark_rule(color=BLUE, strokeWidth=1.6).encode(x("low"), alt.X2("high")),
        base.mark_tick(color=BLUE, opacity=1, thickness=1.6, height=size * 0.3).encode(x("low")),
        base.mark_tick(color=BLUE, opacity=1, thickness=1.6, height=size * 0.3).encode(x("high")),
        base.mark_tick(color=BLACK, opacity=1, thickness=2, height=size * 0.75).encode(x("by_doc_id")),
        base.mark_point(fill=BLUE, opacity=1, size=size * 1.8, stroke="white", strokeWidth=0.7).encode(x("mean")),
    ]
    return finished(
        layers,
        rows,
        height=len(rows) * size,
        title=finding(found),
        notes=notes(found, len(kept), counted_as(systems)),
    )


TIPS = {
    "label": "N",
    "mean": "Q",
    "low": "Q",
    "high": "Q",
    "tie_min": "Q",
    "tie_max": "Q",
    "by_doc_id": "Q",
    "n_queries": "Q",
}


def _row(one: System, label: str) -> Row:
    interval, scores = one.interval, one.scores
    return {
        "label": label,
        "system": one.name,
        "measure": str(one.measure.label),
        "n_queries": scores.n_queries,
        "mean": scores.mean,
        "low": interval.low if interval.is_known else None,
        "high": interval.high if interval.is_known else None,
        "tie_min": scores.mean_tie_min,
        "tie_max": scores.mean_tie_max,
        "by_doc_id": one.by_doc_id,
    }


def finding(found: Sequence[System]) -> str:
    """Say who leads, over how many queries, and what tie order can make of it."""
    first, *others = found
    of, scores = first.measure, first.scores
    over = n_queries(*(one.scores.n_queries for one in found))
    low, high = scores.mean_tie_min, scores.mean_tie_max
    if not others:
        moved = (
            f"tie order alone moves it from {number(low)} to {number(high)}"
            if high - low > NOISE
            else "no order of ties changes it"
        )
        return f"{shown(first.name)}: {of.label} {number(first.mean)} over {over}; {moved}"
    end = "highest" if of.higher_is_better else "lowest"
    equal = sum(abs(one.mean - first.mean) <= NOISE for one in others)
    who = f"{shown(first.name)} and {counted(equal, 'other')} have" if equal else f"{shown(first.name)} has"
    return f"{who} the {end} {of.label}: {number(first.mean)} over {over}; {_of_ties(first, others)}"


def _of_ties(first: System, others: Sequence[System]) -> str:
    """Say whether an order of the ties puts another system first; those of two runs are independent."""
    all_of = [first, *others]
    if all(one.scores.mean_tie_max - one.scores.mean_tie_min <= NOISE for one in all_of):
        return "no order of ties changes a mean"
    worst = [_ends(one)[0] for one in all_of]
    rivals = [one for one in others if _ends(one)[1] > worst[0] + NOISE and _ends(one)[1] >= max(worst) - NOISE]
    if not rivals:
        return "no order of ties puts another system ahead"
    whom = shown(rivals[0].name) if len(rivals) == 1 else f"any of {len(rivals)} others"
    return f"tie order alone can put {whom} first"


def _ends(system: System) -> tuple[float, float]:
    """Return the worst and the best mean over the orders of ties; the higher is the better one."""
    low, high = system.scores.mean_tie_min, system.scores.mean_tie_max
    return (low, high) if system.measure.higher_is_better else (-high, -low)


def notes(found: Sequence[System], n_shown: int, counted_as: str) -> Iterator[str]:
    """Say what the marks are, and what is not shown."""
    known = [one.interval for one in found if one.interval.is_known]
    parts = [f"dot: mean ({counted_as})"]
    if known:
        parts.append(f"line: {known[0].confidence_level:.0%} interval over queries")
    if any(one.scores.mean_tie_max - one.scores.mean_tie_min > NOISE for one in found):
        parts.append("band: range over tie orders")
    if any(one.by_doc_id == one.by_doc_id for one in found):
        parts.append(f"tick: ties {BY_DOC_ID}")
    yield "; ".join(parts) + "."
    lacking = [one for one in found if not one.interval.is_known]
    if lacking:
        of_whom = "" if len(lacking) == len(found) else f" for {counted(len(lacking), 'system')}"
        yield f"No interval{of_whom}: {lacking[0].interval.unknown}."
    if n_shown < len(found):
        yield f"The best {n_shown} of {len(found):,} systems; the others are not shown."
