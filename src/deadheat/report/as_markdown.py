"""Reports as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deadheat.errors import printable
from deadheat.report.numbers import format_cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deadheat.report.model import Fact, Report, Row, Table

BLOCK = re.compile(r"^(\d*)([#>+.)-])")  # at the beginning of an item: a heading, a quotation, another list
OPENING = re.compile(r"&(?=#?\w+;)|\[(?!-?[\d.]*, -?[\d.]*\](?![(\[:]))")  # an entity; a link that is no interval
MAIL = re.compile(r"(?<=[\w.+-])@(?=[\w-]+\.\w)")
ADDRESS = re.compile(r"(?i)(\bwww|(?:https?|ftp)(?=://))([.:])")  # GitHub makes links of them


def as_markdown(report: Report, *, digits: int | None = None) -> str:
    """Return a report as Markdown; the groups of a table become rows, as Markdown cannot span columns."""
    tables: list[str] = []
    for table in report.tables:
        title = _escaped(table.title)
        tables += [f"### {title}" if table.is_section else f"**{title}**"] if title else []
        tables.append("\n".join(_lines(table.for_people(), digits)))
    told = [f"- {_told(fact)}" for fact in report.facts if fact.text]
    facts = ["\n".join(told)] if told else []
    heading = [f"**{_escaped(report.heading)}**"] if report.heading else []
    return "\n\n".join(heading + (facts + tables if report.facts_first else tables + facts))


def _told(fact: Fact) -> str:
    text = _escaped(f"{fact.heading}: {fact.text}" if fact.heading else fact.text)
    text = BLOCK.sub(r"\1\\\2", text)
    return f"**{text}**" if fact.is_warning else text


def _lines(table: Table, digits: int | None) -> Iterator[str]:
    group = [table.group.heading] if table.is_grouped else []
    labels = [column.heading for column in table.labels]
    yield _line([*labels, *group, *(column.heading for column in table.columns)])
    aligned = [":--" if table.holds_words(place) else "--:" for place in range(len(table.columns))]
    yield _line([":--"] * (len(labels) + len(group)) + aligned)
    for row in table.rows:
        yield from _row(table, row, digits)


def _row(table: Table, row: Row, digits: int | None) -> Iterator[str]:
    for name, cells in zip(table.groups, row.cells, strict=True):
        own = [name] if table.is_grouped else []
        yield _line([*row.labels, *own, *(format_cell(cell, digits) for cell in cells)])


def _line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escaped, texts)) + " |"


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, without links, pictures, HTML, entities and formulas."""
    text = printable(text)
    for character in "\\|*_<`~$":
        text = text.replace(character, "\\" + character)
    return MAIL.sub(r"\@", ADDRESS.sub(r"\1\\\2", OPENING.sub(r"\\\g<0>", text)))
