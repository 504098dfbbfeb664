"""The figure of a history."""

import altair as alt

from deadheat.core.errors import FigureError
from deadheat.core.measures.notation import MeasureLike, unit_of
from deadheat.core.wording import format_count
from deadheat.plugins.figures.registration import figure
from deadheat.plugins.figures.style import GREY, finished, series, tips
from deadheat.plugins.figures.systems import name_among
from deadheat.plugins.figures.texts import format_number, n_queries, unique_labels
from deadheat.plugins.weeks.history import History, has_other_queries


@figure("history", place=10)
def history(found: History, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw a measure over the steps of a history, with its interval and the range over tie orders.

    Parameters
    ----------
    found : History
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        A line for each system that takes turns with others. A dashed rule marks each step at which judgments changed;
        hollow points are under other judgments than the last.

    Raises
    ------
    FigureError
        The history has a single evaluation, or no such measure.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> from deadheat import history as of
    >>> runs = [{"q": {"a": 1, "b": score}} for score in (2, 0)]
    >>> chart = history(of([evaluate({"q": {"a": 1}}, run, "RR") for run in runs]))
    >>> [row["value"] for row in chart.data.values]
    [0.5, 1.0]
    """
    if len(found.steps) < 2:
        raise FigureError("a history of one evaluation has no line")
    of = name_among(found.measures, measure)
    own = [row for row in found.rows() if row["measure"] == of]
    called = [row["label"] for row in own]
    if len(set(called)) < len(called):
        called = [row["time"][:10] for row in own]
    rows = [
        {
            "step": label,
            "system": row["name"] if found.take_turns else "",
            "when": " ".join(filter(None, (row["time"][:10], row["label"]))),
            "value": row["mean"],
            "changed": row["changed"],
            "comparable": row["comparable"],
            **{name: row[name] for name in ("low", "high", "tie_min", "tie_max")},
        }
        for label, row in zip(unique_labels(called), own, strict=True)
    ]
    every = alt.Chart().encode(
        alt.X("step:N", sort=None, title="evaluation, in order of time", axis=alt.Axis(labelAngle=0, labelOverlap=True))
    )
    base = every.encode(color=series("system", [*dict.fromkeys(row["system"] for row in rows)])[0])
    average = "total over queries" if of in found.totals else "mean over queries"
    y = alt.Y("value:Q", title=f"{of}, {average}", scale=alt.Scale(zero=False))
    pair, last = found.since[of][-1], found.mean_of(-1, of)
    whose = f" of {found.steps[-1].name}" if found.take_turns else ""
    alone = "is the first of its system" if found.before[-1] is None else "is not comparable with the step before"
    moved = alone if pair is None else f"changed by {format_number(found.difference_of(pair))}{unit_of(of)}"
    n_all = n_queries(found.steps[-1].means[of]["n_queries"])
    title = f"{of}{whose} is {format_number(last)} and {moved} ({n_all})"
    if pair is not None and not pair.n_queries:
        title = f"{of}{whose} is {format_number(last)} ({n_all}), over other queries than before"
    elif pair is not None and has_other_queries(found, of, -1):
        n_shared = format_count(pair.n_queries, "shared query", "shared queries")
        title = f"{of}{whose} is {format_number(last)} ({n_all}) and {moved} over the {n_shared}"
    return finished(
        [
            base.mark_area(opacity=0.22).encode(alt.Y("tie_min:Q"), alt.Y2("tie_max")),
            base.mark_rule(opacity=0.9, strokeWidth=1.2).encode(alt.Y("low:Q"), alt.Y2("high")),
            every.mark_rule(color=GREY, strokeDash=[3, 3]).transform_filter("datum.changed != ''"),
            base.mark_line(strokeWidth=1.8).encode(y),
            base.mark_point(filled=True, size=42, opacity=1).encode(
                y, tooltip=tips("when:N", "value:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q", "changed:N")
            ),
            every.mark_point(filled=True, size=14, opacity=1, color="white")
            .encode(y)
            .transform_filter("!datum.comparable"),
        ],
        rows,
        height=240,
        title=title,
        notes=["line: interval over queries; band: range over tie orders; dashed rule: judgments changed."],
    )
