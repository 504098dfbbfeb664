"""Ends of nDCG over labels, against every label: also of a difference, whose weights may be below 0."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from deadheat.plugins.bounds import ndcg_ends as kernel
from deadheat.plugins.bounds.ndcg_ends import OpenSums, ndcg_ends, split_into_levels

DISCOUNTS = 1 / np.log2(np.arange(2.0, 8.0))
LABELS = (0.0, 1.0, 2.0, 3.0)


@dataclass
class Query:
    """A query: what its judged documents add, their gains, and the weights of the unjudged ones."""

    base: float
    judged: list[float]
    weights: list[float]


def draw_query(rng: np.random.Generator) -> Query:
    """Return a query of few documents, some of which have the weight 0."""
    n_documents, sign = int(rng.integers(0, 5)), float(rng.choice([-1.0, 1.0]))
    weights = rng.normal(sign * rng.choice([0.0, 0.5]), 0.4, n_documents).round(2)
    weights[rng.random(n_documents) < 0.3] = 0.0
    judged = rng.choice([0.0, 1.0, 2.0, 3.0, 4.0], int(rng.integers(0, 4)))
    base = float(rng.choice([0.0, rng.normal(0, 1.5)]))
    if not judged.any():
        base = 0.0  # without a gain there is nothing to sum
    return Query(base, judged.tolist(), weights.tolist())


def ends_by_labels(query: Query, labels: tuple[float, ...]) -> tuple[float, float]:
    """Return the least and the greatest value over all labels."""
    values = []
    for given in itertools.product(labels, repeat=len(query.weights)):
        gains = sorted([*query.judged, *given], reverse=True)
        ideal = sum(gain * discount for gain, discount in zip(gains, DISCOUNTS.tolist(), strict=False))
        added = sum(weight * label for weight, label in zip(query.weights, given, strict=True))
        values.append((query.base + added) / ideal if ideal else 0.0)
    return min(values), max(values)


def ends_of(queries: list[Query], offered: list[float], *, tries_judged: bool) -> list[tuple[float, float]]:
    """Return the ends of some queries, found together; a document of weight 0 is listed or only counted."""
    base = np.array([query.base for query in queries])
    codes = range(len(queries))
    judged = [(code, gain) for code in codes for gain in queries[code].judged]
    n_weightless = np.zeros(len(queries), np.int64)
    documents = []
    for code in codes:
        for place, weight in enumerate(queries[code].weights):
            if weight == 0 and place % 2:
                n_weightless[code] += 1
            else:
                documents.append((code, weight))
    levels = split_into_levels(
        np.array([code for code, _ in judged], np.int64),
        np.array([gain for _, gain in judged]),
        len(queries),
        np.array(offered),
        DISCOUNTS,
        tries_judged=tries_judged,
    )
    document_query = np.array([code for code, _ in documents], np.int64)
    weights = np.array([weight for _, weight in documents])
    low, high = ndcg_ends(OpenSums(base, document_query, weights, n_weightless), levels)
    return list(zip(low.tolist(), high.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(8))
def test_ends_are_those_of_all_labels(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of labels up to 3, where a judged document may have 4; labels between those are never better."""
    if seed % 2:
        monkeypatch.setattr(kernel, "batches", lambda lengths: [([n], int(lengths[n])) for n in range(len(lengths))])
    rng = np.random.default_rng(seed)
    queries = [draw_query(rng) for _ in range(40)]
    expected = [ends_by_labels(query, LABELS) for query in queries]
    found = ends_of(queries, [3.0], tries_judged=True)
    assert found == [pytest.approx(ends, abs=1e-12) for ends in expected]


@pytest.mark.parametrize("seed", range(4))
def test_ends_are_those_of_the_labels_that_a_mapping_names(seed: int) -> None:
    """The gains of the judged documents between those are not tried."""
    rng = np.random.default_rng(100 + seed)
    queries = [draw_query(rng) for _ in range(40)]
    expected = [ends_by_labels(query, (0.0, 2.0, 3.0)) for query in queries]
    found = ends_of(queries, [2.0, 3.0], tries_judged=False)
    assert found == [pytest.approx(ends, abs=1e-12) for ends in expected]


def test_no_label_with_a_gain() -> None:
    """Where the highest label has no gain, nothing changes."""
    queries = [Query(0.5, [1.0], [0.5, 0.25]), Query(0.0, [], [0.5]), Query(0.0, [], [])]
    assert ends_of(queries, [], tries_judged=True) == [(0.5, 0.5), (0.0, 0.0), (0.0, 0.0)]
