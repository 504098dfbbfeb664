"""What the statistics refuse, and what they say: what is wrong, what was given, what is allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from deadheat.core import stats
from deadheat.core.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES = np.random.default_rng(1).random((6, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.interval_bounds(VALUES, method="BCa"), r"method must be one of 'bca', .*Did you mean 'bca'\?"),
        (lambda: stats.interval_bounds(VALUES, confidence_level=95), r"between 0 and 1, .*got 95\. Did you mean 0\.95"),
        (lambda: stats.interval_bounds(VALUES, confidence_level=1), r"confidence_level must be .*, got 1$"),
        (lambda: stats.interval_bounds(VALUES, confidence_level=math.nan), r"confidence_level must be .*, got nan"),
        (lambda: stats.interval_bounds(VALUES, confidence_level="high"), r"confidence_level must be .*, got 'high'"),  # type: ignore[arg-type]
        (lambda: stats.interval_bounds(VALUES, n_resamples=98), r"n_resamples must be .* from 99 on, got 98"),
        (lambda: stats.p_values(VALUES, test="t", n_resamples=1), r"n_resamples must be .* from 99 on, got 1$"),
        (lambda: stats.tukey_p_values(VALUES, n_resamples=0), r"n_resamples must be .* from 99 on, got 0$"),
        (lambda: stats.resampled_means(VALUES, n_resamples=-4), r"n_resamples must be .* from 99 on, got -4$"),
        (lambda: stats.interval_bounds(VALUES, n_resamples=1e4), r"n_resamples must be .* got 10000\.0"),  # type: ignore[arg-type]
        (lambda: stats.interval_bounds(VALUES, n_resamples=True), r"n_resamples must be .* got True"),
        (lambda: stats.interval_bounds(VALUES[:, 0]), r"shape \(n_queries, n_columns\), got the shape \(6,\)"),
        (lambda: stats.interval_bounds("values"), r"values must be a matrix of numbers .*, got 'values'"),
        (lambda: stats.standard_errors([[1.0], [math.inf]]), r"values must be finite, .* got inf in row 1, column 0"),
        (lambda: stats.p_values([[-math.inf]], test="t"), r"differences must be finite, .*got -inf in row 0"),
        (lambda: stats.interval_bounds(VALUES, rng=-1), r"rng must be a whole number from 0 on, .* or None, got -1"),
        (lambda: stats.p_values(VALUES, test="randomization", rng="1"), r"rng must be .*, got '1'"),  # type: ignore[arg-type]
        (lambda: stats.tukey_p_values(VALUES, rng=0.5), r"rng must be .*, got 0\.5"),  # type: ignore[arg-type]
        (lambda: stats.tukey_p_values(VALUES, rng=[1]), r"rng must be .*, got \[1\]"),  # type: ignore[arg-type]
        (lambda: stats.tukey_p_values(VALUES, rng=True), r"rng must be .*, got True"),
        (
            lambda: stats.interval_bounds(VALUES, cluster=[1, 2]),
            r"cluster .* shape \(6,\), .* got int64 of shape \(2,\)",
        ),
        (lambda: stats.standard_errors(VALUES, cluster=list("aabbcc")), r"cluster must be whole numbers .* got <U1"),
        (lambda: stats.interval_bounds(VALUES, means=np.ones((9, 3))), r"means must .* \(n_resamples, 2\), .*\(9, 3\)"),
        (lambda: stats.interval_bounds(VALUES, means=np.ones(9)), r"means must have the shape .*\(9,\)"),
        (lambda: stats.p_values(VALUES, test="ttest"), r"test must be one of 'randomization', .*, got 'ttest'"),
        (lambda: stats.p_values(VALUES, test="Wilcoxon"), r"Did you mean 'wilcoxon'\?"),
        (lambda: stats.p_values(VALUES, test="t", alternative="larger"), r"alternative must be one of 'two-sided'"),
        (lambda: stats.adjust([0.1], "fdr"), r"method must be one of 'none', 'bonferroni', 'holm', 'bh', got 'fdr'"),
        (lambda: stats.adjust([0.1, 1.5], "bh"), r"p_values must be between 0 and 1, or be NaN, got 1\.5"),
        (lambda: stats.adjust(["small"], "bh"), r"p_values must be numbers, got \['small'\]"),
        (lambda: stats.interval_bounds(VALUES, weights=["a"] * 6), r"weights must be numbers, got \['a', 'a'"),
        (lambda: stats.adjust([[0.1]], "bh"), r"p_values must have one dimension, got the shape \(1, 1\)"),
        (lambda: stats.no_worse(VALUES, 0.1, confidence_level=0), r"confidence_level must be .*, got 0"),
        (lambda: stats.power(0.1, 0, 10), r"std must be a number above 0, got 0"),
        (lambda: stats.power(0.1, math.nan, 10), r"std must be a number above 0, got nan"),
        (lambda: stats.power(0.1, 10**400, 10), r"std must be a number above 0, got 1000"),
        (lambda: stats.interval_bounds([[10**400], [1]]), r"values must be a matrix of numbers"),
        (lambda: stats.p_values(VALUES, test=np.array(["t", "sign"])), r"test must be one of .*got array"),  # type: ignore[arg-type]
        (lambda: stats.power(math.inf, 1, 10), r"difference must be a number, got inf"),
        (lambda: stats.power(0.1, 1, 1), r"n_queries must be a whole number from 2 on, got 1"),
        (lambda: stats.power(0.1, 1, 9, alternative="more"), r"alternative must be one of .*, got 'more'"),
        (lambda: stats.sample_size(0, 1), r"difference must be a number other than 0 .*, got 0"),
        (lambda: stats.sample_size(-1, 1, alternative="greater"), r"above 0 with alternative='greater', got -1"),
        (lambda: stats.sample_size(1, 1, alternative="less"), r"below 0 with alternative='less', got 1"),
        (
            lambda: stats.sample_size(1, 1, power=80),
            r"power must be between 1 - confidence_level = 0\.05 and 1, got 80",
        ),
        (lambda: stats.sample_size(1, 1, power=0.01), r"power must be between .*, got 0\.01"),
        (lambda: stats.sample_size(1e-7, 1), r"difference needs more than 1,000,000,000 queries with std=1, got 1e-07"),
        (lambda: stats.detectable_difference(1, 1), r"n_queries must be a whole number from 2 on, got 1"),
        (lambda: stats.detectable_difference(-1, 10), r"std must be a number above 0, got -1"),
    ],
)
def test_wrong_arguments(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()


def test_lists_integers_and_booleans_are_values() -> None:
    hits = VALUES > 0.4
    expected = stats.interval_bounds(hits.astype(float), n_resamples=99, rng=1)
    for given in (hits, hits.tolist(), hits.astype(np.int8), hits.astype(np.float32)):
        assert np.array_equal(stats.interval_bounds(given, n_resamples=np.int64(99), rng=1), expected)  # type: ignore[arg-type]
    means = stats.resampled_means(VALUES, n_resamples=99, cluster=np.array([0, 0, 0, 1, 1, 1], np.uint8), rng=1)
    assert np.isin(means[:, 0], [VALUES[:3, 0].mean(), VALUES[3:, 0].mean(), VALUES[:, 0].mean()]).sum() >= 1


def test_weights_of_no_queries_are_no_error() -> None:
    found = stats.p_values(np.zeros((0, 2)), test="t", weights=[])
    assert np.isnan(found.p_values).all()
