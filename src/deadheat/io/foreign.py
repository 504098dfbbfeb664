"""Tables and dicts inside the objects of other libraries, recognised by their form; ir_datasets by its name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import polars as pl

from deadheat.errors import ColumnError, DataError, MissingDependencyError, SourceTypeError
from deadheat.io.kinds import OTHER_KIND, VALUE_COLUMN, Kind
from deadheat.wording import Plain, three

SWAPPED = "were qrels and run given in the wrong order?"
CATALOGUE = "ir_datasets:"  # before the name of a data set
_ITERATORS: dict[Kind, str] = {"qrels": "qrels_iter", "run": "scoreddocs_iter"}  # of a data set of ir_datasets
_RESULTS = "deadheat.evaluation."  # modules of what evaluate() returns, which is on a higher floor: known by name
_SPARK = "pyspark.sql."  # its frames have a column for every attribute that they are asked for
_NESTED: dict[Kind, str] = {"qrels": "qrels", "run": "run"}  # where ranx has its dicts


def in_catalogue(source: object) -> bool:
    """Return whether a source is a name such as ``ir_datasets:vaswani``."""
    return isinstance(source, str) and source.startswith(CATALOGUE)


def unwrapped(source: Any, kind: Kind, where: str) -> tuple[Any, tuple[str, ...]]:  # noqa: ANN401 - it may be anything
    """Return what is inside an object of ranx or ir_datasets, and notes; else the object itself.

    Raises
    ------
    MissingDependencyError
        A data set of ir_datasets is named, and the package is not there.
    SourceTypeError
        The object holds the other kind, or several tables; or another function takes it.
    """
    if type(source).__module__.startswith(_SPARK):
        return source, ()
    _refuse_results(source, kind)
    if in_catalogue(source):
        source, where = _load(source), source
    if isinstance(source, Mapping):
        _refuse_splits(source, kind)
        return source, ()
    if _is_data_set(source):
        return _rows_of(source, kind, where)
    if hasattr(source, "to_dict") and not hasattr(source, "columns"):
        for held in (kind, OTHER_KIND[kind]):
            if hasattr(source, _NESTED[held]):
                if held != kind:
                    raise SourceTypeError(given=Plain(f"a {held} of ranx"), allowed=kind, hint=SWAPPED)
                return source.to_dict(), ()
    return source, ()


def _refuse_results(source: object, kind: Kind) -> None:
    """Raise for an evaluation and for a matrix, with the function that takes them."""
    if type(source).__module__.startswith(_RESULTS):
        hint = "dh.compare_evaluations({'a': ev, 'b': other}) compares evaluations, dh.gate(ev, 'RR >= 0.8') checks one"
        raise SourceTypeError(given=Plain("an evaluation"), allowed=kind, hint=hint)
    is_numeric = getattr(getattr(source, "dtype", None), "kind", "f") in "fiub"
    if getattr(source, "ndim", 0) == 2 and is_numeric and not hasattr(source, "columns"):
        given = Plain(f"a matrix of shape {tuple(getattr(source, 'shape', ()))}")
        hint = "dh.evaluate_dense(scores, relevant) takes a matrix of scores, queries by documents"
        raise SourceTypeError(given=given, allowed=kind, hint=hint)


def frame_of(source: Any) -> Any:  # noqa: ANN401 - any frame
    """Return the frame in an object that has one, or that is made of records; None for what is neither.

    Hugging Face's data sets and those of ragas say so with their methods, other libraries with Arrow's protocol.
    """
    if hasattr(source, "__arrow_c_stream__"):
        return pl.DataFrame(source)
    for name in ("to_polars", "to_pandas"):
        if callable(convert := getattr(source, name, None)):
            return convert()
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        rows = source if isinstance(source, list | tuple) else _records(source)
        if rows and all(isinstance(row, Mapping) for row in rows):
            return _frame_of_records(rows)
    return None


def _records(source: Iterable[Any]) -> list[Any]:
    """Return the rows of what can be read again, such as a streamed data set; else nothing."""
    if iter(source) is source:
        return []  # it may hold tuples, which are read elsewhere
    first = list(islice(source, 1))
    return list(source) if first and isinstance(first[0], Mapping) else []


def _frame_of_records(rows: list[Mapping[str, Any]] | tuple[Mapping[str, Any], ...]) -> pl.DataFrame:
    names = dict.fromkeys(name for row in rows for name in row)
    try:
        return pl.DataFrame({name: [row.get(name) for row in rows] for name in names}, strict=True)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise ColumnError(f"records of mixed types: {error}", allowed="text and numbers") from None


def _refuse_splits(source: Mapping[Any, Any], kind: Kind) -> None:
    """Raise for a dict of splits, as Hugging Face's load_dataset returns it."""
    first = next(iter(source.values()), None)
    if hasattr(first, "to_pandas") and hasattr(first, "features"):
        word = VALUE_COLUMN[kind]
        raise SourceTypeError(
            given=Plain(f"a dict of the splits {three(list(map(str, source)))}"),
            allowed=f"one table with query_id, doc_id and {word}",
            hint=f"give one of them, such as dataset[{next(iter(source))!r}]",
        )


def _is_data_set(source: object) -> bool:
    return hasattr(source, "has_qrels") and hasattr(source, "has_scoreddocs")


def _rows_of(source: Any, kind: Kind, where: str) -> tuple[Any, tuple[str, ...]]:  # noqa: ANN401 - ir_datasets has no types
    """Return the tuples of a data set of ir_datasets; they are read by their names."""
    if not getattr(source, f"has_{_ITERATORS[kind].removesuffix('_iter')}")():
        what = {"qrels": "judgments (qrels)", "run": "run (scoreddocs)"}
        hint = "other data sets below it may, such as one that ends in /test or /judged"
        raise DataError(f"this data set of ir_datasets has no {what[kind]}", hint=hint, path=where)
    try:
        return list(getattr(source, _ITERATORS[kind])()), ()
    except (OSError, RuntimeError) as error:  # ir_datasets fetches files when they are needed
        hint = "the cause is in the messages above"
        raise DataError("ir_datasets cannot fetch it", given=Plain(f"{error!s:.80}"), hint=hint, path=where) from error


def _load(name: str) -> Any:  # noqa: ANN401 - ir_datasets has no types
    try:
        import ir_datasets  # optional, and slow to import
    except ImportError:
        raise MissingDependencyError(
            f"{name} needs the package ir_datasets", hint='pip install "deadheat[ir-datasets]"'
        ) from None
    try:
        return ir_datasets.load(name.removeprefix(CATALOGUE))
    except KeyError:
        hint = "names are listed at https://ir-datasets.com"
        raise DataError("ir_datasets has no data set of this name", hint=hint, path=name) from None
