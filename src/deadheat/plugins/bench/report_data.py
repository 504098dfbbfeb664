"""The report of a benchmark for programs: all means and differences."""

from collections.abc import Collection, Sequence
from typing import Any

from deadheat.core.evaluation.stratum import keys_of
from deadheat.core.report.model import Column, Fact, Report, Table, table_of_rows
from deadheat.core.report.totals import add_totals
from deadheat.plugins.bench.report_facts import tell
from deadheat.plugins.bench.report_verdicts import tell_language_verdicts, tell_verdicts
from deadheat.plugins.bench.result import BenchResult, PartStrata
from deadheat.plugins.languages.report import data_of_languages
from deadheat.version import __version__


def data_of_bench(result: BenchResult) -> Report:
    """Return the report of a benchmark for programs: tables of all means and differences; those of strata first."""
    counts = {measure.label for measure in result.measures if measure.total}
    by = result.settings.by
    groupings = result.groupings(by) if by else ()
    averages = [row for row in result.averages().to_dicts() if row["measure"] not in counts]
    tables: list[Table] = []
    _add_table(tables, "strata", ("cases", "language", "retriever", *by, "measure"), _rows_of_strata(result, groupings))
    _add_table(tables, "means", ("cases", "language", "retriever", "measure"), _rows_of_means(result, counts))
    pair = ("system", "baseline", "measure")
    _add_table(tables, "comparisons", ("cases", "language", *pair), _rows_of_comparisons(result, counts))
    _add_table(tables, "averages", ("retriever", "measure"), averages)
    rows = _rows_of_comparisons_by_strata(result, groupings, counts)
    _add_table(tables, "strata_comparisons", ("cases", "language", *by, *pair), rows)
    tables += data_of_languages(result.across, leading=Column("cases", "cases"), margin=result.settings.margin)
    facts = [
        tell_verdicts(result)[-1],
        tell_language_verdicts(result)[1],
        Fact("deadheat", __version__),
        *tell(result, groupings),
        Fact("failures", result.failed()),
    ]
    return Report(tuple(tables), tuple(facts))


def _add_table(tables: list[Table], key: str, labels: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    """Add a table, if it has rows."""
    if rows:
        tables.append(table_of_rows(key, labels, rows))


def _rows_of_strata(result: BenchResult, groupings: Sequence[PartStrata]) -> list[dict[str, Any]]:
    """Return the means of each retriever in each stratum."""
    rows = []
    for grouping in groupings:
        options = vars(result.interval_options(grouping.part))
        for key, strata in grouping.strata.items():
            summary = strata.summary(**options).rename({"n_queries": "n_cases"})
            for row in summary.to_dicts():
                rows.append({**key._asdict(), **row})
    return rows


def _rows_of_means(result: BenchResult, counts: Collection[str]) -> list[dict[str, Any]]:
    """Return the means of each retriever; of counts the totals."""
    return [add_totals(row, counts, row["n_cases"]) for row in result.to_polars().to_dicts()]


def _rows_of_comparisons(result: BenchResult, counts: Collection[str]) -> list[dict[str, Any]]:
    """Return the differences of retrievers in each part."""
    rows = []
    for (cases, language), comparison in result.comparisons.items():
        for row in comparison.to_polars(details=True).to_dicts():
            totals = add_totals(row, counts, row["n_queries"])
            rows.append({"cases": cases, "language": language, **totals})
    return rows


def _rows_of_comparisons_by_strata(
    result: BenchResult, groupings: Sequence[PartStrata], counts: Collection[str]
) -> list[dict[str, Any]]:
    """Return the differences of retrievers in each stratum."""
    names = ("cases", "language", *result.settings.by)
    rows = []
    for grouping in groupings:
        for stratum, comparison in result.by_strata(grouping.part).items():
            labels = dict(zip(names, (*grouping.part.key, *keys_of(stratum)), strict=True))
            for row in comparison.to_polars(details=True).to_dicts():
                rows.append({**labels, **add_totals(row, counts, row["n_queries"])})
    return rows
