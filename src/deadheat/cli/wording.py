"""How a command words an error: with options where Python has arguments."""

from __future__ import annotations

import click

from deadheat.errors import DeadheatError, MeasureError
from deadheat.wording import PYTHON, Words

OTHERWISE = {  # options whose arguments have other names
    "collection_texts": "texts",
    "original_texts": "original",
    "ci_method": "method",
    "measure": "measures",
}


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
