"""`deadheat.api`: what plugins of other distributions are written with, and the page that shows it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from deadheat import api
from deadheat.core.measures import registration
from support.paths import ROOT

EXAMPLE = ROOT / "examples" / "deadheat-novelty"
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"```\{code-block\} \w+\n:caption: (\S+)\n(.*?)```\n", PAGE, re.DOTALL))


def test_the_stub_has_the_names_that_there_are() -> None:
    stub = ast.parse(Path(api.__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    (listed,) = (ast.literal_eval(node.value) for node in stub if isinstance(node, ast.Assign))
    assert sorted(listed) == dir(api)
    assert 20 <= len(listed) <= 80
    for name in listed:
        assert getattr(api, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'evalute'"):
        api.evalute  # type: ignore[attr-defined]  # noqa: B018 - it raises


def test_the_page_names_all_of_them() -> None:
    table = PAGE.partition("## All names")[2]
    named = re.findall(r"`(\w+)(?:\(\))?`", table)
    assert sorted(named) == dir(api)


def test_the_page_shows_the_example() -> None:
    shown = {"pyproject.toml", "tests/test_novelty.py"}
    shown |= {f"src/deadheat_novelty/{name}.py" for name in ("__init__", "measure", "pipes", "command")}
    assert set(BLOCKS) == shown
    for name, text in BLOCKS.items():
        assert text == (EXAMPLE / name).read_text(encoding="utf-8"), name


def relevance_at(ranking: list[float | None], _judged: list[float], *, cutoff: int | None = None) -> float:
    if cutoff is None or cutoff > len(ranking):
        return 0.0
    return max(ranking[cutoff - 1] or 0.0, 0.0)


@pytest.mark.slow
def test_the_measure_without_a_plugin_passes_its_check() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, globals())  # noqa: S102 - a page of ours; a class that can be pickled is one of a module
    try:
        api.check_measure(api.parse_measure("RelAt").__class__, relevance_at)
    finally:
        registration.forget_module(__name__)


def test_the_page_names_attributes_that_placements_have() -> None:
    table = PAGE.partition("| of `placements` |")[2].partition("\n\n")[0]
    names = re.findall(r"`(\w+)", "\n".join(line.split("|")[1] for line in table.splitlines()[2:]))
    placements = api.place({"q": {"a": 1}}, {"q": {"a": 1.0}})
    assert len(names) >= 15
    for name in names:
        assert hasattr(placements, name), name


def test_the_page_names_methods_that_measures_have() -> None:
    table = PAGE.partition("| method | returns |")[2].partition("\n\n")[0]
    names = re.findall(r"`(\w+)\(", "\n".join(line.split("|")[1] for line in table.splitlines()[2:]))
    assert len(names) >= 9
    for name in names:
        assert any(hasattr(family, name) for family in (api.WeightedMeasure, api.JointMeasure)), name


def test_the_example_imports_nothing_of_deadheat_but_the_api() -> None:
    n_lines = 0
    for path in (EXAMPLE / "src").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "deadheat":
                assert (node.module, [alias.name for alias in node.names]) == ("deadheat", ["api"])
        n_lines += n_lines_of_code(path)
    assert n_lines <= 60


def n_lines_of_code(path: Path) -> int:
    """Count the lines that are no docstring, import, comment or blank."""
    text = path.read_text(encoding="utf-8")
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            first = node.body[0]
            left_out |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(1 for number, line in lines if line.strip() and number not in left_out)


def test_a_record_loads_neither_numpy_nor_polars() -> None:
    code = "import sys; from deadheat.api import Command, MeasureFile, Plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "polars", "click", "deadheat.registry"} & set(done.stdout.split())


def test_the_package_does_not_load_the_api() -> None:
    code = "import sys, deadheat; deadheat.evaluate; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "deadheat.api" not in done.stdout.split()
