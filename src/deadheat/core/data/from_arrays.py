"""from_arrays(): labels and scores as scikit-learn and LightGBM hold them, as qrels and a run; and Pareto levels.

Those are a ranking by several criteria of which none counts more than another, so that documents tie.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, TextArray, run_starts
from deadheat.core.checks import array_of
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import DataError, ParameterError
from deadheat.core.io.values import BEYOND, are_beyond
from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_count


def from_arrays(
    labels: ArrayLike,
    scores: ArrayLike,
    groups_or_sizes: ArrayLike | None = None,
    /,
    *,
    groups: ArrayLike | None = None,
    group_sizes: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
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
    wanted, found = (_numbers(kind, values) for kind, values in {"labels": labels, "scores": scores}.items())
    if wanted.shape != found.shape or wanted.ndim not in (1, 2):
        raise ParameterError(
            argument="scores", found=f"shape {found.shape}", allowed=f"the shape of labels, {wanted.shape}"
        )
    if not wanted.size:
        raise DataError("labels and scores are empty", path=name)
    columns = {
        "query_id": pl.Series(_queries(wanted, groups_or_sizes, groups, group_sizes), dtype=pl.String),
        "doc_id": pl.Series(_documents(wanted, doc_ids), dtype=pl.String),
    }
    qrels = Qrels(pl.DataFrame(columns | {"relevance": wanted.ravel()}), name="labels")
    qrels.source_form = "array"
    return qrels, Run(pl.DataFrame(columns | {"score": found.ravel()}), name=name)


def _numbers(kind: str, values: ArrayLike) -> NDArray[np.float64]:
    found = array_of(kind, values)
    if found.dtype.kind not in "fiub":  # text that looks like numbers is text
        raise DataError(f"{kind} are not an array of numbers", path=kind)
    if (beyond := are_beyond(found)).any():
        raise DataError(f"{kind} hold {found[beyond][0]!s}, {BEYOND}", path=kind)
    return found.astype(np.float64)


def _queries(
    labels: NDArray[Any], either: ArrayLike | None, groups: ArrayLike | None, sizes: ArrayLike | None
) -> list[str]:
    """Return the query of each row."""
    named = {"groups_or_sizes": either, "groups": groups, "group_sizes": sizes}
    used = {key: array_of(key, value) for key, value in named.items() if value is not None}
    if len(used) > 1:
        raise ParameterError(f"{' and '.join(used)} are given", allowed="one of them")
    if labels.ndim == 2:
        if used:
            raise ParameterError(
                argument=next(iter(used)), found="an array", allowed="nothing: each row of labels is a query"
            )
        return _repeated(np.full(len(labels), labels.shape[1]))
    n_rows = len(labels)
    if not used:
        raise ParameterError(
            "labels of one dimension need groups= (the query of each row) or group_sizes= (rows of each query)",
            hint="for a single query write group_sizes=[len(labels)]",
        )
    argument, values = used.popitem()
    fit = values.ndim == 1 and values.dtype.kind in "iu" and not (values < 0).any() and int(values.sum()) == n_rows
    if argument == "groups_or_sizes" and fit and len(values) == n_rows:
        raise ParameterError(
            f"{n_rows} whole numbers that sum to {n_rows} can be ids or sizes", hint="write groups= or group_sizes="
        )
    if fit and argument != "groups":
        return _repeated(values)
    if argument == "group_sizes":
        raise ParameterError(
            argument=argument,
            found=_described(values),
            allowed=f"whole numbers from 0 on, one for each query, that sum to {n_rows:,} rows",
        )
    if values.shape != (n_rows,):
        raise ParameterError(
            argument=argument,
            found=f"shape {values.shape}",
            allowed=f"one id for each of {n_rows:,} rows, or sizes that sum to it",
        )
    return _text(values, argument).tolist()


def _documents(labels: NDArray[Any], doc_ids: ArrayLike | None) -> list[str]:
    if doc_ids is None:
        place: IntArray = (
            np.arange(labels.size) if labels.ndim == 1 else np.tile(np.arange(labels.shape[1]), len(labels))
        )
        return place.astype(str).tolist()
    given = array_of("doc_ids", doc_ids)
    if labels.ndim == 2 and given.shape == labels.shape[1:]:
        given = np.broadcast_to(given, labels.shape)
    if given.shape != labels.shape:
        raise ParameterError(argument="doc_ids", found=f"shape {given.shape}", allowed=f"shape {labels.shape}")
    return _text(given.ravel(), "doc_ids").tolist()


def _text(values: NDArray[Any], argument: str) -> TextArray:
    kinds = set(map(type, values.tolist())) if values.dtype.kind == "O" else {values.dtype.kind}
    if kinds <= {"i", "u", "U"} or kinds in ({int}, {str}):
        return values.astype(str).astype(object)
    raise ParameterError(
        argument=argument,
        found=f"an array of {values.dtype}",
        allowed="ids that are all text or all whole numbers",
    )


def _repeated(sizes: IntArray) -> list[str]:
    return np.repeat(np.arange(len(sizes)), sizes).astype(str).tolist()


def _described(values: NDArray[Any]) -> str:
    """Return what sizes are, in words: there may be thousands."""
    if values.ndim != 1 or values.dtype.kind not in "iu":
        return "text" if values.dtype.kind == "U" else f"shape {values.shape}, dtype {values.dtype}"
    return (
        f"{format_count(len(values), 'number that sums', 'numbers that sum')} to {int(values.sum())}, the lowest"
        f" {values.min(initial=0)}"
    )


MAX_CELLS = 1 << 24  # of a matrix of comparisons


def pareto_levels(table: Source, columns: Sequence[str], *, name: str = "pareto") -> Run:
    """Rank documents by Pareto levels of several criteria.

    A document dominates another one if it is no worse by every criterion and better by one. Those that none dominates
    are the first level; without them, those that none dominates are the second, and so on. Documents of a level tie,
    as no criterion decides between them: :func:`evaluate` averages over their orders, and gives their range.

    Parameters
    ----------
    table : path or frame
        query_id, doc_id and the criteria.
    columns : sequence of str
        The criteria, more is better; "-price" with a minus before it: less is better.
    name : str, default "pareto"
        Label of the run.

    Returns
    -------
    Run
        The score is the negative level: -1 for the first.

    Raises
    ------
    ParameterError
        There is no criterion.
    DataError
        The table lacks a column, or a value of it is no number; or a document is there twice for a query.

    Examples
    --------
    >>> import polars as pl
    >>> from deadheat import evaluate
    >>> hits = {"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"], "match": [3, 2, 1], "price": [9, 5, 7]}
    >>> run = pareto_levels(pl.DataFrame(hits), ["match", "-price"])
    >>> run.to_polars().rows()
    [('q', 'a', -1.0), ('q', 'b', -1.0), ('q', 'c', -2.0)]
    >>> evaluate({"q": {"b": 1}}, run, "RR").means()
    {'RR': 0.75}
    """
    if isinstance(columns, str) or not columns:
        raise ParameterError(argument="columns", given=columns, allowed="a list of names, at least one")
    held = [Run(table, columns={"score": one.removeprefix("-")}) for one in columns]
    held[0].check_duplicates(now=True)
    signs = np.array([-1.0 if one.startswith("-") else 1.0 for one in columns])
    frame, keys = held[0].to_polars().select("query_id", "doc_id"), ["query_id", "doc_id"]
    values = np.column_stack(
        [frame.join(one.to_polars(), on=keys, how="left", maintain_order="left")["score"] for one in held]
    )
    queries = frame["query_id"].rank("dense").to_numpy()
    order = np.argsort(queries, kind="stable")
    starts = run_starts(queries[order])
    level = np.empty(len(order), np.int64)
    for rows in np.split(order, starts[1:]):
        level[rows] = _levels(values[rows] * signs)
    return Run(frame.with_columns(score=pl.Series(-level.astype(np.float64))), name=name)


def _levels(values: FloatArray) -> IntArray:
    """Return the Pareto level of each row, from 1 on."""
    level, left, number = np.zeros(len(values), np.int64), np.arange(len(values)), 0
    while len(left):
        number += 1
        own = values[left]
        parts = np.array_split(own, -(-own.size * len(own) // MAX_CELLS))
        is_first = np.concatenate([~_is_dominated(part, own) for part in parts])
        level[left[is_first]], left = number, left[~is_first]
    return level


def _is_dominated(some: FloatArray, others: FloatArray) -> BoolArray:
    """Return whether any of the others is no worse by each criterion, and better by one."""
    one, other = some[:, None], others[None]
    return (np.all(other >= one, axis=2) & np.any(other > one, axis=2)).any(axis=1)
