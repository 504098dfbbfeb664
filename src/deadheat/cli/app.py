"""What every command shares: errors as one message, exit codes, and --debug before or after the command."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import traceback
import warnings
from collections import UserDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from importlib import import_module
from types import FrameType
from typing import IO, Any

import click

from deadheat.cli.progress import watching
from deadheat.cli.wording import error_message
from deadheat.errors import DataError, DeadheatError, NothingJudgedWarning, SourceTypeError
from deadheat.wording import did_you_mean, joined, on_terminal, printable

GATE_FAILED, USAGE, BAD_DATA, BUG, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 70, 130, 141  # a bug: EX_SOFTWARE
DEBUG, QUIET, VERBOSE = "deadheat.debug", "deadheat.quiet", "deadheat.verbose"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk, the quota, the limit on the size of files


class Failure(click.ClickException):
    """A library error, shown as a message on stderr with an exit code.

    Parameters
    ----------
    message : str
    exit_code : int
    cause : BaseException, optional
        Shown as a traceback with ``--debug``.
    """

    def __init__(self, message: str, exit_code: int, cause: BaseException | None = None) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_code  # click declares it as a class attribute, shared by all instances
        self.cause = cause

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, after the traceback if there is one."""
        if self.cause is not None:
            trace = _shown("".join(traceback.format_exception(self.cause)))
            click.echo(trace, file=file, err=file is None, nl=False)
        super().show(file)


class Commands(UserDict[str, click.Command]):
    """The commands by name, each in the file of its name, which is imported when the command is asked for.

    Parameters
    ----------
    *names : str
        In the order in which --help lists them, the most useful first.
    """

    def __init__(self, *names: str) -> None:
        super().__init__()
        vars(self)["data"] = dict.fromkeys(names)  # the names only: what they stand for is imported

    def __getitem__(self, name: str) -> click.Command:
        """Return a command."""
        self.data[name]  # raises for a name that is none
        command: click.Command = getattr(import_module(f"deadheat.cli.{name}"), name)
        return command


class App(click.Group):
    """A group of commands that turns errors into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the commands in the order of `Commands`, the most useful first."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command, or suggest the nearest name."""
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            known = list(self.commands)
            ctx.fail(joined(f"no command {name!r}.", did_you_mean(name, known), f"All: {', '.join(known)}"))
        found, command, own = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:  # shell completion shows no errors
            refuse_repeats(command, click.Context(command, info_name=found, parent=ctx), own)
        return found, command, own

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command, and turn its exceptions into messages."""
        try:
            with warnings.catch_warnings(
                action="ignore", category=NothingJudgedWarning
            ):  # commands report it themselves
                warnings.showwarning = lambda message, *_, **__: say(f"Warning: {message}")
                return self._watched(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt as error:
            raise click.Abort from error  # click would write an empty line first
        except Exception as error:  # noqa: BLE001 - whatever it is, the user sees one message
            if isinstance(error.__cause__, KeyboardInterrupt):  # Python 3.11 wraps what a class statement raises
                raise click.Abort from error.__cause__
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                forget_stdout()
                raise click.exceptions.Exit(BROKEN_PIPE) from None
            if isinstance(error, OSError) and error.errno in FULL:
                forget_stdout()
            command = self.commands.get(ctx.invoked_subcommand or "", self)
            raise failure(error, command, debug=bool(ctx.meta.get(DEBUG))) from None

    def _watched(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command; its options are known once it is parsed, so phases look for them when they begin."""
        with watching(asks=lambda: (bool(ctx.meta.get(QUIET)), bool(ctx.meta.get(VERBOSE))), say=_tell):
            return super().invoke(ctx)

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
        with _signals_as_exceptions() as received:
            code = self._exit_code(args, prog_name, extra)
        sys.exit(received[0] if received else code)

    def _exit_code(self, args: Sequence[str] | None, prog_name: str | None, extra: dict[str, Any]) -> int:
        """Run the command line, print what went wrong, and return the exit code."""
        code: int | None
        _buffer_stdout()
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
            if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - None when closed
                sys.stdout.flush()
        except click.ClickException as error:
            vars(error)["message"] = _shown(error.message)  # click declares it as final
            with _stderr_may_fail():
                error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt) as error:
            cause = error.__cause__ if isinstance(error, click.Abort) else error
            _interrupted(cause.args if cause else ())
            code = INTERRUPTED
        except BrokenPipeError:
            forget_stdout()
            code = BROKEN_PIPE
        except OSError as error:  # such as a full disk while --help is printed
            forget_stdout()
            _tell(f"Error: cannot write: {reason(error)}")
            code = BAD_DATA
        except (SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a Polars panic is not an Exception, and Python would exit with 1
            shown = failure(error, self, debug="--debug" in (sys.argv[1:] if args is None else args))
            with _stderr_may_fail():
                shown.show()
            code = shown.exit_code
        return code or 0


@contextmanager
def _signals_as_exceptions() -> Iterator[list[int]]:
    """Turn SIGTERM and SIGHUP into an exception, so that temporary files are removed.

    Yields a list that receives the exit code, because Polars replaces the exception by its own while it writes.
    An ignored signal stays ignored (nohup), and a second signal does not interrupt the handling of the first.
    """
    received: list[int] = []
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names] if threading.current_thread() is threading.main_thread() else []
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]

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
    if context is None or not context.meta.get(QUIET):
        _tell(text)


def _interrupted(advice: Sequence[object]) -> None:
    """Say in one line that Ctrl-C was pressed; a terminal shows ^C, and goes on behind it."""
    has_mark = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison]
    with _stderr_may_fail():
        click.echo("\n" * has_mark + on_terminal("; ".join(["Interrupted", *map(str, advice)])), err=True)


def _tell(text: str) -> None:
    """Write a line to standard error, with control characters escaped."""
    with _stderr_may_fail():
        click.echo(on_terminal(text), err=True)


def _shown(text: str) -> str:
    """Return a message of several lines with control characters escaped."""
    return "\n".join(map(on_terminal, text.split("\n")))


@contextmanager
def _stderr_may_fail() -> Iterator[None]:
    """Ignore failures to write to standard error: they must not change the exit code."""
    try:
        yield
    except OSError:
        with suppress(OSError, AttributeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def reason(error: OSError) -> str:
    """Return why a write failed."""
    if error.errno == errno.EFBIG:
        return "the file would exceed the limit on file size (ulimit -f)"
    return error.strerror or str(error)


def refuse_repeats(command: click.Command, ctx: click.Context, args: Sequence[str]) -> None:
    """Raise an error if an option that takes one value is repeated: click silently takes the last.

    The arguments are parsed once more by the command's own parser, with every option repeatable. A flag may be
    repeated, but not combined with its opposite.
    """
    options = {str(own.name): own for own in command.params if isinstance(own, click.Option) and not own.multiple}
    collecting = copy(command)
    collecting.params = [_repeatable(own) if own.name in options else own for own in command.params]
    given, _, _ = collecting.make_parser(ctx).parse_args(list(args))
    for name, option in options.items():
        values = given.get(name)
        if not isinstance(values, list) or len(values) < 2 or (option.is_flag and len(set(values)) < 2):
            continue
        if option.is_flag:
            raise click.UsageError(f"{option.opts[0]} and {option.secondary_opts[0]} are mutually exclusive", ctx)
        times = "twice" if len(values) == 2 else f"{len(values)} times"
        shown = " and ".join(repr(value) if isinstance(value, str) else "without a value" for value in values)
        raise click.UsageError(f"{max(option.opts, key=len)} takes one value, got it {times}: {shown}", ctx)


def _repeatable(option: click.Parameter) -> click.Parameter:
    """Return a copy of an option that collects all its values."""
    found = copy(option)
    vars(found)["multiple"] = True
    return found


def forget_stdout() -> None:
    """Discard pending output: its reader has gone, and Python would complain at exit."""
    with suppress(OSError, AttributeError):  # not a file in tests, and None when closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def failure(error: BaseException, command: click.Command, *, debug: bool) -> Failure:
    """Turn an exception into a message with an exit code, worded for a command."""
    cause = error if debug else None
    if isinstance(error, DeadheatError):
        return Failure(
            error_message(error, command), BAD_DATA if isinstance(error, DataError | SourceTypeError) else USAGE, cause
        )
    if isinstance(error, MemoryError):
        return Failure("not enough memory for this data", BAD_DATA, cause)
    if isinstance(error, OSError) and error.strerror:
        where = (
            "cannot write: "
            if error.errno in FULL
            else ""
            if error.filename is None
            else f"{printable(str(error.filename))}: "
        )
        return Failure(f"{where}{reason(error)}", BAD_DATA, cause)
    message = (
        f"{type(error).__name__}: {error}\nThis is a bug in deadheat; please report it with the output of --debug."
    )
    return Failure(message, BUG, cause)


def _keep_for_all(ctx: click.Context, option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    """Keep what was asked for: a group and its commands share it."""
    if value:
        ctx.meta[f"deadheat.{option.name}"] = True
        if ctx.meta.get(QUIET) and ctx.meta.get(VERBOSE):
            raise click.UsageError("--quiet and --verbose are mutually exclusive", ctx)


def _shared_flag(name: str, text: str) -> Callable[[Any], Any]:
    return click.option(name, is_flag=True, expose_value=False, is_eager=True, callback=_keep_for_all, help=text)


def debug_option(command: Any) -> Any:  # noqa: ANN401 - whatever click decorates
    """Add what every command takes, before or after its name: --quiet, --verbose and --debug."""
    quiet = _shared_flag("--quiet", "Say nothing on stderr but errors: no notes, warnings or progress.")
    verbose = _shared_flag("--verbose", "Say on stderr what is done, and how long each step takes.")
    debug = _shared_flag("--debug", "Show tracebacks of errors.")
    return quiet(verbose(debug(command)))
