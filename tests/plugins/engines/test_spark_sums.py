"""evaluate_spark: the same means as evaluate, with only sums in this process; what goes wrong is said as there."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    NothingJudgedWarning,
    ParameterError,
    UnlabelledQueriesWarning,
)
from support.equal_numbers import BATCH, MEASURES, NAMES, rows_of
from support.error_parts import raises_parts
from support.spark_cluster import session, skip_without_spark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.equal_numbers import Rows

skip_without_spark()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:PySpark does not yet fully support pandas:FutureWarning", "default::ResourceWarning"
    ),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]
LABELS = {query: f"g{place % 3}" for place, query in enumerate(BATCH.qrels)}


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with session("local[2]") as found:
            yield found


def frame(spark: Any, rows: Rows, kind: str) -> Any:  # noqa: ANN401 - PySpark may not be there
    return spark.createDataFrame(rows, NAMES[kind])


@pytest.fixture(scope="module")
def run(spark: Any) -> Any:  # noqa: ANN401 - PySpark may not be there
    return frame(spark, rows_of(BATCH.run), "run")


@pytest.mark.parametrize("is_in_spark", [True, False], ids=["spark", "here"])
def test_the_means_by_group_are_those_of_evaluate(spark: Any, run: object, *, is_in_spark: bool) -> None:  # noqa: ANN401 - PySpark may not be there
    qrels: Any = BATCH.qrels
    queries: Any = LABELS
    if is_in_spark:
        qrels = frame(spark, rows_of(BATCH.qrels), "qrels")
        queries = spark.createDataFrame([*LABELS.items()], ["query_id", "group"])
    found = dh.evaluate_spark(qrels, run, MEASURES, by="group", queries=queries, missing="empty")
    strata = dh.evaluate(BATCH.qrels, BATCH.run, MEASURES, missing="empty").by("group", LABELS)
    expected = strata.summary("skewed-t").drop("is_small")
    assert found.columns == ["group", "measure", "n_queries", "n_missing", *expected.columns[3:]]
    for name, dtype in expected.schema.items():
        if dtype == pl.Float64:
            np.testing.assert_allclose(found[name].to_numpy(), expected[name].to_numpy(), rtol=1e-9, atol=1e-12)
        else:
            assert found[name].to_list() == expected[name].to_list(), name


def test_without_groups_there_is_a_row_for_each_measure(run: object) -> None:
    found = dh.evaluate_spark(BATCH.qrels, run, MEASURES, missing="empty")
    expected = dh.evaluate(BATCH.qrels, BATCH.run, MEASURES, missing="empty")
    assert dict(zip(found["measure"], found["mean"], strict=True)) == pytest.approx(expected.means(), rel=1e-12)
    assert found["n_missing"].unique().to_list() == [len(expected.missing_queries)]


def test_labels_of_two_columns_and_a_query_without_one(spark: Any, run: object) -> None:  # noqa: ANN401 - PySpark may not be there
    table = {query: {"group": label, "size": str(len(query))} for query, label in LABELS.items()}
    first = next(iter(table))
    del table[first]["size"]
    rows = [(query, cells["group"], cells.get("size")) for query, cells in table.items()]
    queries = spark.createDataFrame(rows, ["qid", "group", "size"])
    with pytest.warns(UnlabelledQueriesWarning, match="1 of .* have no label in a column"):
        found = dh.evaluate_spark(BATCH.qrels, run, "AP", by=["size", "group"], queries=queries, missing="empty")
    with pytest.warns(DeadheatWarning, match="have no size"):
        expected = dh.evaluate(BATCH.qrels, BATCH.run, "AP", missing="empty").by(["size", "group"], table).summary()
    assert found.select("size", "group", "n_queries").rows() == expected.select("size", "group", "n_queries").rows()
    np.testing.assert_allclose(found["mean"].to_numpy(), expected["mean"].to_numpy(), rtol=1e-12)


def test_skipped_queries_do_not_count(run: object) -> None:
    found = dh.evaluate_spark(BATCH.qrels, run, "AP", missing="skip")
    expected = dh.evaluate(BATCH.qrels, BATCH.run, "AP", missing="skip")["AP"]
    assert found["mean"][0] == pytest.approx(expected.mean, rel=1e-12)
    assert found["n_queries"][0] == expected.n_queries


def test_the_highest_relevance_of_all_partitions_counts(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    """ERR divides by it; most partitions have queries of a lower one."""
    qrels = {f"q{place}": {"a": 1, "b": 0} for place in range(9)} | {"q9": {"a": 4}}
    run = {query: {"a": 1.0, "b": 1.0} for query in qrels}
    found = dh.evaluate_spark(qrels, frame(spark, rows_of(run), "run"), ["ERR", "nERR"])
    expected = dh.evaluate(qrels, run, ["ERR", "nERR"])
    assert found["mean"].to_list() == pytest.approx([*expected.means().values()], rel=1e-12)


def test_wrong_rows_of_either_are_named(spark: Any, run: object) -> None:  # noqa: ANN401 - PySpark may not be there
    wrong_rows = [("q1", "d1", float("nan")), ("q2", "d1", 1.0)]
    with pytest.raises(DataError, match=r"score of document 'd1' for query 'q1' is NaN"):
        dh.evaluate_spark(BATCH.qrels, frame(spark, wrong_rows, "run"), "AP")
    with pytest.raises(DataError, match=r"relevance of document 'd1' for query 'q1' is NaN"):
        dh.evaluate_spark(frame(spark, wrong_rows, "qrels"), run, "AP")


def test_documents_that_come_twice(spark: Any, run: object) -> None:  # noqa: ANN401 - PySpark may not be there
    twice = frame(spark, [("q1", "d1", 0.5), ("q1", "d1", 0.25)], "run")
    with pytest.raises(DuplicateError, match="'d1'"):
        dh.evaluate_spark({"q1": {"d1": 1}}, twice, "RR")
    with pytest.warns(DeadheatWarning, match="1 of 2 results"):
        best = dh.evaluate_spark({"q1": {"d1": 1}}, twice, "RR", duplicates="best")
    assert best["mean"].to_list() == [1.0]
    unjudged = frame(spark, [("q1", "d2", 0.5), ("q1", "d2", 0.25), ("q1", "d1", 0.1)], "run")
    assert dh.evaluate_spark({"q1": {"d1": 1}}, unjudged, "RR", duplicates="trust")["mean"].to_list() == [1 / 3]
    contradiction = frame(spark, [("q1", "d1", 0.0), ("q1", "d1", 1.0)], "qrels")
    with pytest.raises(DuplicateError, match="judged 2 times for query 'q1', with relevance 0 and 1"):
        dh.evaluate_spark(contradiction, run, "AP")


def test_queries_that_do_not_fit(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    run = frame(spark, [("q1", "d1", 1.0)], "run")
    with pytest.raises(DataError, match=r"qrels and run share no query: qrels has 'other'; .* has 'q1'"):
        dh.evaluate_spark({"other": {"d": 1}}, run, "AP")
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
    with pytest.warns(DeadheatWarning, match="lacks 2 of 3 queries of the qrels"):
        dh.evaluate_spark(qrels, run, "AP")
    with pytest.raises(DataError, match="lacks 2 of 3 queries of the qrels"):
        dh.evaluate_spark(qrels, run, "AP", missing="error")
    with pytest.warns(DeadheatWarning, match="the highest relevance is 0.5, and AP counts"):
        dh.evaluate_spark({"q1": {"d1": 0.5}}, run, "AP")
    with pytest.raises(DataError, match="queries has none of the evaluated queries, such as 'q1'"):
        dh.evaluate_spark({"q1": {"d1": 1}}, run, "AP", by="group", queries={"q7": "a"})
    with pytest.warns(NothingJudgedWarning, match="are the document ids written alike"):
        dh.evaluate_spark({"q1": {"other": 1}}, run, "AP")


def test_what_is_not_for_sums(spark: Any, run: object) -> None:  # noqa: ANN401 - PySpark may not be there
    with raises_parts(ParameterError, argument="run", allowed="a frame of Spark"):
        dh.evaluate_spark(BATCH.qrels, BATCH.run, "AP")
    with pytest.raises(ParameterError, match="GMAP is no mean over queries"):
        dh.evaluate_spark(BATCH.qrels, run, "GMAP")
    with raises_parts(ParameterError, argument="ties", given="random"):
        dh.evaluate_spark(BATCH.qrels, run, "AP", ties="random")
    with raises_parts(ParameterError, argument="by", given="group"):
        dh.evaluate_spark(BATCH.qrels, run, "AP", by="group")
    with pytest.raises(DataError, match="judgments of documents alone"):
        dh.evaluate_spark({"q1": {"d1": 1}, "q2": {}}, run, "AP")
    with pytest.raises(ColumnError, match="'mean' has the same name as a column of the result"):
        dh.evaluate_spark(BATCH.qrels, run, "AP", by="mean", queries={"q1": "a"})
    queries = spark.createDataFrame([("q1", "a")], ["query_id", "group"])
    with pytest.raises(ColumnError, match=r"no column 'grop' .*'group'"):
        dh.evaluate_spark(BATCH.qrels, run, "AP", by="grop", queries=queries)


def test_ties_are_broken_by_document_id(run: object) -> None:
    found = dh.evaluate_spark(dh.Qrels(BATCH.qrels), dh.Run(run), MEASURES, ties="doc_id", missing="empty")
    expected = dh.evaluate(BATCH.qrels, BATCH.run, MEASURES, ties="doc_id", missing="empty")
    assert found["mean"].to_list() == pytest.approx([*expected.means().values()], rel=1e-12)
    assert found["tie_std"].to_list() == pytest.approx([scores.mean_tie_std for scores in expected], rel=1e-9)
