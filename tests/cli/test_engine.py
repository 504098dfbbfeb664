"""--engine: Parquet files, folders and patterns, read and counted by the engine, with the numbers of plain files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import polars as pl
import pytest

from oracle.random_cases import BATCHES
from support.command import call, ok
from support.equal_numbers import NAMES, rows_of
from support.spark_cluster import SMALL, environment

if TYPE_CHECKING:
    from pathlib import Path

BATCH = BATCHES["graded"]
ENGINES = ["polars", pytest.param("duckdb", marks=pytest.mark.skipif(not find_spec("duckdb"), reason="no DuckDB"))]
MEASURES = ("-m", "nDCG@3 AP RR P@2")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments as JSON Lines; a run as one file, and as a folder with the rows of each query in several files."""
    folder = tmp_path_factory.mktemp("engine")
    judged = pl.DataFrame(rows_of(BATCH.qrels), schema=NAMES["qrels"], orient="row")
    judged.write_ndjson(folder / "qrels.jsonl")
    (folder / "text.run").write_text("q Q0 d 1 0.5 t\n")
    run = pl.DataFrame(rows_of(BATCH.run), schema=NAMES["run"], orient="row").sample(fraction=1, shuffle=True, seed=1)
    run.write_parquet(folder / "one.parquet")
    (folder / "parts" / "more").mkdir(parents=True)
    for part, where in enumerate(("parts/a", "parts/b", "parts/more/c")):
        run.gather_every(3, part).write_parquet(folder / f"{where}.parquet")
    (folder / "parts" / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", ["expected", "doc_id"])
def test_a_folder_and_a_pattern_are_one_run(data: Path, engine: str, ties: str) -> None:
    options = (*MEASURES, "--ties", ties, "--per-query", "--format", "csv")
    expected = ok("evaluate", data / "qrels.jsonl", data / "one.parquet", *options)
    for path in (data / "one.parquet", data / "parts", data / "parts" / "**" / "*.parquet"):
        found = ok("evaluate", data / "qrels.jsonl", path, *options, "--engine", engine)
        assert found.replace("parts", "one") == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_compare_and_ties(data: Path, engine: str) -> None:
    both = ("compare", data / "qrels.jsonl", data / "one.parquet", data / "parts", *MEASURES, "--format", "csv")
    assert ok(*both, "--engine", engine).count("parts") == 4  # measures
    profile = ("ties", data / "one.parquet", data / "qrels.jsonl", "--format", "json")
    assert json.loads(ok(*profile, "--engine", engine)) == json.loads(ok(*profile))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("qrels.jsonl", "one.parquet", "--engine", "dask"),
            "--engine must be one of 'polars', 'duckdb', 'spark'",
        ),
        (("qrels.jsonl", "none/*.parquet", "--engine", "polars"), "no such file"),
        (("qrels.jsonl", "text.run", "--engine", "polars"), "is no Parquet file"),
        (("qrels.jsonl", "one.parquet", "--spark-conf", "a=b"), "--spark-conf is for --engine spark"),
        (("qrels.jsonl", "one.parquet", "--engine", "spark", "--spark-conf", "a"), "write a setting as in"),
        (("qrels.jsonl", "one.parquet", "--engine", "polars", "--then-by", "one.parquet"), "--then-by takes runs into"),
        (("qrels.jsonl", "one.parquet", "--engine", "polars", "--score-columns", "all"), "--score-columns takes runs"),
        (("qrels.jsonl", "one.parquet", "--engine", "duckdb", "--ties", "input"), "needs rows that have an order"),
    ],
)
def test_what_an_engine_cannot_do(
    data: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    result = call("evaluate", *arguments)
    assert result.exit_code in {2, 3}
    assert message in " ".join(result.stderr.split())


@pytest.mark.skipif(not find_spec("pyspark"), reason="PySpark is not installed (make spark)")
def test_spark_without_java(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    result = call("evaluate", data / "qrels.jsonl", data / "one.parquet", "--engine", "spark")
    assert "Spark needs Java" in result.stderr
    assert result.exit_code != 0


@pytest.mark.skipif(bool(find_spec("pyspark")), reason="PySpark is installed")
def test_an_engine_that_is_not_installed(data: Path) -> None:
    result = call("evaluate", data / "qrels.jsonl", data / "one.parquet", "--engine", "spark")
    assert 'the engine spark needs the package pyspark: pip install "deadheat[spark]"' in " ".join(
        result.stderr.split()
    )


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("pyspark"), reason="PySpark is not installed (make spark)")
@pytest.mark.skipif(shutil.which("java") is None, reason="PySpark needs Java 17")
def test_spark_by_the_command(data: Path) -> None:
    conf = [part for name, value in SMALL.items() for part in ("--spark-conf", f"{name}={value}")]
    command: list[str | Path] = [
        "evaluate",
        data / "qrels.jsonl",
        data / "parts",
        *MEASURES,
        "--per-query",
        "--format",
        "csv",
    ]
    spark = subprocess.run(
        [sys.executable, "-m", "deadheat", *command, "--engine", "spark", "--spark-master", "local[1]", *conf],
        env={**os.environ, **environment()},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert spark.returncode == 0, spark.stderr[-3000:]
    assert spark.stdout == ok(*command, "--engine", "polars")
