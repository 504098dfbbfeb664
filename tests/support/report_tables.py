"""A small table of a report."""

from __future__ import annotations

import math

from deadheat.api import Column
from deadheat.core.report.model import Row, Table

NAN = math.nan


def table(*groups: str) -> Table:
    rows = (
        Row(("RR",), tuple((0.123456789, NAN) for _ in groups)),
        Row(("NumQ",), tuple((1234, None) for _ in groups)),
    )
    columns = (Column("value", "mean"), Column("tie_std", "tie std"))
    return Table("scores", (Column("measure", "measure"),), columns, rows, groups)
