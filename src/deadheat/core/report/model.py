"""What a report is before it has a format: tables, and the facts beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, TypeVar, cast

from deadheat.core.report.cells import Bar, Cell, Span
from deadheat.core.wording import join_sentences

MOST_SIDE_BY_SIDE = 2  # groups: the columns of more cannot be compared
MOST_NOTES = 5  # below a report in brief
OPTION_FOR_ALL = re.compile(r"; --full (?:lists|marks) them| with --full")
ALWAYS = ("few_queries", "together")  # keys of notes that are shown whatever others there are


def notation_of(measure: str) -> dict[str, str]:
    """Return the name of a measure as JSON holds it: the notation, and how it was asked for if that is another name.

    Examples
    --------
    >>> notation_of("AP"), notation_of("MAP"), notation_of("a custom measure")
    ({'measure': 'AP'}, {'measure': 'AP', 'asked': 'MAP'}, {'measure': 'a custom measure'})
    >>> notation_of("IPrec")  # the name of a class, which nobody asks for without a level
    {'measure': 'IPrec'}
    """
    from deadheat.core.measures.notation import measure_named  # help names the formats, and needs no NumPy

    found = measure_named(measure)
    return {"measure": str(found), "asked": measure} if found and found.asked == measure else {"measure": measure}


@dataclass(frozen=True)
class Column:
    """A column of a table. One of `Bar` is drawn where a text table has room for it, and left out elsewhere.

    Attributes
    ----------
    key : str
        Its name in CSV and JSON.
    heading : str
        Its heading where people read it.
    of : callable, optional
        Takes an item that :func:`tabulate` lists and returns its cell; by default what the item holds as `key`.
    ends : tuple of two str
        Of a column of `Span`: the names of its ends in CSV and JSON.
    is_data : bool
        Whether it is in CSV and JSON only.
    is_detail : bool
        Whether it is in JSON only.
    spare : int
        Text tables that are too wide drop columns, those with the highest number first; 0 is never dropped. Those below
        0 are dropped last, where broken labels do not make enough room either.
    is_name : bool
        Whether it holds names of systems, which text tables that are too wide shorten first.
    is_extra : bool
        Whether people see it in the full report only.
    """

    key: str
    heading: str
    of: Callable[..., Cell] | None = None
    ends: tuple[str, str] = ("low", "high")
    is_data: bool = False
    is_detail: bool = False
    spare: int = 0
    is_name: bool = False
    is_extra: bool = False

    def cell(self, item: Any) -> Any:  # noqa: ANN401 - what a table lists, and a cell or a label of it
        """Return what the column has of an item."""
        if self.of is not None:
            return self.of(item)
        return item[self.key] if type(item) is dict or isinstance(item, Mapping) else getattr(item, self.key)


MEASURE, QUERY = Column("measure", "measure"), Column("query_id", "query")
SYSTEM = Column("system", "system", is_name=True)


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
    is_extra : bool
        Whether people see it in the full report only.
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
    is_extra: bool = False

    @property
    def is_grouped(self) -> bool:
        """Whether the groups have names."""
        return self.groups != ("",)

    def cells_of(self, place: int) -> Iterator[Cell]:
        """Give the cells of a column, of all groups."""
        return (group[place] for row in self.rows for group in row.cells)

    @property
    def are_words(self) -> list[bool]:
        """Which columns hold text in every cell: they are flush left."""
        groups = [group for row in self.rows for group in row.cells]
        return [all(isinstance(group[n], str | tuple) for group in groups) for n in range(len(self.columns))]

    def with_groups_as_rows(self) -> Table:
        """Return the table with the name of the group as the last label, and a row for each; without groups, itself."""
        if not self.is_grouped:
            return self
        return replace(
            self,
            labels=(*self.labels, self.group),
            rows=tuple(
                Row((*row.labels, group), (cells,))
                for row in self.rows
                for group, cells in zip(self.groups, row.cells, strict=True)
            ),
            groups=("",),
        )

    def holds(self, place: int, kind: type[Span | Bar]) -> bool:
        """Whether a column holds spans, or bars."""
        return kind in set(map(type, self.cells_of(place)))

    def select(self, places: Sequence[int]) -> Table:
        """Return the table with some of its columns, in another order if the places are."""
        if list(places) == list(range(len(self.columns))):
            return self
        rows = tuple(
            replace(row, cells=tuple(tuple(cells[n] for n in places) for cells in row.cells)) for row in self.rows
        )
        main = list(places).index(self.main) if self.main in places else 0
        return replace(self, columns=tuple(self.columns[n] for n in places), rows=rows, main=main)

    def with_names(self, shortened: Callable[[Sequence[str]], Sequence[str]]) -> Table:
        """Return the table with the names of systems in its columns of such shortened."""
        columns, rows = (*self.labels, *self.columns), [(*row.labels, *row.cells[0]) for row in self.rows]
        names = list(dict.fromkeys(str(row[n]) for n, column in enumerate(columns) if column.is_name for row in rows))
        short = dict(zip(names, shortened(names), strict=True))
        return replace(self, rows=_changed(self.rows, lambda text: short.get(text, text)))

    def with_pairs(self) -> Table:
        """Return the table with system and baseline as one label, if both are labels."""
        keys = [column.key for column in self.labels]
        if not {"system", "baseline"} <= {*keys}:
            return self
        places = keys.index("system"), keys.index("baseline")

        def merged(texts: Sequence[str]) -> list[str]:
            return [text for n, text in enumerate(texts) if n not in places] + [" - ".join(texts[n] for n in places)]

        own = [column for n, column in enumerate(self.labels) if n not in places]
        pair = Column("pair", merged([column.heading for column in self.labels])[-1])
        return replace(
            self, labels=(*own, pair), rows=tuple(replace(row, labels=tuple(merged(row.labels))) for row in self.rows)
        )

    def for_people(self, *, drawn: bool = False) -> Table:
        """Return the table without what is data only, and without drawings unless they are wanted."""
        shown = [n for n, column in enumerate(self.columns) if not (column.is_data or column.is_detail)]
        return self.select([n for n in shown if drawn or not self.holds(n, Bar)])

    def in_brief(self) -> Table:
        """Return the table without the columns of the full report."""
        return self.select([n for n, column in enumerate(self.columns) if not column.is_extra])

    def for_data(self) -> Table:
        """Return the table without drawings, each span as two numbers."""
        table = self.select([n for n in range(len(self.columns)) if not self.holds(n, Bar)])
        spans = [table.holds(n, Span) for n in range(len(table.columns))]
        columns = (
            [Column(end, end) for end in column.ends] if is_span else [column]
            for column, is_span in zip(table.columns, spans, strict=True)
        )
        return replace(
            table,
            columns=tuple(chain.from_iterable(columns)),
            rows=tuple(
                replace(row, cells=tuple(_split(cells, spans) for cells in row.cells)) if any(spans) else row
                for row in table.rows
            ),
        )

    def records(self) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], tuple[Cell, ...]]]:
        """Give (group, labels, cells) of each row of each group in turn; the group is one label, or none."""
        for place, group in enumerate(self.groups):
            for row in self.rows:
                yield (group,) if self.is_grouped else (), row.labels, row.cells[place]


def _split(cells: Sequence[Cell], spans: Sequence[bool]) -> tuple[Cell, ...]:
    """Return cells with two in the place of each of a column of spans."""
    return tuple(
        part
        for cell, is_span in zip(cells, spans, strict=True)
        for part in ((cell.low, cell.high) if isinstance(cell, Span) else (None, None) if is_span else (cell,))
    )


def tabulate(
    key: str,
    labels: Iterable[Column],
    columns: Iterable[Column],
    items: Iterable[object],
    **others: Any,  # noqa: ANN401 - attributes of the table
) -> Table:
    """Return a table with a row for each item, which its columns know how to read; `others` are attributes of it."""
    labels = tuple(labels)
    return tabulate_groups(
        key, labels, columns, ((tuple(one.cell(item) for one in labels), (item,)) for item in items), ("",), **others
    )


def tabulate_groups(
    key: str,
    labels: Iterable[Column],
    columns: Iterable[Column],
    rows: Iterable[tuple[tuple[str, ...], Sequence[object]]],
    groups: Iterable[str],
    **others: Any,  # noqa: ANN401 - attributes of the table
) -> Table:
    """Return a table whose rows are labels and an item of each group; one of None leaves the cells empty."""
    columns = tuple(columns)
    made = tuple(
        Row(own, tuple(tuple(None if item is None else one.cell(item) for one in columns) for item in items))
        for own, items in rows
    )
    return Table(key, tuple(labels), columns, made, tuple(groups), **others)


def table_of_rows(key: str, labels: Iterable[Column | str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table for programs: the labels of rows, and all else that any of them has."""
    leading = [Column(one, one) if isinstance(one, str) else one for one in labels]
    known = {one.key for one in leading}
    others = dict.fromkeys(name for row in rows for name in row if name not in known)
    return tabulate(key, leading, [Column(name, name, lambda row, name=name: row.get(name)) for name in others], rows)


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
    brief : str
        What people read of it where the details are left out; a fact that changes a decision has one.
    """

    key: str
    value: object
    heading: str = ""
    text: str = ""
    is_warning: bool = False
    is_note: bool = False
    brief: str = ""

    @property
    def sentence(self) -> str:
        """The heading and the text in one line."""
        return f"{self.heading}: {self.text}" if self.heading else self.text


def prose_fact(heading: str, text: str) -> Fact:
    """Return a fact that only people read."""
    return Fact("", None, heading, text)


def note_fact(heading: str, text: str, brief: str = "") -> Fact:
    """Return a fact about these data or this call only, which only people read."""
    return Fact("", None, heading, text, is_note=True, brief=brief)


def summarise(facts: Mapping[str, str]) -> tuple[Fact, ...]:
    """Return labelled texts as facts that people read."""
    return tuple(prose_fact(label, text) for label, text in facts.items())


def warning_fact(heading: str, text: str) -> Fact:
    """Return a fact because of which the values mean little."""
    return Fact("", None, heading, text, is_warning=True)


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
    headline : str
        What was found in few words, above the opening.
    summary : tuple of Fact
        What the headline rests on, below it: a label and a text each.
    """

    tables: tuple[Table, ...]
    facts: tuple[Fact, ...] = ()
    heading: str = ""
    closing: str = ""
    facts_first: bool = False
    subject: object = None
    opening: str = ""
    headline: str = ""
    summary: tuple[Fact, ...] = ()

    @property
    def above(self) -> list[tuple[str, bool]]:
        """The texts above the tables, and whether each is to be seen first."""
        texts = ((self.heading, True), (self.headline, True), (self.opening, not self.headline))
        return [(text, is_first) for text, is_first in texts if text]

    @property
    def shown(self) -> list[Fact]:
        """The facts that people read."""
        return [fact for fact in self.facts if fact.text]

    def in_brief(self) -> Report:
        """Return the report with what can change a decision: without extra tables, and with at most five facts."""
        tables = tuple(table.in_brief() for table in self.tables if not table.is_extra)
        return replace(self, tables=tables, facts=select_facts(self.facts))

    def without_option(self) -> Report:
        """Return the report without the option that shows all of it, as of Python and of pages, where nobody types."""
        facts = [
            replace(fact, text=OPTION_FOR_ALL.sub("", fact.text), brief=OPTION_FOR_ALL.sub("", fact.brief))
            for fact in self.facts
        ]
        return replace(self, facts=tuple(facts))

    def texts(self) -> Iterator[str]:
        """Give every text that people read, by the line."""
        yield from (self.heading, self.headline, self.opening, *self.closing.split("\n"))
        for fact in (*self.summary, *self.facts):
            yield from (fact.heading, fact.text)
        for table in self.tables:
            yield from (table.title, table.caption, *table.groups)
            yield from [column.heading for column in (table.group, *table.labels, *table.columns)]
            yield from chain.from_iterable(row.labels for row in table.rows)
            yield from (
                "".join(cell)  # of a str the same
                for row in table.rows
                for group in row.cells
                for cell in group
                if isinstance(cell, str | tuple)
            )

    def with_texts(self, change: Callable[[str], str]) -> Report:
        """Return the report with every text that people read changed; lines of the closing stay lines."""
        closing = "\n".join(map(change, self.closing.split("\n")))
        tables, facts, summary = _changed((self.tables, self.facts, self.summary), change)
        above: dict[str, Any] = {name: change(getattr(self, name)) for name in ("heading", "headline", "opening")}
        return replace(self, tables=tables, facts=facts, summary=summary, closing=closing, **above)


def select_facts(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the facts that can change a decision, in brief, warnings first, at most five; those for programs stay.

    Those that are always shown are not counted.
    """
    kept: list[Fact] = []
    notes: list[Fact] = []
    for fact in facts:
        if not fact.text:
            kept.append(fact)
        elif fact.key in ALWAYS:
            kept.append(replace(fact, text=fact.brief or fact.text))
        elif fact.brief or fact.is_note or fact.is_warning:
            notes.append(replace(fact, text=fact.brief or fact.text, brief=""))
    # those of one character say what a mark in a table means
    notes.sort(key=lambda fact: (not fact.is_warning, len(fact.heading) != 1))
    if len(notes) > MOST_NOTES:
        n_more = len(notes) - MOST_NOTES + 1
        notes = [*notes[: MOST_NOTES - 1], note_fact("more", f"{n_more} more notes with --full")]
    return (*kept, *notes)


Made = TypeVar("Made", bound=Callable[..., object])

REPORTS: dict[type, Callable[..., Report]] = {}
"""What makes the report of an object that shows itself, by its class."""
PAGES: dict[type, Callable[[Any], str]] = {}
"""What makes the page of an object, by its class."""


def registers_report(
    *classes: type,
    among: Any = REPORTS,  # noqa: ANN401 - one of the two above
    in_brief: bool = False,
) -> Callable[[Made], Made]:
    """Return a decorator that registers what makes the report, or the page, of objects of some classes.

    With `in_brief` objects show their report in brief; who calls the decorated function gets all of it.
    """

    def register(make: Made) -> Made:
        def make_brief(shown: object) -> Report:
            report: Any = make(shown)
            return cast("Report", report.in_brief())

        among.update(dict.fromkeys(classes, make_brief if in_brief else make))
        return make

    return register


def _changed(found: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 - a part of a report
    """Return a part of a report with every text in it changed."""
    if isinstance(found, str):
        return change(found)
    if isinstance(found, tuple):
        return tuple(_changed(one, change) for one in found)
    if isinstance(found, Table | Row | Column | Fact):
        return replace(found, **{one.name: _changed(getattr(found, one.name), change) for one in fields(found)})
    return found


def side_by_side(reports: Mapping[str, Report]) -> Report:
    """Return several reports as one: what they share comes once, all else under names of its own.

    Parameters
    ----------
    reports : mapping of str to Report
        By what each is about; tables and facts of several reports have it in their keys.
    """
    first, *others = reports.values()
    if not others:
        return first
    shared = [fact for fact in first.facts if all(fact in report.facts for report in others)]
    facts = list(shared)
    summary: dict[Fact, None] = {}  # each fact once
    for name, report in reports.items():
        facts += _name_facts(report.facts, name, shared)
        summary |= dict.fromkeys(report.summary)
    return replace(
        first,
        tables=tuple(_name_tables(reports)),
        facts=tuple(facts),
        headline=join_sentences(*dict.fromkeys(report.headline for report in reports.values())),
        opening=join_sentences(*(report.opening for report in reports.values())),
        summary=tuple(summary),
    )


def _name_facts(facts: Iterable[Fact], name: str, shared: Collection[Fact]) -> list[Fact]:
    """Return the facts of a report that others do not share, with the name of what it is about."""
    named_facts = []
    heading = ""
    for fact in facts:
        # without one it goes on with what is above it, which may be elsewhere now
        heading = fact.heading or heading
        if fact in shared:
            continue
        key = f"{fact.key}_by_{name}" if fact.key else ""
        text = fact.text
        if text and fact.key != "by":  # the strata say by what they are
            text = f"by {name}: {text}"
        named_facts.append(replace(fact, key=key, heading=heading if text else "", text=text))
    return named_facts


def _name_tables(reports: Mapping[str, Report]) -> list[Table]:
    """Return the tables of all reports; those whose key several reports have get the name of what theirs is about."""
    n_having: Counter[str] = Counter()
    for report in reports.values():
        n_having.update({table.key for table in report.tables})
    tables = []
    for name, report in reports.items():
        for table in report.tables:
            key = table.key
            if n_having[key] > 1:
                key = f"{key}_by_{name}"
            tables.append(replace(table, key=key))
    return tables


def first_true(texts: Mapping[str, object], otherwise: str = "") -> str:
    """Return the first of some texts whose condition holds.

    Examples
    --------
    >>> first_true({"none": False, "few": True, "some": True}), first_true({"none": False}, "many")
    ('few', 'many')
    """
    return next((text for text, holds in texts.items() if holds), otherwise)
