"""Help in two sizes: one screen for each command, and every option in a group. A new command is covered by itself."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import click
import pytest

from deadheat import registry
from deadheat.api import Plugin, command as new_command, option, with_options
from deadheat.core import hooks
from deadheat.core.cli.help import HEADINGS, MOST, Command, heading_of
from deadheat.core.cli.options import OPTIONS
from deadheat.core.hooks import commands_by_name
from deadheat.core.plugin_records import OptionGroup
from support.command import call, command, ok

OPTION = re.compile(r"^  (-\w, )?--[\w-]+", re.MULTILINE)
HEADING = re.compile(r"^(\w+):$", re.MULTILINE)


def options_of(name: str) -> list[click.Option]:
    return [one for one in command(name).params if isinstance(one, click.Option)]


@pytest.mark.parametrize("name", commands_by_name())
def test_help_is_one_screen_with_two_examples_and_the_options_most_used(name: str) -> None:
    text = ok(name, "--help")
    assert len(text.splitlines()) <= 60
    shown = OPTION.findall(text.partition("\nOptions:\n")[2])
    assert len(shown) == min(MOST, len(options_of(name)) - 1) + 2  # and --help and --help-all
    assert text.partition("\nExamples:\n")[2].count("deadheat ") == min(2, len(examples_of(name)))
    for one in options_of(name):
        if one.required:
            assert one.opts[-1] in text


def examples_of(name: str) -> list[list[str]]:
    found = command(name)
    assert isinstance(found, Command)  # as `**examples(...)` makes it
    return found.examples


@pytest.mark.parametrize("name", commands_by_name())
def test_no_option_is_lost_and_each_is_in_its_group(name: str) -> None:
    text = ok(name, "--help-all")
    parts = re.split(HEADING, text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(sections) <= {"Options", "Examples", *(heading.capitalize() for heading in HEADINGS)}
    for one in options_of(name):
        listed = [
            heading
            for heading, section in sections.items()
            if re.search(rf"^  .*{one.opts[-1]}\b", section, re.MULTILINE)
        ]
        assert heading_of(one).capitalize() in listed, one.name
        told = " ".join(sections[heading_of(one).capitalize()].split())
        assert " ".join((one.help or "").split())[:40] in told
    assert "--help" in sections["Output"]
    assert sections["Examples"].count("deadheat ") >= len(examples_of(name))


def test_two_options_of_a_command_have_two_ranks() -> None:
    for name in commands_by_name():
        ranks = [rank for one in options_of(name) if (rank := getattr(one, "rank", None)) is not None]
        assert len(set(ranks)) == len(ranks), name


def test_an_option_that_commands_share_has_a_group() -> None:
    own = {"fields", "flags", "id_pattern"}
    lacking = {
        one.name
        for name in commands_by_name()
        for one in options_of(name)
        if name in {"evaluate", "compare"} and heading_of(one) == "options" and one.name in OPTIONS.keys() - own
    }
    assert lacking == set()


@pytest.mark.plugins
@pytest.mark.parametrize(
    ("name", "refused"),
    [("steps", ["random", "doc_id", "input"]), *((one, ["random"]) for one in ("gate", "diff", "rescore"))],
)
def test_help_lists_no_policy_of_ties_that_a_command_refuses(name: str, refused: list[str]) -> None:
    ties = next(one for one in options_of(name) if one.name == "ties")
    words = set(
        re.findall(
            r"\w+", (ties.help or "").partition("as trec_eval")[0] + (ties.help or "").partition("of the file)")[2]
        )
    )
    assert words.isdisjoint({*refused} - {"input"})
    assert ("input (" in (ties.help or "")) == ("input" not in refused)


def test_help_may_stand_anywhere() -> None:
    assert call("evaluate", "nothing.txt", "--help-all").exit_code == 0
    assert call("--help-all").exit_code == 2


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two plugins that add to one group of options, and one that is not there."""
    plugins = []
    for name in ("north", "south", "lost"):
        if name != "lost":
            added = SimpleNamespace(OPTIONS={name: option(f"--{name}", is_flag=True, heading="input", help="Go.")})
            monkeypatch.setitem(sys.modules, name, added)
        group = OptionGroup("ways", name, (f"--{name}",))
        plugins.append(Plugin(name, "A way.", package="deadheat" if name != "lost" else name, options=(group,)))
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, *plugins)))
    yield
    hooks.use_registry(registry.REGISTRY)


@pytest.mark.usefixtures("groups")
def test_several_plugins_may_add_to_a_group_of_options() -> None:
    @new_command("deadheat go --north", "deadheat go --lost", "deadheat go --south --lost    # far")
    @with_options("ways")
    def go() -> None:
        """Go.

        With --lost nobody
        comes back.

        With --south one comes far.
        """

    assert [one.opts for one in go.params][:2] == [["--north"], ["--south"]]
    assert isinstance(go, Command)
    assert go.examples == [["deadheat go --north"]]
    assert "--south" in (go.help or "")
    assert "lost" not in (go.help or "")

    @new_command("deadheat stay")
    @with_options("ways.south", "ways.lost")
    def stay() -> None:
        """Stay."""

    assert [one.opts for one in stay.params][:1] == [["--south"]]
    assert len(stay.params) == 2  # and --help-all
    with pytest.raises(KeyError):
        with_options("no such group")(stay)
