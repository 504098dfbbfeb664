"""Resamples: what they are drawn from, that a seed fixes them, and that nothing else does."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
import scipy

from deadheat import stats
from deadheat.core.stats import resamples, tukey

if TYPE_CHECKING:
    from deadheat.api import FloatArray, IntArray


def values(n_queries: int, n_columns: int = 3, seed: int = 3) -> FloatArray:
    return np.random.default_rng(seed).beta(0.5, 0.8, (n_queries, n_columns))


def ones(n: int) -> IntArray:
    return np.ones(n, np.int64)


def test_counts_are_multinomial() -> None:
    # the mean of an indicator column is how often its row was drawn: binomial with 5 draws and probability 1/5
    drawn = 5 * stats.bootstrap_means(np.eye(5), ones(5), n_resamples=20_000, rng=np.random.default_rng(5))
    assert drawn.sum(axis=1) == pytest.approx(np.full(20_000, 5.0))
    expected = scipy.stats.binom.pmf(range(6), 5, 0.2)
    for column in drawn.T:
        observed = np.bincount(np.rint(column).astype(int), minlength=6)
        chi_square = ((observed - 20_000 * expected) ** 2 / (20_000 * expected)).sum()
        assert chi_square < scipy.stats.chi2.isf(1e-4, 5)
    assert np.cov(drawn.T)[0, 1] == pytest.approx(-5 * 0.2 * 0.2, abs=0.03)


def test_means_are_those_of_the_rows_drawn() -> None:
    drawn = np.random.default_rng(1).integers(0, 7, (40, 7))
    given = values(7)
    means = stats.bootstrap_means(given, ones(7), n_resamples=40, rng=np.random.default_rng(1))
    assert means == pytest.approx(given[drawn].mean(axis=1), rel=1e-13)


@pytest.mark.parametrize("n_units", [1, 3, 700, 70_000])
def test_counts_are_those_of_the_draws(n_units: int) -> None:
    """Counted one by one, also of more units than 16 bits can number, and in several pieces."""
    drawn = np.random.default_rng(1).integers(0, n_units, (4, n_units))
    for first, counts in resamples.draw_counts(n_units, 4, np.random.default_rng(1)):
        for place, of_resample in enumerate(counts, first):
            units, numbers = np.unique(drawn[place], return_counts=True)
            assert np.flatnonzero(of_resample).tolist() == units.tolist()
            assert of_resample[units].tolist() == numbers.tolist()


def test_clusters_are_drawn_whole_and_weighted_by_their_queries() -> None:
    drawn = np.random.default_rng(2).integers(0, 3, (50, 3))
    sums, sizes = np.array([[1.0], [4.0], [9.0]]), np.array([1, 2, 6])
    means = stats.bootstrap_means(sums, sizes, n_resamples=50, rng=np.random.default_rng(2))
    assert means[:, 0] == pytest.approx(sums[drawn, 0].sum(axis=1) / sizes[drawn].sum(axis=1), rel=1e-13)


def test_signs_are_fair_and_independent() -> None:
    signs = stats.sign_flip_sums(np.eye(6), n_resamples=20_000, rng=np.random.default_rng(7))
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 4 / np.sqrt(20_000)
    assert np.abs(np.corrcoef(signs.T) - np.eye(6)).max() < 4 / np.sqrt(20_000)
    patterns = np.bincount(((signs + 1) / 2 @ 2.0 ** np.arange(6)).astype(int), minlength=64)
    assert ((patterns - 312.5) ** 2 / 312.5).sum() < scipy.stats.chi2.isf(1e-4, 63)


@pytest.mark.parametrize("n_units", [1, 7, 33, 64, 500])
def test_a_seed_gives_the_same_whatever_the_batches_are(n_units: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given, sizes = values(n_units), np.arange(1, n_units + 1)

    def draw() -> list[FloatArray]:
        return [
            stats.bootstrap_means(given, sizes, n_resamples=101, rng=np.random.default_rng(1)),
            stats.sign_flip_sums(given, n_resamples=101, rng=np.random.default_rng(1)),
            stats.tukey_p_values(given, n_resamples=101, rng=1),
        ]

    at_once = draw()
    for cells in (1, 50, 3_000):
        monkeypatch.setattr(resamples, "DRAWN_CELLS", cells)
        monkeypatch.setattr(resamples, "BATCH_CELLS", 7 * cells)
        monkeypatch.setattr(tukey, "BATCH_CELLS", cells)
        for found, expected in zip(draw(), at_once, strict=True):
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_column_does_not_depend_on_its_neighbours() -> None:
    given = values(60, 4)
    given[3:9, 1] = np.nan
    given[:50, 2] = np.nan
    low, high = stats.interval_bounds(given, n_resamples=500, rng=4)
    found = stats.p_values(given - 0.4, test="randomization", n_resamples=500, rng=4)
    for column in range(4):
        alone = given[:, [column]]
        bounds = np.concatenate(stats.interval_bounds(alone, n_resamples=500, rng=4))
        assert bounds == pytest.approx([low[column], high[column]], rel=1e-12)
        one = stats.p_values(alone - 0.4, test="randomization", n_resamples=500, rng=4)
        assert one.p_values[0] == found.p_values[column]
        assert one.is_exact[0] == found.is_exact[column]


def test_missing_values_are_as_if_their_rows_were_not_there() -> None:
    given, cluster = values(40, 1), np.repeat(np.arange(10), 4)
    missing = np.zeros(40, bool)
    missing[[0, 1, 2, 3, 17, 30]] = True  # a whole cluster, and parts of two
    with_nan = np.where(missing[:, None], np.nan, given)
    for codes in (None, cluster):
        kept = None if codes is None else codes[~missing]
        expected = stats.resampled_means(given[~missing], n_resamples=99, cluster=kept, rng=1)
        found = stats.resampled_means(with_nan, n_resamples=99, cluster=codes, rng=1)
        assert found == pytest.approx(expected, rel=1e-13)


def test_a_generator_goes_on_and_a_seed_does_not() -> None:
    given, generator = values(20), np.random.default_rng(1)
    first, second = (stats.resampled_means(given, n_resamples=99, rng=generator) for _ in range(2))
    assert (first != second).any()
    assert (first == stats.resampled_means(given, n_resamples=99, rng=1)).all()
    assert (stats.resampled_means(given, n_resamples=99) != stats.resampled_means(given, n_resamples=99)).any()


def test_any_codes_name_the_same_clusters() -> None:
    given = values(9)
    codes = [np.array(c) for c in ([0, 0, 0, 1, 1, 1, 2, 2, 2], [-7, -7, -7, 4, 4, 4, 10**12, 10**12, 10**12])]
    one, other = (stats.resampled_means(given, n_resamples=99, cluster=code, rng=1) for code in codes)
    assert (one == other).all()
    order = np.random.default_rng(1).permutation(9)
    moved = stats.resampled_means(given[order], n_resamples=99, cluster=codes[0][order], rng=1)
    assert moved == pytest.approx(one, rel=1e-13)


def test_arguments_are_not_written_to() -> None:
    given, cluster = values(30), np.repeat(np.arange(15), 2)
    given[2, 1] = np.nan
    given[0] = 1e-14
    for array in (given, cluster):
        array.setflags(write=False)
    means = stats.resampled_means(given, n_resamples=99, cluster=cluster, rng=1)
    means.setflags(write=False)
    for method, test in itertools.product(stats.METHODS, stats.CLUSTERED):
        stats.interval_bounds(given, method=method, cluster=cluster, means=means)
        stats.p_values(given, test=test, cluster=cluster, n_resamples=99)
    for test in stats.TESTS:
        stats.p_values(given, test=test, n_resamples=99)
    stats.tukey_p_values(given, n_resamples=99)
    stats.no_worse(given, 0.1, cluster=cluster)
