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

from deadheat.core.arrays import BoolArray
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

RETRIEVED, JUDGED, LABELLED = "retrieved", "judged", "labelled"  # the rows of a partition, by the column "part"
# What a worker sends, by the column "what", beside what every pass may say
ROWS_OF_QRELS, FAILURE, PARTITION, SUMS = "rows of qrels", "failure", "partition", "sums"
N_EXAMPLES = 3  # ids that are sent for messages


def sent_schema() -> dict[str, type[pl.DataType]]:
    """Return the columns of what a worker sends: those of every pass, and those of sums.

    ``m2`` and ``m3`` are sums of the squares and cubes of differences from ``mean``; ``tie_variance``, ``tie_min`` and
    ``tie_max`` are sums, too; ``lowest`` and ``highest`` are the limits of the values of a measure.
    """
    return {
        **result_schema(),
        "stratum": pl.String,
        **dict.fromkeys(("measure", "n_queries", "n_missing"), pl.Int64),
        **dict.fromkeys(("mean", "m2", "m3", "tie_variance", "tie_min", "tie_max"), pl.Float64),
        **dict.fromkeys(("lowest", "highest"), pl.Float64),
    }


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
    columns : tuple of str
        The columns of strata; without any, all queries are one stratum.
    """

    reading_of_run: Reading
    reading_of_qrels: Reading
    run_name: str
    qrels_name: str
    duplicates: str
    conventions: Conventions
    measures: tuple[Measure, ...]
    max_relevance: float
    columns: tuple[str, ...]

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
            text = base64.b64encode(pickle.dumps(error)).decode()
            results = [make_results(FAILURE, doc_id=[text])]
        results.insert(0, pl.DataFrame(schema=sent_schema()))
        table = pl.concat(results, how="diagonal")
        arrow_types = {pl.String: pa.string(), pl.Int64: pa.int64(), pl.Float64: pa.float64()}
        schema = pa.schema([(name, arrow_types[dtype]) for name, dtype in sent_schema().items()])
        yield from table.to_arrow().cast(schema).to_batches(max_chunksize=1 << 16)

    def _sum_up(self, rows: pl.DataFrame) -> list[pl.DataFrame]:
        """Return what is wrong with the rows of a partition, or the sums of its queries."""
        judged = rows.filter(part=JUDGED)
        if judged.height:
            checked = self.reading_of_qrels.read_in_polars(MemoryRows(judged.select(JUDGMENTS)).lazy)
            results = [make_results(ROWS_OF_QRELS, doc_id=[json.dumps(astuple(checked.wrong))])]
            if checked.wrong:
                return results
            judgments = checked.frame
        else:
            results = []
            judgments = pl.DataFrame(schema=schema_of("relevance"))
        blocks, results_of_run = self._look_at_run(rows.filter(part=RETRIEVED))
        results += results_of_run
        if blocks is None:
            return results
        qrels = Qrels.of_checked(judgments, self.qrels_name)
        qrels.check_duplicates()
        results.append(make_results(RETRIEVED, query_id=blocks.query_ids.head(N_EXAMPLES)))
        if judgments.height:
            results += self._sum_queries(qrels, blocks, rows.filter(part=LABELLED))
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
        results = [
            make_results(JUDGED, query_id=placements.query_ids[:N_EXAMPLES].tolist()),
            make_results(
                PARTITION,
                value=[float(len(placements.query))],
                above=[placements.n_queries],
                tied=[int(is_missing.sum())],
            ),
        ]
        strata = self._find_strata(placements, labelled)
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

    def _find_strata(self, placements: Placements, labelled: pl.DataFrame) -> StratumPlaces | None:
        """Return which queries are in which stratum; None if all of them are one."""
        if not self.columns:
            return None
        cells = labelled["labels"].str.json_decode(pl.List(pl.String))
        columns = [cells.list.get(place).alias(name) for place, name in enumerate(self.columns)]
        labels = pl.DataFrame([labelled["query_id"], *columns])
        queries = pl.DataFrame({"query_id": placements.query_ids.tolist()}, schema={"query_id": pl.String})
        table = Queries(queries.join(labels, on="query_id", how="left"), name="queries")
        return groups(placements.query_ids, self.columns, table, pool_languages=True)


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
            "m2": sum_segments(differences**2, bounds),
            "m3": sum_segments(differences**3, bounds),
            "tie_variance": sum_segments(scores.tie_std[places] ** 2, bounds),
            "tie_min": sum_segments(scores.tie_min[places], bounds),
            "tie_max": sum_segments(scores.tie_max[places], bounds),
        }
    )
