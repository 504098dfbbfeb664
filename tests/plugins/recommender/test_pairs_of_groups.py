"""Pairs of groups: each number from a loop over queries, pair by pair."""

import math
from collections.abc import Callable, Iterable
from itertools import combinations
from statistics import fmean, stdev
from typing import TypeAlias

import numpy as np
import pytest
from scipy import stats

from deadheat.api import FloatArray
from deadheat.plugins.recommender.pairs_of_groups import tabulate_pairs

Statistic: TypeAlias = Callable[[Iterable[int]], float]


def jackknife(statistic: Statistic, n: int, quantile: float) -> tuple[float, ...]:
    """Return a statistic of the queries, and its ends, which are of logarithms."""
    whole = statistic(range(n))
    left_out = [statistic([query for query in range(n) if query != one]) for one in range(n)]
    error = math.sqrt((n - 1) / n * sum((value - fmean(left_out)) ** 2 for value in left_out))
    return tuple(math.exp(end) for end in (whole, whole - quantile * error, whole + quantile * error))


def summed(values: FloatArray, queries: Iterable[int], group: int) -> float:
    return sum(float(values[query, group]) for query in queries)


def drawn(seed: int, n_queries: int = 9, n_groups: int = 5) -> tuple[dict[str, int], FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    n_items = {f"g{group}": group + 1 for group in range(n_groups)}
    return n_items, rng.random((n_queries, n_groups)), rng.random((n_queries, n_groups))


def test_every_pair_is_that_of_a_loop_over_queries() -> None:
    n_items, exposure, target = drawn(1)
    is_judged = np.arange(9) % 4 != 0
    judged = np.flatnonzero(is_judged).tolist()
    table = tabulate_pairs(n_items, exposure, target, is_judged, 0.9)
    assert table is not None
    rows = {(row["group"], row["other"]): row for row in table.to_dicts()}
    assert [*rows] == [*combinations(n_items, 2)]
    for one, other in combinations(range(5), 2):
        row = rows[f"g{one}", f"g{other}"]
        apart = (exposure[:, one] / (one + 1) - exposure[:, other] / (other + 1)).tolist()
        half_width = stats.t.ppf(0.95, 8) * stdev(apart) / 3
        ends = (fmean(apart), fmean(apart) - half_width, fmean(apart) + half_width)
        assert (row["disparity"], row["low"], row["high"]) == pytest.approx(ends, abs=1e-12)

        def log_ratio(queries: Iterable[int], one: int = one, other: int = other) -> float:
            sums = [summed(exposure, queries, group) / (group + 1) for group in (one, other)]
            return math.log(sums[0] / sums[1])

        found = tuple(row[name] for name in ("ratio", "ratio_low", "ratio_high"))
        assert found == pytest.approx(jackknife(log_ratio, 9, stats.t.ppf(0.95, 8)), abs=1e-12)

        def log_ratio_of_target(places: Iterable[int], one: int = one, other: int = other) -> float:
            queries = [judged[place] for place in places]
            shares = [
                summed(exposure, queries, group) / sum(float(target[query, group]) for query in queries)
                for group in (one, other)
            ]
            return math.log(shares[0] / shares[1])

        found = tuple(row[f"ratio_of_target{end}"] for end in ("", "_low", "_high"))
        quantile = stats.t.ppf(0.95, len(judged) - 1)
        assert found == pytest.approx(jackknife(log_ratio_of_target, len(judged), quantile), abs=1e-12)


def test_a_pair_is_the_same_whatever_other_groups_there_are() -> None:
    n_items, exposure, target = drawn(4, n_queries=40, n_groups=12)
    is_judged = np.arange(40) % 5 != 0
    table = tabulate_pairs(n_items, exposure, target, is_judged, 0.95)
    assert table is not None
    tables_of_two = []
    for pair in combinations(range(12), 2):
        columns = list(pair)
        names = {f"g{group}": group + 1 for group in columns}
        exposure_of_two = np.ascontiguousarray(exposure[:, columns])  # NumPy adds by the order in memory
        target_of_two = np.ascontiguousarray(target[:, columns])
        tables_of_two.append(tabulate_pairs(names, exposure_of_two, target_of_two, is_judged, 0.95))
    assert table.rows() == [row for of_two in tables_of_two if of_two is not None for row in of_two.rows()]


def test_groups_that_are_alike_differ_by_nothing() -> None:
    n_items, exposure, target = drawn(2)
    exposure[:, 3] = exposure[:, 1] * 2  # of twice the items
    exposure[:, 2] = 0.3 + 1.5 * exposure[:, 1]  # of half as many more: each item has 0.1 more
    table = tabulate_pairs(n_items, exposure, target, None, 0.95)
    assert table is not None
    rows = {(row["group"], row["other"]): row for row in table.to_dicts()}
    alike = rows["g1", "g3"]
    assert (alike["disparity"], alike["low"], alike["high"], alike["ratio_low"], alike["ratio_high"]) == (0, 0, 0, 1, 1)
    constant = rows["g1", "g2"]
    assert constant["low"] == constant["disparity"] == constant["high"] == pytest.approx(-0.1, abs=1e-12)


def test_what_is_not_known_is_null() -> None:
    n_items, exposure, target = drawn(3)
    exposure[:, 1] = 0.0
    exposure[1:, 2] = 0.0  # without the first query there is none
    table = tabulate_pairs(n_items, exposure, target, None, 0.95)
    assert table is not None
    rows = {(row["group"], row["other"]): row for row in table.to_dicts()}
    assert rows["g0", "g1"]["ratio"] == math.inf
    assert rows["g0", "g1"]["ratio_low"] is None
    assert rows["g0", "g2"]["ratio"] > 0
    assert rows["g0", "g2"]["ratio_low"] is None
    assert rows["g0", "g3"]["ratio_low"] > 0
    alone = tabulate_pairs(n_items, exposure[:1], target[:1], None, 0.95)
    assert alone is not None
    assert alone["low"].null_count() == len(alone) == 10
    assert tabulate_pairs({"g0": 1}, exposure[:, :1], target[:, :1], None, 0.95) is None
