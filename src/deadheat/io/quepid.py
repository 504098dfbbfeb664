"""CSV of Quepid: its ratings (Basic), results with ratings (Detailed), snapshots, and the judgements of its books."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from deadheat.io.kinds import Kind
from deadheat.wording import counted

_COLUMNS: dict[Kind, dict[str, str]] = {
    "qrels": {"query_id": "Query Text", "doc_id": "Doc ID", "relevance": "Rating"},
    "run": {"query_id": "Query Text", "doc_id": "Doc ID", "rank": "Doc Position"},
}
_RATINGS = ["query", "docid"]  # followed by rating, or by the names of those who rated
_GUARDED = re.compile(r" (?=[=@+-])")  # against formulas in spreadsheets


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
