"""The ids of a collection, to find judgments of documents that no longer exist."""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from deadheat.core import hooks
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.sources import Source, path_of
from deadheat.core.errors import DataError, DeadheatWarning, FileFormatError, SourceTypeError
from deadheat.core.io.columns import find_column
from deadheat.core.io.files import check_readable, decode_utf8, read_all
from deadheat.core.io.kinds import COLUMN_NAMES
from deadheat.core.io.objects import parse_json, read_text
from deadheat.core.io.records import Wanted, choose_record_format, read_records
from deadheat.core.libraries import polars as pl
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count, format_list, format_path

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
        from deadheat.core.io.lazy import as_narwhals  # most collections are files or dicts

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
        form = choose_record_format(path, None, Wanted(what="documents", formats=(*Wanted().formats, "obo", "owl")))
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
