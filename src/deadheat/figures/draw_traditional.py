"""Each system's value with its ties broken by a rule, beside the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import altair as alt
import polars as pl

from deadheat.errors import FigureError, MeasureError
from deadheat.figures.base import COMPARISON, SYSTEMS, TIES, figure, kind_of
from deadheat.figures.style import (
    BLACK,
    BLUE,
    NOISE,
    ORANGE,
    Row,
    finished,
    labels,
    n_queries,
    row_height,
    shown,
    signed,
)
from deadheat.figures.systems import Systems, systems_of
from deadheat.figures.tie_tables import Ties, of_measure, rule_of, table_of
from deadheat.measures import parse_measure
from deadheat.measures.notation import MeasureLike
from deadheat.wording import BY_DOC_ID

MOST = 40


@figure(TIES, SYSTEMS, COMPARISON, place=50)
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
        The values with ties broken so are not known.
    """
    if kind_of(systems) == TIES:
        table = table_of(cast("Ties", systems))
        of, own = of_measure(table, measure)
        rows, rule = _of_table(own, of), rule_of(table)
    else:
        of, rows = _of_systems(cast("Systems", systems), measure, beside)
        rule = BY_DOC_ID
    kept = rows[:MOST]
    order = labels(row["system"] for row in kept)
    data = [
        {"label": label, "kind": kind, "value": row[key], **row}
        for label, row in zip(order, kept, strict=True)
        for kind, key in (("exact", "exact"), (rule, "traditional"))
    ]
    size = max(24, 2 * row_height(len(kept)) - 8)
    names = ["exact", rule]
    y = alt.Y("label:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False))
    offset = alt.YOffset("kind:N", sort=names, scale=alt.Scale(domain=names, paddingInner=0, paddingOuter=0.18))
    colour = alt.Color(
        "kind:N", sort=names, scale=alt.Scale(domain=names, range=[BLUE, ORANGE]), legend=alt.Legend(title=None)
    )
    tip = [alt.Tooltip(one) for one in ("label:N", "exact:Q", "traditional:Q", "tie_min:Q", "tie_max:Q", "n_queries:Q")]

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=f"{of}, mean over queries", scale=alt.Scale(zero=True))

    base = alt.Chart().encode(y)
    layers = [
        base.mark_bar().encode(x("value"), yOffset=offset, color=colour, tooltip=tip),
        base.transform_filter("datum.kind == 'exact' && datum.tie_max - datum.tie_min > 1e-12")
        .mark_rule(color=BLACK, strokeWidth=1.2)
        .encode(x("tie_min"), alt.X2("tie_max")),
    ]
    return finished(
        layers, data, height=size * len(kept), title=_finding(rows, of, rule), notes=_notes(rows, len(kept))
    )


def _of_systems(systems: Systems, measure: MeasureLike | None, beside: Systems | None) -> tuple[str, list[Row]]:
    found = systems_of(systems, measure, beside)
    of = found[0].measure.label
    rows = [
        {
            "system": one.name,
            "exact": one.exact,
            "traditional": one.by_doc_id,
            "tie_min": one.scores.mean_tie_min,
            "tie_max": one.scores.mean_tie_max,
            "n_queries": one.scores.n_queries,
        }
        for one in found
        if one.by_doc_id == one.by_doc_id
    ]
    if not rows:
        raise FigureError(
            f"values with ties broken {BY_DOC_ID}, are not known: they take the runs, and ties that count by their"
            " exact mean",
            python="evaluations with ties='doc_id' may be given as beside",
        )
    return of, rows


def _of_table(own: pl.DataFrame, measure: str) -> list[Row]:
    means = [pl.col("exact").mean(), pl.col("traditional").mean(), pl.len().alias("n_queries")]
    ends = [pl.col(name).mean() for name in ("tie_min", "tie_max") if name in own.columns]
    rows = own.group_by("run", maintain_order=True).agg(*means, *ends).rename({"run": "system"}).to_dicts()
    try:
        higher = parse_measure(measure).higher_is_better
    except MeasureError:  # of a caller's own
        higher = True
    return sorted(rows, key=lambda row: -row["exact"] if higher else row["exact"])


def _finding(rows: Sequence[Row], measure: str, rule: str) -> str:
    n = n_queries(*(row["n_queries"] for row in rows))
    widest = max(rows, key=lambda row: abs(row["traditional"] - row["exact"]))
    off = widest["traditional"] - widest["exact"]
    if abs(off) <= NOISE:
        return f"Ties broken {rule}, give the exact mean {measure} (over {n})"
    order = [[row["system"] for row in sorted(rows, key=lambda row: row[key])] for key in ("exact", "traditional")]
    changed = "; they rank the systems in another order" if order[0] != order[1] else ""
    return f"Ties broken {rule}, change {measure} of {shown(widest['system'])} by {signed(off)} ({n}){changed}"


def _notes(rows: Sequence[Row], n_shown: int) -> list[str]:
    moved = any(row.get("tie_max") is not None and row["tie_max"] - row["tie_min"] > NOISE for row in rows)
    lines = "; black line: range over tie orders" if moved else ""
    more = f"The best {n_shown} of {len(rows):,} systems." if n_shown < len(rows) else ""
    return [f"exact: mean over all tie orders{lines}.", more]
