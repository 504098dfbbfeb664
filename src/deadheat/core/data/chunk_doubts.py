"""Doubts about ids of chunks: beside judgments of documents, and of documents that were cut in another way."""

from __future__ import annotations

import re

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.io.chunk_ids import guess_separator
from deadheat.core.libraries import polars as pl

LOOKED = 1000  # documents of a run, among which chunks are looked for
# document, separator and number
CHUNK = re.compile(r"(?s)^(.+)(#|::|@|\||[-_.:/]?(?:chunk|passage|part|split)[-_.:]?)([0-9]+)$")
FEWEST = 5  # relevant chunks that are not found, for a doubt


def describe_chunks(qrels: Qrels, run: Run) -> str:
    """Say that documents of a run look like chunks of documents that are judged, or the reverse; "" if they do not.

    Examples
    --------
    >>> describe_chunks(Qrels({"q": ["d1"]}), Run({"q": ["d1#0", "d2#3"]})).partition(" (")[0]
    "ids of the run look like chunks of documents of the qrels: 'd1#0' of 'd1'"
    """
    judged = qrels.to_polars()["doc_id"].unique(maintain_order=True).to_list()
    retrieved = run.rows.sample_documents(LOOKED)
    separator = guess_separator(retrieved, set(judged))
    if separator is not None:
        chunk, document = _find_example(retrieved, judged, separator)
        return (
            f"ids of the run look like chunks of documents of the qrels: {chunk!r} of {document!r}"
            f" (doc_id_of={separator!r} or --doc-id-of {separator!r}, with duplicates='best', takes their documents)"
        )
    separator = guess_separator(judged[:LOOKED], set(retrieved))
    if separator is not None:
        chunk, document = _find_example(judged, retrieved, separator)
        advice = "judgments of documents are needed: ids of qrels stay as they are"
        if run.doc_id_of is not None:
            advice += "; for judgments of chunks leave out doc_id_of or --doc-id-of"
        return f"ids of the qrels look like chunks of documents of the run: {chunk!r} of {document!r} ({advice})"
    return ""


def _find_example(chunks: list[str], documents: list[str], separator: str) -> tuple[str, str]:
    """Return the first chunk of one of some documents, with that document."""
    known = set(documents)
    for chunk in chunks:
        document, found, _ = chunk.rpartition(separator)
        if found and document in known:
            return chunk, document
    raise ValueError("no id is that of a chunk")


def describe_other_chunks(qrels: Qrels, run: Run) -> str:
    """Say that a run has other chunks of the documents whose chunks are relevant, more often than these; else "".

    Whoever cuts documents in another way gives the ids of old chunks to new ones, and judgments of the old ones are
    then about other texts.
    """
    rows = run.rows
    if isinstance(rows, LazyRows) or run.doc_id_of is not None:
        return ""
    if not all(map(CHUNK.match, qrels.rows.sample_documents(3))):
        return ""
    relevant = _split(qrels.to_polars().filter(pl.col("relevance") > 0))
    if relevant is None:
        return ""
    retrieved = _split(run.to_polars().join(relevant.select("query_id").unique(), on="query_id", how="semi"))
    if retrieved is None:
        return ""
    lacking = relevant.join(retrieved, on=["query_id", "doc_id"], how="anti")
    n_found = relevant.height - lacking.height
    others = lacking.join(retrieved, on=["query_id", "document"], how="semi")
    if others.height < max(FEWEST, n_found + 1):
        return ""
    query, chunk, document = others.select("query_id", "doc_id", "document").row(0)
    other = retrieved.filter(query_id=query, document=document)["doc_id"][0]
    return (
        f"of {relevant.height:,} relevant chunks {n_found:,} are retrieved, and in place of {others.height:,} others"
        f" another chunk of their document ({other!r}, not {chunk!r}): were the documents cut in another way since they"
        " were judged? Then judge documents, with doc_id_of, or spans (dh.Spans, --spans)"
    )


def _split(rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return query_id, doc_id and the document of each chunk; None if some ids are not those of chunks."""
    document = rows["doc_id"].str.extract(CHUNK.pattern)
    if not rows.height or document.null_count():
        return None
    return rows.select("query_id", "doc_id", document=document)
