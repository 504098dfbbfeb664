"""The subsets of the queries in which gates are checked: the strata of some columns, or all queries."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import IntArray
from deadheat.core.data.queries import Queries
from deadheat.core.errors import Advice, DataError, ParameterError, UnlabelledQueriesWarning
from deadheat.core.evaluation.stratum import columns_of, groupings_of, is_assigned, label
from deadheat.core.evaluation.stratum_places import groups


@dataclass(frozen=True, eq=False)
class Subset:
    """A subset of the queries.

    Attributes
    ----------
    by, stratum : str
        The stratum columns and their values; empty for all queries.
    places : ndarray of int
        Of its queries.
    """

    by: str
    stratum: str
    places: IntArray


def list_families(by: Sequence[str], table: Queries | None) -> list[tuple[str, ...]]:
    """Return the columns of each family of subsets: none, which is all queries, and each set of strata."""
    if not by:
        return [()]
    if table is None:
        return [(), tuple(by)]
    return [(), *groupings_of(by, table)]


def list_subsets(
    by: Sequence[str], table: Queries | None, query_ids: list[str], *, pool_languages: bool
) -> tuple[Subset, ...]:
    """Return the strata of some columns as one family, in each language if there are several; else all queries.

    Raises
    ------
    ParameterError
        There is no table.
    DataError
        It lacks a column, or has none of the queries, or has no value for any of them.
    """
    if table is None and by:
        raise ParameterError(
            "needs a queries table", argument="by", given=", ".join(by), hint=Advice("queries", "queries.csv")
        )
    columns = [] if table is None else columns_of(table, query_ids, by, pool_languages=pool_languages)
    if table is None or not columns:
        return (Subset("", "", np.arange(len(query_ids))),)
    table.check_columns(by)
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # they are a stratum, with a name
        places_by_stratum = groups(query_ids, columns, table, pool_languages=True)
    if not any(map(is_assigned, places_by_stratum)):
        raise DataError(
            f"no evaluated query has a {' and a '.join(columns)}: there is nothing to check by", path=table.where
        )
    subsets = []
    for stratum, places in places_by_stratum.items():
        subsets.append(Subset(", ".join(columns), label(stratum), places))
    return tuple(subsets)
