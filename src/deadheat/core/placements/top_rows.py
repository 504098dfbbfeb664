"""The first documents of each list, which are kept beside an evaluation, so that it can be scored again."""

from __future__ import annotations

from typing import cast

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision, round_scores
from deadheat.core.data.rows import Blocks, MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.io.guarding import guard_polars
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.building import build_from_frames
from deadheat.core.placements.contiguous import ContiguousEngine, count_blocks
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.score_counts import sort_descending
from deadheat.core.structures import copy_with

LARGEST_TIE = 10  # times the depth: a larger tie at the end of the kept documents is left out


class TopRows(MemoryRows):
    """The first documents of each list of a run, in the order of the run and with its scores.

    Attributes
    ----------
    queries : polars.DataFrame
        query_id, n_retrieved and next_score, the highest score that is not kept; null where all are kept.
    depth : int
        How many documents of each list were to be kept. The tie of the last one is kept as a whole, or not at all.
    """

    def __init__(self, frame: pl.DataFrame, queries: pl.DataFrame, depth: int) -> None:
        super().__init__(frame)
        self.queries = queries
        self.depth = depth


def keep_top(run: Run, depth: int, precision: ScorePrecision = None) -> Run | None:
    """Return a run with the first documents of each list.

    Parameters
    ----------
    run : Run
        A run with `TopRows` stays as it is.
    depth : int
        Above 0.
    precision : {"float32", "float16", "bfloat16"} or int, optional
        Documents tie whose scores are equal when they are rounded to it; they are kept with unrounded scores.

    Returns
    -------
    Run or None
        With `TopRows`. None for rows that are in a cluster, or too many to hold.
    """
    rows = run.rows
    if isinstance(rows, UnreadRows) or not rows.in_polars:
        return None
    if isinstance(rows, TopRows):
        return run
    if not isinstance(rows, MemoryRows):
        rows = MemoryRows(run.to_polars())
    blocks = rows.blocks
    if run.by_keys:
        precision = None
    scores = blocks.frame["score"].to_numpy()
    starts = blocks.bounds[:-1]
    sizes = np.diff(blocks.bounds)
    is_kept = _select_top(round_scores(scores, precision), blocks.bounds, depth)
    n_kept = np.add.reduceat(is_kept, starts, dtype=np.int64)
    next_score = np.maximum.reduceat(np.where(is_kept, -np.inf, scores), starts)
    queries = pl.DataFrame({"query_id": blocks.query_ids, "n_retrieved": sizes, "next_score": next_score})
    is_cut = pl.Series(n_kept < sizes)
    queries = queries.with_columns(next_score=pl.when(is_cut).then("next_score"))
    return copy_with(run, rows=TopRows(blocks.frame.filter(is_kept), queries, depth))


def _select_top(scores: FloatArray, bounds: IntArray, depth: int) -> BoolArray:
    """Tell which rows are in the first `depth` of their block, or tie with the last of these, of shape (n_rows,).

    A tie that goes beyond the depth is left out as a whole if it is large.
    """
    starts = bounds[:-1]
    sizes = np.diff(bounds)
    last_places = starts + np.minimum(depth, sizes) - 1
    last_score = np.repeat(sort_descending(scores, bounds)[last_places], sizes)
    is_above = scores > last_score
    is_tied = scores == last_score
    n_above = np.add.reduceat(is_above, starts, dtype=np.int64)
    n_tied = np.add.reduceat(is_tied, starts, dtype=np.int64)
    goes_beyond = n_above + n_tied > depth
    is_left_out = goes_beyond & (n_tied > LARGEST_TIE * depth)
    return is_above | (is_tied & ~np.repeat(is_left_out, sizes))


class TopRowsEngine(ContiguousEngine):
    """An engine for the first documents of each list: where they are ranked, and how many ranks are known.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With `TopRows`.
    precision : str, int or None
        To which the scores are rounded.

    Attributes
    ----------
    depth : int
        That of the rows.
    known : polars.DataFrame
        query_id, n_retrieved, is_whole (whether all documents are kept) and n_known, how many ranks are known.
    """

    def __init__(self, qrels: Qrels, run: Run, precision: ScorePrecision) -> None:
        rows = cast("TopRows", run.rows)
        blocks = rows.blocks
        if precision is not None:
            blocks = MemoryRows(run.rounded(precision).to_polars()).blocks
        super().__init__(qrels, run, blocks)
        self.depth = rows.depth
        self.known = _find_known_ranks(rows.queries, blocks, precision)

    def place(self) -> Placements:
        """Return the placements of the judged documents in the ranks that are known."""
        with guard_polars(self._run.where):
            counts, rows = count_blocks(self._blocks, self._qrels.to_polars())
            queries = self.known.join(counts.drop("n_retrieved"), on="query_id", how="left")
            queries = queries.with_columns(pl.col("ends_in_tie") & pl.col("is_whole"))
            rows = rows.join(self.known, on="query_id").filter(pl.col("above") < pl.col("n_known"))
            return build_from_frames(self._qrels, self._run, queries, rows)


def _find_known_ranks(queries: pl.DataFrame, blocks: Blocks, precision: ScorePrecision) -> pl.DataFrame:
    """Return `TopRowsEngine.known`: the last ranks of a list are not known if they may tie with what is not kept.

    Parameters
    ----------
    queries : polars.DataFrame
        Those of `TopRows`.
    blocks : Blocks
        The documents that are kept, with scores already rounded.
    precision : str, int or None
    """
    scores = blocks.frame["score"].to_numpy()
    starts = blocks.bounds[:-1]
    sizes = np.diff(blocks.bounds)
    lowest = scores
    n_lowest = sizes
    if len(starts):
        lowest = np.minimum.reduceat(scores, starts)
        n_lowest = np.add.reduceat(scores == np.repeat(lowest, sizes), starts, dtype=np.int64)
    kept = pl.DataFrame({"query_id": blocks.query_ids, "n_kept": sizes, "lowest": lowest, "n_lowest": n_lowest})
    queries = queries.join(kept, on="query_id", how="left", maintain_order="left")
    next_score = pl.Series(round_scores(queries["next_score"].to_numpy(), precision))
    is_whole = pl.col("next_score").is_null()
    is_tie_cut = ~is_whole & (next_score == pl.col("lowest"))
    n_cut = pl.when(is_tie_cut).then("n_lowest").otherwise(0)
    return queries.select("query_id", "n_retrieved", is_whole=is_whole, n_known=pl.col("n_kept").fill_null(0) - n_cut)
