"""evaluate_spark(): means by stratum of a run in Spark, of which only sums come to this process.

`partition_sums` is what a worker does with the rows of some queries. Here the rows are brought together, and the sums
of all partitions become means and intervals.
"""

from __future__ import annotations

import base64
import json
import pickle
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.checks import as_level, check_choice, refuse_arguments
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.queries import Queries
from deadheat.core.data.query_tables import find_texts
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.errors import ColumnError, DataError, DeadheatWarning, NothingJudgedWarning, ParameterError
from deadheat.core.evaluation.evaluate_runs import check_measures
from deadheat.core.evaluation.intervals import KNOWN, method_of, why_unknown
from deadheat.core.evaluation.strata_order import order_labels
from deadheat.core.evaluation.stratum import NUMBERS, names_of
from deadheat.core.io.lazy import Reading, WrongRows, add_up
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.measures.selection import set_rel
from deadheat.core.placements.matching import refuse_no_common_query
from deadheat.core.placements.passes import select_results
from deadheat.core.settings import PROPORTION, SKEWED, Conventions
from deadheat.core.stats.proportions import proportion_bounds
from deadheat.core.stats.student_intervals import skewed_t_of_moments
from deadheat.core.wording import did_you_mean, format_count
from deadheat.plugins.engines.by_query import check_results, collect_from_workers
from deadheat.plugins.engines.partition_sums import (
    FAILURE,
    JUDGED,
    LABELLED,
    PARTITION,
    RETRIEVED,
    ROWS_OF_QRELS,
    SUMS,
    PartitionTask,
    sent_schema,
)

if TYPE_CHECKING:
    from deadheat.core.data.rounding import ScorePrecision

TIES = ("expected", "best", "worst", "doc_id")  # the policies that need neither an order of rows nor random numbers
RESULTS = ("measure", "n_queries", "n_missing", *NUMBERS, *KNOWN)
SPARK_TYPES = {pl.String: "string", pl.Int64: "long", pl.Float64: "double"}


def evaluate_spark(
    qrels: Source,
    run: Source,
    measures: Measures = None,
    *,
    by: str | Sequence[str] = (),
    queries: Source | None = None,
    ties: str = "expected",
    missing: str | None = None,
    no_relevant: str | None = None,
    score_precision: ScorePrecision = None,
    rel: float | None = None,
    ascending: bool = False,
    doc_id_of: str | None = None,
    duplicates: str = "error",
    confidence_level: float = 0.95,
    **gone: Never,
) -> pl.DataFrame:
    """Evaluate a run in Spark, of which only sums come to this process: means by stratum with their intervals.

    For so many queries that even their judgments do not fit here. :func:`evaluate` takes frames of Spark, too; it keeps
    the values of each query, which comparisons, gates and saved evaluations need.

    Parameters
    ----------
    qrels : frame of Spark, or what `evaluate` takes
        Judgments of documents. They stay in Spark if they are there.
    run : frame of Spark or Run
        Of a frame of Spark.
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`; not GMAP and others that are no means over queries.
    by : str or sequence of str, default ()
        Columns of `queries`. Each combination of their values is a stratum; without any, all queries are one.
    queries : frame of Spark, or table of queries, optional
        A row for each query, with the columns of `by`.
    ties : {"expected", "best", "worst", "doc_id"}, default "expected"
    missing, no_relevant, score_precision, rel, ascending, doc_id_of : optional
        As for :func:`evaluate`.
    duplicates : {"error", "best", "trust"}, default "error"
        As for :func:`evaluate`.
    confidence_level : float, default 0.95

    Returns
    -------
    polars.DataFrame
        A row for each stratum and measure, in the order of :class:`Strata`: the columns of `by`, measure, n_queries
        (with a value), n_missing (which the run lacks), mean, low, high, standard_error, tie_std, tie_min, tie_max (of
        the mean over tie orders), ci_method, known and unknown, as of :meth:`Strata.summary`. The method is
        "clopper-pearson" for measures that are 0 or 1, else "skewed-t": Gaffke's, which :meth:`Strata.summary` takes,
        needs every value.

    Raises
    ------
    DataError
        The subclass that says what is wrong with the rows.
    MeasureError, ParameterError
        A measure or an option is unknown, or is not for sums.

    Examples
    --------
    >>> run = spark.read.parquet("hdfs://name/bm25")  # doctest: +SKIP
    >>> qrels, users = spark.table("qrels"), spark.table("users")  # doctest: +SKIP
    >>> evaluate_spark(qrels, run, "nDCG@10", by="country", queries=users)  # doctest: +SKIP
    """
    refuse_arguments("evaluate_spark", gone)
    check_choice("ties", ties, TIES)
    level = as_level("confidence_level", confidence_level)
    conventions = Conventions.of(locals(), missing=missing or "empty")
    chosen = set_rel(parse_measures(measures), rel)
    check_measures(conventions, chosen)
    _refuse_other_than_means(chosen)
    columns: tuple[str, ...] = ()
    if by:
        columns = tuple(names_of(by, "by"))
    if columns and queries is None:
        raise ParameterError("are columns of a table", argument="by", given=by, hint="give it as queries=")
    run = Run.of(run, ascending=ascending, doc_id_of=doc_id_of, duplicates=duplicates)
    rows = run.rows
    if not isinstance(rows, UnreadRows) or rows.in_polars:
        raise ParameterError(
            argument="run", found=run.where, allowed="a frame of Spark", hint="dh.evaluate takes everything else"
        )
    run.check_duplicates()
    judged = _read_judgments(qrels, _session_of(rows))
    task = PartitionTask(
        reading_of_run=rows.reading,
        reading_of_qrels=judged.reading,
        run_name=run.where,
        qrels_name=judged.where,
        duplicates=rows.duplicates,
        conventions=conventions,
        measures=chosen,
        max_relevance=judged.find_highest(),
        columns=columns,
    )
    together = _bring_together(rows, judged, _read_labels(queries, columns, _session_of(rows)))
    schema = ", ".join(f"{name} {SPARK_TYPES[dtype]}" for name, dtype in sent_schema().items())
    results = collect_from_workers(together, task, schema)
    _check(results, run, judged, conventions)
    _warn(results, run, judged, missing)
    return make_table(merge_sums(results), chosen, columns, level)


def _refuse_other_than_means(measures: Sequence[Measure]) -> None:
    """Raise `ParameterError` for measures that are not the means of values of queries."""
    for measure in measures:
        if measure.geometric or measure.only_total:
            raise ParameterError(
                f"{measure.label} is no mean over queries", argument="measures", hint="dh.evaluate computes it"
            )


def _session_of(rows: UnreadRows) -> Any:  # noqa: ANN401 - of Spark
    return rows.unchecked.to_native().sparkSession


@dataclass(frozen=True)
class SparkJudgments:
    """Judgments in Spark, not yet checked.

    Attributes
    ----------
    frame : frame of Spark
        query_id and doc_id as text, and relevance in its own type.
    reading : Reading
    where : str
        For messages.
    """

    frame: Any
    reading: Reading
    where: str

    def find_highest(self) -> float:
        """Return the highest relevance; 0 if there is none."""
        highest = self.frame.selectExpr("max(cast(relevance as double))").first()[0]
        return float(highest or 0.0)


def _read_judgments(qrels: Source, session: Any) -> SparkJudgments:  # noqa: ANN401 - of Spark
    """Return judgments where they are, if they are in Spark; others are read, and sent there.

    Raises
    ------
    DataError
        They are not judgments of documents alone.
    """
    from deadheat.core.io.frames import convert_table

    where = "qrels"
    if is_spark_frame(qrels):
        content = convert_table(qrels, "qrels", where, {})
        if content.reading is not None:
            return SparkJudgments(cast("Any", content.rows).to_native(), content.reading, where)
    judgments = Qrels.of(qrels)
    judgments.check_duplicates()
    if judgments.bare or judgments.unanswerable or judgments.beside():
        raise DataError(
            "evaluate_spark takes judgments of documents alone",
            found="queries without judgments, subtopics or spans",
            hint="dh.evaluate takes all of these",
            path=judgments.where,
        )
    frame = session.createDataFrame(judgments.to_polars().to_arrow())
    return SparkJudgments(frame, Reading("qrels", "relevance"), judgments.where)


def is_spark_frame(source: object) -> bool:
    """Tell whether something is a frame of Spark, classic or Connect."""
    return type(source).__module__.startswith("pyspark.sql.")


def _read_labels(queries: Source | None, columns: Sequence[str], session: Any) -> Any:  # noqa: ANN401 - of Spark
    """Return a frame of Spark with query_id and labels, a list in JSON of the values of columns; None without columns.

    Raises
    ------
    ColumnError
        The table lacks a column, or one holds no text.
    """
    if not columns or queries is None:
        return None
    if not is_spark_frame(queries):
        table = Queries.of(queries, columns)
        table.check_columns(columns)
        ids = table.query_ids
        labels = {name: table.column(name, ids) for name in columns}
        schema = dict.fromkeys(["query_id", *columns], pl.String)
        queries = session.createDataFrame(pl.DataFrame({"query_id": ids, **labels}, schema=schema).to_arrow())
    frame = cast("Any", queries)
    types = dict(frame.dtypes)
    for name in ("query_id", *columns):
        if name not in types:
            listed = ", ".join(map(repr, types))
            raise ColumnError(
                f"no column {name!r} in the table of queries: found {listed}", hint=did_you_mean(name, types)
            )
        if types[name].startswith(("array", "map", "struct", "binary")):
            raise ColumnError(f"column {name!r} holds {types[name]}", allowed="text, numbers or booleans")
    texts = ", ".join(f"cast(`{name}` as string)" for name in columns)
    return frame.selectExpr("cast(query_id as string) as query_id", f"to_json(array({texts})) as labels")


def _bring_together(rows: UnreadRows, judged: SparkJudgments, labels: Any) -> Any:  # noqa: ANN401 - frames of Spark
    """Return the rows of the run, the judgments and the labels in one frame, in which "part" says what a row is."""
    run = rows.unchecked.to_native()
    value = rows.reading.value
    type_of_value = dict(run.dtypes)[value]
    type_of_relevance = dict(judged.frame.dtypes)["relevance"]
    no_value = f"cast(null as {type_of_value}) as `{value}`"
    no_relevance = f"cast(null as {type_of_relevance}) as relevance"
    no_labels = "cast(null as string) as labels"
    together = run.selectExpr(
        f"'{RETRIEVED}' as part", "query_id", "doc_id", f"`{value}`", no_relevance, no_labels
    ).unionByName(
        judged.frame.selectExpr(f"'{JUDGED}' as part", "query_id", "doc_id", no_value, "relevance", no_labels)
    )
    if labels is None:
        return together
    no_document = "cast(null as string) as doc_id"
    return together.unionByName(
        labels.selectExpr(f"'{LABELLED}' as part", "query_id", no_document, no_value, no_relevance, "labels")
    )


def _check(results: pl.DataFrame, run: Run, judged: SparkJudgments, conventions: Conventions) -> None:
    """Raise for wrong rows, repeated pairs, failures of workers and queries that may not be missing."""
    failures = select_results(results, FAILURE, "doc_id").to_series().sort()
    if len(failures):
        raise pickle.loads(base64.b64decode(failures[0]))  # noqa: S301 - from a worker that runs this code
    wrong = [WrongRows(*json.loads(text)) for (text,) in select_results(results, ROWS_OF_QRELS, "doc_id").rows()]
    judged.reading.check(add_up(wrong), judged.where)
    rows = cast("UnreadRows", run.rows)
    check_results(results, run, rows.reading, conventions.score_precision)
    n_queries, n_missing = _count_queries(results)
    if n_missing == n_queries:
        judged_ids = select_results(results, JUDGED, "query_id").to_series().sort().to_list()
        retrieved_ids = select_results(results, RETRIEVED, "query_id").to_series().sort().to_list()
        qrels = Qrels.of_checked({}, judged.where)
        refuse_no_common_query(qrels, run, judged_ids, retrieved_ids)
    if n_missing and conventions.missing == "error":
        raise DataError(f"{run.where} lacks {n_missing:,} of {n_queries:,} queries of the qrels")


def _count_queries(results: pl.DataFrame) -> tuple[int, int]:
    """Return how many queries the qrels have, and how many of them the run lacks."""
    n_queries, n_missing = select_results(results, PARTITION, "above", "tied").sum().row(0)
    return n_queries or 0, n_missing or 0


def _warn(results: pl.DataFrame, run: Run, judged: SparkJudgments, missing: str | None) -> None:
    """Warn of a run that lacks most queries, and of one of whose documents none is judged."""
    n_queries, n_missing = _count_queries(results)
    if missing is None and 2 * n_missing > n_queries:
        warnings.warn(
            f"{run.where} lacks {n_missing:,} of {format_count(n_queries, 'query', 'queries')} of the qrels: they count"
            " as empty rankings, 0 by most measures. missing='empty' confirms that this is intended; missing='skip'"
            " leaves them out",
            DeadheatWarning,
            stacklevel=3,
        )
    n_placed = select_results(results, PARTITION, "value").to_series().sum()
    if not n_placed:
        warnings.warn(
            f"no document that {run.where} retrieved is judged in {judged.where}: are the document ids written alike?",
            NothingJudgedWarning,
            stacklevel=3,
        )


def merge_sums(results: pl.DataFrame) -> pl.DataFrame:
    r"""Return the sums of all partitions for each stratum and measure.

    With :math:`\delta_i` the difference of the mean of a part from that of all,

    .. math:: m_2 = \sum_i m_{2i} + n_i \delta_i^2, \quad
        m_3 = \sum_i m_{3i} + 3 \delta_i m_{2i} + n_i \delta_i^3

    References
    ----------
    Pebay 2008, "Formulas for robust, one-pass parallel computation of covariances and arbitrary-order statistical
    moments", https://doi.org/10.2172/1028931.
    """
    key = ["stratum", "measure"]
    parts = results.filter(what=SUMS).sort(*key, "mean", "m2", "n_queries")  # one order, however partitions arrive
    n = pl.col("n_queries")
    mean_of_all = (n * pl.col("mean")).sum().over(key) / n.sum().over(key)
    difference = pl.col("mean") - mean_of_all
    return (
        parts.with_columns(
            mean_of_all=mean_of_all,
            m2=pl.col("m2") + n * difference**2,
            m3=pl.col("m3") + 3 * difference * pl.col("m2") + n * difference**3,
        )
        .group_by(key, maintain_order=True)
        .agg(
            pl.col("n_queries", "n_missing", "m2", "m3", "tie_variance", "tie_min", "tie_max").sum(),
            mean=pl.col("mean_of_all").first(),
            lowest=pl.col("lowest").min(),
            highest=pl.col("highest").max(),
        )
    )


def make_table(sums: pl.DataFrame, measures: Sequence[Measure], columns: Sequence[str], level: float) -> pl.DataFrame:
    """Return the row of each stratum and measure, in their order."""
    keys = sums["stratum"].str.json_decode(pl.List(pl.String))
    labels = [keys.list.get(place).alias(name) for place, name in enumerate(columns)]
    places = [_place_labels(column).alias(f"place of {column.name}") for column in labels]
    in_order = sums.with_columns(*labels, *places).sort(*(column.name for column in places), "measure")
    rows = in_order.drop(column.name for column in places).with_row_index("row")
    estimates = []
    for number, measure in enumerate(measures):
        estimates.append(_estimate_means(rows.filter(measure=number), measure, level))
    return pl.concat(estimates).sort("row").select(*columns, *RESULTS)


def _place_labels(labels: pl.Series) -> pl.Series:
    """Return the place of each label of one column in the order of strata."""
    distinct = labels.unique(maintain_order=True)
    ordered = distinct.gather(order_labels(distinct))
    return pl.Series(find_texts(labels, ordered))


def _estimate_means(sums: pl.DataFrame, measure: Measure, level: float) -> pl.DataFrame:
    """Return the numbers of each row of sums, which are all of one measure; those that are not known are null."""
    n = sums["n_queries"].to_numpy()
    mean = np.where(n > 0, sums["mean"].to_numpy(), np.nan)
    method = method_of("auto", measure, has_clusters=False)
    if method != PROPORTION:
        method = SKEWED
    with np.errstate(divide="ignore", invalid="ignore"):  # of one query, or none
        errors = np.sqrt(sums["m2"].to_numpy() * n / (n - 1)) / n
        tie_std = np.sqrt(sums["tie_variance"].to_numpy()) / n
        tie_min = sums["tie_min"].to_numpy() / n
        tie_max = sums["tie_max"].to_numpy() / n
        if method == PROPORTION:
            low, high = _estimate_proportions(n, mean, level)
        else:
            low, high = _estimate_skewed(sums, errors, level)
    unknown = []
    for low_of_row, high_of_row, n_of_row in zip(low.tolist(), high.tolist(), n.tolist(), strict=True):
        unknown.append(why_unknown(low_of_row, high_of_row, n_of_row, None, method))
    numbers = {
        "mean": mean,
        "low": low,
        "high": high,
        "standard_error": errors,
        "tie_std": tie_std,
        "tie_min": tie_min,
        "tie_max": tie_max,
    }
    return sums.with_columns(
        measure=pl.lit(measure.label),
        **{name: pl.Series(column).fill_nan(None) for name, column in numbers.items()},
        ci_method=pl.lit(method),
        known=pl.Series([not reason for reason in unknown], dtype=pl.Boolean),
        unknown=pl.Series(unknown, dtype=pl.String),
    )


def _estimate_proportions(n: IntArray, mean: FloatArray, level: float) -> FloatArray:
    """Return the ends of intervals of proportions, shape (2, n_rows)."""
    ends = np.full((2, len(n)), np.nan)
    for row, (n_queries, proportion) in enumerate(zip(n.tolist(), mean.tolist(), strict=True)):
        if n_queries:
            ends[:, row] = proportion_bounds(n_queries * proportion, n_queries, level)
    return ends


def _estimate_skewed(sums: pl.DataFrame, errors: FloatArray, level: float) -> FloatArray:
    """Return the ends of intervals by Student's t corrected for skewness, shape (2, n_rows), within the range."""
    n = sums["n_queries"].to_numpy()
    m2 = sums["m2"].to_numpy()
    m3 = sums["m3"].to_numpy()
    skew = np.where(m2 > 0, m3 / m2**1.5, 0.0)
    freedom = np.where(n > 1, n - 1.0, np.nan)
    ends = skewed_t_of_moments(sums["mean"].to_numpy(), errors, skew, freedom, level)
    return np.clip(ends, sums["lowest"].to_numpy(), sums["highest"].to_numpy())
