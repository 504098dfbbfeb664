"""Placements of a run that is not in memory: whole queries at a time, counted with the code for rows in memory.

Wherever the rows are, those of whole queries come together, are read and checked, rounded, looked through for repeated
pairs, and given to a task, all in one pass. Their results are one table: placements and counts, which alone are
kept. The rows of Spark, classic or Connect, are brought together by one shuffle, and its workers look at them: a
partition is small beside the run, so it is held in memory. The judgments travel with the task, or in the shuffle where
they are many. Rows of a large file are looked at here, batch by batch; those of each query must be adjacent there, as
those of runs mostly are. If they are not, that is seen, and the caller goes another way.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import IntArray, concatenate_ranges
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision, round_and_warn
from deadheat.core.data.rows import Blocks, MemoryRows, is_grouped
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.errors import DataError, MissingDependencyError
from deadheat.core.io.duplicates import MERGING, note_left_out
from deadheat.core.io.guarding import check_threads, guard_polars, guard_rows
from deadheat.core.io.memory_limits import is_bounded, rows_at_a_time
from deadheat.core.phases import phase
from deadheat.core.placements.building import build_from_frames
from deadheat.core.placements.contiguous import ContiguousEngine, count_blocks, count_first_in_blocks, group_ties
from deadheat.core.placements.passes import QUERY, NotAdjacentError, Task, make_results, result_schema, select_results
from deadheat.core.placements.place import hold_in_memory
from deadheat.core.placements.placements import Placements

if TYPE_CHECKING:
    from deadheat.core.io.id_columns import IdRuns
    from deadheat.core.io.lazy import Reading


ROWS, INFINITE, REPEATED = "rows", "infinite", "repeated"  # what every pass may say
EXCLUDED, MERGED = "excluded", "merged"  # and what it leaves out
IN_SPARK = "what string, query_id string, doc_id string, value double, above long, tied long"
JUDGMENTS = ("query_id", "doc_id", "relevance")
NO_JUDGMENTS = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "relevance": pl.Float64})
MOST_SENT = 1 << 24  # bytes of judgments that travel with every task; more of them are shuffled, as the run is
MISSING_MODULE = re.compile(r"No module named '(\w+)")
FIRST_LOOK = 1 << 12  # rows in which the beginning of a query is looked for


# What `look_at` says of the rows of some queries, given what returns their judgments
Look: TypeAlias = "Callable[[pl.DataFrame, Callable[[pl.Series], pl.DataFrame]], list[pl.DataFrame]]"


def by_query(
    run: Run, task: Task, judgments: pl.DataFrame = NO_JUDGMENTS, precision: ScorePrecision = None
) -> pl.DataFrame:
    """Do a task with all queries of a run whose rows are not in memory, and return its results, in no order.

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
        The workers of Spark have no deadheat.
    NotAdjacentError
        The rows of a query are not adjacent in a file.
    """
    rows = cast("UnreadRows", run.rows)
    look = partial(
        look_at,
        reading=rows.reading,
        task=task,
        precision=precision,
        duplicates=rows.duplicates,
        where=run.where,
    )
    pass_over_rows = _pass_in_spark
    if rows.in_polars:
        pass_over_rows = _pass_over_file
    results = pass_over_rows(rows, look, judgments.select(JUDGMENTS))
    check_results(results, run, rows.reading, precision)
    queries = select_results(results, QUERY, "query_id").to_series()
    if rows.on_excluded is not None:
        rows.on_excluded(run, select_results(results, EXCLUDED, "query_id", "doc_id"), queries)
    repeated = queries.filter(queries.is_duplicated())
    if len(repeated) and rows.in_polars:
        raise NotAdjacentError
    if len(repeated):  # no setting of Spark should do that, and the numbers would be wrong
        raise DataError(f"Spark gave rows of query {repeated.min()!r} to several workers", path=run.where)
    notes = [*run.notes, *rows.notes(), *note_left_out_of(results, rows.duplicates)]
    run.notes = tuple(dict.fromkeys(notes))
    return results


def note_left_out_of(results: pl.DataFrame, duplicates: str) -> list[str]:
    """Return a note on the rows that are left out because they repeat a document, if there are any."""
    counts = select_results(results, MERGED, "above", "tied").sum()
    n_left_out, n_results = counts.row(0)
    return [note_left_out(n_left_out, n_results, duplicates)] if n_left_out else []


def look_at(
    frame: pl.DataFrame,
    judgments: Callable[[pl.Series], pl.DataFrame],
    *,
    reading: Reading,
    task: Task,
    precision: ScorePrecision,
    duplicates: str,
    where: str,
) -> list[pl.DataFrame]:
    """Return what there is to say of the rows of some queries.

    Parameters
    ----------
    frame : polars.DataFrame
    judgments : callable
        Takes the ids of queries, and returns their judgments, with or without those of others.
    reading : Reading
    task : Task
    precision : str, int or None
        To which the scores are rounded.
    duplicates : {"error", "best", "first", "trust"}
        What becomes of a document that a query has twice.
    where : str
        Where the rows are from, for messages.
    """
    with guard_rows(where):
        checked = reading.read_in_polars(MemoryRows(frame).lazy)
    rows, wrong = checked.frame, checked.wrong
    query_runs: IdRuns | None = checked.query_runs
    results = [make_results(ROWS, doc_id=[json.dumps(astuple(wrong))])]
    if wrong or not wrong.n_rows:
        return results
    if checked.excluded is not None:
        results.append(make_results(EXCLUDED, **checked.excluded.to_dict()))
        if rows.is_empty():
            return results
    if duplicates in MERGING:
        merged = MemoryRows(rows, query_runs=query_runs).merge(duplicates)
        results.append(make_results(MERGED, above=[merged.n_left_out], tied=[rows.height]))
        if merged.n_left_out:
            rows, query_runs = merged.rows.frame, None
    scores = rows["score"].to_numpy()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stored = round_and_warn(scores, precision)
    if caught:
        beyond = pl.Series(stored).is_infinite() & rows["score"].is_finite()
        results.append(make_results(INFINITE, value=[rows["score"].filter(beyond).max()]))
    if stored is not scores:
        rows = rows.with_columns(score=pl.Series(stored))
    memory = MemoryRows(rows, query_runs=query_runs)
    blocks = memory.blocks
    if duplicates == "error":
        repeated = memory.repeated_pairs()
        if repeated is not None and len(repeated):
            return [*results, make_results(REPEATED, **repeated.rename({"n": "above"}).to_dict())]
    return [*results, *task(blocks, judgments(blocks.query_ids))]


def check_results(results: pl.DataFrame, run: Run, reading: Reading, precision: ScorePrecision) -> None:
    """Raise for wrong rows and repeated pairs; warn of scores that rounding made infinite."""
    from deadheat.core.io.lazy import WrongRows, add_up

    parts = [WrongRows(*json.loads(text)) for (text,) in select_results(results, ROWS, "doc_id").rows()]
    reading.check(add_up(parts), run.where)
    repeated = select_results(results, REPEATED, "query_id", "doc_id", "above")
    if len(repeated):
        raise run.make_duplicate_error(repeated.sort("query_id", "doc_id"))
    infinite = select_results(results, INFINITE, "value").to_series()
    if len(infinite):
        round_and_warn(infinite.sort().tail(1).to_numpy(), precision)


def _pass_in_spark(rows: UnreadRows, look: Look, judgments: pl.DataFrame) -> pl.DataFrame:
    """Return what the workers of Spark say: the judgments travel with the task, or in the shuffle if they are many."""
    raw = rows.unchecked.to_native()
    packed = io.BytesIO()
    judgments.write_ipc(packed, compression="zstd")
    sent: bytes | None = packed.getvalue()
    if len(judgments) and packed.tell() > MOST_SENT:
        raw, sent = _append_judgments(raw, rows.reading.value, judgments), None

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        return _look_at_partition(look, sent, batches)

    return collect_from_workers(raw, work, IN_SPARK)


def collect_from_workers(frame: Any, work: Callable[[Iterable[Any]], Iterator[Any]], schema: str) -> pl.DataFrame:  # noqa: ANN401 - of Spark
    """Return what the workers of Spark say of a frame, of which each partition gets all rows of its queries.

    Parameters
    ----------
    frame : frame of Spark
    work : callable
        Takes the Arrow batches of a partition, and yields batches. It is sent to the workers.
    schema : str
        The columns of these batches, as Spark writes them.

    Raises
    ------
    MissingDependencyError
        The workers lack a module.
    """
    try:
        table = frame.repartition("query_id").mapInArrow(work, schema).toArrow()
    except Exception as error:
        if lacking := MISSING_MODULE.search(str(error)):
            raise MissingDependencyError(
                f"the Python of Spark's workers has no {lacking[1]}",
                hint="install deadheat[spark] there as here, or name a Python that has it in PYSPARK_PYTHON",
            ) from error
        raise
    return cast("pl.DataFrame", pl.from_arrow(table))


def _append_judgments(run: Any, value: str, judgments: pl.DataFrame) -> Any:  # noqa: ANN401 - frames of Spark
    """Return the rows of a run and judgments in one frame: rows of the run have no relevance, judgments no score."""
    judged = run.sparkSession.createDataFrame(judgments.to_arrow())
    type_of_score = run.schema[value].dataType.simpleString()
    number = f"`{value}`"
    return run.selectExpr("query_id", "doc_id", number, "cast(null as double) as relevance").unionByName(
        judged.selectExpr("query_id", "doc_id", f"cast(null as {type_of_score}) as {number}", "relevance")
    )


def _look_at_partition(look: Look, sent: bytes | None, batches: Iterable[Any]) -> Iterator[Any]:
    """Return what a worker of Spark says of one partition, whose Arrow batches come one by one.

    Parameters
    ----------
    look : callable
    sent : bytes or None
        Judgments; None if they come with the rows.
    batches : iterable of pyarrow.RecordBatch
    """
    import pyarrow as pa

    given = [batch for batch in batches if batch.num_rows]
    if not given:
        return
    rows = cast("pl.DataFrame", pl.from_arrow(pa.Table.from_batches(given)))
    if sent is None:
        is_judged = rows["relevance"].is_not_null()
        judgments = rows.filter(is_judged).select(JUDGMENTS)
        rows = rows.filter(~is_judged).drop("relevance")
    else:
        judgments = pl.read_ipc(sent)
    of_arrow = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.int64(), pa.int64())
    schema = pa.schema(list(zip(result_schema(), of_arrow, strict=True)))
    yield from pl.concat(look(rows, lambda _: judgments)).to_arrow().cast(schema).to_batches(max_chunksize=1 << 16)


def _pass_over_file(rows: UnreadRows, look: Look, judgments: pl.DataFrame) -> pl.DataFrame:
    """Return what this process says of the rows of a large file, batch by batch."""
    check_threads()
    find_judgments = _index_judgments(judgments)
    results = [pl.DataFrame(schema=result_schema())]
    with phase(f"reading rows of {Path(rows.where).name}", rows.count_rows()) as advance:
        for batch in _complete_queries(rows.batches(rows_at_a_time())):
            results += look(batch, find_judgments)
            advance(len(batch))
    return pl.concat(results)


def _index_judgments(judgments: pl.DataFrame) -> Callable[[pl.Series], pl.DataFrame]:
    """Return what finds the judgments of some queries."""
    rows = judgments if is_grouped(judgments["query_id"]) else judgments.sort("query_id")
    runs = rows["query_id"].rle().struct.unnest()
    bounds: IntArray = np.append(0, runs["len"].cum_sum().to_numpy()).astype(np.int64)
    codes = runs.select(query_id="value").with_row_index("code")

    def find_judgments(query_ids: pl.Series) -> pl.DataFrame:
        wanted = query_ids.rename("query_id").to_frame()
        wanted_codes = codes.join(wanted, on="query_id", how="semi")["code"].to_numpy()
        return rows[concatenate_ranges(bounds[wanted_codes], np.diff(bounds)[wanted_codes])]

    return find_judgments


def _complete_queries(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
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


NOT_ADJACENT = "rows of a query are not adjacent: all rows are held at once, beyond the bound on memory"
JUDGED, FIRST = "judged", "first"  # what a worker says


class ByQuery:
    """An engine for a run in Spark, classic or Connect, or in a large file.

    Parameters
    ----------
    qrels : Qrels
    run : Run
        With `UnreadRows`.
    precision : str, int or None
        To which the scores are rounded, in the same pass.
    rule : {"doc_id", "input"}, optional
        By which the documents of ties are counted in the same pass, so that `count_first` needs no other.
    """

    def __init__(self, qrels: Qrels, run: Run, precision: ScorePrecision, rule: str | None = None) -> None:
        self._qrels = qrels
        self._run = run
        self._precision = precision
        self._rule = rule
        self._first: pl.DataFrame | None = None

    def place(self) -> Placements:
        """Return the placements, counted and checked in one pass."""
        cast("UnreadRows", self._run.rows).is_read_again = True
        task: Task = say_places
        if self._rule is not None:
            task = partial(say_places_and_first, self._rule)
        with guard_polars(self._run.where):
            try:
                results = by_query(self._run, task, self._qrels.to_polars(), self._precision)
            except NotAdjacentError:
                return self._held().place()
            if self._rule is not None:
                self._first = select_results(results, FIRST, "query_id", "doc_id", "above")
            counts = select_results(results, QUERY, "query_id", "doc_id", "above", "tied", "value").select(
                "query_id",
                n_retrieved="above",
                ends_in_tie=pl.col("tied") > 0,
                top_score="value",
                retrieves_itself=pl.col("doc_id").is_not_null(),
            )
            rows = select_results(results, JUDGED, "query_id", "doc_id", "value", "above", "tied").rename(
                {"value": "relevance"}
            )
            del results  # there may be many judgments
            return build_from_frames(self._qrels, self._run, counts, rows)

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the documents of its tie that a rule puts before it."""
        with guard_polars(self._run.where):
            wanted = placements.pairs(rows)
            first = self._first
            if first is None or rule != self._rule:
                judged = wanted.with_columns(relevance=pl.lit(0.0))
                try:
                    results = by_query(self._run, partial(say_first, rule), judged, self._precision)
                except NotAdjacentError:
                    return self._held().count_first(placements, rows, rule)
                first = select_results(results, FIRST, "query_id", "doc_id", "above")
            return wanted.join(first, on=["query_id", "doc_id"], how="left", maintain_order="left")["above"].to_numpy()

    def _held(self) -> ContiguousEngine:
        """Return the engine for rows in memory, which are checked first."""
        if is_bounded():
            self._run.notes = tuple(dict.fromkeys((*self._run.notes, NOT_ADJACENT)))
        return hold_in_memory(self._qrels, self._run, self._precision)


def say_places(blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:
    """Say how many documents each query has, and where its judged ones are."""
    return _say_counts(*count_blocks(blocks, judgments))


def _say_counts(counts: pl.DataFrame, rows: pl.DataFrame) -> list[pl.DataFrame]:
    """Return as results what :func:`count_blocks` found."""
    rows = rows.drop("block").sort("query_id", "doc_id")  # one order, however the rows were divided
    own_document = pl.when("retrieves_itself").then("query_id").alias("doc_id")  # that has the id of the query
    counts = counts.with_columns(own_document).drop("retrieves_itself")
    return [
        make_results(
            QUERY, **counts.rename({"n_retrieved": "above", "ends_in_tie": "tied", "top_score": "value"}).to_dict()
        ),
        make_results(JUDGED, **rows.rename({"relevance": "value"}).to_dict()),
    ]


def say_places_and_first(rule: str, blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:
    """Say what `say_places` does, and how many documents of its tie a rule puts before each judged one that ties."""
    counts, rows = count_blocks(blocks, judgments)
    tied = rows.filter(pl.col("tied") > 1).sort("block", "above")
    ties, tie_of_judged = group_ties(tied["block"].to_numpy(), tied["above"].to_numpy(), tied["tied"].to_numpy())
    n_first = count_first_in_blocks(blocks, ties, tied["doc_id"], tie_of_judged, rule)
    first = make_results(FIRST, query_id=tied["query_id"], doc_id=tied["doc_id"], above=n_first)
    return [*_say_counts(counts, rows), first]


def say_first(rule: str, blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:
    """Say how many documents of its tie a rule ("doc_id" or "input") puts before each of the given ones."""
    results = [make_results(QUERY, query_id=blocks.query_ids)]  # to see that each comes once
    judgments_of_blocks = judgments.filter(pl.col("query_id").is_in(blocks.query_ids.implode()))
    if len(judgments_of_blocks):
        engine = ContiguousEngine(
            Qrels.of_checked(judgments_of_blocks, "qrels"), Run.of_checked(blocks.frame, "run"), blocks
        )
        placements = engine.place()
        rows = np.flatnonzero(placements.tied > 1)
        results.append(
            make_results(FIRST, **placements.pairs(rows).to_dict(), above=engine.count_first(placements, rows, rule))
        )
    return results
