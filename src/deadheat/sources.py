"""Dicts of dicts as users hold them: checked, and their numbers as arrays."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from deadheat.errors import EmptyDataError, RelevanceError, ScoreError, SourceTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deadheat.arrays import FloatArray
    from deadheat.io import Kind

    Nested = Mapping[str, Mapping[str, float]]

VALUE = {"qrels": "relevance", "run": "score"}
VALUE_ERROR: dict[str, type[RelevanceError | ScoreError]] = {"qrels": RelevanceError, "run": ScoreError}
LARGEST_INTEGER = 2**53  # beyond it float64 merges neighbouring integers


def frame_of_mapping(mapping: Nested, kind: Kind) -> pl.DataFrame:
    """Build a frame from a checked dict of dicts, in its order."""
    lengths = [len(documents) for documents in mapping.values()]
    queries = pl.Series("query_id", list(mapping), pl.String)
    docs = [doc for documents in mapping.values() for doc in documents]
    return pl.DataFrame(
        {
            "query_id": queries.gather(np.repeat(np.arange(len(lengths)), lengths)),
            "doc_id": pl.Series(docs, dtype=pl.String),
            VALUE[kind]: all_numbers(mapping, list(mapping), kind, kind) + 0.0,  # -0.0 becomes 0.0
        }
    )


def check_mapping(source: Mapping[Any, Any], kind: Kind, where: str) -> Nested:
    """Check the outer shape of a dict of dicts; :func:`all_numbers` checks the numbers, once."""
    if not any(source.values()):
        msg = "empty: no document in it" if source else "empty: no query in it"
        raise EmptyDataError(msg, path=where)
    for query, documents in source.items():
        if not isinstance(documents, Mapping):
            msg = f"expected a dict of dicts {{query: {{document: {VALUE[kind]}}}}}, got {documents!r} for {query!r}"
            raise SourceTypeError(msg)
        for given in (query, next(iter(documents), "")):
            if not isinstance(given, str):
                msg = f"ids are text, got {given!r} ({type(given).__name__}): write str(id) for every id"
                raise SourceTypeError(msg)
    return source


def all_numbers(mapping: Nested, queries: Sequence[str], kind: Kind, where: str) -> FloatArray:
    """Return the numbers of some queries of a dict of dicts, checked, one after the other in its order.

    Numbers are looked at one by one only if one of them may be wrong.
    """
    numbers = np.empty(sum(len(mapping[query]) for query in queries))
    at = 0
    try:
        # Packing is faster than np.fromiter, and refuses text, which that would read as numbers.
        for query in queries:
            values = mapping[query].values()
            struct.pack_into(f"{len(values)}d", numbers.data, at, *values)
            at += len(values) * numbers.itemsize
    except (struct.error, TypeError, OverflowError):
        check_all(mapping, queries, kind, where)
        raise
    if len(numbers) and not (numbers.min() > -LARGEST_INTEGER and numbers.max() < LARGEST_INTEGER):
        check_all(mapping, queries, kind, where)  # NaN, infinite, or perhaps an integer that was rounded
    return numbers


def check_all(mapping: Nested, queries: Sequence[str], kind: Kind, where: str) -> None:
    """Raise for the first number that cannot be evaluated."""
    for query in queries:
        for doc, value in mapping[query].items():
            check_number(kind, query, doc, value, where)


def check_number(kind: Kind, query: str, doc: str, value: Any, where: str) -> None:  # noqa: ANN401 - to be found out
    """Raise if a value is not a number that can be evaluated."""
    place, error = f"{VALUE[kind]} of document {doc!r} for query {query!r}", VALUE_ERROR[kind]
    try:
        number = None if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        number = None
    except OverflowError:
        number = float("inf")
    if number is None:
        msg = f"{place} is not a number: {value!r}"
    elif np.isnan(number):
        msg = f"{place} is NaN"
    elif kind == "qrels" and np.isinf(number):
        msg = f"{place} is infinite: {value!r}"
    elif isinstance(value, int | np.integer) and abs(int(value)) > LARGEST_INTEGER:
        msg = f"{place} is {value}, an integer beyond 2**53, where float64 merges neighbours; rescale it"
    else:
        return
    raise error(msg, path=where)
