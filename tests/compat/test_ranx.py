"""ranx's interface: its own numbers where no scores tie, exact means where some do."""

import random

import numpy as np
import pytest

import deadheat as dh
from deadheat.compat import ranx as ours
from deadheat.errors import DeadheatError

METRICS = [
    *("hits@5", "hits", "hit_rate@3", "precision@5", "precision", "recall@5", "recall@5-l2", "f1@5", "f1", "mrr"),
    *("r-precision", "mrr@3", "map", "map@5", "map-l2", "dcg@5", "dcg_burges@5", "ndcg", "ndcg@10", "ndcg@5-l2"),
    *("ndcg_burges@5", "rbp.95", "rbp.5", "rbp.8-l2"),
]


@pytest.mark.filterwarnings("ignore:unsafe cast")  # of numba, while it compiles ranx
@pytest.mark.parametrize("seed", range(15))
def test_it_is_ranx_where_no_scores_tie(seed: int) -> None:
    theirs = pytest.importorskip("ranx")
    rng = random.Random(seed)
    docs = [f"d{n}" for n in range(20)]
    qrels = {f"q{n}": {doc: rng.choice([0, 1, 1, 2, 3]) for doc in rng.sample(docs, 8)} for n in range(4)}
    run = {f"q{n}": {doc: float(n) for n, doc in enumerate(rng.sample(docs, 12))} for n in range(4)}
    expected = theirs.evaluate(theirs.Qrels(qrels), theirs.Run(run), METRICS, return_mean=False)
    found = ours.evaluate(qrels, run, METRICS, return_mean=False)
    for name in METRICS:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-12, err_msg=name)


def test_objects_of_ranx_are_taken_and_keep_the_results() -> None:
    theirs = pytest.importorskip("ranx")
    qrels, run = theirs.Qrels({"q": {"a": 1}}), theirs.Run({"q": {"a": 0.5, "b": 0.5}}, name="mine")
    assert ours.evaluate(qrels, run, "mrr") == 0.75
    assert (dict(run.mean_scores), dict(run.scores)) == ({"mrr": 0.75}, {"mrr": {"q": 0.75}})


def test_one_metric_is_a_number_and_several_are_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}, "r": {"b": 1.0}}
    assert ours.evaluate(qrels, run, "mrr") == 0.375
    assert ours.evaluate(qrels, run, ["mrr", "hit_rate@1"]) == {"mrr": 0.375, "hit_rate@1": 0.25}
    assert ours.evaluate(qrels, run, "mrr", return_std=True) == {"mean": 0.375, "std": 0.375}
    assert ours.evaluate(qrels, run, "mrr", return_mean=False).tolist() == [0.75, 0.0]
    assert ours.evaluate(qrels, {"q": run["q"], "z": run["r"]}, "mrr", make_comparable=True) == 0.375
    assert ours.evaluate(qrels, run, "mrr", ties="worst") == 0.25
    monkeypatch.setenv("DEADHEAT_TIES", "best")
    assert ours.evaluate(qrels, run, "mrr") == 0.5


def test_a_comparison_is_that_of_deadheat() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(9)}
    runs = {name: {f"q{n}": {"a": score, "b": 1} for n in range(9)} for name, score in (("run_1", 1), ("run_2", 2))}
    (found,) = ours.compare(qrels, list(runs.values()), ["ndcg@10"], stat_test="fisher").pairs
    (expected,) = dh.compare(qrels, runs, "nDCG@10", rng=42, confidence_level=0.99).pairs
    assert (found.difference, found.p_value) == (expected.difference, expected.p_value)


def test_runs_of_one_name_are_an_error() -> None:
    """The last one counted."""
    runs = [dh.Run({"q": ["a"]}, name="bm25"), dh.Run({"q": ["b"]}, name="bm25")]
    with pytest.raises(DeadheatError, match="two runs are named 'bm25'"):
        ours.compare({"q": {"a": 1}}, runs, "mrr")


@pytest.mark.parametrize(
    ("metric", "run", "error", "message"),
    [
        ("ndgc@10", {"q": {}}, ValueError, "ranx has no metric 'ndgc@10'. Did you mean"),
        ("mrr", {"r": {"a": 1}}, ValueError, "the run lacks 1 query .*make_comparable=True"),
        ("mrr", [("q", "a", 1)], TypeError, "list as run"),
    ],
)
def test_bad_input_is_named(metric: str, run: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        ours.evaluate({"q": {"a": 1}}, run, metric)
    assert isinstance(caught.value, DeadheatError)
