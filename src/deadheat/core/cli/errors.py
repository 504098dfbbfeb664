"""What ends a command: its exit codes, errors worded for the command line, and options that are refused."""

from __future__ import annotations

import errno
from collections.abc import Collection, Iterable, Sequence

import click

from deadheat.core.errors import (
    DeadheatError,
    MeasureError,
)

GATE_FAILED, USAGE, BAD_DATA, BUG, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 70, 130, 141  # a bug: EX_SOFTWARE
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # the disk, the quota, the limit on the size of files
OTHERWISE = {  # options whose arguments have other names
    "collection_texts": "texts",
    "original_texts": "original",
    "ci_method": "method",
    "measure": "measures",
    "retriever": "retrievers",
    "reranker": "rerankers",
    "similarity": "kind",
}


class CommandError(click.ClickException):
    """An error, shown as a message on stderr, that ends the command with an exit code."""

    def __init__(self, message: str, exit_code: int = BAD_DATA) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_code  # click declares it as a class attribute, shared by all instances


def error_message(error: DeadheatError, command: click.Command | None = None, *, has_place: bool = True) -> str:
    """Return the message of an error, worded for a command: by default for the one that runs."""
    command = command or click.get_current_context().command
    names = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    options = {name.removeprefix("--").replace("-", "_"): name for name in names}
    options |= {argument: options[option] for option, argument in OTHERWISE.items() if option in options}
    if any(parameter.name == "file_formats" for parameter in command.params):
        options["file_formats"] = options["input_format"]  # that of bench is of cases
    if "measures" in options:
        options["measures"] = "-m"
    # notations are Python's on the command line too
    return error.sentence(None if isinstance(error, MeasureError) else options, has_place=has_place)


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
    for name in names:
        if is_given(name):
            option = next(one for one in click.get_current_context().command.params if one.name == name)
            raise click.UsageError(f"{long_name(option)} {why}")


def is_given(name: str) -> bool:
    """Tell whether an option was given on the command line."""
    return click.get_current_context().get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


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
