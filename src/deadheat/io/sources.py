"""What an object holds: recognisers are asked in one order; each returns its rows, or None for what it does not know.

Objects of other libraries are recognised by their form, ir_datasets by its name. Frames come last: Narwhals is slow to
load, and dicts do not need it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from deadheat.errors import DataError, MissingDependencyError, SourceTypeError
from deadheat.io.exports import exported
from deadheat.io.formats.base import Content
from deadheat.io.kinds import OTHER_KIND, VALUE_COLUMN, Kind
from deadheat.io.mappings import is_plain
from deadheat.io.results import nested_of
from deadheat.wording import Plain, three

OF_CASES = "judgments are the expected ids of labelled cases"
SWAPPED = "were qrels and run given in the wrong order?"
CATALOGUE = "ir_datasets:"  # before the name of a data set
_CASES = "deadheat.benchmark.cases.model"  # on a higher floor, as the next: known by name
_EVALUATIONS = "deadheat.evaluation."
_SPARK = "pyspark.sql."  # its frames have a column for every attribute that they are asked for
_DATA_SETS: dict[Kind, tuple[str, str, str]] = {  # of ir_datasets
    "qrels": ("has_qrels", "qrels_iter", "judgments (qrels)"),
    "run": ("has_scoreddocs", "scoreddocs_iter", "run (scoreddocs)"),
}


def read_object(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    """Return what an object holds.

    Parameters
    ----------
    source : object
    kind : {"qrels", "run"}
    where : str
        For messages.
    given : mapping of str to str
        Names of columns that the user says.

    Raises
    ------
    MissingDependencyError
        A data set of ir_datasets is named, and the package is not there.
    SourceTypeError
        The object holds the other kind, or several tables; or another function takes it; or nothing is known of it.
    """
    recognisers = (_of_spark, _of_mapping, _of_deadheat, _of_data_set, _of_ranx)
    found = (recognise(source, kind, where, given) for recognise in recognisers)
    return next((one for one in found if one is not None), None) or _of_frame(source, kind, where, given)


def in_catalogue(source: object) -> bool:
    """Return whether a source is a name such as ``ir_datasets:vaswani``."""
    return isinstance(source, str) and source.startswith(CATALOGUE)


def _of_frame(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    from deadheat.io.frames import canonical

    return canonical(source, kind, where, given, is_large=isinstance(source, pl.LazyFrame))


def _of_spark(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:
    return _of_frame(source, kind, where, given) if type(source).__module__.startswith(_SPARK) else None


def _of_mapping(source: object, kind: Kind, where: str, _: Mapping[str, str]) -> Content | None:
    """Read a dict of dicts, of lists, or a document of another tool."""
    if not isinstance(source, Mapping):
        return None
    first = next(iter(source.values()), None)
    if hasattr(first, "to_pandas") and hasattr(first, "features"):  # as Hugging Face's load_dataset returns it
        raise SourceTypeError(
            given=Plain(f"a dict of the splits {three(list(map(str, source)))}"),
            allowed=f"one table with query_id, doc_id and {VALUE_COLUMN[kind]}",
            hint=f"give one of them, such as dataset[{next(iter(source))!r}]",
        )
    nested, notes = exported(source, kind, where) or (source, ())
    return Content(nested, notes) if is_plain(nested) else Content(*nested_of(nested, kind, where))


def _of_deadheat(source: Any, kind: Kind, _where: str, _: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read labelled cases; raise for an evaluation and for a matrix, with the function that takes them."""
    module = type(source).__module__
    if kind == "qrels" and module == _CASES and hasattr(source, "qrels"):
        return Content(source.qrels().to_dict(), (OF_CASES,))
    if module.startswith(_EVALUATIONS):
        raise SourceTypeError(
            given=Plain("an evaluation"),
            allowed=kind,
            hint="dh.compare_evaluations({'a': ev, 'b': other}) compares evaluations,"
            " dh.gate(ev, 'RR >= 0.8') checks one",
        )
    is_numeric = getattr(getattr(source, "dtype", None), "kind", "f") in "fiub"
    if getattr(source, "ndim", 0) == 2 and is_numeric and not hasattr(source, "columns"):
        raise SourceTypeError(
            given=Plain(f"a matrix of shape {tuple(getattr(source, 'shape', ()))}"),
            allowed=kind,
            hint="dh.evaluate_dense(scores, relevant) takes a matrix of scores, queries by documents",
        )
    return None


def _of_data_set(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read a data set of ir_datasets, or its name; its tuples have names too."""
    if in_catalogue(source):
        where = source
        try:
            import ir_datasets  # optional, and slow to import
        except ImportError:
            raise MissingDependencyError(
                f"{source} needs the package ir_datasets", hint='pip install "deadheat[ir-datasets]"'
            ) from None
        try:
            source = ir_datasets.load(source.removeprefix(CATALOGUE))
        except KeyError:
            raise DataError(
                "ir_datasets has no data set of this name",
                hint="names are listed at https://ir-datasets.com",
                path=where,
            ) from None
    if not all(hasattr(source, has) for has, _, _ in _DATA_SETS.values()):
        return None
    has, rows, what = _DATA_SETS[kind]
    if not getattr(source, has)():
        raise DataError(
            f"this data set of ir_datasets has no {what}",
            hint="other data sets below it may, such as one that ends in /test or /judged",
            path=where,
        )
    try:
        found = list(getattr(source, rows)())
    except (OSError, RuntimeError) as error:  # ir_datasets fetches files when they are needed
        problem, hint = "ir_datasets cannot fetch it", "the cause is in the messages above"
        raise DataError(problem, given=Plain(f"{error!s:.80}"), hint=hint, path=where) from error
    return _of_frame(found, kind, where, given)


def _of_ranx(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read the dicts in an object of ranx."""
    if not hasattr(source, "to_dict") or hasattr(source, "columns"):
        return None
    if hasattr(source, kind):
        return _of_mapping(source.to_dict(), kind, where, given)
    if hasattr(source, OTHER_KIND[kind]):
        raise SourceTypeError(given=Plain(f"a {OTHER_KIND[kind]} of ranx"), allowed=kind, hint=SWAPPED)
    return None
