"""--engine: Parquet files, folders and patterns, read and counted by the engine, with the numbers of plain files."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import narwhals as nw
import polars as pl
import pytest

from deadheat.core.io.lazy import collect
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


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ties", ["expected", "doc_id"])
def test_a_folder_and_a_pattern_are_one_run(data: Path, engine: str, ties: str) -> None:
    options = (*MEASURES, "--ties", ties, "--per-query", "--format", "csv")
    expected = ok("evaluate", data / "qrels.jsonl", data / "one.parquet", *options)
    for path in (data / "one.parquet", data / "parts", data / "parts" / "**" / "*.parquet"):
        found = ok("evaluate", data / "qrels.jsonl", path, *options, "--engine", engine)
        assert found.replace("parts", "one") == expected


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_compare_and_ties(data: Path, engine: str) -> None:
    both = ("compare", data / "qrels.jsonl", data / "one.parquet", data / "parts", *MEASURES, "--format", "csv")
    assert ok(*both, "--engine", engine).count("parts") == 4  # measures
    profile = ("ties", data / "one.parquet", data / "qrels.jsonl", "--format", "json")
    assert json.loads(ok(*profile, "--engine", engine)) == json.loads(ok(*profile))


def _two(folder: Path, second: pl.DataFrame, first: pl.DataFrame) -> Path:
    """Write a run as two files of a folder: the first half of one frame, and the second half of another."""
    target = folder / "two [1]"
    target.mkdir(exist_ok=True)
    half = len(first) // 2
    first[:half].write_parquet(target / "a.parquet")
    second[half:].write_parquet(target / "b.parquet")
    return target


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_files_of_a_folder_that_differ(data: Path, engine: str) -> None:
    """In their columns, whose order does not matter; and left-overs of Spark are no data."""
    run = pl.read_parquet(data / "one.parquet")
    expected = ok("evaluate", data / "qrels.jsonl", data / "one.parquet", *MEASURES, "--format", "csv")
    folder = _two(data, run.select("score", "doc_id", "query_id", tag=pl.lit("x")), run)
    (folder / "_temporary").mkdir(exist_ok=True)
    run.write_parquet(folder / "_temporary" / "a.parquet")
    (folder / "._a.parquet").write_text("of another system")
    for path in (folder, data / "two*", data / "two ?1?"):
        found = ok("evaluate", data / "qrels.jsonl", path, *MEASURES, "--format", "csv", "--engine", engine)
        assert [row.partition(",")[2] for row in found.splitlines()] == [
            row.partition(",")[2] for row in expected.splitlines()
        ]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_file_rounds_the_scores_of_another(tmp_path: Path, engine: str) -> None:
    """If the first file has float32, the scores of the second stay apart, or the run is refused."""
    n = 40
    run = pl.DataFrame(
        {
            "query_id": [f"q{row % 2}" for row in range(n)],
            "doc_id": [f"d{row}" for row in range(n)],
            "score": [0.5 + row * 1e-12 for row in range(n)],  # one number as float32
        }
    ).sort("query_id")
    (tmp_path / "qrels.txt").write_text("q0 0 d2 1\nq1 0 d3 1\n")
    short = run.with_columns(pl.col("score").cast(pl.Float32))
    command = ("evaluate", tmp_path / "qrels.txt", _two(tmp_path, run, short), "-m", "RR", "--per-query")
    result = call(*command, "--format", "csv", "--engine", engine)
    if engine == "polars":
        assert result.exit_code == 3
        assert result.stderr.endswith("column score: incoming: Float64 != target: Float32\n")
    else:
        spread = {row["query_id"]: float(row["tie_std"]) for row in csv.DictReader(result.stdout.splitlines())}
        assert spread["q0"] > 0  # all in the first file
        assert spread["q1"] == 0
    _two(tmp_path, short, run)
    assert ok(*command, "--format", "csv", "--engine", engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_damaged_file_is_bad_data(data: Path, engine: str) -> None:
    (data / "damaged.parquet").write_bytes((data / "one.parquet").read_bytes()[:200])
    result = call("evaluate", data / "qrels.jsonl", data / "damaged.parquet", "--engine", engine)
    assert result.exit_code == 3
    assert "damaged" in result.stderr
    assert "bug" not in result.stderr


def test_the_name_of_a_pattern_of_one_letter(data: Path) -> None:
    found = ok("evaluate", data / "qrels.jsonl", data / "parts" / "?.parquet", *MEASURES, "--engine", "polars")
    assert "of parts by up to" in found


PATTERNS = ("a[1].parquet", "*.parquet", "a?.parquet", "a{1,2}.parquet", "~a.parquet", "a\\b.parquet", "f[1]/a.parquet")


def names_that_are_patterns(folder: Path) -> tuple[Path, list[Path]]:
    """Write judgments, runs in which the judged document is first, and others that their names match as patterns."""
    rows = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]})
    (folder / "qrels.txt").write_text("q 0 b 1\n")
    for name in (*PATTERNS, "f1/a.parquet"):
        (folder / name).parent.mkdir(exist_ok=True)
        rows.with_columns(score=-pl.col("score")).write_parquet(folder / name)
    for name in ("a1.parquet", "a2.parquet", "f1/a.parquet"):
        rows.write_parquet(folder / name)
    return folder / "qrels.txt", [folder / name for name in (*PATTERNS, "f[1]")]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_is_no_pattern(tmp_path: Path, engine: str) -> None:
    """DuckDB read a1.parquet where a[1].parquet was named, and several files at once as a run."""
    qrels, runs = names_that_are_patterns(tmp_path)
    for run in runs:
        found = ok("evaluate", qrels, run, "-m", "RR", "--engine", engine, "--format", "csv")
        (row,) = csv.DictReader(found.splitlines())
        assert (row["run"], row["value"]) == (run.name.removesuffix(".parquet"), "1.0")


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("pyspark"), reason="PySpark is not installed (make spark)")
@pytest.mark.skipif(shutil.which("java") is None, reason="PySpark needs Java 17")
def test_a_name_is_no_pattern_of_hadoop(tmp_path: Path) -> None:
    _, runs = names_that_are_patterns(tmp_path)
    code = (
        "import sys; from deadheat.plugins.engines.frames import open_engine\n"
        f"engine = open_engine('spark', 'local[1]', {SMALL})\n"
        "for run in sys.argv[1:]: print([(row.doc_id, row.score) for row in engine.frame(run).collect()])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, runs)],
        env={**os.environ, **environment()},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.stdout.splitlines() == ["[('a', -2.0), ('b', -1.0)]"] * len(runs), done.stderr[-3000:]


@pytest.mark.parametrize(("engine", "expected"), [("polars", 0), ("duckdb", 3)])
def test_columns_that_differ_only_in_case(tmp_path: Path, engine: str, expected: int) -> None:
    """DuckDB renames the second, and the scores were not there."""
    if engine == "duckdb":
        pytest.importorskip("duckdb")
    path = tmp_path / "run.parquet"
    pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "Score": [1, 2], "score": [0.5, 0.2]}).write_parquet(
        path
    )
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    result = call("evaluate", tmp_path / "qrels", path, "-m", "RR", "--engine", engine, "--format", "csv")
    assert result.exit_code == expected
    if expected:
        assert "run without a column 'score': found 'query_id', 'doc_id', 'Score', 'score_1'" in result.stderr
    else:
        assert float(next(csv.DictReader(result.stdout.splitlines()))["value"]) == 1


def test_ctrl_c_in_duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB notices it, and raises a RuntimeError."""
    duckdb = pytest.importorskip("duckdb")
    frame = nw.from_native(duckdb.sql("select 1 as a"))

    def interrupted(*_: object, **__: object) -> None:
        message = "Query interrupted"
        raise RuntimeError(message)

    monkeypatch.setattr(type(frame), "collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collect(frame)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("qrels.jsonl", "one.parquet", "--engine", "dask"),
            "--engine must be one of 'polars', 'duckdb', 'spark'",
        ),
        (("qrels.jsonl", "none/*.parquet", "--engine", "polars"), "no such file"),
        (("qrels.jsonl", "text.run", "--engine", "polars"), "is not a Parquet file"),
        (("qrels.jsonl", "one.parquet", "--spark-conf", "a=b"), "--spark-conf is for --engine spark"),
        (("qrels.jsonl", "one.parquet", "--engine", "spark", "--spark-conf", "a"), "write a setting as in"),
        (("qrels.jsonl", "one.parquet", "--engine", "polars", "--then-by", "one.parquet"), "--then-by takes runs into"),
        (("qrels.jsonl", "one.parquet", "--engine", "polars", "--score-columns", "all"), "--engine is not for columns"),
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


@pytest.mark.slow
def test_what_a_judge_wrote_beside_runs_of_an_engine(data: Path, tmp_path: Path) -> None:
    """Judgments are read as --grades says and plain runs by the engine; a table of answers is no run of scores."""
    qrels = pl.DataFrame(rows_of(BATCH.qrels), schema=NAMES["qrels"], orient="row")
    answers = qrels.with_columns(answer=pl.format("Score: {}", "relevance")).drop("relevance")
    answers.write_csv(tmp_path / "answers.csv")
    given = (tmp_path / "answers.csv", data / "one.parquet", *MEASURES, "--grades", "error", "--format", "csv")
    assert ok("evaluate", *given, "--engine", "polars") == ok("evaluate", *given)

    answers.write_parquet(tmp_path / "answers.parquet")
    graded = (data / "qrels.jsonl", tmp_path / "answers.parquet", *MEASURES, "--grades", "error", "--format", "csv")
    assert ok("evaluate", *graded, "--engine", "polars") == ok("evaluate", *graded)


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
    assert (
        "the engine spark needs the package pyspark, which is not installed: pip install 'deadheat[spark]'"
        in " ".join(result.stderr.split())
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
