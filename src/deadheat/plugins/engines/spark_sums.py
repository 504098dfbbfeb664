"""evaluate_spark(): means by stratum of a run in Spark, of which only sums come to this process.

`partition_sums` is what a worker does with the rows of some queries. Here the rows are brought together, and the sums
of all partitions become means and intervals.
"""

from __future__ import annotations

import base64
import json
import pickle
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.checks import as_level, check_choice, refuse_arguments
from deadheat.core.data.document_table import check_tables
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.queries import Queries
from deadheat.core.data.query_tables import find_id_column, find_texts
from deadheat.core.data.run import Run
from deadheat.core.data.sources import Source
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    NothingJudgedWarning,
    ParameterError,
    UnlabelledQueriesWarning,
)
from deadheat.core.evaluation.evaluate_runs import check_measures
from deadheat.core.evaluation.intervals import KNOWN, method_of, why_unknown
from deadheat.core.evaluation.strata_order import order_labels
from deadheat.core.evaluation.stratum import NONE, NUMBERS, names_of
from deadheat.core.evaluation.warned import find_missed_levels
from deadheat.core.io.lazy import Reading, WrongRows, add_up
from deadheat.core.measures import Measure
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.measures.selection import set_rel
from deadheat.core.placements.passes import select_results
from deadheat.core.scalars import ROUNDING
from deadheat.core.settings import PROPORTION, SKEWED, Conventions
from deadheat.core.stats.proportions import proportion_bounds
from deadheat.core.stats.student_intervals import skewed_t_of_moments
from deadheat.core.wording import did_you_mean, format_count, format_list
from deadheat.plugins.engines.by_query import check_results, collect_from_workers, note_left_out_of
from deadheat.plugins.engines.partition_sums import (
    FAILURE,
    JUDGED,
    MERGED_JUDGMENTS,
    MISSING,
    N_EXAMPLES,
    N_RETRIEVED,
    OF_QRELS,
    OF_QUERIES,
    OF_RUN,
    PARTITION,
    RETRIEVED,
    ROWS_OF_QRELS,
    SUMS,
    WITHOUT_LABEL,
    PartitionTask,
    name_label,
    sent_schema,
)

if TYPE_CHECKING:
    from deadheat.core.data.rounding import ScorePrecision

TIES = ("expected", "best", "worst", "doc_id")  # the policies that need neither an order of rows nor random numbers
TYPES_OF_IDS = ("string", "tinyint", "smallint", "int", "bigint")
OF_SUMS = (
    *("n_queries", "n_missing", "mean", "m2", "m3", "least", "most"),
    *("tie_variance", "tie_min", "tie_max", "lowest", "highest"),
)
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
        Judgments of documents. Those in Spark stay there.
    run : frame of Spark, or a Run of one
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`; not GMAP and others that are no means over queries.
    by : str or sequence of str, default ()
        Columns of `queries`. Each combination of their values is a stratum; without any, all queries are one.
    queries : frame of Spark, or table of queries, optional
        A row for each query, with the columns of `by`. Queries of several languages may be in one stratum.
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
        needs every value. With ``missing="skip"`` a stratum may have no query left.

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
    columns = _check_columns(by, queries)
    run = Run.of(run, ascending=ascending, doc_id_of=doc_id_of, duplicates=duplicates)
    rows = run.rows
    if not isinstance(rows, UnreadRows) or rows.in_polars:
        raise ParameterError(
            argument="run", found=run.where, allowed="a frame of Spark", hint="dh.evaluate takes everything else"
        )
    check_tables(run)
    session = rows.unchecked.to_native().sparkSession
    judged = _read_judgments(qrels, session)
    labels = _read_labels(queries, columns, session)
    highest = judged.find_highest()
    task = PartitionTask(
        reading_of_run=rows.reading,
        reading_of_qrels=judged.reading,
        run_name=run.where,
        qrels_name=judged.where,
        duplicates=rows.duplicates,
        conventions=conventions,
        measures=chosen,
        max_relevance=highest,
        n_columns=len(columns),
    )
    schema = ", ".join(f"{name} {SPARK_TYPES[dtype]}" for name, dtype in sent_schema().items())
    results = collect_from_workers(_bring_together(rows, judged, labels), task, schema)
    _check_rows(results, run, judged, conventions)
    counts = _count(results)
    _check_queries(results, counts, run, judged, conventions)
    doubts = [
        *judged.notes,
        *_find_doubts(results, counts, run, judged, missing),
        *find_missed_levels(chosen, highest, judged.where),
    ]
    for doubt in doubts:
        warnings.warn(doubt, stacklevel=2)
    return make_table(merge_sums(results), chosen, columns, level)


def _refuse_other_than_means(measures: Sequence[Measure]) -> None:
    """Raise `ParameterError` for measures that are not the means of values of queries."""
    for measure in measures:
        if measure.geometric or measure.only_total:
            raise ParameterError(
                f"{measure.label} is no mean over queries", argument="measures", hint="dh.evaluate computes it"
            )


def _check_columns(by: str | Sequence[str], queries: Source | None) -> tuple[str, ...]:
    """Return the columns of strata.

    Raises
    ------
    ParameterError
        There is no table that could have them.
    ColumnError
        One is called as a column of the result.
    """
    if not by:
        return ()
    columns = tuple(names_of(by, "by"))
    if queries is None:
        raise ParameterError("are columns of a table", argument="by", given=by, hint="give it as queries=")
    for name in columns:
        if name in RESULTS:
            raise ColumnError(
                f"the stratum column {name!r} has the same name as a column of the result", hint="give it another name"
            )
    return columns


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
    notes : tuple of DeadheatWarning
        What was assumed.
    """

    frame: Any
    reading: Reading
    where: str
    notes: tuple[DeadheatWarning, ...] = ()

    def find_highest(self) -> float:
        """Return the highest relevance, by a small job; 0 if there is none."""
        highest = self.frame.selectExpr("max(cast(relevance as double))").first()[0]
        return float(highest or 0.0)


def _read_judgments(qrels: Source, session: Any) -> SparkJudgments:  # noqa: ANN401 - of Spark
    """Return judgments where they are, if they are in Spark; others are read, and sent there.

    Raises
    ------
    DataError
        They are not judgments of documents alone.
    """
    judgments = Qrels.of(qrels)
    notes = tuple(DeadheatWarning(f"{judgments.where}: {note}") for note in judgments.notes)
    rows = judgments.rows
    if isinstance(rows, UnreadRows) and not rows.in_polars:
        return SparkJudgments(rows.unchecked.to_native(), rows.reading, judgments.where, notes)
    judgments.check_duplicates()
    if judgments.bare or judgments.unanswerable or judgments.beside():
        raise DataError(
            "evaluate_spark takes judgments of documents alone",
            found="queries without judgments, subtopics or spans",
            hint="dh.evaluate takes all of these",
            path=judgments.where,
        )
    frame = session.createDataFrame(judgments.to_polars().to_arrow())
    return SparkJudgments(frame, Reading("qrels", "relevance"), judgments.where, notes)


@dataclass(frozen=True)
class SparkLabels:
    """Labels of queries in Spark, not yet checked.

    Attributes
    ----------
    frame : frame of Spark
        query_id as text, and each label in its own type, under its name in partitions.
    types : dict of str to str
        The types of the labels, by these names.
    """

    frame: Any
    types: dict[str, str]


def is_spark_frame(source: object) -> bool:
    """Tell whether something is a frame of Spark, classic or Connect."""
    return type(source).__module__.startswith("pyspark.sql.")


def _read_labels(queries: Source | None, columns: Sequence[str], session: Any) -> SparkLabels | None:  # noqa: ANN401 - of Spark
    """Return the labels of queries, None without columns.

    Raises
    ------
    ColumnError
        The table lacks a column, or its ids are neither text nor whole numbers.
    """
    if not columns or queries is None:
        return None
    if not is_spark_frame(queries):
        table = Queries.of(queries, columns)
        table.check_columns(columns)
        labels = {name: table.column(name, table.query_ids) for name in columns}
        schema = dict.fromkeys(["query_id", *columns], pl.String)
        queries = session.createDataFrame(pl.DataFrame({"query_id": table.query_ids, **labels}, schema).to_arrow())
    frame = cast("Any", queries)
    type_of_column = dict(frame.dtypes)
    id_column = find_id_column(list(type_of_column), "queries")
    if type_of_column[id_column] not in TYPES_OF_IDS:
        raise ColumnError(
            f"column {id_column!r} of queries holds {type_of_column[id_column]}",
            allowed="text or whole numbers as ids",
        )
    expressions = [f"cast(`{id_column}` as string) as query_id"]
    types = {}
    for place, name in enumerate(columns):
        if name not in type_of_column:
            listed = ", ".join(map(repr, type_of_column))
            raise ColumnError(
                f"no column {name!r} in the table of queries: found {listed}", hint=did_you_mean(name, type_of_column)
            )
        expressions.append(f"`{name}` as `{name_label(place)}`")
        types[name_label(place)] = type_of_column[name]
    return SparkLabels(frame.selectExpr(*expressions), types)


def _bring_together(rows: UnreadRows, judged: SparkJudgments, labels: SparkLabels | None) -> Any:  # noqa: ANN401 - a frame of Spark
    """Return the rows of the run, the judgments and the labels in one frame, in which "part" says what a row is."""
    run = rows.unchecked.to_native()
    value = rows.reading.value
    type_of_column = {"doc_id": "string", value: dict(run.dtypes)[value]}
    type_of_column["relevance"] = dict(judged.frame.dtypes)["relevance"]
    parts: list[tuple[int, Any, tuple[str, ...]]] = [
        (OF_RUN, run, ("doc_id", value)),
        (OF_QRELS, judged.frame, ("doc_id", "relevance")),
    ]
    if labels is not None:
        type_of_column |= labels.types
        parts.append((OF_QUERIES, labels.frame, tuple(labels.types)))
    frames = []
    for part, frame, present in parts:
        expressions = [f"cast({part} as tinyint) as part", "query_id"]
        for name, type_name in type_of_column.items():
            if name in present:
                expressions.append(f"`{name}`")
            else:
                expressions.append(f"cast(null as {type_name}) as `{name}`")
        frames.append(frame.selectExpr(*expressions))
    together = frames[0]
    for frame in frames[1:]:
        together = together.unionByName(frame)
    return together


@dataclass(frozen=True)
class QueryCounts:
    """How many queries there are.

    Attributes
    ----------
    n_queries : int
        Judged ones; all others are among them, but `n_retrieved`.
    n_missing : int
        Those that the run lacks.
    n_in_table, n_without_label : int
        Those that the table of queries has, and those without a label in some column.
    n_placed : int
        Judged documents that were retrieved.
    n_retrieved : int
        Queries of the run.
    """

    n_queries: int
    n_missing: int
    n_in_table: int
    n_without_label: int
    n_placed: int
    n_retrieved: int


def _count(results: pl.DataFrame) -> QueryCounts:
    """Add up what the partitions say of their queries."""
    totals = results.filter(pl.col("what").is_in([PARTITION, N_RETRIEVED])).group_by("what").agg(pl.col(pl.Int64).sum())
    of_judged = totals.row(by_predicate=pl.col("what") == PARTITION, named=True)
    of_retrieved = totals.row(by_predicate=pl.col("what") == N_RETRIEVED, named=True)
    return QueryCounts(
        n_queries=of_judged["n_queries"],
        n_missing=of_judged["n_missing"],
        n_in_table=of_judged["n_in_table"],
        n_without_label=of_judged["n_without_label"],
        n_placed=of_judged["n_placed"],
        n_retrieved=of_retrieved["n_queries"],
    )


def _list_examples(results: pl.DataFrame, kind: str, n: int) -> str:
    """Return the first of some ids of queries, and how many others there are."""
    ids = select_results(results, kind, "query_id").to_series().sort().head(N_EXAMPLES).to_list()
    return format_list([*map(repr, ids)], n=n)


def _check_rows(results: pl.DataFrame, run: Run, judged: SparkJudgments, conventions: Conventions) -> None:
    """Raise for failures of workers, wrong rows, and repeated pairs."""
    failures = select_results(results, FAILURE, "content").to_series().sort()
    if len(failures):
        raise pickle.loads(base64.b64decode(failures[0]))  # noqa: S301 - from a worker that runs this code
    wrong = [WrongRows(*json.loads(text)) for (text,) in select_results(results, ROWS_OF_QRELS, "content").rows()]
    judged.reading.check(add_up(wrong), judged.where)
    rows = cast("UnreadRows", run.rows)
    check_results(results, run, rows.reading, conventions.score_precision)


def _check_queries(
    results: pl.DataFrame, counts: QueryCounts, run: Run, judged: SparkJudgments, conventions: Conventions
) -> None:
    """Raise for queries that do not fit: of the run, of the judgments, or of the table of queries."""
    listed = _list_examples(results, JUDGED, counts.n_queries)
    if counts.n_missing == counts.n_queries:
        listed_of_run = _list_examples(results, RETRIEVED, counts.n_retrieved)
        raise DataError(
            f"qrels and run share no query: {judged.where} has {listed}; {run.where} has {listed_of_run}. Are they of"
            " the same collection, and are the ids written alike?"
        )
    if counts.n_missing and conventions.missing == "error":
        raise DataError(_describe_missing(results, counts, run))
    if not counts.n_in_table:
        raise DataError(
            f"queries has none of the evaluated queries, such as {listed}",
            hint="Are they of the same collection, and are the ids written alike?",
        )


def _describe_missing(results: pl.DataFrame, counts: QueryCounts, run: Run) -> str:
    """Say how many queries the run lacks, and which."""
    listed = _list_examples(results, MISSING, counts.n_missing)
    n_queries = format_count(counts.n_queries, "query", "queries")
    return f"{run.where} lacks {counts.n_missing:,} of {n_queries} of the qrels ({listed})"


def _find_doubts(
    results: pl.DataFrame, counts: QueryCounts, run: Run, judged: SparkJudgments, missing: str | None
) -> Iterator[DeadheatWarning]:
    """Yield what was left out or lacks, and what usually means wrong data."""
    rows = cast("UnreadRows", run.rows)
    for note in note_left_out_of(results, rows.duplicates):
        yield DeadheatWarning(f"{run.where}: {note}")
    n_merged = sum(select_results(results, MERGED_JUDGMENTS, "n_placed").to_series().to_list())
    if n_merged:
        repeated = format_count(n_merged, "judgment that repeats another one is", "judgments that repeat others are")
        yield DeadheatWarning(f"{judged.where}: {repeated} merged")
    if missing is None and 2 * counts.n_missing > counts.n_queries:
        yield DeadheatWarning(
            f"{_describe_missing(results, counts, run)}: they count as empty rankings, 0 by most measures."
            " missing='empty' confirms that this is intended; missing='skip' leaves them out"
        )
    if not counts.n_placed:
        yield NothingJudgedWarning(
            f"no document that {run.where} retrieved is judged in {judged.where}: are the document ids written alike?"
        )
    if counts.n_without_label:
        listed = _list_examples(results, WITHOUT_LABEL, counts.n_without_label)
        n_queries = format_count(counts.n_queries, "query", "queries")
        yield UnlabelledQueriesWarning(
            f"{counts.n_without_label:,} of {n_queries} ({listed}) have no label in a column: they form the"
            f" stratum {NONE!r}"
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
    parts = results.filter(what=SUMS).select(*key, *OF_SUMS).sort(pl.all())  # one order, however partitions arrive
    n = pl.col("n_queries")
    mean_of_all = (n * pl.col("mean")).sum().over(key) / n.sum().over(key)
    difference = pl.col("mean") - mean_of_all
    about_mean_of_all = parts.with_columns(
        mean_of_all=mean_of_all,
        m2=pl.col("m2") + n * difference**2,
        m3=pl.col("m3") + 3 * difference * pl.col("m2") + n * difference**3,
    )
    merged = about_mean_of_all.group_by(key, maintain_order=True).agg(
        pl.col("n_queries", "n_missing", "m2", "m3", "tie_variance", "tie_min", "tie_max").sum(),
        pl.col("lowest", "least").min(),
        pl.col("highest", "most").max(),
        mean=pl.col("mean_of_all").first(),
    )
    # means of partitions of equal values differ in the last bit, which is no variance
    largest = pl.max_horizontal(pl.col("least").abs(), pl.col("most").abs())
    is_constant = pl.col("most") - pl.col("least") <= ROUNDING * largest
    return merged.with_columns(pl.when(is_constant).then(0.0).otherwise(pl.col("m2", "m3")).name.keep())


def make_table(sums: pl.DataFrame, measures: Sequence[Measure], columns: Sequence[str], level: float) -> pl.DataFrame:
    """Return the row of each stratum and measure, in their order."""
    keys = sums["stratum"].str.json_decode(pl.List(pl.String))
    labels = [keys.list.get(place).alias(name_label(place)) for place in range(len(columns))]
    places = [_place_labels(column).alias(f"place of {column.name}") for column in labels]
    in_order = sums.with_columns(*labels, *places).sort(*(column.name for column in places), "measure")
    rows = in_order.with_row_index("row")
    estimates = []
    for number, measure in enumerate(measures):
        estimates.append(_estimate_means(rows.filter(measure=number), measure, level))
    names = [pl.col(name_label(place)).alias(name) for place, name in enumerate(columns)]
    return pl.concat(estimates).sort("row").select(*names, *RESULTS)


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
