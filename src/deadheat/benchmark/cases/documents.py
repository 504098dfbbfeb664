"""Files of labelled cases as rows of fields, whatever their format; what the fields hold is not yet looked at."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from deadheat.data.tables import label_of
from deadheat.errors import ColumnError, DataError, EmptyDataError, FileFormatError, MalformedRowError, ParameterError
from deadheat.io.formats import sniff_format
from deadheat.io.labels import CASES_KEYS, read_labels
from deadheat.io.objects import JsonText, object_of, read_text
from deadheat.io.source import readable
from deadheat.wording import Advice, Plain, did_you_mean, shown

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Format = Literal["json", "jsonl", "csv", "tsv"]
FORMATS: tuple[Format, ...] = get_args(Format)

HPO_IDS = "expected_hpo_ids"
IDS = ("expected_ids", HPO_IDS)
DOMAINS = ("domain", "hpo_domain")
FIELDS = ("case_id", "text", "description", *IDS, "relevance", "language", "difficulty", "category", *DOMAINS)
BETWEEN_IDS = "|"

_EXPECTED = "a list of cases, or an object with 'cases' (or 'test_cases') and 'metadata'"


@dataclass(frozen=True, eq=False)
class Document:
    """A file of cases, read but not checked.

    Attributes
    ----------
    path : pathlib.Path
    name : str
        Its dataset_id, or else the name of the file without its format.
    metadata : dict
    rows : list of dict, shape (n_cases,)
        The fields of each case, as JSON holds them.
    lines : list of int, shape (n_cases,)
        The line on which each case begins.
    value : object
        What the JSON Schema is about: the whole JSON, or what JSON would hold.
    keys : tuple of str
        Where `value` has the cases; empty if it is their list itself.
    json : JsonText or None
        Of JSON, which has a line for each part of a case.
    misfits : dict of int to str
        What is wrong with rows that hold no case, by their place; their fields are empty.
    """

    path: Path
    name: str
    metadata: dict[str, Any]
    rows: list[dict[str, Any]]
    lines: list[int]
    value: object
    keys: tuple[str, ...] = ()
    json: JsonText | None = None
    misfits: Mapping[int, str] = field(default_factory=dict)

    @property
    def is_table(self) -> bool:
        """Whether it is CSV or TSV, which have no metadata."""
        return self.json is None and not self.keys

    def line_of(self, place: int, *keys: str | int) -> int:
        """Return the line on which a case, or a part of it, begins."""
        return self.json.line_of([*self.keys, place, *keys]) if self.json and keys else self.lines[place]

    def where(self, line: int | None = None) -> str:
        """Return the path, with a line if there is one."""
        return str(self.path) if line is None else f"{self.path}:{line}"


def read_document(path: str | os.PathLike[str], format: str | None = None) -> Document:  # noqa: A002 - as read_cases
    """Read the rows of a file of cases.

    Raises
    ------
    DataError
        The file is missing, empty or malformed; with the line, where there is one.
    """
    path = readable(path)
    chosen = _chosen_format(path, format)
    if chosen == "json":
        return _of_json(JsonText(read_text(path, "cases"), path), path)
    if chosen == "jsonl":
        return _of_lines(read_text(path, "one case a line"), path)
    return _of_table(path, chosen)


def _chosen_format(path: Path, given: str | None) -> Format:
    if given is not None and given not in FORMATS:
        raise ParameterError("unknown format of cases", given=given, allowed=FORMATS)
    chosen = given or sniff_format(path)
    if chosen not in FORMATS:
        hint = Advice("format", "json", ".json, .jsonl or .csv", of="cases")
        raise FileFormatError("cannot tell the format of these cases", hint=hint, path=path)
    return chosen  # pyright: ignore[reportReturnType] - it does not narrow by a tuple of literals


def _of_json(json_text: JsonText, path: Path) -> Document:
    value = json_text.value
    keys: tuple[str, ...] = ()
    metadata: object = {}
    rows = value
    if isinstance(value, dict):
        keys = (_key_of_cases(value, json_text, path),)
        rows, metadata = value[keys[0]], value.get("metadata", {})
    if not isinstance(rows, list):
        raise MalformedRowError(allowed=_EXPECTED, given=json.dumps(rows), path=path, line=json_text.line_of(keys))
    lines = json_text.lines_of_items(keys)
    misfits = {place: _no_case(row) for place, row in enumerate(rows) if not isinstance(row, dict)}
    rows = [{} if place in misfits else row for place, row in enumerate(rows)]
    line_of_metadata = json_text.line_of(["metadata"]) if keys and "metadata" in value else None
    metadata = _checked_metadata(metadata, path, line_of_metadata)
    return _document(path, metadata, rows, lines, value, keys=keys, json=json_text, misfits=misfits)


def _key_of_cases(value: dict[str, Any], json_text: JsonText, path: Path) -> str:
    found = [key for key in CASES_KEYS if key in value]
    if len(found) == 1:
        return found[0]
    if found:
        raise MalformedRowError(
            "both 'cases' and 'test_cases' are there",
            allowed="one of them",
            path=path,
            line=json_text.line_of(["test_cases"]),
        )
    held = ", ".join(map(repr, list(value)[:8])) or "nothing"
    hint = next((near for key in value if (near := did_you_mean(key, CASES_KEYS))), "")
    raise MalformedRowError(
        allowed=_EXPECTED, given=Plain(f"an object with {held}"), hint=hint, path=path, line=json_text.line_of([])
    )


def _of_lines(text: str, path: Path) -> Document:
    """Read JSON lines, the first of which may be ``{"metadata": {...}}``."""
    written = [(line, raw) for line, raw in enumerate(text.split("\n"), 1) if raw.strip()]
    lines = [line for line, _ in written]
    rows: list[dict[str, Any]] = []
    wrong: dict[int, str] = {}
    for line, raw in written:
        try:
            rows.append(object_of(raw, path, line))
        except DataError as error:
            if not rows:
                raise  # the file is something else
            wrong[line] = error.told(has_place=False)
            rows.append({})
    metadata: dict[str, Any] = {}
    if rows and set(rows[0]) == {"metadata"}:
        metadata = _checked_metadata(rows[0]["metadata"], path, lines[0])
        rows, lines = rows[1:], lines[1:]
    misfits = {place: wrong[line] for place, line in enumerate(lines) if line in wrong}
    value = {"metadata": metadata, "cases": rows}
    return _document(path, metadata, rows, lines, value, keys=("cases",), misfits=misfits)


def _of_table(path: Path, chosen: Format) -> Document:
    """Read a table; an empty cell is a field that is not there."""
    labels = read_labels(path, chosen, keep_misfits=True)
    _check_columns(labels.frame.columns, path)
    rows = [
        {name: _cell(name, cell) for name, cell in row.items() if cell and cell.strip()}
        for row in labels.frame.iter_rows(named=True)
    ]
    return _document(path, {}, rows, list(labels.lines or []), rows, misfits=labels.misfits)


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
        return text  # what is wrong with it is said where grades are checked


def _no_case(row: object) -> str:
    return f'expected a case such as {{"text": ..., "expected_ids": [...]}}, got {shown(json.dumps(row))}'


def _checked_metadata(metadata: object, path: Path, line: int | None) -> dict[str, Any]:
    if not isinstance(metadata, dict):
        raise MalformedRowError(
            'metadata must be an object such as {"dataset_id": "..."}',
            given=json.dumps(metadata),
            path=path,
            line=line,
        )
    return metadata


def _document(
    path: Path,
    metadata: dict[str, Any],
    rows: list[dict[str, Any]],
    lines: list[int],
    value: object,
    *,
    keys: tuple[str, ...] = (),
    json: JsonText | None = None,
    misfits: Mapping[int, str] = MappingProxyType({}),
) -> Document:
    if not rows:
        raise EmptyDataError("no case in it", allowed="at least one text with its expected ids", path=path)
    given = metadata.get("dataset_id")
    name = given.strip() if isinstance(given, str) else ""
    return Document(path, name or label_of(path), metadata, rows, lines, value, keys, json, misfits)
