"""Reports as JSON: every fact by its key, every table as nested objects by its labels; or a row of a table a line."""

import json
from typing import Any

from deadheat.errors import printable
from deadheat.report.formats import ReportFormat, register
from deadheat.report.model import Report, Table, notation_of, plain


def as_json(report: Report, *, digits: int | None = None) -> str:
    """Return a report as JSON text; NaN becomes null, and nothing is rounded unless `digits` says so."""
    document: dict[str, Any] = {fact.key: fact.value for fact in report.facts if fact.key}
    document |= {table.key: _nested(table.for_data(), digits) for table in report.tables}
    return _visible(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def _visible(text: str) -> str:
    """Return JSON in which what cannot be seen is an escape too; json escapes only what it must."""
    return text.translate({ord(one): json.dumps(one)[1:-1] for one in set(text) - {"\n"} if printable(one) != one})


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


register(ReportFormat(name="json", suffixes=(".json",), write=as_json, place=1))


def as_jsonl(report: Report, *, digits: int | None = None) -> str:
    """Return the rows of the first table; NaN becomes null, and nothing is rounded unless `digits` says so."""
    table = report.tables[0].for_data()
    names = [column.key for column in (*table.labels, *table.columns)]
    rows = ([*labels, *(plain(cell, digits) for cell in cells)] for _, labels, cells in table.records())
    return "\n".join(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in rows)


register(ReportFormat(name="jsonl", suffixes=(".jsonl",), write=as_jsonl, needs="lines", is_data=True, place=3))
