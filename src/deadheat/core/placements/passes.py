"""Passes over a run whose rows are not in memory: a task is done with the rows of each query, and returns results.

A plugin makes the passes, as the service ``by_query``: in a cluster, or batch by batch in a large file.
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

QUERY = "query"  # the kind of results of which each query has one
# A function of the rows of some queries, and of judgments, which may be of other queries too. It returns tables made by
# `make_results`. It is sent to the workers of a cluster, so it must not hold data.
Task: TypeAlias = "Callable[[Blocks, pl.DataFrame], list[pl.DataFrame]]"


class NotAdjacentError(Exception):
    """Raised by a pass when the rows of a query are not adjacent."""


def result_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of all results. The column "what" has the kind of a row, which says what its numbers mean."""
    return {
        "what": pl.String,
        "query_id": pl.String,
        "doc_id": pl.String,
        "value": pl.Float64,
        "above": pl.Int64,
        "tied": pl.Int64,
    }


def find_passes(run: Run) -> ModuleType | None:
    """Return the module that passes over the rows of a run; None where the rows are, or fit, in memory.

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


def make_results(kind: str, **columns: object) -> pl.DataFrame:
    """Return rows of one kind in the columns of `result_schema`; a column that is not given is null."""
    expressions = []
    for name, dtype in result_schema().items():
        if name == "what":
            expressions.append(pl.lit(kind).alias(name))
        elif name in columns:
            expressions.append(pl.col(name).cast(dtype))
        else:
            expressions.append(pl.lit(None, dtype).alias(name))
    return pl.DataFrame(columns).select(expressions)


def select_results(results: pl.DataFrame, kind: str, *columns: str) -> pl.DataFrame:
    """Return some columns of the rows of one kind."""
    return results.filter(pl.col("what") == kind).select(*columns)
