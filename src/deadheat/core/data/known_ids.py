"""The ids of a collection, to find judgments of documents that no longer exist."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from deadheat.core import hooks
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.sources import Source, as_path
from deadheat.core.errors import DataError, DeadheatWarning, FileFormatError, SourceTypeError
from deadheat.core.io.columns import find_column
from deadheat.core.io.files import check_readable, decode_utf8, read_all
from deadheat.core.io.kinds import COLUMN_NAMES
from deadheat.core.io.objects import parse_json, read_text
from deadheat.core.io.records import Wanted, choose_record_format, read_records
from deadheat.core.libraries import polars as pl
from deadheat.core.structures import copy_with
from deadheat.core.wording import format_count, format_list, format_path

ID_NAMES = ("doc_id", "id", "_id", *COLUMN_NAMES["run"]["doc_id"])
ALLOWED = "ids, {id: text}, a dataframe, or a file: a table with a column of ids, an ontology, or one id a line"
NO_IDS = "no column of ids"
ONTOLOGIES = ("obo", "owl")  # formats that the plugin of collections reads


def check_known_documents(qrels: Qrels, collection: Source, *, rel: float | None, strict: bool) -> Qrels:
    """Return qrels, with a note and a warning if relevant documents are not in a collection.

    Parameters
    ----------
    qrels : Qrels
    collection
        As for `collect_ids`.
    rel : float or None
        Lowest relevance that counts as relevant; None: any above 0.
    strict : bool
        Whether to raise `DataError` instead.
    """
    is_relevant = pl.col("relevance") > 0
    if rel is not None:
        is_relevant = pl.col("relevance") >= rel
    relevant = qrels.to_polars().filter(is_relevant)["doc_id"].unique(maintain_order=True).to_list()
    known = collect_ids(collection)
    if qrels.id_form is not None:
        known = set(pl.Series(list(known)).str.normalize(cast("Any", qrels.id_form)))
    unknown = [doc for doc in relevant if doc not in known]
    if not unknown:
        return qrels
    text = _describe_unknown(unknown, len(relevant), collection)
    if strict:
        raise DataError(text, allowed="ids that exist", hint="are the judgments older?", path=qrels.where)
    warnings.warn(f"{qrels.where}: {text}: no run can find them", DeadheatWarning, stacklevel=4)
    return copy_with(qrels, notes=(*qrels.notes, text))


def _describe_unknown(unknown: Sequence[str], n_relevant: int, collection: Source) -> str:
    """Say how many of the relevant documents are not in a collection."""
    path = as_path(collection)
    name = "the collection"
    if path is not None:
        name = format_path(path)
    verb = "is" if len(unknown) == 1 else "are"
    relevant = format_count(n_relevant, "relevant document")
    return f"{len(unknown):,} of {relevant} {verb} not in {name} ({format_list(unknown)})"


def collect_ids(collection: Source) -> set[str]:
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
    >>> sorted(collect_ids({"d1": "fever", "d2": "cough"})), sorted(collect_ids([1, 2]))
    (['d1', 'd2'], ['1', '2'])
    """
    path = as_path(collection)
    values: object = getattr(collection, "ids", collection)
    if path is not None:
        values = _read_ids(path)
    elif hasattr(values, "collect_schema") or hasattr(values, "columns"):  # a lazy frame computes its `columns`
        from deadheat.core.io.lazy import as_narwhals  # most collections are files or dicts

        frame: Any = as_narwhals(values, "the collection")
        column = find_column(ID_NAMES, frame.collect_schema().names(), NO_IDS, "the collection")
        values = frame.lazy().select(column).collect()[column].to_list()
    if not isinstance(values, Iterable):
        raise SourceTypeError("a collection", found=type(values).__name__, allowed=ALLOWED)
    ids = {str(value) for value in values if value is not None}
    if not ids:
        raise DataError("a collection without a single id", allowed=ALLOWED, path=path)
    return ids


def _read_ids(path: Path) -> Iterable[object]:
    """Return the ids in a file, or in a folder of BEIR."""
    if path.is_dir():
        path = path / "corpus.jsonl"
    path = check_readable(path)
    formats = Wanted().formats + ONTOLOGIES
    try:
        format_name = choose_record_format(path, None, Wanted(what="documents", formats=formats))
    except FileFormatError:  # a file without columns
        lines = decode_utf8(read_all(path), path).split("\n")
        return filter(None, map(str.strip, lines))
    if format_name == "json":
        document: object = parse_json(read_text(path, ALLOWED), path)
        if isinstance(document, list) and document and not isinstance(document[0], Mapping):
            return document
    if format_name == "json" or format_name in ONTOLOGIES:
        return cast("Iterable[object]", hooks.service("collection").read_collection(path).ids)
    records = read_records(path, format_name)
    column = find_column(ID_NAMES, records.columns, NO_IDS, path)
    return (row[column] for row in records.rows({column}))
