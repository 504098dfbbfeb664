"""What the passages beside the qrels of a run of chunks say: which spans and which chunks there are."""

from collections.abc import Sequence
from typing import cast

import polars as pl

from deadheat.core.data.fingerprints import hash_ids
from deadheat.core.data.qrels import Qrels

# What a chunk and a span are called: as Python takes the passage from the text
PLACE = pl.format("{}[{}:{}]", "doc_id", "start", "end")


def passages_behind(qrels: Qrels) -> pl.DataFrame:
    """Return the passages of qrels that spans have made."""
    return cast("pl.DataFrame", qrels.passages)


def spans_of(qrels: Qrels) -> pl.DataFrame:
    """Return query_id, doc_id, start, end, relevance and span, its name, of qrels that :class:`Spans` made.

    Examples
    --------
    >>> from deadheat import Spans
    >>> qrels, run = Spans([("q", "d", 0, 10)]).judge([("q", "d", 0, 8, 1.0)])
    >>> spans_of(qrels).rows()
    [('q', 'd', 0, 10, 1.0, 'd[0:10]')]
    """
    rows = passages_behind(qrels).filter(pl.col("doc_id").is_null()).drop("doc_id")
    rows = rows.rename({"document": "doc_id"})
    return rows.select("query_id", "doc_id", "start", "end", "relevance", span=PLACE)


def chunks_of(qrels: Qrels) -> pl.DataFrame:
    """Return query_id, doc_id, start, end and chunk, its name, of qrels that :class:`Spans` made.

    Examples
    --------
    >>> from deadheat import Spans
    >>> qrels, run = Spans([("q", "d", 0, 10)]).judge([("q", "d", 0, 8, 1.0)])
    >>> chunks_of(qrels).rows()
    [('q', 'd', 0, 8, 'd[0:8]')]
    """
    rows = passages_behind(qrels).filter(pl.col("doc_id").is_not_null())
    rows = rows.rename({"doc_id": "chunk", "document": "doc_id"})
    return rows.select("query_id", "doc_id", "start", "end", "chunk")


def hash_of_spans(spans: pl.DataFrame, rule: str, unanswerable: Sequence[str], empty_queries: Sequence[str]) -> str:
    """Return the SHA-256 of spans, whatever their order.

    Parameters
    ----------
    spans : polars.DataFrame
        query_id, span and relevance, among others.
    rule : str
        How much a chunk has to cover.
    unanswerable, empty_queries : sequence of str
        The queries that no document answers, and those that have no span, sorted.
    """
    rows = spans.sort("query_id", "span").select("query_id", "span", "relevance").iter_rows()
    parts = [rule, *map(str, rows), *unanswerable]
    if empty_queries:
        parts += ["", *empty_queries]  # no id is empty: they are no unanswerable ones
    return hash_ids(parts)
