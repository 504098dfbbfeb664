"""PySpark frames give the numbers of files; `make spark` installs PySpark, which needs Java."""

from __future__ import annotations

import shutil
import warnings
from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from support.equal_numbers import BATCH, MEASURES, NAMES, assert_equal_to_dicts, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.equal_numbers import Rows


pytest.importorskip("pyspark", reason="PySpark is not installed (make spark)")
if shutil.which("java") is None:
    pytest.skip("PySpark needs Java", allow_module_level=True)

# PySpark warns of pandas that it does not know yet, and leaves sockets to the garbage collector
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("default")
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")  # else it asks a name server for this machine
        from pyspark.sql import SparkSession

        options: dict[str, Any] = {
            "spark.driver.host": "127.0.0.1",
            # a few rows: compiled code for each query, and waiting for statistics, take ten times as long as they do
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        session = SparkSession.builder.master("local[1]").config(map=options).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


def frame(spark: Any, rows: Rows, kind: str) -> object:  # noqa: ANN401 - PySpark may not be there
    return spark.createDataFrame(rows, NAMES[kind])


@pytest.fixture(scope="module")
def qrels(spark: Any) -> object:  # noqa: ANN401 - PySpark may not be there
    return frame(spark, rows_of(BATCH.qrels), "qrels")


@pytest.fixture(scope="module")
def run(spark: Any) -> object:  # noqa: ANN401 - PySpark may not be there
    return frame(spark, rows_of(BATCH.run), "run")


@pytest.mark.parametrize("ties", ["expected", "doc_id"])
def test_frames_of_spark_give_the_same_numbers(qrels: object, run: object, ties: str) -> None:
    assert_equal_to_dicts(qrels, run, ties)


def test_a_frame_of_spark_beside_a_file(run: object, tmp_path: Path) -> None:
    path = tmp_path / "qrels.jsonl"
    dh.Qrels(BATCH.qrels).to_polars().write_ndjson(path)
    assert_equal_to_dicts(path, run, "expected")


@pytest.mark.parametrize("plan", ["count", "window"])
def test_both_plans_count_the_same(qrels: object, run: object, plan: str) -> None:
    found, expected = dh.place(qrels, run, plan=plan), dh.place(BATCH.qrels, BATCH.run)
    assert found.to_polars().rows() == expected.to_polars().rows()


@pytest.mark.parametrize("score_precision", [None, 3])
def test_rows_of_spark_have_no_order(run: object, score_precision: int | None) -> None:
    with pytest.raises(dh.DeadheatError, match="needs rows that have an order, and those of run do not"):
        dh.evaluate(BATCH.qrels, run, MEASURES, ties="input", score_precision=score_precision)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("q1", "e", float("nan")), r"score of document 'e' for query 'q1' is missing \(null or NaN\)|is NaN"),
        (("q1", None, 1.0), "1 of 3 rows lack a query_id or doc_id"),
        (("q1", "d", 0.5), "document 'd' is retrieved 2 times for query 'q1'"),
    ],
)
def test_bad_rows_are_named(spark: Any, wrong: Any, message: str) -> None:  # noqa: ANN401 - PySpark may not be there
    rows = [("q1", "d", 2.0), ("q2", "d", 1.0), wrong]
    with pytest.raises(dh.DeadheatError, match=message):
        dh.evaluate({"q1": {"d": 1}}, frame(spark, rows, "run"), ["RR"])
