"""Draws of human levels, against what is known of a Dirichlet distribution."""

from __future__ import annotations

import numpy as np

from deadheat.stats.labels import concentration_of, drawn_levels, meanings


def test_meanings_are_shares_with_a_document_more() -> None:
    table = np.array([[[3.0, 1.0], [0.0, 0.0]], [[0.0, 4.0], [2.0, 0.0]]])
    over_all = np.array([5, 5]) / 10
    for grade in range(2):
        own = table[grade].sum(0) + over_all
        for band in range(2):
            wanted = table[grade, band] + 0.25 * own / own.sum()
            np.testing.assert_allclose(meanings(table)[grade, band], wanted / wanted.sum(), rtol=1e-12)


def test_levels_of_alike_queries_are_drawn_as_their_grades_mean() -> None:
    """Shares of 0.8 and 0.1: the concentration is high, so that the own documents of a query count little."""
    counts = np.zeros((50, 2, 1, 2))
    counts[:, 0, 0], counts[:, 1, 0] = (4, 16), (18, 2)
    rng = np.random.default_rng(1)
    concentration = concentration_of(counts)
    assert concentration == 1024
    cells = (np.repeat(np.arange(50), 400), np.tile([0, 1], 10_000), np.zeros(20_000, np.int64))
    found = drawn_levels(counts, cells, concentration, rng)
    assert abs(found[cells[1] == 0].mean() - 0.8) < 0.01
    assert abs(found[cells[1] == 1].mean() - 0.1) < 0.01


def test_a_query_that_differs_is_filled_by_its_own_documents() -> None:
    counts = np.zeros((20, 1, 1, 2))
    counts[:10, 0, 0], counts[10:, 0, 0] = (50, 0), (0, 50)
    concentration = concentration_of(counts)
    assert concentration <= 2
    cells = (np.repeat(np.arange(20), 100), np.zeros(2000, np.int64), np.zeros(2000, np.int64))
    found = drawn_levels(counts, cells, concentration, np.random.default_rng(2)).reshape(20, 100).mean(1)
    assert found[:10].max() < 0.1
    assert found[10:].min() > 0.9


def test_queries_without_own_documents_differ_as_the_others_do() -> None:
    """Their shares have the variance of a Dirichlet distribution: share (1 - share) / (concentration + 1)."""
    counts = np.zeros((40, 1, 1, 2))
    counts[:20] = np.random.default_rng(3).binomial(200, np.random.default_rng(4).beta(2, 2, 20))[:, None, None, None]
    counts[:20, ..., 1] = 200 - counts[:20, ..., 0]
    concentration = concentration_of(counts)
    assert concentration == 4
    cells = (np.repeat(np.arange(20, 40), 200), np.zeros(4000, np.int64), np.zeros(4000, np.int64))
    rng = np.random.default_rng(5)
    shares = [drawn_levels(counts, cells, concentration, rng).reshape(20, 200).mean(1) for _ in range(60)]
    share = counts[:20, 0, 0, 1].sum() / counts.sum()
    assert abs(np.var(shares) / (share * (1 - share) / 5) - 1) < 0.15
