"""No command writes its output over a file that it was given to read."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import click
import pytest

import deadheat as dh
from deadheat.core.cli import outputs as of_commands
from deadheat.core.cli.paths import NamedFile
from deadheat.core.hooks import commands_by_name
from support.command import call, command, names_in, ok
from support.process import command as process, environment

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
TUNING = ["--cluster", "language", "--tune", "RR", "--qrels", "qrels-1.json"]
BESIDE = {
    ("judges", "runs"): ["--run", "runs-2.json"],
    ("fuse", "queries"): TUNING,
    ("history", "queries"): ["--weights", "a"],
}  # what is refused without


def is_output(option: click.Parameter) -> bool:
    return bool({"-o", "--output", "target"} & {*option.opts})


def names_file(option: click.Parameter) -> bool:
    return isinstance(option.type, NamedFile) or bool(re.search("FILE|TABLE|PATTERN", option.metavar or ""))


def calls() -> Iterator[tuple[str, list[str], str]]:
    """Yield each command with each of its files once: its name, its words, and the file that is the output too."""
    for name in commands_by_name():
        params, suffix = {str(one.name): one for one in command(name).params}, SUFFIXES.get(name, ".json")
        written = next((max(one.opts, key=len) for one in params.values() if is_output(one)), "")
        for key, one in params.items() if written else ():
            if is_output(one) or not names_file(one) or key in FOLDERS or (name, key) in IN_PLACE:
                continue
            words = [*OF_COMMANDS.get(name, ())]
            words += OF_PARAMETERS.get(key, ()) if "spans" in params or (key == "queries" and "by" in params) else ()
            if isinstance(one, click.Option):
                named = max(one.opts, key=len)
                if named in words:  # the one of `OF_COMMANDS` gives way to this one
                    place = words.index(named)
                    words = [*words[:place], *words[place + 2 :]]
                words += [named, f"x={key}-*{suffix}" if key == "repeats" else f"{key}-1{suffix}"]
                words += BESIDE.get((name, key), [])
            for other in params.values():
                if isinstance(other, click.Argument) and not is_output(other) and key != "history":
                    n_files = 2 if other.nargs == -1 and "--spans" not in words and key != "save" else 1
                    words += [f"{other.name}-{n}{suffix}" for n in range(1, n_files + 1)]
            yield name, [*words, *([written] if written != "target" else []), f"{key}-1{suffix}"], f"{key}-1{suffix}"


@pytest.mark.plugins
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


@pytest.mark.plugins("weeks")
def test_the_file_for_annotators_and_the_report_are_two(folder: Path) -> None:
    result = call("holes", "qrels.txt", "bm25.run", "--judge", "t.csv", "-o", "./t.csv")
    assert result.exit_code == 2
    assert names_in(result.stderr) == ["--output", "--judge", "t.csv"]
    assert not (folder / "t.csv").exists()


@pytest.mark.slow
@pytest.mark.plugins("weeks")
def test_a_saved_evaluation_of_a_folder_is_kept_and_a_report_in_it_is_renewed(folder: Path) -> None:
    for name in ("a/one", "a/two", "b/one", "b/two"):
        (folder / name).parent.mkdir(exist_ok=True)
        dh.evaluate("qrels.txt", "bm25.run", "RR").called(name[2:]).save(f"{name}.json")
    kept = (folder / "a" / "one.json").read_text()
    for words in (["history", "a"], ["leaderboard", "a"], ["agree", "a", "b"]):
        result = call(*words, "-o", "a/one.json")
        assert result.exit_code == 2, result.output
        assert names_in(result.stderr) == ["a/one.json"]
        assert (folder / "a" / "one.json").read_text() == kept
        for _ in range(2):
            ok(*words, "-o", "a/trend.csv")


EVALUATE = ["evaluate", "qrels.txt", "bm25.run", "-m", "RR"]
FIGURES = ["--figures", "drawn", "--figure-format", "json"]
RUN_AS_JSON = '{"q1": {"a": 0.5, "b": 0.5}, "q2": {"v": 0.9, "x": 0.8}}'


def refused(*words: object) -> list[str]:
    """Return the options and files that a command names where it refuses what it is to write."""
    result = call(*words)
    assert result.exit_code == 2, result.output
    return names_in(result.stderr)


@pytest.mark.plugins("figures")
@pytest.mark.parametrize("linked", [False, True])
def test_a_figure_replaces_no_run(folder: Path, linked: bool) -> None:  # noqa: FBT001 - pytest passes by name
    """Once the run was Vega-Lite afterwards."""
    (folder / "drawn").mkdir()
    run = folder / "drawn" / "forest-RR.json"
    run.write_text(RUN_AS_JSON)
    given = "drawn/forest-RR.json"
    if linked:
        (folder / "link").symlink_to("drawn")
        given = "link/forest-RR.json"
    assert refused("evaluate", "qrels.txt", given, "-m", "RR", *FIGURES) == ["drawn/forest-RR.json", given]
    assert run.read_text() == RUN_AS_JSON
    assert [path.name for path in (folder / "drawn").iterdir()] == ["forest-RR.json"]


@pytest.mark.plugins("figures")
@pytest.mark.parametrize("form", ["json", "html"])
def test_a_width_is_not_for_files_whose_reader_decides_it(folder: Path, form: str) -> None:
    """Before anything is computed: once it was the last thing that the command said."""
    width = ("--figure-format", form, "--figure-width", "8")
    assert refused(*EVALUATE, "--figures", "drawn", *width) == ["--figure-width", "--figure-format"]
    assert not (folder / "drawn").exists()


@pytest.mark.plugins("figures")
@pytest.mark.parametrize("other", ["-o", "--save"])
def test_a_figure_and_another_output_are_two_files(folder: Path, other: str) -> None:
    """Once the figure replaced the save, and the report replaced the figure."""
    (folder / "drawn").mkdir()
    form = ["--format", "json"] if other == "-o" else []
    named = {"-o": "--output"}.get(other, other)
    names = [named, "--figures", "drawn/forest-RR.json"]
    assert refused(*EVALUATE, *FIGURES, other, "drawn/forest-RR.json", *form) == names
    assert list((folder / "drawn").iterdir()) == []


@pytest.mark.parametrize("kind", ["", "symbolic", "hard", "folder"])
def test_a_save_and_a_report_are_two_files(folder: Path, kind: str) -> None:
    other = "deep/x.json" if kind == "folder" else "x.json" if not kind else "y.json"
    ok(*EVALUATE, "--save", "x.json")
    if kind == "folder":
        (folder / "deep").symlink_to(".")
    elif kind == "symbolic":
        (folder / "y.json").symlink_to("x.json")
    elif kind == "hard":
        (folder / "y.json").hardlink_to(folder / "x.json")
    kept = (folder / "x.json").read_text()
    assert refused(*EVALUATE, "--save", "x.json", "-o", other) == ["--output", "--save", "x.json"]
    assert (folder / "x.json").read_text() == kept


def test_names_that_the_file_system_takes_for_one_are_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["--save", "x.json", "-o", "X.json"]
    ok(*EVALUATE, *files)
    (folder / "x.json").unlink()
    (folder / "X.json").unlink()
    monkeypatch.setattr(of_commands, "ignores_case", lambda _: True)
    assert refused(*EVALUATE, *files) == ["--output", "--save", "x.json"]


def test_the_file_system_says_whether_it_ignores_case(folder: Path) -> None:
    assert of_commands.ignores_case(folder) == (folder / "BM25.RUN").exists()


@pytest.mark.plugins("weeks")
def test_a_rescored_evaluation_replaces_what_it_was_made_from_only_if_that_is_asked_for(folder: Path) -> None:
    ok(*EVALUATE, "--save", "x.json")
    kept = (folder / "x.json").read_text()
    rescore = ["rescore", "x.json", "-m", "P@5", "--save", "x.json"]
    assert refused(*rescore) == ["x.json", "x.json", "--replace"]
    assert (folder / "x.json").read_text() == kept
    ok(*rescore, "--replace")
    assert dh.load_evaluation(folder / "x.json").means().keys() == {"P@5"}


@pytest.mark.plugins("leaderboard")
def test_a_run_in_a_folder_that_is_read_is_an_input(folder: Path) -> None:
    task = folder / "runs" / "task"
    task.mkdir(parents=True)
    (task / "qrels").write_bytes((folder / "qrels.txt").read_bytes())
    for name in ("forest-RR.json", "tiers-RR.json", "b.json"):
        (task / name).write_text(RUN_AS_JSON)
    assert refused("leaderboard", "runs", "-m", "RR", "-o", "runs/task/b.json") == ["runs/task/b.json"]
    assert (task / "b.json").read_text() == RUN_AS_JSON
    for _ in range(2):  # another file there may be renewed
        ok("leaderboard", "runs", "-m", "RR", "-o", "runs/table.json")


@pytest.mark.slow
def test_figures_of_one_name_are_several_files(folder: Path) -> None:
    """The names of --by a:b and of --by a-b begin alike."""
    (folder / "queries.csv").write_text(
        "query_id,a,b,a-b\n" + "".join(f"q{n},{n % 2},x,{n % 2}\n" for n in range(1, 5))
    )
    by = ["--queries", "queries.csv", "--by", "a:b", "--by", "a-b"]
    found = json.loads(ok(*EVALUATE, *by, *FIGURES, "--figure", "strata", "--format", "json"))["figures"]
    assert len({*found}) == len(found) == len(list((folder / "drawn").iterdir()))
    assert any(name.endswith(" 2.json") for name in found)


@pytest.mark.plugins("page", "weeks")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        ([*EVALUATE, "-o", "x.csv/"], "x.csv/"),
        (["convert", "bm25.run", "x.csv/"], "x.csv/"),
        (["holes", "qrels.txt", "bm25.run", "--judge", "x.csv/"], "x.csv/"),
        (["report", "qrels.txt", "bm25.run", "-o", "x.html/"], "x.html/"),
        (["schema", "evaluate", "-o", "x.json/"], "x.json/"),
    ],
)
def test_a_name_with_a_slash_at_its_end_is_no_file(folder: Path, words: list[str], named: str) -> None:
    assert refused(*words) == [named]
    assert not (folder / named[:-1]).exists()


@pytest.mark.plugins("figures")
def test_a_file_and_a_folder_of_one_name(folder: Path) -> None:
    assert refused(*EVALUATE, *FIGURES, "-o", "drawn") == ["--output", "--figures", "drawn"]
    assert not (folder / "drawn").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="a redirected file is locked there")
def test_standard_output_is_an_output_too(folder: Path) -> None:
    def run(*words: str, to: str, mode: str = "w") -> subprocess.CompletedProcess[str]:
        with (folder / to).open(mode) as file:
            return subprocess.run(
                process(*words),
                cwd=folder,
                env=environment(),
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )

    done = run(*EVALUATE, "--save", "x.json", to="x.json")
    assert (done.returncode, names_in(done.stderr)) == (2, ["--save", "x.json"])
    assert run(*EVALUATE, to="table.txt").returncode == 0


@pytest.mark.plugins("gates")
def test_a_gate_replaces_no_save_of_its_baseline_folder(folder: Path) -> None:
    (folder / "weeks").mkdir()
    older, newer = (folder / "weeks" / f"2026010{n}T000000Z-bm25.json" for n in (1, 2))
    for path in (older, newer):
        dh.evaluate("qrels.txt", "bm25.run", "RR").called("bm25").save(path)
    for path in (older, newer):
        kept = path.read_text()
        words = ("gate", "qrels.txt", "bm25.run", "-c", "RR > 0", "--baseline", "weeks", "-o", f"weeks/{path.name}")
        assert refused(*words) == [f"weeks/{path.name}"]
        assert path.read_text() == kept
