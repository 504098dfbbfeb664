"""Placements of several runs in one pass over their rows, one run below the other.

A pass has costs of its own, however small a run is: so they are paid once.
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
from deadheat.core.placements.building import PlacedRows, build_placements, read_lists
from deadheat.core.placements.contiguous import ContiguousEngine, count_blocks
from deadheat.core.placements.matching import check_placed_once, has_repeated_document, refuse_no_common_query
from deadheat.core.placements.placements import Placements


def can_be_stacked(qrels: Qrels, runs: Sequence[Run]) -> bool:
    """Tell whether runs are of rows in memory and scores by one key, and no measure looks beside the judgments."""
    if any(beside_table(key).placed for key in qrels.beside()):
        return False
    return all(type(run.rows) is MemoryRows and run.by_keys is None for run in runs)


class StackedRunsEngine(ContiguousEngine):
    """An engine for several runs. Its placements have the queries of the first run, then those of the second...

    There is one query of the placements for each pair of a run and a query of the qrels.

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
        The queries of each run without judgments, once it has been placed.
    """

    def __init__(self, qrels: Qrels, runs: Sequence[Run], precision: ScorePrecision) -> None:
        for run in runs:
            refuse_one_column(qrels.source_columns, run.source_columns, qrels.where)
        blocks_of_runs = [cast("MemoryRows", run.rounded(precision).rows).blocks for run in runs]
        super().__init__(qrels, runs[0], stack_blocks(blocks_of_runs))
        self._runs = runs
        self._run_of_block = np.repeat(np.arange(len(runs)), [len(blocks.query_ids) for blocks in blocks_of_runs])
        self.unjudged: list[tuple[str, ...]] = []

    def place(self) -> Placements:
        """Return the placements of all runs; each has all queries of the qrels, in one order."""
        codes, judged_query, judged_relevance = self._qrels.in_order
        n_queries = codes.height
        n_runs = len(self._runs)
        with guard_polars(", ".join(run.where for run in self._runs)):
            counts, rows = count_blocks(self._blocks, self._qrels.to_polars())
            counts = counts.with_columns(block=pl.int_range(pl.len(), dtype=pl.Int64))
            counts = counts.join(codes, on="query_id", how="left", maintain_order="left")
            # the number of the (run, query) pair of each block; null for a query without judgments
            counts = counts.with_columns(pair=pl.Series(self._run_of_block * n_queries) + pl.col("code"))
        query_ids = codes["query_id"].to_list()
        self._check_common_queries(counts, query_ids)
        self._check_placed_once(rows)
        pairs = pl.DataFrame({"pair": np.arange(n_runs * n_queries)})
        lists = pairs.join(counts, on="pair", how="left", maintain_order="left")
        self._block_of_pair = lists["block"].fill_null(0).to_numpy()
        first_pairs = np.arange(n_runs)[:, np.newaxis] * n_queries
        pair_of_row = counts["pair"].to_numpy()[rows["block"].to_numpy()]
        placed = PlacedRows(
            query=pair_of_row.astype(np.int64),  # nulls of other pairs have made them floats
            documents=rows["doc_id"],
            relevance=rows["relevance"].to_numpy(),
            above=rows["above"].to_numpy(),
            tied=rows["tied"].to_numpy(),
        )
        return build_placements(
            read_lists(np.tile(np.array(query_ids, dtype=object), n_runs), lists),
            placed,
            judged_query=(first_pairs + judged_query).ravel(),
            judged_relevance=np.tile(judged_relevance, n_runs),
        )

    def _check_placed_once(self, rows: pl.DataFrame) -> None:
        """Raise for the first run that retrieves a judged document twice, unless that was checked before."""
        if all(run.rows.are_unique for run in self._runs):
            return
        if not has_repeated_document(rows["block"], rows["doc_id"]):
            return
        run_of_row = self._run_of_block[rows["block"].to_numpy()]
        for number, run in enumerate(self._runs):
            check_placed_once(run, rows.filter(pl.Series(run_of_row == number)))

    def _check_common_queries(self, counts: pl.DataFrame, query_ids: Sequence[str]) -> None:
        """Note the queries of each run without judgments; raise if it has no others."""
        is_judged = counts["pair"].is_not_null().to_numpy()
        for number, run in enumerate(self._runs):
            is_of_run = self._run_of_block == number
            unjudged = sorted(counts["query_id"].filter(pl.Series(is_of_run & ~is_judged)).to_list())
            if not (is_of_run & is_judged).any():
                refuse_no_common_query(self._qrels, run, query_ids, unjudged)
            self.unjudged.append(tuple(unjudged))

    def _find_blocks(self, placements: Placements, query: IntArray) -> IntArray:  # noqa: ARG002 - of all runs
        return self._block_of_pair[query]


def stack_blocks(blocks_of_runs: Sequence[Blocks]) -> Blocks:
    """Return the blocks of several runs as those of one, one run below the other; the frame has no query_id."""
    bounds = []
    n_rows = 0
    for blocks in blocks_of_runs:
        bounds.append(blocks.bounds[:-1] + n_rows)
        n_rows += int(blocks.bounds[-1])
    return Blocks(
        frame=pl.concat([blocks.frame.select("doc_id", "score") for blocks in blocks_of_runs]),
        query_ids=pl.concat([blocks.query_ids for blocks in blocks_of_runs]),
        bounds=np.append(np.concatenate(bounds), n_rows),
        hashes=pl.concat([blocks.hashes for blocks in blocks_of_runs]),
    )
