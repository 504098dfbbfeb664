"""Evaluations to be gated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import deadheat as dh

if TYPE_CHECKING:
    from deadheat import Evaluation

N = 10
QRELS = {f"q{n}": {"a": 1} for n in range(N)}
TIED = {f"q{n}": {"a": 1.0, "b": 1.0} for n in range(N)}
BEST = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(N)}
EV = dh.evaluate(QRELS, TIED, ["RR", "P@1", "MR", dh.Custom("mine", lambda relevance: float(relevance[0]))])


def ranked(*ranks: int, name: str = "run") -> Evaluation:
    """Return the evaluation of a run whose relevant documents stand at these ranks."""
    qrels = {f"q{n:03}": {"relevant": 1} for n in range(len(ranks))}
    run = {
        f"q{n:03}": {"relevant": 0.5, **{f"d{above}": 1.0 + above for above in range(rank - 1)}}
        for n, rank in enumerate(ranks)
    }
    evaluation = dh.evaluate(qrels, run, ["RR", "MR"])
    return evaluation.select(np.ones(len(ranks), np.bool_), name=name)
