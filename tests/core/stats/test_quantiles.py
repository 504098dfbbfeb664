"""Quantiles and their exact intervals, against the binomial distribution and against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat.errors import ParameterError
from deadheat.stats import quantile_bounds


@pytest.mark.parametrize("n", [1, 5, 6, 7, 20, 101])
@pytest.mark.parametrize("quantile", [0.05, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("confidence_level", [0.8, 0.95, 0.99])
def test_ends_are_the_innermost_ordered_values_that_are_sure_enough(
    n: int, quantile: float, confidence_level: float
) -> None:
    values = np.random.default_rng(n).permutation(np.arange(1.0, n + 1))
    low, high = quantile_bounds(np.append(values, math.nan), quantile, confidence_level)
    tail, binomial = (1 - confidence_level) / 2 + 1e-12, scipy.stats.binom(n, quantile)
    below = [k for k in range(1, n + 1) if sum(binomial.pmf(j) for j in range(k)) <= tail]
    above = [k for k in range(1, n + 1) if sum(binomial.pmf(j) for j in range(k, n + 1)) <= tail]
    assert low == (max(below) if below else -math.inf)
    assert high == (min(above) if above else math.inf)


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.8])
def test_they_cover_as_often_as_they_say(quantile: float) -> None:
    rng = np.random.default_rng(7)
    true = scipy.stats.expon.ppf(quantile)
    found = [quantile_bounds(rng.exponential(size=30), quantile) for _ in range(1000)]
    assert np.mean([low <= true <= high for low, high in found]) > 0.94


def test_median_of_an_evaluation() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(9)}
    run = {f"q{n}": {"a": n % 3, "b": 1} for n in range(9)}
    evaluation = dh.evaluate(qrels, run, ["RR", "FRP"])
    median = evaluation["RR"].quantile(0.5)
    values = sorted(evaluation["RR"].values.tolist())
    assert (median.value, median.low, median.high) == (np.median(values), values[1], values[7])
    assert (median.mean, median.quantile, median.method) == (evaluation["RR"].mean, 0.5, "binomial")
    assert median.is_known
    assert repr(median).endswith(", 95% binomial, 9 queries>")
    few = dh.evaluate({q: qrels[q] for q in ("q0", "q1")}, run, ["RR", "FRP"])
    assert (few["RR"].quantile(0.5).low, few["RR"].quantile(0.5).high) == (0, 1)
    assert few["FRP"].quantile(0.5).high == math.inf
    assert "2 queries, " in few["RR"].quantile(0.5).unknown
    assert "low and high end" in few["RR"].quantile(0.5).unknown
    assert evaluation["RR"].interval().value == evaluation["RR"].mean
    for wrong in (0, 1, "0.5"):
        with pytest.raises(ParameterError) as caught:
            evaluation["RR"].quantile(wrong)  # type: ignore[arg-type]
        assert (caught.value.argument, caught.value.given) == ("quantile", wrong)
