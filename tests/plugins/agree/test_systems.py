"""agree_systems(): orders of the same systems in two sets of evaluations, against SciPy."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import deadheat as dh
from deadheat.core.report.text import as_text
from deadheat.errors import DataError
from deadheat.plugins.compare.report_orders import report_orders

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n}": {"r": 1} for n in range(2)}
RUNS: dict[str, dict[str, dict[str, float]]] = {
    "a": {"q0": {"r": 2, "x": 1}, "q1": {"r": 1, "x": 1, "y": 1}},
    "b": {"q0": {"r": 1, "x": 1}, "q1": {"r": 2, "x": 1}},
    "c": {"q0": {"r": 1, "x": 1, "y": 1}, "q1": {"r": 1, "x": 1}},
    "d": {"q0": {"r": 0, "x": 1}, "q1": {"r": 1, "x": 2, "y": 1}},
}


@pytest.mark.slow
def test_folders_of_saved_evaluations(tmp_path: Path) -> None:
    for rule in ("expected", "worst"):
        (tmp_path / rule).mkdir()
        for name, run in RUNS.items():
            dh.evaluate(QRELS, dh.Run(run, name=name), "RR", ties=rule).save(tmp_path / rule / f"{name}.json")
    found = dh.agree_systems(tmp_path / "expected", tmp_path / "worst")
    first, second = (
        {name: dh.evaluate(QRELS, run, "RR", ties=rule) for name, run in RUNS.items()} for rule in ("expected", "worst")
    )
    in_memory = dh.agree_systems(first, second)
    assert found.pairs[0].first == "RR, expected"
    numbers = ("tau_b", "tau_ap", "rbo", "tie_tau", "tie_tau_low", "swapped")
    for name in numbers:
        assert getattr(found.pairs[0], name) == getattr(in_memory.pairs[0], name)
    for other in (tmp_path / "nowhere", tmp_path / "worst" / f"{next(iter(RUNS))}.json"):
        with pytest.raises(DataError, match=f"{other.name}: is not a folder: give one with saved evaluations"):
            dh.agree_systems(tmp_path / "expected", other)
    with pytest.raises(DataError, match="two systems"):
        dh.agree_systems({}, tmp_path / "worst")


def two_sides(n_common: int = 20, n_others: int = 40) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the judgments of people, those of a judge for more queries, and six runs."""
    rng = np.random.default_rng(4)
    docs = [f"d{n}" for n in range(8)]
    queries = [f"q{n:03d}" for n in range(n_common + n_others)]

    def judged(some: list[str]) -> dict[str, Any]:
        return {query: dict(zip(docs, (rng.random(8) < 0.3).astype(int).tolist(), strict=True)) for query in some}

    runs = {
        f"s{n}": {query: dict(zip(docs, rng.integers(0, 5, 8).tolist(), strict=True)) for query in queries}
        for n in range(6)
    }
    return [judged(queries[:n_common]), judged(queries)], runs


@pytest.mark.slow
def test_two_sides_of_other_queries_are_compared_over_those_of_both(tmp_path: Path) -> None:
    """Against SciPy, over means of the common queries; saved, and in memory; both ways round."""
    qrels, runs = two_sides()
    common = sorted(qrels[0])
    shorter = [{query: own[query] for query in common} for own in qrels]
    means = [[dh.evaluate(own, run, "RR").means()["RR"] for run in runs.values()] for own in shorter]
    over_all = [dh.evaluate(qrels[1], run, "RR").means()["RR"] for run in runs.values()]
    expected = stats.kendalltau(*means)[0]
    assert expected != pytest.approx(stats.kendalltau(means[0], over_all)[0])
    for name, own in zip(("human", "judge"), qrels, strict=True):
        (tmp_path / name).mkdir()
        for system, run in runs.items():
            dh.evaluate(own, dh.Run(run, name=system), "RR P@1", missing="empty").save(
                tmp_path / name / f"{system}.json"
            )
    found = dh.agree_systems(tmp_path / "human", tmp_path / "judge")
    assert found.pairs[0].tau_b == pytest.approx(expected)
    assert {pair.n_queries for pair in found.pairs} == {len(common)}
    assert (found.only_first, len(found.only_second)) == ((), 40)
    ranked = [np.argsort(np.argsort(np.negative(of_side))) for of_side in means]
    assert len(found.pairs[0].swapped) == sum(
        ranked[1][a] > ranked[1][b] for a, b in pairwise(np.argsort(ranked[0]).tolist())
    )
    text = " ".join(as_text(report_orders(found), width=100).plain.split())
    assert "queries 20, for which every system has a value on both sides" in text
    assert "40 queries that only the second side has: 'q020', 'q021', 'q022' and 37 more" in text
    sides = [{name: dh.evaluate(own, run, "RR") for name, run in runs.items()} for own in qrels]
    turned = dh.agree_systems(*sides[::-1])
    assert turned.pairs[0].tau_b == pytest.approx(expected)
    assert (len(turned.only_first), turned.only_second) == (40, ())
    assert turned.to_polars()["n_queries"].to_list() == [20]


def test_a_query_without_a_value_on_one_side_does_not_count_on_the_other() -> None:
    """A judge finds relevant documents where people find none, which are left out of their means."""
    qrels, runs = two_sides(12, 0)
    for query in ("q000", "q005"):
        qrels[0][query] = dict.fromkeys(qrels[0][query], 0)
    common = [query for query in qrels[0] if all(max(own[query].values()) > 0 for own in qrels)]
    means = []
    for own in qrels:
        shorter = {query: own[query] for query in common}
        means.append([dh.evaluate(shorter, run, "AP").means()["AP"] for run in runs.values()])
    sides = [{name: dh.evaluate(own, run, "AP", no_relevant="skip") for name, run in runs.items()} for own in qrels]
    (found,) = dh.agree_systems(*sides).pairs
    assert found.n_queries == len(common) < 11
    assert found.tau_b == pytest.approx(stats.kendalltau(*means)[0])


def test_sides_without_a_common_query_and_estimated_means_are_refused() -> None:
    qrels, runs = two_sides(12, 12)
    others = {query: own for query, own in qrels[1].items() if query not in qrels[0]}
    sides = [dh.evaluate(own, runs, "RR") for own in (qrels[0], others, qrels[1])]
    with pytest.raises(DataError, match="order 1 and order 2 share no query: 'q000'"):
        dh.agree_systems(*sides[:2])
    estimated = dh.evaluate(qrels[0], runs, "RR", judge=qrels[1])
    with pytest.raises(DataError, match="the means of s0 are estimated with a judge's labels"):
        dh.agree_systems(estimated, sides[2])
