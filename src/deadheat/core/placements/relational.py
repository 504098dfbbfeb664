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
from deadheat.core.placements.placements import Placements, from_frames


class Relational:
    """An engine for rows in any order, in a library that can join and rank them.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        In one engine, with its scores already rounded.
    """

    def __init__(self, qrels: Qrels, run: Run) -> None:
        self._qrels, self._run = qrels, run
        self._judged, self._retrieved = qrels.rows.lazy, run.rows.lazy

    def place(self) -> Placements:
        """Return the placements, joined and ranked where the rows are."""
        cast("LazyRows", self._run.rows).is_read_again = True
        with guard_polars(self._run.where):
            counts = collect(
                self._retrieved.group_by("query_id").agg(n_retrieved=nw.len(), top_score=nw.col("score").max())
            )
            own = collect(self._retrieved.filter(nw.col("doc_id") == nw.col("query_id")).select("query_id"))
            counts = counts.with_columns(retrieves_itself=pl.col("query_id").is_in(own["query_id"].implode()))
            rows = ranked(self._retrieved.join(self._judged.select("query_id").unique(), on="query_id", how="semi"))
            return from_frames(self._qrels, self._run, counts, collect(find_judged(self._judged, rows)))

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:  # noqa: ARG002 - its rows have no order, so the rule is by id
        """Count, for each of the given placements, the documents of its tie that document ids put before it."""
        with guard_polars(self._run.where):
            tie = ["query_id", "score"]
            levels = find_judged(self._judged, self._retrieved).select(tie).unique()
            tied = (
                collect(self._retrieved.join(levels, on=tie, how="semi"))
                .sort(*tie, "doc_id", descending=True)
                .with_columns(first=pl.int_range(pl.len(), dtype=pl.Int64).over(tie))
            )
            wanted = placements.pairs(rows)
            return wanted.join(tied, on=wanted.columns, how="left", maintain_order="left")["first"].to_numpy()


def find_judged(qrels: Frame, run: Frame) -> Frame:
    """Return query_id, doc_id, relevance and score of every judged document that was retrieved."""
    # a join on one text column needs no row encoding; its result is small
    candidates = run.join(qrels.select("doc_id").unique(), on="doc_id", how="semi")
    return candidates.join(qrels, on=["query_id", "doc_id"], how="inner")


def ranked(rows: Frame) -> Frame:
    """Return rows with the documents above each and tied with it, by ranks within its query."""
    low = nw.col("score").rank("min", descending=True).over("query_id").cast(nw.Int64)
    high = nw.col("score").rank("max", descending=True).over("query_id").cast(nw.Int64)
    return rows.with_columns(above=low - 1, tied=high - low + 1)


def can_join(qrels: Qrels, run: Run) -> bool:
    """Try to join and rank: relations of two DuckDB connections look alike, and not every engine has windows."""
    judged, retrieved = qrels.rows.lazy, run.rows.lazy
    if judged.implementation is not retrieved.implementation:
        return False
    try:
        collect(ranked(find_judged(judged, retrieved)).head(0))
    except Exception:  # noqa: BLE001 - every engine has exceptions of its own; a real one comes up again in Polars
        return False
    return True
