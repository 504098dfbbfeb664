"""Warnings of scores that contradict ranks or the order of rows, and a note on negative labels.

Only the first queries of a run are looked at.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.errors import DeadheatWarning
from deadheat.core.io.content import COMPARED_ROWS, FEWEST_ORDERED
from deadheat.core.io.list_order import ListOrder
from deadheat.core.io.nested import Nested
from deadheat.core.libraries import is_polars_frame, polars as pl
from deadheat.core.wording import format_count

MAX_QUERIES = 1000  # queries of a run that are looked at
FEWEST_QUERIES = 3  # fewer may have an order by chance
FEWEST_SCORES = 10  # of all queries together: fewer may be 1, 2, 3, ... by chance
ADVICE = "Higher scores rank first; ascending=True (--ascending) puts lower ones first"


def warn_of_ranks(head: pl.DataFrame, where: str, *, ascending: bool) -> None:
    """Warn the user if ranks and scores of most queries contradict each other.

    Parameters
    ----------
    head : polars.DataFrame
        query_id, rank and score of the first rows; their first 1,000 queries are looked at.
    where : str
        Where the run comes from.
    ascending : bool
        Whether the user said that lower scores rank first.
    """
    if not ascending and _are_in_order(head):
        return  # the usual case, and the faster check
    queries = _count_rises_and_falls(head, ascending=ascending)
    counted_queries = format_count(queries.height, "query", "queries")
    n_reversed = queries.filter(pl.col("rises") > 2 * pl.col("falls")).height
    n_differing = queries.filter(pl.col("rises") > 0).height
    if 2 * n_reversed > queries.height:
        if ascending:
            text = "scores fall with the rank in {n:,} of {of} at its start, and ascending puts the lowest first."
        else:
            text = f"scores rise with the rank in {{n:,}} of {{of}} at its start: distances, or ranks? {ADVICE}"
        _warn(text, where, n=n_reversed, of=counted_queries)
    elif 2 * n_differing > queries.height:
        text = "ranks and scores disagree in {n:,} of {of} at its start: the scores count, not the ranks."
        _warn(text, where, n=n_differing, of=counted_queries)


def _are_in_order(head: pl.DataFrame) -> bool:
    """Tell whether ranks rise and scores do not from each row to the next one of its query."""
    rank = head["rank"].to_numpy()  # null is NaN
    score = head["score"].to_numpy()
    is_in_order = (rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])
    breaks = np.flatnonzero(~is_in_order)
    starts_query = head["query_id"][breaks] != head["query_id"][breaks + 1]
    return bool(starts_query.all())


def _count_rises_and_falls(head: pl.DataFrame, *, ascending: bool) -> pl.DataFrame:
    """Return how often the scores of each query get better (`rises`) and worse (`falls`) from rank to rank.

    Queries with few rows, with equal ranks or with one score throughout are left out: they have no order.
    """
    rows = head.drop_nulls().filter(pl.all_horizontal(pl.col("rank", "score").is_finite()))
    score = pl.col("score").sort_by("rank")
    if ascending:
        score = -score
    queries = rows.group_by("query_id", maintain_order=True).agg(
        n=pl.len(),
        n_ranks=pl.col("rank").n_unique(),
        n_scores=pl.col("score").n_unique(),
        rises=(score.diff() > 0).sum(),
        falls=(score.diff() < 0).sum(),
    )
    has_order = (pl.col("n") >= FEWEST_ORDERED) & (pl.col("n_ranks") == pl.col("n")) & (pl.col("n_scores") > 1)
    return queries.head(MAX_QUERIES).filter(has_order)


def warn_of_order(rows: pl.DataFrame | Nested, where: str, *, ascending: bool) -> None:
    """Warn the user if the scores of the first queries are 1, 2, 3, ... or if their worst rows come first.

    The order of a dict means nothing, so a dict with scores that rise (or fall, with `ascending`) gets no warning.
    """
    are_rows = is_polars_frame(rows)
    if ascending and not are_rows:
        return
    scores_of_queries = _take_scores(rows)
    if sum(map(len, scores_of_queries)) < FEWEST_SCORES:
        return
    has_order = are_rows and len(scores_of_queries) >= FEWEST_QUERIES
    if ascending:
        if has_order and all(map(_are_falling, scores_of_queries)):
            _warn(
                "the scores of all queries at its start fall from row to row, and ascending puts the lowest first: are"
                " they similarities? Without ascending the highest rank first",
                where,
            )
    elif all(map(_are_positions, scores_of_queries)):  # mostly false for the first query, which ends the look
        _warn(f"the scores of each query are 1, 2, 3, ... in the order of the rows: are they ranks? {ADVICE}", where)
    elif has_order and all(map(_are_rising, scores_of_queries)):
        _warn(f"the scores of all queries at its start rise from row to row: are they distances? {ADVICE}", where)


def _take_scores(rows: pl.DataFrame | Nested) -> Sequence[Collection[float]]:
    """Return the scores of the first queries, without queries that have too few to show an order."""
    scores_of_queries: Sequence[Collection[float]]
    if is_polars_frame(rows):
        queries = rows.head(COMPARED_ROWS).group_by("query_id", maintain_order=True).agg("score")
        scores_of_queries = queries["score"].head(MAX_QUERIES).to_list()
    else:
        scores_of_queries = [documents.values() for documents in islice(rows.values(), MAX_QUERIES)]
    return [scores for scores in scores_of_queries if len(scores) >= FEWEST_ORDERED]


def warn_of_list_order(order: ListOrder | None, where: str, *, ascending: bool) -> None:
    """Warn the user if lists of results are read from the last to the first.

    Parameters
    ----------
    order : {"rise", "fall"} or None
        Whether the scores of every list rise or fall, from its first result to its last; None: neither.
    where : str
        Where the run comes from.
    ascending : bool
        Whether the user said that lower scores rank first.
    """
    if order == "rise" and not ascending:
        _warn(
            "the scores of every query rise from the first result to the last, so its last result ranks first. If they"
            " are distances or ranks, and lower ones are better, write ascending=True (--ascending)",
            where,
        )
    if order == "fall" and ascending:
        _warn(
            "the scores of every query fall from the first result to the last, and ascending puts the lowest first, so"
            " its last result ranks first. If they are similarities, and higher ones are better, leave ascending out",
            where,
        )


def _are_positions(scores: Collection[Any]) -> bool:
    """Tell whether numbers are 1, 2, 3, ..."""
    return list(scores) == list(range(1, len(scores) + 1))


def _are_rising(scores: Collection[Any]) -> bool:
    """Tell whether numbers rise strictly; a value that is not a number is refused later."""
    try:
        return all(before < after for before, after in pairwise(scores))
    except TypeError:
        return False


def _are_falling(scores: Collection[float]) -> bool:
    """Tell whether numbers fall strictly."""
    return all(before > after for before, after in pairwise(scores))


def _warn(text: str, where: str, **fields: object) -> None:
    """Warn the user of a run; the warning names the line that made the run, so many calls up."""
    warnings.warn(DeadheatWarning(text, where, **fields), stacklevel=6)


def describe_negative_labels(relevance: FloatArray, source_form: str) -> tuple[str, ...]:
    """Return a note on negative labels: padding, perhaps, or the target of a regression. TREC's qrels get none.

    Parameters
    ----------
    relevance : ndarray of float, shape (n_judged,)
    source_form : {"trec", "array", "other"}

    Examples
    --------
    >>> describe_negative_labels(np.array([2.0, -1.0]), "array")[0].partition(";")[2]
    ' padding is left out by mask= of evaluate_dense'
    >>> describe_negative_labels(np.array([2.0, -1.0]), "trec")
    ()
    """
    if source_form == "trec":
        return ()
    n_negative = int((relevance < 0).sum())
    if not n_negative:
        return ()
    labels = format_count(n_negative, "negative label")
    text = f"{labels} (the lowest {relevance.min():g}): no gain, and unjudged for bpref, infAP and Judged"
    if source_form == "array":
        text += "; padding is left out by mask= of evaluate_dense"
    return (text,)
