"""Each system's value with its ties broken by a rule, beside the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

import altair as alt
import polars as pl

from deadheat.errors import FigureError, MeasureError
from deadheat.evaluation.scores import Scores
from deadheat.figures.base import figure, kind_of
from deadheat.figures.draw_ties import Ties, of_measure, rule_of, table_of
from deadheat.figures.style import (
    BLACK,
    BLUE,
    NOISE,
    ORANGE,
    Row,
    finished,
    labels,
    left_out,
    n_queries,
    row_axis,
    row_height,
    shown,
    signed,
)
from deadheat.figures.systems import Systems, systems_of
from deadheat.measures import parse_measure
from deadheat.measures.notation import MeasureLike

MOST = 40


@figure("ties", "systems", "comparison", place=50)
def traditional(
    systems: Systems | Ties, measure: MeasureLike | None = None, *, beside: Systems | None = None
) -> alt.LayerChart:
    """Draw each system's mean with ties broken by a rule beside the exact mean, and the range over tie orders.

    Parameters
    ----------
    systems : Evaluation, Comparison, several evaluations, or profiles of ties
    measure : measure, optional
        By default the first.
    beside : Evaluation or several, optional
        Of evaluations: the same systems with ``ties="doc_id"``; a comparison and a profile know it.

    Returns
    -------
    altair.LayerChart
        The best system first.

    Raises
    ------
    FigureError
        What the rule gives is not known.
    """
    if kind_of(systems) == "ties":
        table = table_of(cast("Ties", systems))
        of, own = of_measure(table, measure)
        rows, rule = _of_table(own, of), rule_of(table)
    else:
        of, rows = _of_systems(cast("Systems", systems), measure, beside)
        rule = "ties by document id, as trec_eval breaks them"
    kept = rows[:MOST]
    order = labels(row["system"] for row in kept)
    data = [
        {"label": label, "kind": kind, "value": row[key], **row}
        for label, row in zip(order, kept, strict=True)
        for kind, key in (("exact", "exact"), ("by rule", "traditional"))
    ]
    names = ["exact", "by rule"]
    offset = alt.YOffset("kind:N", sort=names, scale=alt.Scale(domain=names, paddingInner=0, paddingOuter=0.18))
    colour = alt.Color(
        "kind:N", sort=names, scale=alt.Scale(domain=names, range=[BLUE, ORANGE]), legend=alt.Legend(title=None)
    )
    tip = ["label:N", "exact:Q", "traditional:Q", "tie_min:Q", "tie_max:Q", "n_queries:Q"]
    x = partial(alt.X, type="quantitative", title=f"{of}, mean over queries", scale=alt.Scale(zero=True))
    base = alt.Chart().encode(row_axis(order))
    ranges = base.transform_filter("datum.kind == 'exact' && datum.tie_max - datum.tie_min > 1e-12")
    layers = [
        base.mark_bar().encode(x("value"), yOffset=offset, color=colour, tooltip=tip),
        ranges.mark_rule(color=BLACK, strokeWidth=1.2).encode(x("tie_min"), alt.X2("tie_max")),
    ]
    moved = any(row.get("tie_max") is not None and row["tie_max"] - row["tie_min"] > NOISE for row in rows)
    lines = "; black line: range over tie orders" if moved else ""
    return finished(
        layers,
        data,
        height=max(24, 2 * row_height(len(kept)) - 8) * len(kept),
        title=_finding(rows, of),
        notes=[f"exact: mean over all tie orders; by rule: {rule}{lines}.", left_out(len(kept), len(rows))],
    )


def _of_systems(systems: Systems, measure: MeasureLike | None, beside: Systems | None) -> tuple[str, list[Row]]:
    found = [(one, one.scores) for one in systems_of(systems, measure, beside) if one.by_doc_id == one.by_doc_id]
    if not found:
        raise FigureError(
            "what trec_eval's rule gives is not known: it takes the runs, and ties that count by their exact mean",
            python="evaluations with ties='doc_id' may be given as beside",
        )
    rows = [
        {
            "system": one.name,
            "exact": Scores(scores.measure, scores.query_ids, scores.tie_mean, scores.spread).mean,
            "traditional": one.by_doc_id,
            "tie_min": scores.mean_tie_min,
            "tie_max": scores.mean_tie_max,
            "n_queries": scores.n_queries,
        }
        for one, scores in found
    ]
    return found[0][1].measure.label, rows


def _of_table(own: pl.DataFrame, measure: str) -> list[Row]:
    means = [pl.col("exact").mean(), pl.col("traditional").mean(), pl.len().alias("n_queries")]
    ends = [pl.col(name).mean() for name in ("tie_min", "tie_max") if name in own.columns]
    rows = own.group_by("run", maintain_order=True).agg(*means, *ends).rename({"run": "system"}).to_dicts()
    try:
        higher = parse_measure(measure).higher_is_better
    except MeasureError:  # of a caller's own
        higher = True
    return sorted(rows, key=lambda row: -row["exact"] if higher else row["exact"])


def _finding(rows: Sequence[Row], measure: str) -> str:
    n = n_queries(*(row["n_queries"] for row in rows))
    widest = max(rows, key=lambda row: abs(row["traditional"] - row["exact"]))
    off = widest["traditional"] - widest["exact"]
    if abs(off) <= NOISE:
        return f"The rule gives the exact mean {measure} (over {n})"
    order = [[row["system"] for row in sorted(rows, key=lambda row: row[key])] for key in ("exact", "traditional")]
    changed = "; it ranks the systems in another order" if order[0] != order[1] else ""
    return f"The rule changes {measure} of {shown(widest['system'])} by {signed(off)} ({n}){changed}"
