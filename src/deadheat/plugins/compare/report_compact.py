"""A comparison as one table with a caption, as a paper shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deadheat.core.evaluation.stratum import keys_of, label
from deadheat.core.report.cells import DOUBT, Cell, count_cell, ranked
from deadheat.core.report.compact_scores import (
    columns_of_measures,
    describe_numbers,
    kinds_of_numbers,
    name_lower_better,
)
from deadheat.core.report.conventions import describe_ties
from deadheat.core.report.interval_facts import METHODS, interval_cell
from deadheat.core.report.model import MEASURE, SYSTEM, Column, Fact, Report, Table, note_fact, tabulate
from deadheat.core.report.score_tables import columns_of_strata, level_heading
from deadheat.core.scalars import as_integer
from deadheat.core.wording import format_count, join_sentences
from deadheat.plugins.compare.comparison import Comparison, knows_ties
from deadheat.plugins.compare.deciding import explain_doubt
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.pair_names import MOST_NAMED_IN_BRIEF
from deadheat.plugins.compare.report import (
    adjusted,
    best_first,
    clusters_of,
    facts_of,
    judged,
    reported_pairs,
    reversal,
    size_of,
)
from deadheat.plugins.compare.report_marks import Marks, assign_letters, mark_systems, tell_marks
from deadheat.plugins.compare.report_tests import TESTS, corrected_by

Strata = Mapping[str | tuple[str, ...], Comparison]


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
        Column("ci", level_heading(comparison.design.confidence_level, counts), interval_cell, spare=-2),
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
    if any(pair.significant and explain_doubt(pair, comparison.design) for pair in comparison.pairs):
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
    if cell is None or not pair.significant or not explain_doubt(pair, comparison.design):
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
        f"Ties: {describe_ties(next(iter(comparison.evaluations.values())).ties, as_integer(comparison.design.rng))}.",
    )


def _list_systems(
    comparison: Comparison, parts: Mapping[tuple[str, ...], Comparison], columns: Sequence[str], digits: int | None
) -> Table:
    """Return the table of several systems: a row each, a column for each measure."""
    names = best_first(comparison.evaluations, comparison.measures[0])
    kind = Marks.of(comparison)
    letters = assign_letters(kind, names, comparison.design)
    cells = {
        stratum: {
            one.label: ranked(
                one.sign * one.is_quality,
                {name: part.evaluations[name][one].reported() for name in names},
                mark_systems(part, one, kind, letters),
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


def _caption(comparison: Comparison, parts: Sequence[Comparison], columns: Sequence[str], marks: str) -> str:
    """Return the caption: what the numbers are, what is bold and marked, and what ties count."""
    design = comparison.design
    over = size_of({own.n_queries for part in parts for one in part.evaluations.values() for own in one})
    strata = f" in each stratum by {' and '.join(columns)}" if columns else ""
    return join_sentences(
        describe_numbers(comparison.measures, over, strata),
        *tell_marks(comparison, parts, marks),
        "A question mark: p is in doubt, as the queries are few or the differences skewed." if DOUBT in marks else "",
        f"Significant: {_significance(comparison, parts)}.",
        f"Ties: {describe_ties(next(iter(comparison.evaluations.values())).ties, as_integer(design.rng))}.",
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
