"""Kernels against all orders of a small group, in plain Python: with values that no measure has, so that none is 1."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from deadheat.api import FloatArray, IntArray
from deadheat.core.kernels import cascade, cascade_variance, counts, first, linear, pairwise, preference, prefix_counts

SEEDS = range(12)
pytestmark = pytest.mark.every_case  # eight of them let a mutant of AP's variance pass


def moments_of_orders(documents: Sequence[int], value: Callable[[Sequence[int]], float]) -> list[float]:
    """Return mean, variance, minimum and maximum of a value over all orders of some documents."""
    values = [value(order) for order in itertools.permutations(documents)]
    return [statistics.fmean(values), statistics.pvariance(values), min(values), max(values)]


def near(expected: float) -> Any:  # noqa: ANN401 - what pytest.approx returns
    return pytest.approx(expected, rel=1e-11, abs=1e-12)


def draw_group(rng: np.random.Generator) -> tuple[int, int, int]:
    """Return how many documents are above a group, in it, and how many of its ranks are inside a cutoff."""
    tied = int(rng.integers(2, 7))
    return int(rng.integers(0, 5)), tied, int(rng.integers(1, tied + 1))


def array(number: int) -> IntArray:
    return np.array([number])


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    above, tied, inside = draw_group(rng)
    gains, weights = rng.normal(size=tied), rng.random(above + tied)
    mean, variance, *_ = moments_of_orders(
        range(tied), lambda order: sum(weights[above + j] * gains[order[j]] for j in range(inside))
    )
    squares = np.array([((gains - gains.mean()) ** 2).sum()])
    a, n, m, gain_sum = array(above), array(tied), array(inside), np.array([gains.sum()])
    assert linear.mean(a, n, m, gain_sum, weights=weights)[0] == near(mean)
    assert linear.variance(a, n, m, squares, weights=weights)[0] == near(variance)
    found = linear.moments(n, m, gain_sum, squares, weight=lambda _, j: weights[None, above + j - 1])
    assert [found[0][0], found[1][0]] == [near(mean), near(variance)]


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_of_the_number_in_the_top(seed: int) -> None:
    rng = np.random.default_rng(seed)
    _, tied, inside = draw_group(rng)
    relevant = int(rng.integers(1, tied + 1))
    spread = rng.random(relevant + 1)
    mean, variance, *_ = moments_of_orders(range(tied), lambda order: sum(d < relevant for d in order[:inside]))
    n, m, r = array(tied), array(inside), array(relevant)
    assert counts.mean(n, m, r)[0] == near(mean)
    assert counts.variance(n, m, r)[0] == near(variance)
    mixed = counts.mix(n, m, r, lambda _, count: (count**2.0, spread[count]))
    of_square = moments_of_orders(range(tied), lambda order: sum(d < relevant for d in order[:inside]) ** 2)
    of_spread = moments_of_orders(range(tied), lambda order: spread[sum(d < relevant for d in order[:inside])])
    assert [mixed[0][0], mixed[1][0]] == [near(of_square[0]), near(of_square[1] + of_spread[0])]


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_of_the_first_relevant_rank(seed: int) -> None:
    rng = np.random.default_rng(seed)
    above, tied, inside = draw_group(rng)
    relevant, values, missed = int(rng.integers(1, tied + 1)), rng.random(above + tied + 1), float(rng.random())

    def value(order: Sequence[int]) -> float:
        found = [above + j + 1 for j in range(inside) if order[j] < relevant]
        return values[found[0]] if found else missed

    mean, variance, *_ = moments_of_orders(range(tied), value)
    a, n, m, r = array(above), array(tied), array(inside), array(relevant)
    found_mean = first.mean(a, n, m, r, np.array([missed]), value=lambda rank: values[rank])
    found_variance = first.variance(a, n, m, r, np.array([missed]), value=lambda rank: values[rank])
    assert [found_mean[0], found_variance[0]] == [near(mean), near(variance)]
    ((listed, chances),) = first.distributions(a, n, m, r, np.array([missed]), value=lambda rank: values[rank])
    assert chances.sum() == near(1)
    assert (listed * chances).sum() == near(mean)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["product", "minimum"])
def test_pairwise_moments(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    above, tied, inside = draw_group(rng)
    n_rows = int(rng.integers(1, tied + 1))  # the other documents have no value
    weights, before = rng.random(above + tied), float(rng.random())
    late, early = (np.append(rng.random(n_rows), np.zeros(tied - n_rows)) for _ in range(2))
    starts = np.zeros(1, np.int64)
    if kind == "product":
        patterns = pairwise.product_patterns(late[:n_rows], early[:n_rows], np.full(n_rows, before), starts)
        linear_values, pairs = late * (before + early), np.outer(early, late)
    else:
        values = np.sort(late)[::-1]
        sums_above = before * values[:n_rows]
        patterns = pairwise.minimum_patterns(values[:n_rows], sums_above, starts)
        linear_values, pairs = values * (1 + before), np.minimum.outer(values, values)

    def value(order: Sequence[int]) -> float:
        total = 0.0
        for j in range(inside):
            total += weights[above + j] * linear_values[order[j]]
            total += weights[above + j] * sum(pairs[order[i], order[j]] for i in range(j))
        return total

    mean, variance, *_ = moments_of_orders(range(tied), value)
    sums = pairwise.rank_sums(np.array([inside]), lambda _, j: weights[None, above + j - 1], squares=True)
    n = np.array([tied])
    assert pairwise.mean(patterns, sums, n)[0] == near(mean)
    assert pairwise.variance(patterns, sums, n)[0] == near(variance)
    columns = pairwise.variance(
        pairwise.binary_patterns(array(n_rows)[:, None], array(3)), sums.as_columns(), n[:, None]
    )
    assert columns[0] == pairwise.variance(pairwise.binary_patterns(array(n_rows), array(3)), sums, n)


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_by_documents_above(seed: int) -> None:
    rng = np.random.default_rng(seed)
    relevant, others = int(rng.integers(1, 4)), int(rng.integers(0, 4))
    values = rng.random(others + 1)

    def value(order: Sequence[int]) -> float:
        places = [place for place, document in enumerate(order) if document < relevant]
        return sum(values[sum(document >= relevant for document in order[:place])] for place in places)

    mean, variance, *_ = moments_of_orders(range(relevant + others), value)
    found = preference.moments(array(relevant), array(others), lambda _, x: values[None, np.minimum(x, others)])
    assert [found[0][0], found[1][0]] == [near(mean), near(variance)]


@pytest.mark.parametrize("seed", SEEDS)
def test_moments_by_counts_of_kinds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts_of_kinds = rng.integers(1, 3, 2)
    tied = int(counts_of_kinds.sum() + rng.integers(0, 3))
    inside = int(rng.integers(1, tied + 1))
    kinds = [0] * int(counts_of_kinds[0]) + [1] * int(counts_of_kinds[1])
    values = rng.normal(size=(inside + 1, 2, 3, 3))  # by rank, kind, and documents of both kinds above

    def value(order: Sequence[int]) -> float:
        total, seen = 0.0, [0, 0]
        for j in range(inside):
            if order[j] < len(kinds):
                kind = kinds[order[j]]
                total += values[j + 1, kind, seen[0], seen[1]]
                seen[kind] += 1
        return total

    def added(ties: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
        return np.array(values[j, kind, seen[0], seen[1]])[None] + 0.0 * ties[:, None, None]

    expected = moments_of_orders(range(tied), value)
    found = prefix_counts.moments(array(tied), array(inside), counts_of_kinds[None], added)
    assert found[:, 0].tolist() == [near(number) for number in expected]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("plain_stop", [0.0, 0.3])
def test_moments_of_a_cascade(seed: int, plain_stop: float) -> None:
    rng = np.random.default_rng(seed)
    above, tied, inside = draw_group(rng)
    n_listed = int(rng.integers(1, tied + 1))
    stop = np.append(rng.random(n_listed), np.full(tied - n_listed, plain_stop))
    weights = rng.random(above + tied)

    def value(order: Sequence[int]) -> float:
        total, arrived = 0.0, 1.0
        for j in range(inside):
            total += arrived * stop[order[j]] * weights[above + j]
            arrived *= 1 - stop[order[j]]
        return total

    mean, variance, *_ = moments_of_orders(range(tied), value)
    groups = cascade.Groups(
        above=array(above),
        tied=array(tied),
        inside=array(inside),
        n_plain=array(tied - n_listed),
        plain_stop=plain_stop,
        first_listed=array(0),
        n_listed=array(n_listed),
        stop=stop[:n_listed],
    )
    assert cascade.mean(groups, weights=weights)[0] == near(mean)
    assert cascade_variance.variance(groups, weights=weights)[0] == near(variance)
    assert groups.read_on()[0] == near(float(np.prod(1 - stop)))
    assert groups.mean_stop()[0] == near(stop.mean())


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_of_one_batch_do_not_change_one_another(seed: int) -> None:
    """They are rows of one matrix, of which the shorter ones are padded."""
    rng = np.random.default_rng(seed)
    n_groups = 6
    above, tied, inside = np.array([draw_group(rng) for _ in range(n_groups)]).T
    relevant = rng.integers(1, tied + 1)
    missed, gains = rng.random(n_groups), rng.random((2, n_groups))
    weights = rng.random(20)
    stop = rng.random(int(relevant.sum()))

    def compute(groups: IntArray) -> FloatArray:
        a, n, m, r = above[groups], tied[groups], inside[groups], relevant[groups]

        def weigh(index: IntArray, j: IntArray) -> FloatArray:
            return weights[a[index, None] + j]

        sums = pairwise.rank_sums(m, weigh, squares=True)
        patterns = pairwise.binary_patterns(r, a)
        first_listed = (np.cumsum(relevant) - relevant)[groups]
        cascades = cascade.Groups(a, n, m, n - r, 0.1, first_listed, r, stop)
        return np.array(
            [
                *linear.moments(n, m, gains[0, groups], gains[1, groups], weight=weigh),
                first.mean(a, n, m, r, missed[groups], value=lambda rank: weights[rank]),
                first.variance(a, n, m, r, missed[groups], value=lambda rank: weights[rank]),
                *counts.mix(n, m, r, lambda index, count: (weights[count], weights[a[index, None] + count])),
                *preference.moments(r, n - r, weigh),
                pairwise.mean(patterns, sums, n),
                pairwise.variance(patterns, sums, n),
                cascade.mean(cascades, weights=weights),
                cascade_variance.variance(cascades, weights=weights),
            ]
        )

    alone = [compute(array(group)) for group in range(n_groups)]
    np.testing.assert_allclose(compute(np.arange(n_groups)), np.concatenate(alone, axis=1), rtol=1e-12, atol=1e-15)
