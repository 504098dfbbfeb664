"""Components of variance against analysis of variance by definition, simulations, and coverage of intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from deadheat.core import stats
from deadheat.plugins.repeats.variances import (
    Shared,
    rerun_probability,
    shared_of,
    shared_p_value,
    variance_components,
    widened,
)

QUERIES, NOISE = 0.3, 0.2


def drawn(rng: np.random.Generator, n_queries: int, n_repeats: int, shared: float) -> np.ndarray:
    effects = QUERIES * rng.standard_normal((n_queries, 1)) + shared * rng.standard_normal((1, n_repeats))
    return np.asarray(effects + NOISE * rng.standard_normal((n_queries, n_repeats)))


def test_what_rounding_leaves_of_equal_mean_squares_is_none() -> None:
    values = np.array([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0]])  # each mean square is 1/6
    found = variance_components(values, np.zeros((3, 2)))
    assert (found.queries, found.shared) == (0, 0)
    assert found.repeats == pytest.approx(1 / 6)
    assert shared_of(values).variance == 0


def test_equal_repeats_share_nothing() -> None:
    """Exactly, also where the mean of equal numbers is rounded."""
    values = np.repeat(np.random.default_rng(2).random((25, 1)) / 3, 3, axis=1)
    found = variance_components(values, np.zeros(values.shape))
    assert (found.shared, found.shared_p_value) == (0, 1)
    assert shared_of(values) == Shared(0, 0, 2)


def test_components_of_a_whole_design_are_those_of_two_way_anova() -> None:
    values = drawn(np.random.default_rng(1), 7, 4, 0.2)
    n, k, mean = 7, 4, values.mean()
    of_query, of_repeat = values.mean(axis=1), values.mean(axis=0)
    between = k * sum((of_query - mean) ** 2) / (n - 1)
    repeats = n * sum((of_repeat - mean) ** 2) / (k - 1)
    left = sum((values[q, r] - of_query[q] - of_repeat[r] + mean) ** 2 for q in range(n) for r in range(k)) / (
        (n - 1) * (k - 1)
    )
    within = sum((values[q, r] - of_query[q]) ** 2 for q in range(n) for r in range(k)) / (n * (k - 1))
    found = variance_components(values, np.full((n, k), 0.07))
    assert (found.queries, found.repeats, found.ties) == pytest.approx(((between - left) / k, within, 0.07))
    assert found.shared == pytest.approx((repeats - left) / n)
    assert found.shared_p_value == pytest.approx(scipy.stats.f.sf(repeats / left, k - 1, (n - 1) * (k - 1)))
    assert (found.n_queries, found.n_repeats) == (n, k)


def test_components_of_a_design_with_gaps_are_those_of_one_way_anova() -> None:
    values = drawn(np.random.default_rng(2), 6, 3, 0)
    values[0, 1] = values[3, 0] = values[3, 2] = np.nan
    rows = [row[~np.isnan(row)] for row in values]
    counts, total = [len(row) for row in rows], sum(map(len, rows))
    mean = sum(sum(row) for row in rows) / total
    between = sum(len(row) * (row.mean() - mean) ** 2 for row in rows) / 5
    within = sum(sum((row - row.mean()) ** 2) for row in rows) / (total - 6)
    n0 = (total - sum(k * k for k in counts) / total) / 5
    found = variance_components(values, np.zeros((6, 3)))
    assert (found.n_repeats, found.queries, found.repeats) == pytest.approx((n0, (between - within) / n0, within))


@pytest.mark.parametrize("shared", [0.0, 0.3])
@pytest.mark.parametrize("with_gaps", [False, True])
def test_components_are_unbiased(shared: float, *, with_gaps: bool) -> None:
    rng, found = np.random.default_rng(3), []
    for _ in range(2000):
        values = drawn(rng, 8, 4, 0.0 if with_gaps else shared)
        if with_gaps:
            values[rng.random(values.shape) < 0.2] = np.nan
        own = variance_components(values, np.zeros(values.shape))
        found.append((own.queries, own.repeats, math.nan if with_gaps else own.shared))
    true = [QUERIES**2, NOISE**2 + (0 if with_gaps else shared**2), shared**2]
    for own, of in list(zip(np.transpose(found), true, strict=True))[: 3 - with_gaps]:
        assert abs(own.mean() - of) < 4 * own.std() / np.sqrt(2000)


def test_a_component_below_0_is_said() -> None:
    found = variance_components(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), np.zeros((4, 2)))
    assert found.queries < 0
    assert "queries" in found.negative
    assert math.isnan(variance_components(np.array([[0.0], [1.0]]), np.zeros((2, 1))).repeats)


@pytest.mark.slow
@pytest.mark.parametrize("shared", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("n_repeats", [2, 5])
@pytest.mark.parametrize("n_queries", [10, 50])
def test_intervals_cover(n_queries: int, n_repeats: int, shared: float) -> None:
    rng, n_simulated, hits, rejected = np.random.default_rng(4), 2000, 0, 0
    for _ in range(n_simulated):
        values = drawn(rng, n_queries, n_repeats, shared)
        means = values.mean(axis=1)[:, None]
        low, high = stats.interval_bounds(means, method="t")
        own, error = shared_of(values), float(stats.standard_errors(means)[0])
        ends = widened(float(means.mean()), (float(low[0]), float(high[0])), [own], 0.95)
        hits += ends[0] <= 0 <= ends[1]
        rejected += shared_p_value(float(means.mean()), error, n_queries - 1, [own], "two-sided") < 0.05
    assert hits / n_simulated >= 0.93
    assert rejected == n_simulated - hits  # the test and the interval say the same


def test_the_p_value_is_students_without_a_shared_effect() -> None:
    for alternative, expected in (
        ("two-sided", 2 * scipy.stats.t.sf(1.5, 11)),
        ("greater", scipy.stats.t.cdf(1.5, 11)),
        ("less", scipy.stats.t.sf(1.5, 11)),
    ):
        found = shared_p_value(-0.3, 0.2, 11, [Shared(0.0, 0.1, 3)], alternative)  # type: ignore[arg-type]
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("shared", [[], [Shared(0.02, 0.1, 3)]])
def test_the_p_value_of_no_difference_is_a_half_on_each_side(shared: list[Shared]) -> None:
    for difference in (0.0, -0.0):
        found = [shared_p_value(difference, 0.2, 11, shared, side) for side in ("two-sided", "greater", "less")]
        assert found == [1, 0.5, 0.5]
    assert shared_p_value(math.nan, 0.2, 11, shared, "two-sided") == 1  # nothing is shown
    for difference in (0.3, -0.3):  # one-sided p values are two ends of the same t
        ends = [shared_p_value(difference, 0.2, 11, shared, side) for side in ("greater", "less")]
        assert sum(ends) == pytest.approx(1)
        assert shared_p_value(difference, 0.2, 11, shared, "two-sided") == pytest.approx(2 * min(ends))


@pytest.mark.slow
def test_a_rerun_reverses_as_often_as_simulated() -> None:
    rng, reversed_, predicted = np.random.default_rng(5), [], []
    for _ in range(3000):
        queries = rng.standard_normal((30, 1))
        one, other = (queries + shift + drawn(rng, 30, 5, 0.1) for shift in (0.0, rng.uniform(-0.6, 0.6)))
        difference = float(one[:, :4].mean() - other[:, :4].mean())
        again = float(one[:, 4].mean() - other[:, 4].mean())
        reversed_.append(difference * again < 0)
        predicted.append(rerun_probability(difference, [shared_of(one[:, :4]), shared_of(other[:, :4])]))
    assert np.mean(predicted) == pytest.approx(np.mean(reversed_), abs=0.015)
    assert math.isnan(rerun_probability(0.1, []))
