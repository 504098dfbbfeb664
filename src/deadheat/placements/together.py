"""Placements of several runs in memory at once: what each run costs by itself, however small it is, is paid once."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import polars as pl

from deadheat.arrays import IntArray
from deadheat.data.precision import ScorePrecision
from deadheat.data.rows import Blocks, MemoryRows
from deadheat.data.tables import Qrels, Run
from deadheat.io.guarding import guarded
from deadheat.placements.contiguous import Contiguous, count
from deadheat.placements.placements import Placements, no_common_query, sort_rows


def can_be_together(qrels: Qrels, runs: Sequence[Run]) -> bool:
    """Tell whether runs are several, of rows in memory and scores by one key, and judgments without subtopics."""
    are_alike = all(type(run.rows) is MemoryRows and run.by_keys is None for run in runs)
    return len(runs) > 1 and are_alike and qrels.subtopics is None


class Together(Contiguous):
    """An engine for several runs: the queries of the first one, then those of the second, and so on.

    Parameters
    ----------
    qrels : Qrels
    runs : sequence of Run
        For which :func:`can_be_together` is true.
    precision : {"float32", "float16", "bfloat16"} or int, optional
        To which the scores are rounded.

    Attributes
    ----------
    unjudged : list of tuple of str
        Of each run the queries without judgments, once it has been placed.
    """

    def __init__(self, qrels: Qrels, runs: Sequence[Run], precision: ScorePrecision) -> None:
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
        with guarded(", ".join(run.where for run in self._runs)):
            counts, rows = count(self._blocks, self._qrels.to_polars())
            counts = counts.join(queries, on="query_id", how="left", maintain_order="left")
            counts = counts.with_columns(place=pl.Series(self._run_of * n_queries) + pl.col("code"))
        self._check_common(counts, queries)
        known = counts.drop_nulls("place")
        places = known["place"].to_numpy()
        self._block = np.zeros(n_runs * n_queries, np.int64)
        self._block[places] = np.flatnonzero(counts["place"].is_not_null().to_numpy())
        n_retrieved, ends_in_tie = np.zeros(n_runs * n_queries, np.int64), np.zeros(n_runs * n_queries, np.bool_)
        n_retrieved[places], ends_in_tie[places] = known["n_retrieved"].to_numpy(), known["ends_in_tie"].to_numpy()
        top_score = np.full(n_runs * n_queries, np.nan)
        top_score[places] = known["top_score"].to_numpy()
        firsts = np.arange(n_runs)[:, None] * n_queries
        return sort_rows(
            np.tile(np.array(queries["query_id"].to_list(), dtype=object), n_runs),
            n_retrieved,
            judged_query=(firsts + judged_query).ravel(),
            judged_relevance=np.tile(judged_relevance, n_runs),
            rows=(
                counts["place"].to_numpy()[rows["block"].to_numpy()].astype(np.int64),
                rows["doc_id"],
                *(rows[name].to_numpy() for name in ("relevance", "above", "tied")),
            ),
            ends_in_tie=ends_in_tie,
            top_score=top_score,
        )

    def _check_common(self, counts: pl.DataFrame, queries: pl.DataFrame) -> None:
        """Note the queries of each run without judgments; raise if it has no others."""
        is_judged = counts["place"].is_not_null().to_numpy()
        for n, run in enumerate(self._runs):
            own = self._run_of == n
            unjudged = sorted(counts["query_id"].filter(pl.Series(own & ~is_judged)).to_list())
            if not (own & is_judged).any():
                raise no_common_query(self._qrels, run, queries["query_id"].to_list(), unjudged)
            self.unjudged.append(tuple(unjudged))

    def _block_of(self, placements: Placements, query: IntArray) -> IntArray:  # noqa: ARG002 - of all runs
        return self._block[query]
