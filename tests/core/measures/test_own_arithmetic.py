"""Whatever the caller set with np.seterr, and however far a parameter is from what is usual, there is a value."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError

DOCS = [f"d{n}" for n in range(8)]
LABELS = [0, 3, 1, 0, 2, 3, 0, 1]
SCORES = [2.0, 1.0, 1.0, 3.0, 2.0, 0.0, 0.0, 1.0]
RUN = {"q": dict(zip(DOCS, SCORES, strict=True)), "none": {"d1": 1.0}}


def judgments(scale: float) -> dict[str, dict[str, float]]:
    labels = [min(label * scale, 1.7e308) for label in LABELS]
    return {"q": dict(zip(DOCS, labels, strict=True)), "none": {"d0": 0.0}}


def numbers(notation: str, scale: float) -> list[Any]:
    scores = dh.evaluate(judgments(scale), RUN, [notation])[notation]
    of_queries = [scores.values, scores.tie_std, scores.tie_min, scores.tie_max]
    return [*of_queries, scores.mean, scores.std, scores.mean_tie_std, scores.total_tie_std]


def cut(name: str) -> str:
    """Return the measure at a rank that cuts a tie, if it has a cutoff."""
    try:
        return dh.parse_measure(f"{name}@2").label
    except dh.DeadheatError:
        return name


NAMES = [*dh.measures(), "RBP(p=1e-308)", "Compat(p=1e-320)", "INSQ(max_rel=1e308)"]


@pytest.mark.parametrize("scale", [1.0, 1e-5, 1e-200, 1e-310, 5e-324, 3e300, 1e308])
@pytest.mark.parametrize("name", [*NAMES, *sorted({cut(name) for name in dh.measures()} - set(NAMES))])
def test_settings_of_numpy_change_nothing(name: str, scale: float) -> None:
    with warnings.catch_warnings(action="error"), warnings.catch_warnings():
        warnings.simplefilter("ignore", dh.DeadheatWarning)
        try:
            expected = numbers(name, scale)
        except dh.DeadheatError as error:
            with np.errstate(all="raise"), pytest.raises(type(error)):
                numbers(name, scale)
            return
        with np.errstate(all="raise"):
            found = numbers(name, scale)
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize("name", ["nDCG", "nDCG@2", "nDCGRel", "nDCG(discount='none')@2"])
def test_a_share_is_the_same_however_small_the_gains_are(name: str) -> None:
    expected = numbers(name, 1.0)
    assert expected[1].any()
    for power in (-300, -520, -700, -1000):
        for own, other in zip(numbers(name, 2.0**power), expected, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-12)


@pytest.mark.plugins("more_measures")
def test_a_share_of_small_gains_beside_large_ones() -> None:
    qrels = {"small": judgments(2.0**-1000)["q"], "large": judgments(1.0)["q"]}
    run = {"small": RUN["q"], "large": RUN["q"]}
    for name in ("nDCG", "nDCGRel"):
        scores = dh.evaluate(qrels, run, [name])[name]
        assert scores.tie_std[0] == pytest.approx(scores.tie_std[1], rel=1e-12)


@pytest.mark.plugins("more_measures")
def test_the_largest_relevance_has_the_limit_that_gains_have() -> None:
    for scale in (3e300, 1e308):
        with pytest.raises(MeasureError, match=r"beyond 2\*\*500"):
            dh.evaluate(judgments(scale), RUN, "MaxRel@2")


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize("measure", ["INSQ", "INST", "NERR11"])
def test_a_gain_that_is_hoped_for_has_a_limit(measure: str) -> None:
    with warnings.catch_warnings(action="error"):
        assert np.isfinite(numbers(f"{measure}(T=1e100)", 1.0)[0]).all()
    with pytest.raises(MeasureError, match=r"1e\+?308"):
        dh.parse_measure(f"{measure}(T=1e308)")


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize("name", ["a", "b", "c", "d", "N"])
def test_a_worth_has_a_limit(name: str) -> None:
    with warnings.catch_warnings(action="error"):
        assert np.isfinite(numbers(f"Utility({name}=1e100)", 1.0)[0]).all()
    with pytest.raises(MeasureError, match=r"1e\+?308"):
        dh.parse_measure(f"Utility({name}=1e308)")


@pytest.mark.slow
@pytest.mark.plugins("compare")
@pytest.mark.filterwarnings("ignore::deadheat.DeadheatWarning")  # small relevance does not count
@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e100])
def test_intervals_and_comparisons_under_settings_of_numpy(scale: float) -> None:
    qrels = {f"q{n}": {"a": (n % 3) * scale, "b": scale} for n in range(8)}
    runs = {name: {f"q{n}": {"a": n * sign, "b": 1} for n in range(8)} for name, sign in (("x", 1), ("y", -1))}
    values = np.arange(8.0) * scale
    with np.errstate(all="raise"):
        for test in ("randomization", "t", "wilcoxon", "bootstrap-t", "tukey"):
            dh.compare(qrels, runs, ["DCG", "nDCG", "GMAP"], test=test, n_resamples=200).to_markdown()
        for method in ("auto", "bca", "bootstrap-t", "percentile", "t"):
            dh.evaluate(qrels, runs["x"], "DCG")["DCG"].interval(method=method, n_resamples=200)
        comparison = dh.compare(qrels, runs, ["DCG", "nDCG"], n_resamples=200)
        comparison.rank_intervals()
        comparison.sample_sizes()
        comparison.orders()
        dh.evaluate(qrels, runs["x"], "DCG").steps("DCG", "q1")
        dh.interval(values, "t")
        dh.paired_test(values, values[::-1], "t")
        if scale <= 1:  # it looks at gain="exp", too
            dh.explain(qrels, runs["x"], {"ndcg": 0.5})
