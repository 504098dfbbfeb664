"""The response of ``_rank_eval`` of Elasticsearch and OpenSearch: the hits of each query."""

from dataclasses import replace

from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.results import Listing, Reader
from deadheat.core.wording import format_count
from deadheat.plugins.exports.parts import part, tell_failed


def _is_score(value: object) -> bool:
    """Tell whether a value is a mean: a number, or the text that stands for NaN where every query failed."""
    return isinstance(value, int | float) or value == "NaN"


@register_document(
    "a _rank_eval response",
    "run",
    lambda held: isinstance(held.get("details"), dict | list) and _is_score(held.get("metric_score")),
    instead="it rates retrieved documents alone: give the request, which has all ratings",
)
def _read_rank_eval(held: Document, where: str) -> Listing:
    """Return the hits of each query, with notes on what the response itself says is missing."""
    lists = {
        query: part(one, "hits", (list,), f"details.{query}", where)
        for query, one in part(held, "details", (dict,), "", where).items()
    }
    for query, hits in lists.items():
        for n, hit in enumerate(hits):
            part(hit, "hit", (dict,), f"details.{query}.hits[{n}]", where)
    listing = Reader("run", where).read(lists)
    notes = listing.notes
    ratings = [hit.get("rating") for hits in lists.values() for hit in hits]
    if unrated := ratings.count(None):
        notes += (f"{unrated:,} of {format_count(len(ratings), 'hit')} are unrated",)
    return replace(
        listing, notes=notes + tell_failed(list(part({"failures": {}, **held}, "failures", (dict,), "", where)))
    )
