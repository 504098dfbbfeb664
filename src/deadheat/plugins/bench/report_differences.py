"""The table of the differences of retrievers, of a part of a benchmark or of its strata."""

from collections.abc import Mapping, Sequence

from deadheat.core.evaluation.stratum import Stratum, keys_of
from deadheat.core.measures import Measure
from deadheat.core.report.cells import Bar, Cell, bars
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import MEASURE, Column, Row, Table
from deadheat.core.report.score_tables import level_heading
from deadheat.plugins.bench.case_groups import CaseGroup
from deadheat.plugins.bench.result import BenchResult
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.report import adjusted_and_skewed, as_shown, reported_pairs, reversal


def tabulate_differences(
    result: BenchResult, part: CaseGroup, comparison: Comparison, measures: Sequence[Measure]
) -> list[Table]:
    """Return each pair of retrievers with its difference, drawn as a bar, and how sure it is; no table without pairs.

    Parameters
    ----------
    result : BenchResult
    part : CaseGroup
    comparison : Comparison
        Of the retrievers on the part.
    measures : sequence of Measure
    """
    pairs = _list_pairs(comparison, measures)
    if not pairs:
        return []
    bar_of = _draw(pairs, measures)
    rows: list[Row] = []
    for pair in pairs:
        n_queries, difference, interval, *other_cells = _make_cells(pair)
        cells = (n_queries, difference, interval, bar_of.get(pair), *other_cells)
        rows.append(Row(_make_labels(result, pair), (cells,)))
    counts = {pair.n_queries for pair in pairs}
    columns = [
        Column("n_queries", "cases", spare=1, is_data=len(counts) == 1),
        Column("difference", "difference"),
        Column("ci", level_heading(result.settings.design.confidence_level, counts), spare=1),
        Column("bar", "", spare=4),
        *_list_last_columns(result),
    ]
    title = _format_title(result, str(part))
    labels = tuple(_list_label_columns(result))
    return [Table("pairs", labels, tuple(columns), tuple(rows), title=title, main=1, is_section=True, is_extra=True)]


def tabulate_differences_of_strata(
    result: BenchResult,
    part: CaseGroup,
    comparisons: Mapping[Stratum, Comparison],
    measures: Sequence[Measure],
    by: Sequence[str],
) -> list[Table]:
    """Return each pair of retrievers within each stratum, in the order of the strata; no table without pairs.

    Parameters
    ----------
    result : BenchResult
    part : CaseGroup
    comparisons : mapping of stratum to Comparison
        Of the retrievers within each stratum.
    measures : sequence of Measure
    by : sequence of str
        The columns whose values the strata are.
    """
    rows: list[Row] = []
    for stratum, comparison in comparisons.items():
        for pair in _list_pairs(comparison, measures):
            labels = (*keys_of(stratum), *_make_labels(result, pair))
            rows.append(Row(labels, (_make_cells(pair),)))
    if not rows:
        return []
    label_columns = [Column(name, name) for name in by]
    label_columns += _list_label_columns(result)
    columns = [
        Column("n_queries", "cases"),
        Column("difference", "difference"),
        Column("ci", level_heading(result.settings.design.confidence_level, set()), spare=1),
        *_list_last_columns(result),
    ]
    title = _format_title(result, f"{part} by {' and '.join(by)}")
    return [
        Table(
            "strata_pairs",
            tuple(label_columns),
            tuple(columns),
            tuple(rows),
            title=title,
            main=1,
            has_blocks=True,
            is_section=True,
        )
    ]


def _list_pairs(comparison: Comparison, measures: Sequence[Measure]) -> list[Pair]:
    """Return the pairs of retrievers that people are shown, by measure."""
    shown = as_shown(comparison)
    pairs: list[Pair] = []
    for measure in measures:
        pairs += reported_pairs(shown, measure)
    return pairs


def _draw(pairs: Sequence[Pair], measures: Sequence[Measure]) -> dict[Pair, Bar]:
    """Return the bar of each pair; totals have another scale, and none."""
    totals = {measure.label for measure in measures if measure.total}
    drawn = [pair for pair in pairs if pair.measure not in totals]
    drawings = bars([interval_cell(pair) for pair in drawn], [pair.difference for pair in drawn])
    return dict(zip(drawn, drawings, strict=True))


def _list_label_columns(result: BenchResult) -> list[Column]:
    columns = [MEASURE, Column("system", "retriever", is_name=True)]
    if not result.settings.design.baseline:
        columns.append(Column("baseline", "against", is_name=True))
    return columns


def _make_labels(result: BenchResult, pair: Pair) -> tuple[str, ...]:
    """Return the labels of a pair: a baseline that all pairs have is in the title alone."""
    if result.settings.design.baseline:
        return (pair.measure, pair.system)
    return (pair.measure, pair.system, pair.baseline)


def _list_last_columns(result: BenchResult) -> list[Column]:
    return [
        Column("p_adjusted", "p" if result.settings.design.test == "tukey" else "p adj"),
        Column("flip_probability", "ties reverse", spare=3),
        Column("wins", "wins", spare=2),
        Column("losses", "losses", spare=2),
    ]


def _make_cells(pair: Pair) -> tuple[Cell, ...]:
    """Return number of cases, difference, interval, p, probability that ties reverse it, wins and losses."""
    return (
        pair.n_queries,
        pair.difference,
        interval_cell(pair),
        adjusted_and_skewed(pair),
        reversal(pair),
        pair.wins,
        pair.losses,
    )


def _format_title(result: BenchResult, cases: str) -> str:
    title = f"{cases}: differences"
    if result.settings.design.baseline:
        title += f" from {result.settings.design.baseline}"
    return title
