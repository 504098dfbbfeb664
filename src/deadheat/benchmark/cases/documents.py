"""Files of labelled cases as rows of fields, whatever their format; the content of fields is not checked yet."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadheat.benchmark.cases.naming import FIELDS, IDS, fields_in
from deadheat.data.tables import label_of
from deadheat.errors import ColumnError, DataError
from deadheat.io.kinds import CASES_KEYS
from deadheat.io.records import Records, Wanted, read_records
from deadheat.io.source import readable
from deadheat.wording import Advice, did_you_mean

BETWEEN_IDS = "|"

WANTED = Wanted(
    what="cases",
    record='a case such as {"text": ..., "expected_ids": [...]}',
    expected="a list of cases, or an object with 'cases' (or 'test_cases') and 'metadata'",
    formats=("json", "jsonl", "csv", "tsv"),
    keys=CASES_KEYS,
    keeps_misfits=True,
)


@dataclass(frozen=True, eq=False)
class Document:
    """A file of cases, read but not checked.

    Attributes
    ----------
    path : pathlib.Path
    records : Records
    rows : list of dict, shape (n_cases,)
        The fields of each case, as JSON holds them.
    lines : list of int, shape (n_cases,)
        The line on which each case begins.
    named : dict of str to str
        What the file calls the fields that it calls otherwise, by field.
    """

    path: Path
    records: Records
    rows: list[dict[str, Any]]
    lines: Sequence[int]
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its dataset_id, or else the name of the file without its format."""
        given = self.records.metadata.get("dataset_id")
        return (given.strip() if isinstance(given, str) else "") or label_of(self.path)

    @property
    def value(self) -> object:
        """What the JSON Schema checks: the whole JSON, or what JSON would hold."""
        if self.records.json:
            return self.records.json.value
        keys, metadata = self.records.keys, self.records.metadata
        return {"metadata": metadata, keys[0]: self.rows} if keys else self.rows

    @property
    def is_table(self) -> bool:
        """Whether it is CSV or TSV, which have no metadata."""
        return not isinstance(self.records.table, list)

    def misfit(self, place: int) -> str | None:
        """Return what is wrong with a row that is not a case; None if it is one."""
        error = self.records.misfits.get(place)
        return None if error is None else error.told(has_place=False)

    def line_of(self, place: int, *keys: str | int) -> int:
        """Return the line on which a case, or a part of it, begins."""
        records = self.records
        if not (records.json and keys):
            return self.lines[place]
        row: Any = records.table[place]
        head = self.named.get(str(keys[0]), keys[0])
        head = head if head in row else keys[0]
        inside = keys[1:] if isinstance(row[head], list | dict) else ()  # an id may be no list
        return records.json.line_of([*records.keys, place, head, *inside])


def read_document(
    path: str | os.PathLike[str],
    format: str | None = None,  # noqa: A002 - as read_cases
    columns: Mapping[str, str] | None = None,
) -> Document:
    """Read the rows of a file of cases; an empty cell of a table is a missing field.

    Raises
    ------
    DataError
        The file is missing, empty or malformed; with the line, where there is one.
    """
    path = readable(path)
    records = read_records(path, format, WANTED)
    try:
        named = fields_in(records.columns, columns)
    except ColumnError as error:
        error.path = path
        raise
    rows = list(records.rows(records.columns))
    if isinstance(records.table, list):
        rows = [_renamed(row, named) for row in rows] if named else rows
    else:
        fields = {name: name for name in records.columns if name not in named}
        fields |= {name: field for field, name in named.items()}
        _check_columns(records.columns, list(fields.values()), path)
        rows = [
            {
                fields[name]: _cell(fields[name], cell)
                for name, cell in row.items()
                if name in fields and cell and cell.strip()
            }
            for row in rows
        ]
    if not rows:
        raise DataError("no case in it", allowed="at least one text with its expected ids", path=path)
    return Document(path, records, rows, records.lines or (), named)


def _renamed(row: dict[str, Any], named: Mapping[str, str]) -> dict[str, Any]:
    """Return a case of JSON with the names of fields; a single id in a field of another name is a list of it."""
    fields = {name: field for field, name in named.items()}
    found = {fields.get(name, name): value for name, value in row.items() if name in fields or name not in named}
    for name in IDS:
        if name in named and isinstance(found.get(name), str):
            found[name] = [found[name]]
    return found


def _check_columns(columns: Sequence[str], fields: Sequence[str], path: Path) -> None:
    for names in (("text",), IDS):
        if not any(name in fields for name in names):
            held = ", ".join(map(repr, columns))
            unknown = next((name for name in fields if name not in FIELDS), "...")
            near = next((near for name in columns if name not in FIELDS and (near := did_you_mean(name, names))), "")
            raise ColumnError(
                f"cases without a column {names[0]!r}: found {held}; expected case_id, text, expected_ids, ...",
                hint=Advice("columns", {names[0]: unknown}, when=f"{near} Or " if near else ""),
                path=path,
            )


def _cell(name: str, cell: str) -> object:
    """Return what JSON would hold for a cell: ids and grades are lists."""
    if name in IDS:
        return _list_in(cell) or [part.strip() for part in cell.split(BETWEEN_IDS)]
    if name == "relevance":
        return [_number(str(part).strip()) for part in _list_in(cell) or cell.split(BETWEEN_IDS)]
    return cell if name == "case_id" else cell.strip()  # ids are exact


def _list_in(cell: str) -> list[object] | None:
    """Return the list that a cell holds as JSON, None if there is none."""
    if not cell.strip().startswith("["):
        return None
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return [str(one) if isinstance(one, int) and not isinstance(one, bool) else one for one in found]


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # reported where grades are checked
