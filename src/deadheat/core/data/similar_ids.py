"""Ids that look alike and are not equal: they differ in Unicode form, in case, or in blanks around them."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from deadheat.core.data.rows import Rows
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.wording import format_count

MAX_DOCUMENTS = 100  # documents of each side that are looked at
PLURALS = {"query": "queries", "document": "documents"}
ADVICE = " (normalize_ids='NFC' or --normalize-ids NFC makes one of them)"


def describe_similar_ids(ids: Sequence[str], other_ids: Sequence[str], what: str = "query") -> str:
    """Say how many ids of one side differ from one of the other only in Unicode form or case; "" if none does.

    Parameters
    ----------
    ids, other_ids : sequence of str
        The ids that only one side has.
    what : {"query", "document"}

    Examples
    --------
    >>> describe_similar_ids(["q1", "Mu\u0308ller"], ["q2", "M\u00fcller"]).partition(":")[0]
    '1 query of the qrels and of the run differs only in Unicode form (NFC, NFD)'
    >>> describe_similar_ids(["Q1", "Q2"], ["q1", "q2"])
    "2 queries of the qrels and of the run differ only in case or in blanks around them: 'Q1' is 'q1'"
    """
    pairs = _pair_ids(ids, other_ids, _unify_form)
    if pairs:
        example, _ = pairs[0]
        return f"{_count_differing(len(pairs), what)} only in Unicode form (NFC, NFD): {example!r}{ADVICE}"
    pairs = _pair_ids(ids, other_ids, _unify_case)
    if pairs:
        example, other_example = pairs[0]
        differing = _count_differing(len(pairs), what)
        return f"{differing} only in case or in blanks around them: {example!r} is {other_example!r}"
    return ""


def _unify_form(text: str) -> str:
    """Return a text in one form of Unicode."""
    return unicodedata.normalize("NFC", text)


def _unify_case(text: str) -> str:
    """Return a text in one form of Unicode, in one case, and without blanks around it."""
    return _unify_form(text).strip().casefold()


def _pair_ids(ids: Sequence[str], other_ids: Sequence[str], unify: Callable[[str], str]) -> list[tuple[str, str]]:
    """Return pairs of an id and the one of the other side that is equal to it once both are unified."""
    if not ids or not other_ids:
        return []
    by_unified = {unify(other_id): other_id for other_id in other_ids}
    pairs = []
    for text in ids:
        other_id = by_unified.get(unify(text))
        if other_id is not None:
            pairs.append((text, other_id))
    return pairs


def _count_differing(n: int, what: str) -> str:
    """Return how many ids differ, the beginning of a sentence."""
    verb = "differs" if n == 1 else "differ"
    return f"{format_count(n, what, PLURALS[what])} of the qrels and of the run {verb}"


def list_similar_ids(qrels: Rows, run: Rows, lacking: Sequence[str], unjudged: Sequence[str]) -> tuple[str, ...]:
    """Return notes on ids that look alike: of all queries that one side lacks, and of a few documents.

    Parameters
    ----------
    qrels, run : Rows
    lacking, unjudged : sequence of str
        Queries of the qrels that the run lacks, and the reverse.
    """
    notes = []
    queries = describe_similar_ids(lacking, unjudged)
    if queries:
        notes.append(queries)
    is_any_lazy = isinstance(qrels, LazyRows) or isinstance(run, LazyRows)
    if is_any_lazy:  # each look may compute a whole frame
        return tuple(notes)
    judged = _select_beyond_ascii(qrels.sample_documents(MAX_DOCUMENTS))
    retrieved = _select_beyond_ascii(run.sample_documents(MAX_DOCUMENTS))
    documents = describe_similar_ids(sorted(judged - retrieved), sorted(retrieved - judged), "document")
    if documents:
        notes.append(f"of the first {MAX_DOCUMENTS}, {documents}")
    return tuple(notes)


def _select_beyond_ascii(ids: Sequence[str]) -> set[str]:
    """Return the ids with characters beyond ASCII."""
    if "".join(ids).isascii():  # mostly so, and one look at all of them is fast
        return set()
    return {doc for doc in ids if not doc.isascii()}
