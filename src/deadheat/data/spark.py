"""A pass over a run in Spark, classic or Connect: one shuffle brings the rows of each query together.

Workers read and check the rows, round scores, look for repeated pairs and do a task with what they have, all in this
pass. A partition is small beside the run, so it is held in memory. What comes back is one table.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import polars as pl

from deadheat.data.precision import ScorePrecision, round_and_warn
from deadheat.data.rows import Blocks, MemoryRows, UnreadRows
from deadheat.data.tables import Run
from deadheat.errors import MissingDependencyError

if TYPE_CHECKING:
    from deadheat.io.reading import Reading, WrongRows

MOST_SENT = 1 << 24  # bytes of judgments that travel with every task; more of them are shuffled, as the run is
ROWS, BAD, BEYOND, INFINITE, REPEATED = "rows", "bad", "beyond", "infinite", "repeated"  # what every pass may say
QUERY = "query"  # what is said once of each query, if anything is
SCHEMA: dict[str, type[pl.DataType]] = {
    "what": pl.String,
    "query_id": pl.String,
    "doc_id": pl.String,
    "value": pl.Float64,
    "above": pl.Int64,
    "tied": pl.Int64,
}
"""The columns of all that workers say; `what` tells what a row is."""
IN_SPARK = "what string, query_id string, doc_id string, value double, above long, tied long"
MISSING_MODULE = re.compile(r"No module named '(\w+)")


class Task(Protocol):
    """What a worker does with the rows of some queries; it travels there, so it is small."""

    def __call__(self, blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:
        """Return tables made by :func:`said`; the judgments may be of other queries too."""
        ...


def said(what: str, **columns: object) -> pl.DataFrame:
    """Return rows in the columns of `SCHEMA`; those that are not given are null."""
    given = pl.DataFrame(columns)
    return given.select(
        pl.lit(what).alias(name)
        if name == "what"
        else pl.col(name).cast(dtype)
        if name in columns
        else pl.lit(None, dtype).alias(name)
        for name, dtype in SCHEMA.items()
    )


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
    worker = Worker(rows.unread.reading, task, sent, precision, check_duplicates=rows.check_duplicates)

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
    reading : Reading
    task : Task
    judgments : bytes or None
        None if there are none, or if they come with the rows.
    precision : str, int or None
    check_duplicates : bool
    """

    reading: Reading
    task: Task
    judgments: bytes | None
    precision: ScorePrecision
    check_duplicates: bool

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Return what there is to say of one partition, whose Arrow batches come one by one."""
        import pyarrow as pa

        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        frame = cast("pl.DataFrame", pl.from_arrow(pa.Table.from_batches(given)))
        of_arrow = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.int64(), pa.int64())
        schema = pa.schema(list(zip(SCHEMA, of_arrow, strict=True)))
        yield from pl.concat(self.look(*self._apart(frame))).to_arrow().cast(schema).to_batches(max_chunksize=1 << 16)

    def _apart(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows of the run, and the judgments."""
        if "relevance" in frame:
            is_judged = frame["relevance"].is_not_null()
            judged = frame.filter(is_judged).select("query_id", "doc_id", "relevance")
            return frame.filter(~is_judged).drop("relevance"), judged
        if self.judgments is None:
            return frame, pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64})
        return frame, pl.read_ipc(self.judgments)

    def look(self, frame: pl.DataFrame, judgments: pl.DataFrame) -> list[pl.DataFrame]:
        """Return what there is to say of the rows of some queries."""
        import narwhals as nw

        rows, wrong = self.reading.in_polars(nw.from_native(frame.lazy()))
        found = list(_tell(wrong))
        if wrong.n_without_id or wrong.n_bad or wrong.beyond is not None or not wrong.n_rows:
            return found
        scores = rows["score"].to_numpy()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stored = round_and_warn(scores, self.precision)
        if caught:
            beyond = pl.Series(stored).is_infinite() & rows["score"].is_finite()
            found.append(said(INFINITE, value=[rows["score"].filter(beyond).max()]))
        memory = MemoryRows(_together(rows.with_columns(score=pl.Series(stored))))
        if self.check_duplicates and (repeated := memory.repeated_pairs()) is not None and len(repeated):
            return [*found, said(REPEATED, **repeated.rename({"n": "above"}).to_dict())]
        return [*found, *self.task(cast("Blocks", memory.blocks), judgments)]


def _together(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each query one after the other; grouping does this in a tenth of a sort's time."""
    if rows["query_id"].rle().len() == rows["query_id"].n_unique():
        return rows
    return rows.group_by("query_id").agg("doc_id", "score").explode("doc_id", "score")


def _tell(wrong: WrongRows) -> Iterator[pl.DataFrame]:
    yield said(ROWS, above=[wrong.n_rows], tied=[wrong.n_without_id])
    if wrong.bad is not None:
        query, doc, value = wrong.bad
        yield said(BAD, query_id=[query], doc_id=[doc], value=[value], above=[wrong.n_bad])
    if wrong.beyond is not None:
        yield said(BEYOND, doc_id=[wrong.beyond])


def check_said(found: pl.DataFrame, run: Run, reading: Reading, precision: ScorePrecision) -> None:
    """Raise for wrong rows and repeated pairs; warn of scores that rounding made infinite."""
    from deadheat.io.reading import WrongRows, add_up

    parts = [WrongRows(n_rows, n_without_id) for n_rows, n_without_id in of_kind(found, ROWS, "above", "tied").rows()]
    bad = of_kind(found, BAD, "above", "query_id", "doc_id", "value")
    parts += [WrongRows(0, 0, n_bad, (query, doc, value)) for n_bad, query, doc, value in bad.rows()]
    parts += [WrongRows(0, beyond=beyond) for (beyond,) in of_kind(found, BEYOND, "doc_id").rows()]
    reading.check(add_up(parts), run.where)
    repeated = of_kind(found, REPEATED, "query_id", "doc_id", "above")
    if len(repeated):
        raise run.duplicate(repeated.sort("query_id", "doc_id"))
    infinite = of_kind(found, INFINITE, "value").to_series()
    if len(infinite):
        round_and_warn(infinite.sort().tail(1).to_numpy(), precision)


def of_kind(found: pl.DataFrame, what: str, *columns: str) -> pl.DataFrame:
    """Return some columns of the rows that say one thing."""
    return found.filter(pl.col("what") == what).select(*columns)
