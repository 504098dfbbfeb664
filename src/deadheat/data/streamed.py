"""A pass over a run in a file that is too large to hold: whole queries at a time, in the order of the rows.

What is done with them is what the workers of a cluster do (`deadheat.data.passes`). The rows of each query must be
adjacent, as those of runs mostly are; if they are not, that is seen, and the caller goes another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast

import numpy as np
import polars as pl

from deadheat.arrays import IntArray, spans
from deadheat.data.passes import NO_JUDGMENTS, QUERY, SCHEMA, Look, Task, check_said, of_kind
from deadheat.data.precision import ScorePrecision
from deadheat.data.rows import UnreadRows, is_grouped
from deadheat.data.spark import run_by_query
from deadheat.data.tables import Run
from deadheat.io.forking import check_threads
from deadheat.io.limits import rows_at_a_time

FIRST_LOOK = 1 << 12  # rows in which the beginning of a query is looked for


class NotAdjacentError(Exception):
    """The rows of a query are not adjacent."""


def by_query(
    run: Run, task: Task, judgments: pl.DataFrame | None = None, precision: ScorePrecision = None
) -> pl.DataFrame:
    """Do a task with all queries of a run whose rows are not in memory, and return what was said, in no order.

    Parameters
    ----------
    run : Run
        With `UnreadRows`.
    task, judgments, precision
        As for :func:`deadheat.data.spark.run_by_query`.

    Raises
    ------
    DataError
        The subclass that says what is wrong with the rows.
    NotAdjacentError
        The rows of a query are not adjacent in a file.
    """
    rows = cast("UnreadRows", run.rows)
    if not rows.in_polars:
        return run_by_query(run, task, judgments, precision)
    check_threads()
    look = Look(rows.unread.reading, task, precision, check_duplicates=rows.check_duplicates, where=run.where)
    own = _of_queries(NO_JUDGMENTS if judgments is None else judgments)
    said = [pl.DataFrame(schema=SCHEMA)]
    for batch in _whole_queries(rows.unread.batches(rows_at_a_time())):
        said += look(batch, own)
    del own  # there may be many
    found = pl.concat(said)
    del said
    check_said(found, run, rows.unread.reading, precision)
    run.notes = tuple(dict.fromkeys((*run.notes, *rows.unread.notes())))
    if of_kind(found, QUERY, "query_id").to_series().is_duplicated().any():
        raise NotAdjacentError
    return found


def _of_queries(judgments: pl.DataFrame) -> Callable[[pl.Series], pl.DataFrame]:
    """Return what finds the judgments of some queries."""
    rows = judgments if is_grouped(judgments["query_id"]) else judgments.sort("query_id")
    runs = rows["query_id"].rle().struct.unnest()
    bounds: IntArray = np.append(0, runs["len"].cum_sum().to_numpy()).astype(np.int64)
    codes = runs.select(query_id="value").with_row_index("code")

    def some(query_ids: pl.Series) -> pl.DataFrame:
        own = codes.join(query_ids.rename("query_id").to_frame(), on="query_id", how="semi")["code"].to_numpy()
        return rows[spans(bounds[own], np.diff(bounds)[own])]

    return some


def _whole_queries(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the rows of whole queries, in their order; the last query of each is completed by those of the next."""
    begun: list[pl.DataFrame] = []
    for batch in batches:
        queries = batch["query_id"]
        start = _start_of_last(queries)
        if start or (begun and not begun[-1]["query_id"].tail(1).eq_missing(queries.head(1)).all()):
            yield pl.concat([*begun, batch[:start]])
            begun = []
        begun.append(batch[start:])
    if begun:
        yield pl.concat(begun)


def _start_of_last(queries: pl.Series) -> int:
    """Return the first row of the last query: looked for from the end on, as most of the rows are of others."""
    n_rows = FIRST_LOOK
    while True:
        tail = queries.tail(n_rows)
        others = tail.ne_missing(tail.last()).arg_true().to_numpy()
        if len(others) or n_rows >= len(queries):
            return len(queries) - len(tail) + int(others[-1]) + 1 if len(others) else 0
        n_rows *= 8
