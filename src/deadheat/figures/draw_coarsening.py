"""Coarsening: what runs lose as their scores become coarser, and what their ties then leave open."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from deadheat.errors import FigureError
from deadheat.figures.base import COARSENING, figure
from deadheat.figures.style import BAND, BLACK, DASHES, SERIES, SHAPES, Row, finished, labels, n_queries, number, shown
from deadheat.measures import parse_measure
from deadheat.measures.notation import MeasureLike
from deadheat.simulation.coarse_profile import AS_GIVEN, CoarseningProfile, CoarseScores
from deadheat.wording import BY_DOC_ID

MOST_RUNS = 6
HEIGHT = 240


@figure(COARSENING, place=130)
def coarsening(profile: CoarseningProfile, measure: MeasureLike | None = None) -> alt.LayerChart:
    """Draw the exact value of each run against how coarse its scores are, with what its ties leave open.

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
    own = _rows_of(profile, measure)
    of = own[0].measure
    coarse = [one for one in dict.fromkeys(row.scores for row in own) if one != AS_GIVEN]
    if not coarse:
        raise FigureError("the profile holds the scores as given alone: name levels, decimals or formats")
    order = [*coarse, AS_GIVEN]
    given = sorted((row for row in own if row.scores == AS_GIVEN), key=lambda row: -row.value)
    runs = [row.run for row in given][:MOST_RUNS]
    names = dict(zip(runs, labels(runs), strict=True))
    rows: list[Row] = [
        {
            "run": names[run],
            "scores": row.scores,
            "value": row.value,
            "tie_min": row.tie_min,
            "tie_max": row.tie_max,
            "doc_id": row.doc_id,
            "share_tied": row.share_tied,
            "n_queries": row.n_queries,
        }
        for run in runs
        for scores in order
        for row in own
        if (row.run, row.scores) == (run, scores)
    ]
    return finished(
        _layers(order, list(names.values()), of),
        rows,
        height=HEIGHT,
        title=_finding(own, runs[0]),
        notes=_notes(len(runs), len(given)),
    )


def _rows_of(profile: CoarseningProfile, measure: MeasureLike | None) -> list[CoarseScores]:
    known = list(dict.fromkeys(row.measure for row in profile.rows))
    wanted = known[0] if measure is None else str(measure)
    if wanted not in known:
        same = [name for name in known if parse_measure(name) == parse_measure(measure or name)]
        if not same:
            raise FigureError(f"{wanted} is not in the profile, which holds {', '.join(known)}")
        (wanted,) = same
    return [row for row in profile.rows if row.measure == wanted]


def _layers(order: Sequence[str], runs: list[str], of: str) -> list[alt.Chart]:
    x = alt.X("scores:N", sort=list(order), title="scores", axis=alt.Axis(labelAngle=-40, grid=False))
    y = alt.Y("value:Q", title=f"{of}, mean over queries", scale=alt.Scale(zero=False))
    legend = alt.Legend(title=None, columns=2, symbolStrokeWidth=0) if len(runs) > 1 else None  # not dashed
    n = len(runs)
    colours, shapes, dashes = (alt.Scale(domain=runs, range=list(of_all[:n])) for of_all in (SERIES, SHAPES, DASHES))
    colour = alt.Color("run:N", sort=runs, scale=colours, legend=legend)
    shape = alt.Shape("run:N", sort=runs, scale=shapes, legend=legend)
    dash = alt.StrokeDash("run:N", sort=runs, scale=dashes, legend=legend)
    tip = [alt.Tooltip(one) for one in ("run:N", "scores:N", "value:Q", "tie_min:Q", "tie_max:Q", "doc_id:Q")]
    layers = [
        alt.Chart().mark_line(strokeWidth=1.8).encode(x, y, color=colour, strokeDash=dash),
        alt.Chart().mark_point(filled=True, size=42, opacity=1).encode(x, y, color=colour, shape=shape, tooltip=tip),
    ]
    if len(runs) > 1:
        return layers
    band = alt.Chart().mark_area(color=BAND, opacity=0.75).encode(x, alt.Y("tie_min:Q"), alt.Y2("tie_max:Q"))
    ticks = alt.Chart().mark_tick(color=BLACK, thickness=2, width=11).encode(x, alt.Y("doc_id:Q"))
    return [band, *layers, ticks]


def _finding(rows: Sequence[CoarseScores], best: str) -> str:
    """Say what the coarsest scores cost the best run."""
    first = next(row for row in rows if row.run == best and row.scores != AS_GIVEN)
    moved = number(first.value - first.original)
    left = f"{number(first.tie_min)} to {number(first.tie_max)}"
    n = n_queries(first.n_queries)
    return f"{first.scores} change {first.measure} of {shown(best)} by {moved} and leave it open from {left} ({n})"


def _notes(n_shown: int, n_runs: int) -> list[str]:
    if n_runs == 1:
        return [f"point: exact mean over tie orders; band: range over tie orders; tick: ties {BY_DOC_ID}."]
    more = f" The best {n_shown} of {n_runs} runs." if n_runs > n_shown else ""
    return [f"point: exact mean over tie orders; what ties leave open is drawn for one run, not for {n_shown}.{more}"]
