"""The tables of evaluations: means by measure and run, of all queries or of each stratum, and the scores of queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from deadheat.arrays import members
from deadheat.evaluation.beside import Difference, difference_of, differences
from deadheat.evaluation.evaluation import Evaluation, Strata
from deadheat.evaluation.intervals import KNOWN, Interval, IntervalOptions
from deadheat.evaluation.scores import Scores
from deadheat.evaluation.strata import keys_of, order
from deadheat.measures import Measure
from deadheat.report.bars import bars
from deadheat.report.conventions import RULES
from deadheat.report.model import LACKING, MEASURE, OF_FEW, QUERY, Bar, Cell, Column, Marked, Row, Span, Table
from deadheat.report.totals import TOTAL, as_cell, count_cell, mean_heading

BY_QUERY = (
    Column("value", "value"),
    Column("tie_std", "tie std", spare=1),
    Column("tie_min", "tie min", spare=-1),
    Column("tie_max", "tie max", spare=-1),
)
DIFFERENCE = Column("difference", "difference")
APART = ("mean_difference", "mean"), ("max_difference", "max"), ("std", "std"), ("traditional_std", "traditional_std")
"""What CSV and JSON hold of a rule beside the exact values, and the attribute of a `Difference`."""
NOTHING = Span(math.nan, math.nan)
UNJUDGED = Column("unjudged", "if judged", ends=("unjudged_min", "unjudged_max"))
DETAILS = {**{name: name for name in ("standard_error", "query_standard_error", "tie_share")}, **KNOWN}
"""What CSV and JSON hold of an interval beside its ends, and the attribute of it."""

Places: TypeAlias = "dict[tuple[int, int, str], Entry]"
"""The entries of a table by part, run and measure."""


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


def whole(evaluations: Sequence[Evaluation], options: IntervalOptions | None) -> list[StratumEvaluations]:
    """Return all queries as one part.

    Parameters
    ----------
    evaluations : sequence of Evaluation
    options : IntervalOptions or None
        None if no intervals are wanted.
    """
    intervals = [{} if options is None else one.estimate(options) for one in evaluations]
    return [StratumEvaluations((), tuple(evaluations), tuple(intervals))]


def parts_of(strata: Sequence[Strata], options: IntervalOptions | None) -> list[StratumEvaluations]:
    """Return a part for each stratum that a run has.

    Parameters
    ----------
    strata : sequence of Strata
        Of each run, by the same columns.
    options : IntervalOptions or None
        None if no intervals are wanted.
    """
    found = [{} if options is None else of_run.estimate(options) for of_run in strata]
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
    is_small, is_lacking : bool
        Whether there are too few queries, or some lack a value though nobody asked to skip them: the mean is marked.
    bar : Bar or None
    traditional : Scores or None
        The same queries with their ties broken by a rule, if that is beside the exact values.
    rule : str
    """

    scores: Scores
    interval: Interval | None
    is_small: bool
    is_lacking: bool
    bar: Bar | None = None
    traditional: Scores | None = None
    rule: str = ""

    @cached_property
    def apart(self) -> Difference | None:
        """How far a rule is from the scores, if there is one beside them."""
        return None if self.traditional is None else difference_of(self.scores, self.traditional, self.rule)

    def of_rule(self, attribute: str) -> Cell:
        """Return a number of :attr:`apart`."""
        found = None if self.apart is None else float(getattr(self.apart, attribute))
        is_count = self.is_total and attribute in {"traditional", "difference"}
        return count_cell(found) if found is not None and is_count else found

    @property
    def is_total(self) -> bool:
        """Whether a total is shown, which has no interval."""
        return self.scores.measure.total

    @property
    def span(self) -> Span:
        """The ends of the interval."""
        one = self.interval
        return NOTHING if one is None or self.is_total else Span(one.low, one.high, one.is_known)

    @property
    def labels(self) -> Span:
        """The ends over all relevance of unjudged documents."""
        one = self.scores
        return Span(one.mean_unjudged_min, one.mean_unjudged_max) if one.has_unjudged_bounds else NOTHING

    def mean(self) -> Cell:
        """Return the mean, of a count the total."""
        marks = (OF_FEW if self.is_small else "") + (LACKING if self.is_lacking else "")
        return Marked(self.scores.mean, marks) if marks and not self.is_total else self.shown()

    def shown(self, of_ties: str = "") -> Cell:
        """Return a number of the mean, or of the total."""
        return as_cell(self.scores, of_ties)

    def of_interval(self, attribute: str) -> Cell:
        """Return a number of the interval."""
        found = None if self.interval is None or self.is_total else getattr(self.interval, attribute)
        return found if isinstance(found, bool | str) or found is None else float(found)


def tabulate(
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
    entries = _with_bars(_entries(parts, measures, smallest, beside))
    has_bars = level is not None and len(entries) > len(measures)  # a single one has nothing to be compared with
    counts = {n for one in entries.values() for n in (one.scores.n_queries, len(one.scores.query_ids))}
    shown = list(_columns(measures, level, counts, is_stratified=bool(columns), has_bars=has_bars))
    if any(one.scores.unjudged is not None for one in entries.values()):
        place = 1 + next(n for n, (column, _) in enumerate(shown) if column.key == "tie_max")
        shown.insert(place, (UNJUDGED, lambda one: one.labels))
    if beside:
        place = next(n for n, (column, _) in enumerate(shown) if column.key == "value")
        shown[place : place + 1] = _beside(beside[0].ties)
    rows = []
    for place, part in enumerate(parts):
        for name in (one.label for one in measures):
            of_runs = [entries.get((place, run, name)) for run in range(len(names))]
            groups = tuple(tuple(None if one is None else cell(one) for _, cell in shown) for one in of_runs)
            rows.append(Row((*part.labels, name), groups))
    return Table(
        "strata" if columns else "scores",
        (*(Column(column, column) for column in columns), MEASURE),
        tuple(column for column, _ in shown),
        tuple(rows),
        tuple(names),
        main=1 if columns else 0,
        has_blocks=bool(columns),
    )


def _columns(
    measures: Sequence[Measure], level: float | None, counts: set[int], *, is_stratified: bool, has_bars: bool
) -> Iterator[tuple[Column, Callable[[Entry], Cell]]]:
    """Give the columns of a group, and how to fill each; `counts` are the numbers of queries."""
    is_wide = is_stratified or level is not None  # a narrow screen leaves something out
    is_counted = is_stratified or len(counts) > 1
    if is_stratified:
        yield Column("n_queries", "n"), lambda one: one.scores.n_queries
    yield Column("value", mean_heading(measures)), Entry.mean
    if level is not None:
        yield Column("interval", level_heading(level, set() if is_counted else counts)), lambda one: one.span
        if has_bars:
            yield Column("bar", ""), lambda one: one.bar
        for key, name in DETAILS.items():
            yield Column(key, key, is_data=True), lambda one, name=name: one.of_interval(name)  # type: ignore[misc]
        if not is_stratified:
            yield Column("n_queries", "n", is_data=not is_counted), lambda one: one.scores.n_queries
    yield Column("tie_std", "tie std", spare=1 if is_wide else -2), lambda one: one.shown("tie_std")
    yield Column("tie_min", "tie min", spare=2 if is_wide else -1), lambda one: one.shown("tie_min")
    yield Column("tie_max", "tie max", spare=2 if is_wide else -1), lambda one: one.shown("tie_max")
    if not is_stratified and level is None:  # people read it where it differs: some measures leave queries out
        yield Column("n_queries", "n", is_detail=len(counts) < 2), lambda one: one.scores.n_queries
    if any(measure.total for measure in measures):
        yield TOTAL, lambda one: one.shown() if one.is_total else None
    if is_stratified:
        yield Column("is_small", "small", is_data=True), lambda one: one.is_small


def _beside(rule: str) -> Iterator[tuple[Column, Callable[[Entry], Cell]]]:
    """Give the columns of exact values and of a rule beside them, and how to fill each."""
    yield Column("value", RULES["expected"]), Entry.mean
    yield Column("traditional", RULES[rule]), lambda one: one.of_rule("traditional")
    yield DIFFERENCE, lambda one: one.of_rule("difference")
    for key, name in APART:
        yield Column(key, key, is_data=True), lambda one, name=name: one.of_rule(name)  # type: ignore[misc]


def level_heading(level: float, counts: set[int]) -> str:
    """Return the heading of intervals, with the number of queries if all have the same.

    Examples
    --------
    >>> level_heading(0.95, {25}), level_heading(0.95, {9, 25})
    ('95% CI (n=25)', '95% CI')
    """
    return f"{100 * level:g}% CI" + (f" (n={next(iter(counts)):,})" if len(counts) == 1 else "")


def _entries(
    parts: Sequence[StratumEvaluations], measures: Sequence[Measure], smallest: int, beside: Sequence[Evaluation]
) -> Places:
    entries: Places = {}
    for place, part in enumerate(parts):
        for run, evaluation in enumerate(part.evaluations):
            if evaluation is None:
                continue
            for name in (one.label for one in measures):
                scores, interval = evaluation[name], part.intervals[run].get(name)
                entry = Entry(scores, interval, scores.n_queries < smallest, bool(unexplained(evaluation, scores)))
                if beside:
                    whole_run = beside[run]
                    own = whole_run[name].select(members(whole_run.query_ids, evaluation.query_ids))
                    entry = replace(entry, traditional=own, rule=whole_run.ties)
                entries[place, run, name] = entry
    return entries


def _with_bars(entries: Places) -> Places:
    """Draw the intervals of each measure on one scale."""
    found: Places = {}
    for name in dict.fromkeys(name for *_, name in entries):
        own = {key: entry for key, entry in entries.items() if key[2] == name}
        means = [math.nan if entry.is_total else entry.scores.mean for entry in own.values()]
        drawn = bars([entry.span for entry in own.values()], means)
        found |= {key: replace(entry, bar=bar) for (key, entry), bar in zip(own.items(), drawn, strict=True)}
    return found


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
    labels = _labels_of_queries(evaluations, strata)
    shown = _with_rule(beside[0].ties) if beside else BY_QUERY
    if evaluations[0].conventions.unjudged == "bounds":
        shown = (*shown, UNJUDGED)
    others: Sequence[Evaluation | None] = beside or [None] * len(evaluations)
    columns = [_by_query(*both) for both in zip(evaluations, others, strict=True)]
    rows = [
        Row(
            (*labels[query], query, measure.label),
            tuple(column.get((query, str(measure)), (None,) * len(shown)) for column in columns),
        )
        for query in labels
        for measure in evaluations[0].measures
    ]
    of_strata = [Column(name, name) for one in strata[:1] for name in one.columns]
    names = tuple(evaluation.name for evaluation in evaluations)
    return Table("per_query", (*of_strata, QUERY, MEASURE), shown, tuple(rows), names)


def _with_rule(rule: str) -> tuple[Column, ...]:
    """Return the columns of queries with a rule beside the exact values."""
    exact, *spread = BY_QUERY
    return (replace(exact, heading=RULES["expected"]), Column("traditional", RULES[rule]), DIFFERENCE, *spread)


def _labels_of_queries(evaluations: Sequence[Evaluation], strata: Sequence[Strata]) -> dict[str, tuple[str, ...]]:
    """Return the stratum of each query, sorted by stratum and query; without strata there are no labels."""
    ids = sorted(set().union(*(evaluation.query_ids.tolist() for evaluation in evaluations)))
    if not strata:
        return dict.fromkeys(ids, ())
    found = {
        query: keys_of(stratum)
        for of_run in strata
        for stratum, part in of_run.items()
        for query in part.query_ids.tolist()
    }
    return {query: found[query] for query in sorted(ids, key=lambda query: (order(found[query]), query))}


def _by_query(evaluation: Evaluation, beside: Evaluation | None) -> dict[tuple[str, str], tuple[Cell, ...]]:
    found: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for scores in evaluation:
        other = None if beside is None else beside[scores.measure]
        of_rule = () if other is None else (other.values, differences(scores, other))
        columns = (scores.values, *of_rule, scores.tie_std, scores.tie_min, scores.tie_max)
        name, shown = str(scores.measure), count_cell if scores.measure.total else _number
        spans = _bounds_by_query(scores)
        for query, *cells, span in zip(
            scores.query_ids.tolist(), *(column.tolist() for column in columns), spans, strict=True
        ):
            found[query, name] = (*map(shown, cells), *span)
    return found


def _bounds_by_query(scores: Scores) -> list[tuple[Cell, ...]]:
    """Return the bounds over unjudged documents of each query as cells; none if they were not asked for."""
    n_queries = len(scores.query_ids)
    if scores.unjudged is None:
        return [()] * n_queries
    if not scores.has_unjudged_bounds:
        return [(NOTHING,)] * n_queries
    return [(Span(*both),) for both in zip(scores.unjudged_min.tolist(), scores.unjudged_max.tolist(), strict=True)]


def unexplained(evaluation: Evaluation, scores: Scores) -> list[str]:
    """Return the queries without a value that were not skipped on demand."""
    ids: list[str] = scores.query_ids[~scores.kept].tolist()
    is_skipping = evaluation.conventions.no_relevant == "skip"
    skipped = set(evaluation.without_relevant(scores.measure)) if is_skipping else set()
    return [query for query in ids if query not in skipped]


def _number(value: float) -> Cell:
    return None if math.isnan(value) else value
