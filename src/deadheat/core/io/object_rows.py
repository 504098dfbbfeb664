"""Objects that are rows: instances of dataclasses and of pydantic's models with the fields of qrels or of a run."""

from __future__ import annotations

from itertools import chain
from typing import Any

from deadheat.core.io.kinds import COLUMN_NAMES

_PLAIN = (str, int, float, bool, list, tuple, set, type(None))
_QUERIES = frozenset(COLUMN_NAMES["run"]["query_id"])
_DOCUMENTS = frozenset(chain(COLUMN_NAMES["run"]["doc_id"], COLUMN_NAMES["qrels"]["doc_id"]))


def list_fields(row_type: type) -> tuple[str, ...]:
    """Return the names of the fields that a class declares; none of other classes."""
    for attribute in ("__dataclass_fields__", "model_fields"):  # of dataclasses, of pydantic
        fields = getattr(row_type, attribute, None)
        if isinstance(fields, dict):
            return tuple(fields)
    return ()


def is_row_type(row_type: type) -> bool:
    """Tell whether objects of a class are rows: they have a query, and a document or a list of documents.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Result:
    ...     query: str
    ...     retrieved_ids: list[str]
    >>> is_row_type(Result), is_row_type(dict), make_row(Result("q", ["d"]))
    (True, False, {'query': 'q', 'retrieved_ids': ['d']})
    """
    fields = list_fields(row_type)
    return not _QUERIES.isdisjoint(fields) and not _DOCUMENTS.isdisjoint(fields)


def make_row(row: object) -> dict[str, Any]:
    """Return the fields of an object that a column can hold: text, numbers, and lists of them."""
    fields: dict[str, Any] = {}
    for name in list_fields(type(row)):
        value = getattr(row, name)
        if type(value) in _PLAIN:
            fields[name] = value
    return fields
