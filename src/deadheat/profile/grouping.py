"""A run as groups of equal scores: the ties themselves, and of all groups how many there are of each kind."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray
from deadheat.data.passes import QUERY, of_kind, said
from deadheat.data.rows import Blocks, UnreadRows
from deadheat.data.streamed import NotAdjacentError, by_query
from deadheat.data.tables import Run
from deadheat.profile.scores import Groups, group_scores

TIE, KIND = "tie", "kind"  # what a worker says


@dataclass(frozen=True)
class Grouped:
    """The groups of equal scores in a run, without the ids of documents.

    Attributes
    ----------
    ties : Groups
        Those of two or more documents; `names` has all queries.
    n_documents, n_groups : ndarray of int, shape (n_queries,)
        Of each query.
    score : ndarray of float, shape (n_groups in all,)
        Of every group, in any order.
    size : ndarray of int, shape (n_groups in all,)
        Its documents.
    """

    ties: Groups
    n_documents: IntArray
    n_groups: IntArray
    score: FloatArray
    size: IntArray


def grouped(run: Run) -> Grouped:
    """Group a run by query and score: in memory, or by the workers of a cluster, which check its rows too."""
    with suppress(NotAdjacentError):
        if isinstance(run.rows, UnreadRows):
            return _by_workers(run)
    return _of_groups(group_scores(run.to_polars()))


def _of_groups(groups: Groups) -> Grouped:
    tied, n = np.flatnonzero(groups.size > 1), groups.n_queries
    n_documents = np.bincount(groups.query, groups.size, n).astype(np.int64)
    n_groups = np.bincount(groups.query, minlength=n)
    ties = Groups(groups.query[tied], groups.above[tied], groups.size[tied], groups.score[tied], groups.names)
    return Grouped(ties, n_documents, n_groups, groups.score, groups.size)


def _by_workers(run: Run) -> Grouped:
    found = by_query(run, group)
    queries = of_kind(found, QUERY, "query_id", "above", "tied").sort("query_id").with_row_index("code")
    ties = of_kind(found, TIE, "query_id", "above", "tied", "value")
    ties = ties.join(queries.select("query_id", "code"), on="query_id").sort("code", "above")
    kinds = of_kind(found, KIND, "value", "above", "tied").group_by("value", "above").agg(pl.col("tied").sum())
    kinds = kinds.sort("value", "above")
    n = kinds["tied"].to_numpy()
    return Grouped(
        Groups(
            ties["code"].cast(pl.Int64).to_numpy(),
            ties["above"].to_numpy(),
            ties["tied"].to_numpy(),
            ties["value"].to_numpy(),
            queries["query_id"],
        ),
        queries["above"].to_numpy(),
        queries["tied"].to_numpy(),
        np.repeat(kinds["value"].to_numpy(), n),
        np.repeat(kinds["above"].to_numpy(), n),
    )


def group(blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:  # noqa: ARG001 - as every task
    """Say the ties of some queries, and how many groups there are of each score and size."""
    found = _of_groups(group_scores(blocks.frame))
    ties = found.ties
    kinds = pl.DataFrame({"value": found.score, "above": found.size}).group_by("value", "above").agg(tied=pl.len())
    return [
        said(QUERY, query_id=ties.names, above=found.n_documents, tied=found.n_groups),
        said(TIE, query_id=ties.names.gather(ties.query.tolist()), above=ties.above, tied=ties.size, value=ties.score),
        said(KIND, **kinds.to_dict()),
    ]
