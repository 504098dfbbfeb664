"""Intervals of measures that are 0 or 1: Clopper and Pearson's, also where ties make values fractions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat.core import stats
from deadheat.core.evaluation.intervals import FEWEST, method_of, why_unknown
from deadheat.core.settings import BOUNDED, OF_ANY_MEANS
from deadheat.errors import ParameterError
from support.error_parts import raises_parts


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 2, 5, 10, 25, 6980])
def test_bounds_of_counts_are_scipys(n: int, level: float) -> None:
    counts = np.unique(np.linspace(0, n, 12).astype(int))
    low, high = stats.proportion_bounds(counts, n, level)
    for count, *ends in zip(counts.tolist(), low, high, strict=True):
        exact = scipy.stats.binomtest(count, n).proportion_ci(level, method="exact")
        assert ends == pytest.approx([exact.low, exact.high], abs=1e-12)


def hits(n_hits: int, n_queries: int, measure: str = "Hit@1", **options: object) -> dh.Evaluation:
    """Evaluate queries of which some have their relevant document on the first rank, the others on the second."""
    qrels = {f"q{n:03}": {"a": 1} for n in range(n_queries)}
    run = {f"q{n:03}": {"a": 2 if n < n_hits else 0, "b": 1} for n in range(n_queries)}
    return dh.evaluate(qrels, run, [measure, "nDCG@10"], **options)  # type: ignore[call-overload]


def test_two_hits_of_two_are_no_proof() -> None:
    interval = hits(2, 2)["Hit@1"].interval()
    assert interval.method == "clopper-pearson"
    assert [interval.low, interval.high] == pytest.approx([0.025**0.5, 1.0])
    assert interval.is_known
    assert not interval.unknown


def test_auto_goes_by_the_measure() -> None:
    found = hits(7, 9).intervals()
    assert {name: one.method for name, one in found.items()} == {"Hit@1": "clopper-pearson", "nDCG@10": "gaffke"}
    equal = hits(9, 9).intervals()
    assert equal["Hit@1"].low == pytest.approx(0.025 ** (1 / 9))
    assert equal["nDCG@10"].low == pytest.approx(0.025 ** (1 / 9), abs=1e-5)  # 1 everywhere, as Hit@1
    assert equal["nDCG@10"].is_known


@pytest.mark.plugins("gates")
def test_values_that_rounding_alone_tells_apart_are_equal() -> None:
    """AP of one relevant document of three below two others, and of two in the first two ranks: 1, but for rounding."""
    qrels = {f"q{n}": dict.fromkeys("abcdef"[: 3 + n % 4], 1) for n in range(60)}
    run = {query: dict.fromkeys(own, 1.0) for query, own in qrels.items()}
    scores = dh.evaluate(qrels, run, "AP")["AP"]
    assert len(set(scores.values.tolist())) > 1
    assert scores.interval().method == "gaffke"
    assert dh.gate(dh.evaluate(qrels, run, "AP"), "low(AP) > 0.7").passed


@pytest.mark.plugins("gates")
@pytest.mark.parametrize("n_right", [60, 59])
def test_of_many_queries_too_a_perfect_run_has_the_highest_end(n_right: int) -> None:
    """Once a bootstrap gave 59 of 60 hits a higher end than Gaffke's interval of 60."""
    qrels = {f"q{n:02}": {"a": 1} for n in range(60)}
    run = {query: {"a": 1.0, "b": 2.0 * (n >= n_right)} for n, query in enumerate(qrels)}
    low, far = dh.gate(dh.evaluate(qrels, run, "nDCG@10"), ["low(nDCG@10) >= 0.94", "low(nDCG@10) >= 0.96"]).checks
    assert low.passed == (n_right == 60)
    assert not low.is_beyond
    assert far.is_beyond
    assert far.reachable == pytest.approx(0.025 ** (1 / 60), abs=1e-3)


@pytest.mark.plugins("compare")
def test_equal_clusters_and_equal_bare_values_are_known_too() -> None:
    qrels = {f"q{n:03}": {"a": 1} for n in range(120)}
    run = {f"q{n:03}": {"a": 1.0, "b": 2.0 * (n % 2)} for n in range(120)}
    found = dh.evaluate(qrels, run, "RR")["RR"].interval(cluster=[n // 2 for n in range(120)])
    assert (found.method, found.is_known) == ("gaffke", True)
    assert found.low < 0.75 < found.high
    bare = dh.interval([1.0] * 60, limits=(0, 1))
    assert (bare.method, bare.is_known) == ("gaffke", True)
    assert bare.low == pytest.approx(0.025 ** (1 / 60), abs=0.005)


@pytest.mark.parametrize("n_hits", [60, 59])
def test_many_equal_values_are_known_too(n_hits: int) -> None:
    """A bootstrap of them has no width; the exact bound of a proportion, 1 - (alpha / 2)^(1 / n), is near Gaffke's."""
    found = hits(n_hits, 60)["nDCG@10"].interval()
    assert found.method == "gaffke"
    assert found.is_known
    if n_hits == 60:
        assert found.low == pytest.approx(0.025 ** (1 / 60), abs=0.001)
        assert found.high == 1


def test_without_clusters_only() -> None:
    scores = hits(7, 9)["Hit@1"]
    clusters = [n // 3 for n in range(9)]
    clustered = scores.interval(cluster=clusters)
    assert clustered.method == "gaffke"
    assert clustered.unknown == "only 3 clusters"
    with raises_parts(
        ParameterError,
        "needs independent queries",
        argument="method",
        given="clopper-pearson",
        allowed=["auto", *OF_ANY_MEANS, BOUNDED],
        beside={"cluster": None},
    ):
        scores.interval("clopper-pearson", cluster=clusters)


def test_of_such_measures_only() -> None:
    bounded = ["auto", *OF_ANY_MEANS, BOUNDED]
    with raises_parts(ParameterError, "Hit, P@1", argument="method", measure="nDCG@10", allowed=bounded):
        hits(7, 9).intervals(method="clopper-pearson")
    unbounded = ["auto", *OF_ANY_MEANS]  # it has no highest value, which gaffke needs
    with raises_parts(ParameterError, measure="DCG", allowed=unbounded):
        dh.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "DCG").intervals(method="clopper-pearson")


@pytest.mark.parametrize("method", ["bca", "percentile", "t"])
def test_few_queries_are_not_known(method: str) -> None:
    few, enough = (hits(2, n)["nDCG@10"].interval(method) for n in (FEWEST - 1, FEWEST))
    assert few.unknown == "only 4 queries"
    assert not few.is_known
    assert enough.is_known
    assert hits(1, 1)["nDCG@10"].interval(method).unknown == "only 1 query"


def test_a_measure_without_a_value() -> None:
    lacking = dh.evaluate({"q": {"a": 0}}, {"q": {"a": 1}}, ["Hit@1", "RR"], no_relevant="skip").intervals()
    assert {one.unknown for one in lacking.values()} == {"no query has a value"}
    assert np.isnan(lacking["Hit@1"].low)


@pytest.mark.parametrize("mean", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n_queries", [2, 5, 10, 25])
def test_the_default_covers_proportions(n_queries: int, mean: float) -> None:
    """The sum over all numbers of hits of their probability, where the interval of the evaluation has the mean."""
    found = [hits(n, n_queries)["Hit@1"].interval() for n in range(n_queries + 1)]
    covering = [n for n, one in enumerate(found) if one.low <= mean <= one.high]
    assert float(np.sum(scipy.stats.binom.pmf(covering, n_queries, mean))) >= 0.95


FRACTIONS: list[tuple[float, Any]] = [
    (0.5, lambda rng, shape: rng.choice([0.5], shape)),
    (0.85, lambda rng, shape: rng.choice([0, 0.5, 1], shape, p=[0.1, 0.1, 0.8])),
    (0.9, lambda rng, shape: rng.choice([1 / 3, 1], shape, p=[0.15, 0.85])),
    (0.891, lambda rng, shape: rng.choice([0, 0.99], shape, p=[0.1, 0.9])),
    (0.9802, lambda rng, shape: rng.choice([0.01, 1], shape, p=[0.02, 0.98])),
    (0.9, lambda rng, shape: rng.beta(0.45, 0.05, shape)),
    (0.5, lambda rng, shape: rng.beta(5, 5, shape)),
    (0.99, lambda rng, shape: rng.beta(0.99, 0.01, shape)),
]


@pytest.mark.parametrize("n_queries", [2, 5, 10, 25, 100])
@pytest.mark.parametrize(("mean", "draw"), FRACTIONS)
def test_fractions_are_covered_too(mean: float, draw: Any, n_queries: int) -> None:  # noqa: ANN401 - a lambda
    n_samples = 4_000
    drawn = draw(np.random.default_rng(1), (n_samples, n_queries))
    low, high = stats.proportion_bounds(drawn.sum(axis=1), n_queries)
    error = (0.05 * 0.95 / n_samples) ** 0.5
    assert ((low <= mean) & (mean <= high)).mean() >= 0.95 - 3 * error
    assert (low < high).all()


def test_fractions_lie_between_the_counts() -> None:
    """No value that is nearly 0 or 1 makes the bounds jump."""
    for n in (2, 10, 25):
        low, high = stats.proportion_bounds(np.linspace(0, n, 1001), n)
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) >= 0).all()
        near = stats.proportion_bounds([0, 1e-9, n - 1e-9, n], n)
        assert near[:, :2] == pytest.approx(near[:, [0, 0]], abs=1e-7)
        assert near[:, 2:] == pytest.approx(near[:, [3, 3]], abs=1e-7)


FEW: dict[str, tuple[str, float, Any]] = {
    "uniform": ("nDCG", 0.5, lambda rng, shape: rng.random(shape)),
    "beta": ("nDCG", 0.3 / 3.3, lambda rng, shape: rng.beta(0.3, 3, shape)),
    "mostly 0": ("nDCG", 0.1, lambda rng, shape: np.where(rng.random(shape) < 0.8, 0.0, rng.random(shape))),
    "mostly 1": ("nDCG", 0.95, lambda rng, shape: np.where(rng.random(shape) < 0.9, 1.0, rng.random(shape))),
    "lognormal": ("DCG", np.exp(0.5), lambda rng, shape: rng.lognormal(0, 1, shape)),
}


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("n", [3, 5, 10, 30])
def test_the_default_covers_the_mean_of_few_values_or_is_unknown(n: int, name: str) -> None:
    measure, mean, draw = FEW[name]
    method = method_of("auto", dh.parse_measure(measure), has_clusters=False)
    values = draw(np.random.default_rng(1), (n, 1500))
    low, high = stats.interval_bounds(values, method=method, n_resamples=999, rng=1)
    known = [not why_unknown(*ends, n, None, method) for ends in zip(low.tolist(), high.tolist(), strict=True)]
    covered = ((low <= mean) & (mean <= high))[known]
    assert not len(covered) if name == "lognormal" and n < 20 else covered.mean() >= 0.93 - 0.01  # of 1,500 sets


def test_an_end_that_too_few_values_decide_is_not_the_limit_of_the_measure() -> None:
    """One of sixty values differs: the bootstrap-t has no lower end, and 0, where DCG begins, is none that it found.

    The default has one, far from the mean, and is marked.
    """
    qrels = {f"q{n:02}": {"a": 1} for n in range(60)}
    run = {query: {"a": 1.0, "b": 2.0 * (n == 0)} for n, query in enumerate(qrels)}
    scores = dh.evaluate(qrels, run, "DCG")["DCG"]
    default, by_t = scores.interval(), scores.interval("t")
    assert (default.method, default.is_known, default.doubtful) == ("skewed-t", True, True)
    assert default.mean - default.low > 2 * (by_t.mean - by_t.low)
    found = scores.interval("bootstrap-t")
    assert found.low == -math.inf
    assert found.unknown.startswith("too few of the 60 ")
