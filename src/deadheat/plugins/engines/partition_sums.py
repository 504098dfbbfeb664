"""What a worker of Spark sends of the queries in its partition: sums over the queries of each stratum.

A partition has all rows of its queries: those of the run, the judgments, and the labels of the queries. It is evaluated
as a run is that is in memory, and then added up. So what is sent grows with strata and measures, not with queries.
"""

from __future__ import annotations

import base64
import json
import pickle
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.queries import Queries
from deadheat.core.data.rows import Blocks, MemoryRows
from deadheat.core.data.run import Run
from deadheat.core.errors import DeadheatError
from deadheat.core.evaluation.evaluate_runs import make_scores
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata_numbers import select_places
from deadheat.core.evaluation.stratum import keys_of
from deadheat.core.evaluation.stratum_places import StratumPlaces, groups
from deadheat.core.kernels.exact_sums import sum_segments
from deadheat.core.measures import Measure
from deadheat.core.placements import policies
from deadheat.core.placements.building import build_from_frames
from deadheat.core.placements.contiguous import ContiguousEngine, count_blocks
from deadheat.core.placements.passes import make_results, result_schema
from deadheat.core.placements.placements import Placements
from deadheat.core.settings import Conventions
from deadheat.plugins.engines.by_query import JUDGMENTS, look_at

if TYPE_CHECKING:
    from deadheat.core.io.lazy import Reading

OF_RUN, OF_QRELS, OF_QUERIES = 0, 1, 2  # the rows of a partition, by the column "part": short, as all are shuffled
# What a worker sends, by the column "what", beside what every pass may say
ROWS_OF_QRELS = "rows of qrels"  # what is wrong with judgments
FAILURE = "failure"  # an error
MERGED_JUDGMENTS = "merged judgments"  # how many judgments repeat others
N_RETRIEVED = "n retrieved"  # how many queries of the run there are
PARTITION = "partition"  # how many judged queries there are, and how many of them lack what
RETRIEVED, JUDGED = "retrieved", "judged"  # examples of queries of the run, and of judged ones
MISSING, WITHOUT_LABEL = "missing", "without label"  # examples of judged queries that lack something
SUMS = "sums"  # of a stratum and a measure
N_EXAMPLES = 4  # ids that are sent for messages


def sent_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of what a worker sends: those of every pass, and those of sums.

    ``content`` is JSON, or a pickled error in base64. ``m2`` and ``m3`` are sums of the squares and cubes of
    differences from ``mean``; ``tie_variance``, ``tie_min`` and ``tie_max`` are sums, too. ``least`` and ``most`` are
    the range of the values, ``lowest`` and ``highest`` that of the measure.
    """
    return {
        **result_schema(),
        **dict.fromkeys(("content", "stratum"), pl.String),
        **dict.fromkeys(("measure", "n_queries", "n_missing", "n_placed", "n_in_table", "n_without_label"), pl.Int64),
        **dict.fromkeys(("mean", "m2", "m3", "least", "most"), pl.Float64),
        **dict.fromkeys(("tie_variance", "tie_min", "tie_max", "lowest", "highest"), pl.Float64),
    }


def make_row(kind: str, **columns: object) -> pl.DataFrame:
    """Return what a worker sends of one kind, a row."""
    schema = {name: dtype for name, dtype in sent_schema().items() if name in columns}
    return pl.DataFrame({name: [value] for name, value in columns.items()}, schema).with_columns(what=pl.lit(kind))


def name_label(place: int) -> str:
    """Return what the column of labels with a place is called in a partition, whatever its name is."""
    return f"label {place}"


def schema_of(value: str) -> dict[str, type[pl.DataType]]:
    """Return the columns of judgments or of a run, by the name of their number."""
    return {"query_id": pl.String, "doc_id": pl.String, value: pl.Float64}


@dataclass(frozen=True, kw_only=True)
class PartitionTask:
    """What is done with each partition; it is sent to the workers, so it holds no data.

    Attributes
    ----------
    reading_of_run, reading_of_qrels : Reading
    run_name, qrels_name : str
        For messages.
    duplicates : {"error", "best", "trust"}
        What becomes of a document that a query has twice.
    conventions : Conventions
    measures : tuple of Measure
    max_relevance : float
        The highest relevance of all judgments, those of other partitions too.
    n_columns : int
        How many columns of labels make the strata; without any, all queries are one stratum.
    """

    reading_of_run: Reading
    reading_of_qrels: Reading
    run_name: str
    qrels_name: str
    duplicates: str
    conventions: Conventions
    measures: tuple[Measure, ...]
    max_relevance: float
    n_columns: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Return what there is to say of one partition, whose Arrow batches come one by one."""
        import pyarrow as pa

        given = [batch for batch in batches if batch.num_rows]
        if not given:
            return
        rows = cast("pl.DataFrame", pl.from_arrow(pa.Table.from_batches(given)))
        try:
            with warnings.catch_warnings(action="ignore"):  # nobody reads them in a worker
                results = self._sum_up(rows)
        except DeadheatError as error:
            results = [make_row(FAILURE, content=base64.b64encode(pickle.dumps(error)).decode())]
        results.insert(0, pl.DataFrame(schema=sent_schema()))
        table = pl.concat(results, how="diagonal")
        arrow_types = {pl.String: pa.string(), pl.Int64: pa.int64(), pl.Float64: pa.float64()}
        schema = pa.schema([(name, arrow_types[dtype]) for name, dtype in sent_schema().items()])
        yield from table.to_arrow().cast(schema).to_batches(max_chunksize=1 << 16)

    def _sum_up(self, rows: pl.DataFrame) -> list[pl.DataFrame]:
        """Return what is wrong with the rows of a partition, or the sums of its queries."""
        judged = rows.filter(part=OF_QRELS)
        if judged.height:
            checked = self.reading_of_qrels.read_in_polars(MemoryRows(judged.select(JUDGMENTS)).lazy)
            results = [make_row(ROWS_OF_QRELS, content=json.dumps(astuple(checked.wrong)))]
            if checked.wrong:
                return results
            judgments = checked.frame
        else:
            results = []
            judgments = pl.DataFrame(schema=schema_of("relevance"))
        blocks, results_of_run = self._look_at_run(rows.filter(part=OF_RUN))
        results += results_of_run
        if blocks is None:
            return results
        qrels = Qrels.of_checked(judgments, self.qrels_name)
        qrels.check_duplicates()
        results.append(make_row(N_RETRIEVED, n_queries=len(blocks.query_ids)))
        results.append(make_results(RETRIEVED, query_id=blocks.query_ids.head(N_EXAMPLES)))
        if qrels.notes:
            results.append(make_row(MERGED_JUDGMENTS, n_placed=judgments.height - qrels.to_polars().height))
        if judgments.height:
            results += self._sum_queries(qrels, blocks, rows.filter(part=OF_QUERIES))
        return results

    def _look_at_run(self, retrieved: pl.DataFrame) -> tuple[Blocks | None, list[pl.DataFrame]]:
        """Return the rows of the run, None if something is wrong with them, and what every pass says of them."""
        if not retrieved.height:
            return MemoryRows(pl.DataFrame(schema=schema_of("score"))).blocks, []
        blocks: Blocks | None = None

        def keep(blocks_of_run: Blocks, _: pl.DataFrame) -> list[pl.DataFrame]:
            nonlocal blocks
            blocks = blocks_of_run
            return []

        results = look_at(
            retrieved.select("query_id", "doc_id", self.reading_of_run.value),
            lambda query_ids: query_ids.head(0).to_frame(),  # judgments, which `keep` does not look at
            reading=self.reading_of_run,
            task=keep,
            precision=self.conventions.score_precision,
            duplicates=self.duplicates,
            where=self.run_name,
        )
        return blocks, results

    def _sum_queries(self, qrels: Qrels, blocks: Blocks, labelled: pl.DataFrame) -> list[pl.DataFrame]:
        """Return the sums of the judged queries of a partition."""
        run = Run.of_checked(blocks.frame, self.run_name)
        run.rows.are_unique = self.duplicates != "trust"  # they were looked through
        counts, placed = count_blocks(blocks, qrels.to_polars())
        placements = build_from_frames(qrels, run, counts, placed, is_part=True)
        placements = replace(placements, max_relevance=self.max_relevance)
        is_missing = placements.lacking
        strata, has_row, has_labels = self._find_strata(placements, labelled)
        results = [
            make_results(JUDGED, query_id=placements.query_ids[:N_EXAMPLES].tolist()),
            make_results(MISSING, query_id=placements.query_ids[is_missing][:N_EXAMPLES].tolist()),
            make_results(WITHOUT_LABEL, query_id=placements.query_ids[~has_labels][:N_EXAMPLES].tolist()),
            make_row(
                PARTITION,
                n_queries=placements.n_queries,
                n_missing=int(is_missing.sum()),
                n_placed=len(placements.query),
                n_in_table=int(has_row.sum()),
                n_without_label=int((~has_labels).sum()),
            ),
        ]
        engine = ContiguousEngine(qrels, run, blocks)
        ranked = policies.apply(placements, self.conventions.ties, None, engine)
        is_skipped = is_missing & (self.conventions.missing == "skip")
        for number, measure in enumerate(self.measures):
            scores = make_scores(measure, placements, ranked, self.conventions, None)
            sums = add_up_scores(scores, strata, is_missing=is_missing, is_skipped=is_skipped)
            lowest, highest = scores.value_limits
            results.append(
                sums.with_columns(
                    what=pl.lit(SUMS),
                    measure=pl.lit(number, pl.Int64),
                    lowest=pl.lit(lowest, pl.Float64),
                    highest=pl.lit(highest, pl.Float64),
                )
            )
        return results

    def _find_strata(
        self, placements: Placements, labelled: pl.DataFrame
    ) -> tuple[StratumPlaces | None, BoolArray, BoolArray]:
        """Return which queries are in which stratum, None if all are in one; and which have a row, and all labels."""
        if not self.n_columns:
            everywhere = np.ones(placements.n_queries, np.bool_)
            return None, everywhere, everywhere
        columns = [name_label(place) for place in range(self.n_columns)]
        queries = pl.DataFrame({"query_id": placements.query_ids.tolist()}, schema={"query_id": pl.String})
        in_table = labelled.select("query_id", *columns, has_row=True)
        joined = queries.join(in_table, on="query_id", how="left", maintain_order="left")
        table = Queries(joined.drop("has_row"), name="queries")
        strata = groups(placements.query_ids, columns, table, pool_languages=True)
        has_labels = np.ones(placements.n_queries, np.bool_)
        for column in columns:
            codes, _ = table.coded_column(column, table.find_rows(placements.query_ids))
            has_labels &= codes >= 0
        return strata, joined["has_row"].fill_null(value=False).to_numpy(), has_labels


def add_up_scores(
    scores: Scores, strata: StratumPlaces | None, *, is_missing: BoolArray, is_skipped: BoolArray
) -> pl.DataFrame:
    """Return a row of sums for each stratum.

    Parameters
    ----------
    scores : Scores
    strata : StratumPlaces or None
        None if all queries are one stratum, whose key has no part.
    is_missing, is_skipped : ndarray of bool, shape (n_queries,)
        Queries that the run lacks, and those of them that do not count.

    Returns
    -------
    polars.DataFrame
        The columns of sums of :func:`sent_schema`, but "measure" and the limits.
    """
    n_queries = len(scores.values)
    keys: list[tuple[str, ...]] = [()]
    if strata is None:
        one_code = np.zeros((1, 0), np.int64)
        strata = StratumPlaces((), one_code, np.arange(n_queries), np.array([0, n_queries]))
    else:
        keys = [keys_of(stratum) for stratum in strata.strata]
    places, bounds = select_places(strata, scores.kept & ~is_skipped)
    sizes = np.diff(bounds)
    values = scores.values[places]
    with np.errstate(invalid="ignore"):  # of no value
        means = np.where(sizes > 0, sum_segments(values, bounds) / sizes, 0.0)
    differences = values - np.repeat(means, sizes)
    return pl.DataFrame(
        {
            "stratum": [json.dumps(key) for key in keys],
            "n_queries": sizes,
            "n_missing": strata.count_queries(is_missing),
            "mean": means,
            "least": _reduce_segments(np.minimum, values, bounds),
            "most": _reduce_segments(np.maximum, values, bounds),
            "m2": sum_segments(differences**2, bounds),
            "m3": sum_segments(differences**3, bounds),
            "tie_variance": sum_segments(scores.tie_std[places] ** 2, bounds),
            "tie_min": sum_segments(scores.tie_min[places], bounds),
            "tie_max": sum_segments(scores.tie_max[places], bounds),
        }
    )


def _reduce_segments(ufunc: np.ufunc, values: FloatArray, bounds: IntArray) -> FloatArray:
    """Return the least or greatest value of each segment; NaN of an empty one."""
    reduced = np.full(len(bounds) - 1, np.nan)
    is_filled = np.diff(bounds) > 0
    if is_filled.any():
        reduced[is_filled] = ufunc.reduceat(values, bounds[:-1][is_filled])
    return reduced
