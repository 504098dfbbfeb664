"""Limits of values that the cutoff sets: intervals of means do not leave them."""

import math

import pytest

import deadheat as dh


@pytest.mark.parametrize("n_queries", [6, 110])
@pytest.mark.parametrize("name", ["FRP@4", "MR@4", "MR(missing='capped')@4"])
def test_intervals_of_ranks_with_a_cutoff_lie_between_1_and_k_plus_1(name: str, n_queries: int) -> None:
    """All but one query have the relevant document first, that one does not have it at all."""
    qrels = {f"q{n}": {"a": 1} for n in range(n_queries)}
    run = {f"q{n}": ["a", "b"] if n else ["b", "c"] for n in range(n_queries)}
    scores = dh.evaluate(qrels, run, [name, "FRP"])[name]
    interval = scores.interval()
    assert interval.mean == pytest.approx((n_queries - 1 + 5) / n_queries)
    assert 1 <= interval.low < interval.mean < interval.high <= 5
    assert list(scores.limits) == [1, 5]
    assert list(dh.evaluate(qrels, run, "FRP")["FRP"].limits) == [1, math.inf]
