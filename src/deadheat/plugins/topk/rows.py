"""The rows of a run that is an array of ids, (n_queries, k), and one of scores, and how they are placed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision, round_and_warn
from deadheat.core.data.rows import MemoryRows, MergedRows, Rows
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.building import build_from_frames
from deadheat.core.placements.contiguous import ContiguousEngine
from deadheat.core.placements.placements import Placements
from deadheat.core.structures import copy_with
from deadheat.plugins.topk.by_position import read_by_position

Ids = NDArray[np.int64]

CELLS_AT_ONCE = 1 << 18  # of the arrays, which stay in the processor's cache while they are compared


class TopkRows(Rows):
    """Whole numbers as ids of documents, a row of the array for each query.

    Parameters
    ----------
    query_ids : polars.Series of String, length n_queries
        Each once.
    ids : ndarray of int64, shape (n_queries, k)
    scores : ndarray of float, shape (n_queries, k)
        NaN where there is no document.
    is_by_position : bool
        Whether queries have no ids but their places.
    """

    def __init__(self, query_ids: pl.Series, ids: Ids, scores: FloatArray, *, is_by_position: bool) -> None:
        self.query_ids = query_ids
        self.ids = ids
        self.scores = scores
        self.is_by_position = is_by_position

    @cached_property
    def is_retrieved(self) -> BoolArray:
        """Where there is a document, of shape (n_queries, k)."""
        return ~np.isnan(self.scores)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows as query_id, doc_id and score."""
        query, column = np.nonzero(self.is_retrieved)
        return pl.DataFrame(
            {
                "query_id": self.query_ids.gather(query),
                "doc_id": pl.Series(self.ids[query, column]).cast(pl.String),
                "score": self.scores[query, column],
            }
        )

    def negate(self) -> TopkRows:
        """Return the rows with the lowest scores first."""
        return TopkRows(self.query_ids, self.ids, 0.0 - self.scores, is_by_position=self.is_by_position)

    def normalize(self, form: str) -> Rows:
        """Return the rows with the ids of queries in a form of Unicode; whole numbers have one form alone."""
        if self.is_by_position:
            return self
        return super().normalize(form)

    def sample_documents(self, size: int) -> list[str]:
        """Return the ids of a few documents."""
        first_rows = slice(0, size)
        ids = self.ids[first_rows][self.is_retrieved[first_rows]]
        return ids[:size].astype(str).tolist()

    def find_documents(self, ids: pl.Series) -> pl.Series:
        """Return those of the given ids that documents have, for any query."""
        numbers = ids.cast(pl.Int64, strict=False)
        is_number = (numbers.cast(pl.String) == ids).fill_null(value=False)
        is_there = np.isin(numbers.fill_null(-1).to_numpy(), self.ids[self.is_retrieved])
        return ids.filter(is_number & pl.Series(is_there))

    def repeated_pairs(self) -> pl.DataFrame | None:
        """Return query_id, doc_id and n of each pair that comes more than once; None if none does."""
        queries = np.flatnonzero(self._have_repeated())
        if not len(queries):
            return None
        query, column = np.nonzero(self.is_retrieved[queries])
        pairs = pl.DataFrame(
            {
                "query_id": self.query_ids.gather(queries[query]),
                "doc_id": pl.Series(self.ids[queries[query], column]).cast(pl.String),
            }
        )
        return pairs.group_by("query_id", "doc_id", maintain_order=True).agg(n=pl.len()).filter(pl.col("n") > 1)

    def merge(self, duplicates: str) -> MergedRows:
        """Return the rows with one for each document of a query: the others have no score, as where nothing is."""
        queries = np.flatnonzero(self._have_repeated())
        if not len(queries):
            self.are_unique = True
            return MergedRows(self)
        ids = np.where(self.is_retrieved[queries], self.ids[queries], -1)
        scores = self.scores[queries]
        # the documents of a query side by side, the one that stays first; sorting is stable, and NaN comes last
        order = np.argsort(ids, axis=1, kind="stable")
        if duplicates == "best":
            order = np.lexsort((-scores, ids), axis=1)
        sorted_ids = np.take_along_axis(ids, order, axis=1)
        is_repeat = np.zeros(ids.shape, np.bool_)
        is_repeat[:, 1:] = (sorted_ids[:, 1:] == sorted_ids[:, :-1]) & (sorted_ids[:, 1:] >= 0)
        is_left_out = np.zeros_like(is_repeat)
        np.put_along_axis(is_left_out, order, is_repeat, axis=1)

        merged = self.scores.copy()
        merged[queries] = np.where(is_left_out, np.nan, scores)
        rows = TopkRows(self.query_ids, self.ids, merged, is_by_position=self.is_by_position)
        rows.are_unique = True
        return MergedRows(rows, int(self.is_retrieved.sum()), int(is_left_out.sum()))

    def _have_repeated(self) -> BoolArray:
        """Tell which queries have a document twice, of shape (n_queries,)."""
        fits_int32 = int(self.ids.max(initial=0)) <= np.iinfo(np.int32).max
        ids: NDArray[Any] = self.ids.astype(np.int32 if fits_int32 else np.int64)  # which is sorted in half the time
        ids[~self.is_retrieved] = -1
        ids.sort(axis=1)
        return ((ids[:, 1:] == ids[:, :-1]) & (ids[:, 1:] >= 0)).any(axis=1)

    def engine(self, qrels: Qrels, run: Run, precision: ScorePrecision) -> TopkEngine:
        """Return what places them without a row of text."""
        return TopkEngine(qrels, run, self, precision)

    def qrels_by_position(self, source: object) -> Qrels | None:
        """Return judgments that have a place for each query; None for those with ids of queries."""
        if not self.is_by_position:
            return None
        return read_by_position(source, len(self.query_ids))


@dataclass(frozen=True)
class Judgments:
    """Judgments of queries that the run has.

    Attributes
    ----------
    row : ndarray of int, shape (n_judged,)
        The row of the array that has the query.
    document : ndarray of int64, shape (n_judged,)
    frame : polars.DataFrame
        query_id, doc_id and relevance of each.
    """

    row: IntArray
    document: Ids
    frame: pl.DataFrame


class TopkEngine:
    """An engine for runs with `TopkRows`.

    Parameters
    ----------
    qrels : Qrels
    run : Run
    rows : TopkRows
        Those of the run.
    precision : str, int or None
        To which the scores are rounded.
    """

    def __init__(self, qrels: Qrels, run: Run, rows: TopkRows, precision: ScorePrecision) -> None:
        self._qrels, self._run, self._rows = qrels, run, rows
        self._scores = rows.scores
        if precision is not None:
            self._scores = round_and_warn(rows.scores.ravel(), precision).reshape(rows.scores.shape)

    def place(self) -> Placements:
        """Return the placements of the judged documents."""
        judgments = self._find_judgments()
        judgment, column = self._find_documents(judgments)
        row = judgments.row[judgment]
        above, tied = self._count_above_and_tied(row, self._scores[row, column])
        found = judgments.frame[judgment].with_columns(above=above, tied=tied)
        return build_from_frames(self._qrels, self._run, self._count_queries(), found)

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        frame = self._rows.frame
        if self._scores is not self._rows.scores:
            frame = frame.with_columns(score=self._scores[self._rows.is_retrieved])
        run = copy_with(self._run, rows=MemoryRows(frame))
        return ContiguousEngine(self._qrels, run, MemoryRows(frame).blocks).count_first(placements, rows, rule)

    def _find_judgments(self) -> Judgments:
        """Return the judgments of the queries of the run, with their ids as numbers."""
        queries = pl.DataFrame({"query_id": self._rows.query_ids, "row": np.arange(len(self._rows.query_ids))})
        frame = self._qrels.to_polars().join(queries, on="query_id", maintain_order="left")
        number = frame["doc_id"].cast(pl.Int64, strict=False)
        is_number = (number.cast(pl.String) == frame["doc_id"]).fill_null(value=False)
        if not is_number.all():
            self._refuse_other_spellings(frame.filter(~is_number)["doc_id"])
            frame = frame.filter(is_number)
            number = number.filter(is_number)
        return Judgments(frame["row"].to_numpy(), number.to_numpy(), frame.drop("row"))

    def _refuse_other_spellings(self, texts: pl.Series) -> None:
        """Raise for an id such as "09" that is judged while the run has the number 9."""
        numbers = texts.str.strip_chars().cast(pl.Int64, strict=False)
        is_there = numbers.is_in(pl.Series(np.unique(self._rows.ids[self._rows.is_retrieved])).implode())
        for text, number in pl.DataFrame({"text": texts, "number": numbers}).filter(is_there).head(1).iter_rows():
            raise DataError(
                f"{self._qrels.where} has document {text!r} and {self._run.where} the number {number}, whose text is"
                f" '{number}': are they the same document?",
                path=None,
                allowed="ids that are written alike",
            )

    def _find_documents(self, judgments: Judgments) -> tuple[IntArray, IntArray]:
        """Return which judged documents were retrieved, and the column of each."""
        found, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        ids, is_retrieved = self._rows.ids, self._rows.is_retrieved
        for part in _parts(len(judgments.row), ids.shape[1]):
            row = judgments.row[part]
            judgment, column = np.nonzero(ids[row] == judgments.document[part, np.newaxis])
            is_there = is_retrieved[row[judgment], column]
            found.append(judgment[is_there] + part.start)
            columns.append(column[is_there])
        return np.concatenate(found), np.concatenate(columns)

    def _count_above_and_tied(self, row: IntArray, score: FloatArray) -> tuple[IntArray, IntArray]:
        """Count the scores of a row above each given one, and those equal to it; NaN is neither."""
        above, tied = np.empty_like(row), np.empty_like(row)
        for part in _parts(len(row), self._scores.shape[1]):
            of_query = self._scores[row[part]]
            own = score[part, np.newaxis]
            above[part] = np.count_nonzero(of_query > own, axis=1)
            tied[part] = np.count_nonzero(of_query == own, axis=1)
        return above, tied

    def _count_queries(self) -> pl.DataFrame:
        """Return query_id, n_retrieved, ends_in_tie, top_score and retrieves_itself of the queries with documents."""
        n_retrieved = np.count_nonzero(self._rows.is_retrieved, axis=1)
        lowest = np.fmin.reduce(self._scores, axis=1)
        n_lowest = np.count_nonzero(self._scores == lowest[:, np.newaxis], axis=1)
        counts = {
            "query_id": self._rows.query_ids,
            "n_retrieved": n_retrieved,
            "ends_in_tie": n_lowest > 1,
            "top_score": np.fmax.reduce(self._scores, axis=1),
            "retrieves_itself": self._find_own_queries(),
        }
        return pl.DataFrame(counts).filter(pl.col("n_retrieved") > 0)

    def _find_own_queries(self) -> NDArray[np.bool_]:
        """Tell which queries retrieve a document with their id; places of queries are no ids of documents."""
        if self._rows.is_by_position:
            return np.zeros(len(self._rows.query_ids), np.bool_)
        number = self._rows.query_ids.cast(pl.Int64, strict=False)
        is_number = (number.cast(pl.String) == self._rows.query_ids).fill_null(value=False).to_numpy()
        own = number.fill_null(-1).to_numpy()[:, np.newaxis]
        return is_number & ((self._rows.ids == own) & self._rows.is_retrieved).any(axis=1)


def _parts(n_rows: int, width: int) -> Iterator[slice]:
    """Give the rows of an array of this width in parts that are looked at together."""
    size = max(1, CELLS_AT_ONCE // width)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))
