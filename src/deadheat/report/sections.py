"""Reports with intervals as Markdown sections: a heading for each run, and a table of metric, value and interval."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deadheat.report.model import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from deadheat.report.model import Column, Report, Table

HEADINGS = {"measure": "Metric", "value": "Value"}


def in_sections(report: Report) -> Report:
    """Return the report with a table for each run, and for each value of the first of several labels.

    Tables without intervals stay as they are.
    """
    return replace(report, tables=tuple(part for table in report.tables for part in _sections(table)))


def _sections(table: Table) -> Iterator[Table]:
    if not any(table.holds(place, Span) for place in range(len(table.columns))):
        yield table
        return
    # the number of queries, which a stratum has, stands behind the interval
    places = sorted(range(len(table.columns)), key=lambda place: table.columns[place].key == "n_queries")
    table = table.select(places)
    n_shared = len(table.labels) > 1
    shared = dict.fromkeys(row.labels[:n_shared] for row in table.rows)
    for place, group in enumerate(table.groups):
        for labels in shared:
            own = [row for row in table.rows if row.labels[:n_shared] == labels]
            yield replace(
                table,
                labels=tuple(_renamed(column) for column in table.labels[n_shared:]),
                columns=tuple(_renamed(column) for column in table.columns),
                rows=tuple(replace(row, labels=row.labels[n_shared:], cells=(row.cells[place],)) for row in own),
                groups=("",),
                title=f"{group} ({', '.join(labels)})" if labels else group,
                is_section=True,
            )


def _renamed(column: Column) -> Column:
    return replace(column, heading=HEADINGS.get(column.key, column.heading))
