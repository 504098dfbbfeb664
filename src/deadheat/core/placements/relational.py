"""Placements by joins and counts where the rows are, in any engine that Narwhals knows: only placements are fetched.

Two plans find the same numbers. One counts the scores above each judged document and equal to it: every row of a query
meets every level, a score of a judged document. It streams, and takes long where queries have many levels. The other
ranks all rows, which sorts them.
"""

from typing import cast

import narwhals as nw

from deadheat.core import hooks
from deadheat.core.arrays import IntArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.errors import MissingPluginError
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.lazy import Frame, collect
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.building import build_from_frames
from deadheat.core.placements.placements import Placements

MOST_PAIRS = 40  # for each row of a run, on average: with more pairs of a row and a level, ranks take less time


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
        """Return the placements, joined and counted where the rows are."""
        cast("LazyRows", self._run.rows).is_read_again = True
        with guard_polars(self._run.where):
            counts = self._count_queries()
            rows = self._find_places(counts)
            return build_from_frames(self._qrels, self._run, counts, rows)

    def _find_places(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Return the judged documents that were retrieved with `above` and `tied`, by the plan that takes less time."""
        found = number_levels(collect(find_judged(self._judged, self._retrieved)))
        levels = found.filter("is_first").select("level_id", "query_id", level="score")
        if count_pairs(levels, counts) <= MOST_PAIRS * int(counts["n_retrieved"].sum()):
            return self._count_around(found, levels)
        return self._rank()

    def _count_around(self, found: pl.DataFrame, levels: pl.DataFrame) -> pl.DataFrame:
        """Return the judged documents that were retrieved with `above` and `tied`, by counts of scores."""
        beside = put_beside(self._retrieved, levels)
        if beside is not None:
            counts = collect(count_scores(self._retrieved, beside, ["level_id"]))
        else:
            names = ["query_id", "level"]
            levels_in_engine = find_judged(self._judged, self._retrieved).select("query_id", level="score").unique()
            counts = collect(count_scores(self._retrieved, levels_in_engine, names)).join(levels, on=names)
        counts = counts.sort("level_id")
        of_level = counts.select("tied", above=pl.col("reaching") - pl.col("tied"))
        of_judged = of_level[found["level_id"]]
        return found.select("query_id", "doc_id", "relevance").hstack(of_judged)

    def _rank(self) -> pl.DataFrame:
        """Return the same by ranks of all rows of judged queries."""
        judged_queries = self._judged.select("query_id").unique()
        rows = rank_rows(self._retrieved.join(judged_queries, on="query_id", how="semi"))
        return collect(find_judged(self._judged, rows))

    def _count_queries(self) -> pl.DataFrame:
        """Return query_id, n_retrieved, top_score and retrieves_itself of each query of the run."""
        is_query = nw.col("doc_id") == nw.col("query_id")
        rows = self._retrieved.with_columns(is_itself=is_query.cast(nw.Int64))
        counts = rows.group_by("query_id").agg(
            n_retrieved=nw.len(), top_score=nw.col("score").max(), n_itself=nw.col("is_itself").sum()
        )
        return collect(counts).select("query_id", "n_retrieved", "top_score", retrieves_itself=pl.col("n_itself") > 0)

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
    candidates = run
    if not run.implementation.is_duckdb():  # which joins on two columns as fast as on one
        # a join on one text column needs no row encoding, and leaves few rows for that on two
        candidates = run.join(qrels.select("doc_id").unique(), on="doc_id", how="semi")
    return candidates.join(qrels, on=["query_id", "doc_id"], how="inner")


def put_beside(rows: Frame, table: pl.DataFrame) -> Frame | None:
    """Return a table of this process where some rows are; None where their engine takes none."""
    if rows.implementation.is_polars():
        return nw.from_native(table.lazy())
    try:
        moving = hooks.service("tables_beside_rows")
    except MissingPluginError:
        return None
    return cast("Frame | None", moving.put_beside(rows, table))


def count_pairs(levels: pl.DataFrame, counts: pl.DataFrame) -> int:
    """Return how many pairs of a row and a level there are: each row of a query with each level of the query.

    Parameters
    ----------
    levels : polars.DataFrame
        query_id of each level.
    counts : polars.DataFrame
        query_id and n_retrieved.
    """
    return int(levels.join(counts, on="query_id", how="left")["n_retrieved"].sum())


def number_levels(found: pl.DataFrame) -> pl.DataFrame:
    """Return judged documents by query and score, with the number of each level: 0, 1 and so on.

    Parameters
    ----------
    found : polars.DataFrame
        With query_id and score.

    Returns
    -------
    polars.DataFrame
        With level_id, and is_first: whether a document is the first one of its level.
    """
    ordered = found.sort("query_id", "score")
    keys = pl.col("query_id", "score")
    ordered = ordered.with_columns(is_first=pl.any_horizontal(keys != keys.shift()).fill_null(value=True))
    return ordered.with_columns(level_id=pl.col("is_first").cum_sum().cast(pl.Int64) - 1)


def count_scores(rows: Frame, levels: Frame, keys: list[str]) -> Frame:
    """Return how many scores of the query reach each level (`reaching`) and equal it (`tied`).

    Parameters
    ----------
    rows : narwhals.LazyFrame
        Of a run.
    levels : narwhals.LazyFrame
        query_id, level, and what else the keys are.
    keys : list of str
        The columns of `levels` that name a level; they are returned, too.
    """
    pairs = rows.join(levels, on="query_id", how="inner").filter(nw.col("score") >= nw.col("level"))
    is_equal = nw.col("score") == nw.col("level")
    pairs = pairs.with_columns(is_equal=is_equal.cast(nw.Int64))
    return pairs.group_by(keys).agg(reaching=nw.len(), tied=nw.col("is_equal").sum())


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
