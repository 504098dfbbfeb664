"""Sampled negatives: beside all samples and all orders of the ties on small cases, and many draws on a large one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import deadheat as dh
from deadheat import Placements
from deadheat.api import FloatArray, WeightedMeasure
from deadheat.core.measures.parameters import parameters
from deadheat.errors import DataError, MeasureError, ParameterError
from oracle.orders import all_orders
from support.error_parts import raises_parts

Value = Callable[[list[int], dict[int, int], int], float]


def dcg(gains: Sequence[float]) -> float:
    return sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def first(ranking: list[int], relevant: dict[int, int]) -> int | None:
    return next((rank for rank, doc in enumerate(ranking, 1) if doc in relevant), None)


def in_top(ranking: list[int], relevant: dict[int, int], k: int) -> int:
    return sum(doc in relevant for doc in ranking[:k])


DEFINITIONS: dict[str, Callable[[list[int], dict[int, int]], float]] = {
    "nDCG@2": lambda own, rel: dcg([rel.get(doc, 0) for doc in own[:2]]) / dcg(sorted(rel.values(), reverse=True)[:2]),
    "DCG": lambda own, rel: dcg([rel.get(doc, 0) for doc in own]),
    "RBP(p=0.5)": lambda own, rel: sum(0.5**rank for rank, doc in enumerate(own, 1) if doc in rel),
    "P@2": lambda own, rel: in_top(own, rel, 2) / 2,
    "R@2": lambda own, rel: in_top(own, rel, 2) / len(rel),
    "F@2": lambda own, rel: 2 * in_top(own, rel, 2) / (2 + len(rel)),
    "RR": lambda own, rel: 1 / rank if (rank := first(own, rel)) else 0.0,
    "RR@2": lambda own, rel: 1 / rank if (rank := first(own, rel)) and rank <= 2 else 0.0,
    "Hit@1": lambda own, rel: float(first(own, rel) == 1),
}


def enumerated(scores: dict[int, float], relevant: dict[int, int], n: int, name: str) -> list[float]:
    """Return, of each order of the ties of all documents, the mean over all samples of the others."""
    others = [doc for doc in scores if doc not in relevant]
    samples = list(itertools.combinations(others, min(n, len(others))))
    found = []
    for order in all_orders({str(doc): score for doc, score in scores.items()}):
        lists = [[int(doc) for doc in order if int(doc) in relevant or int(doc) in own] for own in samples]
        found.append(float(np.mean([DEFINITIONS[name](one, relevant) for one in lists])))
    return found


def random_case(seed: int) -> tuple[np.ndarray, dict[int, int], list[int]]:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, 7).astype(float)
    docs = rng.permutation(7).tolist()
    n = int(rng.integers(1, 4))
    return scores, {doc: int(rng.integers(1, 3)) for doc in docs[:n]}, docs[n : n + int(rng.integers(0, 2))]


def evaluated(
    case: tuple[np.ndarray, dict[int, int], list[int]], names: list[str], n: int, **options: str
) -> dh.Evaluation:
    scores, relevant, excluded = case
    matrix = np.zeros((1, 7))
    matrix[0, list(relevant)] = list(relevant.values())
    return dh.evaluate_dense(scores[None], matrix, names, exclude=[excluded], sampled=n, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(8))
def test_all_samples_and_orders_together(seed: int) -> None:
    scores, relevant, excluded = case = random_case(seed)
    kept = {doc: float(score) for doc, score in enumerate(scores) if doc not in excluded}
    for n in (2, 7):
        ev = evaluated(case, list(DEFINITIONS), n)
        for name in DEFINITIONS:
            wanted, found = enumerated(kept, relevant, n, name), ev[name]
            assert found.values[0] == pytest.approx(np.mean(wanted), abs=1e-12)
            assert found.tie_std[0] == pytest.approx(np.std(wanted), abs=1e-7)
            assert (found.tie_min[0], found.tie_max[0]) == pytest.approx((min(wanted), max(wanted)), abs=1e-12)
        for ties, end in (("best", max), ("worst", min)):
            found = evaluated(case, ["nDCG@2"], n, ties=ties)["nDCG@2"]
            assert found.values[0] == pytest.approx(end(enumerated(kept, relevant, n, "nDCG@2")), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_all_samples_and_orders_of_each(seed: int) -> None:
    """Lists of one relevant document, whose ties are broken independently."""
    scores, relevant, excluded = case = random_case(seed)
    ev = evaluated(case, list(DEFINITIONS), 2, positives="each")
    for name in DEFINITIONS:
        lists = []
        for doc, level in relevant.items():
            own = {d: float(s) for d, s in enumerate(scores) if d == doc or d not in {*relevant, *excluded}}
            lists.append(enumerated(own, {doc: level}, 2, name))
        found = ev[name]
        assert found.values[0] == pytest.approx(np.mean([np.mean(one) for one in lists]), abs=1e-12)
        assert found.tie_std[0] == pytest.approx(np.sqrt(sum(map(np.var, lists))) / len(lists), abs=1e-7)
        assert found.tie_min[0] == pytest.approx(np.mean([min(one) for one in lists]), abs=1e-12)
        assert found.tie_max[0] == pytest.approx(np.mean([max(one) for one in lists]), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("positives", ["together", "each"])
def test_many_draws_of_a_large_case(positives: str) -> None:
    """10,000 samples of 99 among 3,000 documents, as ranks of the relevant ones."""
    rng = np.random.default_rng(3)
    scores = np.round(rng.normal(size=(1, 3000)), 2)
    relevant = [5, 17, 400]
    scores[0, relevant] = [2.0, 1.5, 0.5]
    ev = dh.evaluate_dense(scores, [relevant], ["nDCG@10", "RR", "Hit@5"], sampled=99, positives=positives)
    others = np.delete(scores[0], relevant)
    values = []
    for _ in range(10_000):
        drawn = others[rng.integers(0, len(others), 160)]  # nearly all different
        drawn = drawn[:99] + rng.random(99) * 1e-6
        own = scores[0, relevant] + rng.random(3) * 1e-6
        above = (drawn > own[:, None]).sum(axis=1)
        if positives == "together":
            rank = above + (own > own[:, None]).sum(axis=1) + 1
            gain, ideal = (1 / np.log2(rank + 1) * (rank <= 10)).sum(), (1 / np.log2(np.arange(2, 5))).sum()
            values.append((gain / ideal, 1 / rank.min(), rank.min() <= 5))
        else:
            rank = above + 1
            values.append((np.mean((rank <= 10) / np.log2(rank + 1)), np.mean(1 / rank), np.mean(rank <= 5)))
    drawn_values = np.array(values, float)
    for found, mean, error in zip(ev, drawn_values.mean(axis=0), drawn_values.std(axis=0) / 100, strict=True):
        assert found.mean == pytest.approx(mean, abs=4 * error + 2e-3)


HARM: dict[str, Callable[[list[int], dict[int, int]], float]] = {
    "DCG(negative='gain')": lambda own, rel: dcg([rel.get(doc, 0) for doc in own]),
    "DCG(negative='gain')@2": lambda own, rel: dcg([rel.get(doc, 0) for doc in own[:2]]),
    "nDCG(negative='gain')": lambda own, rel: (
        dcg([rel.get(doc, 0) for doc in own]) / dcg(sorted((one for one in rel.values() if one > 0), reverse=True))
    ),
    "RBP(p=0.5)": lambda own, rel: sum(0.5**rank for rank, doc in enumerate(own, 1) if rel.get(doc, 0) > 0),
    "RR": lambda own, rel: max((1 / rank for rank, doc in enumerate(own, 1) if rel.get(doc, 0) > 0), default=0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_documents_of_negative_relevance_are_drawn_as_others(seed: int) -> None:
    """All samples of what is neither relevant nor excluded, and all orders: those of negative gain may be drawn."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, (1, 7)).astype(float) * (seed > 1)
    docs = rng.permutation(7).tolist()
    relevant = {doc: int(rng.integers(1, 3)) for doc in docs[: 1 + seed % 2]}
    harmful = {doc: -int(rng.integers(1, 3)) for doc in docs[2 : 3 + seed % 3]}
    both, excluded, matrix = {**relevant, **harmful}, docs[6:], np.zeros((1, 7))
    matrix[0, list(both)] = list(both.values())
    kept = {str(doc): score for doc, score in enumerate(scores[0].tolist()) if doc not in excluded}
    pool = [int(doc) for doc in kept if int(doc) not in relevant]
    for n in (1, 2, 7):
        ev = dh.evaluate_dense(scores, matrix, list(HARM), exclude=[excluded], sampled=n)
        samples = [{*one, *relevant} for one in itertools.combinations(pool, min(n, len(pool)))]
        for name, define in HARM.items():
            lists = [[[int(doc) for doc in order if int(doc) in own] for own in samples] for order in all_orders(kept)]
            wanted = [float(np.mean([define(one, both) for one in of_order])) for of_order in lists]
            found = ev[name]
            assert found.values[0] == pytest.approx(np.mean(wanted), abs=1e-12)
            assert found.tie_std[0] == pytest.approx(np.std(wanted), abs=1e-7)
            assert (found.tie_min[0], found.tie_max[0]) == pytest.approx((min(wanted), max(wanted)), abs=1e-12)
    each = [
        dh.evaluate_dense(scores, one, ["RR", "DCG"], exclude=[excluded], sampled=2, positives="each").means()
        for one in (matrix, np.maximum(matrix, 0))
    ]
    assert each[0] == each[1]
    with pytest.raises(MeasureError, match="with positives='each' a list has one judged document"):
        dh.evaluate_dense(scores, matrix, "DCG(negative='gain')", sampled=2, positives="each")


def test_many_users_and_what_is_said() -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 9, (40, 60))
    relevant = [rng.choice(60, int(rng.integers(0, 4)), replace=False).tolist() for _ in range(40)]
    whole = dh.evaluate_dense(scores, relevant, ["nDCG@10", "RR"], sampled=60)
    full = dh.evaluate_dense(scores, relevant, ["nDCG@10", "RR"])
    for measure in ("nDCG@10", "RR"):  # fewer than 60 others: all of them
        np.testing.assert_allclose(whole[measure].values, full[measure].values, atol=1e-12)
        np.testing.assert_allclose(whole[measure].tie_std, full[measure].tie_std, atol=1e-7)
    few = dh.evaluate_dense(scores, relevant, ["RR"], sampled=9, no_relevant="skip")
    assert few["RR"].n_queries == sum(map(bool, relevant))
    assert few["RR"].mean > full["RR"].mean
    assert "among 9 others" in str(few)


def test_how_many_queries_have_fewer_others_is_said() -> None:
    scores = np.arange(10.0).reshape(2, 5)
    for positives in ("together", "each"):
        for n, told in ((3, ""), (4, "; 1 of 2 queries have fewer, which all count")):
            ev = dh.evaluate_dense(scores, [[0], [1]], "RR", exclude=[[4], []], sampled=n, positives=positives)
            assert ev.notes[0].endswith(f"among {n} others; exact means over all samples{told}")
    ev = dh.evaluate_dense([[5, 4, 3, 2, 1.0]], np.array([[1, -1, 0, 0, 0]]), "RR", sampled=4)
    assert ev.notes[0].endswith("exact means over all samples")  # one of negative relevance is drawn as others are


def test_no_more_than_there_are_documents_can_be_sampled() -> None:
    scores = np.arange(20.0)[None]
    assert "among 20 others" in dh.evaluate_dense(scores, [[3]], "RR", sampled=20).notes[0]
    for given, options in ((21, {}), (300, {"positives": "each"})):
        with pytest.raises(ParameterError, match=f"sampled must be at most 20, the number of documents, got {given}"):
            dh.evaluate_dense(scores, [[3]], "RR", sampled=given, **options)  # type: ignore[arg-type]


def test_the_unjudged_share_of_whole_lists_is_not_said_of_samples(tmp_path: Path) -> None:
    """The top 10 of the whole list has one judged document, that of a sample of ten others always has it."""
    scores, relevant = np.arange(100.0)[None] * np.ones((5, 1)), [[99]] * 5
    full = dh.evaluate_dense(scores, relevant, "RR")
    assert "unjudged  of the top 10 documents: scores 90%" in str(full)
    ev = dh.evaluate_dense(scores, relevant, "RR", sampled=10)
    ev.save(tmp_path / "saved.json")
    for found in (ev, dh.load_evaluation(tmp_path / "saved.json"), ev.select(np.arange(2))):
        assert found.facts.unjudged_share is None
        assert "unjudged" not in repr(found)
        assert "of the top 10 documents" not in str(found)


def test_intervals_of_samples_lie_between_the_limits_of_the_measure(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scores = rng.random((12, 30))
    scores[1:, 0] = 2.0  # first in all lists but one
    ev = dh.evaluate_dense(scores, [[0]] * 12, ["RR", "nDCG@5"], sampled=9)
    ev.save(tmp_path / "saved.json")
    full = dh.evaluate_dense(scores, [[0]] * 12, ["RR"])["RR"].interval()
    for found in (ev, dh.load_evaluation(tmp_path / "saved.json")):
        for name in ("RR", "nDCG@5"):
            interval = found[name].interval()
            assert 0 <= interval.low < interval.mean < interval.high <= 1
            assert interval.method == full.method


def test_systems_are_compared() -> None:
    rng = np.random.default_rng(1)
    relevant = [[int(rng.integers(60))] for _ in range(30)]
    evs = [
        dh.evaluate_dense(rng.integers(0, 9, (30, 60)), relevant, ["nDCG@10"], sampled=9, name=name) for name in "ab"
    ]
    assert evs[0][dh.nDCG @ 10] is evs[0]["nDCG@10"]
    (pair,) = dh.compare_evaluations(evs)["nDCG@10"]
    assert abs(pair.difference) == pytest.approx(abs(evs[0]["nDCG@10"].mean - evs[1]["nDCG@10"].mean))
    full = dh.evaluate_dense(rng.random((30, 60)), relevant, ["nDCG@10"], name="full")
    with pytest.raises(DataError, match=r"a and full .*measures"):
        dh.compare_evaluations([evs[0], full])


def test_saved_as_values(tmp_path: Path) -> None:
    ev = evaluated(random_case(1), ["nDCG@2", "RR"], 2)
    ev.save(tmp_path / "a.json")
    again = dh.load_evaluation(tmp_path / "a.json")
    assert again.means() == ev.means()
    assert again["nDCG@2"].mean == ev["nDCG@2"].mean
    assert [str(one) for one in again.measures] == ["nDCG@2 (2 sampled, together)", "RR (2 sampled, together)"]


@pytest.mark.parametrize(
    "name", ["AP", "ERR", "bpref", "FRP", "Judged@5", "RBPResidual", "nDCG(negative='gain', floor='worst')"]
)
def test_measures_without_a_closed_form_are_refused(name: str) -> None:
    with pytest.raises(MeasureError, match="sampled= is for linear measures"):
        evaluated(random_case(1), [name], 2)


def test_bad_arguments() -> None:
    with raises_parts(ParameterError, argument="sampled", given=0, allowed="a whole number from 1 on"):
        evaluated(random_case(1), ["RR"], 0)
    with raises_parts(ParameterError, argument="positives", given="all", allowed=("together", "each")):
        evaluated(random_case(1), ["RR"], 2, positives="all")
    with raises_parts(ParameterError, argument="positives", given="each"):
        dh.evaluate_dense(np.ones((1, 3)), [[0]], "RR", positives="each")
    with pytest.raises(MeasureError, match="sampled= needs relevance 2 or more of all relevant documents"):
        evaluated((np.arange(7.0), {1: 1, 2: 2}, []), ["RR(rel=2)"], 2)


@parameters
class SecondRank(WeightedMeasure):
    """The relevance at rank 2, whose weights do not fall."""

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        return "second rank", placements.relevance

    def weights(self, n_ranks: int) -> FloatArray:
        return np.eye(1, n_ranks, 1)[0]


def test_weights_that_do_not_fall_are_refused() -> None:
    scores, relevant = np.array([[0.5, 0.4, 0.3]]), [[0]]
    with pytest.raises(MeasureError, match="sampled= is for weights that fall with the rank"):
        dh.evaluate_dense(scores, relevant, SecondRank(), sampled=2)
