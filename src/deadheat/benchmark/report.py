"""The report of a benchmark: means with intervals, differences, languages, strata, and what stands behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from deadheat.benchmark.facts import tell
from deadheat.benchmark.measures import main_of
from deadheat.benchmark.parts import STRATA, Part
from deadheat.benchmark.result import Grouping, Key, Results
from deadheat.comparison.pairs import Pair
from deadheat.evaluation.strata import NONE, Stratum, keys_of
from deadheat.measures import Measure
from deadheat.report.as_markdown import as_markdown
from deadheat.report.bars import bars
from deadheat.report.model import Bar, Cell, Column, Fact, Marked, Report, Row, Share, Span, Table, p_value
from deadheat.report.score_tables import level_heading
from deadheat.report.totals import (
    as_cell,
    mean_heading,
    reported,
    reported_interval,
    reported_pairs,
    totals_of_row,
)
from deadheat.wording import counted

RETRIEVER, MEASURE = Column("retriever", "retriever"), Column("measure", "measure")
SYSTEM, BASELINE = Column("system", "retriever"), Column("baseline", "against")
LABELS = (Column("cases", "cases"), Column("language", "language"), RETRIEVER, MEASURE)
MOST_ROWS = 4  # measures of differences on a screen: more hide what is to be seen


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BenchResult(Results):
    """Retrievers on labelled cases, each set and each language by itself. Made by :func:`bench`.

    Its attributes are those of :class:`~deadheat.benchmark.result.Results`.
    """

    def report(self) -> str:
        """Return everything as Markdown: means with intervals, comparisons, languages and strata."""
        return as_markdown(report_bench(self, full=True))


def report_bench(result: Results, *, full: bool = True) -> Report:
    """Return the report of a benchmark for people.

    Parameters
    ----------
    result : Results
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
            table
            for key in result.comparisons
            for table in _differences(result, key, main if full or len(main) <= MOST_ROWS else main[:1])
        ),
        *_averages(result, shown),
        *(_strata(one, of_strata, _level(result)) for one in groupings),
    ]
    left_out = len(result.measures) - len(shown)
    facts = (Fact("deadheat", version("deadheat")), *tell(result, groupings, left_out=left_out))
    heading = f"{', '.join(result.retrievers)} on {', '.join(map(str, result.parts.values()))}" if full else ""
    return Report(tuple(tables), facts, heading)


def data_of_bench(result: Results) -> Report:
    """Return the report of a benchmark for programs: tables of all means and differences; those of strata first."""
    frame, counts = result.to_polars(), {str(one) for one in result.measures if one.total}
    names = [*frame.columns[4:], *(["total"] if counts else [])]
    means = [totals_of_row(row, counts, row["n_cases"]) for row in frame.iter_rows(named=True)]
    rows = tuple(Row(tuple(row[one.key] for one in LABELS), (tuple(row[name] for name in names),)) for row in means)
    tables = [Table("means", LABELS, _columns(*names), rows)]
    pairs = [
        ({"cases": cases, "language": language, **totals_of_row(row, counts, row["n_queries"])})
        for (cases, language), comparison in result.comparisons.items()
        for row in comparison.to_polars(details=True).iter_rows(named=True)
    ]
    if pairs:
        labels = ("cases", "language", "system", "baseline", "measure")
        names = [name for name in pairs[0] if name not in labels]
        rows = tuple(Row(tuple(one[name] for name in labels), (tuple(one[name] for name in names),)) for one in pairs)
        tables.append(Table("comparisons", _columns(*labels), _columns(*names), rows))
    averages = result.averages()
    averages = averages.filter(~averages["measure"].is_in(list(counts)))
    if len(averages):
        rows = tuple(Row(row[:2], (row[2:],)) for row in averages.iter_rows())
        tables.append(Table("averages", (RETRIEVER, MEASURE), _columns(*averages.columns[2:]), rows))
    groupings = result.groupings(result.settings.by) if result.settings.by else ()
    if groupings:
        tables.insert(0, _data_of_strata(result, groupings))
    return Report(tuple(tables), (Fact("deadheat", version("deadheat")), *tell(result, groupings)))


def _data_of_strata(result: Results, groupings: Sequence[Grouping]) -> Table:
    """Return all numbers of the strata."""
    rows: list[Row] = []
    columns: tuple[str, ...] = ()
    for one in groupings:
        options = result.interval_options(one.part)
        for key, strata in one.strata.items():
            frame = strata.summarise(options).rename({"n_queries": "n_cases"})
            n_labels = len(one.columns) + 1  # the measure is one
            columns = tuple(frame.columns[n_labels:])
            rows += [Row((*key, *row[:n_labels]), (row[n_labels:],)) for row in frame.iter_rows()]
    labels = (*LABELS[:3], *_columns(*result.settings.by), MEASURE)
    return Table("strata", labels, _columns(*columns), tuple(rows))


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in names)


def _level(result: Results, counts: Iterable[int] = ()) -> str:
    return level_heading(result.settings.design.confidence_level, set(counts))


def _means(result: Results, part: Part, measures: Sequence[Measure]) -> Table:
    """Each measure of each retriever with its interval."""
    keys = [Key(part.name, part.language, name) for name in result.retrievers]
    counts = {result.intervals[key][str(one)].n_queries for key in keys for one in measures}
    columns = (
        Column("n_queries", "cases", is_data=len(counts) == 1),
        Column("mean", mean_heading(measures)),
        Column("ci", _level(result, counts)),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
    )
    rows = tuple(Row((str(one),), tuple(_mean(result, key, str(one)) for key in keys)) for one in measures)
    title = f"{part}: {counted(len(part.cases), 'case')}"
    return Table("means", (MEASURE,), columns, rows, result.retrievers, RETRIEVER, title=title, main=1, is_section=True)


def _mean(result: Results, key: Key, measure: str) -> tuple[Cell, ...]:
    scores, interval = result.evaluations[key][measure], result.intervals[key][measure]
    shown, ties = reported_interval(scores, interval), (reported(scores, "tie_min"), reported(scores, "tie_max"))
    return interval.n_queries, as_cell(scores), Span(shown.low, shown.high, interval.is_known), Span(*ties)


def _differences(result: Results, key: tuple[str, str], measures: Sequence[Measure]) -> Iterator[Table]:
    """Each pair of retrievers with its difference, and how sure it is."""
    comparison, baseline = result.comparisons[key], result.settings.design.baseline
    shown = reported_pairs(comparison)
    pairs = [pair for measure in measures for pair in shown if pair.measure == str(measure)]
    totals = {str(measure) for measure in measures if measure.total}  # of another scale: they are not drawn
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
    yield Table("pairs", labels, columns, rows, title=title, main=1, is_section=True)


def _drawn(pairs: Sequence[Pair]) -> dict[Pair, Bar]:
    found = bars([Span(pair.low, pair.high) for pair in pairs], [pair.difference for pair in pairs])
    return dict(zip(pairs, found, strict=True))


def _difference(pair: Pair, bar: Cell) -> tuple[Cell, ...]:
    return (
        pair.n_queries,
        pair.difference,
        Span(pair.low, pair.high, pair.is_known),
        bar,
        p_value(pair.p_adjusted, is_significant=pair.significant),
        Share(pair.flip_probability, pair.flip_standard_error),
        pair.wins,
        pair.losses,
    )


def _averages(result: Results, measures: Sequence[Measure]) -> Iterator[Table]:
    """Each measure of each retriever across languages; totals cannot be averaged."""
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
        Row((str(one),), tuple(tuple(found[name, str(one)][c.key] for c in columns) for name in result.retrievers))
        for one in measures
    )
    pooled = ", ".join(f"{language}: {told}" for language, told in result.pooled.items())
    without = [str(part) for part in result.parts.values() if part.language == NONE]
    left_out = f"; without {', '.join(without)}, of no language" if without else ""
    title = f"Across {len(result.languages)} languages ({pooled}{left_out})"
    yield Table("averages", (MEASURE,), columns, rows, result.retrievers, RETRIEVER, title=title, is_section=True)


def _strata(grouping: Grouping, measures: Sequence[Measure], level: str) -> Table:
    """Each measure by the values of columns."""
    columns = (Column("n_queries", "cases"), Column("mean", "mean"), Column("ci", level))
    keys = tuple(grouping.strata)
    rows = tuple(
        Row((*keys_of(stratum), str(measure)), tuple(_of_stratum(grouping, key, stratum, str(measure)) for key in keys))
        for stratum in grouping.strata[keys[0]]
        for measure in measures
    )
    labels = (*_columns(*grouping.columns), MEASURE)
    names = tuple(key.retriever for key in keys)
    return Table(
        "strata", labels, columns, rows, names, RETRIEVER, title=str(grouping), main=1, has_blocks=True, is_section=True
    )


def _of_stratum(grouping: Grouping, key: Key, stratum: Stratum, measure: str) -> tuple[Cell, ...]:
    strata = grouping.strata[key]
    scores = strata[stratum][measure]
    shown = reported_interval(scores, grouping.intervals[key][stratum][measure])
    mean = Marked(reported(scores)) if scores.n_queries < strata.smallest else as_cell(scores)
    return scores.n_queries, mean, Span(shown.low, shown.high, shown.is_known)
