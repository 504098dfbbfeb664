"""What a column of the table of queries, or a dict, says of each query: its cluster, its weight, its stratum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray, TextArray
from deadheat.core.checks import as_list
from deadheat.core.data.sources import Source
from deadheat.core.errors import Advice, DataError, ParameterError
from deadheat.core.kernels.weighting import are_equal
from deadheat.core.wording import format_count, format_list

if TYPE_CHECKING:
    from deadheat.core.data.queries import Queries
    from deadheat.core.evaluation.intervals import Cluster

SMALLEST = 10  # queries: strata with fewer are marked as small
NULLS = ("None", "nan", "<NA>", "NaT")  # as values that are none are written; pandas may not be installed


def _column_of(argument: str, given: object, queries: Source | None, example: str) -> Queries | None:
    """Return the table of queries that has a column, if that is given; raise if a table or a column is missing."""
    if isinstance(given, str):
        if queries is None:
            raise ParameterError(
                "is a column of a table", argument=argument, given=given, hint=Advice("queries", "queries.csv")
            )
        from deadheat.core.data.queries import Queries  # few evaluations have a table of queries

        return Queries.of(queries, [given])
    if queries is not None:
        raise ParameterError(
            f"queries is the table that has the column of {argument.removesuffix('s')}s: name the column, as in"
            f" {argument}={example!r}",
            found="none" if given is None else type(given).__name__,
        )
    return None


def cluster_codes(cluster: Cluster, queries: Source | None, query_ids: TextArray) -> IntArray | None:
    """Return the number of each query's cluster, of shape (n_queries,); None without clusters."""
    table, ids = _column_of("cluster", cluster, queries, "document"), query_ids.tolist()
    if cluster is None:
        return None
    if table is not None:
        found: Sequence[object] = table.column(str(cluster), ids)
    elif isinstance(cluster, Mapping):
        given = {str(query): label for query, label in cluster.items()}
        found = [given.get(query) for query in ids]
    else:
        found = as_list("cluster", cluster, "a column of queries, a dict of query_id to cluster, or their labels")
    if len(found) != len(ids):
        raise ParameterError(
            f"must have a label for each of the {format_count(len(ids), 'query', 'queries')}",
            argument="cluster",
            given=len(found),
        )
    labels = list(map(_text, found))
    if lacking := [query for query, label in zip(ids, labels, strict=True) if label is None]:
        problem = f"must name the cluster of every query; {len(lacking)} without one, such as {lacking[0]!r}"
        kind, path = (ParameterError, None) if table is None else (DataError, table.where)
        raise kind(problem, argument="cluster", path=path)
    return np.unique(np.array(labels, np.str_), return_inverse=True)[1]


def _text(label: object) -> str | None:
    """Return a label as a table of queries has it: stripped; None for null, NaN and empty text."""
    return None if not isinstance(label, str) and str(label) in NULLS else str(label).strip() or None


# A column of the queries table, or a dict of query_id to a number from 0 on
Weights: TypeAlias = str | Mapping[str, float]
HEAVY = 0.1  # share of the weight that one query may have unsaid
NOTE_OF_WEIGHTS = "weights: "  # how the note of an evaluation begins that names the column of its weights


def weights_of(weights: Weights | None, queries: Source | None, query_ids: TextArray) -> FloatArray:
    """Return the weight of each query, of shape (n_queries,).

    Parameters
    ----------
    weights : str or mapping
    queries : path, frame or Queries, optional
        The table that has the column.
    query_ids : ndarray of str, shape (n_queries,)

    Raises
    ------
    ParameterError
        There is no table, or no mapping of numbers.
    DataError
        A query has no weight, or one that is below 0 or no number; or all have 0.
    """
    table, ids = _column_of("weights", weights, queries, "frequency"), query_ids.tolist()
    where = None if table is None else table.where
    if table is not None:
        table.check_common(ids)
        given = dict(zip(ids, table.column(str(weights), ids, has_numbers=True), strict=True))
    elif isinstance(weights, Mapping):
        given = {str(query): weight for query, weight in weights.items()}
    else:
        raise ParameterError(
            argument="weights", given=weights, allowed="a column of queries, or a dict of query_id to a number"
        )
    if lacking := [query for query in ids if given.get(query) is None]:
        raise DataError(
            f"{format_count(len(lacking), 'query', 'queries')} without a weight: {format_list([*map(repr, lacking)])}",
            hint="0 leaves a query out",
            path=where,
        )
    found = np.array([_number(given[query]) for query in ids])
    if wrong := [query for query, one in zip(ids, found, strict=True) if not 0 <= one < math.inf]:
        raise DataError(
            f"the weight of query {wrong[0]!r}", given=given[wrong[0]], allowed="a number from 0 on", path=where
        )
    if not found.any():
        raise DataError("all weights are 0: no query counts", path=where)
    return found


def source_of_weights(notes: Sequence[str]) -> str:
    """Return the column and the file that weights came from, as the notes of an evaluation say; empty if they do not.

    Examples
    --------
    >>> source_of_weights(["weights: traffic of queries.csv"]), source_of_weights(["sorted by score"])
    ('traffic of queries.csv', '')
    """
    for note in notes:
        if note.startswith(NOTE_OF_WEIGHTS):
            return note.removeprefix(NOTE_OF_WEIGHTS)
    return ""


def heavy(query_ids: TextArray, weights: FloatArray | None) -> dict[str, float]:
    """Return the share in the weight of each query that has more than a tenth, the largest first; none of equal ones.

    Examples
    --------
    >>> heavy(np.array(["q1", "q2"], dtype=object), np.array([1.0, 3.0])), heavy(np.array(["q1"]), np.array([2.0]))
    ({'q2': 0.75, 'q1': 0.25}, {})
    """
    if weights is None or are_equal(weights):
        return {}
    shares = weights / weights.sum()
    return {str(query_ids[n]): float(shares[n]) for n in np.argsort(-shares, kind="stable") if shares[n] > HEAVY}


def _number(given: object) -> float:
    """Return a weight as a number; NaN if it is not one."""
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
