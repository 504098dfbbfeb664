"""deadheat demo."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.command import call, ok

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.slow
def test_demo_fits_a_screen_and_shows_that_the_winner_changes() -> None:
    out = ok("demo")
    lines = out.splitlines()
    assert len(lines) < 24  # with the line to type the next command on
    assert max(map(len, lines)) <= 80
    assert "NIST assessors" in out
    document = json.loads(ok("demo", "--format", "json"))
    assert len(set(document["best_system"].values())) > 1
    for by_rule in document["scores"]["nDCG@10"].values():
        assert by_rule["worst"] <= min(by_rule["doc_id"], by_rule["input"], by_rule["expected"])
        assert by_rule["best"] >= max(by_rule["doc_id"], by_rule["input"], by_rule["expected"])


@pytest.mark.slow
def test_what_the_demo_says_next_works(folder: Path) -> None:
    commands = [line.split()[1:] for line in ok("demo").splitlines() if line.startswith("  deadheat ")]
    assert [command[0] for command in commands] == ["demo", "ties"]
    for command in commands:
        assert call(*command).exit_code == 0
    assert (folder / "demo-data" / "SOURCE.md").is_file()
