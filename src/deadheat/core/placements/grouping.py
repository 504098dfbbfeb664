"""The scores of a run, grouped where they are equal, and the ties of each query."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, run_starts
from deadheat.core.data.rows import Blocks
from deadheat.core.data.run import Run
from deadheat.core.io.guarding import check_threads
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.passes import QUERY, NotAdjacentError, of_kind, passes_over, said

TIE, KIND = "tie", "kind"  # what a worker says
MOST_DIGITS = 18  # of a number of orders; 64 bits hold it
FACTORIALS = np.array([math.factorial(n) for n in range(MOST_DIGITS + 2)], np.uint64)


@dataclass(frozen=True, eq=False)
class Grouped:
    """The groups of equal scores in a run, without the ids of documents.

    Attributes
    ----------
    query, above, size : ndarray of int, shape (n_ties,)
        Of each group of two or more documents, sorted by query and score (highest first): query code, documents with a
        higher score, documents.
    score : ndarray of float, shape (n_ties,)
    query_ids : polars.Series of str, shape (n_queries,)
    n_documents, n_groups : ndarray of int, shape (n_queries,)
        Of each query.
    scores : ndarray of float, shape (n_groups in all,)
        Of every group, in any order.
    sizes : ndarray of int, shape (n_groups in all,)
        Its documents.
    """

    query: IntArray
    above: IntArray
    size: IntArray
    score: FloatArray
    query_ids: pl.Series
    n_documents: IntArray
    n_groups: IntArray
    scores: FloatArray
    sizes: IntArray

    def by_query(self) -> pl.DataFrame:
        """Return the columns of :meth:`TieProfile.per_query` that are about ties alone.

        The largest tie is 1 where no two documents tie; the ratio is null without documents. The number of orders is
        the product of the factorials of the sizes; it is null if it is too large for 64 bits, its logarithm never.
        """
        n = len(self.query_ids)
        largest = np.ones(n, np.int64)
        np.maximum.at(largest, self.query, self.size)
        log_factorials = np.log10(np.arange(1, largest.max(initial=1) + 1)).cumsum()
        log_orders = np.bincount(self.query, log_factorials[self.size - 1], n)
        n_orders = np.ones(n, np.uint64)
        is_small = log_orders[self.query] < MOST_DIGITS
        np.multiply.at(n_orders, self.query[is_small], FACTORIALS[self.size[is_small]])
        return pl.DataFrame(
            {
                "query_id": self.query_ids,
                "n_documents": self.n_documents,
                "n_ties": np.bincount(self.query, minlength=n),
                "n_tied": np.bincount(self.query, self.size, n).astype(np.int64),
                "largest_tie": largest,
            }
        ).with_columns(
            tie_ratio=pl.col("n_tied") / pl.col("n_documents"),
            n_orders=pl.when(pl.Series(log_orders < MOST_DIGITS)).then(pl.Series(n_orders)),
            log10_orders=pl.Series(log_orders, dtype=pl.Float64),
        )


def ties_of(ties: pl.DataFrame, query_ids: list[str]) -> pl.DataFrame:
    """Return what :meth:`Grouped.by_query` says of some queries, in their order; one that it lacks has no documents."""
    check_threads()
    return (
        pl.DataFrame({"query_id": query_ids}, schema={"query_id": pl.String})
        .join(ties, on="query_id", how="left", maintain_order="left")
        .with_columns(pl.col(pl.Int64).fill_null(0))
    )


def grouped(run: Run) -> Grouped:
    """Group a run by query and score: in memory, or by the workers of a cluster, which check its rows too."""
    passes = passes_over(run)
    if passes is not None:
        with suppress(NotAdjacentError):
            return _grouped_from(passes.by_query(run, group))
    return group_scores(run.to_polars())


def group_scores(frame: pl.DataFrame) -> Grouped:
    """Group rows with query_id and score, without sorting where they are sorted already."""
    check_threads()
    block, first, names, scores = _columns(frame)
    rises = scores[1:] > scores[:-1]
    rises[first[1:] - 1] = False  # from one query to the next it may
    if rises.any() or names.n_unique() < len(names):
        frame = frame.select("query_id", "score").sort("query_id", "score", descending=[False, True])
        block, first, names, scores = _columns(frame)
    start, n = run_starts(block, scores), len(names)
    query, size, score = block[start], np.diff(np.append(start, len(scores))), scores[start]
    tied = np.flatnonzero(size > 1)
    return Grouped(
        query[tied],
        (start - first[query])[tied],
        size[tied],
        score[tied],
        names,
        n_documents=np.bincount(block, minlength=n),
        n_groups=np.bincount(query, minlength=n),
        scores=score,
        sizes=size,
    )


def _columns(frame: pl.DataFrame) -> tuple[IntArray, IntArray, pl.Series, FloatArray]:
    """Return the block of equal query ids that each row is in, the first row and the id of each block, and scores."""
    block = frame["query_id"].rle_id().to_numpy().astype(np.int64)
    first = run_starts(block)
    return block, first, frame["query_id"].gather(first.tolist()), frame["score"].to_numpy()


def _grouped_from(found: pl.DataFrame) -> Grouped:
    """Return the groups of a run from what `group` said of its queries."""
    queries = of_kind(found, QUERY, "query_id", "above", "tied").sort("query_id").with_row_index("code")
    ties = (
        of_kind(found, TIE, "query_id", "above", "tied", "value")
        .join(queries.select("query_id", "code"), on="query_id")
        .sort("code", "above")
    )
    kinds = (
        of_kind(found, KIND, "value", "above", "tied")
        .group_by("value", "above")
        .agg(pl.col("tied").sum())
        .sort("value", "above")
    )
    n = kinds["tied"].to_numpy()
    return Grouped(
        ties["code"].cast(pl.Int64).to_numpy(),
        ties["above"].to_numpy(),
        ties["tied"].to_numpy(),
        ties["value"].to_numpy(),
        queries["query_id"],
        n_documents=queries["above"].to_numpy(),
        n_groups=queries["tied"].to_numpy(),
        scores=np.repeat(kinds["value"].to_numpy(), n),
        sizes=np.repeat(kinds["above"].to_numpy(), n),
    )


def group(blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:  # noqa: ARG001 - as every task
    """Say the ties of some queries, and how many groups there are of each score and size."""
    found = group_scores(blocks.frame)
    kinds = pl.DataFrame({"value": found.scores, "above": found.sizes}).group_by("value", "above").agg(tied=pl.len())
    return [
        said(QUERY, query_id=found.query_ids, above=found.n_documents, tied=found.n_groups),
        said(
            TIE,
            query_id=found.query_ids.gather(found.query.tolist()),
            above=found.above,
            tied=found.size,
            value=found.score,
        ),
        said(KIND, **kinds.to_dict()),
    ]
