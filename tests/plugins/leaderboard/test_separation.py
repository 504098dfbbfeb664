"""Separations of all pairs at once against definitions: errors pair by pair, resamples by listing all of them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats as scipy_stats

from deadheat.core.stats.ranks import assign_tiers
from deadheat.core.stats.sign_sums import draw_signs, sign_flip_sums
from deadheat.core.stats.units import Units
from deadheat.plugins.leaderboard.resampling import resampled_totals
from deadheat.plugins.leaderboard.separation import (
    Spread,
    cautious_spread,
    critical_value,
    flipped_totals,
    joint_critical_value,
    largest_ratios,
    pairwise_errors,
    rank_bounds,
    separated,
)

if TYPE_CHECKING:
    from deadheat.api import FloatArray


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
    spread = Spread(errors[:2, :2], freedom[:2, :2], most_freedom=8)
    better = separated(np.array([1.0, 1.0]), np.array([1.0, 1.0]), spread, 2.0)
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


def weighted_units(rng: np.random.Generator, n_units: int, n_models: int, spread: float) -> Units:
    weights = rng.lognormal(0, spread, n_units)
    values = rng.random((n_units, n_models))
    return Units(np.arange(n_models), values * weights[:, None], weights, is_weighted=True)


@pytest.mark.parametrize(
    ("sizes", "spread"),
    [((9,), 1.0), ((5, 7), 0.0), ((4, 6), 1.0), ((40, 4), 0.0)],
    ids=["weights", "2", "both", "many"],
)
def test_each_flip_of_few_or_weighted_units_has_its_own_error(sizes: tuple[int, ...], spread: float) -> None:
    """Flip the values of each unit, and compute differences and errors as of data; many units keep their error."""
    rng = np.random.default_rng(5)
    blocks = [weighted_units(rng, n_units, 4, spread) for n_units in sizes]
    shares = [1 / len(sizes)] * len(sizes)
    found = largest_ratios(blocks, shares, n_resamples=60, rng=np.random.default_rng(3))
    signs = draw_signs(60, sum(sizes), np.random.default_rng(3)).matrix
    for ratio, row in zip(found, signs, strict=True):
        total, variance = np.zeros((2, 4, 4))
        parts = np.split(row, np.cumsum(sizes)[:-1])
        for block, share, own in zip(blocks, shares, parts, strict=True):
            values = block.sums if len(sizes) == 1 else block.residuals
            flipped = Units(block.columns, values * own[:, None], block.sizes, is_weighted=True)
            if block.n_units < 30:
                errors, _ = pairwise_errors([flipped], [share])
                variance += errors[:-1, :-1] ** 2
            else:
                errors, _ = pairwise_errors([block], [share])
                variance += errors[:-1, :-1] ** 2 * (1 - 1 / block.n_units)
            total += share * (flipped.means[:, None] - flipped.means)
        pairs = np.triu_indices(4, 1)
        assert ratio == pytest.approx((np.abs(total[pairs]) / np.sqrt(variance[pairs])).max(), rel=1e-9)


def test_the_critical_value_of_equal_units_is_the_same_either_way() -> None:
    """One block of units that count the same: with errors of each flip, and with the sum of squares."""
    (values,) = parts(12)
    block = units(values)
    nearly = Units(block.columns, block.sums * 1.0, np.ones(12) + 1e-9 * np.arange(12), is_weighted=True)
    found = []
    for one in (block, nearly):
        found.append(joint_critical_value([one], [1.0], 0.9, n_resamples=500, rng=np.random.default_rng(3)))
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_a_flip_without_spread_separates_nothing() -> None:
    """Five queries, of which each has the same difference: all signs are alike in a 16th of the flips."""
    values = np.column_stack([np.linspace(0.3, 0.7, 5), np.linspace(0.2, 0.6, 5)])
    given = [units(values)], [1.0]
    critical = joint_critical_value(*given, 0.95, n_resamples=999, rng=np.random.default_rng(3))
    spread = cautious_spread(*pairwise_errors(*given), *given)
    means = values.mean(axis=0)
    assert not separated(means, means, spread, critical).any()
    assert separated(means, means, spread, 2.0)[0, 1]


def test_a_pair_of_the_same_difference_everywhere_is_no_noise_of_flips() -> None:
    """Rounding leaves tiny residuals of it; the largest ratio is that of the pair that varies."""
    rng = np.random.default_rng(6)
    blocks = []
    for _ in range(2):
        one, other = rng.random((2, 8))
        blocks.append(units(np.column_stack([one, other, one - 0.2])))
    found = largest_ratios(blocks, [0.5, 0.5], n_resamples=200, rng=np.random.default_rng(3))
    without = [Units(block.columns[:2], block.sums[:, :2], block.sizes) for block in blocks]
    expected = largest_ratios(without, [0.5, 0.5], n_resamples=200, rng=np.random.default_rng(3))
    assert found == pytest.approx(expected)


def test_a_block_of_few_units_leaves_few_degrees_of_freedom() -> None:
    """The mean variances over pairs decide, whatever a pair of its own has; its same difference counts as a spread."""
    rng = np.random.default_rng(4)
    many, few = rng.random((100, 5)), rng.random((3, 5))
    few[:, 1] = few[:, 0] + 0.5
    blocks, shares = [units(many), units(few)], [0.5, 0.5]
    errors, freedom = pairwise_errors(blocks, shares)
    spread = cautious_spread(errors, freedom, blocks, shares)
    pairs = np.triu_indices(5, 1)
    variances = []
    for values in (many, few):
        of_pairs = [
            0.25 * np.var(values[:, i] - values[:, j], ddof=1) / len(values) for i, j in zip(*pairs, strict=True)
        ]
        variances.append(np.mean(of_pairs))
    most = sum(variances) ** 2 / (variances[0] ** 2 / 99 + variances[1] ** 2 / 2)
    assert spread.most_freedom == 101
    assert spread.freedom.max() == pytest.approx(most)
    assert freedom[0, 1] == pytest.approx(99)
    assert most < 3
    unseen = (0.5 * 0.5) ** 2 / 3
    assert spread.errors[0, 1] ** 2 == pytest.approx(errors[0, 1] ** 2 + unseen)
    assert spread.errors[0, 2] == pytest.approx(errors[0, 2])


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
    spread = cautious_spread(errors, freedom, [units(one) for one in given], shares)
    better = separated(means, means, spread, 2.5)
    low, high = rank_bounds(better)
    largest_t = 2.5 * np.sqrt(28 / (29 - 2.5**2))  # of 10 + 18 degrees of freedom
    reach = np.zeros((7, 7))
    for i, j in product(range(7), repeat=2):
        if i != j:
            rarity = scipy_stats.t.sf(largest_t, 28)
            reach[i, j] = scipy_stats.t.isf(rarity, spread.freedom[i, j]) * errors[i, j]
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
    assert assign_tiers(order, better).tolist() == [expected[n] for n in range(7)]
    assert tier > 1
