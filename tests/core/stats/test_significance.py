"""p-values: equal to SciPy's where SciPy has the test, to enumeration, and to arithmetic where both end."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy

from deadheat import stats
from deadheat.errors import ParameterError
from oracle.signed_ranks import signed_rank

if TYPE_CHECKING:
    from deadheat.api import FloatArray

untyped: Any = scipy  # its stubs want each word as a literal


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
        expected = untyped.stats.permutation_test(
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
@pytest.mark.parametrize("test", ["randomization", "bootstrap-t", "bootstrap"])
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
    with pytest.raises(ParameterError) as caught:
        stats.p_values(columns(5), test=test, cluster=np.arange(5))
    error = caught.value
    assert (error.argument, error.given, error.beside) == ("test", test, {"cluster": None})


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("n_queries", [1, 2, 5, 9, 12])
def test_wilcoxon_counts_all_sign_patterns(n_queries: int, alternative: str) -> None:
    for column in np.hstack([columns(n_queries), columns(n_queries + 100)[:n_queries]]).T:
        kept = column[column != 0]
        ranks = untyped.stats.rankdata(np.abs(kept))
        sums = np.array([ranks @ signs for signs in itertools.product([0.0, 1.0], repeat=len(kept))])
        observed = ranks[kept > 0].sum()
        greater, less = (Fraction(int(n), len(sums)) for n in ((sums >= observed).sum(), (sums <= observed).sum()))
        both = min(2 * min(greater, less), Fraction(1))
        expected = float({"two-sided": both, "greater": greater, "less": less}[alternative])
        assert p_of(column, "wilcoxon", alternative=alternative) == pytest.approx(expected, rel=1e-14)
        assert signed_rank(column, alternative) == expected
        assert stats.p_values(column[:, None], test="wilcoxon").is_exact[0]


@pytest.mark.slow
@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("n_queries", [14, 50])
def test_wilcoxon_is_exact_with_draws_and_ties(n_queries: int, alternative: str) -> None:
    for column in columns(n_queries).T:
        found = p_of(column, "wilcoxon", alternative=alternative)
        assert found == pytest.approx(signed_rank(column, alternative), rel=1e-12)
        if len(np.unique(np.abs(column))) == n_queries:  # no draw and no tie: SciPy is exact too
            expected = untyped.stats.wilcoxon(column, alternative=alternative, method="exact").pvalue
            assert found == pytest.approx(expected, rel=1e-12)
        elif n_queries == 14:
            sampled = untyped.stats.PermutationMethod(n_resamples=5_000, rng=np.random.default_rng(1))
            expected = untyped.stats.wilcoxon(column[column != 0], alternative=alternative, method=sampled).pvalue
            assert found == pytest.approx(expected, abs=4 * np.sqrt(0.25 / 5_000))
        else:  # one is enough for SciPy's normal distribution
            expected = untyped.stats.wilcoxon(column, alternative=alternative).pvalue
            assert found != pytest.approx(expected, rel=1e-6)


def test_no_p_value_of_wilcoxon_is_above_1() -> None:
    """The probabilities of all sums add up to 1 + 2e-16 for 80 ranks."""
    assert p_of(np.arange(1.0, 81), "wilcoxon", alternative="less") == 1
    assert p_of(-np.arange(1.0, 81), "wilcoxon", alternative="greater") == 1


def test_wilcoxon_is_normal_above_so_many_differences() -> None:
    rng = np.random.default_rng(8)
    sizes = np.append(rng.permutation(np.arange(1.0, 201)) * rng.choice([-1, 1, 1.0], 200), 0.0)
    found = stats.p_values(np.column_stack([sizes, np.append(sizes[:200], 300)]), test="wilcoxon")
    assert found.is_exact.tolist() == [True, False]  # 200 differences and a draw; 201 differences
    exact, normal = (untyped.stats.wilcoxon(sizes[:200], method=method).pvalue for method in ("exact", "approx"))
    assert found.p_values[0] == pytest.approx(exact, rel=1e-11)
    assert exact == pytest.approx(normal, abs=0.001)
    expected = untyped.stats.wilcoxon(np.append(sizes[:200], 300), method="approx").pvalue
    assert found.p_values[1] == pytest.approx(expected, rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("n_queries", [2, 12, 60, 300])
def test_tests_of_scipy(n_queries: int, alternative: str) -> None:
    given = columns(n_queries)[:, :3]
    for column in given.T:
        system, baseline = np.maximum(column, 0), np.maximum(-column, 0)
        expected = {
            "t": untyped.stats.ttest_rel(system, baseline, alternative=alternative).pvalue,
            "wilcoxon": signed_rank(column, alternative)
            if n_queries <= 200
            else untyped.stats.wilcoxon(column, alternative=alternative, method="approx").pvalue,
            "sign": untyped.stats.binomtest(
                int((column > 0).sum()), int((column != 0).sum()), alternative=alternative
            ).pvalue,
        }
        for test, p_value in expected.items():
            assert p_of(column, test, alternative=alternative) == pytest.approx(p_value, rel=1e-11)
            with_missing = np.insert(column, 1, np.nan)
            assert p_of(with_missing, test, alternative=alternative) == pytest.approx(p_value, rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize("unit", [0.1, 1 / 3, 1e6 / 7])
def test_wilcoxon_takes_sizes_as_equal_that_only_rounding_tells_apart(unit: float, alternative: str) -> None:
    system, baseline = np.random.default_rng(11).integers(0, 9, (2, 40))
    expected = signed_rank(system - baseline, alternative)
    rounded = system * unit - baseline * unit
    assert len(np.unique(np.abs(rounded))) > len(np.unique(np.abs(system - baseline)))
    assert p_of(rounded, "wilcoxon", alternative=alternative) == pytest.approx(expected, rel=1e-12)
    assert signed_rank(rounded, alternative) != pytest.approx(expected, rel=1e-3)


def test_t_with_clusters_of_equal_size_is_the_t_test_of_their_means() -> None:
    of_clusters = columns(14)
    found = stats.p_values(np.repeat(of_clusters, 3, axis=0), test="t", cluster=np.repeat(np.arange(14), 3))
    expected = untyped.stats.ttest_1samp(of_clusters, 0).pvalue
    assert found.p_values == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_bootstrap_counts_centred_means(alternative: str) -> None:
    given = columns(30)
    means = stats.resampled_means(given, n_resamples=2_000, rng=5)
    found = stats.p_values(given, test="bootstrap", alternative=alternative, n_resamples=2_000, rng=5)
    assert not found.is_exact.any()
    observed = given.mean(axis=0)
    centred = means - observed
    extreme = {
        "two-sided": np.abs(centred) >= np.abs(observed) - 1e-15,
        "greater": centred >= observed - 1e-15,
        "less": centred <= observed + 1e-15,
    }
    assert found.p_values == pytest.approx((extreme[alternative].sum(axis=0) + 1) / 2_001)


def drawn(n_units: int, n_resamples: int, seed: int) -> Any:  # noqa: ANN401 - rows of counts
    """Return how often each unit is in each resample that a seed gives."""
    given = int(np.random.default_rng(seed).integers(1 << 63))
    every = np.eye(n_units), np.ones(n_units, int)
    means = stats.bootstrap_means(*every, n_resamples=n_resamples, rng=np.random.default_rng(given))
    return np.rint(means * n_units).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
def test_bootstrap_t_counts_the_t_of_each_resample(alternative: str) -> None:
    given = columns(12)[:, :3] + 0.1
    found = stats.p_values(given, test="bootstrap-t", alternative=alternative, n_resamples=400, rng=5)
    for column, p_value in zip(given.T, found.p_values, strict=True):
        observed = untyped.stats.ttest_1samp(column, 0).statistic
        resampled = [np.repeat(column, counts) for counts in drawn(12, 400, 5)]
        t = np.array([untyped.stats.ttest_1samp(one, column.mean()).statistic for one in resampled])
        extreme = {"two-sided": np.abs(t) >= abs(observed), "greater": t >= observed, "less": t <= observed}
        assert p_value == pytest.approx((extreme[alternative].sum() + 1) / 401, rel=1e-12)
    assert not found.is_exact.any()


def test_bootstrap_t_takes_the_error_of_whole_clusters() -> None:
    given, cluster = columns(20)[:, 1], np.repeat(np.arange(7), [1, 5, 2, 2, 4, 3, 3])
    found = p_of(given, "bootstrap-t", cluster=cluster, n_resamples=400, rng=5)

    def t_of(codes: Any, centre: float) -> float:  # noqa: ANN401 - a list of clusters
        parts = [given[cluster == code] for code in codes]
        mean = np.concatenate(parts).mean()
        spread = sum((part.sum() - len(part) * mean) ** 2 for part in parts) * len(parts) / (len(parts) - 1)
        return float((mean - centre) / (np.sqrt(spread) / sum(map(len, parts))))

    t = [t_of(np.repeat(np.arange(7), counts), given.mean()) for counts in drawn(7, 400, 5)]
    assert found == (np.sum(np.abs(t) >= abs(t_of(range(7), 0.0))) + 1) / 401


def test_bootstrap_t_counts_resamples_without_spread_as_extreme() -> None:
    # of two queries half of the resamples hold one of them twice: off the mean, with no spread
    assert p_of([0.1, 0.2], "bootstrap-t", n_resamples=9_999, rng=1) == pytest.approx(0.5, abs=0.02)
    assert p_of([0.0] * 9 + [0.5], "bootstrap-t", n_resamples=999, rng=1) > 0.9**10


def test_skewness_is_scipys() -> None:
    given = np.column_stack([columns(30), np.zeros(30), np.full(30, 0.1)])
    found, n_units = stats.skewness(given)
    assert found[:4] == pytest.approx(untyped.stats.skew(given[:, :4], bias=False), rel=1e-12)
    assert np.isnan(found[4:]).all()
    assert n_units.tolist() == [30] * 6
    with_missing = np.vstack([given[:, :1], [[np.nan]]])
    assert stats.skewness(with_missing)[0] == pytest.approx(found[:1])
    assert np.isnan(stats.skewness(given[:2])[0]).all()
    assert stats.skewness(np.zeros((0, 1)))[1].tolist() == [0]
    of_clusters, n_clusters = stats.skewness(np.repeat(given[:, :1], 3, axis=0), cluster=np.repeat(np.arange(30), 3))
    assert (of_clusters[0], n_clusters[0]) == (pytest.approx(found[0]), 30)


@pytest.mark.parametrize(
    ("skewness", "n_units", "test", "doubtful"),
    [
        (1.9, 100, "randomization", False),
        (-2.1, 100, "randomization", True),
        (2.1, 100, "t", True),
        (2.1, 100, "tukey", True),
        (2.1, 100, "bootstrap-t", False),
        (5.1, 100, "bootstrap-t", True),
        (0.9, 10, "t", False),
        (1.1, 10, "t", True),
        (9.0, 10, "wilcoxon", False),
        (float("nan"), 10, "t", False),
    ],
)
def test_when_skewness_makes_a_level_doubtful(skewness: float, n_units: int, test: str, *, doubtful: bool) -> None:
    assert stats.is_doubtful(np.array([skewness]), np.array([n_units]), test).tolist() == [doubtful]


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


@pytest.mark.parametrize("test", stats.TESTS)
def test_fewer_than_two_queries(test: str) -> None:
    nan = float("nan")
    given = np.array([[nan, 0.5], [nan, nan]])
    needs_two = test in {"t", "bootstrap", "bootstrap-t"}
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
