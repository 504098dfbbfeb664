"""Judgments by subtopic beside a run in any engine: the numbers of dicts."""

from __future__ import annotations

import csv
import io
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io import memory_limits
from deadheat.core.io.formats import parquet
from support.command import ok
from support.cut_in_parts import cut
from support.judged_by_subtopic import NAMES, Scored, drawn, frame_of
from support.spark_cluster import session, skip_without_spark

TIES = ["expected", "best", "worst", "doc_id", "random"]
JUDGED, RUN = drawn(6, 20, n_docs=6, n_scores=2)


def rows_of(run: Scored) -> pl.DataFrame:
    """Return the rows of a run in any order."""
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    random.Random(3).shuffle(rows)
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def assert_equal_to_dicts(qrels: object, run: object, ties: str) -> None:
    rng = 5 if ties == "random" else None
    expected = dh.evaluate(frame_of(JUDGED), RUN, list(NAMES), ties=ties, rng=rng)
    found = dh.evaluate(qrels, run, list(NAMES), ties=ties, rng=rng)
    for name in NAMES:
        for field in ("values", "tie_std", "tie_min", "tie_max"):
            ours, theirs = getattr(found[name], field), getattr(expected[name], field)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=f"{name} {field}")


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
def test_frames_of_polars_and_pandas(ties: str) -> None:
    qrels, run = frame_of(JUDGED), rows_of(RUN)
    assert_equal_to_dicts(qrels.lazy(), run.lazy(), ties)
    assert_equal_to_dicts(qrels.to_pandas(), run.to_pandas(), ties)
    assert_equal_to_dicts(qrels, run.sort("query_id"), ties)
    assert_equal_to_dicts(qrels, cut(run), ties)


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
def test_frames_of_duckdb(ties: str) -> None:
    connection = pytest.importorskip("duckdb").connect()
    connection.register("judged", frame_of(JUDGED).to_arrow())
    connection.register("run", rows_of(RUN).to_arrow())
    assert_equal_to_dicts(connection.sql("FROM judged"), connection.sql("FROM run"), ties)
    assert_equal_to_dicts(frame_of(JUDGED), connection.sql("FROM run"), ties)
    assert_equal_to_dicts(connection.sql("FROM judged"), RUN, ties)


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("is_adjacent", [True, False])
def test_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ties: str, *, is_adjacent: bool) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 10)
    monkeypatch.setattr(parquet, "LARGE_PARQUET", 1)
    rows = rows_of(RUN)
    (rows.sort("query_id") if is_adjacent else rows).write_parquet(tmp_path / "x.parquet", row_group_size=7)
    assert_equal_to_dicts(frame_of(JUDGED), tmp_path / "x.parquet", ties)


def written(folder: Path) -> tuple[Path, Path]:
    """Return a file of judgments, and a folder of a run in two parts."""
    frame_of(JUDGED).write_csv(folder / "qrels.csv")
    (folder / "run").mkdir()
    for part in range(2):
        rows_of(RUN).gather_every(2, part).write_parquet(folder / "run" / f"{part}.parquet")
    rows_of(RUN).write_csv(folder / "run.csv")
    return folder / "qrels.csv", folder / "run"


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_engines_of_the_command(tmp_path: Path, engine: str) -> None:
    pytest.importorskip(engine)
    qrels, run = written(tmp_path)
    measures = " ".join(name.replace(" ", "") for name in NAMES)
    for ties in ("expected", "doc_id"):
        options = ("-m", measures, "--ties", ties, "--per-query", "--format", "csv")
        expected, found = (
            list(csv.reader(io.StringIO(ok("evaluate", qrels, *given, *options))))
            for given in ([tmp_path / "run.csv"], [run, "--engine", engine])
        )
        assert found == expected


@pytest.mark.plugins("diversity")
def test_the_memory_of_the_command(tmp_path: Path) -> None:
    qrels, _ = written(tmp_path)
    rows_of(RUN).sort("query_id").write_parquet(tmp_path / "run.parquet")
    command = ("evaluate", qrels, tmp_path / "run.parquet", "-m", "alpha_nDCG@3 StRecall@2", "--format", "csv")
    assert ok(*command, "--max-memory", "1KB") == ok(*command)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    skip_without_spark()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with session("local[2]") as found:
            yield found


@pytest.mark.slow
@pytest.mark.filterwarnings("default::ResourceWarning", "default::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_frames_of_spark(spark: Any) -> None:  # noqa: ANN401 - PySpark may not be there
    qrels, run = (spark.createDataFrame(one.to_arrow()) for one in (frame_of(JUDGED), rows_of(RUN)))
    for ties in TIES:
        assert_equal_to_dicts(frame_of(JUDGED), run.repartition(5), ties)
    assert_equal_to_dicts(qrels, run, "expected")
    assert_equal_to_dicts(qrels, RUN, "worst")
