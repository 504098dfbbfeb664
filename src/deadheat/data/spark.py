"""A pass over a run in Spark, classic or Connect: one shuffle brings the rows of each query together.

Workers look at the rows (`deadheat.data.passes`). A partition is small beside the run, so it is held in memory. What
comes back is one table.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from deadheat.data.passes import NO_JUDGMENTS, SCHEMA, Look, Task, check_said
from deadheat.data.precision import ScorePrecision
from deadheat.data.rows import UnreadRows
from deadheat.data.tables import Run
from deadheat.errors import MissingDependencyError

MOST_SENT = 1 << 24  # bytes of judgments that travel with every task; more of them are shuffled, as the run is
IN_SPARK = "what string, query_id string, doc_id string, value double, above long, tied long"
MISSING_MODULE = re.compile(r"No module named '(\w+)")


def run_by_query(
    run: Run, task: Task, judgments: pl.DataFrame | None = None, precision: ScorePrecision = None
) -> pl.DataFrame:
    """Do a task with all queries of a run in Spark, and return what was said, in no order.

    Parameters
    ----------
    run : Run
        With `UnreadRows`.
    task : Task
    judgments : polars.DataFrame, optional
        query_id, doc_id and relevance.
    precision : str, int or None
        To which the scores are rounded.

    Raises
    ------
    DataError
        The subclass that says what is wrong with the rows.
    MissingDependencyError
        The workers have no deadheat.
    """
    rows = cast("UnreadRows", run.rows)
    raw = rows.unread.frame.to_native()
    sent = None if judgments is None else _packed(judgments)
    if sent is not None and len(sent) > MOST_SENT:
        raw, sent = _with_judgments(raw, rows.unread.reading.value, cast("pl.DataFrame", judgments)), None
    look = Look(rows.unread.reading, task, precision, check_duplicates=rows.check_duplicates, where=run.where)
    worker = Worker(look, sent)

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return worker(batches)

    try:
        table = raw.repartition("query_id").mapInArrow(work, IN_SPARK).toArrow()
    except Exception as error:
        if lacking := MISSING_MODULE.search(str(error)):
            raise MissingDependencyError(
                f"the Python of Spark's workers has no {lacking[1]}",
                hint="install deadheat[spark] there as here, or name a Python that has it in PYSPARK_PYTHON",
            ) from error
        raise
    found = cast("pl.DataFrame", pl.from_arrow(table))
    check_said(found, run, rows.unread.reading, precision)
    return found


def _packed(judgments: pl.DataFrame) -> bytes:
    packed = io.BytesIO()
    judgments.select("query_id", "doc_id", "relevance").write_ipc(packed, compression="zstd")
    return packed.getvalue()


def _with_judgments(run: Any, value: str, judgments: pl.DataFrame) -> Any:  # noqa: ANN401 - frames of Spark
    """Return the rows of a run and judgments in one frame: rows of the run have no relevance, judgments no score."""
    judged = run.sparkSession.createDataFrame(judgments.select("query_id", "doc_id", "relevance").to_arrow())
    own, number = run.schema[value].dataType.simpleString(), f"`{value}`"
    return run.selectExpr("query_id", "doc_id", number, "cast(null as double) as relevance").unionByName(
        judged.selectExpr("query_id", "doc_id", f"cast(null as {own}) as {number}", "relevance")
    )


@dataclass(frozen=True)
class Worker:
    """What each worker runs.

    Attributes
    ----------
    look : Look
    judgments : bytes or None
        None if there are none, or if they come with the rows.
    """

    look: Look
    judgments: bytes | None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Return what there is to say of one partition, whose Arrow batches come one by one."""
        import pyarrow as pa

        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        frame = cast("pl.DataFrame", pl.from_arrow(pa.Table.from_batches(given)))
        of_arrow = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.int64(), pa.int64())
        schema = pa.schema(list(zip(SCHEMA, of_arrow, strict=True)))
        rows, judgments = self._apart(frame)
        said = pl.concat(self.look(rows, lambda _: judgments))
        yield from said.to_arrow().cast(schema).to_batches(max_chunksize=1 << 16)

    def _apart(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows of the run, and the judgments."""
        if "relevance" in frame:
            is_judged = frame["relevance"].is_not_null()
            judged = frame.filter(is_judged).select("query_id", "doc_id", "relevance")
            return frame.filter(~is_judged).drop("relevance"), judged
        if self.judgments is None:
            return frame, NO_JUDGMENTS
        return frame, pl.read_ipc(self.judgments)
