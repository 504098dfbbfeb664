"""ranx's interface: its own numbers, with its order of ties; or exact means."""

import random
from typing import Any

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


@pytest.mark.filterwarnings("ignore:unsafe cast")  # as above
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("as_run", "depth"), [(True, 12), (True, 60), (False, 12), (False, 60)])
def test_ties_have_the_order_of_ranx(seed: int, depth: int, *, as_run: bool) -> None:
    theirs = pytest.importorskip("ranx")
    rng = random.Random(seed)
    docs = [f"d{n}" for n in range(60)]
    qrels = {f"q{n}": {doc: rng.choice([0, 1, 1, 2, 3]) for doc in rng.sample(docs, 20)} for n in range(4)}
    scores = {f"q{n}": {doc: float(rng.choice([1, 2, 3])) for doc in rng.sample(docs, depth)} for n in range(4)}
    judged, run = (theirs.Qrels(qrels), theirs.Run(scores)) if as_run else (qrels, scores)
    expected = theirs.evaluate(judged, run, METRICS, return_mean=False)
    found = ours.evaluate(judged, run, METRICS, return_mean=False)
    for name in METRICS:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-12, err_msg=name)


class Kept:
    """What a `ranx.Run` has."""

    def __init__(self, rows: dict[str, dict[str, float]]) -> None:
        self._rows = rows
        self.mean_scores: dict[str, float] = {}
        self.std_scores: dict[str, float] = {}
        self.scores: dict[str, dict[str, float]] = {}

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return a dict of dicts."""
        return self._rows


def test_a_run_keeps_means_and_standard_deviations() -> None:
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    rows = {"q": {"a": 2.0, "b": 1.0}, "r": {"b": 2.0, "a": 1.0}}
    run, other = Kept(rows), Kept(rows)
    expected = {"mrr": {"mean": 0.75, "std": 0.25}, "hits": {"mean": 1.0, "std": 0.0}}
    assert ours.evaluate(qrels, run, ["mrr", "hits"], return_std=True) == expected
    assert (run.mean_scores, run.std_scores) == ({"mrr": 0.75, "hits": 1.0}, {"mrr": 0.25, "hits": 0.0})
    assert run.scores["mrr"] == {"q": 1.0, "r": 0.5}
    assert ours.evaluate(qrels, other, "mrr") == 0.75
    assert other.std_scores == {}


def test_arrays_hold_rankings() -> None:
    """Of documents, numbers, and in a run their order counts, whatever the scores are."""
    qrels = [np.array([[4, 1], [7, 2]]), np.array([[1, 1]])]
    run = [np.array([[2, 1], [4, 1], [7, 1]]), np.array([[1, 1], [2, 1]])]
    for ties in (None, "expected"):
        assert ours.evaluate(qrels, run, "mrr", ties=ties) == 0.75
    assert ours.evaluate(np.array(qrels[:1]), np.array(run[:1]), "recall@2") == 0.5
    many = [np.array([[n, 1]]) for n in range(11)]
    second = [np.array([[0, 1], [n, 1]]) if n else own for n, own in enumerate(many)]
    values = ours.evaluate(many, second, "mrr", return_mean=False)
    assert values.tolist() == [1.0] + [0.5] * 10


def test_objects_of_ranx_are_taken_and_keep_the_results() -> None:
    theirs = pytest.importorskip("ranx")
    qrels, run = theirs.Qrels({"q": {"a": 1}}), theirs.Run({"q": {"a": 0.5, "b": 0.5}}, name="mine")
    assert ours.evaluate(qrels, run, "mrr", ties="expected") == 0.75
    assert (dict(run.mean_scores), dict(run.scores)) == ({"mrr": 0.75}, {"mrr": {"q": 0.75}})


def test_one_metric_is_a_number_and_several_are_a_dict(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = {"q": {"a": 1}, "r": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}, "r": {"b": 1.0}}
    assert ours.evaluate(qrels, run, "mrr") == 0.25  # ranx turns a short dict round
    assert ours.evaluate(qrels, run, "mrr", ties="input") == 0.5
    monkeypatch.setenv("DEADHEAT_TIES", "expected")
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
    (found,) = ours.compare(qrels, list(runs.values()), ["ndcg@10"], stat_test="fisher", ties="expected").pairs
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
        ("mrr", {"q": ["a"]}, TypeError, "dict of dicts"),
        ("mrr", {"q": {"a": None, "b": None, "c": 1}}, ValueError, "'q'"),
    ],
)
def test_bad_input_is_named(metric: str, run: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        ours.evaluate({"q": {"a": 1}}, run, metric)
    assert isinstance(caught.value, DeadheatError)


def runs_to_fuse(seed: int, levels: int | None) -> list[dict[str, dict[str, float]]]:
    rng = random.Random(seed)
    docs = [f"d{n}" for n in range(40)]
    runs = []
    for _ in range(2):
        run = {}
        for query in ("q1", "q2", "q3"):
            chosen = rng.sample(docs, 25)
            scores = [rng.random() if levels is None else float(rng.randint(1, levels)) for _ in chosen]
            run[query] = dict(zip(chosen, scores, strict=True))
        runs.append(run)
    return runs


FUSED: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("rrf", {"k": 10}), ("wsum", {"weights": [0.3, 0.7]}), ("mnz", {}), ("isr", {}), ("rbc", {"phi": 0.7})),
    *(("sum", {}), ("max", {}), ("gmnz", {"gamma": 0.5}), ("mixed", {"weights": [0.3, 0.7]})),
)


@pytest.mark.filterwarnings("ignore")  # of numba, while it compiles ranx
@pytest.mark.parametrize(("method", "params"), FUSED)
@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("norm", ["min-max", "min-max-inverted", None])
def test_fusion_is_that_of_ranx(method: str, params: dict[str, object], levels: int | None, norm: str | None) -> None:
    """With ties, too: the scores are those of its order."""
    theirs = pytest.importorskip("ranx")
    runs = runs_to_fuse(3, levels)
    if norm == "min-max-inverted" and levels:
        return  # its order of ties is that of two sorts
    expected = theirs.fuse([theirs.Run(run) for run in runs], norm=norm, method=method, params=params).to_dict()
    found = ours.fuse(runs, norm, method, params).to_dict()
    for query, own in expected.items():
        assert found[query] == pytest.approx(dict(own), abs=1e-9)


@pytest.mark.filterwarnings("ignore")  # as above
@pytest.mark.parametrize("method", ["rrf", "wsum", "mnz", "mapfuse", "bayesfuse", "posfuse", "segfuse", "slidefuse"])
def test_what_it_optimizes_is_what_ranx_does(method: str) -> None:
    theirs = pytest.importorskip("ranx")
    rng = random.Random(5)
    runs = runs_to_fuse(5, None)
    qrels = {query: dict.fromkeys(rng.sample([*own], 8), 1) for query, own in runs[0].items()}
    if method == "mnz":
        return
    given = [theirs.Run(run) for run in runs]
    kwargs: Any = {} if method in {"mapfuse", "bayesfuse", "posfuse", "segfuse"} else {"show_progress": False}
    expected = theirs.optimize_fusion(theirs.Qrels(qrels), given, method=method, metric="ndcg@10", **kwargs)
    found = ours.optimize_fusion(qrels, runs, method=method, metric="ndcg@10", **kwargs)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if key in {"k", "w", "weights"}:
            assert found[key] == pytest.approx(value)
        else:
            for one, other in zip(found[key], value, strict=True):
                np.testing.assert_allclose(np.atleast_1d(one)[: np.size(other)], np.ravel(other), atol=1e-9)
    fused = theirs.fuse(given, method=method, params=expected).to_dict()
    own = ours.fuse(runs, method=method, params=found).to_dict()
    for query in fused:
        assert own[query] == pytest.approx(dict(fused[query]), abs=1e-9)


def test_fused_runs_have_a_name_and_go_on() -> None:
    runs = runs_to_fuse(1, None)
    fused = ours.fuse(runs, method="rrf")
    assert fused.name == "rrf(run_1, run_2)"
    qrels = {query: {next(iter(own)): 1} for query, own in runs[0].items()}
    assert 0 <= ours.evaluate(qrels, fused, "mrr") <= 1
    params, values = ours.optimize_fusion(qrels, runs, method="rrf", metric="mrr", return_optimization_report=True)
    assert list(values) == [str(k) for k in range(10, 101, 10)]
    assert values[str(params["k"])] == max(values.values())
    inverted = ours.fuse(runs, "min_max_inverted", "sum").to_dict()
    straight = ours.fuse(runs, "min_max", "sum").to_dict()
    document = next(doc for doc in runs[0]["q1"] if doc not in runs[1]["q1"])
    assert inverted["q1"][document] == pytest.approx(1 - straight["q1"][document])


@pytest.mark.parametrize("method", ["mapfuse", "bayesfuse", "posfuse", "segfuse", "probfuse", "wmnz", "w_bordafuse"])
def test_what_was_optimized_is_fused(method: str) -> None:
    runs = runs_to_fuse(2, 3)
    qrels = {query: {next(iter(own)): 1} for query, own in runs[0].items()}
    options: Any = {"max_n_segments": 3} if method == "probfuse" else {}
    params = ours.optimize_fusion(qrels, runs, method=method, metric="mrr", **options)
    assert {*ours.fuse(runs, method=method, params=params).to_dict()} == {"q1", "q2", "q3"}
