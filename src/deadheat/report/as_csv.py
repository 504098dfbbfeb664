"""Tables as CSV in long form: a row of the file for each group and row of the table."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from deadheat.report.numbers import plain

if TYPE_CHECKING:
    from deadheat.report.model import Table


def as_csv(table: Table, *, digits: int | None = None) -> str:
    """Return a table as CSV; no value is an empty field, and nothing is rounded unless `digits` says so.

    The columns are the group, the labels from the last to the first (measure before query) and the numbers.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    group = [table.group.key] if table.is_grouped else []
    writer.writerow(
        [*group, *(label.key for label in reversed(table.labels)), *(column.key for column in table.columns)]
    )
    for name, row, cells in table.records():
        own = [name] if table.is_grouped else []
        writer.writerow([*own, *reversed(row.labels), *(plain(cell, digits) for cell in cells)])
    return out.getvalue().removesuffix("\n")
