"""How much each query counts in means: weights such as how often it is asked, from a mapping or a table of queries."""

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from deadheat.arrays import FloatArray, TextArray
from deadheat.data.queries import Queries
from deadheat.data.tables import Source
from deadheat.errors import DataError, ParameterError
from deadheat.kernels.weighting import are_equal
from deadheat.wording import Advice, Plain, counted, three

# A column of the queries table, or a dict of query_id to a number from 0 on
Weights: TypeAlias = str | Mapping[str, float]
HEAVY = 0.1  # share of the weight that one query may have unsaid


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
    ids = query_ids.tolist()
    if queries is not None and not isinstance(weights, str):
        raise ParameterError(
            "queries is the table that has the column of weights: name the column, as in weights='frequency'",
            given=Plain("none" if weights is None else type(weights).__name__),
        )
    if isinstance(weights, str):
        if queries is None:
            raise ParameterError(
                "is a column of a table", argument="weights", given=weights, hint=Advice("queries", "queries.csv")
            )
        table = Queries.of(queries, [weights])
        table.check_common(ids)
        where, given = table.where, dict(zip(ids, table.column(weights, ids), strict=True))
    elif isinstance(weights, Mapping):
        where, given = None, {str(query): weight for query, weight in weights.items()}
    else:
        raise ParameterError(
            argument="weights", given=weights, allowed="a column of queries, or a dict of query_id to a number"
        )
    found = np.array([_number(given.get(query)) for query in ids])
    lacking = [query for query in ids if given.get(query) is None]
    wrong = [query for query, one in zip(ids, found, strict=True) if query not in lacking and not 0 <= one < math.inf]
    if lacking:
        raise DataError(
            f"{counted(len(lacking), 'query', 'queries')} without a weight: {three([*map(repr, lacking)])}",
            hint="0 leaves a query out",
            path=where,
        )
    if wrong:
        raise DataError(
            f"the weight of query {wrong[0]!r}", given=given[wrong[0]], allowed="a number from 0 on", path=where
        )
    if not found.any():
        raise DataError("all weights are 0: no query counts", path=where)
    return found


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
    order = np.argsort(-shares, kind="stable")
    return {str(query_ids[n]): float(shares[n]) for n in order if shares[n] > HEAVY}


def _number(given: object) -> float:
    """Return a weight as a number; NaN of what is none."""
    try:
        return float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan
