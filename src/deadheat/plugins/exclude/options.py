"""The option --exclude: documents that commands leave out of runs and judgments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from deadheat.core.cli.help import option
from deadheat.core.cli.input_options import InputOption
from deadheat.core.cli.paths import NamedFile, asked, outputs_of_command

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run
    from deadheat.plugins.exclude.exclusion import Exclusion


def _parsed(_: click.Context, __: click.Parameter, given: str | None) -> Exclusion | None:
    """Return what was typed as an exclusion, whose file is read when its pairs are asked for."""
    if given is None:
        return None
    outputs_of_command().name_inputs([given])
    from deadheat.plugins.exclude.exclusion import Exclusion  # help needs no Polars

    return Exclusion(given)


OPTIONS: dict[str, Callable[[Any], Any]] = {
    "exclude": option(
        "--exclude",
        type=NamedFile(is_input=True),
        callback=_parsed,
        metavar="self|FILE",
        help="Leave documents out before anything is counted. self: of each run those with the id of their query, as"
        " BEIR does. FILE: pairs of query_id and doc_id (a table, qrels, BRIGHT's excluded_ids), of runs and QRELS.",
        heading="input",
    ),
}


def _read_as_without(*_: object) -> None:
    """Return None: files are read as without the option."""


def _change_qrels(qrels: Qrels) -> Qrels:
    exclusion: Exclusion = asked()["exclude"]
    return exclusion.of_qrels(qrels)


def _change_run(run: Run) -> Run:
    exclusion: Exclusion = asked()["exclude"]
    return exclusion.of_run(run)


INPUT = InputOption("exclude", _read_as_without, _read_as_without, change_qrels=_change_qrels, change_run=_change_run)
