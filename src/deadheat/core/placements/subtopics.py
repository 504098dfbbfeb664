"""Judgments by subtopic, a table beside the judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import BesideRows, BesideTable, PlacedTable, TableForm, add_beside, join_codes


@dataclass(frozen=True, eq=False)
class Subtopics(BesideRows):
    """Judgments by subtopic, one row for each.

    Attributes
    ----------
    topic : ndarray of int, shape (n_rows,)
        Number of the subtopic within its query, from 0 on.
    relevance : ndarray of float, shape (n_rows,)
    """

    topic: IntArray
    relevance: FloatArray


def find_subtopics(judgments: pl.DataFrame, query_ids: Sequence[str]) -> Subtopics:
    """Return the judgments by subtopic.

    Parameters
    ----------
    judgments : polars.DataFrame
        query_id, doc_id, subtopic and relevance.
    query_ids : sequence of str
    """
    topic = (pl.col("subtopic").rank("dense").over("query_id") - 1).cast(pl.Int64)
    rows = join_codes(judgments, query_ids).sort("code", "doc_id", "subtopic").with_columns(topic=topic)
    docs = np.array(rows["doc_id"].to_list(), dtype=object)
    return Subtopics(rows["code"].to_numpy(), docs, rows["topic"].to_numpy(), rows["relevance"].to_numpy())


OF_QRELS = TableForm(
    "topics", lambda: {"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64, "subtopic": pl.String}
)
OF_PLACEMENTS = TableForm(
    "subtopics", lambda: {"query": pl.Int64, "doc_id": pl.String, "topic": pl.Int64, "relevance": pl.Float64}
)
add_beside(
    BesideTable("subtopics", OF_QRELS, PlacedTable(Subtopics, find_subtopics, OF_PLACEMENTS, numbered=("topic",)))
)
