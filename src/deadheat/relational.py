"""The relational steps from qrels and run to placements, written once against Narwhals.

Two plans give the same result. The *count plan* pairs every retrieved document with the judged scores of its
query and counts; it streams. The *window plan* ranks all documents of a query; it wins when there are many
judged scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import polars as pl

from deadheat.data import collect

if TYPE_CHECKING:
    from deadheat.data import Qrels, Run

    Frame = nw.LazyFrame[Any]

PAIRS_PER_ROW = 4  # above so many (document, judged score) pairs a row, ranking all documents is the faster plan


def same_engine(qrels: Qrels, run: Run) -> tuple[Frame, Frame]:
    """Return both frames where one engine can join them; else the run's columns go to Polars.

    DuckDB (or PySpark) frames of one connection are joined there.
    """
    judged, retrieved = qrels.lazy, run.lazy
    if judged.implementation is retrieved.implementation:
        return judged, retrieved
    return (
        nw.from_native(collect(judged).lazy()),
        nw.from_native(collect(retrieved).lazy()),
    )


def count_retrieved(run: Frame) -> pl.DataFrame:
    """Return query_id and n_retrieved of every query of the run."""
    return collect(run.group_by("query_id").agg(n_retrieved=nw.len()))


def find_judged(qrels: Frame, run: Frame) -> pl.DataFrame:
    """Return query_id, doc_id, relevance and score of every judged document that was retrieved."""
    # A join on one text column needs no row encoding; what it leaves is small.
    candidates = run.join(qrels.select("doc_id").unique(), on="doc_id", how="semi")
    return collect(candidates.join(qrels, on=["query_id", "doc_id"], how="inner"))


def choose_plan(levels: pl.DataFrame, retrieved: pl.DataFrame) -> str:
    """Return ``"count"`` or ``"window"``, by the number of (document, judged score) pairs."""
    per_query = levels.group_by("query_id").len("levels").join(retrieved, on="query_id")
    pairs = (per_query["levels"].cast(pl.Int64) * per_query["n_retrieved"].cast(pl.Int64)).sum()
    return "window" if pairs > PAIRS_PER_ROW * retrieved["n_retrieved"].sum() else "count"


def count_plan(run: Frame, levels: pl.DataFrame) -> pl.DataFrame:
    """Count, for each judged score of a query, the documents above and at it.

    Parameters
    ----------
    run : narwhals.LazyFrame
    levels : polars.DataFrame
        Distinct (query_id, score) of the judged documents.

    Returns
    -------
    polars.DataFrame
        query_id, score, above, tied.
    """
    judged = _like(run, levels.rename({"score": "level"}))
    score, level = nw.col("score"), nw.col("level")
    paired = run.select("query_id", "score").join(judged, on="query_id", how="inner")
    marked = paired.select(
        "query_id", "level", above=(score > level).cast(nw.Int64), tied=(score == level).cast(nw.Int64)
    )
    counted = marked.group_by("query_id", "level").agg(nw.col("above").sum(), nw.col("tied").sum())
    return collect(counted).rename({"level": "score"})


def window_plan(run: Frame, levels: pl.DataFrame) -> pl.DataFrame:
    """Rank the documents of every query that has a judged one, and keep the judged scores.

    Parameters and result as for :func:`count_plan`.
    """
    judged = _like(run, levels)
    rows = run.select("query_id", "score").join(judged.select("query_id").unique(), on="query_id", how="semi")
    low = nw.col("score").rank("min", descending=True).over("query_id").cast(nw.Int64)
    high = nw.col("score").rank("max", descending=True).over("query_id").cast(nw.Int64)
    ranked = rows.with_columns(above=low - 1, tied=high - low + 1)
    kept = ranked.join(judged, on=["query_id", "score"], how="semi").unique()
    return collect(kept)


def ties_of(run: Frame, documents: pl.DataFrame) -> pl.DataFrame:
    """Return all rows of the run that are tied with one of the given documents.

    Parameters
    ----------
    run : narwhals.LazyFrame
        Further columns are kept.
    documents : polars.DataFrame
        The query_id and doc_id of documents of the run.
    """
    wanted = _like(run, documents)
    levels = run.join(wanted, on=["query_id", "doc_id"], how="semi").select("query_id", "score").unique()
    return collect(run.join(levels, on=["query_id", "score"], how="semi"))


def _like(frame: Frame, levels: pl.DataFrame) -> Frame:
    """Bring a small Polars frame to the engine of `frame`."""
    if frame.implementation.is_polars():
        return nw.from_native(levels.lazy())
    if frame.implementation.is_duckdb():
        import duckdb  # noqa: PLC0415 - an extra, and only here

        return nw.from_native(duckdb.from_arrow(levels.to_arrow()))
    msg = f"joining judged scores in {frame.implementation} is not supported yet"
    raise NotImplementedError(msg)
