"""Who is ahead in random orders of ties: the normal distribution against the exact one, within its proved error."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deadheat as dh
from deadheat import parse_measure
from deadheat.plugins.compare.flips import Side, TieSums, make_side
from deadheat.plugins.ties.coarsening_profile import winner


def sums_of(seed: int, measure: str, n_queries: int) -> TieSums:
    """Two systems with ties of up to five documents."""
    rng = np.random.default_rng(seed)
    docs = [f"d{n}" for n in range(5)]
    qrels = {f"q{n}": dict(zip(docs, rng.integers(0, 2, 5).tolist(), strict=True)) for n in range(n_queries)}
    sides = {}
    for name in "ab":
        run = {query: dict(zip(docs, rng.integers(0, 3, 5).tolist(), strict=True)) for query in qrels}
        found = dh.evaluate(qrels, run, measure)
        sides[name] = make_side(found, parse_measure(measure), np.ones(len(found.query_ids), np.bool_), rng=0)
    return TieSums(sides)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("measure", ["RR", "P@2", "nDCG@3"])
@pytest.mark.parametrize("seed", range(4))
def test_the_normal_distribution_is_as_close_as_it_says(
    seed: int, measure: str, sign: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the system that should be ahead is ahead in the mean, or behind."""
    exact, none = winner(sums_of(seed, measure, 30), "a", "b", sign)
    assert exact.method in {"exact", "grid"}
    monkeypatch.setattr(Side, "can_draw", property(lambda _: False))
    normal, _ = winner(sums_of(seed, measure, 30), "a", "b", sign)
    assert normal.method == "normal"
    assert exact.probability - normal.standard_error - 1e-3 <= normal.probability
    assert normal.probability <= exact.probability + none + normal.standard_error + 1e-3
    assert normal.standard_error < 1


@pytest.mark.parametrize("seed", range(4))
def test_one_of_three_things_happens(seed: int) -> None:
    """The first is ahead, the other one is, or neither."""
    sums = sums_of(seed, "P@2", 10)
    (one, none), (other, same) = winner(sums, "a", "b", 0.1), winner(sums, "a", "b", -2.0)
    assert none == pytest.approx(same)
    assert one.probability + other.probability + none == pytest.approx(1.0)
    swapped, _ = winner(sums, "b", "a", 1.0)
    assert swapped.probability == pytest.approx(other.probability)


def test_no_sign_no_winner() -> None:
    found, none = winner(sums_of(0, "RR", 5), "a", "b", 0.0)
    assert math.isnan(found.probability)
    assert math.isnan(none)
    assert found.method == "none"
