"""Negative gains: a harmful document is worse than one that nobody judged, in the ideal ranking and in ties too."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError

JUDGED = {"good": 2, "bad": -1, "worse": -3, "missed": 1}
LOG = [1 / math.log2(rank + 1) for rank in range(1, 9)]


def test_worked_values() -> None:
    """The ideal ranking leaves harm out; the worst one begins with it."""
    run = {"q": {"worse": 3, "good": 2, "other": 1}}
    found = dh.evaluate(
        {"q": JUDGED}, run, ["DCG(negative='gain')", "nDCG(negative='gain')", "nDCG(negative='gain', floor='worst')"]
    ).means()
    own, ideal, worst = -3 * LOG[0] + 2 * LOG[1], 2 * LOG[0] + LOG[1], -3 * LOG[0] - LOG[1]
    assert list(found.values()) == pytest.approx([own, own / ideal, (own - worst) / (ideal - worst)])
    assert dh.evaluate({"q": JUDGED}, run, "DCG").means()["DCG"] == pytest.approx(2 * LOG[1])


def test_extremes_put_unjudged_documents_between() -> None:
    """At a cutoff the best order of a tie leaves the harmful documents below it, and the worst has them first."""
    gains = {"good": 2, "bad": -1, "worse": -3, "x": 0, "y": 0}
    scores = dh.evaluate({"q": JUDGED}, {"q": dict.fromkeys(gains, 1.0)}, "DCG(negative='gain')@3")[
        "DCG(negative='gain')@3"
    ]
    values = [np.dot([gains[doc] for doc in order[:3]], LOG[:3]) for order in permutations(gains)]
    found = [scores.values[0], scores.tie_std[0], scores.tie_min[0], scores.tie_max[0]]
    assert found == pytest.approx([np.mean(values), np.std(values), min(values), max(values)])


def test_queries_with_nothing_but_harm() -> None:
    """They have no ideal gain; between the worst ranking and the ideal one they still differ."""
    qrels, runs = {"q": {"a": -1, "b": -2, "c": 0}}, ({"q": {"b": 2, "a": 1}}, {"q": {"c": 1}})
    for name, expected in (("nDCG(negative='gain')", [0, 0]), ("nDCG(negative='gain', floor='worst')", [0, 1])):
        scores = [dh.evaluate(qrels, run, name)[name] for run in runs]
        assert [one.values[0] for one in scores] == pytest.approx(expected)
        assert scores[0].has_relevant.tolist() == ["floor" in name]


@pytest.mark.plugins("bounds")
def test_ranges_and_what_is_refused() -> None:
    """Without a floor there is no lowest value, so bounded intervals are not taken; nor are there unjudged bounds."""
    assert dh.parse_measure("nDCG(negative='gain')@5").range == (-math.inf, 1.0)
    assert dh.parse_measure("nDCG(negative='gain', floor='worst')").range == (0.0, 1.0)
    assert dh.parse_measure("DCG(negative='gain')").range == (-math.inf, math.inf)
    qrels, run = {f"q{n}": {"a": -1, "b": n} for n in range(4)}, {f"q{n}": {"a": 1, "b": 1} for n in range(4)}
    interval = dh.evaluate(qrels, run, "nDCG(negative='gain')")["nDCG(negative='gain')"].interval(rng=1)
    assert interval.method == "skewed-t"
    scores = dh.evaluate(qrels, run, "nDCG(negative='gain')", unjudged="bounds")["nDCG(negative='gain')"]
    assert not scores.has_unjudged_bounds
    for wrong in (
        "nDCG(floor='worst')",
        "DCG(negative='gain', gain={1: 1})",
        "ERR(negative='gain')",
        "DCG(negative=1)",
    ):
        with pytest.raises(MeasureError):
            dh.parse_measure(wrong)
    with pytest.raises(MeasureError):  # squares would overflow
        dh.evaluate({"q": {"a": -1e200}}, {"q": {"a": 1}}, "DCG(negative='gain')")
