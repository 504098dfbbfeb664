"""Spark on two cores of this machine: placements, and means by group with their intervals, also by sums alone."""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    import deadheat as dh
    from bench.lines import Row, Setting

MEASURE = "nDCG@10"
N_GROUPS = 24
Taken = dict[str, dict[str, list[float]]]


def spark(setting: Setting) -> Iterator[Row]:
    """Spark beside Polars; needs `make spark` and Java. With --large the run of ten times the rows, too."""
    from bench.data import DEPTH
    from bench.lines import GB, Row
    from bench.process import run, task

    sizes = [("sparse.qrels", "run.parquet", setting.data.size.run, 8)]
    if setting.has_large:
        sizes.append(("large.qrels", "large.parquet", setting.data.size.large, 64))
    for qrels, path, n_queries, n_partitions in sizes:
        files = setting.path(qrels), setting.path(path)
        taken = run(task("spark_lines", "measure", *files, min(setting.repeats, 3), n_partitions)).output
        label = f"Spark, local[2], {n_queries * DEPTH / 1e6:.3g} million rows of Parquet, duplicate check"
        lines = {
            "placements": f"{label}: placements, warm",
            "by": f"{label}: {MEASURE} by {N_GROUPS} groups with an interval each, warm",
            "sums": f"{label}: the same means with skewed-t intervals by evaluate_spark, only sums come here, warm",
        }
        for work, line in lines.items():
            seconds = {name: statistics.median(walls) for name, walls in taken["wall"][work].items()}
            cpu = {name: statistics.median(values) for name, values in taken["cpu"][work].items()}
            details = [f"{name} {seconds[name]:.1f} s (CPU {cpu[name]:.1f} s)" for name in seconds]
            details.append("equal results" if work != "sums" else "means equal to 12 digits")
            detail = ", ".join(details[:-1]) + "; " + details[-1]
            memory = f"this process, the JVM and its workers {taken['peak'] / GB:.2f} GB"
            yield Row(line, "-", f"{seconds['Spark']:.1f} s", None, detail, memory)


def measure(qrels_path: str, run_path: str, repeats: str, n_partitions: str) -> dict[str, Any]:
    """Time Spark beside Polars, in turn, after a call of each whose results are compared.

    Returns
    -------
    dict
        "wall" and "cpu": the seconds of each call, by what was done and by who did it. "peak": bytes.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else it asks a name server for this machine
    import polars as pl
    from pyspark.sql import SparkSession

    import deadheat as dh
    from bench.process import usage_of_tree

    conf: dict[str, Any] = {
        "spark.driver.memory": "3g",
        "spark.sql.shuffle.partitions": n_partitions,
        "spark.ui.enabled": "false",
    }
    session = SparkSession.builder.master("local[2]").config(map=conf).getOrCreate()
    qrels = dh.read_qrels(qrels_path)
    query_ids = qrels.to_polars()["query_id"].unique().sort()
    groups = (pl.int_range(len(query_ids), eager=True) % N_GROUPS).cast(pl.String)
    table = pl.DataFrame({"query_id": query_ids, "group": groups})
    qrels_in_spark = session.createDataFrame(qrels.to_polars().to_arrow())
    table_in_spark = session.createDataFrame(table.to_arrow())
    runs: dict[str, Callable[[], Any]] = {"Spark": lambda: session.read.parquet(run_path), "Polars": lambda: run_path}
    works: dict[str, Callable[[Any], Any]] = {
        "placements": lambda run: dh.place(qrels, run),
        "by": lambda run: intervals_by_group(dh.evaluate(qrels, run, MEASURE), table),
        "sums": lambda run: dh.evaluate_spark(qrels_in_spark, run, MEASURE, by="group", queries=table_in_spark),
    }
    compare_placements(*(works["placements"](make()) for make in runs.values()))  # the first call starts workers
    by_spark, by_polars = (works["by"](make()) for make in runs.values())
    assert by_spark == by_polars
    check_sums(works["sums"](runs["Spark"]()), by_polars)
    wall: Taken = {work: {} for work in works}
    cpu: Taken = {work: {} for work in works}
    for work, call in works.items():
        for _ in range(int(repeats)):
            for name, make in runs.items():
                if work == "sums" and name == "Polars":
                    continue
                begin, before = time.perf_counter(), usage_of_tree()
                call(make())
                wall[work].setdefault(name, []).append(time.perf_counter() - begin)
                cpu[work].setdefault(name, []).append(usage_of_tree().cpu - before.cpu)
    peak = usage_of_tree().peak
    session.stop()
    return {"wall": wall, "cpu": cpu, "peak": peak}


def intervals_by_group(evaluation: dh.Evaluation, table: pl.DataFrame) -> dict[str, tuple[float, float, float]]:
    """Return the mean of each group of queries with the ends of its interval."""
    found = {}
    for group, stratum in evaluation.by("group", table).items():
        interval = stratum[MEASURE].interval()
        found[str(group)] = float(stratum[MEASURE].mean), interval.low, interval.high
    return found


def check_sums(table: pl.DataFrame, by_group: dict[str, tuple[float, float, float]]) -> None:
    """Raise if the means of `evaluate_spark` are not those of the groups; their intervals are of another method."""
    assert set(table["group"]) == set(by_group)
    for group, mean in table.select("group", "mean").rows():
        assert math.isclose(mean, by_group[group][0], rel_tol=1e-12), group


def compare_placements(by_spark: dh.Placements, by_polars: dh.Placements) -> None:
    """Raise if two placements are not the same."""
    for name in ("query_ids", "n_retrieved", "query", "doc_ids", "relevance", "above", "tied"):
        assert (getattr(by_spark, name) == getattr(by_polars, name)).all(), name


WORKS: dict[str, Callable[..., dict[str, Any]]] = {"measure": measure}

if __name__ == "__main__":
    print(json.dumps(WORKS[sys.argv[1]](*sys.argv[2:])))
