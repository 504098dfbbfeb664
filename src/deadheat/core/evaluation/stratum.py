"""Strata of queries: the columns of the table of queries that make them, their names, and the columns of results."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from deadheat.core.checks import as_list
from deadheat.core.data.sources import Source
from deadheat.core.errors import ColumnError, ParameterError, UnlabelledQueriesWarning
from deadheat.core.evaluation.intervals import KNOWN
from deadheat.core.libraries import polars as pl

if TYPE_CHECKING:
    from deadheat.core.data.queries import Queries

Stratum: TypeAlias = str | tuple[str, ...]  # the value of one column, or a tuple of the values of several

NONE = "(none)"  # the value of queries without one
NUMBERS = ("mean", "low", "high", "standard_error", "tie_std", "tie_min", "tie_max")


def summary_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of a summary of strata."""
    return {
        "measure": pl.String,
        "n_queries": pl.Int64,
        **dict.fromkeys(NUMBERS, pl.Float64),
        "is_small": pl.Boolean,
        **dict.fromkeys(KNOWN, pl.String),
        "known": pl.Boolean,
    }


def averages_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of the averages over strata."""
    return {
        "measure": pl.String,
        **dict.fromkeys(("micro", "macro"), pl.Float64),
        "n_strata": pl.Int64,
        **dict.fromkeys(("variance", "std"), pl.Float64),
        **dict.fromkeys(("lowest", "highest"), pl.String),
    }


def groupings_of(by: Sequence[str], table: Queries) -> list[tuple[str, ...]]:
    """Return the columns of each set of strata: each by itself; ``a:b``, unless it is a column, for combinations."""
    names_of(by, "by")
    return [(one,) if one in table.columns else tuple(one.split(":")) for one in by]


def columns_of(queries: Queries, query_ids: Sequence[str], by: Sequence[str], *, pool_languages: bool) -> list[str]:
    """Return the requested stratum columns, after the language column if the queries are in several languages.

    Raises
    ------
    DataError
        The table has none of the queries, even if it is not needed for strata.
    """
    queries.check_common(query_ids)
    column = queries.language_column
    if column is None or column in by or pool_languages or len(queries.languages(query_ids)) < 2:
        return list(by)
    return [column, *by]


def names_of(columns: str | Sequence[str], argument: str = "columns") -> list[str]:
    """Return the names of stratum columns, each once; raise an error of the argument if there are none."""
    allowed = "a column of the queries table, or several different ones"
    names = [columns] if isinstance(columns, str) else as_list(argument, columns, allowed)
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ParameterError(argument=argument, given=columns, allowed=allowed)
    return names


def check_columns(names: Sequence[str], table: Queries) -> None:
    """Raise `ColumnError` if the table lacks a column, or the result has another column of that name."""
    table.check_columns(names)
    results = {*summary_schema(), *averages_schema()}
    if taken := results.intersection(names):  # it would appear twice in one of these frames
        raise ColumnError(
            f"the stratum column {min(taken)!r} has the same name as a column of the result",
            hint="give it another name",
            path=table.where,
        )


def keys_of(stratum: Stratum) -> tuple[str, ...]:
    """Return the values of a stratum as a tuple, even of a single column."""
    return (stratum,) if isinstance(stratum, str) else stratum


def label(stratum: Stratum) -> str:
    """Return a stratum as text.

    Examples
    --------
    >>> label("de"), label(("de", "hard"))
    ('de', 'de, hard')
    """
    return ", ".join(keys_of(stratum))


def is_assigned(stratum: Stratum) -> bool:
    """Return whether the queries of a stratum have a value in every column."""
    return NONE not in keys_of(stratum)


def strata_of(found: Any, columns: Sequence[str], queries: Source) -> Any:  # noqa: ANN401 - an Evaluation or a Comparison
    """Return its strata, without a warning of queries that have no value: for reports, which name them."""
    with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):
        return found.by(columns, queries, pool_languages=True)
