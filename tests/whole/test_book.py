"""The reading list of docs/design.md: its files exist, have what it names, and come after those that they import.

The same holds of the records that it says are handed on, and of the functions that it says the command calls. The short
list of CONTRIBUTING.md is what a command goes through.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from types import FrameType

import pytest

from support.command import QRELS, RUN, ok
from support.paths import ROOT, SOURCE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CORE: str = PROJECT["tool"]["importlinter"]["contracts"][0]["containers"][0]
FOLDER = SOURCE.joinpath(*CORE.split("."))
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
(SECTION,) = re.findall(r"^## The book\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
BOOK = dict(re.findall(r"^\d+\. `([\w/]+\.py)`: (.+)$", SECTION, re.MULTILINE))
RECORDS = re.findall(r"^\| `(\w+)` \| .+ \| `([\w/]+\.py)` \|$", SECTION, re.MULTILINE)
(COMMAND,) = re.findall(r"^The command calls (.+?)\. In Python", SECTION, re.MULTILINE)
FILES_OF_COMMAND = re.findall(r"`([\w/]+\.py)`", COMMAND)
CALLED = re.findall(r"`(\w+)`", COMMAND)
NUMBERS = [int(number) for number in re.findall(r"^(\d+)\. ", SECTION, re.MULTILINE)]


def module_of(name: str) -> str:
    path = Path(name).with_suffix("")
    parts = path.parent.parts if path.name == "__init__" else path.parts
    return ".".join([CORE, *parts])


def test_the_book_is_short() -> None:
    assert list(range(1, len(BOOK) + 1)) == NUMBERS
    assert len(BOOK) <= 36
    (to_the_number,) = re.findall(r"^### The number\n(.*?)^### ", SECTION, re.MULTILINE | re.DOTALL)
    assert 20 < len(re.findall(r"^\d+\. ", to_the_number, re.MULTILINE)) <= 26


@pytest.mark.every_case
@pytest.mark.parametrize("name", BOOK)
def test_a_file_of_the_book_has_what_is_said_of_it(name: str) -> None:
    tree = ast.parse((FOLDER / name).read_text(encoding="utf-8"))
    held = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            held.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            held.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            held |= {alias.name for alias in node.names}
    named = re.findall(r"`(\w+)`", BOOK[name])
    assert named
    assert set(named) <= held


def test_what_is_handed_on_is_in_files_of_the_book() -> None:
    assert len(RECORDS) > 10
    for record, name in RECORDS:
        tree = ast.parse((FOLDER / name).read_text(encoding="utf-8"))
        assert name in BOOK
        assert record in {node.name for node in tree.body if isinstance(node, ast.ClassDef)}


def test_the_command_calls_what_the_book_says() -> None:
    defined, used = set(), set()
    for name in FILES_OF_COMMAND:
        for node in ast.walk(ast.parse((FOLDER / name).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                defined.add(node.name)
            elif isinstance(node, ast.Name):
                used.add(node.id)
    assert set(CALLED) <= defined
    assert set(CALLED[1:]) <= used


@pytest.mark.every_case
@pytest.mark.parametrize("name", BOOK)
def test_a_file_of_the_book_imports_earlier_ones_alone(name: str) -> None:
    """When it is loaded; what functions import later, and what is imported for types, may come after it."""
    modules = [module_of(one) for one in BOOK]
    imported = set()
    for node in ast.parse((FOLDER / name).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            imported |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    later = modules[modules.index(module_of(name)) + 1 :]
    assert imported.isdisjoint(later)


def test_the_command_goes_through_the_files_that_contributing_lists(tmp_path: Path) -> None:
    """All that it lists, and not `evaluation/evaluate.py`, the way of Python."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## The way of one number")[2]
    steps = re.findall(r"^\d\. .+$", text.partition("\n## ")[0], re.MULTILINE)
    listed = set(re.findall(r"`(\w+/[\w/]+\.py)`", "\n".join(steps)))
    assert len(listed) > 10
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "bm25.run").write_text(RUN, encoding="utf-8")
    entered: set[str] = set()

    def note_file(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            entered.add(frame.f_code.co_filename)

    sys.setprofile(note_file)
    try:
        ok("evaluate", tmp_path / "qrels.txt", tmp_path / "bm25.run", "-m", "nDCG@10")
    finally:
        sys.setprofile(None)
    assert {str(FOLDER / name) for name in listed} <= entered
    assert str(FOLDER / "evaluation" / "evaluate.py") not in entered
