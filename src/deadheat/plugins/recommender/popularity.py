"""popularity(): how many users have each item; and the popularity of items in the forms that people have it in."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, TextArray
from deadheat.core.checks import as_count
from deadheat.core.data.qrels import Qrels
from deadheat.core.errors import ParameterError
from deadheat.core.wording import format_count
from deadheat.plugins.dense.comparing import is_array, to_memory
from deadheat.plugins.dense.counting import entries_of
from deadheat.plugins.dense.lists import Lists


def popularity(train: object, n_items: int | None = None) -> FloatArray:
    """Return how many users have each item: scores of the popularity baseline, the same for each user.

    Parameters
    ----------
    train : sparse matrix, array of shape (n_users, n_items), or list of lists of int
        The items of each user, as for `exclude` of :func:`evaluate_dense`; numbers above 0 count once.
    n_items : int, optional
        Items of the catalogue; needed for lists alone.

    Returns
    -------
    ndarray of float, shape (n_items,)

    Raises
    ------
    ParameterError
        Lists come without `n_items`, or name an item beyond; or an array has another number of columns.

    Examples
    --------
    >>> from deadheat import evaluate_dense
    >>> train, test = [[0, 1], [0], [0, 2]], [[2], [1], [1]]
    >>> popularity(train, n_items=4).tolist()
    [3.0, 1.0, 1.0, 0.0]
    >>> evaluate_dense(popularity(train, n_items=4), test, "RR", exclude=train).means()
    {'RR': 0.9166666666666666}
    """
    given = cast("Any", train)
    if hasattr(train, "shape"):
        shape = tuple(given.shape)
        if len(shape) != 2 or (n_items is not None and shape[1] != n_items):
            raise ParameterError(
                argument="train",
                found=f"an array of shape {shape}",
                allowed=f"of shape (n_users, {'n_items' if n_items is None else n_items})",
                hint="if it holds numbers of items, give train.tolist()",
            )
        n_users, n_items = shape
    elif n_items is None:
        raise ParameterError(argument="n_items", given=None, allowed="the number of items, as lists do not say it")
    else:
        n_users, n_items = len(given), as_count("n_items", n_items)
    held = entries_of(train, (n_users, n_items), "train")
    return np.bincount(held.document[held.value > 0], minlength=n_items).astype(np.float64)


def popularity_of(source: object, n_users: float | None, lists: Lists) -> tuple[dict[str, float] | None, float]:
    """Return the popularity of the known items, and the number of users; None and NaN without a source.

    Parameters
    ----------
    source : dict, qrels, vector or matrix, or None
        As `popularity` of :func:`item_profile`.
    n_users : float or None
        Users, if they were given; else those of the source.
    lists : Lists
        The lists whose items are meant.

    Raises
    ------
    ParameterError
        The source is none of these, or does not say how many users there are.
    """
    if source is None:
        return None, math.nan
    known, users = _numbers_of(source, lists)
    users = users if n_users is None else n_users
    if users is None:
        raise ParameterError(
            "a popularity as a dict or a vector does not say how many users there are",
            hint="give n_users=, 1 if the numbers are shares of them; or the interactions of users as popularity",
        )
    return known, float(users)


def _numbers_of(source: Any, lists: Lists) -> tuple[dict[str, float], float | None]:  # noqa: ANN401 - of many types
    """Return the popularity of each item, and how many users there are, where the source says it."""
    if isinstance(source, Mapping) and source and all(isinstance(one, Real) for one in source.values()):
        return _of_dict(source), None
    is_list = isinstance(source, list) and bool(source) and not isinstance(source[0], Mapping | tuple)
    if is_list and all(isinstance(one, Real) for one in source):
        source = np.array(source, np.float64)
    is_array_like = hasattr(source, "tocoo") or is_array(source)
    if lists.depth is not None and (is_array_like or is_list):  # of a matrix; those of a run are whole, and have ids
        return _of_matrix(source, lists.doc_ids)
    if is_array_like:
        raise ParameterError(
            argument="popularity",
            found=type(source).__name__,
            allowed="{item: number}, or qrels of users and items",
            hint="an array or a list has no ids of items, and goes with a matrix of scores alone",
        )
    rows = Qrels.of(source).to_polars()
    is_positive = pl.col("relevance") > 0
    users = pl.col("query_id").filter(is_positive).n_unique()
    counts = rows.group_by("doc_id").agg(users.cast(pl.Float64)).sort("doc_id")  # 0 of an item that nobody liked
    return dict(counts.iter_rows()), rows.filter(is_positive)["query_id"].n_unique()


def _of_matrix(some: Any, doc_ids: TextArray) -> tuple[dict[str, float], float | None]:  # noqa: ANN401 - of many types
    """Return the popularity of each column of a matrix, or of a vector, and how many users a matrix has."""
    shape = tuple(some.shape) if hasattr(some, "shape") else (len(some), len(doc_ids))
    if shape[-1] != len(doc_ids):
        raise ParameterError(
            argument="popularity",
            found=f"shape {shape}",
            allowed=f"a number or a column for each of the {format_count(len(doc_ids), 'item')} of the scores",
        )
    if len(shape) == 1:
        return _of_dict(dict(zip(doc_ids.tolist(), to_memory(some).tolist(), strict=True))), None
    held = entries_of(some, cast("tuple[int, int]", shape), "popularity")
    numbers = np.bincount(held.document[held.value > 0], minlength=len(doc_ids)).astype(np.float64)
    return dict(zip(doc_ids.tolist(), numbers.tolist(), strict=True)), len(np.unique(held.query[held.value > 0]))


def _of_dict(given: Mapping[object, float]) -> dict[str, float]:
    """Return the popularity of each item of a dict."""
    for item in (item for item, one in given.items() if not 0 <= one < math.inf):
        raise ParameterError(argument="popularity", found=f"{given[item]!r} for {item!r}", allowed="numbers from 0 on")
    found = {str(item): float(one) for item, one in given.items()}
    if len(found) < len(given):
        raise ParameterError("has two numbers for an item, as 1 and as '1'", argument="popularity")
    return found
