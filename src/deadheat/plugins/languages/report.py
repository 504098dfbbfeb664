"""The report of languages that are compared: tables and facts, alone or beside those of systems."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deadheat.core.design import TUKEY
from deadheat.core.measures import Measure
from deadheat.core.report.cells import Cell, Span, format_cell, p_value_cell
from deadheat.core.report.conventions import tell_ties
from deadheat.core.report.interval_facts import tell_unknown_intervals
from deadheat.core.report.model import (
    MEASURE,
    SYSTEM,
    Column,
    Fact,
    Report,
    Table,
    note_fact,
    prose_fact,
    registers_report,
    table_of_rows,
    tabulate,
)
from deadheat.core.report.score_tables import level_heading
from deadheat.core.wording import UNIT, format_count, join_sentences
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.report import cells_of, tell_intervals
from deadheat.plugins.compare.report_tests import doubt_margin, tell_tests
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.system_means import AcrossLanguages
from deadheat.plugins.languages.verdict import sentences_of_languages
from deadheat.version import __version__

POWER = 0.8
AMONG = "languages"


@registers_report(Languages)
def of_languages(languages: Languages) -> Report:
    """Return the report of languages that are compared."""
    design = languages.design
    verdict = sentences_of_languages(languages)
    first_language = next(iter(languages.evaluations.values()))
    first_evaluation = next(iter(first_language.values()))
    facts = [
        Fact("deadheat", __version__),
        Fact("language_verdicts", {languages.name: list(verdict)}),
        *tell_languages(languages),
        *facts_of_languages({languages.name: languages}),
        *tell_ties(first_evaluation.ties, None),
        *tell_intervals(design, [], _name_pairs(languages)),
        *tell_tests(design, *placed_pairs(languages), has_clusters=languages.cluster is not None),
        *tell_gaps(languages),
    ]
    tables = list_languages(languages, languages.measures)
    return Report(tuple(tables), tuple(facts), opening=" ".join(verdict))


def with_languages(report: Report, languages: Languages, margin: float | None, *, for_people: bool) -> Report:
    """Add the tables and facts across languages to the report of a comparison."""
    verdict = sentences_of_languages(languages, margin=margin)
    facts = [
        *report.facts,
        Fact("language_verdicts", {languages.name: list(verdict)}),
        *facts_of_languages({languages.name: languages}),
        *tell_languages(languages, margin=margin),
        *tell_beside(languages),
        *tell_gaps(languages),
    ]
    if for_people:
        tables = list_languages(languages, languages.measures, margin=margin)
    else:
        tables = data_of_languages({"queries": languages}, leading=Column("of", "of"), margin=margin)
    return replace(
        report,
        tables=(*report.tables, *tables),
        facts=tuple(facts),
        opening=join_sentences(report.opening, *verdict),
    )


def list_languages(
    languages: Languages,
    measures: Sequence[Measure],
    *,
    tested: Sequence[Measure] | None = None,
    system: Column = SYSTEM,
    margin: float | None = None,
    most: int | None = None,
    unit: tuple[str, str] = UNIT,
) -> Iterator[Table]:
    """Yield the table of systems by languages, that of differences, and that of gaps against gaps.

    Parameters
    ----------
    languages : Languages
    measures : sequence of Measure
        Those that are shown; totals and geometric means have no table of languages.
    tested : sequence of Measure, optional
        Those whose differences are shown; by default all of them.
    system : Column
        What a system is called.
    margin : float, optional
        Differences then have a p value of equivalence.
    most : int, optional
        Differences of more rows than that are of the first measure only.
    unit : tuple of str
        What a query is called.
    """
    across = []
    for measure in measures:
        across += [row for row in languages.across if row.measure == measure.label and not measure.total]
    if across:
        yield _tabulate_means(languages, across, system, unit)
    shown = [measure.label for measure in (measures if tested is None else tested) if not measure.total]
    if not shown:
        return
    n_rows = len(languages.differences) // len(languages.measures) * len(shown)
    of_differences = shown
    if most is not None and n_rows > most:
        of_differences = shown[:1]
    yield _tabulate_differences(languages, of_differences, system, margin, unit)
    if languages.interactions:
        of_interactions = of_differences if most is None else of_differences[:1]
        yield _tabulate_interactions(languages, of_interactions, system)


def _tabulate_means(
    languages: Languages, across: Sequence[AcrossLanguages], system: Column, unit: tuple[str, str]
) -> Table:
    """Return the mean of each system in each language, and the numbers across languages."""
    n_queries = sorted({row.n_queries for row in across})
    if len(n_queries) == 1:
        shared = format_count(n_queries[0], *unit)
    else:
        shared = f"{n_queries[0]:,} to {n_queries[-1]:,} {unit[1]}"
    mean_columns = [
        Column(f"mean_{language}", language, lambda row, language=language: row.means[language])
        for language in languages.languages
    ]
    interval = Column(
        "variance_ci",
        level_heading(languages.design.confidence_level, set()),
        lambda row: Span(row.variance_low, row.variance_high, row.is_known),
        ("variance_low", "variance_high"),
        spare=1,
    )
    return tabulate(
        "across_languages",
        (MEASURE, replace(system, of=lambda row: row.system)),
        (
            Column("n_queries", unit[1], is_data=True),
            *mean_columns,
            Column("mean", "mean", spare=3),
            Column("variance", "variance"),
            interval,
            Column("worst", "worst", spare=2),
        ),
        across,
        title=f"{languages.name}: the same {shared} in {len(languages.languages)} languages",
        main=1,
        is_section=True,
    )


def _tabulate_differences(
    languages: Languages, measures: Sequence[str], system: Column, margin: float | None, unit: tuple[str, str]
) -> Table:
    """Return each system's differences between languages."""
    n_queries = {difference.pair.n_queries for difference in languages.differences}
    columns = [
        Column("n_queries", unit[1], spare=1, is_data=len(n_queries) == 1),
        Column("difference", "difference"),
        Column("ci", level_heading(languages.design.confidence_level, n_queries), spare=1),
        _p_column(languages),
    ]
    if margin:
        columns.append(Column("p_equivalent", f"p within {margin:g}", _equivalence_cell))
    columns += [
        Column("flip_probability", "ties reverse", spare=3),
        Column("wins", "wins", spare=2),
        Column("losses", "losses", spare=2),
    ]
    equivalence = languages.equivalence(margin) if margin else []
    rows = []
    for place, difference in enumerate(languages.differences):
        pair = difference.pair
        if pair.measure not in measures:
            continue
        row = {
            **cells_of(pair),
            "language": pair.system,
            "against": pair.baseline,
            system.key: difference.system,
        }
        if margin:
            row["equivalent"] = equivalence[place]
        rows.append(row)
    return tabulate(
        "language_differences",
        (MEASURE, system, Column("language", "language"), Column("against", "against")),
        tuple(columns),
        rows,
        title=f"{languages.name}: differences between languages",
        main=1,
        is_section=True,
    )


def _equivalence_cell(row: dict[str, Any]) -> Cell:
    p_equivalent, is_equivalent = row["equivalent"]
    return p_value_cell(p_equivalent, is_significant=is_equivalent)


def _p_column(languages: Languages) -> Column:
    return Column("p_adjusted", "p" if languages.design.test == TUKEY else "p adj")


def _tabulate_interactions(languages: Languages, measures: Sequence[str], system: Column) -> Table:
    """Return the gaps of systems between languages, each against that of another system."""
    rows = []
    for interaction in languages.interactions:
        pair = interaction.pair
        if pair.measure in measures:
            gap = f"{interaction.language} - {interaction.baseline}"
            rows.append({**cells_of(pair), "languages": gap, system.key: pair.system})
    return tabulate(
        "language_interactions",
        (MEASURE, Column("languages", "languages"), system, Column("baseline", "against")),
        (
            Column("gap", "gap", lambda row: row["mean"], spare=1),
            Column("baseline_gap", "other gap", lambda row: row["baseline_mean"], spare=1),
            Column("difference", "difference"),
            Column("ci", level_heading(languages.design.confidence_level, set()), spare=2),
            _p_column(languages),
            Column("flip_probability", "ties reverse", spare=3),
        ),
        rows,
        title=f"{languages.name}: gaps between languages, {system.heading} against {system.heading}",
        main=2,
        is_section=True,
    )


def tell_languages(
    languages: Languages, *, unit: tuple[str, str] = UNIT, margin: float | None = None
) -> Iterator[Fact]:
    """Yield what is paired, what the variance is, and which differences could be found."""
    yield _describe_pairing(languages, unit)
    if languages.unpaired:
        yield note_fact(
            "not paired",
            f"{languages.unpaired}: no pair_id that another language has, so that they count in no row of languages",
        )
    totals = ", ".join(measure.label for measure in languages.measures if measure.total)
    if totals:
        yield note_fact("paired", f"{totals}: in no table of languages, which are of means")
    if languages.clusters_differ and languages.cluster is not None:
        n_clusters = len(set(languages.cluster.tolist()))
        yield note_fact(
            "clusters",
            f"{languages.name}: languages have the {unit[1]} in different clusters; those that are one in any language"
            f" are one here, which leaves {format_count(n_clusters, 'cluster')}",
        )
    variances_by_chance = [row.variance_by_chance for row in languages.across if row.is_known]
    if variances_by_chance:
        n_languages = len(languages.languages)
        yield prose_fact(
            "variance",
            f"of the means of {n_languages} languages (divisor {n_languages}); languages of equal means would have"
            f" {_format_range(variances_by_chance)} on average, by the choice of {unit[1]}; its interval is for these"
            f" languages and other {unit[1]}",
        )
    yield from _tell_detectable(languages)
    if margin:
        yield prose_fact("margin", f"p within {margin:g}: two one-sided t tests that languages differ by less")
        yield from doubt_margin([(difference.system, difference.pair) for difference in languages.differences])


def _describe_pairing(languages: Languages, unit: tuple[str, str]) -> Fact:
    """Say how many queries are in all languages, in some, and in one only."""
    shared = format_count(languages.n_shared, *unit)
    parts = [f"{languages.name}: {shared} in each of {', '.join(languages.languages)}"]
    n_partial = len(languages.query_ids) - languages.n_shared
    if n_partial:
        parts.append(f"{n_partial:,} in some of them, which count for these")
    left_out = ", ".join(f"{n:,} of {language}" for language, n in languages.left_out.items() if n)
    if left_out:
        parts.append(f"left out, as no other language has them: {left_out}")
    return Fact("", None, "paired", "; ".join(parts), is_note=len(parts) > 1)


def _tell_detectable(languages: Languages) -> Iterator[Fact]:
    """Yield the difference that these queries find, of the first measure that has means."""
    detectable = languages.detectable(POWER)
    for measure in languages.measures:
        if measure.label in detectable and not measure.total:
            size = _format_range(detectable[measure.label])
            level = 1 - languages.design.confidence_level
            power = f"{POWER:.0%} power"
            detects = f"{size} and more in {measure.label} between languages"
            test = f"paired t test, p below {level:.3g} before correction"
            yield replace(prose_fact("detects", f"{detects} ({power}, {test})"), brief=f"{detects} ({power})")
            return


def _format_range(numbers: Sequence[float]) -> str:
    """Return the least and the most of some numbers, or the one."""
    low, high = format_cell(min(numbers)), format_cell(max(numbers))
    return low if low == high else f"{low} to {high}"


def facts_of_languages(named: Mapping[str, Languages]) -> Iterator[Fact]:
    """Yield for programs, by name: which differences could be found, and the variance of equal means."""
    detectable = {}
    by_chance = {}
    for name, languages in named.items():
        detectable[name] = {measure: list(ends) for measure, ends in languages.detectable(POWER).items()}
        variances = [row.variance_by_chance for row in languages.across if row.is_known]
        if variances:
            by_chance[name] = [min(variances), max(variances)]
    yield Fact("detectable_differences", detectable)
    yield Fact("variance_by_chance", by_chance)


def placed_pairs(languages: Languages) -> tuple[list[str], Pairs]:
    """Return the system of each difference between languages, and the pairs."""
    systems = [difference.system for difference in languages.differences]
    return systems, Pairs.of([difference.pair for difference in languages.differences])


def _name_pairs(languages: Languages) -> list[tuple[str, Pair]]:
    """Return the pairs, each with what it is of."""
    named = []
    for difference in languages.differences:
        pair = difference.pair
        name = f"{pair.measure} of {difference.system}, {pair.system} - {pair.baseline}"
        named.append((name, pair))
    return named


def tell_beside(languages: Languages, *, unit: tuple[str, str] = UNIT, among: str = AMONG) -> Iterator[Fact]:
    """Say how differences between languages were tested, and which are doubtful, in a report that has others too.

    Parameters
    ----------
    languages : Languages
    unit : tuple of str
        What a query is called.
    among : str, default "languages"
        What the differences are between.
    """
    test_facts = tell_tests(
        languages.design,
        *placed_pairs(languages),
        has_clusters=languages.cluster is not None,
        unit=unit,
        among=among,
    )
    yield from (fact for fact in test_facts if fact.heading)  # the settings are those of the other differences
    with_interval = [(name, pair) for name, pair in _name_pairs(languages) if not math.isnan(pair.low)]
    yield from tell_unknown_intervals(with_interval)


def tell_gaps(languages: Languages) -> Iterator[Fact]:
    """Say how many gaps differ between systems."""
    pairs = [interaction.pair for interaction in languages.interactions]
    if not pairs:
        return
    n_significant = sum(pair.significant for pair in pairs)
    level = f"{1 - languages.design.confidence_level:.3g}"
    yield prose_fact(
        "gaps",
        f"a gap is one language less another: {n_significant} of {format_count(len(pairs), 'pair')} of gaps differ with"
        f" p below {level}, corrected on their own; if both gaps have the same sign, the difference says whose is"
        " smaller",
    )


def data_of_languages(named: Mapping[str, Languages], *, leading: Column, margin: float | None) -> Iterator[Table]:
    """Yield the three tables for programs, with all measures and numbers.

    Parameters
    ----------
    named : mapping of str to Languages
    leading : Column
        What the names are of.
    margin : float or None
    """
    across = []
    differences = []
    interactions = []
    for name, languages in named.items():
        label = {leading.key: name}
        across += [label | row for row in languages.to_polars().iter_rows(named=True)]
        differences += [label | row for row in languages.differences_to_polars(margin).iter_rows(named=True)]
        if languages.interactions:
            interactions += [label | row for row in languages.interactions_to_polars().iter_rows(named=True)]
    if across:
        yield table_of_rows("across_languages", (leading, "system", "measure"), across)
    if differences:
        yield table_of_rows("language_differences", (leading, "system", "language", "against", "measure"), differences)
    if interactions:
        yield table_of_rows(
            "language_interactions",
            (leading, "language", "against", "system", "baseline", "measure"),
            interactions,
        )
