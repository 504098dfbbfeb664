"""How an object that is given in place of a file is read.

Recognisers are asked in turn: each returns the content of an object that it knows, or None. After those of the core
come those that modules of the kind "objects" register. Frames come last: Narwhals is slow to load, and dicts do not
need it.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from deadheat.core import hooks, third_party
from deadheat.core.errors import DuplicateError, SourceTypeError
from deadheat.core.io.columns import refuse_columns
from deadheat.core.io.content import Content
from deadheat.core.io.documents import read_export
from deadheat.core.io.files import is_in_catalogue
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.io.nested import copy_nested, has_numbers, is_dict_of_dicts
from deadheat.core.io.results import Listing, read_lists
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_list

Recogniser = Callable[[Any, Kind, str, Mapping[str, str]], Content | None]
RECOGNISERS: list[Recogniser] = []  # that plugins register


def read_object(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    """Return what an object holds.

    Parameters
    ----------
    source : object
    kind : {"qrels", "run"}
    where : str
        For messages.
    given : mapping of str to str
        Names of columns that the user gives.

    Raises
    ------
    MissingDependencyError
        A data set of ir_datasets is named, and the package is not there.
    SourceTypeError
        The object holds the other kind, or several tables; or another function takes it; or nothing is known of it.
    """
    for recognise in _list_recognisers(source):
        content = recognise(source, kind, where, given)
        if content is not None:
            return content
    if _may_be_known_to_others(source) and third_party.load("objects"):
        return read_object(source, kind, where, given)
    missing_plugins = hooks.list_missing_plugins("objects") if is_in_catalogue(source) else []
    if missing_plugins:
        raise hooks.missing_plugin(str(source), missing_plugins[0])
    return read_frame(source, kind, where, given)


def _list_recognisers(source: object) -> list[Recogniser]:
    """Return the recognisers to ask about an object; for frames, lists and tuples no plugin needs to be loaded."""
    if type(source).__module__.startswith("pyspark.sql."):
        return []  # such a frame has a column for every attribute that it is asked for
    core_recognisers: list[Recogniser] = [read_mapping, _read_giver_of_qrels, _refuse_other_objects]
    if not _may_be_known_to_others(source):
        return core_recognisers
    return core_recognisers + hooks.load_in_order("objects", RECOGNISERS, lambda recognise: recognise.__module__)


def _may_be_known_to_others(source: object) -> bool:
    """Tell whether an object may need a plugin: the core reads frames, dicts, lists and tuples by itself."""
    if type(source).__module__.startswith("pyspark.sql."):
        return False
    return not (isinstance(source, Mapping | list | tuple) or hasattr(type(source), "columns"))


def read_frame(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    """Read a dataframe, or rows."""
    from deadheat.core.io.frames import convert_table

    return convert_table(source, kind, where, given, is_large=isinstance(source, pl.LazyFrame))


def read_mapping(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:
    """Read a dict of dicts, of lists, or a document of another tool."""
    if not isinstance(source, Mapping):
        return None
    refuse_columns(given, kind, "a dict")
    first = next(iter(source.values()), None)
    if hasattr(first, "to_pandas") and hasattr(first, "features"):  # as Hugging Face's load_dataset returns it
        raise SourceTypeError(
            found=f"a dict of the splits {format_list(list(map(str, source)))}",
            allowed=f"one table with query_id, doc_id and {VALUE_COLUMN[kind]}",
            hint=f"give one of them, such as dataset[{next(iter(source))!r}]",
        )
    source = _with_dicts(source, first)
    listing = Listing(source)
    if not has_numbers(source):
        listing = read_export(source, kind, where) or listing
    if is_dict_of_dicts(listing.documents):
        listing = replace(listing, documents=copy_nested(listing.documents))
    else:
        listing = read_lists(listing.documents, kind, where)
    return Content.of_lists(listing)


def _with_dicts(source: Mapping[Any, Any], first: object) -> Mapping[Any, Any]:
    """Return a dict of columns of pandas, whose indexes have the documents of their numbers, as a dict of dicts."""
    index = getattr(first, "index", None)
    is_numbered = type(index).__name__ == "RangeIndex"  # then the values are ids
    is_column = hasattr(index, "equals") and getattr(first, "ndim", 0) == 1 and hasattr(first, "to_dict")
    if is_numbered or not is_column:
        return source
    dicts = {}
    for query, column in source.items():
        if not hasattr(column, "to_dict"):
            return source
        if column.index.has_duplicates:
            doc = column.index[column.index.duplicated()][0]
            raise DuplicateError(
                f"the index for query {query!r} has document {doc!r} twice",
                hint="write column.groupby(level=0).max() to keep the best",
            )
        dicts[query] = column.to_dict()
    return dicts


def _read_giver_of_qrels(source: Any, kind: Kind, _where: str, _given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read the qrels of an object that fulfils `GivesQrels`, such as labelled cases."""
    note_on_qrels = getattr(type(source), "note_on_qrels", None)
    if kind != "qrels" or note_on_qrels is None:
        return None
    return Content(source.qrels().to_dict(), (note_on_qrels,))


def _refuse_other_objects(source: object, kind: Kind, _where: str, _given: Mapping[str, str]) -> None:
    """Raise `SourceTypeError` for an evaluation and for a matrix, with the function that takes them."""
    if getattr(type(source), "is_evaluation", False):
        raise SourceTypeError(
            found="an evaluation",
            allowed=kind,
            hint="dh.compare_evaluations({'a': ev, 'b': other}) compares evaluations,"
            " dh.gate(ev, 'RR >= 0.8') checks one",
        )
    dtype_kind = getattr(getattr(source, "dtype", None), "kind", "f")
    if getattr(source, "ndim", 0) == 2 and dtype_kind in "fiub" and not hasattr(source, "columns"):
        hint = "dh.evaluate_dense(scores, relevant) takes a matrix of scores, queries by documents"
        if dtype_kind in "iu":
            hint += "; if it has the ids of documents, a row for each query, write dict(enumerate(ids))"
        raise SourceTypeError(found=f"a matrix of shape {tuple(getattr(source, 'shape', ()))}", allowed=kind, hint=hint)
