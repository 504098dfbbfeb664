"""Prediction-powered means: the estimate by its definition, and how often intervals hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from deadheat.plugins.judges.prediction import Sample, powered_by, powered_mean

N_DRAWS = 600  # a share of 0.95 is then known to within 0.02


def drawn(n: int, correlation: float, kind: str, rng: np.random.Generator) -> Any:  # noqa: ANN401 - two arrays
    """Return values and predictions of some correlation: normal, skewed, or in three levels that tie."""
    one, other = rng.normal(size=(2, n))
    both = np.array([one, correlation * one + np.sqrt(1 - correlation**2) * other])
    if kind == "skewed":
        return np.exp(0.7 * both)
    return np.clip(np.round(1.2 * both), -1, 1) / 2 if kind == "tied" else both


def test_the_estimate_is_its_definition() -> None:
    rng = np.random.default_rng(5)
    for n, n_others in ((60, 40), (80, 500)):
        known, predicted = drawn(n, 0.6, "normal", rng)
        others = drawn(n_others, 0.6, "normal", rng)[1]
        found = powered_mean(known, predicted, others)
        together = ((known - known.mean()) * (predicted - predicted.mean())).sum() / (n - 1)
        every = [*predicted, *others]
        spread = sum((one - sum(every) / len(every)) ** 2 for one in every) / (len(every) - 1)
        weight = together / ((1 + n / n_others) * spread)
        assert found.weight == pytest.approx(weight, abs=1e-12)
        assert found.estimate == pytest.approx(known.mean() + weight * (others.mean() - predicted.mean()), abs=1e-12)
        error = np.sqrt(stats.sem(known - weight * predicted) ** 2 + weight**2 * stats.sem(others) ** 2)
        assert found.standard_error == pytest.approx(error, abs=1e-12)
        ends = stats.t.interval(0.95, n - 1, found.estimate, error)
        assert (found.low, found.high) == pytest.approx(ends, abs=1e-12)
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.estimate / error), n - 1), abs=1e-12)
        assert found.n_effective == pytest.approx(np.var(known, ddof=1) / error**2)
        assert found.correlation == pytest.approx(stats.pearsonr(known, predicted).statistic)


def test_of_few_values_each_fold_is_weighed_by_the_others() -> None:
    rng = np.random.default_rng(6)
    n, n_others = 20, 60
    known, predicted = drawn(n, 0.8, "normal", rng)
    others = drawn(n_others, 0.8, "normal", rng)[1]
    weights, parts = [], []
    for fold in range(10):
        rest = np.arange(n) % 10 != fold
        spread = np.var([*predicted[rest], *others], ddof=1)
        weights.append(np.cov(known[rest], predicted[rest])[0, 1] / ((1 + n / n_others) * spread))
        parts.append(known[~rest].mean() + weights[-1] * (others.mean() - predicted[~rest].mean()))
    found = powered_mean(known, predicted, others)
    assert found.weight == pytest.approx(np.mean(weights))
    assert found.estimate == pytest.approx(np.mean(parts))


def test_it_is_that_of_ppi_python_for_a_given_weight() -> None:
    package = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(7)
    for weight in (0.0, 0.3, 1.0):
        known, predicted = drawn(30, 0.5, "skewed", rng)
        others = drawn(200, 0.5, "skewed", rng)[1]
        expected = package.ppi_mean_pointestimate(known, predicted, others, lam=weight)
        sample = Sample(known, predicted, others, np.ones(30), np.ones(200), 30)
        found = powered_by(sample, np.full(30, weight), 0.95)
        assert found.estimate == pytest.approx(expected.item(), abs=1e-9)


def test_without_help_the_result_is_that_of_the_known_values() -> None:
    rng = np.random.default_rng(8)
    known = rng.random(12)
    expected = stats.t.interval(0.95, 11, known.mean(), stats.sem(known))
    for predicted, others in (
        (np.zeros(12), np.zeros(50)),  # constant
        (-known, -rng.random(50)),  # adversarial
        (rng.random(12), np.empty(0)),  # no others
    ):
        found = powered_mean(known, predicted, others)
        assert found.weight == 0
        assert (found.low, found.high) == pytest.approx(expected)
    assert powered_mean(known[:4], known[:4], rng.random(9)).weight == 0  # too few to weigh anything


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "tied", "skewed"])
@pytest.mark.parametrize("n", [10, 25, 50])
def test_intervals_hold_their_level_and_are_not_wider(n: int, kind: str) -> None:
    """As often as those of the known values alone, which hold in 90% where ten values are skewed."""
    rng = np.random.default_rng(n)
    true, t = float(np.exp(0.7**2 / 2)) if kind == "skewed" else 0.0, stats.t.ppf(0.975, n - 1)
    for n_others, correlation in ((100, -0.6), (1000, 0.0), (100, 0.9), (1000, 0.9)):
        held = held_alone = 0
        width = width_alone = 0.0
        for _ in range(N_DRAWS):
            known, predicted = drawn(n, correlation, kind, rng)
            found = powered_mean(known, predicted, drawn(n_others, correlation, kind, rng)[1])
            half = t * known.std(ddof=1) / np.sqrt(n)
            held += int(found.low <= true <= found.high)
            held_alone += int(abs(known.mean() - true) <= half)
            width, width_alone = width + found.high - found.low, width_alone + 2 * half
        assert held / N_DRAWS > (0.92 if kind != "skewed" else held_alone / N_DRAWS - 0.03)
        assert width <= 1.001 * width_alone
        assert width < 0.8 * width_alone or correlation < 0.9
