"""What stands behind the numbers of a compact table: daggers, letters of the systems that are beaten, or tiers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import groupby

import numpy as np

from deadheat.core.design import Design
from deadheat.core.measures import Measure
from deadheat.core.report.cells import DOUBT
from deadheat.core.report.tiers import LETTERS, letter
from deadheat.core.stats.ranks import assign_tiers
from deadheat.core.wording import format_list, format_names
from deadheat.plugins.compare.comparison import Comparison
from deadheat.plugins.compare.deciding import explain_doubt, find_favourite
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.report import best_first

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


def assign_letters(kind: Marks, names: Sequence[str], design: Design) -> dict[str, str]:
    """Return the letters of the systems that marks name, in the order of the rows."""
    named: list[str] = []
    if kind is Marks.LETTERS:
        named = list(names)
    if kind is Marks.LETTERED_DAGGERS:
        named = [name for name in names if name in design.baselines]
    return {name: letter(place) for place, name in enumerate(named, start=1)}


def mark_systems(part: Comparison, measure: Measure, kind: Marks, letters: Mapping[str, str]) -> dict[str, str]:
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
    return DOUBT if explain_doubt(pair, part.design) else ""


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
        if (winner := find_favourite(pair, measure, part.design)) is not None:
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


def tell_marks(comparison: Comparison, parts: Sequence[Comparison], marks: str) -> list[str]:
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
