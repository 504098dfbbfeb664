"""What every command shares: errors as one message, exit codes, and --debug before or after the command."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import click

from deadheat.cli.words import in_phrases, in_words, options_of
from deadheat.errors import DataError, DeadheatError, DeadheatWarning, MeasureError, SourceTypeError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

GATE_FAILED, USAGE, BAD_DATA, BUG, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 70, 130, 141  # a bug: EX_SOFTWARE
DEBUG = "deadheat.debug"


class Failure(click.ClickException):
    """An error of the library as a message on stderr and an exit code.

    Parameters
    ----------
    message : str
    exit_code : int
    cause : BaseException, optional
        Shown as a traceback with ``--debug``.
    """

    def __init__(self, message: str, exit_code: int, cause: BaseException | None = None) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_code  # click declares it on the class, as the same for every instance
        self.cause = cause

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, after the traceback if there is one."""
        if self.cause is not None:
            click.echo("".join(traceback.format_exception(self.cause)), file=file, err=file is None, nl=False)
        super().show(file)


class App(click.Group):
    """A group of commands that turns errors into messages."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        """Return the commands in the order in which they are useful."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; name the nearest if there is none."""
        name = args[0]
        if name not in self.commands and not name.startswith("-") and not ctx.resilient_parsing:
            known = list(self.commands)
            ctx.fail(f"no command {name!r}.{did_you_mean(name, known)} All: {', '.join(known)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - what the command returns
        """Run the command; its exceptions become messages."""
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "no retrieved document", DeadheatWarning)  # the commands say it
                return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the user sees one message
            if isinstance(error, OSError) and error.errno == errno.EPIPE:
                forget_stdout()
                raise click.exceptions.Exit(BROKEN_PIPE) from None
            command = self.commands.get(ctx.invoked_subcommand or "", self)
            raise failure(error, options_of(command), debug=bool(ctx.meta.get(DEBUG))) from None

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: Any,  # noqa: ANN401 - what click passes on
    ) -> Any:  # noqa: ANN401 - what click returns
        """Run the command line and exit: 0 done, 1 a gate failed, 2 usage, 3 bad data, 70 a bug, 130 interrupted."""
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **extra)
        code: int | None
        try:
            code = super().main(args, prog_name, standalone_mode=False, **extra)
            if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - closed, it is
                sys.stdout.flush()
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except BrokenPipeError:
            forget_stdout()
            code = BROKEN_PIPE
        except OSError as error:  # such as a full disk behind the output of --help
            forget_stdout()
            click.echo(f"Error: cannot write: {error.strerror or error}", err=True)
            code = BAD_DATA
        sys.exit(code or 0)


def forget_stdout() -> None:
    """Send what is still to be written nowhere: its reader has gone, and Python would complain at exit."""
    with suppress(OSError, AttributeError):  # it is no file in a test, and None if it was closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def failure(error: Exception, options: Mapping[str, str], *, debug: bool) -> Failure:
    """Return an exception as a message with its exit code, in the words of a command with these options."""
    cause = error if debug else None
    if isinstance(error, MeasureError):  # parameters of a measure are written in Python's way here too
        return Failure(str(error), USAGE, cause)
    if isinstance(error, DataError | SourceTypeError):
        return Failure(in_phrases(str(error), options), BAD_DATA, cause)
    if isinstance(error, DeadheatError):
        return Failure(in_words(str(error), options), USAGE, cause)
    if isinstance(error, MemoryError):
        return Failure("not enough memory for this data", BAD_DATA, cause)
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return Failure(f"{where}{error.strerror}", BAD_DATA, cause)
    message = (
        f"{type(error).__name__}: {error}\nThis is a mistake in deadheat; please report it with the output of --debug."
    )
    return Failure(message, BUG, cause)


def _set_debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:  # noqa: FBT001 - the signature is click's
    if value:
        ctx.meta[DEBUG] = True


def debug_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --debug; the contexts of a group and its command share what it sets."""
    option = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=_set_debug,
        help="Show tracebacks of errors.",
    )
    return option(command)
