"""Rank intervals: against every resample of queries and every order of ties, where both are few."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.plugins.compare import robustness
from support.demo import DEMO
from support.random_runs import random_runs

QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1}}
RUNS: dict[str, dict[str, dict[str, float]]] = {
    "tied": {"q1": {"a": 1, "x": 1, "y": 1}, "q2": {"a": 1, "b": 1, "x": 1}, "q3": {"x": 2, "a": 1, "y": 1}},
    "sure": {"q1": {"x": 3, "a": 2}, "q2": {"a": 2, "x": 1}, "q3": {"x": 3, "y": 2, "a": 1}},
    "half": {"q1": {"a": 1, "x": 1}, "q2": {"x": 2, "a": 1, "b": 1}, "q3": {"a": 2, "x": 1}},
}


def values(query: str, run: dict[str, float]) -> Counter[float]:
    """Return the reciprocal ranks of a query in every order of its ties, by how many orders give them."""
    found: Counter[float] = Counter()
    for order in permutations(run):
        if all(run[one] >= run[other] for one, other in pairwise(order)):
            found[1 / (1 + next(n for n, doc in enumerate(order) if QRELS[query].get(doc)))] += 1
    return found


def enumerated() -> tuple[dict[str, Counter[int]], dict[str, Counter[int]], dict[str, float]]:
    """Return how often each system has its first and last rank, and how often it is the best, over all that can be."""
    first, last = ({name: Counter[int]() for name in RUNS} for _ in range(2))
    p_best = dict.fromkeys(RUNS, 0.0)
    for drawn in product(QRELS, repeat=3):
        sums = []
        for run in RUNS.values():
            found: dict[float, float] = {0.0: 1.0}
            for query in drawn:
                own, total = values(query, run[query]), sum(values(query, run[query]).values())
                after: dict[float, float] = {}
                for one, share in found.items():
                    for value, n in own.items():
                        after[round(one + value, 9)] = after.get(round(one + value, 9), 0.0) + share * n / total
                found = after
            sums.append(found)
        for scores in product(*(own.items() for own in sums)):
            share = float(np.prod([p for _, p in scores])) / 27
            best = [value for value, _ in scores].count(max(value for value, _ in scores))
            for name, (value, _) in zip(RUNS, scores, strict=True):
                own_first = 1 + sum(other > value for other, _ in scores)
                first[name][own_first] += share  # type: ignore[assignment]
                last[name][sum(other >= value for other, _ in scores)] += share  # type: ignore[assignment]
                p_best[name] += share / best if own_first == 1 else 0.0
    return first, last, p_best


def quantile(shares: Counter[int], at: float) -> int:
    return next(rank for rank in (1, 2, 3) if sum(shares[other] for other in range(1, rank + 1)) >= at - 1e-9)


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_ranks_are_those_over_all_resamples_and_orders(level: float) -> None:
    comparison = dh.compare(QRELS, RUNS, "RR", n_resamples=40_000)
    found = {row["system"]: row for row in comparison.rank_intervals(confidence_level=level).iter_rows(named=True)}
    first, last, p_best = enumerated()
    assert sum(p_best.values()) == pytest.approx(1)
    for name, row in found.items():
        assert row["p_best"] == pytest.approx(p_best[name], abs=0.01)
        tail = (1 - level) / 2
        assert (row["low"], row["high"]) == (quantile(first[name], tail), quantile(last[name], 1 - tail))
        assert row["n_queries"] == 3


@pytest.mark.slow
def test_the_normal_distribution_agrees_where_queries_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = random_runs(200, levels=3)
    comparison = dh.compare(qrels, runs, ["nDCG@5", "RR"], n_resamples=9_999)
    drawn = comparison.rank_intervals()
    monkeypatch.setattr(robustness, "MOST_DRAWN", 0)
    normal = comparison.rank_intervals()
    assert drawn.drop("p_best").equals(normal.drop("p_best"))
    assert drawn["p_best"].to_list() == pytest.approx(normal["p_best"].to_list(), abs=0.02)


@pytest.mark.slow
def test_the_rank_is_that_of_the_exact_mean_under_any_policy() -> None:
    runs = [DEMO / f"{name}.run.gz" for name in ("Olz-gpt4o", "willia-umbrela1", "TREMA-CoT")]
    frames = []
    for ties in ("expected", "doc_id"):
        comparison = dh.compare(DEMO / "qrels.human.txt.gz", runs, ["nDCG@10", "MR"], n_resamples=500, ties=ties)
        frames.append(comparison.rank_intervals())
        for measure, higher in (("nDCG@10", True), ("MR", False)):
            means = {name: np.nanmean(one[measure].tie_mean) for name, one in comparison.evaluations.items()}
            best_first = sorted(means, key=means.__getitem__, reverse=higher)
            own = frames[-1].filter(measure=measure)
            assert own.sort("rank")["system"].to_list() == best_first
    assert frames[0].equals(frames[1])
    for row in frames[0].iter_rows(named=True):
        assert row["low"] <= row["rank"] <= row["high"]


def test_equal_systems_share_their_ranks() -> None:
    _, runs = random_runs()
    qrels, _ = random_runs()
    same = {"one": runs["good"], "two": runs["good"], "weak": runs["weak"]}
    rows = dh.compare(qrels, same, "nDCG", n_resamples=300).rank_intervals().rows()
    assert [row[2] for row in rows] == [1, 1, 3]
    assert rows[0][5] + rows[1][5] + rows[2][5] == pytest.approx(1)
    untied = {
        name: {q: {d: s + n / 100 for n, (d, s) in enumerate(docs.items())} for q, docs in run.items()}
        for name, run in same.items()
    }
    rows = dh.compare(qrels, untied, "nDCG", n_resamples=300).rank_intervals().rows()
    assert rows[0][2:6] == rows[1][2:6]
    assert rows[0][2:5] == (1, 1, 2)


def test_clusters_are_drawn_whole() -> None:
    qrels, runs = random_runs(24)
    clusters = {query: str(n // 8) for n, query in enumerate(qrels)}
    whole = dh.compare(qrels, runs, "RR", n_resamples=2_000, cluster=clusters, method="t", test="t").rank_intervals()
    single = dh.compare(qrels, runs, "RR", n_resamples=2_000).rank_intervals()
    assert whole["rank"].to_list() == single["rank"].to_list()
    assert whole["p_best"].to_list() != single["p_best"].to_list()
    assert whole.columns == ["measure", "system", "rank", "low", "high", "p_best", "n_queries"]


def test_queries_without_a_value_for_all_are_left_out() -> None:
    runs: dict[str, Any] = {"one": {"q1": {"a": 1.0}}, "two": {"q1": {"x": 2.0, "a": 1.0}, "q2": {"a": 1.0}}}
    comparison = dh.compare({"q1": {"a": 1}, "q2": {"a": 1}}, runs, "RR", missing="skip", n_resamples=99)
    assert comparison.rank_intervals()["n_queries"].to_list() == [1, 1]
    assert comparison.rank_intervals()["p_best"].to_list() == [1.0, 0.0]


def test_a_saved_evaluation_has_ranks_too(tmp_path: Any) -> None:  # noqa: ANN401 - a path
    qrels, runs = random_runs()
    paths = {name: tmp_path / f"{name}.json" for name in runs}
    for name, run in runs.items():
        dh.evaluate(qrels, run, "nDCG@5").save(paths[name])
    saved = dh.compare_evaluations(paths, n_resamples=2_000).rank_intervals()
    assert saved.select(pl.col("rank", "n_queries")).equals(
        dh.compare(qrels, runs, "nDCG@5", n_resamples=2_000).rank_intervals().select(pl.col("rank", "n_queries"))
    )


def test_bad_options_are_refused() -> None:
    comparison = dh.compare(QRELS, RUNS, "RR", n_resamples=99)
    with pytest.raises(ValueError, match="confidence_level"):
        comparison.rank_intervals(confidence_level=95)
    with pytest.raises(ValueError, match="n_resamples"):
        comparison.rank_intervals(n_resamples=0)
