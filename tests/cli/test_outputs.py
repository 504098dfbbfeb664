"""No command writes its output over a file that it was given to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

import deadheat as dh
from deadheat.cli.app import COMMANDS
from deadheat.cli.files import NamedFile
from support.command import call, command, ok

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES = {"report": ".html", "holes": ".csv"}  # of other commands: .json
OF_COMMANDS = {
    "bench": ["--collection", "documents-1.csv"],
    "convert": ["--to", "trec", "--force"],
    "explain": ["--reported", "RR=0.5"],
    "gate": ["-c", "RR > 0"],
    "simulate": ["--coarsen"],
    "steps": ["--query", "q1"],
}
SPANS = ["--spans", "spans-1.json"]
OF_PARAMETERS = {"documents": SPANS, "spans": [], "queries": ["--by", "language"]}  # what they go with
FOLDERS = {"figures", "folder"}  # that are written
IN_PLACE = {("rescore", "saved")}  # its --save may replace what it reads
TWICE = {("judges", "runs"): ["--run", "runs-2.json"]}  # one alone is refused for that


def is_output(option: click.Parameter) -> bool:
    return bool({"-o", "--output", "target"} & {*option.opts})


def names_file(option: click.Parameter) -> bool:
    return isinstance(option.type, NamedFile) or bool(re.search("FILE|TABLE|PATTERN", option.metavar or ""))


def calls() -> Iterator[tuple[str, list[str], str]]:
    """Yield each command with each of its files once: its name, its words, and the file that is the output too."""
    for name in COMMANDS:
        params, suffix = {str(one.name): one for one in command(name).params}, SUFFIXES.get(name, ".json")
        written = next((max(one.opts, key=len) for one in params.values() if is_output(one)), "")
        for key, one in params.items() if written else ():
            if is_output(one) or not names_file(one) or key in FOLDERS or (name, key) in IN_PLACE:
                continue
            words = [*OF_COMMANDS.get(name, ())]
            words += OF_PARAMETERS.get(key, ()) if "spans" in params or key == "queries" else ()
            if isinstance(one, click.Option):
                named = max(one.opts, key=len)
                if named in words:  # the one of `OF_COMMANDS` gives way to this one
                    place = words.index(named)
                    words = [*words[:place], *words[place + 2 :]]
                words += [named, f"x={key}-*{suffix}" if key == "repeats" else f"{key}-1{suffix}"]
                words += TWICE.get((name, key), [])
            for other in params.values():
                if isinstance(other, click.Argument) and not is_output(other) and key != "history":
                    n_files = 2 if other.nargs == -1 and "--spans" not in words and key != "save" else 1
                    words += [f"{other.name}-{n}{suffix}" for n in range(1, n_files + 1)]
            yield name, [*words, *([written] if written != "target" else []), f"{key}-1{suffix}"], f"{key}-1{suffix}"


def test_no_command_overwrites_a_file_that_it_was_given(folder: Path) -> None:
    tried, wrong = 0, []
    for name, words, output in calls():
        kept = "[tool.deadheat.gates]\nchecks = ['RR > 0']\n" if output == "config-1.json" else '{"q1": {"a": 0.5}}\n'
        for word in {*re.findall(r"[\w-]+\.(?:json|html|csv)", " ".join(words))}:
            (folder / word).write_text(kept)
        for n in (1, 2) if "--repeats" in words else ():
            (folder / f"repeats-{n}.json").write_text(kept)
        result, tried = call(name, *words), tried + 1
        is_refused = result.exit_code == 2 and "choose another name" in result.stderr
        if not is_refused or (folder / output).read_text() != kept:
            wrong.append((name, words, result.exit_code, result.stderr))
        for path in folder.glob("*-[12].*"):
            path.unlink()
    assert wrong == []
    assert tried > 70


def test_the_file_for_annotators_and_the_report_are_two(folder: Path) -> None:
    result = call("holes", "qrels.txt", "bm25.run", "--judge", "t.csv", "-o", "./t.csv")
    assert result.exit_code == 2
    assert "--judge and --output both write 't.csv': choose another name for one of them" in result.stderr
    assert not (folder / "t.csv").exists()


def test_a_saved_evaluation_of_a_folder_is_kept_and_a_report_in_it_is_renewed(folder: Path) -> None:
    for name in ("a/one", "a/two", "b/one", "b/two"):
        (folder / name).parent.mkdir(exist_ok=True)
        dh.evaluate("qrels.txt", "bm25.run", "RR").called(name[2:]).save(f"{name}.json")
    kept = (folder / "a" / "one.json").read_text()
    for words in (["history", "a"], ["leaderboard", "a"], ["agree", "a", "b"]):
        result = call(*words, "-o", "a/one.json")
        assert result.exit_code == 2, result.output
        assert "the output 'a/one.json' is a saved evaluation of 'a': choose another name" in result.stderr
        assert (folder / "a" / "one.json").read_text() == kept
        for _ in range(2):
            ok(*words, "-o", "a/trend.csv")
