"""Tables as CSV in long form: a row of the file for each group and row of the table."""

import csv
import io
import re

from deadheat.errors import ColumnError
from deadheat.report.formats import ReportFormat, register
from deadheat.report.model import Cell, Table, plain

FORMULA = re.compile(r"'*[=+\-@\t\r]")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def as_csv(table: Table, *, digits: int | None = None) -> str:
    """Return a table as CSV; no value is an empty field, and nothing is rounded unless `digits` says so.

    The columns are the group, the last label (the measure), the other labels (query, stratum) and the numbers.

    Raises
    ------
    ColumnError
        A stratum column has the name of another column: readers of the file could not tell the two apart.
    """
    table = table.select([n for n, column in enumerate(table.columns) if not column.is_detail]).for_data()
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    leading = [table.group] if table.is_grouped else []
    columns = [*leading, *table.labels[-1:], *table.labels[:-1], *table.columns]
    names = [column.key for column in columns]
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ColumnError(f"two columns would be named {twice[0]!r}", hint="give the stratum column another name")
    writer.writerow(map(no_formula, names))
    for group, labels, cells in table.records():
        writer.writerow(_field(cell, digits) for cell in (*group, *labels[-1:], *labels[:-1], *cells))
    return out.getvalue().removesuffix("\n")


def no_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that begins like a formula gets an apostrophe.

    A formula begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, and is not a number. A text that
    begins so after apostrophes gets one more: to remove one from each such text restores every text.

    Examples
    --------
    >>> no_formula("=1+1"), no_formula("-x"), no_formula("-1.5"), no_formula("'=1"), no_formula("q-1"), no_formula("'q")
    ("'=1+1", "'-x", '-1.5', "''=1", 'q-1', "'q")
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def _field(cell: Cell, digits: int | None) -> float | str | None:
    """Return what the file holds; true and false as JSON has them."""
    if isinstance(cell, str):
        return no_formula(cell)
    return str(cell).lower() if isinstance(cell, bool) else plain(cell, digits)


register(
    ReportFormat(
        name="csv",
        suffixes=(".csv",),
        write=lambda report, digits: as_csv(report.tables[0], digits=digits),
        needs="rows",
        is_data=True,
        place=2,
    )
)
