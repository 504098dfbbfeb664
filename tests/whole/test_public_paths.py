"""Public paths of modules: each is the module that it stands for, has a stub, and pages import no others."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import deadheat
from support.paths import ROOT

PACKAGE = Path(deadheat.__file__).parent
ALIASES = {  # what each is
    "deadheat.compat.ir_measures": "deadheat.plugins.compat.ir_measures",
    "deadheat.compat.ir_measures_provider": "deadheat.plugins.compat.ir_measures_provider",
    "deadheat.compat.pytrec_eval": "deadheat.plugins.compat.pytrec_eval",
    "deadheat.compat.ranx": "deadheat.plugins.compat.ranx",
    "deadheat.errors": "deadheat.core.errors",
    "deadheat.figures": "deadheat.plugins.figures.figures",
    "deadheat.stats": "deadheat.core.stats",
    "deadheat.integrations.sentence_transformers": "deadheat.plugins.sentence_transformers.evaluators",
}
NOT_ALIASED = {"deadheat.api", "deadheat.compat"}
NEEDS = {"ir_measures": "ir_measures", "sentence_transformers": "sentence_transformers", "figures": "altair"}
OF_CONTRIBUTORS = {"design.md", "adding.md"}  # they show inner names
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.name not in OF_CONTRIBUTORS),
]
SAME = """
import json, sys
from importlib import import_module

aliases = json.loads(sys.argv[1])
print(json.dumps([path for path, module in aliases.items() if import_module(path) is import_module(module)]))
"""


@pytest.fixture(scope="module")
def same_paths() -> list[str]:
    """Return the paths that are their modules.

    They are imported in a process of its own, as some change a library when they are imported.
    """
    importable = {path: module for path, module in ALIASES.items() if not missing_package(path)}
    command = [sys.executable, "-c", SAME, json.dumps(importable)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    same: list[str] = json.loads(done.stdout)
    return same


def missing_package(path: str) -> str:
    """Return the package that a path needs and that is not installed; "" if there is none."""
    for name, package in NEEDS.items():
        if name in path and find_spec(package) is None:
            return package
    return ""


@pytest.mark.every_case
@pytest.mark.parametrize("path", ALIASES)
def test_a_public_path_is_the_module_that_it_stands_for(path: str, same_paths: list[str]) -> None:
    if package := missing_package(path):
        pytest.skip(f"{package} is not installed")
    assert path in same_paths


def stub_of(path: str) -> Path:
    return PACKAGE.parent.joinpath(*path.split(".")).with_suffix(".pyi")


@pytest.mark.every_case
@pytest.mark.parametrize("path", ALIASES)
def test_the_stub_of_a_public_path_names_that_module(path: str) -> None:
    statements = ast.parse(stub_of(path).read_text(encoding="utf-8")).body
    modules = {node.module for node in statements if isinstance(node, ast.ImportFrom)}
    is_open = any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in statements)
    assert is_open or modules == {ALIASES[path]}


def test_the_stub_of_figures_is_that_of_the_plugin() -> None:
    star = "from deadheat.plugins.figures.figures import *"
    assert stub_of("deadheat.figures").read_text(encoding="utf-8").startswith(star)


def test_the_page_on_stability_names_every_public_path() -> None:
    page = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(deadheat\.[\w.]+)`", page))
    assert named == {*ALIASES, *NOT_ALIASED}
    for path in NOT_ALIASED:
        import_module(path)


@pytest.mark.every_case
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_imports_public_paths_alone(page: Path) -> None:
    imported = re.findall(r"(?:from|import) (deadheat\.[\w.]+)", page.read_text(encoding="utf-8"))
    assert {*imported} <= {*ALIASES, *NOT_ALIASED}
