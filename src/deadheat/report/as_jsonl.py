"""Reports as JSON Lines: the rows of the first table, one object a line, for dashboards."""

import json

from deadheat.report.formats import ReportFormat, register
from deadheat.report.model import Report
from deadheat.report.numbers import plain


def as_jsonl(report: Report, *, digits: int | None = None) -> str:
    """Return the rows of the first table; NaN becomes null, and nothing is rounded unless `digits` says so."""
    table = report.tables[0].for_data()
    names = [column.key for column in (*table.labels, *table.columns)]
    rows = ([*labels, *(plain(cell, digits) for cell in cells)] for _, labels, cells in table.records())
    return "\n".join(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows)


register(ReportFormat(name="jsonl", suffixes=(".jsonl",), write=as_jsonl, needs="lines", is_data=True, place=3))
