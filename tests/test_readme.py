"""The README is true: its commands run, its Python prints what it says, its table of outputs is today's output."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import deadheat as dh

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DATA = Path(dh.__file__).parent / "demo"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def commands_and_outputs() -> list[tuple[str, str]]:
    """Return each command line with the output shown under it."""
    pairs: list[tuple[str, str]] = []
    for block in blocks("console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                pairs.append((line[2:], ""))
            else:
                command, output = pairs[-1]
                pairs[-1] = (command, output + line.rstrip() + "\n")
    return pairs


def test_commands_print_what_the_readme_shows(tmp_path: Path) -> None:
    directory = tmp_path
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    ran = 0
    for command, shown in commands_and_outputs():
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
        if shown:
            assert "\n".join(line.rstrip() for line in done.stdout.strip("\n").splitlines()) == shown.strip("\n")
        ran += 1
    assert ran >= 2


def test_python_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)
    (example,) = blocks("python")
    test = doctest.DocTestParser().get_doctest(example, {}, "README", "README.md", 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 5
    assert result.failed == 0


def test_every_measure_and_policy_is_named() -> None:
    names = set(re.findall(r"`(\w+)`", README))
    assert set(dh.measures()) <= names
    assert {"expected", "best", "worst", "doc_id", "input", "random"} <= names
    assert f"all {len(dh.measures())} " in README


def test_links_lead_to_files() -> None:
    for target in re.findall(r"\]\((?!http)([^)]+)\)", README):
        assert (ROOT / target).exists(), target
