"""The table of a paper: systems in rows, measures in columns, the best bold, and marks of significance.

Against a baseline these are daggers; without one the letters of the systems that are beaten, of more than 26 tiers.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.pairs import Pair
from deadheat.comparison.verdict import doubt, favoured
from deadheat.errors import counted, three, whole
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.strata import keys_of
from deadheat.measures import Measure
from deadheat.report.conventions import broken_by
from deadheat.report.model import SYSTEM, Column, NumberCell, Report, Table, format_cell, tabulate
from deadheat.report.of_comparison import (
    TESTS,
    best_first,
    clusters_of,
    columns_of_strata,
    corrected_by,
    report_comparison,
    size_of,
)
from deadheat.stats.ranks import tiers_of

BASELINE = "(baseline)"  # behind its name
BETTER, WORSE, DOUBT = "†", "‡", "?"
LOWER = "↓"  # behind a measure of which less is better
LETTER = Column("letter", "")
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
Strata = Mapping[str | tuple[str, ...], Comparison]


def report_compact(
    comparison: Comparison,
    *,
    qrels: str,
    columns: Sequence[str] = (),
    strata: Strata | None = None,
    margin: float | None = None,
    digits: int | None = None,
) -> Report:
    """Return a comparison as one table, with the verdict above and a caption that explains it.

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
    """
    whole = report_comparison(comparison, qrels=qrels, columns=columns, strata=strata, for_people=False, margin=margin)
    facts = tuple(fact for fact in whole.facts if not fact.text or fact.is_note or fact.is_warning)
    parts: Strata | Mapping[tuple[()], Comparison] = {(): comparison} if strata is None else strata
    names = best_first(comparison.evaluations, comparison.measures[0])
    baseline = comparison.design.baseline
    letters = dict(zip(names, ALPHABET, strict=False)) if baseline is None and 1 < len(names) <= len(ALPHABET) else {}
    rows: list[dict[str, Any]] = []
    marks = ""
    for stratum, part in parts.items():
        cells = {one.label: _column(part, one, names, letters, digits) for one in part.measures}
        marks += "".join(cell.marks for column in cells.values() for cell in column.values() if cell is not None)
        rows += [
            {
                "stratum": keys_of(stratum),
                "system": f"{name} {BASELINE}" if name == baseline else name,
                "letter": letters.get(name),
                "cells": {measure: column[name] for measure, column in cells.items()},
            }
            for name in names
        ]
    table = tabulate(
        "comparison",
        (*columns_of_strata(columns), *([LETTER] if letters else []), SYSTEM),
        _columns(comparison.measures, lambda row, measure: row["cells"][measure]),
        rows,
        caption=" ".join(_caption(comparison, list(parts.values()), columns, marks)),
        main=-1,  # none: the bold ones matter
        has_blocks=strata is not None,
    )
    return Report((table,), facts, headline=whole.headline, opening=whole.opening)


def _columns(measures: Sequence[Measure], cell: Callable[[Any, str], NumberCell | None]) -> list[Column]:
    """Return a column for each measure; `cell` takes an item of the table and the label of a measure."""
    return [
        Column(
            one.label,
            one.label if one.higher_is_better else f"{one.label} {LOWER}",
            lambda item, measure=one.label: cell(item, measure),
        )
        for one in measures
    ]


def _column(
    part: Comparison, measure: Measure, names: Sequence[str], letters: Mapping[str, str], digits: int | None
) -> dict[str, NumberCell | None]:
    """Return the value of each system by one measure, the best marked, and what it is shown to be better than."""
    values = {name: part.evaluations[name][measure].reported() for name in names}
    return _cells(measure, values, _marks(part, measure, names, letters), digits)


def _cells(
    measure: Measure, values: Mapping[str, float], marks: Mapping[str, str], digits: int | None
) -> dict[str, NumberCell | None]:
    """Return the cells of systems by one measure, the best marked."""
    known = [value for value in values.values() if measure.is_quality and not math.isnan(value)]
    best = (max if measure.higher_is_better else min)(known) if known else math.nan
    shown = format_cell(best, digits)
    room = max(map(len, marks.values()), default=0)
    return {
        name: None
        if math.isnan(value)
        else NumberCell(
            value, "ranked", marks=marks.get(name, ""), is_best=format_cell(value, digits) == shown, room=room
        )
        for name, value in values.items()
    }


def _marks(part: Comparison, measure: Measure, names: Sequence[str], letters: Mapping[str, str]) -> dict[str, str]:
    """Return the marks of each system: daggers against the baseline, letters of those that it beats, or its tier."""
    own = [pair for pair in part.pairs if pair.measure == measure.label and measure.is_quality]
    if part.design.baseline is None and len(names) > len(ALPHABET):
        return _tiers(part, measure, own)
    order = {name: place for place, name in enumerate(letters)}
    daggers, beaten = dict.fromkeys(names, ""), {name: list[tuple[int, str]]() for name in names}
    for pair in own:
        winner = favoured(pair, measure, part.design)
        if winner is None:
            continue
        unsure = DOUBT if doubt(pair, part.design) else ""
        if letters:
            beaten[winner].append((order[pair.baseline if winner == pair.system else pair.system], unsure))
        else:
            daggers[pair.system] = (BETTER if winner == pair.system else WORSE) + unsure
    return {name: _ranges(found, list(letters.values())) for name, found in beaten.items()} if letters else daggers


def _tiers(part: Comparison, measure: Measure, own: Sequence[Pair]) -> dict[str, str]:
    """Return the number of the tier of each system; no marks where no difference is significant."""
    names = best_first(part.evaluations, measure)
    place = {name: n for n, name in enumerate(names)}
    better = np.zeros((len(names), len(names)), np.bool_)
    for pair in own:
        winner = favoured(pair, measure, part.design)
        if winner is not None:
            better[place[winner], place[pair.baseline if winner == pair.system else pair.system]] = True
    tiers = tiers_of(range(len(names)), better)
    return {name: str(tier) if better.any() else "" for name, tier in zip(names, tiers.tolist(), strict=True)}


def _ranges(found: Sequence[tuple[int, str]], named: Sequence[str]) -> str:
    """Return letters in order, three and more neighbours as a range: ``acf-k``; those in doubt have a question mark."""
    texts = []
    for (_, unsure), run in groupby(enumerate(sorted(found)), key=lambda item: (item[1][0] - item[0], item[1][1])):
        places = [place for _, (place, _) in run]
        own = [f"{named[place]}{unsure}" for place in places]
        texts += [f"{own[0]}-{own[-1]}"] if len(own) > 2 and not unsure else own
    return "".join(texts)


def _caption(comparison: Comparison, parts: Sequence[Comparison], columns: Sequence[str], marks: str) -> Iterator[str]:
    """Give the sentences of the caption: what the numbers are, what is bold and marked, and what ties count."""
    design, n_clusters = comparison.design, clusters_of(comparison)
    over = size_of(pair for part in parts for pair in part.pairs)
    yield from _numbers(comparison.measures, over, f" in each stratum by {' and '.join(columns)}" if columns else "")
    said = [f"{mark} significantly {what}" for mark, what in ((BETTER, "better"), (WORSE, "worse")) if mark in marks]
    if design.baseline is not None:
        than = f"{', '.join(said)} than {design.baseline}."
        yield than if said else f"No difference from {design.baseline} is significant."
    elif marks and len(comparison.evaluations) > len(ALPHABET):
        yield "Numbers behind a number: tiers, of which the first holds all systems that the best is not significantly"
        yield "better than, the second those of the others, and so on."
    elif marks:
        yield "Letters behind a number: the systems that it is significantly better than."
    else:
        yield "No difference between two systems is significant."
    if design.baselines:
        yield f"Only differences from {three(design.baselines, ' and ')} were tested."
    if DOUBT in marks:
        yield "A question mark: p is in doubt, as the queries are few or the differences skewed."
    test = TESTS[design.test] if TESTS[design.test][0].isupper() else f"a {TESTS[design.test]}"
    clusters = "" if n_clusters is None else f", by {counted(n_clusters, 'cluster')}"
    level, corrected = f"{1 - design.confidence_level:.3g}", corrected_by(design, has_strata=len(parts) > 1)
    yield f"Significant: p < {level} by {test}{clusters}, {design.alternative}, {corrected}."
    yield _of_ties(next(iter(comparison.evaluations.values())).ties, whole(design.rng))


def _numbers(measures: Sequence[Measure], over: str, by: str = "") -> Iterator[str]:
    """Say what the numbers of a table are, and what is bold."""
    kinds = {"totals" if one.total else "geometric means" if one.geometric else "means" for one in measures}
    what, noun = " and ".join(sorted(kinds)).capitalize(), "query" if over == "1" else "queries"
    yield f"{what} over {over} {noun}{by}; the best of each measure is bold."
    lower = [one.label for one in measures if not one.higher_is_better]
    if lower:
        yield f"Of {', '.join(lower)} ({LOWER}) less is better."


def _of_ties(ties: str, seed: int | None) -> str:
    named, _, rule = broken_by(ties, seed).partition(": ")
    return f"Ties: {rule or named}."


def compact_scores(evaluations: Sequence[Evaluation], *, seed: int | None = None, digits: int | None = None) -> Table:
    """Return the table of a paper for systems that are not compared: a row each, a column a measure, the best bold."""
    measures, counts = evaluations[0].measures, sorted({one.n_queries for each in evaluations for one in each})
    cells = {
        one.label: _cells(one, {each.name: each[one].reported() for each in evaluations}, {}, digits)
        for one in measures
    }
    shown = _columns(measures, lambda name, measure: cells[measure][name])
    over = "-".join(f"{n:,}" for n in dict.fromkeys([counts[0], counts[-1]]))
    caption = [*_numbers(measures, over), _of_ties(evaluations[0].ties, seed)]
    names = [one.name for one in evaluations]
    return tabulate("scores", (replace(SYSTEM, of=str),), shown, names, caption=" ".join(caption), main=-1)
