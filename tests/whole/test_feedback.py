"""What every command shares: help that fits a screen, --quiet, --verbose and --debug, and one line after Ctrl-C."""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

import click
import pytest

import deadheat as dh
from deadheat.core.cli.help import Command
from deadheat.core.hooks import commands_by_name
from support.command import QRELS, RUN, call, command as command_of, ok

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

TIME = re.compile(r"\d+\.\d+ s")
TIMED = re.compile(r"(.+): \d+\.\d+ s")
CALLS = {
    "evaluate": ["qrels.txt", "bm25.run"],
    "compare": ["qrels.txt", "bm25.run", "other.run"],
    "fuse": ["bm25.run", "other.run"],
    "agree": ["bm25.run", "other.run"],
    "explain": ["qrels.txt", "bm25.run", "--reported", "RR=0.5"],
    "holes": ["qrels.txt", "bm25.run"],
    "items": ["bm25.run"],
    "report": ["qrels.txt", "bm25.run", "other.run", "-o", "r.html", "-m", "RR"],
    "gate": ["qrels.txt", "bm25.run", "-c", "RR > 0"],
    "rescore": ["saved.json", "qrels.txt"],
    "history": ["saved.json"],
    "leaderboard": ["results.csv"],
    "diff": ["qrels.txt", "qrels.txt", "bm25.run"],
    "judges": ["qrels.txt", "qrels.txt"],
    "ties": ["bm25.run", "qrels.txt"],
    "steps": ["qrels.txt", "bm25.run", "--query", "q1"],
    "simulate": ["--queries", "20"],
    "trec_eval": ["qrels.txt", "bm25.run"],
    "measures": ["nDCG"],
    "convert": ["bm25.run", "-", "--to", "csv"],
    "bench": ["cases.csv", "--collection", "documents.csv", "--retriever", "bm25"],
    "validate": ["cases.csv"],
    "schema": ["gate"],
    "plugins": [],
    "demo": [],
}
OTHERS = {
    "leaderboard",
    "measures",
    "demo",
    "schema",
    "plugins",
    "validate",
    "bench",
    "simulate",
    "rescore",
    "history",
    "judges",
}
READERS = sorted(set(CALLS) - OTHERS)
LOOK_UPS = {"measures", "schema", "plugins"}  # print what the package holds, and compute nothing
WORK = {  # what each command calls its work while that lasts, beside reading, placing and writing
    "evaluate": {"evaluating runs", "making the report"},
    "compare": {"comparing pairs", "making the report"},
    "fuse": {"fusing runs", "making the report"},
    "agree": {"ranking documents", "comparing bm25 and other"},
    "leaderboard": {"ranking models"},
    "report": {"making the page"},
    "gate": {"checking gates"},
    "rescore": {"scoring again"},
    "diff": {"comparing judgments"},
    "ties": {"describing ties"},
    "steps": {"taking steps"},
    "explain": {"trying conventions"},
    "history": {"comparing with the reference"},
    "holes": {"weighing documents"},
    "judges": {"comparing labels", "estimating agreement"},
    "items": {"counting items"},
    "simulate": {"making up rerankers"},
    "trec_eval": {"evaluating bm25"},
    "convert": {"reading bm25.run", "looking for repeated pairs in bm25"},  # is nothing but reading and writing
    "bench": {"indexing documents", "searching for cases", "making the report"},
    "validate": {"checking cases.csv", "comparing with the schema"},
    "demo": {"evaluating Olz-gpt4o"},
}
LONG = {"bench", "report", "validate"}  # take more than a second
PRINTERS = sorted(set(CALLS) - {"report", "trec_eval", "convert", "schema"})  # those whose output is a report


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a saved evaluation, which each test has a copy of."""
    folder = tmp_path_factory.mktemp("saved")
    (folder / "qrels.txt").write_text(QRELS)
    (folder / "bm25.run").write_text(RUN)
    return dh.evaluate(folder / "qrels.txt", folder / "bm25.run", "RR").save(folder / "saved.json")


@pytest.fixture(autouse=True)
def files(folder: Path, saved: Path) -> None:
    (folder / "other.run").write_text("q1 Q0 a 1 0.5 t\nq2 Q0 v 1 0.9 t\n")
    (folder / "cases.csv").write_text("id,text,expected_ids\nq1,red apple,a\nq2,blue sky,x\n")
    (folder / "documents.csv").write_text("doc_id,text\na,a red apple\nx,a blue sky\n")
    (folder / "results.csv").write_text("task,model,value\nt1,a,0.5\nt1,b,0.4\nt2,a,0.5\nt2,b,0.6\n")
    shutil.copy(saved, folder)


def test_every_command_is_called_here() -> None:
    assert set(CALLS) == set(commands_by_name())


@pytest.mark.parametrize("name", ["", *CALLS])
def test_help_and_examples_fit_80_columns(name: str) -> None:
    lines = ok(*filter(None, [name]), "--help-all" if name else "--help").splitlines()
    assert [line for line in lines if len(line) > 80] == []
    for option in ("--debug", "--quiet", "--verbose"):
        assert any(line.lstrip().startswith(option) for line in lines)


@pytest.mark.parametrize("name", CALLS)
def test_examples_are_commands_that_exist(name: str) -> None:
    command = command_of(name)
    assert isinstance(command, Command)
    joined = (" ".join(lines).replace("\\ ", " ") for lines in command.examples)
    commands = [line.strip() for line in joined if line.strip().startswith("deadheat ")]
    assert commands
    known = {flag for option in command.params for flag in (*option.opts, *option.secondary_opts)}
    for line in commands:
        words = shlex.split(line.partition("    ")[0].partition(" >> ")[0], comments=True)
        assert words[1] == name
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, line


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_before", [True, False], ids=["before", "after"])
def test_quiet_says_nothing_but_errors(name: str, *, is_before: bool) -> None:
    whole = call(name, *CALLS[name])
    quiet = called(name, "--quiet", is_before=is_before)
    assert (quiet.exit_code, quiet.stdout) == (whole.exit_code, whole.stdout)
    assert quiet.stderr == ""
    wrong = call(name, "--quiet", "--nonsense")
    assert wrong.exit_code == 2
    assert "No such option" in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_before", [True, False], ids=["before", "after"])
def test_verbose_says_what_is_done_on_stderr_alone(name: str, *, is_before: bool) -> None:
    whole = call(name, *CALLS[name])
    verbose = called(name, "--verbose", is_before=is_before)
    assert (verbose.exit_code, verbose.stdout) == (whole.exit_code, whole.stdout)
    if name in READERS:
        assert "reading bm25.run: 0." in verbose.stderr
    said, more = ({TIME.sub("t s", line) for line in one.stderr.splitlines() if line} for one in (whole, verbose))
    assert said <= more
    assert "reading bm25.run" not in whole.stderr


def test_every_command_names_its_work() -> None:
    assert set(WORK) == set(commands_by_name()) - LOOK_UPS


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in WORK]
)
def test_the_work_of_every_command_is_a_phase(name: str) -> None:
    phases = phases_of(name, *CALLS[name])
    assert WORK[name] <= phases, phases


@pytest.mark.parametrize("name", PRINTERS)
def test_laying_out_a_report_is_a_phase(name: str) -> None:
    assert "laying out the report" in phases_of(name, *CALLS[name])


@pytest.mark.parametrize(
    ("arguments", "work"),
    [
        (["evaluate", "qrels.txt", "bm25.run", "--ties", "doc_id"], {"breaking ties by doc_id"}),
        (
            ["evaluate", "qrels.txt", "bm25.run", "--by", "kind", "--queries", "queries.csv"],
            {"reading queries.csv", "grouping queries"},
        ),
        (["simulate", "--scenarios", "20"], {"making up rankings"}),
        (["agree", "saves", "saves"], {"comparing orders of systems"}),
        (["judges", "qrels.txt", "qrels.txt", "--format", "html"], {"making the page"}),
        (["leaderboard", "results.csv", "--format", "html"], {"making the page"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_options_ask_for_is_a_phase(arguments: list[str], work: set[str], folder: Path) -> None:
    (folder / "queries.csv").write_text("query_id,kind\nq1,short\nq2,long\nq3,short\nq4,long\n")
    (folder / "saves").mkdir()
    for name in ("bm25", "other"):
        dh.evaluate(folder / "qrels.txt", folder / f"{name}.run", "RR").save(folder / "saves" / f"{name}.json")
    phases = phases_of(*arguments)
    assert work <= phases, phases


def phases_of(*arguments: str) -> set[str]:
    """Return the names of the phases of a command, as --verbose prints them with their seconds."""
    result = call(*arguments, "--verbose")
    assert result.exit_code == 0, result.stderr
    lines = [TIMED.fullmatch(line) for line in result.stderr.splitlines()]
    return {match[1] for match in lines if match}


def called(name: str, option: str, *, is_before: bool) -> Result:
    return call(option, name, *CALLS[name]) if is_before else call(name, *CALLS[name], option)


@pytest.mark.parametrize("name", CALLS)
def test_quiet_and_verbose_exclude_each_other(name: str) -> None:
    for arguments in ([name, *CALLS[name], "--quiet", "--verbose"], ["--verbose", name, *CALLS[name], "--quiet"]):
        result = call(*arguments)
        assert result.exit_code == 2
        assert "--quiet and --verbose are mutually exclusive" in result.stderr


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("is_before", [True, False], ids=["before", "after"])
def test_debug_shows_the_traceback_of_errors(name: str, *, is_before: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    command = command_of(name)
    monkeypatch.setattr(command, "callback", failing)
    monkeypatch.setattr(command, "params", [one for one in command.params if not one.expose_value])
    result = call("--debug", name) if is_before else call(name, "--debug")
    assert result.exit_code == 70
    assert "in failing" in result.stderr
    plain = call(name)
    assert plain.exit_code == 70
    assert "in failing" not in plain.stderr


def failing() -> None:
    raise RuntimeError("broken")


def wrapped() -> RuntimeError:
    """What Python 3.11 makes of Ctrl-C inside a class statement of a library that is being imported."""
    error = RuntimeError("Error calling __set_name__")
    error.__cause__ = KeyboardInterrupt()
    return error


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort, wrapped()])
def test_an_interrupt_is_one_line(
    name: str, error: type[BaseException] | BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> None:
        raise error

    command = command_of(name)
    monkeypatch.setattr(command, "callback", interrupted)
    monkeypatch.setattr(command, "params", [])
    result = call(name)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "Interrupted\n")
