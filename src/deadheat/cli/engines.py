"""--engine: which library reads runs and counts, and where."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from deadheat.data.tables import Qrels
    from deadheat.io.engines import FrameEngine

ENGINE, MASTER, CONF, OPENED = (f"deadheat.{name}" for name in ("engine", "spark_master", "spark_conf", "opened"))


def _keep(ctx: click.Context, option: click.Parameter, value: object) -> None:
    ctx.meta[f"deadheat.{option.name}"] = value


def _parsed_conf(ctx: click.Context, _: click.Parameter, given: tuple[str, ...]) -> None:
    parts = [one.partition("=") for one in given]
    if not all(name and equals for name, equals, _ in parts):
        raise click.BadParameter("write a setting as in spark.executor.memory=4g")
    ctx.meta[CONF] = {name: value for name, _, value in parts}


_OPTIONS = (
    click.option(
        "--engine",
        metavar="polars|duckdb|spark",
        callback=_keep,
        expose_value=False,
        help="Let this engine read runs and count: Parquet files, folders of them, and patterns such as"
        " 'runs/*.parquet' (in quotes).",
    ),
    click.option(
        "--spark-master",
        metavar="URL",
        callback=_keep,
        expose_value=False,
        help="The cluster of --engine spark: spark://HOST:PORT, or sc://HOST:PORT of Spark Connect; by default all"
        " cores of this machine.",
    ),
    click.option(
        "--spark-conf",
        multiple=True,
        metavar="K=V",
        callback=_parsed_conf,
        expose_value=False,
        help="A setting of --engine spark, such as spark.driver.memory=4g; may be repeated.",
    ),
)


def engine_options(command: Any) -> Any:  # noqa: ANN401 - click's
    """Add --engine, --spark-master and --spark-conf to a command that opens runs by `cli.files`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def has_engine() -> bool:
    """Tell whether the command has --engine; check what was given."""
    context = click.get_current_context(silent=True)
    if context is None:
        return False
    name, given = context.meta.get(ENGINE), [one for one in (MASTER, CONF) if context.meta.get(one)]
    if given and name != "spark":
        option = f"--{given[0].removeprefix('deadheat.').replace('_', '-')}"
        raise click.UsageError(f"{option} is for --engine spark")
    if name is None:
        return False
    from deadheat.arguments import check_choice
    from deadheat.io.engines import ENGINES

    check_choice("engine", name, ENGINES)
    for kept, option in (("then_by", "--then-by"), ("score_columns", "--score-columns")):
        if context.meta.get(f"deadheat.{kept}") or context.params.get(kept):
            raise click.UsageError(f"{option} takes runs into memory: leave out --engine {name}")
    return True


def opened_engine() -> FrameEngine:
    """Return the engine of the command, opened once."""
    from deadheat.io.engines import open_engine

    context = click.get_current_context()
    if OPENED not in context.meta:
        meta = context.meta
        meta[OPENED] = open_engine(meta[ENGINE], meta.get(MASTER), meta.get(CONF))
        context.call_on_close(meta[OPENED].close)
    opened: FrameEngine = context.meta[OPENED]
    return opened


def beside_runs(qrels: Qrels) -> Qrels:
    """Return the qrels where the engine of the command can join them with runs."""
    from deadheat.data.rows import LazyRows

    frame = opened_engine().beside(qrels.to_polars())
    if frame is None:
        return qrels
    found = copy(qrels)
    found.rows, found.bare = LazyRows(frame), qrels.bare
    return found
