"""What the first screen of a page says: the headline, three numbers with a line each, and what all of it is about."""

import math
from pathlib import PurePath
from typing import NamedTuple

from deadheat.comparison.pairs import Pair
from deadheat.comparison.verdict import VAGUE, Verdict, number, signed
from deadheat.errors import NOISE, counted, percentage
from deadheat.measures import Measure
from deadheat.report.conventions import span_of_ties
from deadheat.report.model import format_cell
from deadheat.report.page.subject import Subject
from deadheat.settings import Design


class Glance(NamedTuple):
    """A number that a reader looks at first.

    Attributes
    ----------
    heading : str
    value, text : str
        The number, and the line that says what it is.
    """

    heading: str
    value: str
    text: str


def headline_of(subject: Subject, measure: Measure | None = None) -> str:
    """Return what was found in few words."""
    if subject.comparison is not None:
        return subject.comparison.judge(subject.margin, measure=measure).headline
    name, main = subject.ranked[0], subject.main if measure is None else measure
    scores = subject.evaluations[name][main]
    level, n = "total" if main.total else "mean", counted(scores.n_queries, "query", "queries")
    return f"{name} has a {level} {main.label} of {format_cell(scores.reported())} over {n}."


def about(subject: Subject) -> str:
    """Return what it is about in one line: qrels, queries, how ties were broken."""
    n, first = counted(len(subject.query_ids), "query", "queries"), subject.first
    return f"{PurePath(subject.qrels).name}: {n}, {counted(len(subject.ranked), 'system')}, ties: {first.ties}"


def glance(subject: Subject, measure: Measure | None = None) -> list[Glance]:
    """Return three numbers: how large the lead is, how often ties reverse it, what so many queries can show."""
    if subject.comparison is None:
        return _of_one(subject, subject.main if measure is None else measure)
    found = subject.comparison.judge(subject.margin, measure=measure)
    wanted, design = (found.measure, found.system, found.baseline), subject.comparison.design
    pair = next((one for one in subject.comparison.pairs if (one.measure, one.system, one.baseline) == wanted), None)
    return [_lead(found, design), _ties(pair), _smallest(found, design)]


def _of_one(subject: Subject, measure: Measure) -> list[Glance]:
    """Return the mean of the only system with its interval, and what ties make of it."""
    scores = subject.evaluations[subject.ranked[0]][measure]
    found = [Glance("level", format_cell(scores.reported()), f"{'total' if measure.total else 'mean'} {measure.label}")]
    if not measure.total and not math.isnan((interval := scores.interval()).low):
        ends = f"[{format_cell(interval.low)}, {format_cell(interval.high)}]"
        found.append(Glance("interval", ends, f"{100 * interval.confidence_level:g}% interval of the mean"))
    ties = span_of_ties(scores)
    if ties.high - ties.low <= NOISE:
        return [*found, Glance("ties", "none", "no order of equal scores changes it")]
    return [*found, Glance("ties", format_cell(ties), "what the order of equal scores alone can make of it")]


def _lead(found: Verdict, design: Design) -> Glance:
    if found.leader is None:
        return Glance("lead", "none", f"nobody leads by {found.measure}")
    text = f"{found.measure}, {found.leader} over {found.runner_up}"
    if not math.isnan(found.low) and found.low < found.high:
        text += f"; {100 * design.confidence_level:g}% interval {number(found.low)} to {number(found.high)}"
    return Glance("lead", signed(found.difference), text)


def _ties(pair: Pair | None) -> Glance:
    heading = "reversed by ties"
    if pair is None or math.isnan(pair.flip_probability):
        return Glance(heading, "-", "there is no lead to reverse")
    if pair.flip_method == "normal" and pair.flip_standard_error > VAGUE and pair.can_flip:
        return Glance(heading, "?", "how often is not known without the runs")
    return Glance(heading, percentage(pair.flip_probability), "of random orders of the tied scores")


def _smallest(found: Verdict, design: Design) -> Glance:
    heading = "difference that would be found"
    if found.detectable is None:
        return Glance(heading, "-", "not known for these data")
    level = f"{1 - design.confidence_level:.3g}"
    level += f"/{found.n_tests}, corrected by {design.correction.capitalize()}" if found.n_tests > 1 else ""
    n = counted(found.n_queries, "query", "queries")
    return Glance(heading, number(found.detectable), f"with {n} (power 80%, level {level})")
