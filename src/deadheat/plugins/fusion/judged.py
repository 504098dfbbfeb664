"""The judged documents among the candidates of a pool: for methods that learn, and to score fused candidates fast."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, concatenate_ranges, sum_by_code
from deadheat.core.data.qrels import Qrels
from deadheat.core.errors import DataError
from deadheat.core.placements.beside import BesideRows, find_beside
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements
from deadheat.core.placements.placements import Placements
from deadheat.core.placements.score_counts import count_above_and_tied
from deadheat.plugins.fusion.pool import Pool, RankedRun

FEW = 8  # judged documents of a query with which all candidates are compared
FEW_ROWS = 4  # candidates for each of them, at least


@dataclass(frozen=True, eq=False)
class Hits:
    """The ranks at which a run may have relevant documents, each with the probability that one is there.

    Attributes
    ----------
    query : ndarray of int, shape (n_hits,)
    rank : ndarray of int, shape (n_hits,)
        From 0.
    probability : ndarray of float, shape (n_hits,)
        Over the orders of equal scores; 1 where there is no tie.
    lengths : ndarray of int, shape (n_lists,)
        The number of documents of each list that counts.
    """

    query: IntArray
    rank: IntArray
    probability: FloatArray
    lengths: IntArray

    def by_rank(self) -> FloatArray:
        """Return the expected number of lists with a relevant document at each rank, of shape (longest,)."""
        return sum_by_code(self.rank, self.probability, int(self.lengths.max(initial=0)))

    def lists_by_rank(self) -> IntArray:
        """Return the number of lists that have each rank, of shape (longest,)."""
        n_ending = np.bincount(self.lengths, minlength=int(self.lengths.max(initial=0)) + 1)
        return len(self.lengths) - np.cumsum(n_ending)[:-1]


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """A pool with the judgments of its candidates.

    Attributes
    ----------
    pool : Pool
    qrels : Qrels
    rel : float
        The lowest relevance of a relevant document.
    candidate : ndarray of int, shape (n_judged,)
        The judged candidates, ascending.
    relevance : ndarray of float, shape (n_judged,)
    keep : ndarray of bool, shape (n_queries of the pool,)
        The queries that count: they have judgments, and were selected.
    """

    pool: Pool
    qrels: Qrels
    rel: float
    candidate: IntArray = field(repr=False)
    relevance: FloatArray = field(repr=False)
    keep: BoolArray = field(repr=False)

    @classmethod
    def of(cls, pool: Pool, qrels: Qrels, rel: float = 1.0) -> JudgedPool:
        """Find the judged candidates.

        Raises
        ------
        DataError
            No query of the runs has judgments.
        """
        codes = pl.DataFrame({"query_id": pool.query_ids, "query": np.arange(pool.n_queries)})
        judgments = qrels.to_polars().join(codes, on="query_id", how="inner")
        keep = np.zeros(pool.n_queries, np.bool_)
        keep[judgments["query"].to_numpy()] = True
        keep |= pool.query_ids.is_in(list(qrels.bare)).to_numpy()
        if not keep.any():
            raise DataError(
                "no query of the runs has judgments", path=qrels.where, hint="are ids of queries written in two ways?"
            )
        candidates = pl.DataFrame({"query": pool.query, "doc_id": pool.doc_ids}).with_row_index("candidate")
        found = judgments.join(candidates, on=["query", "doc_id"], how="inner").sort("candidate")
        return cls(
            pool,
            qrels,
            rel,
            found["candidate"].to_numpy().astype(np.int64),
            found["relevance"].to_numpy().astype(np.float64),
            keep,
        )

    def select(self, keep: BoolArray) -> JudgedPool:
        """Return the same with some of the queries alone, of shape (n_queries of the pool,)."""
        return JudgedPool(self.pool, self.qrels, self.rel, self.candidate, self.relevance, self.keep & keep)

    @cached_property
    def is_relevant(self) -> BoolArray:
        """Which candidates are relevant, of shape (n_candidates,)."""
        found = np.zeros(len(self.pool.query), np.bool_)
        found[self.candidate[self.relevance >= self.rel]] = True
        return found

    def hits_of(self, run: RankedRun) -> Hits:
        """Return where a run may have relevant documents, for the queries that count and that it has."""
        rows = np.flatnonzero(self.is_relevant[run.place] & self.keep[run.query])
        sizes = run.tied[rows]
        return Hits(
            query=np.repeat(run.query[rows], sizes),
            rank=concatenate_ranges(run.above[rows], sizes),
            probability=np.repeat(1 / sizes, sizes),
            lengths=run.n_documents[self.keep & (run.n_documents > 0)],
        )

    def place_run(self, run: RankedRun) -> Placements:
        """Return the placements of one of the runs, for the queries that count and that it has."""
        row_of_candidate = np.full(len(self.pool.query), -1)
        row_of_candidate[run.place] = np.arange(len(run.place))
        judged = np.flatnonzero(row_of_candidate[self.candidate] >= 0)
        rows = row_of_candidate[self.candidate[judged]]
        placements = self._placements(judged, run.above[rows], run.tied[rows], run.n_documents)
        counts = self.keep & (run.n_documents > 0)
        return placements.select(self._counted(counts))

    def place_scores(self, scores: FloatArray) -> Placements:
        """Return the placements of the candidates by fused scores, for the queries that count."""
        return self.place_all(scores).select(self._counted(self.keep))

    def place_all(self, scores: FloatArray) -> Placements:
        """Return the placements of the candidates by fused scores, for all queries of the qrels."""
        above, tied = self._count(scores)
        return self._placements(np.arange(len(self.candidate)), above, tied, self.pool.n_candidates)

    def _count(self, scores: FloatArray) -> tuple[IntArray, IntArray]:
        """Return how many candidates are above each judged one, and how many have its score."""
        bounds = self.pool.bounds
        query = self.pool.query[self.candidate]
        own = scores[self.candidate]
        n_judged = np.bincount(query, minlength=self.pool.n_queries)
        most = int(n_judged.max(initial=0))
        if most * FEW_ROWS > len(scores) or most > FEW:
            counts = count_above_and_tied(scores, bounds, query, own, self.candidate)
            return counts.above, counts.tied
        # few judged documents of long lists: to compare is faster than to sort
        first = np.searchsorted(query, np.arange(self.pool.n_queries))
        above = np.zeros(len(query), np.int64)
        tied = np.ones(len(query), np.int64)
        filled = np.flatnonzero(np.diff(bounds))
        starts = bounds[filled]
        sizes = np.diff(bounds)
        for place in range(most):
            some = np.flatnonzero(n_judged > place)
            score = np.full(self.pool.n_queries, np.inf)
            score[some] = own[first[some] + place]
            of_candidates = np.repeat(score, sizes)
            rows = first[some] + place
            n_above = np.zeros(self.pool.n_queries, np.int64)
            n_above[filled] = np.add.reduceat(scores > of_candidates, starts, dtype=np.int64)
            n_tied = np.zeros(self.pool.n_queries, np.int64)
            n_tied[filled] = np.add.reduceat(scores == of_candidates, starts, dtype=np.int64)
            above[rows] = n_above[some]
            tied[rows] = n_tied[some]
        return above, tied

    @property
    def query_of_pool(self) -> IntArray:
        """The place among the queries of the qrels of each query of the pool; -1 without judgments."""
        return self._codes

    @cached_property
    def _codes(self) -> IntArray:
        """The place among the queries of the qrels of each query of the pool; -1 without judgments."""
        codes = pl.DataFrame({"query_id": self.pool.query_ids}).join(
            self.qrels.in_order.queries, on="query_id", how="left", maintain_order="left"
        )
        return codes["code"].fill_null(-1).to_numpy().astype(np.int64)

    def _counted(self, keep: BoolArray) -> BoolArray:
        """Return which queries of the qrels are some queries of the pool."""
        counted = np.zeros(len(self.qrels.in_order.queries), np.bool_)
        counted[self._codes[keep]] = True
        return counted

    def _placements(self, judged: IntArray, above: IntArray, tied: IntArray, n_documents: IntArray) -> Placements:
        queries, judged_query, judged_relevance = self.qrels.in_order
        n_retrieved = np.zeros(len(queries), np.int64)
        is_known = self._codes >= 0
        n_retrieved[self._codes[is_known]] = n_documents[is_known]
        candidates = self.candidate[judged]
        rows = PlacedRows(
            self._codes[self.pool.query[candidates]],
            self.pool.doc_ids.gather(candidates),
            self.relevance[judged],
            above,
            tied,
        )
        query_ids = np.array(queries["query_id"].to_list(), dtype=object)
        return build_placements(
            RetrievedLists(query_ids, n_retrieved),
            rows,
            judged_query=judged_query,
            judged_relevance=judged_relevance,
            beside=self._beside,
        )

    @cached_property
    def _beside(self) -> dict[str, BesideRows]:
        """What measures need of the tables beside the judgments, such as subtopics."""
        return find_beside(self.qrels, self.qrels.in_order.queries["query_id"].to_list())
