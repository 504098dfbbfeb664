"""Frames of Spark give the numbers of files, bit by bit; `make spark` installs PySpark, which needs Java."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.policies import break_by_rule
from deadheat.errors import DataError, DeadheatWarning, DuplicateError, NothingJudgedWarning, ParameterError
from deadheat.plugins.engines import by_query as passes
from deadheat.plugins.engines.by_query import ByQuery
from oracle.random_cases import BATCHES
from support.equal_numbers import BATCH, MEASURES, NAMES, assert_equal_to_dicts, rows_of
from support.shared_data import SOME_RUNS, needs_shared_data, sources_of
from support.spark_cluster import session, skip_without_spark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.equal_numbers import Rows

skip_without_spark()

# PySpark warns of pandas that it does not know yet, and leaves sockets to the garbage collector
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:PySpark does not yet fully support pandas:FutureWarning", "default::ResourceWarning"
    ),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with session("local[2]") as found:
            yield found


def frame(spark: Any, rows: Rows, kind: str) -> Any:  # noqa: ANN401 - PySpark may not be there
    return spark.createDataFrame(rows, NAMES[kind])


@pytest.fixture(scope="module")
def qrels(spark: Any) -> Any:  # noqa: ANN401 - PySpark may not be there
    return frame(spark, rows_of(BATCH.qrels), "qrels")


@pytest.fixture(scope="module")
def run(spark: Any) -> Any:  # noqa: ANN401 - PySpark may not be there
    return frame(spark, rows_of(BATCH.run), "run")


@pytest.mark.parametrize("ties", ["expected", "doc_id", "random"])
def test_frames_of_spark_give_the_same_numbers(qrels: object, run: object, ties: str) -> None:
    assert_equal_to_dicts(qrels, run, ties)


def test_a_frame_of_spark_beside_a_file(run: object, tmp_path: Path) -> None:
    path = tmp_path / "qrels.jsonl"
    dh.Qrels(BATCH.qrels).to_polars().write_ndjson(path)
    assert_equal_to_dicts(path, run, "expected")


@pytest.mark.parametrize("is_shuffled", [False, True], ids=["sent", "shuffled"])
def test_placements_are_those_of_memory(
    run: Any,  # noqa: ANN401 - PySpark may not be there
    qrels: object,
    *,
    is_shuffled: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever the judgments go, and however the rows of a query are spread: over one partition, or over forty."""
    monkeypatch.setattr(passes, "MOST_SENT", 0 if is_shuffled else passes.MOST_SENT)
    expected = dh.place(BATCH.qrels, BATCH.run)
    for spread in (run.coalesce(1), run.repartition(40), run.orderBy("score")):
        found = dh.place(qrels, spread)
        assert found.to_polars().rows() == expected.to_polars().rows()
        for name in ("query_ids", "n_retrieved", "query", "relevance", "above", "tied", "ends_in_tie"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_ties_are_broken_as_in_memory(spark: Any, batch: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    engines = [
        choose_engine(dh.Qrels(batch.qrels), dh.Run(run))
        for run in (batch.run, frame(spark, rows_of(batch.run), "run"))
    ]
    assert type(engines[1]) is ByQuery
    found = [break_by_rule(engine.place(), engine, "doc_id").to_polars() for engine in engines]
    assert found[0].equals(found[1])


def test_spark_counts_the_same(qrels: object, run: object) -> None:
    found, expected = dh.place(qrels, run), dh.place(BATCH.qrels, BATCH.run)
    assert found.to_polars().rows() == expected.to_polars().rows()


def test_one_large_query_among_many_small_ones(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    """A skewed run: nearly all rows are of one query, and most partitions are empty."""
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 50, 20_000).astype(float)
    rows = pl.DataFrame({"query_id": "large", "doc_id": [f"d{n}" for n in range(len(scores))], "score": scores})
    small = pl.DataFrame({"query_id": [f"q{n}" for n in range(9)], "doc_id": "d1", "score": 1.0})
    run = pl.concat([rows, small]).sample(fraction=1, shuffle=True, seed=3)
    judged = {"large": {f"d{n}": n % 3 for n in range(0, 20_000, 97)}, "q3": {"d1": 1}}
    spread = spark.createDataFrame(run.to_arrow()).repartition(4)
    found, expected = dh.evaluate(judged, spread, MEASURES), dh.evaluate(judged, run, MEASURES)
    for measure in MEASURES:
        np.testing.assert_array_equal(found[measure].values, expected[measure].values, err_msg=measure)
        np.testing.assert_array_equal(found[measure].tie_std, expected[measure].tie_std, err_msg=measure)
    assert found.unjudged_queries == expected.unjudged_queries


@pytest.mark.parametrize("score_precision", ["float16", 1])
def test_workers_round(run: object, score_precision: str | int) -> None:
    found, expected = (
        dh.evaluate(BATCH.qrels, one, MEASURES, score_precision=score_precision) for one in (run, BATCH.run)
    )
    assert found.to_polars().equals(expected.to_polars())


def test_a_score_that_rounding_makes_infinite(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    rows = [("q1", "d", 2.0), ("q1", "e", 1e5), ("q2", "e", 2e5)]
    with pytest.warns(DeadheatWarning, match="float16 cannot hold the score 200000"):
        dh.evaluate({"q1": {"d": 1}}, frame(spark, rows, "run"), ["RR"], score_precision="float16")


def test_lower_scores_first_and_ranks(spark: Any, run: object) -> None:  # noqa: ANN401 - PySpark may not be there
    found = dh.evaluate(BATCH.qrels, dh.Run(run, ascending=True), MEASURES)
    expected = dh.evaluate(BATCH.qrels, dh.Run(BATCH.run, ascending=True), MEASURES)
    assert found.to_polars().equals(expected.to_polars())
    ranked = spark.createDataFrame([(7, 1, 2), (7, 2, 1), (8, 1, 1)], ["query_id", "doc_id", "rank"])
    assert dh.evaluate({"7": {"1": 1}}, ranked, "RR").means() == {"RR": 1 / 2}


@pytest.mark.parametrize("score_precision", [None, 3])
def test_rows_of_spark_have_no_order(run: object, score_precision: int | None) -> None:
    with pytest.raises(dh.DeadheatError, match="needs rows that have an order, and those of run do not"):
        dh.evaluate(BATCH.qrels, run, MEASURES, ties="input", score_precision=score_precision)


def test_a_comparison_and_a_profile(qrels: object, run: object, spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    other = {query: {doc: -score for doc, score in docs.items()} for query, docs in BATCH.run.items()}
    options = {"measures": ["AP", "nDCG@3"], "n_resamples": 99}
    found = dh.compare(qrels, {"a": run, "b": frame(spark, rows_of(other), "run")}, **options)  # type: ignore[arg-type]
    expected = dh.compare(BATCH.qrels, {"a": BATCH.run, "b": other}, **options)  # type: ignore[arg-type]
    assert found.to_polars().equals(expected.to_polars())
    profiles = [dh.tie_profile(*both, measures=["AP", "nDCG@3"]) for both in ((run, qrels), (BATCH.run, BATCH.qrels))]
    assert profiles[0].to_polars().equals(profiles[1].to_polars())
    assert profiles[0].per_query().equals(profiles[1].per_query())
    for name in ("n_documents", "n_ties", "tie_size", "distinct_scores", "cuts", "levels", "decimals", "grid"):
        assert getattr(profiles[0], name) == getattr(profiles[1], name), name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([("q1", "e", float("nan"))], "score of document 'e' for query 'q1' is NaN"),
        ([("q1", "f", None), ("q2", "e", None)], r"score of document 'f' for query 'q1' is missing .*; .* 2 rows"),
        ([("q1", None, 1.0)], "1 of 3 rows lack a query_id or doc_id"),
        ([("", "e", 1.0)], "1 of 3 rows lack a query_id or doc_id"),
        ([("q1", "d", 0.5)], "document 'd' is retrieved 2 times for query 'q1'"),
    ],
    ids=["nan", "null", "null id", "empty id", "twice"],
)
def test_bad_rows_are_named(spark: Any, wrong: Any, message: str) -> None:  # noqa: ANN401 - PySpark may not be there
    rows = [("q1", "d", 2.0), ("q2", "d", 1.0), *wrong]
    with pytest.raises(DataError, match=message):
        dh.evaluate({"q1": {"d": 1}}, frame(spark, rows, "run"), ["RR"])


def test_without_the_check_a_repeated_pair_passes(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    rows = frame(spark, [("q1", "d", 2.0), ("q2", "d", 1.0), ("q2", "d", 1.0)], "run")
    assert dh.evaluate({"q1": {"d": 1}}, rows, ["RR"], duplicates="trust").means() == {"RR": 1.0}
    with pytest.raises(DuplicateError):
        dh.tie_profile(rows)


def test_documents_that_come_twice_are_merged_by_the_workers(spark: Any) -> None:  # noqa: ANN401 - as above
    twice = frame(spark, [("q1", "e", 0.1), ("q1", "d", 0.2), ("q1", "e", 0.3), ("q2", "d", 0.2)], "run")
    qrels = {"q1": {"d": 1}, "q2": {"d": 1}}
    found = dh.evaluate(qrels, twice, ["RR", "NumRet"], duplicates="best")
    assert found.to_dict() == {"q1": {"RR": 0.5, "NumRet": 2.0}, "q2": {"RR": 1.0, "NumRet": 1.0}}
    assert found.notes == ("1 of 4 results repeat a document: its best counts",)
    assert dh.Run(twice, duplicates="best", ascending=True).to_dict()["q1"] == {"e": -0.1, "d": -0.2}
    with pytest.raises(ParameterError, match="needs rows that have an order"):
        dh.evaluate(qrels, twice, "RR", duplicates="first")


def test_whole_numbers_that_float64_merges(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    rows = spark.createDataFrame([("q1", "d", 2), ("q1", "e", 2**53 + 1)], NAMES["run"])
    with pytest.raises(DataError, match=f"score {2**53 + 1} is an integer or decimal beyond"):
        dh.evaluate({"q1": {"d": 1}}, rows, ["RR"])


def test_a_frame_without_rows_and_one_of_other_queries(run: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    with pytest.raises(DataError, match="it has no rows"):
        dh.evaluate(BATCH.qrels, run.limit(0), ["RR"])
    with pytest.raises(DataError, match="share no query"):
        dh.evaluate({"other": {"d": 1}}, run, ["RR"])


def test_no_row_of_the_run_comes_to_the_driver(run: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object) -> None:
        pytest.fail(f"{self} was fetched")

    given = dh.Run(run)
    monkeypatch.setattr(type(given.rows), "frame", property(refuse))
    judged = dh.Qrels(BATCH.qrels)
    dh.evaluate(judged, given, MEASURES, ties="doc_id")
    dh.tie_profile(given, judged)
    dh.compare(judged, {"a": given, "b": dh.Run(run)}, measures="AP", n_resamples=99)


def test_zeros_that_the_run_lost_are_found_in_the_cluster(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    rows = frame(spark, [("q1", "12", 2.0), ("q1", "13", 1.0), ("q1", "d", 1.0)], "run")
    with pytest.warns(NothingJudgedWarning, match="'012' of qrels is not retrieved, and '12' is"):
        dh.evaluate({"q1": {"012": 1, "d": 1}}, rows, ["RR"])


@needs_shared_data
def test_real_runs_in_one_job(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    """The queries of all of them, with the run's name in front."""
    qrels, run = [], []
    for name in SOME_RUNS:
        paths = sources_of(name)
        prefixed = pl.concat_str(pl.lit(f"{name} "), "query_id")
        qrels.append(dh.Qrels(paths[0]).to_polars().with_columns(query_id=prefixed))
        run.append(dh.Run(paths[1]).to_polars().with_columns(query_id=prefixed))
    judged, rows = pl.concat(qrels), pl.concat(run)
    found = dh.evaluate(judged, spark.createDataFrame(rows.to_arrow()).repartition(5), MEASURES)
    expected = dh.evaluate(judged, rows, MEASURES)
    assert found.to_polars().equals(expected.to_polars())
    assert found.placements.to_polars().equals(expected.placements.to_polars())
