"""p-values: equal to SciPy's where SciPy has the test, to enumeration, and to arithmetic where both end."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats

from deadheat import stats
from deadheat.errors import ParameterError

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray

scipy_stats: Any = scipy.stats  # its stubs want each word as a literal


def p_of(column: Any, test: str, **options: Any) -> float:  # noqa: ANN401 - passed on
    """Return the p-value of one column."""
    return float(stats.p_values(np.asarray(column, float)[:, None], test=test, **options).p_values[0])


def columns(n_queries: int) -> FloatArray:
    """Return differences: continuous, shifted, in eighths with ties and zeros, and mostly zeros."""
    rng = np.random.default_rng(n_queries)
    eighths = rng.integers(-4, 6, n_queries) / 8
    return np.column_stack(
        [
            rng.normal(size=n_queries),
            rng.normal(0.6, 1, n_queries),
            eighths,
            np.where(rng.random(n_queries) < 0.7, 0.0, eighths),
        ]
    )


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("n_queries", [2, 5, 9, 12])
def test_exact_randomization_is_scipys(n_queries: int, alternative: str) -> None:
    given = columns(n_queries)
    found = stats.p_values(given, test="randomization", alternative=alternative)
    assert found.is_exact.all()

    def statistic(x: FloatArray, y: FloatArray, axis: int) -> Any:  # noqa: ANN401 - as SciPy types them
        return np.mean(x - y, axis=axis)

    for n, column in enumerate(given.T):
        system, baseline = np.maximum(column, 0), np.maximum(-column, 0)
        expected = scipy_stats.permutation_test(
            (system, baseline),
            statistic,
            permutation_type="samples",
            n_resamples=np.inf,
            alternative=alternative,
            vectorized=True,
        )
        assert found.p_values[n] == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_exact_randomization_counts_equal_sums_as_equal(alternative: str) -> None:
    # tenths have no exact float64: sums that are equal in theory differ by rounding
    tenths = np.array([3, -1, 2, -2, 1, 4, 1, -3, 2, 1])
    signs = np.array(list(itertools.product([-1, 1], repeat=10)))
    sums, observed = signs @ np.abs(tenths), tenths.sum()
    extreme = {"two-sided": abs(sums) >= abs(observed), "greater": sums >= observed, "less": sums <= observed}
    assert p_of(tenths / 10, "randomization", alternative=alternative) == extreme[alternative].mean()


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_exact_randomization_of_thirty_units(alternative: str) -> None:
    # the distribution of the signed sum of whole numbers, by one convolution after the other
    whole = np.random.default_rng(30).integers(1, 40, 30) * np.random.default_rng(3).choice([-1, 1, 1], 30)
    total, observed = int(abs(whole).sum()), int(whole.sum())
    ways = [0] * (2 * total + 1)
    ways[total] = 1
    for size in abs(whole).tolist():
        down, up = [*ways[size:], *[0] * size], [*[0] * size, *ways[:-size]]
        ways = [a + b for a, b in zip(down, up, strict=True)]
    sums = range(-total, total + 1)
    extreme = {
        "two-sided": [abs(s) >= abs(observed) for s in sums],
        "greater": [s >= observed for s in sums],
        "less": [s <= observed for s in sums],
    }
    expected = sum(way for way, counted in zip(ways, extreme[alternative], strict=True) if counted) / 2**30
    given = np.append(whole / 100, np.zeros(20))  # zeros are no units: 50 rows are still exact
    found = stats.p_values(given[:, None], test="randomization", alternative=alternative)
    assert found.is_exact[0]
    assert found.p_values[0] == expected


def test_resampled_randomization_is_near_the_exact_one() -> None:
    given = columns(18)[:, :3] + 0.15
    for alternative in stats.ALTERNATIVES:
        exact = stats.p_values(given, test="randomization", alternative=alternative).p_values
        # 13 further units whose difference is too small to matter make the number of units 31
        padded = np.vstack([given, np.full((13, 3), 1e-9)])
        found = stats.p_values(padded, test="randomization", alternative=alternative, n_resamples=40_000, rng=1)
        assert not found.is_exact.any()
        error = 4 * np.sqrt(exact * (1 - exact) / 40_000)
        assert (np.abs(found.p_values - exact) <= error + 1 / 40_000).all()


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_resamples_count_equal_sums_as_equal(test: str, alternative: str) -> None:
    # whole numbers are exact, their tenths are not; many resamples are exactly as extreme as the data
    whole = np.random.default_rng(5).integers(-2, 3, (60, 20)).astype(float)
    options = {"test": test, "alternative": alternative, "n_resamples": 500, "rng": 1}
    expected = stats.p_values(whole, **options).p_values  # type: ignore[arg-type]
    for factor in (0.1, 1 / 3, 1e6 / 7):
        assert (stats.p_values(whole * factor, **options).p_values == expected).all()  # type: ignore[arg-type]


def test_a_cluster_whose_differences_cancel_is_no_unit() -> None:
    given, cluster = np.array([0.1, 0.2, -0.3, 0.4, 0.5, 0.6])[:, None], [0, 0, 0, 1, 2, 3]
    assert sum(given[:3, 0].tolist()) != 0
    assert stats.p_values(given, test="randomization", cluster=cluster).p_values[0] == 2 / 2**3
    many = np.vstack([np.tile(given[:3], (40, 1)), given[3:]])
    cluster = [*np.repeat(np.arange(40), 3), 41, 42, 43]
    found = stats.p_values(many, test="randomization", cluster=cluster)
    assert (found.p_values[0], found.is_exact[0]) == (2 / 2**3, True)
    for test in stats.CLUSTERED:
        equal = stats.p_values(many[:120], test=test, cluster=cluster[:120], n_resamples=99, rng=1)
        assert (equal.p_values[0], equal.is_exact[0]) == (1.0, True)


def test_clusters_change_sign_as_a_whole() -> None:
    given = columns(16)
    cluster = np.array([3, 3, 3, 3, 1, 1, 2, 2, 2, 8, 8, 5, 5, 5, 5, 5])
    sums = np.array([given[cluster == code].sum(axis=0) for code in np.unique(cluster)])
    for test in ("randomization", "t"):
        found = stats.p_values(given, test=test, cluster=cluster)
        assert found.is_exact.all()
    found = stats.p_values(given, test="randomization", cluster=cluster)
    assert found.p_values == pytest.approx(stats.p_values(sums, test="randomization").p_values)
    many = np.repeat(columns(40), 2, axis=0)
    in_pairs = stats.p_values(many, test="randomization", cluster=np.repeat(np.arange(40), 2), rng=1)
    alone = stats.p_values(columns(40), test="randomization", rng=1)
    assert in_pairs.p_values == pytest.approx(alone.p_values, rel=1e-12)


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_rank_tests_take_no_clusters(test: str) -> None:
    with pytest.raises(ParameterError, match=f"cluster is for the tests 'randomization', .*, got test='{test}'"):
        stats.p_values(columns(5), test=test, cluster=np.arange(5))


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("n_queries", [2, 12, 60, 300])
def test_tests_of_scipy(n_queries: int, alternative: str) -> None:
    given = columns(n_queries)[:, :3]
    for column in given.T:
        system, baseline = np.maximum(column, 0), np.maximum(-column, 0)
        expected = {
            "t": scipy_stats.ttest_rel(system, baseline, alternative=alternative).pvalue,
            "wilcoxon": scipy_stats.wilcoxon(column, alternative=alternative).pvalue,
            "sign": scipy_stats.binomtest(
                int((column > 0).sum()), int((column != 0).sum()), alternative=alternative
            ).pvalue,
        }
        for test, p_value in expected.items():
            assert p_of(column, test, alternative=alternative) == pytest.approx(p_value, rel=1e-11)
            with_missing = np.insert(column, 1, np.nan)
            assert p_of(with_missing, test, alternative=alternative) == pytest.approx(p_value, rel=1e-11)


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("unit", [0.1, 1 / 3, 1e6 / 7])
def test_wilcoxon_takes_sizes_as_equal_that_only_rounding_tells_apart(unit: float, alternative: str) -> None:
    system, baseline = np.random.default_rng(11).integers(0, 9, (2, 40))
    expected = scipy_stats.wilcoxon(system - baseline, alternative=alternative).pvalue
    rounded = system * unit - baseline * unit
    assert len(np.unique(np.abs(rounded))) > len(np.unique(np.abs(system - baseline)))
    assert p_of(rounded, "wilcoxon", alternative=alternative) == pytest.approx(expected, rel=1e-12)
    assert scipy_stats.wilcoxon(rounded, alternative=alternative).pvalue != pytest.approx(expected, rel=1e-3)


def test_t_with_clusters_of_equal_size_is_the_t_test_of_their_means() -> None:
    of_clusters = columns(14)
    found = stats.p_values(np.repeat(of_clusters, 3, axis=0), test="t", cluster=np.repeat(np.arange(14), 3))
    expected = scipy_stats.ttest_1samp(of_clusters, 0).pvalue
    assert found.p_values == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_bootstrap_counts_centred_means(alternative: str) -> None:
    given = columns(30)
    means = stats.resampled_means(given, n_resamples=2_000, rng=5)
    found = stats.p_values(given, test="bootstrap", alternative=alternative, means=means)
    drawn_anew = stats.p_values(given, test="bootstrap", alternative=alternative, n_resamples=2_000, rng=5)
    assert (found.p_values == drawn_anew.p_values).all()
    assert not found.is_exact.any()
    observed = given.mean(axis=0)
    centred = means - observed
    extreme = {
        "two-sided": np.abs(centred) >= np.abs(observed) - 1e-15,
        "greater": centred >= observed - 1e-15,
        "less": centred <= observed + 1e-15,
    }
    assert found.p_values == pytest.approx((extreme[alternative].sum(axis=0) + 1) / 2_001)


def test_one_side_mirrors_the_other() -> None:
    given = columns(35)
    for test in stats.TESTS:
        greater = stats.p_values(given, test=test, alternative="greater", n_resamples=500, rng=1).p_values
        less = stats.p_values(-given, test=test, alternative="less", n_resamples=500, rng=1).p_values
        assert greater == pytest.approx(less, rel=1e-12)


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("test", stats.TESTS)
def test_no_difference_has_p_value_one(test: str, alternative: str) -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 1e-15, 60)  # what 0.1 + 0.2 - 0.3 leaves
    given = np.column_stack([np.zeros(60), noise, np.where(rng.random(60) < 0.3, np.nan, noise)])
    found = stats.p_values(given, test=test, alternative=alternative, n_resamples=99, rng=1)
    assert found.p_values.tolist() == [1.0, 1.0, 1.0]
    assert found.is_exact.all()
    means = stats.resampled_means(given, n_resamples=99, rng=1)
    drawn_before = stats.p_values(given, test="bootstrap", alternative=alternative, means=means)
    assert drawn_before.p_values.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("test", stats.TESTS)
def test_fewer_than_two_queries(test: str) -> None:
    nan = float("nan")
    given = np.array([[nan, 0.5], [nan, nan]])
    needs_two = test in {"t", "bootstrap"}
    found = stats.p_values(given, test=test, n_resamples=99, rng=1).p_values
    assert found == pytest.approx([nan, nan] if needs_two else [1.0, 1.0], nan_ok=True)
    assert p_of([0.5], "randomization", alternative="greater") == 1 / 2
    assert p_of([0.5], "randomization", alternative="less") == 1
    nothing = stats.p_values(np.zeros((0, 1)), test=test, n_resamples=99, rng=1).p_values
    assert nothing == pytest.approx([nan] if needs_two else [1.0], nan_ok=True)
    assert stats.p_values(np.zeros((3, 0)), test=test, n_resamples=99, rng=1).p_values.shape == (0,)


def test_the_same_difference_everywhere() -> None:
    tenth = np.full(40, 0.1)
    assert [p_of(tenth, "t", alternative=side) for side in stats.ALTERNATIVES] == [0.0, 0.0, 1.0]
    assert p_of(tenth, "bootstrap", n_resamples=99, rng=1) == 1 / 100
    assert p_of(tenth, "bootstrap", alternative="less", n_resamples=99, rng=1) == 1
    assert p_of(tenth, "randomization", n_resamples=99, rng=1) == 1 / 100
    assert p_of(tenth[:20], "randomization") == 2 / 2**20
    assert p_of(tenth[:20], "sign") == 2 / 2**20
    in_two_clusters = stats.p_values(tenth[:, None], test="t", cluster=np.arange(40) // 20)
    assert in_two_clusters.p_values[0] == 0
