"""What a comparison shows on request: margins, sample sizes, deciding queries, ranks; and one table for a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import groupby
from typing import Any

import numpy as np

from deadheat.core.data.queries import Queries
from deadheat.core.design import Design
from deadheat.core.evaluation.query_columns import SMALLEST
from deadheat.core.evaluation.stratum import keys_of, label
from deadheat.core.libraries import polars as pl
from deadheat.core.measures import Measure
from deadheat.core.report.compact_scores import (
    columns_of_measures,
    describe_numbers,
    kinds_of_numbers,
    name_lower_better,
)
from deadheat.core.report.conventions import METHODS, broken_by, drawn_with, span_of
from deadheat.core.report.model import (
    DOUBT,
    MEASURE,
    QUERY,
    SYSTEM,
    Cell,
    Column,
    Fact,
    Report,
    Row,
    Span,
    Table,
    count_cell,
    note_fact,
    p_value_cell,
    prose_fact,
    ranked,
    registers_report,
    share_cell,
    tabulate,
)
from deadheat.core.report.of_strata import few_queries, overlapping
from deadheat.core.report.score_tables import columns_of_strata, level_heading
from deadheat.core.report.tiers import LETTERS, letter
from deadheat.core.scalars import as_integer
from deadheat.core.stats.ranks import assign_tiers
from deadheat.core.wording import format_count, format_list, format_names, format_path, join_sentences
from deadheat.plugins.compare.companions import Companion, tell_absent
from deadheat.plugins.compare.comparison import Comparison, knows_ties
from deadheat.plugins.compare.deciding import doubt, favoured
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.report import (
    BASELINE,
    MOST_NAMED_IN_BRIEF,
    TESTS,
    adjusted,
    as_shown,
    best_first,
    by_values_alone,
    clusters_of,
    corrected_by,
    doubt_margin,
    facts_of,
    judged,
    report_comparison,
    reported_pairs,
    reversal,
    size_of,
    titled,
)
from deadheat.plugins.compare.report_orders import list_orders, tell_orders

HEADINGS = {"best": "best", "worst": "worst", "ties": "by ties"}
NUMBERS = ("difference", "value", "baseline_value")
WEIGHT = Column("weight", "weight", spare=1)
Strata = Mapping[str | tuple[str, ...], Comparison]
Comparisons = Strata | Mapping[tuple[()], Comparison]

PLANS: tuple[tuple[str, str, tuple[Column, ...], Callable[[Comparison, float], pl.DataFrame]], ...] = (
    (
        "equivalence",
        "No worse by a margin of {:g}, and equivalent (one-sided t tests, uncorrected)",
        (
            Column("difference", "difference", spare=1),
            Column(
                "p_no_worse", "p no worse", lambda row: p_value_cell(row["p_no_worse"], is_significant=row["no_worse"])
            ),
            Column(
                "p_equivalent",
                "p equivalent",
                lambda row: p_value_cell(row["p_equivalent"], is_significant=row["equivalent"]),
            ),
        ),
        Comparison.equivalence,
    ),
    (
        "sample_sizes",
        "To detect {:g} with a power of 80% (paired t test, not corrected)",
        (
            Column("std", "std", spare=2),
            Column("n_queries", "queries", spare=1),
            Column("power", "power"),
            Column("n_needed", "needed"),
            Column("detectable_difference", "detectable"),
        ),
        Comparison.sample_sizes,
    ),
)
"""The tables of a margin and of a difference to detect: their keys, titles, columns and rows."""


@registers_report(Comparison)
def _of_comparison(comparison: Comparison, *, compact: bool = True) -> Report:
    qrels = format_path(next(iter(comparison.evaluations.values())).qrels.where)
    report = report_with_requests(
        comparison, qrels=qrels, compact=compact, margin=comparison.margin, detect=comparison.detect
    )
    return report.in_brief() if compact else report


def report_with_requests(
    comparison: Comparison,
    *,
    qrels: str,
    compact: bool = False,
    digits: int | None = None,
    queries: Queries | None = None,
    source: str = "",
    columns: Sequence[str] = (),
    strata: Strata | None = None,
    companions: Sequence[Companion] = (),
    margin: float | None = None,
    detect: float | None = None,
    ranks: bool = False,
    orders: bool = False,
    queries_worst: int | None = None,
    for_people: bool = True,
    in_one: bool = False,
    with_others: bool = True,
) -> Report:
    """Return the report of a comparison, with all that was asked for beside the differences.

    Parameters
    ----------
    comparison : Comparison
    qrels : str
        The name of the qrels.
    compact : bool, default False
        Whether to show one table and what changes a decision, instead of all tables; with a judge's labels, which have
        columns of their own, all tables are shown.
    digits : int, optional
        Decimals that will be printed.
    queries : Queries, optional
    source : str, default ""
        The name of their table.
    columns : sequence of str
        What `strata` are of.
    strata : mapping of stratum to Comparison, optional
        Shown instead of the whole.
    companions : sequence of Companion, default ()
        What else is compared on the queries.
    margin, detect : float, optional
        What differences are tested against, and one to detect.
    ranks, orders : bool, default False
        Whether to say how sure ranks are, and how far orders of the systems agree.
    queries_worst : int, optional
        How many queries to list of each kind.
    for_people : bool, default True
    in_one : bool, default False
        Whether the first table has the columns of margin and detect too.
    with_others : bool, default True
        Whether there is room for the tables of companions.
    """
    among = "systems" if companions else ""
    if compact and not comparison.parts:
        report = report_compact(
            comparison, qrels=qrels, columns=columns, strata=strata, margin=margin, digits=digits, among=among
        )
    else:
        report = report_comparison(
            comparison,
            qrels=qrels,
            columns=columns,
            strata=strata,
            for_people=for_people,
            margin=margin,
            among=among,
        )
    parts: Comparisons = {(): comparison} if strata is None else strata
    tables, facts = planned(parts, columns, margin, detect, for_people=for_people)
    if in_one:
        report, tables = replace(report, tables=(beside(report.tables[0], *tables), *report.tables[1:])), []
    found = comparison.orders() if orders else None
    report = replace(
        report,
        tables=(
            *report.tables,
            *tables,
            *([list_ranks(comparison, columns, parts)] if ranks else []),
            *([list_orders(found)] if found else []),
            *(list_deciding(comparison, queries_worst, queries, for_people=for_people) if queries_worst else []),
        ),
        facts=(
            *report.facts,
            *facts,
            *([tell_ranks(comparison)] if ranks else []),
            *(tell_orders(found) if found else []),
            *_of_queries(comparison, queries, parts, source),
            *(
                [note_fact("decide", "queries of the pairs of the two best; JSON has those of every pair")]
                if queries_worst and for_people and as_shown(comparison) is not comparison
                else []
            ),
        ),
    )
    if with_others:
        for companion in companions:
            report = companion.extend(report, margin, for_people=for_people)
    return report


def _of_queries(comparison: Comparison, queries: Queries | None, parts: Comparisons, source: str) -> list[Fact]:
    """Say what is not compared beside systems, where the strata are from, and which are small."""
    if queries is None:
        return []
    small = {label(name): len(one.query_ids) for name, one in parts.items() if len(one.query_ids) < SMALLEST}
    n_listed = sum(len(one.query_ids) for one in parts.values())
    distinct = set[str]().union(*(one.query_ids.tolist() for one in parts.values()))
    strata = [
        Fact("strata", len(parts), "strata", f"{len(parts)} from {source}"),
        *overlapping(n_listed - len(distinct)),
        *([Fact("small", list(small), "small", few_queries(small, SMALLEST))] if small else []),
    ]
    return [
        *tell_absent(comparison, queries),
        *([] if () in parts else strata),
    ]


def planned(
    parts: Comparisons, columns: Sequence[str], margin: float | None, detect: float | None, *, for_people: bool
) -> tuple[list[Table], list[Fact]]:
    """Return the tables and facts of a margin, and of a difference to detect, if there are any."""
    reported: Comparisons = {name: as_shown(part) for name, part in parts.items()} if for_people else parts
    tables = [
        tabulate(
            key,
            (*columns_of_strata(columns), SYSTEM, BASELINE, MEASURE),
            shown,
            _in_totals(reported, size, table_for),
            title=titled(title.format(size), reported.values()),
        )
        for size, (key, title, shown, table_for) in zip((margin, detect), PLANS, strict=True)
        if size is not None
    ]
    return tables, [
        Fact("margin", margin),
        Fact("detect", detect),
        *doubt_margin([(label(name), pair) for name, part in parts.items() if margin for pair in part.pairs]),
    ]


def _in_totals(
    parts: Comparisons, size: float, table_for: Callable[[Comparison, float], pl.DataFrame]
) -> Iterator[dict[str, Any]]:
    """Give a row for each pair, for a difference of this size between means, or between totals of counts."""
    for stratum, part in parts.items():
        counts = {measure.label for measure in part.measures if measure.total}
        sizes = set(part.pairs.column("n_queries").tolist()) - {0} if counts else ()
        of_totals = {n: table_for(part, size / n) for n in sizes}
        for place, (pair, row) in enumerate(zip(part.pairs, table_for(part, size).rows(named=True), strict=True)):
            found, n_queries = row, pair.n_queries
            if n_queries and pair.measure in counts:
                found = of_totals[n_queries].row(place, named=True)
                found |= {
                    name: n_queries * found[name]
                    for name in ("difference", "detectable_difference")
                    if found.get(name) is not None
                }
            yield {**found, "stratum": keys_of(stratum)}


def beside(pairs: Table, *others: Table) -> Table:
    """Return the table of pairs with the columns that it lacks of others, whose rows have the same labels."""
    rows, columns = {row.labels: row.cells[0] for row in pairs.rows}, pairs.columns
    for other in others:
        held = {column.key for column in columns}
        places = [place for place, column in enumerate(other.columns) if column.key not in held]
        columns += tuple(other.columns[place] for place in places)
        for row in other.rows:
            rows[row.labels] += tuple(row.cells[0][place] for place in places)
    return replace(pairs, columns=columns, rows=tuple(Row(labels, (cells,)) for labels, cells in rows.items()))


def list_deciding(comparison: Comparison, n: int, queries: Queries | None, *, for_people: bool) -> list[Table]:
    """Return the queries that decide each pair: a table of each pair for people, one of all for programs.

    Parameters
    ----------
    comparison : Comparison
    n : int
        Queries of each kind.
    queries : Queries or None
        Their texts, where there are any.
    for_people : bool
    """
    rows = (as_shown(comparison) if for_people else comparison).queries(n).to_dicts()
    ties = []
    if knows_ties(comparison):
        ties.append(
            Column(
                "ties", "tie orders", lambda row: Span(row["tie_min"], row["tie_max"]), ("tie_min", "tie_max"), spare=2
            )
        )
    texts = {} if queries is None else queries.texts(comparison.query_ids.tolist())
    text = [Column("text", "text", lambda row: texts.get(row["query_id"], ""))] if texts else []
    weight = [WEIGHT] if any(row["weight"] is not None for row in rows) else []
    if not for_people:
        columns = (*(Column(name, name) for name in NUMBERS), *ties, *weight, *text)
        return [tabulate("queries", (SYSTEM, BASELINE, MEASURE, Column("kind", ""), QUERY), columns, rows)]
    kind, tables = Column("kind", "", lambda row: HEADINGS[row["kind"]]), []
    for (measure, *pair), own in groupby(rows, key=lambda row: (row["measure"], row["system"], row["baseline"])):
        columns = (
            Column("difference", "difference"),
            *(Column(name, heading, spare=1) for name, heading in zip(NUMBERS[1:], pair, strict=True)),
            *(*ties, *weight, *text),
        )
        title = f"{measure}: queries that decide, {' - '.join(pair)}{by_values_alone([comparison])}"
        tables.append(tabulate("queries", (kind, QUERY), columns, own, title=title, has_blocks=True))
    return tables


def list_ranks(comparison: Comparison, columns: Sequence[str], parts: Comparisons) -> Table:
    """Return the rank of each system with its interval, the best first; of each stratum if there are any."""
    rows = [
        {**row, "stratum": keys_of(stratum)}
        for stratum, part in parts.items()
        for own in part.rank_intervals().partition_by("measure", maintain_order=True)
        for row in own.sort("rank", nulls_last=True, maintain_order=True).to_dicts()
    ]
    return tabulate(
        "ranks",
        (*columns_of_strata(columns), MEASURE, SYSTEM),
        (
            Column("rank", "rank"),
            Column(
                "ci",
                level_heading(comparison.design.confidence_level, set()),
                lambda row: Span(row["low"], row["high"]),
            ),
            Column("p_best", "P(best)", lambda row: share_cell(row["p_best"])),
            Column("n_queries", "queries", spare=1),
        ),
        rows,
        title="Ranks",
        has_blocks=True,
    )


def tell_ranks(comparison: Comparison) -> Fact:
    """Say how the intervals of ranks were made."""
    design = comparison.design
    drawn = " with the ties of every drawn query broken at random," if knows_ties(comparison) else ""
    return prose_fact(
        "ranks",
        f"by the exact mean; bootstrap over {'queries' if comparison.cluster is None else 'clusters'},{drawn}"
        f" {design.n_resamples:,} resamples{drawn_with(as_integer(design.rng))}",
    )


BETTER, WORSE = "†", "‡"
BEATEN = "Letters behind a number: the systems that it is significantly better than."
TIERS = (
    "Numbers behind a number: tiers, of which the first holds all systems that the best is not significantly better"
    " than, the second those of the others, and so on."
)


class Marks(Enum):
    """What stands behind the numbers of a compact table."""

    DAGGERS = "against the one baseline"
    LETTERED_DAGGERS = "against each of several baselines, behind the baseline's letter"
    LETTERS = "of the systems that are beaten, where every pair was tested"
    TIERS = "where every pair was tested and systems are more than letters"
    NONE = "where systems are more than letters and each pair was tested one way alone"

    @classmethod
    def of(cls, comparison: Comparison) -> Marks:
        """Return the marks that the tests of a comparison allow."""
        design = comparison.design
        if design.baseline is not None:
            return cls.DAGGERS
        if design.baselines:
            return cls.LETTERED_DAGGERS
        if len(comparison.evaluations) <= len(LETTERS):
            return cls.LETTERS
        # a one-sided test finds no lead of the other system of a pair, which tiers would take for equality
        return cls.TIERS if design.alternative == "two-sided" else cls.NONE


def report_compact(
    comparison: Comparison,
    *,
    qrels: str,
    columns: Sequence[str] = (),
    strata: Strata | None = None,
    margin: float | None = None,
    digits: int | None = None,
    among: str = "",
) -> Report:
    """Return a comparison as one table, with the verdict above and a caption that explains it: as a paper shows it.

    Of two systems the rows are the measures, with difference, interval, p and what ties reverse. Of more:

    Systems in rows, measures in columns, the best bold. Against a baseline marks of significance are daggers, against
    several a dagger for each, behind its letter. Without one they are the letters of the systems that are beaten; with
    more than 26 systems the numbers of tiers, of measures by which every pair was tested both ways.

    Parameters
    ----------
    comparison : Comparison
    qrels : str
        The name of the qrels.
    columns : sequence of str
        What `strata` are of.
    strata : mapping of stratum to Comparison, optional
        Shown instead of the whole.
    margin : float, optional
        What the verdict says is tested against.
    digits : int, optional
        Decimals that will be printed: values that look alike are both bold if one is the best.
    among : str, default ""
        What the differences are between, where the report gets others too.
    """
    headline, summary, verdict = judged(comparison, strata, columns, margin)
    parts = {keys_of(key): part for key, part in ({(): comparison} if strata is None else strata).items()}
    facts = [verdict, *facts_of(comparison, parts, qrels, among), _count_by_one_rule(parts)]
    facts = [fact for fact in facts if fact.heading not in SAID_ABOVE]
    if any(fact.heading == "missing" for fact in summary):  # the verdict says it
        facts = [fact for fact in facts if fact.key or fact.heading != "missing queries"]
    if len(comparison.evaluations) == 2 and strata is None:
        table = _list_measures(comparison)
    else:
        table = _list_systems(comparison, parts, columns, digits)
    return Report((table,), tuple(facts), headline=headline, summary=summary)


def _count_by_one_rule(parts: Mapping[tuple[str, ...], Comparison]) -> Fact:
    """Say how many differences are significant under one tie rule only, and which."""
    has_one_pair = all(len(part.evaluations) == 2 for part in parts.values())
    names = []
    for stratum, part in parts.items():
        place = label(stratum)
        for row in part.significant_by_one_rule().iter_rows(named=True):
            name = row["measure"]
            if not has_one_pair:
                name = f"{row['system']} / {row['baseline']} ({name})"
            names.append(f"{name} in {place}" if place else name)
    if not names:
        return note_fact("one rule", "")
    text = f"{format_count(len(names), 'difference')} significant under one tie rule only"
    if len(names) > MOST_NAMED_IN_BRIEF:
        return note_fact("one rule", f"{text}; --full lists them")
    return note_fact("one rule", f"{text}: {', '.join(names)}")


SAID_ABOVE = (DOUBT, "unjudged")  # headings of facts that caption or verdict have


def _list_measures(comparison: Comparison) -> Table:
    """Return the table of two systems: a row for each measure."""
    pairs = [pair for measure in comparison.measures for pair in reported_pairs(comparison, measure)]
    system, baseline = pairs[0].system, pairs[0].baseline
    counts = {pair.n_queries for pair in pairs}
    columns = (
        Column("n_queries", "queries", spare=2, is_data=len(counts) == 1),
        Column("baseline_mean", baseline, lambda pair: _number_of(comparison, pair, pair.baseline_mean)),
        Column("mean", system, lambda pair: _number_of(comparison, pair, pair.mean)),
        Column("difference", "difference", lambda pair: _number_of(comparison, pair, pair.difference)),
        Column("ci", level_heading(comparison.design.confidence_level, counts), span_of, spare=-2),
        Column("p_adjusted", "p", lambda pair: _p_of(comparison, pair)),
        *([Column("flip_probability", "ties reverse", reversal, spare=1)] if knows_ties(comparison) else []),
    )
    return tabulate(
        "comparison",
        (MEASURE,),
        columns,
        pairs,
        caption=_caption_of_two(comparison, f"{system} - {baseline}", size_of(counts)),
        main=2,
    )


def _doubts_of_two(comparison: Comparison) -> str:
    """Say what question marks mean in a table of two systems, if there are some."""
    meanings = []
    if any(pair.significant and doubt(pair, comparison.design) for pair in comparison.pairs):
        meanings.append("p is in doubt, as the queries are few or the differences skewed")
    if not comparison.pairs.column("is_known").all():
        meanings.append("the interval cannot be known")
    if comparison.pairs.column("undecided").any():
        meanings.append("p is undecided: other resamples may take it to the other side")
    return f"A question mark: {'; '.join(meanings)}." if meanings else ""


def _number_of(comparison: Comparison, pair: Pair, number: float) -> Cell:
    """Return a number of a pair as a cell; those of counts are counts."""
    measure = next(measure for measure in comparison.measures if measure.label == pair.measure)
    return count_cell(number) if measure.total else number


def _p_of(comparison: Comparison, pair: Pair) -> Cell:
    """Return the p value of a pair, with a star if it is significant and a question mark if that is in doubt."""
    cell = adjusted(pair)
    if cell is None or not pair.significant or not doubt(pair, comparison.design):
        return cell
    return replace(cell, marks=cell.marks + DOUBT)


def _caption_of_two(comparison: Comparison, difference: str, over: str) -> str:
    """Return the caption of a table of two systems: what is subtracted from what, the test, what ties count."""
    noun = "query" if over == "1" else "queries"
    return join_sentences(
        f"{kinds_of_numbers(comparison.measures)} over {over} {noun}, and their differences, {difference}.",
        name_lower_better(comparison.measures),
        f"Intervals: {METHODS[comparison.design.difference_method]}.",
        f"A star: {_significance(comparison, [comparison], corrected=False)}.",
        _doubts_of_two(comparison),
        f"Ties: {broken_by(next(iter(comparison.evaluations.values())).ties, as_integer(comparison.design.rng))}.",
    )


def _list_systems(
    comparison: Comparison, parts: Mapping[tuple[str, ...], Comparison], columns: Sequence[str], digits: int | None
) -> Table:
    """Return the table of several systems: a row each, a column for each measure."""
    names = best_first(comparison.evaluations, comparison.measures[0])
    kind = Marks.of(comparison)
    letters = _letters(kind, names, comparison.design)
    cells = {
        stratum: {
            one.label: ranked(
                one.sign * one.is_quality,
                {name: part.evaluations[name][one].reported() for name in names},
                _marks(part, one, kind, letters),
                digits,
            )
            for one in part.measures
        }
        for stratum, part in parts.items()
    }
    rows: list[dict[str, Any]] = [
        {
            "stratum": stratum,
            "system": f"{name} (baseline)" if name in comparison.design.against else name,
            "letter": letters.get(name, ""),
            "cells": {measure: column[name] for measure, column in own.items()},
        }
        for stratum, own in cells.items()
        for name in names
    ]
    marks = "".join(cell.marks for row in rows for cell in row["cells"].values() if cell is not None)
    return tabulate(
        "comparison",
        (*columns_of_strata(columns), *([Column("letter", "")] if letters else []), SYSTEM),
        columns_of_measures(comparison.measures, lambda row, measure: row["cells"][measure]),
        rows,
        caption=_caption(comparison, list(parts.values()), columns, marks),
        main=-1,  # none: the bold ones matter
        has_blocks=bool(columns),
    )


def _letters(kind: Marks, names: Sequence[str], design: Design) -> dict[str, str]:
    """Return the letters of the systems that marks name, in the order of the rows."""
    named: list[str] = []
    if kind is Marks.LETTERS:
        named = list(names)
    if kind is Marks.LETTERED_DAGGERS:
        named = [name for name in names if name in design.baselines]
    return {name: letter(place) for place, name in enumerate(named, start=1)}


def _marks(part: Comparison, measure: Measure, kind: Marks, letters: Mapping[str, str]) -> dict[str, str]:
    """Return the marks of the systems that have some."""
    match kind:
        case Marks.DAGGERS:
            return _daggers(part, measure)
        case Marks.LETTERED_DAGGERS:
            return _lettered_daggers(part, measure, letters)
        case Marks.LETTERS:
            return _beaten(part, measure, letters)
        case Marks.TIERS:
            return _tiers(part, measure)
        case Marks.NONE:
            return {}


def _daggers(part: Comparison, measure: Measure) -> dict[str, str]:
    """Return a sign for each system that differs significantly from the baseline."""
    return {pair.system: _sign(part, pair, winner, pair.system) for pair, winner, _ in _decided(part, measure)}


def _lettered_daggers(part: Comparison, measure: Measure, letters: Mapping[str, str]) -> dict[str, str]:
    """Return a sign for each baseline that a system differs from significantly, behind the letter of the baseline."""
    signs: dict[str, dict[str, str]] = {}
    for pair, winner, loser in _decided(part, measure):
        for system, baseline in ((winner, loser), (loser, winner)):
            if baseline in letters:
                sign = letters[baseline] + _sign(part, pair, winner, system)
                signs.setdefault(system, {})[baseline] = sign
    marks = {}
    for system, of_baselines in signs.items():
        marks[system] = "".join(of_baselines[baseline] for baseline in letters if baseline in of_baselines)
    return marks


def _sign(part: Comparison, pair: Pair, winner: str, system: str) -> str:
    """Return the dagger of one of the two systems of a significant pair."""
    dagger = BETTER if system == winner else WORSE
    return dagger + _question_mark(part, pair)


def _question_mark(part: Comparison, pair: Pair) -> str:
    """Return a question mark where the p value of a significant pair is in doubt."""
    return DOUBT if doubt(pair, part.design) else ""


def _beaten(part: Comparison, measure: Measure, letters: Mapping[str, str]) -> dict[str, str]:
    """Return the letters of the systems that each system is significantly better than."""
    places = {name: place for place, name in enumerate(letters)}
    beaten: dict[str, list[tuple[int, str]]] = {}
    for pair, winner, loser in _decided(part, measure):
        beaten.setdefault(winner, []).append((places[loser], _question_mark(part, pair)))
    return {name: _ranges(losers, list(letters.values())) for name, losers in beaten.items()}


def _decided(part: Comparison, measure: Measure) -> Iterator[tuple[Pair, str, str]]:
    """Give the pairs that are significant, each with the better and the worse system, by measures of quality."""
    for pair in part[measure] if measure.is_quality else ():
        if (winner := favoured(pair, measure, part.design)) is not None:
            yield pair, winner, pair.baseline if winner == pair.system else pair.system


def _tiers(part: Comparison, measure: Measure) -> dict[str, str]:
    """Return the number of the tier of each system with a value.

    No marks where no difference is significant, nor where a pair was not tested: it may differ as well as not.
    """
    if _has_untested(part, measure):
        return {}
    names = [name for name in best_first(part.evaluations, measure) if _has_value(part, measure, name)]
    place = {name: n for n, name in enumerate(names)}
    better = np.zeros((len(names), len(names)), np.bool_)
    for _, winner, loser in _decided(part, measure):
        better[place[winner], place[loser]] = True
    if not better.any():
        return {}
    tiers = assign_tiers(range(len(names)), better).tolist()
    return {name: str(tier) for name, tier in zip(names, tiers, strict=True)}


def _has_value(part: Comparison, measure: Measure, name: str) -> bool:
    """Return whether a system has a mean."""
    return not math.isnan(part.evaluations[name][measure].reported())


def _has_untested(part: Comparison, measure: Measure) -> bool:
    """Return whether two systems with a mean have no p value by a measure of quality."""
    if not measure.is_quality:
        return False
    pairs = part.pairs.by(measure.label)
    is_untested = np.isnan(pairs.column("p_adjusted").astype(np.float64))
    for place in np.flatnonzero(is_untested).tolist():
        pair = pairs[place]
        if _has_value(part, measure, pair.system) and _has_value(part, measure, pair.baseline):
            return True
    return False


def _ranges(found: Sequence[tuple[int, str]], named: Sequence[str]) -> str:
    """Return letters in order, three and more neighbours as a range: ``acf-k``; those in doubt have a question mark."""
    texts = []
    for (_, unsure), run in groupby(enumerate(sorted(found)), key=lambda item: (item[1][0] - item[0], item[1][1])):
        own = [f"{named[place]}{unsure}" for _, (place, _) in run]
        texts += [f"{own[0]}-{own[-1]}"] if len(own) > 2 and not unsure else own
    return "".join(texts)


def _caption(comparison: Comparison, parts: Sequence[Comparison], columns: Sequence[str], marks: str) -> str:
    """Return the caption: what the numbers are, what is bold and marked, and what ties count."""
    design = comparison.design
    over = size_of({own.n_queries for part in parts for one in part.evaluations.values() for own in one})
    strata = f" in each stratum by {' and '.join(columns)}" if columns else ""
    return join_sentences(
        describe_numbers(comparison.measures, over, strata),
        *_tell_marks(comparison, parts, marks),
        "A question mark: p is in doubt, as the queries are few or the differences skewed." if DOUBT in marks else "",
        f"Significant: {_significance(comparison, parts)}.",
        f"Ties: {broken_by(next(iter(comparison.evaluations.values())).ties, as_integer(design.rng))}.",
    )


def _significance(comparison: Comparison, parts: Sequence[Comparison], *, corrected: bool = True) -> str:
    """Say by which test, at which level, after which correction a difference is significant."""
    design, n_clusters = parts[0].design, clusters_of(comparison)  # strata of one row each have another correction
    test = TESTS[design.test]
    if not test[0].isupper():
        test = f"a {test}"
    text = f"p < {1 - design.confidence_level:.3g} by {test}"
    if n_clusters is not None:
        text += f", by {format_count(n_clusters, 'cluster')}"
    text += f", {design.alternative}"
    if corrected:
        text += f", {corrected_by(design, has_strata=len(parts) > 1)}"
    return text


def _tell_marks(comparison: Comparison, parts: Sequence[Comparison], marks: str) -> list[str]:
    """Say what the marks of a compact table mean, and what was not tested; `marks` are all of them as one text."""
    kind, baselines = Marks.of(comparison), comparison.design.against
    if kind is Marks.NONE:
        return ["No marks: there are more systems than letters, and a one-sided test looks for one of two leads."]
    untested = []
    for measure in comparison.measures:
        if any(_has_untested(part, measure) for part in parts):
            untested.append(measure.label)
    sentences = []
    if marks:
        sentences.append(_meaning(kind, baselines, marks))
    elif baselines:
        sentences.append(f"No difference from {format_list(baselines, ' or ')} is significant.")
    elif not (untested and kind is Marks.TIERS):
        sentences.append("No difference between two systems is significant.")
    if len(baselines) > 1:
        sentences.append(f"Only differences from {format_names(baselines)} were tested.")
    if untested:
        no_tiers = ": there are no tiers" if kind is Marks.TIERS else ""
        sentences.append(f"By {format_list(untested)} some pairs of systems could not be tested{no_tiers}.")
    return sentences


def _meaning(kind: Marks, baselines: Sequence[str], marks: str) -> str:
    """Say what marks mean, where there are some."""
    if kind is Marks.LETTERS:
        return BEATEN
    if kind is Marks.TIERS:
        return TIERS
    daggers = []
    if BETTER in marks:
        daggers.append(f"{BETTER} significantly better")
    if WORSE in marks:
        daggers.append(f"{WORSE} significantly worse")
    than = baselines[0] if kind is Marks.DAGGERS else "the baseline whose letter is before it"
    return f"{', '.join(daggers)} than {than}."
