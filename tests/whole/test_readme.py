"""The README and docs/ are true: their commands run, their Python prints what they say, and so do their outputs."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import deadheat as dh
from support.pages import same
from support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.name: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]}
del PAGES["recipes.md"]  # test_recipes.py runs them, where what they are for is installed
del PAGES["agents.md"], PAGES["index.md"]  # test_guide.py runs them with the guide
del PAGES["simulations.md"]  # `make figures` holds it
del PAGES["glossary.md"]  # test_maintenance.py holds it
del PAGES["extending.md"]  # test_api.py holds it: it shows a plugin, which the tests install
del PAGES["sources.md"]  # test_sources.py runs its rows
del PAGES["design.md"]  # it shows records of registry.py, which test_plugins.py holds
del PAGES["adding.md"], PAGES["contributors.md"]  # the class that they show is in plugins/more_measures/cwl.py
del PAGES["math.md"]  # it has formulas alone: test_conformance.py holds them by enumeration
DATA = Path(dh.__file__).parent / "core" / "demo"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], flags=re.DOTALL | re.MULTILINE)


def commands_and_outputs(page: str) -> list[tuple[str, str]]:
    """Return each command line with the output shown under it."""
    pairs: list[tuple[str, str]] = []
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                pairs.append((line[2:], ""))
            else:
                command, output = pairs[-1]
                pairs[-1] = (command, output + line.rstrip() + "\n")
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(PAGES))
def test_commands_print_what_a_page_shows(page: str, tmp_path: Path) -> None:
    directory = tmp_path
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    for language, name in (("letor", "train.letor"),):  # a file that a page shows
        for content in blocks(page, language):
            (tmp_path / name).write_text(content, encoding="utf-8")
    ran = 0
    for command, shown in commands_and_outputs(page):
        program, *arguments = shlex.split(command)
        if program == "cd":
            directory /= arguments[0]
            continue
        assert program == "deadheat"
        done = subprocess.run(
            [sys.executable, "-m", "deadheat", *arguments],
            cwd=directory,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed = "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines())
        if "\n...\n" in shown:
            assert same(shown.strip("\n"), printed)  # a page leaves some of it out
        elif shown:
            assert printed == shown.strip("\n")
        ran += 1
    assert ran >= 2


@pytest.mark.parametrize("page", sorted(PAGES))
def test_python_examples(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)
    example = "\n".join(block for block in blocks(page, "python") if ">>>" in block)
    test = doctest.DocTestParser().get_doctest(example, {}, page, page, 0)
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test)
    assert result.attempted >= (3 if page == "README.md" else 5)
    assert result.failed == 0


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= 700


def test_every_measure_and_policy_is_named() -> None:
    overview = (ROOT / "docs/guide/overview.md").read_text(encoding="utf-8")
    names = set(re.findall(r"`(\w+)`", overview))
    assert set(dh.measures()) <= names
    assert {"expected", "best", "worst", "doc_id", "input", "random"} <= names


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\((?!http)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
