"""Dicts of dicts, ``{query: {document: number}}``: checked, copied, and read into arrays."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress, repeat
from typing import Any

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import DataError, SourceTypeError
from deadheat.core.io.ids import NUL, check_ids, ids_to_text, make_id_column
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.io.values import check_number
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER

Nested = Mapping[str, Mapping[str, float]]

PACKED = 1 << 12  # numbers that are packed by one call, about; those of several queries where each has few
_ABSENT = math.nan  # no number is NaN
_PLAIN_NUMBERS = (int, float, np.integer, np.floating, np.bool_)


def build_frame(mapping: Nested, kind: Kind, where: str) -> pl.DataFrame:
    """Build a frame from a checked dict of dicts, in its order."""
    queries = list(mapping)
    n_documents = [len(documents) for documents in mapping.values()]
    query_of_row = np.repeat(np.arange(len(queries)), n_documents)
    query_ids = make_id_column(queries, where).gather(query_of_row)
    doc_ids = make_id_column(list(chain.from_iterable(mapping.values())), where)
    numbers = read_numbers(mapping, queries, kind, where) + 0.0  # -0.0 becomes 0.0
    return pl.DataFrame({"query_id": query_ids, "doc_id": doc_ids, VALUE_COLUMN[kind]: numbers})


def check_mapping(source: Mapping[Any, Any], kind: Kind, where: str) -> dict[str, Mapping[str, float]]:
    """Return the queries of a dict of dicts with their ids checked.

    A query without a document stays: in qrels nothing is relevant for it, in a run nothing was retrieved.

    :func:`read_numbers` checks the numbers, once.
    """
    if not is_dict_of_dicts(source):
        query, documents = next(item for item in source.items() if not isinstance(item[1], Mapping))
        raise SourceTypeError(
            found=f"{documents!r} for {query!r}",
            allowed=f"a dict of dicts {{query: {{document: {VALUE_COLUMN[kind]}}}}}",
        )
    if not source:
        raise DataError("empty: it has no queries", path=where)
    mapping: dict[str, Mapping[str, float]]
    mapping = dict(zip(ids_to_text(list(source), where), source.values(), strict=True))
    first_docs = [next(iter(documents)) for documents in mapping.values() if documents]
    if not set(map(type, first_docs)) <= {str}:
        ids_to_text(first_docs, where)  # raises for a mix of both
        for query, documents in mapping.items():
            mapping[query] = dict(zip(ids_to_text(list(documents), where), documents.values(), strict=True))
    _check_all_ids(mapping, where)
    return mapping


def _check_all_ids(mapping: Mapping[Any, Mapping[Any, Any]], where: str) -> None:
    """Raise for the first id of a dict of dicts that is wrong; joined, ids are seen through ten times as fast."""
    for ids in (mapping, *mapping.values()):
        try:
            text = "".join(ids)
        except TypeError:
            check_ids(list(ids), where)
            raise
        if NUL in text or "" in ids or not text.isascii():  # perhaps a lone surrogate
            check_ids(list(ids), where)


def is_dict_of_dicts(source: Mapping[Any, Any]) -> bool:
    """Return whether all values of a dict are dicts, or mappings of another class."""
    types = set(map(type, source.values()))
    return types == {dict} or all(issubclass(documents_type, Mapping) for documents_type in types)


def has_numbers(source: Mapping[Any, Any]) -> bool:
    """Tell whether this looks like a dict of dicts of numbers, as no document of another tool does.

    To look at all numbers takes long: it is all of the first query, and the last one of the others.

    Examples
    --------
    >>> has_numbers({"q1": {"d1": 2.5, "d2": 1}, "q2": {}}), has_numbers({"q1": {"hits": [{"_id": "d1"}]}})
    (True, False)
    """
    types: set[type] = set()
    for documents in source.values():
        if type(documents) is not dict:
            return False
        if not types:
            types.update(map(type, documents.values()))
        elif documents:
            types.add(type(next(reversed(documents.values()))))
    return all(issubclass(number_type, _PLAIN_NUMBERS) for number_type in types)


def copy_nested(source: Mapping[Any, Mapping[Any, Any]]) -> dict[Any, dict[Any, Any]]:
    """Return a copy of a dict of dicts that does not change with the original.

    Libraries of tensors return a number as an array without dimensions, which can be written to later. If the first
    value of a query is such an array, the numbers of the query are taken out of their arrays. NumPy's complex numbers
    become Python's, which no reader takes for real ones.

    Examples
    --------
    >>> given = {"q": {"d": np.array(1.0)}}
    >>> copy = copy_nested(given)
    >>> given["q"]["d"][...] = 5.0
    >>> copy
    {'q': {'d': 1.0}}
    """
    copies = {query: dict(documents) for query, documents in source.items()}
    for query, documents in copies.items():
        first = next(iter(documents.values()), None)
        if not isinstance(first, _PLAIN_NUMBERS) and hasattr(first, "item"):
            copies[query] = {doc: _take_number_out(value) for doc, value in documents.items()}
    return copies


def _take_number_out(value: Any) -> Any:  # noqa: ANN401 - it may be anything
    """Return the number in an array without a dimension, and any other value as it is."""
    return value.item() if getattr(value, "ndim", None) == 0 else value


def read_numbers(mapping: Nested, queries: Sequence[str], kind: Kind, where: str) -> FloatArray:
    """Return the checked numbers of the given queries of a dict of dicts, concatenated in its order.

    Numbers are checked one by one only if some number may be wrong.
    """
    n_numbers = sum(len(mapping[query]) for query in queries)
    numbers = np.empty(n_numbers)
    # queries have few numbers: so many queries together have about PACKED of them
    n_at_once = 1 + PACKED * len(queries) // (n_numbers + 1)
    end = 0
    with _check_numbers(numbers, mapping, queries, kind, where):
        for first in range(0, len(queries), n_at_once):
            values = chain.from_iterable(mapping[query].values() for query in queries[first : first + n_at_once])
            end = _pack(list(values), numbers, end)
    return numbers


@dataclass(frozen=True, eq=False)
class JudgedScores:
    """The numbers of a run and of its judgments, query by query.

    Attributes
    ----------
    scores : ndarray of float, shape (n_rows,)
    bounds : ndarray of int, shape (n_queries + 1,)
        Where the scores of each query start, and their number.
    docs : list of str, of length n_judged
        The judged documents.
    relevance : ndarray of float, shape (n_judged,)
    judged_scores : ndarray of float, shape (n_judged,)
        The scores of the judged documents, NaN where the query lacks the document.
    judged_bounds : ndarray of int, shape (n_queries + 1,)
        Where the judgments of each query start, and their number.
    """

    scores: FloatArray
    bounds: IntArray
    docs: list[str]
    relevance: FloatArray
    judged_scores: FloatArray
    judged_bounds: IntArray

    @property
    def n_retrieved(self) -> IntArray:
        """The number of scores of each query, of shape (n_queries,)."""
        return self.bounds[1:] - self.bounds[:-1]

    @property
    def n_judged(self) -> IntArray:
        """The number of judgments of each query, of shape (n_queries,)."""
        return self.judged_bounds[1:] - self.judged_bounds[:-1]


def look_up_judged(
    run: Nested, qrels: Nested, queries: Sequence[str], run_where: str, qrels_where: str
) -> JudgedScores:
    """Return the scores of a run and those of the judged documents, read together.

    A judged document is looked up right after the scores of its query are read: the dict is in the processor's cache.

    Parameters
    ----------
    run, qrels : dict of dict
    queries : sequence of str, shape (n_queries,)
        Those that have judgments; the run may lack some.
    run_where, qrels_where : str
        For messages.

    Raises
    ------
    DataError
        For the first number that cannot be evaluated.
    """
    retrieved = {query: run.get(query, {}) for query in queries}
    scores = np.empty(sum(map(len, retrieved.values())))
    bounds = [0]
    judged_bounds = [0]
    docs: list[str] = []
    relevance: list[float] = []
    scores_of_judged: list[float] = []
    waiting: list[float] = []  # scores that are not yet packed
    n_packed = 0
    with _check_numbers(scores, retrieved, queries, "run", run_where):
        for query, documents in retrieved.items():
            judged = qrels[query]
            waiting += documents.values()
            if len(waiting) > PACKED:
                n_packed = _pack(waiting, scores, n_packed)
                waiting = []
            scores_of_judged += map(documents.get, judged, repeat(_ABSENT))
            docs += judged
            relevance += judged.values()
            bounds.append(n_packed + len(waiting))
            judged_bounds.append(len(docs))
        _pack(waiting, scores, n_packed)
    levels = np.empty(len(docs))
    judged_scores = np.empty(len(docs))
    _pack(scores_of_judged, judged_scores, 0)
    with _check_numbers(levels, qrels, queries, "qrels", qrels_where):
        _pack(relevance, levels, 0)
    return JudgedScores(scores, np.array(bounds), docs, levels, judged_scores, np.array(judged_bounds))


def _pack(values: Collection[Any], numbers: FloatArray, start: int) -> int:
    """Write values into an array from a place on, and return the place after them.

    That is faster than np.fromiter, and text is refused, which np.fromiter would read as numbers.
    """
    # a call with nothing but *values makes one tuple of them; with arguments before these, a list and then a tuple
    partial(struct.pack_into, f"{len(values)}d", numbers.data, start * numbers.itemsize)(*values)
    return start + len(values)


@contextmanager
def _check_numbers(
    numbers: FloatArray, mapping: Nested, queries: Sequence[str], kind: Kind, where: str
) -> Iterator[None]:
    """Raise for the first number that cannot be evaluated, after the code inside has packed the numbers.

    Numbers are checked one by one only if one cannot be packed, or is doubtful: NaN, infinite, or so large that it may
    be a rounded integer.
    """
    try:
        yield
    except (struct.error, TypeError, ValueError, ArithmeticError):  # overflow, arrays, and decimals that signal
        for query in queries:
            for doc, value in mapping[query].items():
                check_number(kind, query, doc, value, where)
        raise
    if not len(numbers) or (numbers.min() > -LARGEST_INTEGER and numbers.max() < LARGEST_INTEGER):
        return
    is_doubtful = ~(np.abs(numbers) < LARGEST_INTEGER)
    start = 0
    for query in queries:
        documents = mapping[query].items()
        are_doubtful = is_doubtful[start : start + len(documents)]
        start += len(documents)
        if are_doubtful.any():
            for doc, value in compress(documents, are_doubtful):
                check_number(kind, query, doc, value, where)
