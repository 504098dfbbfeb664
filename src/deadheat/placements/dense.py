"""Placements of a matrix of scores, queries by documents: judged documents are compared with their row."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.arrays import FloatArray, IntArray, TextArray
from deadheat.errors import ParameterError, RelevanceError, ScoreError, SwappedDataWarning
from deadheat.placements.placements import Placements, sort_rows
from deadheat.wording import Plain, counted

SWAPPED = "were scores and relevant given in the wrong order? It is evaluate_dense(scores, relevant)"
LOOKED = 8  # rows that are looked at
MANY = 16  # judged documents of a query from which sorting its scores is cheaper than comparing each


@dataclass(frozen=True, eq=False)
class Entries:
    """Some documents of each query, with a number each: judgments, or documents to leave out.

    Attributes
    ----------
    query, document : ndarray of int, shape (n,)
        Row and column of the matrix, sorted.
    value : ndarray of float, shape (n,)
    """

    query: IntArray
    document: IntArray
    value: FloatArray

    def places(self, shape: tuple[int, int]) -> IntArray:
        """Return where they are in the flattened matrix."""
        return self.query * shape[1] + self.document


_NOTHING = Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def entries_of(given: object, shape: tuple[int, int], argument: str) -> Entries:
    """Read a list of lists of column indices, a SciPy sparse matrix, or an array of the scores' shape.

    Entries of 0 in a matrix are none: unjudged documents, or documents to keep.

    Parameters
    ----------
    given : object
    shape : tuple of int
        Of the scores.
    argument : {"relevant", "exclude"}
        For messages.
    """
    if hasattr(given, "tocoo"):
        return _of_sparse(given, shape, argument)
    if isinstance(given, np.ndarray) and given.dtype != object:
        return _of_array(given, shape, argument)
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes):
        return _of_lists(cast("Sequence[ArrayLike]", given), shape, argument)
    raise _wrong(argument, type(given).__name__, shape)


def _wrong(argument: str, given: str, shape: tuple[int, int]) -> ParameterError:
    allowed = f"a list of {shape[0]:,} lists of column numbers, a sparse matrix or an array of shape {shape}"
    return ParameterError(argument=argument, given=Plain(given), allowed=allowed)


def _of_sparse(given: Any, shape: tuple[int, int], argument: str) -> Entries:  # noqa: ANN401 - any sparse class of SciPy
    if given.shape != shape:
        raise _wrong(argument, f"a sparse matrix of shape {given.shape}", shape)
    found = given.tocsr().copy()
    found.sum_duplicates()  # and sorts
    coordinates = found.tocoo()
    values = np.asarray(coordinates.data)
    is_entry = values != 0
    return _checked(coordinates.row[is_entry], coordinates.col[is_entry], values[is_entry], argument)


def _of_array(given: NDArray[Any], shape: tuple[int, int], argument: str) -> Entries:
    if given.shape != shape or given.dtype.kind not in "fiub":
        error = _wrong(argument, f"an array of shape {given.shape} and dtype {given.dtype}", shape)
        error.hint = SWAPPED if argument == "relevant" and given.dtype.kind == "f" else None
        raise error
    query, document = np.nonzero(given)
    return _checked(query, document, given[query, document], argument)


def _checked(query: IntArray, document: IntArray, values: NDArray[Any], argument: str) -> Entries:
    numbers = values.astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        at = wrong[0]
        message = (
            f"{argument} of query {query[at]} and document {document[at]} is {numbers[at]}, expected a finite number"
        )
        raise RelevanceError(message)
    return Entries(query.astype(np.int64), document.astype(np.int64), numbers)


def _of_lists(given: Sequence[ArrayLike], shape: tuple[int, int], argument: str) -> Entries:
    if len(given) != shape[0]:
        raise _wrong(argument, f"{counted(len(given), 'list')}", shape)
    rows: list[IntArray] = []
    for number, some in enumerate(given):
        try:
            row = np.asarray(some if isinstance(some, np.ndarray | Sequence) else list(cast("Any", some)))
        except TypeError:
            raise _wrong(argument, f"{some!r} for query {number}", shape) from None
        if row.size and (row.ndim != 1 or row.dtype.kind not in "iu"):
            raise _wrong(argument, f"{some!r} for query {number}", shape)
        row = row.astype(np.int64)
        outside = row[(row < 0) | (row >= shape[1])]
        if len(outside):
            message = f"document {outside[0]} of query {number}, expected a column from 0 to {shape[1] - 1}"
            raise ParameterError(f"names {message}", argument=argument)
        found = np.unique(row)
        if len(found) != len(row):
            twice = next(one for one in found.tolist() if (row == one).sum() > 1)
            raise ParameterError(f"names document {twice} of query {number} twice", argument=argument)
        rows.append(found)
    sizes = np.array([len(row) for row in rows], np.int64)
    document = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return Entries(np.repeat(np.arange(shape[0]), sizes), document, np.ones(len(document)))


def _matrix_of(scores: object) -> NDArray[Any]:
    """Return scores as an array; raise for what can only be judgments: a sparse matrix, lists of several lengths."""
    given = "a sparse matrix" if hasattr(scores, "tocoo") else ""
    try:
        if not given:
            return np.asarray(scores)
    except ValueError:
        given = "lists of several lengths"
    allowed = "an array of numbers, of shape (n_queries, n_documents)"
    raise ParameterError(argument="scores", given=Plain(given), allowed=allowed, hint=SWAPPED)


def _doubt_order(scores: NDArray[Any], relevant: object) -> None:
    """Warn the user if a few rows look swapped: scores that are 0 and 1 alone, and relevance with fractions."""
    if not isinstance(relevant, np.ndarray) or relevant.dtype.kind != "f":
        return
    some, judged = scores[:LOOKED], relevant[:LOOKED]
    if np.isin(some, (0, 1)).all() and (judged % 1 != 0).mean() > 1 / 2:
        warnings.warn(f"scores are 0 and 1, and relevant has fractions: {SWAPPED}", SwappedDataWarning, stacklevel=4)


def place_dense(
    scores: ArrayLike,
    relevant: object,
    *,
    exclude: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
) -> Placements:
    """Return the placements of the judged documents in a matrix of scores; each row is a query, also without judgments.

    Parameters
    ----------
    scores, relevant, exclude, query_ids, doc_ids
        As for :func:`deadheat.evaluate_dense`.
    """
    matrix = _matrix_of(scores)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "fiub":
        given = Plain(f"shape {matrix.shape}, dtype {matrix.dtype}")
        raise ParameterError(argument="scores", given=given, allowed="numbers of shape (n_queries, n_documents)")
    shape = (matrix.shape[0], matrix.shape[1])
    queries, documents = _ids(query_ids, shape[0], "query_ids"), _ids(doc_ids, shape[1], "doc_ids")
    judged = entries_of(relevant, shape, "relevant")
    _doubt_order(matrix, relevant)
    if not len(judged.query):
        raise ParameterError("names no relevant document", argument="relevant")
    left_out = _NOTHING if exclude is None else entries_of(exclude, shape, "exclude")
    both = np.intersect1d(judged.places(shape), left_out.places(shape))
    if len(both):
        query, document = divmod(int(both[0]), shape[1])
        problem = f"names document {document} of query {query}, which is judged"
        raise ParameterError(problem, argument="exclude", hint="leave it out of one of both")
    above, tied = _count(matrix, judged, left_out)
    rank = np.empty(shape[0], np.int64)
    order = np.argsort(queries)
    rank[order] = np.arange(shape[0])  # queries are sorted by code point
    return sort_rows(
        queries[order],
        shape[1] - np.bincount(left_out.query, minlength=shape[0])[order],
        judged_query=rank[judged.query],
        judged_relevance=judged.value,
        rows=(rank[judged.query], documents[judged.document], judged.value, above, tied),
        unjudged_queries=(),
        ends_in_tie=np.zeros(shape[0], np.bool_),  # all documents have a score: nothing was cut
    )


def _ids(given: ArrayLike | None, size: int, argument: str) -> TextArray:
    """Return ids as text, or numbers from 0."""
    found = np.arange(size) if given is None else np.asarray(given)
    if found.shape != (size,) or (
        found.dtype.kind not in "iuU" and set(map(type, found.tolist())) not in ({str}, {int})
    ):
        shown = Plain(f"shape {found.shape}, dtype {found.dtype}")
        raise ParameterError(argument=argument, given=shown, allowed=f"{size:,} ids, all text or all whole numbers")
    texts = found.astype(str).astype(object)
    if given is not None and len(set(texts.tolist())) < size:
        raise ParameterError("has an id twice", argument=argument)
    return texts


def _count(matrix: NDArray[Any], judged: Entries, left_out: Entries) -> tuple[IntArray, IntArray]:
    """Count the documents above and tied with each judged one, those that are left out not among them."""
    above, tied = np.empty_like(judged.query), np.empty_like(judged.query)
    places = np.arange(len(matrix) + 1)
    ends, ends_out = (np.searchsorted(entries.query, places) for entries in (judged, left_out))
    for number, row in enumerate(matrix):
        if row.dtype.kind == "f" and np.isnan(row).any():
            at = np.flatnonzero(np.isnan(row))[0]
            raise ScoreError(f"score of document {at} for query {number} is NaN")
        own = slice(ends[number], ends[number + 1])
        out = row[left_out.document[ends_out[number] : ends_out[number + 1]]]
        some = row[judged.document[own]]
        above[own], tied[own] = np.subtract(_compare(row, some), _compare(out, some))
    return above, tied


def _compare(row: NDArray[Any], own: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Count, for each of `own`, the numbers of a row above it and equal to it."""
    if len(own) > MANY:
        ordered = np.sort(row)
        first, last = (np.searchsorted(ordered, own, side) for side in ("left", "right"))
        return len(row) - last, last - first
    counts = [(np.count_nonzero(row > one), np.count_nonzero(row == one)) for one in own]
    above, equal = np.array(counts, np.int64).reshape(-1, 2).T
    return above, equal
