"""Ratings of Quepid, as its API and its exports have them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from deadheat.core.errors import DuplicateError
from deadheat.core.io.documents import Document, register_document
from deadheat.core.io.ids import check_ids_of_row
from deadheat.core.io.results import Listing, Reader
from deadheat.core.wording import format_count, format_list
from deadheat.plugins.exports.parts import are_all, part


def _quepid_text(query: object) -> str | None:
    found = query.get("query", query.get("query_text")) if isinstance(query, dict) else None
    return found if isinstance(found, str) else None


@register_document(
    "an export of ratings from Quepid",
    "qrels",
    lambda held: are_all(held.get("queries"), lambda one: _quepid_text(one) and "ratings" in one),
    instead="export a snapshot as CSV",
)
def _read_quepid(held: Document, where: str) -> Listing:
    """Read ratings as Quepid's API gives them, in lists, and as a case has them, in dicts."""
    found: dict[str, list[Any]] = {}
    n_unrated = 0
    for n, query in enumerate(held["queries"]):
        place, text = f"queries[{n}].ratings", str(_quepid_text(query))
        if text in found:
            raise DuplicateError(f"query {text!r} appears twice", allowed="once", path=where)
        ratings = part(query, "ratings", (dict, list), f"queries[{n}]", where)
        if isinstance(ratings, list):
            kinds: dict[str, tuple[type, ...]] = {"doc_id": (str, int), "rating": (object,)}
            each = [
                [part(one, key, kinds[key], f"{place}[{m}]", where) for key in kinds] for m, one in enumerate(ratings)
            ]
        else:
            each = [*ratings.items()]
        found[text] = [(doc, rating) for doc, rating in each if rating is not None]
        check_ids_of_row(text, text, Path(where))  # also of a query without a rating, which makes no row
        n_unrated += len(ratings) - len(found[text])
    notes: tuple[str, ...] = (f"{format_count(n_unrated, 'unrated document')} left out",) if n_unrated else ()
    if unrated := [query for query, own in found.items() if not own]:  # nobody looked: something may be relevant
        notes += (
            f"{format_count(len(unrated), 'query', 'queries')} without a rating left out ({format_list(unrated)})",
        )
    reader = Reader("qrels", where)
    rated = reader.read({query: own for query, own in found.items() if own})
    return replace(rated, notes=(*notes, *reader.note_merged()))
