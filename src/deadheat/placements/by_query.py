"""Placements of a run that is not in memory: whole queries at a time, counted with the code for rows in memory.

The workers of a Spark cluster do it, to which the judgments travel with the task, or in the shuffle where they are
many; or this process does, batch by batch, from a large file. Only placements and counts are kept.
"""

from functools import partial
from typing import cast

import numpy as np
import polars as pl

from deadheat.arrays import IntArray
from deadheat.data.passes import QUERY, NotAdjacentError, by_query, of_kind, said
from deadheat.data.rows import Blocks, MemoryRows, ScorePrecision, UnreadRows
from deadheat.data.tables import Qrels, Run
from deadheat.io.files import is_bounded
from deadheat.io.guarding import guarded
from deadheat.placements.contiguous import Contiguous, count
from deadheat.placements.placements import Placements, from_frames

NOT_ADJACENT = "rows of a query are not adjacent: all rows are held at once, beyond the bound on memory"
JUDGED, FIRST = "judged", "first"  # what a worker says


class ByQuery:
    """An engine for a run in Spark, classic or Connect, or in a large file.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With `UnreadRows`.
    precision : str, int or None
        To which the scores are rounded, in the same pass.
    """

    def __init__(self, qrels: Qrels, run: Run, precision: ScorePrecision) -> None:
        self._qrels, self._run, self._precision = qrels, run, precision

    def place(self) -> Placements:
        """Return the placements, counted and checked in one pass."""
        with guarded(self._run.where):
            try:
                found = by_query(self._run, say_places, self._qrels.to_polars(), self._precision)
            except NotAdjacentError:
                return self._held().place()
            counts = of_kind(found, QUERY, "query_id", "above", "tied", "value")
            counts = counts.select("query_id", n_retrieved="above", ends_in_tie=pl.col("tied") > 0, top_score="value")
            rows = of_kind(found, JUDGED, "query_id", "doc_id", "value", "above", "tied").rename({"value": "relevance"})
            del found  # there may be many judgments
            return from_frames(self._qrels, self._run, counts, rows)

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        with guarded(self._run.where):
            wanted = placements.pairs(rows)
            judged = wanted.with_columns(relevance=pl.lit(0.0))
            try:
                found = by_query(self._run, partial(say_first, rule), judged, self._precision)
            except NotAdjacentError:
                return self._held().count_first(placements, rows, rule)
            first = of_kind(found, FIRST, "query_id", "doc_id", "above")
            return wanted.join(first, on=["query_id", "doc_id"], how="left", maintain_order="left")["above"].to_numpy()

    def _held(self) -> Contiguous:
        """Return the engine for rows in memory, which are checked first."""
        if is_bounded():
            self._run.notes = tuple(dict.fromkeys((*self._run.notes, NOT_ADJACENT)))
        if cast("UnreadRows", self._run.rows).check_duplicates:
            self._run.check_duplicates(now=True)
        run = self._run.rounded(self._precision)
        return Contiguous(self._qrels, run, MemoryRows(run.to_polars()).blocks)


def say_places(blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:
    """Say how many documents each query has, and where its judged ones are."""
    counts, rows = count(blocks, judgments)
    rows = rows.drop("block").sort("query_id", "doc_id")  # one order, however the rows were divided
    return [
        said(QUERY, **counts.rename({"n_retrieved": "above", "ends_in_tie": "tied", "top_score": "value"}).to_dict()),
        said(JUDGED, **rows.rename({"relevance": "value"}).to_dict()),
    ]


def say_first(rule: str, blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:
    """Say how many documents of its tie a rule ("doc_id" or "input") puts before each of the given ones."""
    found = [said(QUERY, query_id=blocks.query_ids)]  # to see that each comes once
    own = judgments.filter(pl.col("query_id").is_in(blocks.query_ids.implode()))
    if len(own):
        engine = Contiguous(Qrels.of_checked(own, "qrels"), Run.of_checked(blocks.frame, "run"), blocks)
        placements = engine.place()
        rows = np.flatnonzero(placements.tied > 1)
        if len(rows):
            first = engine.count_first(placements, rows, rule)
            found.append(said(FIRST, **placements.pairs(rows).to_dict(), above=first))
    return found
