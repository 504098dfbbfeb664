"""Judgments of Elasticsearch and OpenSearch: lists of the Search Relevance Workbench, requests of ``_rank_eval``."""

from dataclasses import replace
from numbers import Real
from typing import Any

from deadheat.core.errors import DataError, DuplicateError
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.result_parts import find_results
from deadheat.core.io.results import Listing, Reader
from deadheat.core.io.values import is_number_text
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.exports.parts import are_all, part

_JUDGMENTS = "judgmentRatings"
_FAILURES = "failures"  # documents that a language model was asked for, without an answer that could be read


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
    judgments = found[0]
    rated, failed = _split_off_failures(judgments[_JUDGMENTS], where)
    listing = _rated(rated, "query", (str,), _JUDGMENTS, where)
    return replace(listing, notes=(*listing.notes, *_describe_failures(failed), *_describe_status(judgments)))


def _split_off_failures(items: list[Any], where: str) -> tuple[list[Any], dict[str, list[Any]]]:
    """Return the queries with ratings, and by query the documents that a judge failed to rate.

    A query whose documents all failed has no judgment: it is left out.
    """
    rated = []
    failed: dict[str, list[Any]] = {}
    for place, item in enumerate(items):
        failures = item.get(_FAILURES) if isinstance(item, dict) else None
        if failures:
            here = f"{_JUDGMENTS}[{place}]"
            failed[part(item, "query", (str,), here, where)] = part(item, _FAILURES, (list,), here, where)
        if not failures or item.get("ratings"):
            rated.append(item)
    return rated, failed


def _describe_failures(failed: dict[str, list[Any]]) -> tuple[str, ...]:
    """Return a note on the documents that have no rating as the judge failed, if there are any."""
    if not failed:
        return ()
    documents = format_count(sum(map(len, failed.values())), "document")
    queries = format_count(len(failed), "query", "queries")
    return (f"the judge failed to rate {documents} of {queries} ({format_list([*failed])}): they are unjudged",)


def _describe_status(judgments: Document) -> tuple[str, ...]:
    """Return a note on a list that was not finished, if that is so."""
    status = judgments.get("status")
    if not isinstance(status, str) or status == "COMPLETED":
        return ()
    return (f"the list of judgments has the status {status}: ratings may be missing",)


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
