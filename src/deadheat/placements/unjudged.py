"""Where the unjudged documents of a run are ranked: the ties that hold some, which placements leave out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, IntArray
from deadheat.data.precision import ScorePrecision
from deadheat.data.tables import Qrels, Run
from deadheat.io.forking import check_threads
from deadheat.placements.placements import Placements


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
    lost : ndarray of int, shape (n_queries,), or None
        Unjudged documents of each query that the run does not retrieve, but that count among the relevant ones if they
        are; None: none.
    """

    query: IntArray
    above: IntArray
    tied: IntArray
    count: IntArray
    lost: IntArray | None = None

    def counts(self, n_queries: int) -> IntArray:
        """Return the retrieved unjudged documents of each query."""
        return np.bincount(self.query, self.count, n_queries).astype(np.int64)

    def lost_of(self, code: int) -> int:
        """Return the unjudged documents of a query that are not retrieved."""
        return 0 if self.lost is None else int(self.lost[code])

    def concerned(self) -> IntArray:
        """Return the queries that have an unjudged document."""
        found = np.unique(self.query)
        return found if self.lost is None else np.union1d(found, np.flatnonzero(self.lost))

    def of_query(self, code: int) -> slice:
        """Return which ties are of a query."""
        return slice(*np.searchsorted(self.query, (code, code + 1)))

    def select(self, keep: BoolArray) -> Unjudged:
        """Return those of some queries, as :meth:`Placements.select` numbers them."""
        own = keep[self.query]
        lost = None if self.lost is None else self.lost[keep]
        return Unjudged((np.cumsum(keep) - 1)[self.query[own]], self.above[own], self.tied[own], self.count[own], lost)


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
    open_ = tied - np.diff(ties, append=len(placements.query))  # unjudged documents in each tie that has a judged one
    width, count = np.ones((2, int(sizes.sum())), np.int64)
    count[_ranges(first, first + tied)[0]] = 0
    width[first], count[first] = tied, open_
    place = np.flatnonzero(count)
    query = np.repeat(np.arange(len(sizes)), sizes)[place]
    return Unjudged(query, place - starts[query], width[place], count[place])


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
    scores = (pl.col("score").cast(pl.Float64) + 0.0).alias("score")
    frame = run.rounded(score_precision).to_polars().select("query_id", scores)
    codes = pl.DataFrame(
        {"query_id": pl.Series(placements.query_ids.tolist(), dtype=pl.String), "code": np.arange(placements.n_queries)}
    )
    ties = frame.join(codes, on="query_id").group_by("code", "score").len()
    ties = ties.sort("code", "score", descending=[False, True])
    query, tied = ties["code"].to_numpy().astype(np.int64), ties["len"].to_numpy().astype(np.int64)
    ends = np.cumsum(tied)
    first = np.searchsorted(query, query)
    above = ends - tied - (ends - tied)[first]
    if depth is not None:
        is_kept = above < depth
        query, above, tied = query[is_kept], above[is_kept], np.minimum(tied, depth - above)[is_kept]
    starts = placements.tie_starts
    width = int(placements.n_retrieved.max(initial=0)) + 1
    place = np.searchsorted(query * width + above, placements.query[starts] * width + placements.above[starts])
    judged = np.zeros_like(tied)
    judged[place] = np.diff(starts, append=len(placements.query))
    count = tied - judged
    some = count > 0
    return Unjudged(query[some], above[some], tied[some], count[some])


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
    found = run.positions(score_precision).join(judged, on="query_id", how="semi")
    return found.join(judged, on=["query_id", "doc_id"], how="anti")


def answered(placements: Placements, unjudged: Unjudged, ties: IntArray, relevance: float) -> Placements:
    """Return, for each of some ties, the query as it is once one unjudged document of the tie is judged.

    Parameters
    ----------
    placements : Placements
    unjudged : Unjudged
        Of the same lists.
    ties : ndarray of int, shape (n,)
        Which ties of `unjudged`.
    relevance : float
        What the document is judged as.

    Returns
    -------
    Placements
        Of n queries, each a copy of one of the given ones with one more judgment.
    """
    added = {"above": unjudged.above[ties], "tied": unjudged.tied[ties]}
    return _with_one(_copies(placements, unjudged.query[ties]), np.arange(len(ties)), relevance, added)


def left_after(unjudged: Unjudged, ties: IntArray) -> Unjudged:
    """Return the documents that are still unjudged once one of each of some ties is judged, each in a copy."""
    starts, stops = (np.searchsorted(unjudged.query, unjudged.query[ties], side=side) for side in ("left", "right"))
    rows, query = _ranges(starts, stops)
    count = unjudged.count[rows] - (rows == ties[query])
    some = count > 0
    return Unjudged(query[some], unjudged.above[rows][some], unjudged.tied[rows][some], count[some])


def answers_elsewhere(placements: Placements, queries: IntArray, relevance: float) -> Placements:
    """Return copies of some queries, each with one more judgment, of a document that is not retrieved."""
    return _with_one(_copies(placements, queries), np.arange(len(queries)), relevance, None)


def _copies(placements: Placements, queries: IntArray) -> Placements:
    """Return the placements of some queries, each as often as it is named."""
    rows, query = _ranges(*(np.searchsorted(placements.query, queries, side=side) for side in ("left", "right")))
    judged, judged_query = _ranges(
        *(np.searchsorted(placements.judged_query, queries, side=side) for side in ("left", "right"))
    )
    return replace(
        placements,
        query_ids=placements.query_ids[queries],
        n_retrieved=placements.n_retrieved[queries],
        query=query,
        doc_ids=placements.doc_ids[rows],
        relevance=placements.relevance[rows],
        above=placements.above[rows],
        tied=placements.tied[rows],
        judged_query=judged_query,
        judged_relevance=placements.judged_relevance[judged],
        before=None,
        ends_in_tie=None,
    )


def _with_one(
    placements: Placements, query: IntArray, relevance: float, added: dict[str, IntArray] | None
) -> Placements:
    """Return the placements with one more judgment for each of some queries, retrieved if its rank is given."""
    level = np.full(len(query), relevance)
    judged_query = np.concatenate((placements.judged_query, query))
    judged_relevance = np.concatenate((placements.judged_relevance, level))
    ideal = np.lexsort((-judged_relevance, judged_query))
    found = replace(placements, judged_query=judged_query[ideal], judged_relevance=judged_relevance[ideal])
    if added is None:
        return found
    all_query, all_above = (
        np.concatenate(both) for both in ((placements.query, query), (placements.above, added["above"]))
    )
    all_relevance = np.concatenate((placements.relevance, level))
    order = np.lexsort((-all_relevance, all_above, all_query))
    return replace(
        found,
        query=all_query[order],
        doc_ids=np.concatenate((placements.doc_ids, np.full(len(query), "", dtype=object)))[order],
        relevance=all_relevance[order],
        above=all_above[order],
        tied=np.concatenate((placements.tied, added["tied"]))[order],
    )


def _ranges(starts: IntArray, stops: IntArray) -> tuple[IntArray, IntArray]:
    """Return all places of some ranges, one range after another, and the range of each."""
    sizes = stops - starts
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(starts, sizes), owner


def labelled(placements: Placements, unjudged: Unjudged, relevance: float) -> Placements:
    """Return the placements as if every retrieved unjudged document were judged, all of one relevance.

    The highest relevance of the qrels, which is the top of some measures' scale, remains.
    """
    query = np.repeat(unjudged.query, unjudged.count)
    added = {name: np.repeat(getattr(unjudged, name), unjudged.count) for name in ("above", "tied")}
    return replace(_with_one(placements, query, relevance, added), before=None, ends_in_tie=None)
