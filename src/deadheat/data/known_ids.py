"""The ids of a collection, to find judgments of documents that no longer exist."""

import warnings
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import polars as pl

from deadheat.data.tables import Qrels, Source, path_of
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    FileFormatError,
    Plain,
    SourceTypeError,
    changed,
    counted,
    did_you_mean,
    three,
)
from deadheat.io.frames import as_narwhals
from deadheat.io.kinds import names_of
from deadheat.io.objects import parsed, read_text
from deadheat.io.records import Wanted, format_of_records, read_records
from deadheat.io.source import decoded, read_all, readable

NAMES = ("doc_id", "id", "_id", *names_of("run")["doc_id"])
ALLOWED = "ids, {id: text}, a dataframe, or a file: a table with a column of ids, an ontology, or one id a line"
CORPUS = "corpus.jsonl"  # in a data set of BEIR


def held_against(qrels: Qrels, collection: Source, *, rel: float | None, strict: bool) -> Qrels:
    """Return qrels, with a note and a warning if relevant documents are not in a collection.

    Parameters
    ----------
    qrels : Qrels
    collection
        As for `ids_of`.
    rel : float or None
        Lowest relevance that counts as relevant; None: any above 0.
    strict : bool
        Whether to raise `DataError` instead.
    """
    relevance = pl.col("relevance")
    is_relevant = relevance > 0 if rel is None else relevance >= rel
    relevant = qrels.to_polars().filter(is_relevant)["doc_id"].unique(maintain_order=True).to_list()
    known = ids_of(collection)
    unknown = [doc for doc in relevant if doc not in known]
    if not unknown:
        return qrels
    of, are = path_of(collection) or "the collection", "is" if len(unknown) == 1 else "are"
    text = f"{len(unknown):,} of {counted(len(relevant), 'relevant document')} {are} not in {of} ({three(unknown)})"
    if strict:
        raise DataError(text, allowed="ids that exist", hint="are the judgments older?", path=qrels.where)
    warnings.warn(f"{qrels.where}: {text}: no run can find them", DeadheatWarning, stacklevel=4)
    return changed(qrels, notes=(*qrels.notes, text))


def ids_of(collection: Source) -> set[str]:
    """Return the ids of a collection.

    Parameters
    ----------
    collection : path, dataframe, mapping, `Collection`, `Ontology` or iterable of ids
        A table has a column ``doc_id``, ``id`` or ``_id``, or another name that runs may have; a file without columns
        has one id a line.

    Raises
    ------
    DataError
        There is no such file, it has no column of ids, or no id.

    Examples
    --------
    >>> sorted(ids_of({"d1": "fever", "d2": "cough"})), sorted(ids_of([1, 2]))
    (['d1', 'd2'], ['1', '2'])
    """
    path = path_of(collection)
    given: object = getattr(collection, "ids", collection)
    if path is not None:
        given = _ids_in(readable(path / CORPUS if path.is_dir() else path))
    elif hasattr(given, "collect_schema") or hasattr(given, "columns"):  # of a lazy frame the columns are expensive
        frame: Any = as_narwhals(given, "the collection")
        name = _column(frame.collect_schema().names(), "the collection")
        given = frame.lazy().select(name).collect()[name].to_list()
    if not isinstance(given, Iterable):
        raise SourceTypeError("a collection", given=Plain(type(given).__name__), allowed=ALLOWED)
    found = {str(one) for one in given if one is not None}
    if not found:
        raise DataError("a collection without a single id", allowed=ALLOWED, path=path)
    return found


def _ids_in(path: Path) -> Iterable[object]:
    try:
        form = format_of_records(path, None, Wanted(what="documents", formats=(*Wanted().formats, "obo", "owl")))
    except FileFormatError:
        return [line for line in map(str.strip, decoded(read_all(path), path).split("\n")) if line]
    if form == "json":
        held: object = parsed(read_text(path, ALLOWED), path)
        if isinstance(held, list) and held and not isinstance(held[0], Mapping):
            return held
    if form in {"json", "obo", "owl"}:
        read: Any = import_module("deadheat.benchmark.collection").read_collection
        return cast("Iterable[object]", read(path).ids)
    records = read_records(path, form)
    name = _column(records.columns, path)
    return (row[name] for row in records.rows({name}))


def _column(columns: list[str], where: str | Path) -> str:
    name = next((name for name in NAMES if name in columns), None)
    if name is None:
        raise ColumnError(
            f"no column of ids: {', '.join(map(repr, columns[:8]))}",
            allowed=NAMES[:3],
            hint=next(filter(None, (did_you_mean(one, NAMES) for one in columns)), ""),
            path=where,
        )
    return name
