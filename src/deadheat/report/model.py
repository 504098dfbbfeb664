"""What a report is before it has a format: tables of numbers, and the facts that stand beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Cell: TypeAlias = "float | str | None"
"""A float is rounded where it is printed, an int (a count) is not; None and NaN stand for "no value"."""


class Share(float):
    """A number from 0 to 1 that people read as a percentage."""


class Marked(float):
    """A number to which a fact below the table belongs: people see a star behind it."""


@dataclass(frozen=True)
class Column:
    """A column: its name in CSV and JSON, and its heading where people read it."""

    key: str
    heading: str


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
    """

    key: str
    labels: tuple[Column, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    groups: tuple[str, ...] = ("",)
    group: Column = Column("run", "run")
    title: str = ""
    main: int = 0

    @property
    def is_grouped(self) -> bool:
        """Whether the groups have names."""
        return self.groups != ("",)

    def holds_words(self, place: int) -> bool:
        """Whether a column holds text in every cell: it is flush left."""
        return all(isinstance(group[place], str) for row in self.rows for group in row.cells)

    def with_groups_as_rows(self) -> Table:
        """Return the table with the name of the group as the last label, and a row for each."""
        rows = tuple(
            Row((*row.labels, group), (cells,))
            for row in self.rows
            for group, cells in zip(self.groups, row.cells, strict=True)
        )
        return replace(self, labels=(*self.labels, self.group), rows=rows, groups=("",))

    def records(self) -> Iterator[tuple[str, Row, tuple[Cell, ...]]]:
        """Give (group, row, cells) of each group in turn."""
        for place, group in enumerate(self.groups):
            for row in self.rows:
                yield group, row, row.cells[place]


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
        What people read; a fact without text stands in JSON only.
    is_warning : bool
        Whether the values mean little because of it.
    """

    key: str
    value: object
    heading: str = ""
    text: str = ""
    is_warning: bool = False


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
        Whether the facts stand above the tables.
    """

    tables: tuple[Table, ...]
    facts: tuple[Fact, ...] = ()
    heading: str = ""
    closing: str = ""
    facts_first: bool = False
