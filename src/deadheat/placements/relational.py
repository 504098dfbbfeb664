"""The relational steps from qrels and run to placements, written once against Narwhals.

Two plans give the same result. The *count plan* pairs every retrieved document with the judged scores of its
query and counts; it streams. The *window plan* ranks all documents of a query; it wins when there are many
judged scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl

from deadheat.io.frames import collect

if TYPE_CHECKING:
    from deadheat.data.tables import Qrels, Run

    Frame = nw.LazyFrame[Any]

PAIRS_PER_ROW = 4  # above so many (document, judged score) pairs a row, ranking all documents is the faster plan


def same_engine(qrels: Qrels, run: Run) -> tuple[Frame, Frame]:
    """Return both frames where one engine can join them, else in Polars."""
    judged, retrieved = qrels.lazy, run.lazy
    if judged.implementation is retrieved.implementation and (run.is_polars or _can_join(judged, retrieved)):
        return judged, retrieved
    return in_polars(judged), in_polars(retrieved)


def _can_join(judged: Frame, retrieved: Frame) -> bool:
    """Try a join: relations of two DuckDB connections, say, look alike and cannot be joined."""
    try:
        collect(retrieved.join(judged.select("doc_id"), on="doc_id", how="semi").head(0))
    except Exception:  # noqa: BLE001 - every engine has exceptions of its own; a real one comes up again in Polars
        return False
    return True


def in_polars(frame: Frame) -> Frame:
    """Return the rows as a Polars frame; another engine's are fetched."""
    return frame if frame.implementation.is_polars() else nw.from_native(collect(frame).lazy())


def count_retrieved(run: Frame) -> pl.DataFrame:
    """Return query_id and n_retrieved of every query of the run."""
    return collect(run.group_by("query_id").agg(n_retrieved=nw.len()))


def find_judged(qrels: Frame, run: Frame) -> Frame:
    """Return query_id, doc_id, relevance and score of every judged document that was retrieved."""
    # A join on one text column needs no row encoding; what it leaves is small.
    candidates = run.join(qrels.select("doc_id").unique(), on="doc_id", how="semi")
    return candidates.join(qrels, on=["query_id", "doc_id"], how="inner")


def choose_plan(levels: pl.DataFrame, retrieved: pl.DataFrame) -> str:
    """Return ``"count"`` or ``"window"``, by the number of (document, judged score) pairs."""
    per_query = levels.group_by("query_id").len("levels").join(retrieved, on="query_id")
    pairs = (per_query["levels"].cast(pl.Int64) * per_query["n_retrieved"].cast(pl.Int64)).sum()
    return "window" if pairs > PAIRS_PER_ROW * retrieved["n_retrieved"].sum() else "count"


def count_plan(run: Frame, levels: Frame) -> pl.DataFrame:
    """Count, for each judged score of a query, the documents above and at it.

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
    """Rank the documents of every query that has a judged one, and keep the judged scores.

    Parameters and result as for :func:`count_plan`.
    """
    rows = run.select("query_id", "score").join(levels.select("query_id").unique(), on="query_id", how="semi")
    low = nw.col("score").rank("min", descending=True).over("query_id").cast(nw.Int64)
    high = nw.col("score").rank("max", descending=True).over("query_id").cast(nw.Int64)
    ranked = rows.with_columns(above=low - 1, tied=high - low + 1)
    return collect(ranked.join(levels, on=["query_id", "score"], how="semi").unique())


def rows_tied_with_judged(qrels: Frame, run: Frame) -> pl.DataFrame:
    """Return all rows of the run that have the score of a judged document of their query, that document included.

    Parameters
    ----------
    qrels, run : narwhals.LazyFrame
        Further columns of the run are kept.
    """
    levels = find_judged(qrels, run).select("query_id", "score").unique()
    return collect(run.join(levels, on=["query_id", "score"], how="semi"))
