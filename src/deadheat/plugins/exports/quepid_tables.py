"""CSV of Quepid: ratings, results with their ratings, and snapshots."""

import re
from collections.abc import Sequence

from deadheat.core.io.formats.dialects import DIALECTS, Dialect

GUARDED = re.compile(r" (?=[=@+-])")  # against formulas in spreadsheets


def is_of_quepid(header: Sequence[str]) -> bool:
    """Tell whether Quepid wrote a table; in its ratings, a rating follows the two, or the names of those who rated."""
    return header[:2] == ["query", "docid"] or {"Query Text", "Doc ID"} <= set(header)


def text_of(field: str) -> str:
    """Return the text of a query or an id as it was before Quepid exported it.

    Its application doubles quotes, also where it adds none around the field, and puts a blank before a sign that begins
    a formula.

    Examples
    --------
    >>> text_of(' -say ""hi""')
    '-say "hi"'
    """
    return (field[1:] if GUARDED.match(field) else field).replace('""', '"')


DIALECTS.append(
    Dialect(
        matches=is_of_quepid,
        columns={  # after them come the fields of the documents
            "qrels": {"query_id": "Query Text", "doc_id": "Doc ID", "relevance": "Rating"},
            "run": {"query_id": "Query Text", "doc_id": "Doc ID", "rank": "Doc Position"},
        },
        text_of=text_of,
        skipped={
            "qrels": "of Quepid's export without a rating",
            "run": "of Quepid's export without a document",
        },
    )
)
