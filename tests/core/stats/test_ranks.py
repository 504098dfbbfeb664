"""Ranks in resamples, against every resample of small cases."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from deadheat.core.stats.ranks import summarize_ranks
from deadheat.stats import ranks, resampled_ranks

VALUES = np.array([[0.9, 0.5, 0.1], [0.2, 0.6, 0.55], [0.4, 0.4, 0.8]])
ONES = np.ones(3, np.int64)
NONE = np.zeros((3, 3))


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_ranks_count_who_is_better(rows: list[list[int]]) -> None:
    first, last = ranks(np.array(rows, np.float64) / 7)
    for row, own_first, own_last in zip(rows, first.tolist(), last.tolist(), strict=True):
        for value, low, high in zip(row, own_first, own_last, strict=True):
            assert low == 1 + sum(other > value for other in row)
            assert high == sum(other >= value for other in row)


def test_what_rounding_leaves_is_no_difference() -> None:
    first, last = ranks(np.array([[0.1 + 0.2, 0.3, 0.2]]))
    assert (first.tolist(), last.tolist()) == ([[1, 1, 3]], [[2, 2, 3]])


@pytest.mark.parametrize("has_pools", [False, True])
def test_shares_are_those_of_all_resamples(*, has_pools: bool) -> None:
    means = np.array([VALUES[list(drawn)].mean(axis=0) for drawn in product(range(3), repeat=3)])
    expected = ranks(means)
    pools = [column[:, None] for column in VALUES.T] if has_pools else None
    found = resampled_ranks(VALUES, NONE, ONES, pools=pools, n_resamples=40_000, rng=rng())
    for all_of, drawn in zip(expected, found, strict=True):
        for rank in (1, 2, 3):
            assert (drawn == rank).mean(axis=0) == pytest.approx((all_of == rank).mean(axis=0), abs=0.01)


def test_lower_is_better_where_that_is_said() -> None:
    best, worst = resampled_ranks(VALUES, NONE, ONES, n_resamples=500, rng=rng())
    low, high = resampled_ranks(VALUES, NONE, ONES, higher_is_better=False, n_resamples=500, rng=rng())
    assert np.array_equal(low, 4 - worst)
    assert np.array_equal(high, 4 - best)


@pytest.mark.parametrize("has_pools", [False, True])
def test_ties_move_each_draw_by_itself(*, has_pools: bool) -> None:
    """Two systems that are equal but for ties: the variance of a mean is that of one query's ties by the queries."""
    n = 30
    means, variances, sizes = np.full((n, 2), 0.5), np.array([[0.25, 0.0]] * n), np.ones(n, np.int64)
    pools = [np.array([[0.0, 1.0]] * n), None] if has_pools else None
    best, _ = resampled_ranks(means, variances, sizes, pools=pools, n_resamples=20_000, rng=rng())
    from scipy.stats import binom

    share = binom.cdf(n / 2 - 1, n, 0.5) + has_pools * binom.pmf(n / 2, n, 0.5) if has_pools else 0.5
    assert (best[:, 1] == 1).mean() == pytest.approx(share, abs=0.015)


def test_units_weigh_what_they_hold() -> None:
    """A cluster of three queries counts three times where it is drawn."""
    means, sizes = np.array([[3.0, 0.0], [0.0, 2.0]]), np.array([3, 1])
    best, _ = resampled_ranks(means, np.zeros((2, 2)), sizes, n_resamples=8_000, rng=rng())
    # first, first: 6 to 0; one of each: 3 to 2; second, second: 0 to 4
    assert (best[:, 0] == 1).mean() == pytest.approx(0.75, abs=0.02)


def test_a_seed_gives_the_same_ranks() -> None:
    one, other = (resampled_ranks(VALUES, VALUES, ONES, n_resamples=200, rng=rng(5)) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_systems_that_are_first_together_share_the_resample() -> None:
    best = np.array([[1, 1, 3], [1, 1, 1], [2, 1, 3]])
    worst = np.array([[2, 2, 3], [3, 3, 3], [2, 1, 3]])
    assert summarize_ranks(best, worst, 0.95).p_best == pytest.approx(
        [(1 / 2 + 1 / 3) / 3, (1 / 2 + 1 / 3 + 1) / 3, 1 / 9]
    )
