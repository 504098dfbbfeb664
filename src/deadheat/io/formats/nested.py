"""JSON of the form ``{query_id: {doc_id: number}}``, as pytrec_eval and ranx use it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from deadheat.errors import FileFormatError
from deadheat.io.formats.base import Format, register
from deadheat.io.kinds import VALUE_COLUMN, Kind
from deadheat.io.mappings import LARGEST_INTEGER, VALUE_ERROR, Nested, all_numbers, check_mapping
from deadheat.io.objects import parsed, read_text
from deadheat.io.values import check_ids_of_row
from deadheat.io.writing import Compression, write_text
from deadheat.wording import Plain, shown

_EXPECTED = "{query_id: {doc_id: number}}"


def read_nested(path: Path, kind: Kind) -> dict[str, Mapping[str, float]]:
    """Read a JSON object of objects, and check it as a dict of dicts is checked.

    Raises
    ------
    FileFormatError, DuplicateError, NullIdError, ScoreError, RelevanceError, EmptyDataError
        With the query and the document that are wrong.
    """
    text = read_text(path, _EXPECTED)
    given = parsed(text, path)
    if not isinstance(given, dict):
        found = "a list" if isinstance(given, list) else shown(json.dumps(given))
        raise FileFormatError(given=Plain(found), allowed=_EXPECTED, path=path)
    for query, documents in given.items():
        if not isinstance(documents, dict):
            found = shown(json.dumps(documents))
            raise FileFormatError(given=Plain(f"{found} for query {query!r}"), allowed=_EXPECTED, path=path)
    nested = check_mapping(given, kind, str(path))
    for query, documents in nested.items():
        if not "".join((query, *documents)).isprintable():
            for doc in documents:
                check_ids_of_row(query, doc, path)
    numbers = all_numbers(nested, list(nested), kind, str(path))
    if np.isinf(numbers).any():
        _refuse_overflow(nested, parsed(text, path, number=str), kind, path)
    return nested


def _refuse_overflow(nested: Nested, as_written: dict[str, dict[str, str | None]], kind: Kind, path: Path) -> None:
    """Raise for a number that became infinite, and was not written as ``Infinity``."""
    for query, documents in nested.items():
        for doc, value in documents.items():
            written = as_written[query][doc]
            if math.isinf(value) and written is not None:
                place = f"{VALUE_COLUMN[kind]} of document {doc!r} for query {query!r}"
                raise VALUE_ERROR[kind](f"{place} is beyond the range of float64: {shown(written)}", path=path)


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


register(Format(name="json", suffixes=(".json",), read=read_nested, write=write_nested))
