"""Ends of nDCG over labels, against every label: also of a difference, whose weights may be below 0."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deadheat.plugins.bounds.kernel import ndcg_ends, ratio_ends

DISCOUNTS = 1 / np.log2(np.arange(2.0, 12.0))


def ideal_of(gains: list[float]) -> float:
    """Return the DCG of gains in their best order."""
    return float(sum(gain * discount for gain, discount in zip(sorted(gains, reverse=True), DISCOUNTS, strict=False)))


@pytest.mark.parametrize("seed", range(60))
def test_ends_of_ndcg_are_those_of_all_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_documents, sign = int(rng.integers(0, 5)), float(rng.choice([-1.0, 1.0]))
    weights = rng.normal(sign * rng.choice([0.0, 0.5]), 0.4, n_documents).round(2)
    judged = rng.choice([0.0, 1.0, 2.0, 3.0], int(rng.integers(0, 4)))
    base = float(rng.choice([0.0, rng.normal(0, 1.5)]))
    base *= float(judged.max(initial=0.0) > 0)  # without a gain there is nothing to sum
    values = []
    for labels in itertools.product((0.0, 1.0, 2.0, 3.0), repeat=n_documents):
        ideal = ideal_of([*judged.tolist(), *labels])
        values.append((base + float(weights @ np.array(labels))) / ideal if ideal else 0.0)
    attainable = np.unique(np.append(judged[judged < 3], 3.0))
    found = ndcg_ends(base, weights, judged, attainable[attainable > 0], DISCOUNTS[: n_documents + len(judged)])
    assert found == pytest.approx((min(values), max(values)), abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_ends_of_a_ratio_are_those_of_all_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_documents, n_relevant = int(rng.integers(0, 6)), int(rng.integers(0, 3))
    shares, base = rng.normal(0, 1, n_documents), float(rng.normal()) * (n_relevant > 0)
    values = []
    for labels in itertools.product((0, 1), repeat=n_documents):
        divisor = n_relevant + sum(labels)
        values.append((base + float(shares @ np.array(labels))) / divisor if divisor else 0.0)
    divisors = n_relevant + np.arange(n_documents + 1.0)
    found = ratio_ends(base, shares, divisors, slice(0, n_documents + 1))
    assert found == pytest.approx((min(values), max(values)), abs=1e-12)
