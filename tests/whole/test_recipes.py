"""The recipes are true: each runs where what it is for is installed."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.paths import ROOT

PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE))
WITH_CODE = [title for title, text in RECIPES.items() if "```python" in text]
NEEDED = {"scikit-learn": "sklearn", "LightGBM": "lightgbm", "XGBoost": "xgboost"}
FOR_MLFLOW = re.compile(r"[\w\-. :/]+")  # what its message says is allowed
FOR_WANDB = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


@pytest.mark.slow
@pytest.mark.parametrize("title", WITH_CODE)
def test_a_recipe(title: str, tmp_path: Path) -> None:
    """In a process of its own, for some set options of a library."""
    if title in NEEDED and find_spec(NEEDED[title]) is None:
        pytest.skip(f"{NEEDED[title]} is not installed")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", RECIPES[title], flags=re.DOTALL | re.MULTILINE))
    assert len(doctest.DocTestParser().get_examples(code)) >= 4
    (tmp_path / "page.txt").write_text(code, encoding="utf-8")
    program = "import doctest, sys; sys.exit(doctest.testfile('page.txt', module_relative=False)[0])"
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_that_trackers_take() -> None:
    names = re.findall(r"^\{'(\w+)': .*\}$", RECIPES["MLflow and Weights & Biases"], flags=re.MULTILINE)
    assert names
    assert all(FOR_MLFLOW.fullmatch(name) and FOR_WANDB.fullmatch(name) for name in names)


def test_what_pages_are_named_is_there() -> None:
    assert all((ROOT / "docs" / path).exists() for path in re.findall(r"\]\(([^\s#)]+)", PAGE))
