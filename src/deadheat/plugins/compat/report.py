"""The report of an explanation."""

from collections.abc import Sequence

from deadheat.core.measures import Measure
from deadheat.core.report.cells import format_cell
from deadheat.core.report.model import Column, Fact, Report, Table, note_fact, prose_fact, registers_report, tabulate
from deadheat.core.report.totals import measure_cell
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.compat.explanation import Explanation, Match, Range

MOST_WAYS = 10  # that people are shown
DOUBTFUL = 0.05  # a chance of a match by accident that is mentioned
NO_TOOL = "no known tool"


@registers_report(Explanation)
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
    ways = explanation.matches or explanation.nearest
    if for_people:
        ways = ways[:MOST_WAYS]
    table = _tabulate_ways(explanation, ways)
    facts = _list_facts(explanation, qrels, for_people=for_people)
    return Report((table,), tuple(facts), heading=_format_heading(explanation))


def _tabulate_ways(explanation: Explanation, ways: Sequence[Match]) -> Table:
    """Return a row for each way, with the value of each measure."""
    is_match = bool(explanation.matches)
    labels = (Column("tool", "tool", lambda way: way.tool or NO_TOOL), Column("settings", "settings", _format_settings))
    columns = [_make_value_column(number.measure) for number in explanation.reported]
    columns.append(Column("fits", "fits", lambda _: is_match, is_data=True))
    if is_match:
        return tabulate("matches", labels, columns, ways)
    return tabulate("nearest", labels, columns, ways, title="The nearest ways")


def _make_value_column(measure: Measure) -> Column:
    return Column(measure.label, measure.label, lambda way: measure_cell(measure, way.values[measure.label]))


def _format_settings(way: Match) -> str:
    """Return the settings of a way in words; of one that no tool has, beside the nearest tool."""
    if not way.tool and way.changes:
        return f"as {way.nearest}, but {way.description}"
    return way.description


def _format_heading(explanation: Explanation) -> str:
    """Say in one line which tools give the numbers."""
    numbers = ", ".join(f"{number.measure.label} = {number.text}" for number in explanation.reported)
    if not explanation.matches:
        return f"Nothing that was tried reproduces {numbers}"
    *first_tools, last_tool = explanation.tools or (NO_TOOL,)
    subject = f"{last_tool} gives"
    if first_tools:
        subject = f"{', '.join(first_tools)} and {last_tool} give"
    return f"{subject} {numbers}, of the tools and options that were tried"


def _list_facts(explanation: Explanation, qrels: str, *, for_people: bool) -> list[Fact]:
    is_match = bool(explanation.matches)
    run = explanation.name
    if qrels:
        run += f" on {qrels}"
    texts_by_label = {number.measure.label: number.text for number in explanation.reported}
    facts = [
        Fact("run", explanation.name, "run", run),
        Fact("reported", texts_by_label),
        Fact("n_queries", explanation.n_queries),
        _tell_missing_queries(explanation),
        _tell_percentages(explanation),
        Fact("n_tried", explanation.n_tried),
        Fact("n_matches", len(explanation.matches), "fit", _describe_fit(explanation)),
        Fact("tools", list(explanation.tools)),
    ]
    if len(explanation.reported) > 1:
        counts = ", ".join(f"{label} {n_ways:,}" for label, n_ways in explanation.fitting.items())
        facts.append(Fact("fitting", dict(explanation.fitting), "each alone", counts))
    facts.append(_tell_chance(explanation))
    for number in explanation.reported:
        facts.append(prose_fact("ties alone", _describe_tie_range(explanation, number.measure)))
    ranges = {label: _to_dict(tie_range) for label, tie_range in explanation.ranges.items()}
    facts.append(Fact("ranges", ranges))
    facts += _tell_impossible_numbers(explanation)
    # data has no heading, so that a note says what it would
    no_match = ""
    if not for_people and not is_match:
        no_match = f"{_format_heading(explanation)}; the rows are the nearest ways"
    facts.append(note_fact("no match", no_match))
    hint = ""
    if not is_match:
        hint = "other judgments, another run or other queries, or a convention that deadheat does not know"
    facts.append(prose_fact("what else", hint))
    return facts


def _tell_missing_queries(explanation: Explanation) -> Fact:
    """Say which queries the run lacks: many numbers differ in what becomes of them."""
    missing = explanation.missing_queries
    text = ""
    if missing:
        n_all = format_count(explanation.n_queries, "query", "queries")
        text = (
            f"{len(missing):,} of {n_all} in the qrels ({format_list(missing)}):"
            " some tools count them as 0, others leave them out"
        )
    return Fact("missing_queries", list(missing), "missing queries", text, is_note=True)


def _tell_percentages(explanation: Explanation) -> Fact:
    """Say which numbers are read as percentages."""
    labels = [number.measure.label for number in explanation.reported if number.is_percent]
    text = ""
    if labels:
        text = f"read as percentages: {', '.join(labels)}"
    return Fact("percent", labels, "percent", text)


def _describe_fit(explanation: Explanation) -> str:
    """Say how many combinations fit, and of how many tools."""
    n_tools = len(explanation.tools)
    text = f"{len(explanation.matches):,} of {format_count(explanation.n_tried, 'combination')} of conventions"
    if n_tools:
        return f"{text}, of {format_count(n_tools, 'known tool')}"
    if explanation.matches:
        return f"{text}, of {NO_TOOL}"
    return text


def _tell_chance(explanation: Explanation) -> Fact:
    """Say how likely some way fits by accident, where that is likely."""
    chance = explanation.chance
    text = ""
    if chance >= DOUBTFUL and explanation.matches:
        text = (
            f"{format_count(explanation.n_values, 'different value')} found: one fits a random number of these digits"
            f" between them with a probability of {chance:.0%}; give more digits, or more measures"
        )
    return Fact("chance", chance, "chance", text)


def _describe_tie_range(explanation: Explanation, measure: Measure) -> str:
    """Say what the order of ties alone makes of a measure."""
    tie_range = explanation.ranges[measure.label]
    low = format_cell(measure_cell(measure, tie_range.low))
    mean = format_cell(measure_cell(measure, tie_range.mean))
    high = format_cell(measure_cell(measure, tie_range.high))
    queries = ""
    if tie_range.skips_missing:
        n_in_run = explanation.n_queries - len(explanation.missing_queries)
        queries = f" over the {format_count(n_in_run, 'query', 'queries')} of the run"
    inside = "the reported number is inside" if tie_range.is_inside else "no order gives the reported number"
    return f"{measure.label} from {low} to {high}{queries}, mean {mean}: {inside}"


def _to_dict(tie_range: Range) -> dict[str, float]:
    return {
        "mean": tie_range.mean,
        "low": tie_range.low,
        "high": tie_range.high,
        "skips_missing": tie_range.skips_missing,
    }


def _tell_impossible_numbers(explanation: Explanation) -> list[Fact]:
    """Say which numbers are outside the range of their measure."""
    facts: list[Fact] = []
    for number in explanation.reported:
        if number.is_possible:
            continue
        label = number.measure.label
        low, high = number.measure.range
        text = f"{label} is between {low:g} and {high:g} for any data: {number.text} is another measure's, or a slip"
        facts.append(note_fact("impossible", text))
    return facts
