"""Reports for programs: CSV in long form, JSON, lines as trec_eval prints them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from deadheat.core.errors import ColumnError
from deadheat.core.io.spreadsheets import guard_text
from deadheat.core.report.cells import Cell, NumberCell, plain
from deadheat.core.report.formats import ReportFormat, register
from deadheat.core.report.model import Report, Table, notation_of
from deadheat.core.wording import escape_commands, escape_invisible

if TYPE_CHECKING:
    from deadheat.core.measures import Measure


COMMAND = "##["  # a build log obeys what follows, wherever in a line it is


class Lines:
    """The lines that `csv.writer` writes, each without its end.

    With a line end of two characters, it quotes fields that have one of them; most readers take both for a line end.
    """

    end = "\r\n"

    def __init__(self) -> None:
        self.lines: list[str] = []

    def write(self, line: str) -> None:
        """Keep a line."""
        self.lines.append(line.removesuffix(self.end))


def as_csv(table: Table, *, digits: int | None = None) -> str:
    """Return a table as CSV; no value is an empty field, and nothing is rounded unless `digits` says so.

    The columns are the group, the last label (the measure), the other labels (query, stratum) and the numbers.

    Raises
    ------
    ColumnError
        A stratum column has the name of another column: readers of the file could not tell the two apart.
    """
    table = table.select([n for n, column in enumerate(table.columns) if not column.is_detail]).for_data()
    out = Lines()
    writer = csv.writer(out, lineterminator=out.end)
    leading = [table.group] if table.is_grouped else []
    names = [column.key for column in (*leading, *table.labels[-1:], *table.labels[:-1], *table.columns)]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ColumnError(f"two columns would be named {twice[0]!r}", hint="give the stratum column another name")
    writer.writerow(map(guard_text, names))
    for group, labels, cells in table.records():
        writer.writerow([_field(cell, digits) for cell in (*group, *labels[-1:], *labels[:-1], *cells)])
    return "\n".join(out.lines)


def _field(cell: Cell, digits: int | None) -> float | str | None:
    """Return what the file holds; true and false as JSON has them."""
    if isinstance(cell, str):
        return guard_text(cell)
    return str(cell).lower() if isinstance(cell, bool) else plain(cell, digits)


register(
    ReportFormat(
        name="csv",
        suffixes=(".csv",),
        write=lambda report, digits: as_csv(report.tables[0], digits=digits),
        needs="rows",
        is_data=True,
        place=20,
    )
)


def as_json(report: Report, *, digits: int | None = None) -> str:
    """Return a report as JSON text; NaN becomes null, and nothing is rounded unless `digits` says so."""
    document: dict[str, Any] = {}
    for fact in report.facts:
        if fact.key:
            document[fact.key] = plain(fact.value) if isinstance(fact.value, float) else fact.value
    document |= {table.key: _nested(table.for_data(), digits) for table in report.tables}
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return _escaped(text)


def _escaped(text: str) -> str:
    """Return JSON in which what cannot be seen is an escape, and what a build log would obey: it means the same."""
    unseen = {ord(one): json.dumps(one)[1:-1] for one in set(text) - {"\n"} if escape_invisible(one) != one}
    return text.translate(unseen).replace(COMMAND, "#\\u0023[")


def _nested(table: Table, digits: int | None) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for group, labels, cells in table.records():
        place = nested
        for key in (*group, *labels):
            place = place.setdefault(key, {})
        for column, label in zip(table.labels, labels, strict=True):
            if column.key == "measure" and "asked" in (named := notation_of(label)):  # else the key says it
                place |= named
        for column, cell in zip(table.columns, cells, strict=True):
            if column.key == "measure" and isinstance(cell, str):
                place |= notation_of(cell)
            else:
                place[column.key] = list(cell) if isinstance(cell, tuple) else plain(cell, digits)
    return nested


register(ReportFormat(name="json", suffixes=(".json",), write=as_json, place=10))


def as_jsonl(report: Report, *, digits: int | None = None) -> str:
    """Return the rows of the first table; NaN becomes null, and nothing is rounded unless `digits` says so."""
    table = report.tables[0].for_data()
    names = [column.key for column in (*table.labels, *table.columns)]
    rows = ([*labels, *(plain(cell, digits) for cell in cells)] for _, labels, cells in table.records())
    lines = [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows]
    return _escaped("\n".join(lines))


register(ReportFormat(name="jsonl", suffixes=(".jsonl",), write=as_jsonl, needs="lines", is_data=True, place=25))


ALL = "all"  # in the place of a query


def trec_name(measure: Measure | str, level: float | None = None) -> str:
    """Return trec_eval's name of a measure, or our notation where trec_eval has no such measure.

    Parameters
    ----------
    measure : Measure or str
    level : float, optional
        The lowest relevant level of the whole report (-l), which trec_eval does not print.

    Examples
    --------
    >>> trec_name("nDCG@10"), trec_name("RR"), trec_name("P(rel=2)@5"), trec_name("RBPResidual(p=0.9, tail='unjudged')")
    ('ndcg_cut_10', 'recip_rank', 'P(rel=2)@5', 'rbp_resid')
    >>> trec_name("P(rel=2)@5", 2), trec_name("P(rel=3)@5", 2)
    ('P_5', 'P(rel=3)@5')
    """
    from deadheat.core.measures.notation import parse_measure
    from deadheat.core.measures.registration import trec_names  # loads NumPy, which --help does not need
    from deadheat.core.measures.selection import default_rel

    measure = parse_measure(measure)
    if level is not None and getattr(measure, "rel", None) == level:
        measure = measure(rel=default_rel(measure))
    for name, preset in measure.presets.items():
        if type(measure)(**preset) == measure:
            return name
    at = getattr(measure, measure.at, None)
    named = [name for name in trec_names(type(measure)) if ("{}" in name) == (at is not None)]
    if not named or "(" in str(measure) or (isinstance(at, float) and round(at, 2) != at):
        return str(measure)
    return named[0].format(at if measure.at == "cutoff" else f"{at:.2f}")


def as_trec(report: Report, *, digits: int | None = None) -> str:
    """Return scores as trec_eval prints them: of every query first (as for its -q), then of all.

    Parameters
    ----------
    report : Report
        Its last table is labelled by measure, one above it by query and measure.
    digits : int, optional
        Decimals, 4 by default.
    """
    level: Any = next((fact.value for fact in report.facts if fact.key == "rel"), None)
    *per_query, summary = report.tables
    names: dict[str, str] = {}
    for row in summary.rows:
        names[row.labels[0]] = trec_name(row.labels[0], level)
    lines: list[str] = []
    for place in range(len(summary.groups)):
        lines += _run(summary, per_query, names, place, digits)
    return "\n".join(lines)


def field(query: str) -> str:
    r"""Return a query id as one field, which is not that of all queries.

    Examples
    --------
    >>> print(field("q1"), field("q\t1 2"), field("all"))
    q1 q\t1\x202 \x61ll
    """
    if query == ALL:
        return r"\x61ll"
    text = escape_commands(escape_invisible(query))
    return "".join(f"\\x{ord(one):02x}" if one.isspace() else one for one in text)


def _run(
    summary: Table, per_query: Sequence[Table], names: Mapping[str, str], place: int, digits: int | None
) -> Iterator[str]:
    from deadheat.core.measures.notation import parse_measure

    for row in (row for table in per_query for row in table.rows):
        query, measure = field(row.labels[0]), parse_measure(row.labels[1])
        if not measure.only_total and plain(row.cells[place][0]) is not None:
            yield _line(names[row.labels[1]], query, row.cells[place][0], digits)
    yield _line("runid", ALL, escape_commands(escape_invisible(summary.groups[place])), digits)
    for row in summary.rows:
        yield _line(names[row.labels[0]], ALL, row.cells[place][0], digits)


def _line(name: str, query: str, cell: Cell, digits: int | None) -> str:
    cell = cell.value if isinstance(cell, NumberCell) else cell
    value = f"{cell:.{4 if digits is None else digits}f}" if isinstance(cell, float) else str(cell)
    return f"{name:<22}\t{query}\t{value}"


register(ReportFormat(name="trec", suffixes=(".trec", ".eval"), write=as_trec, needs="runs", is_data=True, place=50))
