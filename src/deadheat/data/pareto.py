"""Pareto levels: a ranking by several criteria of which none counts more than another, so that documents tie."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from deadheat.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.data.tables import Run, Source
from deadheat.errors import ParameterError

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
        The table lacks a column, or a value of it is no number.

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
    held = [Run(table, columns={"score": one.removeprefix("-")}).to_polars() for one in columns]
    signs = np.array([-1.0 if one.startswith("-") else 1.0 for one in columns])
    frame, keys = held[0].select("query_id", "doc_id"), ["query_id", "doc_id"]
    values = np.column_stack([frame.join(one, on=keys, how="left", maintain_order="left")["score"] for one in held])
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
    found: BoolArray = (np.all(other >= one, axis=2) & np.any(other > one, axis=2)).any(axis=1)
    return found
