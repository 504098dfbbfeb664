"""Coarsening: what runs lose as their scores become coarser, and the range over the orders of their ties."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from deadheat.errors import FigureError
from deadheat.figures.base import figure
from deadheat.figures.style import (
    BAND,
    BLACK,
    NOT_DASHED,
    Row,
    finished,
    labels,
    left_out,
    n_queries,
    number,
    series,
    short,
)
from deadheat.figures.systems import name_among
from deadheat.measures.notation import MeasureLike
from deadheat.simulation.coarse_profile import AS_GIVEN, CoarseningProfile, CoarseScores
from deadheat.wording import BY_DOC_ID

MOST_RUNS = 6
COLUMNS = ("scores", "value", "tie_min", "tie_max", "doc_id", "share_tied", "n_queries")


@figure("coarsening", place=130)
def coarsening(profile: CoarseningProfile, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the exact value of each run against how coarse its scores are, with the range over tie orders of one run.

    Parameters
    ----------
    profile : CoarseningProfile
    measure : measure, optional
        By default the first.

    Returns
    -------
    altair.LayerChart
        From the coarsest scores to those as given.

    Raises
    ------
    FigureError
        The profile has no such measure, or nothing but the scores as given.

    Examples
    --------
    >>> from deadheat import coarsening_profile
    >>> run = {"q": {"a": 0.9, "b": 0.8, "c": 0.1}}
    >>> chart = coarsening(coarsening_profile({"q": {"a": 1}}, run, "RR", levels=[2, 100]))
    >>> [(row["scores"], row["value"]) for row in chart.data.values]
    [('2 levels', 0.75), ('100 levels', 1.0), ('as given', 1.0)]
    """
    of = name_among((row.measure for row in profile.rows), measure)
    own = [row for row in profile.rows if row.measure == of]
    coarse = [one for one in dict.fromkeys(row.scores for row in own) if one != AS_GIVEN]
    if not coarse:
        raise FigureError("the profile holds the scores as given alone: name levels, decimals or formats")
    order = [*coarse, AS_GIVEN]
    given = sorted((row for row in own if row.scores == AS_GIVEN), key=lambda row: -row.value)
    runs = [row.run for row in given][:MOST_RUNS]
    names = dict(zip(runs, labels(runs), strict=True))
    rows: list[Row] = [
        {"run": names[row.run], **{name: getattr(row, name) for name in COLUMNS}}
        for row in sorted(
            (row for row in own if row.run in names), key=lambda row: (runs.index(row.run), order.index(row.scores))
        )
    ]
    x = alt.X("scores:N", sort=order, title="scores", axis=alt.Axis(labelAngle=-40, grid=False))
    y = alt.Y("value:Q", title=f"{of}, mean over queries", scale=alt.Scale(zero=False))
    colour, shape, dash = series("run", list(names.values()), NOT_DASHED)
    tip = ["run:N", "scores:N", "value:Q", "tie_min:Q", "tie_max:Q", "doc_id:Q"]
    base = alt.Chart().encode(x)
    layers = [
        base.mark_line(strokeWidth=1.8).encode(y, color=colour, strokeDash=dash),
        base.mark_point(filled=True, size=42, opacity=1).encode(y, color=colour, shape=shape, tooltip=tip),
    ]
    note = f"point: exact mean over tie orders; ranges over tie orders are drawn for one run, not for {len(runs)}."
    if len(runs) == 1:
        band = base.mark_area(color=BAND, opacity=0.75).encode(alt.Y("tie_min:Q"), alt.Y2("tie_max:Q"))
        ticks = base.mark_tick(color=BLACK, thickness=2, width=11).encode(alt.Y("doc_id:Q"))
        layers = [band, *layers, ticks]
        note = f"point: exact mean over tie orders; band: range over tie orders; tick: ties {BY_DOC_ID}."
    notes = [note, left_out(len(runs), len(given), "runs")]
    return finished(layers, rows, height=240, title=_finding(own, runs[0]), notes=notes)


def _finding(rows: Sequence[CoarseScores], best: str) -> str:
    """Say what the coarsest scores cost the best run."""
    first = next(row for row in rows if row.run == best and row.scores != AS_GIVEN)
    change, n = number(first.value - first.original), n_queries(first.n_queries)
    return (
        f"With {first.scores}, {first.measure} of {short(best)} changes by {change}, and tie order alone moves it from"
        f" {number(first.tie_min)} to {number(first.tie_max)} ({n})"
    )
