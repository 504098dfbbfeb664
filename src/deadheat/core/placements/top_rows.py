"""The first documents of each list, which are kept beside an evaluation, so that it can be scored again."""

from __future__ import annotations

from typing import cast

import numpy as np

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision, round_scores
from deadheat.core.data.rows import MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.io.guarding import guard_polars
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.contiguous import Contiguous, count_in
from deadheat.core.placements.placements import (
    Placements,
    from_frames,
)
from deadheat.core.placements.score_counts import descending
from deadheat.core.structures import copy_with

LARGEST_TIE = 10  # times the depth: a larger tie at the end of what is kept is left out


class TopRows(MemoryRows):
    """The first documents of each list of a run, in the order of the run and with its scores.

    Attributes
    ----------
    queries : polars.DataFrame
        query_id, n_retrieved and next_score, the highest score that is not kept; null where all are.
    depth : int
        Documents of each list that were to be kept; the tie of the last one is there as a whole, or not at all.
    """

    def __init__(self, frame: pl.DataFrame, queries: pl.DataFrame, depth: int) -> None:
        super().__init__(frame)
        self.queries, self.depth = queries, depth


def keep_top(run: Run, depth: int, precision: ScorePrecision = None) -> Run | None:
    """Return a run with the first documents of each list.

    Parameters
    ----------
    run : Run
        One that is kept already stays as it is.
    depth : int
        Above 0.
    precision : {"float32", "float16", "bfloat16"} or int, optional
        To which scores are rounded when it is said what ties; they are kept as they are.

    Returns
    -------
    Run or None
        With `TopRows`. None also of rows that are in a cluster, or too many to hold.
    """
    rows = run.rows
    if isinstance(rows, UnreadRows) or not rows.in_polars:
        return None
    if isinstance(rows, TopRows):
        return run
    blocks = (rows if isinstance(rows, MemoryRows) else MemoryRows(run.to_polars())).blocks
    scores, starts, sizes = blocks.frame["score"].to_numpy(), blocks.bounds[:-1], np.diff(blocks.bounds)
    rounded = round_scores(scores, None if run.by_keys else precision)
    last = np.repeat(descending(rounded, blocks.bounds)[starts + np.minimum(depth, sizes) - 1], sizes)
    n_above, n_tied = (np.add.reduceat(of, starts, dtype=np.int64) for of in (rounded > last, rounded == last))
    is_large = (n_above + n_tied > depth) & (n_tied > LARGEST_TIE * depth)
    keep = (rounded > last) | ((rounded == last) & ~np.repeat(is_large, sizes))
    left = np.maximum.reduceat(np.where(keep, -np.inf, scores), starts)
    is_whole = np.add.reduceat(keep, starts, dtype=np.int64) == sizes
    queries = pl.DataFrame({"query_id": blocks.query_ids, "n_retrieved": sizes, "next_score": left}).with_columns(
        next_score=pl.when(~pl.Series(is_whole)).then("next_score")
    )
    return copy_with(run, rows=TopRows(blocks.frame.filter(keep), queries, depth))


class OfTopRows(Contiguous):
    """An engine for what is kept of a run: where its documents are ranked, and how many ranks of each list are known.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With `TopRows`.
    precision : str, int or None
        To which the scores are rounded.
    """

    def __init__(self, qrels: Qrels, run: Run, precision: ScorePrecision) -> None:
        rows = cast("TopRows", run.rows)
        super().__init__(
            qrels, run, (rows if precision is None else MemoryRows(run.rounded(precision).to_polars())).blocks
        )
        scores, starts = self._blocks.frame["score"].to_numpy(), self._blocks.bounds[:-1]
        sizes = np.diff(self._blocks.bounds)
        lowest = np.minimum.reduceat(scores, starts) if len(starts) else scores
        n_lowest = np.add.reduceat(scores == np.repeat(lowest, sizes), starts, dtype=np.int64) if len(starts) else sizes
        own = pl.DataFrame(
            {"query_id": self._blocks.query_ids, "n_kept": sizes, "lowest": lowest, "n_lowest": n_lowest}
        )
        queries = rows.queries.join(own, on="query_id", how="left", maintain_order="left")
        following = round_scores(queries["next_score"].to_numpy(), precision)  # it may tie with the last one kept
        is_cut = (pl.Series(following) == pl.col("lowest")) & pl.col("next_score").is_not_null()
        self.depth = rows.depth
        self.known = queries.select(
            "query_id",
            "n_retrieved",
            is_whole=pl.col("next_score").is_null(),
            n_known=pl.col("n_kept").fill_null(0) - pl.when(is_cut).then("n_lowest").otherwise(0),
        )

    def place(self) -> Placements:
        """Return the placements of the judged documents in the ranks that are known."""
        with guard_polars(self._run.where):
            counts, rows = count_in(self._blocks, self._qrels.to_polars())
            queries = self.known.join(counts.drop("n_retrieved"), on="query_id", how="left").with_columns(
                pl.col("ends_in_tie") & pl.col("is_whole")
            )
            rows = rows.join(self.known, on="query_id").filter(pl.col("above") < pl.col("n_known"))
            return from_frames(self._qrels, self._run, queries, rows)
