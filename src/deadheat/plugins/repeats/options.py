"""The option --repeats, which gives several runs of one system by a pattern of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from glob import glob
from typing import TYPE_CHECKING, Any

import click

from deadheat.core.cli.help import option
from deadheat.core.cli.paths import NAMED_FILES
from deadheat.core.cli.systems import SystemsOption

if TYPE_CHECKING:
    from deadheat.plugins.repeats.repeats import Repeats


def _parsed_repeats(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files in ``gpt=gpt-*.run``, several runs of each system, by the name of the system."""
    pairs = [one.partition("=")[::2] for one in given]
    if not all(name and pattern for name, pattern in pairs):
        raise click.BadParameter("write a name and a pattern of files, as in 'gpt=gpt-*.run'")
    files = {name: sorted(glob(pattern)) for name, pattern in pairs}  # noqa: PTH207 - patterns may be absolute
    few = next((f"{pattern!r} matches {len(files[name])}" for name, pattern in pairs if len(files[name]) < 2), "")
    if few or len(files) < len(pairs):
        raise click.BadParameter(f"{few or 'a name is given twice'}: repeats are two files or more of each name")
    return files


def _system(files: Sequence[str], name: str) -> Repeats:
    from deadheat.plugins.repeats.repeats import Repeats  # help needs no NumPy

    return Repeats(files, name)


OPTIONS: dict[str, Callable[[Any], Any]] = {
    "repeats": option(
        "--repeats",
        multiple=True,
        type=NAMED_FILES,
        metavar="NAME=PATTERN",
        callback=_parsed_repeats,
        help="Several runs of one system, such as 'gpt=gpt-*.run': means over them, and errors with their noise.",
        heading="input",
        rank=180,
    ),
}
SYSTEMS = SystemsOption("repeats", "--repeats", _system)
