"""What every command shares: errors as one message, exit codes, what is said of progress, and help in two sizes.

Progress is a bar on a terminal for a phase that takes longer than a second, lines with --verbose, nothing with --quiet.
Help shows the options most used on one screen, and with --help-all every option, in groups.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from deadheat import hooks
from deadheat.errors import (
    DataError,
    DeadheatError,
    DeadheatWarning,
    MeasureError,
    NothingJudgedWarning,
    SourceTypeError,
    UserCodeError,
    did_you_mean,
    joined,
    on_terminal,
    printable,
    three,
)
from deadheat.gone import instead_of
from deadheat.hooks import commands_by_name
from deadheat.interrupts import IS_COMMAND
from deadheat.io.guarding import noting_files, take_stderr
from deadheat.phases import Advance, watched_by

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")  # noqa: PTH118, PTH120 - with a separator behind it
MOST_ALIKE = 3  # warnings
DELAY = 1.0  # seconds after which a phase gets a bar
GATE_FAILED, USAGE, BAD_DATA, BUG, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 70, 130, 141  # a bug: EX_SOFTWARE
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk, the quota, the limit on the size of files
OTHERWISE = {  # options whose arguments have other names
    "collection_texts": "texts",
    "original_texts": "original",
    "ci_method": "method",
    "measure": "measures",
}


class CommandError(click.ClickException):
    """An error, shown as a message on stderr, that ends the command with an exit code."""

    def __init__(self, message: str, exit_code: int = BAD_DATA) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_code  # click declares it as a class attribute, shared by all instances


class App(click.Group):
    """A group of commands that turns errors into messages; each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the names of the commands."""
        return list(commands_by_name())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return a command, from its file."""
        entry = commands_by_name().get(cmd_name)
        if entry is None:
            return None
        command: click.Command = getattr(import_module(entry.module), cmd_name)
        command.short_help = entry.help
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """List the commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.help) for entry in commands_by_name().values()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or suggest the nearest name."""
        name, ctx.meta["arguments"] = args[0], list(args)
        known = commands_by_name()
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            if plugin := hooks.plugin_of_command(name):
                ctx.fail(str(hooks.missing_plugin(f"the command {name}", plugin)))
            instead = instead_of(f"deadheat {name}")
            refuse_if(instead, f"the command {name} is gone: {instead}")
            ctx.fail(joined(f"no command {name!r}.", did_you_mean(name, known), f"All: {', '.join(known)}"))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command, and turn its exceptions into messages."""
        try:  # commands themselves report that a run retrieves no judged document
            with (
                warnings.catch_warnings(action="ignore", category=NothingJudgedWarning),
                _warnings_said(),
                watched_by(Watch(ctx.meta, _tell)),
                noting_files() as ctx.meta["read"],
            ):
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            if ctx.meta.get("debug"):
                _tell_traceback(error)
            elif isinstance(error, UserCodeError):
                _tell_traceback(error.__cause__ or error, is_of_user=True)
            raise _ending(error, self.get_command(ctx, ctx.invoked_subcommand or "") or self) from error

    def make_context(self, *given: Any, **extra: Any) -> click.Context:  # noqa: ANN401 - click's
        """Read the options of the whole; what --help or --version print may not be written, as of a command."""
        try:
            return super().make_context(*given, **extra)
        except OSError as error:
            raise _ending(error, self) from error

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: Any,  # noqa: ANN401 - what click passes on
    ) -> Any:  # noqa: ANN401 - what click returns
        """Run the command line and exit: 0 done, 1 a gate failed, 2 usage, 3 bad data, 70 a bug, 128 + n a signal."""
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **extra)
        _fill_numbers()
        _buffer_stdout()
        if IS_COMMAND:
            take_stderr()
        with _signals_as_exceptions() as received:
            try:
                code = super().main(args, prog_name, standalone_mode=False, **extra) or 0  # commands return None
                sys.stdout.flush()
            except (SystemExit, GeneratorExit):
                raise
            except BaseException as error:  # noqa: BLE001 - such as a full disk while --help is printed
                known = isinstance(error, click.ClickException | click.exceptions.Exit | click.Abort)
                code = _shown(error if known else _ending(error, self))
        sys.exit(received[0] if received else code)


def error_message(error: DeadheatError, command: click.Command | None = None, *, has_place: bool = True) -> str:
    """Return the message of an error, worded for a command: by default for the one that runs."""
    command = command or click.get_current_context().command
    names = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    options = {name.removeprefix("--").replace("-", "_"): name for name in names}
    options |= {argument: options[option] for option, argument in OTHERWISE.items() if option in options}
    if "measures" in options:
        options["measures"] = "-m"
    # notations are Python's on the command line too
    return error.sentence(None if isinstance(error, MeasureError) else options, has_place=has_place)


def _ending(error: BaseException, command: click.Command) -> BaseException:
    """Return what ends the command line for an exception: an exit code with or without a message."""
    interrupted = error if isinstance(error, KeyboardInterrupt) else error.__cause__
    if isinstance(interrupted, KeyboardInterrupt):  # Python 3.11 wraps what a class statement raises
        return click.Abort()
    if isinstance(error, DeadheatError):
        code = BAD_DATA if isinstance(error, DataError | SourceTypeError) else USAGE
        return CommandError(error_message(error, command), code)
    if isinstance(error, MemoryError):
        return CommandError("not enough memory for this data")
    if isinstance(error, OSError) and error.strerror:
        if error.errno in {errno.EPIPE, *FULL}:
            discard(sys.stdout)
        if error.errno == errno.EPIPE:
            return click.exceptions.Exit(BROKEN_PIPE)
        name = "" if error.filename is None else printable(str(error.filename))
        if error.errno in FULL:
            return CommandError(f"cannot write{f' {name!r}' if name else ''}: {error.strerror}")
        return CommandError(f"{name}: {error.strerror}" if name else error.strerror)
    bug = "This is a bug in deadheat; please report it with the output of --debug."
    return CommandError(f"{type(error).__name__}: {error}\n{bug}", BUG)


def _shown(error: BaseException) -> int:
    """Print what ended the command line, and return its exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        vars(error)["message"] = "\n".join(map(on_terminal, error.message.split("\n")))  # click declares it as final
        with _stderr_may_fail():
            error.show()
        return error.exit_code
    has_mark = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison] - shows ^C
    _tell(*[""] * has_mark, "Interrupted")
    return INTERRUPTED


@contextmanager
def _signals_as_exceptions() -> Iterator[list[int]]:
    """Turn SIGTERM and SIGHUP into an exception, so that temporary files are removed; what is ignored stays ignored.

    Yields a list that receives the exit code, because Polars replaces the exception by its own while it writes.
    """
    received: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if is_main and hasattr(signal, name)]
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, _: FrameType | None) -> NoReturn:
        received.append(128 + number)
        raise SystemExit(received[0])

    for number in changed:
        signal.signal(number, end)
    try:
        yield received
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


class ClosedOutput(io.TextIOBase):
    """Standard output that is closed: to write to it is an error, where Python and click would lose it in silence."""

    encoding = "utf-8"

    def write(self, _: str) -> NoReturn:
        """Raise the error."""
        raise CommandError("cannot write: standard output is closed", BAD_DATA)


def _fill_numbers() -> None:
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


def _buffer_stdout() -> None:
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


def say(text: str) -> None:
    """Write a note or a warning to standard error, unless --quiet is given."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get("quiet"):
        _tell(text)


@contextmanager
def _warnings_said() -> Iterator[None]:
    """Print warnings as they come; if one is alike in more than `MOST_ALIKE` files, name the others at the end."""
    alike: dict[str, list[str]] = {}

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        text, where = (message.text, message.where) if isinstance(message, DeadheatWarning) else (str(message), "")
        places = alike.setdefault(text, [])
        places += [where] if where else []
        if len(places) <= MOST_ALIKE:
            say(f"Warning: {message}")

    warnings.showwarning = tell  # until the `catch_warnings` around this ends
    try:
        yield
    finally:
        for first, *others in (places for places in alike.values() if len(places) > MOST_ALIKE):
            more = others[MOST_ALIKE - 1 :]
            say(f"Warning: as for {first}, also for {len(more):,} more: {three(more)}")


def _tell(*lines: str) -> None:
    """Write lines to standard error, each with its control characters escaped."""
    with _stderr_may_fail():
        click.echo("\n".join(map(on_terminal, lines)), err=True)


def _is_ours(frame: TracebackType) -> bool:
    """Return whether a frame of a traceback is of this package, or of an import that it began."""
    path = frame.tb_frame.f_code.co_filename
    return path.startswith((PACKAGE, "<frozen importlib")) or path.endswith("importlib/__init__.py")


def _tell_traceback(error: BaseException, *, is_of_user: bool = False) -> None:
    """Write a traceback to standard error; of a user's code without the frames that led to it."""
    start = error.__traceback__
    while is_of_user and start is not None and _is_ours(start):
        start = start.tb_next
    _tell(*"".join(traceback.format_exception(type(error), error, start)).rstrip("\n").split("\n"))


@contextmanager
def _stderr_may_fail() -> Iterator[None]:
    """Ignore failures to write to standard error: they must not change the exit code."""
    try:
        yield
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """Discard what a stream still holds and gets: its reader has gone, and Python would complain at exit."""
    with suppress(OSError, AttributeError):  # not a file in tests, and None when closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def refuse_if(wrong: object, why: str) -> None:
    """Refuse what was typed, and say why, if there is something wrong."""
    if wrong:
        raise click.UsageError(why)


def missing(name: str) -> click.MissingParameter:
    """Return the error of an argument that has to be given here."""
    ctx = click.get_current_context()
    return click.MissingParameter(ctx=ctx, param=next(one for one in ctx.command.params if one.name == name))


def refuse_others(kept: Collection[str], why: str) -> None:
    """Refuse the first option that was given and is not kept; those that every command has are not looked at."""
    refuse(
        [
            str(one.name)
            for one in click.get_current_context().command.params
            if one.expose_value and one.name not in kept
        ],
        why,
    )


def refuse(names: Iterable[str], why: str) -> None:
    """Refuse the first of some options that was given on the command line, and say why."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(one for one in context.command.params if one.name == name)
            raise click.UsageError(f"{long_name(option)} {why}")


def refuse_repeated(given: Sequence[click.Parameter]) -> None:
    """Refuse an option of one value that was given more than once: click takes the last value in silence.

    Parameters
    ----------
    given : sequence of click.Parameter
        One for each time that a parameter was given.
    """
    for option in dict.fromkeys(given):
        times = given.count(option)
        if times > 1 and has_one_value(option):
            raise click.UsageError(f"{long_name(option)} is given {times} times, and takes one value: give it once")


def has_one_value(option: click.Parameter) -> bool:
    """Return whether a second use of an option replaces what the first one said."""
    if not isinstance(option, click.Option) or option.multiple or option.count:
        return False
    return not option.is_flag or bool(option.secondary_opts)


def long_name(option: click.Parameter) -> str:
    """Return the name of an option for messages, such as ``--ties``; of measures ``-m``."""
    if "-m" in option.opts:
        return "-m"
    return max(option.opts, key=len)


class Watch:
    """Shows the phases that last.

    Parameters
    ----------
    asked : mapping
        Has a true value at "quiet" or "verbose" if these were given, which is known when a phase begins.
    say : callable
        Takes a line.
    """

    def __init__(self, asked: Mapping[str, Any], say: Callable[[str], object]) -> None:
        self._asked, self._say, self._lock = asked, say, threading.Lock()
        self._bars: Progress | None = None

    @contextmanager
    def __call__(self, what: str, n_steps: int | None = None) -> Iterator[Advance]:
        """Show a phase while the context lasts."""
        start, done = time.monotonic(), 0
        bar: list[TaskID] = []  # one at most

        def show() -> None:
            with self._lock:
                if not timer.finished.is_set():
                    self._bars = self._bars or _new_bars()
                    bar.append(self._bars.add_task(on_terminal(what), total=n_steps, completed=done))

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            if bar and self._bars:
                self._bars.update(bar[0], completed=done)

        timer = threading.Timer(DELAY, show)
        timer.daemon = True
        if not self._asked.get("quiet") and self._is_on_terminal():
            timer.start()
        try:
            yield advance
        finally:
            with self._lock:
                timer.cancel()
                if bar and self._bars:
                    is_last = len(self._bars.task_ids) == 1
                    if is_last:
                        self._bars.stop()  # while it has its bar: rich before 14.1 leaves an empty line otherwise
                    self._bars.remove_task(bar[0])
                    if is_last:
                        self._bars = None
        if self._asked.get("verbose"):
            self._say(f"{what}: {time.monotonic() - start:.2f} s")

    def _is_on_terminal(self) -> bool:
        """Return whether standard error is a terminal; while bars are shown, rich has put something else there."""
        if self._bars is not None:
            return True
        return sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison] - closed


def _new_bars() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bars.start()
    return bars
