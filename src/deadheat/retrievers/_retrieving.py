"""retrieve(): from a retriever and texts to a run, checked and cut without breaking ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from deadheat.errors import DuplicateError, NullIdError, ScoreError, SourceTypeError
from deadheat.retrievers._options import check_count
from deadheat.retrievers._protocol import Hits
from deadheat.retrievers._runs import RunFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.retrievers._protocol import Retriever

SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}


def retrieve(retriever: Retriever, query_ids: Sequence[str], texts: Sequence[str], k: int) -> pl.DataFrame:
    """Search for texts, and return the run.

    Parameters
    ----------
    retriever : Retriever
        With its documents, if it needs any.
    query_ids, texts : sequence of str, shape (n_texts,)
    k : int
        Documents for each text. Those that tie with the k-th one stay, all of them.

    Returns
    -------
    polars.DataFrame
        query_id, doc_id and score, in the order of the texts, the highest score first and equal ones in the
        retriever's order.

    Raises
    ------
    DataError
        The retriever returned a score that is none, a document twice, or an id that is no text.
    """
    check_count("k", k)
    if isinstance(retriever, RunFile):
        found = retriever.look_up(query_ids)
    else:
        found = _frame(retriever.name, retriever.search(list(texts), k), query_ids)
    order = pl.DataFrame({"query_id": list(query_ids), "place": range(len(query_ids))})
    score = pl.col("score")
    return (
        found.filter(score.rank("min", descending=True).over("query_id") <= k)
        .join(order, on="query_id")
        .sort("place", "score", descending=[False, True], maintain_order=True)
        .select(*SCHEMA)
    )


def _frame(name: str, hits: object, query_ids: Sequence[str]) -> pl.DataFrame:
    """Return what a search returned as a frame, or say what is wrong with it."""
    if not isinstance(hits, Hits):
        if not isinstance(hits, list | tuple) or len(hits) != len(query_ids):
            what = f"{len(hits)} results" if isinstance(hits, list | tuple) else type(hits).__name__
            msg = f"{name} must return a dict {{doc_id: score}} for each of the {len(query_ids)} texts, got {what}"
            raise SourceTypeError(msg)
        hits = Hits.of_dicts(hits, name=name)
    scores = np.asarray(hits.score, np.float64)
    _check(name, hits, scores, query_ids)
    queries = np.array(list(query_ids), dtype=object)[hits.text]
    # + 0.0: -0.0 becomes 0.0, with which it ties
    columns = {"query_id": queries.tolist(), "doc_id": hits.doc_id.tolist(), "score": scores + 0.0}
    frame = pl.DataFrame(columns, schema=cast("dict[str, pl.DataType]", SCHEMA))
    twice = frame.filter(frame.select("query_id", "doc_id").is_duplicated())
    if len(twice):
        query, doc, _ = twice.row(0)
        msg = f"{name} found document {doc!r} more than once for case {query!r}; each document may stand once"
        raise DuplicateError(msg)
    return frame


def _check(
    name: str, hits: Hits, scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], ids: Sequence[str]
) -> None:
    """Raise an error for rows that belong to no text, ids that are no text, and scores that are NaN."""
    text = np.asarray(hits.text)
    if not len(text) == len(hits.doc_id) == len(scores) or (len(text) and not 0 <= text.min() <= text.max() < len(ids)):
        msg = (
            f"{name} returned columns that do not belong together: {len(text)} texts (each an index below {len(ids)}),"
        )
        raise SourceTypeError(f"{msg} {len(hits.doc_id)} documents, {len(scores)} scores")
    for doc in hits.doc_id.tolist():
        if not isinstance(doc, str):
            raise SourceTypeError(f"{name}: ids are text, got {doc!r} ({type(doc).__name__}): write str(id)")
        if not doc:
            raise NullIdError(f"{name} returned an empty document id, expected text")
    wrong = np.flatnonzero(np.isnan(scores))
    if len(wrong):
        place = wrong[0]
        msg = f"score of document {hits.doc_id[place]!r} for case {ids[int(text[place])]!r} by {name} is NaN"
        raise ScoreError(f"{msg}; expected a number")
