"""The command line, called in this process, and the two files that most of its tests use."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import click
from click.testing import CliRunner, Result

from deadheat.api import Report
from deadheat.core import hooks
from deadheat.core.cli import main
from deadheat.core.hooks import commands_by_name
from deadheat.core.report.formats import report_formats
from deadheat.errors import DeadheatError
from support.report_facts import facts_by_heading

if TYPE_CHECKING:
    from rich.text import Text

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


class OldResult(Result):
    """What a call before click 8.2 printed, with both streams in its output, as later versions have it."""

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


class OldRunner(CliRunner):
    """A runner before click 8.2, which keeps standard error apart only if it is asked to."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(mix_stderr=False, **options)  # type: ignore[call-arg]  # of click 8.1

    def invoke(self, *given: Any, **options: Any) -> Result:  # noqa: ANN401 - click's
        return OldResult(**vars(super().invoke(*given, **options)))


def runner(**options: Any) -> CliRunner:  # noqa: ANN401 - click's
    """Return what calls the command line in this process."""
    if "mix_stderr" in signature(CliRunner).parameters:
        return OldRunner(**options)
    return CliRunner(**options)


def call(*arguments: object) -> Result:
    words = list(map(str, arguments))
    result = runner().invoke(main, words)
    if result.exit_code == 0 and "json" in words[1:] and words[words.index("json") - 1] == "--format":
        check_json(next(word for word in words if word in commands_by_name()), result.stdout)
    return result


def check_json(name: str, text: str) -> None:
    """Hold what a command printed against its schema, but for what that requires; to a file it prints nothing."""
    if text and name != "convert":
        _validator(name).validate(json.loads(text))


@cache
def _validator(name: str) -> Any:  # noqa: ANN401 - of a library without types
    import jsonschema  # 0.13 s, which golden numbers need not

    schema = hooks.find_schemas()[name].read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator({**json.loads(schema), "required": []})


def ok(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def command(name: str) -> click.Command:
    """Return a command of the command line."""
    found = main.get_command(click.Context(main), name)
    assert found is not None
    return found


def report_of(*arguments: object, exit_code: int = 0) -> Report:
    """Return the report that a command prints for people, before it becomes text."""
    table = report_formats()["table"]
    reports: list[Report] = []

    def draw(report: Report, **options: int | None) -> Text:
        reports.append(report)
        assert table.draw is not None
        return table.draw(report, **options)

    with patch.dict(report_formats(), table=replace(table, draw=draw)):
        result = call(*arguments)
    assert result.exit_code == exit_code, result.output
    (report,) = reports
    return report


def facts_of(*arguments: object, exit_code: int = 0) -> dict[str, str]:
    """Return the facts that a command prints for people, by their headings; several of one heading are lines."""
    return facts_by_heading(report_of(*arguments, exit_code=exit_code))


def error_of(*arguments: object) -> DeadheatError:
    """Return the error that ends a command, whose parts are told apart instead of its sentence."""
    result = runner().invoke(main, list(map(str, arguments)), standalone_mode=False)
    assert result.exception is not None, result.output
    cause = result.exception.__cause__
    assert isinstance(cause, DeadheatError), result.exception
    return cause


def names_in(message: str) -> list[str]:
    """Return the options and the quoted names in what a command says, in their order; of an error without the usage."""
    _, _, sentence = message.rpartition("Error: ")
    names = []
    for option, quoted in re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)|'([^']*)'", sentence):
        names.append(option or quoted)
    return names
