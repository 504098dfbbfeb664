"""The report of languages that are compared: tables and facts, alone or beside those of systems."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from deadheat.core.design import TUKEY
from deadheat.core.measures import Measure
from deadheat.core.report.conventions import cannot_be_known, tell_ties
from deadheat.core.report.model import (
    MEASURE,
    SYSTEM,
    Column,
    Fact,
    Report,
    Span,
    Table,
    format_cell,
    note_fact,
    p_value_cell,
    prose_fact,
    registers_report,
    table_of_rows,
    tabulate,
)
from deadheat.core.report.score_tables import level_heading
from deadheat.core.wording import UNIT, format_count, join_sentences
from deadheat.plugins.compare.pair import Pair, Pairs
from deadheat.plugins.compare.report import cells_of, doubt_margin, tell_intervals, tell_tests
from deadheat.plugins.languages.across import Languages
from deadheat.plugins.languages.system_means import AcrossLanguages
from deadheat.plugins.languages.verdict import sentences_of_languages
from deadheat.version import __version__

POWER = 0.8
AMONG = "languages"


@registers_report(Languages)
def of_languages(found: Languages) -> Report:
    """Return the report of languages that are compared."""
    design = found.design
    ties = next(iter(next(iter(found.evaluations.values())).values())).ties
    facts = [
        Fact("deadheat", __version__),
        Fact("language_verdicts", {found.name: list(sentences_of_languages(found))}),
        *tell_languages(found),
        *facts_of_languages({found.name: found}),
        *tell_ties(ties, None),
        *tell_intervals(design, [], _named_pairs(found)),
        *tell_tests(design, *placed_pairs(found), has_clusters=found.cluster is not None),
        *tell_gaps(found),
    ]
    return Report(
        tuple(list_languages(found, found.measures)), tuple(facts), opening=" ".join(sentences_of_languages(found))
    )


def with_languages(report: Report, found: Languages, margin: float | None, *, for_people: bool) -> Report:
    """Add the tables and facts across languages to the report of a comparison."""
    named, verdict = {found.name: found}, list(sentences_of_languages(found, margin=margin))
    facts = (
        Fact("language_verdicts", {found.name: verdict}),
        *facts_of_languages(named),
        *tell_languages(found, margin=margin),
        *tell_beside(found),
        *tell_gaps(found),
    )
    tables = (
        list_languages(found, found.measures, margin=margin)
        if for_people
        else data_of_languages({"queries": found}, leading=Column("of", "of"), margin=margin)
    )
    return replace(
        report,
        tables=(*report.tables, *tables),
        facts=(*report.facts, *facts),
        opening=join_sentences(report.opening, *verdict),
    )


def list_languages(
    found: Languages,
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
    found : Languages
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
    shown = [one.label for one in measures if not one.total]
    if across := [one for name in shown for one in found.across if one.measure == name]:
        yield _means(found, across, system, unit)
    shown = shown if tested is None else [one.label for one in tested if not one.total]
    if not shown:
        return
    few = shown if most is None or len(found.differences) // len(found.measures) * len(shown) <= most else shown[:1]
    yield _differences(found, few, system, margin, unit)
    if found.interactions:
        yield _interactions(found, few if most is None else few[:1], system)


def _means(found: Languages, across: Sequence[AcrossLanguages], system: Column, unit: tuple[str, str]) -> Table:
    """Return the mean of each system in each language, and the numbers across languages."""
    n = sorted({one.n_queries for one in across})
    shared = format_count(n[0], *unit) if len(n) == 1 else f"{n[0]:,} to {n[-1]:,} {unit[1]}"
    return tabulate(
        "across_languages",
        (MEASURE, replace(system, of=lambda one: one.system)),
        (
            Column("n_queries", unit[1], is_data=True),
            *(Column(f"mean_{code}", code, lambda one, code=code: one.means[code]) for code in found.languages),
            Column("mean", "mean", spare=3),
            Column("variance", "variance"),
            Column(
                "variance_ci",
                level_heading(found.design.confidence_level, set()),
                lambda one: Span(one.variance_low, one.variance_high, one.is_known),
                ("variance_low", "variance_high"),
                spare=1,
            ),
            Column("worst", "worst", spare=2),
        ),
        across,
        title=f"{found.name}: the same {shared} in {len(found.languages)} languages",
        main=1,
        is_section=True,
    )


def _differences(
    found: Languages, measures: Sequence[str], system: Column, margin: float | None, unit: tuple[str, str]
) -> Table:
    """Return each system's differences between languages."""
    counts = {one.pair.n_queries for one in found.differences}
    tested = found.equivalence(margin) if margin else [(None, False)] * len(found.differences)
    within = Column(
        "p_equivalent",
        f"p within {margin or 0:g}",
        lambda row: p_value_cell(row["equivalent"][0], is_significant=row["equivalent"][1]),
    )
    return tabulate(
        "language_differences",
        (MEASURE, system, Column("language", "language"), Column("against", "against")),
        (
            Column("n_queries", unit[1], spare=1, is_data=len(counts) == 1),
            Column("difference", "difference"),
            Column("ci", level_heading(found.design.confidence_level, counts), spare=1),
            _p_column(found),
            *((within,) if margin else ()),
            Column("flip_probability", "ties reverse", spare=3),
            Column("wins", "wins", spare=2),
            Column("losses", "losses", spare=2),
        ),
        [
            {**cells_of(one.pair), "language": one.pair.system, "against": one.pair.baseline}
            | {system.key: one.system, "equivalent": own}
            for one, own in zip(found.differences, tested, strict=True)
            if one.pair.measure in measures
        ],
        title=f"{found.name}: differences between languages",
        main=1,
        is_section=True,
    )


def _p_column(found: Languages) -> Column:
    return Column("p_adjusted", "p" if found.design.test == TUKEY else "p adj")


def _interactions(found: Languages, measures: Sequence[str], system: Column) -> Table:
    """Return the gaps of systems between languages, each against that of another system."""
    return tabulate(
        "language_interactions",
        (MEASURE, Column("languages", "languages"), system, Column("baseline", "against")),
        (
            Column("gap", "gap", lambda row: row["mean"], spare=1),
            Column("baseline_gap", "other gap", lambda row: row["baseline_mean"], spare=1),
            Column("difference", "difference"),
            Column("ci", level_heading(found.design.confidence_level, set()), spare=2),
            _p_column(found),
            Column("flip_probability", "ties reverse", spare=3),
        ),
        [
            {**cells_of(one.pair), "languages": f"{one.language} - {one.baseline}", system.key: one.pair.system}
            for one in found.interactions
            if one.pair.measure in measures
        ],
        title=f"{found.name}: gaps between languages, {system.heading} against {system.heading}",
        main=2,
        is_section=True,
    )


def tell_languages(found: Languages, *, unit: tuple[str, str] = UNIT, margin: float | None = None) -> Iterator[Fact]:
    """Yield what is paired, what the variance is, and which differences could be found."""
    lacking = ", ".join(f"{number:,} of {language}" for language, number in found.left_out.items() if number)
    partial, n_languages = len(found.query_ids) - found.n_shared, len(found.languages)
    paired = f"{found.name}: {format_count(found.n_shared, *unit)} in each of {', '.join(found.languages)}"
    paired += f"; {partial:,} in some of them, which count for these" if partial else ""
    paired += f"; left out, as no other language has them: {lacking}" if lacking else ""
    unpaired = f"{found.unpaired}: no pair_id that another language has, so that they count in no row of languages"
    totals = ", ".join(one.label for one in found.measures if one.total)
    n_clusters = 0 if found.cluster is None else len(set(found.cluster.tolist()))
    clusters = (
        f"{found.name}: languages have the {unit[1]} in different clusters; those that are one in any language are one"
        f" here, which leaves {format_count(n_clusters, 'cluster')}"
    )
    yield from (
        Fact("", None, "paired", paired, is_note=bool(partial or lacking)),
        note_fact("not paired", unpaired if found.unpaired else ""),
        note_fact("paired", f"{totals}: in no table of languages, which are of means" if totals else ""),
        note_fact("clusters", clusters if found.clusters_differ and n_clusters else ""),
    )
    if chance := [one.variance_by_chance for one in found.across if one.is_known]:
        yield prose_fact(
            "variance",
            f"of the means of {n_languages} languages (divisor {n_languages}); languages of equal means would have"
            f" {_range(chance)} on average, by the choice of {unit[1]}; its interval is for these languages and other"
            f" {unit[1]}",
        )
    ends = found.detectable(POWER)  # of the first measure that has means
    if measure := next((one.label for one in found.measures if one.label in ends and not one.total), ""):
        test = f"paired t test, p below {1 - found.design.confidence_level:.3g} before correction"
        detects = f"{_range(ends[measure])} and more in {measure} between languages ({POWER:.0%} power"
        yield replace(prose_fact("detects", f"{detects}, {test})"), brief=f"{detects})")
    if margin:
        yield prose_fact("margin", f"p within {margin:g}: two one-sided t tests that languages differ by less")
        yield from doubt_margin([(one.system, one.pair) for one in found.differences])


def _range(numbers: Sequence[float]) -> str:
    """Return the least and the most of some numbers, or the one."""
    low, high = format_cell(min(numbers)), format_cell(max(numbers))
    return low if low == high else f"{low} to {high}"


def facts_of_languages(named: Mapping[str, Languages]) -> Iterator[Fact]:
    """Yield for programs, by name: which differences could be found, and the variance of equal means."""
    found = {
        name: {measure: list(ends) for measure, ends in one.detectable(POWER).items()} for name, one in named.items()
    }
    yield Fact("detectable_differences", found)
    chance = {name: [row.variance_by_chance for row in one.across if row.is_known] for name, one in named.items()}
    yield Fact("variance_by_chance", {name: [min(own), max(own)] for name, own in chance.items() if own})


def placed_pairs(found: Languages) -> tuple[list[str], Pairs]:
    """Return the system of each difference between languages, and the pairs."""
    return [one.system for one in found.differences], Pairs.of([one.pair for one in found.differences])


def _named_pairs(found: Languages) -> list[tuple[str, Pair]]:
    """Return the pairs, each with what it is of."""
    return [
        (f"{one.pair.measure} of {one.system}, {one.pair.system} - {one.pair.baseline}", one.pair)
        for one in found.differences
    ]


def tell_beside(found: Languages, *, unit: tuple[str, str] = UNIT, among: str = AMONG) -> Iterator[Fact]:
    """Say how differences between languages were tested, and which are doubtful, in a report that has others too.

    Parameters
    ----------
    found : Languages
    unit : tuple of str
        What a query is called.
    among : str, default "languages"
        What the differences are between.
    """
    told = tell_tests(
        found.design, *placed_pairs(found), has_clusters=found.cluster is not None, unit=unit, among=among
    )
    yield from (fact for fact in told if fact.heading)  # the settings are those of the other differences
    yield from cannot_be_known((name, pair) for name, pair in _named_pairs(found) if not math.isnan(pair.low))


def tell_gaps(found: Languages) -> Iterator[Fact]:
    """Say how many gaps differ between systems."""
    if pairs := [one.pair for one in found.interactions]:
        n, below = sum(pair.significant for pair in pairs), f"{1 - found.design.confidence_level:.3g}"
        yield prose_fact(
            "gaps",
            f"a gap is one language less another: {n} of {format_count(len(pairs), 'pair')} of gaps differ with p below"
            f" {below}, corrected on their own; if both gaps have the same sign, the difference says whose is smaller",
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
    frames: dict[str, tuple[tuple[str, ...], dict[str, pl.DataFrame]]] = {
        "across_languages": (("system", "measure"), {name: one.to_polars() for name, one in named.items()}),
        "language_differences": (
            ("system", "language", "against", "measure"),
            {name: one.differences_to_polars(margin) for name, one in named.items()},
        ),
        "language_interactions": (
            ("language", "against", "system", "baseline", "measure"),
            {name: one.interactions_to_polars() for name, one in named.items() if one.interactions},
        ),
    }
    for key, (keys, held) in frames.items():
        if rows := [{leading.key: name, **row} for name, frame in held.items() for row in frame.iter_rows(named=True)]:
            yield table_of_rows(key, (leading, *keys), rows)
