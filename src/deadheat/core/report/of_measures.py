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
            prose_fact("parameters", f"{key}={about['default']!r}: {about['meaning']}; {about['allowed']}")
            for key, about in parameters.items()
        ),
        Fact("aliases", other_names(measure), "also read as", " ".join(other_names(measure))),
        Fact("trec_eval", in_trec, "in trec_eval", ", ".join(in_trec)),
        Fact("bands", [{"value": value, "meaning": meant_by} for value, meant_by in read.bands]),
        *(prose_fact("reading", f"{value}: {meant_by}") for value, meant_by in read.bands),
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
    return [Fact(key, list(texts)), *(prose_fact(heading, text) for text in texts)]


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
    columns = (
        *(
            Column(rule, HEADINGS_OF_DEMO[rule], lambda row, rule=rule: row["by_rule"][rule].mean)
            for rule in TIE_HEADINGS
        ),
        Column("tie_std", "tie std", lambda row: row["by_rule"]["expected"].mean_tie_std, spare=1),
    )
    rows = [
        {"measure": measure, "system": name, "by_rule": {rule: one[measure] for rule, one in by_rule.items()}}
        for measure in MEASURES
        for name, by_rule in sorted(systems.items(), key=lambda item: -item[1]["expected"][measure].mean)
    ]
    measure = MEASURES[0]
    best = {rule: max(systems, key=lambda name: systems[name][rule][measure].mean) for rule in TIE_HEADINGS}
    leaders = ", ".join(
        f"{name} ({', '.join(HEADINGS_OF_DEMO[rule] for rule in TIE_HEADINGS if best[rule] == name)})"
        for name in dict.fromkeys(best.values())
    )
    return Report(
        (tabulate("scores", (MEASURE, SYSTEM), columns, rows, main=list(TIE_HEADINGS).index("expected")),),
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
