"""What is made from the code: a page for each measure from the registry, the reference from the public names.

Also the answers of other tools, pages of the notebooks, with what their cells put out, and the picture of ties. All of
it is written to docs/made, which git ignores, before Sphinx reads.
"""

from __future__ import annotations

import inspect
import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner
from tie_picture import picture

import deadheat as dh
from deadheat.core.cli import main
from deadheat.core.hooks import commands_by_name
from deadheat.core.measures.base import Measure
from deadheat.core.measures.guide import USES
from deadheat.core.report.model import Fact
from deadheat.core.report.of_measures import report_measure
from support import tool_answers

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
MADE = DOCS / "made"
MATH = re.compile(r"^\.\. math::\s+(.+?)(?:\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)
# facts that have a place of their own in a measure's section
ELSEWHERE = {"measure", "title", "summary", "formula", "text", "better", "bands", "notes", "targets", "uses"}
FAMILIES = {
    "top": "The top of the list",
    "counts": "Counts",
    "first": "The first relevant document",
    "average": "Average precision",
    "averaged": "Averages over recall",
    "prefix": "Inferred from what is above",
    "discounted": "Discounted gain",
    "averaged_ndcg": "Graded averages",
    "cascade": "Cascades",
    "interpolated": "Interpolated precision",
    "largest": "The best document",
    "geometric": "Geometric means",
    "preference": "Preferences between documents",
    "sets": "Sets",
    "rank": "Ranks",
}
FIRST = {"evaluate", "compare", "gate"}  # in their parts of the reference
# where a name is, and what the reader is doing there; a folder that is not listed comes last under its own name
ROOMS = {
    "evaluation": "Evaluate",
    "comparison": "Compare",
    "gates": "Check",
    "data": "Qrels, runs and queries",
    "profile": "Ties of a run",
    "compat": "Explain a number",
    "placements": "Placements",
    "bench": "Labelled cases and retrievers",
    "io": "Files",
    "errors": "Errors and warnings",
    "notation": "Notation",
    "measures": "Measures",
}
# plugins whose names stand among those of the core
ALSO_IN = {
    "agree": "comparison",
    "columns": "evaluation",
    "languages": "comparison",
    "leaderboard": "comparison",
}


def escaped(text: str) -> str:
    """Return plain text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~^])", r"\\\1", text)


def linked(text: str) -> str:
    """Return plain text as Markdown in which addresses are links."""
    parts = re.split(r"(https?://[^\s,;)]*[^\s,;).])", text)
    return "".join(f"<{part}>" if at % 2 else escaped(part) for at, part in enumerate(parts))


def catalogue() -> str:
    """Return the index of all measures, in Markdown."""
    found = dh.measures()
    lines = [
        "# Measures",
        "",
        f"All {len(found)} measures. A cutoff follows `@`, parameters are in parentheses: `P(rel=2)@5`.",
        "`deadheat measures NAME` shows the same in a terminal.",
        "",
        "```{raw} html",
        '<label class="filter">Filter <input type="search" data-filters="#all-measures"></label>',
        "```",
        "",
        "## All measures",
        "",
        "| measure | what it is | family |",
        "|---|---|---|",
    ]
    families = {name: family_of(measure) for name, measure in found.items()}
    order = [*FAMILIES, *sorted(set(families.values()) - set(FAMILIES))]
    for name in sorted(found, key=lambda name: order.index(families[name])):
        family = FAMILIES.get(families[name], families[name].capitalize())
        lines.append(f"| [`{name}`](measures/{name}.md) | {escaped(found[name].title)} | {family} |")
    lines += ["", *uses(), "```{toctree}", ":hidden:", "", *(f"measures/{name}" for name in found), "```", ""]
    return "\n".join(lines)


def family_of(measure: type[Measure]) -> str:
    """Return the file that a measure is in; its plugin, if that has one file of measures."""
    *_, folder, file = measure.__module__.split(".")
    return folder if file == "measures" else file


def uses() -> Iterator[str]:
    """Yield a table of which measure to use when."""
    yield from ("## Which one to use", "", "| `--for` | use | measures | why |", "|---|---|---|---|")
    for use in USES.values():
        measures = " ".join(f"[`{name}`](measures/{base(name)}.md)" for name in use.measures)
        yield f"| `{use.key}` | {escaped(use.title)} | {measures} | {escaped(use.why)} |"
    yield ""


def base(notation: str) -> str:
    """Return the name of a measure, without parameters and cutoff."""
    return re.split(r"[@(]", notation)[0]


def measure_page(name: str) -> Iterator[str]:
    """Yield the page of one measure: in words, an example with a tie, the formula, and what its letters mean."""
    measure = dh.measures()[name]
    facts = report_measure(measure).facts
    yield from (f"(measure-{name})=", f"# {name}: {measure.title}", "")
    yield from (f"{linked(fact.text)}\n" for fact in facts if fact.key == "summary")
    yield from example(name)
    formulas = MATH.findall(inspect.cleandoc(measure.__doc__ or ""))
    if formulas or measure.formula:
        yield from ("## Formula", "")
    for latex in formulas:
        yield from ("```{math}", " ".join(latex.split()), "```", "")
    if measure.formula and not formulas:
        yield from ("```text", measure.formula, "```", "")
    yield from (f"{linked(fact.text)}\n" for fact in facts if not fact.key and not fact.heading and fact.text)
    yield from table(facts)
    yield f"| reference | [`deadheat.{name}`](../api/deadheat.{name}.rst) |"
    yield ""
    yield from others(name)


SCORES, GRADES, DOCS_OF_EXAMPLE = (0.9, 0.7, 0.7, 0.5, 0.1), (0, 2, 0, 1, 0), "abcde"


def example(name: str) -> Iterator[str]:
    """Yield five documents, of which two tie, and the value in both orders."""
    notation = f"{name}@2" if "cutoff" in dh.measures()[name].__dataclass_fields__ else name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a measure has few queries
        orders = dh.tie_orders(SCORES, GRADES, notation, doc_ids=list(DOCS_OF_EXAMPLE))
    yield from ("## Example", "", "| document | " + " | ".join(DOCS_OF_EXAMPLE) + " |", "|---" * 6 + "|")
    yield "| score | " + " | ".join(map(str, SCORES)) + " |"
    yield "| relevance | " + " | ".join(map(str, GRADES)) + " |"
    first, second = (f"{value:.4f}" for value in orders.values)
    yield ""
    yield f"b and c tie. With b first `{notation}` is {first}, with c first {second}; deadheat reports the mean over"
    yield from (f"both orders, **{orders.mean:.4f}**.", "")


def others(name: str) -> Iterator[str]:
    """Yield what other tools say that is the same measure here."""
    answers = [one for question in tool_answers.QUESTIONS for one in question.answers if base(one.ours or "") == name]
    same = {(one.tool, one.metric): one.ours for one in answers}
    if same:
        yield from ("## In other tools", "", "| tool | name there | notation here |", "|---|---|---|")
        yield from (f"| {tool} | `{metric}` | `{ours}` |" for (tool, metric), ours in same.items())
        yield from ("", "[All answers of other tools](../tools.md) has the examples, ties and options.", "")


def table(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield the other facts, several of one heading in one row."""
    rows: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        if fact.heading and fact.text and fact.key not in ELSEWHERE - {"targets", "uses"}:
            rows[fact.heading].append(linked(fact.text))
    yield from ("| | |", "|---|---|")
    for heading, texts in rows.items():
        yield f"| {heading} | {'<br>'.join(texts)} |"


def room_of(value: Any) -> str:  # noqa: ANN401 - whatever is public
    """Return the part of the reference that has a public name: its folder, or its plugin."""
    if inspect.isclass(value) and issubclass(value, Measure):
        return "measures"
    _, folder, *inner = value.__module__.split(".")
    if folder == "plugins":
        return ALSO_IN.get(inner[0], inner[0])
    if folder == "measures" and not inspect.isclass(value):
        return "notation"
    return folder


def reference() -> str:
    """Return the page of all public names, in reStructuredText."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for name in dir(dh):
        value = getattr(dh, name)
        if inspect.ismodule(value) or value.__name__ != name:  # another name of a measure
            continue
        rooms[room_of(value)].append(name)
    lines = ["Reference", "=========", "", "Every public name of ``import deadheat as dh``. Options of commands are"]
    lines += ["in :doc:`commands`.", ""]
    for room in sorted(rooms, key=lambda room: [*ROOMS, room].index(room)):
        title = ROOMS.get(room, room.capitalize())
        lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: api", "   :nosignatures:"]
        if room == "measures":
            lines += ["   :template: measure.rst"]
        lines += ["", *(f"   deadheat.{name}" for name in sorted(rooms[room], key=lambda name: name not in FIRST)), ""]
    return "\n".join(lines)


def commands() -> str:
    """Return the page of all commands: what --help-all says of each, with its options in their groups."""
    lines = [
        "# Commands",
        "",
        "Options are in groups: those of the command, input, measures, ties, statistics, output.",
        "",
    ]
    for name in commands_by_name():
        told = CliRunner().invoke(main, [name, "--help-all"], prog_name="deadheat", env={"COLUMNS": "80"}).stdout
        lines += [f"## deadheat {name}", "", "```text", told.rstrip(), "```", ""]
    return "\n".join(lines)


def notebook(path: Path) -> str:
    """Return a notebook as Markdown: its texts, its code, and what that puts out."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for one in cell.get("outputs", ()):
            text = "".join(one["text"] if "text" in one else one["data"]["text/plain"])
            parts.append(f"```text\n{text.rstrip()}\n```")
    name = path.relative_to(DOCS).as_posix()
    parts.append(f"This page is the notebook `docs/{name}`: {{download}}`download it <../{name}>`.")
    return "\n\n".join(parts) + "\n"


def make() -> None:
    """Write what has changed, so that Sphinx reads no other page again."""
    (MADE / "measures").mkdir(parents=True, exist_ok=True)
    made = {"measures.md": catalogue(), "reference.rst": reference(), "ties.svg": picture()}
    made |= {"tools.md": tool_answers.page(), "commands.md": commands()}
    made |= {f"measures/{name}.md": "\n".join(measure_page(name)) for name in dh.measures()}
    made |= {f"notebook-{path.stem}.md": notebook(path) for path in (DOCS / "notebooks").glob("*.ipynb")}
    for name, text in made.items():
        path = MADE / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:  # noqa: ARG001 - Sphinx calls it so
    """Make the pages before Sphinx looks which there are."""
    make()
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
