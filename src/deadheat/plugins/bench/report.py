"""The report of a benchmark for people: who is best, means with intervals, differences, languages, strata, failures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deadheat.core import hooks
from deadheat.core.data.queries import Queries
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.stratum import NONE, Stratum, keys_of
from deadheat.core.measures import Measure
from deadheat.core.report.cells import OF_FEW, Cell, NumberCell, bars, p_value_cell
from deadheat.core.report.interval_facts import span_of
from deadheat.core.report.model import MEASURE, Column, Fact, Report, Row, Table, tabulate, tabulate_groups
from deadheat.core.report.score_tables import level_heading
from deadheat.core.report.totals import as_cell, mean_heading, reported_interval, span_of_ties
from deadheat.core.wording import format_count
from deadheat.plugins.bench.collection import STRATA, CaseGroup
from deadheat.plugins.bench.report_facts import tell
from deadheat.plugins.bench.report_measures import headline, main_of
from deadheat.plugins.bench.report_verdicts import CASE, tell_language_verdicts, tell_verdicts
from deadheat.plugins.bench.result import BenchResult, Failure, Key, PartStrata
from deadheat.plugins.compare.comparison import KEYS, Comparison
from deadheat.plugins.compare.report import adjusted_and_skewed, as_shown, reported_pairs, reversal
from deadheat.plugins.languages.beside import LanguagesBeside
from deadheat.plugins.languages.report import list_languages
from deadheat.version import __version__

RETRIEVER = Column("retriever", "retriever", is_name=True)
FEW, MANY = 3, 20  # failed cases of each retriever: on a screen, and in a file
SHOWN = 6  # failed cases of all retrievers together on a screen, where each still has one

SURE = {  # whether a lead is more than chance, by the outcome of the verdict
    "better": "yes",
    "not shown": "not shown",
    "undecided": "undecided",
    "in doubt": "undecided",
    "few": "too few",
    "one query": "too few",
    "contradicted": "no",
    **dict.fromkeys(("equal", "same mean", "shared", "none"), "no lead"),
}
MOST_ROWS = 4  # measures of differences on a screen: more hide what is to be seen


def report_bench(result: BenchResult, *, full: bool = True) -> Report:
    """Return the report of a benchmark for people.

    Parameters
    ----------
    result : BenchResult
    full : bool, default True
        Whether it has all measures and the strata of every column; else those without a cutoff, and of each kind the
        deepest one, and strata only of what was asked for.
    """
    main, by, margin = main_of(result.measures), result.settings.by, result.settings.margin
    columns = [by] if by else [(name,) for name in STRATA] if full else []
    few = main if full or len(main) <= MOST_ROWS else headline(result.measures)
    of_strata = few if by else main[:2]
    groupings = [one.select(of_strata) for names in columns for one in result.groupings(names)]
    shown = result.measures if full else few if by else main
    names, codes = (set(keys) for keys in zip(*result.parts, strict=True))
    is_in_groups = len(names) > 1 or NONE in codes
    comparisons = {}
    for key, comparison in result.comparisons.items():
        comparisons[str(result.parts[key]) if is_in_groups else key[1]] = comparison
    tables: list[Table | None] = [*list_answers(comparisons, "cases" if is_in_groups else "language")]
    for part in result.parts.values():
        tables.append(_means(result, part, shown))
    for key, comparison in result.comparisons.items():
        tables.append(_differences(result, result.parts[key], {"": comparison}, few))
    for across in result.across.values():
        tables += list_languages(
            across,
            shown,
            tested=main,
            system=RETRIEVER,
            margin=margin,
            unit=CASE,
            most=None if full else 12,  # rows of differences on a screen
        )
    tables += _averages(result, shown)
    for grouping in groupings:
        tables.append(_strata(grouping, of_strata, _level(result)))
    if by and (full or len(result.retrievers) == 2):  # with more retrievers, a screen has only the means
        for grouping in groupings:
            tables.append(_differences(result, grouping.part, result.by_strata(grouping.part), of_strata, by))
    for part in result.parts.values():
        tables += list_failures(str(part), len(part.cases), _failures(result, part), full=full)
    first, summary, verdict = tell_verdicts(result)
    heading = ""
    if full:
        heading = f"{', '.join(result.retrievers)} on {', '.join(map(str, result.parts.values()))}"
    return Report(
        tuple(table for table in tables if table),
        (Fact("deadheat", __version__), verdict, *tell(result, groupings, shown=shown)),
        heading,
        headline=first,
        opening=tell_language_verdicts(result)[0],
        summary=summary,
    )


def _columns(names: Iterable[str]) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in names)


def _level(result: BenchResult, counts: Iterable[int] = ()) -> str:
    return level_heading(result.settings.design.confidence_level, set(counts))


def list_answers(comparisons: Mapping[str, Comparison], heading: str) -> Iterator[Table]:
    """Give the table of who is best in each comparison, whether by more than chance, and how many cases would show it.

    Parameters
    ----------
    comparisons : mapping of str to Comparison
    heading : str
        What their names are.
    """
    found: list[dict[str, Any]] = []
    for name, comparison in comparisons.items():
        needed = {tuple(row[key] for key in KEYS): row["n_needed"] for row in comparison.sample_sizes().to_dicts()}
        for measure in headline(comparison.measures):
            one = comparison.judge(measure=measure, unit=CASE)
            n = needed.get((one.measure, one.system, one.baseline))
            found.append(
                {
                    **vars(one),
                    "cases": name,
                    "best": one.leader or "nobody",
                    "mean": comparison.evaluations[one.leader][measure].reported() if one.leader else None,
                    "next": one.runner_up or "-",
                    "sure": SURE[one.outcome],
                    "more": None if n is None else max(0, n - one.n_queries),
                }
            )
    if found:
        yield tabulate(
            "answers",
            (Column("cases", heading), MEASURE),
            (
                Column("best", "best", is_name=True),
                Column("mean", "mean", spare=2),
                Column("next", "next", is_name=True),
                Column("difference", "difference", spare=1),
                Column("p_adjusted", "p adj", lambda row: p_value_cell(row["p_adjusted"])),
                Column("sure", "sure"),
                Column("more", "more cases"),
            ),
            found,
            title="Which retriever is best",
            is_section=True,
        )


def tables_of_page(
    part: str, comparison: Comparison | None, n_cases: int, failures: Mapping[str, Sequence[Failure]]
) -> tuple[Table, ...]:
    """Return what a page says of a part below its verdict: the answers, and all failures that a file has."""
    return (
        *list_answers({} if comparison is None else {part: comparison}, "cases"),
        *list_failures(part, n_cases, failures, full=True),
    )


def _means(result: BenchResult, part: CaseGroup, measures: Sequence[Measure]) -> Table:
    """Each measure of each retriever with its interval."""
    found = [(one, result.intervals[Key(*part.key, name)]) for name, one in result.of_part(part).items()]
    counts = {intervals[one.label].n_queries for _, intervals in found for one in measures}
    return Table(
        "means",
        (MEASURE,),
        columns=(
            Column("n_queries", "cases", is_data=len(counts) == 1),
            Column("mean", mean_heading(measures)),
            Column("ci", _level(result, counts)),
            Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
        ),
        rows=tuple(
            Row(
                (one.label,),
                tuple(
                    (*_mean(evaluation[one.label], intervals[one.label]), span_of_ties(evaluation[one.label]))
                    for evaluation, intervals in found
                ),
            )
            for one in measures
        ),
        groups=result.retrievers,
        group=RETRIEVER,
        title=f"{part}: {format_count(len(part.cases), 'case')}",
        main=1,
        is_section=True,
    )


def _mean(scores: Scores, interval: Interval, smallest: int = 0) -> tuple[Cell, Cell, Cell]:
    """Return the number of cases, a mean, marked if it is of few, and its interval."""
    mean = NumberCell(scores.reported(), marks=OF_FEW) if scores.n_queries < smallest else as_cell(scores)
    return interval.n_queries, mean, span_of(reported_interval(scores, interval))


def _differences(
    result: BenchResult,
    part: CaseGroup,
    found: Mapping[Stratum, Comparison],
    measures: Sequence[Measure],
    by: tuple[str, ...] = (),
) -> Table | None:
    """Each pair of retrievers with its difference, and how sure it is; within strata in their order."""
    baseline = result.settings.design.baseline
    pairs = [
        (stratum, pair)
        for stratum, comparison in found.items()
        for measure in measures
        for pair in reported_pairs(as_shown(comparison), measure)
    ]
    if not pairs:
        return None
    counts = {pair.n_queries for _, pair in pairs}
    totals = {one.label for one in measures if one.total}  # of another scale: they are not drawn
    drawn = [pair for _, pair in pairs if pair.measure not in totals]
    spans = bars([span_of(pair) for pair in drawn], [pair.difference for pair in drawn])
    bar_of = dict(zip(drawn, spans, strict=True))
    among = f"{part} by {' and '.join(by)}" if by else f"{part}"
    return Table(
        "strata_pairs" if by else "pairs",
        (
            *_columns(by),
            MEASURE,
            Column("system", "retriever", is_name=True),
            *(() if baseline else (Column("baseline", "against", is_name=True),)),
        ),
        columns=(
            Column("n_queries", "cases", spare=0 if by else 1, is_data=len(counts) == 1 and not by),
            Column("difference", "difference"),
            Column("ci", _level(result, () if by else counts), spare=1),
            *(() if by else (Column("bar", "", spare=4),)),
            Column("p_adjusted", "p" if result.settings.design.test == "tukey" else "p adj"),
            Column("flip_probability", "ties reverse", spare=3),
            Column("wins", "wins", spare=2),
            Column("losses", "losses", spare=2),
        ),
        rows=tuple(
            Row(
                (*(keys_of(stratum) if by else ()), pair.measure, pair.system, *(() if baseline else (pair.baseline,))),
                (
                    (
                        pair.n_queries,
                        pair.difference,
                        span_of(pair),
                        *(() if by else (bar_of.get(pair),)),
                        adjusted_and_skewed(pair),
                        reversal(pair),
                        pair.wins,
                        pair.losses,
                    ),
                ),
            )
            for stratum, pair in pairs
        ),
        title=f"{among}: differences" + (f" from {baseline}" if baseline else ""),
        main=1,
        has_blocks=bool(by),
        is_section=True,
        is_extra=not by,
    )


def _averages(result: BenchResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """Each measure of each retriever across languages; totals cannot be averaged."""
    if len(result.families) == 1 and result.families[0].covers(result.parts.values()):
        return  # its table has the same means
    frame, measures = result.averages(), [one for one in measures if not one.total]
    if frame.is_empty() or not measures:
        return
    found = {(row["retriever"], row["measure"]): row for row in frame.iter_rows(named=True)}
    without = ", ".join(str(part) for part in result.parts.values() if part.language == NONE)
    left_out = f"; without {without}, of no language" if without else ""
    yield tabulate_groups(
        "averages",
        (MEASURE,),
        (
            Column("mean", "mean of languages"),
            Column("variance", "variance"),
            Column("std", "std", spare=2),
            Column("lowest", "lowest", spare=1),
            Column("highest", "highest", spare=1),
        ),
        [((one.label,), [found[name, one.label] for name in result.retrievers]) for one in measures],
        result.retrievers,
        group=RETRIEVER,
        title=f"Across {len(result.languages)} languages ({frame['pooled'][0]}{left_out})",
        is_section=True,
    )


def _strata(grouping: PartStrata, measures: Sequence[Measure], level: str) -> Table:
    """Each measure by the values of columns."""
    return Table(
        "strata",
        (*_columns(grouping.columns), MEASURE),
        columns=(Column("n_queries", "cases"), Column("mean", "mean"), Column("ci", level)),
        rows=tuple(
            Row(
                (*keys_of(stratum), one.label),
                tuple(
                    _mean(strata[stratum][one.label], grouping.intervals[key][stratum][one.label], strata.smallest)
                    for key, strata in grouping.strata.items()
                ),
            )
            for stratum in next(iter(grouping.strata.values()))
            for one in measures
        ),
        groups=tuple(key.retriever for key in grouping.strata),
        group=RETRIEVER,
        title=str(grouping),
        main=1,
        has_blocks=True,
        is_section=True,
    )


def _failures(result: BenchResult, part: CaseGroup) -> dict[str, tuple[Failure, ...]]:
    """Return the cases of a part that each retriever failed, the worst first."""
    return {name: result.failures.get(Key(*part.key, name), ()) for name in result.retrievers}


def list_failures(part: str, n_cases: int, found: Mapping[str, Sequence[Failure]], *, full: bool) -> Iterator[Table]:
    """Give the table of a part's failures by retriever, if there are any: few for a screen, many for a file."""
    most = MANY if full else min(FEW, max(1, SHOWN // len(found)))
    rows = [{"retriever": name, **vars(one), "one": one} for name, failed in found.items() for one in failed[:most]]
    has_lines = any(row["line"] for row in rows)
    names = [Column("case_id", "case")] if full or not has_lines else []
    lines = [Column("line", "line", lambda row: f"{row['line'] or ''}")] if has_lines else []
    of_file = (
        Column("text", "text"),
        Column("expected", "expected", lambda row: "; ".join(map(str, row["expected"]))),
        Column("above", "above it", lambda row: _above(row["one"])),
    )
    words = of_file if full else (Column("words", "what stood above it", lambda row: _words(row["one"])),)
    counts = ", ".join(f"{len(failed):,} by {name}" for name, failed in found.items())
    if rows:
        yield tabulate(
            "failures",
            (RETRIEVER, *names, *lines),
            (Column("rank", "rank", lambda row: row["one"].rank), *words),
            rows,
            title=f"{part}: cases without an expected document first ({counts} of {n_cases:,}), the worst",
            is_section=True,
        )


def _above(one: Failure) -> str:
    more = one.n_above - len(one.above)
    return "; ".join(map(str, one.above)) + (f"; and {more:,} more" if more else "")


def _words(one: Failure) -> str:
    """Return text, expected document, and what stood above it, as a sentence."""
    others = f" (and {len(one.expected) - 1} more)" if len(one.expected) > 1 else ""
    return f"{one.text!r} expects {one.best or one.expected[0]}{others}: {_above(one) or 'nothing found'}"


def page_of_bench(result: BenchResult) -> str:
    """Return the page of a benchmark; its runs are not at hand, so there are no rankings."""
    by = result.settings.by
    page = hooks.service("page")
    subjects = [
        page.Subject(
            name=str(part) if len(result.parts) > 1 else "",
            evaluations=result.of_part(part),
            comparison=result.comparisons.get(key),
            qrels=str(part),
            queries=Queries(part.cases.queries()),
            groupings=(by,) if by and set(by) <= set(part.strata) else (),
            names=result.names.get(key, {}),
            tables=tables_of_page(
                str(part),
                result.comparisons.get(key),
                len(part.cases),
                _failures(result, part),
            ),
        )
        for key, part in result.parts.items()
    ]
    made: str = page.page_of(
        subjects,
        companions=[LanguagesBeside(one) for one in result.across.values()],
        margin=result.settings.margin,
        facts=report_bench(result).shown,
    )
    return made


def subjects_of(result: BenchResult) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Yield what figures are drawn of: each set and each language by itself, and its strata."""
    several = len(result.parts) > 1
    before = {key: "".join(f"{name}-" for name in key if several and name != NONE) for key in result.parts}
    for key, part in result.parts.items():
        options = {} if key in result.comparisons else {"options": result.interval_options(part)}
        yield before[key], result.comparisons.get(key, result.of_part(part)), options
    for name, across in result.across.items():
        yield f"{name}-" if len(result.across) > 1 else "", across, {}
    for one in result.groupings(result.settings.by) if result.settings.by else ():
        yield (
            before[one.part.key],
            {key.retriever: strata for key, strata in one.strata.items()},
            {"options": result.interval_options(one.part)},
        )
