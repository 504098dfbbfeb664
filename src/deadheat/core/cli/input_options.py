"""Options under which a command reads its files in another way: by an engine, or what a judge wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core import hooks
from deadheat.core.cli.paths import asked

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run


def _refuse_nothing() -> None:
    pass


def _has_no_files(_: str) -> bool:
    return False


def _unchanged(qrels: Qrels) -> Qrels:
    return qrels


def _unchanged_run(run: Run) -> Run:
    return run


class InputOption(NamedTuple):
    """An option under which a command reads its qrels and runs in another way than from files of rows.

    It is the ``INPUT`` of a module of the kind "inputs".

    Attributes
    ----------
    name : str
        Its parameter, such as ``engine``.
    qrels_of : callable
        Returns the qrels of a path, or None if they are read as without the option.
    run_of : callable
        Returns the run of a path, its name and its format, or None if it is read as without the option.
    rows_of : callable or None
        Returns an object with the rows of a path, which is read in its place, whatever columns it has.
    has_files : callable
        Tells whether a path, which need not be a file, is one that is read under this option alone.
    check : callable
        Refuses what does not go with it, or needs it; called whether the option was given or not.
    beside_runs : callable
        Takes qrels that were read, and returns them with their rows where those of the runs are.
    change_qrels, change_run : callable
        Takes qrels, or a run, that were read by any option or without one, and returns them changed.
    """

    name: str
    qrels_of: Callable[[str], Qrels | None]
    run_of: Callable[[str, str, str | None], Run | None]
    rows_of: Callable[[str], object] | None = None
    has_files: Callable[[str], bool] = _has_no_files
    check: Callable[[], None] = _refuse_nothing
    beside_runs: Callable[[Qrels], Qrels] = _unchanged
    change_qrels: Callable[[Qrels], Qrels] = _unchanged
    change_run: Callable[[Run], Run] = _unchanged_run


def input_options() -> list[InputOption]:
    """Return all such options, in the order of the registry."""
    return [module.INPUT for module in hooks.load("inputs")]


def input_options_asked() -> list[InputOption]:
    """Return those that the command was given, of which the first that reads a file has it."""
    options = asked()
    return [option for option in input_options() if options.get(option.name)]
