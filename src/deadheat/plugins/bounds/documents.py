"""Where the unjudged documents of a run are ranked: the ties that hold some, which placements leave out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, concatenate_ranges
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision
from deadheat.core.data.run import Run
from deadheat.core.errors import ParameterError
from deadheat.core.io.guarding import check_threads
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import find_rows, join_codes
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements
from deadheat.core.placements.placements import Placements
from deadheat.core.settings import Conventions


@dataclass(frozen=True, eq=False)
class Unjudged:
    """The ties with unjudged documents, sorted by query and rank; a document without a tie is one of one.

    Attributes
    ----------
    query : ndarray of int, shape (n_ties,)
        Index into the query ids of the placements.
    above, tied : ndarray of int, shape (n_ties,)
        Documents above the tie, and in it.
    count : ndarray of int, shape (n_ties,)
        Unjudged documents in it, at least one.
    lost : ndarray of int, shape (n_queries,)
        Unjudged documents of each query that the run does not retrieve, but that count among the relevant ones if they
        are.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    count: IntArray
    lost: IntArray

    def counts(self) -> IntArray:
        """Return the retrieved unjudged documents of each query."""
        return np.bincount(self.query, self.count, len(self.lost)).astype(np.int64)

    def concerned(self) -> IntArray:
        """Return the queries that have an unjudged document."""
        return np.union1d(self.query, np.flatnonzero(self.lost))

    def of_query(self, code: int) -> slice:
        """Return which ties are of a query."""
        return slice(*np.searchsorted(self.query, (code, code + 1)))


def as_placed(placements: Placements) -> Unjudged:
    """Return the unjudged documents as placements alone show them: those of a tie without judged ones in strict order.

    Orders of a tie are labels of its ranks in other orders: bounds over labels contain those of the ties themselves.

    Examples
    --------
    >>> from deadheat import place
    >>> found = as_placed(place({"q": {"b": 1}}, {"q": {"a": 3, "b": 2, "c": 2, "d": 1, "e": 1}}))
    >>> found.above.tolist(), found.tied.tolist(), found.count.tolist()
    ([0, 1, 3, 4], [1, 2, 1, 1], [1, 1, 1, 1])
    """
    sizes = placements.n_retrieved
    starts = np.cumsum(sizes) - sizes
    ties = placements.tie_starts
    first, tied = starts[placements.query[ties]] + placements.above[ties], placements.tied[ties]
    width, count = np.ones((2, int(sizes.sum())), np.int64)
    count[concatenate_ranges(first, tied)] = 0
    width[first], count[first] = tied, tied - placements.tie_sizes
    place = np.flatnonzero(count)
    query = np.repeat(np.arange(len(sizes)), sizes)[place]
    return Unjudged(query, place - starts[query], width[place], count[place], np.zeros_like(sizes))


def with_ties(
    placements: Placements, run: Run, score_precision: ScorePrecision = None, depth: int | None = None
) -> Unjudged:
    """Return the ties of a run that hold unjudged documents.

    Parameters
    ----------
    placements : Placements
        Of the run, cut at the depth if there is one.
    run : Run
    score_precision : {"float32", "float16", "bfloat16"} or int, optional
    depth : int, optional

    Examples
    --------
    >>> from deadheat import Run, place
    >>> run = Run({"q": {"a": 3, "b": 2, "c": 2, "d": 1, "e": 1}})
    >>> found = with_ties(place({"q": {"b": 1}}, run), run)
    >>> found.above.tolist(), found.tied.tolist(), found.count.tolist()
    ([0, 1, 3], [1, 2, 2], [1, 1, 2])
    """
    check_threads()
    rows = join_codes(run.rounded(score_precision).to_polars(), placements.query_ids.tolist())
    ties = (
        rows.group_by("code", "score")
        .agg(tied=pl.len().cast(pl.Int64))
        .sort("code", "score", descending=[False, True])
        .select("code", "tied", above=(pl.col("tied").cum_sum() - pl.col("tied")).over("code"))
    )
    if depth is not None:
        ties = ties.filter(pl.col("above") < depth).with_columns(
            tied=pl.min_horizontal("tied", depth - pl.col("above"))
        )
    starts = placements.tie_starts
    judged = {"code": placements.query[starts], "above": placements.above[starts], "judged": placements.tie_sizes}
    ties = (
        ties.join(pl.DataFrame(judged), on=["code", "above"], how="left", maintain_order="left")
        .with_columns(count=pl.col("tied") - pl.col("judged").fill_null(0))
        .filter(pl.col("count") > 0)
    )
    query, above, tied, count = (ties[name].to_numpy() for name in ("code", "above", "tied", "count"))
    return Unjudged(query, above, tied, count, np.zeros_like(placements.n_retrieved))


def open_documents(qrels: Qrels, run: Run, conventions: Conventions) -> pl.DataFrame:
    """Return query_id, doc_id, above and tied of the documents that a judge failed to grade; null if not retrieved."""
    if conventions.ties == "random":
        raise ParameterError(
            argument="ties",
            given="random",
            allowed="another policy: where documents without a grade were drawn is not known",
            hint='or read the grades with failed="lowest"',
        )
    placed = run.positions(conventions.score_precision)
    if conventions.ties != "expected":  # in the order of the rule
        by = ["query_id", "above", *(["doc_id"] if conventions.ties == "doc_id" else [])]
        placed = placed.sort(by, descending=[name == "doc_id" for name in by], maintain_order=True).with_columns(
            above=pl.int_range(pl.len(), dtype=pl.Int64).over("query_id"), tied=pl.lit(1, pl.Int64)
        )
    if (depth := conventions.depth) is not None:
        placed = placed.filter(pl.col("above") < depth).with_columns(
            tied=pl.min_horizontal("tied", depth - pl.col("above"))
        )
    failures = cast("pl.DataFrame", qrels.failures)
    return failures.select("query_id", "doc_id").join(placed, on=["query_id", "doc_id"], how="left")


def open_ties(placements: Placements, documents: pl.DataFrame) -> Unjudged:
    """Return where the documents of :func:`open_documents` are ranked."""
    placed = join_codes(documents, placements.query_ids.tolist())
    ties = (
        placed.drop_nulls("above")
        .group_by("code", "above", "tied")
        .agg(count=pl.len().cast(pl.Int64))
        .sort("code", "above")
    )
    lost = placed.filter(pl.col("above").is_null())["code"].to_numpy()
    query, above, tied, count = (ties[name].to_numpy() for name in ("code", "above", "tied", "count"))
    return Unjudged(query, above, tied, count, np.bincount(lost, minlength=placements.n_queries).astype(np.int64))


def unjudged_documents(qrels: Qrels, run: Run, score_precision: ScorePrecision = None) -> pl.DataFrame:
    """Return query_id, doc_id, above and tied of the documents that a run retrieves and nobody judged.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        Its queries without judgments are left out.
    score_precision : {"float32", "float16", "bfloat16"} or int, optional

    Examples
    --------
    >>> from deadheat import Qrels, Run
    >>> found = unjudged_documents(Qrels({"q": {"b": 1}}), Run({"q": {"a": 3, "b": 2, "c": 2}, "p": {"a": 1}}))
    >>> found.sort("above").rows()
    [('q', 'a', 0, 1), ('q', 'c', 1, 2)]
    """
    judged = qrels.to_polars().select("query_id", "doc_id")
    return (
        run.positions(score_precision)
        .join(judged, on="query_id", how="semi")
        .join(judged, on=["query_id", "doc_id"], how="anti")
    )


def answered(
    placements: Placements, queries: IntArray, relevance: float, above: IntArray, tied: IntArray
) -> Placements:
    """Return copies of some queries, each with one more document judged.

    Parameters
    ----------
    placements : Placements
    queries : ndarray of int, shape (n,)
    relevance : float
        What the document is judged as.
    above, tied : ndarray of int, shape (n,)
        Its tie; both 0 for a document that is not retrieved.
    """
    return with_judged(placements.select(queries), np.arange(len(queries)), relevance, above, tied)


def left_after(unjudged: Unjudged, ties: IntArray) -> Unjudged:
    """Return the documents that are still unjudged once one of each of some ties is judged, each in a copy."""
    rows, query = find_rows(unjudged.query, unjudged.query[ties])
    count = unjudged.count[rows] - (rows == ties[query])
    some = count > 0
    rows = rows[some]
    return Unjudged(query[some], unjudged.above[rows], unjudged.tied[rows], count[some], np.zeros_like(ties))


def with_judged(
    placements: Placements, query: IntArray, relevance: float | FloatArray, above: IntArray, tied: IntArray
) -> Placements:
    """Return the placements with more judgments, of documents that are retrieved if there is a tie that they are in.

    The highest relevance of the qrels, which is the top of some measures' scale, remains.
    """
    level, is_there = np.full(len(query), relevance), tied > 0
    own = (placements.query, placements.doc_ids, placements.relevance, placements.above, placements.tied)
    new = (query, np.full(len(query), "", dtype=object), level, above, tied)
    columns = [np.concatenate((some, more[is_there])) for some, more in zip(own, new, strict=True)]
    found = build_placements(
        RetrievedLists(placements.query_ids, placements.n_retrieved),
        PlacedRows(*columns),
        judged_query=np.concatenate((placements.judged_query, query)),
        judged_relevance=np.concatenate((placements.judged_relevance, level)),
    )
    return replace(found, max_relevance=placements.max_relevance)
