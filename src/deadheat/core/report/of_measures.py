"""Reports of measures: all, one, and which to use; how a number was made, step by step; and the demo."""

import dataclasses
import inspect
import math
import re
from collections.abc import Iterable, Mapping, Sequence

from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.measures import Measure, measures
from deadheat.core.measures.guide import USES, Use, reading
from deadheat.core.measures.meanings import meaning
from deadheat.core.measures.registration import other_names, trec_names
from deadheat.core.report.conventions import TIE_HEADINGS
from deadheat.core.report.model import (
    MEASURE,
    SYSTEM,
    Column,
    Fact,
    Report,
    prose_fact,
    tabulate,
)
from deadheat.core.wording import BY_DOC_ID

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
BETTER = {
    "-": "a count, whose sum over queries is reported",
    "higher": "higher is better",
    "lower": "lower is better",
}
"""What is said of the direction of a measure."""


def report_catalogue() -> Report:
    """Return the report of all measures."""
    columns = (
        Column("title", "title"),
        Column("range", "range", _range, spare=1),
        Column("better", "better", _direction, spare=2),
        Column("aliases", "aliases", lambda measure: tuple(other_names(measure)), spare=3),
    )
    name_column = Column("measure", "measure", lambda measure: measure.__name__)
    parameters = {name: _parameters(measure) for name, measure in measures().items()}
    return Report(
        (tabulate("measures", [name_column], columns, measures().values()),),
        (Fact("parameters", parameters),),
        closing="A cutoff follows @, parameters are in parentheses: nDCG@10, P(rel=2)@5.\n"
        "One of them, and which to use when:\n"
        "  deadheat measures nDCG\n"
        "  deadheat measures --for top3",
    )


def _range(measure: type[Measure]) -> str:
    low, high = measure.range
    return f"{low:g}..{high:g}"


def _direction(measure: type[Measure]) -> str:
    """Return whether higher or lower is better; "-" of a count, of which neither is."""
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
    heading = f"{name}: {measure.title}"
    if notation not in ("", name):
        heading += f" (asked for as {notation})"
    summary, *text = _paragraphs(measure) or [""]
    formula = vars(measure).get("formula", "")  # that of another class is not its own
    meaning_of_name = meaning(notation or name, name)
    facts = [
        Fact("measure", name),
        Fact("title", measure.title),
        Fact("summary", summary, "what it is", summary),
        Fact("formula", formula, "formula", formula),
        *_list_texts("text", "", text),
        _tell_range(measure),
        Fact("better", _direction(measure)),
        *_tell_parameters(measure),
        *_tell_names(measure),
        *_tell_reading(measure),
        Fact("meaning", meaning_of_name, "the name", f"read as {meaning_of_name}" if meaning_of_name else ""),
        _tell_uses(name),
        _tell_references(measure),
    ]
    return Report((), tuple(facts), heading=heading)


def _tell_range(measure: type[Measure]) -> Fact:
    """Say between which values a measure lies, and which are better."""
    ends = [end if math.isfinite(end) else None for end in measure.range]
    return Fact("range", ends, "range", f"{_range(measure)}, {BETTER[_direction(measure)]}")


def _tell_parameters(measure: type[Measure]) -> list[Fact]:
    """Say what the parameters of a measure mean."""
    parameters = _parameters(measure)
    facts = [Fact("parameters", parameters)]
    for name, parameter in parameters.items():
        text = f"{name}={parameter['default']!r}: {parameter['meaning']}; {parameter['allowed']}"
        facts.append(prose_fact("parameters", text))
    return facts


def _tell_names(measure: type[Measure]) -> list[Fact]:
    """Say by which other names a measure is known, and which trec_eval has."""
    aliases = other_names(measure)
    names_in_trec_eval = [template.format("k") for template in trec_names(measure)]
    return [
        Fact("aliases", aliases, "also read as", " ".join(aliases)),
        Fact("trec_eval", names_in_trec_eval, "in trec_eval", ", ".join(names_in_trec_eval)),
    ]


def _tell_reading(measure: type[Measure]) -> list[Fact]:
    """Say how values of a measure are read: what some mean, which to aim at, and what to keep in mind."""
    advice = reading(measure.__name__)
    facts = [Fact("bands", [{"value": value, "meaning": value_meaning} for value, value_meaning in advice.bands])]
    for value, value_meaning in advice.bands:
        facts.append(prose_fact("reading", f"{value}: {value_meaning}"))
    facts.append(_tell_targets(dict(advice.targets)))
    facts += _list_texts("notes", "note", advice.notes)
    return facts


def _tell_uses(name: str) -> Fact:
    """Say which uses a measure suits."""
    uses = []
    for use in USES.values():
        if name in map(_class_name, use.measures):
            uses.append(use.key)
    return Fact("uses", uses, "good for", ", ".join(uses))


def _tell_references(measure: type[Measure]) -> Fact:
    """Give the references of a measure."""
    references = " ".join(_paragraphs(measure, "References"))
    return Fact("references", references, "references", references)


def _paragraphs(measure: type[Measure], section: str = "") -> list[str]:
    """Return the paragraphs of a docstring's section as plain text, without its formulas, which are LaTeX.

    Parameters
    ----------
    measure : type of Measure
    section : str, optional
        The paragraphs above all sections, of which there is at least one.
    """
    lead, *names_and_texts = SECTION.split(inspect.cleandoc(measure.__doc__ or ""))
    text_by_section = {"": lead}
    text_by_section |= zip(names_and_texts[::2], names_and_texts[1::2], strict=True)
    text = text_by_section.get(section, "")
    text = text.replace(".. math::\n\n", ".. math::\n").strip()  # a formula is one paragraph with its directive
    paragraphs = re.split(r"\n{2,}", text)
    return [_plain(paragraph) for paragraph in paragraphs if not paragraph.startswith(".. math::")]


def _plain(text: str) -> str:
    r"""Return reStructuredText as a plain paragraph.

    Examples
    --------
    >>> _plain(r"with :math:`C_k` of ``rel`` or more; as `RR`")
    'with C_k of rel or more; as RR'
    """
    return " ".join(re.sub(r":\w+:`~?", "`", text).replace("`", "").split())


def _list_texts(key: str, heading: str, texts: Sequence[str]) -> list[Fact]:
    """Return texts as a list for programs, and each for people."""
    return [Fact(key, list(texts)), *(prose_fact(heading, text) for text in texts)]


def _tell_targets(values: Mapping[str, float]) -> Fact:
    """Say which values to aim at, by the notation of a measure."""
    text = ", ".join(f"{notation} > {value:.2f}" for notation, value in values.items())
    return Fact("targets", values, "target", text)


def _class_name(notation: str) -> str:
    """Return the part of a notation that names the class, without a cutoff and parameters."""
    return re.split("[@(]", notation)[0]


def _parameters(measure: type[Measure]) -> dict[str, dict[str, object]]:
    """Return what is said of each parameter of a measure."""
    parameters = {}
    for field in dataclasses.fields(measure):
        parameters[field.name] = {
            "default": field.default,
            "meaning": field.metadata["meaning"],
            "allowed": field.metadata["check"].allowed,
        }
    return parameters


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
    doubt = _doubt_number(asked, use)
    targets: dict[str, float] = {}
    for name in dict.fromkeys(map(_class_name, use.measures)):
        targets.update(reading(name).targets)
    facts = (
        Fact("use", use.key),
        Fact("title", use.title),
        Fact("note", doubt or None, "note", doubt),
        Fact("measures", list(use.measures), "measures", " ".join(use.measures)),
        Fact("why", use.why, "why", use.why),
        _tell_targets({measure: targets[measure] for measure in use.measures if measure in targets}),
    )
    options = " ".join(f"-m {measure}" for measure in use.measures)
    return Report(
        (), facts, heading=f"{use.key}: {use.title}", closing=f"Try:\n  deadheat evaluate QRELS RUN {options}"
    )


def _doubt_number(asked: str, use: Use) -> str:
    """Return a note if another number of results was asked for than the use is about, such as top4 for top3."""
    asked_number = re.search(r"\d+$", asked.strip())
    number = re.search(r"\d+$", use.key)
    if asked_number is None or number is None or int(asked_number[0]) == int(number[0]):
        return ""
    return f"there is no advice for {asked_number[0]} results; {use.key} is the nearest"


HEADINGS_OF_DEMO = {**TIE_HEADINGS, "doc_id": "doc_id"}  # a screen has no room for several lines
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
    columns = []
    for rule in TIE_HEADINGS:
        columns.append(Column(rule, HEADINGS_OF_DEMO[rule], lambda row, rule=rule: row["by_rule"][rule].mean))
    columns.append(Column("tie_std", "tie std", lambda row: row["by_rule"]["expected"].mean_tie_std, spare=1))
    rows = []
    for measure in MEASURES:
        best_first = sorted(systems, key=lambda name: -systems[name]["expected"][measure].mean)
        for name in best_first:
            scores_by_rule = {rule: evaluation[measure] for rule, evaluation in systems[name].items()}
            rows.append({"measure": measure, "system": name, "by_rule": scores_by_rule})
    table = tabulate("scores", (MEASURE, SYSTEM), columns, rows, main=list(TIE_HEADINGS).index("expected"))
    explanation = (
        f"doc_id: {BY_DOC_ID}; input: order of the file; exact: mean over all orders; tie std: their standard deviation"
    )
    return Report(
        (table,),
        (prose_fact("ties", explanation), _tell_best_system(systems), source),
        heading="Four LLM rerankers, grades 0 to 3: only the order of equal scores differs",
        closing=closing,
    )


def _tell_best_system(systems: Mapping[str, Mapping[str, Evaluation]]) -> Fact:
    """Say which system leads by which rule, by the first measure."""
    measure = MEASURES[0]
    best_by_rule = {}
    headings_by_system: dict[str, list[str]] = {}
    for rule, heading in HEADINGS_OF_DEMO.items():
        best = max(systems, key=lambda name: systems[name][rule][measure].mean)
        best_by_rule[rule] = best
        headings_by_system.setdefault(best, []).append(heading)
    leaders = [f"{name} ({', '.join(headings)})" for name, headings in headings_by_system.items()]
    return Fact("best_system", best_by_rule, "best system", f"by {measure}: {', '.join(leaders)}")
