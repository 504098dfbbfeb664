"""Passes over a run whose rows are not in memory: what is done with the rows of each query, and what is said of them.

A plugin makes them, as the service ``by_query``: in a cluster, or batch by batch in a large file.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TypeAlias

from deadheat.core import hooks
from deadheat.core.data.rows import Blocks
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.io.memory_limits import is_bounded
from deadheat.core.libraries import polars as pl

QUERY = "query"  # what is said once of each query, if anything is
# What is done with the rows of some queries and judgments, which may be of other queries too: tables made by `said`.
# It may travel to a worker, so it is small
Task: TypeAlias = "Callable[[Blocks, pl.DataFrame], list[pl.DataFrame]]"


class NotAdjacentError(Exception):
    """The rows of a query are not adjacent."""


def said_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of all that is said; `what` tells what a row is."""
    return {
        "what": pl.String,
        "query_id": pl.String,
        "doc_id": pl.String,
        "value": pl.Float64,
        "above": pl.Int64,
        "tied": pl.Int64,
    }


def passes_over(run: Run) -> ModuleType | None:
    """Return what passes over the rows of a run; None where they are in memory, or may be held there without it.

    Raises
    ------
    MissingPluginError
        The rows are in a cluster, or memory is bounded, and the plugin is not there.
    """
    if not isinstance(run.rows, UnreadRows):
        return None
    if run.rows.in_polars and not is_bounded():
        return hooks.find_service("by_query")
    return hooks.service("by_query")


def said(what: str, **columns: object) -> pl.DataFrame:
    """Return rows in the columns of `said_schema`; those that are not given are null."""
    return pl.DataFrame(columns).select(
        pl.lit(what).alias(name)
        if name == "what"
        else pl.col(name).cast(dtype)
        if name in columns
        else pl.lit(None, dtype).alias(name)
        for name, dtype in said_schema().items()
    )


def of_kind(found: pl.DataFrame, what: str, *columns: str) -> pl.DataFrame:
    """Return some columns of the rows that say one thing."""
    return found.filter(pl.col("what") == what).select(*columns)
