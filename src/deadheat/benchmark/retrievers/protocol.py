"""What a retriever is, what it returns, and retrieve(): its run, checked and cut without breaking ties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, cast, runtime_checkable

import numpy as np
import polars as pl

from deadheat.arrays import FloatArray, IntArray, TextArray
from deadheat.benchmark.collection import Collection
from deadheat.benchmark.retrievers.options import check_search
from deadheat.benchmark.retrievers.runs import RunFile
from deadheat.errors import DataError, DuplicateError, ParameterError, SourceTypeError
from deadheat.wording import Plain, counted


@dataclass(frozen=True, eq=False)
class Hits:
    """What a search found, as columns: a row for each text and document.

    Attributes
    ----------
    text : ndarray of int, shape (n_hits,)
        Index of the text.
    doc_id : ndarray of str, shape (n_hits,)
    score : ndarray of float, shape (n_hits,)

    Examples
    --------
    >>> Hits.of_dicts([{"d1": 0.5}, {}, {"d1": 0.2, "d2": 0.1}]).text.tolist()
    [0, 2, 2]
    """

    text: IntArray
    doc_id: TextArray
    score: FloatArray

    def __repr__(self) -> str:
        return f"<Hits: {counted(len(self.text), 'document')}>"

    @classmethod
    def of_parts(cls, documents: TextArray, parts: Sequence[tuple[IntArray, FloatArray]]) -> Self:
        """Put together what each text found: (index into `documents`, score), an array each."""
        empty = np.zeros(0, np.int64)
        text = np.repeat(np.arange(len(parts)), [len(found) for found, _ in parts])
        found = np.concatenate([empty, *(found for found, _ in parts)])
        score = np.concatenate([np.zeros(0), *(scores.astype(np.float64) for _, scores in parts)])
        return cls(text, documents[found], score)

    @classmethod
    def of_dicts(cls, found: Sequence[object], *, name: str = "a search") -> Self:
        """Put together a dict ``{doc_id: score}`` for each text; errors call the search by its name."""
        ids: list[str] = []
        scores: list[float] = []
        for number, documents in enumerate(found):
            if not isinstance(documents, Mapping):
                raise SourceTypeError(
                    f"{name} must return a dict {{doc_id: score}} for each text",
                    given=Plain(f"{documents!r} for text {number}"),
                )
            ids += documents
            for doc, score in documents.items():
                if isinstance(score, str) or not hasattr(score, "__float__"):
                    raise DataError(f"{name}: score of document {doc!r} must be a number", given=score)
                scores.append(float(score))
        text = np.repeat(np.arange(len(found)), [len(documents) for documents in found])  # type: ignore[arg-type]
        return cls(text, np.array(ids, dtype=object), np.array(scores, np.float64))


@runtime_checkable
class Retriever(Protocol):
    """Finds documents for texts. Any object with these two methods and a name is one.

    Attributes
    ----------
    name : str
        What reports call it.

    Notes
    -----
    A retriever that cuts its list at k decides between the documents that tie with the k-th one, without saying so.
    Those of deadheat return **all** of them, so that lists may be longer than k, and tie statistics stay exact; what
    other retrievers cut cannot be brought back.

    Runs that are finished are used again by another call only if there is an attribute ``key``: text, or anything else
    that JSON can hold, that changes whenever the results may (parameters, version, data). A function may have
    one as well: ``search.key = "v2"``. Without it its runs are always made again.
    """

    name: str

    def index(self, documents: Collection) -> None:
        """Take the documents that are to be searched."""

    def search(self, texts: Sequence[str], k: int) -> Hits | Sequence[Mapping[str, float]]:
        """Return the k best documents of each text: `Hits`, or a dict ``{doc_id: score}`` for each text."""
        ...


def speaking(retriever: Retriever, language: str | None) -> Retriever:
    """Return the retriever for cases in a language: itself, if all languages are alike to it."""
    find: Callable[[str | None], Retriever] | None = getattr(retriever, "in_language", None)
    return find(language) if callable(find) else retriever


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
        The retriever returned a score that is not a number, a document twice, or an id that is not text.
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
            f"{name} found document {doc!r} more than once for case {query!r}", hint="each document may appear once"
        )
    return frame


def _columns(name: str, hits: Hits) -> tuple[IntArray, list[object], FloatArray]:
    """Return the three columns of what was found, which may be lists; raise if they are not of numbers."""
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
        raise DataError(f"{name}: each score must be a number: {error}") from error
    return text, docs.tolist(), scores


def _check(name: str, text: IntArray, docs: Sequence[object], scores: FloatArray, ids: Sequence[str]) -> None:
    """Raise an error for rows that belong to no text, ids that are not text, and scores that are NaN."""
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
            raise DataError(f"{name} returned an empty document id", allowed="text")
    wrong = np.flatnonzero(np.isnan(scores))
    if len(wrong):
        place = wrong[0]
        msg = f"score of document {docs[place]!r} for case {ids[int(text[place])]!r} by {name} is NaN"
        raise DataError(f"{msg}; expected a number")
