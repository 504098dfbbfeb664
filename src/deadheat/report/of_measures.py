"""Reports on measures: the catalogue, the page of one, and which to use when."""

import dataclasses
import inspect
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from deadheat.measures import Measure, measures
from deadheat.measures.base import other_names, trec_names
from deadheat.measures.guide import USES, Use, reading
from deadheat.measures.notation import meaning
from deadheat.report.model import (
    Column,
    Fact,
    Report,
    said,
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
    parameters = {name: _parameters(measure) for name, measure in measures().items()}
    closing = (
        "A cutoff follows @, parameters are in parentheses: nDCG@10, P(rel=2)@5.\n"
        "One of them, and which to use when:\n"
        "  deadheat measures nDCG\n"
        "  deadheat measures --for top3"
    )
    name = Column("measure", "measure", lambda one: one.__name__)
    table = tabulate("measures", [name], columns, measures().values())
    return Report((table,), (Fact("parameters", parameters),), closing=closing)


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
    facts = [
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
        Fact("bands", [{"value": value, "meaning": meaning} for value, meaning in read.bands]),
        *(said("reading", f"{value}: {meaning}") for value, meaning in read.bands),
        _targets(dict(read.targets)),
        *_listed("notes", "note", read.notes),
        Fact("meaning", meant, "the name", f"read as {meant}" if meant else ""),
        Fact("uses", uses, "good for", ", ".join(uses)),
        Fact("references", references, "references", references),
    ]
    return Report((), tuple(facts), heading=heading)


def _paragraphs(measure: type[Measure], section: str = "") -> list[str]:
    """Return the paragraphs of a docstring's section as plain text, without its formulas, which are LaTeX.

    Parameters
    ----------
    measure : type of Measure
    section : str, optional
        The paragraphs above all sections, of which there is at least one.
    """
    lead, *sections = SECTION.split(inspect.cleandoc(measure.__doc__ or ""))
    own = lead if not section else dict(zip(sections[::2], sections[1::2], strict=True)).get(section, "")
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


def _listed(key: str, heading: str, texts: Sequence[str]) -> Iterator[Fact]:
    yield Fact(key, list(texts))
    yield from (said(heading, text) for text in texts)


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
    closing = "The reasons:\n  deadheat measures --for top3"
    return Report((tabulate("uses", [Column("use", "--for", lambda use: use.key)], columns, uses),), closing=closing)


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
    note = f"there is no advice for {number[0]} results; {use.key} is the nearest" if number and is_nearest else ""
    facts = [
        Fact("use", use.key),
        Fact("title", use.title),
        Fact("note", note or None, "note", note),
        Fact("measures", list(use.measures), "measures", " ".join(use.measures)),
        Fact("why", use.why, "why", use.why),
    ]
    known = dict(pair for name in dict.fromkeys(map(_name, use.measures)) for pair in reading(name).targets)
    facts.append(_targets({measure: known[measure] for measure in use.measures if measure in known}))
    options = " ".join(f"-m {measure}" for measure in use.measures)
    closing = f"Try:\n  deadheat evaluate QRELS RUN {options}"
    return Report((), tuple(facts), heading=f"{use.key}: {use.title}", closing=closing)
