"""The report of a benchmark: means with intervals, differences, languages, strata, and the facts below them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deadheat.benchmark.facts import CASE, tell
from deadheat.benchmark.measures import main_of
from deadheat.benchmark.parts import STRATA, Part
from deadheat.benchmark.report_failures import list_failures, tell_failures, tell_language_verdicts, tell_verdicts
from deadheat.benchmark.result import Grouping, Key, Results
from deadheat.comparison.comparison import Comparison
from deadheat.comparison.languages import Languages
from deadheat.comparison.pairs import Pair
from deadheat.data.shown import Numbers, Shown
from deadheat.errors import ParameterError, UnlabelledQueriesWarning
from deadheat.evaluation.strata import NONE, Stratum, keys_of
from deadheat.measures import Measure
from deadheat.report.as_markdown import as_markdown
from deadheat.report.bars import bars
from deadheat.report.model import OF_FEW, Bar, Cell, Column, Fact, Marked, Report, Row, Share, Span, Table, p_value
from deadheat.report.of_languages import data_of_languages, list_languages
from deadheat.report.of_shown import in_python
from deadheat.report.score_tables import level_heading
from deadheat.report.totals import as_cell, mean_heading, reported, reported_interval, reported_pairs, totals_of_row
from deadheat.version import __version__
from deadheat.wording import Plain, counted, joined

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

RETRIEVER, MEASURE = Column("retriever", "retriever"), Column("measure", "measure")
SYSTEM, BASELINE = Column("system", "retriever"), Column("baseline", "against")
MOST_LANGUAGES = 12  # rows of differences between languages on a screen
LABELS = (Column("cases", "cases"), Column("language", "language"), RETRIEVER, MEASURE)
MOST_ROWS = 4  # measures of differences on a screen: more hide what is to be seen


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BenchResult(
    Results,
    Shown,
    reported_by="deadheat.benchmark.report:report_main",
    paged_by="deadheat.benchmark.page:page_of_bench",
):
    """Retrievers on labelled cases, each set and each language by itself. Made by :func:`bench`.

    Its attributes are those of :class:`~deadheat.benchmark.result.Results`.
    """

    def report(self) -> str:
        """Return everything as Markdown: means with intervals, comparisons, languages and strata."""
        return as_markdown(report_bench(self, full=True))

    def plot(
        self,
        kind: str | None = None,
        *,
        cases: str | None = None,
        language: str | None = None,
        **options: Any,  # noqa: ANN401 - of the figure
    ) -> alt.LayerChart:
        """Draw a figure of one set of cases in one language, or of one set across its languages ("slopes").

        Parameters
        ----------
        kind : str, optional
            Its name, such as "forest", which is the default.
        cases, language : str, optional
            The set and its language, where there are several.
        **options
            Of the figure, such as `measure`: see the function of this name in :mod:`deadheat.figures`.

        Returns
        -------
        altair.LayerChart

        Raises
        ------
        ParameterError
            There is no such figure or set, or several sets.
        FigureError
            The figure cannot show these retrievers.
        """
        from deadheat.figures import plot_of
        from deadheat.figures.base import figures_of

        if kind in figures_of("languages"):
            return plot_of(self._across_of(cases), kind, **options)
        keys = [key for key in self.parts if cases in {None, key[0]} and language in {None, key[1]}]
        if len(keys) != 1:
            named = " or ".join(f"cases={name!r}, language={of!r}" for name, of in self.parts)
            raise ParameterError(
                "a figure is of one set of cases in one language",
                given=Plain(f"{len(keys)} of them"),
                hint=f"give {named}",
            )
        own = {name: self.evaluations[Key(*keys[0], name)] for name in self.retrievers}
        return plot_of(self.comparisons.get(keys[0], own), kind, **options)

    def _across_of(self, cases: str | None) -> Languages:
        """Return the languages of a set, or of the only one that has several."""
        found = {name: one for name, one in self.across.items() if cases in {None, name}}
        if len(found) != 1:
            raise ParameterError(
                "a figure of languages is of one set of cases whose languages are paired",
                given=Plain(f"{len(found)} of them"),
                hint=f"give cases={' or '.join(map(repr, self.across))}" if self.across else "cases need a pair_id",
            )
        return next(iter(found.values()))

    def named_numbers(self) -> Numbers:
        """Give those of each evaluation behind its cases, language and retriever, and those of each pair."""
        for of_run, evaluation in self.evaluations.items():
            yield from (((*of_run, *parts), number) for parts, number in evaluation.named_numbers())
        for key, comparison in self.comparisons.items():
            for parts, number in comparison.named_numbers():
                if len(parts) > 1 and isinstance(parts[1], tuple):  # those of the retrievers are above
                    yield (*key, parts[1], parts[0], *parts[2:]), number


def report_main(result: Results) -> Report:
    """Return the report that a screen has room for: :meth:`BenchResult.report` has all measures and strata."""
    return in_python(report_bench(result, full=False))


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
            _differences(result, key, main if full or len(main) <= MOST_ROWS else main[:1])
            for key in result.comparisons
        ),
        *_languages(result, shown, main, full=full),
        *_averages(result, shown),
        *(_strata(one, of_strata, _level(result)) for one in groupings),
        *(_strata_differences(result, one.part, of_strata) for one in groupings if by),
        *list_failures(result, full=full),
    ]
    left_out = len(result.measures) - len(shown)
    facts = (Fact("deadheat", __version__), *tell(result, groupings, left_out=left_out))
    heading = f"{', '.join(result.retrievers)} on {', '.join(map(str, result.parts.values()))}" if full else ""
    opening = joined(tell_verdicts(result)[0], tell_language_verdicts(result)[0])
    return Report(tuple(filter(None, tables)), facts, heading, opening=opening)


def data_of_bench(result: Results) -> Report:
    """Return the report of a benchmark for programs: tables of all means and differences; those of strata first."""
    counts = {one.label for one in result.measures if one.total}
    means = [totals_of_row(row, counts, row["n_cases"]) for row in _rows(result, result.to_polars())]
    tables = [_data("means", LABELS, means)]
    pairs = [
        {"cases": cases, "language": language, **totals_of_row(row, counts, row["n_queries"])}
        for (cases, language), comparison in result.comparisons.items()
        for row in _rows(result, comparison.to_polars(details=True))
    ]
    if pairs:
        tables.append(_data("comparisons", _columns("cases", "language", "system", "baseline", "measure"), pairs))
    averages = [row for row in _rows(result, result.averages()) if row["measure"] not in counts]
    if averages:
        tables.append(_data("averages", (RETRIEVER, MEASURE), averages))
    tables += data_of_languages(result.across, leading=LABELS[0], margin=result.settings.margin)
    groupings = result.groupings(result.settings.by) if result.settings.by else ()
    if groupings:
        tables.insert(0, _data_of_strata(result, groupings))
        tables += _data_of_differences(result, groupings)
    _, verdict = tell_verdicts(result)
    _, of_languages = tell_language_verdicts(result)
    told = (
        verdict,
        of_languages,
        Fact("deadheat", __version__),
        *tell(result, groupings),
        *tell_failures(result),
    )
    return Report(tuple(tables), told)


def _rows(result: Results, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame, with the names of measures that know their notation."""
    names = {one.label: one.label for one in result.measures}
    return [{**row, "measure": names[row["measure"]]} for row in frame.iter_rows(named=True)]


def _data(name: str, labels: tuple[Column, ...], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of the labels of rows, and of all else that is in them."""
    keys = [one.key for one in labels]
    others = [key for key in rows[0] if key not in keys]
    cells = tuple(Row(tuple(row[key] for key in keys), (tuple(row[key] for key in others),)) for row in rows)
    return Table(name, labels, _columns(*others), cells)


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
            rows += [
                Row((*key, *(row[name] for name in frame.columns[:n_labels])), (tuple(row[name] for name in columns),))
                for row in _rows(result, frame)
            ]
    labels = (*LABELS[:3], *_columns(*result.settings.by), MEASURE)
    return Table("strata", labels, _columns(*columns), tuple(rows))


def _columns(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, name) for name in names)


def _level(result: Results, counts: Iterable[int] = ()) -> str:
    return level_heading(result.settings.design.confidence_level, set(counts))


def _means(result: Results, part: Part, measures: Sequence[Measure]) -> Table:
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


def _mean(result: Results, key: Key, measure: str) -> tuple[Cell, ...]:
    scores, interval = result.evaluations[key][measure], result.intervals[key][measure]
    shown, ties = reported_interval(scores, interval), (reported(scores, "tie_min"), reported(scores, "tie_max"))
    return interval.n_queries, as_cell(scores), Span(shown.low, shown.high, interval.is_known), Span(*ties)


def _differences(result: Results, key: tuple[str, str], measures: Sequence[Measure]) -> Table:
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
        Share(pair.flip_probability, pair.flip_standard_error),
        pair.wins,
        pair.losses,
    )


def _languages(
    result: Results, measures: Sequence[Measure], tested: Sequence[Measure], *, full: bool
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


def _averages(result: Results, measures: Sequence[Measure]) -> Iterator[Table]:
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


def _by_strata(result: Results, part: Part) -> dict[Stratum, Comparison]:
    """Compare the retrievers within each stratum of a part, by the columns that were asked for."""
    comparison = result.comparisons.get((part.name, part.language))
    if comparison is None:
        return {}
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # they are a stratum
        return comparison.by(result.settings.by, part.cases.queries(), pool_languages=True)


def _strata_differences(result: Results, part: Part, measures: Sequence[Measure]) -> Table | None:
    """Return the differences within each stratum, in the order of the strata; None with a single retriever."""
    found = {
        stratum: [pair for measure in measures for pair in reported_pairs(one) if pair.measure == measure.label]
        for stratum, one in _by_strata(result, part).items()
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


def _data_of_differences(result: Results, groupings: Sequence[Grouping]) -> list[Table]:
    """Return all numbers of the differences within strata."""
    counts, by = {one.label for one in result.measures if one.total}, result.settings.by
    rows = [
        {
            **dict(zip(("cases", "language", *by), (one.part.name, one.part.language, *keys_of(stratum)), strict=True)),
            **totals_of_row(row, counts, row["n_queries"]),
        }
        for one in groupings
        for stratum, comparison in _by_strata(result, one.part).items()
        for row in _rows(result, comparison.to_polars(details=True))
    ]
    labels = _columns("cases", "language", *by, "system", "baseline", "measure")
    return [_data("strata_comparisons", labels, rows)] if rows else []


def _of_stratum(grouping: Grouping, key: Key, stratum: Stratum, measure: str) -> tuple[Cell, ...]:
    strata = grouping.strata[key]
    scores = strata[stratum][measure]
    shown = reported_interval(scores, grouping.intervals[key][stratum][measure])
    mean = Marked(reported(scores), OF_FEW) if scores.n_queries < strata.smallest else as_cell(scores)
    return scores.n_queries, mean, Span(shown.low, shown.high, shown.is_known)
