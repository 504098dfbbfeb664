"""The ties of each query: how many, how large, and which share of its documents they hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray
from deadheat.io.forking import check_threads
from deadheat.profile.grouping import Grouped


@dataclass(frozen=True, eq=False)
class QueryTies:
    """The ties of some queries.

    Attributes
    ----------
    query_ids : polars.Series of str, shape (n_queries,)
    n_documents : ndarray of int, shape (n_queries,)
        Retrieved documents; 0 of a query that the run lacks.
    n_ties, n_tied : ndarray of int, shape (n_queries,)
        Groups of two or more documents with the same score, and the documents in them.
    largest : ndarray of int, shape (n_queries,)
        Documents that share the most frequent score: 1 where no two tie, 0 without documents.
    """

    query_ids: pl.Series
    n_documents: IntArray
    n_ties: IntArray
    n_tied: IntArray
    largest: IntArray

    @property
    def tie_ratio(self) -> FloatArray:
        """Share of the documents that are in a tie, of shape (n_queries,); NaN without documents."""
        some = self.n_documents > 0
        return np.divide(self.n_tied, self.n_documents, out=np.full(len(some), np.nan), where=some)

    def of(self, query_ids: list[str]) -> QueryTies:
        """Return the ties of some queries, in their order; one that the run lacks has no documents."""
        place = {query: n for n, query in enumerate(self.query_ids.to_list())}
        rows = np.array([place.get(query, -1) for query in query_ids], np.int64)
        columns = (self.n_documents, self.n_ties, self.n_tied, self.largest)
        found = (np.where(rows >= 0, column[rows], 0) for column in columns)
        return QueryTies(pl.Series("query_id", query_ids, dtype=pl.String), *found)

    def to_polars(self) -> pl.DataFrame:
        """Return query_id, n_documents, n_ties, n_tied, largest_tie and tie_ratio (null without documents)."""
        check_threads()
        return pl.DataFrame(
            {
                "query_id": self.query_ids,
                "n_documents": self.n_documents,
                "n_ties": self.n_ties,
                "n_tied": self.n_tied,
                "largest_tie": self.largest,
                "tie_ratio": pl.Series(self.tie_ratio).fill_nan(None),
            }
        )


def ties_of_queries(grouped: Grouped) -> QueryTies:
    """Return the ties of each query of a run, in its order."""
    ties, n = grouped.ties, grouped.ties.n_queries
    largest = np.ones(n, np.int64)
    np.maximum.at(largest, ties.query, ties.size)
    return QueryTies(
        ties.names,
        grouped.n_documents,
        np.bincount(ties.query, minlength=n),
        np.bincount(ties.query, ties.size, n).astype(np.int64),
        largest,
    )
