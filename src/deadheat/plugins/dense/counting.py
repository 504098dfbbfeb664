"""Placements of a matrix of scores, queries by documents: judged documents are compared with their row."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from deadheat.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, TextArray
from deadheat.core.checks import array_of
from deadheat.core.errors import DataError, DeadheatWarning, ParameterError
from deadheat.core.io.guarding import check_threads
from deadheat.core.io.ids import NUL, make_nul_error
from deadheat.core.io.values import are_beyond
from deadheat.core.libraries import polars as pl
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements
from deadheat.core.placements.placements import Placements
from deadheat.core.wording import format_count
from deadheat.plugins.dense.comparing import (
    Array,
    Matrix,
    compare,
    compare_some,
    detached,
    device_of,
    first_wrong,
    in_memory,
    is_short,
    library_of,
    on_device,
    to_memory,
    widened,
)
from deadheat.plugins.dense.lists import Lists, first_of, ties_of

LOOKED = 8  # rows that are looked at
NUMBERS = "numbers of shape (n_queries, n_documents)"
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

    def of_rows(self, rows: slice) -> slice:
        """Return which entries belong to some queries."""
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


@dataclass(frozen=True, eq=False)
class Counted:
    """What the scores of some queries say of their judged documents: all that an evaluation needs.

    Attributes
    ----------
    query_ids : ndarray of str, shape (n_queries,)
        In the order of the rows.
    n_retrieved : ndarray of int, shape (n_queries,)
    query : ndarray of int, shape (n_judged,)
        Index into `query_ids` of each judgment, ascending.
    doc_ids : ndarray of str, shape (n_judged,)
    relevance : ndarray of float, shape (n_judged,)
    above, tied : ndarray of int, shape (n_judged,)
        As in `Placements`; both 0 for a document that is not retrieved.
    lists : Lists or None
        The first documents of each list, judged or not, if they were asked for.
    retrieves_itself : ndarray of bool, shape (n_queries,), or None
        Which queries retrieve a document that has their id; None if unknown.
    """

    query_ids: TextArray
    n_retrieved: IntArray
    query: IntArray
    doc_ids: TextArray
    relevance: FloatArray
    above: IntArray
    tied: IntArray
    lists: Lists | None = None
    retrieves_itself: BoolArray | None = None

    @classmethod
    def joined(cls, parts: Sequence[Counted]) -> Counted:
        """Return several, of different queries, as one."""
        starts = np.cumsum([0] + [len(one.query_ids) for one in parts[:-1]])
        lists = [one.lists for one in parts if one.lists is not None]
        own = [one.retrieves_itself for one in parts if one.retrieves_itself is not None]
        return cls(
            np.concatenate([one.query_ids for one in parts]),
            np.concatenate([one.n_retrieved for one in parts]),
            np.concatenate([one.query + start for one, start in zip(parts, starts, strict=True)]),
            np.concatenate([one.doc_ids for one in parts]),
            np.concatenate([one.relevance for one in parts]),
            np.concatenate([one.above for one in parts]),
            np.concatenate([one.tied for one in parts]),
            Lists.joined(lists) if lists else None,
            np.concatenate(own) if len(own) == len(parts) else None,
        )

    def select(self, keep: BoolArray) -> Counted:
        """Return some queries.

        Parameters
        ----------
        keep : ndarray of bool, shape (n_queries,)
        """
        code, rows = np.cumsum(keep) - 1, keep[self.query]
        return Counted(
            self.query_ids[keep],
            self.n_retrieved[keep],
            code[self.query[rows]],
            self.doc_ids[rows],
            self.relevance[rows],
            self.above[rows],
            self.tied[rows],
            self.lists and self.lists.select(keep),
            None if self.retrieves_itself is None else self.retrieves_itself[keep],
        )

    def rows_of(self, query: int) -> tuple[int, list[tuple[str, float, int, int]]]:
        """Return how many documents a query retrieved, and its judgments in the order of their documents."""
        first, last = np.searchsorted(self.query, (query, query + 1))
        columns = (self.doc_ids, self.relevance, self.above, self.tied)
        return int(self.n_retrieved[query]), sorted(zip(*(one[first:last].tolist() for one in columns), strict=True))

    def placements(self) -> Placements:
        """Return the placements; every query is one of theirs, also without judgments."""
        rank = np.empty(len(self.query_ids), np.int64)
        order = np.argsort(self.query_ids)  # by code point
        rank[order] = np.arange(len(order))
        rows = self.tied > 0
        lists = RetrievedLists(
            self.query_ids[order],
            self.n_retrieved[order],
            ends_in_tie=np.zeros(len(order), np.bool_),  # all documents have a score: nothing was cut
            retrieves_itself=None if self.retrieves_itself is None else self.retrieves_itself[order],
        )
        return build_placements(
            lists,
            PlacedRows(
                rank[self.query[rows]],
                self.doc_ids[rows],
                self.relevance[rows],
                self.above[rows],
                self.tied[rows],
            ),
            judged_query=rank[self.query],
            judged_relevance=self.relevance,
        )

    def judgments(self) -> pl.DataFrame:
        """Return query_id, doc_id and relevance of every judgment."""
        check_threads()
        return pl.DataFrame(
            {
                "query_id": self.query_ids[self.query].tolist(),
                "doc_id": self.doc_ids.tolist(),
                "relevance": self.relevance,
            },
            schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64},
        )


def count_dense(
    scores: object,
    relevant: object,
    *,
    exclude: object = None,
    mask: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    depth: int | None = None,
) -> Counted:
    """Count the documents above and tied with each judged one in a matrix of scores; each row is a query.

    Parameters
    ----------
    scores, relevant, exclude, mask, query_ids, doc_ids
        As for :func:`deadheat.evaluate_dense`; `relevant` may be `NOTHING`.
    depth : int, optional
        Ranks of which all documents are to be found too.
    """
    given = numbers_of(scores, "scores", NUMBERS, SWAPPED, for_each=(relevant, exclude, mask))
    shape = (int(given.shape[0]), int(given.shape[1]))
    matrix = Matrix(given, None if mask is None else _mask_of(mask, given, shape))
    queries, documents = checked_ids(query_ids, shape[0], "query_ids"), checked_ids(doc_ids, shape[1], "doc_ids")
    judged = NOTHING if relevant is NOTHING else entries_of(relevant, shape, "relevant")
    _doubt_order(given, relevant)
    left_out = left_out_of(exclude, judged, shape)
    is_kept = matrix.is_kept(judged.query, judged.document)
    left_out = left_out.select(matrix.is_kept(left_out.query, left_out.document))
    above, tied = found = np.zeros((2, len(judged.query)), np.int64)
    found[:, is_kept], first = _count(matrix, judged.select(is_kept), left_out, depth, (queries, documents))
    n_left_out = np.bincount(left_out.query, minlength=shape[0])
    names = ids_at(queries, np.arange(shape[0]))
    own = None
    if are_text(query_ids) and are_text(doc_ids):
        own = own_documents(names, ids_at(documents, np.arange(shape[1])), left_out)
        own = own.select(matrix.is_kept(own.query, own.document))
    return Counted(
        names,
        matrix.n_kept() - n_left_out,
        judged.query,
        ids_at(documents, judged.document),
        judged.value,
        above,
        tied,
        first and Lists(names, ids_at(documents, np.arange(shape[1])), *first, depth),
        None if own is None else np.bincount(own.query, minlength=shape[0]) > 0,
    )


def are_text(ids: ArrayLike | None) -> bool:
    """Tell whether ids are given, as text: numbers count rows and columns, such as users and items, each by itself."""
    return ids is not None and array_of("ids", ids).dtype.kind not in "iu"


def own_documents(queries: TextArray, documents: TextArray, left_out: Entries) -> Entries:
    """Return the documents that have the id of a query and are not left out for it."""
    rows = pl.DataFrame({"id": queries.tolist(), "query": np.arange(len(queries))})
    columns = pl.DataFrame({"id": documents.tolist(), "document": np.arange(len(documents))})
    both = rows.join(columns, on="id", maintain_order="left")
    query, document = both["query"].to_numpy(), both["document"].to_numpy()
    n = len(documents)
    is_left_out = np.isin(query * n + document, left_out.query * n + left_out.document)
    return Entries(query, document, np.ones(len(query))).select(~is_left_out)


def left_out_of(exclude: object, judged: Entries, shape: tuple[int, int]) -> Entries:
    """Return the documents that are not retrieved; raise if one is judged."""
    if exclude is None:
        return NOTHING
    left_out = entries_of(exclude, shape, "exclude")
    n = shape[1]
    both = np.intersect1d(judged.query * n + judged.document, left_out.query * n + left_out.document)
    if len(both):
        query, document = divmod(int(both[0]), n)
        raise ParameterError(
            f"names document {document} of query {query}, which is judged",
            argument="exclude",
            hint="leave it out of one of them",
        )
    return left_out


def numbers_of(
    given: object, argument: str, allowed: str, hint: str | None = None, *, for_each: Sequence[object] = ()
) -> Array:
    """Return a matrix of numbers, where it is; raise for anything else.

    Parameters
    ----------
    given : object
    argument, allowed : str
        For messages.
    hint : str, optional
        What to do with a sparse matrix or lists of several lengths, which can only be judgments.
    for_each : sequence, default ()
        What has an entry for each row, if a vector is the same row for all of them.
    """
    if hint and hasattr(given, "tocoo"):
        raise ParameterError(argument=argument, found="a sparse matrix", allowed=f"an array of {allowed}", hint=hint)
    held = detached(given) if on_device(given) else in_memory(given)
    try:
        found: Any = held if on_device(held) else np.asarray(held)
    except ValueError:
        raise ParameterError(
            argument=argument,
            found="lists of several lengths",
            allowed=f"an array of {allowed}",
            hint=hint,
        ) from None
    if isinstance(found, np.ndarray):
        is_number = found.dtype.kind in "fiub" or is_short(found.dtype)
    else:
        is_number = "complex" not in str(found.dtype)
    found = _as_rows(found, for_each)
    is_matrix, is_empty = len(found.shape) == 2, 0 in found.shape
    if not is_matrix or is_empty or not is_number:
        raise ParameterError(
            argument=argument,
            found=f"shape {tuple(found.shape)}, dtype {found.dtype}",
            allowed=f"{allowed}, at least one of each" if is_matrix and is_empty else allowed,
        )
    return found


def _as_rows(numbers: Array, for_each: Sequence[object]) -> Array:
    """Return a vector as the same row for each entry of the first list or array; anything else as it is."""
    beside: Any = next((one for one in for_each if hasattr(one, "shape") or isinstance(one, Sequence)), None)
    if len(numbers.shape) != 1 or beside is None:
        return numbers
    n_rows = beside.shape[0] if hasattr(beside, "shape") else len(beside)
    return library_of(numbers).broadcast_to(numbers, (n_rows, numbers.shape[0]))


def _mask_of(mask: object, scores: Array, shape: tuple[int, int]) -> Array:
    """Return a mask as an array beside the scores."""
    allowed = f"an array of True and False of shape {shape}"
    if on_device(mask) != on_device(scores) or (on_device(mask) and device_of(mask) != device_of(scores)):
        raise ParameterError(
            argument="mask",
            found=f"one on {device_of(mask)}",
            allowed=f"{allowed} on the device of the scores, {device_of(scores)}",
        )
    found: Any = mask if on_device(mask) else np.asarray(in_memory(mask))
    if tuple(found.shape) != shape or "bool" not in str(found.dtype):
        raise ParameterError(argument="mask", found=f"shape {tuple(found.shape)}, dtype {found.dtype}", allowed=allowed)
    return found


def _doubt_order(scores: Array, relevant: object) -> None:
    """Warn the user if scores and relevance look swapped: scores are only 0 and 1, and relevance has fractions."""
    if not isinstance(relevant, np.ndarray) or relevant.dtype.kind != "f" or on_device(scores):
        return
    some, judged = widened(cast("AnyArray", scores[:LOOKED])), relevant[:LOOKED]
    if np.isin(some, (0, 1)).all() and (judged % 1 != 0).mean() > 1 / 2:
        warnings.warn(f"scores are 0 and 1, and relevant has fractions: {SWAPPED}", DeadheatWarning, stacklevel=4)


def checked_ids(given: ArrayLike | None, size: int, argument: str) -> TextArray | None:
    """Return the ids of rows or columns as text, if some are given.

    Parameters
    ----------
    given : array-like of str or int, optional
    size : int
    argument : str
        For messages.
    """
    if given is None:
        return None
    found = array_of(argument, given)
    values = given if isinstance(given, list | tuple) else found.tolist()  # an array of text loses a NUL at its end
    for value in values:
        if isinstance(value, str) and NUL in value:
            raise make_nul_error(value, argument)
    if found.shape != (size,) or (
        found.dtype.kind not in "iuU" and set(map(type, found.tolist())) not in ({str}, {int})
    ):
        raise ParameterError(
            argument=argument,
            found=f"shape {found.shape}, dtype {found.dtype}",
            allowed=f"{size:,} ids, all text or all whole numbers",
        )
    ids: TextArray = found.astype(str).astype(object)
    twice = next((one for one, n_times in Counter(ids.tolist()).items() if n_times > 1), None)
    if twice is not None:
        raise ParameterError(f"has an id twice: {twice!r}", argument=argument)
    return ids


def ids_at(ids: TextArray | None, places: IntArray) -> TextArray:
    """Return the ids of some rows or columns: those that are given, or their numbers."""
    return np.array(list(map(str, places.tolist())), object) if ids is None else ids[places]


def _count(
    matrix: Matrix,
    judged: Entries,
    left_out: Entries,
    depth: int | None,
    ids: tuple[TextArray | None, TextArray | None],
) -> tuple[IntArray, tuple[IntArray, IntArray, IntArray, IntArray] | None]:
    """Count the documents above and tied with each judged one, without those that are left out.

    With a depth also find query, document, above and tied of the first documents of each list.
    """
    above_and_tied = np.zeros((2, len(judged.query)), np.int64)
    lists: list[tuple[IntArray, ...]] = []
    for rows, pieces in matrix.pieces():
        own, others = judged.of_rows(rows), left_out.of_rows(rows)
        row, scores = judged.query[own] - rows.start, matrix.at(judged.query[own], judged.document[own])
        row_out, document_out = left_out.query[others] - rows.start, left_out.document[others]
        first: list[tuple[IntArray, IntArray, AnyArray]] = []
        for columns in pieces:
            piece = matrix.piece(rows, columns)
            if wrong := first_wrong(piece):
                places = (rows.start + wrong[0], columns.start + wrong[1])
                query, document = (ids_at(some, np.array([at]))[0] for some, at in zip(ids, places, strict=True))
                raise DataError(f"score of document {document} for query {query} is NaN")
            above_and_tied[:, own] += compare(piece, row, scores)
            if depth is not None:
                here = (columns.start <= document_out) & (document_out < columns.stop)
                found = first_of(piece, row_out[here], document_out[here] - columns.start, depth)
                first.append((found[0], found[1] + columns.start, found[2]))
        if others.start < others.stop:
            out = to_memory(matrix.at(left_out.query[others], left_out.document[others]))
            above_and_tied[:, own] -= compare_some(row, to_memory(scores), row_out, out)
        if depth is not None:
            query, *placed = ties_of(first, depth)
            lists.append((query + np.int32(rows.start), *placed))
    if depth is None:
        return above_and_tied, None
    of_query, document, before, beside = (np.concatenate(each) for each in zip(*lists, strict=True))
    return above_and_tied, (of_query, document, before, beside)


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
    held = given if on_device(given) else in_memory(given)
    if on_device(given) or (isinstance(held, np.ndarray) and held.dtype != object):
        return _of_array(held, shape, argument)
    if isinstance(held, Sequence | np.ndarray) and not isinstance(held, str | bytes):
        return _of_lists(cast("Sequence[Any]", held), shape, argument)
    hint = None
    if isinstance(given, Mapping):
        hint = "give the columns for each row of scores, as [[0, 4], [2]]; evaluate() takes dicts of ids"
    raise _wrong(argument, type(given).__name__, shape, hint)


def _wrong(argument: str, given: str, shape: tuple[int, int], hint: str | None = None) -> ParameterError:
    return ParameterError(
        argument=argument,
        found=given,
        allowed=f"a list of {shape[0]:,} lists of column numbers, a sparse matrix or an array of shape {shape}",
        hint=hint,
    )


def _of_sparse(given: Any, shape: tuple[int, int], argument: str) -> Entries:  # noqa: ANN401 - any sparse class of SciPy
    if given.shape != shape:
        hint = "scores are queries by documents: transpose one of both" if given.shape == shape[::-1] else None
        raise _wrong(argument, f"a sparse matrix of shape {given.shape}", shape, hint)
    found = given.tocsr().copy()
    found.sum_duplicates()  # and sorts
    found.eliminate_zeros()
    coordinates = found.tocoo()
    return _checked(coordinates.row, coordinates.col, np.asarray(coordinates.data), argument)


def _of_array(given: Any, shape: tuple[int, int], argument: str) -> Entries:  # noqa: ANN401 - an array of any library
    """Read an array where it is: what is 0 stays there."""
    if isinstance(given, np.matrix):  # whose rows are matrices, too
        given = np.asarray(given)
    xp, kind = library_of(given), getattr(given.dtype, "kind", None)
    if tuple(given.shape) != shape or (xp is np and kind not in set("fiub")):
        error = _wrong(argument, f"an array of shape {tuple(given.shape)} and dtype {given.dtype}", shape)
        error.hint = SWAPPED if argument == "relevant" and kind == "f" else None
        raise error
    places = xp.nonzero(given)
    query, document = map(to_memory, places)
    return _checked(query, document, to_memory(given[places]), argument)


def _checked(query: IntArray, document: IntArray, values: AnyArray, argument: str) -> Entries:
    numbers, beyond = values.astype(np.float64), are_beyond(values)
    wrong = np.flatnonzero(beyond | ~np.isfinite(numbers))
    if len(wrong):
        at = wrong[0]
        problem = "beyond 2**53: float64 would round it" if beyond[at] else "expected a finite number"
        raise DataError(f"{argument} of query {query[at]} and document {document[at]} is {values[at]!s}, {problem}")
    return Entries(query.astype(np.int64), document.astype(np.int64), numbers)


def _of_lists(given: Sequence[Any], shape: tuple[int, int], argument: str) -> Entries:
    if len(given) != shape[0]:
        raise _wrong(argument, f"{format_count(len(given), 'list')}", shape)
    rows: list[IntArray] = []
    for number, some in enumerate(given):
        own = to_memory(some) if on_device(some) else in_memory(list(some) if hasattr(some, "iloc") else some)
        # another iterable, such as a set, becomes a list
        row = np.asarray(list(own) if isinstance(own, Iterable) and not isinstance(own, np.ndarray | Sequence) else own)
        if row.size and (row.ndim != 1 or row.dtype.kind not in "iu"):
            raise _wrong(argument, f"{some!r} for query {number}", shape)
        outside = row[(row < 0) | (row >= shape[1])]  # before the cast, in which a large number would wrap around
        if len(outside):
            raise ParameterError(
                f"names document {outside[0]} of query {number}, expected a column from 0 to {shape[1] - 1}",
                argument=argument,
            )
        found = np.unique(row.astype(np.int64))
        if len(found) != len(row):
            twice = next(one for one in found.tolist() if (row == one).sum() > 1)
            raise ParameterError(f"names document {twice} of query {number} twice", argument=argument)
        rows.append(found)
    document = np.concatenate(rows)
    return Entries(np.repeat(np.arange(shape[0]), [len(row) for row in rows]), document, np.ones(len(document)))
