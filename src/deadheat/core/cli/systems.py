"""Systems of several runs that a command is given: by an option, or as a file with a column that tells runs apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from deadheat.core import hooks
from deadheat.core.cli.errors import refuse_if
from deadheat.core.cli.inputs import documents_asked, named_columns, named_format, source_of
from deadheat.core.cli.judged import judgments_asked
from deadheat.core.cli.paths import asked

if TYPE_CHECKING:
    from deadheat.core.evaluation.systems import System


class SystemsOption(NamedTuple):
    """An option that gives systems of several runs: the ``SYSTEMS`` of a module of the kind "systems".

    Attributes
    ----------
    name : str
        Its parameter, whose type is `NAMED_FILES`: its value is a dict of lists of files, by the names of the systems.
    typed : str
        What people type.
    system : callable
        Takes the files and the name of a system, and returns it.
    """

    name: str
    typed: str
    system: Callable[[Sequence[str], str], System]


def options_of_systems() -> list[SystemsOption]:
    """Return all such options, in the order of the registry."""
    return [module.SYSTEMS for module in hooks.load("systems")]


def systems_asked() -> dict[str, System]:
    """Return the systems that the options of the command give, by their names."""
    systems: dict[str, System] = {}
    for option in options_of_systems():
        for name, files in (asked().get(option.name) or {}).items():
            systems[name] = option.system(files, name)
    return systems


def refuse_systems_beside_saved(path: str) -> None:
    """Refuse an option that gives systems, where the command was given saved evaluations."""
    for option in options_of_systems():
        refuse_if(bool(asked().get(option.name)), f"{option.typed} are of QRELS RUN...: {path} is already evaluated")


def split_systems(named: Mapping[str, str], form: str | None = None) -> tuple[dict[str, str], dict[str, System]]:
    """Return the files that hold one run, and the systems of several: those of options, and those of the other files.

    Parameters
    ----------
    named : mapping of str to str
        The files by the names of their runs.
    form : str, optional
        The name of the format of the runs, if that is known.
    """
    for option in options_of_systems():
        for name in asked().get(option.name) or {}:
            refuse_if(
                name in named, f"{option.typed} {name}: a file of a single run has this name too: choose another one"
            )
    found = {}
    if judgments_asked() is None:
        for name, path in named.items():
            system = _system_in(path, name, form)
            if system is not None:
                found[name] = system
    singles = {name: path for name, path in named.items() if name not in found}
    return singles, {**found, **systems_asked()}


def _system_in(path: str, name: str, form: str | None) -> System | None:
    """Return the system of a file with a column that tells its runs apart."""
    from deadheat.core.io.formats import has_column

    options = asked()
    source = source_of(path)
    form = named_format("run") or form
    if source is path and not any(has_column(Path(path), column, form) for column in hooks.list_run_columns()):
        return None
    from deadheat.core.evaluation.systems import system_in

    return system_in(
        source,
        name=name,
        columns=named_columns("run"),
        ascending=bool(options.get("ascending")),
        duplicates=documents_asked()["duplicates"],
    )
