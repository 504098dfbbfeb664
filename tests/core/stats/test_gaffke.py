"""Gaffke's bounds are computed: do they agree with draws, with exact distributions and with each other?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.special import betainc

from deadheat import stats
from deadheat.core.stats.gaffke import N_INTEGRATED, gaffke_bounds

if TYPE_CHECKING:
    from deadheat.api import FloatArray

TAIL = 0.025
FAMILIES: dict[str, tuple[float, Any]] = {
    "uniform": (0.5, lambda rng, shape: rng.random(shape)),
    "beta(0.1, 5)": (0.1 / 5.1, lambda rng, shape: rng.beta(0.1, 5, shape)),
    "beta(0.3, 3)": (0.3 / 3.3, lambda rng, shape: rng.beta(0.3, 3, shape)),
    "95% 0, others uniform": (0.025, lambda rng, shape: np.where(rng.random(shape) < 0.95, 0.0, rng.random(shape))),
    "95% 1, others uniform": (0.975, lambda rng, shape: np.where(rng.random(shape) < 0.95, 1.0, rng.random(shape))),
    "5% 1, others 0": (0.05, lambda rng, shape: (rng.random(shape) < 0.05).astype(float)),
}


def bounds_of(values: FloatArray, weights: FloatArray | None = None, tail: float = TAIL) -> FloatArray:
    """Return the bounds of values from 0 to 1 of one column."""
    own = np.ones(len(values)) if weights is None else weights
    typical = (own**2).sum() / own.sum()
    sums, sizes = (own * values)[:, None], own[:, None]
    return gaffke_bounds(sums, sizes, tail=tail, limits=(0.0, 1.0), added=np.array([typical]))[:, 0]


def drawn_tails(values: FloatArray, weights: FloatArray, bounds: FloatArray, n_draws: int) -> tuple[float, float]:
    """Return how often drawn means lie beyond the bounds, each with the unit that is added for it."""
    rng = np.random.default_rng(12)
    typical = (weights**2).sum() / weights.sum()
    n_below, n_above = 0, 0
    step = 100_000
    for _ in range(n_draws // step):
        drawn = rng.standard_exponential((step, len(values))) * weights
        added = rng.standard_exponential(step) * typical
        totals, sizes = drawn @ values, drawn.sum(axis=1) + added
        n_below += int((totals / sizes <= bounds[0]).sum())
        n_above += int(((totals + added) / sizes >= bounds[1]).sum())
    return n_below / n_draws, n_above / n_draws


def sample(n: int, *, has_weights: bool) -> tuple[FloatArray, FloatArray]:
    """Return some values with zeros among them, and weights."""
    rng = np.random.default_rng(n)
    values = np.where(rng.random(n) < 0.4, 0.0, rng.random(n))
    values[0] = 0.6
    weights = rng.lognormal(0, 1, n) if has_weights else np.ones(n)
    return values, weights


@pytest.mark.slow
@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 30, 200])
def test_the_tails_are_those_of_draws(n: int, *, has_weights: bool) -> None:
    values, weights = sample(n, has_weights=has_weights)
    tails = drawn_tails(values, weights, bounds_of(values, weights), 200_000)
    assert tails == pytest.approx((TAIL, TAIL), abs=4.5 * np.sqrt(TAIL / 200_000))


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 12])
def test_the_tails_are_those_of_ten_million_draws(n: int) -> None:
    values, weights = sample(n, has_weights=True)
    tails = drawn_tails(values, weights, bounds_of(values, weights), 10_000_000)
    assert tails == pytest.approx((TAIL, TAIL), abs=4.5 * np.sqrt(TAIL / 10_000_000))


@pytest.mark.parametrize("level", [0.01, 0.5, 0.8, 0.95, 0.9999])
def test_zeros_and_ones_have_clopper_and_pearsons_bounds(level: float) -> None:
    for n in (1, 2, 3, 10, N_INTEGRATED):
        counts = np.arange(n + 1)
        given = (np.arange(n)[:, None] < counts).astype(float)
        found = stats.interval_bounds(given, method="gaffke", confidence_level=level)
        assert np.array(found) == pytest.approx(stats.proportion_bounds(counts, n, level), abs=3e-6)


@pytest.mark.parametrize("n", [N_INTEGRATED + 1, 100, 3_000])
def test_many_zeros_and_ones_have_their_tails_within_a_few_percent(n: int) -> None:
    counts = np.array([1, n // 10, n // 2, n - 1, n])
    given = (np.arange(n)[:, None] < counts).astype(float)
    lows = stats.interval_bounds(given, method="gaffke")[0]
    tails = betainc(counts, n - counts + 1, lows)
    assert (tails > 0.97 * TAIL).all()
    assert (tails < 1.002 * TAIL).all()


def test_the_integral_ends_without_a_step() -> None:
    rng = np.random.default_rng(3)
    for values in (rng.random(N_INTEGRATED), np.ones(N_INTEGRATED), rng.random(N_INTEGRATED) < 0.1):
        low, high = bounds_of(values.astype(float))
        next_low, next_high = bounds_of(np.append(values, values.mean()))
        assert next_high - next_low < 1.005 * (high - low)


def test_higher_values_have_higher_bounds_and_reflected_ones_the_reflected() -> None:
    rng = np.random.default_rng(4)
    for n in (3, 20, 50):
        values = rng.beta(0.3, 0.7, n)
        bounds = bounds_of(values)
        assert (bounds_of(np.minimum(values + 0.05, 1)) > bounds).all()
        assert bounds_of(1 - values) == pytest.approx(1 - bounds[::-1], abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("tail", [0.49999, 0.25, 1e-3, 1e-8])
@pytest.mark.parametrize("spread", [0.0, 5.0])
@pytest.mark.filterwarnings("error")
def test_awkward_values_have_bounds(tail: float, spread: float) -> None:
    rng = np.random.default_rng(5)
    for n in (1, 3, 31, 33, 400):
        weights = rng.lognormal(0, spread, n)
        for values in (
            np.zeros(n),
            np.ones(n),
            np.full(n, 0.3),
            1 - 1e-9 * rng.random(n),
            1e-12 * rng.random(n),
            np.where(rng.random(n) < 0.5, 0.5, 0.5 + 1e-15),
            np.where(np.arange(n) == 0, 1.0 + 1e-16, 0.0),
        ):
            low, high = bounds_of(values, weights, tail)
            assert 0 <= low <= high + 1e-12 <= 1 + 2e-12
            if tail < 0.01:
                mean = np.average(values, weights=weights)
                assert low - 1e-12 <= mean <= high + 1e-12


def test_columns_of_other_sizes_are_bounded_at_once() -> None:
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 9, (40, 3)).astype(float)
    sums = sizes * rng.random((40, 3))
    added = sizes.sum(axis=0) / 40
    found = gaffke_bounds(sums, sizes, tail=TAIL, limits=(0.0, 1.0), added=added)
    for n in range(3):
        alone = gaffke_bounds(sums[:, [n]], sizes[:, [n]], tail=TAIL, limits=(0.0, 1.0), added=added[[n]])
        assert found[:, [n]] == pytest.approx(alone, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 10, 50, 150])
@pytest.mark.parametrize("family", FAMILIES)
def test_means_between_limits_are_covered(family: str, n: int) -> None:
    """At least 95% everywhere; Student's t covers 45% of the means of beta(0.1, 5) with n = 3."""
    mean, draw = FAMILIES[family]
    values = draw(np.random.default_rng([8, n]), (n, 4_000))
    low, high = stats.interval_bounds(values, method="gaffke")
    assert ((low <= mean) & (mean <= high)).mean() > 0.955


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_weighted_means_between_limits_are_covered(family: str) -> None:
    mean, draw = FAMILIES[family]
    rng = np.random.default_rng(9)
    for n in (10, 60, 150):
        values, weights = draw(rng, (n, 2_000)), rng.lognormal(0, 1, (n, 2_000))
        added = (weights**2).sum(axis=0) / weights.sum(axis=0)
        low, high = gaffke_bounds(weights * values, weights, tail=TAIL, limits=(0.0, 1.0), added=added)
        assert ((low <= mean) & (mean <= high)).mean() > 0.945


@pytest.mark.slow
def test_one_query_more_widens_nothing() -> None:
    rng = np.random.default_rng(10)
    values = rng.beta(0.3, 3, (300, 400))
    last = np.inf
    for n in (3, 4, 5, 10, 11, 31, 32, 33, 34, 49, 50, 51, 100, 101, 300):
        low, high = stats.interval_bounds(values[:n], method="gaffke")
        width = float(np.median(high - low))
        assert width <= 1.02 * last
        last = width
