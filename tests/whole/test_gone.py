"""What deadheat no longer has: each old name says what to write instead, and docs/guide/moving.md lists it."""

from __future__ import annotations

import re
from typing import Any

import pytest

import deadheat as dh
from deadheat.core.gone import GONE
from deadheat.errors import ParameterError
from support.command import call
from support.error_parts import raises_parts
from support.paths import ROOT

PAGE = ROOT / "docs/guide/moving.md"
OPTIONS = [name for name in GONE if name.split()[-1].startswith("-")]
COMMANDS = [name.removeprefix("deadheat ") for name in GONE if name.startswith("deadheat ")]
NAMES = [name for name in GONE if name.isidentifier()]
ARGUMENTS = [name.removesuffix("=") for name in GONE if name.endswith("=")]
COMMAND = "evaluate"  # had the options that are named without a command


def test_the_page_lists_what_errors_know() -> None:
    table = PAGE.read_text("utf-8").partition("## What deadheat no longer has")[2]
    first_cells = re.findall(r"^\|([^|]*)\|", table, re.MULTILINE)
    listed = re.findall("`([^`]+)`", " ".join(first_cells))
    for name in GONE:
        as_written = {name, f"{COMMAND} {name}", f"dh.{name}"}
        assert as_written.intersection(listed), name


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_that_is_gone_says_what_to_write(name: str) -> None:
    *own, option = name.split()
    command = own[0] if own else COMMAND
    result = call(command, option, "x")
    assert result.exit_code == 2
    assert f"the option {option} is gone: {GONE[name]}" in " ".join(result.stderr.split())


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_that_is_gone_says_what_to_write(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(dh, name)
    assert GONE[name] in str(caught.value)
    assert not hasattr(dh, name)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_gone_says_what_to_write(name: str) -> None:
    result = call(name, "x.csv")
    assert result.exit_code == 2
    assert f"the command {name} is gone: {GONE[f'deadheat {name}']}" in " ".join(result.stderr.split())


@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.parametrize("function", [dh.evaluate, dh.compare, dh.place])
def test_an_argument_that_is_gone_says_what_to_write(name: str, function: Any) -> None:  # noqa: ANN401 - of any arguments
    with raises_parts(ParameterError, argument=name, hint=GONE[f"{name}="]):
        function({"q": {"a": 1}}, {"q": {"a": 1}}, **{name: False})
    with pytest.raises(TypeError, match=f"{function.__name__}.* 'no_such'"):
        function({"q": {"a": 1}}, {"q": {"a": 1}}, no_such=1)


def test_a_value_that_is_gone_says_what_to_write() -> None:
    with pytest.raises(ParameterError) as caught:
        dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "RR", unjudged="judge")
    assert GONE["unjudged='judge'"] in str(caught.value)
