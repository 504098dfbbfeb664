"""A failed gate names the queries behind it: the lowest values, or the largest losses, as sorting finds them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.plugins.gates.lowest import lowest
from support.command import call, facts_of
from support.gated_runs import ranked
from support.numbers_in_text import numbers_in

if TYPE_CHECKING:
    from pathlib import Path

RANKS = (1, 4, 1, 50, 2, 3, 1, 1)


def test_the_lowest_three_of_a_mean() -> None:
    result = dh.gate(ranked(*RANKS), ["RR >= 0.9", "MR <= 3", "RR > 0.1"])
    sorted_rr = sorted((1 / rank, f"q{n:03}") for n, rank in enumerate(RANKS))[:3]
    assert result.checks[0].worst == "lowest: " + ", ".join(f"{name} {value:.2f}" for value, name in sorted_rr)
    assert result.checks[1].worst == "highest: q003 50.00, q001 4.00"  # those above 3
    assert result.checks[2].worst == ""
    assert f"({result.checks[0].reason}; {result.checks[0].worst})" in repr(result)


@pytest.mark.parametrize("gate", ["low(RR) > 0.95", "tie_min(RR) > 0.95", "tie_max(RR) > 0.95"])
def test_ends_and_tie_orders_have_their_own_values(gate: str) -> None:
    (check,) = dh.gate(ranked(*RANKS), gate).checks
    assert check.worst.startswith("lowest: q003 0.02, q001 0.25")


def test_the_largest_losses_against_a_baseline() -> None:
    before, after = ranked(*[1] * 8, name="before"), ranked(2, 1, 1, 4, 2, 2, 1, 2, name="after")
    (rr, mr) = dh.gate(after, baseline=before).checks
    assert not rr.passed
    assert re.findall(r"q\d+", rr.worst) == ["q003", "q000", "q004"]
    assert numbers_in(rr.worst) == [-0.75, -0.5, -0.5, 2, -0.5]  # and two more of the last
    assert mr.passed or numbers_in(mr.worst)[:2] == [-3, -1]


def test_random_values_as_sorting_finds_them() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        values = rng.random(20).round(1)
        ids = np.array([f"q{n:02}" for n in range(20)], dtype=object)
        values[rng.random(20) < 0.1] = np.nan
        kept = sorted((value, name) for value, name in zip(values, ids, strict=True) if value < 0.7 - 1e-12)
        expected = ", ".join(f"{name} {value:.2f}" for value, name in kept[:3])
        n_more = sum(value == kept[2][0] for value, _ in kept[3:])
        expected += f" and {n_more} more of {kept[2][0]:.2f}" if n_more else ""
        assert lowest(ids, values, below=0.7) == f"lowest: {expected}"


def test_reports_name_them(tmp_path: Path) -> None:
    ranked(*RANKS).save(tmp_path / "ev.json")
    asked = ("gate", tmp_path / "ev.json", "-c", "RR >= 0.9", "-c", "low(RR) >= 0.9")
    worst = dh.gate(ranked(*RANKS), "RR >= 0.9").checks[0].worst
    assert facts_of(*asked, exit_code=1)["worst"] == f"RR >= 0.9, low(RR) >= 0.9: {worst}"
    document = json.loads(call(*asked, "--format", "json").stdout)
    assert document["checks"]["RR >= 0.9"]["worst"] == worst
    root = ET.fromstring(call(*asked, "--format", "junit").stdout.encode())  # noqa: S314 - our own output
    assert "lowest: q003 0.02" in (root.findtext(".//failure") or "")


def test_only_failures_name_queries() -> None:
    evaluation = ranked(*RANKS)
    gates = [f"RR >= {bound}" for bound in (0.9, 0.3, 0.2, 0.1)]
    result = dh.gate(evaluation, gates)
    assert [bool(check.worst) for check in result.checks] == [not check.passed for check in result.checks]
