"""Ratings of Quepid as its API gives them, and its export of a case; its CSV is read with other tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadheat.errors import DuplicateError
from deadheat.io.exports.base import Export, register
from deadheat.io.mappings import Nested
from deadheat.wording import counted

_TEXT = ("query", "query_text")


def _is_case(held: Mapping[Any, Any]) -> bool:
    queries = held.get("queries")
    return isinstance(queries, list) and bool(queries) and all(_text(one) and "ratings" in one for one in queries)


def _text(query: object) -> str | None:
    found = next((query[name] for name in _TEXT if name in query), None) if isinstance(query, dict) else None
    return found if isinstance(found, str) else None


def _read(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    found: dict[str, Any] = {}
    n_unrated = 0
    for query in held["queries"]:
        text, given = str(_text(query)), query["ratings"]
        if text in found:
            raise DuplicateError(f"query {text!r} appears twice", allowed="once", path=where)
        ratings = given if isinstance(given, dict) else {one["doc_id"]: one["rating"] for one in given}
        found[text] = {doc: rating for doc, rating in ratings.items() if rating is not None}
        n_unrated += len(ratings) - len(found[text])
    return found, (f"{counted(n_unrated, 'unrated document')} left out",) if n_unrated else ()


register(
    Export(
        name="an export of ratings from Quepid",
        kind="qrels",
        matches=_is_case,
        read=_read,
        instead="export a snapshot as CSV",
    )
)
