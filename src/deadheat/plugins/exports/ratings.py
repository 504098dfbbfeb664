"""Judgments of Elasticsearch and OpenSearch: lists of the Search Relevance Workbench, requests of ``_rank_eval``."""

from numbers import Real
from typing import Any

from deadheat.core.errors import DataError, DuplicateError
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.result_parts import find_results
from deadheat.core.io.results import Listing, Reader
from deadheat.core.io.values import is_number_text
from deadheat.core.wording import format_list
from deadheat.plugins.exports.parts import are_all, part

_JUDGMENTS = "judgmentRatings"


def _judgment_lists(held: Document) -> list[Document]:
    """Return the documents that have judgments: the one given, or those that a search for judgments found."""
    hits = [hit.get("_source") for hit in find_results(held.get("hits")) or () if isinstance(hit, dict)]
    return [one for one in (held, *hits) if isinstance(one, dict) and isinstance(one.get(_JUDGMENTS), list)]


@register_document("a list of judgments of OpenSearch", "qrels", _judgment_lists)
def _read_judgments(held: Document, where: str) -> Listing:
    found = _judgment_lists(held)
    if len(found) > 1:
        names = format_list([str(one.get("name")) for one in found])
        raise DataError(f"{len(found)} lists of judgments: {names}", allowed="one", hint="save one of them", path=where)
    return _rated(found[0][_JUDGMENTS], "query", (str,), _JUDGMENTS, where)


@register_document(
    "a _rank_eval request",
    "qrels",
    lambda held: are_all(held.get("requests"), lambda one: isinstance(one, dict) and "ratings" in one),
    instead="the run is in the response, or in the responses of _search as {query: response}",
)
def _read_request(held: Document, where: str) -> Listing:
    return _rated(held["requests"], "id", (str, int), "requests", where)


def _rated(items: list[Any], key: str, kinds: tuple[type, ...], place: str, where: str) -> Listing:
    """Read the lists of ratings of queries, which have their name under a key."""
    found: dict[Any, list[Any]] = {}
    for n, one in enumerate(items):
        query = part(one, key, kinds, own := f"{place}[{n}]", where)
        if query in found:
            raise DuplicateError(f"{key} {query!r} appears twice in {place}", allowed="once", path=where)
        found[query] = [*part(one, "ratings", (list,), own, where)]
        for m, rating in enumerate(found[query]):
            given = part(rating, "rating", (Real, str), f"{own}.ratings[{m}]", where)
            if isinstance(given, str):  # as OpenSearch's workbench keeps it
                if not is_number_text(given):
                    raise DataError(f"{own}.ratings[{m}].rating is not a number", given=given, path=where)
                found[query][m] = {**rating, "rating": float(given)}
    return Reader("qrels", where).read(found)
