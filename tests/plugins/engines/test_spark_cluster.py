"""A standalone cluster with two workers: the same placements when one is lost amid a job, and by way of Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from support.spark_cluster import (
    HERE,
    SMALL,
    Cluster,
    cluster,
    environment,
    free_port,
    kill,
    session,
    skip_without_spark,
    start,
    wait_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

skip_without_spark()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        "ignore:PySpark does not yet fully support pandas:FutureWarning", "default::ResourceWarning"
    ),
    pytest.mark.filterwarnings("default::pytest.PytestUnraisableExceptionWarning"),
]
ONE_CORE_EACH = {
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
}
N_PARTS = 8
MEASURES = ["nDCG@10", "AP", "RR"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments, and a run in eight files over which the rows of every query are spread."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(11)
    n = 6_000
    run = pl.DataFrame(
        {
            "query_id": [f"q{n}" for n in rng.integers(0, 40, n)],
            "doc_id": [f"d{n}" for n in range(n)],
            "score": rng.integers(0, 30, n) / 4,
        }
    )
    judged = run.sample(400, seed=2).select("query_id", "doc_id", relevance=pl.int_range(400) % 3)
    judged.write_parquet(folder / "qrels.parquet")
    (folder / "run.parquet").mkdir()
    for part in range(N_PARTS):
        run.gather_every(N_PARTS, part).write_parquet(folder / "run.parquet" / f"part-{part}.parquet")
    return folder


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with cluster(tmp_path_factory.mktemp("cluster")) as found:
            yield found


def in_memory(data: Path) -> tuple[dh.Qrels, dh.Run]:
    return dh.Qrels(data / "qrels.parquet"), dh.Run(pl.read_parquet(data / "run.parquet/*.parquet"))


IN_CONNECT = """
import json, sys, warnings
warnings.simplefilter("ignore")
from pyspark.sql import SparkSession
import deadheat as dh
from deadheat.plugins.engines import by_query as passes

url, qrels, run, *measures = sys.argv[1:]
spark = SparkSession.builder.remote(url).getOrCreate()
found = {}
for kind, most in (("sent", passes.MOST_SENT), ("shuffled", 0)):
    passes.MOST_SENT = most
    for ties in ("expected", "doc_id"):
        evaluation = dh.evaluate(spark.read.parquet(qrels), spark.read.parquet(run), measures, ties=ties)
        found[f"{kind} {ties}"] = {name: evaluation[name].values.tolist() for name in measures}
sums = dh.evaluate_spark(spark.read.parquet(qrels), spark.read.parquet(run), measures)
found["sums"] = dict(zip(sums["measure"], sums["mean"]))
profile = dh.tie_profile(spark.read.parquet(run))
found["ties"] = [profile.n_ties, profile.n_tied, profile.n_levels, profile.decimals]
try:
    rows = spark.read.parquet(run)
    dh.evaluate({"q1": {"d": 1}}, rows.union(rows.limit(1)), "RR")
except dh.DeadheatError as error:
    found["error"] = str(error)
print(json.dumps(found))
spark.stop()
"""


def test_by_way_of_connect(two_workers: Cluster, data: Path, tmp_path: Path) -> None:
    """A client of Spark Connect needs no Java of its own: here it is another process."""
    port = free_port()
    options = {**SMALL, **ONE_CORE_EACH, "spark.connect.grpc.binding.port": str(port)}
    options["spark.connect.grpc.binding.address"] = HERE
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    confs = [part for name, value in options.items() for part in ("--conf", f"{name}={value}")]
    submit = ["org.apache.spark.deploy.SparkSubmit", "--master", two_workers.url, *confs, "--class", server]
    process = start("connect", [*submit, "spark-internal"], tmp_path)
    try:
        log = tmp_path / "connect.log"
        wait_for(lambda: "Spark Connect server started" in log.read_text(), "Spark Connect does not start")
        client = subprocess.run(
            [
                sys.executable,
                "-c",
                IN_CONNECT,
                f"sc://{HERE}:{port}",
                data / "qrels.parquet",
                data / "run.parquet",
                *MEASURES,
            ],
            env={**os.environ, **environment()},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
    finally:
        kill(process)
    assert client.returncode == 0, client.stderr[-3000:]
    found = json.loads(client.stdout.splitlines()[-1])
    qrels, run = in_memory(data)
    for ties in ("expected", "doc_id"):
        evaluation = dh.evaluate(qrels, run, MEASURES, ties=ties)
        expected = {name: evaluation[name].values.tolist() for name in MEASURES}
        assert found[f"sent {ties}"] == found[f"shuffled {ties}"] == expected
    assert found["sums"] == pytest.approx(dh.evaluate(qrels, run, MEASURES).means(), rel=1e-12)
    profile = dh.tie_profile(run)
    assert found["ties"] == [profile.n_ties, profile.n_tied, profile.n_levels, profile.decimals]
    assert "is retrieved 2 times for query" in found["error"]


def slowly(folder: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return what passes rows on after a while, and leaves a file in a folder when it begins and when it ends."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        import time
        import uuid

        name = uuid.uuid4().hex
        (Path(folder) / f"{name}.begun").touch()
        time.sleep(0.7)
        yield from batches
        (Path(folder) / f"{name}.done").touch()

    return work


def test_a_worker_that_is_lost_amid_a_job(two_workers: Cluster, data: Path, tmp_path: Path) -> None:
    """What it had done is done again by the other, and nothing is counted twice or not at all.

    This test is the last: there is one worker less then.
    """
    marks = tmp_path / "marks"
    marks.mkdir()

    def lose_one() -> None:
        wait_for(lambda: len(list(marks.glob("*.done"))) >= 4, "the job does not start")
        two_workers.kill_worker()

    qrels, run = in_memory(data)
    with session(two_workers.url, **ONE_CORE_EACH) as spark:
        rows = spark.read.parquet(str(data / "run.parquet")).repartition(N_PARTS)
        killer = threading.Thread(target=lose_one)
        killer.start()
        found = dh.evaluate(qrels, rows.mapInArrow(slowly(str(marks)), rows.schema), MEASURES)
        killer.join()
    expected = dh.evaluate(qrels, run, MEASURES)
    assert found.to_polars().equals(expected.to_polars())
    assert found.placements.to_polars().equals(expected.placements.to_polars())
    assert len(two_workers.workers) == 1
    assert len(list(marks.glob("*.begun"))) > N_PARTS  # some of it was done again
