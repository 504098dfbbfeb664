"""The report of a benchmark: means with intervals, differences, languages, strata, and the facts below them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import polars as pl

from deadheat.benchmark.facts import CASE, tell
from deadheat.benchmark.failures import Failure
from deadheat.benchmark.measures import main_of
from deadheat.benchmark.parts import STRATA, Part
from deadheat.benchmark.result import BenchResult, Grouping, Key
from deadheat.comparison.languages import judge_languages
from deadheat.comparison.pairs import Pair
from deadheat.comparison.verdict import judge_strata
from deadheat.data.queries import Queries
from deadheat.evaluation.strata import NONE, Stratum, keys_of
from deadheat.measures import Measure
from deadheat.report.model import (
    OF_FEW,
    Bar,
    Cell,
    Column,
    Fact,
    Number,
    Report,
    Row,
    Span,
    Table,
    p_value,
    share,
    table_of_rows,
)
from deadheat.report.numbers import bars
from deadheat.report.of_comparison import as_data
from deadheat.report.of_languages import data_of_languages, list_languages
from deadheat.report.page import Subject, page_of
from deadheat.report.score_tables import level_heading
from deadheat.report.totals import as_cell, mean_heading, reported, reported_interval, reported_pairs, totals_of_row
from deadheat.version import __version__
from deadheat.wording import counted, joined

RETRIEVER, MEASURE = Column("retriever", "retriever"), Column("measure", "measure")
SYSTEM, BASELINE = Column("system", "retriever"), Column("baseline", "against")
MOST_LANGUAGES = 12  # rows of differences between languages on a screen
LABELS = (Column("cases", "cases"), Column("language", "language"), RETRIEVER, MEASURE)
FEW, MANY = 3, 20  # failed cases of each retriever: on a screen, and in a file
SPOKEN = 2  # parts whose verdicts are said one by one
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
    main, by = main_of(result.measures), result.settings.by
    columns = [by] if by else [(name,) for name in STRATA] if full else []
    of_strata = main if by else main[:2]
    groupings = [one.select(of_strata) for names in columns for one in result.groupings(names)]
    shown = result.measures if full else main
    tables = [
        *(_means(result, part, shown) for part in result.parts.values()),
        *(
            _differences(result, key, main if full or len(main) <= MOST_ROWS else main[:1])
            for key in result.comparisons
        ),
        *_languages(result, shown, main, full=full),
        *_averages(result, shown),
        *(_strata(one, of_strata, _level(result)) for one in groupings),
        *(_strata_differences(result, one.part, of_strata) for one in groupings if by),
        *_failures(result, full=full),
    ]
    left_out = len(result.measures) - len(shown)
    facts = (Fact("deadheat", __version__), *tell(result, groupings, left_out=left_out))
    heading = f"{', '.join(result.retrievers)} on {', '.join(map(str, result.parts.values()))}" if full else ""
    opening = joined(_verdicts(result)[0], _language_verdicts(result)[0])
    return Report(tuple(filter(None, tables)), facts, heading, opening=opening)


def data_of_bench(result: BenchResult) -> Report:
    """Return the report of a benchmark for programs: tables of all means and differences; those of strata first."""
    counts = {one.label for one in result.measures if one.total}
    means = [totals_of_row(row, counts, row["n_cases"]) for row in _rows(result, result.to_polars())]
    tables = [table_of_rows("means", LABELS, means)]
    pairs = [
        {"cases": cases, "language": language, **totals_of_row(row, counts, row["n_queries"])}
        for (cases, language), comparison in result.comparisons.items()
        for row in _rows(result, comparison.to_polars(details=True))
    ]
    if pairs:
        tables.append(
            table_of_rows("comparisons", _columns("cases", "language", "system", "baseline", "measure"), pairs)
        )
    averages = [row for row in _rows(result, result.averages()) if row["measure"] not in counts]
    if averages:
        tables.append(table_of_rows("averages", (RETRIEVER, MEASURE), averages))
    tables += data_of_languages(result.across, leading=LABELS[0], margin=result.settings.margin)
    groupings = result.groupings(result.settings.by) if result.settings.by else ()
    if groupings:
        tables.insert(0, _data_of_strata(result, groupings))
        tables += _data_of_differences(result, groupings)
    _, verdict = _verdicts(result)
    _, of_languages = _language_verdicts(result)
    told = (
        verdict,
        of_languages,
        Fact("deadheat", __version__),
        *tell(result, groupings),
        Fact("failures", result.failed()),
    )
    return Report(tuple(tables), told)


def _rows(result: BenchResult, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame, with the names of measures that know their notation."""
    names = {one.label: one.label for one in result.measures}
    return [{**row, "measure": names[row["measure"]]} for row in frame.iter_rows(named=True)]


def _data_of_strata(result: BenchResult, groupings: Sequence[Grouping]) -> Table:
    """Return all numbers of the strata."""
    rows: list[Row] = []
    columns: tuple[str, ...] = ()
    for one in groupings:
        options = result.interval_options(one.part)
        for key, strata in one.strata.items():
            frame = strata.summarise(options).rename({"n_queries": "n_cases"})
            n_labels = len(one.columns) + 1  # the measure is one
            columns = tuple(frame.columns[n_labels:])
            rows += [
                Row((*key, *(row[name] for name in frame.columns[:n_labels])), (tuple(row[name] for name in columns),))
                for row in _rows(result, frame)
            ]
    labels = (*LABELS[:3], *_columns(*result.settings.by), MEASURE)
    return Table("strata", labels, _columns(*columns), tuple(rows))


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in names)


def _level(result: BenchResult, counts: Iterable[int] = ()) -> str:
    return level_heading(result.settings.design.confidence_level, set(counts))


def _means(result: BenchResult, part: Part, measures: Sequence[Measure]) -> Table:
    """Each measure of each retriever with its interval."""
    keys = [Key(part.name, part.language, name) for name in result.retrievers]
    counts = {result.intervals[key][one.label].n_queries for key in keys for one in measures}
    columns = (
        Column("n_queries", "cases", is_data=len(counts) == 1),
        Column("mean", mean_heading(measures)),
        Column("ci", _level(result, counts)),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
    )
    rows = tuple(Row((one.label,), tuple(_mean(result, key, one.label) for key in keys)) for one in measures)
    title = f"{part}: {counted(len(part.cases), 'case')}"
    return Table("means", (MEASURE,), columns, rows, result.retrievers, RETRIEVER, title=title, main=1, is_section=True)


def _mean(result: BenchResult, key: Key, measure: str) -> tuple[Cell, ...]:
    scores, interval = result.evaluations[key][measure], result.intervals[key][measure]
    shown, ties = reported_interval(scores, interval), (reported(scores, "tie_min"), reported(scores, "tie_max"))
    return interval.n_queries, as_cell(scores), Span(shown.low, shown.high, interval.is_known), Span(*ties)


def _differences(result: BenchResult, key: tuple[str, str], measures: Sequence[Measure]) -> Table:
    """Each pair of retrievers with its difference, and how sure it is."""
    comparison, baseline = result.comparisons[key], result.settings.design.baseline
    shown = reported_pairs(comparison)
    pairs = [pair for measure in measures for pair in shown if pair.measure == measure.label]
    totals = {measure.label for measure in measures if measure.total}  # of another scale: they are not drawn
    drawn = _drawn([pair for pair in pairs if pair.measure not in totals])
    counts = {pair.n_queries for pair in pairs}
    columns = (
        Column("n_queries", "cases", spare=1, is_data=len(counts) == 1),
        Column("difference", "difference"),
        Column("ci", _level(result, counts), spare=1),
        Column("bar", "", spare=4),
        Column("p_adjusted", "p" if comparison.design.test == "tukey" else "p adj"),
        Column("flip_probability", "ties reverse", spare=3),
        Column("wins", "wins", spare=2),
        Column("losses", "losses", spare=2),
    )
    labels = (MEASURE, SYSTEM, *(() if baseline else (BASELINE,)))
    rows = tuple(
        Row((pair.measure, pair.system, *(() if baseline else (pair.baseline,))), (_difference(pair, drawn.get(pair)),))
        for pair in pairs
    )
    title = f"{result.parts[key]}: differences" + (f" from {baseline}" if baseline else "")
    return Table("pairs", labels, columns, rows, title=title, main=1, is_section=True)


def _drawn(pairs: Sequence[Pair]) -> dict[Pair, Bar]:
    found = bars([Span(pair.low, pair.high) for pair in pairs], [pair.difference for pair in pairs])
    return dict(zip(pairs, found, strict=True))


def _difference(pair: Pair, *drawn: Cell) -> tuple[Cell, ...]:
    return (
        pair.n_queries,
        pair.difference,
        Span(pair.low, pair.high, pair.is_known),
        *drawn,
        p_value(pair.p_adjusted, is_significant=pair.significant),
        share(pair.flip_probability, pair.flip_standard_error),
        pair.wins,
        pair.losses,
    )


def _languages(
    result: BenchResult, measures: Sequence[Measure], tested: Sequence[Measure], *, full: bool
) -> Iterator[Table]:
    """Show retrievers by languages, of the cases that are the same in several."""
    for one in result.across.values():
        yield from list_languages(
            one,
            measures,
            tested=tested,
            system=RETRIEVER,
            margin=result.settings.margin,
            most=None if full else MOST_LANGUAGES,
            unit=CASE,
        )


def _averages(result: BenchResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """Each measure of each retriever across languages; totals cannot be averaged."""
    if len(result.families) == 1 and result.families[0].covers(result.parts.values()):
        return  # its table has the same means
    frame, measures = result.averages(), [one for one in measures if not one.total]
    if frame.is_empty() or not measures:
        return
    found = {(row["retriever"], row["measure"]): row for row in frame.iter_rows(named=True)}
    columns = (
        Column("mean", "mean of languages"),
        Column("variance", "variance"),
        Column("std", "std", spare=2),
        Column("lowest", "lowest", spare=1),
        Column("highest", "highest", spare=1),
    )
    rows = tuple(
        Row((one.label,), tuple(tuple(found[name, one.label][c.key] for c in columns) for name in result.retrievers))
        for one in measures
    )
    without = [str(part) for part in result.parts.values() if part.language == NONE]
    left_out = f"; without {', '.join(without)}, of no language" if without else ""
    title = f"Across {len(result.languages)} languages ({frame['pooled'][0]}{left_out})"
    yield Table("averages", (MEASURE,), columns, rows, result.retrievers, RETRIEVER, title=title, is_section=True)


def _strata(grouping: Grouping, measures: Sequence[Measure], level: str) -> Table:
    """Each measure by the values of columns."""
    columns = (Column("n_queries", "cases"), Column("mean", "mean"), Column("ci", level))
    keys = tuple(grouping.strata)
    rows = tuple(
        Row(
            (*keys_of(stratum), measure.label),
            tuple(_of_stratum(grouping, key, stratum, measure.label) for key in keys),
        )
        for stratum in grouping.strata[keys[0]]
        for measure in measures
    )
    labels = (*_columns(*grouping.columns), MEASURE)
    names = tuple(key.retriever for key in keys)
    return Table(
        "strata", labels, columns, rows, names, RETRIEVER, title=str(grouping), main=1, has_blocks=True, is_section=True
    )


def _strata_differences(result: BenchResult, part: Part, measures: Sequence[Measure]) -> Table | None:
    """Return the differences within each stratum, in the order of the strata; None with a single retriever."""
    found = {
        stratum: [pair for measure in measures for pair in reported_pairs(one) if pair.measure == measure.label]
        for stratum, one in result.by_strata(part).items()
    }
    if not found:
        return None
    columns = (
        Column("n_queries", "cases"),
        Column("difference", "difference"),
        Column("ci", _level(result), spare=1),
        Column("p_adjusted", "p" if result.settings.design.test == "tukey" else "p adj"),
        Column("flip_probability", "ties reverse", spare=3),
        Column("wins", "wins", spare=2),
        Column("losses", "losses", spare=2),
    )
    baseline, by = result.settings.design.baseline, result.settings.by
    labels = (*_columns(*by), MEASURE, SYSTEM, *(() if baseline else (BASELINE,)))
    rows = tuple(
        Row(
            (*keys_of(stratum), pair.measure, pair.system, *(() if baseline else (pair.baseline,))),
            (_difference(pair),),
        )
        for stratum, pairs in found.items()
        for pair in pairs
    )
    title = f"{part} by {' and '.join(by)}: differences" + (f" from {baseline}" if baseline else "")
    return Table("strata_pairs", labels, columns, rows, title=title, main=1, has_blocks=True, is_section=True)


def _data_of_differences(result: BenchResult, groupings: Sequence[Grouping]) -> list[Table]:
    """Return all numbers of the differences within strata."""
    counts, by = {one.label for one in result.measures if one.total}, result.settings.by
    rows = [
        {
            **dict(zip(("cases", "language", *by), (one.part.name, one.part.language, *keys_of(stratum)), strict=True)),
            **totals_of_row(row, counts, row["n_queries"]),
        }
        for one in groupings
        for stratum, comparison in result.by_strata(one.part).items()
        for row in _rows(result, comparison.to_polars(details=True))
    ]
    labels = _columns("cases", "language", *by, "system", "baseline", "measure")
    return [table_of_rows("strata_comparisons", labels, rows)] if rows else []


def _of_stratum(grouping: Grouping, key: Key, stratum: Stratum, measure: str) -> tuple[Cell, ...]:
    strata = grouping.strata[key]
    scores = strata[stratum][measure]
    shown = reported_interval(scores, grouping.intervals[key][stratum][measure])
    mean = Number(reported(scores), marks=OF_FEW) if scores.n_queries < strata.smallest else as_cell(scores)
    return scores.n_queries, mean, Span(shown.low, shown.high, shown.is_known)


def _failures(result: BenchResult, *, full: bool) -> Iterator[Table]:
    """Give the cases of each part that a retriever failed, the worst first: few for a screen, many for a file."""
    most, cells_of = (MANY, _cells) if full else (FEW, _words)
    columns = (
        Column("rank", "rank"),
        Column("text", "text"),
        Column("expected", "expected"),
        Column("above", "above it"),
    )
    columns = columns if full else (columns[0], Column("words", "what stood above it"))
    for key, part in result.parts.items():
        found = {name: result.failures.get(Key(*key, name), ()) for name in result.retrievers}
        rows = tuple(
            Row((name, one.case_id), ((one.rank, *cells_of(one)),))
            for name, failed in found.items()
            for one in failed[:most]
        )
        if rows:
            counts = ", ".join(f"{len(failed):,} by {name}" for name, failed in found.items())
            title = f"{part}: cases without an expected document first ({counts} of {len(part.cases):,}), the worst"
            yield Table("failures", (RETRIEVER, Column("case_id", "case")), columns, rows, title=title, is_section=True)


def _cells(one: Failure) -> tuple[str, ...]:
    return one.text, "; ".join(map(str, one.expected)), _above(one)


def _above(one: Failure) -> str:
    more = one.n_above - len(one.above)
    return "; ".join(map(str, one.above)) + (f"; and {more:,} more" if more else "")


def _words(one: Failure) -> tuple[str, ...]:
    expected = one.expected[0] if one.best is None else one.best
    more = f" (and {len(one.expected) - 1} more)" if len(one.expected) > 1 else ""
    above = _above(one) or "nothing found"
    return (f"{one.text!r} expects {expected}{more}: {above}",)


def _language_verdicts(result: BenchResult) -> tuple[str, Fact]:
    """Return the verdict of each set whose languages are paired, as text and for JSON."""
    several = len(result.across) > 1
    found = {
        name: judge_languages(one, unit=CASE, margin=result.settings.margin, name=name if several else "")
        for name, one in result.across.items()
    }
    said = joined(*(sentence for own in found.values() for sentence in own))
    return said, Fact("language_verdicts", {name: list(own) for name, own in found.items()})


def _verdicts(result: BenchResult) -> tuple[str, Fact]:
    """Return the verdict of each part, as text and for JSON; those of many parts are summed up."""
    found = {str(result.parts[key]): one.judge(unit=CASE) for key, one in result.comparisons.items()}
    if not found:
        return "", Fact("verdict", None)
    if len(found) == 1:
        said = str(next(iter(found.values())))
    elif len(found) <= SPOKEN:
        said = " ".join(f"{part}: {one}" for part, one in found.items())
    else:
        said = " ".join(judge_strata(found, ["set and language"]))
    return said, Fact("verdict", {"text": said, "parts": {part: as_data(one) for part, one in found.items()}})


def page_of_bench(result: BenchResult) -> str:
    """Return the page of a benchmark; its runs are not at hand, so there are no rankings."""
    by = result.settings.by
    subjects = [
        Subject(
            name=str(part) if len(result.parts) > 1 else "",
            evaluations=result.of_part(part),
            comparison=result.comparisons.get(key),
            qrels=str(part),
            queries=Queries(part.cases.queries()),
            columns=by if set(by) <= set(part.strata) else (),
        )
        for key, part in result.parts.items()
    ]
    return page_of(subjects, languages=list(result.across.values()), margin=result.settings.margin)
