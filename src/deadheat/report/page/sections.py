"""The parts of a page that need no script: leaderboard, tables, figures, inputs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from deadheat.errors import UnlabelledQueriesWarning
from deadheat.evaluation.intervals import Interval, IntervalOptions
from deadheat.evaluation.scores import Scores
from deadheat.evaluation.strata import SMALLEST, keys_of
from deadheat.measures import Measure
from deadheat.report.as_html import escaped, html_table
from deadheat.report.model import Cell, Column, Report, Row, Share, Span, Table
from deadheat.report.numbers import format_cell
from deadheat.report.of_evaluation import EvaluationContext, report_evaluations
from deadheat.report.of_systems import StratumComparison, list_systems
from deadheat.report.page.pictures import Picture
from deadheat.report.page.subject import Input, Subject
from deadheat.report.score_tables import level_heading, parts_of, tabulate
from deadheat.report.totals import as_cell, reported
from deadheat.wording import BY_DOC_ID, NOISE, counted


def section(identifier: str, heading: str, content: str, *, note: str = "", needs_script: bool = False) -> str:
    """Return a section of a page; one that needs the script is hidden without it."""
    lead = f"<p>{escaped(note)}</p>\n" if note else ""
    hidden = ' class="live" hidden' if needs_script else ""
    return (
        f'<section id="{identifier}" aria-labelledby="{identifier}-h"{hidden}>\n'
        f'<h2 id="{identifier}-h">{escaped(heading)}</h2>\n{lead}{content}\n</section>'
    )


def verdict_of(subject: Subject) -> list[str]:
    """Return what is to be said first, in sentences."""
    if subject.comparison is not None:
        return list(subject.comparison.judge(subject.margin).sentences)
    name = subject.ranked[0]
    scores = subject.evaluations[name][subject.main]
    interval = subject.evaluations[name].intervals()[subject.main.label]
    found = [_level(subject, name, interval)]
    low, high = reported(scores, "tie_min"), reported(scores, "tie_max")
    of = f"{subject.main.label} of {name}"
    if high - low <= NOISE:
        found.append(f"No order of equal scores changes {of}.")
    else:
        found.append(f"The order of equal scores alone moves {of} from {_shown(low)} to {_shown(high)}.")
    return found


def _level(subject: Subject, name: str, interval: Interval) -> str:
    scores = subject.evaluations[name][subject.main]
    what = "total" if subject.main.total else "mean"
    text = f"{name} has a {what} {subject.main.label} of {_shown(reported(scores))}"
    queries = counted(scores.n_queries, "query", "queries")
    if subject.main.total or not interval.is_known:
        why = "" if subject.main.total else f"; an interval cannot be known: {interval.unknown}"
        return f"{text} over {queries}{why}."
    level = f"{100 * interval.confidence_level:g}%"
    return f"{text} over {queries} ({level} interval {_shown(interval.low)} to {_shown(interval.high)})."


def _shown(number: float) -> str:
    return format_cell(number)


def leaderboard(subject: Subject) -> Table:
    """Return the systems, best first by the main measure, with the means of all measures."""
    main, others = subject.main, [one for one in subject.measures if one != subject.main]
    intervals = _intervals(subject)
    counts = {one[main].n_queries for one in subject.evaluations.values()}
    by_doc_id = _by_doc_id(subject)
    columns = (
        Column("mean", _heading(main)),
        Column("ci", level_heading(_confidence(subject), counts)),
        Column("ties", "tie orders", ends=("tie_min", "tie_max")),
        *((Column("doc_id", BY_DOC_ID),) if by_doc_id else ()),
        *(Column(one.label, _heading(one)) for one in others),
    )
    rows = tuple(
        Row(
            (name,),
            ((*_of_main(subject, name, intervals.get(name)), *_one(by_doc_id, name), *_others(subject, name, others)),),
        )
        for name in subject.ranked
    )
    return Table("leaderboard", (Column("system", "system"),), columns, rows, title=f"Systems by {main.label}")


def _heading(measure: Measure) -> str:
    return (
        f"{measure.label}{' (total)' if measure.total else ''}{'' if measure.higher_is_better else ' (less is better)'}"
    )


def _one(by_name: Mapping[str, Cell], name: str) -> tuple[Cell, ...]:
    return (by_name.get(name),) if by_name else ()


def _others(subject: Subject, name: str, measures: Sequence[Measure]) -> tuple[Cell, ...]:
    return tuple(as_cell(subject.evaluations[name][one]) for one in measures)


def _of_main(subject: Subject, name: str, interval: Interval | None) -> tuple[Cell, ...]:
    scores = subject.evaluations[name][subject.main]
    is_shown = interval is not None and not subject.main.total
    span = Span(interval.low, interval.high, interval.is_known) if interval and is_shown else Span(math.nan, math.nan)
    return as_cell(scores), span, Span(reported(scores, "tie_min"), reported(scores, "tie_max"))


def _confidence(subject: Subject) -> float:
    return 0.95 if subject.comparison is None else subject.comparison.design.confidence_level


def _intervals(subject: Subject) -> dict[str, Interval]:
    """Return the interval of the main measure of each system."""
    main = subject.main.label
    if subject.comparison is None:
        return {name: one.intervals()[main] for name, one in subject.evaluations.items()}
    return {name: one for (name, measure), one in subject.comparison.intervals.items() if measure == main}


def _by_doc_id(subject: Subject) -> dict[str, Cell]:
    """Return the mean of each system with its ties broken by document id; empty where that is not known."""
    if subject.comparison is None or not subject.comparison.by_doc_id:
        return {}
    found: dict[str, Cell] = {}
    for name in subject.comparison.by_doc_id:
        scores = subject.evaluations[name][subject.main]
        held = subject.by_doc_id(name, subject.main)
        values = scores.values[:0] if held is None else held[scores.kept]
        level = float(values.sum() if subject.main.total else values.mean()) if len(values) else math.nan
        found[name] = math.exp(level) if subject.main.geometric else level
    return found


def deciding(subject: Subject) -> Table:
    """Return the queries that decide most: between two systems, or of a single one the worst."""
    texts = subject.texts
    labels = (Column("query_id", "query"), *((Column("text", "text"),) if texts is not None else ()))
    names = subject.duel or subject.ranked[:1]
    rows = tuple(
        Row(
            (subject.query_ids[n], *((texts[n],) if texts is not None else ())),
            (tuple(_of_query(subject, names, n)),),
        )
        for n in subject.deciding
        if len(names) == 1 or _decides(subject, names, n)
    )
    columns = [Column(name, name) for name in names]
    if len(names) > 1:
        columns += [Column("difference", "difference")]
    columns.append(Column("ties", "over tie orders"))
    of_what = " - ".join(names)
    title = f"{subject.main.label}: {of_what}"
    return Table("deciding", labels, tuple(columns), rows, title=title, main=len(columns) - 2)


def _decides(subject: Subject, names: Sequence[str], place: int) -> bool:
    """Tell whether two systems differ in a query, or can by some order of its ties."""
    *_, difference, ties = _of_query(subject, names, place)
    is_open = isinstance(ties, Span) and ties.high - ties.low > NOISE
    return is_open or not isinstance(difference, float) or not abs(difference) <= NOISE


def _of_query(subject: Subject, names: Sequence[str], place: int) -> Iterator[Cell]:
    """Give the value of each system, their difference if they are two, and its range over tie orders."""
    found = [subject.evaluations[name][subject.main] for name in names]
    values, low, high = (
        [float(subject.of_all_queries(one, getattr(one, column))[place]) for one in found]
        for column in ("values", "tie_min", "tie_max")
    )
    yield from values
    if len(names) == 1:
        yield Span(low[0], high[0])
        return
    yield values[0] - values[1]
    yield Span(low[0] - high[1], high[0] - low[1])


def figures(pictures: Sequence[Picture]) -> str:
    """Return figures with a place for their data; the script redraws them by their number."""
    drawn = [one for one in pictures if one.spec is not None]
    lines = [
        f'<figure class="chart" id="f{one.number}" data-chart="{one.number}"><div class="canvas">{one.svg}</div>'
        f'<details class="live" hidden><summary>Data of this figure</summary><div class="numbers"></div></details>'
        "</figure>"
        for one in drawn
    ]
    reasons = [
        f"<li>{escaped(one.name.replace('_', ' '))}: {escaped(one.why_not)}</li>" for one in pictures if one.why_not
    ]
    missing = [f"<p>Figures that cannot be drawn:</p>\n<ul>{''.join(reasons)}</ul>"] if reasons else []
    charts = ['<div class="charts">', *lines, "</div>"] if lines else []
    return "\n".join([*charts, *missing])


def inputs_table(inputs: Sequence[Input]) -> Table:
    """Return the files that a page was made from."""
    columns = (Column("n_bytes", "bytes"), Column("sha256", "SHA-256"))
    rows = tuple(Row((one.role, one.path), ((one.n_bytes, one.sha256 or "-"),)) for one in inputs)
    return Table("inputs", (Column("role", "what"), Column("path", "file")), columns, rows, title="Files")


def tie_table(subject: Subject) -> Table:
    """Return what the order of ties decides, system by system, by the main measure."""
    main = subject.main
    by_doc_id = _by_doc_id(subject)
    columns = (
        Column("exact", "exact"),
        Column("tie_std", "tie std"),
        Column("tie_min", "tie min"),
        Column("tie_max", "tie max"),
        *((Column("doc_id", BY_DOC_ID), Column("difference", "difference")) if by_doc_id else ()),
        Column("n_queries", "queries decided"),
        Column("share", "share"),
    )
    rows = []
    for name in subject.ranked:
        scores = subject.evaluations[name][main]
        exact = _exact(scores)
        numbers = [exact, *(as_cell(scores, of_ties) for of_ties in ("tie_std", "tie_min", "tie_max"))]
        n_decided = int(np.count_nonzero(scores.tie_max - scores.tie_min > NOISE))
        beside = by_doc_id.get(name)
        difference = beside - exact if isinstance(beside, float) else None
        share = Share(n_decided / scores.n_queries) if scores.n_queries else None
        rows.append(Row((name,), ((*numbers, *((beside, difference) if by_doc_id else ()), n_decided, share),)))
    return Table(
        "ties", (Column("system", "system"),), columns, tuple(rows), title=f"What tie order decides of {main.label}"
    )


def details_of(report: Report, *, n_open: int = 1) -> str:
    """Return the tables of a report, all but the first folded."""
    tables = [html_table(table.for_people()) for table in report.tables]  # without drawings, which figures have
    folded = [
        f"<details><summary>{escaped(table.title or table.key)}</summary>\n{content}\n</details>"
        for table, content in list(zip(report.tables, tables, strict=True))[n_open:]
    ]
    return "\n".join([*tables[:n_open], *folded])


def _exact(scores: Scores) -> float:
    """Return the mean over queries, of counts the total, of the exact means over the orders of ties."""
    values = scores.tie_mean[scores.kept]
    if not len(values):
        return math.nan
    level = float(values.sum() if scores.measure.total else values.mean())
    return math.exp(level) if scores.measure.geometric else level


def report_of_one(subject: Subject) -> Report:
    """Return the report of a single system."""
    context = EvaluationContext(subject.qrels, intervals=IntervalOptions())
    return report_evaluations([subject.first], context)


def strata_tables(subject: Subject) -> list[Table]:
    """Return the systems of each stratum, measure by measure; none without columns to report by."""
    if not subject.columns or subject.queries is None:
        return []
    if subject.comparison is None:
        strata = next(iter(subject.strata().values()))
        parts = parts_of([strata], IntervalOptions())
        return [
            tabulate(parts, subject.ranked, subject.measures, columns=strata.columns, smallest=SMALLEST, level=0.95)
        ]
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # a stratum of their own
        of_all = subject.comparison.by(subject.columns, subject.queries, pool_languages=True)
    leading = tuple(Column(name, name) for name in subject.columns)
    found = [StratumComparison(keys_of(key), part) for key, part in of_all.items()]
    return [list_systems(found, leading, measure) for measure in subject.measures]
