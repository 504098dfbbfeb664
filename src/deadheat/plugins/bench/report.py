"""The report of a benchmark for people: who is best, means with intervals, differences, languages, strata, failures."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadheat.core import hooks
from deadheat.core.data.queries import Queries
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.stratum import NONE, keys_of
from deadheat.core.measures import Measure
from deadheat.core.report.cells import OF_FEW, Cell, NumberCell, p_value_cell
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import MEASURE, Column, Fact, Report, Row, Table, tabulate, tabulate_groups
from deadheat.core.report.score_tables import level_heading
from deadheat.core.report.totals import mean_cell, mean_heading, reported_interval, tie_range_cell
from deadheat.core.wording import format_count
from deadheat.plugins.bench.case_groups import STRATA, CaseGroup
from deadheat.plugins.bench.report_differences import tabulate_differences, tabulate_differences_of_strata
from deadheat.plugins.bench.report_facts import tell
from deadheat.plugins.bench.report_failures import RETRIEVER, list_failures
from deadheat.plugins.bench.report_measures import headline, main_of
from deadheat.plugins.bench.report_verdicts import CASE, tell_language_verdicts, tell_verdicts
from deadheat.plugins.bench.result import BenchResult, Failure, Key, PartStrata
from deadheat.plugins.compare.comparison import KEYS, Comparison
from deadheat.plugins.languages.beside import LanguagesBeside
from deadheat.plugins.languages.report import list_languages
from deadheat.version import __version__

SURE = {  # whether a lead is more than chance, by the outcome of the verdict
    "better": "yes",
    "not shown": "not shown",
    "undecided": "undecided",
    "in doubt": "undecided",
    "few": "too few",
    "one query": "too few",
    "contradicted": "no",
    "equal": "no lead",
    "same mean": "no lead",
    "shared": "no lead",
    "none": "no lead",
}
MOST_MEASURES = 4  # of differences on a screen: more hide what is to be seen
MOST_LANGUAGE_ROWS = 12  # of differences of languages on a screen


def report_bench(result: BenchResult, *, full: bool = True) -> Report:
    """Return the report of a benchmark for people.

    Parameters
    ----------
    result : BenchResult
    full : bool, default True
        Whether it has all measures and the strata of every column; else those without a cutoff, and of each kind the
        deepest one, and strata only of what was asked for.
    """
    selection = _select(result, full=full)
    tables = _list_answers_of_parts(result)
    tables += _list_tables_of_parts(result, selection)
    for languages in result.across.values():
        tables += list_languages(
            languages,
            selection.shown,
            tested=selection.main,
            system=RETRIEVER,
            margin=result.settings.margin,
            unit=CASE,
            most=None if full else MOST_LANGUAGE_ROWS,
        )
    tables += _tabulate_averages(result, selection.shown)
    tables += _list_tables_of_strata(result, selection, full=full)
    for part in result.parts.values():
        tables += list_failures(str(part), len(part.cases), _find_failures(result, part), full=full)
    headline_text, summary, verdict = tell_verdicts(result)
    opening, _ = tell_language_verdicts(result)
    heading = ""
    if full:
        heading = f"{', '.join(result.retrievers)} on {', '.join(map(str, result.parts.values()))}"
    facts = [Fact("deadheat", __version__), verdict]
    facts += tell(result, selection.groupings, shown=selection.shown)
    return Report(tuple(tables), tuple(facts), heading, headline=headline_text, opening=opening, summary=summary)


@dataclass(frozen=True)
class Selection:
    """What a report shows of a benchmark.

    Attributes
    ----------
    main : sequence of Measure
        Those without a cutoff, and of each kind the deepest one.
    shown : sequence of Measure
        Of the tables of means.
    of_differences : sequence of Measure
        Of the tables of differences.
    of_strata : sequence of Measure
        Of the tables of strata.
    groupings : tuple of PartStrata
        The strata that have tables.
    """

    main: Sequence[Measure]
    shown: Sequence[Measure]
    of_differences: Sequence[Measure]
    of_strata: Sequence[Measure]
    groupings: tuple[PartStrata, ...]


def _select(result: BenchResult, *, full: bool) -> Selection:
    """Choose measures and strata: all for a file, few for a screen."""
    by = result.settings.by
    main = main_of(result.measures)
    of_differences = main
    if not full and len(main) > MOST_MEASURES:
        of_differences = headline(result.measures)
    if full:
        shown = result.measures
    elif by:
        shown = of_differences
    else:
        shown = main
    of_strata = of_differences if by else main[:2]
    column_sets: list[tuple[str, ...]] = []
    if by:
        column_sets = [by]
    elif full:
        column_sets = [(name,) for name in STRATA]
    groupings: list[PartStrata] = []
    for columns in column_sets:
        for grouping in result.groupings(columns):
            groupings.append(grouping.select(of_strata))
    return Selection(main, shown, of_differences, of_strata, tuple(groupings))


def _list_answers_of_parts(result: BenchResult) -> list[Table]:
    """Return the table of who is best in each part; parts of one set are named by their languages alone."""
    set_names = {set_name for set_name, _ in result.parts}
    languages = {language for _, language in result.parts}
    if len(set_names) == 1 and NONE not in languages:
        by_language = {language: comparison for (_, language), comparison in result.comparisons.items()}
        return list(list_answers(by_language, "language"))
    by_part = {str(result.parts[key]): comparison for key, comparison in result.comparisons.items()}
    return list(list_answers(by_part, "cases"))


def _list_tables_of_parts(result: BenchResult, selection: Selection) -> list[Table]:
    """Return the means of each part, then the differences of each."""
    tables = [_tabulate_means(result, part, selection.shown) for part in result.parts.values()]
    for key, comparison in result.comparisons.items():
        tables += tabulate_differences(result, result.parts[key], comparison, selection.of_differences)
    return tables


def _list_tables_of_strata(result: BenchResult, selection: Selection, *, full: bool) -> list[Table]:
    """Return the means of strata, then the differences within those of the columns that were asked for."""
    by = result.settings.by
    tables = [_tabulate_strata(result, grouping, selection.of_strata) for grouping in selection.groupings]
    # with more retrievers, a screen has only the means
    if by and (full or len(result.retrievers) == 2):
        for grouping in selection.groupings:
            comparisons = result.by_strata(grouping.part)
            tables += tabulate_differences_of_strata(result, grouping.part, comparisons, selection.of_strata, by)
    return tables


def list_answers(comparisons: Mapping[str, Comparison], heading: str) -> Iterator[Table]:
    """Give the table of who is best in each comparison, whether by more than chance, and how many cases would show it.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
    heading : str
        What their names are.
    """
    rows: list[dict[str, Any]] = []
    for name, comparison in comparisons.items():
        n_needed_of = {}
        for row in comparison.sample_sizes().to_dicts():
            n_needed_of[tuple(row[key] for key in KEYS)] = row["n_needed"]
        for measure in headline(comparison.measures):
            verdict = comparison.judge(measure=measure, unit=CASE)
            mean = None
            if verdict.leader:
                mean = comparison.evaluations[verdict.leader][measure].reported()
            n_more = None
            n_needed = n_needed_of.get((verdict.measure, verdict.system, verdict.baseline))
            if n_needed is not None:
                n_more = max(0, n_needed - verdict.n_queries)
            rows.append(
                {
                    "cases": name,
                    "measure": verdict.measure,
                    "best": verdict.leader or "nobody",
                    "mean": mean,
                    "next": verdict.runner_up or "-",
                    "difference": verdict.difference,
                    "p_adjusted": verdict.p_adjusted,
                    "sure": SURE[verdict.outcome],
                    "more": n_more,
                }
            )
    if not rows:
        return
    columns = (
        Column("best", "best", is_name=True),
        Column("mean", "mean", spare=2),
        Column("next", "next", is_name=True),
        Column("difference", "difference", spare=1),
        Column("p_adjusted", "p adj", lambda row: p_value_cell(row["p_adjusted"])),
        Column("sure", "sure"),
        Column("more", "more cases"),
    )
    labels = (Column("cases", heading), MEASURE)
    yield tabulate("answers", labels, columns, rows, title="Which retriever is best", is_section=True)


def tables_of_page(
    part: str, comparison: Comparison | None, n_cases: int, failures: Mapping[str, Sequence[Failure]]
) -> tuple[Table, ...]:
    """Return what a page says of a part below its verdict: the answers, and all failures that a file has."""
    tables: list[Table] = []
    if comparison is not None:
        tables += list_answers({part: comparison}, "cases")
    tables += list_failures(part, n_cases, failures, full=True)
    return tuple(tables)


def _tabulate_means(result: BenchResult, part: CaseGroup, measures: Sequence[Measure]) -> Table:
    """Return each measure of each retriever with its interval."""
    evaluations = result.of_part(part)
    intervals_of = {retriever: result.intervals[Key(*part.key, retriever)] for retriever in evaluations}
    counts: set[int] = set()
    rows: list[Row] = []
    for measure in measures:
        groups: list[tuple[Cell, ...]] = []
        for retriever, evaluation in evaluations.items():
            scores = evaluation[measure.label]
            interval = intervals_of[retriever][measure.label]
            counts.add(interval.n_queries)
            groups.append((*_make_mean_cells(scores, interval), tie_range_cell(scores)))
        rows.append(Row((measure.label,), tuple(groups)))
    columns = (
        Column("n_queries", "cases", is_data=len(counts) == 1),
        Column("mean", mean_heading(measures)),
        Column("ci", level_heading(result.settings.design.confidence_level, counts)),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
    )
    return Table(
        "means",
        (MEASURE,),
        columns,
        tuple(rows),
        groups=result.retrievers,
        group=RETRIEVER,
        title=f"{part}: {format_count(len(part.cases), 'case')}",
        main=1,
        is_section=True,
    )


def _make_mean_cells(scores: Scores, interval: Interval, smallest: int = 0) -> tuple[Cell, Cell, Cell]:
    """Return the number of cases, a mean, marked if it is of fewer than `smallest`, and its interval."""
    mean = mean_cell(scores)
    if scores.n_queries < smallest:
        mean = NumberCell(scores.reported(), marks=OF_FEW)
    return interval.n_queries, mean, interval_cell(reported_interval(scores, interval))


def _tabulate_averages(result: BenchResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """Give the table of each measure of each retriever across languages; totals cannot be averaged."""
    if len(result.families) == 1 and result.families[0].covers(result.parts.values()):
        return  # its table has the same means
    frame = result.averages()
    averaged_measures = [measure for measure in measures if not measure.total]
    if frame.is_empty() or not averaged_measures:
        return
    average_of = {(row["retriever"], row["measure"]): row for row in frame.iter_rows(named=True)}
    rows = []
    for measure in averaged_measures:
        averages = [average_of[retriever, measure.label] for retriever in result.retrievers]
        rows.append(((measure.label,), averages))
    columns = (
        Column("mean", "mean of languages"),
        Column("variance", "variance"),
        Column("std", "std", spare=2),
        Column("lowest", "lowest", spare=1),
        Column("highest", "highest", spare=1),
    )
    left_out = ""
    parts_without_language = [str(part) for part in result.parts.values() if part.language == NONE]
    if parts_without_language:
        left_out = f"; without {', '.join(parts_without_language)}, of no language"
    title = f"Across {len(result.languages)} languages ({frame['pooled'][0]}{left_out})"
    yield tabulate_groups(
        "averages", (MEASURE,), columns, rows, result.retrievers, group=RETRIEVER, title=title, is_section=True
    )


def _tabulate_strata(result: BenchResult, grouping: PartStrata, measures: Sequence[Measure]) -> Table:
    """Return each measure by the values of columns."""
    strata_of_first = next(iter(grouping.strata.values()))
    rows: list[Row] = []
    for stratum in strata_of_first:
        for measure in measures:
            groups: list[tuple[Cell, ...]] = []
            for key, strata in grouping.strata.items():
                interval = grouping.intervals[key][stratum][measure.label]
                groups.append(_make_mean_cells(strata[stratum][measure.label], interval, strata.smallest))
            rows.append(Row((*keys_of(stratum), measure.label), tuple(groups)))
    labels = [Column(name, name) for name in grouping.columns]
    labels.append(MEASURE)
    level = level_heading(result.settings.design.confidence_level, set())
    return Table(
        "strata",
        tuple(labels),
        columns=(Column("n_queries", "cases"), Column("mean", "mean"), Column("ci", level)),
        rows=tuple(rows),
        groups=tuple(key.retriever for key in grouping.strata),
        group=RETRIEVER,
        title=str(grouping),
        main=1,
        has_blocks=True,
        is_section=True,
    )


def _find_failures(result: BenchResult, part: CaseGroup) -> dict[str, tuple[Failure, ...]]:
    """Return the cases of a part that each retriever failed, the worst first."""
    return {name: result.failures.get(Key(*part.key, name), ()) for name in result.retrievers}


def page_of_bench(result: BenchResult) -> str:
    """Return the page of a benchmark; its runs are not at hand, so there are no rankings."""
    page = hooks.service("page")
    subjects = [_make_subject(page, result, part) for part in result.parts.values()]
    text: str = page.page_of(
        subjects,
        companions=[LanguagesBeside(languages) for languages in result.across.values()],
        margin=result.settings.margin,
        facts=report_bench(result).shown,
    )
    return text


def _make_subject(page: Any, result: BenchResult, part: CaseGroup) -> Any:  # noqa: ANN401 - of another plugin
    """Return what a page shows of a part."""
    by = result.settings.by
    comparison = result.comparisons.get(part.key)
    groupings: tuple[tuple[str, ...], ...] = ()
    if by and set(by) <= set(part.strata):
        groupings = (by,)
    return page.Subject(
        name=str(part) if len(result.parts) > 1 else "",
        evaluations=result.of_part(part),
        comparison=comparison,
        qrels=str(part),
        queries=Queries(part.cases.queries()),
        groupings=groupings,
        names=result.names.get(part.key, {}),
        tables=tables_of_page(str(part), comparison, len(part.cases), _find_failures(result, part)),
    )


def subjects_of(result: BenchResult) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what figures are drawn of: each set and each language by itself, and its strata.

    Each has a prefix for the names of its files, and options for the figures.
    """
    for key, part in result.parts.items():
        prefix = _format_prefix(result, part)
        if key in result.comparisons:
            yield prefix, result.comparisons[key], {}
        else:
            yield prefix, result.of_part(part), {"options": result.interval_options(part)}
    for set_name, languages in result.across.items():
        prefix = f"{set_name}-" if len(result.across) > 1 else ""
        yield prefix, languages, {}
    if not result.settings.by:
        return
    for grouping in result.groupings(result.settings.by):
        strata_of = {key.retriever: strata for key, strata in grouping.strata.items()}
        options = {"options": result.interval_options(grouping.part)}
        yield _format_prefix(result, grouping.part), strata_of, options


def _format_prefix(result: BenchResult, part: CaseGroup) -> str:
    """Return how the names of a part's figures begin; of several parts by set and language."""
    if len(result.parts) == 1:
        return ""
    return "".join(f"{name}-" for name in part.key if name != NONE)
