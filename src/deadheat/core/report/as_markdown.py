"""Reports as GitHub-flavoured Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from deadheat.core.report.cells import Cell, NumberCell, Span, format_cell
from deadheat.core.report.formats import ReportFormat, register
from deadheat.core.report.model import Column, Fact, Report, Table
from deadheat.core.wording import format_for_people

HEADINGS = {"measure": "Metric", "value": "Value"}  # of the tables with intervals
COMMAND = re.compile(r"^(\s*):(?=:)")  # what begins so, a build log may take for a command
BLOCK = re.compile(r"^(\d*)([#>+.)-])")  # at the beginning of an item: a heading, a quotation, another list
OPENING = re.compile(r"&(?=#?\w+;)|\[(?!-?[\d.]*, -?[\d.]*\](?![(\[:]))")  # an entity; a link that is no interval
MAIL = re.compile(r"(?<=[\w.+-])@(?=[\w-]+\.\w)")
# GitHub links users, where @ is not that of a cutoff, and issues, both also after a backslash
REFERENCE = re.compile(r"(?<![\w)])@(?=\w)|#(?=\d)")
ADDRESS = re.compile(r"(?i)(\bwww|(?:https?|ftp)(?=://))([.:])")  # GitHub makes links of them


def as_markdown(report: Report, *, digits: int | None = None) -> str:
    """Return a report as Markdown; the groups of a table become rows, as Markdown cannot span columns."""
    tables: list[str] = []
    for table in report.tables:
        title = _escaped(table.title)
        tables += [f"### {title}" if table.is_section else f"**{title}**"] if title else []
        tables.append("\n".join(_lines(table.for_people().with_groups_as_rows(), digits)))
        tables += [_escaped(table.caption)] if table.caption else []
    facts = _list(report.shown)
    heading = [f"**{_escaped(text)}**" if is_first else _escaped(text) for text, is_first in report.above]
    heading += _list(report.summary)
    parts = [*heading, *facts, *tables] if report.facts_first else [*heading, *tables, *facts]
    return "\n\n".join([*parts, *(_escaped(line.strip()) for line in report.closing.splitlines())])


def _list(facts: Sequence[Fact]) -> list[str]:
    """Return facts as a list, warnings in bold; no list of no facts."""
    items = []
    for fact in facts:
        text = BLOCK.sub(r"\1\\\2", _escaped(fact.sentence))
        items.append(f"- **{text}**" if fact.is_warning else f"- {text}")
    return ["\n".join(items)] if items else []


def _lines(table: Table, digits: int | None) -> Iterator[str]:
    yield _line(_escaped(column.heading) for column in (*table.labels, *table.columns))
    yield _line([":--"] * len(table.labels) + [":--" if is_words else "--:" for is_words in table.are_words])
    for row in table.rows:
        yield _line([*map(_escaped, row.labels), *(_cell(cell, digits) for cell in row.cells[0])])


def _cell(cell: Cell, digits: int | None) -> str:
    if not isinstance(cell, NumberCell) or cell.kind != "ranked":
        return _escaped(format_cell(cell, digits))
    number = _escaped(format_cell(cell.value, digits))
    return f"**{number}** {cell.marks}".rstrip() if cell.is_best else f"{number} {_escaped(cell.marks)}".rstrip()


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(texts) + " |"


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it is, without links, pictures, HTML, entities and formulas."""
    text = format_for_people(text)
    for character in "\\|*_<`~$":
        text = text.replace(character, "\\" + character)
    text = ADDRESS.sub(r"\1\\\2", OPENING.sub(r"\\\g<0>", text))
    text = COMMAND.sub(r"\1\:", text)
    return MAIL.sub(r"\@", REFERENCE.sub(r"\g<0><!-- -->", text))


def in_sections(report: Report) -> Report:
    """Return the report with a table for each run, and for each value of the first of several labels.

    Tables without intervals, and those that have a title, stay as they are.
    """
    return replace(report, tables=tuple(part for table in report.tables for part in _sections(table)))


def _sections(table: Table) -> Iterator[Table]:
    if table.title or not any(table.holds(place, Span) for place in range(len(table.columns))):
        yield table
        return
    # the number of queries, which only strata have, comes last
    table = table.select(sorted(range(len(table.columns)), key=lambda place: table.columns[place].key == "n_queries"))
    n_shared = len(table.labels) > 1
    for place, group in enumerate(table.groups):
        for labels in dict.fromkeys(row.labels[:n_shared] for row in table.rows):
            yield replace(
                table,
                labels=tuple(_renamed(column) for column in table.labels[n_shared:]),
                columns=tuple(_renamed(column) for column in table.columns),
                rows=tuple(
                    replace(row, labels=row.labels[n_shared:], cells=(row.cells[place],))
                    for row in table.rows
                    if row.labels[:n_shared] == labels
                ),
                groups=("",),
                title=f"{group} ({', '.join(labels)})" if labels else group,
                is_section=True,
            )


def _renamed(column: Column) -> Column:
    return replace(column, heading=HEADINGS.get(column.key, column.heading))


register(ReportFormat(name="markdown", suffixes=(".md",), write=as_markdown, needs="document", place=30))
