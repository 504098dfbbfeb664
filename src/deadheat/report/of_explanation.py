"""The report of an explanation: which tools compute so, with what settings, and what ties alone allow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from deadheat.report.model import Cell, Column, Fact, Report, tabulate
from deadheat.report.numbers import format_cell
from deadheat.report.totals import count_cell
from deadheat.wording import counted, three

if TYPE_CHECKING:
    from deadheat.explanation.explanation import Explanation, Match
    from deadheat.measures import Measure

MOST = 10  # ways that people are shown
DOUBTFUL = 0.05  # a chance of a match by accident that is mentioned
NO_TOOL = "no known tool"


def report_explanation(explanation: Explanation, qrels: str = "", *, for_people: bool = True) -> Report:
    """Return the report of an explanation.

    Parameters
    ----------
    explanation : Explanation
    qrels : str, default ""
        What the qrels are called.
    for_people : bool, default True
        Whether to list the first ways only.
    """
    shown = explanation.matches or explanation.nearest
    if for_people:
        shown = shown[:MOST]
    is_match = bool(explanation.matches)
    columns = (
        *(
            Column(one.label, one.label, lambda match, one=one: _cell(one, match.values[one.label]))
            for one in (reported.measure for reported in explanation.reported)
        ),
        Column("fits", "fits", lambda _: is_match, is_data=True),
    )
    labels = (Column("tool", "tool", lambda one: one.tool or NO_TOOL), Column("settings", "settings", _settings))
    title, key = ("", "matches") if is_match else ("The nearest ways", "nearest")
    facts = tuple(_facts(explanation, qrels, for_people=for_people))
    return Report((tabulate(key, labels, columns, shown, title=title),), facts, heading=_heading(explanation))


def _cell(measure: Measure, value: float) -> Cell:
    return count_cell(value) if measure.total else value


def _settings(one: Match) -> str:
    return f"as {one.nearest}, but {one.told}" if not one.tool and one.changes else one.told


def _heading(explanation: Explanation) -> str:
    """Say what was found in one line."""
    given = ", ".join(f"{one.measure.label} = {one.text}" for one in explanation.reported)
    if not explanation.matches:
        return f"Nothing that was tried reproduces {given}"
    tools = explanation.tools
    who = " and ".join([", ".join(tools[:-1]), tools[-1]] if len(tools) > 1 else tools) or NO_TOOL
    return f"{who} {'give' if len(tools) > 1 else 'gives'} {given}, of the tools and options that were tried"


def _facts(explanation: Explanation, qrels: str, *, for_people: bool) -> Iterator[Fact]:
    yield Fact("run", explanation.name, "run", explanation.name + (f" on {qrels}" if qrels else ""))
    yield Fact("reported", {one.measure.label: one.text for one in explanation.reported})
    lacking = explanation.missing_queries  # what many numbers differ in
    yield Fact("n_queries", explanation.n_queries)
    text = (
        f"{len(lacking):,} of {counted(explanation.n_queries, 'query', 'queries')} in the qrels ({three(lacking)}):"
        " some tools count them as 0, others leave them out"
    )
    yield Fact("missing_queries", list(lacking), "missing queries", text if lacking else "", is_note=True)
    percent = [one.measure.label for one in explanation.reported if one.is_percent]
    yield Fact("percent", percent, "percent", f"read as percentages: {', '.join(percent)}" if percent else "")
    tools = len(explanation.tools)
    fit = f"{len(explanation.matches):,} of {counted(explanation.n_tried, 'combination')} of conventions"
    fit += f", of {counted(tools, 'known tool')}" if tools else ", of no known tool" if explanation.matches else ""
    yield Fact("n_tried", explanation.n_tried)
    yield Fact("n_matches", len(explanation.matches), "fit", fit)
    yield Fact("tools", list(explanation.tools))
    if len(explanation.reported) > 1:
        alone = ", ".join(f"{name} {n:,}" for name, n in explanation.fitting.items())
        yield Fact("fitting", dict(explanation.fitting), "each alone", alone)
    chance = explanation.chance
    doubt = (
        f"{counted(explanation.n_values, 'different value')} found: one fits a random number of these digits between"
        f" them with a probability of {chance:.0%}; give more digits, or more measures"
    )
    yield Fact("chance", chance, "chance", doubt if chance >= DOUBTFUL and explanation.matches else "")
    n_held = explanation.n_queries - len(lacking)
    for one in explanation.reported:
        name, found = one.measure.label, explanation.ranges[one.measure.label]
        low, mean, high = (format_cell(_cell(one.measure, end)) for end in (found.low, found.mean, found.high))
        inside = "the reported number is inside" if found.is_inside else "no order gives the reported number"
        over = f" over the {counted(n_held, 'query', 'queries')} of the run" if found.skips_missing else ""
        moved = f"{name} from {low} to {high}{over}, mean {mean}: {inside}"
        yield Fact("", None, "ties alone", moved)
    yield Fact(
        "ranges",
        {
            name: {"mean": one.mean, "low": one.low, "high": one.high, "skips_missing": one.skips_missing}
            for name, one in explanation.ranges.items()
        },
    )
    for one in explanation.reported:
        if not one.is_possible:
            lowest, highest = one.measure.range
            text = f"{one.measure.label} is between {lowest:g} and {highest:g} for any data: {one.text}"
            yield Fact("", None, "impossible", f"{text} is another measure's, or a slip", is_note=True)
    if not explanation.matches:
        if not for_people:
            yield Fact("", None, "no match", f"{_heading(explanation)}; the rows are the nearest ways", is_note=True)
        hint = "other judgments, another run or other queries, or a convention that deadheat does not know"
        yield Fact("", None, "what else", hint)
