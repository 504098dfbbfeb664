"""JSON of the form ``{query_id: {doc_id: number}}``, as pytrec_eval and ranx use it."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from deadheat.errors import DuplicateError, EmptyDataError, FileFormatError, NullIdError
from deadheat.io.kinds import VALUE_COLUMN
from deadheat.io.source import decoded, read_all, refuse_binary
from deadheat.io.values import shown, value_error

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat.io.kinds import Kind

_EXPECTED = "expected {query_id: {doc_id: number}}"


def read_nested(path: Path, kind: Kind) -> dict[str, dict[str, float]]:
    """Read a JSON object of objects.

    Raises
    ------
    FileFormatError, DuplicateError, NullIdError, ScoreError, RelevanceError, EmptyDataError
        With the query and the document that are wrong.
    """
    data = read_all(path)
    refuse_binary(data, path)
    text = decoded(data, path)
    if not text.strip():
        raise EmptyDataError(f"{kind} without anything in the file, {_EXPECTED}", path=path)
    try:
        nested = json.loads(text, object_pairs_hook=lambda pairs: _without_repeats(pairs, path))
    except json.JSONDecodeError as error:
        hint = "; this looks like JSON lines: name it .jsonl, or pass format='jsonl'" if "Extra" in error.msg else ""
        raise FileFormatError(f"invalid JSON: {error.msg}, {_EXPECTED}{hint}", path=path, line=error.lineno) from error
    if not isinstance(nested, dict):
        given = "a list" if isinstance(nested, list) else shown(json.dumps(nested))
        raise FileFormatError(f"{_EXPECTED}, got {given}", path=path)
    for query_id, documents in nested.items():
        _check(query_id, documents, kind, path)
    if not any(nested.values()):
        raise EmptyDataError(f"{kind} without a single document, {_EXPECTED}", path=path)
    return nested


def _without_repeats(pairs: list[tuple[str, Any]], path: Path) -> dict[str, Any]:
    """Build an object; JSON allows a key twice, and Python would keep the last."""
    built = dict(pairs)
    if len(built) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DuplicateError(f"key {twice!r} stands twice in one object, expected once", path=path)
    return built


def _check(query_id: str, documents: object, kind: Kind, path: Path) -> None:
    """Raise if the documents of a query are not an object of numbers that float64 holds."""
    if not isinstance(documents, dict):
        given = shown(json.dumps(documents))
        raise FileFormatError(f"{_EXPECTED}, got {given} for query {query_id!r}", path=path)
    if not query_id or "" in documents:
        raise NullIdError(f"an id is an empty string (query {query_id!r}), expected text", path=path)
    values = documents.values()
    # The sum of all is NaN if one is, and looks at a million numbers in a few milliseconds.
    if set(map(type, values)) <= {float} and math.isfinite(sum(values)):
        return
    for doc_id, value in documents.items():
        problem = _problem(value, kind)
        if problem:
            message = f"{VALUE_COLUMN[kind]} of document {doc_id!r} for query {query_id!r} {problem}"
            raise value_error(kind, message, path)


def _problem(value: object, kind: Kind) -> str:
    """Return why this is not a score or relevance, or an empty string."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"must be a number, got {shown(json.dumps(value))}"
    if isinstance(value, int):
        return "" if abs(value) <= 2**53 or _is_exact(value) else f"is an integer that float64 cannot hold: {value}"
    if math.isnan(value):
        return "must be a number, got NaN"
    return f"must be finite, got {value}" if math.isinf(value) and kind == "qrels" else ""


def _is_exact(value: int) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False
