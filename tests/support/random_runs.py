"""Runs to compare, and values of their queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import deadheat as dh

if TYPE_CHECKING:
    from deadheat.api import FloatArray


def random_runs(n_queries: int = 30, levels: int = 6, seed: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments of eight documents a query, and three runs of which each is better than the one before."""
    rng = np.random.default_rng(seed)
    docs = [f"d{n}" for n in range(8)]
    qrels: dict[str, Any] = {}
    runs: dict[str, Any] = {name: {} for name in ("weak", "fair", "good")}
    for query in (f"q{n:02d}" for n in range(n_queries)):
        relevance = rng.choice([0, 0, 0, 1, 2], len(docs))
        qrels[query] = dict(zip(docs, relevance.tolist(), strict=True))
        for help_of_relevance, run in enumerate(runs.values()):
            scores = rng.integers(0, levels, len(docs)) + help_of_relevance * relevance
            run[query] = dict(zip(docs, scores.tolist(), strict=True))
    return qrels, runs


QRELS, RUNS = random_runs()


def hits(**runs: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Judgments, and runs with so many relevant documents among the first ten of each query."""
    n_queries = len(next(iter(runs.values())))
    qrels = {f"q{n}": {f"r{rank}": 1 for rank in range(10)} for n in range(n_queries)}
    found = {
        name: {
            f"q{n}": {f"{'r' if rank < k else 'n'}{rank}": -float(rank) for rank in range(10)}
            for n, k in enumerate(counts)
        }
        for name, counts in runs.items()
    }
    return qrels, found


def values(qrels: dict[str, Any], run: dict[str, Any], measure: str, ties: str = "expected") -> FloatArray:
    return dh.evaluate(qrels, run, measure, ties=ties)[measure].values
