"""A row for each system or stratum: means with intervals and tie ranges, rank intervals, a rule; a page of ties."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, cast

import altair as alt
import numpy as np

from deadheat.core import hooks
from deadheat.core.errors import FigureError
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.evaluation.ordering import n_swapped, order_by_mean
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.stratum import label as label_of
from deadheat.core.kernels.ranks import first_ranks
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import MeasureLike
from deadheat.core.scalars import NOISE
from deadheat.core.wording import BY_DOC_ID, format_count
from deadheat.plugins.figures.choice import kind_of
from deadheat.plugins.figures.registration import figure, interval_options
from deadheat.plugins.figures.style import (
    BLACK,
    BLUE,
    OF_BAND,
    ORANGE,
    Record,
    finished,
    quantity,
    row_axis,
    row_height,
    series,
    tips,
)
from deadheat.plugins.figures.subjects import is_comparison
from deadheat.plugins.figures.systems import (
    Systems,
    best_first,
    better,
    marks,
    means_by_doc_id,
    measure_of,
    named,
    of_mean,
    several_by_name,
    ties_count_as,
)
from deadheat.plugins.figures.texts import format_number, format_signed, left_out, n_queries, short, unique_labels

MOST, MOST_RULED = 60, 40  # systems that a page has room for, with one row each and with two bars
MOST_COMPARED, MOST_STRATA = 6, 40

StrataOf: TypeAlias = Strata | Mapping[str, Strata] | Sequence[Strata]
"""The strata of one system, or of several."""


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
    found = best_first(systems, measure)
    of, kept = next(iter(found.values())).measure, list(found)[:MOST]
    by_doc_id, asked = means_by_doc_id(systems, of, beside), interval_options(options)
    rows: list[Record] = [
        {"label": label, "system": name, "measure": of.label, "by_doc_id": by_doc_id.get(name)}
        | of_mean(
            found[name],
            systems.intervals[name, of.label] if is_comparison(systems) else found[name].interval(**vars(asked)),
        )
        for label, name in zip(unique_labels(kept), kept, strict=True)
    ]
    size = row_height(len(rows))
    x = quantity(alt.X, f"{of.label}, mean over queries ({better(of)})", zero=False)
    base = alt.Chart().encode(
        row_axis([row["label"] for row in rows]),
        tooltip=tips("label:N", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q", "by_doc_id:Q", "n_queries:Q"),
    )
    end = base.mark_tick(color=BLUE, opacity=1, thickness=1.6, height=size * 0.3)
    return finished(
        [
            base.mark_bar(**OF_BAND, height=size * 0.55).encode(x("tie_min"), alt.X2("tie_max")),
            base.mark_rule(color=BLUE, strokeWidth=1.6).encode(x("low"), alt.X2("high")),
            end.encode(x("low")),
            end.encode(x("high")),
            base.mark_tick(color=BLACK, opacity=1, thickness=2, height=size * 0.75).encode(x("by_doc_id")),
            base.mark_point(fill=BLUE, opacity=1, size=size * 1.8, stroke="white", strokeWidth=0.7).encode(x("mean")),
        ],
        rows,
        height=len(rows) * size,
        title=_who_leads(found),
        notes=[
            *marks(
                rows,
                f"dot: mean ({ties_count_as(named(systems))})",
                f"tick: ties {BY_DOC_ID}" if by_doc_id else "",
            ),
            left_out(len(kept), len(found)),
        ],
    )


def _who_leads(found: Mapping[str, Scores]) -> str:
    """Say who leads, over how many queries, and what tie order can make of it."""
    (first, scores), *others = found.items()
    of, low, high = scores.measure, scores.mean_tie_min, scores.mean_tie_max
    over = n_queries(*(one.n_queries for one in found.values()))
    if not others:
        moved = f"tie order alone moves it from {format_number(low)} to {format_number(high)}"
        moved = moved if high - low > NOISE else "no order of ties changes it"
        return f"{short(first)}: {of.label} {format_number(scores.mean)} over {over}; {moved}"
    equal = sum(abs(one.mean - scores.mean) <= NOISE for _, one in others)
    who = f"{short(first)} and {format_count(equal, 'other')} have" if equal else f"{short(first)} has"
    # the orders of two runs are independent
    ends = {name: sorted((of.sign * one.mean_tie_min, of.sign * one.mean_tie_max)) for name, one in found.items()}
    to_beat = max(ends[first][0] + NOISE, *(worst - NOISE for worst, _ in ends.values()))
    rivals = [short(name) for name, _ in others if ends[name][1] > to_beat]
    whom = rivals[0] if len(rivals) == 1 else f"any of {len(rivals)} others"
    ties = f"tie order alone can put {whom} first" if rivals else "no order of ties puts another system ahead"
    return (
        f"{who} the {'highest' if of.higher_is_better else 'lowest'} {of.label}: {format_number(scores.mean)} over"
        f" {over}; {ties}"
    )


@figure("strata", place=80)
def strata(
    systems: StrataOf, measure: MeasureLike | None = None, *, options: Mapping[str, Any] | IntervalOptions | None = None
) -> alt.LayerChart:
    """Draw the mean of each stratum with its interval and tie range, a line for each system.

    Parameters
    ----------
    systems : Strata, or several by the name of the system
        As :meth:`Evaluation.by` returns them.
    measure : measure, optional
        By default the first.
    options : dict, optional
        Of the intervals, as for :meth:`Scores.interval`.

    Returns
    -------
    altair.LayerChart
        The strata in their own order, such as easy, medium, hard.

    Raises
    ------
    FigureError
        No stratum has a value.

    Examples
    --------
    >>> import polars as pl
    >>> from deadheat import evaluate
    >>> ev = evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}, "RR")
    >>> levels = pl.DataFrame({"query_id": ["q1", "q2"], "level": ["easy", "hard"]})
    >>> [(row["stratum"], row["mean"]) for row in strata(ev.by("level", levels)).data.values]
    [('easy', 1.0), ('hard', 0.75)]
    """
    found = several_by_name("systems", systems, Strata, "Strata, or several by name")
    evaluations = {name: one.whole for name, one in found.items()}
    of = measure_of(evaluations, measure)
    names = list(found)
    ranked = [names[place] for place in order_by_mean([evaluations[name][of] for name in names])]
    kept, first = ranked[:MOST_COMPARED], found[ranked[0]]
    asked = interval_options(options)
    rows = [
        row
        for label, name in zip(unique_labels(kept), kept, strict=True)
        for row in _rows(label, found[name], of, asked)
    ]
    if not rows:
        raise FigureError(f"no stratum has a value of {of.label}")
    order = list(dict.fromkeys(row["label"] for row in rows))
    drawn = order[:MOST_STRATA]
    rows = [row for row in rows if row["label"] in drawn]
    names = list(dict.fromkeys(row["system"] for row in rows))
    colour, shape, _ = series("system", names)
    base = alt.Chart().encode(row_axis(drawn, grid=True))
    if len(names) > 1:
        base = base.encode(
            yOffset=alt.YOffset(
                "system:N", sort=names, scale=alt.Scale(domain=names, paddingInner=0.3, paddingOuter=0.25)
            )
        )
    x = quantity(alt.X, f"{of.label}, mean over queries ({better(of)})", zero=False)
    return finished(
        [
            base.mark_bar(**OF_BAND, height=9).encode(x("tie_min"), alt.X2("tie_max")),
            base.mark_rule(strokeWidth=1.6).encode(x("low"), alt.X2("high"), color=colour),
            base.mark_point(filled=True, opacity=1, size=46, stroke="white", strokeWidth=0.6).encode(
                x("mean"),
                color=colour,
                shape=shape,
                tooltip=tips(
                    "system:N", "label:N", "n_queries:Q", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q"
                ),
            ),
        ],
        rows,
        height=max(20, 13 * len(kept) + 6) * len(drawn),
        title=_best_stratum(rows, of, first),
        notes=[
            *marks(rows, f"dot: mean ({ties_count_as(evaluations)})"),
            f"The title is about strata of {first.smallest} queries and more."
            if 0 < sum(row["n_queries"] < first.smallest for row in rows) < len(rows)
            else "",
            left_out(len(kept), len(found)),
            left_out(len(drawn), len(order), "strata", "first"),
        ],
    )


def _rows(system: str, own: Strata, measure: Measure, options: IntervalOptions) -> Iterator[Record]:
    estimated = own.intervals(**vars(options))
    for stratum, evaluation in own.items():
        scores, name = evaluation[measure], label_of(stratum)
        if scores.n_queries:
            yield {
                "system": system,
                "stratum": name,
                "label": f"{short(name)} (n = {scores.n_queries:,})",
                **of_mean(scores, estimated[stratum][scores.measure.label]),
            }


def _best_stratum(rows: Sequence[Record], measure: Measure, first: Strata) -> str:
    """Say for which stratum the best system has the best mean, and for which the worst."""
    own = [row for row in rows if row["system"] == rows[0]["system"]]
    enough = [row for row in own if row["n_queries"] >= first.smallest]
    shown = enough if len(enough) > 1 else own
    means = np.array([row["mean"] for row in shown], np.float64)
    ranked = [shown[place] for place in np.argsort(first_ranks(measure.sign * means), kind="stable").tolist()]
    told = [
        f"{short(row['stratum'])} ({format_number(row['mean'])}, n = {row['n_queries']:,})"
        for row in (ranked[:1] + ranked[1:][-1:])
    ]
    by = " and ".join(map(short, first.columns))
    return f"{short(rows[0]['system'])} by {by}: {measure.label} is best for {', worst for '.join(told)}"


@figure("ties", "systems", "comparison", place=50)
def traditional(
    systems: object, measure: MeasureLike | None = None, *, beside: Systems | None = None
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
    if kind_of(systems) == "ties":
        of, rows, rule = hooks.service("means_by_rule").means_by_rule(systems, measure)
    else:
        of, rows = _of_systems(cast("Systems", systems), measure, beside)
        rule = BY_DOC_ID
    kept, names = rows[:MOST_RULED], ["exact", rule]
    order = unique_labels(row["system"] for row in kept)
    x = quantity(alt.X, f"{of}, mean over queries", zero=True)
    base = alt.Chart().encode(row_axis(order))
    return finished(
        [
            base.mark_bar().encode(
                x("value"),
                yOffset=alt.YOffset(
                    "kind:N", sort=names, scale=alt.Scale(domain=names, paddingInner=0, paddingOuter=0.18)
                ),
                color=alt.Color(
                    "kind:N",
                    sort=names,
                    scale=alt.Scale(domain=names, range=[BLUE, ORANGE]),
                    legend=alt.Legend(title=None),
                ),
                tooltip=tips("label:N", "exact:Q", "traditional:Q", "tie_min:Q", "tie_max:Q", "n_queries:Q"),
            ),
            base.transform_filter("datum.kind == 'exact' && datum.tie_max - datum.tie_min > 1e-12")
            .mark_rule(color=BLACK, strokeWidth=1.2)
            .encode(x("tie_min"), alt.X2("tie_max")),
        ],
        [
            {"label": label, "kind": kind, "value": row[key], **row}
            for label, row in zip(order, kept, strict=True)
            for kind, key in zip(names, ("exact", "traditional"), strict=True)
        ],
        height=max(24, 2 * row_height(len(kept)) - 8) * len(kept),
        title=_what_changes(rows, of, rule),
        notes=["exact: mean over all tie orders; black line: range over tie orders.", left_out(len(kept), len(rows))],
    )


def _of_systems(systems: Systems, measure: MeasureLike | None, beside: Systems | None) -> tuple[str, list[Record]]:
    found = best_first(systems, measure)
    of = next(iter(found.values())).measure
    by_doc_id = means_by_doc_id(systems, of, beside)
    rows: list[Record] = [
        {
            "system": name,
            "exact": replace(one, values=one.tie_mean).mean,
            "traditional": by_doc_id[name],
            "tie_min": one.mean_tie_min,
            "tie_max": one.mean_tie_max,
            "n_queries": one.n_queries,
            "measure": one.measure.label,
        }
        for name, one in found.items()
        if name in by_doc_id
    ]
    if not rows:
        raise FigureError(
            f"values with ties broken {BY_DOC_ID}, are not known: they take the runs, and ties that count by their"
            " exact mean",
            python="evaluations with ties='doc_id' may be given as beside",
        )
    return of.label, rows


def _what_changes(rows: Sequence[Record], measure: str, rule: str) -> str:
    n = n_queries(*(row["n_queries"] for row in rows))
    widest = max(rows, key=lambda row: abs(row["traditional"] - row["exact"]))
    off = widest["traditional"] - widest["exact"]
    if abs(off) <= NOISE:
        return f"Ties broken {rule}, give the exact mean {measure} (over {n})"
    is_reordered = n_swapped([row["exact"] for row in rows], [row["traditional"] for row in rows]) > 0
    return f"Ties broken {rule}, change {measure} of {short(widest['system'])} by {format_signed(off)} ({n})" + (
        "; they rank the systems in another order" if is_reordered else ""
    )
