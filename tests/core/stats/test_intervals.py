"""Intervals and standard errors: equal to SciPy's, to arithmetic, and sensible where SciPy gives NaN."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy

from deadheat import stats
from deadheat.core.settings import OF_ANY_MEANS

if TYPE_CHECKING:
    from deadheat.api import FloatArray

untyped: Any = scipy  # its stubs want each word as a literal


def columns() -> FloatArray:
    """Return skewed, symmetric and binary values; in the last, resampled means equal the mean."""
    rng = np.random.default_rng(11)
    return np.column_stack([rng.lognormal(size=40), rng.normal(size=40), rng.integers(0, 2, 40)])


def scipy_bootstrap(data: tuple[Any, ...], statistic: Any, means: FloatArray, **options: Any) -> Any:  # noqa: ANN401 - as SciPy types them
    """Return SciPy's bounds from a bootstrap distribution that is handed to it."""
    drawn = SimpleNamespace(bootstrap_distribution=means)
    found = untyped.stats.bootstrap(data, statistic, n_resamples=0, bootstrap_result=drawn, vectorized=True, **options)
    return found.confidence_interval


@pytest.mark.parametrize("confidence_level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_bounds_are_scipys_for_the_same_resamples(method: str, confidence_level: float) -> None:
    given = columns()
    means = stats.resampled_means(given, n_resamples=999, rng=1)
    low, high = stats.interval_bounds(given, method=method, confidence_level=confidence_level, means=means)
    for n, column in enumerate(given.T):
        expected = scipy_bootstrap((column,), np.mean, means[:, n], method=method, confidence_level=confidence_level)
        assert [low[n], high[n]] == pytest.approx(list(expected), rel=1e-12)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_bounds_with_clusters_are_scipys_for_a_ratio_of_sums(method: str) -> None:
    rng = np.random.default_rng(12)
    cluster = rng.integers(0, 25, 140)
    given = rng.lognormal(size=(25, 2))[cluster] + rng.normal(0, 0.1, (140, 2))
    means = stats.resampled_means(given, n_resamples=999, cluster=cluster, rng=1)
    low, high = stats.interval_bounds(given, method=method, cluster=cluster, means=means)
    sizes = np.bincount(cluster)
    for n, column in enumerate(given.T):
        sums = np.bincount(cluster, column)

        def ratio(sums: FloatArray, sizes: FloatArray, axis: int = -1) -> Any:  # noqa: ANN401 - as SciPy types them
            return sums.sum(axis=axis) / sizes.sum(axis=axis)

        expected = scipy_bootstrap((sums, sizes), ratio, means[:, n], method=method, paired=True)
        assert [low[n], high[n]] == pytest.approx(list(expected), rel=1e-12)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_bounds_are_scipys_within_the_error_of_resampling(method: str) -> None:
    given = columns()[:, :2]
    low, high = stats.interval_bounds(given, method=method, n_resamples=20_000, rng=1)
    for n, column in enumerate(given.T):
        found = untyped.stats.bootstrap(
            (column,), np.mean, n_resamples=20_000, method=method, rng=np.random.default_rng(2)
        )
        # a quantile of 20,000 means at 2.5% (for BCa up to 7%) is known to about 2% of their standard deviation
        assert [low[n], high[n]] == pytest.approx(list(found.confidence_interval), abs=0.08 * found.standard_error)


@pytest.mark.parametrize("confidence_level", [0.8, 0.95])
def test_t_bounds_are_scipys(confidence_level: float) -> None:
    given = columns()
    low, high = stats.interval_bounds(given, method="t", confidence_level=confidence_level)
    for n, column in enumerate(given.T):
        expected = untyped.stats.ttest_1samp(column, 0).confidence_interval(confidence_level)
        assert [low[n], high[n]] == pytest.approx(list(expected), rel=1e-12)


def test_standard_errors_are_scipys() -> None:
    given = columns()
    assert stats.standard_errors(given) == pytest.approx(untyped.stats.sem(given), rel=1e-12)
    given[:7, 1] = np.nan
    assert stats.standard_errors(given) == pytest.approx(untyped.stats.sem(given, nan_policy="omit"), rel=1e-12)


def test_standard_errors_with_clusters_are_arithmetic() -> None:
    # sums 1 and 6 of 1 and 3 queries, mean 7 / 4: residuals 1 - 7/4 and 6 - 21/4
    found = stats.standard_errors([[1.0], [1.0], [2.0], [3.0]], cluster=[5, 8, 8, 8])
    assert found[0] == pytest.approx((2 / 1 * ((1 - 7 / 4) ** 2 + (6 - 21 / 4) ** 2)) ** 0.5 / 4, rel=1e-14)
    rng = np.random.default_rng(1)
    of_clusters = rng.normal(size=(12, 2))
    equal_sizes = stats.standard_errors(np.repeat(of_clusters, 5, axis=0), cluster=np.repeat(np.arange(12), 5))
    assert equal_sizes == pytest.approx(untyped.stats.sem(of_clusters), rel=1e-12)
    alone = rng.normal(size=(12, 2))
    assert stats.standard_errors(alone, cluster=np.arange(12)) == pytest.approx(stats.standard_errors(alone))


def test_t_with_clusters_has_a_degree_of_freedom_less_than_clusters() -> None:
    rng = np.random.default_rng(3)
    of_clusters = rng.normal(size=9)
    low, high = stats.interval_bounds(
        np.repeat(of_clusters, 4)[:, None], method="t", cluster=np.repeat(np.arange(9), 4)
    )
    expected = untyped.stats.ttest_1samp(of_clusters, 0).confidence_interval()
    assert [low[0], high[0]] == pytest.approx(list(expected), rel=1e-12)


@pytest.mark.parametrize("method", OF_ANY_MEANS)
def test_equal_values_give_their_value(method: str) -> None:
    given = np.column_stack([np.full(30, 0.1), np.zeros(30), np.full(30, 1 / 3), np.full(30, 1e-200)])
    for cluster in (None, np.arange(30) // 4):
        low, high = stats.interval_bounds(given, method=method, n_resamples=200, cluster=cluster, rng=1)
        assert low == pytest.approx(given[0], rel=1e-15)
        assert (low == high).all()
        assert (stats.standard_errors(given, cluster=cluster) == 0).all()


@pytest.mark.parametrize("method", OF_ANY_MEANS)
def test_fewer_than_two_units_have_no_interval(method: str) -> None:
    nan = float("nan")
    low, high = stats.interval_bounds([[nan, 1.0, 1.0], [nan, nan, 2.0]], method=method, n_resamples=99, rng=1)
    assert np.isnan([low[:2], high[:2]]).all()
    assert (low[2], high[2]) == (-np.inf, np.inf) if method == "bootstrap-t" else np.isfinite([low[2], high[2]]).all()
    assert np.isnan(stats.standard_errors([[nan, 1.0], [nan, nan]])).all()
    for given, cluster in ((np.zeros((0, 2)), None), (np.ones((1, 2)), None), (np.eye(4)[:, :2], [3, 3, 3, 3])):
        bounds = stats.interval_bounds(given, method=method, cluster=cluster, n_resamples=99, rng=1)
        assert np.isnan(bounds).all()
    assert all(bound.shape == (0,) for bound in stats.interval_bounds(np.ones((4, 0)), method=method, rng=1))


def test_the_fewest_resamples_of_few_queries_give_finite_bounds() -> None:
    given = np.random.default_rng(4).lognormal(sigma=3, size=(3, 200))
    for seed in range(5):
        low, high = stats.interval_bounds(given, n_resamples=99, rng=seed)
        assert np.isfinite([low, high]).all()
        assert (low <= high).all()


def test_one_large_value_keeps_the_bounds_in_order() -> None:
    # the acceleration nears its largest value, 1 / 6; far out the correction would come back from the other side
    given = np.zeros((50, 1))
    given[7] = 1.0
    for confidence_level in (0.9, 0.999, 0.999999, 1 - 1e-12):
        low, high = stats.interval_bounds(given, confidence_level=confidence_level, n_resamples=2_000, rng=1)
        assert 0 <= low[0] <= 1 / 50 <= high[0] <= 1


def test_the_unit_of_a_measure_does_not_matter() -> None:
    given = columns()
    low, high = stats.interval_bounds(given, n_resamples=500, rng=1)
    for factor, shift in ((1e-120, 0.0), (1e120, 0.0), (-1.0, 0.0), (2.0, 3.0)):
        bounds = stats.interval_bounds(given * factor + shift, n_resamples=500, rng=1)
        expected = [low * factor + shift, high * factor + shift]
        assert bounds[0] == pytest.approx(expected[0 if factor > 0 else 1], rel=1e-9)
        assert bounds[1] == pytest.approx(expected[1 if factor > 0 else 0], rel=1e-9)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("n", [1, 2, 5, 25])
def test_gaffkes_bounds_of_zeros_and_ones_are_clopper_and_pearsons(n: int, level: float) -> None:
    counts = np.unique(np.linspace(0, n, 4).astype(int))
    given = (np.arange(n)[:, None] < counts).astype(float)
    found = stats.interval_bounds(given, method="gaffke", confidence_level=level)
    assert np.array(found) == pytest.approx(stats.proportion_bounds(counts, n, level), abs=1e-5)


def test_gaffkes_bounds_by_definition() -> None:
    # of one value the weights are u and 1 - u, u uniform
    for low, high, value in ((0.0, 1.0, 0.3), (-10.0, 0.0, -2.0)):
        bounds = stats.interval_bounds([[value]], method="gaffke", limits=(low, high))
        expected = [low + 0.025 * (value - low), value + 0.975 * (high - value)]
        assert [bounds[0][0], bounds[1][0]] == pytest.approx(expected, abs=1e-6 * (high - low))
    # of two 0 < a < b, P(w1 a + w2 b + w3 <= t) is the area of the triangle below t: (t - a)^2 / (1 - a)(b - a) up to b
    a, b = 0.2, 0.7
    share = (b - a) / (1 - a)
    high = 1 - (0.025 * (1 - a) * (1 - b)) ** 0.5
    assert share < 0.975
    found = stats.interval_bounds([[a], [b]], method="gaffke")[1][0]
    assert found == pytest.approx(high, abs=1e-6)
    # clusters that are single queries are no clusters; queries that are the same count once if they are one cluster
    values = np.random.default_rng(5).random((12, 2))
    alone = stats.interval_bounds(values, method="gaffke")
    assert np.array(stats.interval_bounds(values, method="gaffke", cluster=np.arange(12))) == pytest.approx(
        np.array(alone), rel=1e-12
    )
    threefold = stats.interval_bounds(np.repeat(values, 3, axis=0), method="gaffke", cluster=np.arange(36) // 3)
    assert np.array(threefold) == pytest.approx(np.array(alone), rel=1e-12)


def test_the_bootstrap_t_by_definition() -> None:
    values = np.random.default_rng(6).lognormal(size=25)
    rng = np.random.default_rng(7)
    drawn = values[rng.integers(0, 25, (20_000, 25))]
    t = (drawn.mean(axis=1) - values.mean()) / untyped.stats.sem(drawn, axis=1)
    low, high = (values.mean() - np.quantile(t, tail) * untyped.stats.sem(values) for tail in (0.975, 0.025))
    by_t = untyped.stats.ttest_1samp(values, 0).confidence_interval()
    found = stats.interval_bounds(values[:, None], method="bootstrap-t", n_resamples=20_000, rng=1)
    expected = [min(low, by_t.low), max(high, by_t.high)]
    assert [found[0][0], found[1][0]] == pytest.approx(expected, abs=0.1 * untyped.stats.sem(values))
    assert high > by_t.high + 0.2 * untyped.stats.sem(values)


def test_the_skewed_t_by_definition() -> None:
    values = np.random.default_rng(6).lognormal(size=25)
    mean, error = values.mean(), untyped.stats.sem(values)
    a = untyped.stats.skew(values) / 5
    quantile = untyped.stats.t.ppf(0.975, 24)
    low, high = (bound[0] for bound in stats.interval_bounds(values[:, None], method="skewed-t"))
    t = (mean - high) / error  # the lower one of t that is possible, far below -quantile: g takes it to -quantile
    assert t + a / 3 * t**2 + a**2 / 27 * t**3 + a / 6 == pytest.approx(-quantile)
    assert low == pytest.approx(mean - quantile * error)  # no narrower than Student's t
    mirrored = stats.interval_bounds(-values[:, None], method="skewed-t")
    assert [mirrored[1][0], mirrored[0][0]] == pytest.approx([-low, -high])
    symmetric = np.array([[0.1], [0.2], [0.4], [0.5]])
    by_t = stats.interval_bounds(symmetric, method="t")
    assert np.array(stats.interval_bounds(symmetric, method="skewed-t")) == pytest.approx(np.array(by_t), abs=1e-6)
    assert np.array(stats.interval_bounds(np.ones((9, 1)), method="skewed-t")).tolist() == [[1], [1]]


@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("method", [*OF_ANY_MEANS, "gaffke"])
def test_columns_in_pieces_have_the_bounds_that_each_has_alone(
    monkeypatch: pytest.MonkeyPatch, method: str, *, with_weights: bool
) -> None:
    rng = np.random.default_rng(5)
    values = np.where(rng.random((14, 7)) < 0.1, np.nan, rng.random((14, 7)))
    weights = rng.random(values.shape) + 0.1 if with_weights else None
    monkeypatch.setattr("deadheat.core.stats.intervals.BATCH_CELLS", 250)  # two columns of 99 resamples
    low, high = stats.interval_bounds(
        values, method=method, n_resamples=99, rng=np.random.default_rng(2), weights=weights
    )
    for n, column in enumerate(values.T):
        alone = stats.interval_bounds(
            column[:, None],
            method=method,
            n_resamples=99,
            rng=np.random.default_rng(2),
            weights=None if weights is None else weights[:, n],
        )
        assert (low[n], high[n]) == pytest.approx([float(end[0]) for end in alone], abs=1e-12)
