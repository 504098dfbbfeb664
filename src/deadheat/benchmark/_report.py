"""The report of a benchmark: means with intervals, differences, languages, strata, and what stands behind them."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from deadheat.benchmark._facts import tell
from deadheat.benchmark._measures import main_of
from deadheat.benchmark._result import Key
from deadheat.io.values import counted
from deadheat.report.bars import bars
from deadheat.report.model import Column, Fact, Report, Row, Share, Span, Table, p_value
from deadheat.strata import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deadheat.benchmark._parts import Part
    from deadheat.benchmark._result import BenchResult
    from deadheat.comparison import Pair
    from deadheat.measures import Measure
    from deadheat.report.model import Cell

RETRIEVER, MEASURE = Column("retriever", "retriever"), Column("measure", "measure")
SYSTEM, BASELINE = Column("system", "retriever"), Column("baseline", "against")
LABELS = (Column("cases", "cases"), Column("language", "language"), RETRIEVER, MEASURE)
MOST_ROWS = 4  # measures of differences on a screen: more hide what is to be seen


def report_bench(result: BenchResult, *, full: bool = True) -> Report:
    """Return the report of a benchmark for people.

    Parameters
    ----------
    result : BenchResult
    full : bool, default True
        Whether it has all measures and the strata; else those without a cutoff, and of each kind the deepest one.
    """
    main = main_of(result.measures)
    shown = result.measures if full else main
    tables = [
        *(_means(result, part, shown) for part in result.parts.values()),
        *(
            table
            for key in result.comparisons
            for table in _differences(result, key, main if full or len(main) <= MOST_ROWS else main[:1])
        ),
        *_averages(result, shown),
        *(_strata(result, main[:2]) if full else ()),
    ]
    left_out = len(result.measures) - len(shown)
    facts = (Fact("deadheat", version("deadheat")), *tell(result, left_out=left_out))
    heading = f"{', '.join(result.retrievers)} on {', '.join(map(str, result.parts.values()))}" if full else ""
    return Report(tuple(tables), facts, heading)


def data_of_bench(result: BenchResult) -> Report:
    """Return the report of a benchmark for programs: a table of all means first, then one of all differences."""
    frame = result.to_polars()
    columns = tuple(Column(name, name) for name in frame.columns[4:])
    rows = tuple(Row(row[:4], (row[4:],)) for row in frame.iter_rows())
    tables = [Table("means", LABELS, columns, rows)]
    pairs = [
        ({"cases": cases, "language": language, **row})
        for (cases, language), comparison in result.comparisons.items()
        for row in comparison.to_polars(details=True).iter_rows(named=True)
    ]
    if pairs:
        labels = ("cases", "language", "system", "baseline", "measure")
        names = [name for name in pairs[0] if name not in labels]
        rows = tuple(Row(tuple(one[name] for name in labels), (tuple(one[name] for name in names),)) for one in pairs)
        tables.append(Table("comparisons", _columns(*labels), _columns(*names), rows))
    averages = result.averages()
    if len(averages):
        rows = tuple(Row(row[:2], (row[2:],)) for row in averages.iter_rows())
        tables.append(Table("averages", (RETRIEVER, MEASURE), _columns(*averages.columns[2:]), rows))
    return Report(tuple(tables), (Fact("deadheat", version("deadheat")), *tell(result)))


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in names)


def _level(result: BenchResult) -> str:
    return f"{100 * result.settings.design.confidence_level:g}% CI"


def _means(result: BenchResult, part: Part, measures: Sequence[Measure]) -> Table:
    """Each measure of each retriever with its interval."""
    columns = (
        Column("mean", "mean"),
        Column("ci", _level(result)),
        Column("ties", "tie orders", ends=("tie_min", "tie_max"), spare=1),
    )
    keys = [Key(part.name, part.language, name) for name in result.retrievers]
    rows = tuple(Row((str(one),), tuple(_mean(result, key, str(one)) for key in keys)) for one in measures)
    title = f"{part}: {counted(len(part.cases), 'case')}"
    return Table("means", (MEASURE,), columns, rows, result.retrievers, RETRIEVER, title=title, is_section=True)


def _mean(result: BenchResult, key: Key, measure: str) -> tuple[Cell, ...]:
    scores, interval = result.evaluations[key][measure], result.intervals[key][measure]
    return scores.mean, Span(interval.low, interval.high), Span(scores.mean_tie_min, scores.mean_tie_max)


def _differences(result: BenchResult, key: tuple[str, str], measures: Sequence[Measure]) -> Iterator[Table]:
    """Each pair of retrievers with its difference, and how sure it is."""
    comparison, baseline = result.comparisons[key], result.settings.design.baseline
    columns = (
        Column("difference", "difference"),
        Column("ci", _level(result), spare=1),
        Column("bar", "", spare=4),
        Column("p_adjusted", "p" if comparison.design.test == "tukey" else "p adj"),
        Column("flip_probability", "ties reverse", spare=3),
        Column("wins", "wins", spare=2),
        Column("losses", "losses", spare=2),
    )
    pairs = [pair for measure in measures for pair in comparison[str(measure)]]
    drawn = bars([Span(pair.low, pair.high) for pair in pairs], [pair.difference for pair in pairs])
    labels = (MEASURE, SYSTEM, *(() if baseline else (BASELINE,)))
    rows = tuple(
        Row((pair.measure, pair.system, *(() if baseline else (pair.baseline,))), (_difference(pair, bar),))
        for pair, bar in zip(pairs, drawn, strict=True)
    )
    title = f"{result.parts[key]}: differences" + (f" from {baseline}" if baseline else "")
    yield Table("pairs", labels, columns, rows, title=title, is_section=True)


def _difference(pair: Pair, bar: Cell) -> tuple[Cell, ...]:
    return (
        pair.difference,
        Span(pair.low, pair.high),
        bar,
        p_value(pair.p_adjusted, is_significant=pair.significant),
        Share(pair.flip_probability),
        pair.wins,
        pair.losses,
    )


def _averages(result: BenchResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """Each measure of each retriever across languages."""
    frame = result.averages()
    if frame.is_empty():
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


def _strata(result: BenchResult, measures: Sequence[Measure]) -> Iterator[Table]:
    """Each measure by difficulty, category and domain, as far as there are labels."""
    from deadheat.strata import label

    level = (Column("n_queries", "cases"), Column("mean", "mean"), Column("ci", _level(result)))
    for part in result.parts.values():
        keys = [Key(part.name, part.language, name) for name in result.retrievers]
        for column in part.strata:
            strata = {key: of_key for key, of_key in result.by(column).items() if key in keys}
            found = {key: of_key.intervals(**result.interval_options(part)) for key, of_key in strata.items()}
            rows = tuple(
                Row(
                    (label(stratum), str(measure)),
                    tuple(
                        (
                            (scores := strata[key][stratum][measure]).n_queries,
                            scores.mean,
                            Span((own := found[key][stratum][str(measure)]).low, own.high),
                        )
                        for key in keys
                    ),
                )
                for stratum in next(iter(strata.values()))
                for measure in measures
            )
            labels = (Column(column, column), MEASURE)
            title = f"{part} by {column}"
            yield Table(
                "strata",
                labels,
                level,
                rows,
                result.retrievers,
                RETRIEVER,
                title=title,
                has_blocks=True,
                is_section=True,
            )
