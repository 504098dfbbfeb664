"""Weighted means in intervals and tests: arithmetic, SciPy and all patterns of signs; equal weights change no bit."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats

from deadheat import stats
from deadheat.core.kernels import weighting
from deadheat.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from deadheat.api import FloatArray

scipy_stats: Any = scipy.stats  # its stubs want each word as a literal
RNG = np.random.default_rng(5)
WEIGHTS = RNG.lognormal(0, 0.8, 14)
VALUES = RNG.normal(0.1, 0.3, (14, 3))
VALUES[3, 1] = np.nan


def ratio(values: FloatArray, weights: FloatArray) -> float:
    return sum(w * x for x, w in zip(values, weights, strict=True)) / sum(weights)


def jackknife_error(values: FloatArray, weights: FloatArray) -> float:
    """Return the standard error of the ratio, from leaving each value out once."""
    n = len(values)
    without = [ratio(np.delete(values, one), np.delete(weights, one)) for one in range(n)]
    return float(np.sqrt((n - 1) / n * sum((one - ratio(values, weights)) ** 2 for one in without)))


def kept(column: int) -> tuple[FloatArray, FloatArray]:
    keep = ~np.isnan(VALUES[:, column])
    return VALUES[keep, column], WEIGHTS[keep]


def test_the_mean_and_standard_deviation_are_numpys() -> None:
    values, weights = kept(1)
    assert weighting.mean(values, weights) == pytest.approx(np.average(values, weights=weights), abs=1e-15)
    biased = np.cov(values, aweights=weights, bias=True)
    assert weighting.std(values, weights) == pytest.approx(np.sqrt(biased * len(values) / (len(values) - 1)))
    whole = np.array([1, 3, 2])
    assert weighting.mean(values[:3], whole) == pytest.approx(np.repeat(values[:3], whole).mean())


def test_the_effective_number_is_kishs() -> None:
    assert weighting.effective_number(WEIGHTS) == pytest.approx(sum(WEIGHTS) ** 2 / sum(w * w for w in WEIGHTS))
    assert weighting.effective_number(np.full(7, 1 / 3)) == 7
    assert weighting.effective_number(np.array([1.0, 0.0])) == 1


@pytest.mark.parametrize("column", range(3))
def test_t_takes_the_jackknife_and_the_effective_number(column: int) -> None:
    values, weights = kept(column)
    error, mean = jackknife_error(values, weights), ratio(values, weights)
    assert stats.standard_errors(VALUES, weights=WEIGHTS)[column] == pytest.approx(error)
    freedom = sum(weights) ** 2 / sum(weights**2) - 1
    low, high = stats.interval_bounds(VALUES, method="t", weights=WEIGHTS)
    half = scipy.stats.t.ppf(0.975, freedom) * error
    assert (low[column], high[column]) == pytest.approx((mean - half, mean + half))
    found = stats.p_values(VALUES, test="t", weights=WEIGHTS).p_values[column]
    assert found == pytest.approx(2 * scipy.stats.t.sf(abs(mean) / error, freedom))
    shown = stats.no_worse(VALUES, 0.2, weights=WEIGHTS).p_values[column]
    assert shown == pytest.approx(scipy.stats.t.sf((mean + 0.2) / error, freedom))


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_randomization_counts_all_signs_of_weighted_differences(alternative: str) -> None:
    values, weights = VALUES[:, 0], WEIGHTS
    signs = np.array(list(product([-1, 1], repeat=len(values))))
    null, observed = signs @ (values * weights), values @ weights
    extreme = {
        "two-sided": abs(null) >= abs(observed) - 1e-12,
        "greater": null >= observed - 1e-12,
        "less": null <= observed + 1e-12,
    }
    found = stats.p_values(VALUES, test="randomization", alternative=alternative, weights=WEIGHTS)
    assert found.p_values[0] == pytest.approx(extreme[alternative].mean())
    assert found.is_exact.all()


def test_bca_is_scipys_bootstrap_of_value_and_weight_together() -> None:
    values, weights = kept(0)
    low, high = stats.interval_bounds(VALUES[:, [0]], method="bca", weights=WEIGHTS, n_resamples=60_000, rng=1)

    def statistic(one: FloatArray, other: FloatArray, axis: int = -1) -> FloatArray:
        return (one * other).sum(axis=axis) / other.sum(axis=axis)

    found = scipy_stats.bootstrap(
        (values, weights), statistic, paired=True, vectorized=True, n_resamples=60_000, method="BCa", rng=2
    ).confidence_interval
    assert (low[0], high[0]) == pytest.approx((found.low, found.high), abs=0.006)


def test_resampled_means_are_ratios_of_what_was_drawn() -> None:
    means = stats.resampled_means(VALUES[:, [0]], n_resamples=200, rng=3, weights=WEIGHTS)[:, 0]
    ones = stats.resampled_means(np.eye(14), n_resamples=200, rng=3)  # the share in which each was drawn
    assert means == pytest.approx(np.array([ratio(VALUES[:, 0], WEIGHTS * share) for share in ones]))


def test_the_bootstrap_t_compares_linearised_t_of_resamples() -> None:
    values, weights, n = VALUES[:, 0], WEIGHTS, 14
    counts = stats.resampled_means(np.eye(n), n_resamples=999, rng=4) * n

    def t_of(drawn: FloatArray, around: float) -> float:
        own, mean = weights * drawn, ratio(values, weights * drawn)
        residuals = np.repeat(weights * (values - mean), np.rint(drawn).astype(int))
        return float((mean - around) * own.sum() / np.sqrt(n / (n - 1) * (residuals**2).sum()))

    observed = t_of(np.ones(n), 0.0)
    null = [t_of(drawn, ratio(values, weights)) for drawn in counts]
    found = stats.p_values(VALUES[:, [0]], test="bootstrap-t", weights=WEIGHTS, n_resamples=999, rng=4).p_values[0]
    assert found == pytest.approx((sum(abs(t) >= abs(observed) for t in null) + 1) / 1000)


def test_tukey_of_two_systems_is_randomization() -> None:
    p = stats.tukey_p_values(VALUES[:, [0, 2]], weights=WEIGHTS, n_resamples=20_000, rng=1)[0, 1]
    exact = stats.p_values(VALUES[:, [0]] - VALUES[:, [2]], test="randomization", weights=WEIGHTS).p_values[0]
    assert p == pytest.approx(exact, abs=0.015)


def test_weights_of_clusters_are_summed() -> None:
    cluster = np.arange(14) // 3
    sums, sizes = (np.bincount(cluster, one).astype(np.float64) for one in (WEIGHTS * VALUES[:, 0], WEIGHTS))
    found = stats.standard_errors(VALUES[:, [0]], cluster=cluster, weights=WEIGHTS)[0]
    assert found == pytest.approx(jackknife_error(sums / sizes, sizes))


CALLS: dict[str, Callable[..., Any]] = {
    **{
        f"interval {method}": lambda weights, method=method: stats.interval_bounds(
            VALUES, method=method, weights=weights, rng=1, limits=(-2, 2)
        )
        for method in stats.METHODS
    },
    **{
        f"test {test}": lambda weights, test=test: stats.p_values(VALUES, test=test, weights=weights, rng=1).p_values
        for test in stats.CLUSTERED
    },
    "errors": lambda weights: stats.standard_errors(VALUES, weights=weights),
    "skewness": lambda weights: stats.skewness(VALUES, weights=weights)[0],
    "tukey": lambda weights: stats.tukey_p_values(VALUES, weights=weights, rng=1, n_resamples=99),
    "equivalent": lambda weights: stats.equivalent(VALUES, 0.3, weights=weights).p_values,
    "clusters": lambda weights: stats.standard_errors(VALUES, cluster=np.arange(14) // 2, weights=weights),
}


@pytest.mark.parametrize("name", CALLS)
def test_equal_weights_change_no_bit(name: str) -> None:
    assert np.array_equal(CALLS[name](np.full(14, 0.3)), CALLS[name](None), equal_nan=True)
    columns = np.tile([0.7, 1e6, 3.0], (14, 1))  # equal within each column
    if name != "tukey":
        assert np.array_equal(CALLS[name](columns), CALLS[name](None), equal_nan=True)


def test_each_column_has_its_own_weights() -> None:
    columns = np.column_stack([WEIGHTS, np.ones(14), WEIGHTS[::-1]])
    found = stats.standard_errors(VALUES, weights=columns)
    alone = [stats.standard_errors(VALUES[:, [n]], weights=columns[:, n])[0] for n in range(3)]
    assert found.tolist() == alone


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_tests_of_ranks_take_no_weights(test: str) -> None:
    with pytest.raises(ParameterError) as caught:
        stats.p_values(VALUES, test=test, weights=WEIGHTS)
    error = caught.value
    assert (error.argument, error.given, error.beside) == ("test", test, {"weights": None})


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf])
def test_wrong_weights_are_refused_where_there_is_a_value(wrong: float) -> None:
    weights = WEIGHTS.copy()
    weights[3] = wrong
    assert np.isfinite(stats.standard_errors(VALUES[:, [1]], weights=weights)).all()  # no value there
    with pytest.raises(ParameterError) as caught:
        stats.standard_errors(VALUES, weights=weights)
    assert (caught.value.argument, caught.value.found) == ("weights", str(wrong))
    with pytest.raises(ParameterError) as caught:
        stats.standard_errors(VALUES, weights=weights[:3])
    assert (caught.value.argument, caught.value.found) == ("weights", "the shape (3,)")


@pytest.mark.slow
@pytest.mark.parametrize("n", [25, 60])
@pytest.mark.parametrize("method", ["t", "gaffke", "bca"])
def test_intervals_cover_where_weights_differ_much(method: str, n: int) -> None:
    """Weights of a lognormal distribution: half of the weight is that of the 15% of the queries that have most."""
    rng, n_simulated = np.random.default_rng(3), 800
    drawn = rng.standard_normal((n_simulated, n))
    weights, chance = np.exp(drawn), 1 / (1 + np.exp(-0.8 - 0.4 * drawn))
    values = rng.beta(2 * chance, 2 - 2 * chance)
    z = np.random.default_rng(4).standard_normal(1_000_000)
    true = float((np.exp(z) / (1 + np.exp(-0.8 - 0.4 * z))).sum() / np.exp(z).sum())
    hits = 0
    for own, of in zip(values, weights, strict=True):
        low, high = stats.interval_bounds(own[:, None], method=method, weights=of, n_resamples=999, rng=1)
        hits += low[0] <= true <= high[0]
    assert hits / n_simulated >= (0.9 if method == "bca" else 0.915)
