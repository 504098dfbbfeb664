"""Reports for a terminal or a pipe: columns that line up, and groups as rows where they do not fit side by side."""

import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, count, zip_longest

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from deadheat.core.report.cells import DOUBT, Cell, NumberCell, Span, format_cell, marks_of
from deadheat.core.report.model import MOST_SIDE_BY_SIDE, Fact, Report, Table
from deadheat.core.wording import escape_for_terminal, needs_no_escape

GAP = "  "
LINE = "─"
NARROWEST = 11  # of a column of words that is wrapped
LONGEST_HEADING = 24  # on one line
BETWEEN_GROUPS = "   "
MOST_READABLE = 120  # of a caption, and of groups side by side where nothing limits the width
PAGE = 80  # what sentences are wrapped at where nothing limits the width
SENTENCES = 40  # a column of words that is wider has sentences
NARROWEST_FACT = 24  # beside its heading; a narrower one goes below it
LONGEST_NAME, SHORTEST_NAME, STEP, CUT = 24, 16, 8, "…"
HEAD, DIM, MAIN, WARNING = "bold", "dim", "bold cyan", "bold red"


@dataclass(frozen=True)
class Grid:
    """A table as text: its labels, then the columns of each group.

    Attributes
    ----------
    table : Table
        With the names of its groups shortened.
    headings : list of list of str
        The lines of the heading of each column of a group.
    rows : list of list of list of str
        The lines of each row, with a text for each column.
    widths : list of int
    gaps : list of str
        What is in front of each column.
    is_left : list of bool
        Which columns are flush left.
    """

    table: Table
    headings: list[list[str]]
    rows: list[list[list[str]]]
    widths: list[int]
    gaps: list[str]
    is_left: list[bool]

    @cached_property
    def width(self) -> int:
        """The columns of the screen that it takes."""
        return sum(self.widths) + sum(map(len, self.gaps))

    @cached_property
    def ends_in_words(self) -> bool:
        """Whether its last column can be broken into lines."""
        return len(self.table.groups) == 1 and self.is_left[-1]

    def broken(self, widths: Mapping[int, int]) -> "Grid":
        """Return it with the texts of some columns broken between words, as far as that makes them narrow enough."""
        rows = [
            list(
                map(list, zip_longest(*(self.parts(text, widths.get(n)) for n, text in enumerate(line)), fillvalue=""))
            )
            for (line,) in self.rows
        ]
        found, n_labels = list(self.widths), len(self.table.labels)
        for n, width in widths.items():
            least = width if n < n_labels else max(map(cell_len, self.headings[n - n_labels]))
            found[n] = max([least, *(cell_len(line[n]) for row in rows for line in row)])
        return replace(self, rows=rows, widths=found)

    @staticmethod
    def parts(text: str, width: int | None) -> list[str]:
        """Return the lines of a text in a column of this width; None: one line."""
        if width is None or cell_len(text) <= width:
            return [text]
        # a name is broken at its hyphens only where it must be
        is_wide = max(map(cell_len, text.split()), default=0) > width
        return textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=is_wide) or [""]


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
    if not needs_no_escape(list(report.texts())):
        report = report.with_texts(escape_for_terminal)
    tables = [
        _table(table.for_people(drawn=True), sys.maxsize if width is None else width, digits) for table in report.tables
    ]
    width = PAGE if width is None else width
    facts = [_facts(shown, width)] if (shown := report.shown) else []
    parts = [Text(_filled(text, width), HEAD if is_first else "") for text, is_first in report.above]
    if report.summary:
        parts.append(_facts(report.summary, min(width, MOST_READABLE)))
    parts += facts + tables if report.facts_first else tables + facts
    lines = [line if line.startswith(" ") else _filled(line, width) for line in report.closing.splitlines()]
    parts += [Text("\n".join(lines))] if lines else []
    return Text("\n\n").join(parts)


def _filled(line: str, width: int) -> str:
    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def _table(table: Table, width: int, digits: int | None) -> Text:
    grid, readable = _fitted(table, width, digits), PAGE if width == sys.maxsize else min(width, MOST_READABLE)
    lines = [Text(_filled(table.title, width), HEAD)] if table.title else []
    if width == sys.maxsize and grid.ends_in_words and grid.widths[-1] > SENTENCES:
        width = max(PAGE, grid.width - grid.widths[-1] + SENTENCES)
    grid = _with_narrow_labels(grid, width)
    room = max(NARROWEST, width - grid.width + grid.widths[-1])
    if grid.ends_in_words and grid.widths[-1] > room:
        grid = grid.broken({len(grid.widths) - 1: room})
    lines += _block(grid)
    for line in lines:
        line.rstrip()
    shown = {column.key for column in grid.table.columns}
    left_out = dict.fromkeys(one.heading for one in table.columns if one.heading and one.key not in shown)
    if left_out:
        told = f"not shown at this width: {', '.join(left_out)} (-o FILE.txt has all)"
        lines.append(Text(_filled(told, width), DIM))
    lines += [Text(""), Text(_filled(table.caption, readable))] if table.caption else []
    return Text("\n").join(lines)


def _fitted(table: Table, width: int, digits: int | None) -> Grid:
    """Lay a table out in the first way that fits, or in the last one: in full, or with names cut and pairs merged."""
    with_shorter_names = (
        _ways(table.with_names(partial(shortened, longest=longest)).with_pairs())
        for longest in (LONGEST_NAME, SHORTEST_NAME)
    )
    for way in chain([next(_ways(table))], chain.from_iterable(with_shorter_names)):
        grid = _lay_out(way, digits)
        most = MOST_READABLE if len(way.groups) > 1 and width == sys.maxsize else width
        if _least(grid, width) <= most:
            break
    return grid


def _least(grid: Grid, width: int) -> int:
    """Return how narrow a grid can be made without leaving out columns."""
    is_last_resort = all(column.spare <= 0 for column in grid.table.columns)
    least = _with_narrow_labels(grid, width) if is_last_resort else grid
    # the words of a last column are broken before any is left out
    return (least.broken({len(least.widths) - 1: NARROWEST}) if least.ends_in_words else least).width


def _ways(table: Table) -> Iterator[Table]:
    """Give the ways to lay a table out, the fullest first: groups side by side, groups as rows, columns left out."""
    table, n_groups = replace(table, groups=shortened(table.groups)), len(table.groups)
    if n_groups > 1:
        if n_groups <= MOST_SIDE_BY_SIDE:
            yield table
            yield table.for_people()
        table = table.with_groups_as_rows()
    yield table
    for level in sorted({column.spare for column in table.columns} - {0}, reverse=True):
        table = table.select([n for n, one in enumerate(table.columns) if one.spare != level])
        yield table


def _lay_out(table: Table, digits: int | None) -> Grid:
    """Return the texts of a table with the widths of its columns, as wide as they need."""
    n_columns = len(table.columns)
    n_groups = len(table.groups)
    items = [[cell for group in row.cells for cell in group] for row in table.rows]
    cells = [[format_cell(cell, digits) for cell in row] for row in items]
    labels = _drop_repeated([row.labels for row in table.rows])
    headings = [_break_heading(column.heading) for column in table.columns]
    are_words = table.are_words
    places_of_columns = [range(n, n_columns * n_groups, n_columns) for n in range(n_columns)]  # in all groups
    numbers = [places for places, is_text in zip(places_of_columns, are_words, strict=True) if not is_text]
    _make_room_for_marks(cells, items, numbers)
    widths = []
    for heading, places in zip(headings, places_of_columns, strict=True):
        texts = [row[place] for row in cells for place in places]
        widths.append(_width(heading + texts))
    widths[0] += max(0, _width(table.groups) - sum(widths) - len(GAP) * (n_columns - 1))
    label_widths = []
    for n, column in enumerate(table.labels):
        label_widths.append(_width([column.heading, *(row[n] for row in labels)]))
    n_labels = len(label_widths)
    gaps_of_labels = [""] + [GAP] * (n_labels - 1)
    gaps_of_group = [BETWEEN_GROUPS] + [GAP] * (n_columns - 1)
    return Grid(
        table,
        headings,
        rows=[[[*label, *row]] for label, row in zip(labels, cells, strict=True)],
        widths=label_widths + widths * n_groups,
        gaps=gaps_of_labels + gaps_of_group * n_groups,
        is_left=[True] * n_labels + are_words * n_groups,
    )


def _width(texts: Sequence[str]) -> int:
    """Return the width of the widest text, in cells of a terminal."""
    return max(map(cell_len, texts))


def _break_heading(heading: str) -> list[str]:
    """Return the lines of a heading: several of a long one."""
    return [heading] if len(heading) <= LONGEST_HEADING else _parts(heading, NARROWEST)


def _drop_repeated(labels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the labels of rows; one that the row above has too is blank, but for the last one of a row."""
    shown = []
    above: Sequence[str] = ()
    for row in labels:
        texts = []
        for n, text in enumerate(row):
            is_repeated = row[: n + 1] == above[: n + 1]
            is_last = n == len(row) - 1
            texts.append("" if is_repeated and not is_last else text)
        shown.append(texts)
        above = row
    return shown


def _make_room_for_marks(
    rows: list[list[str]], cells: Sequence[Sequence[Cell]], columns: Iterable[Sequence[int]]
) -> None:
    """Put a space behind the other numbers of a column in which one is marked: decimals stay below each other.

    Behind intervals only where that takes no room: columns that are left out are worse.
    """
    for places in columns:
        own = {
            (n, place): marks_of(cell) if isinstance(cell := row[place], NumberCell | Span) else ""
            for n, row in enumerate(cells)
            for place in places
        }
        marked = max((cell_len(rows[n][place]) for (n, place), marks in own.items() if marks), default=0)
        is_free = all(cell_len(rows[n][place]) < marked for (n, place), marks in own.items() if not marks)
        if is_free or any(marks not in {"", DOUBT} for marks in own.values()):
            room = max(map(len, own.values()))
            for (n, place), marks in own.items():
                rows[n][place] += " " * (room - len(marks))


def _with_narrow_labels(grid: Grid, width: int) -> Grid:
    """Break labels between words, the widest column first, if the numbers beside them leave too little room."""
    n_labels, excess = len(grid.table.labels), grid.width - width
    widths = grid.widths[:n_labels]
    if grid.is_left[-1] or excess <= 0:
        return grid  # the words of the last column are broken instead
    words = [
        [word for row in grid.rows for word in textwrap.wrap(row[0][n], 1, break_long_words=False)]
        for n in range(n_labels)
    ]
    least = [max([NARROWEST, *map(cell_len, of_column)]) for of_column in words]
    while excess > 0 and any(own > low for own, low in zip(widths, least, strict=True)):
        widest = max((n for n, low in enumerate(least) if widths[n] > low), key=widths.__getitem__)
        widths[widest] -= 1
        excess -= 1
    return grid.broken(dict(enumerate(widths))) if widths != grid.widths[:n_labels] else grid


def _block(grid: Grid) -> Iterator[Text]:
    """Give the lines of a table: the names of groups, headings, a line below them, and rows."""
    table = grid.table
    n_labels = len(table.labels)
    if table.is_grouped:
        yield from _head_groups(grid)
    headings = [grid.parts(column.heading, width) for column, width in zip(table.labels, grid.widths, strict=False)]
    headings += grid.headings * len(table.groups)
    most = max(1, *map(len, headings))
    raised = [[""] * (most - len(lines)) + lines for lines in headings]  # the last lines beside each other
    for texts in zip(*raised, strict=True):
        yield _line(grid, texts, style=HEAD)
    if not table.is_grouped:
        yield Text(LINE * grid.width, DIM)
    may_have_blocks = n_labels > 1 and (table.has_blocks or not table.is_grouped)
    are_blocks = may_have_blocks and not all(row[0][0] for row in grid.rows)
    mains: Collection[int] = ()
    if table.main >= 0:
        mains = range(n_labels + table.main, len(grid.widths), len(table.columns))
    for n, row in enumerate(grid.rows):
        if n and are_blocks and row[0][0]:
            yield Text("")
        for line in row:
            yield _line(grid, line, mains)


def _head_groups(grid: Grid) -> Iterator[Text]:
    """Give the names of groups above their columns, and a line below each."""
    groups = grid.table.groups
    n_labels = len(grid.table.labels)
    left = sum(grid.widths[:n_labels]) + sum(map(len, grid.gaps[:n_labels]))
    group_width = (grid.width - left) // len(groups) - len(BETWEEN_GROUPS)
    names = "".join(BETWEEN_GROUPS + set_cell_size(name, group_width) for name in groups)
    yield Text(" " * left).append(names, HEAD)
    yield Text(" " * left).append((BETWEEN_GROUPS + LINE * group_width) * len(groups), DIM)


def _line(grid: Grid, texts: Sequence[str], mains: Collection[int] = (), style: str = "") -> Text:
    """Return the texts of a line in their columns: words flush left, numbers flush right."""
    line, n_labels = Text(style=style), len(grid.table.labels)
    for n, (text, width, gap) in enumerate(zip(texts, grid.widths, grid.gaps, strict=True)):
        is_left = grid.is_left[n] and (n >= n_labels or not text.isdigit())
        space = " " * (width - cell_len(text))
        line.append(gap).append(text + space if is_left else space + text, MAIN if n in mains and not is_left else "")
    return line


def _facts(facts: Sequence[Fact], width: int) -> Text:
    """Lay facts out as a heading and a paragraph beside or below it; one holds for the facts below that share it."""
    left = max(cell_len(fact.heading) for fact in facts)
    is_narrow = width - left - len(GAP) < NARROWEST_FACT
    left, lines = 0 if is_narrow else left, list[Text]()
    for above, fact in zip((None, *facts), facts, strict=False):
        heading = "" if above and above.heading == fact.heading else fact.heading
        style, head = (WARNING, WARNING) if fact.is_warning else ("", DIM)
        if is_narrow and heading:
            lines.append(Text(heading, head))
        for n, part in enumerate(_parts(fact.text, width - left - len(GAP))):
            lines.append(Text(set_cell_size("" if n else heading, left), head).append(GAP).append(Text(part, style)))
    return Text("\n").join(lines)


def _parts(text: str, room: int) -> list[str]:
    """Return a text as lines of at most this room, broken between words."""
    return textwrap.wrap(text, max(room, 1), break_long_words=False, break_on_hyphens=False)


def shortened(names: Sequence[str], longest: int = LONGEST_NAME) -> tuple[str, ...]:
    """Return names of at most `longest` columns, cut in the middle; longer ones if else two would look alike.

    Examples
    --------
    >>> shortened(["bm25", "msmarco-passage-dev-cross-encoder-large"])
    ('bm25', 'msmarco-pass…coder-large')
    """
    ways = (tuple(_cut(name, room) for name in names) for room in count(longest, STEP))
    return next(short for short in ways if len(set(short)) == len(set(names)))


def _cut(name: str, room: int) -> str:
    if cell_len(name) <= room:
        return name
    right = (room - cell_len(CUT)) // 2
    left = room - cell_len(CUT) - right
    # a wide character that would be cut in two leaves a blank
    return set_cell_size(name, left).rstrip() + CUT + set_cell_size(name[::-1], right)[::-1].lstrip()
