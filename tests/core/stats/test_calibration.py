"""Do tests reject as often, and intervals cover as often, as they promise? Thousands of simulated data sets.

Each column is a data set of its own. Columns share the signs and counts of the resamples, so the rates stay valid;
`within` bounds them by the binomial distribution.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy

from deadheat import stats
from deadheat.core.settings import OF_ANY_MEANS

if TYPE_CHECKING:
    from deadheat.api import BoolArray, FloatArray

untyped: Any = scipy
N_SETS, N_QUERIES, N_RESAMPLES = 2_000, 40, 999


def within(outcomes: BoolArray, expected: float, *, slack: float = 0.0) -> bool:
    """Tell whether a share lies within the central 99.9% of the binomial distribution, and `slack`."""
    low, high = untyped.stats.binom.interval(0.999, len(outcomes), expected)
    return bool(low - slack * len(outcomes) <= outcomes.sum() <= high + slack * len(outcomes))


def at_most(outcomes: BoolArray, bound: float) -> bool:
    """Tell whether a share is no larger than a bound, up to the upper 0.1% of the binomial distribution."""
    return bool(outcomes.sum() <= untyped.stats.binom.isf(0.001, len(outcomes), bound))


def level_of_bootstrap(n: int, sides: int) -> float:
    """Return how often normal data exceed the normal quantile, by a standard deviation that divides by n."""
    quantile = scipy.special.ndtri(1 - 0.05 / sides) * math.sqrt((n - 1) / n)
    return float(sides * scipy.special.stdtr(n - 1, -quantile))


@pytest.fixture(scope="module")
def null() -> FloatArray:
    """Return differences of two systems that are equally good on average, shape (N_QUERIES, N_SETS)."""
    return np.random.default_rng(101).normal(0, 0.2, (N_QUERIES, N_SETS))


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_rejection_rates_of_tests_of_the_mean(null: FloatArray, alternative: str) -> None:
    for test in ("randomization", "bootstrap", "t"):
        found = stats.p_values(null, test=test, alternative=alternative, n_resamples=N_RESAMPLES, rng=1)
        expected = (
            level_of_bootstrap(N_QUERIES, 2 if alternative == "two-sided" else 1) if test == "bootstrap" else 0.05
        )
        assert within(found.p_values <= 0.05, expected), test


def test_p_values_are_uniform(null: FloatArray) -> None:
    for test in ("randomization", "t"):
        found = stats.p_values(null, test=test, n_resamples=N_RESAMPLES, rng=2).p_values
        assert untyped.stats.kstest(found, "uniform").pvalue > 0.001, test


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("test", ["randomization", "wilcoxon", "sign"])
def test_levels_of_exact_tests_by_enumeration(test: str, alternative: str) -> None:
    # all sign patterns of eight sizes: the share of patterns with a p-value up to one is that p-value
    sizes = np.array([0.01, 0.02, 0.04, 0.09, 0.16, 0.25, 0.36, 0.49])
    patterns = np.array(list(itertools.product([-1.0, 1.0], repeat=8))).T * sizes[:, None]
    found = stats.p_values(patterns, test=test, alternative=alternative)
    assert found.is_exact.all()
    for p_value in np.unique(found.p_values):
        assert (found.p_values <= p_value * (1 + 1e-9)).mean() == pytest.approx(p_value, rel=1e-9)


def test_rejection_rates_of_rank_tests(null: FloatArray) -> None:
    # the sign test rejects at 13 signs or fewer of 40, and not at 14: its level is that of 13
    assert scipy.special.bdtr(13.0, 40, 0.5) * 2 < 0.05 < scipy.special.bdtr(14.0, 40, 0.5) * 2
    signs = stats.p_values(null, test="sign").p_values <= 0.05
    assert within(signs, float(2 * scipy.special.bdtr(13.0, 40, 0.5)))
    ranks = stats.p_values(null[:, :500], test="wilcoxon").p_values <= 0.05
    assert within(ranks, 0.05)
    assert at_most(ranks, 0.05)


@pytest.mark.slow
def test_rejection_rates_on_a_coarse_skewed_measure() -> None:
    # differences of reciprocal ranks of two systems that draw from the same ranks: ties, zeros, heavy tails
    ranks = np.random.default_rng(102).geometric(0.4, (2, N_QUERIES, N_SETS))
    differences = 1 / ranks[0] - 1 / ranks[1]
    for test, columns in (("randomization", N_SETS), ("t", N_SETS), ("sign", N_SETS), ("wilcoxon", 300)):
        found = stats.p_values(differences[:, :columns], test=test, n_resamples=N_RESAMPLES, rng=1).p_values
        assert at_most(found <= 0.05, 0.05), test


def test_exact_randomization_holds_its_level() -> None:
    differences = np.random.default_rng(103).normal(0, 1, (10, N_SETS))
    found = stats.p_values(differences, test="randomization")
    assert found.is_exact.all()
    assert within(found.p_values <= 0.05, math.floor(0.05 * 2**9) / 2**9)


def test_corrections_bound_the_false_rejections() -> None:
    # ten tests of true null hypotheses: for all of them the probability of any rejection
    p_values = np.random.default_rng(104).random((N_SETS, 10))
    for method in ("bonferroni", "holm", "bh"):
        smallest = np.array([stats.adjust(row, method).min() for row in p_values])
        expected = 0.05 if method == "bh" else 1 - (1 - 0.05 / 10) ** 10
        assert within(smallest <= 0.05, expected), method


@pytest.mark.slow
def test_tukey_bounds_the_false_rejections_among_all_pairs() -> None:
    # systems that do not differ, on easy and hard queries
    rng = np.random.default_rng(105)
    smallest = np.array(
        [
            stats.tukey_p_values(rng.normal(0, 2, (20, 1)) + rng.random((20, 4)), n_resamples=199, rng=seed).min()
            for seed in range(N_SETS)
        ]
    )
    assert within(smallest <= 0.05, 0.05)


def test_margins_hold_their_level_at_the_margin() -> None:
    given = np.random.default_rng(106).normal(-0.05, 0.2, (N_QUERIES, N_SETS))
    assert within(stats.no_worse(given, 0.05).is_shown, 0.05)
    assert at_most(stats.equivalent(given, 0.05).is_shown, 0.05)
    assert stats.equivalent(given, 0.5).is_shown.all()


def covered(given: FloatArray, mean: float, method: str, **options: Any) -> tuple[BoolArray, BoolArray]:  # noqa: ANN401 - passed on
    """Tell which intervals have a lower bound that is low enough, and which an upper one that is high enough."""
    low, high = stats.interval_bounds(given, method=method, n_resamples=N_RESAMPLES, rng=1, **options)
    return low <= mean, mean <= high


@pytest.mark.slow
def test_skewed_differences_without_a_mean_difference() -> None:
    # most queries lose a little, some gain much: sign flips and t assume symmetry, and reject too often (docs/figures)
    differences = np.random.default_rng(110).beta(0.3, 3, (50, N_SETS)) - 0.3 / 3.3
    rejected = {
        (test, side): stats.p_values(differences, test=test, alternative=side, n_resamples=N_RESAMPLES, rng=1).p_values
        <= 0.05
        for test in ("randomization", "t", "bootstrap-t")
        for side in ("two-sided", "less")
    }
    for test in ("randomization", "t"):
        assert not at_most(rejected[test, "two-sided"], 0.05)
        assert not at_most(rejected[test, "less"], 0.06)
    assert within(rejected["bootstrap-t", "two-sided"], 0.05)
    assert at_most(rejected["bootstrap-t", "less"], 0.05)
    assert stats.is_doubtful(*stats.skewness(differences), "randomization").mean() > 0.9
    assert not stats.is_doubtful(*stats.skewness(differences), "bootstrap-t").mean() > 0.1


@pytest.mark.parametrize("method", OF_ANY_MEANS)
def test_coverage_on_normal_values(null: FloatArray, method: str) -> None:
    low, high = covered(null, 0.0, method)
    expected = 1 - level_of_bootstrap(N_QUERIES, 2) if method in {"bca", "percentile"} else 0.95
    assert within(low & high, expected, slack=0.0 if method == "t" else 0.004)  # quantiles of 999 means
    assert within(~low, (1 - expected) / 2, slack=0.003)


def test_bca_covers_better_than_the_percentiles_on_skewed_values() -> None:
    given = np.random.default_rng(107).lognormal(0, 1, (N_QUERIES, N_SETS))
    low, high = covered(given, math.exp(0.5), "percentile")
    bca_low, bca_high = covered(given, math.exp(0.5), "bca")
    assert (low & high).mean() + 0.01 < (bca_low & bca_high).mean() < 0.95
    # what is missed is missed less one-sidedly
    assert abs((~bca_low).mean() - (~bca_high).mean()) < abs((~low).mean() - (~high).mean())


@pytest.mark.slow
@pytest.mark.parametrize("method", OF_ANY_MEANS)
def test_clusters_are_covered_where_queries_alone_are_not(method: str) -> None:
    # 40 topics with one to nine queries each, which are alike
    rng = np.random.default_rng(108)
    cluster = np.repeat(np.arange(40), rng.integers(1, 10, 40))
    given = rng.normal(0, 1, (40, N_SETS))[cluster] + rng.normal(0, 1, (len(cluster), N_SETS))
    low, high = covered(given, 0.0, method)
    assert (low & high).mean() < 0.8
    low, high = covered(given, 0.0, method, cluster=cluster)
    assert 0.91 < (low & high).mean() < 0.96


@pytest.mark.parametrize("test", stats.CLUSTERED)
def test_clusters_hold_the_level_where_queries_alone_do_not(test: str) -> None:
    rng = np.random.default_rng(109)
    cluster = np.repeat(np.arange(40), 5)
    given = rng.normal(0, 1, (40, N_SETS))[cluster] + rng.normal(0, 1, (200, N_SETS))
    alone = stats.p_values(given, test=test, n_resamples=N_RESAMPLES, rng=1).p_values
    assert (alone <= 0.05).mean() > 0.2
    found = stats.p_values(given, test=test, n_resamples=N_RESAMPLES, cluster=cluster, rng=1).p_values
    assert within(found <= 0.05, level_of_bootstrap(40, 2) if test == "bootstrap" else 0.05)
