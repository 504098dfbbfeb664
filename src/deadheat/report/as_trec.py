"""Scores as trec_eval prints them, under its own names where it has the measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from deadheat.errors import printable
from deadheat.report.formats import ReportFormat, register
from deadheat.report.model import Cell, NumberCell, Report, Table, plain

if TYPE_CHECKING:
    from deadheat.measures import Measure

ALL = "all"  # in the place of a query


def trec_name(measure: Measure | str) -> str:
    """Return trec_eval's name of a measure, or our notation where trec_eval has no such measure.

    Examples
    --------
    >>> trec_name("nDCG@10"), trec_name("RR"), trec_name("P(rel=2)@5"), trec_name("RBPResidual(p=0.9, tail='unjudged')")
    ('ndcg_cut_10', 'recip_rank', 'P(rel=2)@5', 'rbp_resid')
    """
    from deadheat.measures.base import trec_names  # loads NumPy, which --help does not need
    from deadheat.measures.notation import parse_measure

    measure = parse_measure(measure)
    for name, preset in measure.presets.items():
        if type(measure)(**preset) == measure:
            return name
    at = getattr(measure, measure.at, None)
    shown = at if measure.at == "cutoff" else f"{at:.2f}"
    named = [name.format(shown) for name in trec_names(type(measure)) if ("{}" in name) == (at is not None)]
    has_defaults = "(" not in str(measure)
    return named[0] if named and has_defaults else str(measure)


def as_trec(report: Report, *, digits: int | None = None) -> str:
    """Return scores as trec_eval prints them: of every query first (as for its -q), then of all.

    Parameters
    ----------
    report : Report
        Its last table is labelled by measure, one above it by query and measure.
    digits : int, optional
        Decimals, 4 by default.
    """
    *per_query, summary = report.tables
    return "\n".join(line for place in range(len(summary.groups)) for line in _run(summary, per_query, place, digits))


def field(query: str) -> str:
    r"""Return a query id as one field, which is not that of all queries.

    Examples
    --------
    >>> print(field("q1"), field("q\t1 2"), field("all"))
    q1 q\t1\x202 \x61ll
    """
    if query == ALL:
        return r"\x61ll"
    return "".join(f"\\x{ord(one):02x}" if one.isspace() else one for one in printable(query))


def _run(summary: Table, per_query: Sequence[Table], place: int, digits: int | None) -> Iterator[str]:
    from deadheat.measures.notation import parse_measure

    for row in chain.from_iterable(table.rows for table in per_query):
        query, measure = field(row.labels[0]), parse_measure(row.labels[1])
        if not measure.only_total and plain(row.cells[place][0]) is not None:
            yield _line(trec_name(measure), query, row.cells[place][0], digits)
    yield _line("runid", ALL, printable(summary.groups[place]), digits)
    for row in summary.rows:
        yield _line(trec_name(row.labels[0]), ALL, row.cells[place][0], digits)


def _line(name: str, query: str, cell: Cell, digits: int | None) -> str:
    cell = cell.value if isinstance(cell, NumberCell) else cell
    value = f"{cell:.{4 if digits is None else digits}f}" if isinstance(cell, float) else str(cell)
    return f"{name:<22}\t{query}\t{value}"


register(ReportFormat(name="trec", suffixes=(".trec", ".eval"), write=as_trec, needs="runs", is_data=True, place=5))
