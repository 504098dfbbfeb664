"""The tables and sentences of a page: verdict, leaderboard, queries that decide, what ties decide, strata."""

from __future__ import annotations

import math

import numpy as np

from deadheat.arrays import FloatArray
from deadheat.evaluation.intervals import Interval, IntervalOptions
from deadheat.evaluation.strata import SMALLEST, keys_of, strata_of
from deadheat.measures import Measure
from deadheat.report.model import QUERY, Column, Span, Table, share, tabulate
from deadheat.report.numbers import as_cell, format_cell, span_of, span_of_ties
from deadheat.report.of_comparison import StratumComparison, columns_of_strata, list_systems
from deadheat.report.page.subject import Subject
from deadheat.report.score_tables import NOTHING, level_heading, parts_of, tabulate_scores
from deadheat.wording import BY_DOC_ID, NOISE, counted

SYSTEMS = Column("system", "system", str)


def verdict_of(subject: Subject) -> list[str]:
    """Return what is to be said first, in sentences."""
    if subject.comparison is not None:
        return list(subject.comparison.judge(subject.margin).sentences)
    name, main = subject.ranked[0], subject.main
    scores, interval = subject.evaluations[name][main], _intervals(subject)[name]
    level = f"{name} has a {'total' if main.total else 'mean'} {main.label} of {format_cell(scores.reported())}"
    level += f" over {counted(scores.n_queries, 'query', 'queries')}"
    if not main.total and interval.is_known:
        ends = f"{format_cell(interval.low)} to {format_cell(interval.high)}"
        level += f" ({100 * interval.confidence_level:g}% interval {ends})"
    elif not main.total:
        level += f"; an interval cannot be known: {interval.unknown}"
    ties, of = span_of_ties(scores), f"{main.label} of {name}"
    moved = f"The order of equal scores alone moves {of} from {format_cell(ties.low)} to {format_cell(ties.high)}."
    return [f"{level}.", moved if ties.high - ties.low > NOISE else f"No order of equal scores changes {of}."]


def leaderboard(subject: Subject) -> Table:
    """Return the systems, best first by the main measure, with the means of all measures."""
    main, evaluations, intervals = subject.main, subject.evaluations, _intervals(subject)
    confidence = 0.95 if subject.comparison is None else subject.comparison.design.confidence_level
    by_doc_id = _by_doc_id(subject)
    columns = (
        Column("mean", _heading(main), lambda name: as_cell(evaluations[name][main])),
        Column(
            "ci",
            level_heading(confidence, {one[main].n_queries for one in evaluations.values()}),
            lambda name: NOTHING if main.total or name not in intervals else span_of(intervals[name]),
        ),
        Column("ties", "tie orders", lambda name: span_of_ties(evaluations[name][main]), ("tie_min", "tie_max")),
        *([Column("doc_id", BY_DOC_ID, by_doc_id.get)] if by_doc_id else []),
        *(
            Column(one.label, _heading(one), lambda name, one=one: as_cell(evaluations[name][one]))
            for one in subject.measures
            if one != main
        ),
    )
    return tabulate("leaderboard", [SYSTEMS], columns, subject.ranked, title=f"Systems by {main.label}")


def _heading(measure: Measure) -> str:
    total, less = " (total)" * measure.total, "" if measure.higher_is_better else " (less is better)"
    return f"{measure.label}{total}{less}"


def _intervals(subject: Subject) -> dict[str, Interval]:
    """Return the interval of the main measure of each system."""
    main = subject.main.label
    if subject.comparison is None:
        return {name: one.intervals()[main] for name, one in subject.evaluations.items()}
    return {name: one for (name, measure), one in subject.comparison.intervals.items() if measure == main}


def _by_doc_id(subject: Subject) -> dict[str, float]:
    """Return the mean of each system with its ties broken by document id; empty where that is not known."""
    found: dict[str, float] = {}
    for name in subject.comparison.by_doc_id if subject.comparison else ():
        values = subject.by_doc_id(name, subject.main)
        if values is not None:
            found[name] = _level(values[subject.evaluations[name][subject.main].kept], subject.main)
    return found


def _level(values: FloatArray, measure: Measure) -> float:
    """Return the mean of values of queries, of counts the total."""
    if not len(values):
        return math.nan
    level = float(values.sum() if measure.total else values.mean())
    return math.exp(level) if measure.geometric else level


def deciding(subject: Subject) -> Table:
    """Return the queries that decide most: between two systems, or of a single one the worst."""
    texts, names = subject.texts, subject.duel or subject.ranked[:1]
    found = [subject.evaluations[name][subject.main] for name in names]
    values, low, high = (
        [subject.of_all_queries(one, getattr(one, column)) for one in found]
        for column in ("values", "tie_min", "tie_max")
    )
    apart = values[0] - values[-1]
    ends = (low[0] - high[1], high[0] - low[1]) if len(names) > 1 else (low[0], high[0])
    # two systems differ in a query, or can by some order of its ties
    decides = ~(np.abs(apart) <= NOISE) | (ends[1] - ends[0] > NOISE)
    columns = [
        *(Column(name, name, lambda n, own=own: float(own[n])) for name, own in zip(names, values, strict=True)),
        *([Column("difference", "difference", lambda n: float(apart[n]))] if len(names) > 1 else []),
        Column("ties", "over tie orders", lambda n: Span(float(ends[0][n]), float(ends[1][n]))),
    ]
    labels = [Column(QUERY.key, QUERY.heading, subject.query_ids.__getitem__)]
    labels += [] if texts is None else [Column("text", "text", texts.__getitem__)]
    shown = [n for n in subject.deciding if len(names) == 1 or decides[n]]
    title = f"{subject.main.label}: {' - '.join(names)}"
    return tabulate("deciding", labels, columns, shown, title=title, main=len(columns) - 2)


def tie_table(subject: Subject) -> Table:
    """Return what the order of ties decides, system by system, by the main measure."""
    main, by_doc_id = subject.main, _by_doc_id(subject)
    scores = {name: subject.evaluations[name][main] for name in subject.ranked}
    exact = {name: _level(one.tie_mean[one.kept], main) for name, one in scores.items()}
    decided = {name: int(np.count_nonzero(one.tie_max - one.tie_min > NOISE)) for name, one in scores.items()}
    columns = (
        Column("exact", "exact", exact.get),
        *(
            Column(key, key.replace("_", " "), lambda name, key=key: as_cell(scores[name], key))
            for key in ("tie_std", "tie_min", "tie_max")
        ),
        *(
            [
                Column("doc_id", BY_DOC_ID, by_doc_id.get),
                Column("difference", "difference", lambda name: by_doc_id.get(name, math.nan) - exact[name]),
            ]
            if by_doc_id
            else []
        ),
        Column("n_queries", "queries decided", decided.get),
        Column("share", "share", lambda name: share(decided[name] / n) if (n := scores[name].n_queries) else None),
    )
    return tabulate("ties", [SYSTEMS], columns, subject.ranked, title=f"What tie order decides of {main.label}")


def strata_tables(subject: Subject) -> list[Table]:
    """Return the systems of each stratum, measure by measure; none without columns to report by."""
    if not subject.columns or subject.queries is None:
        return []
    if subject.comparison is None:
        strata = next(iter(subject.strata().values()))
        held, names = parts_of((), [strata], IntervalOptions()), subject.ranked
        return [tabulate_scores(held, names, subject.measures, columns=strata.columns, smallest=SMALLEST, level=0.95)]
    of_all = strata_of(subject.comparison, subject.columns, subject.queries)
    leading = columns_of_strata(subject.columns)
    found = [StratumComparison(keys_of(key), part) for key, part in of_all.items()]
    return [list_systems(found, leading, measure) for measure in subject.measures]
