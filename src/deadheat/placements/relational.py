"""Placements by joins and counts, written once against Narwhals.

Two plans give the same result. The *count plan* pairs every retrieved document with the judged scores of its
query and counts; it streams. The *window plan* ranks all documents of a query; it is faster when there are many
judged scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import polars as pl

from deadheat.arrays import IntArray
from deadheat.data.tables import Qrels, Run
from deadheat.io.guarding import guarded
from deadheat.io.reading import collect
from deadheat.placements.placements import Placements, from_frames

Frame = nw.LazyFrame[Any]

PAIRS_PER_ROW = 4  # with more (document, judged score) pairs per row, ranking all documents is faster


class Relational:
    """An engine for rows in any order, in any library that Narwhals knows.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With its scores already rounded.
    plan : {"count", "window"}, optional
        By default the faster one.
    """

    def __init__(self, qrels: Qrels, run: Run, plan: str | None = None) -> None:
        self._qrels, self._run, self._plan = qrels, run, plan

    def place(self) -> Placements:
        """Return the placements, joined and counted where the rows are."""
        with guarded(self._run.where):
            judged, retrieved = same_engine(self._qrels, self._run)
            counts = collect(retrieved.group_by("query_id").agg(n_retrieved=nw.len()))
            lazy = find_judged(judged, retrieved)
            found = collect(lazy)
            levels = found.select("query_id", "score").unique()
            plan = self._plan or choose_plan(levels, counts)
            if plan == "window" and self._plan is None and not _can_rank(retrieved):
                plan = "count"
            # Another engine cannot always take a Polars frame, so it computes the levels again.
            in_polars = retrieved.implementation.is_polars()
            in_engine = nw.from_native(levels.lazy()) if in_polars else lazy.select("query_id", "score").unique()
            places = (count_plan if plan == "count" else window_plan)(retrieved, in_engine)
            rows = found.join(places, on=["query_id", "score"], how="left")
            return from_frames(self._qrels, self._run, counts, rows)

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        with guarded(self._run.where):
            judged, retrieved = same_engine(self._qrels, self._run)
            if rule == "input":
                retrieved = nw.from_native(retrieved.to_native().with_row_index("row"))
            tie, by_id = ["query_id", "score"], rule == "doc_id"
            tied = rows_tied_with_judged(judged, retrieved)
            tied = tied.sort(*tie, "doc_id" if by_id else "row", descending=by_id)
            tied = tied.with_columns(first=pl.int_range(pl.len(), dtype=pl.Int64).over(tie))
            query_ids, doc_ids = placements.query_ids[placements.query[rows]], placements.doc_ids[rows]
            wanted = pl.DataFrame({"query_id": query_ids.tolist(), "doc_id": doc_ids.tolist()})
            return wanted.join(tied, on=["query_id", "doc_id"], how="left", maintain_order="left")["first"].to_numpy()


def same_engine(qrels: Qrels, run: Run) -> tuple[Frame, Frame]:
    """Return both frames in their engine if it can join them, else in Polars."""
    judged, retrieved = qrels.rows.lazy, run.rows.lazy
    if judged.implementation is retrieved.implementation and (run.rows.in_polars or _can_join(judged, retrieved)):
        return judged, retrieved
    return in_polars(judged), in_polars(retrieved)


def _can_join(judged: Frame, retrieved: Frame) -> bool:
    """Try to join: relations of two DuckDB connections, for instance, look alike but cannot be joined."""
    return _can_do(lambda: find_judged(judged, retrieved))


def _can_rank(retrieved: Frame) -> bool:
    """Try to rank within queries: not every engine has window functions."""
    return retrieved.implementation.is_polars() or _can_do(lambda: ranked(retrieved))


def _can_do(make: Callable[[], Frame]) -> bool:
    try:
        collect(make().head(0))
    except Exception:  # noqa: BLE001 - every engine has exceptions of its own; a real one comes up again in Polars
        return False
    return True


def in_polars(frame: Frame) -> Frame:
    """Return the rows as a Polars frame; those of another engine are fetched."""
    return frame if frame.implementation.is_polars() else nw.from_native(collect(frame).lazy())


def find_judged(qrels: Frame, run: Frame) -> Frame:
    """Return query_id, doc_id, relevance and score of every judged document that was retrieved."""
    # A join on one text column needs no row encoding; its result is small.
    candidates = run.join(qrels.select("doc_id").unique(), on="doc_id", how="semi")
    return candidates.join(qrels, on=["query_id", "doc_id"], how="inner")


def choose_plan(levels: pl.DataFrame, retrieved: pl.DataFrame) -> str:
    """Return ``"count"`` or ``"window"``, by the number of (document, judged score) pairs."""
    per_query = levels.group_by("query_id").len("levels").join(retrieved, on="query_id")
    pairs = (per_query["levels"].cast(pl.Int64) * per_query["n_retrieved"].cast(pl.Int64)).sum()
    return "window" if pairs > PAIRS_PER_ROW * retrieved["n_retrieved"].sum() else "count"


def count_plan(run: Frame, levels: Frame) -> pl.DataFrame:
    """Count, for each judged score of a query, the documents above it and those with this score.

    Parameters
    ----------
    run : narwhals.LazyFrame
    levels : narwhals.LazyFrame
        Distinct (query_id, score) of the judged documents, in the engine of `run`.

    Returns
    -------
    polars.DataFrame
        query_id, score, above, tied.
    """
    judged = levels.rename({"score": "level"})
    score, level = nw.col("score"), nw.col("level")
    paired = run.select("query_id", "score").join(judged, on="query_id", how="inner")
    marked = paired.select(
        "query_id", "level", above=(score > level).cast(nw.Int64), tied=(score == level).cast(nw.Int64)
    )
    counted = marked.group_by("query_id", "level").agg(nw.col("above").sum(), nw.col("tied").sum())
    return collect(counted).rename({"level": "score"})


def window_plan(run: Frame, levels: Frame) -> pl.DataFrame:
    """Rank the documents of every query with a judged one, and keep the judged scores.

    Parameters and result are those of :func:`count_plan`.
    """
    rows = run.select("query_id", "score").join(levels.select("query_id").unique(), on="query_id", how="semi")
    return collect(ranked(rows).join(levels, on=["query_id", "score"], how="semi").unique())


def ranked(rows: Frame) -> Frame:
    """Return rows with the documents above each and tied with it, by ranks within its query."""
    low = nw.col("score").rank("min", descending=True).over("query_id").cast(nw.Int64)
    high = nw.col("score").rank("max", descending=True).over("query_id").cast(nw.Int64)
    return rows.with_columns(above=low - 1, tied=high - low + 1)


def rows_tied_with_judged(qrels: Frame, run: Frame) -> pl.DataFrame:
    """Return all rows of the run that have the score of a judged document of their query, that document included.

    Parameters
    ----------
    qrels, run : narwhals.LazyFrame
        Further columns of the run are kept.
    """
    levels = find_judged(qrels, run).select("query_id", "score").unique()
    return collect(run.join(levels, on=["query_id", "score"], how="semi"))
