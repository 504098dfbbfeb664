"""Ends of ratios over labels, against every label: also of a difference, whose weights may be below 0."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deadheat.plugins.bounds.kernel import ratio_ends


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
