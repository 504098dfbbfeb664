"""What is published names no folder of the machine that made it: pages, reports, and saved evaluations."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.core.cli.printing import FormatChoice
from support.command import call, command, ok
from support.json_schemas import SAMPLES, prepare

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "private-folder"
PAGES = """
report Q.txt A.run B.run -m RR --queries=queries.csv --by device --texts documents.csv --output=page.html
report Q.txt A.run B.run -m RR -opage.html --title both
report unanswerable.csv A.run B.run -m 'RR Abstain' -o page.html
report saved.json old.json -o page.html
report saved.json old.json --diff -o page.html
report --history O1 -o page.html
report Q.txt A.run B.run -m RR --fragment -o page.html
evaluate Q.txt A.run B.run -m RR --queries queries.csv --by device --weights traffic --save kept/ -o page.html
evaluate Q.txt A.run B.run -m RR --figures drawn -o page.html
compare Q.txt A.run B.run -m RR --queries queries.csv --weights traffic -o page.html
history saved.json old.json new.json --reference old.json -o page.html
gate saved.json --baseline O1 -o page.html
leaderboard tasks -m RR -o page.html
rescore saved.json Q.txt --save kept/ --format html
"""
MADE = {"page.html", "kept", "drawn"}
DIAGNOSTICS = {"validate"}  # where to look, for an editor


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("private") / FOLDER
    folder.mkdir()
    prepare(folder)
    return folder


def with_folders(line: str, folder: Path) -> list[str]:
    """Return the words of a command, in which each file has its absolute path."""
    names = {path.name for path in folder.iterdir()} | MADE
    words = []
    for word in shlex.split(line):
        before, equals, name = word.partition("=")
        if word.rstrip("/") in names:
            words.append(f"{folder}/{word}")
        elif word.startswith("-o") and word[2:] in names:
            words.append(f"-o{folder}/{word[2:]}")
        elif equals and (name in names or "*" in name):
            words.append(f"{before}={folder}/{name}")
        else:
            words.append(word)
    return words


@pytest.mark.slow
@pytest.mark.parametrize("line", PAGES.strip().splitlines())
def test_a_page_names_no_folder_of_this_machine(line: str, private: Path) -> None:
    page = private / "page.html"
    page.unlink(missing_ok=True)
    out = ok(*with_folders(line, private))
    text = page.read_text(encoding="utf-8") if page.exists() else out
    assert "<" in text
    assert FOLDER not in text


@pytest.mark.slow
@pytest.mark.parametrize("line", [line for line in SAMPLES.strip().splitlines() if line.split()[0] not in DIAGNOSTICS])
def test_a_report_names_no_folder_of_its_inputs(
    line: str, private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # for what it writes
    name, *words = with_folders(line, private)
    (form,) = (option.type for option in command(name).params if isinstance(option.type, FormatChoice))
    for chosen in form.choices:
        result = call(name, *words, "--format", chosen)
        assert FOLDER not in result.stdout, chosen


@pytest.mark.slow
@pytest.mark.plugins("compare")
def test_objects_of_python_show_no_folder(private: Path) -> None:
    runs = {name: private / f"{name}.run" for name in "AB"}
    evaluations = dh.evaluate(private / "Q.txt", runs, ["RR"])
    queries = dh.Queries(private / "queries.csv")
    weighted = evaluations["A"].weighted("traffic", queries)
    shown = [
        evaluations,
        evaluations["A"],
        weighted,
        evaluations["A"].by("device", queries),
        dh.compare(private / "Q.txt", runs, ["RR"]),
        dh.diff_qrels(private / "Q.txt", private / "labels.txt"),
        dh.history([private / "old.json", private / "new.json"], reference=private / "saved.json"),
    ]
    for thing in shown:
        assert FOLDER not in str(thing), type(thing)
        assert FOLDER not in thing.to_html(), type(thing)
    path = weighted.save(private / "weighted.json")
    assert FOLDER not in path.read_text(encoding="utf-8")


def test_what_a_program_has_to_find_again_is_told_in_full(private: Path) -> None:
    """JSON names the files that a command wrote, and errors those that it cannot read."""
    out = ok(
        "evaluate", private / "Q.txt", private / "A.run", "-m", "RR", "--save", private / "x.json", "--format", "json"
    )
    assert f'"{private / "x.json"}"' in out
    assert str(private / "none.run") in call("evaluate", private / "Q.txt", private / "none.run").stderr
