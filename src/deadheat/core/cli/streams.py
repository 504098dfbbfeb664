"""Standard output and standard error: closed, unbuffered or full ones, notes, warnings and tracebacks."""

from __future__ import annotations

import io
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import NoReturn, TextIO

import click

from deadheat.core.cli.errors import BAD_DATA, CommandError
from deadheat.core.errors import DeadheatWarning
from deadheat.core.wording import escape_for_terminal, format_list

CORE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - os.path is loaded
PACKAGE = os.path.join(os.path.dirname(CORE), "")  # noqa: PTH118, PTH120 - with a separator behind it
MOST_ALIKE = 3  # warnings


class ClosedOutput(io.TextIOBase):
    """Standard output that is closed: to write to it is an error, where Python and click would lose it in silence."""

    encoding = "utf-8"

    def write(self, _: str) -> NoReturn:
        """Raise the error."""
        raise CommandError("cannot write: standard output is closed", BAD_DATA)


def open_standard_streams() -> None:
    """Open nothing in place of standard streams that are closed, or the next file would get the number of one.

    Then ``/dev/stdout`` would be that file. What is said to a standard error that is closed is lost.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(io.FileIO(2, "w", closefd=False)), errors="backslashreplace")


def buffer_stdout() -> None:
    """Give standard output a buffer if it has none (PYTHONUNBUFFERED, python -u).

    Without one, Python takes a partial write for a complete one, for example when the disk fills up.
    """
    stream = sys.stdout
    if stream is None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
        sys.stdout = ClosedOutput()
        return
    raw = getattr(stream, "buffer", None)  # missing in tests, and when stdout is None (closed)
    if isinstance(raw, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), stream.encoding, stream.errors, line_buffering=stream.isatty()
        )


def write_note(text: str) -> None:
    """Write a note or a warning to standard error, unless --quiet is given."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get("quiet"):
        write_lines(text)


@contextmanager
def showing_warnings() -> Iterator[None]:
    """Print warnings as they come; if one is alike in more than `MOST_ALIKE` files, name the others at the end."""
    alike: dict[str, list[str]] = {}

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        text, where = (message.text, message.where) if isinstance(message, DeadheatWarning) else (str(message), "")
        places = alike.setdefault(text, [])
        places += [where] if where else []
        if len(places) <= MOST_ALIKE:
            write_note(f"Warning: {message}")

    warnings.showwarning = tell  # until the `catch_warnings` around this ends
    try:
        yield
    finally:
        for first, *others in (places for places in alike.values() if len(places) > MOST_ALIKE):
            more = others[MOST_ALIKE - 1 :]
            write_note(f"Warning: as for {first}, also for {len(more):,} more: {format_list(more)}")


def write_lines(*lines: str) -> None:
    """Write lines to standard error, each with its control characters escaped."""
    with stderr_may_fail():
        click.echo("\n".join(map(escape_for_terminal, lines)), err=True)


def _is_ours(frame: TracebackType) -> bool:
    """Return whether a frame of a traceback is of this package, or of an import that it began."""
    path = frame.tb_frame.f_code.co_filename
    return path.startswith((PACKAGE, "<frozen importlib")) or path.endswith("importlib/__init__.py")


def show_traceback(error: BaseException, *, is_of_user: bool = False) -> None:
    """Write a traceback to standard error; of a user's code without the frames that led to it."""
    start = error.__traceback__
    while is_of_user and start is not None and _is_ours(start):
        start = start.tb_next
    write_lines(*"".join(traceback.format_exception(type(error), error, start)).rstrip("\n").split("\n"))


@contextmanager
def stderr_may_fail() -> Iterator[None]:
    """Ignore failures to write to standard error: they must not change the exit code."""
    try:
        yield
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Discard what a stream still holds and gets: its reader has gone, and Python would complain at exit."""
    with suppress(OSError, AttributeError):  # not a file in tests, and None when closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
