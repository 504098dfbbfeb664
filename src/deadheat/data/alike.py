"""Ids of qrels and of a run that look alike and are not equal: in another Unicode form, another case, with blanks."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from deadheat.data.rows import LazyRows
from deadheat.data.tables import Qrels, Run
from deadheat.errors import counted

LOOKED = 100  # documents of each side that are looked at
NAMES = {"query": "queries", "document": "documents"}
ONE_FORM = " (normalize_ids='NFC' or --normalize-ids NFC makes one of them)"
FORM, CASE = "Unicode form (NFC, NFD)", "case or in blanks around them"


def composed(text: str) -> str:
    """Return a text in Unicode's form NFC."""
    return unicodedata.normalize("NFC", text)


def plain(text: str) -> str:
    """Return a text in NFC, without blanks around it and in lower case."""
    return composed(text).strip().casefold()


DIFFERENCES: dict[str, Callable[[str], str]] = {FORM: composed, CASE: plain}


def nearly_equal(some: Iterable[str], others: Iterable[str], what: str = "query") -> str:
    """Return how many ids of one side are ids of the other but for their form or case; empty if none is.

    Parameters
    ----------
    some, others : iterable of str
        Without those that are equal.
    what : {"query", "document"}

    Examples
    --------
    >>> nearly_equal(["q1", "Mu\u0308ller"], ["q2", "M\u00fcller"]).partition(":")[0]
    '1 query of the qrels and of the run differs only in Unicode form (NFC, NFD)'
    >>> nearly_equal(["Q1", "Q2"], ["q1", "q2"])
    "2 queries of the qrels and of the run differ only in case or in blanks around them: 'Q1' is 'q1'"
    """
    own, those = list(some), list(others)
    if not (own and those):
        return ""
    for difference, same in DIFFERENCES.items():
        by_form = {same(one): one for one in those}
        found = [one for one in own if same(one) in by_form]
        if found:
            differ = f"differ{'s' * (len(found) == 1)} only in {difference}"
            example = f"{found[0]!r}" + (f" is {by_form[same(found[0])]!r}" if difference == CASE else ONE_FORM)
            return f"{counted(len(found), what, NAMES[what])} of the qrels and of the run {differ}: {example}"
    return ""


def alike(qrels: Qrels, run: Run, lacking: Sequence[str], unjudged: Sequence[str]) -> tuple[str, ...]:
    """Return what looks alike and is not equal: of all queries that one side lacks, and of a few documents.

    Parameters
    ----------
    qrels, run : Qrels, Run
    lacking, unjudged : sequence of str
        Queries of the qrels that the run lacks, and the reverse.
    """
    return tuple(filter(None, (nearly_equal(lacking, unjudged), _documents(qrels, run))))


def _documents(qrels: Qrels, run: Run) -> str:
    """Look at some of the first documents that have other letters than ASCII."""
    if isinstance(qrels.rows, LazyRows) or isinstance(run.rows, LazyRows):
        return ""  # each look may compute a whole frame
    judged, retrieved = _some(qrels), _some(run)
    found = nearly_equal(sorted(judged - retrieved), sorted(retrieved - judged), "document")
    return f"of the first {LOOKED}, {found}" if found else ""


def _some(table: Qrels | Run) -> set[str]:
    """Return the documents among the first that have other letters than ASCII; a dict may hold ids that are no text."""
    first: Sequence[object] = table.rows.some_documents(LOOKED)
    return {one for one in first if isinstance(one, str) and not one.isascii()}
