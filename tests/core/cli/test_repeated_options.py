"""An option that takes one value is given once: with two, click takes the last one in silence."""

from __future__ import annotations

import click
import pytest

from deadheat.core.hooks import commands_by_name
from support.command import call, command as command_of, names_in, ok

SEVERAL = {  # the options that take several values, by being repeated
    *("-m", "-c", "--by", "--baseline", "--columns", "--repeats", "--then-by", "--spark-conf", "--query-type"),
    *("--reranker", "--retriever", "--run", "--collection-texts", "--reported", "--preset", "--figure", "--grid"),
}


def options_of(name: str) -> list[click.Option]:
    return [option for option in command_of(name).params if isinstance(option, click.Option)]


@pytest.mark.parametrize("name", commands_by_name())
def test_an_option_of_one_value_is_refused_where_it_is_given_twice(name: str) -> None:
    for option in options_of(name):
        if option.multiple or option.is_flag:
            continue
        for spelling in option.opts:
            result = call(name, spelling, "1", spelling, "2")
            assert result.exit_code == 2, spelling
            assert "given 2 times" in result.stderr, spelling
            assert set(names_in(result.stderr)) & {*option.opts}, spelling


@pytest.mark.parametrize("name", commands_by_name())
def test_only_options_of_several_values_may_be_repeated(name: str) -> None:
    repeatable = {option.opts[0] for option in options_of(name) if option.multiple}
    assert repeatable <= SEVERAL


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--ties", "best", "--ties", "worst"], "--ties"),
        (["--ties=best", "--ties", "worst"], "--ties"),
        (["--ties", "best", "--rel", "1", "--ties", "best"], "--ties"),
        (["-o", "a.txt", "--output", "b.txt"], "--output"),
        (["--duplicates", "best", "--duplicates", "first"], "--duplicates"),
    ],
)
def test_the_error_names_the_option_however_it_is_spelled(arguments: list[str], name: str) -> None:
    result = call("evaluate", "qrels.txt", "bm25.run", *arguments)
    assert result.exit_code == 2
    assert f"Error: {name} is given 2 times" in result.stderr


@pytest.mark.plugins("leaderboard")
def test_two_names_of_one_option_are_one_option() -> None:
    result = call("leaderboard", "results.csv", "-m", "RR", "--measure", "AP")
    assert result.exit_code == 2
    assert "Error: -m is given 2 times" in result.stderr


@pytest.mark.usefixtures("folder")
def test_flags_and_options_of_several_values_may_be_repeated() -> None:
    once = ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR AP", "--ci")
    assert ok("evaluate", "qrels.txt", "bm25.run", "-m", "RR", "-m", "AP", "--ci", "--ci") == once


def test_help_is_shown_whatever_is_given_twice() -> None:
    assert "Usage:" in ok("evaluate", "--ties", "best", "--ties", "worst", "--help")
    assert "Usage:" in ok("evaluate", "--ties", "best", "--ties", "worst", "--help-all")
