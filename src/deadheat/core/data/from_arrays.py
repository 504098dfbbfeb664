"""from_arrays(): qrels and a run from labels and scores, as scikit-learn and LightGBM hold them."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.core.arrays import FloatArray, IntArray, TextArray
from deadheat.core.checks import array_of
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.ids import are_written_otherwise
from deadheat.core.io.values import BEYOND, are_beyond, is_number_text
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count

KINDS_OF_NUMBERS = "fiub"  # of NumPy's types; no complex numbers


def from_arrays(
    labels: ArrayLike,
    scores: ArrayLike,
    groups_or_sizes: ArrayLike | None = None,
    /,
    *,
    groups: ArrayLike | None = None,
    group_sizes: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    duplicates: str = "error",
    name: str = "scores",
) -> tuple[Qrels, Run]:
    """Turn arrays of labels and scores into qrels and a run.

    Every row is one judged document of one query, as in `sklearn.metrics.ndcg_score` and in LightGBM or XGBoost.

    Parameters
    ----------
    labels : array-like of number, shape (n_rows,) or (n_queries, n_documents)
        Relevance of each document.
    scores : array-like of number, of the same shape
        Higher scores rank first.
    groups_or_sizes : array-like, optional
        `groups` or `group_sizes`, by position: sizes if they sum to the number of rows, ids if there is one a row.
        Where both fit it is an error.
    groups : array-like of str or int, shape (n_rows,)
        The query of each row; rows of a query need not be adjacent.
    group_sizes : array-like of int, shape (n_queries,)
        How many adjacent rows each query has, as LightGBM's ``group``. Queries are called "0", "1", and so on; a query
        of size 0 does not exist.
    doc_ids : array-like of str or int, shape of `labels`, optional
        By default documents are called by their place within the whole array; with labels of two dimensions by their
        column.
    duplicates : {"error", "best", "first", "trust"}, default "error"
        As for `Run`. Equal labels of a document are merged in any case, and different ones are an error.
    name : str, default "scores"
        Label of the run.

    Returns
    -------
    qrels : Qrels
    run : Run

    Raises
    ------
    ParameterError
        The shapes do not fit.
    DataError, DuplicateError
        A label or score is not a number, or a document appears twice in a query.

    Examples
    --------
    >>> from deadheat import evaluate
    >>> qrels, run = from_arrays([1, 0, 0, 1], [0.9, 0.9, 0.1, 0.3], group_sizes=[2, 2])
    >>> evaluate(qrels, run, ["RR"]).to_dict()
    {'0': {'RR': 0.75}, '1': {'RR': 1.0}}
    >>> from_arrays([[1, 0], [0, 1]], [[0.2, 0.1], [0.4, 0.4]], name="model")[1]
    <Run model>
    """
    _check_indexes(labels=labels, scores=scores, groups=groups, doc_ids=doc_ids)
    relevance = _read_numbers("labels", labels)
    run_scores = _read_numbers("scores", scores)
    if relevance.shape != run_scores.shape or relevance.ndim not in (1, 2):
        raise ParameterError(
            argument="scores", found=f"shape {run_scores.shape}", allowed=f"the shape of labels, {relevance.shape}"
        )
    if not relevance.size:
        raise DataError("labels and scores are empty", path=name)
    grouping = {"groups_or_sizes": groups_or_sizes, "groups": groups, "group_sizes": group_sizes}
    keys = {
        "query_id": pl.Series(_name_queries(relevance, grouping), dtype=pl.String),
        "doc_id": pl.Series(_name_documents(relevance, doc_ids), dtype=pl.String),
    }
    qrels = Qrels(pl.DataFrame(keys | {"relevance": relevance.ravel()}), name="labels")
    qrels.source_form = "array"
    run = Run(pl.DataFrame(keys | {"score": run_scores.ravel()}), name=name, duplicates=duplicates)
    return qrels, run


def _check_indexes(**arrays: ArrayLike | None) -> None:
    """Raise `ParameterError` if two arrays are of pandas and have different indexes, or one index in another order.

    Rows are taken by their places; by the labels of the indexes they would be other rows.
    """
    indexes: dict[str, Any] = {}
    for name, array in arrays.items():
        index = getattr(array, "index", None)
        if hasattr(index, "equals"):  # lists have a method of this name
            indexes[name] = index
    for first_name, name in pairwise(indexes):
        if not indexes[first_name].equals(indexes[name]):
            raise ParameterError(
                f"has another index than {first_name}, by which other rows belong together",
                argument=name,
                hint=f"bring it in the order of the other, as {name}.loc[{first_name}.index] does, or give"
                f" {first_name}.to_numpy() and {name}.to_numpy(), whose rows go by their places",
            )


def _read_numbers(name: str, values: ArrayLike) -> FloatArray:
    """Return an argument as an array of floats; raise for text, and for numbers that cannot be evaluated."""
    numbers = array_of(name, values)
    if numbers.dtype.kind not in KINDS_OF_NUMBERS:  # text that looks like numbers is text
        raise _no_numbers(name, numbers)
    is_beyond = are_beyond(numbers)
    if is_beyond.any():
        raise DataError(f"{name} hold {numbers[is_beyond][0]!s}, {BEYOND}", path=name)
    return numbers.astype(np.float64)


def _no_numbers(name: str, values: NDArray[Any]) -> DataError:
    """Return the error of an argument that is not all numbers, which shows the first value that is not one."""
    others = (item for item in values.ravel().tolist() if np.asarray(item).dtype.kind not in KINDS_OF_NUMBERS)
    value = next(others, values)
    hint = None
    if value is values:  # numbers as objects, or dates
        return DataError(
            argument=name,
            found=f"an array of {values.dtype}",
            allowed="an array of numbers",
            hint=f"numpy.asarray({name}, float) makes one of numbers that are objects",
        )
    if isinstance(value, str) and is_number_text(value):
        hint = f"numpy.asarray({name}, float) reads numbers from text"
    elif isinstance(value, Mapping):
        hint = "evaluate() takes a dict for each of qrels and run"
    elif value is None:
        hint = "leave out the rows without one"
    return DataError(argument=name, given=value, allowed="an array of numbers", hint=hint)


def _name_queries(labels: FloatArray, grouping: Mapping[str, ArrayLike | None]) -> list[str]:
    """Return the query of each row.

    Parameters
    ----------
    labels : ndarray of float, shape (n_rows,) or (n_queries, n_documents)
    grouping : mapping of str to array-like or None
        The arguments that may say which rows belong to one query, of which the user gives one at most.
    """
    given = {}
    for argument, values in grouping.items():
        if values is not None:
            given[argument] = array_of(argument, values)
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(given)} are given", allowed="one of them")
    if labels.ndim == 2:
        if given:
            argument = next(iter(given))
            raise ParameterError(argument=argument, found="an array", allowed="nothing: each row of labels is a query")
        n_queries, n_documents = labels.shape
        return _number_queries(np.full(n_queries, n_documents))
    if not given:
        raise ParameterError(
            "labels of one dimension need groups= (the query of each row) or group_sizes= (rows of each query)",
            hint="for a single query write group_sizes=[len(labels)]",
        )
    argument, values = given.popitem()
    return _read_groups(argument, values, len(labels))


def _read_groups(argument: str, values: NDArray[Any], n_rows: int) -> list[str]:
    """Return the query of each row, from the sizes of groups or from one id a row."""
    can_be_sizes = _can_be_sizes(values, n_rows)
    if argument == "groups_or_sizes" and can_be_sizes and len(values) == n_rows:
        raise ParameterError(
            f"{n_rows} whole numbers that sum to {n_rows} can be ids or sizes", hint="write groups= or group_sizes="
        )
    if can_be_sizes and argument != "groups":
        return _number_queries(values)
    if argument == "group_sizes":
        raise ParameterError(
            argument=argument,
            found=_describe_sizes(values),
            allowed=f"whole numbers from 0 on, one for each query, that sum to {n_rows:,} rows",
        )
    if values.shape != (n_rows,):
        raise ParameterError(
            argument=argument,
            found=f"shape {values.shape}",
            allowed=f"one id for each of {n_rows:,} rows, or sizes that sum to it",
        )
    return _read_ids(argument, values).tolist()


def _can_be_sizes(values: NDArray[Any], n_rows: int) -> bool:
    """Tell whether values are whole numbers from 0 on that sum to the number of rows."""
    if values.ndim != 1 or values.dtype.kind not in "iu":
        return False
    if (values < 0).any():
        return False
    return int(values.sum()) == n_rows


def _name_documents(labels: FloatArray, doc_ids: ArrayLike | None) -> list[str]:
    """Return the document of each row: its given id, or its place."""
    if doc_ids is None:
        if labels.ndim == 1:
            places: IntArray = np.arange(labels.size)
        else:
            n_queries, n_documents = labels.shape
            places = np.tile(np.arange(n_documents), n_queries)
        return places.astype(str).tolist()
    ids = array_of("doc_ids", doc_ids)
    if labels.ndim == 2 and ids.shape == labels.shape[1:]:
        ids = np.broadcast_to(ids, labels.shape)
    if ids.shape != labels.shape:
        raise ParameterError(argument="doc_ids", found=f"shape {ids.shape}", allowed=f"shape {labels.shape}")
    return _read_ids("doc_ids", ids.ravel()).tolist()


def _read_ids(argument: str, values: NDArray[Any]) -> TextArray:
    """Return ids as text; raise unless all are text or all are whole numbers."""
    if values.dtype.kind == "O":
        ids = values.tolist()
        are_ids = {type(value) for value in ids} in ({int}, {str}) or are_written_otherwise(ids)
    else:
        are_ids = values.dtype.kind in "iuU"
    if not are_ids:
        raise ParameterError(
            argument=argument,
            found=f"an array of {values.dtype}",
            allowed="ids that are all text or all whole numbers",
        )
    return values.astype(str).astype(object)


def _number_queries(sizes: IntArray) -> list[str]:
    """Return the query of each row, "0" for those of the first size, "1" for those of the second, and so on."""
    return np.repeat(np.arange(len(sizes)), sizes).astype(str).tolist()


def _describe_sizes(values: NDArray[Any]) -> str:
    """Say what was given as sizes: number, sum and minimum, as there may be thousands."""
    if values.dtype.kind == "U":
        return "text"
    if values.ndim != 1 or values.dtype.kind not in "iu":
        return f"shape {values.shape}, dtype {values.dtype}"
    numbers = format_count(len(values), "number that sums", "numbers that sum")
    lowest = min(values.tolist(), default=0)
    return f"{numbers} to {int(values.sum())}, the lowest {lowest}"
