"""Responses of ``_search``, of Elasticsearch and OpenSearch, saved as ``{query: response}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deadheat.errors import DataError
from deadheat.io.exports.base import Export, first_of, register
from deadheat.io.mappings import Nested
from deadheat.io.results import Reader, results_in
from deadheat.wording import Plain, counted, three

SAVE = (
    "save {query: response}, one response for each query; or a folder with a file of one response for each query,"
    " named by it (q1.json), and give the folder"
)


def _are_responses(held: Mapping[Any, Any]) -> bool:
    return _is_response(first_of(held)) and not _is_single(held)


def _is_response(held: object) -> bool:
    """Return whether an object is a response, and not documents with numbers, of which one may be called hits."""
    return isinstance(held, dict) and isinstance(held.get("hits"), dict | list)


def _is_single(held: Mapping[Any, Any]) -> bool:
    hits = held.get("hits")
    is_hits = isinstance(hits, dict) and isinstance(hits.get("hits"), list)
    responses = held.get("responses")
    are_many = isinstance(responses, list) and bool(responses) and all(isinstance(one, dict) for one in responses)
    return is_hits or are_many


def is_response_of_query(held: object) -> bool:
    """Return whether an object is the response to one search."""
    return isinstance(held, dict) and _is_single(held) and "responses" not in held


def _read(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    for query, response in held.items():
        if results_in(response) is None:
            raise DataError(f"query {query!r} has no hits", given=Plain(f"{response!r:.60}"), path=where)
    nested, notes = Reader("run", where).nested(held)
    partial = [query for query, response in held.items() if _is_partial(response)]
    if partial:
        what = counted(len(partial), "query", "queries")
        notes = (*notes, f"{what} with partial results, as shards failed or time ran out: {three(partial)}")
    return nested, notes


def _is_partial(response: object) -> bool:
    if not isinstance(response, dict):
        return False
    shards = response.get("_shards")
    return bool(response.get("timed_out") or (isinstance(shards, dict) and shards.get("failed")))


def _refuse(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    what = "responses of _msearch do" if "responses" in held else "a response of _search does"
    raise DataError(f"{what} not say the query", hint=SAVE, path=where)


def _is_error(held: Mapping[Any, Any]) -> bool:
    """Return whether this is what a search engine answers instead of hits: ``{"error": {...}, "status": 404}``."""
    return set(held) == {"error", "status"} and isinstance(held["status"], int)


def _refuse_error(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    error = held["error"]
    reason = error.get("reason", error) if isinstance(error, dict) else error
    said = f"{held['status']}, {reason!s:.200}"
    raise DataError("the search engine answered with an error", given=Plain(said), hint="search again", path=where)


register(Export(name="the error of a search engine", kind="run", matches=_is_error, read=_refuse_error))
register(Export(name="a dict of _search responses", kind="run", matches=_are_responses, read=_read))
register(Export(name="a response without its query", kind="run", matches=_is_single, read=_refuse))
