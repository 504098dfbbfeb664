"""Some documents of each query, from lists of columns, a sparse matrix or an array: judgments, or what to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.arrays import AnyArray, BoolArray, FloatArray, IntArray
from deadheat.errors import DataError, ParameterError
from deadheat.io.mappings import are_beyond
from deadheat.placements.libraries import in_memory, namespace, on_device, to_memory
from deadheat.wording import Plain, counted

SWAPPED = "were scores and relevant given in the wrong order? It is evaluate_dense(scores, relevant)"


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

    def of_rows(self, rows: slice) -> slice:
        """Return which of them are those of some queries."""
        first, last = np.searchsorted(self.query, (rows.start, rows.stop))
        return slice(int(first), int(last))

    def select(self, keep: BoolArray) -> Entries:
        """Return some of them.

        Parameters
        ----------
        keep : ndarray of bool, shape (n,)
        """
        return self if keep.all() else Entries(self.query[keep], self.document[keep], self.value[keep])


NOTHING = Entries(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


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
    if on_device(given):
        return _of_device(given, shape, argument)
    given = in_memory(given)
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


def _of_device(given: Any, shape: tuple[int, int], argument: str) -> Entries:  # noqa: ANN401 - an array of any library
    """Read an array that is on another device: what is 0 stays there."""
    if tuple(given.shape) != shape:
        raise _wrong(argument, f"an array of shape {tuple(given.shape)}", shape)
    places = namespace(given).nonzero(given)
    query, document = (to_memory(one) for one in places)
    return _checked(query, document, to_memory(given[places]), argument)


def _checked(query: IntArray, document: IntArray, values: AnyArray, argument: str) -> Entries:
    numbers = values.astype(np.float64)
    beyond = are_beyond(values)
    if beyond.any():
        at = np.flatnonzero(beyond)[0]
        message = (
            f"{argument} of query {query[at]} and document {document[at]} is {values[at]!s}, beyond 2**53:"
            " float64 would round it"
        )
        raise DataError(message)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        at = wrong[0]
        message = (
            f"{argument} of query {query[at]} and document {document[at]} is {numbers[at]}, expected a finite number"
        )
        raise DataError(message)
    return Entries(query.astype(np.int64), document.astype(np.int64), numbers)


def _of_lists(given: Sequence[ArrayLike], shape: tuple[int, int], argument: str) -> Entries:
    if len(given) != shape[0]:
        raise _wrong(argument, f"{counted(len(given), 'list')}", shape)
    rows: list[IntArray] = []
    for number, some in enumerate(given):
        try:
            own = to_memory(some) if on_device(some) else in_memory(some)
            row = np.asarray(own if isinstance(own, np.ndarray | Sequence) else list(cast("Any", own)))
        except TypeError:
            raise _wrong(argument, f"{some!r} for query {number}", shape) from None
        if row.size and (row.ndim != 1 or row.dtype.kind not in "iu"):
            raise _wrong(argument, f"{some!r} for query {number}", shape)
        outside = row[(row < 0) | (row >= shape[1])]  # before the cast, in which a large number would wrap around
        row = row.astype(np.int64)
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
