"""Tables of labels, such as queries with their language: every column is read, and no text is taken for a number."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from deadheat.errors import ColumnError, EmptyDataError, FileFormatError, MalformedRowError
from deadheat.io.formats import chosen_format
from deadheat.io.formats.parquet import scan_parquet
from deadheat.io.guarding import guarded
from deadheat.io.objects import parsed, parsed_lines
from deadheat.io.rows import Rows
from deadheat.io.source import decoded, read_all, readable
from deadheat.wording import Advice, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_SEPARATORS = {"csv": ",", "tsv": "\t"}
_EXPECTED = "a list of objects, or {query_id: {column: value}}"
_KEY = "query_id"  # of what is keyed by its id
CASES_KEYS = ("cases", "test_cases")  # under which a file of labelled cases has them, beside its metadata


class _Number(str):
    """A JSON number, as it is written."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Labels:
    """A table of labels.

    Attributes
    ----------
    frame : polars.DataFrame
        Text, or what a Parquet file holds.
    lines : list of int or None
        The line on which each row begins, of shape (n_rows,); None for a format without lines.
    misfits : dict of int to str
        What is wrong with rows that have too many fields or too few, by their place; their fields are empty.
    """

    frame: pl.DataFrame
    lines: Sequence[int] | None = None
    misfits: Mapping[int, str] = field(default_factory=dict)


def read_labels(
    path: Path,
    format: str | None = None,  # noqa: A002 - the word that users look for
    *,
    keep_misfits: bool = False,
) -> Labels:
    """Read all columns of a CSV, TSV, Parquet, JSON Lines or JSON file.

    Parameters
    ----------
    path : pathlib.Path
    format : str, optional
    keep_misfits : bool, default False
        Whether rows with too many fields or too few are told in `Labels.misfits`, and not refused.

    Raises
    ------
    DataError
        Of its subclasses the one that says what is wrong, with the line where there are lines.
    """
    path = readable(path)
    chosen = chosen_format(path, format)
    if chosen == "trec":
        hint = Advice("format", "csv", ".csv, .tsv, .jsonl, .json or .parquet")
        raise FileFormatError("cannot tell the format of this table from its name", hint=hint, path=path)
    if chosen == "parquet":
        return Labels(_read_parquet(path))
    data = read_all(path, has_lines=chosen != "json")
    text = decoded(data, path)
    if not text.strip():
        raise EmptyDataError("empty", allowed="column names and rows", path=path)
    if chosen in _SEPARATORS:
        labels = _read_table(data, path, _SEPARATORS[chosen])
        for place, message in () if keep_misfits else labels.misfits.items():
            raise MalformedRowError(message, path=path, line=(labels.lines or [])[place])
        return labels
    if chosen == "json":
        return _read_json(text, path)
    objects, lines = parsed_lines(text, path, number=_Number)
    return Labels(_of_objects(objects).frame, lines)


def labels_of_mapping(mapping: Mapping[str, Mapping[str, Any]]) -> Labels:
    """Return a checked dict of dicts, keyed by the id, as a table."""
    return _of_objects([{**row, _KEY: key} for key, row in mapping.items()])


def as_text(value: object) -> str | None:
    """Return a value as text: null and NaN are none, true and false as JSON has them.

    Examples
    --------
    >>> as_text("0880"), as_text(7), as_text(True), as_text(float("nan")), as_text(["a"])
    ('0880', '7', 'true', None, '["a"]')
    """
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | dict | list):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _read_parquet(path: Path) -> pl.DataFrame:
    try:
        with guarded(path):
            return scan_parquet(path).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FileFormatError(allowed=f"a Parquet file ({error})", path=path) from error


def _read_table(data: bytes, path: Path, separator: str) -> Labels:
    try:
        labels = _parse_table(data, path, separator, quoting=csv.QUOTE_MINIMAL)
        if separator != "\t" or not labels.misfits:
            return labels
    except MalformedRowError:
        if separator != "\t":
            raise
    return _parse_table(data, path, separator, quoting=csv.QUOTE_NONE)  # a query may begin with a quote


def _parse_table(data: bytes, path: Path, separator: str, *, quoting: Literal[0, 3]) -> Labels:
    header: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    misfits: dict[int, str] = {}
    for line, row in Rows(BytesIO(data), path, separator, quoting=quoting):
        if any(row) and header:
            if len(row) != len(header):
                misfits[len(rows)] = _misfit(row, header, separator)
                row = [""] * len(header)  # noqa: PLW2901 - it is kept, and told
            rows.append(row)
            lines.append(line)
        elif any(row):
            header = _checked_header([name.strip() for name in row], path)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    schema = dict.fromkeys(header, pl.String)
    return Labels(pl.DataFrame(dict(zip(header, map(list, columns), strict=True)), schema=schema), lines, misfits)


def _misfit(row: list[str], header: list[str], separator: str) -> str:
    return f"expected {len(header)} fields ({separator.join(header)}), got {len(row)}: {shown(separator.join(row))}"


def _checked_header(header: list[str], path: Path) -> list[str]:
    for name in header:
        if header.count(name) > 1:
            raise ColumnError(
                f"column {name!r} stands in the table {header.count(name)} times", allowed="once", path=path
            )
    return header


def _read_json(text: str, path: Path) -> Labels:
    given = parsed(text, path, number=_Number)
    if isinstance(given, dict):
        cases = next((given[key] for key in CASES_KEYS if isinstance(given.get(key), list)), None)
        if cases is None:
            return _of_objects([{**_object(row, _EXPECTED, path), _KEY: key} for key, row in given.items()])
        about = given.get("metadata")
        common = {"language": about["language"]} if isinstance(about, dict) and "language" in about else {}
        return _of_objects([{**common, **_object(row, "objects", path)} for row in cases])
    if isinstance(given, list):
        return _of_objects([_object(row, _EXPECTED, path) for row in given])
    raise FileFormatError(allowed=_EXPECTED, given=text.strip(), path=path)


def _object(given: object, expected: str, path: Path) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise MalformedRowError(allowed=expected, given=json.dumps(given), path=path)
    return given


def _of_objects(objects: Iterable[Mapping[str, Any]]) -> Labels:
    objects = list(objects)
    names = dict.fromkeys(name for row in objects for name in row)
    columns = {name: [as_text(row.get(name)) for row in objects] for name in names}
    return Labels(pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String)))
