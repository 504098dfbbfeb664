"""For which subtopics of a query a document is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, FloatArray, IntArray, TextArray


@dataclass(frozen=True, eq=False)
class Subtopics:
    """Judgments by subtopic, one row for each.

    Attributes
    ----------
    query : ndarray of int, shape (n_rows,)
        Index of the query, ascending.
    doc_ids : ndarray of str, shape (n_rows,)
    topic : ndarray of int, shape (n_rows,)
        Number of the subtopic within its query, from 0 on.
    relevance : ndarray of float, shape (n_rows,)
    """

    query: IntArray
    doc_ids: TextArray
    topic: IntArray
    relevance: FloatArray

    def select(self, keep: BoolArray, code: IntArray) -> Subtopics:
        """Return those of some queries, whose indices change."""
        rows = keep[self.query]
        return Subtopics(code[self.query[rows]], self.doc_ids[rows], self.topic[rows], self.relevance[rows])

    def reordered(self, code: IntArray) -> Subtopics:
        """Return them with the queries in another order: `code` is where each goes."""
        rows = np.argsort(code[self.query], kind="stable")
        return Subtopics(code[self.query][rows], self.doc_ids[rows], self.topic[rows], self.relevance[rows])


def subtopics_of(judgments: pl.DataFrame | None, query_ids: Sequence[str]) -> Subtopics | None:
    """Return the judgments by subtopic; None if the qrels have no subtopics.

    Parameters
    ----------
    judgments : polars.DataFrame or None
        query_id, doc_id, subtopic and relevance.
    query_ids : sequence of str
    """
    if judgments is None:
        return None
    codes = pl.DataFrame({"query_id": list(query_ids)}, schema={"query_id": pl.String}).with_row_index("code")
    rows = judgments.join(codes, on="query_id").sort("code", "doc_id", "subtopic")
    topic = rows.select((pl.col("subtopic").rank("dense").over("query_id") - 1).cast(pl.Int64).alias("topic"))["topic"]
    return Subtopics(
        rows["code"].cast(pl.Int64).to_numpy(),
        np.array(rows["doc_id"].to_list(), dtype=object),
        topic.to_numpy(),
        rows["relevance"].to_numpy(),
    )
