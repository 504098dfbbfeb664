"""A row for each system or stratum: means with intervals and tie ranges, rank intervals, a rule; a page of ties."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    scores_of_systems = best_first(systems, measure)
    of = next(iter(scores_of_systems.values())).measure
    by_doc_id = means_by_doc_id(systems, of, beside)
    interval_settings = interval_options(options)
    kept = list(scores_of_systems)[:MOST]
    rows: list[Record] = []
    for label, name in zip(unique_labels(kept), kept, strict=True):
        scores = scores_of_systems[name]
        if is_comparison(systems):
            interval = systems.intervals[name, of.label]
        else:
            interval = scores.interval(**vars(interval_settings))
        row = {"label": label, "system": name, "measure": of.label, "by_doc_id": by_doc_id.get(name)}
        rows.append(row | of_mean(scores, interval))
    dot = f"dot: mean ({ties_count_as(named(systems))})"
    tick = f"tick: ties {BY_DOC_ID}" if by_doc_id else ""
    size = row_height(len(rows))
    x = quantity(alt.X, f"{of.label}, mean over queries ({better(of)})", zero=False)
    return finished(
        _layers_of_forest([row["label"] for row in rows], x, size),
        rows,
        height=len(rows) * size,
        title=_who_leads(scores_of_systems),
        notes=[*marks(rows, dot, tick), left_out(len(kept), len(scores_of_systems))],
    )


def _layers_of_forest(labels: Sequence[str], x: Callable[[str], Any], size: float) -> list[alt.Chart]:
    """Return the marks of each row: tie range, interval with its ends, mean by document id, mean."""
    base = alt.Chart().encode(
        row_axis(labels),
        tooltip=tips("label:N", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q", "by_doc_id:Q", "n_queries:Q"),
    )
    band = base.mark_bar(**OF_BAND, height=size * 0.55)
    line = base.mark_rule(color=BLUE, strokeWidth=1.6)
    end = base.mark_tick(color=BLUE, opacity=1, thickness=1.6, height=size * 0.3)
    tick = base.mark_tick(color=BLACK, opacity=1, thickness=2, height=size * 0.75)
    dot = base.mark_point(fill=BLUE, opacity=1, size=size * 1.8, stroke="white", strokeWidth=0.7)
    return [
        band.encode(x("tie_min"), alt.X2("tie_max")),
        line.encode(x("low"), alt.X2("high")),
        end.encode(x("low")),
        end.encode(x("high")),
        tick.encode(x("by_doc_id")),
        dot.encode(x("mean")),
    ]


def _who_leads(scores_of_systems: Mapping[str, Scores]) -> str:
    """Say who leads, over how many queries, and what tie order can make of it."""
    (first, scores), *others = scores_of_systems.items()
    measure = scores.measure
    over = n_queries(*(scores_of_system.n_queries for scores_of_system in scores_of_systems.values()))
    mean = f"{format_number(scores.mean)} over {over}"
    if not others:
        low = scores.mean_tie_min
        high = scores.mean_tie_max
        moved = "no order of ties changes it"
        if high - low > NOISE:
            moved = f"tie order alone moves it from {format_number(low)} to {format_number(high)}"
        return f"{short(first)}: {measure.label} {mean}; {moved}"
    n_equal = sum(abs(other.mean - scores.mean) <= NOISE for _, other in others)
    who = f"{short(first)} has"
    if n_equal:
        who = f"{short(first)} and {format_count(n_equal, 'other')} have"
    rivals = _find_rivals(scores_of_systems)
    ties = "no order of ties puts another system ahead"
    if len(rivals) == 1:
        ties = f"tie order alone can put {short(rivals[0])} first"
    elif rivals:
        ties = f"tie order alone can put any of {len(rivals)} others first"
    end = "highest" if measure.higher_is_better else "lowest"
    return f"{who} the {end} {measure.label}: {mean}; {ties}"


def _find_rivals(scores_of_systems: Mapping[str, Scores]) -> list[str]:
    """Return the systems that some order of ties puts before the first and all others.

    The orders of two runs are independent, so that one may have its best order where the others have their worst.
    """
    first, *others = scores_of_systems
    sign = scores_of_systems[first].measure.sign
    worst = {}
    best = {}
    for name, scores in scores_of_systems.items():
        worst[name], best[name] = sorted((sign * scores.mean_tie_min, sign * scores.mean_tie_max))
    to_beat = max(worst[first] + NOISE, *(end - NOISE for end in worst.values()))
    return [name for name in others if best[name] > to_beat]


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
    strata_of_systems = several_by_name("systems", systems, Strata, "Strata, or several by name")
    evaluations = {name: strata_of_system.whole for name, strata_of_system in strata_of_systems.items()}
    of = measure_of(evaluations, measure)
    names = list(strata_of_systems)
    ranked = [names[place] for place in order_by_mean([evaluations[name][of] for name in names])]
    first = strata_of_systems[ranked[0]]
    kept = ranked[:MOST_COMPARED]
    interval_settings = interval_options(options)
    rows: list[Record] = []
    for label, name in zip(unique_labels(kept), kept, strict=True):
        rows.extend(_rows(label, strata_of_systems[name], of, interval_settings))
    if not rows:
        raise FigureError(f"no stratum has a value of {of.label}")
    order = list(dict.fromkeys(row["label"] for row in rows))
    drawn = order[:MOST_STRATA]
    rows = [row for row in rows if row["label"] in drawn]
    names_drawn = list(dict.fromkeys(row["system"] for row in rows))
    x = quantity(alt.X, f"{of.label}, mean over queries ({better(of)})", zero=False)
    return finished(
        _layers_of_strata(drawn, names_drawn, x),
        rows,
        height=max(20, 13 * len(kept) + 6) * len(drawn),
        title=_best_stratum(rows, of, first),
        notes=[
            *marks(rows, f"dot: mean ({ties_count_as(evaluations)})"),
            _tell_smallest(rows, first.smallest),
            left_out(len(kept), len(strata_of_systems)),
            left_out(len(drawn), len(order), "strata", "first"),
        ],
    )


def _layers_of_strata(labels: Sequence[str], names: Sequence[str], x: Callable[[str], Any]) -> list[alt.Chart]:
    """Return the marks of each row, side by side for several systems: tie range, interval, mean."""
    colour, shape, _ = series("system", names)
    base = alt.Chart().encode(row_axis(labels, grid=True))
    if len(names) > 1:
        scale = alt.Scale(domain=names, paddingInner=0.3, paddingOuter=0.25)
        base = base.encode(yOffset=alt.YOffset("system:N", sort=names, scale=scale))
    band = base.mark_bar(**OF_BAND, height=9)
    line = base.mark_rule(strokeWidth=1.6)
    dot = base.mark_point(filled=True, opacity=1, size=46, stroke="white", strokeWidth=0.6)
    tooltip = tips("system:N", "label:N", "n_queries:Q", "mean:Q", "low:Q", "high:Q", "tie_min:Q", "tie_max:Q")
    return [
        band.encode(x("tie_min"), alt.X2("tie_max")),
        line.encode(x("low"), alt.X2("high"), color=colour),
        dot.encode(x("mean"), color=colour, shape=shape, tooltip=tooltip),
    ]


def _tell_smallest(rows: Sequence[Record], smallest: int) -> str:
    """Say that strata of few queries do not count for the title; empty if there are none, or no others."""
    n_small = sum(row["n_queries"] < smallest for row in rows)
    if 0 < n_small < len(rows):
        return f"The title is about strata of {smallest} queries and more."
    return ""


def _rows(system: str, strata_of_system: Strata, measure: Measure, options: IntervalOptions) -> Iterator[Record]:
    """Give a row for each stratum that has a value."""
    intervals = strata_of_system.intervals(**vars(options))
    for stratum, evaluation in strata_of_system.items():
        scores = evaluation[measure]
        if scores.n_queries:
            name = label_of(stratum)
            yield {
                "system": system,
                "stratum": name,
                "label": f"{short(name)} (n = {scores.n_queries:,})",
                **of_mean(scores, intervals[stratum][scores.measure.label]),
            }


def _best_stratum(rows: Sequence[Record], measure: Measure, first: Strata) -> str:
    """Say for which stratum the best system has the best mean, and for which the worst."""
    rows_of_best = [row for row in rows if row["system"] == rows[0]["system"]]
    large = [row for row in rows_of_best if row["n_queries"] >= first.smallest]
    shown = large if len(large) > 1 else rows_of_best
    means = np.array([row["mean"] for row in shown], np.float64)
    ranked = [shown[place] for place in np.argsort(first_ranks(measure.sign * means), kind="stable").tolist()]
    ends = [ranked[0]]
    if len(ranked) > 1:
        ends.append(ranked[-1])
    strata_in_words = []
    for row in ends:
        strata_in_words.append(f"{short(row['stratum'])} ({format_number(row['mean'])}, n = {row['n_queries']:,})")
    columns = " and ".join(map(short, first.columns))
    system = short(rows[0]["system"])
    return f"{system} by {columns}: {measure.label} is best for {', worst for '.join(strata_in_words)}"


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
    kept = rows[:MOST_RULED]
    labels = unique_labels(row["system"] for row in kept)
    bars: list[Record] = []
    for label, row in zip(labels, kept, strict=True):
        bars.append({"label": label, "kind": "exact", "value": row["exact"], **row})
        bars.append({"label": label, "kind": rule, "value": row["traditional"], **row})
    x = quantity(alt.X, f"{of}, mean over queries", zero=True)
    return finished(
        _layers_of_rule(labels, ["exact", rule], x),
        bars,
        height=max(24, 2 * row_height(len(kept)) - 8) * len(kept),
        title=_what_changes(rows, of, rule),
        notes=["exact: mean over all tie orders; black line: range over tie orders.", left_out(len(kept), len(rows))],
    )


def _layers_of_rule(labels: Sequence[str], kinds: Sequence[str], x: Callable[[str], Any]) -> list[alt.Chart]:
    """Return the marks of each row: a bar for each kind of mean, and the tie range on that of the exact one."""
    base = alt.Chart().encode(row_axis(labels))
    offsets = alt.Scale(domain=kinds, paddingInner=0, paddingOuter=0.18)
    colours = alt.Scale(domain=kinds, range=[BLUE, ORANGE])
    bars = base.mark_bar().encode(
        x("value"),
        yOffset=alt.YOffset("kind:N", sort=kinds, scale=offsets),
        color=alt.Color("kind:N", sort=kinds, scale=colours, legend=alt.Legend(title=None)),
        tooltip=tips("label:N", "exact:Q", "traditional:Q", "tie_min:Q", "tie_max:Q", "n_queries:Q"),
    )
    moved = base.transform_filter("datum.kind == 'exact' && datum.tie_max - datum.tie_min > 1e-12")
    tie_range = moved.mark_rule(color=BLACK, strokeWidth=1.2).encode(x("tie_min"), alt.X2("tie_max"))
    return [bars, tie_range]


def _of_systems(systems: Systems, measure: MeasureLike | None, beside: Systems | None) -> tuple[str, list[Record]]:
    """Return the measure, and a row for each system whose mean with ties broken by document id is known."""
    scores_of_systems = best_first(systems, measure)
    of = next(iter(scores_of_systems.values())).measure
    by_doc_id = means_by_doc_id(systems, of, beside)
    rows: list[Record] = []
    for name, scores in scores_of_systems.items():
        if name in by_doc_id:
            rows.append(
                {
                    "system": name,
                    "exact": replace(scores, values=scores.tie_mean).mean,
                    "traditional": by_doc_id[name],
                    "tie_min": scores.mean_tie_min,
                    "tie_max": scores.mean_tie_max,
                    "n_queries": scores.n_queries,
                    "measure": scores.measure.label,
                }
            )
    if not rows:
        raise FigureError(
            f"values with ties broken {BY_DOC_ID}, are not known: they take the runs, and ties that count by their"
            " exact mean",
            python="evaluations with ties='doc_id' may be given as beside",
        )
    return of.label, rows


def _what_changes(rows: Sequence[Record], measure: str, rule: str) -> str:
    """Say whose mean ties broken by a rule change most, and whether they change the order of systems."""
    n = n_queries(*(row["n_queries"] for row in rows))
    widest = max(rows, key=lambda row: abs(row["traditional"] - row["exact"]))
    change = widest["traditional"] - widest["exact"]
    if abs(change) <= NOISE:
        return f"Ties broken {rule}, give the exact mean {measure} (over {n})"
    text = f"Ties broken {rule}, change {measure} of {short(widest['system'])} by {format_signed(change)} ({n})"
    if n_swapped([row["exact"] for row in rows], [row["traditional"] for row in rows]) > 0:
        text += "; they rank the systems in another order"
    return text
