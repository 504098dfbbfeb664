"""Intervals and tests of bare lists, against those of evaluations with these values, and against SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat.errors import ParameterError
from support.error_parts import raises_parts

N = 24
QRELS = {f"q{n:02}": {"a": 1} for n in range(N)}


def run_of(ranks: list[int]) -> dict[str, dict[str, float]]:
    """Return a run in which the relevant document has these ranks."""
    return {
        query: {f"d{place}" if place != rank else "a": -float(place) for place in range(1, 7)}
        for query, rank in zip(QRELS, ranks, strict=True)
    }


rng = np.random.default_rng(4)
A, B = (rng.integers(1, 7, N).tolist() for _ in range(2))
OPTIONS: list[dict[str, Any]] = [
    {"test": "randomization"},
    {"test": "t", "alternative": "greater"},
    {"test": "wilcoxon"},
    {"test": "sign", "alternative": "less"},
    {"test": "bootstrap-t", "n_resamples": 499},
    {"test": "bootstrap", "n_resamples": 499, "rng": 3, "method": "bca", "confidence_level": 0.9},
    {"test": "t", "cluster": [n // 3 for n in range(N)]},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_paired_test_is_that_of_a_comparison(options: dict[str, Any]) -> None:
    runs = {"b": run_of(B), "a": run_of(A)}
    pair = dh.compare(QRELS, runs, "RR", baseline="b", correction="none", **options).pairs[0]
    found = dh.paired_test([1 / rank for rank in A], [1 / rank for rank in B], **options)
    for name in ("difference", "low", "high", "p_value", "effect_size", "standard_error", "skewness", "std", "mean"):
        assert getattr(found, name) == pytest.approx(getattr(pair, name), abs=1e-14), name
    for name in ("wins", "draws", "losses", "n_queries", "n_clusters", "method", "doubtful", "significant"):
        assert getattr(found, name) == getattr(pair, name), name
    assert (found.can_flip, found.flip_method) == (False, "none")


@pytest.mark.parametrize("method", ["t", "bca", "percentile", "bootstrap-t", "gaffke", "auto"])
@pytest.mark.parametrize("clustered", [False, True])
def test_an_interval_is_that_of_an_evaluation(method: str, *, clustered: bool) -> None:
    cluster = [n // 3 for n in range(N)] if clustered else None
    own = dh.evaluate(QRELS, run_of(A), "RR")["RR"].interval(method, cluster=cluster, n_resamples=499)
    found = dh.interval([1 / rank for rank in A], method, limits=(0, 1), cluster=cluster, n_resamples=499)
    assert found == own


def test_intervals_against_scipy() -> None:
    values = np.array([0.2, 0.4, math.nan, 0.4, 0.5, 0.9, 1.0, 3.0])
    kept = values[~np.isnan(values)]
    found = dh.interval(values, "t", confidence_level=0.9)
    assert (found.low, found.high) == pytest.approx(scipy.stats.t.interval(0.9, 6, kept.mean(), scipy.stats.sem(kept)))
    assert found.n_queries == 7
    zeros = dh.interval([0, 1, 1, 1, 0, 1], "clopper-pearson")
    exact = scipy.stats.binomtest(4, 6).proportion_ci(method="exact")
    assert (zeros.low, zeros.high) == pytest.approx((exact.low, exact.high))
    assert dh.interval(values).method == "skewed-t"
    assert dh.interval(values).unknown == "only 7 queries"
    assert dh.paired_test([1, 2, 3, 5], [0, 2, 4, 1], "t").p_value == pytest.approx(
        scipy.stats.ttest_rel([1, 2, 3, 5], [0, 2, 4, 1]).pvalue
    )


def test_what_cannot_be_tested_is_refused() -> None:
    with raises_parts(ParameterError, argument="b", given=1, allowed="as many values as a, 2"):
        dh.paired_test([1, 2], [1])
    with raises_parts(ParameterError, argument="values", given=[], allowed="finite numbers, at least one"):
        dh.interval([])
    with pytest.raises(ParameterError, match="values must be from 0 to 1"):
        dh.interval([0.5, 1.5], limits=(0, 1))
    with pytest.raises(ParameterError, match="limits must be two numbers"):
        dh.interval([0.5, 1.5], "gaffke")
    with raises_parts(ParameterError, argument="values", given=(0.2, 3.0), allowed="from 0 to 1"):
        dh.interval([0.2, 3.0], limits=(0, 1))
    for limits in ((0,), 3, ("a", "b"), (0, 0.5, 1), (), (1, 0), (math.nan, 1), (0, math.nan)):
        with pytest.raises(ParameterError, match="limits must be two numbers"):
            dh.interval([0.5, 0.5], limits=limits)  # type: ignore[arg-type]
    wrong: Any
    for wrong in (["a", "b"], [[0.5], [0.5, 1.0]], [object()]):
        with raises_parts(ParameterError, argument="values", allowed="finite numbers, at least one"):
            dh.interval(wrong)
    with raises_parts(ParameterError, argument="a", given=["a"], allowed="finite numbers, at least one"):
        dh.paired_test(["a"], ["b"])
    with raises_parts(ParameterError, argument="method", given="clopper-pearson"):
        dh.interval([0.5, 1.0], "clopper-pearson")
    with pytest.raises(ParameterError, match="test must be one of"):
        dh.paired_test([1, 2], [1, 3], "chi2")
