"""The tables of evaluations: means by measure and run, of all queries or of each stratum, and the scores of queries."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deadheat.core.arrays import is_member
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import KNOWN, Interval
from deadheat.core.evaluation.parts import RangeColumn
from deadheat.core.evaluation.rule_difference import difference_of, differences
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.strata_order import rank_strata
from deadheat.core.evaluation.stratum import NONE, Stratum, keys_of
from deadheat.core.measures import Measure
from deadheat.core.report.cells import LACKING, OF_FEW, Cell, NumberCell, Span, bars, count_cell
from deadheat.core.report.conventions import TIE_HEADINGS
from deadheat.core.report.interval_facts import span_of
from deadheat.core.report.model import MEASURE, QUERY, Column, Row, Table, tabulate_groups
from deadheat.core.report.report_parts import Part
from deadheat.core.report.totals import TIE_NUMBERS, cell_of, mean_heading
from deadheat.core.wording import format_level

FOR_PEOPLE = ("traditional", "difference")
APART = {
    **{name: name for name in FOR_PEOPLE},
    "mean_difference": "mean",
    "max_difference": "max",
    "std_difference": "distance_std",
    "std": "std",
    "traditional_std": "traditional_std",
}
"""What there is of a rule beside the exact values, and the attribute of a `RuleDifference`."""
OF_TIES_BY_QUERY = (
    Column("tie_std", "tie std", spare=1),
    Column("tie_min", "tie min", spare=-1),
    Column("tie_max", "tie max", spare=-1),
)
"""What the table of queries shows of the orders of ties."""
NOTHING = Span(math.nan, math.nan)
DETAILS = {**{name: name for name in ("standard_error", "query_standard_error", "tie_share")}, **KNOWN}
"""What CSV and JSON hold of an interval beside its ends, and the attribute of it."""


Quantiles = dict[tuple[tuple[str, ...], int], Interval]
"""By the labels of a stratum, the measure and the quantile; and the number of the run."""


def columns_of_strata(names: Sequence[str]) -> list[Column]:
    """Return the columns of the stratum that each row has."""
    return [Column(name, name, lambda row, n=n: row["stratum"][n]) for n, name in enumerate(names)]


def inside(labels: tuple[str, ...]) -> str:
    """Return what follows the name of a run in sentences, if only a stratum is meant."""
    return f" ({', '.join(labels)})" if labels else ""


def tabulate_scores(
    parts: Sequence[Part],
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
    parts : sequence of Part
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
    ranges = range_columns([part.evaluation for part in parts if part.has_features])
    cells: dict[tuple[tuple[str, ...], int, str], dict[str, Any]] = {}
    for measure in measures:
        cells_of_parts = [_cells(part, measure.label, smallest, beside[part.run : part.run + 1]) for part in parts]
        if ranges:
            for part, own_cells in zip(parts, cells_of_parts, strict=True):
                own_cells.update(_mean_ranges(part.evaluation[measure.label], ranges))
        if level is not None:
            _add_bars(cells_of_parts)
        for part, own_cells in zip(parts, cells_of_parts, strict=True):
            cells[part.labels, part.run, measure.label] = own_cells
    return tabulate_groups(
        "strata" if columns else "scores",
        (*(Column(column, column) for column in columns), MEASURE),
        _columns(
            measures,
            list(cells.values()),
            level,
            beside[0].ties if beside else "",
            ranges,
            is_stratified=bool(columns),
        ),
        (
            ((*labels, one.label), [cells.get((labels, run, one.label)) for run in range(len(names))])
            for labels in dict.fromkeys(part.labels for part in parts)
            for one in measures
        ),
        names,
        main=1 if columns else 0,
        has_blocks=bool(columns),
    )


def quantiles_of(parts: Sequence[Part], quantiles: Sequence[float], level: float) -> Quantiles:
    """Return the quantiles over queries with intervals of this level, of each measure that is of single queries."""
    return {
        ((*part.labels, scores.measure.label, f"{quantile:g}"), part.run): scores.quantile(
            quantile, confidence_level=level
        )
        for part in parts
        for scores in part.evaluation
        if not scores.measure.only_total
        for quantile in quantiles
    }


def tabulate_quantiles(
    found: Quantiles,
    names: Sequence[str],
    *,
    level: float,
    columns: Sequence[str] = (),
    title: str = "Quantiles over queries",
) -> Table:
    """Return a table with a row a part, measure and quantile, and a group of columns a run.

    Parameters
    ----------
    found : Quantiles
    names : sequence of str
        Of the runs.
    level : float
        Confidence level of the intervals.
    columns : sequence of str, default ()
        The stratum columns, if the parts are strata.
    title : str, default "Quantiles over queries"
    """
    counts = {one.n_queries for one in found.values()}
    return tabulate_groups(
        "quantiles",
        (*(Column(column, column) for column in columns), MEASURE, Column("quantile", "quantile")),
        (
            Column("value", "value"),
            Column("interval", level_heading(level, counts), span_of),
            Column("n_queries", "n", is_data=len(counts) < 2),
            *(Column(key, key, lambda one, name=name: getattr(one, name), is_data=True) for key, name in KNOWN.items()),
        ),
        (
            (labels, [found.get((labels, run)) for run in range(len(names))])
            for labels in dict.fromkeys(labels for labels, _ in found)
        ),
        names,
        title=title,
    )


def _add_bars(cells_of_parts: Sequence[dict[str, Any]]) -> None:
    """Add the bars of a measure to the cells of each part; all are on one scale."""
    intervals = [cells["interval"] for cells in cells_of_parts]
    means = [cells["mean"] for cells in cells_of_parts]
    for cells, bar in zip(cells_of_parts, bars(intervals, means), strict=True):
        cells["bar"] = bar


def _cells(part: Part, name: str, smallest: int, beside: Sequence[Evaluation]) -> dict[str, Any]:
    """Return what the columns can show of a measure of a run in a part, by their keys; totals have no interval."""
    numbers = part.numbers[name]
    measure = numbers.measure
    reported = numbers.reported
    is_small = reported.n_queries < smallest
    value = cell_of(measure, reported.value)
    cells: dict[str, Any] = {
        "n_queries": reported.n_queries,
        "n_all": numbers.n_all,
        "value": value,
        "mean": reported.value,
        "total": None,
        "interval": NOTHING,
        "is_small": is_small,
        **dict.fromkeys(DETAILS),
    }
    for key in TIE_NUMBERS:
        cells[key] = cell_of(measure, getattr(reported, key))
    marks = ""
    if is_small:
        marks += OF_FEW
    if numbers.n_unexplained:
        marks += LACKING
    interval = part.intervals.get(name)
    if measure.total:
        cells["mean"] = math.nan
        cells["total"] = value
    else:
        if marks:
            cells["value"] = NumberCell(reported.value, marks=marks)
        if interval is not None:
            cells["interval"] = span_of(interval)
            for key, attribute in DETAILS.items():
                cells[key] = getattr(interval, attribute, None)
    for other in beside:
        evaluation = part.evaluation
        scores_by_rule = other[name].select(is_member(other.query_ids, evaluation.query_ids))
        apart = difference_of(evaluation[name], scores_by_rule, other.ties)
        cells |= {key: getattr(apart, attribute) for key, attribute in APART.items()}
        cells |= {key: cell_of(measure, cells[key]) for key in FOR_PEOPLE}
    return cells


def range_columns(evaluations: Sequence[Evaluation]) -> list[RangeColumn]:
    """Return the columns with ranges that parts of the scores of some evaluations show, each once."""
    columns: list[RangeColumn] = []
    for evaluation in evaluations:
        for scores in evaluation:
            for part in scores.parts.values():
                column = part.range_column()
                if column is not None and column not in columns:
                    columns.append(column)
    return columns


def _mean_ranges(scores: Scores, ranges: Sequence[RangeColumn]) -> dict[str, Cell]:
    """Return the range of the mean in each column, by its key; nothing where no part of the scores has it."""
    means = scores.means_of_columns() if ranges else {}
    cells: dict[str, Cell] = {}
    for column in ranges:
        low, high = (means.get(end) for end in column.ends)
        cells[column.key] = NOTHING if low is None or high is None else Span(low, high)
    return cells


def _columns(
    measures: Sequence[Measure],
    found: Sequence[Mapping[str, Any]],
    level: float | None,
    rule: str,
    ranges: Sequence[RangeColumn],
    *,
    is_stratified: bool,
) -> list[Column]:
    """Return the columns of a group, of all that :func:`_cells` has."""
    counts = {one[key] for one in found for key in ("n_queries", "n_all")}
    has_intervals, is_wide = level is not None, is_stratified or level is not None
    spares = (1, 2, 2) if is_wide else (-2, -1, -1)  # what a narrow screen leaves out
    n_queries = Column("n_queries", "n")  # people read it where it differs: some measures leave queries out
    headings = {**{key: key for key in APART}, "traditional": TIE_HEADINGS.get(rule, "")}
    knows_ties = any(measure.knows_ties for measure in measures)
    columns = [
        (is_stratified, n_queries),
        (True, Column("value", TIE_HEADINGS["expected"] if rule else mean_heading(measures))),
        *((bool(rule), Column(key, headings[key], is_data=key not in FOR_PEOPLE)) for key in APART),
        (has_intervals, Column("interval", level_heading(level or 0.0, set() if is_stratified else counts))),
        (has_intervals and len(found) > len(measures), Column("bar", "", spare=3)),  # beside others only
        *((has_intervals, Column(key, key, is_data=True)) for key in DETAILS),
        (has_intervals and not is_stratified, replace(n_queries, is_data=len(counts) < 2)),
        *(
            (knows_ties, Column(key, key.replace("_", " "), spare=own))
            for key, own in zip(TIE_NUMBERS, spares, strict=True)
        ),
        *((True, Column(one.key, one.heading, ends=one.ends)) for one in ranges),
        (not is_wide, replace(n_queries, is_detail=len(counts) < 2)),
        (any(measure.total for measure in measures), Column("total", "total", is_data=True)),
        (is_stratified, Column("is_small", "small", is_data=True)),
    ]
    return [column for is_shown, column in columns if is_shown]


def level_heading(level: float, counts: set[int]) -> str:
    """Return the heading of intervals, with the number of queries if all have the same.

    Examples
    --------
    >>> level_heading(0.95, {25}), level_heading(0.95, {9, 25})
    ('95% CI (n=25)', '95% CI')
    """
    return f"{format_level(level)} CI" + (f" (n={next(iter(counts)):,})" if len(counts) == 1 else "")


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
    rule = beside[0].ties if beside else ""
    ranges = range_columns(evaluations)
    knows_ties = any(measure.knows_ties for measure in evaluations[0].measures)
    shown = (
        Column("value", TIE_HEADINGS["expected"] if rule else "value"),
        *((Column("traditional", TIE_HEADINGS[rule]), Column("difference", "difference")) if rule else ()),
        *(OF_TIES_BY_QUERY if knows_ties else ()),
        *(Column(one.key, one.heading, ends=one.ends) for one in ranges),
    )
    columns = [_by_query(one, beside[n : n + 1], ranges) for n, one in enumerate(evaluations)]
    stratum_of: dict[str, Stratum] = {}
    for of_run in strata:
        own = of_run.whole.query_ids.tolist()
        values = ([value or NONE for value in of_run.queries.column(name, own)] for name in of_run.columns)
        stratum_of |= zip(own, zip(*values, strict=True), strict=True)
    ids = sorted(set().union(*(evaluation.query_ids.tolist() for evaluation in evaluations)))
    if strata:
        distinct = list(dict.fromkeys(stratum_of.values()))
        rank_of_stratum = dict(zip(distinct, rank_strata(distinct).tolist(), strict=True))
        ids.sort(key=lambda query: rank_of_stratum[stratum_of[query]])
    rows = [
        Row(
            (*(keys_of(stratum_of[query]) if strata else ()), query, measure.label),
            tuple(column.get((query, str(measure)), (None,) * len(shown)) for column in columns),
        )
        for query in ids
        for measure in evaluations[0].measures
    ]
    return Table(
        "per_query",
        (*[Column(name, name) for one in strata[:1] for name in one.columns], QUERY, MEASURE),
        shown,
        tuple(rows),
        tuple(evaluation.name for evaluation in evaluations),
    )


def _by_query(
    evaluation: Evaluation, beside: Sequence[Evaluation], ranges: Sequence[RangeColumn]
) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """Return the cells of each query and measure."""
    found: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for scores in evaluation:
        others = [one[scores.measure] for one in beside]
        of_rule = [column for other in others for column in (other.values, differences(scores, other))]
        of_ties = [scores.tie_std, scores.tie_min, scores.tie_max] if scores.measure.knows_ties else []
        numbers = [scores.values, *of_rule, *of_ties]
        columns: list[list[float]] = [column.tolist() for column in numbers]
        cells: list[Sequence[Cell]] = [list(map(count_cell, own)) if scores.measure.total else own for own in columns]
        for column in ranges:
            cells.append(_ranges_by_query(scores, column))
        name = str(scores.measure)
        found |= {(query, name): tuple(row) for query, *row in zip(scores.query_ids.tolist(), *cells, strict=True)}
    return found


def _ranges_by_query(scores: Scores, column: RangeColumn) -> list[Cell]:
    """Return the range of each query; nothing where no part of the scores has it."""
    columns = scores.columns()
    low, high = (columns.get(end) for end in column.ends)
    if low is None or high is None:
        return [NOTHING] * len(scores.query_ids)
    return list(map(Span, low.tolist(), high.tolist()))
