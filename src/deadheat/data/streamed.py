"""A pass over a run in a file that is too large to hold: whole queries at a time, in the order of the rows.

What is done with them is what the workers of a cluster do (`deadheat.data.passes`). The rows of each query must be
adjacent, as those of runs mostly are; if they are not, that is seen, and the caller goes another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    own = None if judgments is None else _Judgments(judgments)
    said = [pl.DataFrame(schema=SCHEMA)]
    for batch in _whole_queries(rows.unread.batches(rows_at_a_time())):
        said += look(batch, NO_JUDGMENTS if own is None else own.of(batch["query_id"]))
    del own  # there may be many
    found = pl.concat(said)
    del said
    check_said(found, run, rows.unread.reading, precision)
    run.notes = tuple(dict.fromkeys((*run.notes, *rows.unread.notes())))
    if of_kind(found, QUERY, "query_id").to_series().is_duplicated().any():
        raise NotAdjacentError
    return found


class _Judgments:
    """Judgments that can be had by query.

    Parameters
    ----------
    judgments : polars.DataFrame
        query_id, doc_id and relevance.
    """

    def __init__(self, judgments: pl.DataFrame) -> None:
        queries = judgments["query_id"]
        self._rows = judgments if is_grouped(queries) else judgments.sort("query_id")
        runs = self._rows["query_id"].rle().struct.unnest()
        self._bounds: IntArray = np.append(0, runs["len"].cum_sum().to_numpy()).astype(np.int64)
        self._codes = runs.select(query_id="value").with_row_index("code")

    def of(self, queries: pl.Series) -> pl.DataFrame:
        """Return the judgments of some queries."""
        some = queries.rle().struct.field("value").rename("query_id").to_frame()  # a fraction of the rows
        codes = self._codes.join(some, on="query_id", how="semi")["code"].to_numpy()
        return self._rows[spans(self._bounds[codes], np.diff(self._bounds)[codes])]


def _whole_queries(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield the rows of whole queries, in their order; the last query of each is completed by those of the next."""
    begun: list[pl.DataFrame] = []
    for batch in batches:
        queries = batch["query_id"]
        is_last = queries.eq_missing(queries.last())
        start = len(batch) - int((~is_last).reverse().arg_max() or 0) if not is_last.all() else 0
        if start or (begun and not begun[-1]["query_id"].tail(1).eq_missing(queries.head(1)).all()):
            yield pl.concat([*begun, batch[:start]])
            begun = []
        begun.append(batch[start:])
    if begun:
        yield pl.concat(begun)
