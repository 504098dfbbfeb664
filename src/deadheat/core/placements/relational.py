"""Placements by joins and ranks where the rows are, in any engine that Narwhals knows: only placements are fetched."""

from typing import cast

import narwhals as nw

from deadheat.core.arrays import IntArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.lazy import Frame, collect
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.building import build_from_frames
from deadheat.core.placements.placements import Placements


class RelationalEngine:
    """An engine for rows in any order, in a library that can join and rank them.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        In one engine, with its scores already rounded.
    """

    def __init__(self, qrels: Qrels, run: Run) -> None:
        self._qrels = qrels
        self._run = run
        self._judged = qrels.rows.lazy
        self._retrieved = run.rows.lazy

    def place(self) -> Placements:
        """Return the placements, joined and ranked where the rows are."""
        cast("LazyRows", self._run.rows).is_read_again = True
        with guard_polars(self._run.where):
            judged_queries = self._judged.select("query_id").unique()
            rows = rank_rows(self._retrieved.join(judged_queries, on="query_id", how="semi"))
            counts = self._count_queries()
            return build_from_frames(self._qrels, self._run, counts, collect(find_judged(self._judged, rows)))

    def _count_queries(self) -> pl.DataFrame:
        """Return query_id, n_retrieved, top_score and retrieves_itself of each query of the run."""
        counts = collect(
            self._retrieved.group_by("query_id").agg(n_retrieved=nw.len(), top_score=nw.col("score").max())
        )
        is_query = nw.col("doc_id") == nw.col("query_id")
        self_retrieving = collect(self._retrieved.filter(is_query).select("query_id"))["query_id"]
        return counts.with_columns(retrieves_itself=pl.col("query_id").is_in(self_retrieving.implode()))

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:  # noqa: ARG002 - rows without an order have no other rule
        """Count, for each of the given placements, the documents of its tie that document ids put before it."""
        with guard_polars(self._run.where):
            tie = ["query_id", "score"]  # the columns that are equal in a tie
            levels = find_judged(self._judged, self._retrieved).select(tie).unique()
            tied = (
                collect(self._retrieved.join(levels, on=tie, how="semi"))
                .sort(*tie, "doc_id", descending=True)
                .with_columns(first=pl.int_range(pl.len(), dtype=pl.Int64).over(tie))
            )
            pairs = placements.pairs(rows)
            return pairs.join(tied, on=pairs.columns, how="left", maintain_order="left")["first"].to_numpy()


def find_judged(qrels: Frame, run: Frame) -> Frame:
    """Return query_id, doc_id, relevance and score of every judged document that was retrieved."""
    # a join on one text column needs no row encoding, and leaves few rows for that on two
    candidates = run.join(qrels.select("doc_id").unique(), on="doc_id", how="semi")
    return candidates.join(qrels, on=["query_id", "doc_id"], how="inner")


def rank_rows(rows: Frame) -> Frame:
    """Return rows with how many documents of the query are above each, and tied with it."""
    low = nw.col("score").rank("min", descending=True).over("query_id").cast(nw.Int64)
    high = nw.col("score").rank("max", descending=True).over("query_id").cast(nw.Int64)
    return rows.with_columns(above=low - 1, tied=high - low + 1)


def can_join(qrels: Qrels, run: Run) -> bool:
    """Tell whether the engine of the rows can join and rank them, by a try on no rows.

    Nothing else tells: relations of two DuckDB connections look alike, and not every engine has windows.
    """
    judged = qrels.rows.lazy
    retrieved = run.rows.lazy
    if judged.implementation is not retrieved.implementation:
        return False
    try:
        collect(rank_rows(find_judged(judged, retrieved)).head(0))
    except Exception:  # noqa: BLE001 - every engine has other exceptions; a real one comes up again in Polars
        return False
    return True
