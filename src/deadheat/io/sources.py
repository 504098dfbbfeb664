"""What an object holds that is given in place of a file.

Recognisers are asked in one order; each returns the rows of an object, or None for what it does not know. Objects of
other libraries are recognised by their form, ir_datasets by its name. Frames come last: Narwhals is slow to load, and
dicts do not need it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from deadheat.errors import (
    DataError,
    SourceTypeError,
    package,
    three,
)
from deadheat.io.documents import SWAPPED, exported
from deadheat.io.files import CATALOGUE, in_catalogue
from deadheat.io.formats.base import Content
from deadheat.io.kinds import OTHER_KIND, VALUE_COLUMN, Kind, refuse_columns
from deadheat.io.results import Listing, nested_of
from deadheat.io.values import copied, has_numbers, is_plain

OF_CASES = "judgments are the expected ids of labelled cases"
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
    # a frame of Spark has a column for every attribute that it is asked for
    of_spark = type(source).__module__.startswith("pyspark.sql.")
    recognisers = () if of_spark else (_of_mapping, _of_deadheat, _of_data_set, _of_ranx)
    found = (recognise(source, kind, where, given) for recognise in recognisers)
    return next((one for one in found if one is not None), None) or _of_frame(source, kind, where, given)


def _of_frame(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content:
    from deadheat.io.frames import canonical

    return canonical(source, kind, where, given, is_large=isinstance(source, pl.LazyFrame))


def _of_mapping(source: object, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:
    """Read a dict of dicts, of lists, or a document of another tool."""
    if not isinstance(source, Mapping):
        return None
    refuse_columns(given, kind, "a dict")
    first = next(iter(source.values()), None)
    if hasattr(first, "to_pandas") and hasattr(first, "features"):  # as Hugging Face's load_dataset returns it
        raise SourceTypeError(
            found=f"a dict of the splits {three(list(map(str, source)))}",
            allowed=f"one table with query_id, doc_id and {VALUE_COLUMN[kind]}",
            hint=f"give one of them, such as dataset[{next(iter(source))!r}]",
        )
    listing = Listing(source)
    if not has_numbers(source):
        listing = exported(source, kind, where) or listing
    if is_plain(listing.documents):
        listing = replace(listing, documents=copied(listing.documents))
    else:
        listing = nested_of(listing.documents, kind, where)
    return Content.of_lists(listing)


def _of_deadheat(source: Any, kind: Kind, _where: str, _: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read labelled cases; raise for an evaluation and for a matrix, with the function that takes them."""
    if kind == "qrels" and getattr(type(source), "are_cases", False):
        return Content(source.qrels().to_dict(), (OF_CASES,))
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
    return None


def _of_data_set(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read a data set of ir_datasets, or its name; its tuples have names too."""
    if in_catalogue(source):
        where = source
        data_sets = package("ir_datasets", f"{source} needs the package ir_datasets", "ir-datasets")
        try:
            source = data_sets.load(source.removeprefix(CATALOGUE))
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
        raise DataError(
            "ir_datasets cannot fetch it",
            found=f"{error!s:.80}",
            hint="the cause is in the messages above",
            path=where,
        ) from error
    return replace(_of_frame(found, kind, where, given), is_trec=True)


def _of_ranx(source: Any, kind: Kind, where: str, given: Mapping[str, str]) -> Content | None:  # noqa: ANN401 - anything
    """Read the dicts in an object of ranx."""
    if not hasattr(source, "to_dict") or hasattr(source, "columns"):
        return None
    if hasattr(source, kind):
        return _of_mapping(source.to_dict(), kind, where, given)
    if hasattr(source, OTHER_KIND[kind]):
        raise SourceTypeError(found=f"a {OTHER_KIND[kind]} of ranx", allowed=kind, hint=SWAPPED)
    return None
