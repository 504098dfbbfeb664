"""Exports of Quepid: ratings as its API gives them and as a case has them, and its tables.

The tables are ratings (Basic), results with ratings (Detailed), snapshots, and the judgements of its books; the format
CSV reads them, and asks here what is Quepid's own about them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deadheat.errors import DuplicateError
from deadheat.io.exports.base import Export, part, register
from deadheat.io.kinds import Kind
from deadheat.io.mappings import Nested
from deadheat.wording import counted, three

_COLUMNS: dict[Kind, dict[str, str]] = {
    "qrels": {"query_id": "Query Text", "doc_id": "Doc ID", "relevance": "Rating"},
    "run": {"query_id": "Query Text", "doc_id": "Doc ID", "rank": "Doc Position"},
}
_RATINGS = ["query", "docid"]  # followed by rating, or by the names of those who rated
_GUARDED = re.compile(r" (?=[=@+-])")  # against formulas in spreadsheets
_TEXT = ("query", "query_text")


def is_quepid(header: Sequence[str]) -> bool:
    """Return whether a header is that of a table with documents from Quepid.

    Examples
    --------
    >>> is_quepid(["query", "docid", "rating"]), is_quepid(["query", "doc_id", "rating"])
    (True, False)
    """
    return list(header[:2]) == _RATINGS or {"Query Text", "Doc ID"} <= set(header)


def columns_of(header: Sequence[str], kind: Kind) -> Mapping[str, str]:
    """Return Quepid's own columns: after them come the fields of the documents, which may have any name."""
    return {canonical: name for canonical, name in _COLUMNS[kind].items() if name in header}


def text_of(field: str) -> str:
    """Return the text of a query or an id as it was before the export.

    Its application doubles quotes, also where it adds none around the field, and puts a blank before a sign that begins
    a formula.

    Examples
    --------
    >>> text_of(' -say ""hi""')
    '-say "hi"'
    """
    return (field[1:] if _GUARDED.match(field) else field).replace('""', '"')


def skipped(n_rows: int, kind: Kind) -> tuple[str, ...]:
    """Return the note on rows that say nothing of documents: queries without results, documents without a rating."""
    what = {"qrels": "without a rating", "run": "without a document"}[kind]
    return (f"{counted(n_rows, 'row')} of Quepid's export {what} skipped",) if n_rows else ()


def _is_case(held: Mapping[Any, Any]) -> bool:
    queries = held.get("queries")
    return isinstance(queries, list) and bool(queries) and all(_text(one) and "ratings" in one for one in queries)


def _text(query: object) -> str | None:
    found = next((query[name] for name in _TEXT if name in query), None) if isinstance(query, dict) else None
    return found if isinstance(found, str) else None


def _pairs(ratings: list[Any], place: str, where: str) -> Iterator[tuple[Any, Any]]:
    """Yield document and rating of each."""
    seen: dict[str | int, int] = {}
    for n, one in enumerate(ratings):
        doc = part(one, "doc_id", (str, int), f"{place}[{n}]", where)
        if (first := seen.setdefault(doc, n)) != n:
            problem = f"document {doc!r} is rated twice, in {place}[{first}] and {place}[{n}]"
            raise DuplicateError(problem, allowed="once", path=where)
        yield doc, part(one, "rating", (object,), f"{place}[{n}]", where)


def _read(held: Mapping[Any, Any], where: str) -> tuple[Nested, tuple[str, ...]]:
    found: dict[str, Any] = {}
    n_unrated = 0
    for n, query in enumerate(held["queries"]):
        place = f"queries[{n}]"
        text, given = str(_text(query)), part(query, "ratings", (dict, list), place, where)
        if text in found:
            raise DuplicateError(f"query {text!r} appears twice", allowed="once", path=where)
        ratings = given if isinstance(given, dict) else dict(_pairs(given, f"{place}.ratings", where))
        found[text] = {doc: rating for doc, rating in ratings.items() if rating is not None}
        n_unrated += len(ratings) - len(found[text])
    notes: tuple[str, ...] = (f"{counted(n_unrated, 'unrated document')} left out",) if n_unrated else ()
    if unrated := [query for query, own in found.items() if not own]:  # nobody looked: something may be relevant
        notes += (f"{counted(len(unrated), 'query', 'queries')} without a rating left out ({three(unrated)})",)
    return {query: own for query, own in found.items() if own}, notes


register(
    Export(
        name="an export of ratings from Quepid",
        kind="qrels",
        matches=_is_case,
        read=_read,
        instead="export a snapshot as CSV",
    )
)
