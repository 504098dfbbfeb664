"""Placements of several runs in one pass over their rows, one run below the other.

What a pass costs by itself, however small a run is, is paid once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.rows import Blocks, MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.data.source_columns import refuse_one_column
from deadheat.core.io.guarding import guard_polars
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import beside_table
from deadheat.core.placements.contiguous import Contiguous, count_in
from deadheat.core.placements.placements import (
    Placements,
    check_placed_once,
    have_repeated,
    refuse_no_common_query,
    sort_rows,
)


def can_be_stacked(qrels: Qrels, runs: Sequence[Run]) -> bool:
    """Tell whether runs are of rows in memory and scores by one key, and no measure looks beside the judgments."""
    if any(beside_table(key).placed for key in qrels.beside()):
        return False
    return all(type(run.rows) is MemoryRows and run.by_keys is None for run in runs)


class StackedRuns(Contiguous):
    """An engine for several runs: the queries of the first one, then those of the second, and so on.

    Parameters
    ----------
    qrels : Qrels
    runs : sequence of Run
        For which :func:`can_be_stacked` is true.
    precision : {"float32", "float16", "bfloat16"} or int, optional
        To which the scores are rounded.

    Attributes
    ----------
    unjudged : list of tuple of str
        Of each run the queries without judgments, once it has been placed.
    """

    def __init__(self, qrels: Qrels, runs: Sequence[Run], precision: ScorePrecision) -> None:
        for run in runs:
            refuse_one_column(qrels.source_columns, run.source_columns, qrels.where)
        self._runs = runs
        each = [cast("MemoryRows", run.rounded(precision).rows).blocks for run in runs]
        starts = np.cumsum([0, *(one.bounds[-1] for one in each)])
        bounds = [one.bounds[:-1] + start for one, start in zip(each, starts[:-1], strict=True)]
        blocks = Blocks(
            pl.concat([one.frame.select("doc_id", "score") for one in each]),
            pl.concat([one.query_ids for one in each]),
            np.append(np.concatenate(bounds), starts[-1]),
            pl.concat([one.hashes for one in each]),
        )
        super().__init__(qrels, runs[0], blocks)
        self._run_of = np.repeat(np.arange(len(runs)), [len(one.query_ids) for one in each])
        self.unjudged: list[tuple[str, ...]] = []

    def place(self) -> Placements:
        """Return the placements of all runs; each has all queries of the qrels, in one order."""
        queries, judged_query, judged_relevance = self._qrels.in_order
        n_queries, n_runs = queries.height, len(self._runs)
        with guard_polars(", ".join(run.where for run in self._runs)):
            counts, rows = count_in(self._blocks, self._qrels.to_polars())
            counts = (
                counts.with_columns(block=pl.int_range(pl.len(), dtype=pl.Int64))
                .join(queries, on="query_id", how="left", maintain_order="left")
                .with_columns(place=pl.Series(self._run_of * n_queries) + pl.col("code"))
            )
        self._check_common(counts, queries)
        self._check_placed_once(rows)
        places = pl.DataFrame({"place": np.arange(n_runs * n_queries)})
        every = places.join(counts, on="place", how="left", maintain_order="left")
        self._block = every["block"].fill_null(0).to_numpy()
        firsts = np.arange(n_runs)[:, None] * n_queries
        return sort_rows(
            np.tile(np.array(queries["query_id"].to_list(), dtype=object), n_runs),
            every["n_retrieved"].fill_null(0).to_numpy(),
            judged_query=(firsts + judged_query).ravel(),
            judged_relevance=np.tile(judged_relevance, n_runs),
            rows=(
                counts["place"].to_numpy()[rows["block"].to_numpy()].astype(np.int64),
                rows["doc_id"],
                *(rows[name].to_numpy() for name in ("relevance", "above", "tied")),
            ),
            ends_in_tie=every["ends_in_tie"].fill_null(value=False).to_numpy(),
            top_score=every["top_score"].to_numpy(),
            retrieves_itself=every["retrieves_itself"].fill_null(value=False).to_numpy(),
        )

    def _check_placed_once(self, rows: pl.DataFrame) -> None:
        """Raise for the first run that retrieves a judged document twice, if nobody looked for it before."""
        are_checked = all(run.rows.are_unique for run in self._runs)
        if are_checked or not have_repeated(rows["block"], rows["doc_id"]):
            return
        run_of_row = self._run_of[rows["block"].to_numpy()]
        for n, run in enumerate(self._runs):
            check_placed_once(run, rows.filter(pl.Series(run_of_row == n)))

    def _check_common(self, counts: pl.DataFrame, queries: pl.DataFrame) -> None:
        """Note the queries of each run without judgments; raise if it has no others."""
        is_judged = counts["place"].is_not_null().to_numpy()
        for n, run in enumerate(self._runs):
            own = self._run_of == n
            unjudged = sorted(counts["query_id"].filter(pl.Series(own & ~is_judged)).to_list())
            if not (own & is_judged).any():
                refuse_no_common_query(self._qrels, run, queries["query_id"].to_list(), unjudged)
            self.unjudged.append(tuple(unjudged))

    def _block_of(self, placements: Placements, query: IntArray) -> IntArray:  # noqa: ARG002 - of all runs
        return self._block[query]
