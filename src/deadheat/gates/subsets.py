"""The subsets of queries that gates are checked over: all queries, each language if there are several, and strata."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadheat.arrays import BoolArray
from deadheat.data.queries import Queries
from deadheat.errors import DataError, ParameterError, UnlabelledQueriesWarning
from deadheat.evaluation.strata import columns_of, groups, is_assigned, label
from deadheat.wording import Advice


@dataclass(frozen=True, eq=False)
class Subset:
    """A subset of the queries.

    Attributes
    ----------
    by, stratum : str
        The stratum columns and their values; empty for all queries.
    keep : ndarray of bool, shape (n_queries,)
    """

    by: str
    stratum: str
    keep: BoolArray


@dataclass(frozen=True)
class Subsets:
    """Subsets of some queries by the columns of a table; languages are kept apart unless they may be pooled."""

    query_ids: list[str]
    table: Queries | None
    pool_languages: bool

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of these queries, if there are several."""
        found = () if self.table is None else self.table.languages(self.query_ids)
        return found if len(found) > 1 else ()

    def of(self, by: Sequence[str]) -> tuple[Subset, ...]:
        """Return the strata of some columns as one family; all queries if there are no columns.

        Raises
        ------
        ParameterError
            There is no table.
        DataError
            It lacks a column, or has none of the queries, or has no value for any of them.
        """
        if self.table is None and by:
            raise ParameterError(
                "needs a queries table", argument="by", given=", ".join(by), hint=Advice("queries", "queries.csv")
            )
        columns: list[str] = []
        if self.table is not None:
            self.table.check_columns(by)
            columns = columns_of(self.table, self.query_ids, by, pool_languages=self.pool_languages)
        if self.table is None or not columns:
            return (Subset("", "", np.ones(len(self.query_ids), np.bool_)),)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnlabelledQueriesWarning)  # they are a stratum, which is named
            found = groups(self.query_ids, columns, self.table, pool_languages=True)
        if not any(map(is_assigned, found)):
            raise DataError(
                f"no evaluated query has a {' and a '.join(columns)}: there is nothing to check by",
                path=self.table.where,
            )
        return tuple(Subset(", ".join(columns), label(stratum), keep) for stratum, keep in found.items())
