"""Requests and responses of ``_rank_eval``, the ranking evaluation of Elasticsearch and OpenSearch."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from numbers import Real
from typing import Any

from deadheat.errors import DuplicateError
from deadheat.io.exports.base import Export, part, register
from deadheat.io.mappings import Nested
from deadheat.io.results import Reader
from deadheat.wording import counted, three


def _is_request(held: Mapping[Any, Any]) -> bool:
    requests = held.get("requests")
    return isinstance(requests, list) and bool(requests) and all("ratings" in _as_dict(one) for one in requests)


def _read_request(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    """Return the ratings of each request, by its id."""
    ratings: dict[str, Any] = {}
    for n, request in enumerate(held["requests"]):
        query = part(request, "id", (str, int), f"requests[{n}]", where)
        if query in ratings:
            raise DuplicateError(f"request id {query!r} appears twice", allowed="once", path=where)
        ratings[query] = part(request, "ratings", (list,), f"requests[{n}]", where)
        for m, rating in enumerate(ratings[query]):
            part(rating, "rating", (Real,), f"requests[{n}].ratings[{m}]", where)
    return Reader("qrels", where).nested(ratings)


def _is_response(held: Mapping[Any, Any]) -> bool:
    return isinstance(held.get("details"), dict | list) and isinstance(held.get("metric_score"), int | float)


def _read_response(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    """Return the hits of each query, with notes on what the response itself says is missing."""
    details = part(held, "details", (dict,), "", where)
    lists = {query: part(one, "hits", (list,), f"details.{query}", where) for query, one in details.items()}
    for query, hits in lists.items():
        for n, hit in enumerate(hits):
            part(hit, "hit", (dict,), f"details.{query}.hits[{n}]", where)
    nested, notes = Reader("run", where).nested(lists)
    hits = list(chain.from_iterable(lists.values()))
    unrated = sum(hit.get("rating") is None for hit in hits)
    more = [f"{unrated:,} of {counted(len(hits), 'hit')} are unrated"] if unrated else []
    if failed := list(part({"failures": {}, **held}, "failures", (dict,), "", where)):
        more.append(f"{counted(len(failed), 'query', 'queries')} failed in the search engine: {three(failed)}")
    return nested, (*notes, *more)


def _as_dict(held: object) -> Mapping[Any, Any]:
    return held if isinstance(held, Mapping) else {}


register(
    Export(
        name="a _rank_eval request",
        kind="qrels",
        matches=_is_request,
        read=_read_request,
        instead="the run is in the response, or in the responses of _search as {query: response}",
    )
)
register(
    Export(
        name="a _rank_eval response",
        kind="run",
        matches=_is_response,
        read=_read_response,
        instead="it rates retrieved documents alone: give the request, which has all ratings",
    )
)
