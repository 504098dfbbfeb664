"""Values of measures by query, as another tool computed them: what every reader returns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

ALL = "all"
"""What trec_eval and ir_measures call all queries together, in the place of a query."""


@dataclass(frozen=True)
class ValueRow:
    """A value of one query, or of all of them.

    Attributes
    ----------
    query_id : str
    measure : str
        As the tool names it.
    value : float
        NaN where the tool says that there is none.
    decimals : int or None
        Digits behind the point, as they are written; None of a whole number.
    line : int or None
        Where it is in its file.
    system : str
        Of a table with several systems; else empty.
    """

    query_id: str
    measure: str
    value: float
    decimals: int | None = None
    line: int | None = None
    system: str = ""


@dataclass(frozen=True, eq=False)
class ValueTable:
    """Values of one system.

    Attributes
    ----------
    name : str
        Of the system.
    tool : str
        What computed them, as messages call it.
    values : dict of str to dict of str to float
        By measure and query; the measures in the order of the source, by the names that the tool has.
    of_all : dict of str to ValueRow
        What the tool says of all queries, by measure.
    decimals : int or None
        How many digits behind the point values have, if they were written with the same few; None if they were not.
    where : str
        The source, for messages.
    """

    name: str
    tool: str
    values: Mapping[str, Mapping[str, float]]
    of_all: Mapping[str, ValueRow] = field(default_factory=dict)
    decimals: int | None = None
    where: str = ""

    @property
    def query_ids(self) -> list[str]:
        """The queries that have a row, sorted."""
        found: set[str] = set()
        for by_query in self.values.values():
            found.update(by_query)
        return sorted(found)

    def list_values(self, measure: str, query_ids: list[str]) -> list[float]:
        """Return the values of a measure for these queries, NaN where there is none."""
        by_query = self.values[measure]
        return [by_query.get(query, math.nan) for query in query_ids]
