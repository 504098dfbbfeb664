"""What is made from the code: the catalogue of measures from the registry, the reference from the public names.

Also pages of the notebooks, with what their cells put out, and the picture of ties. All of it is written to docs/made,
which git ignores, before Sphinx reads.
"""

from __future__ import annotations

import inspect
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tie_picture import picture

import deadheat as dh
from deadheat.measures.guide import USES
from deadheat.report.model import Fact
from deadheat.report.of_measures import report_measure

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
    "graded": "Graded averages",
    "cascade": "Cascades",
    "interpolated": "Interpolated precision",
    "maximum": "The best document",
    "geometric": "Geometric means",
    "preference": "Preferences between documents",
    "sets": "Sets",
    "rank": "Ranks",
}
# where a name is, and what the reader is doing there; a folder that is not listed comes last under its own name
ROOMS = {
    "data": "Qrels, runs and queries",
    "evaluation": "Evaluate",
    "comparison": "Compare",
    "gates": "Check",
    "profile": "Ties of a run",
    "explanation": "Explain a number",
    "placements": "Placements",
    "benchmark": "Labelled cases and retrievers",
    "io": "Files",
    "errors": "Errors and warnings",
    "notation": "Notation",
    "measures": "Measures",
}


def escaped(text: str) -> str:
    """Return plain text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|$~^])", r"\\\1", text)


def linked(text: str) -> str:
    """Return plain text as Markdown in which addresses are links."""
    parts = re.split(r"(https?://[^\s,;)]*[^\s,;).])", text)
    return "".join(f"<{part}>" if at % 2 else escaped(part) for at, part in enumerate(parts))


def catalogue() -> str:
    """Return the page of all measures, in Markdown."""
    families: dict[str, list[str]] = defaultdict(list)
    for name, measure in dh.measures().items():
        families[measure.__module__.rpartition(".")[2]].append(name)
    lines = [
        "# Measures",
        "",
        f"All {len(dh.measures())} measures. A cutoff follows `@`, parameters are in parentheses: `P(rel=2)@5`.",
        "`deadheat measures NAME` shows the same in a terminal.",
        "",
        *uses(),
    ]
    order = [family for family in FAMILIES if family in families]
    for family in [*order, *sorted(families.keys() - set(order))]:
        lines += [f"## {FAMILIES.get(family, family.capitalize())}", ""]
        for name in families[family]:
            lines += [*section(name), ""]
    return "\n".join(lines)


def uses() -> Iterator[str]:
    """Yield a table of which measure to use when."""
    yield from ("## Which one to use", "", "| `--for` | use | measures | why |", "|---|---|---|---|")
    for use in USES.values():
        measures = " ".join(f"[`{name}`](#{anchor(name)})" for name in use.measures)
        yield f"| `{use.key}` | {escaped(use.title)} | {measures} | {escaped(use.why)} |"
    yield ""


def anchor(notation: str) -> str:
    """Return the anchor of a measure's section."""
    return "measure-" + re.split(r"[@(]", notation)[0]


def section(name: str) -> Iterator[str]:
    """Yield what the catalogue says about one measure: in words, as a formula, and what its letters mean."""
    measure = dh.measures()[name]
    facts = report_measure(measure).facts
    yield from (f"(measure-{name})=", f"### {name}: {measure.title}", "")
    yield from (f"{linked(fact.text)}\n" for fact in facts if fact.key == "summary")
    for latex in MATH.findall(inspect.cleandoc(measure.__doc__ or "")):
        yield from ("```{math}", " ".join(latex.split()), "```", "")
    yield from (f"{linked(fact.text)}\n" for fact in facts if not fact.key and not fact.heading and fact.text)
    if measure.formula:
        yield from ("In plain text:", "", "```text", measure.formula, "```", "")
    yield from table(facts)
    yield f"| example | [`deadheat.{name}`](api/deadheat.{name}.rst) |"


def table(facts: Iterable[Fact]) -> Iterator[str]:
    """Yield the other facts, several of one heading in one row."""
    rows: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        if fact.heading and fact.text and fact.key not in ELSEWHERE - {"targets", "uses"}:
            rows[fact.heading].append(linked(fact.text))
    yield from ("| | |", "|---|---|")
    for heading, texts in rows.items():
        yield f"| {heading} | {'<br>'.join(texts)} |"


def reference() -> str:
    """Return the page of all public names, in reStructuredText."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for name in dir(dh):
        value = getattr(dh, name)
        if inspect.ismodule(value) or value.__name__ != name:  # another name of a measure
            continue
        room = value.__module__.split(".")[1]
        rooms["notation" if room == "measures" and not inspect.isclass(value) else room].append(name)
    lines = ["Reference", "=========", "", "Every public name of ``import deadheat as dh``. Commands have their own"]
    lines += ["help: ``deadheat COMMAND --help``.", ""]
    order = [room for room in ROOMS if room in rooms]
    for room in [*[one for one in rooms if one not in order], *order]:
        title = ROOMS.get(room, room.capitalize())
        lines += [title, "-" * len(title), "", ".. autosummary::", "   :toctree: api", "   :nosignatures:"]
        if room == "measures":
            lines += ["   :template: measure.rst"]
        lines += ["", *(f"   deadheat.{name}" for name in rooms[room]), ""]
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
    MADE.mkdir(exist_ok=True)
    made = {"measures.md": catalogue(), "reference.rst": reference(), "ties.svg": picture()}
    made |= {f"notebook-{path.stem}.md": notebook(path) for path in (DOCS / "notebooks").glob("*.ipynb")}
    for name, text in made.items():
        path = MADE / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:  # noqa: ARG001 - Sphinx calls it so
    """Make the pages before Sphinx looks which there are."""
    make()
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
