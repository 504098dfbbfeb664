"""The command line, called in this process, and the two files that most of its tests use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from deadheat.cli import main

if TYPE_CHECKING:
    from click.testing import Result

QRELS = """q1 0 a 2
q1 0 b 0
q2 0 x 1
q3 0 y 0
q4 0 z 1
"""
RUN = """q1 Q0 a 1 0.5 t
q1 Q0 b 2 0.5 t
q2 Q0 v 1 0.9 t
q2 Q0 x 2 0.8 t
q3 Q0 y 1 1 t
q9 Q0 y 1 1 t
"""


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def ok(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def command(name: str) -> click.Command:
    """Return a command of the command line."""
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found
