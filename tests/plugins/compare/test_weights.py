"""Weighted comparisons: differences are NumPy's, flips are counted over all orders, the verdict names who decides."""

from __future__ import annotations

from dataclasses import asdict
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import ParameterError
from support.numbers_in_text import numbers_in

pytestmark = pytest.mark.filterwarnings("ignore:.*a tenth of the weight:deadheat.core.errors.DeadheatWarning")
N = 12
QRELS = {f"q{n:02}": {f"d{d}": (n * d) % 3 for d in range(6)} for n in range(N)}
ONE = {f"q{n:02}": {f"d{d}": float((n + 2 * d) % 3) for d in range(6)} for n in range(N)}
TWO = {f"q{n:02}": {f"d{d}": float((n * d + 1) % 4) for d in range(6)} for n in range(N)}
WEIGHTS = {query: 1.0 + (7 * n) % 5 for n, query in enumerate(QRELS)}


def compared(**options: Any) -> dh.Comparison:  # noqa: ANN401 - of compare
    return dh.compare(QRELS, {"one": ONE, "two": TWO}, ["nDCG", "NumRelRet"], **{"weights": WEIGHTS, **options})


def test_a_pair_is_of_weighted_means() -> None:
    found = compared(test="t")
    pair, count = found.pairs
    own, other = (dh.evaluate(QRELS, run, "nDCG")["nDCG"].values for run in (TWO, ONE))
    weights = np.array(list(WEIGHTS.values()))
    assert pair.difference == pytest.approx(np.average(own - other, weights=weights))
    assert (pair.mean, pair.baseline_mean) == pytest.approx(
        (np.average(own, weights=weights), np.average(other, weights=weights))
    )
    std = np.sqrt(np.cov(own - other, aweights=weights, bias=True) * N / (N - 1))
    assert (pair.std, pair.effect_size) == pytest.approx((std, pair.difference / std))
    assert pair.n_effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert pair.wins == (own - other > 1e-12).sum()
    alone = dh.compare(QRELS, {"one": ONE, "two": TWO}, "NumRelRet", test="t").pairs[0]  # totals have no weights
    assert (count.difference, count.low, count.p_value) == (alone.difference, alone.low, alone.p_value)
    assert count.n_effective is None


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["max-t", "holm"])
def test_only_the_ratios_of_weights_matter(correction: str) -> None:
    runs = {"one": ONE, "two": TWO, "three": {query: dict.fromkeys(scores, 1.0) for query, scores in ONE.items()}}
    small = {query: weight * 2.0**-42 for query, weight in WEIGHTS.items()}
    of_small = dh.compare(QRELS, runs, "nDCG", weights=small, correction=correction)
    of_large = dh.compare(QRELS, runs, "nDCG", weights=WEIGHTS, correction=correction)
    for pair_of_small, pair_of_large in zip(of_small.pairs, of_large.pairs, strict=True):
        assert repr(asdict(pair_of_small)) == repr(asdict(pair_of_large))  # NaN is the same
    assert min(pair.p_value for pair in of_small.pairs) < 0.5


def test_a_query_of_weight_0_is_left_out_under_each_rule() -> None:
    zero = {query: 0 if query < "q03" else weight for query, weight in WEIGHTS.items()}
    found = compared(weights=zero, test="t")
    rest = {query: own for query, own in QRELS.items() if query >= "q03"}
    runs = {name: {query: run[query] for query in rest} for name, run in (("one", ONE), ("two", TWO))}
    alone = dh.compare(rest, runs, "nDCG", weights={query: WEIGHTS[query] for query in rest}, test="t")
    assert found.pairs[0].doc_id_difference == pytest.approx(alone.pairs[0].doc_id_difference, abs=1e-12)
    scores = found.scores_by_doc_id("one", "nDCG")
    assert scores is not None
    assert scores.n_queries == N - 3
    assert "nDCG" in str(found)


def test_ties_reverse_a_weighted_difference_as_often_as_their_orders_do() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 2, "b": 1}, "q3": {"c": 1}}
    weights, names = {"q1": 5.0, "q2": 3.0, "q3": 4.0}, ("x", "y")
    tied = {"x": [["a", "b"], ["a", "b", "c"], ["c", "a", "b"]], "y": [["a", "b", "c"], ["b", "a"], ["c", "b"]]}
    levels = {"x": [(1, 1), (1, 1, 1), (2, 1, 1)], "y": [(1, 1, 1), (1, 1), (1, 1)]}
    runs = {
        name: {
            query: dict(zip(docs, map(float, own), strict=True))
            for query, docs, own in zip(qrels, tied[name], levels[name], strict=True)
        }
        for name in names
    }
    means: dict[str, list[float]] = {}
    for name in names:
        orders = product(
            *(
                [list(one) for one in permutations(docs) if _is_sorted(one, runs[name][query])]
                for query, docs in zip(qrels, tied[name], strict=True)
            )
        )
        means[name] = [
            float(
                np.average(
                    dh.evaluate(qrels, dict(zip(qrels, order, strict=True)), "RR")["RR"].values, weights=[5, 3, 4]
                )
            )
            for order in orders
        ]
    gaps = np.subtract.outer(means["y"], means["x"]).ravel()
    (pair,) = dh.compare(qrels, runs, "RR", weights=weights).pairs
    assert pair.difference == pytest.approx(gaps.mean())
    assert pair.flip_probability == pytest.approx((gaps * np.sign(gaps.mean()) < -1e-12).mean())
    assert 0 < pair.flip_probability < 1
    assert pair.tie_standard_error == pytest.approx(gaps.std())
    assert pair.flip_method == "exact"
    large = dh.compare(qrels, runs, "RR", weights={query: 1e9 * weight for query, weight in weights.items()}).pairs[0]
    assert large.flip_probability == pytest.approx(pair.flip_probability)


def _is_sorted(docs: tuple[str, ...], scores: dict[str, float]) -> bool:
    own = [scores[doc] for doc in docs]
    return own == sorted(own, reverse=True)


@pytest.mark.slow
def test_drawn_orders_are_weighted() -> None:
    rng = np.random.default_rng(1)
    qrels = {f"q{n}": {f"d{d}": int(rng.integers(0, 3)) for d in range(9)} for n in range(4)}
    runs = {
        name: {query: {doc: float(rng.integers(0, 2)) for doc in docs} for query, docs in qrels.items()}
        for name in "ab"
    }
    weights = {"q0": 9.7, "q1": 1.3, "q2": 3.1, "q3": 0.2}
    (pair,) = dh.compare(qrels, runs, "AP", weights=weights).pairs
    drawn = [
        {
            name: dh.evaluate(qrels, run, "AP", ties="random", rng=2 * seed + n, weights=weights)["AP"].mean
            for n, (name, run) in enumerate(runs.items())
        }
        for seed in range(400)
    ]
    flips = [(own["b"] - own["a"]) * pair.expected_difference < 0 for own in drawn]
    assert pair.flip_probability == pytest.approx(np.mean(flips), abs=0.07)


def test_ranks_are_by_the_weighted_mean() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(8)}
    first, second = (
        {query: ["a", "b"] if (query == "q0") == own else ["b", "a"] for query in qrels} for own in (True, False)
    )
    runs = {"first": first, "second": second}
    assert dh.compare(qrels, runs, "RR").rank_intervals()["rank"].to_list() == [2, 1]
    heavy = dh.compare(qrels, runs, "RR", weights=dict.fromkeys(qrels, 1) | {"q0": 50}).rank_intervals()
    assert heavy["rank"].to_list() == [1, 2]
    # "first" leads wherever q0 is drawn, as 50 outweighs seven
    assert heavy["p_best"][0] == pytest.approx(1 - (7 / 8) ** 8, abs=0.02)


def test_the_verdict_says_what_the_weights_decide() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(10)}
    ahead, behind = (
        {query: ["a", "b"] if (query < "q3") == own else ["b", "a"] for query in qrels} for own in (True, False)
    )
    weights = dict.fromkeys(qrels, 1) | {"q0": 4, "q1": 3}
    found = dh.compare(qrels, {"ahead": ahead, "behind": behind}, "RR", weights=weights).verdict
    assert (found.leader, found.deciding) == ("ahead", ("q0",))
    assert found.unweighted == pytest.approx(0.5 * (3 - 7) / 10)
    assert numbers_in(found.facts["weights"]) == [-0.2, 0.27]
    assert "without q0 (27% of the weight) " in found.facts["weights"]
    n_effective = 15**2 / (4**2 + 3**2 + 8)  # the square of the sum by the sum of squares
    assert found.n_effective == pytest.approx(n_effective)
    assert f"10 queries worth {n_effective:.1f} of " in found.facts["p"]
    assert dh.compare(qrels, {"ahead": ahead, "behind": behind}, "RR").verdict.unweighted is None


def test_few_queries_by_weight_prove_little() -> None:
    found = compared(weights=dict.fromkeys(QRELS, 1) | {"q01": 100})
    assert found.verdict.outcome == "few"
    assert "1 query by weight" in found.verdict.facts["doubt"]
    assert not found.pairs[0].is_known


@pytest.mark.parametrize("test", ["wilcoxon", "sign"])
def test_tests_of_ranks_are_refused(test: str) -> None:
    with pytest.raises(ParameterError, match="test must be"):
        compared(test=test)
    with pytest.raises(ParameterError, match="test must be"):
        dh.compare_evaluations(
            {"a": dh.evaluate(QRELS, ONE, "RR", weights=WEIGHTS)}
            | {"b": dh.evaluate(QRELS, TWO, "RR", weights=WEIGHTS)},
            test=test,
        )


def test_a_gate_is_of_weighted_means_and_names_who_pulls() -> None:
    now, before = (dh.evaluate(QRELS, run, "nDCG", weights=WEIGHTS) for run in (TWO, ONE))
    own, other = (one["nDCG"].values for one in (now, before))
    weights = np.array(list(WEIGHTS.values()))
    found = dh.gate(now, "nDCG >= 0.99", baseline=before, no_worse_than=0.001)
    threshold, margin = found.checks
    assert threshold.value == pytest.approx(np.average(own, weights=weights))
    pulls = weights * (own - 0.99)
    names = [f"{list(QRELS)[n]} {own[n]:.2f}" for n in np.argsort(pulls, kind="stable")[:3]]
    assert threshold.worst.startswith("lowest: " + ", ".join(names))
    assert margin.value == pytest.approx(np.average(own - other, weights=weights))
    pair = dh.compare_evaluations({"before": before, "now": now}, test="t").equivalence(0.001)
    assert margin.p_value == pytest.approx(pair["p_no_worse"][0])
    few = dh.gate(dh.evaluate(QRELS, TWO, "nDCG", weights=dict.fromkeys(QRELS, 0.01) | {"q01": 9}), "low(nDCG) >= 0.1")
    assert "worth only 1.0" in few.checks[0].reason
