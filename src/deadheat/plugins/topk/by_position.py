"""Judgments that have a place for each query, and no ids: beside a run of arrays whose queries have no ids either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rows import MemoryRows
from deadheat.core.errors import ParameterError
from deadheat.core.io.ids import is_id
from deadheat.core.libraries import polars as pl
from deadheat.core.structures import copy_with

NO_DOCUMENT = -1  # in place of an id, as FAISS fills lists that are shorter than k
NAME = "relevant"


def read_by_position(source: Any, n_queries: int) -> Qrels | None:  # noqa: ANN401 - whatever judgments may be
    """Return qrels of lists, an array or a sparse matrix; None for everything that names its queries.

    Parameters
    ----------
    source : object
        A list of lists or of sets of relevant ids, or of dicts of relevance by id; an array of ids of shape
        (n_queries, n), -1 for none; a sparse matrix of relevance, queries by documents.
    n_queries : int
        Of the run.
    """
    if isinstance(source, Mapping | str | DocumentTable):
        return None
    if hasattr(source, "tocoo"):
        return _of_sparse(source, n_queries)
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype.kind in "iu":
        _check_length(len(source), n_queries)
        query, column = np.nonzero(source != NO_DOCUMENT)
        ids = source[query, column]
        return _qrels_of(query, pl.Series(ids).cast(pl.String), np.ones(len(ids)), n_queries)
    if isinstance(source, Sequence) and all(isinstance(of_query, _OF_ONE_QUERY) for of_query in source):
        _check_length(len(source), n_queries)
        return _of_lists(source, n_queries)
    return None


_OF_ONE_QUERY = (list, set, frozenset, dict, np.ndarray)  # a tuple is a row of qrels: (query, document, relevance)


def _of_sparse(matrix: Any, n_queries: int) -> Qrels:  # noqa: ANN401 - any sparse class of SciPy
    """Return qrels of a sparse matrix whose columns are the numbers of documents."""
    _check_length(matrix.shape[0], n_queries)
    entries = matrix.tocoo()
    relevance = np.asarray(entries.data, np.float64)
    return _qrels_of(entries.row.astype(np.int64), pl.Series(entries.col).cast(pl.String), relevance, n_queries)


def _of_lists(lists: Sequence[Any], n_queries: int) -> Qrels:
    """Return qrels of one list, set, array or dict for each query."""
    sizes = [len(of_query) for of_query in lists]
    ids: list[Any] = []
    relevance: list[float] = []
    for of_query in lists:
        documents = of_query.tolist() if isinstance(of_query, np.ndarray) else of_query
        ids.extend(documents)
        relevance.extend(documents.values() if isinstance(documents, dict) else [1.0] * len(documents))
    return _qrels_of(np.repeat(np.arange(n_queries), sizes), _as_texts(ids), np.array(relevance), n_queries)


def _as_texts(ids: list[Any]) -> pl.Series:
    """Return ids of documents as text."""
    types = set(map(type, ids))
    if types == {int}:  # most are, and Polars writes them ten times as fast
        return pl.Series(ids, dtype=pl.Int64).cast(pl.String)
    for document in ids:
        if not is_id(document):
            raise ParameterError(
                argument="qrels", found=f"{document!r} in a list of ids", allowed="texts or whole numbers"
            )
    return pl.Series([str(document) for document in ids], dtype=pl.String)


def _qrels_of(query: IntArray, doc_ids: pl.Series, relevance: FloatArray, n_queries: int) -> Qrels:
    """Return qrels whose queries are called by their places."""
    names = pl.Series(np.arange(n_queries)).cast(pl.String)
    frame = pl.DataFrame({"query_id": names.gather(query), "doc_id": doc_ids, "relevance": relevance})
    is_bare = np.bincount(query, minlength=n_queries) == 0
    bare = tuple(sorted(names.filter(pl.Series(is_bare)).to_list()))
    qrels = Qrels(frame, name=NAME) if frame.height else Qrels({}, name=NAME)
    return copy_with(qrels, rows=MemoryRows(qrels.to_polars()), bare=bare)


def _check_length(n_given: int, n_queries: int) -> None:
    """Raise where there are not as many lists of relevant documents as queries."""
    if n_given != n_queries:
        raise ParameterError(
            argument="qrels",
            found=f"relevant documents of {n_given:,} queries",
            allowed=f"those of {n_queries:,}, as many as rows of ids",
        )
