"""The figures that docs/ take from simulations: `make figures` runs them and sees what differs."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

import pytest

from support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

RUNNER: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "figures" / "__main__.py"), run_name="figures")
PAGE = "Before 1.\n\n<!-- figures: levels, to 0.5 -->\n{}\n<!-- end of figures -->\n\nAfter 2.\n"


@pytest.mark.parametrize(
    ("shown", "differs"),
    [
        ("| n = 50 | 11.0% |", False),
        ("| n = 50 | 11.5% |", False),
        ("| n = 50 | 11.6% |", True),
        ("| n = 50 | 11.0% | 5% |", True),
        ("| n = 50 | 11.0 |", True),
        ("| n = 50 | 11.0% |\n| n = 60 | 9.0% |", True),
        ("", True),
    ],
)
def test_numbers_may_differ_by_their_error_and_nothing_else(shown: str, *, differs: bool, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(shown), encoding="utf-8")
    assert bool(RUNNER["checked"](page, "levels", "| n = 50 | 11.0% |\n")) == differs
    assert RUNNER["checked"](page, "other", "") == []
    assert RUNNER["written"](page, "levels", "| n = 50 | 11.0% |\n") == []
    assert page.read_text(encoding="utf-8") == PAGE.format("| n = 50 | 11.0% |")


def test_every_page_takes_its_figures_from_a_script_that_there_is() -> None:
    assert {name for _, name in RUNNER["shown_names"]()} <= set(RUNNER["scripts"]())
