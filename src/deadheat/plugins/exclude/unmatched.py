"""Excluded pairs that are neither retrieved nor judged: mostly their ids are written in another way."""

from __future__ import annotations

import unicodedata

from deadheat.core.data.run import Run
from deadheat.core.io.chunk_ids import DocIdOf, guess_separator
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import MOST_NAMED, format_count, format_list

LOOKED = 1000  # documents of each side, among which chunks are looked for
OF_NONE = "N/A"  # the document that BRIGHT excludes of queries without any
EXAMPLES = 3  # documents of the run that are named


def drop_placeholders(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs that name a document.

    Examples
    --------
    >>> drop_placeholders(pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["N/A", "d"]})).rows()
    [('b', 'd')]
    """
    return pairs.filter(pl.col("doc_id") != OF_NONE)


def describe_unmatched(pairs: pl.DataFrame, run: Run) -> str:
    """Say that no excluded pair is in a run, with examples of both, and what to do; "" if there is none to look for.

    Parameters
    ----------
    pairs : polars.DataFrame
        query_id and doc_id of what is excluded.
    run : Run

    Examples
    --------
    >>> pairs = pl.DataFrame({"query_id": ["q1"], "doc_id": ["d2#1"]})
    >>> describe_unmatched(pairs, Run({"q1": {"d1": 2, "d2": 1}})).partition(": ")[0]
    '0 of 1 excluded pair is in the run'
    """
    pairs = drop_placeholders(pairs)
    retrieved = _sample_documents(run)
    if not len(pairs) or not retrieved:
        return ""
    first = [f"{query!r} {doc!r}" for query, doc in pairs.head(MOST_NAMED).iter_rows()]
    examples = format_list(first, n=len(pairs))
    count = format_count(len(pairs), "excluded pair is", "excluded pairs are")
    return f"0 of {count} in the run: {examples}. {_advise(pairs, retrieved)}"


def _sample_documents(run: Run) -> list[str]:
    """Return the first documents of a run, of chunks those that the run names."""
    ids = run.rows.sample_documents(LOOKED)
    if run.doc_id_of is None:
        return ids
    return DocIdOf.of(run.doc_id_of).documents_of(ids)  # rows that are not read yet still have chunks


def _advise(pairs: pl.DataFrame, retrieved: list[str]) -> str:
    """Say what to do about excluded documents that a run does not have."""
    excluded = pairs["doc_id"].head(LOOKED).to_list()
    if not set(excluded).isdisjoint(retrieved):
        return "Documents of them are retrieved, but for other queries: are the query ids written alike?"
    separator = guess_separator(retrieved, set(excluded))
    if separator is not None:
        return (
            "The run has chunks of these documents: exclude the chunks, or take documents of them with"
            f" doc_id_of={separator!r} (--doc-id-of {separator!r}) and duplicates='best'"
        )
    if guess_separator(excluded, set(retrieved)) is not None:
        return "They are chunks of documents of the run: exclude the documents"
    if not _unify_form(excluded).isdisjoint(_unify_form(retrieved)):
        return "Ids differ in Unicode form: normalize_ids='NFC' (--normalize-ids NFC) writes them alike"
    examples = [repr(doc) for doc in dict.fromkeys(retrieved)]
    return f"Are the ids written alike? Documents of the run are {', '.join(examples[:EXAMPLES])}"


def _unify_form(ids: list[str]) -> set[str]:
    """Return ids in one form of Unicode."""
    return {unicodedata.normalize("NFC", text) for text in ids}
