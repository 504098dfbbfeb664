"""Reports for a terminal or a pipe: columns that line up, and groups as rows where they do not fit side by side."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from deadheat.report.model import BEYOND, LACKING, MARK, MOST_SIDE_BY_SIDE, OF_FEW, Bar, Fact, Report, Table
from deadheat.report.numbers import DOUBT, format_cell
from deadheat.wording import on_terminal

GAP = "  "
MARKS = MARK, OF_FEW, LACKING, BEYOND
MARKED = re.compile(rf"(?<=])\{DOUBT}$|[{''.join(MARKS)}]*$")
LINE = "─"
NARROWEST = 11  # of a column of words that is wrapped
LONGEST_HEADING = 24  # on one line
BETWEEN_GROUPS = "   "
MOST_READABLE = 120  # of a caption
PAGE = 80  # what sentences are wrapped at where nothing limits the width
SENTENCES = 40  # a column of words that is wider has sentences
NARROWEST_FACT = 24  # beside its heading; a narrower one goes below it
LONGEST_NAME, STEP, CUT = 24, 8, "…"
HEAD, DIM, MAIN, WARNING = "bold", "dim", "bold cyan", "bold red"


@dataclass(frozen=True)
class Layout:
    """A table as text, before its groups are laid side by side.

    Attributes
    ----------
    groups : tuple of str
        Their names, shortened.
    labels : list of list of str, shape (n_rows, n_labels)
    cells : list, shape (n_groups, n_rows, n_columns)
    label_widths, widths : list of int
        Widths of the label columns, and of the columns of every group.
    is_text : list of bool
        Which columns hold words: they are flush left.
    group_width : int
    """

    groups: tuple[str, ...]
    labels: list[list[str]]
    cells: list[list[list[str]]]
    label_widths: list[int]
    widths: list[int]
    is_text: list[bool]
    group_width: int


def as_text(report: Report, *, width: int | None = 80, digits: int | None = None) -> Text:
    """Return a report as styled text.

    Parameters
    ----------
    report : Report
    width : int, default 80
        Two groups of columns that do not fit side by side become rows, as more than two do; then columns that can be
        spared are left out. What is wider than this in itself, such as a path, is not broken. None: tables have all
        their columns, and sentences are wrapped at 80.
    digits : int, optional
        Decimals of a number.
    """
    report = report.with_texts(on_terminal)
    tables = [_table(table, sys.maxsize if width is None else width, digits) for table in report.tables]
    width = PAGE if width is None else width
    facts = [_facts(report.shown, width)] if report.shown else []
    parts = [Text(_filled(text, width), HEAD) for text in (report.heading, report.opening) if text]
    parts += facts + tables if report.facts_first else tables + facts
    if report.closing:
        lines = [line if line.startswith(" ") else _filled(line, width) for line in report.closing.splitlines()]
        parts.append(Text("\n".join(lines)))
    return Text("\n\n").join(parts)


def _filled(line: str, width: int) -> str:
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def _table(table: Table, width: int, digits: int | None) -> Text:
    fitted, layout = _fitted(table.for_people(drawn=True), width, digits)
    lines = [Text(_filled(table.title, width), HEAD)] if table.title else []
    if width == sys.maxsize and _ends_in_words(layout) and layout.widths[-1] > SENTENCES:
        width = PAGE
    lines += _block(fitted, _wrapped(_with_narrow_labels(layout, width), width))
    for line in lines:
        line.rstrip()
    shown = {column.key for column in fitted.columns}
    left_out = [column.heading for column in table.for_people().columns if column.key not in shown]
    if left_out:
        lines.append(Text(_filled(f"not shown at this width: {', '.join(left_out)}", width), DIM))
    if table.caption:
        lines += [Text(""), Text(_filled(table.caption, min(width, MOST_READABLE)))]
    return Text("\n").join(lines)


def _fitted(table: Table, width: int, digits: int | None) -> tuple[Table, Layout]:
    """Lay a table out in the first way that fits, or in the last one."""
    ways = _ways(table)
    way = next(ways)
    layout = _lay_out(way, digits)
    for narrower in ways:
        is_last_resort = all(column.spare <= 0 for column in way.columns)
        if _least(_with_narrow_labels(layout, width) if is_last_resort else layout) <= width:
            break
        way, layout = narrower, _lay_out(narrower, digits)
    return way, layout


def _least(layout: Layout) -> int:
    """Return how narrow a layout can be: if its last column holds words, that is broken before any is left out."""
    spared = max(0, layout.widths[-1] - NARROWEST) if _ends_in_words(layout) else 0
    return _total(layout.label_widths) + len(layout.groups) * (layout.group_width + len(BETWEEN_GROUPS)) - spared


def _ends_in_words(layout: Layout) -> bool:
    return len(layout.groups) == 1 and layout.is_text[-1]


def _ways(table: Table) -> Iterator[Table]:
    """Give the ways to lay a table out, the fullest first: groups side by side, groups as rows, columns left out."""
    n_groups = len(table.groups)
    if n_groups > 1:
        if n_groups <= MOST_SIDE_BY_SIDE:
            yield table
            yield from _without_bars(table)
        table = replace(table, groups=shortened(table.groups)).with_groups_as_rows()
    yield table
    for narrower in _without_bars(table):
        yield narrower
        table = narrower
    for level in sorted({column.spare for column in table.columns} - {0}, reverse=True):
        kept = [n for n, column in enumerate(table.columns) if not _is_spared(column.spare, level)]
        table = table.select(kept)
        yield table


def _is_spared(spare: int, level: int) -> bool:
    """Return whether a column is left out at a level; those of last resort are below 0, and what is 0 always stays."""
    return spare >= level and (spare > 0 if level > 0 else spare < 0)


def _without_bars(table: Table) -> list[Table]:
    """Return the table without its drawings, if they are the first that can be spared."""
    kept = [n for n, column in enumerate(table.columns) if column.spare or not table.holds(n, Bar)]
    return [table.select(kept)] if len(kept) < len(table.columns) else []


def _lay_out(table: Table, digits: int | None) -> Layout:
    groups = shortened(table.groups)
    columns = range(len(table.columns))
    is_text = [table.holds_words(n) for n in columns]
    cells = [
        [[format_cell(cell, digits) for cell in row.cells[place]] for row in table.rows] for place in range(len(groups))
    ]
    for n in (n for n in columns if not is_text[n]):
        _make_room_for_marks([row for group in cells for row in group], n)
    labels = _without_repeats([list(row.labels) for row in table.rows])
    widths = [
        max(
            cell_len(text)
            for text in (*_lines(table.columns[n].heading), *(row[n] for group in cells for row in group))
        )
        for n in columns
    ]
    widths[0] += max(0, max(map(cell_len, groups)) - _total(widths))
    label_widths = [
        max(cell_len(text) for text in (column.heading, *(row[n] for row in labels)))
        for n, column in enumerate(table.labels)
    ]
    return Layout(groups, labels, cells, label_widths, widths, is_text, _total(widths))


def _make_room_for_marks(rows: list[list[str]], column: int) -> None:
    """Put a space behind the other numbers of a column in which one is marked: decimals stay below each other.

    Behind intervals only where that takes no room: columns that are left out are worse.
    """
    own = [len(MARKED.findall(row[column])[0]) for row in rows]
    marked = max((cell_len(row[column]) for row, n in zip(rows, own, strict=True) if n), default=0)
    is_free = all(cell_len(row[column]) < marked for row, n in zip(rows, own, strict=True) if not n)
    if is_free or any(row[column].endswith(MARKS) for row in rows):
        for row, n in zip(rows, own, strict=True):
            row[column] += " " * (max(own) - n)


def _wrapped(layout: Layout, width: int) -> Layout:
    """Break the last column into lines, as rows of their own, if it holds words and does not fit."""
    others = sum(layout.label_widths) + len(GAP) * (len(layout.label_widths) + len(layout.widths) - 2)
    room = max(NARROWEST, width - others - len(BETWEEN_GROUPS) - sum(layout.widths[:-1]))
    if not _ends_in_words(layout) or layout.widths[-1] <= room:
        return layout
    labels, cells = [], []
    for label, row in zip(layout.labels, layout.cells[0], strict=True):
        for n, part in enumerate(textwrap.wrap(row[-1], room, break_long_words=False) or [""]):
            labels.append(label if n == 0 else [""] * len(label))
            cells.append([*(row[:-1] if n == 0 else [""] * (len(row) - 1)), part])
    widths = [*layout.widths[:-1], max(cell_len(row[-1]) for row in cells)]
    return replace(layout, labels=labels, cells=[cells], widths=widths, group_width=_total(widths))


def _with_narrow_labels(layout: Layout, width: int) -> Layout:
    """Break labels between words, the widest column first, if the numbers beside them leave too little room."""
    room = width - len(layout.groups) * (layout.group_width + len(BETWEEN_GROUPS))
    widths = list(layout.label_widths)
    if layout.is_text[-1]:
        return layout  # the words of the last column are broken instead
    least = [max(NARROWEST, *(_longest_word(row[n]) for row in layout.labels)) for n in range(len(widths))]
    while _total(widths) > room and any(own > low for own, low in zip(widths, least, strict=True)):
        widest = max(own for own, low in zip(widths, least, strict=True) if own > low)
        widths[next(n for n, own in enumerate(widths) if own == widest > least[n])] -= 1
    if widths == layout.label_widths:
        return layout
    labels: list[list[str]] = []
    cells: list[list[list[str]]] = [[] for _ in layout.groups]
    for n, row in enumerate(layout.labels):
        parts = [textwrap.wrap(text, own, break_long_words=False) for text, own in zip(row, widths, strict=True)]
        for line in range(max(1, *map(len, parts))):
            labels.append([part[line] if line < len(part) else "" for part in parts])
            for own, given in zip(cells, layout.cells, strict=True):
                own.append(given[n] if line == 0 else [""] * len(layout.widths))
    widths = [max(own, *(cell_len(row[n]) for row in labels)) for n, own in enumerate(widths)]
    return replace(layout, labels=labels, cells=cells, label_widths=widths)


def _longest_word(text: str) -> int:
    return max(map(cell_len, textwrap.wrap(text, 1, break_long_words=False)), default=0)


def _total(widths: list[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _without_repeats(labels: list[list[str]]) -> list[list[str]]:
    """Blank a label that the row above has too, but for the last one of a row."""
    return [
        ["" if row[: n + 1] == above[: n + 1] and row[n + 1 :] else text for n, text in enumerate(row)]
        for above, row in zip([[], *labels], labels, strict=False)
    ]


def _block(table: Table, layout: Layout) -> Iterator[Text]:
    left = _total(layout.label_widths)
    if table.is_grouped:
        names, lines = Text(" " * left), Text(" " * left)
        for name in layout.groups:
            names.append(BETWEEN_GROUPS + name + " " * (layout.group_width - cell_len(name)), HEAD)
            lines.append(BETWEEN_GROUPS).append(LINE * layout.group_width, DIM)
        yield names
        yield lines
    headings = [_lines(column.heading) for column in table.columns]
    most = max(1, *map(len, headings))
    for n in range(most):
        labels = [column.heading if n == most - 1 else "" for column in table.labels]
        own = [["", *lines][max(0, n + 1 + len(lines) - most)] for lines in headings]
        head = Text(_padded(labels, layout.label_widths))
        for _ in layout.groups:
            head.append(BETWEEN_GROUPS).append(_aligned(own, layout))
        head.stylize(HEAD)
        yield head
    if not table.is_grouped:
        yield Text(LINE * (left + len(BETWEEN_GROUPS) + layout.group_width), DIM)
    has_blocks = table.has_blocks or not table.is_grouped
    are_blocks = has_blocks and len(table.labels) > 1 and not all(labels[0] for labels in layout.labels)
    for n, labels in enumerate(layout.labels):
        goes_on = not any(text for group in layout.cells for text in group[n])
        if n and labels[0] and are_blocks and not goes_on:
            yield Text("")
        line = Text(_padded(labels, layout.label_widths))
        for group in layout.cells:
            line.append(BETWEEN_GROUPS).append(_aligned(group[n], layout, main=table.main))
        yield line


def _lines(heading: str) -> list[str]:
    """Return a heading as lines: a long one has several."""
    return [heading] if len(heading) <= LONGEST_HEADING else _parts(heading, NARROWEST)


def _padded(texts: Sequence[str], widths: Sequence[int]) -> str:
    """Lay labels out flush left, numbers flush right."""
    return GAP.join(_at(text, width, is_left=not text.isdigit()) for text, width in zip(texts, widths, strict=True))


def _at(text: str, width: int, *, is_left: bool) -> str:
    """Return a text flush left or flush right."""
    space = " " * (width - cell_len(text))
    return text + space if is_left else space + text


def _aligned(texts: Sequence[str], layout: Layout, *, main: int | None = None) -> Text:
    line = Text()
    for n, (text, width, is_left) in enumerate(zip(texts, layout.widths, layout.is_text, strict=True)):
        line.append(GAP if n else "")
        line.append(_at(text, width, is_left=is_left), MAIN if n == main and not is_left else "")
    return line


def _facts(facts: Sequence[Fact], width: int) -> Text:
    """Lay facts out as a heading and a paragraph beside it; one heading holds for the facts below that share it."""
    left = max(cell_len(fact.heading) for fact in facts)
    room = width - left - len(GAP)
    if room < NARROWEST_FACT:
        return Text("\n").join(_narrow(facts, width))
    lines: list[Text] = []
    for heading, fact in _with_headings(facts):
        for n, part in enumerate(_parts(fact.text, room)):
            line = Text(set_cell_size("" if n else heading, left), WARNING if fact.is_warning else DIM)
            lines.append(line.append(GAP).append(Text(part, WARNING if fact.is_warning else "")))
    return Text("\n").join(lines)


def _with_headings(facts: Sequence[Fact]) -> Iterator[tuple[str, Fact]]:
    """Give each fact with its heading, which is empty if the fact above has the same."""
    for above, fact in zip((None, *facts), facts, strict=False):
        yield "" if above and above.heading == fact.heading else fact.heading, fact


def _narrow(facts: Sequence[Fact], width: int) -> Iterator[Text]:
    for heading, fact in _with_headings(facts):
        if heading:
            yield Text(heading, WARNING if fact.is_warning else DIM)
        for part in _parts(fact.text, width - len(GAP)):
            yield Text(GAP).append(Text(part, WARNING if fact.is_warning else ""))


def _parts(text: str, room: int) -> list[str]:
    return textwrap.wrap(text, max(room, 1), break_long_words=False, break_on_hyphens=False)


def shortened(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of at most 24 columns, cut in the middle; longer ones if else two would look alike.

    Examples
    --------
    >>> shortened(["bm25", "msmarco-passage-dev-cross-encoder-large"])
    ('bm25', 'msmarco-pass…coder-large')
    """
    ways = (tuple(_cut(name, room) for name in names) for room in count(LONGEST_NAME, STEP))
    return next(short for short in ways if len(set(short)) == len(set(names)))


def _cut(name: str, room: int) -> str:
    if cell_len(name) <= room:
        return name
    right = (room - cell_len(CUT)) // 2
    left = room - cell_len(CUT) - right
    # a wide character that would be cut in two leaves a blank
    return set_cell_size(name, left).rstrip() + CUT + set_cell_size(name[::-1], right)[::-1].lstrip()
