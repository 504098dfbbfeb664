"""JSON: ``{query_id: {doc_id: number}}``, as pytrec_eval and ranx use it, lists, records, or another tool's export."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray
from deadheat.errors import LARGEST_INTEGER, DataError, FileFormatError, Plain, shown
from deadheat.io.exports import exported
from deadheat.io.formats.base import CASES, Content, Format, register
from deadheat.io.kinds import CASES_KEYS, KEYS, Kind, are_cases, resolve_columns
from deadheat.io.mappings import (
    all_numbers,
    check_mapping,
    is_id,
    is_plain,
    refuse_truths,
)
from deadheat.io.objects import parsed, read_text
from deadheat.io.results import lists_of_rows, nested_of
from deadheat.io.values import check_ids_of_row, read_value
from deadheat.io.writing import Compression, write_text

_EXPECTED = "{query_id: {doc_id: number}} or {query_id: [doc_id, ...]}"


def read_nested(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read a JSON object of objects or lists, or a list of records, and check it as a dict is checked.

    Raises
    ------
    FileFormatError, DuplicateError, DataError
        With the query and the document that are wrong.
    """
    text = read_text(path, _EXPECTED)
    held = parsed(text, path)
    if isinstance(held, list) and held and all(isinstance(row, dict) for row in held):
        return _of_records(held, text, path, kind, given)
    if isinstance(held, dict) and any(isinstance(held.get(key), list) for key in CASES_KEYS) and kind == "qrels":
        return CASES
    if not isinstance(held, dict):
        found = "a list" if isinstance(held, list) else shown(json.dumps(held))
        raise FileFormatError(given=Plain(found), allowed=_EXPECTED, path=path)
    notes: tuple[str, ...] = ()
    known = exported(held, kind, str(path))
    if known is not None:
        held, notes = known
    elif not is_plain(held):
        for query, documents in held.items():
            if not isinstance(documents, dict | list) and not (kind == "qrels" and is_id(documents)):
                found = shown(json.dumps(documents))
                raise FileFormatError(given=Plain(f"{found} for query {query!r}"), allowed=_EXPECTED, path=path)
        held, notes = nested_of(held, kind, str(path))
    return Content(checked(held, [text], path, kind), notes)


def checked(held: Mapping[str, Any], texts: Sequence[str], path: Path, kind: Kind) -> Mapping[str, Mapping[str, float]]:
    """Return the queries of a dict of dicts that is in JSON texts; raise for what cannot be evaluated."""
    nested = check_mapping(held, kind, str(path))
    for query, documents in nested.items():
        if not "".join((query, *documents)).isprintable():
            for doc in documents:
                check_ids_of_row(query, doc, path)
    if kind == "run":
        refuse_truths(nested, str(path))
        if isinstance(next(iter(next(iter(nested.values())).values())), list):
            return nested  # of scores by several keys, which a run checks
    _refuse_rounded(all_numbers(nested, list(nested), kind, str(path)), texts, kind, path)
    return nested


def _of_records(rows: list[dict[str, Any]], text: str, path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read a list of objects, as JSON Lines has them on lines."""
    if are_cases(rows[0], kind, given):
        return CASES
    lists = [name for name, value in rows[0].items() if isinstance(value, list)]
    columns = resolve_columns(list(rows[0]), kind, where=path, given=given, lists=lists)
    if isinstance(rows[0][columns["doc_id"]], list | dict):
        held, notes = lists_of_rows(((None, row) for row in rows), columns, kind, path)
        return Content(checked(held, [text], path, kind), notes)
    try:
        frame = pl.DataFrame({name: [row.get(name) for row in rows] for name in columns.values()}, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise FileFormatError(f"rows of mixed types: {error}", allowed="text and numbers", path=path) from None
    for row in rows:
        query, doc = (str(row.get(columns[key])) for key in KEYS)
        check_ids_of_row(query, doc, path)
    value = frame[list(columns.values())[-1]]
    if kind == "run" and value.dtype == pl.Boolean:
        raise DataError(f"{value.name} is true or false", allowed="a number", path=path)
    if value.dtype.is_float():
        _refuse_rounded(value.drop_nulls().to_numpy(), [text], kind, path)
    from deadheat.io.frames import canonical  # it needs Narwhals

    return canonical(frame, kind, str(path), given)


def _refuse_rounded(numbers: FloatArray, texts: Sequence[str], kind: Kind, path: Path) -> None:
    """Raise for a number that became infinite, or another one beyond 2**53; whole numbers were not rounded."""
    large = set(numbers[np.abs(numbers) >= LARGEST_INTEGER].tolist())

    def exact(number: str) -> str:
        if float(number) in large and not number.lstrip("-").isdigit():
            read_value(number, kind, path=path, line=None)
        return number

    for text in texts if large else ():
        parsed(text, path, number=exact)


def names_in_json(path: Path) -> list[str]:
    """Return the keys of the first record, none if there are no records."""
    held = parsed(read_text(path, _EXPECTED), path)
    return list(held[0]) if isinstance(held, list) and held and isinstance(held[0], dict) else []


def write_nested(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression) -> None:
    """Write an object of objects, with a line for each query."""
    nested: dict[str, dict[str, float]] = {}
    for query_id, doc_id, value in rows.iter_rows():
        is_level = kind == "qrels" and value.is_integer() and abs(value) <= LARGEST_INTEGER
        nested.setdefault(query_id, {})[doc_id] = int(value) if is_level else value
    last = len(nested) - 1
    lines = [
        f"{'{' if n == 0 else ''}{json.dumps(query_id)}: {json.dumps(documents)}{'}' if n == last else ','}"
        for n, (query_id, documents) in enumerate(nested.items())
    ]
    write_text(pl.DataFrame({"line": lines or ["{}"]}), file, compression)


register(Format(name="json", suffixes=(".json",), read=read_nested, write=write_nested, columns=names_in_json))
