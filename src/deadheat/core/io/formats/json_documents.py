"""JSON, of which a file holds one document.

That is ``{query_id: {doc_id: number}}``, as pytrec_eval and ranx use it, lists, records, or another tool's export.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import IO, Any, cast

from deadheat.core.errors import FileFormatError
from deadheat.core.io.columns import refuse_columns
from deadheat.core.io.content import Content
from deadheat.core.io.formats.base import LABELLED_CASES, Format, register
from deadheat.core.io.formats.json_rows import JsonObject, JsonRows, check_nested, list_keys, read_rows
from deadheat.core.io.ids import has_control_characters, has_only_ids
from deadheat.core.io.kinds import CASES_KEYS, TEXTS, Kind
from deadheat.core.io.objects import JsonText, parse_json, read_text
from deadheat.core.io.sources import read_object
from deadheat.core.io.values import are_plain
from deadheat.core.io.writing import Compression, write_text
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import quote_text

EXPECTED = "{query_id: {doc_id: number}} or {query_id: [doc_id, ...]}"


@dataclass(frozen=True)
class JsonRecords(JsonRows):
    """The objects in a JSON list.

    Attributes
    ----------
    path : pathlib.Path
        For messages.
    items : list of dict
        The objects as Python reads them.
    text : JsonText
        The list.
    selected : sequence of bool, optional
        Which items of the text are in `items`; by default all.
    """

    path: Path
    items: list[JsonObject]
    text: JsonText
    selected: Sequence[bool] | None = None

    def texts(self) -> Iterable[tuple[int, str]]:
        """Return the text of each item, with the line on which it begins."""
        texts = self.text.texts_of_items()
        return texts if self.selected is None else compress(texts, self.selected)

    def values(self) -> Iterable[tuple[None, JsonObject]]:
        """Return the items; errors name no line, as of any dict."""
        return [(None, row) for row in self.items]

    def first(self) -> JsonObject | None:
        """Return the first item."""
        return self.items[0] if self.items else None

    def may_have_keys(self, keys: Collection[str]) -> bool:
        """Tell whether an item has one of these keys."""
        return any(not row.keys().isdisjoint(keys) for row in self.items)

    def select(self, are_selected: Sequence[bool]) -> JsonRecords:
        """Return the items for which `are_selected` is true."""
        return replace(self, items=list(compress(self.items, are_selected)), selected=are_selected)

    def parse(self, columns: Mapping[str, str], nearer: Collection[str]) -> pl.DataFrame | None:
        """Return the values of the items as columns; None where they are not all of the type of their column."""
        if self.may_have_keys(nearer):
            return None
        values_by_key: dict[str, list[Any]] = {}
        for key, name in columns.items():
            values = [row.get(name) for row in self.items]
            types = set(map(type, values))
            is_known = types in ({str}, {int}) if key in TEXTS else types <= {int, float}
            if not is_known:
                return None
            values_by_key[key] = values
        schema = {key: pl.String if key in TEXTS else pl.Float64 for key in columns}
        frame = pl.DataFrame(values_by_key, schema=schema, strict=False)
        has_plain_numbers = all(are_plain(frame[key]) for key in columns if key not in TEXTS)
        if not has_plain_numbers or not has_only_ids(frame) or has_control_characters(frame):
            return None
        return frame

    def ranks(self, columns: Mapping[str, str]) -> None:
        """Return None: ranks of records are not compared with scores."""


def read_document(path: Path, kind: Kind, given: Mapping[str, str]) -> Content:
    """Read a JSON object of objects or lists, or a list of records, and check it as a dict is checked.

    Raises
    ------
    FileFormatError, DuplicateError, DataError
        With the query and the document that are wrong.
    """
    text = read_text(path, EXPECTED)
    json_text = JsonText(text, path)
    document = json_text.value
    if isinstance(document, list) and document and all(isinstance(row, dict) for row in document):
        return read_rows(JsonRecords(path, document, json_text), kind, given)
    if not isinstance(document, dict):
        found = "a list" if isinstance(document, list) else quote_text(json.dumps(document))
        raise FileFormatError(found=found, allowed=EXPECTED, path=path)
    if kind == "qrels" and any(isinstance(document.get(key), list) for key in CASES_KEYS):
        return LABELLED_CASES
    refuse_columns(given, kind, f"{path}, an object")
    content = read_object(document, kind, str(path), {})
    documents = cast("Mapping[str, Any]", content.rows)
    return replace(content, rows=check_nested(documents, [text], path, kind))


def list_columns(path: Path) -> list[str]:
    """Return the keys of the records, none if there are no records."""
    document = parse_json(read_text(path, EXPECTED), path)
    if not isinstance(document, list):
        return []
    return list_keys(row for row in document if isinstance(row, dict))


def write_document(rows: pl.DataFrame, file: IO[bytes], kind: Kind, _tag: str, compression: Compression) -> None:
    """Write an object of objects, with a line for each query."""
    nested: dict[str, dict[str, float]] = {}
    for query_id, doc_id, value in rows.iter_rows():
        is_whole = value.is_integer() and abs(value) <= LARGEST_INTEGER
        number = int(value) if kind == "qrels" and is_whole else value
        nested.setdefault(query_id, {})[doc_id] = number
    lines = []
    for query_id, documents in nested.items():
        lines.append(f"{json.dumps(query_id)}: {json.dumps(documents)}")
    text = ",\n".join(lines)
    write_text(pl.DataFrame({"line": f"{{{text}}}".split("\n")}), file, compression)


register(Format(name="json", suffixes=(".json",), read=read_document, write=write_document, columns=list_columns))
