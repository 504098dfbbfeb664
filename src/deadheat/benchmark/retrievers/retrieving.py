"""retrieve(): from a retriever and texts to a run, checked and cut without breaking ties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray
from deadheat.benchmark.retrievers.options import check_search
from deadheat.benchmark.retrievers.protocol import Hits, Retriever
from deadheat.benchmark.retrievers.runs import RunFile
from deadheat.errors import DuplicateError, NullIdError, ParameterError, ScoreError, SourceTypeError
from deadheat.wording import Plain, counted

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
    check_search(texts, k)
    if len(query_ids) != len(texts):
        raise ParameterError(
            "query_ids and texts must be of the same length", given=Plain(f"{len(query_ids)} and {len(texts)}")
        )
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
            raise SourceTypeError(
                f"{name} must return a dict {{doc_id: score}} for each of the {len(query_ids)} texts",
                given=Plain(what),
            )
        hits = Hits.of_dicts(hits, name=name)
    text, docs, scores = _columns(name, hits)
    _check(name, text, docs, scores, query_ids)
    queries = np.array(list(query_ids), dtype=object)[text]
    # + 0.0: -0.0 becomes 0.0, with which it ties
    columns = {"query_id": queries.tolist(), "doc_id": docs, "score": scores + 0.0}
    frame = pl.DataFrame(columns, schema=cast("dict[str, pl.DataType]", SCHEMA))
    twice = frame.filter(frame.select("query_id", "doc_id").is_duplicated())
    if len(twice):
        query, doc, _ = twice.row(0)
        raise DuplicateError(
            f"{name} found document {doc!r} more than once for case {query!r}", hint="each document may stand once"
        )
    return frame


def _columns(name: str, hits: Hits) -> tuple[IntArray, list[object], FloatArray]:
    """Return the three columns of what was found, which may be lists; refuse numbers that are none."""
    text, docs = np.asarray(hits.text), np.asarray(hits.doc_id, dtype=object)
    if len(text) == 0:
        text = text.astype(np.int64)  # an empty list is of no kind
    if text.dtype.kind not in "iu" or text.ndim != 1:
        given = f"{text.dtype} of shape {text.shape}"
        raise SourceTypeError(
            f"{name}: text must be the index of each text, a column of whole numbers from 0 on", given=Plain(given)
        )
    try:
        scores = np.asarray(hits.score, np.float64)
    except (TypeError, ValueError) as error:
        raise ScoreError(f"{name}: each score must be a number: {error}") from error
    return text, docs.tolist(), scores


def _check(name: str, text: IntArray, docs: Sequence[object], scores: FloatArray, ids: Sequence[str]) -> None:
    """Raise an error for rows that belong to no text, ids that are no text, and scores that are NaN."""
    if not len(text) == len(docs) == len(scores) or (len(text) and not 0 <= text.min() <= text.max() < len(ids)):
        msg = (
            f"{name} returned columns that do not belong together: {len(text)} texts (each an index below {len(ids)}),"
        )
        raise SourceTypeError(f"{msg} {counted(len(docs), 'document')}, {counted(len(scores), 'score')}")
    for doc in docs:
        if not isinstance(doc, str):
            raise SourceTypeError(
                f"{name}: ids are text", given=Plain(f"{doc!r} ({type(doc).__name__})"), hint="write str(id)"
            )
        if not doc:
            raise NullIdError(f"{name} returned an empty document id", allowed="text")
    wrong = np.flatnonzero(np.isnan(scores))
    if len(wrong):
        place = wrong[0]
        msg = f"score of document {docs[place]!r} for case {ids[int(text[place])]!r} by {name} is NaN"
        raise ScoreError(f"{msg}; expected a number")
