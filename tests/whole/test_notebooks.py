"""The notebooks of the documentation: small, and what they show comes out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.notebooks import outputs_in, outputs_of
from support.paths import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
MOST_BYTES = 100_000


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_put_out_what_a_notebook_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = outputs_in(cells)
    assert any(printed or value for printed, value in shown)
    assert outputs_of(cells) == shown


def test_they_are_small() -> None:
    assert NOTEBOOKS
    assert all(path.stat().st_size < MOST_BYTES for path in NOTEBOOKS)
