"""What every command shares: errors as one message, exit codes, and --debug before or after the command."""

import errno
import io
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from types import FrameType
from typing import Any, TextIO

import click

from deadheat.cli.progress import Watch
from deadheat.errors import (
    PYTHON,
    DataError,
    DeadheatError,
    MeasureError,
    NothingJudgedWarning,
    SourceTypeError,
    Words,
    did_you_mean,
    joined,
    on_terminal,
    printable,
)
from deadheat.io.phases import watched_by

GATE_FAILED, USAGE, BAD_DATA, BUG, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 70, 130, 141  # a bug: EX_SOFTWARE
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk, the quota, the limit on the size of files
OTHERWISE = {  # options whose arguments have other names
    "collection_texts": "texts",
    "original_texts": "original",
    "ci_method": "method",
    "measure": "measures",
    "fill": "judge",
}
COMMANDS = (  # the most useful first, as --help lists them
    *(
        "evaluate",
        "compare",
        "agree",
        "leaderboard",
        "report",
        "gate",
        "rescore",
        "diff",
        "ties",
        "steps",
        "explain",
        "history",
        "holes",
        "judges",
        "items",
        "simulate",
        "trec_eval",
    ),
    *("measures", "convert", "bench", "cases", "validate", "schema", "demo"),
)


class CommandError(click.ClickException):
    """An error, shown as a message on stderr, that ends the command with an exit code."""

    def __init__(self, message: str, exit_code: int = BAD_DATA) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_code  # click declares it as a class attribute, shared by all instances


class App(click.Group):
    """A group of commands that turns errors into messages; each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return a command, from the file of its name."""
        return getattr(import_module(f"deadheat.cli.{cmd_name}"), cmd_name) if cmd_name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or suggest the nearest name."""
        name, ctx.meta["arguments"] = args[0], list(args)
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(joined(f"no command {name!r}.", did_you_mean(name, COMMANDS), f"All: {', '.join(COMMANDS)}"))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command, and turn its exceptions into messages."""
        try:  # commands report themselves what no run retrieves
            with (
                warnings.catch_warnings(action="ignore", category=NothingJudgedWarning),
                watched_by(Watch(ctx.meta, _tell)),
            ):
                warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}")
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            if ctx.meta.get("debug"):
                _tell_lines("".join(traceback.format_exception(error)).rstrip("\n"))
            raise _ending(error, self.get_command(ctx, ctx.invoked_subcommand or "") or self) from error

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
        _buffer_stdout()
        with _signals_as_exceptions() as received:
            try:
                code = super().main(args, prog_name, standalone_mode=False, **extra) or 0  # commands return None
                if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
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
    is_notation = isinstance(error, MeasureError)  # notations are Python's on the command line too
    return error.told(PYTHON if is_notation else Words(options), has_place=has_place)


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
        if error.errno == errno.EPIPE:
            discard(sys.stdout)
            return click.exceptions.Exit(BROKEN_PIPE)
        where = "" if error.filename is None else f"{printable(str(error.filename))}: "
        if error.errno in FULL:
            discard(sys.stdout)
            where = "cannot write: "
        return CommandError(f"{where}{reason(error)}")
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
    _tell_lines("\n" * has_mark + "Interrupted")
    return INTERRUPTED


@contextmanager
def _signals_as_exceptions() -> Iterator[list[int]]:
    """Turn SIGTERM and SIGHUP into an exception, so that temporary files are removed.

    Yields a list that receives the exit code, because Polars replaces the exception by its own while it writes.
    An ignored signal stays ignored (nohup), and a second signal does not interrupt the handling of the first.
    """
    received: list[int] = []
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()
    changed = [number for number in numbers if is_main and signal.getsignal(number) is signal.SIG_DFL]

    def end(number: int, _: FrameType | None) -> None:
        for one in changed:
            signal.signal(one, signal.SIG_IGN)
        received.append(128 + number)
        raise SystemExit(received[0])

    for number in changed:
        signal.signal(number, end)
    try:
        yield received
    except SystemExit:
        if not received:
            raise
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)


def _buffer_stdout() -> None:
    """Give standard output a buffer if it has none (PYTHONUNBUFFERED, python -u).

    Without one, Python takes a partial write for a complete one, for example when the disk fills up.
    """
    stream = sys.stdout
    raw = getattr(stream, "buffer", None)  # missing in tests, and when stdout is None (closed)
    if isinstance(raw, io.RawIOBase):
        buffer = io.BufferedWriter(raw)
        sys.stdout = io.TextIOWrapper(buffer, stream.encoding, stream.errors, line_buffering=stream.isatty())


def say(text: str) -> None:
    """Write a note or a warning to standard error, unless --quiet is given."""
    context = click.get_current_context(silent=True)
    if context is None or not context.meta.get("quiet"):
        _tell(text)


def _tell(text: str) -> None:
    """Write a line to standard error, with control characters escaped."""
    with _stderr_may_fail():
        click.echo(on_terminal(text), err=True)


def _tell_lines(text: str) -> None:
    """Write lines to standard error, each with its control characters escaped."""
    for line in text.split("\n"):
        _tell(line)


@contextmanager
def _stderr_may_fail() -> Iterator[None]:
    """Ignore failures to write to standard error: they must not change the exit code."""
    try:
        yield
    except OSError:
        discard(sys.stderr)


def reason(error: OSError) -> str:
    """Return why a write failed."""
    if error.errno == errno.EFBIG:
        return "the file would exceed the limit on file size (ulimit -f)"
    return error.strerror or str(error)


def discard(stream: TextIO) -> None:
    """Discard what a stream still holds and gets: its reader has gone, and Python would complain at exit."""
    with suppress(OSError, AttributeError):  # not a file in tests, and None when closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def spelled(name: str) -> str:
    """Return the option of the command that runs whose value has this name, as it is typed."""
    params = click.get_current_context().command.params
    words = next(one.opts for one in params if one.name == name)
    return "-m" if "-m" in words else max(words, key=len)


def refuse_if(wrong: object, why: str) -> None:
    """Refuse what was typed, and say why, if there is something wrong."""
    if wrong:
        raise click.UsageError(why)


def missing(name: str) -> click.MissingParameter:
    """Return the error of an argument that has to be given here."""
    ctx = click.get_current_context()
    return click.MissingParameter(ctx=ctx, param=next(one for one in ctx.command.params if one.name == name))


def refuse_others(kept: Collection[str], why: str) -> None:
    """Refuse the first option that was given and is not among some."""
    refuse([str(one.name) for one in click.get_current_context().command.params if one.name not in kept], why)


def refuse(names: Iterable[str], why: str) -> None:
    """Refuse the first of some options that was given on the command line, and say why."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{spelled(name)} {why}")


def _keep_flag(ctx: click.Context, option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    """Keep what was asked for: a group and its commands share it."""
    if value:
        ctx.meta[str(option.name)] = True
        if ctx.meta.get("quiet") and ctx.meta.get("verbose"):
            raise click.UsageError("--quiet and --verbose are mutually exclusive", ctx)


def flags(command: Any) -> Any:  # noqa: ANN401 - whatever click decorates
    """Add what every command takes, before or after its name: --quiet, --verbose and --debug."""
    for name, text in (
        ("--debug", "Show tracebacks of errors."),
        ("--verbose", "Say on stderr what is done, and how long each step takes."),
        ("--quiet", "Say nothing on stderr but errors: no notes, warnings or progress."),
    ):
        command = click.option(name, is_flag=True, expose_value=False, is_eager=True, callback=_keep_flag, help=text)(
            command
        )
    return command
