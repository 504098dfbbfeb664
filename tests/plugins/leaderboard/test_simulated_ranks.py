"""Ranks that hold for all models together: a small part of docs/figures/rank_sets.py, with a seed."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from deadheat.plugins.leaderboard.separation import Spread
from support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from deadheat.api import BoolArray, FloatArray
    from deadheat.core.stats.units import Units

FOLDER = ROOT / "docs" / "figures"
MOST_MISSED = 8.0  # of 400 boards, in %: at a level of 5% a probability of 0.6%
CELLS = [
    ("uniform", "10 tasks", 20),
    ("t with 3 degrees of freedom", "one task, 25 queries", 20),
    ("0 or 1, half", "50 tasks", 20),
    ("normal", "25 tasks, lognormal weights", 20),
    ("normal", "tasks of 100 and 5 queries", 10),
    ("normal", "groups of 12 and 2 tasks", 10),
]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """docs/figures/rank_sets.py, which imports a module beside it."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("rank_sets_of_docs", FOLDER / "rank_sets.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def missed(script: ModuleType, values: str, board: str, n_models: int, *, are_different: bool = False) -> float:
    layout = next(layout for layout in (*script.SINGLE, *script.OTHER) if layout.name == board)
    size = script.Size(n_models, 400, 199)
    share = script.simulate(script.kinds()[values], values, layout, size, are_different=are_different)
    return float(share)


@pytest.mark.slow
@pytest.mark.parametrize(("values", "board", "n_models"), CELLS)
def test_ranges_of_equal_models_hold_together(script: ModuleType, values: str, board: str, n_models: int) -> None:
    assert missed(script, values, board, n_models) <= MOST_MISSED


@pytest.mark.slow
def test_ranges_of_different_models_cover_their_ranks(script: ModuleType) -> None:
    assert missed(script, "uniform", "one task, 25 queries", 20, are_different=True) <= 7


def each_pair_alone(low: FloatArray, high: FloatArray, spread: Spread, _critical: float) -> BoolArray:
    """Student's t of each pair, at the level of one: as if there were no others."""
    freedom = np.minimum(spread.freedom, 1e9)
    gaps: FloatArray = low[:, None] - high
    return gaps > scipy_stats.t.isf(0.025, freedom) * spread.errors


def residual_flips(
    blocks: Sequence[Units], shares: Sequence[float], level: float, *, n_resamples: int, rng: np.random.Generator
) -> float:
    """Flips of what units differ by from the mean, without an error for each flip."""
    parts = [block.residuals * share / block.sizes.sum() for block, share in zip(blocks, shares, strict=True)]
    pulls = np.vstack(parts)
    signs = rng.choice([-1.0, 1.0], (n_resamples, len(pulls)))
    first, second = np.triu_indices(pulls.shape[1], 1)
    differences = pulls[:, first] - pulls[:, second]
    scales = np.sqrt((differences**2).sum(axis=0))
    largest = np.abs(signs @ differences / scales).max(axis=1)
    return float(np.quantile(largest, level, method="higher"))


def spread_of_data(
    errors: FloatArray, freedom: FloatArray, blocks: Sequence[Units], _shares: Sequence[float]
) -> Spread:
    """Errors and degrees of freedom of each pair by itself, also where a block has few units."""
    most_freedom = sum(block.freedom for block in blocks)
    return Spread(errors[:-1, :-1], freedom[:-1, :-1], most_freedom)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("naive", "cell"),
    [
        ({"separated": each_pair_alone}, CELLS[0]),
        ({"separated": each_pair_alone}, CELLS[1]),
        ({"joint_critical_value": residual_flips, "cautious_spread": spread_of_data}, CELLS[4]),
        ({"joint_critical_value": residual_flips, "cautious_spread": spread_of_data}, CELLS[5]),
    ],
)
def test_naive_kernels_do_not_hold(
    script: ModuleType, naive: dict[str, Any], cell: tuple[str, str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same boards show it, so that they are a test of the kernel."""
    for name, kernel in naive.items():
        monkeypatch.setattr(script, name, kernel)
    assert missed(script, *cell) > MOST_MISSED
