"""Reports that explain: measures and which to use, how a number was made, step by step, and the demo."""

import dataclasses
import inspect
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from deadheat.errors import BY_DOC_ID, counted, three
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.steps import Steps
from deadheat.explanation.explain import Explanation
from deadheat.measures import Measure, measures
from deadheat.measures.base import other_names, trec_names
from deadheat.measures.guide import USES, Use, reading
from deadheat.measures.notation import meaning, unit_of
from deadheat.report.conventions import RULES, cell_of
from deadheat.report.model import (
    MEASURE,
    SYSTEM,
    Column,
    Fact,
    Report,
    count_cell,
    format_cell,
    note,
    ranks,
    said,
    shows,
    tabulate,
)

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def report_catalogue() -> Report:
    """Return the report of all measures."""
    columns = (
        Column("title", "title"),
        Column("range", "range", _range, spare=1),
        Column("better", "better", _direction, spare=2),
        Column("aliases", "aliases", lambda one: tuple(other_names(one)), spare=3),
    )
    name = Column("measure", "measure", lambda one: one.__name__)
    return Report(
        (tabulate("measures", [name], columns, measures().values()),),
        (Fact("parameters", {name: _parameters(measure) for name, measure in measures().items()}),),
        closing="A cutoff follows @, parameters are in parentheses: nDCG@10, P(rel=2)@5.\n"
        "One of them, and which to use when:\n"
        "  deadheat measures nDCG\n"
        "  deadheat measures --for top3",
    )


def _range(measure: type[Measure]) -> str:
    low, high = measure.range
    return f"{low:g}..{high:g}"


def _direction(measure: type[Measure]) -> str:
    if measure.total:
        return "-"
    return "higher" if measure.higher_is_better else "lower"


def report_measure(measure: type[Measure], notation: str = "") -> Report:
    """Return the page of a measure.

    Parameters
    ----------
    measure : type of Measure
    notation : str, optional
        What was asked for, if it is another name.
    """
    name = measure.__name__
    summary, *text = _paragraphs(measure) or [""]
    references = " ".join(_paragraphs(measure, "References"))
    formula = vars(measure).get("formula", "")  # that of another class is not its own
    in_trec = [template.format("k") for template in trec_names(measure)]
    uses = [use.key for use in USES.values() if name in map(_name, use.measures)]
    heading = f"{name}: {measure.title}" + (f" (asked for as {notation})" if notation not in ("", name) else "")
    better = {
        "-": "a count, whose sum over queries is reported",
        "higher": "higher is better",
        "lower": "lower is better",
    }
    meant, read, parameters = meaning(notation or name, name), reading(name), _parameters(measure)
    facts = (
        Fact("measure", name),
        Fact("title", measure.title),
        Fact("summary", summary, "what it is", summary),
        Fact("formula", formula, "formula", formula),
        *_listed("text", "", text),
        Fact(
            "range",
            [end if math.isfinite(end) else None for end in measure.range],
            "range",
            f"{_range(measure)}, {better[_direction(measure)]}",
        ),
        Fact("better", _direction(measure)),
        Fact("parameters", parameters),
        *(
            said("parameters", f"{key}={about['default']!r}: {about['meaning']}; {about['allowed']}")
            for key, about in parameters.items()
        ),
        Fact("aliases", other_names(measure), "also read as", " ".join(other_names(measure))),
        Fact("trec_eval", in_trec, "in trec_eval", ", ".join(in_trec)),
        Fact("bands", [{"value": value, "meaning": meant_by} for value, meant_by in read.bands]),
        *(said("reading", f"{value}: {meant_by}") for value, meant_by in read.bands),
        _targets(dict(read.targets)),
        *_listed("notes", "note", read.notes),
        Fact("meaning", meant, "the name", f"read as {meant}" if meant else ""),
        Fact("uses", uses, "good for", ", ".join(uses)),
        Fact("references", references, "references", references),
    )
    return Report((), facts, heading=heading)


def _paragraphs(measure: type[Measure], section: str = "") -> list[str]:
    """Return the paragraphs of a docstring's section as plain text, without its formulas, which are LaTeX.

    Parameters
    ----------
    measure : type of Measure
    section : str, optional
        The paragraphs above all sections, of which there is at least one.
    """
    lead, *sections = SECTION.split(inspect.cleandoc(measure.__doc__ or ""))
    own = dict(zip(["", *sections[::2]], [lead, *sections[1::2]], strict=True)).get(section, "")
    parts = re.split(r"\n{2,}", own.replace(".. math::\n\n", ".. math::\n").strip())
    return [_plain(part) for part in parts if not part.startswith(".. math::")]


def _plain(text: str) -> str:
    r"""Return reStructuredText as a plain paragraph.

    Examples
    --------
    >>> _plain(r"with :math:`C_k` of ``rel`` or more; as `RR`")
    'with C_k of rel or more; as RR'
    """
    return " ".join(re.sub(r":\w+:`~?", "`", text).replace("`", "").split())


def _listed(key: str, heading: str, texts: Sequence[str]) -> list[Fact]:
    return [Fact(key, list(texts)), *(said(heading, text) for text in texts)]


def _targets(values: dict[str, float]) -> Fact:
    return Fact("targets", values, "target", ", ".join(f"{name} > {value:.2f}" for name, value in values.items()))


def _name(notation: str) -> str:
    return re.split("[@(]", notation)[0]


def _parameters(measure: type[Measure]) -> dict[str, dict[str, object]]:
    return {
        field.name: {
            "default": field.default,
            "meaning": field.metadata["meaning"],
            "allowed": field.metadata["check"].allowed,
        }
        for field in dataclasses.fields(measure)
    }


def report_uses(uses: Iterable[Use]) -> Report:
    """Return the report of which measures suit which use."""
    columns = (Column("measures", "measures", lambda use: tuple(use.measures)), Column("title", "use"))
    return Report(
        (tabulate("uses", [Column("use", "--for", lambda use: use.key)], columns, uses),),
        closing="The reasons:\n  deadheat measures --for top3",
    )


def report_use(use: Use, *, asked: str = "") -> Report:
    """Return the report of which measures suit one use.

    Parameters
    ----------
    use : Use
    asked : str, optional
        What was asked for: another number of results gets a note.
    """
    number, own = (re.search(r"\d+$", text) for text in (asked.strip(), use.key))
    is_nearest = number is not None and own is not None and int(number[0]) != int(own[0])
    doubt = f"there is no advice for {number[0]} results; {use.key} is the nearest" if number and is_nearest else ""
    known = dict(pair for name in dict.fromkeys(map(_name, use.measures)) for pair in reading(name).targets)
    facts = (
        Fact("use", use.key),
        Fact("title", use.title),
        Fact("note", doubt or None, "note", doubt),
        Fact("measures", list(use.measures), "measures", " ".join(use.measures)),
        Fact("why", use.why, "why", use.why),
        _targets({measure: known[measure] for measure in use.measures if measure in known}),
    )
    options = " ".join(f"-m {measure}" for measure in use.measures)
    return Report(
        (), facts, heading=f"{use.key}: {use.title}", closing=f"Try:\n  deadheat evaluate QRELS RUN {options}"
    )


MOST = 10  # ways that people are shown
DOUBTFUL = 0.05  # a chance of a match by accident that is mentioned
NO_TOOL = "no known tool"


@shows(Explanation)
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
        f"{len(lacking):,} of {counted(explanation.n_queries, 'query', 'queries')} in the qrels ({three(lacking)})"
    )
    fit = f"{len(explanation.matches):,} of {counted(explanation.n_tried, 'combination')} of conventions"
    fit += f", of {counted(n_tools, 'known tool')}" if n_tools else ", of no known tool" if is_match else ""
    alone = ", ".join(f"{name} {n:,}" for name, n in explanation.fitting.items())
    doubt = (
        f"{counted(explanation.n_values, 'different value')} found: one fits a random number of these digits between"
        f" them with a probability of {chance:.0%}; give more digits, or more measures"
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
        *(said("ties alone", _moved(explanation, one.measure)) for one in reported),
        Fact("ranges", ranges),
        *(note("impossible", text) for text in slips),
        note("no match", "" if for_people or is_match else f"{_heading(explanation)}; the rows are the nearest ways"),
        said("what else", "" if is_match else hint),
    ]


def _moved(explanation: Explanation, measure: Measure) -> str:
    """Say what the order of ties alone makes of a measure."""
    found, n_held = explanation.ranges[measure.label], explanation.n_queries - len(explanation.missing_queries)
    low, mean, high = (format_cell(cell_of(measure, end)) for end in (found.low, found.mean, found.high))
    inside = "the reported number is inside" if found.is_inside else "no order gives the reported number"
    over = f" over the {counted(n_held, 'query', 'queries')} of the run" if found.skips_missing else ""
    return f"{measure.label} from {low} to {high}{over}, mean {mean}: {inside}"


HEADINGS = {
    "precision": "P at rank",
    "stops_here": "stops here",
    "part": "adds",
    "sum": "sum",
}
MEANINGS = {
    "gain": "gain and weight: of the relevance, and of the rank; in a tie the mean weight of its ranks",
    "precision": "P at rank: the precision at the rank of the document; in a tie the mean over its orders",
    "stops_here": "stop: the probability of stopping at such a document; stops here: of reaching it and stopping",
    "part": "adds: what the document adds to the sum; in a tie the mean over its orders",
}


@shows(Steps)
def of_steps(steps: Steps) -> Report:
    """Return the report of the steps by which a value comes about."""
    frame = steps.documents
    shown = [name for name in frame.columns if name not in {"first", "last", "doc_id"}]
    if not frame["score"].count():
        shown.remove("score")
    columns = [Column("first", "", is_data=True), Column("last", "", is_data=True), *map(_column, shown)]
    rank = Column("rank", "rank", lambda row: ranks(row["first"], row["last"]))
    tables = [tabulate("steps", (rank, Column("doc_id", "document")), columns, frame.to_dicts(), main=len(columns) - 1)]
    if steps.ideal is not None:
        ideal = [_column(name) for name in steps.ideal.columns if name != "rank"]
        rank, title = Column("rank", "rank", lambda row: f"{row['rank']}"), "The ideal ranking, whose sum is the IDCG"
        tables.append(tabulate("ideal", (rank,), ideal, steps.ideal.to_dicts(), title=title, main=len(ideal) - 1))
    return Report(
        tuple(tables),
        tuple(_facts_of_steps(steps)),
        heading=f"{steps.measure.label} = {format_cell(steps.value)}{unit_of(steps.measure)} for query {steps.query_id}"
        f" of {steps.name}",
    )


def _column(name: str) -> Column:
    counts = name in {"relevance", "gain", "score"}
    return Column(name, HEADINGS.get(name, name), (lambda row: count_cell(row[name])) if counts else None)


def _facts_of_steps(steps: Steps) -> list[Fact]:
    columns, total = steps.documents.columns, steps.documents["sum"].drop_nulls()
    what = "the sum" if "part" in columns else "sum: the value if the list ended with this tie"
    how = f"{format_cell(steps.value)}, {what}"
    if steps.lacks_relevant and math.isnan(steps.value):
        how = "none: no document is relevant, and the query is left out"
    elif steps.lacks_relevant:
        how = f"{format_cell(steps.value)}, as no document is relevant"
    elif steps.divisor != 1:
        last = format_cell(float(total[-1])) if len(total) else "0"
        how = f"{last} / {format_cell(count_cell(steps.divisor))} = {format_cell(steps.value)}"
    ends = [
        format_cell(one) for one in sorted((steps.tie_min, steps.tie_max), key=lambda end: steps.measure.sign * end)
    ]
    moved = f"from {ends[0]} in the worst order of the ties to {ends[1]} in the best" if ends[0] != ends[1] else ""
    means = "the exact mean over all orders of equal scores" if steps.ties == "expected" else f"the {steps.ties} order"
    listed = steps.documents["relevance"].null_count()
    more = "" if listed == steps.n_unjudged else f", {listed:,} of them listed" if listed else ", not listed"
    unjudged, missed = counted(steps.n_unjudged, "retrieved document"), counted(steps.n_missed, "relevant document")
    return [
        Fact("measure", steps.measure.label),
        Fact("query_id", steps.query_id),
        Fact("value", steps.value, "value", how),
        Fact("divisor", steps.divisor),
        Fact("ties", steps.ties, "ties", f"{means}; {moved}" if moved else "no order of equal scores changes it"),
        Fact("tie_min", steps.tie_min),
        Fact("tie_max", steps.tie_max),
        Fact("formula", steps.measure.formula, "formula", steps.measure.formula),
        *(said("columns", MEANINGS[name]) for name in columns if name in MEANINGS),
        Fact("n_unjudged", steps.n_unjudged, "unjudged", unjudged + more if steps.n_unjudged else ""),
        Fact("n_missed", steps.n_missed, "not retrieved", missed if steps.n_missed else ""),
    ]


HEADINGS_OF_DEMO = {**RULES, "doc_id": "doc_id"}  # a screen has no room for several lines
MEASURES = ("nDCG@10", "RR")


def report_demo(systems: Mapping[str, Mapping[str, Evaluation]], source: Fact, closing: str) -> Report:
    """Return the report of the demonstration.

    Parameters
    ----------
    systems : mapping
        Evaluations of `MEASURES` by system and tie policy.
    source : Fact
        Where the data comes from.
    closing : str
        What to try next.
    """
    columns = (
        *(Column(rule, HEADINGS_OF_DEMO[rule], lambda row, rule=rule: row["by_rule"][rule].mean) for rule in RULES),
        Column("tie_std", "tie std", lambda row: row["by_rule"]["expected"].mean_tie_std, spare=1),
    )
    rows = [
        {"measure": measure, "system": name, "by_rule": {rule: one[measure] for rule, one in by_rule.items()}}
        for measure in MEASURES
        for name, by_rule in sorted(systems.items(), key=lambda item: -item[1]["expected"][measure].mean)
    ]
    measure = MEASURES[0]
    best = {rule: max(systems, key=lambda name: systems[name][rule][measure].mean) for rule in RULES}
    leaders = ", ".join(
        f"{name} ({', '.join(HEADINGS_OF_DEMO[rule] for rule in RULES if best[rule] == name)})"
        for name in dict.fromkeys(best.values())
    )
    return Report(
        (tabulate("scores", (MEASURE, SYSTEM), columns, rows, main=list(RULES).index("expected")),),
        (
            Fact(
                "",
                None,
                "ties",
                f"doc_id: {BY_DOC_ID}; input: order of the file; exact: mean over all orders; tie std: their"
                " standard deviation",
            ),
            Fact("best_system", best, "best system", f"by {measure}: {leaders}"),
            source,
        ),
        heading="Four LLM rerankers, grades 0 to 3: only the order of equal scores differs",
        closing=closing,
    )
