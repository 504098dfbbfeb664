"""Where documents are: by sorting each query's scores."""

from __future__ import annotations

import random

import deadheat as dh


def test_above_and_tied_are_those_of_a_count() -> None:
    rng = random.Random(2)
    run = {f"q{n}": {f"d{k}": rng.choice([-1.0, -0.0, 0.0, 2.5, float("inf")]) for k in range(7)} for n in range(5)}
    found = {(query, doc): own for query, doc, *own in dh.Run(run).positions().rows()}
    assert found == {
        (query, doc): [sum(one > score for one in own.values()), sum(one == score for one in own.values())]
        for query, own in run.items()
        for doc, score in own.items()
    }
