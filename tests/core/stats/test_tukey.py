"""Randomised Tukey HSD: against enumeration, the analysis of variance, SciPy and ranx."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy

from deadheat import stats
from deadheat.errors import ParameterError
from oracle.tukey import enumerated

untyped: Any = scipy  # its stubs leave out parts of some results


@pytest.mark.parametrize("n_systems", [2, 3, 4])
def test_p_values_are_near_enumeration(n_systems: int) -> None:
    rng = np.random.default_rng(n_systems)
    n_queries = {2: 9, 3: 6, 4: 4}[n_systems]
    values = rng.integers(0, 8, (n_queries, n_systems)) / 10 + np.linspace(0, 0.6, n_systems)
    exact = enumerated(values)
    assert exact.min() < 0.1
    found = stats.tukey_p_values(values, n_resamples=40_000, rng=1)
    assert (np.abs(found - exact) <= 4 * np.sqrt(exact * (1 - exact) / 40_000) + 1 / 40_000).all()


def test_two_systems_are_the_randomization_test() -> None:
    values = np.random.default_rng(2).random((14, 2))
    exact = stats.p_values(values[:, [0]] - values[:, [1]], test="randomization").p_values[0]
    found = stats.tukey_p_values(values, n_resamples=40_000, rng=1)
    assert found[0, 1] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 40_000))


def test_normal_values_with_easy_and_hard_queries_are_near_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(4)
    n_queries, n_systems = 80, 4
    values = rng.normal(0, 3, (n_queries, 1)) + rng.normal([0, 0.1, 0.4, 0.5], 1, (n_queries, n_systems))
    residuals = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    freedom = (n_queries - 1) * (n_systems - 1)
    error = np.sqrt((residuals**2).sum() / freedom / n_queries)
    means = values.mean(axis=0)
    expected = untyped.stats.studentized_range.sf(np.abs(means[:, None] - means) / error, n_systems, freedom)
    found = stats.tukey_p_values(values, n_resamples=20_000, rng=1)
    assert found == pytest.approx(expected, abs=0.02)
    assert expected.min() < 0.05 < np.median(expected)


WITHOUT_HARD_QUERIES = np.random.default_rng(6).normal([0, 0.2, 0.4], 1, (100, 3))


def test_values_without_hard_queries_are_near_scipy() -> None:
    found = stats.tukey_p_values(WITHOUT_HARD_QUERIES, n_resamples=20_000, rng=1)
    assert found == pytest.approx(untyped.stats.tukey_hsd(*WITHOUT_HARD_QUERIES.T).pvalue, abs=0.03)


@pytest.mark.slow
def test_values_without_hard_queries_are_near_ranx() -> None:
    """It hands the systems to SciPy as independent samples: the same answer only where queries do not differ."""
    values = WITHOUT_HARD_QUERIES
    found = stats.tukey_p_values(values, n_resamples=20_000, rng=1)
    peer = pytest.importorskip(
        "ranx.statistical_tests.tukey_hsd_test", reason="ranx belongs to the extra 'bench'", exc_type=ImportError
    )
    rows = peer.tukey_hsd_test(["0", "1", "2"], list(values.T), max_p=0.05)
    theirs = np.array([row["p-value"] for row in rows]).reshape(3, 3)
    assert found == pytest.approx(theirs, abs=0.03)


def test_the_matrix_is_symmetric_with_ones_where_there_is_no_difference() -> None:
    values = np.random.default_rng(8).random((20, 3))[:, [0, 1, 2, 1]]
    found = stats.tukey_p_values(values, n_resamples=500, rng=1)
    assert (found == found.T).all()
    assert (np.diag(found) == 1).all()
    assert found[1, 3] == 1
    assert (stats.tukey_p_values(np.zeros((0, 3)), n_resamples=99, rng=1) == 1).all()
    assert (stats.tukey_p_values(np.full((9, 3), 0.1), n_resamples=99, rng=1) == 1).all()


def test_a_query_with_a_missing_value_is_left_out() -> None:
    values = np.random.default_rng(9).random((20, 3))
    with_missing = np.insert(values, 5, [0.3, np.nan, 0.9], axis=0)
    found = stats.tukey_p_values(with_missing, n_resamples=200, rng=1)
    assert (found == stats.tukey_p_values(values, n_resamples=200, rng=1)).all()
    weights = np.linspace(1, 2, 20)  # the query that is left out has most of the weight
    found = stats.tukey_p_values(with_missing, n_resamples=200, rng=1, weights=np.insert(weights, 5, 90))
    assert (found == stats.tukey_p_values(values, n_resamples=200, rng=1, weights=weights)).all()


def test_clusters_are_permuted_as_a_whole() -> None:
    values = np.random.default_rng(9).random((12, 3))
    found = stats.tukey_p_values(
        np.repeat(values, 4, axis=0), cluster=np.repeat(np.arange(12), 4), n_resamples=200, rng=1
    )
    assert found == pytest.approx(stats.tukey_p_values(values, n_resamples=200, rng=1))


def test_one_system_is_refused() -> None:
    with pytest.raises(ParameterError) as caught:
        stats.tukey_p_values(np.ones((4, 1)))
    assert (caught.value.argument, caught.value.given) == ("values", 1)
