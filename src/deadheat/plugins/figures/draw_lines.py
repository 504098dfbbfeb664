"""Lines: a measure against its cutoff, and runs as scores get coarser."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import altair as alt
import numpy as np

from deadheat.core.checks import as_cutoffs
from deadheat.core.errors import FigureError, ParameterError
from deadheat.core.evaluation.evaluate_runs import make_scores
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.interval_estimates import estimate_intervals
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.wording import format_list
from deadheat.plugins.figures.registration import figure, interval_options
from deadheat.plugins.figures.style import Record, finished, series, tips, zero_line
from deadheat.plugins.figures.systems import Systems, better, is_moved, marks, named, of_mean
from deadheat.plugins.figures.texts import format_number, format_signed, left_out, n_queries, short, unique_labels

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
MOST = 8  # lines that can be told apart
MOST_BANDS = 2  # systems whose bands do not hide each other
METHODS = {
    "bca": "BCa",
    "clopper-pearson": "Clopper-Pearson",
    "gaffke": "Gaffke's bounds",
    "t": "Student's t",
    "skewed-t": "Student's t, corrected for skewness",
}


def lines(x: alt.X, y: alt.Y, of: str, names: Sequence[str], tooltip: Sequence[str]) -> list[alt.Chart]:
    """Return a line and points for each of several names, which a column `of` holds."""
    colour, shape, dash = series(of, names)
    base = alt.Chart().encode(x, y, color=colour)
    return [
        base.mark_line(strokeWidth=1.8).encode(strokeDash=dash),
        base.mark_point(filled=True, size=42, opacity=1).encode(
            shape=shape, tooltip=tips(f"{of}:N", x.shorthand, *(f"{one}:Q" for one in tooltip))
        ),
    ]


@figure("systems", "comparison", measures="nDCG R", place=50)
def cutoffs(
    systems: Systems,
    measure: MeasureLike = "nDCG",
    *,
    at: Sequence[int] = CUTOFFS,
    against: str | None = None,
    options: Mapping[str, Any] | IntervalOptions | None = None,
) -> alt.LayerChart:
    """Draw a measure against its cutoff, with the interval over queries and the range over tie orders.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
        Their ties count by the exact mean, whatever their policy.
    measure : measure, default "nDCG"
        One that has a cutoff, such as "R" or "P"; its own cutoff is not used.
    at : sequence of int
        The cutoffs.
    against : str, optional
        A system: how far the others are from it is drawn, which tells many curves apart that are close.
    options : dict, optional
        Of the intervals, as for :meth:`Scores.interval`; by default those of the comparison.

    Returns
    -------
    altair.LayerChart
        With more than two systems without bands; of more than eight, the best eight.

    Raises
    ------
    FigureError
        The measure has no cutoff, no system has a value, `against` has other queries or no rival, or there are repeats
        or a judge.
    ParameterError
        `against` is none of the systems.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, "RR")
    >>> [(row["cutoff"], row["mean"]) for row in cutoffs(ev, "R", at=[1, 2]).data.values]
    [(1, 0.5), (2, 1.0)]
    """
    of = parse_measure(measure)
    if "cutoff" not in {one.name for one in fields(of)}:
        raise FigureError(f"{of.label} has no cutoff", hint="take one that has, such as nDCG, R or P")
    whole = of(cutoff=None)
    at = as_cutoffs(at)
    x = alt.X(
        "cutoff:Q",
        title="cutoff (log scale)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=at, grid=False),
    )
    if against is not None:
        _check_against(named(systems), against)
    rows, n_systems = curve_rows(
        systems, "cutoff", {cutoff: of(cutoff=cutoff) for cutoff in sorted(at)}, options, against
    )
    if against is not None:
        return _apart(rows, n_systems, x, f"difference in {whole.label}@k", against)
    own = [row for row in rows if row["label"] == rows[0]["label"]]
    widest = max(own, key=lambda row: row["tie_max"] - row["tie_min"])
    of_ties = f"; tie order moves it most @{widest['cutoff']}" if is_moved(own) else ""
    ends = " to ".join(f"{format_number(row['mean'])} @{row['cutoff']:g}" for row in (own[0], own[-1]))
    title = f"{whole.label}@k, mean over queries ({better(whole)})"
    return draw_with_bands(rows, n_systems, x, title, finding=f"{whole.label} from {ends}", of_ties=of_ties)


def _check_against(evaluations: Mapping[str, Evaluation], against: str) -> None:
    """Refuse what others cannot be held against: their means are to be over the same queries."""
    if against not in evaluations:
        raise ParameterError(argument="against", given=against, allowed=list(evaluations))
    own, *others = sorted(evaluations.values(), key=lambda one: one is not evaluations[against])
    if not others or any(not np.array_equal(one.query_ids, own.query_ids) for one in others):
        raise FigureError(f"no other system has the queries of {against}" if others else "there is one system alone")


def curve_rows(
    systems: Systems,
    step: str,
    family: Mapping[float, Measure],
    options: Mapping[str, Any] | IntervalOptions | None,
    against: str | None = None,
) -> tuple[list[Record], int]:
    """Return a row for each measure of a family and each of the best systems (by the mean over the family); how many.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
    step : {"cutoff", "recall"}
        The column of the numbers by which the measures of the family differ.
    family : dict of float to Measure
    options : dict or IntervalOptions, optional
    against : str, optional
        The system from which the others are to differ, in a column of their differences.
    """
    evaluations = named(systems)
    if any(one.several_runs for own in evaluations.values() for one in own):
        raise FigureError("curves are not drawn of repeats, nor where a judge's labels count")
    asked = interval_options(options, systems)
    found = {
        name: [
            make_scores(one, its, its, evaluation.conventions, evaluation.qrels).weighted(evaluation.weights)
            for one, its in zip(family.values(), map(evaluation.placements_of, family.values()), strict=True)
        ]
        for name, evaluation in evaluations.items()
    }
    found = {name: scores for name, scores in found.items() if any(one.n_queries for one in scores)}
    if not found:
        raise FigureError("no system has a value: no query counts, or none has a relevant document")
    base = None if against is None else [float(one.mean) for one in found.pop(against)]
    best = sorted(found, key=lambda name: -sum(one.measure.sign * one.mean for one in found[name]))
    rows = [
        {"system": name, "label": label, step: value, **of_mean(one, interval), "method": interval.method}
        | ({} if base is None else {"difference": one.mean - base[n]})
        for label, name in list(zip(unique_labels(best), best, strict=True))[:MOST]
        for n, (value, one, interval) in enumerate(
            zip(family, found[name], estimate_intervals(found[name], asked), strict=True)
        )
    ]
    return rows, len(found)


def draw_with_bands(
    rows: Sequence[Record], n_systems: int, x: alt.X, title: str, *, finding: str, of_ties: str = ""
) -> alt.LayerChart:
    """Draw a line for each system, with bands if there are few; the finding is about the first."""
    kept = list(dict.fromkeys(row["label"] for row in rows))
    layers = lines(
        x,
        alt.Y("mean:Q", title=title, scale=alt.Scale(zero=False)),
        "label",
        kept,
        ["mean", "low", "high", "tie_min", "tie_max"],
    )
    notes = [f"point: exact mean over tie orders; ranges and intervals are drawn for two systems, not {n_systems}."]
    if len(kept) <= MOST_BANDS:
        base = alt.Chart().encode(x, color=series("label", kept)[0])
        layers = [
            base.mark_area(opacity=0.22).encode(alt.Y("tie_min:Q"), alt.Y2("tie_max")),
            base.mark_rule(opacity=0.9, strokeWidth=1.2).encode(alt.Y("low:Q"), alt.Y2("high")),
            *layers,
        ]
        methods = dict.fromkeys(
            str(METHODS.get(row["method"], row["method"])) for row in rows if row["low"] is not None
        )
        by = f"intervals by {format_list(list(methods))}" if methods else ""
        notes = marks(rows, "point: exact mean over tie orders", by)
    return finished(
        layers,
        rows,
        height=240,
        title=f"{short(rows[0]['system'])}: {finding} ({n_queries(*(row['n_queries'] for row in rows))}){of_ties}",
        notes=[*notes, left_out(len(kept), n_systems)],
    )


def _apart(rows: Sequence[Record], n_systems: int, x: alt.X, title: str, against: str) -> alt.LayerChart:
    """Draw for each system how far its mean is from that of another; the finding is about the first."""
    kept = list(dict.fromkeys(row["label"] for row in rows))
    own = [row for row in rows if row["label"] == kept[0]]
    ends = " to ".join(f"{format_signed(row['difference'])} @{row['cutoff']:g}" for row in (own[0], own[-1]))
    return finished(
        [
            zero_line(),
            *lines(x, alt.Y("difference:Q", title=title), "label", kept, ["difference", "mean", "tie_min", "tie_max"]),
        ],
        rows,
        height=240,
        title=f"{short(own[0]['system'])} differs from {short(against)} by {ends}",
        notes=[
            f"point: exact mean over tie orders, less that of {short(against)} ({n_queries(own[0]['n_queries'])}).",
            left_out(len(kept), n_systems, "other systems"),
        ],
    )
