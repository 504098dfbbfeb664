"""The gates of a project, in its pyproject.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deadheat.errors import DataError, ParameterError
from deadheat.plugins.gates.notation import PRESETS, read_settings

if TYPE_CHECKING:
    from pathlib import Path

TOML = """
[tool.deadheat.gates]
checks = ["low(nDCG@10) >= 0.75"]
preset = "rag"
baseline = "results/main.json"
no_worse_than = 0.01
alpha = 0.1
confidence_level = 0.9
queries = "queries.csv"
by = ["language", "difficulty"]
no_regression = true
allow_unknown = false
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_settings_of_a_project(tmp_path: Path) -> None:
    checks, options = read_settings(written(tmp_path, TOML))
    assert checks == (
        *PRESETS["rag"],
        "low(nDCG@10) >= 0.75",
    )
    assert options == {
        "baseline": str(tmp_path / "results" / "main.json"),
        "queries": str(tmp_path / "queries.csv"),
        "by": ("language", "difficulty"),
        "no_regression": True,
        "allow_unknown": False,
        "no_worse_than": 0.01,
        "alpha": 0.1,
        "confidence_level": 0.9,
    }
    assert read_settings(written(tmp_path, "[tool.deadheat.gates]\nchecks = 'RR > 1'"))[0] == ("RR > 1",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.deadheat]", r"has no table \[tool\.deadheat\.gates\]: write one such as"),
        ("[tool]\ndeadheat = 3", "has no table"),
        ("[tool.deadheat]\ngates = 3", "tool.deadheat.gates must be a table, got 3"),
        ("[tool.deadheat.gates]\nRR = x", "is not TOML: .*line 2"),
        ("[tool.deadheat.gates]\nno_worse_then = 0.1", "got 'no_worse_then'. Did you mean 'no_worse_than'"),
        ("[tool.deadheat.gates]\nbasline = 'x'", "got 'basline'. Did you mean 'baseline'"),
        (
            "[tool.deadheat.gates]\n'nDCG@10' = 0.1",
            "each key must be one of 'checks', .*, got 'nDCG@10'",
        ),
        ("[tool.deadheat.gates]\nchecks = ['RR > x']", "'x' is not a number"),
        ("[tool.deadheat.gates]\nchecks = [3]", "checks must be a list of gates"),
        ("[tool.deadheat.gates]\nchecks = ['RR']", "needs one of"),
        ("[tool.deadheat.gates]\nalpha = '5%'", r"alpha must be a number between 0 and 0\.5, such as 0\.05, got '5%'"),
        ("[tool.deadheat.gates]\nalpha = 5", r"alpha must be a number .*, got 5\. Did you mean 0\.05\?"),
        ("[tool.deadheat.gates]\nconfidence_level = 95", r"confidence_level must be .*, got 95\. Did you mean 0\.95\?"),
        (
            "[tool.deadheat.gates]\nno_worse_than = -0.1",
            "no_worse_than must be a number above 0, got -0.1",
        ),
        ("[tool.deadheat.gates]\nno_worse_than = inf", "no_worse_than must be .*, got inf"),
        ("[tool.deadheat.gates]\nno_worse_than = 0", "no_worse_than must be a number above 0, got 0"),
        ("[tool.deadheat.gates]\nno_regression = 'yes'", "no_regression must be True or False, got 'yes'"),
        ("[tool.deadheat.gates]\nby = [3]", r"by must be a list of columns, such as \['language'\], got \[3\]"),
        ("[tool.deadheat.gates]\nqueries = ['a.csv']", r"queries must be a text, got \['a.csv'\]"),
        (
            "[tool.deadheat.gates]\nchecks = ['each(a, a): RR > 1']",
            "strata are written as in",
        ),
        ("[tool.deadheat.gates]\npreset = 'rga'", "preset must be one of 'rag', got 'rga'"),
        ("[tool.deadheat.gates]\nbaseline = 3", "baseline must be a text, got 3"),
    ],
)
def test_settings_that_are_wrong_name_the_file(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=rf"(?s)pyproject\.toml: .*{message}"):
        read_settings(written(tmp_path, text))


def test_settings_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_settings(tmp_path / "gates.toml")
