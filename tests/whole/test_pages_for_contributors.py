"""Pages for people who change deadheat: the files and names of the code that they mention are there."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from support.paths import ROOT

PAGES = ("CONTRIBUTING.md", "docs/adding.md", "docs/design.md", "docs/math.md", "changes/README.md")
PATH = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:pyi?|md|toml|yml|cff|txt)|(?:[\w.-]+/)+)`")
NAME = re.compile(r"`@?((?:\w+\.)*\w{3,})(?:\(.*?\))?`")
PLACED = re.compile(r"`@?(\w+)`(?: and `(\w+)`)? (?:of|in|\()\s?`([\w/]+\.pyi?)`")
OF_EXAMPLES = {"ResultClass", "lgamma"}  # a class that stands for any, and a function that is not used
MADE = ("build/", "ISSUE.KIND.md", "123.feature.md")  # no files of the repository


def read(page: str) -> str:
    """Return a page without its blocks of code."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


@cache
def list_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    return listed.stdout.splitlines()


@cache
def list_words() -> set[str]:
    """Return the words of the code, and those that pages have of their own."""
    words = set(OF_EXAMPLES)
    for name in list_files():
        if name.endswith((".py", ".pyi", ".toml")):
            words.update(re.findall(r"\w+", (ROOT / name).read_text(encoding="utf-8")))
    return words


def find_files(name: str) -> list[Path]:
    """Return the files that a page means by the end of their path."""
    return [ROOT / path for path in list_files() if f"/{path}".endswith(f"/{name}")]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_files_and_folders_that_exist(page: str) -> None:
    files = list_files()
    for name in PATH.findall(read(page)):
        if not name.startswith(MADE):
            assert any(f"/{name}" in f"/{path}/" for path in files), name


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_what_the_code_has(page: str) -> None:
    for name in NAME.findall(read(page)):
        assert list_words().issuperset(name.split(".")), name


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_places_in_a_file_is_there(page: str) -> None:
    for first, second, file in PLACED.findall(read(page)):
        texts = [path.read_text(encoding="utf-8") for path in find_files(file)]
        for name in filter(None, (first, second)):
            assert any(re.search(rf"\b{name}\b", text) for text in texts), f"{name} in {file}"
