"""from_topk(): arrays of the ids and scores of the nearest documents of each query, as a run."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.checks import array_of
from deadheat.core.data.doubts import warn_of_list_order
from deadheat.core.data.run import LOWER_FIRST, Run
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.content import FEWEST_ORDERED
from deadheat.core.io.ids import check_ids
from deadheat.core.io.list_order import ListOrder
from deadheat.core.io.results import RANKED
from deadheat.core.io.values import BEYOND, are_beyond
from deadheat.core.libraries import polars as pl
from deadheat.core.structures import copy_with
from deadheat.plugins.topk.by_position import NO_DOCUMENT
from deadheat.plugins.topk.rows import TopkRows

Matrix: TypeAlias = NDArray[Any]

SAMPLE = 1000  # rows
SHAPE = "an array of shape (n_queries, k)"


def run_of_topk(
    ids: ArrayLike, scores: ArrayLike | None, query_ids: ArrayLike | None, *, ascending: bool, name: str | None
) -> Run:
    """Return the run that `Run.from_topk` describes."""
    where = name or "run"
    documents = _read_documents(ids, where)
    has_document = _has_document(documents, where)
    numbers = _number_ranks(has_document) if scores is None else _read_scores(scores, documents.shape, where)
    if not has_document.all():
        numbers = np.where(has_document, numbers, np.nan)
    if ascending and scores is None:
        raise ParameterError(argument="ascending", given=True, allowed="False without scores: ids stand in their order")
    if scores is not None:
        warn_of_list_order(_find_order(numbers, ascending=ascending), where, ascending=ascending)
    queries = _read_queries(query_ids, len(documents), where)

    is_bare = np.isnan(numbers).all(axis=1)
    bare = tuple(sorted(queries.filter(pl.Series(is_bare)).to_list()))
    if documents.dtype.kind not in "iu" or _exceeds_int64(documents):
        run = Run(_frame_of(documents, numbers, queries), name=name, ascending=ascending)
        return copy_with(run, bare=bare)
    notes: tuple[str, ...] = () if scores is not None else (str(RANKED),)
    if ascending:
        numbers = 0.0 - numbers
        notes = (LOWER_FIRST,)
    rows = TopkRows(queries, documents.astype(np.int64, copy=False), numbers, is_by_position=query_ids is None)
    return copy_with(
        Run.__new__(Run), path=None, name=where, format=None, columns={}, notes=notes, rows=rows, bare=bare
    )


def _read_documents(ids: ArrayLike, where: str) -> Matrix:
    """Return ids of documents, of shape (n_queries, k): whole numbers, or objects that are text or no document."""
    documents = _as_array("ids", ids)
    if documents.ndim != 2:
        raise ParameterError(argument="ids", found=f"shape {documents.shape}", allowed=SHAPE)
    if not documents.size:
        raise DataError("ids are empty", path=where)
    if documents.dtype.kind == "f":
        return _whole_numbers(documents, where)
    if documents.dtype.kind not in "iuUOT":
        raise ParameterError(argument="ids", found=f"an array of {documents.dtype}", allowed="whole numbers or texts")
    return documents


def _whole_numbers(documents: Matrix, where: str) -> Matrix:
    """Return ids that are floats, as arrays with NaN are, as whole numbers."""
    is_missing = np.isnan(documents)
    is_wrong = ~is_missing & ((documents != np.rint(documents)) | are_beyond(documents))
    if is_wrong.any():
        raise DataError(
            f"ids hold {documents[is_wrong][0]!s}", allowed="whole numbers up to 2**53, or NaN for none", path=where
        )
    return np.where(is_missing, NO_DOCUMENT, documents).astype(np.int64)


def _has_document(documents: Matrix, where: str) -> BoolArray:
    """Tell where there is a document: -1, None, NaN and an empty text are none."""
    if documents.dtype.kind == "u":
        return np.ones(documents.shape, np.bool_)
    if documents.dtype.kind == "i":
        is_wrong = documents < NO_DOCUMENT
        if is_wrong.any():
            raise DataError(
                f"ids hold {documents[is_wrong][0]}", allowed="whole numbers from 0 on, or -1 for none", path=where
            )
        return documents != NO_DOCUMENT
    is_missing = (documents == None) | (documents == "") | (documents != documents)  # noqa: E711, PLR0124 - of arrays
    return ~np.asarray(is_missing, np.bool_)


def _number_ranks(has_document: BoolArray) -> FloatArray:
    """Return scores for documents that have none: they rank in their order."""
    return -np.cumsum(has_document, axis=1, dtype=np.float64)


def _read_scores(scores: ArrayLike, shape: tuple[int, ...], where: str) -> FloatArray:
    """Return scores as floats; NaN where there is no document."""
    numbers = _as_array("scores", scores)
    if numbers.shape != shape:
        raise ParameterError(argument="scores", found=f"shape {numbers.shape}", allowed=f"the shape of ids, {shape}")
    if numbers.dtype.kind not in "fiub":
        raise ParameterError(argument="scores", found=f"an array of {numbers.dtype}", allowed="numbers")
    is_beyond = are_beyond(numbers) & ~np.isinf(numbers) if numbers.dtype.itemsize == 8 else None
    if is_beyond is not None and is_beyond.any():
        raise DataError(f"scores hold {numbers[is_beyond][0]!s}, {BEYOND}", path=where)
    return numbers.astype(np.float64, copy=False)


def _find_order(scores: FloatArray, *, ascending: bool) -> ListOrder | None:
    """Return the order of all rows where it is the opposite of the one that was said; None for any other."""
    wrong_order: ListOrder = "fall" if ascending else "rise"
    for n_rows in (SAMPLE, len(scores)):  # most arrays show in their first rows that they are right
        steps = np.diff(scores[:n_rows], axis=1)
        is_wrong = steps < 0 if ascending else steps > 0
        is_right = steps > 0 if ascending else steps < 0
        if is_right.any() or not is_wrong.any():
            return None
    return wrong_order if scores.shape[1] >= FEWEST_ORDERED else None


def _read_queries(query_ids: ArrayLike | None, n_queries: int, where: str) -> pl.Series:
    """Return ids of queries as text: those that are given, or their places."""
    if query_ids is None:
        return pl.Series("query_id", np.arange(n_queries)).cast(pl.String)
    given = _as_array("query_ids", query_ids)
    if given.shape != (n_queries,):
        raise ParameterError(
            argument="query_ids", found=f"shape {given.shape}", allowed=f"one id for each of {n_queries:,} rows of ids"
        )
    if given.dtype.kind in "iu":
        names = pl.Series("query_id", given).cast(pl.String)
    else:
        texts = given.tolist()
        check_ids(texts, where)
        names = pl.Series("query_id", texts, dtype=pl.String)
    is_repeated = names.is_duplicated()
    if is_repeated.any():
        repeated = names.filter(is_repeated)[0]
        raise DataError(f"query_ids hold {repeated!r} twice", allowed="each query once", path=where)
    return names


def _exceeds_int64(documents: Matrix) -> bool:
    """Tell whether ids are unsigned, and some beyond what signed numbers hold."""
    return documents.dtype.kind == "u" and int(documents.max()) > np.iinfo(np.int64).max


def _frame_of(documents: Matrix, scores: FloatArray, queries: pl.Series) -> pl.DataFrame:
    """Return the rows of documents whose ids are texts, or too large for int64."""
    query, column = np.nonzero(~np.isnan(scores))
    ids = documents[query, column]
    doc_ids = pl.Series(ids).cast(pl.String) if ids.dtype.kind == "u" else ids.tolist()
    return pl.DataFrame({"query_id": queries.gather(query), "doc_id": doc_ids, "score": scores[query, column]})


def _as_array(argument: str, given: ArrayLike) -> Matrix:
    """Return an array of NumPy; PyTorch's come from their device."""
    to_host = getattr(given, "cpu", None)
    if callable(to_host):
        given = to_host().detach() if hasattr(given, "detach") else to_host()
    return array_of(argument, given)
