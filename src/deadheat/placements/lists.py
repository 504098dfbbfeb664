"""Lists: the documents of several lists, judged or not, each with its place among equal scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl

from deadheat.arrays import IntArray, TextArray
from deadheat.data.precision import ScorePrecision
from deadheat.data.tables import Run


@dataclass(frozen=True, eq=False)
class Lists:
    """The documents of several lists.

    Attributes
    ----------
    query_ids : ndarray of str, shape (n_queries,)
    doc_ids : ndarray of str, shape (n_documents,)
        Of the documents of all lists, or of the columns of a matrix.
    query, document : ndarray of int, shape (n_rows,)
        Indices into both, sorted by query.
    above, tied : ndarray of int, shape (n_rows,)
        As in `Placements`.
    """

    query_ids: TextArray
    doc_ids: TextArray
    query: IntArray
    document: IntArray
    above: IntArray
    tied: IntArray

    @classmethod
    def of_run(cls, run: Run, score_precision: ScorePrecision = None) -> Self:
        """Return the whole lists of a run."""
        placed = run.positions(score_precision)
        ids = [placed[name].unique().sort() for name in ("query_id", "doc_id")]
        codes = placed.select(
            *(pl.col(name).rank("dense").cast(pl.Int64) - 1 for name in ("query_id", "doc_id")), "above", "tied"
        ).sort("query_id", "above", "doc_id")
        return cls(*(np.array(one.to_list(), object) for one in ids), *(one.to_numpy() for one in codes.iter_columns()))

    def inside(self, cutoff: int | None) -> IntArray:
        """Return how many ranks of the tie of each document are within the cutoff, of shape (n_rows,)."""
        return self.tied if cutoff is None else np.clip(cutoff - self.above, 0, self.tied)


def codes_of(ids: TextArray, among: Sequence[str]) -> IntArray:
    """Return the place of each id in a list that has them all, of shape (n_ids,)."""
    places = {one: place for place, one in enumerate(among)}
    return np.array([places[one] for one in ids.tolist()], np.int64)
