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
    return {"q": {doc: label * scale for doc, label in zip(DOCS, LABELS, strict=True)}, "none": {"d0": 0.0}}


def numbers(notation: str, scale: float) -> list[Any]:
    scores = dh.evaluate(judgments(scale), RUN, [notation])[notation]
    return [scores.values, scores.tie_std, scores.tie_min, scores.tie_max]


@pytest.mark.parametrize("scale", [1.0, 1e-310])
@pytest.mark.parametrize("name", [*dh.measures(), "RBP(p=1e-308)", "Compat(p=1e-320)", "INSQ(max_rel=1e308)"])
def test_settings_of_numpy_change_nothing(name: str, scale: float) -> None:
    if scale < 1 and name in {"RnDCG", "nDCGRel"}:
        pytest.skip("divide by ideals of each rank, whose inverse float64 cannot hold")
    try:
        with warnings.catch_warnings(action="ignore", category=dh.DeadheatWarning):
            expected = numbers(name, scale)
    except dh.DeadheatError as error:
        with np.errstate(all="raise"), pytest.raises(type(error)):
            numbers(name, scale)
        return
    with np.errstate(all="raise"), warnings.catch_warnings(action="ignore", category=dh.DeadheatWarning):
        found = numbers(name, scale)
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("measure", ["INSQ", "INST", "NERR11"])
def test_a_gain_that_is_hoped_for_has_a_limit(measure: str) -> None:
    with warnings.catch_warnings(action="error"):
        assert np.isfinite(numbers(f"{measure}(T=1e100)", 1.0)[0]).all()
    with pytest.raises(MeasureError, match=r"1e\+?308"):
        dh.parse_measure(f"{measure}(T=1e308)")


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "N"])
def test_a_worth_has_a_limit(name: str) -> None:
    with warnings.catch_warnings(action="error"):
        assert np.isfinite(numbers(f"Utility({name}=1e100)", 1.0)[0]).all()
    with pytest.raises(MeasureError, match=r"1e\+?308"):
        dh.parse_measure(f"Utility({name}=1e308)")


def test_intervals_and_comparisons_under_settings_of_numpy() -> None:
    qrels = {f"q{n}": {"a": n % 3, "b": 1} for n in range(8)}
    runs = {name: {f"q{n}": {"a": n * sign, "b": 1} for n in range(8)} for name, sign in (("x", 1), ("y", -1))}
    with np.errstate(all="raise"):
        for test in ("randomization", "t", "wilcoxon", "bootstrap-t"):
            dh.compare(qrels, runs, ["RR", "nDCG"], test=test, n_resamples=200).to_markdown()
        for method in ("auto", "bca", "bootstrap-t", "percentile", "t"):
            dh.evaluate(qrels, runs["x"], "nDCG")["nDCG"].interval(method=method, n_resamples=200)
