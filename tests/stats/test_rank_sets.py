"""Separations of all pairs at once against definitions: errors pair by pair, resamples by listing all of them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deadheat.stats.ranks import (
    critical_value,
    flipped_totals,
    pairwise_errors,
    rank_bounds,
    resampled_totals,
    separated,
    tiers_of,
)
from deadheat.stats.units import Units, sign_flip_sums

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray


def units(values: FloatArray) -> Units:
    return Units(np.arange(values.shape[1]), values, np.ones(len(values)))


def parts(*sizes: int, n_models: int = 4, seed: int = 1) -> list[FloatArray]:
    rng = np.random.default_rng(seed)
    return [rng.random((size, n_models)) for size in sizes]


def test_errors_are_those_of_each_pair_by_itself() -> None:
    given, shares = parts(5, 7), [0.25, 0.75]
    errors, freedom = pairwise_errors([units(one) for one in given], shares)
    padded = [np.column_stack([one, np.zeros(len(one))]) for one in given]
    for i, j in product(range(5), repeat=2):
        own = [
            share**2 * np.var(one[:, i] - one[:, j], ddof=1) / len(one)
            for one, share in zip(padded, shares, strict=True)
        ]
        assert errors[i, j] == pytest.approx(np.sqrt(sum(own)), abs=1e-14)
        if i != j:
            expected = sum(own) ** 2 / sum(v**2 / (len(one) - 1) for v, one in zip(own, given, strict=True))
            assert freedom[i, j] == pytest.approx(expected)


def test_errors_with_weights_are_those_of_leaving_each_query_out() -> None:
    """The jackknife of the weighted mean, computed by computing it; freedom is that of the effective number."""
    rng = np.random.default_rng(2)
    values, weights = rng.random((8, 3)), np.exp(rng.normal(0, 1, 8))
    block = Units(np.arange(3), values * weights[:, None], weights, is_weighted=True)
    errors, freedom = pairwise_errors([block, units(values)], [0.4, 0.6])
    padded = np.column_stack([values, np.zeros(8)])
    n_effective = weights.sum() ** 2 / (weights**2).sum()
    for i, j in product(range(4), repeat=2):
        difference = padded[:, i] - padded[:, j]
        left = [np.average(np.delete(difference, n), weights=np.delete(weights, n)) for n in range(8)]
        weighted = 0.4**2 * 7 / 8 * sum((one - np.average(difference, weights=weights)) ** 2 for one in left)
        plain = 0.6**2 * np.var(difference, ddof=1) / 8
        assert errors[i, j] == pytest.approx(np.sqrt(weighted + plain), abs=1e-14)
        if i != j:
            expected = (weighted + plain) ** 2 / (weighted**2 / (n_effective - 1) + plain**2 / 7)
            assert freedom[i, j] == pytest.approx(expected)


def test_equal_columns_have_no_error() -> None:
    one = np.linspace(0.1, 0.7, 9) ** 2
    errors, freedom = pairwise_errors([units(np.column_stack([one, one, one + 0.1]))], [1.0])
    assert errors[0, 1] == errors[1, 0] == 0.0
    assert freedom[0, 1] == np.inf
    better = separated(np.array([1.0, 1.0]), np.array([1.0, 1.0]), errors[:2, :2], freedom[:2, :2], 2.0)
    assert not better.any()


def all_totals(given: list[FloatArray], shares: list[float]) -> FloatArray:
    """Return the total in each of all resamples of the queries within tasks, which are equally likely."""
    of_tasks = [[one[list(drawn)].mean(axis=0) for drawn in product(range(len(one)), repeat=len(one))] for one in given]
    return np.array([sum(s * m for s, m in zip(shares, means, strict=True)) for means in product(*of_tasks)])


def test_critical_value_is_that_of_the_largest_of_all_flips() -> None:
    """Of one block the values change sign, of several what they differ by from the mean of theirs."""
    for sizes, shares in (((9,), [1.0]), ((3, 4), [0.4, 0.6])):
        given = parts(*sizes)
        sums, products = flipped_totals(
            [units(one) for one in given], shares, n_resamples=999, rng=np.random.default_rng(3)
        )
        centred = given if len(given) == 1 else [one - one.mean(axis=0) for one in given]
        pulls = np.vstack(
            [s / np.sqrt(len(one) * (len(one) - 1)) * one for s, one in zip(shares, centred, strict=True)]
        )
        assert sums == pytest.approx(sign_flip_sums(pulls, n_resamples=999, rng=np.random.default_rng(3)))
        largest = [
            max(
                abs(row[i] - row[j]) / np.sqrt(((pulls[:, i] - pulls[:, j]) ** 2).sum())
                for i in range(pulls.shape[1])
                for j in range(i)
            )
            for row in sums
        ]
        expected = np.quantile(largest, 0.9, method="higher")
        assert critical_value(sums, products, 0.9) == pytest.approx(expected, abs=1e-12)


def test_resampled_totals_have_the_spread_of_all_resamples() -> None:
    given, shares = parts(3, 4), [0.5, 0.5]
    every = all_totals(given, shares)
    drawn = resampled_totals(
        [units(one) for one in given],
        np.array(shares),
        None,
        n_resamples=20_000,
        rng=np.random.default_rng(3),
    )
    assert drawn.mean(axis=0) == pytest.approx(every.mean(axis=0), abs=0.01)
    assert np.cov(drawn.T) == pytest.approx(np.cov(every.T), rel=0.06, abs=2e-4)


@pytest.mark.parametrize("grouped", [False, True])
def test_drawn_tasks_draw_their_queries_again_for_each_copy(*, grouped: bool) -> None:
    given, shares = parts(2, 1, 2, n_models=2), np.array([0.5, 0.3, 0.2])
    groups = [np.array([0, 1]), np.array([2])] if grouped else [np.arange(3)]
    every = []  # of all drawn tasks, and of all queries drawn for each copy, with their probabilities
    for tasks in product(*(product(own.tolist(), repeat=len(own)) for own in groups)):
        copies = [place for own in tasks for place in own]
        queries = [[*product(range(len(given[n])), repeat=len(given[n]))] for n in copies]
        for chosen in product(*queries):
            means = [given[n][list(own)].mean(axis=0) for n, own in zip(copies, chosen, strict=True)]
            total, start = np.zeros(2), 0
            for own, drawn in zip(groups, tasks, strict=True):
                weights = shares[list(drawn)]
                total += shares[own].sum() * weights @ means[start : start + len(drawn)] / weights.sum()
                start += len(drawn)
            every.append((1 / np.prod([len(one) for one in queries]), total))
    weights, values = np.array([one for one, _ in every]), np.array([one for _, one in every])
    found = resampled_totals(
        [units(one) for one in given], shares, groups, n_resamples=40_000, rng=np.random.default_rng(2)
    )
    mean = np.average(values, axis=0, weights=weights)
    assert found.mean(axis=0) == pytest.approx(mean, abs=0.004)
    assert np.cov(found.T) == pytest.approx(np.cov(values.T, aweights=weights, ddof=0), rel=0.05, abs=1e-4)


def test_a_task_of_many_queries_has_the_spread_of_its_bootstrap() -> None:
    (many,) = parts(300, n_models=3)
    found = resampled_totals([units(many)], np.ones(1), None, n_resamples=20_000, rng=np.random.default_rng(2))
    assert found.mean(axis=0) == pytest.approx(many.mean(axis=0), abs=1e-3)
    assert np.cov(found.T) == pytest.approx(np.cov(many.T, ddof=0) / 300, rel=0.05, abs=2e-5)


def test_separations_ranks_and_tiers_are_as_defined() -> None:
    shares, slope = [0.5, 0.5], np.linspace(1.6, 0, 7)
    given = [one + slope + n for n, one in enumerate(parts(11, 19, n_models=7, seed=5))]
    means = sum(s * one.mean(axis=0) for s, one in zip(shares, given, strict=True))
    errors, freedom = pairwise_errors([units(one) for one in given], shares)
    better = separated(means, means, errors[:-1, :-1], freedom[:-1, :-1], 2.5)
    low, high = rank_bounds(better)
    varies = errors > 0
    reach = np.zeros((8, 8))
    reach[varies] = 2.5 * np.sqrt(freedom[varies] / (freedom[varies] + 1 - 2.5**2)) * errors[varies]
    above = {(i, j) for i in range(7) for j in range(7) if means[i] - means[j] > reach[i, j]}
    assert above == {tuple(pair) for pair in np.argwhere(better).tolist()}
    assert above
    for i in range(7):
        assert low[i] == 1 + sum((j, i) in above for j in range(7))
        assert high[i] == 7 - sum((i, j) in above for j in range(7))
    order = np.argsort(-means).tolist()
    left, tier = list(order), 0
    expected: dict[int, int] = {}
    while left:
        tier += 1
        own = [one for one in left if (left[0], one) not in above]
        expected |= dict.fromkeys(own, tier)
        left = [one for one in left if one not in own]
    assert tiers_of(order, better).tolist() == [expected[n] for n in range(7)]
    assert tier > 1
