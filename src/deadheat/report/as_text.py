"""Reports for a terminal or a pipe: columns that line up, groups that fold, nothing cut off."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from deadheat.report.numbers import format_cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from deadheat.report.model import Fact, Report, Table

GAP = "  "
LINE = "─"
NARROWEST = 11  # of a column of words that is wrapped
BETWEEN_GROUPS = "   "
HEAD, RULE, MAIN = "bold", "dim", "bold cyan"


@dataclass(frozen=True)
class Layout:
    """A table as text, before its groups are laid side by side.

    Attributes
    ----------
    labels : list of list of str, shape (n_rows, n_labels)
    cells : list, shape (n_groups, n_rows, n_columns)
    label_widths, widths : list of int
        Widths of the label columns, and of the columns of every group.
    is_text : list of bool
        Which columns hold words: they are flush left.
    group_width : int
    """

    labels: list[list[str]]
    cells: list[list[list[str]]]
    label_widths: list[int]
    widths: list[int]
    is_text: list[bool]
    group_width: int


def as_text(report: Report, *, width: int = 80, digits: int | None = None) -> Text:
    """Return a report as styled text.

    Parameters
    ----------
    report : Report
    width : int, default 80
        Groups of columns that do not fit side by side are stacked; a single group may be wider.
    digits : int, optional
        Decimals of a number.
    """
    tables = [block for table in report.tables for block in _table(table, width, digits)]
    told = [fact for fact in report.facts if fact.text]
    facts = [_facts(told, width)] if told else []
    parts = [Text(report.heading, HEAD)] if report.heading else []
    parts += facts + tables if report.facts_first else tables + facts
    if report.closing:
        lines = [textwrap.fill(line, width, break_long_words=False) for line in report.closing.splitlines()]
        parts.append(Text("\n".join(lines)))
    return Text("\n\n").join(parts)


def _table(table: Table, width: int, digits: int | None) -> Iterator[Text]:
    """Give the blocks of a table: as many groups side by side as fit."""
    layout = _wrapped(_lay_out(table, digits), width)
    left = _total(layout.label_widths)
    fitting = (width - left) // (layout.group_width + len(BETWEEN_GROUPS))
    per_block = max(1, min(fitting, len(table.groups)))
    for start in range(0, len(table.groups), per_block):
        lines = [Text(table.title, HEAD)] if table.title and start == 0 else []
        lines += _block(table, layout, range(start, min(start + per_block, len(table.groups))))
        for line in lines:
            line.rstrip()
        yield Text("\n").join(lines)


def _lay_out(table: Table, digits: int | None) -> Layout:
    cells = [
        [[format_cell(cell, digits) for cell in row.cells[place]] for row in table.rows]
        for place in range(len(table.groups))
    ]
    labels = _without_repeats([list(row.labels) for row in table.rows])
    columns = range(len(table.columns))
    is_text = [all(isinstance(group[n], str) for row in table.rows for group in row.cells) for n in columns]
    widths = [
        max(cell_len(text) for text in (table.columns[n].heading, *(row[n] for group in cells for row in group)))
        for n in columns
    ]
    missing = max(cell_len(name) for name in table.groups) - _total(widths)
    widths[0] += max(0, missing)
    label_widths = [
        max(cell_len(text) for text in (column.heading, *(row[n] for row in labels)))
        for n, column in enumerate(table.labels)
    ]
    return Layout(labels, cells, label_widths, widths, is_text, _total(widths))


def _wrapped(layout: Layout, width: int) -> Layout:
    """Break the last column into lines, as rows of their own, if it holds words and does not fit."""
    others = sum(layout.label_widths) + len(GAP) * (len(layout.label_widths) + len(layout.widths) - 2)
    room = max(NARROWEST, width - others - len(BETWEEN_GROUPS) - sum(layout.widths[:-1]))
    if len(layout.cells) > 1 or not layout.is_text[-1] or layout.widths[-1] <= room:
        return layout
    labels, cells = [], []
    for label, row in zip(layout.labels, layout.cells[0], strict=True):
        for n, part in enumerate(textwrap.wrap(row[-1], room, break_long_words=False) or [""]):
            labels.append(label if n == 0 else [""] * len(label))
            cells.append([*(row[:-1] if n == 0 else [""] * (len(row) - 1)), part])
    widths = [*layout.widths[:-1], max(cell_len(row[-1]) for row in cells)]
    return replace(layout, labels=labels, cells=[cells], widths=widths, group_width=_total(widths))


def _total(widths: list[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _without_repeats(labels: list[list[str]]) -> list[list[str]]:
    """Blank a label that the row above has too, but for the last one of a row."""
    shown = [row.copy() for row in labels]
    for above, row, out in zip(labels, labels[1:], shown[1:], strict=False):
        for n in range(len(row) - 1):
            if row[: n + 1] == above[: n + 1]:
                out[n] = ""
    return shown


def _block(table: Table, layout: Layout, places: range) -> Iterator[Text]:
    left = _total(layout.label_widths)
    if table.is_grouped:
        names, lines = Text(" " * left), Text(" " * left)
        for place in places:
            name = table.groups[place]
            names.append(BETWEEN_GROUPS + name + " " * (layout.group_width - cell_len(name)), HEAD)
            lines.append(BETWEEN_GROUPS).append(LINE * layout.group_width, RULE)
        yield names
        yield lines
    head = Text(_padded([column.heading for column in table.labels], layout.label_widths))
    titles = [column.heading for column in table.columns]
    for _ in places:
        head.append(BETWEEN_GROUPS).append(_aligned(titles, layout))
    head.stylize(HEAD)
    yield head
    if not table.is_grouped:
        yield Text(LINE * (left + len(BETWEEN_GROUPS) + layout.group_width), RULE)
    for n, labels in enumerate(layout.labels):
        line = Text(_padded(labels, layout.label_widths))
        for place in places:
            line.append(BETWEEN_GROUPS).append(_aligned(layout.cells[place][n], layout, main=table.main))
        yield line


def _padded(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Lay labels out flush left, numbers flush right."""
    spaces = [" " * (width - cell_len(text)) for text, width in zip(texts, widths, strict=True)]
    return GAP.join(space + text if text.isdigit() else text + space for text, space in zip(texts, spaces, strict=True))


def _aligned(texts: Sequence[str], layout: Layout, *, main: int | None = None) -> Text:
    line = Text()
    for n, (text, width, flush_left) in enumerate(zip(texts, layout.widths, layout.is_text, strict=True)):
        space = " " * (width - cell_len(text))
        line.append(GAP if n else "")
        line.append(text + space if flush_left else space + text, MAIN if n == main and not flush_left else "")
    return line


def _facts(facts: Sequence[Fact], width: int) -> Text:
    """Lay facts out as a heading and a paragraph beside it; one heading holds for the facts below that share it."""
    left = max(cell_len(fact.heading) for fact in facts)
    lines: list[Text] = []
    previous = ""
    for fact in facts:
        room = max(width - left - len(GAP), 24)
        for n, part in enumerate(textwrap.wrap(fact.text, room, break_long_words=False, break_on_hyphens=False)):
            heading = fact.heading if n == 0 and fact.heading != previous else ""
            line = Text(heading + " " * (left - cell_len(heading)), "dim")
            lines.append(line.append(GAP).append(Text(part, "")))
        previous = fact.heading
    return Text("\n").join(lines)
