"""Figures find themselves, each a function with an example in one file; the stub names them."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from deadheat import figures
from deadheat.plugins.figures.registration import REGISTRY


def test_the_stub_has_every_figure_and_where_it_is() -> None:
    statements = ast.parse(Path(figures.__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    (listed,) = (ast.literal_eval(node.value) for node in statements if isinstance(node, ast.Assign))
    files = {alias.name: node.module for node in statements if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert sorted(files) == sorted(listed) == sorted(figures.__all__)
    assert all(getattr(figures, name) is getattr(import_module(str(file)), name) for name, file in files.items())


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_figure_says_what_it_shows(name: str) -> None:
    one = REGISTRY[name]
    assert one.of
    for section in ("Parameters", "Returns", "Raises"):
        assert f"{section}\n----" in str(inspect.getdoc(one.draw))


MISSING = """
import sys
sys.modules[{package!r}] = None
import deadheat
try:
    deadheat.figures
except deadheat.DeadheatError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_without_the_packages_the_error_says_what_to_install(package: str) -> None:
    code = MISSING.format(package=package)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = f"MissingDependencyError figures need the package {package}: pip install 'deadheat[figures]'"
    assert done.stdout.strip() == expected
