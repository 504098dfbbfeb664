"""The tables of docs/simulate.md that no command prints: they are of runs that do not come with deadheat."""

from __future__ import annotations

import re

import pytest

import deadheat as dh
from deadheat.core.report.cells import format_cell, share_cell
from deadheat.plugins.ties.coarsening_profile import LEVELS, coarsening_profile
from support.paths import ROOT
from support.shared_data import hpo_qrels, hpo_run, needs_shared_data

PAGE = (ROOT / "docs" / "simulate.md").read_text(encoding="utf-8")


@pytest.mark.slow
@needs_shared_data
def test_tables_of_real_runs() -> None:
    tables = re.findall(r"^\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    runs = {"minilm": dh.read_run(hpo_run("en.minilm-f32")), "bm25": dh.read_run(hpo_run("en.bm25"))}
    ways = ({"levels": LEVELS}, {"dtypes": ["float32", "float16", "bfloat16"]})
    for table, way in zip(tables, ways, strict=True):
        found = coarsening_profile(hpo_qrels("en"), runs, "nDCG@10", **way)  # type: ignore[arg-type]
        shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        expected = [
            [
                row.scores.removesuffix(" levels"),
                format_cell(share_cell(row.share_tied)),
                f"{row.value:.4f}",
                f"{row.tie_min:.4f} to {row.tie_max:.4f}",
                f"{row.error:.4f}".replace("-0.0000", "0.0000"),
                format_cell(share_cell(row.wrong_winner)),
            ]
            for row in found.rows
            if row.run == "minilm"
        ]
        assert shown == expected
        assert {row.n_queries for row in found.rows} == {849}
