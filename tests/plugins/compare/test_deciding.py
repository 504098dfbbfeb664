"""The queries that decide a pair, against sorting the values of each query; their tie range against all orders."""

from __future__ import annotations

from itertools import pairwise, permutations

import pytest

import deadheat as dh
from support.random_runs import random_runs

QRELS, RUNS = random_runs(30, levels=3)
MEASURES = ["nDCG@5", "RR", "MR"]


def compared(**options: object) -> dh.Comparison:
    return dh.compare(QRELS, RUNS, MEASURES, n_resamples=99, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("ties", ["expected", "doc_id"])
def test_the_most_extreme_queries_come_first(ties: str) -> None:
    comparison = compared(ties=ties)
    frame = comparison.queries(4)
    for pair in comparison.pairs:
        one, other = (comparison.evaluations[name][pair.measure] for name in (pair.system, pair.baseline))
        differences = dict(zip(comparison.query_ids.tolist(), (one.values - other.values).tolist(), strict=True))
        sign = -1 if pair.measure == "MR" else 1
        for kind, sense in (("best", sign), ("worst", -sign)):
            expected = sorted(
                (q for q, d in differences.items() if sense * d > 1e-12), key=lambda q: -sense * differences[q]
            )
            own = frame.filter(measure=pair.measure, system=pair.system, baseline=pair.baseline, kind=kind)
            assert own["difference"].to_list() == [differences[query] for query in expected[:4]]
            assert set(own["query_id"]) <= set(expected)
        assert (own["difference"] == own["value"] - own["baseline_value"]).all()


def orders(scores: dict[str, float]) -> list[list[str]]:
    """Return every order of the documents that goes by descending scores."""
    return [
        list(order)
        for order in permutations(scores)
        if all(scores[one] >= scores[other] for one, other in pairwise(order))
    ]


def test_the_range_of_ties_is_that_of_all_orders() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}, "q3": {"a": 1}}
    runs: dict[str, dict[str, dict[str, float]]] = {
        "old": {"q1": {"a": 1, "x": 1, "y": 1}, "q2": {"a": 1, "b": 2, "x": 1}, "q3": {"x": 2, "a": 1}},
        "new": {"q1": {"a": 2, "x": 1, "y": 1}, "q2": {"a": 1, "b": 1, "x": 1}, "q3": {"x": 1, "a": 2}},
    }

    def values(name: str, query: str) -> list[float]:
        ranked = orders(runs[name][query])
        return [1 / (1 + min(order.index(doc) for doc in qrels[query])) for order in ranked]

    frame = dh.compare(qrels, runs, "RR", n_resamples=99).queries()
    found = {(row["kind"], row["query_id"]): row for row in frame.iter_rows(named=True)}
    assert [key for key in found if key[0] == "ties"] == [("ties", "q1"), ("ties", "q2")]
    for (_, query), row in found.items():
        new, old = values("new", query), values("old", query)
        assert row["tie_min"] == pytest.approx(min(new) - max(old))
        assert row["tie_max"] == pytest.approx(max(new) - min(old))
        assert row["difference"] == pytest.approx(sum(new) / len(new) - sum(old) / len(old))
    assert [key[1] for key in found if key[0] == "best"] == ["q3", "q1"]
    assert [key[1] for key in found if key[0] == "worst"] == ["q2"]


def test_equal_systems_have_none() -> None:
    same = dh.compare(QRELS, {"one": RUNS["good"], "two": RUNS["good"]}, "nDCG@5", n_resamples=99)
    assert set(same.queries()["kind"]) <= {"ties"}
    one = {"q": {"a": 1.0}}
    empty = dh.compare({"q": {"a": 1}}, {"one": one, "two": one}, "RR", n_resamples=99).queries()
    assert empty.is_empty()
    assert empty.columns[:5] == ["measure", "system", "baseline", "kind", "query_id"]


def test_a_query_that_a_system_lacks_is_not_listed() -> None:
    part = {query: docs for query, docs in RUNS["good"].items() if query != "q00"}
    comparison = dh.compare(QRELS, {"fair": RUNS["fair"], "good": part}, MEASURES, missing="skip", n_resamples=99)
    assert "q00" not in comparison.queries(40)["query_id"]


@pytest.mark.parametrize("n", [0, -1, 2.5])
def test_their_number_is_a_whole_one(n: float) -> None:
    with pytest.raises(ValueError, match="n"):
        compared().queries(n)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:.*depend on few queries")
def test_with_weights_the_queries_that_move_the_mean_most_come_first() -> None:
    weights = {query: float(1 + n % 4 * 5) for n, query in enumerate(QRELS)}
    comparison = compared(weights=weights)
    frame = comparison.queries(3)
    for pair in comparison.pairs:
        one, other = (comparison.evaluations[name][pair.measure] for name in (pair.system, pair.baseline))
        query_ids = comparison.query_ids.tolist()
        sign = -1 if pair.measure == "MR" else 1
        pulls = [
            sign * weights[query] * gap
            for query, gap in zip(query_ids, (one.values - other.values).tolist(), strict=True)
        ]
        for kind, sense in (("best", 1), ("worst", -1)):
            own = frame.filter(measure=pair.measure, system=pair.system, baseline=pair.baseline, kind=kind)
            expected = sorted((sense * pull for pull in pulls if sense * pull > 1e-9), reverse=True)[:3]
            assert (sense * sign * own["weight"] * own["difference"]).to_list() == pytest.approx(expected)
            assert own["weight"].to_list() == [weights[query] for query in own["query_id"]]
    plain = compared()
    assert plain.queries(3)["weight"].null_count() == plain.queries(3).height
