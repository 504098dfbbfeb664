"""What looks wrong in qrels and runs: ranks that contradict scores, and ids that look alike and are not equal.

Ids may be in another Unicode form, in another case, or with blanks. The first queries of a run, or documents, are
looked at.
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Collection, Sequence
from itertools import islice, pairwise
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray
from deadheat.core.data.rows import Rows
from deadheat.core.data.unread_rows import LazyRows
from deadheat.core.errors import DeadheatWarning
from deadheat.core.io.formats.base import FEWEST, ROWS
from deadheat.core.io.nested import Nested
from deadheat.core.io.results import ListOrder
from deadheat.core.libraries import is_polars_frame, polars as pl
from deadheat.core.wording import format_count

LOOKED = 100  # documents of each side that are looked at
NAMES = {"query": "queries", "document": "documents"}
ONE_FORM = " (normalize_ids='NFC' or --normalize-ids NFC makes one of them)"
FORM, CASE = "Unicode form (NFC, NFD)", "case or in blanks around them"
QUERIES = 1000  # of a run, that are looked at
ADVICE = "Higher scores rank first; ascending=True (--ascending) puts lower ones first"
FEWEST_QUERIES = 3  # from which an order says something
ENOUGH = 10  # documents in all: so many scores do not count 1, 2, 3, ... by chance


def warn_of_ranks(head: pl.DataFrame, where: str, *, ascending: bool) -> None:
    """Warn the user if ranks and scores of most queries contradict each other.

    Parameters
    ----------
    head : polars.DataFrame
        query_id, rank and score of the first rows; of as many queries as they have, up to 1,000.
    where : str
        Where the run comes from.
    ascending : bool
        Whether the user said that lower scores rank first.
    """
    if not ascending and _are_in_order(head):
        return  # the usual case, and the faster check
    rows = head.drop_nulls().filter(pl.all_horizontal(pl.col("rank", "score").is_finite()))
    best_first = pl.col("score").sort_by("rank") * (-1 if ascending else 1)
    of_query = rows.group_by("query_id", maintain_order=True).agg(
        n=pl.len(),
        n_ranks=pl.col("rank").n_unique(),
        n_scores=pl.col("score").n_unique(),
        rises=(best_first.diff() > 0).sum(),
        falls=(best_first.diff() < 0).sum(),
    )
    has_order = (pl.col("n") >= FEWEST) & (pl.col("n_ranks") == pl.col("n")) & (pl.col("n_scores") > 1)
    looked = of_query.head(QUERIES).filter(has_order)
    n_queries = format_count(looked.height, "query", "queries")
    contrary = looked.filter(pl.col("rises") > 2 * pl.col("falls")).height
    differing = looked.filter(pl.col("rises") > 0).height
    if 2 * contrary > looked.height:
        text = (
            "scores fall with the rank in {n:,} of {of} at its start, and ascending puts the lowest first."
            if ascending
            else f"scores rise with the rank in {{n:,}} of {{of}} at its start: distances, or ranks? {ADVICE}"
        )
        _warn(text, where, n=contrary, of=n_queries)
    elif 2 * differing > looked.height:
        _warn(
            "ranks and scores disagree in {n:,} of {of} at its start: the scores count, not the ranks.",
            where,
            n=differing,
            of=n_queries,
        )


def _are_in_order(head: pl.DataFrame) -> bool:
    """Tell whether ranks rise and scores fall from each row to the next one of its query."""
    rank, score = head["rank"].to_numpy(), head["score"].to_numpy()  # null is NaN
    others = np.flatnonzero(~((rank[1:] > rank[:-1]) & (score[1:] <= score[:-1])))
    return bool((head["query_id"][others] != head["query_id"][others + 1]).all())


def warn_of_order(rows: pl.DataFrame | Nested, where: str, *, ascending: bool) -> None:
    """Warn the user if the scores of the first queries count 1, 2, 3, ... or the worst rows come first.

    Dicts have their order by chance: rows alone are looked at for scores that rise, or fall with `ascending`.
    """
    if ascending and not is_polars_frame(rows):
        return
    if is_polars_frame(rows):
        head = rows.head(ROWS).group_by("query_id", maintain_order=True).agg("score").head(QUERIES)
        of_queries: list[Collection[float]] = head["score"].to_list()
    else:
        of_queries = [documents.values() for documents in islice(rows.values(), QUERIES)]
    some = [scores for scores in of_queries if len(scores) >= FEWEST]
    if sum(map(len, some)) < ENOUGH:
        return
    has_order = is_polars_frame(rows) and len(some) >= FEWEST_QUERIES
    if ascending:
        if has_order and all(map(_falls, some)):
            _warn(
                "the scores of all queries at its start fall from row to row, and ascending puts the lowest first: are"
                " they similarities? Without ascending the highest rank first",
                where,
            )
        return
    if all(list(scores) == list(range(1, len(scores) + 1)) for scores in some):  # mostly ends at the first
        _warn(f"the scores of each query are 1, 2, 3, ... in the order of the rows: are they ranks? {ADVICE}", where)
    elif has_order and all(map(_rises, some)):
        _warn(f"the scores of all queries at its start rise from row to row: are they distances? {ADVICE}", where)


def warn_of_list_order(order: ListOrder | None, where: str, *, ascending: bool) -> None:
    """Warn the user if lists of results are read from the last to the first.

    Parameters
    ----------
    order : {"rise", "fall"} or None
        Of the scores of every list, from its first result to its last; None: they do both.
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


def _rises(scores: Collection[Any]) -> bool:
    """Tell whether numbers rise strictly; a value that is not a number is refused later."""
    try:
        return all(before < after for before, after in pairwise(scores))
    except TypeError:
        return False


def _falls(scores: Collection[float]) -> bool:
    """Tell whether numbers fall strictly."""
    return all(before > after for before, after in pairwise(scores))


def _warn(text: str, where: str, **fields: object) -> None:
    warnings.warn(DeadheatWarning(text, where, **fields), stacklevel=6)


def note_of_negative(relevance: FloatArray, source_form: str) -> tuple[str, ...]:
    """Return a note on negative labels, which may be padding or the target of a regression; none of TREC's qrels.

    Parameters
    ----------
    relevance : ndarray of float, shape (n_judged,)
    source_form : {"trec", "array", "other"}

    Examples
    --------
    >>> note_of_negative(np.array([2.0, -1.0]), "array")[0].partition(";")[2]
    ' padding is left out by mask= of evaluate_dense'
    >>> note_of_negative(np.array([2.0, -1.0]), "trec")
    ()
    """
    n_negative = 0 if source_form == "trec" else int((relevance < 0).sum())
    if not n_negative:
        return ()
    labels = f"{format_count(n_negative, 'negative label')} (the lowest {relevance.min():g})"
    text = f"{labels}: no gain, and unjudged for bpref, infAP and Judged"
    if source_form == "array":
        text += "; padding is left out by mask= of evaluate_dense"
    return (text,)


# What two ids differ in, and what makes them equal then
DIFFERENCES: dict[str, Callable[[str], str]] = {
    FORM: lambda text: unicodedata.normalize("NFC", text),
    CASE: lambda text: unicodedata.normalize("NFC", text).strip().casefold(),
}


def nearly_equal(some: Sequence[str], others: Sequence[str], what: str = "query") -> str:
    """Return how many ids of one side are ids of the other but for their form or case; empty if none is.

    Parameters
    ----------
    some, others : sequence of str
        Without those that are equal.
    what : {"query", "document"}

    Examples
    --------
    >>> nearly_equal(["q1", "Mu\u0308ller"], ["q2", "M\u00fcller"]).partition(":")[0]
    '1 query of the qrels and of the run differs only in Unicode form (NFC, NFD)'
    >>> nearly_equal(["Q1", "Q2"], ["q1", "q2"])
    "2 queries of the qrels and of the run differ only in case or in blanks around them: 'Q1' is 'q1'"
    """
    if not (some and others):
        return ""
    for difference, same in DIFFERENCES.items():
        by_form = {same(one): one for one in others}
        if found := [one for one in some if same(one) in by_form]:
            differ = f"differ{'s' * (len(found) == 1)} only in {difference}"
            example = f"{found[0]!r}" + (f" is {by_form[same(found[0])]!r}" if difference == CASE else ONE_FORM)
            return f"{format_count(len(found), what, NAMES[what])} of the qrels and of the run {differ}: {example}"
    return ""


def alike(qrels: Rows, run: Rows, lacking: Sequence[str], unjudged: Sequence[str]) -> tuple[str, ...]:
    """Return what looks alike and is not equal: of all queries that one side lacks, and of a few documents.

    Parameters
    ----------
    qrels, run : Rows
    lacking, unjudged : sequence of str
        Queries of the qrels that the run lacks, and the reverse.
    """
    found = [nearly_equal(lacking, unjudged)]
    if not (isinstance(qrels, LazyRows) or isinstance(run, LazyRows)):  # each look may compute a whole frame
        judged, retrieved = (_beyond_ascii(rows.some_documents(LOOKED)) for rows in (qrels, run))
        documents = nearly_equal(sorted(judged - retrieved), sorted(retrieved - judged), "document")
        found.append(f"of the first {LOOKED}, {documents}" if documents else "")
    return tuple(filter(None, found))


def _beyond_ascii(ids: Sequence[str]) -> set[str]:
    """Return the ids that have other characters than those of ASCII, which are mostly none: joined, that is seen."""
    if "".join(ids).isascii():
        return set()
    return {doc for doc in ids if not doc.isascii()}
