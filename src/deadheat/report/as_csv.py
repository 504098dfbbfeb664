"""Tables as CSV in long form: a row of the file for each group and row of the table."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from deadheat.report.numbers import plain

if TYPE_CHECKING:
    from deadheat.report.model import Cell, Table


def as_csv(table: Table, *, digits: int | None = None) -> str:
    """Return a table as CSV; no value is an empty field, and nothing is rounded unless `digits` says so.

    The columns are the group, the last label (the measure), the other labels (query, stratum) and the numbers.
    """
    table = table.for_data()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    group = [table.group.key] if table.is_grouped else []
    labels = [label.key for label in table.labels]
    writer.writerow([*group, *labels[-1:], *labels[:-1], *(column.key for column in table.columns)])
    for name, row, cells in table.records():
        own = [name] if table.is_grouped else []
        writer.writerow([*own, *row.labels[-1:], *row.labels[:-1], *(_field(cell, digits) for cell in cells)])
    return out.getvalue().removesuffix("\n")


def _field(cell: Cell, digits: int | None) -> float | str | None:
    """Return what the file holds; true and false as JSON has them."""
    return str(cell).lower() if isinstance(cell, bool) else plain(cell, digits)
