"""The report of an explanation."""

from deadheat.core.measures import Measure
from deadheat.core.report.cells import format_cell
from deadheat.core.report.model import Column, Fact, Report, note_fact, prose_fact, registers_report, tabulate
from deadheat.core.report.totals import cell_of
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.compat.explanation import Explanation

MOST = 10  # ways that people are shown
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
    shown = explanation.matches or explanation.nearest
    shown = shown[:MOST] if for_people else shown
    is_match = bool(explanation.matches)
    columns = (
        *(
            Column(one.label, one.label, lambda match, one=one: cell_of(one, match.values[one.label]))
            for one in (reported.measure for reported in explanation.reported)
        ),
        Column("fits", "fits", lambda _: is_match, is_data=True),
    )
    labels = (
        Column("tool", "tool", lambda one: one.tool or NO_TOOL),
        Column(
            "settings",
            "settings",
            lambda one: f"as {one.nearest}, but {one.told}" if not one.tool and one.changes else one.told,
        ),
    )
    title, key = ("", "matches") if is_match else ("The nearest ways", "nearest")
    return Report(
        (tabulate(key, labels, columns, shown, title=title),),
        tuple(_facts(explanation, qrels, for_people=for_people)),
        heading=_heading(explanation),
    )


def _heading(explanation: Explanation) -> str:
    """Say what was found in one line."""
    given = ", ".join(f"{one.measure.label} = {one.text}" for one in explanation.reported)
    if not explanation.matches:
        return f"Nothing that was tried reproduces {given}"
    tools = explanation.tools
    who = " and ".join([", ".join(tools[:-1]), tools[-1]] if len(tools) > 1 else tools) or NO_TOOL
    return f"{who} {'give' if len(tools) > 1 else 'gives'} {given}, of the tools and options that were tried"


def _facts(explanation: Explanation, qrels: str, *, for_people: bool) -> list[Fact]:
    reported, lacking = explanation.reported, explanation.missing_queries  # the latter is what many numbers differ in
    n_tools, is_match, chance = len(explanation.tools), bool(explanation.matches), explanation.chance
    percent = [one.measure.label for one in reported if one.is_percent]
    queries = (
        f"{len(lacking):,} of {format_count(explanation.n_queries, 'query', 'queries')} in the qrels"
        f" ({format_list(lacking)})"
    )
    fit = f"{len(explanation.matches):,} of {format_count(explanation.n_tried, 'combination')} of conventions"
    fit += f", of {format_count(n_tools, 'known tool')}" if n_tools else ", of no known tool" if is_match else ""
    alone = ", ".join(f"{name} {n:,}" for name, n in explanation.fitting.items())
    doubt = (
        f"{format_count(explanation.n_values, 'different value')} found: one fits a random number of these digits"
        f" between them with a probability of {chance:.0%}; give more digits, or more measures"
    )
    ranges = {
        name: {key: getattr(one, key) for key in ("mean", "low", "high", "skips_missing")}
        for name, one in explanation.ranges.items()
    }
    slips = [
        f"{one.measure.label} is between {one.measure.range[0]:g} and {one.measure.range[1]:g} for any data: {one.text}"
        " is another measure's, or a slip"
        for one in reported
        if not one.is_possible
    ]
    hint = "other judgments, another run or other queries, or a convention that deadheat does not know"
    return [
        Fact("run", explanation.name, "run", explanation.name + (f" on {qrels}" if qrels else "")),
        Fact("reported", {one.measure.label: one.text for one in reported}),
        Fact("n_queries", explanation.n_queries),
        Fact(
            "missing_queries",
            list(lacking),
            "missing queries",
            f"{queries}: some tools count them as 0, others leave them out" if lacking else "",
            is_note=True,
        ),
        Fact("percent", percent, "percent", f"read as percentages: {', '.join(percent)}" if percent else ""),
        Fact("n_tried", explanation.n_tried),
        Fact("n_matches", len(explanation.matches), "fit", fit),
        Fact("tools", list(explanation.tools)),
        *([Fact("fitting", dict(explanation.fitting), "each alone", alone)] if len(reported) > 1 else []),
        Fact("chance", chance, "chance", doubt if chance >= DOUBTFUL and is_match else ""),
        *(prose_fact("ties alone", _moved(explanation, one.measure)) for one in reported),
        Fact("ranges", ranges),
        *(note_fact("impossible", text) for text in slips),
        note_fact(
            "no match", "" if for_people or is_match else f"{_heading(explanation)}; the rows are the nearest ways"
        ),
        prose_fact("what else", "" if is_match else hint),
    ]


def _moved(explanation: Explanation, measure: Measure) -> str:
    """Say what the order of ties alone makes of a measure."""
    found, n_held = explanation.ranges[measure.label], explanation.n_queries - len(explanation.missing_queries)
    low, mean, high = (format_cell(cell_of(measure, end)) for end in (found.low, found.mean, found.high))
    inside = "the reported number is inside" if found.is_inside else "no order gives the reported number"
    over = f" over the {format_count(n_held, 'query', 'queries')} of the run" if found.skips_missing else ""
    return f"{measure.label} from {low} to {high}{over}, mean {mean}: {inside}"
