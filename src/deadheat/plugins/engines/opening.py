"""The engine that a command was asked for, and the files that it reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

import deadheat as dh
from deadheat.core.checks import check_choice
from deadheat.core.cli.errors import refuse, refuse_if
from deadheat.core.cli.input_options import InputOption
from deadheat.core.cli.inputs import documents_asked, named_columns, named_format
from deadheat.core.cli.paths import asked
from deadheat.core.io.guarding import guard_polars
from deadheat.core.structures import copy_with

if TYPE_CHECKING:
    from deadheat.plugins.engines.frames import FrameEngine


def opened_engine() -> FrameEngine:
    """Return the engine of the command, opened once."""
    from deadheat.plugins.engines.frames import open_engine

    context = click.get_current_context()
    if "engine" not in context.meta:
        options = asked()
        context.meta["engine"] = open_engine(options["engine"], options["spark_master"], options["spark_conf"] or None)
        context.call_on_close(context.meta["engine"].close)
    return cast("FrameEngine", context.meta["engine"])


def qrels_beside_runs(qrels: dh.Qrels) -> dh.Qrels:
    """Return qrels with their rows where the engine has those of runs, if it wants them there."""
    frame = opened_engine().beside(qrels.to_polars())
    if frame is None:
        return qrels
    from deadheat.core.data.unread_rows import (
        LazyRows,  # it needs NumPy, and commands ask this file before they load it
    )

    return copy_with(qrels, rows=LazyRows(frame, qrels.where), bare=qrels.bare)


def rows_of(path: str) -> object:
    """Return the frame of the engine that has the rows of a file."""
    with guard_polars(path):
        return opened_engine().frame(path)


def run_of(path: str, name: str, form: str | None) -> dh.Run:
    """Return the run whose rows the engine has."""
    return dh.Run(
        rows_of(path),
        name=name,
        format=form,
        columns=named_columns("run"),
        ascending=bool(asked().get("ascending")),
        **documents_asked(),
    )


def check_engine() -> None:
    """Refuse an engine that does not exist, and options that it does not go with."""
    name = asked().get("engine")
    if name != "spark":
        refuse(("spark_master", "spark_conf"), "is for --engine spark")
    if name is not None:
        from deadheat.plugins.engines.frames import ENGINES

        check_choice("engine", name, ENGINES)
        refuse_if(
            named_format("run"),
            f"--engine {name} reads runs by their names: give --input-format qrels=FORMAT, or leave out one of the two",
        )
        refuse(("then_by",), f"takes runs into memory: leave out --engine {name}")


def has_files(path: str) -> bool:
    """Tell whether a path is one that an engine alone reads: of a store, a folder or a pattern of Parquet files."""
    from deadheat.plugins.engines.frames import is_remote, parquet_files

    return not Path(path).is_file() and (is_remote(path) or bool(parquet_files(path)))


def _qrels_as_without(_: str) -> None:
    """Leave it to the command to read qrels: they are small."""


INPUT = InputOption("engine", _qrels_as_without, run_of, rows_of, has_files, check_engine, qrels_beside_runs)
