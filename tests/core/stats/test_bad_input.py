"""What the statistics refuse: the argument and the value that an error names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from deadheat import stats
from deadheat.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES = np.random.default_rng(1).random((6, 2))


@pytest.mark.parametrize(
    ("argument", "given", "call"),
    [
        ("method", "BCa", lambda: stats.interval_bounds(VALUES, method="BCa")),
        ("confidence_level", 95, lambda: stats.interval_bounds(VALUES, confidence_level=95)),
        ("confidence_level", 1, lambda: stats.interval_bounds(VALUES, confidence_level=1)),
        ("confidence_level", math.nan, lambda: stats.interval_bounds(VALUES, confidence_level=math.nan)),
        ("confidence_level", "high", lambda: stats.interval_bounds(VALUES, confidence_level="high")),  # type: ignore[arg-type]
        ("n_resamples", 98, lambda: stats.interval_bounds(VALUES, n_resamples=98)),
        ("n_resamples", 1, lambda: stats.p_values(VALUES, test="t", n_resamples=1)),
        ("n_resamples", 0, lambda: stats.tukey_p_values(VALUES, n_resamples=0)),
        ("n_resamples", -4, lambda: stats.resampled_means(VALUES, n_resamples=-4)),
        ("n_resamples", 10000.0, lambda: stats.interval_bounds(VALUES, n_resamples=1e4)),  # type: ignore[arg-type]
        ("n_resamples", True, lambda: stats.interval_bounds(VALUES, n_resamples=True)),
        ("values", "the shape (6,)", lambda: stats.interval_bounds(VALUES[:, 0])),
        ("values", "values", lambda: stats.interval_bounds("values")),
        ("values", "inf in row 1, column 0", lambda: stats.standard_errors([[1.0], [math.inf]])),
        ("differences", "-inf in row 0, column 0", lambda: stats.p_values([[-math.inf]], test="t")),
        ("rng", -1, lambda: stats.interval_bounds(VALUES, rng=-1)),
        ("rng", "1", lambda: stats.p_values(VALUES, test="randomization", rng="1")),  # type: ignore[arg-type]
        ("rng", 0.5, lambda: stats.tukey_p_values(VALUES, rng=0.5)),  # type: ignore[arg-type]
        ("rng", [1], lambda: stats.tukey_p_values(VALUES, rng=[1])),  # type: ignore[arg-type]
        ("rng", True, lambda: stats.tukey_p_values(VALUES, rng=True)),
        ("cluster", "int64 of shape (2,)", lambda: stats.interval_bounds(VALUES, cluster=[1, 2])),
        ("cluster", "<U1 of shape (6,)", lambda: stats.standard_errors(VALUES, cluster=list("aabbcc"))),
        ("means", "(9, 3)", lambda: stats.interval_bounds(VALUES, means=np.ones((9, 3)))),
        ("means", "(9,)", lambda: stats.interval_bounds(VALUES, means=np.ones(9))),
        ("test", "ttest", lambda: stats.p_values(VALUES, test="ttest")),
        ("test", "Wilcoxon", lambda: stats.p_values(VALUES, test="Wilcoxon")),
        ("alternative", "larger", lambda: stats.p_values(VALUES, test="t", alternative="larger")),
        ("method", "fdr", lambda: stats.adjust([0.1], "fdr")),
        ("p_values", "1.5", lambda: stats.adjust([0.1, 1.5], "bh")),
        ("p_values", ["small"], lambda: stats.adjust(["small"], "bh")),
        ("weights", ["a"] * 6, lambda: stats.interval_bounds(VALUES, weights=["a"] * 6)),
        ("p_values", "the shape (1, 1)", lambda: stats.adjust([[0.1]], "bh")),
        ("confidence_level", 0, lambda: stats.no_worse(VALUES, 0.1, confidence_level=0)),
        ("std", 0, lambda: stats.power(0.1, 0, 10)),
        ("std", math.nan, lambda: stats.power(0.1, math.nan, 10)),
        ("std", 10**400, lambda: stats.power(0.1, 10**400, 10)),
        ("values", [[10**400], [1]], lambda: stats.interval_bounds([[10**400], [1]])),
        ("difference", math.inf, lambda: stats.power(math.inf, 1, 10)),
        ("n_queries", 1, lambda: stats.power(0.1, 1, 1)),
        ("alternative", "more", lambda: stats.power(0.1, 1, 9, alternative="more")),
        ("difference", 0, lambda: stats.sample_size(0, 1)),
        ("difference", -1, lambda: stats.sample_size(-1, 1, alternative="greater")),
        ("difference", 1, lambda: stats.sample_size(1, 1, alternative="less")),
        ("power", 80, lambda: stats.sample_size(1, 1, power=80)),
        ("power", 0.01, lambda: stats.sample_size(1, 1, power=0.01)),
        ("power", 0.5, lambda: stats.sample_size(1, 1, power=0.5, confidence_level=0.5)),
        ("power", 1, lambda: stats.sample_size(1, 1, power=1)),
        ("difference", 1e-07, lambda: stats.sample_size(1e-7, 1)),
        ("n_queries", 1, lambda: stats.detectable_difference(1, 1)),
        ("std", -1, lambda: stats.detectable_difference(-1, 10)),
    ],
)
def test_wrong_arguments(argument: str, given: object, call: Callable[[], Any]) -> None:
    with pytest.raises(ParameterError) as caught:
        call()
    error = caught.value
    assert error.argument == argument
    if error.found is not None:
        assert error.found == given
    else:
        assert error.given is given or error.given == given


@pytest.mark.parametrize(
    ("side", "allowed", "difference"),
    [("two-sided", "other than 0", 0), ("greater", "above 0", -1), ("less", "below 0", 1)],
)
def test_a_difference_is_on_the_side_of_its_alternative(side: str, allowed: str, difference: float) -> None:
    with pytest.raises(ParameterError) as caught:
        stats.sample_size(difference, 1, alternative=side)
    assert caught.value.allowed == f"a number {allowed}"
    assert caught.value.beside == {"alternative": side}


def test_an_array_is_no_test() -> None:
    with pytest.raises(ParameterError) as caught:
        stats.p_values(VALUES, test=np.array(["t", "sign"]))  # type: ignore[arg-type]
    assert caught.value.argument == "test"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.interval_bounds(VALUES, method="BCa"), r"method must be one of 'bca', .*Did you mean 'bca'\?"),
        (
            lambda: stats.sample_size(1, 1, power=80),
            r"power must be between 1 - confidence_level = 0\.05 and 1, got 80",
        ),
        (lambda: stats.sample_size(1e-7, 1), r"difference needs more than 1,000,000,000 queries with std=1, got 1e-07"),
    ],
)
def test_messages_name_the_argument_the_allowed_and_the_given(call: Callable[[], Any], message: str) -> None:
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
