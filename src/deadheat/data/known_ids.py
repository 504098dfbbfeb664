"""The ids of a collection, to find judgments of documents that no longer exist; and groups of items.

Groups, such as producers or genres, are a table with a row for each item, or for each of its groups.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from deadheat import hooks
from deadheat.data.judgments import records_in
from deadheat.data.tables import Qrels, Source, path_of
from deadheat.errors import DataError, DeadheatWarning, FileFormatError, ParameterError, SourceTypeError
from deadheat.io.files import check_readable, decode_utf8, read_all
from deadheat.io.kinds import COLUMN_NAMES, find_column
from deadheat.io.objects import parse_json, read_text
from deadheat.io.records import Wanted, as_text, format_of_records, read_records
from deadheat.structures import copy_with, group_values
from deadheat.wording import format_count, format_list, format_path

NAMES = ("doc_id", "id", "_id", *COLUMN_NAMES["run"]["doc_id"])
ALLOWED = "ids, {id: text}, a dataframe, or a file: a table with a column of ids, an ontology, or one id a line"
NO_IDS = "no column of ids"


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
    is_relevant = pl.col("relevance") > 0 if rel is None else pl.col("relevance") >= rel
    relevant = qrels.to_polars().filter(is_relevant)["doc_id"].unique(maintain_order=True).to_list()
    known = ids_of(collection)
    if qrels.id_form is not None:
        known = {*pl.Series([*known]).str.normalize(cast("Any", qrels.id_form))}
    unknown = [doc for doc in relevant if doc not in known]
    if not unknown:
        return qrels
    path = path_of(collection)
    of = "the collection" if path is None else format_path(path)
    are = "is" if len(unknown) == 1 else "are"
    text = (
        f"{len(unknown):,} of {format_count(len(relevant), 'relevant document')} {are} not in {of}"
        f" ({format_list(unknown)})"
    )
    if strict:
        raise DataError(text, allowed="ids that exist", hint="are the judgments older?", path=qrels.where)
    warnings.warn(f"{qrels.where}: {text}: no run can find them", DeadheatWarning, stacklevel=4)
    return copy_with(qrels, notes=(*qrels.notes, text))


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
        given = _ids_in(check_readable(path / "corpus.jsonl" if path.is_dir() else path))  # of a data set of BEIR
    elif hasattr(given, "collect_schema") or hasattr(given, "columns"):  # of a lazy frame the columns are expensive
        from deadheat.io.lazy import as_narwhals  # most collections are files or dicts

        frame: Any = as_narwhals(given, "the collection")
        name = find_column(NAMES, frame.collect_schema().names(), NO_IDS, "the collection")
        given = frame.lazy().select(name).collect()[name].to_list()
    if not isinstance(given, Iterable):
        raise SourceTypeError("a collection", found=type(given).__name__, allowed=ALLOWED)
    found = {str(one) for one in given if one is not None}
    if not found:
        raise DataError("a collection without a single id", allowed=ALLOWED, path=path)
    return found


def _ids_in(path: Path) -> Iterable[object]:
    try:
        form = format_of_records(path, None, Wanted(what="documents", formats=(*Wanted().formats, "obo", "owl")))
    except FileFormatError:
        return [line for line in map(str.strip, decode_utf8(read_all(path), path).split("\n")) if line]
    if form == "json":
        held: object = parse_json(read_text(path, ALLOWED), path)
        if isinstance(held, list) and held and not isinstance(held[0], Mapping):
            return held
    if form in {"json", "obo", "owl"}:
        return cast("Iterable[object]", hooks.service("collection").read_collection(path).ids)
    records = read_records(path, form)
    name = find_column(NAMES, records.columns, NO_IDS, path)
    return (row[name] for row in records.rows({name}))


BETWEEN = "|"  # several groups of an item in one field


def read_groups(source: Source) -> dict[str, list[str]]:
    """Return the items of each group, sorted by group.

    Parameters
    ----------
    source : path, dict, list of dict or dataframe
        A table with a column of items and a column ``group``, or one other column; an item with several groups has
        several rows, or ``a|b``. An item without a group is in none. Also ``{item: group}`` and ``{group: [item]}``.

    Raises
    ------
    ColumnError
        The table has no such columns.
    DataError
        A row has no item.
    ParameterError
        A group has no items, or there is no group.

    Examples
    --------
    >>> read_groups({"a": "new", "b": "old", "c": "new"}), read_groups({"new": ["a", "c"], "old": ["b"]})
    ({'new': ['a', 'c'], 'old': ['b']}, {'new': ['a', 'c'], 'old': ['b']})
    """
    if isinstance(source, Mapping) and any(not isinstance(one, str | int | float | None) for one in source.values()):
        given: Mapping[object, Iterable[object]] = source
        if empty := [group for group, items in given.items() if not list(items)]:
            raise ParameterError(f"group {empty[0]!r} has no items", argument="groups", hint="leave it out")
        rows: Iterable[tuple[str, str | None]] = [(str(one), str(group)) for group in given for one in given[group]]
    elif isinstance(source, Mapping):
        rows = [(str(item), as_text(group)) for item, group in source.items()]
    else:
        rows = _rows(source)
    pairs = dict.fromkeys(
        (name, item) for item, field in rows for group in (field or "").split(BETWEEN) if (name := group.strip())
    )
    if not pairs:
        raise ParameterError("names no group of any item", argument="groups")
    return dict(sorted(group_values(pairs).items()))


def _rows(source: Source) -> Iterator[tuple[str, str | None]]:
    """Yield the item and the field of its groups of each row of a table."""
    path = path_of(source)
    where, names = str(path or "groups"), ("", "")
    for place, row in enumerate(records_in(source, path, "groups"), start=1):
        names = names if names[0] else _columns(list(row), where)
        item, group = (row.get(name) for name in names)
        if not (text := as_text(item)):
            raise DataError(f"row {place} of the groups has no item", path=where)
        yield text, BETWEEN.join(map(str, group)) if isinstance(group, list | tuple) else as_text(group)


def _columns(columns: list[str], where: str) -> tuple[str, str]:
    """Return which columns hold the item and its group."""
    item = find_column(NAMES, columns, "no column of items in the table of groups", where)
    others = [name for name in columns if name != item]
    problem = "no column group in the table of groups"
    return item, others[0] if len(others) == 1 else find_column(["group"], others, problem, where)
