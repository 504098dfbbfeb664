"""What a report is before it has a format: tables of numbers, and the facts beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self, TypeAlias

from deadheat.measures.base import Asked

MARK, OF_FEW, LACKING, BEYOND = "*", "°", "#", "!"
"""Behind a number, one meaning each: significant, of few queries, without some queries, out of reach."""
MOST_SIDE_BY_SIDE = 2  # groups: the columns of more cannot be compared

Cell: TypeAlias = "bool | float | str | Span | Bar | None"
"""A float is rounded where it is printed, an int (a count) is not; None and NaN mean "no value"."""


class Share(float):
    """A number from 0 to 1 that is printed as a percentage, with its error if it has one.

    Attributes
    ----------
    error : float
    """

    error: float

    def __new__(cls, number: float, error: float = 0.0) -> Self:
        """Return the number with its error."""
        share = super().__new__(cls, number)
        share.error = error
        return share


class Words(str):
    """Words with spaces between, which JSON holds as a list."""

    __slots__ = ()


class Marked(float):
    """A number that facts below the table explain: it is printed with their marks.

    Attributes
    ----------
    marks : str
    """

    marks: str

    def __new__(cls, number: float, marks: str = MARK) -> Self:
        """Return the number with its marks, by default that of significance."""
        marked = super().__new__(cls, number)
        marked.marks = marks
        return marked


class Ranked(float):
    """A number in a column in which the best one is bold, with marks behind it.

    Attributes
    ----------
    is_best : bool
    marks : str
        Such as a dagger, or the letters of other rows; what they mean is in the caption of the table.
    room : int
        What the longest marks of the column take, so that text can leave as much.
    """

    is_best: bool
    marks: str
    room: int

    def __new__(cls, number: float, *, is_best: bool = False, marks: str = "", room: int = 0) -> Self:
        """Return the number with its rank."""
        ranked = super().__new__(cls, number)
        ranked.is_best, ranked.marks, ranked.room = is_best, marks, room
        return ranked


class PValue(float):
    """A p value: a small one is printed as a bound, such as <.0001, never as a power of ten or as zero."""


class MarkedPValue(Marked, PValue):
    """A p value that a fact below the table explains."""


def p_value(number: float | None, *, is_significant: bool = False) -> Cell:
    """Return a p value as a cell; a significant one is marked."""
    return None if number is None else MarkedPValue(number) if is_significant else PValue(number)


def named(measure: str) -> dict[str, str]:
    """Return the name of a measure as JSON holds it: the notation, and how it was asked for if that is another name.

    Examples
    --------
    >>> named("AP"), named(Asked("MAP", "AP"))
    ({'measure': 'AP'}, {'measure': 'AP', 'asked': 'MAP'})
    """
    return {"measure": measure.notation, "asked": str(measure)} if isinstance(measure, Asked) else {"measure": measure}


@dataclass(frozen=True)
class Span:
    """An interval: printed as one text, [0.482, 0.591]; CSV and JSON have its two ends.

    Attributes
    ----------
    low, high : float
    is_known : bool, default True
        If False, a question mark follows it, and a fact below the table says why.
    """

    low: float
    high: float
    is_known: bool = True


@dataclass(frozen=True)
class Bar:
    """An interval that a text table draws on a scale that it shares with other rows.

    Attributes
    ----------
    low, middle, high : float
    start, end : float
        The numbers at both ends of the drawing.
    """

    low: float
    middle: float
    high: float
    start: float
    end: float


@dataclass(frozen=True)
class Column:
    """A column of a table. One of `Bar` is drawn where a text table has room for it, and left out elsewhere.

    Attributes
    ----------
    key : str
        Its name in CSV and JSON.
    heading : str
        Its heading where people read it.
    ends : tuple of two str
        Of a column of `Span`: the names of its ends in CSV and JSON.
    is_data : bool
        Whether it is in CSV and JSON only.
    is_detail : bool
        Whether it is in JSON only.
    spare : int
        Text tables that are too wide drop columns, those with the highest number first; 0 is never dropped. Those below
        0 are dropped last, where broken labels do not make enough room either.
    """

    key: str
    heading: str
    ends: tuple[str, str] = ("low", "high")
    is_data: bool = False
    is_detail: bool = False
    spare: int = 0


MEASURE, QUERY = Column("measure", "measure"), Column("query_id", "query")


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    labels : tuple of str
        What the row is about.
    cells : tuple of tuple
        Its numbers, of shape (n_groups, n_columns).
    """

    labels: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table whose columns are repeated for every group, such as a run.

    Attributes
    ----------
    key : str
        Its name in JSON.
    labels : tuple of Column
        The leading columns of text.
    columns : tuple of Column
        The columns of numbers within a group.
    rows : tuple of Row
    groups : tuple of str
        The name of each group; one empty name if there are none.
    group : Column
        What the groups are.
    title : str
        A line above it.
    main : int
        The column that matters most.
    has_blocks : bool
        Whether a blank line separates rows with different first labels.
    is_section : bool
        Whether Markdown has the title as a heading.
    caption : str
        Sentences below it; in LaTeX its caption, which makes it a float.
    """

    key: str
    labels: tuple[Column, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    groups: tuple[str, ...] = ("",)
    group: Column = Column("run", "run")
    title: str = ""
    main: int = 0
    has_blocks: bool = False
    is_section: bool = False
    caption: str = ""

    @property
    def is_grouped(self) -> bool:
        """Whether the groups have names."""
        return self.groups != ("",)

    def holds_words(self, place: int) -> bool:
        """Whether a column holds text in every cell: it is flush left."""
        return all(isinstance(group[place], str) for row in self.rows for group in row.cells)

    def with_groups_as_rows(self) -> Table:
        """Return the table with the name of the group as the last label, and a row for each; without groups, itself."""
        if not self.is_grouped:
            return self
        rows = tuple(
            Row((*row.labels, group), (cells,))
            for row in self.rows
            for group, cells in zip(self.groups, row.cells, strict=True)
        )
        return replace(self, labels=(*self.labels, self.group), rows=rows, groups=("",))

    def holds(self, place: int, kind: type[Span | Bar]) -> bool:
        """Whether a column holds spans, or bars."""
        return any(isinstance(group[place], kind) for row in self.rows for group in row.cells)

    def select(self, places: Sequence[int]) -> Table:
        """Return the table with some of its columns, in another order if the places are."""
        if list(places) == list(range(len(self.columns))):
            return self
        rows = tuple(
            replace(row, cells=tuple(tuple(cells[n] for n in places) for cells in row.cells)) for row in self.rows
        )
        main = list(places).index(self.main) if self.main in places else 0
        return replace(self, columns=tuple(self.columns[n] for n in places), rows=rows, main=main)

    def for_people(self, *, drawn: bool = False) -> Table:
        """Return the table without what is data only, and without drawings unless they are wanted."""
        shown = [n for n, column in enumerate(self.columns) if not (column.is_data or column.is_detail)]
        return self.select([n for n in shown if drawn or not self.holds(n, Bar)])

    def for_data(self) -> Table:
        """Return the table without drawings, each span as two numbers."""
        table = self.select([n for n in range(len(self.columns)) if not self.holds(n, Bar)])
        split = [table.holds(n, Span) for n in range(len(table.columns))]
        columns = [
            tuple(Column(end, end) for end in column.ends) if is_split else (column,)
            for column, is_split in zip(table.columns, split, strict=True)
        ]
        rows = tuple(replace(row, cells=tuple(_split(cells, split) for cells in row.cells)) for row in table.rows)
        return replace(table, columns=tuple(chain.from_iterable(columns)), rows=rows)

    def with_texts(self, change: Callable[[str], str]) -> Table:
        """Return the table with every text of it changed."""
        rows = tuple(
            Row(
                tuple(map(change, row.labels)),
                tuple(tuple(change(one) if isinstance(one, str) else one for one in cells) for cells in row.cells),
            )
            for row in self.rows
        )
        labels, columns = (
            tuple(replace(column, heading=change(column.heading)) for column in own)
            for own in (self.labels, self.columns)
        )
        groups, title, caption = tuple(map(change, self.groups)), change(self.title), change(self.caption)
        return replace(self, labels=labels, columns=columns, rows=rows, groups=groups, title=title, caption=caption)

    def records(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], tuple[Cell, ...]]]:
        """Give (group, labels, cells) of each row of each group in turn; the group is one label, or none."""
        for place, group in enumerate(self.groups):
            for row in self.rows:
                yield (group,) if self.is_grouped else (), row.labels, row.cells[place]


def _split(cells: Sequence[Cell], split: Sequence[bool]) -> tuple[Cell, ...]:
    """Return cells with two in the place of each that is to be split."""
    ends = [(cell.low, cell.high) if isinstance(cell, Span) else (None, None) for cell in cells]
    found = (two if is_split else (cell,) for cell, two, is_split in zip(cells, ends, split, strict=True))
    return tuple(chain.from_iterable(found))


@dataclass(frozen=True)
class Fact:
    """A statement beside the tables.

    Attributes
    ----------
    key : str
        Its name in JSON.
    value : object
        What JSON holds.
    heading, text : str
        What people read; a fact without text is in JSON only.
    is_warning : bool
        Whether the values mean little because of it.
    is_note : bool
        Whether it is about these data or this call only: if the format has no place for facts, it goes to standard
        error, as warnings do.
    """

    key: str
    value: object
    heading: str = ""
    text: str = ""
    is_warning: bool = False
    is_note: bool = False

    @property
    def sentence(self) -> str:
        """The heading and the text in one line."""
        return f"{self.heading}: {self.text}" if self.heading else self.text


@dataclass(frozen=True)
class Report:
    """Tables and the facts that belong to them.

    Attributes
    ----------
    tables : tuple of Table
    facts : tuple of Fact
    heading : str
        A line above everything, for people.
    closing : str
        Lines below everything, for people; indented ones are commands, which are not wrapped.
    facts_first : bool
        Whether the facts come before the tables.
    subject : object
        The object that it reports on, for a format that shows more of it.
    opening : str
        Sentences that come before all else, for people: what was found.
    """

    tables: tuple[Table, ...]
    facts: tuple[Fact, ...] = ()
    heading: str = ""
    closing: str = ""
    facts_first: bool = False
    subject: object = None
    opening: str = ""

    @property
    def shown(self) -> list[Fact]:
        """The facts that people read."""
        return [fact for fact in self.facts if fact.text]

    def with_texts(self, change: Callable[[str], str]) -> Report:
        """Return the report with every text that people read changed; lines of the closing stay lines."""
        return replace(
            self,
            tables=tuple(table.with_texts(change) for table in self.tables),
            facts=tuple(replace(fact, heading=change(fact.heading), text=change(fact.text)) for fact in self.facts),
            heading=change(self.heading),
            opening=change(self.opening),
            closing="\n".join(map(change, self.closing.split("\n"))),
        )
