"""Lists: the documents of several lists, judged or not, each with its place among equal scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from deadheat.core.arrays import AnyArray, BoolArray, IntArray, TextArray, concatenate_ranges, find_places, run_starts
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import find_rows
from deadheat.plugins.dense.comparing import Piece, to_memory

STRIPS = 8  # scores of which the greatest one is looked at: more leave fewer to sort, and a lower bound


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
    depth : int or None
        Ranks that are known, with the whole tie at the last one; None: all.
    """

    query_ids: TextArray
    doc_ids: TextArray
    query: IntArray
    document: IntArray
    above: IntArray
    tied: IntArray
    depth: int | None = None

    @classmethod
    def of_run(cls, run: Run, score_precision: ScorePrecision = None) -> Self:
        """Return the whole lists of a run."""
        placed = run.positions(score_precision)
        ids = [placed[name].unique().sort() for name in ("query_id", "doc_id")]
        codes = placed.select(
            *(pl.col(name).rank("dense").cast(pl.Int64) - 1 for name in ("query_id", "doc_id")), "above", "tied"
        ).sort("query_id", "above", "doc_id")
        queries, documents = (np.array(one.to_list(), object) for one in ids)
        query, document, above, tied = (one.to_numpy() for one in codes.iter_columns())
        return cls(queries, documents, query, document, above, tied)

    @classmethod
    def joined(cls, parts: "Sequence[Lists]") -> "Lists":
        """Return several, of different queries and of the same documents, as one."""
        starts = np.cumsum([0] + [len(one.query_ids) for one in parts[:-1]])
        return cls(
            np.concatenate([one.query_ids for one in parts]),
            parts[0].doc_ids,
            np.concatenate([one.query + start for one, start in zip(parts, starts, strict=True)]),
            np.concatenate([one.document for one in parts]),
            np.concatenate([one.above for one in parts]),
            np.concatenate([one.tied for one in parts]),
            parts[0].depth,
        )

    def renamed(self, query_ids: TextArray) -> Self:
        """Return them with other ids of their queries.

        Parameters
        ----------
        query_ids : ndarray of str, shape (n_queries,)
            In the order of those that they replace.
        """
        return replace(self, query_ids=query_ids)

    def select(self, queries: BoolArray | IntArray) -> Self:
        """Return those of some queries.

        Parameters
        ----------
        queries : ndarray of bool, shape (n_queries,), or of int
            Which queries, or their places in any order.
        """
        places = find_places(queries)
        rows, query = find_rows(self.query, places)
        return replace(
            self,
            query_ids=self.query_ids[places],
            query=query,
            document=self.document[rows],
            above=self.above[rows],
            tied=self.tied[rows],
        )


def first_of(piece: Piece, row_out: IntArray, column_out: IntArray, depth: int) -> tuple[IntArray, IntArray, AnyArray]:
    """Return row, column and score of the first documents of each row of a piece, and of some others below.

    A row is cut in strips, and the best documents of all strips at one place are compared: as many of them as are
    wanted reach a bound, and so as many documents of the row do.

    Parameters
    ----------
    piece : Piece
    row_out, column_out : ndarray of int
        Scores that do not count.
    depth : int
    """
    scores, kept = to_memory(piece.scores), None if piece.kept is None else to_memory(piece.kept)
    n_rows, n_columns = scores.shape
    n_first = depth + int(np.bincount(row_out).max(initial=0))
    strips = min(STRIPS, n_columns // (2 * n_first))
    if strips > 1:
        filled, width = scores, n_columns // strips
        if kept is not None:
            lowest = {"f": -np.inf, "b": False}.get(scores.dtype.kind)
            filled = np.where(kept, scores, np.iinfo(scores.dtype).min if lowest is None else lowest)
        best = filled[:, : width * strips].reshape(n_rows, strips, width).max(axis=1)
        hits = filled >= np.partition(best, width - n_first, axis=1)[:, width - n_first, None]
    else:
        hits = np.ones(scores.shape, np.bool_)
    hits[row_out, column_out] = False
    if kept is not None:
        hits &= kept
    place = np.flatnonzero(hits)  # faster than by row and column
    row = place // n_columns
    return row, place - row * n_columns, scores.take(place)


def ties_of(first: Sequence[tuple[IntArray, IntArray, AnyArray]], depth: int) -> tuple[IntArray, ...]:
    """Return row, column, above and tied of the documents down to a rank, with the whole tie that is at it.

    Parameters
    ----------
    first : sequence
        What :func:`first_of` returned for all pieces of some rows.
    depth : int
    """
    row, column, scores = (np.concatenate(each) for each in zip(*first, strict=True))
    if len(first) > 1:
        order = np.argsort(row, kind="stable")
        row, column, scores = row[order], column[order], scores[order]
    sizes = np.bincount(row)
    end = np.cumsum(sizes)
    real = np.arange(sizes.max(initial=0)) < sizes[:, None]
    padded = np.zeros(real.shape, scores.dtype)  # to sort short rows, which is faster
    padded[real] = scores
    order = np.argsort(padded, axis=1)  # in a tie in any order
    order = (order + (end - sizes)[:, None])[order < sizes[:, None]]
    column, scores = column[order], scores[order]
    starts = run_starts(row, scores)
    tied = np.diff(starts, append=len(row))
    above = end[row[starts]] - starts - tied
    kept = above < depth
    rows = concatenate_ranges(starts[kept], tied[kept])
    repeated = (np.repeat(one[kept], tied[kept]) for one in (above, tied))
    return tuple(one.astype(np.int32) for one in (row[rows], column[rows], *repeated))
