"""Families of differences by shared sign flips, against NumPy on the raw flips."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from deadheat import stats
from deadheat.api import FloatArray
from deadheat.core.stats.alternatives import Alternative
from deadheat.core.stats.families import Block, Blocks, observe
from deadheat.core.stats.family_tests import FamilyTest, bound_p_values, find_undecided, flip_family
from deadheat.core.stats.randomization import MAX_EXACT_SUMS, find_exact_limit
from deadheat.core.stats.simultaneous_intervals import simultaneous_bounds
from deadheat.stats import sign_flip_sums

ALTERNATIVES = ("two-sided", "greater", "less")


def pairs_of(values: FloatArray) -> Blocks:
    second, first = np.triu_indices(len(values), 1)
    return lambda: (Block(values, first, second),)


def flipped(blocks: Blocks, **given: object) -> FamilyTest:
    options: dict[str, Any] = {
        "correction": "max-t",
        "level": 0.05,
        "alternative": "two-sided",
        "n_resamples": 999,
        "most_flips": given.get("n_resamples", 999),
        "rng": np.random.default_rng(1),
    }
    return flip_family(blocks, **{**options, **given})


def adjusted(found: FamilyTest) -> FloatArray:
    assert found.p_adjusted is not None
    return found.p_adjusted


def far(values: FloatArray, alternative: str) -> FloatArray:
    return {"two-sided": np.abs(values), "greater": values, "less": -values}[alternative]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("correction", ["max-t", "max-t-step-down"])
@pytest.mark.parametrize("kind", ["any", "on a grid", "near duplicates", "large", "of blocks"])
def test_flips_are_counted_as_by_numpy(kind: str, correction: str, alternative: str) -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(7, 33)) + np.linspace(0, 1, 7)[:, None]
    if kind == "on a grid":
        values = rng.integers(5, size=(7, 33)) / 4
    if kind == "near duplicates":
        values[1:3] = values[0] + rng.normal(size=(2, 33)) * 1e-7
    if kind == "large":
        values *= 1e40
    second, first = np.triu_indices(7, 1)
    differences = values[first] - values[second]
    blocks = pairs_of(values)
    if kind == "of blocks":
        parts = [Block(part, np.arange(len(part))) for part in np.array_split(differences, 3)]
        blocks = partial(tuple, parts)
    found = flipped(blocks, correction=correction, alternative=alternative)
    sums = sign_flip_sums(differences.T, n_resamples=999, rng=np.random.default_rng(1))
    scales = np.sqrt((differences**2).sum(axis=1))
    statistics = far(sums, alternative) / scales
    observed = far(differences.sum(axis=1), alternative) / scales
    order = np.argsort(-observed)
    highest = 0.0
    for n, pair in enumerate(order):
        p = ((statistics[:, pair] >= observed[pair] - 1e-9).sum() + 1) / 1000
        rivals = order[n:] if correction == "max-t-step-down" else order
        of_largest = ((statistics[:, rivals].max(axis=1) >= observed[pair] - 1e-9).sum() + 1) / 1000
        highest = max(highest, of_largest) if correction == "max-t-step-down" else of_largest
        if not found.is_exact[pair]:
            assert found.p_values[pair] == pytest.approx(p, abs=1e-12)
        assert adjusted(found)[pair] == pytest.approx(max(highest, found.p_values[pair]), abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_few_units_have_all_patterns_of_signs(alternative: str) -> None:
    values = np.random.default_rng(5).normal(size=(4, 7))
    found = flipped(pairs_of(values), alternative=alternative)
    second, first = np.triu_indices(4, 1)
    differences = values[first] - values[second]
    signs = np.array(np.meshgrid(*[[-1, 1]] * 7)).reshape(7, -1)
    scales = np.sqrt((differences**2).sum(axis=1))
    statistics = far(differences @ signs, alternative) / scales[:, None]
    observed = far(differences.sum(axis=1), alternative) / scales
    expected = (statistics.max(axis=0) >= observed[:, None] - 1e-9).mean(axis=1)
    assert adjusted(found) == pytest.approx(expected)
    assert found.is_exact.all()
    assert not found.n_counted


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_two_differences_are_a_family(alternative: str) -> None:
    differences = np.random.default_rng(5).normal(0.2, size=(2, 8))
    found = flipped(lambda: (Block(differences, np.arange(2)),), alternative=alternative)
    signs = np.array(list(product((-1, 1), repeat=8))).T
    scales = np.sqrt((differences**2).sum(axis=1))
    statistics = far(differences @ signs, alternative) / scales[:, None]
    observed = far(differences.sum(axis=1), alternative) / scales
    expected = (statistics.max(axis=0) >= observed[:, None] - 1e-9).mean(axis=1)
    assert (expected > found.p_values).any()
    assert adjusted(found) == pytest.approx(expected)


def test_all_patterns_of_signs_are_counted_up_to_so_many_sums() -> None:
    """20 units make 2^10 sums of each half: 2,048 for a column, of which 16,384 columns are 2^25."""
    n_sums_of_column = 2 * 2**10
    n_columns = MAX_EXACT_SUMS // n_sums_of_column
    assert find_exact_limit(np.full(n_columns, 20)) == 30
    assert find_exact_limit(np.full(n_columns + 1, 20)) == 19


def test_many_exact_differences_are_fewer_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(size=(5, 12))
    assert flipped(pairs_of(values), n_resamples=99).is_exact.all()
    monkeypatch.setattr("deadheat.core.stats.randomization.MAX_EXACT_SUMS", 100)
    found = flipped(pairs_of(values), n_resamples=99)
    assert not found.is_exact.any()
    assert (found.p_values * 100).tolist() == pytest.approx(np.round(found.p_values * 100).tolist())  # of 99 flips


@pytest.mark.slow
def test_batches_and_pieces_are_those_of_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(2).normal(size=(40, 50)).cumsum(axis=0) / 8
    whole = flipped(pairs_of(values))
    monkeypatch.setattr("deadheat.core.stats.families.BATCH_CELLS", 50 * 100)
    monkeypatch.setattr("deadheat.core.stats.family_flips.BATCH_CELLS", 50 * 100)
    monkeypatch.setattr("deadheat.core.stats.family_flips.PIECE_ROWS", 3)
    monkeypatch.setattr("deadheat.core.stats.family_flips.PIECE_FLIPS", 7)
    again = flipped(pairs_of(values))
    assert again.p_values.tolist() == whole.p_values.tolist()
    assert adjusted(again).tolist() == adjusted(whole).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("is_clustered", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_an_interval_excludes_0_just_where_p_is_below_the_level(
    *, is_weighted: bool, is_clustered: bool, alternative: Alternative
) -> None:
    rng = np.random.default_rng(6)
    n_significant, slope = 0, -0.8 if alternative == "less" else 0.8
    for _ in range(20):
        values = rng.normal(size=(6, 60)) + np.linspace(0, slope, 6)[:, None]
        cluster = np.arange(60) // 2 if is_clustered else None
        weights = rng.uniform(1, 3, 60) if is_weighted else None
        second, first = np.triu_indices(6, 1)
        differences = (values[first] - values[second]).T
        sums = differences if weights is None else differences * weights[:, None]
        sums = sums if cluster is None else sums.reshape(30, 2, -1).sum(axis=1)
        block = Block(sums.T, np.arange(15))
        found = flipped(partial(tuple, [block]), alternative=alternative)
        columns = None if weights is None else np.repeat(weights[:, None], 15, axis=1)
        low, high = simultaneous_bounds(
            differences, found.critical, alternative=alternative, cluster=cluster, weights=columns
        )
        is_significant = stats.significant(adjusted(found), 0.05)
        assert ((low > 0) | (high < 0)).tolist() == is_significant.tolist()
        n_significant += is_significant.sum()
        mean = differences.mean(axis=0) if weights is None else weights @ differences / weights.sum()
        assert ((low <= mean) & (mean <= high)).all()
    assert 20 < n_significant < 280


def test_an_interval_is_that_of_t_with_the_quantile_of_the_maxima() -> None:
    values = np.random.default_rng(7).normal(size=(5, 40))
    second, first = np.triu_indices(5, 1)
    differences = (values[first] - values[second]).T
    critical = flipped(pairs_of(values)).critical
    low, high = simultaneous_bounds(differences, critical, alternative="two-sided", cluster=None, weights=None)
    t = critical * np.sqrt(39 / (40 - critical**2))
    half = t * differences.std(axis=0, ddof=1) / np.sqrt(40)
    assert low == pytest.approx(differences.mean(axis=0) - half)
    assert high == pytest.approx(differences.mean(axis=0) + half)


def test_no_interval_is_finite_where_no_flips_can_be_few_enough() -> None:
    values = np.random.default_rng(7).normal(size=(3, 4))  # 8 patterns: p is 1/8 or more
    found = flipped(pairs_of(values))
    assert found.critical == np.inf
    ends = simultaneous_bounds(values.T, found.critical, alternative="two-sided", cluster=None, weights=None)
    assert np.isinf(ends).all()


def test_an_interval_of_differences_that_are_all_0_is_0_and_one_unit_has_none() -> None:
    differences = np.random.default_rng(7).normal(size=(4, 3))
    differences[:, 1] = 0.0
    low, high = simultaneous_bounds(differences, np.inf, alternative="two-sided", cluster=None, weights=None)
    assert (low.tolist(), high.tolist()) == ([-np.inf, 0, -np.inf], [np.inf, 0, np.inf])
    low, high = simultaneous_bounds(differences, np.inf, alternative="greater", cluster=None, weights=None)
    assert (low.tolist(), high.tolist()) == ([-np.inf, 0, -np.inf], [np.inf] * 3)
    one_cluster = np.zeros(4, int)
    for rows, cluster in ((differences[:1], None), (differences, one_cluster)):
        ends = simultaneous_bounds(rows, np.inf, alternative="two-sided", cluster=cluster, weights=None)
        assert np.isnan(ends).all()


def test_more_flips_are_drawn_while_it_is_open_what_is_significant() -> None:
    values = np.random.default_rng(8).normal(size=(6, 60)) + np.linspace(0, 0.62, 6)[:, None]
    few = flipped(pairs_of(values))
    is_open = find_undecided(adjusted(few), np.full(15, 999), "none", 0.05)
    assert is_open.any()
    more = flipped(pairs_of(values), most_flips=5_000)
    assert more.n_flips == 5_000
    assert flipped(pairs_of(values * 0 + np.arange(6)[:, None]), most_flips=5_000).n_flips == 999
    every = flipped(pairs_of(values), n_resamples=5_000)
    assert adjusted(more) == pytest.approx(adjusted(every), abs=0.02)


def test_equal_differences_have_p_1() -> None:
    values = np.random.default_rng(9).normal(size=(4, 50))
    values[1] = values[0]
    found = flipped(pairs_of(values))
    assert (found.p_values[0], adjusted(found)[0], found.is_exact[0]) == (1.0, 1.0, True)
    none = flipped(pairs_of(np.ones((3, 5))))
    assert (adjusted(none) == 1).all()


@pytest.mark.parametrize("correction", ["none", "holm", "bonferroni", "bh"])
def test_other_corrections_are_left_to_adjust(correction: str) -> None:
    values = np.random.default_rng(10).normal(size=(5, 40)) + np.linspace(0, 1, 5)[:, None]
    found = flipped(pairs_of(values), correction=correction)
    assert found.p_adjusted is None
    assert found.p_values.tolist() == flipped(pairs_of(values)).p_values.tolist()
    assert np.isnan(found.critical)


def test_a_family_of_one_needs_no_correction() -> None:
    values = np.random.default_rng(11).normal(size=(2, 40))
    found = flipped(pairs_of(values))
    assert adjusted(found).tolist() == found.p_values.tolist()
    assert adjusted(flipped(pairs_of(values), n_families=3)) == pytest.approx(np.minimum(1, 3 * found.p_values))


def test_families_share_the_level() -> None:
    values = np.random.default_rng(12).normal(size=(5, 40)) + np.linspace(0, 1, 5)[:, None]
    alone, shared = flipped(pairs_of(values)), flipped(pairs_of(values), n_families=4)
    assert adjusted(shared) == pytest.approx(np.minimum(1, 4 * adjusted(alone)))
    assert shared.critical > alone.critical


@pytest.mark.slow
def test_another_seed_reverses_no_decision_that_is_not_marked() -> None:
    """Of 100 seeds each unmarked pair is on one side of the level in 99 or more."""
    values = np.random.default_rng(8).normal(size=(8, 60)) + np.linspace(0, 0.62, 8)[:, None]
    sides = np.zeros((100, 28))
    for seed in range(100):
        found = flipped(pairs_of(values), n_resamples=2_000, rng=np.random.default_rng(seed))
        is_open = find_undecided(adjusted(found), np.full(28, found.n_counted), "none", 0.05)
        sides[seed] = np.where(is_open, 0, np.where(adjusted(found) < 0.05, 1, -1))
    assert (sides == 0).any()
    assert np.minimum((sides > 0).sum(axis=0), (sides < 0).sum(axis=0)).max() <= 1


@pytest.mark.slow
def test_equal_systems_of_unequal_variance_keep_the_level_of_the_family() -> None:
    """Two noisy systems among ten equal ones: the level holds, where permuting systems within a query gives 20%."""
    rng = np.random.default_rng(13)
    n_false = 0
    for _ in range(400):
        values = rng.normal(size=(10, 50)) * np.where(np.arange(10) < 2, 3, 1)[:, None]
        n_false += bool((adjusted(flipped(pairs_of(values))) < 0.05).any())
    assert n_false / 400 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def one_block_each(*rows: FloatArray) -> Blocks:
    """Return blocks of one difference each."""
    blocks = [Block(row[None], np.zeros(1, np.int64)) for row in rows]
    return lambda: blocks


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n_units", [1, 7, 40, 1_000])
def test_no_share_of_signs_is_above_its_bound(n_units: int, alternative: Alternative) -> None:
    """Of values of one size the sum is binomial."""
    for n_plus in range(0, n_units + 1, max(1, n_units // 20)):
        row = np.ones(n_units)
        row[n_plus:] = -1.0
        (statistic,) = observe(one_block_each(row), alternative).statistics
        (bound,) = bound_p_values(np.array([statistic]), alternative)
        share = binomtest(n_plus, n_units, alternative=alternative).pvalue
        assert share <= bound * (1 + 1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_a_bound_takes_the_place_of_very_many_signs(alternative: Alternative, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    monkeypatch.setattr("deadheat.core.stats.family_tests.MANY_SIGNS", 1_000 * 999)
    clear, unclear = rng.normal(0.2, size=1_000), rng.normal(0.02, size=1_000)
    if alternative == "less":
        clear, unclear = -clear, -unclear
    statistic = abs(clear.sum()) / np.sqrt((clear**2).sum())
    expected = (2 if alternative == "two-sided" else 1) * np.exp(-(statistic**2) / 2)
    given: dict[str, Any] = {"alternative": alternative, "correction": "holm"}
    alone = flipped(one_block_each(clear), **given)
    assert (alone.n_flips, alone.is_bound.tolist(), alone.is_exact.tolist()) == (0, [True], [False])
    assert alone.p_values == pytest.approx([expected])
    both = flipped(one_block_each(unclear, clear), **given)
    assert (both.n_flips, both.is_bound.tolist()) == (999, [False, True])
    assert both.p_values.tolist() == [flipped(one_block_each(unclear), **given).p_values[0], alone.p_values[0]]
    assert flipped(one_block_each(clear), **{**given, "correction": "max-t"}, n_families=2).p_adjusted == pytest.approx(
        [2 * expected]
    )


def test_signs_are_drawn_where_a_bound_says_less(monkeypatch: pytest.MonkeyPatch) -> None:
    clear = np.random.default_rng(6).normal(0.15, size=1_000)
    monkeypatch.setattr("deadheat.core.stats.family_tests.MANY_SIGNS", 1_000 * 999 + 1)
    assert flipped(one_block_each(clear)).n_flips == 999  # they are too few to take long
    monkeypatch.setattr("deadheat.core.stats.family_tests.MANY_SIGNS", 1)
    assert flipped(one_block_each(clear)).n_flips == 0
    assert flipped(one_block_each(-clear), alternative="greater").n_flips == 999
    assert flipped(one_block_each(clear, clear)).n_flips == 999  # their maxima decide
    (bound,) = flipped(one_block_each(clear)).p_values
    assert flipped(one_block_each(clear), level=bound / 2).n_flips == 999
    assert flipped(one_block_each(clear, clear), correction="holm", level=3 * bound).n_flips == 0
    # the level is not above the bound twice
    assert flipped(one_block_each(clear, clear), correction="holm", level=1.5 * bound).n_flips == 999
    n_flips = int(1 / bound)
    assert flipped(one_block_each(clear), n_resamples=n_flips - 2).n_flips == 0
    assert flipped(one_block_each(clear), n_resamples=n_flips + 1).n_flips == n_flips + 1  # they may show a smaller p
