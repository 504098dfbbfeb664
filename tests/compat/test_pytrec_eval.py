"""pytrec_eval's interface: the values of pytrec_eval itself, query by query, on real runs and random cases."""

import random
from collections.abc import Mapping

import pytest

import deadheat as dh
from deadheat.compat import pytrec_eval as ours
from support.shared_data import (
    HPO_RUNS,
    LLM_RUNS,
    hpo_qrels,
    hpo_run,
    llm_qrels,
    llm_run,
    needs_shared_data,
    qrels_dict,
    run_dict,
)

theirs = pytest.importorskip("pytrec_eval")

SOURCES = {name: (hpo_qrels(name), hpo_run(name)) for name in HPO_RUNS}
SOURCES |= {name: (llm_qrels(), llm_run(name)) for name in LLM_RUNS}
LETTERS = "abcdefgh"
Nested = Mapping[str, Mapping[str, float]]


def assert_same(qrels: Nested, run: Nested, measures: set[str], level: int = 1, *, judged: bool = False) -> None:
    expected = theirs.RelevanceEvaluator(qrels, measures, level, judged).evaluate(run)
    found = ours.RelevanceEvaluator(qrels, measures, level, judged).evaluate(run)
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert list(found[query]) == list(values)
        assert found[query] == pytest.approx(values, rel=1e-13, abs=1e-13), query


@needs_shared_data
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("name", SOURCES)
def test_real_runs(name: str, level: int) -> None:
    qrels, run = (read(path) for read, path in zip((qrels_dict, run_dict), SOURCES[name], strict=True))
    assert_same(qrels, run, ours.supported_measures, level)


@needs_shared_data
@pytest.mark.parametrize("name", SOURCES)
def test_real_runs_without_their_unjudged_documents(name: str) -> None:
    qrels, run = (read(path) for read, path in zip((qrels_dict, run_dict), SOURCES[name], strict=True))
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
    assert_same(qrels, run, ours.supported_measures - {"infAP"}, rng.randint(1, 3), judged=rng.random() < 0.3)
