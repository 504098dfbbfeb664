"""A standalone cluster of Spark on this machine, and sessions on it: processes that are stopped by their ids."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deadheat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = "127.0.0.1"
SOURCES = str(Path(deadheat.__file__).parents[1])
SMALL: dict[str, str] = {
    "spark.driver.host": HERE,
    "spark.driver.bindAddress": HERE,
    # few rows: compiled code for each query, and waiting for statistics, take ten times as long as they do
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.executorEnv.PYTHONPATH": SOURCES,
}
PATIENCE = 90  # seconds to wait for a process that starts


def skip_without_spark() -> None:
    """Skip a module of tests where PySpark or Java is not there."""
    pytest.importorskip("pyspark", reason="PySpark is not installed (make spark)")
    if shutil.which("java") is None:
        pytest.skip("PySpark needs Java 17", allow_module_level=True)


def environment() -> dict[str, str]:
    """Return the variables of processes of Spark: it asks no name server, and its workers run this Python."""
    small = {"SPARK_LOCAL_IP": HERE, "SPARK_DAEMON_MEMORY": "512m", "PYSPARK_PYTHON": sys.executable}
    return {**small, "PYTHONPATH": os.pathsep.join([SOURCES, *filter(None, [os.environ.get("PYTHONPATH")])])}


@dataclass(frozen=True)
class Cluster:
    """A running cluster.

    Attributes
    ----------
    url : str
    workers : list of subprocess.Popen
    folder : Path
        Of its logs.
    """

    url: str
    workers: list[subprocess.Popen[bytes]]
    folder: Path

    def kill_worker(self) -> None:
        """Kill the last worker, and what it has started, as a machine that loses its power does."""
        kill(self.workers.pop())


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)  # of its own group: `start` made it
    process.wait()


def start(name: str, arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start a class of Spark as a process, with its log in a file of this name."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            [home / "bin" / "spark-class", *arguments],
            stdout=log,
            stderr=log,
            env={**os.environ, **environment(), "SPARK_HOME": str(home)},
            cwd=folder,
            start_new_session=True,
        )


def wait_for(is_true: Callable[[], bool], what: str) -> None:
    """Wait until something is true."""
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as one:
        one.bind((HERE, 0))
        return int(one.getsockname()[1])


@contextmanager
def cluster(folder: Path, n_workers: int = 2) -> Iterator[Cluster]:
    """Run a master and workers with one core each."""
    port, deploy = free_port(), "org.apache.spark.deploy"
    url = f"spark://{HERE}:{port}"
    at = ["--host", HERE, "--webui-port", "0"]
    processes = [start("master", [f"{deploy}.master.Master", *at, "--port", str(port)], folder)]
    try:
        log = folder / "master.log"
        wait_for(lambda: "New state: ALIVE" in log.read_text(), "the master of Spark does not start")
        for number in range(n_workers):
            own = ["--cores", "1", "--memory", "700m", "--work-dir", str(folder / f"work-{number}")]
            processes.append(start(f"worker-{number}", [f"{deploy}.worker.Worker", *at, *own, url], folder))
        wait_for(lambda: log.read_text().count("Registering worker") == n_workers, "a worker of Spark does not start")
        yield Cluster(url, processes[1:], folder)
    finally:
        for process in processes:
            kill(process)


@contextmanager
def session(master: str, **options: str) -> Iterator[Any]:
    """Open a classic session."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment().items():
            if name != "PYTHONPATH":
                patch.setenv(name, value)
        from pyspark.sql import SparkSession

        found = SparkSession.builder.master(master).config(map={**SMALL, **options}).getOrCreate()
        found.sparkContext.setLogLevel("ERROR")
        try:
            yield found
        finally:
            found.stop()
