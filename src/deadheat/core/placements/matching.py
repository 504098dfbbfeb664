"""Errors where qrels and a run do not fit: no query in common, or a judged document that was retrieved twice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.similar_ids import describe_similar_ids
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.errors import DataError
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_list


def check_placed_once(run: Run, rows: pl.DataFrame) -> None:
    """Raise `DuplicateError` if a judged document was retrieved twice for a query, unless that was checked before.

    Every measure would count such a document twice, and leave its range. An unjudged document that comes twice takes a
    rank as any other does.

    Parameters
    ----------
    run : Run
    rows : polars.DataFrame
        query_id and doc_id of every judged document that was retrieved.
    """
    is_checked_in_pass = isinstance(run.rows, UnreadRows) and run.rows.duplicates != "trust"
    if run.rows.are_unique or is_checked_in_pass:
        return
    if not has_repeated_document(rows["query_id"], rows["doc_id"]):
        return
    counts = rows.group_by("query_id", "doc_id").agg(n=pl.len())
    raise run.make_duplicate_error(counts.filter(pl.col("n") > 1).sort("query_id", "doc_id"))


def has_repeated_document(groups: pl.Series, docs: pl.Series) -> bool:
    """Tell whether a document comes twice in a group.

    Mostly none does, and hashes show that in a tenth of the time. The ids themselves decide.

    Parameters
    ----------
    groups, docs : polars.Series, length n_rows
    """
    columns = pl.DataFrame({"group": groups, "doc": docs})
    hash_of_pair = pl.col("group").hash(1) ^ pl.col("doc").hash(2)
    hashes = np.sort(columns.select(hash_of_pair).to_series().to_numpy())
    has_equal_hashes = bool((hashes[1:] == hashes[:-1]).any())
    return has_equal_hashes and bool(columns.is_duplicated().any())


def refuse_no_common_query(qrels: Qrels, run: Run, judged: Sequence[str], retrieved: Sequence[str]) -> None:
    """Raise `DataError` for a run without a document for any query of the qrels.

    It is no error if the run was given with an empty list for one of these queries.

    Parameters
    ----------
    qrels, run : Qrels, Run
    judged, retrieved : sequence of str
        The queries of the qrels, and those for which the run has documents.
    """
    if not {*run.bare}.isdisjoint(judged):
        return
    queries_of_run = [*retrieved, *run.bare]
    listed_judged = format_list([repr(query_id) for query_id in judged])
    listed_of_run = format_list([repr(query_id) for query_id in queries_of_run])
    message = (
        f"qrels and run share no query: {qrels.where} has {listed_judged}; {run.where} has {listed_of_run}."
        " Are they of the same collection, and are the ids written alike?"
    )
    message += hint_at_lost_zeros(judged, queries_of_run)
    message += hint_at_places(run.where, judged, queries_of_run)
    message += hint_at_cases(qrels.where, judged)
    hint_at_spelling = describe_similar_ids(judged, queries_of_run)
    if hint_at_spelling:
        message += f" {hint_at_spelling}"
    raise DataError(message)


def hint_at_places(where: str, judged: Sequence[str], retrieved: Sequence[str]) -> str:
    """Return a hint if the queries of a run are called 0, 1, 2, ..., and no judged one is a number; else "".

    Examples
    --------
    >>> hint_at_places("found.json", ["paris"], ["0", "1"])
    ' Queries of found.json are called by their places, it seems: name them as the qrels do, as in {query: results}.'
    >>> hint_at_places("found.json", ["7"], ["0", "1"]), hint_at_places("found.json", ["paris"], ["1", "2"])
    ('', '')
    """
    places = {str(place) for place in range(len(retrieved))}
    if set(retrieved) != places or any(text.isdecimal() for text in judged):
        return ""
    advice = "name them as the qrels do, as in {query: results}"
    return f" Queries of {where} are called by their places, it seems: {advice}."


def hint_at_cases(where: str, judged: Sequence[str]) -> str:
    """Return a hint if the queries of qrels are labelled cases without ids, called by file and place; else "".

    Examples
    --------
    >>> hint_at_cases("phrases.csv", ["phrases-000", "phrases-001"]).partition(":")[0]
    ' Cases of phrases.csv without a case_id are called by their places'
    >>> hint_at_cases("phrases.csv", ["phrases-000", "tremor"])
    ''
    """
    name = "_".join(Path(where).stem.split())
    for query_id in judged:
        place = query_id.removeprefix(f"{name}-")
        if place == query_id or not place.isdecimal():
            return ""
    return (
        f" Cases of {where} without a case_id are called by their places: give them a column case_id with the queries"
        " of the run, or let deadheat bench find them by their texts (--retriever RUN)."
    )


def hint_at_lost_zeros(left_ids: Sequence[str], right_ids: Sequence[str]) -> str:
    """Return a hint if numbers have zeros in front on one side, and none on the other has any; else an empty text.

    Examples
    --------
    >>> hint_at_lost_zeros(["007", "012"], ["7", "13"])
    ' Zeros in front of numbers are lost on one side: read ids as text.'
    """
    left_numbers = [text for text in left_ids if text.isdecimal()]
    right_numbers = [text for text in right_ids if text.isdecimal()]
    if not left_numbers or not right_numbers:
        return ""
    if _has_padded(left_numbers) == _has_padded(right_numbers):
        return ""
    return " Zeros in front of numbers are lost on one side: read ids as text."


def _has_padded(numbers: Sequence[str]) -> bool:
    """Tell whether a number has zeros in front."""
    return any(text.startswith("0") and text != "0" for text in numbers)
