"""Judgments of OpenSearch's Search Relevance Workbench: what is imported, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadheat.errors import DataError, DuplicateError
from deadheat.io.exports.base import Export, part, register
from deadheat.io.mappings import Nested
from deadheat.io.results import Reader, results_in
from deadheat.io.values import is_number
from deadheat.wording import three

_KEY = "judgmentRatings"


def _lists(held: Mapping[Any, Any]) -> list[Mapping[Any, Any]]:
    """Return the documents that have judgments: the one given, or those that a search for judgments found."""
    if isinstance(held.get(_KEY), list):
        return [held]
    sources = [hit.get("_source") for hit in results_in(held.get("hits")) or () if isinstance(hit, dict)]
    return [source for source in sources if isinstance(source, dict) and isinstance(source.get(_KEY), list)]


def _read(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    found = _lists(held)
    if len(found) > 1:
        names = three([str(one.get("name")) for one in found])
        raise DataError(f"{len(found)} lists of judgments: {names}", allowed="one", hint="save one of them", path=where)
    ratings: dict[str, Any] = {}
    for n, one in enumerate(found[0][_KEY]):
        query = part(one, "query", (str,), place := f"{_KEY}[{n}]", where)
        if query in ratings:
            raise DuplicateError(f"query {query!r} in {_KEY}", allowed="each query once, with its text", path=where)
        given = part(one, "ratings", (list,), place, where)
        ratings[query] = [_with_number(rating, query, f"{place}.ratings[{m}]", where) for m, rating in enumerate(given)]
    return Reader("qrels", where).nested(ratings)


def _with_number(rating: Any, query: str, place: str, where: str) -> Mapping[str, Any]:  # noqa: ANN401 - of JSON
    """Return a rating as a number: the workbench keeps text."""
    given = part(rating, "rating", (object,), place, where)
    if not isinstance(given, str):
        return dict(rating)
    if not is_number(given):
        place = f"rating of document {rating.get('docId')!r} for query {query!r}"
        raise DataError(f"{place} is not a number", given=given, path=where)
    return {**rating, "rating": float(given)}


register(
    Export(name="a list of judgments of OpenSearch", kind="qrels", matches=lambda held: bool(_lists(held)), read=_read)
)
