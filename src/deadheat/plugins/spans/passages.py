"""Passages, the chunks of a run and the spans that they are held against: a table beside the judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import BesideRows, BesideTable, PlacedTable, TableForm, add_beside, join_codes
from deadheat.core.placements.placements import Placements


@dataclass(frozen=True, eq=False)
class Passages(BesideRows):
    """The chunks of a run and the spans that they are held against; `doc_ids` is None for a span.

    Attributes
    ----------
    document : ndarray of int, shape (n_passages,)
        A number of the document that the passage is in.
    start, end : ndarray of int, shape (n_passages,)
    relevance : ndarray of float, shape (n_passages,)
        NaN for a chunk.
    """

    document: IntArray
    start: IntArray
    end: IntArray
    relevance: FloatArray


def passages_of(passages: pl.DataFrame, query_ids: Sequence[str]) -> Passages:
    """Return the passages by query.

    Parameters
    ----------
    passages : polars.DataFrame
        query_id, doc_id, document, start, end and relevance.
    query_ids : sequence of str
    """
    rows = join_codes(passages, query_ids).sort("code", maintain_order=True)
    document = rows["document"].rank("dense").cast(pl.Int64).to_numpy()
    numbers = (rows[name].to_numpy() for name in ("start", "end", "relevance"))
    return Passages(rows["code"].to_numpy(), rows["doc_id"], document, *numbers)


def passages_in(placements: Placements) -> Passages | None:
    """Return the chunks and spans that placements have, if the run is held against spans."""
    return cast("Passages | None", placements.beside.get("passages"))


NULLABLE = {"doc_id", "start", "end", "document", "relevance"}
OF_QRELS = TableForm(
    "spans",
    lambda: {
        "query_id": pl.String,
        "doc_id": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "document": pl.String,
        "relevance": pl.Float64,
    },
    NULLABLE,
)
OF_PLACEMENTS = TableForm(
    "passages",
    lambda: {
        "query": pl.Int64,
        "doc_id": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "document": pl.Int64,
        "relevance": pl.Float64,
    },
    NULLABLE,
)
add_beside(BesideTable("passages", OF_QRELS, PlacedTable(Passages, passages_of, OF_PLACEMENTS)))
