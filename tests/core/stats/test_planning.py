"""Corrections, margins and power: published examples, SciPy, and simulation."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy

from deadheat import stats
from deadheat.errors import ParameterError

untyped: Any = scipy  # its stubs want each word as a literal

# Benjamini and Hochberg 1995, section 4: fifteen hypotheses on treatments of myocardial infarction
BH_1995 = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
BH_1995 += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000]


def test_benjamini_and_hochbergs_example() -> None:
    # at 0.05 / 15 = 0.0033 Bonferroni rejects three; theirs rejects four, since 0.0095 <= 4 / 15 x 0.05
    rejected = {method: int((stats.adjust(BH_1995, method) <= 0.05).sum()) for method in stats.CORRECTIONS}
    assert rejected == {"none": 9, "bonferroni": 3, "holm": 3, "bh": 4}
    assert stats.adjust(BH_1995, "bh")[:4] == pytest.approx([0.0001 * 15, 0.0004 * 15 / 2, 0.0019 * 5, 0.0095 * 15 / 4])


def test_holms_procedure_by_hand() -> None:
    # the textbook family 0.01, 0.04, 0.03, 0.005: factors 3, 1, 2, 4, and no smaller than the one before
    assert stats.adjust([0.01, 0.04, 0.03, 0.005], "holm") == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize("seed", range(5))
def test_bh_is_scipys(seed: int) -> None:
    p_values = np.round(np.random.default_rng(seed).random(25) ** 2, 2)  # with equal ones
    assert stats.adjust(p_values, "bh") == pytest.approx(untyped.stats.false_discovery_control(p_values), rel=1e-12)


@pytest.mark.parametrize("method", stats.CORRECTIONS)
def test_corrections_keep_the_order_and_ignore_nan(method: str) -> None:
    p_values = np.random.default_rng(1).random(30) ** 3
    adjusted = stats.adjust(p_values, method)
    assert (adjusted >= p_values).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p_values)]) >= 0).all()
    with_nan = np.insert(p_values, [0, 11, 30], np.nan)
    found = stats.adjust(with_nan, method)
    assert (np.isnan(found) == np.isnan(with_nan)).all()
    assert found[~np.isnan(found)].tolist() == adjusted.tolist()
    assert stats.adjust([], method).tolist() == []
    assert stats.adjust([math.nan], method) == pytest.approx([math.nan], nan_ok=True)
    assert stats.adjust([0.3], method).tolist() == [0.3]


def test_holm_rejects_what_bonferroni_rejects_and_less_than_bh() -> None:
    p_values = np.random.default_rng(2).random(40) ** 3
    bonferroni, holm, bh = (stats.adjust(p_values, method) for method in ("bonferroni", "holm", "bh"))
    assert (bonferroni >= holm).all()
    assert (holm >= bh).all()


def test_significant_is_below_the_level_by_more_than_rounding() -> None:
    assert 0.05 < 1 - 0.95
    assert 1 - 0.9 < 0.1
    for level in (0.5, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999):
        alpha = float(f"{1 - level:.4g}")
        p_values = [alpha, alpha / 3 * 3, 1 - level, math.nextafter(alpha, 0), alpha * (1 - 1e-9), 0, 1, math.nan]
        assert stats.significant(p_values, 1 - level).tolist() == [*[False] * 4, True, True, False, False]
    assert not stats.significant(0.05, 0.05)


def test_margins_are_one_sided_t_tests() -> None:
    given, margin = np.random.default_rng(3).normal(0.02, 0.3, (30, 3)), np.array([0.05, 0.1, 0.3])
    worse, same = stats.no_worse(given, margin), stats.equivalent(given, margin)
    below = untyped.stats.ttest_1samp(given, -margin, alternative="greater").pvalue
    above = untyped.stats.ttest_1samp(given, margin, alternative="less").pvalue
    assert worse.p_values == pytest.approx(below, rel=1e-11)
    assert same.p_values == pytest.approx(np.maximum(below, above), rel=1e-11)
    low, high = stats.interval_bounds(given, method="t", confidence_level=0.9)
    for found in (worse, same):
        assert found.low == pytest.approx(low, rel=1e-12)
        assert found.high == pytest.approx(high, rel=1e-12)
    # the bounds decide as the p-values do
    assert worse.is_shown.tolist() == (low > -margin).tolist()
    assert same.is_shown.tolist() == ((low > -margin) & (high < margin)).tolist()
    assert same.is_shown.tolist() == [False, False, True]


def test_margins_with_clusters_and_missing_values() -> None:
    of_clusters, codes = np.random.default_rng(3).normal(0.02, 0.3, (15, 2)), np.repeat(np.arange(15), 4)
    given = np.repeat(of_clusters, 4, axis=0)
    given[:4, 1] = np.nan
    found = stats.equivalent(given, 0.2, cluster=codes).p_values
    expected = [
        stats.equivalent(column[:, None], 0.2).p_values[0] for column in (of_clusters[:, 0], of_clusters[1:, 1])
    ]
    assert found == pytest.approx(expected, rel=1e-11)


def test_margins_at_the_ends() -> None:
    # a column: no difference, the same gain, the same loss as the margin, half of it, one query
    nan = math.nan
    given = np.array([[0.0, 0.2, -0.1, -0.05, nan]] * 9 + [[0.0, 0.2, -0.1, -0.05, 0.3]])
    worse, same = stats.no_worse(given, 0.1), stats.equivalent(given, 0.1)
    assert worse.p_values == pytest.approx([0, 0, 1, 0, nan], nan_ok=True)
    assert same.p_values == pytest.approx([0, 1, 1, 0, nan], nan_ok=True)
    assert worse.is_shown.tolist() == [True, True, False, True, False]
    assert stats.no_worse(given, 0).p_values == pytest.approx([1, 0, 1, 1, nan], nan_ok=True)
    varied = np.random.default_rng(1).normal(size=(20, 2))
    better = stats.p_values(varied, test="t", alternative="greater").p_values
    assert stats.no_worse(varied, 0.0).p_values == pytest.approx(better, rel=1e-12)


@pytest.mark.parametrize(
    ("margin", "found", "allowed"),
    [
        (0, "0.0", "above 0"),
        (-0.1, "-0.1", "above 0"),
        ([0.1, math.nan], "nan", "above 0"),
        (math.inf, "inf", "above 0"),
        ([0.1, 0.2, 0.3], "[0.1, 0.2, 0.3]", "a number, or one for each of 2 columns"),
        ("wide", "'wide'", "a number, or one for each of 2 columns"),
    ],
)
def test_margins_that_are_refused(margin: Any, found: str, allowed: str) -> None:  # noqa: ANN401 - whatever a user may give
    with pytest.raises(ParameterError) as caught:
        stats.equivalent(np.zeros((5, 2)), margin)
    error = caught.value
    assert (error.argument, error.found, error.allowed) == ("margin", found, allowed)


def test_a_margin_of_0_is_allowed_only_for_no_worse() -> None:
    stats.no_worse(np.zeros((5, 2)), 0)
    with pytest.raises(ParameterError) as caught:
        stats.no_worse(np.zeros((5, 2)), -0.1)
    assert caught.value.allowed == "0 or more"


@pytest.mark.parametrize("alternative", stats.ALTERNATIVES)
@pytest.mark.parametrize(("ratio", "n_queries"), [(0.0, 5), (0.5, 20), (0.5, 34), (-0.3, 50), (0.1, 1_000), (2.0, 3)])
def test_power_is_noncentral_t(ratio: float, n_queries: int, alternative: str) -> None:
    freedom, centre = n_queries - 1, ratio * math.sqrt(n_queries)
    t, nct = untyped.stats.t(freedom), untyped.stats.nct(freedom, centre)
    expected = {
        "two-sided": nct.sf(t.isf(0.025)) + nct.cdf(t.ppf(0.025)),
        "greater": nct.sf(t.isf(0.05)),
        "less": nct.cdf(t.ppf(0.05)),
    }[alternative]
    assert stats.power(ratio * 0.2, 0.2, n_queries, alternative=alternative) == pytest.approx(expected, abs=1e-9)


def test_published_sample_sizes() -> None:
    # G*Power's and Cohen's numbers for the paired t test at 0.05 and power 0.8
    assert stats.sample_size(0.5, 1) == 34
    assert stats.sample_size(0.2, 1) == 199
    assert stats.sample_size(0.8, 1) == 15
    assert stats.sample_size(0.5, 1, alternative="greater") == 27
    assert stats.sample_size(-0.5, 1, alternative="less") == 27


@pytest.mark.parametrize("power", [0.5, 0.8, 0.99])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("ratio", [0.003, 0.1, 1.0, 30.0])
def test_sample_size_is_the_smallest_and_detectable_difference_its_inverse(
    ratio: float, alternative: str, power: float
) -> None:
    sides = {"confidence_level": 0.99, "alternative": alternative}
    n_queries = stats.sample_size(ratio * 0.1, 0.1, power=power, **sides)  # type: ignore[arg-type]
    assert stats.power(ratio, 1, n_queries, **sides) >= power  # type: ignore[arg-type]
    assert n_queries == 2 or stats.power(ratio, 1, n_queries - 1, **sides) < power  # type: ignore[arg-type]
    difference = stats.detectable_difference(0.1, n_queries, power=power, **sides)  # type: ignore[arg-type]
    assert difference <= ratio * 0.1
    assert stats.power(difference, 0.1, n_queries, **sides) == pytest.approx(power, abs=1e-9)  # type: ignore[arg-type]


def test_sample_sizes_up_to_a_thousand_million() -> None:
    # by the normal approximation (1.96 + 0.8416)^2 = 7.849 over the squared ratio
    assert stats.sample_size(math.sqrt(7.849 / 9e8), 1) == pytest.approx(9e8, rel=1e-3)
    ratio = math.sqrt(7.849 / 1.01e9)
    assert stats.power(ratio, 1, stats.MAX_QUERIES) < 0.8
    with pytest.raises(ParameterError) as caught:
        stats.sample_size(ratio, 1)
    assert (caught.value.argument, caught.value.given) == ("difference", ratio)


def test_power_of_large_samples_and_effects_is_finite() -> None:
    for n_queries in (2, 10, 100_000, 10**6, 10**9):
        found = [stats.power(ratio, 1, n_queries) for ratio in (0, 1e-4, 1e-3, 0.01, 0.05, 0.1, 1, 10, 1e3, 1e6)]
        assert found[0] == pytest.approx(0.05)
        assert all(low <= high + 1e-12 for low, high in itertools.pairwise(found))
        assert found[-1] == pytest.approx(1)
    assert stats.power(0.001, 1, 10**7) == pytest.approx(untyped.stats.norm.sf(1.959964 - math.sqrt(10)), abs=1e-6)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_power_is_the_share_of_rejections(alternative: str) -> None:
    given = np.random.default_rng(4).normal(0.04, 0.1, (30, 20_000))
    found = stats.p_values(given, test="t", alternative=alternative).p_values
    expected = stats.power(0.04, 0.1, 30, alternative=alternative)
    assert (found < 0.05).mean() == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 20_000))
