"""Margins and sample sizes of a comparison: every column from SciPy's distributions."""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat.errors import ParameterError
from support.error_parts import raises_parts
from support.random_runs import QRELS, RUNS, hits, values

if TYPE_CHECKING:
    from deadheat.api import FloatArray

untyped: Any = scipy  # its stubs want literals
COLUMNS = ["target", "std", "n_queries", "n_clusters", "power", "n_needed", "detectable_difference"]


def compared(measure: str, system: str, baseline: str, **options: Any) -> tuple[dh.Comparison, FloatArray]:  # noqa: ANN401 - passed on
    """Compare two systems; return also their differences, query by query."""
    found = dh.compare(QRELS, {name: RUNS[name] for name in (baseline, system)}, measure, **options)
    return found, values(QRELS, RUNS[system], measure) - values(QRELS, RUNS[baseline], measure)


def power_of(target: float, error: float, freedom: int, alpha: float, alternative: str) -> float:
    """Return the probability that noncentral t falls into the region of rejection, a lower tail by its mirror image."""
    upper, lower = (untyped.stats.nct(freedom, sign * target / error) for sign in (1, -1))
    if alternative == "two-sided":
        bound = untyped.stats.t.isf(alpha / 2, freedom)
        return upper.sf(bound) + lower.sf(bound)
    return (upper if alternative == "greater" else lower).sf(untyped.stats.t.isf(alpha, freedom))


@pytest.mark.parametrize("measure", ["MR", "AP"])
def test_margins_are_t_tests_in_the_direction_of_the_measure(measure: str) -> None:
    alpha = 0.1
    found, difference = compared(measure, "fair", "weak", confidence_level=1 - alpha)
    better = -difference if measure == "MR" else difference
    error = better.std(ddof=1) / math.sqrt(len(better))
    p_of: dict[str, list[float]] = {"no_worse": [], "equivalent": []}
    for margin in np.linspace(0.05, 2.5, 60) * error + abs(better.mean()):
        row = found.equivalence(margin).row(0, named=True)
        lower = untyped.stats.ttest_1samp(better, -margin, alternative="greater").pvalue
        upper = untyped.stats.ttest_1samp(better, margin, alternative="less").pvalue
        assert (row["difference"], row["margin"]) == (pytest.approx(difference.mean()), margin)
        for name, p_value in (("no_worse", lower), ("equivalent", max(lower, upper))):
            assert row[f"p_{name}"] == pytest.approx(p_value)
            assert row[name] is bool(p_value < alpha)
            p_of[name].append(p_value)
    assert min(p_of["equivalent"]) < alpha < max(p_of["equivalent"])
    assert any(alpha < p_value < 2 * alpha for p_value in p_of["equivalent"])
    (losing,) = dh.compare(QRELS, {"fair": RUNS["fair"], "weak": RUNS["weak"]}, measure).equivalence(1e-3)["no_worse"]
    assert not losing


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("given", [None, 0.3])
def test_sample_sizes_are_noncentral_t(given: float | None, alternative: str) -> None:
    system, baseline = ("weak", "fair") if alternative == "greater" else ("fair", "weak")
    found, difference = compared("MR", system, baseline, alternative=alternative, confidence_level=0.9)
    (row,) = found.sample_sizes(given, power=0.7).rows(named=True)
    std, target = difference.std(ddof=1), difference.mean()
    if given is not None:
        target = -given if alternative == "less" else given

    def power(target: float, n_queries: int) -> float:
        return power_of(target, std / math.sqrt(n_queries), n_queries - 1, 0.1, alternative)

    assert target < 0 or alternative == "greater" or given
    assert row["target"] == pytest.approx(target)
    assert row["std"] == pytest.approx(std)
    assert (row["n_queries"], row["n_clusters"]) == (30, None)
    assert row["power"] == pytest.approx(power(target, 30))
    assert row["n_needed"] == next(n for n in count(2) if power(target, n) >= 0.7)
    smallest = math.copysign(row["detectable_difference"], target)
    assert row["detectable_difference"] > 0
    assert power(smallest, 30) == pytest.approx(0.7)


def test_a_difference_of_the_other_sign_is_never_detected() -> None:
    found, difference = compared("MR", "fair", "weak", alternative="greater")
    (row,) = found.sample_sizes().rows(named=True)
    assert row["target"] == pytest.approx(difference.mean())
    assert row["target"] < 0
    error = difference.std(ddof=1) / math.sqrt(30)
    assert row["power"] == pytest.approx(power_of(difference.mean(), error, 29, 0.05, "greater"), abs=1e-12)
    assert row["power"] < 0.01
    assert row["n_needed"] is None


@pytest.mark.parametrize("n_clusters", [2, 6])
def test_clusters_are_the_units_of_sample_sizes(n_clusters: int) -> None:
    size = 30 // n_clusters
    cluster = np.arange(30) // size
    found, difference = compared("AP", "good", "weak", cluster=cluster)
    sums = np.array([difference[cluster == n].sum() for n in range(n_clusters)])
    spread = ((sums - size * difference.mean()) ** 2).sum()
    error = math.sqrt(n_clusters / (n_clusters - 1) * spread) / 30
    (row,) = found.sample_sizes(0.05).rows(named=True)

    def power(target: float, n_units: int) -> float:
        return power_of(target, error * math.sqrt(n_clusters / n_units), n_units - 1, 0.05, "two-sided")

    assert (row["n_queries"], row["n_clusters"]) == (30, n_clusters)
    assert row["std"] == pytest.approx(error * math.sqrt(30))
    assert row["power"] == pytest.approx(power(0.05, n_clusters))
    assert row["n_needed"] == size * next(n for n in count(2) if power(0.05, n) >= 0.8)
    assert power(row["detectable_difference"], n_clusters) == pytest.approx(0.8)
    expected = untyped.stats.t.sf((difference.mean() + 0.02) / error, n_clusters - 1)
    assert found.equivalence(0.02)["p_no_worse"].item() == pytest.approx(expected)


def test_clusters_without_a_value_are_no_units() -> None:
    runs = {"weak": RUNS["weak"], "good": {query: RUNS["good"][query] for query in sorted(QRELS)[5:]}}
    found = dh.compare(QRELS, runs, "AP", missing="skip", cluster=np.arange(30) // 5)
    alone = dh.compare(dict(sorted(QRELS.items())[5:]), RUNS, "AP", baseline="weak", cluster=np.arange(25) // 5)
    (row,) = found.sample_sizes(0.05).rows(named=True)
    assert (row["n_queries"], row["n_clusters"]) == (25, 5)
    assert row == alone.sample_sizes(0.05).filter(system="good").row(0, named=True)


def test_one_row_does_not_spoil_the_others() -> None:
    qrels, runs = hits(base=[2, 2, 2, 2], even=[3, 1, 2, 2], same=[2, 2, 2, 2], better=[4, 5, 3, 3])
    found = dh.compare(qrels, runs, "P@10", baseline="base")
    differences = {pair.system: pair.difference for pair in found.pairs}
    assert 0 < abs(differences["even"]) < 1e-12  # 0.1 - 0.1 in theory
    rows = {row["system"]: row for row in found.sample_sizes().rows(named=True)}
    assert [rows["even"][name] for name in ("power", "n_needed")] == [None, None]
    assert rows["even"]["detectable_difference"] > 0
    assert [rows["same"][name] for name in ("std", "power", "n_needed", "detectable_difference")] == [0, *[None] * 3]
    assert rows["better"]["n_needed"] >= 2
    # a difference that takes more than a thousand million queries
    assert found.sample_sizes(1e-9)["n_needed"].to_list() == [None, None, None]


def test_the_columns_have_the_same_types_whatever_is_in_them() -> None:
    types = [pl.Float64, pl.Float64, pl.Int64, pl.Int64, pl.Float64, pl.Int64, pl.Float64]
    same = dh.compare(QRELS, {"one": RUNS["weak"], "same": RUNS["weak"]}, "AP")
    for comparison in (same, compared("AP", "good", "weak", cluster=np.arange(30) // 3)[0]):
        schema = comparison.sample_sizes().schema
        assert list(schema) == ["measure", "system", "baseline", *COLUMNS]
        assert [schema[name] for name in COLUMNS] == types


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": "x"}, "difference must be a number above 0, got 'x'"),
        ({"difference": 0}, "difference must be a number above 0, got 0"),
        ({"difference": math.inf}, "difference must be a number above 0, got inf"),
        ({"power": 80}, "power must be between .* and 1, got 80"),
    ],
)
def test_sizes_that_are_refused(options: dict[str, Any], message: str) -> None:
    same = dh.compare(QRELS, {"one": RUNS["weak"], "same": RUNS["weak"]}, "AP")
    with pytest.raises(ParameterError, match=message):
        same.sample_sizes(**options)


@pytest.mark.parametrize("margin", [-1, 0, math.inf, "wide"])
def test_margins_that_are_refused(margin: Any) -> None:  # noqa: ANN401 - whatever a user may give
    found, _ = compared("AP", "good", "weak")
    with raises_parts(ParameterError, argument="margin", allowed="a number above 0"):
        found.equivalence(margin)
