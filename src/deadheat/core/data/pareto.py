"""Pareto levels: a ranking by several criteria of which none counts more than another, so that documents tie."""

import math
from collections.abc import Sequence

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.errors import ParameterError
from deadheat.core.io.kinds import KEYS
from deadheat.core.libraries import polars as pl

MAX_CELLS = 1 << 24  # cells of an array of comparisons: documents by candidates by criteria


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
    runs = [Run(table, columns={"score": column.removeprefix("-")}) for column in columns]
    runs[0].check_duplicates(now=True)
    documents = runs[0].to_polars().select(*KEYS)
    criteria = []
    for column, run in zip(columns, runs, strict=True):
        rows = documents.join(run.to_polars(), on=KEYS, how="left", maintain_order="left")
        sign = -1.0 if column.startswith("-") else 1.0
        criteria.append(sign * rows["score"].to_numpy())
    values = np.column_stack(criteria)
    queries = documents["query_id"].rank("dense").to_numpy()
    by_query = np.argsort(queries, kind="stable")
    starts = run_starts(queries[by_query])
    levels = np.empty(len(by_query), np.int64)
    for rows_of_query in np.split(by_query, starts[1:]):
        levels[rows_of_query] = _find_levels(values[rows_of_query])
    scores = pl.Series(-levels.astype(np.float64))
    return Run(documents.with_columns(score=scores), name=name)


def _find_levels(values: FloatArray) -> IntArray:
    """Return the Pareto level of each row, from 1 on.

    Parameters
    ----------
    values : ndarray of float, shape (n_documents, n_criteria)
        Higher is better.
    """
    levels = np.zeros(len(values), np.int64)
    remaining = np.arange(len(values))
    level = 0
    while len(remaining):
        level += 1
        candidates = values[remaining]
        n_cells = candidates.size * len(candidates)
        n_parts = math.ceil(n_cells / MAX_CELLS)
        parts = np.array_split(candidates, n_parts)
        is_dominated = np.concatenate([_are_dominated(part, candidates) for part in parts])
        levels[remaining[~is_dominated]] = level
        remaining = remaining[is_dominated]
    return levels


def _are_dominated(documents: FloatArray, candidates: FloatArray) -> BoolArray:
    """Tell which documents are dominated: some candidate is no worse by each criterion, and better by one."""
    document = documents[:, None]
    candidate = candidates[None]
    is_no_worse = np.all(candidate >= document, axis=2)
    is_better = np.any(candidate > document, axis=2)
    return (is_no_worse & is_better).any(axis=1)
