"""pytrec_eval's interface: the values of pytrec_eval itself, query by query, on real runs and random cases."""

import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.compat import pytrec_eval as ours
from deadheat.errors import DeadheatError
from support.shared_data import SOME_RUNS, needs_shared_data, qrels_dict, run_dict, sources_of

theirs = pytest.importorskip("pytrec_eval")

LETTERS = "abcdefgh"
Nested = Mapping[str, Mapping[str, float]]
RelevanceEvaluator: Any = ours.RelevanceEvaluator  # takes what it refuses, too


def assert_same(qrels: Nested, run: Nested, measures: set[str], level: int = 1, *, judged: bool = False) -> None:
    expected = theirs.RelevanceEvaluator(qrels, measures, level, judged).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, measures, level, judged).evaluate(run)
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert list(found[query]) == list(values)
        numbers = np.array(list(found[query].values()))
        expected_numbers = np.nan_to_num(list(values.values()))  # 0 / 0 of an empty list
        largest_error = 1e-13 * np.maximum(1, np.abs(expected_numbers))
        assert (np.abs(numbers - expected_numbers) <= largest_error).all(), query


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("name", SOME_RUNS)
def test_real_runs(name: str, level: int) -> None:
    qrels, run = qrels_dict(sources_of(name)[0]), run_dict(sources_of(name)[1])
    assert_same(qrels, run, ours.supported_measures, level)


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", SOME_RUNS)
def test_real_runs_without_their_unjudged_documents(name: str) -> None:
    qrels, run = qrels_dict(sources_of(name)[0]), run_dict(sources_of(name)[1])
    assert_same(qrels, run, ours.supported_measures, judged=True)


def drawn(rng: random.Random) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return qrels and a run: ties, negative relevance, ids of all lengths, scores that 32 bits merge, odd queries."""
    pool = [
        rng.choice(["d{}", "d{:03}", "clueweb09-en0000-00-{:05}", "ä{}", "d{}" * 3]).format(n, n, n) for n in range(30)
    ]
    pool = list(dict.fromkeys(pool))
    scores = rng.choice(
        [[0.0, -0.0, 1.0], [1.0, 1.0 + 2**-30, 2.0], [float("inf"), 1e300, -1e300, 5.0], [1, 2, 3, 0.5]]
    )

    def run_of(size: int) -> dict[str, float]:
        return {doc: rng.choice(scores) for doc in rng.sample(pool, min(size, len(pool)))}

    qrels = {
        f"q{n}": {doc: rng.choice([-1, 0, 0, 1, 1, 2, 3, 11]) for doc in rng.sample(pool, rng.randint(1, 12))}
        for n in range(rng.randint(1, 6))
    }
    for own in qrels.values():  # a query with negative relevance alone makes pytrec_eval hang
        own[next(iter(own))] = rng.choice([0, 1, 2])
    run = {f"q{n}": run_of(rng.randint(1, 25)) for n in rng.sample(range(9), rng.randint(1, 8))}
    return qrels, run


@pytest.mark.parametrize("seed", range(150))
def test_random_cases(seed: int) -> None:
    rng = random.Random(seed)
    qrels, run = drawn(rng)
    assert_same(qrels, run, ours.supported_measures, rng.randint(1, 3), judged=rng.random() < 0.3)


QRELS: Any = {"q1": {"a": 2, "b": 0}, "q2": {"x": 1}, "q3": {}}
RUN: Any = {"q2": {"x": 1.0, "y": 2.0}, "q9": {"a": 1}, "q1": {}}


@pytest.mark.parametrize(
    "measures", [{"official"}, {"set"}, {"P.7,3", "P_20"}, {"ndcg_cut_5", "map"}, {"set_F.2"}, ["Rprec_mult.0.5"]]
)
def test_nicknames_and_parameters(measures: set[str]) -> None:
    expected = theirs.RelevanceEvaluator(QRELS, measures).evaluate(RUN)
    found = ours.RelevanceEvaluator(QRELS, measures).evaluate(RUN)
    assert list(found) == list(expected)
    for query, values in found.items():
        assert all(
            expected[query][name] == value or math.isnan(expected[query][name]) for name, value in values.items()
        )


def test_what_all_runs_share_is_kept_between_them() -> None:
    """Other queries, other sizes, and the first ones again."""
    evaluator, peer = (module.RelevanceEvaluator(QRELS, {"map", "num_ret"}) for module in (ours, theirs))
    runs = [RUN, {"q1": {"a": 1.0}}, {}, {"q7": {"a": 1.0}}, {"q1": {"b": 2.0, "a": 1.0, "z": 2.0}, "q2": {}}, RUN]
    assert [evaluator.evaluate(run) for run in runs] == [peer.evaluate(run) for run in runs]


def test_exact_means_over_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {"q": {"map": 0.5}}
    assert ours.RelevanceEvaluator(qrels, {"map"}, ties="expected").evaluate(run) == {"q": {"map": 0.75}}
    monkeypatch.setenv("DEADHEAT_TIES", "best")
    assert ours.RelevanceEvaluator(qrels, {"map"}).evaluate(run) == {"q": {"map": 1.0}}
    assert ours.RelevanceEvaluator(qrels, {"map"}, ties="worst").evaluate(run) == {"q": {"map": 0.5}}


@needs_shared_data
def test_exact_means_are_those_of_evaluate() -> None:
    qrels, run = qrels_dict(sources_of("Olz-gpt4o")[0]), run_dict(sources_of("Olz-gpt4o")[1])
    found = ours.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10"}, ties="expected").evaluate(run)
    expected = dh.evaluate(qrels, run, ["AP", "nDCG@10"]).to_dict()
    assert {query: list(values.values()) for query, values in found.items()} == {
        query: [values["nDCG@10"], values["AP"]][::-1] for query, values in expected.items() if query in run
    }


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: RelevanceEvaluator(QRELS, {"mapp"}), ValueError, "no measure 'mapp'. Did you mean 'map'"),
        (lambda: RelevanceEvaluator(QRELS, {"P.x"}), ValueError, "whole numbers"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}, 0), ValueError, "relevance_level must be"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}, ties="exact"), ValueError, "ties must be one of"),
        (lambda: RelevanceEvaluator({"q": {1: 1}}, {"map"}), TypeError, "ids are text"),
        (lambda: RelevanceEvaluator({"q": {"a": "x"}}, {"map"}), ValueError, "not a number: 'x'"),
        (lambda: RelevanceEvaluator({"q": ["a"]}, {"map"}), TypeError, "a dict of dicts"),
        (lambda: RelevanceEvaluator([("q", "a", 1)], {"map"}), TypeError, "a dict of dicts"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}).evaluate([("q1", "a", 1)]), TypeError, "a dict of dicts"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}).evaluate({1: {"a": 1.0}}), TypeError, "ids are text"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": [("a", 1)]}), TypeError, "a dict of dicts"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"a": "1"}}), ValueError, "not a number: '1'"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"k": "x"}}), ValueError, "not a number: 'x'"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {"a": float("nan")}}), ValueError, "is NaN"),
        (lambda: RelevanceEvaluator(QRELS, {"map"}).evaluate({"q1": {7: 1.0}}), TypeError, "ids are text"),
        (lambda: ours.parse_run(["q Q0 a 1 0.5"]), ValueError, "run:1: expected 6 fields"),
        (lambda: ours.parse_qrel(["q 0 a 1", "q 0 a 2"]), ValueError, "'a' appears twice for query 'q'"),
    ],
)
def test_bad_input_is_named(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, DeadheatError)


def test_parsing_and_aggregating_is_that_of_pytrec_eval() -> None:
    qrels, run = ["q1 0 a 1\n", "q1 0 b -2\n", "q2 0 a 3"], ["q1 Q0 a 1 0.5 t\n", "q2\tQ0\tb 1 1e3 t"]
    assert ours.parse_qrel(qrels) == theirs.parse_qrel(qrels)
    assert ours.parse_run(run) == theirs.parse_run(run)
    assert ours.compute_aggregated_measure("num_ret", []) == theirs.compute_aggregated_measure("num_ret", [])
    assert all(math.isnan(ours.compute_aggregated_measure(name, [])) for name in ("map", "gm_map"))
    for name in ("map", "num_ret", "gm_map"):
        values = [0.5, -1.25, 3.0]
        assert ours.compute_aggregated_measure(name, values) == theirs.compute_aggregated_measure(name, values)
    assert ours.supported_measures <= theirs.supported_measures
    for nickname, names in ours.supported_nicknames.items():
        assert names == theirs.supported_nicknames[nickname] & ours.supported_measures
