"""The ids of a collection, to find judgments of documents that no longer exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from deadheat.data.tables import Source, path_of
from deadheat.errors import ColumnError, EmptyDataError, FileFormatError, SourceTypeError
from deadheat.io.frames import as_narwhals
from deadheat.io.kinds import names_of
from deadheat.io.objects import parsed, read_text
from deadheat.io.records import Wanted, format_of_records, read_records
from deadheat.io.source import decoded, read_all, readable
from deadheat.wording import Plain, did_you_mean

NAMES = ("doc_id", "id", "_id", *names_of("run")["doc_id"])
ALLOWED = "ids, {id: text}, a dataframe, or a file: a table with a column of ids, an ontology, or one id a line"
CORPUS = "corpus.jsonl"  # in a data set of BEIR


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
        frame = as_narwhals(given, "the collection")
        name = _column(cast("Any", frame).collect_schema().names(), "the collection")
        column = cast("Any", frame.lazy().select(name).collect())[name]
        given = column.to_list()
    if not isinstance(given, Iterable):
        raise SourceTypeError("a collection", given=Plain(type(given).__name__), allowed=ALLOWED)
    found = {str(one) for one in given if one is not None}
    if not found:
        raise EmptyDataError("a collection without a single id", allowed=ALLOWED, path=path)
    return found


def _ids_in(path: Path) -> Iterable[object]:
    try:
        form = format_of_records(path, None, Wanted(what="documents", formats=(*Wanted().formats, "obo", "owl")))
    except FileFormatError:
        return [line for line in map(str.strip, decoded(read_all(path), path).split("\n")) if line]
    if form == "json":
        held: object = parsed(text := read_text(path, ALLOWED), path)
        if isinstance(held, list) and held and not isinstance(held[0], Mapping):
            return held
        if isinstance(held, Mapping):
            form = "obo" if '"graphs"' in text else form
    if form in {"obo", "owl"} or form == "json":
        read: Any = import_module("deadheat.benchmark.collection").read_collection
        return cast("Iterable[object]", read(path).ids)
    records = read_records(path, form)
    name = _column(records.columns, path)
    return (row[name] for row in records.rows({name}))


def _column(columns: list[str], where: str | Path) -> str:
    name = next((name for name in NAMES if name in columns), None)
    if name is None:
        hint = next(filter(None, (did_you_mean(one, NAMES) for one in columns)), "")
        raise ColumnError(
            f"no column of ids: {', '.join(map(repr, columns[:8]))}", allowed=NAMES[:3], hint=hint, path=where
        )
    return name
