"""Lists of documents, one for each query: rankings without scores, pairs with scores, and relevant documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from deadheat.errors import ColumnError, DataError, DuplicateError, SourceTypeError
from deadheat.io.kinds import KEYS, VALUE_COLUMN, Kind
from deadheat.io.mappings import Nested, is_id, text_of_ids
from deadheat.io.results import CALL, Reader, described, results_in
from deadheat.wording import Plain, counted

RANKED_BY_COLUMN = "ranked by the column rank, without scores: equal ranks tie"
SHAPES: dict[Kind, str] = {
    "run": "a dict {document: score}, a ranked list of ids, or a list of (id, score)",
    "qrels": "a dict {document: relevance}, or a set, list or single id of relevant documents",
}


def nested_of(source: Mapping[Any, Any], kind: Kind, where: str) -> tuple[Nested, tuple[str, ...]]:
    """Turn lists of documents into a dict of dicts.

    Parameters
    ----------
    source : mapping
        Of queries to lists, tuples, sets, arrays or single documents.
    kind : {"qrels", "run"}
    where : str
        For messages.

    Returns
    -------
    nested : dict of dict
        The number of a document in a ranked list is minus its rank.
    notes : tuple of str
        What was assumed.

    Raises
    ------
    SourceTypeError
        The documents of a query have a shape that cannot be read, or another one than those of another query.
    DuplicateError
        A document appears twice.
    """
    reader = Reader(kind, where)
    nested = {query: documents_of(given, reader, query) for query, given in source.items()}
    return nested, reader.assumed()


def documents_of(given: object, reader: Reader, query: object, line: int | None = None) -> Mapping[str, float]:
    """Return the documents of one query with their numbers; the reader keeps how these were given."""
    kind, where = reader.kind, reader.where
    if isinstance(given, Mapping):
        if given:
            reader.saw(query, VALUE_COLUMN[kind], next(iter(given)))
        return given
    items = _items(given, kind)
    if items is None:
        raise SourceTypeError(
            given=Plain(f"{type(given).__name__} for {query!r}"),
            allowed=SHAPES[kind],
            hint=_advice(given, kind),
            path=where,
            line=line,
        )
    if any(isinstance(item, Mapping) for item in items):
        return reader.documents(items, query).numbers
    pairs = [item for item in items if isinstance(item, tuple | list) and len(item) == 2]
    if pairs and len(pairs) == len(items):
        ids, numbers = zip(*pairs, strict=True)
    else:
        ids, numbers = tuple(items), ()
    wrong = next((one for one in ids if not is_id(one)), None)
    if wrong is not None:
        raise SourceTypeError(
            f"an item for query {query!r} is no id",
            given=Plain(described(wrong)),
            allowed=SHAPES[kind],
            hint=_advice(wrong, kind),
            path=where,
            line=line,
        )
    texts = text_of_ids(ids, where)
    _check_repeats(texts, query, where, line)
    if ids:
        reader.saw(query, VALUE_COLUMN[kind] if numbers else "", ids[0])
    if numbers:
        return dict(zip(texts, numbers, strict=True))
    return {doc: -place if kind == "run" else 1 for place, doc in enumerate(texts, 1)}


def _items(given: object, kind: Kind) -> Sequence[Any] | None:
    """Return the items of one query's documents; None for what has none in an order that means something."""
    if kind == "qrels":
        if is_id(given):
            return [given]
        if isinstance(given, AbstractSet):
            return sorted(given, key=str)
    if isinstance(given, list | tuple):
        return given
    to_list = getattr(given, "tolist", None) or getattr(given, "to_list", None)  # arrays, Series
    if to_list is not None and getattr(given, "ndim", 1) == 1:
        return list(to_list())
    return None


def _advice(given: object, kind: Kind) -> str:
    """Return what would work for a shape that does not."""
    if isinstance(given, AbstractSet):
        return "a set has no order: give a list, best first"
    if is_id(given) and kind == "run":
        return "write [id] for a single document"
    is_object = not isinstance(given, float)
    return f"for objects of other libraries use {CALL[kind]}(...)" if is_object else ""


def _check_repeats(ids: Sequence[str], query: object, where: str | Path, line: int | None) -> None:
    if len(set(ids)) == len(ids):
        return
    twice = next(one for one in ids if ids.count(one) > 1)
    first, second = [place for place, one in enumerate(ids, 1) if one == twice][:2]
    message = f"document {twice!r} is listed {ids.count(twice)} times for query {query!r} (places {first} and {second})"
    raise DuplicateError(message, allowed="once", path=where, line=line)


def lists_of_rows(
    rows: Iterable[tuple[int | None, Mapping[str, Any]]], columns: Mapping[str, str], kind: Kind, path: str | Path
) -> tuple[dict[str, Mapping[str, float]], tuple[str, ...]]:
    """Read rows that have a list of documents each, with or without a list of numbers beside it.

    Parameters
    ----------
    rows : iterable of (int or None, mapping)
        The line of each, and its fields.
    columns : mapping of str to str
        From canonical name to name in the rows.
    kind : {"qrels", "run"}
    path : str or path
        For messages.
    """
    by_rank = "rank" in columns
    value = next((name for canonical, name in columns.items() if canonical not in KEYS), None)
    found: dict[str, Any] = {}
    reader = Reader(kind, str(path))
    for line, row in rows:
        query, documents = row.get(columns["query_id"]), row.get(columns["doc_id"])
        if not is_id(query):
            raise DataError(
                f"{columns['query_id']} {query!r:.60} is no id", allowed="text or a whole number", path=path, line=line
            )
        if str(query) in found:  # also as 1 and "1"
            raise DuplicateError(f"query {str(query)!r} has two lists", allowed="one", path=path, line=line)
        documents = _list_of(documents, f"{columns['doc_id']} of query {query!r}", kind, path, line)
        numbers = None if value is None else row.get(value)
        if numbers is not None:
            if not isinstance(numbers, Collection) or len(numbers) != len(documents):
                problem = f"{value} of query {query!r} is not a list of {counted(len(documents), 'number')}"
                raise ColumnError(problem, allowed=f"one for each of {columns['doc_id']}", path=path, line=line)
            scores = [_of_rank(one, query, path, line) for one in numbers] if by_rank else numbers
            documents = list(zip(documents, scores, strict=True))
        found[str(query)] = documents_of(documents, reader, query, line)
    if not any(found.values()):
        raise DataError("empty: it has no documents", path=path)
    assumed = reader.assumed()
    return found, (RANKED_BY_COLUMN,) if by_rank and not assumed else assumed


def _list_of(documents: object, what: str, kind: Kind, path: str | Path, line: int | None) -> list[Any]:
    """Return the documents of a row as a list; raise for what is none, or has no order."""
    if kind == "run" and isinstance(documents, AbstractSet):
        raise ColumnError(f"{what} is a set, which has no order", allowed="a list, best first", path=path, line=line)
    if isinstance(documents, Mapping):
        documents = results_in(documents)
    if not isinstance(documents, Collection) or isinstance(documents, str):
        raise DataError(f"{what} is {documents!r:.60}", allowed="a list of ids", path=path, line=line)
    return list(documents)


def _of_rank(rank: object, query: object, path: str | Path, line: int | None) -> float:
    """Return the score that stands for a rank."""
    if isinstance(rank, int | float) and not isinstance(rank, bool) and rank >= 1 and rank == int(rank):
        return -float(rank)
    raise DataError(f"rank for query {query!r} is {rank!r:.40}", allowed="a whole number from 1", path=path, line=line)
