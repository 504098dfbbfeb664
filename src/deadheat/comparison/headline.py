"""Headline: a verdict in at most fifteen plain words (names of systems count as one), never stronger than it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deadheat.measures import Measure
from deadheat.wording import rounded

# by the outcome of a verdict, or the key of its first sentence (`FIRST` in verdict.py) where there is one of that name
HEADLINES = {
    "no quality": "Nobody leads: {measures} cannot say how good a system is.",
    "none": "Nothing to compare: no {query} has {measure} of both systems.",
    "shared": "No clear winner: {best} share the best {measure}.",
    "equal": "No winner: {baseline} and {system} are equal by {measure} on every {query}.",
    "same mean": "No winner: {baseline} and {system} have the same {mean} {measure}.",
    "one query": "{leader} leads {runner_up} by {measure}, but one {query} proves nothing.",
    "better": "{leader} beats {runner_up}{size}.",
    "better if": "{leader} beats {runner_up}{size}, but {doubts} could reverse it.",
    "few": "{leader} leads {runner_up} by {measure}, but {n_units} prove little.",
    "few differ": "{leader} leads {runner_up} by {measure}, but too few {nouns} differ to prove it.",
    "in doubt": "No clear winner: {leader} leads {runner_up} by {measure}, but chance may explain it.",
    "behind": "No clear winner: {leader} does not lead {runner_up} over the {nouns} of both.",
    "contradicted": "No clear winner: by {measure}, the means and the {test} test disagree.",
    "not shown": "No clear winner: {leader} and {runner_up} cannot be told apart by {measure}.",
    "one-sided": "No clear winner: {leader} is not shown better than {runner_up} by {measure}.",
    "equivalent": "No clear winner: {system} and {baseline} are equivalent within {margin:g} {measure}.",
    "no worse": "No clear winner, but {system} is no worse than {baseline} within {margin:g} {measure}.",
    "strata": "By {measure}, {leader} leads in {n_led} of {strata}, by more than chance in {n_shown}.",
    "open strata": "No clear winner: no lead by {measure} in {strata} is more than chance.",
}
OF_MARGIN = ("not shown", "same mean")  # outcomes of which a margin says more


def headline(kind: str, words: Mapping[str, Any], doubts: Sequence[str] = ()) -> str:
    """Return the headline of an outcome.

    Parameters
    ----------
    kind : str
        A key of `HEADLINES`.
    words : mapping
        The fields of the verdict, and what else its sentences are made of.
    doubts : sequence of str
        What could reverse a lead that is more than chance, such as "ties".
    """
    if kind in OF_MARGIN and (words.get("equivalent") or words.get("no_worse")):
        kind = "equivalent" if words["equivalent"] else "no worse"
    elif kind == "not shown" and words["sided"]:
        kind = "one-sided"
    elif kind == "better" and doubts:
        kind = "better if"
    held = {"doubts": " and ".join(filter(None, (", ".join(doubts[:-1]), *doubts[-1:])))}
    if len(doubts) > 1:  # no room for the size
        held["size"] = f" by {words['measure']}"
    return HEADLINES[kind].format_map({**words, **held})


def size_of(difference: float, measure: Measure) -> str:
    """Return how large a lead is, in points where a measure goes from 0 to 1.

    Examples
    --------
    >>> from deadheat import MR, nDCG
    >>> size_of(0.0412, nDCG @ 10), size_of(0.0098, nDCG @ 10), size_of(-1.25, MR())
    (' by about 4.1 points of nDCG@10', ' by about 0.98 points of nDCG@10', ' by about 1.2 in MR')
    """
    if measure.geometric:
        return f" by {measure.label}"  # its differences are those of logarithms
    is_share = max(map(abs, measure.range)) <= 1 and not measure.total
    size = abs(difference) * (100 if is_share else 1)
    decimals = max(0, 1 - math.floor(math.log10(size))) if size else 0
    number = rounded(size, decimals)
    number = number.rstrip("0").rstrip(".") if "." in number else number
    points = f" {'point' if number == '1' else 'points'} of" if is_share else " in"
    return f" by about {number}{points} {measure.label}"
