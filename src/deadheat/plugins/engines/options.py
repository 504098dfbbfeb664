"""The options --engine, --spark-master and --spark-conf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from deadheat.core.cli.help import option


def parsed_conf(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Return settings such as ``spark.executor.memory=4g`` by their names; a value may hold anything."""
    pairs = [one.partition("=") for one in given]
    if not all(name and equals for name, equals, _ in pairs):
        raise click.BadParameter("write a setting as in spark.executor.memory=4g")
    return {name: value for name, _, value in pairs}


OPTIONS: dict[str, Callable[[Any], Any]] = {
    "engine": option(
        "--engine",
        metavar="polars|duckdb|spark",
        help="Let this engine read runs and count: Parquet files, folders of them, and patterns such as"
        " 'runs/*.parquet' (in quotes).",
        heading="input",
    ),
    "spark_master": option(
        "--spark-master",
        metavar="URL",
        help="The cluster of --engine spark: spark://HOST:PORT, or sc://HOST:PORT of Spark Connect; by default all"
        " cores of this machine.",
        heading="input",
    ),
    "spark_conf": option(
        "--spark-conf",
        multiple=True,
        metavar="K=V",
        callback=parsed_conf,
        help="A setting of --engine spark, such as spark.driver.memory=4g; may be repeated.",
        heading="input",
    ),
}
