"""Messages of the library in the words of the command line: options where arguments of Python are named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deadheat.cli.files import DESCRIPTOR, STDIN

if TYPE_CHECKING:
    from collections.abc import Mapping

    import click

# the argument, if a command must have it as an option; what the library says; what a command says
PHRASES = (
    ("input_format", r"( of these cases: .*), or pass format='(\w+)'", r"\1, or give --input-format \2"),
    ("from", r"pass format='(\w+)'", r"give --from \1"),
    ("max_decompressed", r"\bgive max_decompressed$", "give --max-decompressed"),
    ("", r", or pass format=(?:'\w+')?|pass format='\w+', or ", ""),
    ("k", r"but k=(\d+) are retrieved: set k=(\d+)", r"but \1 are retrieved: give --k \2"),
    (
        "at",
        r"^at is about the default measures, got at=\((.+?),?\) beside measures",
        r"--at is about the default measures, got \1 beside -m",
    ),
    ("cluster", " or a dict of case id to cluster", ""),
    ("cluster", r"^cases: cluster='(\w+)':", r"cases: --cluster \1:"),
    (
        "collection",
        "give a dict of name to cases, or another dataset_id",
        "give one another dataset_id, or its file another name",
    ),
)
QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')
STREAM = re.compile(rf"^({STDIN}|{DESCRIPTOR.pattern}):")


def options_of(command: click.Command) -> dict[str, str]:
    """Return the long options of a command by what the library calls them."""
    names = [name for parameter in command.params for name in parameter.opts if name.startswith("--")]
    found = {name.removeprefix("--").replace("-", "_"): name for name in names}
    return found | ({"method": "--ci-method"} if "ci_method" in found else {})


def in_phrases(message: str, options: Mapping[str, str]) -> str:
    """Return a message, of a file as a rule, with the advice that the library gives in the words of a command."""
    for needed, python, command in PHRASES:
        if not needed or needed in options:
            message = re.sub(python, command, message)
    if STREAM.match(message):  # it has no name that could be another one
        message = re.sub(r"\bname (?:it|the file) (\.\w+)", r"save it in a file that ends in \1", message)
    return message


def in_words(message: str, options: Mapping[str, str]) -> str:
    """Return a message about arguments with the options of a command in their place.

    What a user gave is quoted, in double quotes where it holds single ones, and stays as it is.

    Examples
    --------
    >>> in_words("cluster is for the tests 't', got test='sign'", {"test": "--test", "cluster": "--cluster"})
    "--cluster is for the tests 't', got --test sign"
    """
    names = "|".join(options)
    parts = QUOTED.split(in_phrases(message, options))
    parts[::2] = [
        re.sub(rf"\b({names})='(\w+)'", lambda found: f"{options[found[1]]} {found[2]}", part) for part in parts[::2]
    ]
    return re.sub(rf"^({names})(?= (must|is|has|needs)\b)", lambda found: options[found[1]], "".join(parts))
