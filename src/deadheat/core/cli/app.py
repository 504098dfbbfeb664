"""The command line as a whole: it finds commands, and turns exceptions and signals into messages and exit codes."""

from __future__ import annotations

import errno
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Any, NoReturn

import click

from deadheat.core import hooks
from deadheat.core.cli.errors import (
    BAD_DATA,
    BROKEN_PIPE,
    BUG,
    FULL,
    INTERRUPTED,
    USAGE,
    CommandError,
    error_message,
    refuse_if,
)
from deadheat.core.cli.progress import Watch
from deadheat.core.cli.streams import (
    buffer_stdout,
    discard,
    open_standard_streams,
    show_traceback,
    showing_warnings,
    stderr_may_fail,
    write_lines,
)
from deadheat.core.errors import DataError, DeadheatError, NothingJudgedWarning, SourceTypeError, UserCodeError
from deadheat.core.gone import find_replacement
from deadheat.core.hooks import commands_by_name
from deadheat.core.interrupts import IS_COMMAND
from deadheat.core.io.guarding import collect_read_files, take_stderr
from deadheat.core.phases import set_watcher
from deadheat.core.wording import did_you_mean, escape_for_terminal, escape_invisible, join_sentences


class App(click.Group):
    """A group of commands that turns errors into messages; each is imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the names of the commands."""
        return list(commands_by_name())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return a command, from its file."""
        entry = commands_by_name().get(cmd_name)
        if entry is None:
            return _third_party_command(cmd_name)
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
            if plugin := hooks.find_plugin_of_command(name):
                ctx.fail(str(hooks.missing_plugin(f"the command {name}", plugin)))
            instead = find_replacement(f"deadheat {name}")
            refuse_if(instead, f"the command {name} is gone: {instead}")
            from deadheat.core import third_party  # as below

            names = [*known, *third_party.list_command_names()]
            if name not in names:
                ctx.fail(join_sentences(f"no command {name!r}.", did_you_mean(name, names), f"All: {', '.join(names)}"))
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command, and turn its exceptions into messages."""
        try:  # commands themselves report that a run retrieves no judged document
            with (
                warnings.catch_warnings(action="ignore", category=NothingJudgedWarning),
                showing_warnings(),
                set_watcher(Watch(ctx.meta, write_lines)),
                collect_read_files() as ctx.meta["read"],
            ):
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, SystemExit, GeneratorExit):
            raise
        except BaseException as error:
            if ctx.meta.get("debug"):
                show_traceback(error)
            elif isinstance(error, UserCodeError):
                show_traceback(error.__cause__ or error, is_of_user=True)
            invoked = ctx.invoked_subcommand or ""
            raise _ending(error, self.get_command(ctx, invoked) or self, invoked) from error

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
        open_standard_streams()
        buffer_stdout()
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


def _third_party_command(name: str) -> click.Command | None:
    """Return a command of a plugin of another distribution; None if there is none of this name."""
    if not name:
        return None
    from deadheat.core import third_party  # few commands are of other distributions

    entry = third_party.find_command(name)
    if entry is None:
        return None
    command: click.Command = third_party.import_command(name)
    command.short_help = entry.help
    return command


def _ending(error: BaseException, command: click.Command, invoked: str = "") -> BaseException:
    """Return what ends the command line for an exception: an exit code with or without a message.

    Parameters
    ----------
    error : BaseException
    command : click.Command
        Whose options a message names.
    invoked : str, default ""
        The name of the command, if one was found.
    """
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
        name = "" if error.filename is None else escape_invisible(str(error.filename))
        if error.errno in FULL:
            return CommandError(f"cannot write{f' {name!r}' if name else ''}: {error.strerror}")
        return CommandError(f"{name}: {error.strerror}" if name else error.strerror)
    bug = f"This is a bug in {_owner_of(invoked)}; please report it with the output of --debug."
    return CommandError(f"{type(error).__name__}: {error}\n{bug}", BUG)


def _owner_of(command: str) -> str:
    """Return whose a command is, to whom a bug is reported."""
    if not command or command in commands_by_name():
        return "deadheat"
    from deadheat.core import third_party  # as above

    owner = third_party.find_owner_of_command(command)
    return "deadheat" if owner is None else f"the plugin {owner.name} of {owner.origin}"


def _shown(error: BaseException) -> int:
    """Print what ended the command line, and return its exit code."""
    if isinstance(error, click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, click.ClickException):
        vars(error)["message"] = "\n".join(
            map(escape_for_terminal, error.message.split("\n"))
        )  # click declares it as final
        with stderr_may_fail():
            error.show()
        return error.exit_code
    has_mark = sys.stderr is not None and sys.stderr.isatty()  # pyright: ignore[reportUnnecessaryComparison] - shows ^C
    write_lines(*[""] * has_mark, "Interrupted")
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
