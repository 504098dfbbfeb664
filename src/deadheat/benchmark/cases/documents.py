"""Files of labelled cases as rows of fields, whatever their format; the content of fields is not checked yet."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadheat.data.tables import label_of
from deadheat.errors import ColumnError, EmptyDataError
from deadheat.io.records import CASES_KEYS, Records, Wanted, read_records
from deadheat.io.source import readable
from deadheat.wording import did_you_mean

HPO_IDS = "expected_hpo_ids"
IDS = ("expected_ids", HPO_IDS)
DOMAINS = ("domain", "hpo_domain")
FIELDS = ("case_id", "text", "description", *IDS, "relevance", "language", "difficulty", "category", *DOMAINS)
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
    """

    path: Path
    records: Records
    rows: list[dict[str, Any]]
    lines: Sequence[int]

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
        return records.json.line_of([*records.keys, place, *keys]) if records.json and keys else self.lines[place]


def read_document(path: str | os.PathLike[str], format: str | None = None) -> Document:  # noqa: A002 - as read_cases
    """Read the rows of a file of cases; an empty cell of a table is a missing field.

    Raises
    ------
    DataError
        The file is missing, empty or malformed; with the line, where there is one.
    """
    path = readable(path)
    records = read_records(path, format, WANTED)
    rows = list(records.rows(records.columns))
    if not isinstance(records.table, list):
        _check_columns(records.columns, path)
        rows = [{name: _cell(name, cell) for name, cell in row.items() if cell and cell.strip()} for row in rows]
    if not rows:
        raise EmptyDataError("no case in it", allowed="at least one text with its expected ids", path=path)
    return Document(path, records, rows, records.lines or ())


def _check_columns(columns: Sequence[str], path: Path) -> None:
    for names in (("text",), IDS):
        if not any(name in columns for name in names):
            held = ", ".join(map(repr, columns))
            hint = next((near for name in columns if name not in FIELDS and (near := did_you_mean(name, names))), "")
            if len(columns) == 1 and ";" in columns[0]:
                hint = "The fields are separated by ';': save the table with commas, and | between ids."
            raise ColumnError(
                f"cases without a column {names[0]!r}: found {held}; expected case_id, text, expected_ids, ...",
                hint=hint,
                path=path,
            )


def _cell(name: str, cell: str) -> object:
    """Return what JSON would hold for a cell: ids and grades are lists."""
    if name in IDS:
        return [part.strip() for part in cell.split(BETWEEN_IDS)]
    if name == "relevance":
        return [_number(part.strip()) for part in cell.split(BETWEEN_IDS)]
    return cell if name == "case_id" else cell.strip()  # ids are exact


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text  # reported where grades are checked
