"""Builds placements of the rows that an engine has found, in whatever order it found them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.beside import BesideRows, find_beside
from deadheat.core.placements.matching import check_placed_once, refuse_no_common_query
from deadheat.core.placements.placements import Placements, TextRows
from deadheat.core.scalars import LARGEST_INTEGER


@dataclass(frozen=True, eq=False)
class RetrievedLists:
    """What is known of the list of each query as a whole; the attributes are those of `Placements`.

    Attributes
    ----------
    query_ids : ndarray of str, shape (n_queries,)
        Queries of the qrels, sorted by code point.
    n_retrieved : ndarray of int, shape (n_queries,)
    ends_in_tie : ndarray of bool, shape (n_queries,), or None
    top_score : ndarray of float, shape (n_queries,), or None
    retrieves_itself : ndarray of bool, shape (n_queries,), or None
    """

    query_ids: TextArray
    n_retrieved: IntArray
    ends_in_tie: BoolArray | None = None
    top_score: FloatArray | None = None
    retrieves_itself: BoolArray | None = None


@dataclass(frozen=True, eq=False)
class PlacedRows:
    """The judged documents that were retrieved, in any order; the attributes are those of `Placements`.

    Attributes
    ----------
    query : ndarray of int, shape (n_rows,)
    documents : ndarray of str, polars.Series or TextRows, shape (n_rows,)
    relevance : ndarray of float, shape (n_rows,)
    above, tied : ndarray of int, shape (n_rows,)
    """

    query: IntArray
    documents: TextArray | pl.Series | TextRows
    relevance: FloatArray
    above: IntArray
    tied: IntArray


def build_placements(
    lists: RetrievedLists,
    rows: PlacedRows,
    *,
    judged_query: IntArray,
    judged_relevance: FloatArray,
    unjudged_queries: tuple[str, ...] = (),
    beside: dict[str, BesideRows] | None = None,
) -> Placements:
    """Return placements, in which rows and judgments have the order that `Placements` promises.

    Parameters
    ----------
    lists : RetrievedLists
    rows : PlacedRows
    judged_query, judged_relevance : ndarray of shape (n_judged,)
        Every judgment, in any order.
    unjudged_queries : tuple of str, default ()
    beside : dict of str to BesideRows, optional
        As in `Placements`.
    """
    # Documents of one relevance may differ in a table beside the judgments. Then their order counts where ties are
    # broken, and must be the same in every engine.
    order = _order_rows(rows, by_doc_id=bool(beside))
    if not _are_judgments_sorted(judged_query, judged_relevance):
        judged_query, judged_relevance = sort_judgments(judged_query, judged_relevance)
    max_relevance = 0.0
    if len(judged_relevance):
        max_relevance = float(judged_relevance.max())
    return Placements(
        query_ids=lists.query_ids,
        n_retrieved=lists.n_retrieved,
        query=rows.query[order],
        documents=rows.documents[order],
        relevance=rows.relevance[order],
        above=rows.above[order],
        tied=rows.tied[order],
        judged_query=judged_query,
        judged_relevance=judged_relevance,
        max_relevance=max_relevance,
        unjudged_queries=unjudged_queries,
        ends_in_tie=lists.ends_in_tie,
        top_score=lists.top_score,
        retrieves_itself=lists.retrieves_itself,
        beside=beside or {},
    )


def _order_rows(rows: PlacedRows, *, by_doc_id: bool) -> IntArray:
    """Return the order of rows by query, rank and falling relevance; with `by_doc_id` then by document id."""
    tie = rows.query * (rows.above.max(initial=0) + 1) + rows.above  # ascends with the query, then with the rank
    order = np.argsort(tie, kind="stable")
    sorted_tie = tie[order]
    is_same_as_next = sorted_tie[1:] == sorted_tie[:-1]
    if not is_same_as_next.any():
        return order
    # the rows that share a tie, which mostly are few, are sorted by relevance too
    is_shared = np.zeros(len(tie), np.bool_)
    is_shared[:-1] |= is_same_as_next
    is_shared[1:] |= is_same_as_next
    places = np.flatnonzero(is_shared)
    shared_rows = order[places]
    keys = [-rows.relevance[shared_rows], tie[shared_rows]]
    if by_doc_id:
        keys.insert(0, _rank_documents(rows.documents)[shared_rows])
    order[places] = shared_rows[np.lexsort(keys)]
    return order


def _rank_documents(documents: TextArray | pl.Series | TextRows) -> IntArray:
    """Return numbers that ascend with the ids of documents, by their bytes."""
    texts = documents.tolist() if isinstance(documents, np.ndarray) else documents.to_list()
    return pl.Series(texts, dtype=pl.String).rank("dense").to_numpy()


def _are_judgments_sorted(query: IntArray, relevance: FloatArray) -> bool:
    """Tell whether judgments are sorted by query, and each query's from the highest relevance down."""
    step = query[1:] - query[:-1]
    is_next_query = step > 0
    is_in_order = (step == 0) & (relevance[1:] <= relevance[:-1])
    return bool((is_next_query | is_in_order).all())


def sort_judgments(query: IntArray, relevance: FloatArray) -> tuple[IntArray, FloatArray]:
    """Sort judgments by query, and each query's from the highest relevance down."""
    high = float(relevance.max())
    low = float(relevance.min())
    width = high - low + 1  # Python's floats: infinite, without a warning, where float64 cannot hold it
    largest = (int(query.max()) + 1) * width + abs(high)
    is_integer = (relevance == np.rint(relevance)).all()
    if not is_integer or largest > LARGEST_INTEGER:
        order = np.lexsort((-relevance, query))
        return query[order], relevance[order]
    # one integer for each judgment, which ascends with the query and then with falling relevance, is sorted in a
    # quarter of the time; float64 holds it exactly, so the relevance that is computed from it is the one given
    numbers = np.sort(query * width + (high - relevance))
    sorted_query = np.sort(query, kind="stable")
    return sorted_query, sorted_query * width + high - numbers


def build_from_frames(
    qrels: Qrels, run: Run, counts: pl.DataFrame, rows: pl.DataFrame, *, is_part: bool = False
) -> Placements:
    """Return placements of the frames in which an engine has counted.

    Parameters
    ----------
    qrels, run : Qrels, Run
    counts : polars.DataFrame
        query_id, n_retrieved and, if known, ends_in_tie, top_score and retrieves_itself of every query of the run.
    rows : polars.DataFrame
        query_id, doc_id, relevance, above and tied of every judged document that was retrieved.
    is_part : bool, default False
        Whether these are some queries of many, of which the run may have none.

    Raises
    ------
    DataError
        The run has none of the queries, and they are not a part; or a judged document was retrieved twice.
    """
    check_placed_once(run, rows)
    codes, judged_query, judged_relevance = qrels.in_order
    queries = codes.join(counts, on="query_id", how="left", maintain_order="left")
    query_ids = queries["query_id"].to_list()
    unjudged = counts.join(queries, on="query_id", how="anti")["query_id"].sort().to_list()
    if not queries["n_retrieved"].count() and not is_part:
        refuse_no_common_query(qrels, run, query_ids, unjudged)
    if run.by_keys is not None and "top_score" in queries.columns:
        queries = queries.drop("top_score")  # scores by several keys are ranks
    rows = rows.join(codes, on="query_id").drop("query_id")  # there may be many judgments
    placed = PlacedRows(
        query=rows["code"].to_numpy(),
        documents=rows["doc_id"],
        relevance=rows["relevance"].to_numpy(),
        above=rows["above"].cast(pl.Int64).to_numpy(),
        tied=rows["tied"].cast(pl.Int64).to_numpy(),
    )
    return build_placements(
        read_lists(np.array(query_ids, dtype=object), queries),
        placed,
        judged_query=judged_query,
        judged_relevance=judged_relevance,
        unjudged_queries=tuple(unjudged),
        beside=find_beside(qrels, query_ids),
    )


def read_lists(query_ids: TextArray, counts: pl.DataFrame) -> RetrievedLists:
    """Return the columns of a frame with what an engine counted, in the order of the queries.

    Parameters
    ----------
    query_ids : ndarray of str, shape (n_queries,)
    counts : polars.DataFrame of height n_queries
        As for :func:`build_from_frames`, with null where the run lacks the query. Some engines leave out the columns
        that would take another pass over all rows.
    """
    ends_in_tie = None
    if "ends_in_tie" in counts.columns:
        ends_in_tie = counts["ends_in_tie"].fill_null(value=False).to_numpy()
    top_score = None
    if "top_score" in counts.columns:
        top_score = counts["top_score"].cast(pl.Float64).to_numpy()
    retrieves_itself = None
    if "retrieves_itself" in counts.columns:
        retrieves_itself = counts["retrieves_itself"].fill_null(value=False).to_numpy()
    return RetrievedLists(
        query_ids=query_ids,
        n_retrieved=counts["n_retrieved"].fill_null(0).cast(pl.Int64).to_numpy(),
        ends_in_tie=ends_in_tie,
        top_score=top_score,
        retrieves_itself=retrieves_itself,
    )
