"""What holds for several commands."""

from __future__ import annotations

import re

import click
import pytest

import deadheat as dh
from deadheat.core.hooks import commands_by_name
from deadheat.errors import DataError
from support.command import call, command as command_of, ok

pytestmark = pytest.mark.usefixtures("folder")


def test_options_that_nothing_uses_are_refused() -> None:
    for arguments in (["demo", "--digits", "2"], ["demo", "--force"], ["demo", "--copy", "x", "-o", "y"]):
        assert call(*arguments).exit_code == 2
    digits = next(option for option in command_of("evaluate").params if option.name == "digits")
    assert isinstance(digits, click.Option)
    assert str(digits.help).endswith("json and csv.")


@pytest.mark.plugins("ties")
@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "arguments",
    [
        ["ties", "demo-data/Olz-gpt4o.run.gz", "demo-data/qrels.human.txt.gz", "-m", "trec"],
        ["ties", "demo-data/Olz-gpt4o.run.gz", "demo-data/qrels.human.txt.gz"],
        ["evaluate", "demo-data/qrels.human.txt.gz", "demo-data/Olz-gpt4o.run.gz", "bm25.run", "--per-query"],
        ["measures"],
        ["measures", "--for"],
        ["demo"],
    ],
)
def test_tables_fit_a_screen(width: int, arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("demo", "--copy", "demo-data").exit_code == 0
    monkeypatch.setenv("COLUMNS", str(width))
    lines = ok(*arguments).splitlines()
    assert [line for line in lines if len(line) > width and not line.startswith("  deadheat ")] == []
    monkeypatch.setenv("COLUMNS", "200")
    if any("not shown at this width" in line for line in lines):
        assert "not shown" not in ok(*arguments)


@pytest.mark.parametrize("name", commands_by_name())
def test_an_empty_name_of_a_file_is_refused_and_not_the_current_folder(name: str) -> None:
    command = command_of(name)
    of_files = re.compile(r"FILE|FOLDER|DIR|SAVED|CASES|QRELS|RUN_OR|^IN$|^OUT$")
    named = [
        one for one in command.params if one.name in {"qrels", "run", "train"} or of_files.search(one.metavar or "")
    ]
    assert named
    for param in named:
        with pytest.raises(click.BadParameter, match="the file name is empty"):
            param.type.convert("", param, click.Context(command))


@pytest.mark.plugins("bench")
def test_an_empty_name_is_an_error_in_python_too() -> None:
    scores = dh.evaluate("qrels.txt", "bm25.run", ["RR"])
    for read in (dh.Run, dh.Qrels, dh.read_cases, dh.evaluate_columns, dh.load_evaluation, scores.save):
        with pytest.raises(DataError, match="the file name is empty"):
            read("")
    result = call("evaluate", "qrels.txt", "")
    assert (result.exit_code, result.stdout) == (2, "")
