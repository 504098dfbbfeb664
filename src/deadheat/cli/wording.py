"""How a command words an error: with options where Python has arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import click

from deadheat.errors import DeadheatError, MeasureError
from deadheat.wording import LONGEST_GIVEN, PYTHON, Advice, Words, as_given

STDIN = "/dev/stdin"
DESCRIPTOR = re.compile(r"/dev/fd/\d+|/proc/(self|\d+)/fd/\d+")
FORMATS = {"cases": "input_format", "documents": ""}  # the option with the format of what a file holds

# options whose arguments have other names
OTHERWISE = {"collection_texts": "texts", "original_texts": "original"}


class CommandWords(Words):
    """The wording of a command.

    Parameters
    ----------
    command : click.Command
    """

    is_python = False

    def __init__(self, command: click.Command) -> None:
        names = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
        self.options = {name.removeprefix("--").replace("-", "_"): name for name in names}
        if any("-m" in parameter.opts for parameter in command.params):
            self.options["measures"] = "-m"
        for option, name in OTHERWISE.items():
            if option in self.options:
                self.options[name] = self.options[option]
        if "ci_method" in self.options:
            self.options["method"] = "--ci-method"

    def argument(self, name: str, value: object = None) -> str:
        """Name an option, with its value if there is one; what is not an option keeps its Python name."""
        if name not in self.options:
            return super().argument(name, value)
        if isinstance(value, Mapping):
            value = ",".join(f"{key}={one}" for key, one in value.items())
        return self.options[name] if value is None else f"{self.options[name]} {value}"

    def given(self, value: object, limit: int = LONGEST_GIVEN) -> str:
        """Show what was given; several values with commas between them, as they are typed."""
        return ", ".join(map(as_given, value)) if isinstance(value, list | tuple) else as_given(value, limit)

    def advice(self, advice: Advice, path: Path | None) -> str:
        """Say which option to give, if there is one, and how to name the file."""
        is_format = advice.argument == "format"
        option = FORMATS.get(advice.of, "from") if is_format else advice.argument
        value = advice.value
        if isinstance(value, Mapping):  # columns, of one kind of files: the other may have other names
            value = {f"{advice.of}." * bool(advice.of) + name: column for name, column in value.items()}
        give = f"give {self.argument(option, value)}" if option in self.options else ""
        if not advice.endings:
            return f"{advice.when}{give}" if give else ""
        is_stream = str(path) == STDIN or DESCRIPTOR.fullmatch(str(path))  # a stream has no name to change
        name = "save it in a file that ends in" if is_stream else "name the file"
        return f"{advice.when}{name} {advice.endings}" + f", or {give}" * bool(give)


def error_message(error: DeadheatError, command: click.Command | None = None, *, has_place: bool = True) -> str:
    """Return the message of an error, worded for a command: by default for the one that runs."""
    command = command or click.get_current_context().command
    is_notation = isinstance(error, MeasureError)  # notations are Python's on the command line too
    return error.told(PYTHON if is_notation else CommandWords(command), has_place=has_place)
