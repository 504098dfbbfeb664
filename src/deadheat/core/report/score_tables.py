"""The tables of evaluations: means by measure and run, of all queries or of each stratum, and the scores of queries."""

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter
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
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import MEASURE, QUERY, Column, Row, Table, tabulate_groups
from deadheat.core.report.report_parts import Part
from deadheat.core.report.totals import TIE_NUMBERS, mean_heading, measure_cell
from deadheat.core.wording import format_level

FOR_PEOPLE = ("traditional", "difference")
APART = {
    "traditional": "traditional",
    "difference": "difference",
    "mean_difference": "mean",
    "max_difference": "max",
    "std_difference": "distance_std",
    "std": "std",
    "traditional_std": "traditional_std",
}
"""What there is of a rule beside the exact values, and the attribute of a `RuleDifference`."""
TIE_COLUMNS_BY_QUERY = (
    Column("tie_std", "tie std", spare=1),
    Column("tie_min", "tie min", spare=-1),
    Column("tie_max", "tie max", spare=-1),
)
"""What the table of queries shows of the orders of ties."""
NOTHING = Span(math.nan, math.nan)
DETAILS = {
    "standard_error": "standard_error",
    "query_standard_error": "query_standard_error",
    "tie_share": "tie_share",
    **KNOWN,
}
"""What CSV and JSON hold of an interval beside its ends, and the attribute of it."""


Quantiles = dict[tuple[tuple[str, ...], int], Interval]
"""By the labels of a stratum, the measure and the quantile; and the number of the run."""


def columns_of_strata(names: Sequence[str]) -> list[Column]:
    """Return the columns of the stratum that each row has."""
    return [Column(name, name, lambda row, n=n: row["stratum"][n]) for n, name in enumerate(names)]


def format_stratum(labels: tuple[str, ...]) -> str:
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
        cells_of_parts = []
        for part in parts:
            cells_of_part = _cells(part, measure.label, smallest, beside[part.run : part.run + 1])
            if ranges:
                cells_of_part |= _mean_ranges(part.evaluation[measure.label], ranges)
            cells_of_parts.append(cells_of_part)
            cells[part.labels, part.run, measure.label] = cells_of_part
        if level is not None:
            _add_bars(cells_of_parts)
    rows = []
    for labels in dict.fromkeys(part.labels for part in parts):
        for measure in measures:
            # a run may lack a stratum
            cells_of_runs = [cells.get((labels, run, measure.label)) for run in range(len(names))]
            rows.append(((*labels, measure.label), cells_of_runs))
    is_stratified = bool(columns)
    rule = beside[0].ties if beside else ""
    return tabulate_groups(
        "strata" if is_stratified else "scores",
        (*(Column(column, column) for column in columns), MEASURE),
        _columns(measures, list(cells.values()), level, rule, ranges, is_stratified=is_stratified),
        rows,
        names,
        main=1 if is_stratified else 0,
        has_blocks=is_stratified,
    )


def quantiles_of(parts: Sequence[Part], quantiles: Sequence[float], level: float) -> Quantiles:
    """Return the quantiles over queries with intervals of this level, of each measure that is of single queries."""
    intervals: Quantiles = {}
    if not quantiles:  # of very many strata, the evaluations take long to make
        return intervals
    for part in parts:
        for scores in part.evaluation:
            if scores.measure.only_total:
                continue
            for quantile in quantiles:
                labels = (*part.labels, scores.measure.label, f"{quantile:g}")
                intervals[labels, part.run] = scores.quantile(quantile, confidence_level=level)
    return intervals


def tabulate_quantiles(
    intervals: Quantiles,
    names: Sequence[str],
    *,
    level: float,
    columns: Sequence[str] = (),
    title: str = "Quantiles over queries",
) -> Table:
    """Return a table with a row a part, measure and quantile, and a group of columns a run.

    Parameters
    ----------
    intervals : Quantiles
    names : sequence of str
        Of the runs.
    level : float
        Confidence level of the intervals.
    columns : sequence of str, default ()
        The stratum columns, if the parts are strata.
    title : str, default "Quantiles over queries"
    """
    counts = {interval.n_queries for interval in intervals.values()}
    shown = [
        Column("value", "value"),
        Column("interval", level_heading(level, counts), interval_cell),
        Column("n_queries", "n", is_data=len(counts) < 2),
    ]
    for key, attribute in KNOWN.items():
        shown.append(Column(key, key, attrgetter(attribute), is_data=True))
    rows = []
    for labels in dict.fromkeys(labels for labels, _ in intervals):
        rows.append((labels, [intervals.get((labels, run)) for run in range(len(names))]))
    return tabulate_groups(
        "quantiles",
        (*(Column(column, column) for column in columns), MEASURE, Column("quantile", "quantile")),
        shown,
        rows,
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
    value = measure_cell(measure, reported.value)
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
        cells[key] = measure_cell(measure, getattr(reported, key))
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
            cells["interval"] = interval_cell(interval)
            for key, attribute in DETAILS.items():
                cells[key] = getattr(interval, attribute, None)
    for evaluation_by_rule in beside:
        cells |= _cells_of_rule(part.evaluation, evaluation_by_rule, name)
    return cells


def _cells_of_rule(evaluation: Evaluation, evaluation_by_rule: Evaluation, name: str) -> dict[str, Any]:
    """Return what the columns of a rule can show of a measure, for the queries of the exact evaluation."""
    scores = evaluation[name]
    is_in_part = is_member(evaluation_by_rule.query_ids, evaluation.query_ids)
    scores_by_rule = evaluation_by_rule[name].select(is_in_part)
    difference = difference_of(scores, scores_by_rule, evaluation_by_rule.ties)
    cells = {key: getattr(difference, attribute) for key, attribute in APART.items()}
    for key in FOR_PEOPLE:
        cells[key] = measure_cell(scores.measure, cells[key])
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
    cells: Sequence[Mapping[str, Any]],
    level: float | None,
    rule: str,
    ranges: Sequence[RangeColumn],
    *,
    is_stratified: bool,
) -> list[Column]:
    """Return the columns of a group, of all that :func:`_cells` has."""
    counts = {row["n_queries"] for row in cells} | {row["n_all"] for row in cells}
    has_one_count = len(counts) < 2  # people read it where it differs: some measures leave queries out
    has_intervals = level is not None
    columns = []
    if is_stratified:
        columns.append(Column("n_queries", "n"))
    columns.append(Column("value", TIE_HEADINGS["expected"] if rule else mean_heading(measures)))
    if rule:
        columns += _columns_of_rule(rule)
    if level is not None:
        heading = level_heading(level, set() if is_stratified else counts)
        columns += _columns_of_intervals(heading, has_bars=len(cells) > len(measures))
        if not is_stratified:
            columns.append(Column("n_queries", "n", is_data=has_one_count))
    if any(measure.knows_ties for measure in measures):
        columns += _columns_of_ties(is_wide=is_stratified or has_intervals)
    columns += [Column(column.key, column.heading, ends=column.ends) for column in ranges]
    if not is_stratified and not has_intervals:
        columns.append(Column("n_queries", "n", is_detail=has_one_count))
    if any(measure.total for measure in measures):
        columns.append(Column("total", "total", is_data=True))
    if is_stratified:
        columns.append(Column("is_small", "small", is_data=True))
    return columns


def _columns_of_intervals(heading: str, *, has_bars: bool) -> list[Column]:
    """Return the columns of intervals; bars are read beside others."""
    columns = [Column("interval", heading)]
    if has_bars:
        columns.append(Column("bar", "", spare=3))
    columns += [Column(key, key, is_data=True) for key in DETAILS]
    return columns


def _columns_of_rule(rule: str) -> list[Column]:
    """Return the columns of a rule that is beside the exact values; people see the first two."""
    columns = []
    for key in APART:
        heading = TIE_HEADINGS.get(rule, "") if key == "traditional" else key
        columns.append(Column(key, heading, is_data=key not in FOR_PEOPLE))
    return columns


def _columns_of_ties(*, is_wide: bool) -> list[Column]:
    """Return the columns of what tie orders make of a mean; a narrow screen leaves those of a wide table out."""
    spares = (1, 2, 2) if is_wide else (-2, -1, -1)
    columns = []
    for key, spare in zip(TIE_NUMBERS, spares, strict=True):
        columns.append(Column(key, key.replace("_", " "), spare=spare))
    return columns


def level_heading(level: float, counts: set[int]) -> str:
    """Return the heading of intervals, with the number of queries if all have the same.

    Examples
    --------
    >>> level_heading(0.95, {25}), level_heading(0.95, {9, 25})
    ('95% CI (n=25)', '95% CI')
    """
    heading = f"{format_level(level)} CI"
    if len(counts) == 1:
        (n_queries,) = counts
        heading += f" (n={n_queries:,})"
    return heading


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
    measures = evaluations[0].measures
    ranges = range_columns(evaluations)
    shown = _columns_by_query(measures, beside, ranges)
    cells_of_runs = []
    for run, evaluation in enumerate(evaluations):
        cells_of_runs.append(_cells_by_query(evaluation, beside[run : run + 1], ranges))
    stratum_of = _assign_strata(strata)
    ids = sorted(set().union(*(evaluation.query_ids.tolist() for evaluation in evaluations)))
    if strata:
        distinct = list(dict.fromkeys(stratum_of.values()))
        rank_of_stratum = dict(zip(distinct, rank_strata(distinct).tolist(), strict=True))
        ids.sort(key=lambda query_id: rank_of_stratum[stratum_of[query_id]])
    nothing = (None,) * len(shown)
    rows = []
    for query_id in ids:
        keys = keys_of(stratum_of[query_id]) if strata else ()
        for measure in measures:
            cells = tuple(cells_of_run.get((query_id, str(measure)), nothing) for cells_of_run in cells_of_runs)
            rows.append(Row((*keys, query_id, measure.label), cells))
    stratum_columns = strata[0].columns if strata else ()
    return Table(
        "per_query",
        (*(Column(name, name) for name in stratum_columns), QUERY, MEASURE),
        tuple(shown),
        tuple(rows),
        tuple(evaluation.name for evaluation in evaluations),
    )


def _columns_by_query(
    measures: Sequence[Measure], beside: Sequence[Evaluation], ranges: Sequence[RangeColumn]
) -> list[Column]:
    """Return the columns of a group in the table of queries, of all that :func:`_cells_by_query` has."""
    columns = [Column("value", "value")]
    if beside:
        columns = [
            Column("value", TIE_HEADINGS["expected"]),
            Column("traditional", TIE_HEADINGS[beside[0].ties]),
            Column("difference", "difference"),
        ]
    if any(measure.knows_ties for measure in measures):
        columns += TIE_COLUMNS_BY_QUERY
    columns += [Column(column.key, column.heading, ends=column.ends) for column in ranges]
    return columns


def _assign_strata(strata_of_runs: Sequence[Strata]) -> dict[str, Stratum]:
    """Return the values of each query in the stratum columns, which label it; one without a value is in `NONE`."""
    stratum_of: dict[str, Stratum] = {}
    for strata in strata_of_runs:
        ids = strata.whole.query_ids.tolist()
        columns = []
        for name in strata.columns:
            columns.append([value or NONE for value in strata.queries.column(name, ids)])
        stratum_of |= zip(ids, zip(*columns, strict=True), strict=True)
    return stratum_of


def _cells_by_query(
    evaluation: Evaluation, beside: Sequence[Evaluation], ranges: Sequence[RangeColumn]
) -> dict[tuple[str, str], tuple[Cell, ...]]:
    """Return the cells of each query and measure."""
    rows: dict[tuple[str, str], tuple[Cell, ...]] = {}
    for scores in evaluation:
        measure = scores.measure
        numbers = [scores.values]
        for evaluation_by_rule in beside:
            scores_by_rule = evaluation_by_rule[measure]
            numbers += [scores_by_rule.values, differences(scores, scores_by_rule)]
        if measure.knows_ties:
            numbers += [scores.tie_std, scores.tie_min, scores.tie_max]
        cells: list[Sequence[Cell]] = []
        for column_of_numbers in numbers:
            column: list[float] = column_of_numbers.tolist()
            cells.append([count_cell(value) for value in column] if measure.total else column)
        for range_column in ranges:
            cells.append(_ranges_by_query(scores, range_column))
        name = str(measure)
        for query_id, *row in zip(scores.query_ids.tolist(), *cells, strict=True):
            rows[query_id, name] = tuple(row)
    return rows


def _ranges_by_query(scores: Scores, column: RangeColumn) -> list[Cell]:
    """Return the range of each query; nothing where no part of the scores has it."""
    columns = scores.columns()
    low, high = (columns.get(end) for end in column.ends)
    if low is None or high is None:
        return [NOTHING] * len(scores.query_ids)
    return list(map(Span, low.tolist(), high.tolist()))
