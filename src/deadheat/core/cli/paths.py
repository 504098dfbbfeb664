"""Paths that are typed: their types, what stands for standard input and output, and how reports name them."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from deadheat.core.cli.errors import BAD_DATA, CommandError
from deadheat.core.cli.outputs import Outputs
from deadheat.core.errors import STDIN, STREAM
from deadheat.core.io.guarding import name_file_in_errors
from deadheat.core.wording import escape_invisible, format_path

if TYPE_CHECKING:
    TextChoice = click.Choice[str]
else:
    TextChoice = click.Choice  # click 8.1 does not say what the choices are


STDOUT = "-"
NAMES_OF_STDIN = ("-", STDIN, "/dev/fd/0", "/proc/self/fd/0")
NAMES_OF_STDOUT = (STDOUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class NamedFile(click.Path):
    """A path that is not empty: Python takes an empty one for the current folder.

    Parameters
    ----------
    is_input : bool
        Whether the command reads it: then ``-`` is the standard input, kept in a file if the system has no path.
    is_report : bool
        Whether it is written, and may be the standard output: then every name of that becomes ``-``.
    """

    def __init__(self, *, is_input: bool = False, is_report: bool = False) -> None:
        super().__init__(readable=False)  # an unreadable file is reported later, as bad data
        self.is_input = is_input
        self.is_report = is_report

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click's own
        """Return the path, or fail if it is empty."""
        if not value:
            self.fail("the file name is empty, expected a path. Is a variable of the shell not set?", param, ctx)
        if self.is_report and value in NAMES_OF_STDOUT:
            return STDOUT
        if self.is_input and value in NAMES_OF_STDIN and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
            raise CommandError("cannot read: standard input is closed", BAD_DATA)
        if not self.is_input or value != "-" or ctx is None:
            return super().convert(value, param, ctx)
        if Path(STDIN).exists():
            return STDIN
        if "stdin" not in ctx.meta:
            ctx.meta["stdin"] = kept(sys.stdin.buffer)
        return ctx.meta["stdin"]


def kept(stream: BinaryIO) -> str:
    """Return the path of a file with what a stream holds; it lasts as long as the command."""
    folder = click.get_current_context().with_resource(TemporaryDirectory(prefix="deadheat-"))
    path = Path(folder) / "stdin"
    with name_file_in_errors(path), path.open("wb") as file:
        shutil.copyfileobj(stream, file)
    return file.name


PATH, INPUT, REPORT = NamedFile(), NamedFile(is_input=True), NamedFile(is_report=True)
NAMED_FILES = click.types.StringParamType()  # of options whose callback makes a dict of names and lists of files


def asked() -> Mapping[str, Any]:
    """Return the values of the options of the command that runs, by name."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.params


def files_read() -> list[str]:
    """Return the files and folders that the command that runs was given to read."""
    paths: list[str] = []
    for option in click.get_current_context().command.params:
        given = asked().get(str(option.name))
        if option.type is INPUT:
            paths += [given] if isinstance(given, str) else given or ()
        elif option.type is NAMED_FILES:
            for files in (given or {}).values():
                paths += files
    return paths


def outputs_of_command() -> Outputs:
    """Return what the command that runs writes; what it was given to read is known there."""
    context = click.get_current_context(silent=True)
    if context is None:
        return Outputs()
    if "outputs" not in context.meta:
        context.meta["outputs"] = Outputs(context.meta.get("read", ()))
    found: Outputs = context.meta["outputs"]
    found.name_inputs(files_read())
    return found


def label(path: str, default: str = "run") -> str:
    """Return the name of a file for people: without its format; `default` for a path made up by the shell.

    Examples
    --------
    >>> label("runs/bm25.run.gz"), label("/dev/fd/63"), label("/dev/stdin")
    ('bm25', 'run', 'stdin')
    """
    from deadheat.core.data.sources import make_label

    named, in_engine = Path(path), asked().get("engine")
    while in_engine and named.name and not named.exists() and not make_label(named).strip("*?"):
        named = named.parent  # the folder of a pattern
    return stands_for_file(path, default) or escape_invisible(make_label(named))


def named_runs(paths: Sequence[str]) -> dict[str, str]:
    """Return the paths of runs by names that differ."""
    return dict(zip(unique_names(paths, label), paths, strict=True))


def unique_names(paths: Sequence[str], name_of: Callable[[str], str]) -> list[str]:
    """Return a name for each path: the file's; where two are equal with its folder, or its format; else numbered.

    Examples
    --------
    >>> unique_names(["a/bm25.run", "b/bm25.run", "c.run"], lambda path: Path(path).stem)
    ['a/bm25', 'b/bm25', 'c']
    >>> unique_names(["bm25.run", "bm25.csv"], lambda path: Path(path).stem)
    ['bm25.run', 'bm25.csv']
    >>> unique_names(["a/bm25.run", "a/bm25.run"], lambda path: Path(path).stem)
    ['bm25 #1', 'bm25 #2']
    """
    given = [(name_of(path), Path(path)) for path in paths]
    names = [name for name, _ in given]
    folders = [f"{path.absolute().parent.name}/" for _, path in given]
    files = [path.name if path.name.startswith(name) else name for name, path in given]  # others have no format
    numbered = [f"{name} #{names[: place + 1].count(name)}" for place, name in enumerate(names)]
    in_folders, both = ([a + b for a, b in zip(folders, own, strict=True)] for own in (names, files))
    tried = (
        [more if names.count(name) > 1 else name for more, name in zip(longer, names, strict=True)]
        for longer in (in_folders, files, both, numbered)
    )
    return next((found for found in tried if len(set(found)) == len(found)), numbered)


def shown_path(path: str, default: str) -> str:
    """Return the path of a file as reports name it, or a word for a path made up by the shell."""
    return stands_for_file(path, default) or escape_invisible(format_path(path))


def stands_for_file(path: str, default: str) -> str:
    """Return what reports call a path that a shell made up for a pipe; an empty text for any other path."""
    if path == STDIN:
        return "stdin"
    return default if re.fullmatch(STREAM, path) else ""
