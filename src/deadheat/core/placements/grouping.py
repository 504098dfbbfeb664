"""The groups of equal scores in a run, and the ties of each query."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_sizes, run_starts
from deadheat.core.data.rows import Blocks
from deadheat.core.data.run import Run
from deadheat.core.io.guarding import check_threads
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.passes import QUERY, NotAdjacentError, find_passes, make_results, select_results

# Kinds of results beside QUERY
TIE = "tie"  # one tie of a query
GROUPS = "kind"  # how many groups have one score and size
MOST_DIGITS = 18  # of a number of orders; 64 bits hold it
FACTORIALS = np.array([math.factorial(n) for n in range(MOST_DIGITS + 2)], np.uint64)


@dataclass(frozen=True, eq=False)
class ScoreGroups:
    """The groups of equal scores in a run, without the ids of documents. A tie is a group of two or more.

    Attributes
    ----------
    tie_query, tie_above, tie_size : ndarray of int, shape (n_ties,)
        The query of each tie, the documents of the query with a higher score, and its documents. Ties are sorted by
        query and score, the highest first.
    tie_score : ndarray of float, shape (n_ties,)
    query_ids : polars.Series of str, shape (n_queries,)
    n_documents, n_groups : ndarray of int, shape (n_queries,)
        Documents and groups of each query.
    scores : ndarray of float, shape (n_groups in all,)
        The score of every group, in any order.
    sizes : ndarray of int, shape (n_groups in all,)
        The documents of every group.
    """

    tie_query: IntArray
    tie_above: IntArray
    tie_size: IntArray
    tie_score: FloatArray
    query_ids: pl.Series
    n_documents: IntArray
    n_groups: IntArray
    scores: FloatArray
    sizes: IntArray

    def describe_queries(self) -> pl.DataFrame:
        """Return the columns of :meth:`TieProfile.per_query` that are about ties alone.

        The largest tie is 1 where no two documents tie; the ratio is null without documents. The number of orders is
        the product of the factorials of the sizes; it is null if it is too large for 64 bits, its logarithm never.
        """
        n_queries = len(self.query_ids)
        largest = np.ones(n_queries, np.int64)
        np.maximum.at(largest, self.tie_query, self.tie_size)
        log_factorials = np.log10(np.arange(1, largest.max(initial=1) + 1)).cumsum()
        log_orders = np.bincount(self.tie_query, log_factorials[self.tie_size - 1], n_queries)
        fits = log_orders < MOST_DIGITS
        n_orders = np.ones(n_queries, np.uint64)
        is_counted = fits[self.tie_query]
        np.multiply.at(n_orders, self.tie_query[is_counted], FACTORIALS[self.tie_size[is_counted]])
        ties = pl.DataFrame(
            {
                "query_id": self.query_ids,
                "n_documents": self.n_documents,
                "n_ties": np.bincount(self.tie_query, minlength=n_queries),
                "n_tied": np.bincount(self.tie_query, self.tie_size, n_queries).astype(np.int64),
                "largest_tie": largest,
            }
        )
        return ties.with_columns(
            tie_ratio=pl.col("n_tied") / pl.col("n_documents"),
            n_orders=pl.when(pl.Series(fits)).then(pl.Series(n_orders)),
            log10_orders=pl.Series(log_orders, dtype=pl.Float64),
        )


def select_queries(ties: pl.DataFrame, query_ids: list[str]) -> pl.DataFrame:
    """Return the rows of :meth:`ScoreGroups.describe_queries` for some queries, in their order.

    A query that is not there has no documents.
    """
    check_threads()
    queries = pl.DataFrame({"query_id": query_ids}, schema={"query_id": pl.String})
    rows = queries.join(ties, on="query_id", how="left", maintain_order="left")
    return rows.with_columns(pl.col(pl.Int64).fill_null(0))


def group_run(run: Run) -> ScoreGroups:
    """Group a run by query and score: in memory, or by the workers of a cluster, which check its rows too."""
    passes = find_passes(run)
    if passes is not None:
        with suppress(NotAdjacentError):
            return _read_groups(passes.by_query(run, group_blocks))
    return group_scores(run.to_polars())


def group_scores(frame: pl.DataFrame) -> ScoreGroups:
    """Group rows with query_id and score, without sorting where they are sorted already."""
    check_threads()
    columns = _QueryColumns.read(frame)
    if not columns.are_sorted():
        columns = _QueryColumns.read(
            frame.select("query_id", "score").sort("query_id", "score", descending=[False, True])
        )
    starts = run_starts(columns.query, columns.scores)
    n_queries = len(columns.query_ids)
    query = columns.query[starts]
    above = starts - columns.first_rows[query]
    sizes = run_sizes(starts, len(columns.scores))
    scores = columns.scores[starts]
    ties = np.flatnonzero(sizes > 1)
    return ScoreGroups(
        tie_query=query[ties],
        tie_above=above[ties],
        tie_size=sizes[ties],
        tie_score=scores[ties],
        query_ids=columns.query_ids,
        n_documents=np.bincount(columns.query, minlength=n_queries),
        n_groups=np.bincount(query, minlength=n_queries),
        scores=scores,
        sizes=sizes,
    )


@dataclass(frozen=True, eq=False)
class _QueryColumns:
    """Rows in blocks of equal query ids.

    Attributes
    ----------
    query : ndarray of int, shape (n_rows,)
        The block of each row.
    scores : ndarray of float, shape (n_rows,)
    first_rows : ndarray of int, shape (n_blocks,)
    query_ids : polars.Series of str, length n_blocks
    """

    query: IntArray
    scores: FloatArray
    first_rows: IntArray
    query_ids: pl.Series

    @classmethod
    def read(cls, frame: pl.DataFrame) -> _QueryColumns:
        query = frame["query_id"].rle_id().to_numpy().astype(np.int64)
        first_rows = run_starts(query)
        query_ids = frame["query_id"].gather(first_rows.tolist())
        return cls(query, frame["score"].to_numpy(), first_rows, query_ids)

    def are_sorted(self) -> bool:
        """Tell whether each query has one block, in which scores never rise."""
        rises = self.scores[1:] > self.scores[:-1]
        rises[self.first_rows[1:] - 1] = False  # from one query to the next they may
        return not rises.any() and self.query_ids.n_unique() == len(self.query_ids)


def group_blocks(blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:  # noqa: ARG001 - as every task
    """Return the ties of some queries, and how many groups there are of each score and size, as results of a task.

    All results have the same columns (:func:`result_schema`), so "above" and "tied" have two more meanings: the
    documents and groups of a query, and the size and number of groups.
    """
    groups = group_scores(blocks.frame)
    counts = pl.DataFrame({"value": groups.scores, "above": groups.sizes})
    counts = counts.group_by("value", "above").agg(tied=pl.len())
    return [
        make_results(QUERY, query_id=groups.query_ids, above=groups.n_documents, tied=groups.n_groups),
        make_results(
            TIE,
            query_id=groups.query_ids.gather(groups.tie_query.tolist()),
            above=groups.tie_above,
            tied=groups.tie_size,
            value=groups.tie_score,
        ),
        make_results(GROUPS, **counts.to_dict()),
    ]


def _read_groups(results: pl.DataFrame) -> ScoreGroups:
    """Return the groups of a run from the results of :func:`group_blocks`."""
    queries = select_results(results, QUERY, "query_id", "above", "tied").sort("query_id").with_row_index("code")
    ties = (
        select_results(results, TIE, "query_id", "above", "tied", "value")
        .join(queries.select("query_id", "code"), on="query_id")
        .sort("code", "above")
    )
    groups = (
        select_results(results, GROUPS, "value", "above", "tied")
        .group_by("value", "above")
        .agg(pl.col("tied").sum())
        .sort("value", "above")
    )
    n_alike = groups["tied"].to_numpy()
    return ScoreGroups(
        tie_query=ties["code"].cast(pl.Int64).to_numpy(),
        tie_above=ties["above"].to_numpy(),
        tie_size=ties["tied"].to_numpy(),
        tie_score=ties["value"].to_numpy(),
        query_ids=queries["query_id"],
        n_documents=queries["above"].to_numpy(),
        n_groups=queries["tied"].to_numpy(),
        scores=np.repeat(groups["value"].to_numpy(), n_alike),
        sizes=np.repeat(groups["above"].to_numpy(), n_alike),
    )
