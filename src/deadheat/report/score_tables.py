"""The tables of evaluations: means by measure and run, of all queries or of each stratum, and the scores of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deadheat.arrays import members
from deadheat.evaluation.beside import Difference, difference_of, differences
from deadheat.evaluation.evaluation import Evaluation, Strata
from deadheat.evaluation.intervals import KNOWN, Interval, IntervalOptions
from deadheat.evaluation.scores import Scores
from deadheat.evaluation.strata import keys_of, order
from deadheat.measures import Measure
from deadheat.report.conventions import RULES
from deadheat.report.model import LACKING, MEASURE, OF_FEW, QUERY, Bar, Cell, Column, Number, Row, Span, Table
from deadheat.report.numbers import bars, span_of
from deadheat.report.totals import TOTAL, as_cell, count_cell, mean_heading

BY_QUERY = (
    Column("value", "value"),
    Column("tie_std", "tie std", spare=1),
    Column("tie_min", "tie min", spare=-1),
    Column("tie_max", "tie max", spare=-1),
)
APART = {"mean_difference": "mean", "max_difference": "max", "std": "std", "traditional_std": "traditional_std"}
"""What CSV and JSON hold of a rule beside the exact values, and the attribute of a `Difference`."""
NOTHING = Span(math.nan, math.nan)
UNJUDGED_ENDS = ("unjudged_min", "unjudged_max")
DETAILS = {**{name: name for name in ("standard_error", "query_standard_error", "tie_share")}, **KNOWN}
"""What CSV and JSON hold of an interval beside its ends, and the attribute of it."""


@dataclass(frozen=True, eq=False)
class StratumEvaluations:
    """All queries, or those of a stratum.

    Attributes
    ----------
    labels : tuple of str
        The values of the stratum columns; none for all queries.
    evaluations : tuple of Evaluation or None
        Of each run; None if it has no query there.
    intervals : tuple of dict
        Of each run, by measure; empty if there are none.
    """

    labels: tuple[str, ...]
    evaluations: tuple[Evaluation | None, ...]
    intervals: tuple[Mapping[str, Interval], ...]


def inside(labels: tuple[str, ...]) -> str:
    """Return what follows the name of a run in sentences, if only a stratum is meant."""
    return f" ({', '.join(labels)})" if labels else ""


def parts_of(
    evaluations: Sequence[Evaluation], strata: Sequence[Strata], options: IntervalOptions | None
) -> list[StratumEvaluations]:
    """Return a part for each stratum that a run has, or all queries as one; without options there are no intervals."""
    if not strata:
        intervals = [{} if options is None else one.intervals(**vars(options)) for one in evaluations]
        return [StratumEvaluations((), tuple(evaluations), tuple(intervals))]
    found = [{} if options is None else of_run.intervals(**vars(options)) for of_run in strata]
    return [
        StratumEvaluations(
            keys_of(stratum),
            tuple(of_run.get(stratum) for of_run in strata),
            tuple(of_run.get(stratum, {}) for of_run in found),
        )
        for stratum in sorted(set().union(*strata), key=order)
    ]


@dataclass(frozen=True, eq=False)
class Entry:
    """A measure of a run in a part: what a group of cells shows.

    Attributes
    ----------
    scores : Scores
    interval : Interval or None
        None of a count, whose total has none.
    is_small, is_lacking : bool
        Whether there are too few queries, or some lack a value though nobody asked to skip them: the mean is marked.
    apart : Difference or None
        How far a rule for ties is from the exact values, if it is shown beside them.
    bar : Bar or None
    """

    scores: Scores
    interval: Interval | None
    is_small: bool
    is_lacking: bool
    apart: Difference | None = None
    bar: Bar | None = None

    @property
    def span(self) -> Span:
        """The ends of the interval."""
        return NOTHING if self.interval is None else span_of(self.interval)

    def mean(self) -> Cell:
        """Return the mean with its marks, of a count the total."""
        marks = OF_FEW * self.is_small + LACKING * self.is_lacking
        is_marked = marks and not self.scores.measure.total
        return Number(self.scores.mean, marks=marks) if is_marked else as_cell(self.scores)


def tabulate_scores(
    parts: Sequence[StratumEvaluations],
    names: Sequence[str],
    measures: Sequence[Measure],
    *,
    columns: Sequence[str] = (),
    smallest: int = 0,
    level: float | None = None,
    beside: Sequence[Evaluation] = (),
) -> Table:
    """Return a table with a row a part and measure, and a group of columns a run.

    Parameters
    ----------
    parts : sequence of StratumEvaluations
    names : sequence of str
        Of the runs.
    measures : sequence of Measure
    columns : sequence of str, default ()
        The stratum columns, if the parts are strata.
    smallest : int, default 0
        Means of fewer queries are marked.
    level : float, optional
        Confidence level of the intervals, if there are any.
    beside : sequence of Evaluation, default ()
        Of each run, with ties broken by a rule that is shown beside the exact values.
    """
    entries: dict[tuple[int, int, str], Entry] = {}
    for name in (one.label for one in measures):
        own = {
            (place, run, name): _entry(evaluation, part.intervals[run], name, smallest, beside[run : run + 1])
            for place, part in enumerate(parts)
            for run, evaluation in enumerate(part.evaluations)
            if evaluation is not None
        }
        means = [math.nan if one.scores.measure.total else one.scores.mean for one in own.values()]
        drawn = bars([one.span for one in own.values()], means)  # on one scale
        entries |= {key: replace(one, bar=bar) for (key, one), bar in zip(own.items(), drawn, strict=True)}
    shown = _columns(
        measures, list(entries.values()), level, beside[0].ties if beside else "", is_stratified=bool(columns)
    )
    rows = []
    for place, part in enumerate(parts):
        for name in (one.label for one in measures):
            of_runs = [entries.get((place, run, name)) for run in range(len(names))]
            groups = tuple(tuple(None if one is None else column.cell(one) for column in shown) for one in of_runs)
            rows.append(Row((*part.labels, name), groups))
    return Table(
        "strata" if columns else "scores",
        (*(Column(column, column) for column in columns), MEASURE),
        shown,
        tuple(rows),
        tuple(names),
        main=1 if columns else 0,
        has_blocks=bool(columns),
    )


def _entry(
    evaluation: Evaluation, intervals: Mapping[str, Interval], name: str, smallest: int, beside: Sequence[Evaluation]
) -> Entry:
    scores = evaluation[name]
    interval = None if scores.measure.total else intervals.get(name)
    entry = Entry(scores, interval, scores.n_queries < smallest, bool(unexplained(evaluation, scores)))
    for other in beside:
        own = other[name].select(members(other.query_ids, evaluation.query_ids))
        entry = replace(entry, apart=difference_of(scores, own, other.ties))
    return entry


def _columns(
    measures: Sequence[Measure], entries: Sequence[Entry], level: float | None, rule: str, *, is_stratified: bool
) -> tuple[Column, ...]:
    """Return the columns of a group, which know how to read an entry."""
    counts = {n for one in entries for n in (one.scores.n_queries, len(one.scores.query_ids))}
    is_wide = is_stratified or level is not None  # a narrow screen leaves something out
    spares = {"tie_std": 1 if is_wide else -2, "tie_min": 2 if is_wide else -1, "tie_max": 2 if is_wide else -1}
    n_queries = Column("n_queries", "n", lambda one: one.scores.n_queries)
    shown = [n_queries] if is_stratified else []
    shown.append(Column("value", RULES["expected"] if rule else mean_heading(measures), Entry.mean))
    if rule:
        shown += _columns_of_rule(rule)
    if level is not None:
        has_bars = len(entries) > len(measures)  # a single one has nothing to be compared with
        shown += _columns_of_intervals(level_heading(level, set() if is_stratified else counts), has_bars=has_bars)
        shown += [] if is_stratified else [replace(n_queries, is_data=len(counts) < 2)]
    for key, spare in spares.items():
        shown.append(Column(key, key.replace("_", " "), lambda one, key=key: as_cell(one.scores, key), spare=spare))
    if any(one.scores.unjudged is not None for one in entries):
        shown.append(Column("unjudged", "if judged", _if_judged, UNJUDGED_ENDS))
    if not is_wide:  # people read it where it differs: some measures leave queries out
        shown.append(replace(n_queries, is_detail=len(counts) < 2))
    if any(measure.total for measure in measures):
        shown.append(TOTAL)
    return (*shown, Column("is_small", "small", is_data=True)) if is_stratified else tuple(shown)


def _columns_of_rule(rule: str) -> list[Column]:
    return [
        Column("traditional", RULES[rule], lambda one: _of_rule(one, "traditional")),
        Column("difference", "difference", lambda one: _of_rule(one, "difference")),
        *(
            Column(key, key, lambda one, name=name: float(getattr(one.apart, name)), is_data=True)
            for key, name in APART.items()
        ),
    ]


def _columns_of_intervals(heading: str, *, has_bars: bool) -> list[Column]:
    details = (
        Column(key, key, lambda one, name=name: _of_interval(one, name), is_data=True) for key, name in DETAILS.items()
    )
    return [Column("interval", heading, lambda one: one.span), *([Column("bar", "")] if has_bars else []), *details]


def _of_rule(one: Entry, attribute: str) -> Cell:
    found = float(getattr(one.apart, attribute))
    return count_cell(found) if one.scores.measure.total else found


def _of_interval(one: Entry, attribute: str) -> Cell:
    found = None if one.interval is None else getattr(one.interval, attribute)
    return found if isinstance(found, bool | str) or found is None else float(found)


def _if_judged(one: Entry) -> Span:
    """Return the ends over all relevance of unjudged documents."""
    scores = one.scores
    return Span(scores.mean_unjudged_min, scores.mean_unjudged_max) if scores.has_unjudged_bounds else NOTHING


def level_heading(level: float, counts: set[int]) -> str:
    """Return the heading of intervals, with the number of queries if all have the same.

    Examples
    --------
    >>> level_heading(0.95, {25}), level_heading(0.95, {9, 25})
    ('95% CI (n=25)', '95% CI')
    """
    return f"{100 * level:g}% CI" + (f" (n={next(iter(counts)):,})" if len(counts) == 1 else "")


def list_queries(
    evaluations: Sequence[Evaluation], strata: Sequence[Strata] = (), beside: Sequence[Evaluation] = ()
) -> Table:
    """Return a table with a row a query and measure; a query that a run leaves out is empty there.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    strata : sequence of Strata, default ()
        Of each run: they label and sort the queries.
    beside : sequence of Evaluation, default ()
        Of each run, with ties broken by a rule that is shown beside the exact values.
    """
    shown = list(BY_QUERY)
    if beside:
        exact, by_rule = replace(BY_QUERY[0], heading=RULES["expected"]), RULES[beside[0].ties]
        shown[:1] = [exact, Column("traditional", by_rule), Column("difference", "difference")]
    if evaluations[0].conventions.unjudged == "bounds":
        shown.append(Column("unjudged", "if judged", ends=UNJUDGED_ENDS))
    columns = [_by_query(one, beside[n : n + 1]) for n, one in enumerate(evaluations)]
    stratum_of = {
        query: stratum for of_run in strata for stratum, part in of_run.items() for query in part.query_ids.tolist()
    }
    ids = sorted(set().union(*(evaluation.query_ids.tolist() for evaluation in evaluations)))
    if strata:
        ids.sort(key=lambda query: order(stratum_of[query]))
    rows = [
        Row(
            (*(keys_of(stratum_of[query]) if strata else ()), query, measure.label),
            tuple(column.get((query, str(measure)), (None,) * len(shown)) for column in columns),
        )
        for query in ids
        for measure in evaluations[0].measures
    ]
    of_strata = [Column(name, name) for one in strata[:1] for name in one.columns]
    names = tuple(evaluation.name for evaluation in evaluations)
    return Table("per_query", (*of_strata, QUERY, MEASURE), tuple(shown), tuple(rows), names)


def _by_query(evaluation: Evaluation, beside: Sequence[Evaluation]) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """Return the cells of each query and measure."""
    found: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for scores in evaluation:
        others = [one[scores.measure] for one in beside]
        of_rule = [column for other in others for column in (other.values, differences(scores, other))]
        numbers = [scores.values, *of_rule, scores.tie_std, scores.tie_min, scores.tie_max]
        shown = count_cell if scores.measure.total else _number
        cells: list[list[Cell]] = [list(map(shown, column.tolist())) for column in numbers]
        if scores.has_unjudged_bounds:
            ends = scores.unjudged_min.tolist(), scores.unjudged_max.tolist()
            cells.append([Span(*both) for both in zip(*ends, strict=True)])
        elif scores.unjudged is not None:
            cells.append([NOTHING] * len(scores.query_ids))
        name = str(scores.measure)
        found |= {(query, name): tuple(row) for query, *row in zip(scores.query_ids.tolist(), *cells, strict=True)}
    return found


def unexplained(evaluation: Evaluation, scores: Scores) -> list[str]:
    """Return the queries without a value that were not skipped on demand."""
    ids: list[str] = scores.query_ids[~scores.kept].tolist()
    is_skipping = evaluation.conventions.no_relevant == "skip"
    skipped = set(evaluation.without_relevant(scores.measure)) if is_skipping else set()
    return [query for query in ids if query not in skipped]


def _number(value: float) -> Cell:
    return None if math.isnan(value) else value
