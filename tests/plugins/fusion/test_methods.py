"""Every method and normalization: against plain definitions, all orders of ties, and ranx."""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.plugins.fusion.base import METHODS
from deadheat.plugins.fusion.norms import NORMS
from oracle import fusion as by_hand

WEIGHTED = [name for name, cls in METHODS.items() if cls.takes_weights]
WEIGHTS = [0.5, 1.5, 0.25]
SUMS_OVER_RANKS = ["rrf", "isr", "log_isr", "logn_isr", "rbc", "bordafuse", "w_bordafuse"]
Runs = list[dict[str, dict[str, float]]]


def options_of(method: str) -> dict[str, Any]:
    options: dict[str, Any] = dict(by_hand.PARAMETERS.get(method, {}))
    if method in WEIGHTED:
        options["weights"] = WEIGHTS
    return options


def weights_of(method: str) -> Sequence[float]:
    return WEIGHTS if method in WEIGHTED else [1.0, 1.0, 1.0]


def drawn(seed: int, levels: int | None = None, n_documents: int = 12, n_queries: int = 3) -> Runs:
    """Draw three runs, without ties or with scores on a few levels."""
    rng = random.Random(seed)
    docs = [f"d{n}" for n in range(n_documents)]
    runs: Runs = []
    for _ in range(3):
        run = {}
        for query in range(n_queries):
            chosen = rng.sample(docs, rng.randint(max(1, n_documents // 3), n_documents))
            scores = [rng.uniform(0.1, 9) if levels is None else float(rng.randint(1, levels)) for _ in chosen]
            run[f"q{query}"] = dict(zip(chosen, scores, strict=True))
        runs.append(run)
    return runs


def judged(seed: int, n_documents: int = 12, n_queries: int = 3) -> dict[str, dict[str, int]]:
    rng = random.Random(seed)
    return {f"q{n}": {f"d{doc}": rng.choice([0, 0, 1]) for doc in range(n_documents)} for n in range(n_queries)}


def ordered(run: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(run.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("method", ["rrf", "isr", "rbc"])
def test_documents_whose_fused_scores_are_equal_but_for_rounding_tie(method: str) -> None:
    """Each of a to d has the ranks 1 to 4 below the others, or means over ties of them: in theory they tie."""
    levels = [
        {"a": 2, "b": 2, "c": 1, "d": 0},
        {"a": 2, "b": 2, "d": 1, "c": 0},
        {"c": 3, "d": 2, "a": 0, "b": 0},
        {"d": 3, "c": 2, "a": 0, "b": 0},
    ]
    runs: Runs = []
    for level_of in levels:
        run = {}
        for n_above in range(40):
            above = {f"x{place}": 100.0 + place for place in range(n_above)}
            run[f"q{n_above}"] = above | {doc: float(level) for doc, level in level_of.items()}
        runs.append(run)
    for query, scores in dh.fuse(runs, method).to_dict().items():
        assert len({scores[doc] for doc in "abcd"}) == 1
        assert len(set(scores.values())) == len(scores) - 3, query


@pytest.mark.parametrize("method", by_hand.METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_a_method_is_its_definition(method: str, seed: int) -> None:
    runs = drawn(seed)
    found = dh.fuse(runs, method, **options_of(method)).to_dict()
    for query in runs[0]:
        expected = by_hand.METHODS[method]([ordered(run[query]) for run in runs], weights_of(method))
        assert found[query] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", ["condorcet", "w_condorcet"])
@pytest.mark.parametrize("levels", [None, 3])
def test_condorcet_counts_wins(method: str, levels: int | None) -> None:
    for seed in range(5):
        runs = drawn(seed, levels)
        found = dh.fuse(runs, method, **options_of(method)).to_dict()
        for query in runs[0]:
            expected = by_hand.copeland([run[query] for run in runs], weights_of(method))
            assert found[query] == pytest.approx(expected)


@pytest.mark.parametrize("method", by_hand.LEARNED)
@pytest.mark.parametrize("seed", range(4))
def test_a_method_that_learns_is_its_definition(method: str, seed: int) -> None:
    runs, qrels = drawn(seed), judged(seed)
    training = {query: own for query, own in qrels.items() if query != "q0"}
    found = dh.fuse(runs, method, qrels=training, **options_of(method)).to_dict()
    relevant = {query: {doc for doc, level in own.items() if level} for query, own in training.items()}
    trained = [[(ordered(run[query]), relevant[query]) for query in training] for run in runs]
    for query in runs[0]:
        expected = by_hand.fuse_learned(method, [ordered(run[query]) for run in runs], trained)
        assert found[query] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("norm", by_hand.NORMS)
@pytest.mark.parametrize("method", ["sum", "max", "segfuse"])
def test_a_normalization_is_its_definition(norm: str, method: str) -> None:
    for seed in range(4):
        runs, qrels = drawn(seed), judged(seed)
        options: Any = {"qrels": qrels} if method == "segfuse" else {}
        found = dh.fuse(runs, method, norm=norm, **options).to_dict()
        scaled = [{query: _scaled(run[query], norm) for query in run} for run in runs]
        expected = dh.fuse(scaled, method, **options).to_dict()
        assert {query: dict(own) for query, own in found.items()} == {
            query: pytest.approx(own, abs=1e-12) for query, own in expected.items()
        }


def _scaled(run: dict[str, float], norm: str) -> dict[str, float]:
    in_order = ordered(run)
    return dict(zip([doc for doc, _ in in_order], by_hand.NORMS[norm]([s for _, s in in_order]), strict=True))


def test_borda_is_a_normalization_of_all_candidates() -> None:
    runs = drawn(1)
    found = dh.fuse(runs, "sum", norm="borda").to_dict()
    points = dh.fuse(runs, "bordafuse").to_dict()
    for query, own in found.items():
        assert {doc: score * len(own) for doc, score in own.items()} == pytest.approx(points[query])
    assert dh.fuse(runs, "anz", norm="borda").to_dict()["q0"] == pytest.approx(
        {doc: score / 3 for doc, score in found["q0"].items()}
    )


def orders_of(run: dict[str, float]) -> Iterator[list[tuple[str, float]]]:
    """Yield all orders of the ties of a run."""
    groups = [list(group) for _, group in itertools.groupby(ordered(run), key=lambda item: item[1])]
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [item for part in parts for item in part]


@pytest.mark.parametrize("method", SUMS_OVER_RANKS)
@pytest.mark.parametrize("seed", range(6))
def test_ties_are_the_mean_over_all_orders(method: str, seed: int) -> None:
    runs = drawn(seed, levels=2, n_documents=5, n_queries=1)[:2]
    options = options_of(method)
    if "weights" in options:
        options["weights"] = WEIGHTS[:2]
    found = dh.fuse(runs, method, **options).to_dict()["q0"]
    results = [
        by_hand.METHODS[method](pair, weights_of(method)[:2])
        for pair in itertools.product(*(list(orders_of(run["q0"])) for run in runs))
    ]
    expected = {doc: np.mean([result[doc] for result in results]) for doc in found}
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_six_tied_documents_have_720_orders() -> None:
    run = {"q0": dict.fromkeys("abcdef", 1.0)}
    other = {"q0": {"a": 2.0, "b": 1.0, "g": 1.0}}
    for method in SUMS_OVER_RANKS:
        options: Any = dict(by_hand.PARAMETERS.get(method, {}))
        found = dh.fuse([run, other], method, **options).to_dict()["q0"]
        total = dict.fromkeys(found, 0.0)
        pairs = list(itertools.product(orders_of(run["q0"]), orders_of(other["q0"])))
        for pair in pairs:
            for doc, score in by_hand.METHODS[method](pair, [1.0, 1.0]).items():
                total[doc] += score / len(pairs)
        assert found == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("method", by_hand.LEARNED)
def test_what_is_learned_counts_ties_by_all_orders(method: str) -> None:
    """Of what is linear in the places of relevant documents; bayesfuse takes logarithms of the means."""
    training = {"q0": {"a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0, "e": 1.0}}
    qrels = {"q0": {"a": 1, "c": 1, "x": 1}}
    fused = {"r0": {"d1": 5.0, "d2": 4.0, "d3": 3.0, "d4": 2.0, "d5": 1.0}}
    run, other = {**training, **fused}, {"r0": {"z": 1.0}, "q0": {"z": 1.0}}
    options: Any = by_hand.PARAMETERS.get(method, {})
    found = dh.fuse([run, other], method, qrels=qrels, **options).to_dict()["r0"]
    results = []
    for order in orders_of(training["q0"]):
        trained = [[(order, {"a", "c", "x"})], [([("z", 1.0)], {"a", "c", "x"})]]
        lists = [list(fused["r0"].items()), [("z", 1.0)]]
        results.append(by_hand.fuse_learned(method, lists, trained))
    if method != "bayesfuse":
        expected = {doc: np.mean([result[doc] for result in results]) for doc in found}
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("method", ["posfuse", "probfuse", "slidefuse", "segfuse", "mapfuse", "bayesfuse"])
def test_ties_are_scored_by_the_mean_of_their_ranks(method: str) -> None:
    qrels = {"q0": {f"d{n}": n % 2 for n in range(8)}}
    strict = {"q0": {f"d{n}": 9.0 - n for n in range(8)}}
    tied = {"r0": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 2.0, "e": 1.0}}
    options: Any = {"qrels": qrels, **by_hand.PARAMETERS.get(method, {})}
    found = dh.fuse([{**strict, **tied}, {"r0": {"a": 1.0}}], method, **options).to_dict()["r0"]
    broken = {"r0": {"a": 3.0, "b": 2.2, "c": 2.1, "d": 2.0, "e": 1.0}}
    if method != "segfuse":
        each = dh.fuse([{**strict, **broken}, {"r0": {"a": 1.0}}], method, **options).to_dict()["r0"]
        assert found["b"] == found["c"] == found["d"]
        assert found["b"] == pytest.approx((each["b"] + each["c"] + each["d"]) / 3, abs=1e-12)
        assert found["a"] == pytest.approx(each["a"], abs=1e-12)
        assert found["e"] == pytest.approx(each["e"], abs=1e-12)


RANX: dict[str, dict[str, float]] = {  # what ranx calls the parameters
    "gmnz": {"gamma": 0.5},
    "rrf": {"k": 20},
    "logn_isr": {"sigma": 0.25},
    "rbc": {"phi": 0.7},
    "slidefuse": {"w": 2},
}
WITH_RANX = [name for name in METHODS if "condorcet" not in name and not name.endswith("_mean")]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of numba, while it compiles ranx
@pytest.mark.parametrize("method", WITH_RANX)
@pytest.mark.parametrize("norm", [None, "min-max", "max", "sum", "zmuv", "rank", "borda"])
def test_it_is_ranx_without_ties(method: str, norm: str | None) -> None:
    theirs = pytest.importorskip("ranx")
    cls = METHODS[method]
    if norm and (not cls.uses_scores or (norm == "borda" and cls.uses_ranks)):
        return  # refused: ranx's ranks after borda are in the order of a set
    runs, qrels = drawn(3, n_documents=30), judged(3, n_documents=30)
    qrels = {query: {doc: 1 for doc, level in own.items() if level} for query, own in qrels.items()}
    given = [theirs.Run(run) for run in runs]
    parameters: dict[str, Any] = dict(RANX.get(method, {}))
    if method in WEIGHTED and method != "rrf":
        parameters["weights"] = WEIGHTS
    options: dict[str, Any] = {key: value for key, value in options_of(method).items() if method != "rrf" or key == "k"}
    if method in by_hand.LEARNED:
        options["qrels"] = qrels
        arguments = {"n_segments": 3} if method == "probfuse" else {}
        scaled = given if norm is None else [theirs.normalize(run, norm) for run in given]
        module = __import__(f"ranx.fusion.{method}", fromlist=[method])
        train = getattr(module, f"{method}_train")
        trained = train(theirs.Qrels(qrels), scaled, *arguments.values())
        keys = {"mapfuse": "map_scores", "bayesfuse": "log_odds"}
        parameters[keys.get(method, "probs")] = trained
    expected: Any = theirs.fuse(given, norm=norm, method=method, params=parameters).to_dict()
    found = dh.fuse(runs, method, norm=norm, **options).to_dict()
    assert {*NORMS} >= {norm or "max"}
    for query, own in expected.items():
        assert found[query] == pytest.approx(dict(own), rel=1e-9, abs=1e-9)
