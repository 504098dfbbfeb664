"""Options with one value are given once: every command refuses a second value, which click would take in silence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from deadheat.cli import main

if TYPE_CHECKING:
    from click.testing import Result

SINGLE = [
    (command, option)
    for command in main.commands.values()
    for option in command.params
    if isinstance(option, click.Option) and not option.multiple and not option.is_flag
]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize(("command", "option"), SINGLE, ids=lambda one: one.name)
def test_every_option_with_one_value_takes_one(command: click.Command, option: click.Option) -> None:
    name = max(option.opts, key=len)
    result = call(
        str(command.name), *(word for value in ("a", "b") for opt in option.opts[:1] for word in (opt, value))
    )
    assert result.exit_code == 2
    assert f"{name} takes one value, got it twice: 'a' and 'b'" in result.stderr
    assert f"Usage: main {command.name}" in result.stderr


def test_every_spelling_counts() -> None:
    result = call("evaluate", "q", "r", "-oa.txt", "--output=b.txt", "-o", "c.txt")
    assert result.exit_code == 2
    assert "--output takes one value, got it 3 times: 'a.txt' and 'b.txt' and 'c.txt'" in result.stderr


def test_the_same_value_twice_is_one_too_many() -> None:
    assert "got it twice: 'doc_id' and 'doc_id'" in call("evaluate", "q", "r", *["--ties", "doc_id"] * 2).stderr


def test_an_option_without_its_optional_value_counts() -> None:
    assert "got it twice: without a value and 'top3'" in call("measures", "--for", "--for", "top3").stderr


def test_flags_may_be_repeated_but_not_contradicted() -> None:
    assert "no such file" in call("evaluate", "q", "r", "--ci", "--ci").stderr
    result = call("evaluate", "q", "r", "--check-duplicates", "--no-check-duplicates")
    assert result.exit_code == 2
    assert "--check-duplicates and --no-check-duplicates are mutually exclusive" in result.stderr


def test_what_looks_like_an_option_is_none_behind_two_dashes() -> None:
    assert "takes one value" not in call("evaluate", "--ties", "doc_id", "--", "--ties", "x").stderr


def test_options_that_may_be_repeated_still_are() -> None:
    assert (
        "no such file"
        in call("evaluate", "q", "r", "-m", "RR", "-m", "AP", "--by", "a", "--by", "b", "--queries", "t").stderr
    )


def test_a_shell_completes_behind_a_repeated_option() -> None:
    words = "deadheat evaluate --ties expected --ties d"
    environment = {"_DEADHEAT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": "5"}
    done = CliRunner(env=environment).invoke(main, prog_name="deadheat")
    assert done.stdout.split() == ["plain,doc_id"]


def test_columns_are_named_at_once_or_one_by_one() -> None:
    Path("q.qrels").write_text("q1 0 d1 1\nq1 0 d2 0\n")
    Path("r.csv").write_text("topic,document,sc\nq1,d1,0.5\nq1,d2,0.4\n")
    names = ["run.query_id=topic", "run.doc_id=document", "run.score=sc"]
    at_once = call("evaluate", "q.qrels", "r.csv", "--columns", ",".join(names))
    one_by_one = call("evaluate", "q.qrels", "r.csv", *(word for name in names for word in ("--columns", name)))
    assert at_once.exit_code == 0, at_once.stderr
    assert one_by_one.stdout == at_once.stdout
    again = call("evaluate", "q.qrels", "r.csv", "--columns", "score=sc", "--columns", "score=topic")
    assert again.exit_code == 2
    assert "score is given 2 times" in again.stderr


def test_columns_of_files_without_names_say_how_to_name_those_of_the_others() -> None:
    Path("q.qrels").write_text("q1 0 d1 1\n")
    Path("r.csv").write_text("topic,docid,score\nq1,d1,0.5\n")
    result = call("evaluate", "q.qrels", "r.csv", "--columns", "query_id=topic")
    assert result.exit_code == 2
    message = "got q.qrels, a trec file, which has no names; for the run alone, give --columns run.query_id=topic"
    assert message in result.stderr
