"""Responses of Elasticsearch and OpenSearch: of ``_search`` by the query, and of ``_msearch`` in their order."""

from dataclasses import replace

from deadheat.core.errors import ABSENT, DataError
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.result_parts import find_results, get_at_path
from deadheat.core.io.results import Listing, Reader
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.exports.parts import are_all, tell_failed

CALLED_BY_PLACE = "_msearch does not name its queries: they are called by their place, from 0"


def is_response(held: object) -> bool:
    """Return whether an object is the response to one search."""
    hits = held.get("hits") if isinstance(held, dict) else None
    return isinstance(hits, dict) and isinstance(hits.get("hits"), list)


@register_document("a response without its query", "run", is_response)
def _refuse_response(held: Document, where: str) -> Listing:  # noqa: ARG001 - whatever it holds
    raise DataError(
        "a response of _search does not say the query",
        hint="save {query: response}, one response for each query; or a folder with a file of one response for each"
        " query, named by it (q1.json), and give the folder",
        path=where,
    )


def _has_hits(held: object) -> bool:
    """Return whether an object is a response, and not documents with numbers, of which one may be called hits."""
    return isinstance(held, dict) and isinstance(held.get("hits"), dict | list)


def _has_failed(held: object) -> bool:
    return isinstance(held, dict) and isinstance(held.get("error"), dict) and "hits" not in held


@register_document(
    "a response of _msearch",
    "run",
    lambda held: are_all(held.get("responses"), lambda one: is_response(one) or _has_failed(one)),
)
def _read_msearch(held: Document, where: str) -> Listing:
    """Read ``{"responses": [response, ...]}``, whose queries have no names."""
    listing = _read_by_query({str(place): response for place, response in enumerate(held["responses"])}, where)
    return replace(listing, notes=(CALLED_BY_PLACE, *listing.notes))


@register_document(
    "a dict of _search responses",
    "run",
    lambda held: _has_hits(next((one for one in held.values() if not _has_failed(one)), None)),
)
def _read_responses(held: Document, where: str) -> Listing:
    """Read ``{query: response}``."""
    return _read_by_query(held, where)


def _read_by_query(held: Document, where: str) -> Listing:
    """Return the hits of each query, without responses that are errors: the run lacks their queries."""
    failed = [query for query, response in held.items() if _has_failed(response)]
    held = {query: response for query, response in held.items() if not _has_failed(response)}
    for query, response in held.items():
        if find_results(response) is None:
            raise DataError(f"query {query!r} has no hits", found=f"{response!r:.60}", path=where)
    listing = Reader("run", where).read(held)
    notes = listing.notes
    if partial := [query for query, response in held.items() if _is_partial(response)]:
        queries = format_count(len(partial), "query", "queries")
        notes += (f"{queries} with partial results, as shards failed or time ran out: {format_list(partial)}",)
    return replace(listing, notes=notes + tell_failed(failed))


def _is_partial(response: object) -> bool:
    parts = (get_at_path(response, path) for path in ("timed_out", "_shards.failed"))
    return any(one is not ABSENT and one for one in parts)
