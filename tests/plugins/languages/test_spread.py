"""The variance of means, its interval, and what bounded numbers can make of it."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy

from deadheat.errors import ParameterError
from deadheat.plugins.languages.spread import Spread, order_range, spread_of_means
from deadheat.stats import resampled_means

if TYPE_CHECKING:
    from deadheat.api import FloatArray

RNG_SEED = 11


def spread(values: FloatArray, *, n_resamples: int = 99, rng: int = 1, **options: Any) -> Spread:  # noqa: ANN401 - as `spread_of_means` takes them
    """Return the spread with resamples of the rows that are whole."""
    whole = np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values)
    cluster = options.get("cluster")
    means = resampled_means(whole, n_resamples=n_resamples, cluster=cluster, rng=rng)
    return spread_of_means(values, means=means, **options)


def test_the_variance_is_that_of_the_means_and_rows_with_gaps_are_left_out() -> None:
    rng = np.random.default_rng(RNG_SEED)
    values = rng.random((30, 4))
    values[3, 1] = np.nan
    found = spread(values, n_resamples=499, rng=1)
    whole = np.delete(values, 3, axis=0)
    assert math.isclose(found.variance, np.var(whole.mean(axis=0)), rel_tol=1e-12)
    assert found.n_units == 29
    assert math.isclose(found.p_lowest.sum(), 1, rel_tol=1e-12)
    assert found.low <= found.variance <= found.high


def test_what_chance_makes_of_equal_means_is_the_noise_of_the_means() -> None:
    """By the formula: the trace of the covariance of the deviations from the mean of a row, by n and by columns."""
    values = np.random.default_rng(RNG_SEED).random((200, 3))
    centred = values - values.mean(axis=1, keepdims=True)
    expected = centred.var(axis=0, ddof=1).sum() / 200 / 3
    assert math.isclose(spread(values, n_resamples=20_000, rng=1).by_chance, expected, rel_tol=0.03)


def test_the_ends_for_two_columns_are_near_those_of_the_difference() -> None:
    """The variance of two means is a quarter of their squared difference."""
    rng = np.random.default_rng(RNG_SEED)
    values = rng.normal([0.0, 0.5], 1, (400, 2))
    found = spread(values, n_resamples=20_000, rng=1)
    interval = scipy.stats.ttest_rel(values[:, 1], values[:, 0]).confidence_interval()
    assert math.isclose(found.low, interval.low**2 / 4, rel_tol=0.05)
    assert math.isclose(found.high, interval.high**2 / 4, rel_tol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("n_columns", "size"), [(2, 0.0), (3, 0.0), (3, 0.05), (6, 0.05)])
def test_the_interval_holds_the_variance_as_often_as_it_promises(n_columns: int, size: float) -> None:
    """Rows that share a part across columns, on few levels, as scores of ranks are."""
    deviations = np.linspace(-1, 1, n_columns)
    deviations *= size / max(float(deviations.std()), 1e-9)
    rng, n_held, n_trials = np.random.default_rng(RNG_SEED), 0, 250
    for trial in range(n_trials):
        noise = rng.random((60, 1)) / 2 + rng.beta(0.5, 0.5, (60, n_columns)) / 2
        found = spread(np.round(noise * 3) / 3 + deviations, n_resamples=400, rng=trial)
        n_held += found.low <= size**2 + 1e-12 and found.high >= size**2 - 1e-12
    assert n_held / n_trials > 0.92


def test_equal_columns_share_the_lowest_place_and_have_no_variance() -> None:
    column = np.random.default_rng(RNG_SEED).random((20, 1))
    found = spread(np.hstack([column, column]), n_resamples=99, rng=1)
    assert (found.variance, found.low, found.high) == (0.0, 0.0, 0.0)
    assert found.p_lowest.tolist() == [0.5, 0.5]


def test_clusters_are_drawn_as_a_whole() -> None:
    """Each row twice is no more than each row once."""
    values = np.random.default_rng(RNG_SEED).random((25, 3))
    once = spread(values, n_resamples=999, rng=1)
    twice = spread(np.repeat(values, 2, axis=0), cluster=np.repeat(np.arange(25), 2), n_resamples=999, rng=1)
    assert np.allclose([once.low, once.high, once.by_chance], [twice.low, twice.high, twice.by_chance], rtol=1e-9)


def test_too_few_rows_have_no_interval() -> None:
    found = spread(np.array([[0.1, 0.3]]), n_resamples=99, rng=1)
    assert math.isclose(found.variance, 0.01, rel_tol=1e-12)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert math.isnan(spread(np.array([[np.nan, 0.3]]), n_resamples=99).variance)
    with pytest.raises(ParameterError):
        spread(np.zeros((3, 2)), confidence_level=2)


def test_the_range_over_orders_is_that_of_a_search() -> None:
    rng = np.random.default_rng(RNG_SEED)
    for _ in range(60):
        low = rng.random(rng.integers(2, 6)).round(1)
        high = low + rng.random(len(low)).round(1) * rng.integers(0, 2)
        least, most = order_range(low, high)
        at_ends = [np.var(ends) for ends in itertools.product(*zip(low, high, strict=True))]
        assert math.isclose(most, max(at_ends), abs_tol=1e-12)
        points = np.linspace(0, 2, 4001)[:, None]
        searched = ((np.clip(points, low, high) - points) ** 2).mean(axis=1).min()
        assert least <= searched + 1e-12
        assert math.isclose(least, searched, abs_tol=1e-6)
