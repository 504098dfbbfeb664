"""The documents that any of several runs retrieves, query by query, and where each run has them.

Everything is in arrays: no step goes over queries or documents one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.id_columns import IdRuns
from deadheat.core.wording import format_count, format_list

TIES = ("expected", "doc_id", "input")
"""What a tie within a run counts where ranks matter: the mean over its orders, or one order."""
AT_ONCE = 1 << 17  # rows that are sorted together


@dataclass(frozen=True, eq=False)
class RankedRun:
    """One run, row by row, as fusion looks at it.

    Attributes
    ----------
    name : str
    place : ndarray of int, shape (n_rows,)
        The candidate of each row: each row has another one.
    query : ndarray of int, shape (n_rows,)
    score : ndarray of float, shape (n_rows,)
    above : ndarray of int, shape (n_rows,)
        Documents of the query with a higher score.
    tied : ndarray of int, shape (n_rows,)
        Documents of the query with this score, this one included.
    n_documents : ndarray of int, shape (n_queries,)
        Of each query; 0 if the run lacks it.
    """

    name: str
    place: IntArray = field(repr=False)
    query: IntArray = field(repr=False)
    score: FloatArray = field(repr=False)
    above: IntArray = field(repr=False)
    tied: IntArray = field(repr=False)
    n_documents: IntArray = field(repr=False)

    @property
    def depth(self) -> int:
        """The length of the longest list."""
        return int(self.n_documents.max(initial=0))

    @property
    def have_ties(self) -> bool:
        """Whether two documents of a query have the same score."""
        return bool((self.tied > 1).any())

    def mean_over_ranks(self, values: FloatArray) -> FloatArray:
        """Return the mean of a function of the rank over the ranks that each row may have.

        Parameters
        ----------
        values : ndarray of float, shape (depth,)
            Of the ranks 1, 2, and so on.

        Returns
        -------
        ndarray of float, shape (n_rows,)
            The value itself where no other document has the score.
        """
        means = values[self.above]
        rows = np.flatnonzero(self.tied > 1)
        first = self.above[rows]
        size = self.tied[rows]
        means[rows] = sum_of_ranges(values, first, first + size) / size
        return means

    def select(self, rows: BoolArray) -> RankedRun:
        """Return some of the rows; ranks and numbers of documents stay as they are."""
        columns = {name: getattr(self, name)[rows] for name in ("place", "query", "score", "above", "tied")}
        return replace(self, **columns)


def sum_of_ranges(values: FloatArray, first: IntArray, end: IntArray) -> FloatArray:
    """Return the sums of ranges of an array, each as exact as if it were summed alone.

    They are differences of cumulative sums, of which the last digits of small values are lost. What each addition
    loses is a float too (Knuth's TwoSum), and is added again.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
    first, end : ndarray of int, shape (n_ranges,)
        Where each range begins, and the place after it.

    Examples
    --------
    >>> values = np.array([1e8, 0.1, 0.2])
    >>> sums = np.cumsum(values)
    >>> sum_of_ranges(values, np.array([1]), np.array([3])).tolist(), float(sums[2] - sums[0])
    ([0.30000000000000004], 0.29999999701976776)
    """
    sums = np.append(0.0, np.cumsum(values))
    before = sums[:-1]
    added = np.diff(sums)
    losses = (before - (sums[1:] - added)) + (values - added)
    lost = np.append(0.0, np.cumsum(losses))
    return (sums[end] - sums[first]) + (lost[end] - lost[first])


@dataclass(frozen=True, eq=False)
class Pool:
    """The candidates of each query: every document that some run retrieves for it.

    Candidates are sorted by query, those of a query in the order in which the runs have them.

    Attributes
    ----------
    query_ids : polars.Series of length n_queries
        Sorted.
    query : ndarray of int, shape (n_candidates,)
    doc_ids : polars.Series of length n_candidates
    runs : tuple of RankedRun
    window : int or None
        Of each run the ranks that count.
    """

    query_ids: pl.Series
    query: IntArray = field(repr=False)
    doc_ids: pl.Series = field(repr=False)
    runs: tuple[RankedRun, ...]
    window: int | None = None

    @property
    def n_queries(self) -> int:
        """The number of queries that any run has."""
        return len(self.query_ids)

    @cached_property
    def bounds(self) -> IntArray:
        """Where the candidates of each query start, and their number, of shape (n_queries + 1,)."""
        return np.searchsorted(self.query, np.arange(self.n_queries + 1))

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of the runs, of shape (n_runs, n_candidates); 0 of what a run lacks."""
        return self.matrix([run.score for run in self.runs])

    @cached_property
    def n_candidates(self) -> IntArray:
        """The number of candidates of each query."""
        return np.bincount(self.query, minlength=self.n_queries)

    def column(self, run: RankedRun, values: FloatArray, missing: float = 0.0) -> FloatArray:
        """Return values of the rows of a run as values of the candidates, and another for those that it lacks."""
        column = np.full(len(self.query), missing)
        column[run.place] = values
        return column

    def matrix(self, values: Sequence[FloatArray], missing: float = 0.0) -> FloatArray:
        """Return values of the rows of each run as a matrix, of shape (n_runs, n_candidates)."""
        matrix = np.full((len(self.runs), len(self.query)), missing)
        for column, run, of_rows in zip(matrix, self.runs, values, strict=True):
            column[run.place] = of_rows
        return matrix

    def count_runs(self) -> IntArray:
        """Return how many runs retrieve each candidate."""
        counts = np.zeros(len(self.query), np.int64)
        for run in self.runs:
            counts[run.place] += 1
        return counts

    def select_queries(self, keep: BoolArray) -> Pool:
        """Return the pool without the candidates of some queries, whose ids stay."""
        kept = keep[self.query]
        new_place = np.cumsum(kept) - 1
        runs = []
        for run in self.runs:
            own = run.select(keep[run.query])
            own = replace(own, place=new_place[own.place], n_documents=np.where(keep, run.n_documents, 0))
            runs.append(own)
        return replace(self, query=self.query[kept], doc_ids=self.doc_ids.filter(pl.Series(kept)), runs=tuple(runs))

    def within(self, window: int) -> Pool:
        """Return the pool of the first ranks of each run; a tie that the window cuts stays whole."""
        runs = [run.select(run.above < window) for run in self.runs]
        kept = np.zeros(len(self.query), np.bool_)
        for run in runs:
            kept[run.place] = True
        new_place = np.cumsum(kept) - 1
        placed = tuple(replace(run, place=new_place[run.place]) for run in runs)
        doc_ids = self.doc_ids.filter(pl.Series(kept))
        return replace(self, query=self.query[kept], doc_ids=doc_ids, runs=placed, window=window)


def pool_runs(runs: Sequence[Run], ties: str = "expected") -> Pool:
    """Return the pool of some runs.

    Parameters
    ----------
    runs : sequence of Run
        Without repeated documents.
    ties : {"expected", "doc_id", "input"}, default "expected"
        With "doc_id" and "input" each document has one rank, and ties with no other.

    Returns
    -------
    Pool
    """
    frames = []
    for run in runs:
        with guard_polars(run.where):
            frames.append(run.to_polars())
    query_runs = [IdRuns.of(frame["query_id"]) for frame in frames]
    query_ids = pl.concat([own.ids for own in query_runs]).unique().sort()
    queries = [_codes_of_rows(own, query_ids) for own in query_runs]
    doc_ids = pl.concat([frame["doc_id"] for frame in frames])
    query, first_rows, candidates = _find_candidates(np.concatenate(queries), len(query_ids), doc_ids)
    ranked = []
    start = 0
    for run, frame, own_query in zip(runs, frames, queries, strict=True):
        stop = start + len(own_query)
        scores = frame["score"].to_numpy()
        above, tied = rank_rows(own_query, scores)
        if ties != "expected":
            above = _break_ties(own_query, above, tied, frame["doc_id"] if ties == "doc_id" else None)
            tied = np.ones_like(above)
        n_documents = np.bincount(own_query, minlength=len(query_ids))
        place = candidates[start:stop]
        ranked.append(RankedRun(run.name, place, own_query, scores, above, tied, n_documents))
        start = stop
    return Pool(query_ids, query, doc_ids.gather(first_rows), tuple(ranked))


def _codes_of_rows(runs: IdRuns, query_ids: pl.Series) -> IntArray:
    """Return the place of the query of each row among sorted ids."""
    places = pl.DataFrame({"query_id": query_ids, "code": np.arange(len(query_ids))})
    codes = runs.ids.to_frame("query_id").join(places, on="query_id", how="left", maintain_order="left")["code"]
    return np.repeat(codes.to_numpy(), np.diff(runs.ends, prepend=0))


def _find_candidates(query: IntArray, n_queries: int, doc_ids: pl.Series) -> tuple[IntArray, IntArray, IntArray]:
    """Find the rows with the same query and document.

    Hashes of the ids are sorted within each query; the ids decide whether documents of one hash are the same.

    Returns
    -------
    query : ndarray of int, shape (n_candidates,)
        Sorted.
    first_rows : ndarray of int, shape (n_candidates,)
        The first row of each, ascending within a query.
    candidates : ndarray of int, shape (n_rows,)
        The candidate of each row.
    """
    by_query = np.argsort(query, kind="stable")
    ordered = query[by_query]
    bounds = np.searchsorted(ordered, np.arange(n_queries + 1))
    order, is_new = _group_rows(doc_ids.hash().to_numpy(), by_query, ordered, bounds)
    repeats = np.flatnonzero(~is_new)
    are_same = doc_ids.gather(order[repeats]) == doc_ids.gather(order[repeats - 1])
    if not are_same.all():  # two documents have one hash
        order, is_new = _group_rows(doc_ids.rank("dense").cast(pl.UInt64).to_numpy(), by_query, ordered, bounds)
    first_of_group = order[is_new]
    # candidates are in the order of the rows, not of the hashes, which another version of Polars may change
    is_first = np.zeros(len(query), np.bool_)
    is_first[first_of_group] = True
    first_rows = by_query[is_first[by_query]]
    number = np.empty(len(query), np.int64)
    number[first_rows] = np.arange(len(first_rows))
    candidates = np.empty(len(query), np.int64)
    candidates[order] = np.repeat(number[first_of_group], np.diff(np.flatnonzero(is_new), append=len(query)))
    return query[first_rows], first_rows, candidates


def order_within(bounds: IntArray, values: FloatArray | IntArray) -> IntArray:
    """Return the order that sorts the values of each query, equal ones in their order.

    Queries of about one size are sorted together, in the cache of the processor: one sort of all rows takes three times
    as long.

    Parameters
    ----------
    bounds : ndarray of int, shape (n_queries + 1,)
        Where the values of each query start, and their number.
    values : ndarray, shape (n_rows,)

    Examples
    --------
    >>> order_within(np.array([0, 3, 5]), np.array([3.0, 1.0, 2.0, 9.0, 0.0])).tolist()
    [1, 2, 0, 4, 3]
    """
    sizes = np.diff(bounds)
    by_size = np.argsort(sizes, kind="stable")
    n_cells = np.cumsum(sizes[by_size])
    order = np.arange(len(values))
    largest: Any = np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype.str).max
    for queries in np.split(by_size, np.flatnonzero(np.diff(n_cells // AT_ONCE)) + 1):
        if not len(queries) or sizes[queries[-1]] < 2:
            continue
        places = np.arange(sizes[queries[-1]])
        is_there = places < sizes[queries][:, np.newaxis]
        start = bounds[queries][:, np.newaxis]
        rows = (start + places)[is_there]
        block = np.full(is_there.shape, largest, values.dtype)
        block[is_there] = values[rows]
        order[rows] = (start + np.argsort(block, axis=1, kind="stable"))[is_there]  # what is not there comes last
    return order


def _group_rows(keys: IntArray, by_query: IntArray, ordered: IntArray, bounds: IntArray) -> tuple[IntArray, BoolArray]:
    """Return rows with those of one query and key together, and which of them are the first of their group.

    Parameters
    ----------
    keys : ndarray of int, shape (n_rows,)
    by_query : ndarray of int, shape (n_rows,)
        Rows sorted by query, each query's in their order.
    ordered : ndarray of int, shape (n_rows,)
        Their queries.
    bounds : ndarray of int, shape (n_queries + 1,)
    """
    keys = keys[by_query]
    within = order_within(bounds, keys)
    keys = keys[within]
    is_new = np.ones(len(keys), np.bool_)
    is_new[1:] = (keys[1:] != keys[:-1]) | (ordered[1:] != ordered[:-1])
    return by_query[within], is_new


def rank_rows(query: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return how many documents of the query are above each row, and how many have its score.

    Parameters
    ----------
    query : ndarray of int, shape (n_rows,)
    scores : ndarray of float, shape (n_rows,)

    Examples
    --------
    >>> above, tied = rank_rows(np.array([0, 0, 0, 1]), np.array([1.0, 2.0, 1.0, 5.0]))
    >>> above.tolist(), tied.tolist()
    ([1, 0, 1, 0], [2, 1, 2, 1])
    """
    if not len(query):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    order = order_by_score(query, scores)
    if order is not None:
        query = query[order]
        scores = scores[order]
    starts = run_starts(query, scores)
    sizes = np.diff(starts, append=len(query))
    query_starts = run_starts(query)
    start_of_query = np.repeat(query_starts, np.diff(query_starts, append=len(query)))
    above = np.repeat(starts, sizes) - start_of_query
    tied = np.repeat(sizes, sizes)
    if order is None:
        return above, tied
    above_of_rows = np.empty_like(above)
    tied_of_rows = np.empty_like(tied)
    above_of_rows[order] = above
    tied_of_rows[order] = tied
    return above_of_rows, tied_of_rows


def order_by_score(query: IntArray, scores: FloatArray) -> IntArray | None:
    """Return the order of rows by query, then by descending score; None if they are in order, as most runs are."""
    is_same = query[1:] == query[:-1]
    is_in_order = (query[1:] >= query[:-1]) & (~is_same | (scores[1:] <= scores[:-1]))
    if is_in_order.all():
        return None
    by_query = np.argsort(query, kind="stable")
    ordered = query[by_query]
    bounds = np.append(run_starts(ordered), len(query))
    return by_query[order_within(bounds, -scores[by_query])]


def _break_ties(query: IntArray, above: IntArray, tied: IntArray, doc_ids: pl.Series | None) -> IntArray:
    """Return one rank for each row, from 0: by descending document id, or without ids in the order of the rows."""
    rows = np.flatnonzero(tied > 1)
    if not len(rows):
        return above
    keys = pl.DataFrame({"row": rows, "query": query[rows], "above": above[rows]})
    if doc_ids is None:
        ordered = keys.sort("query", "above", "row")
    else:
        keys = keys.with_columns(doc_id=doc_ids.gather(rows))
        ordered = keys.sort("query", "above", "doc_id", descending=[False, False, True])
    starts = run_starts(ordered["query"].to_numpy(), ordered["above"].to_numpy())
    sizes = np.diff(starts, append=len(rows))
    within = np.arange(len(rows)) - np.repeat(starts, sizes)
    broken = above.copy()
    broken[ordered["row"].to_numpy()] += within
    return broken


def check_finite(pool: Pool, what: str) -> None:
    """Raise `DataError` if a run has an infinite score, which no arithmetic of scores takes."""
    for run in pool.runs:
        if np.isfinite(run.score).all():
            continue
        rows = np.flatnonzero(~np.isfinite(run.score))
        documents = pool.doc_ids.gather(run.place[rows[:3]]).to_list()
        raise DataError(
            f"{run.name} has {format_count(len(rows), 'infinite score')} ({format_list([*map(repr, documents)])}),"
            f" which {what} cannot compute with",
            hint="fuse by ranks, as method='rrf' does, or leave these documents out",
        )
