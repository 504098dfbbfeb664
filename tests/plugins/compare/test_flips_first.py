"""Distributions in closed form, of the first relevant rank and of counts, against every order of the ties."""

import math
import random

import numpy as np
import pytest

import deadheat as dh
from oracle.orders import count_orders, weighted_rankings
from oracle.variants import Variant

DOCS = "abcdefgh"
MEASURES = [
    (Variant(name, {"rel": rel} if rel > 1 else {}, ()), cutoff)
    for name in ("RR", "Hit", "FRP", "MTRR", "TMHits")
    for rel in (1, 2)
    for cutoff in (None, 1, 3)
] + [
    (Variant("P", {}, ()), 3),
    (Variant("P", {"norm": "retrieved"}, ()), 3),
    (Variant("R", {"rel": 2}, ()), 2),
    (Variant("R", {"norm": "retrieved_all"}, ()), 2),
    (Variant("F", {"beta": 2}, ()), 3),
    (Variant("Rprec", {}, ()), None),
    (Variant("RelP", {}, ()), 3),
    (Variant("NumRelRet", {}, ()), 2),
    (Variant("Judged", {}, ()), 3),
    (Variant("Hole", {}, ()), 3),
]


def draw(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Draw judgments and a run of up to six documents on few scores; some queries are missing."""
    rng = random.Random(seed)
    queries = [f"q{number}" for number in range(rng.randint(2, 5))]
    levels = rng.choice([(0, 1), (-1, 0, 0, 1, 2)])
    qrels = {query: {doc: rng.choice(levels) for doc in rng.sample(DOCS, k=rng.randint(2, 6))} for query in queries}
    run = {
        query: {doc: float(rng.randrange(rng.choice([1, 2, 2]))) for doc in rng.sample(DOCS, k=rng.randint(2, 6))}
        for query in queries
        if query == "q0" or rng.random() < 0.9
    }
    return qrels, run


def add_up(values: list[float], probabilities: list[float]) -> dict[float, float]:
    """Add the probabilities of equal values."""
    found: dict[float, float] = {}
    for value, probability in zip(values, probabilities, strict=True):
        found[round(value, 12)] = found.get(round(value, 12), 0.0) + probability
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "cutoff"), MEASURES, ids=[variant.notation(k) for variant, k in MEASURES])
def test_distribution_of_each_query(variant: Variant, cutoff: int | None) -> None:
    """Of all queries that have a value, in any order, whether their ties move it or not."""
    measure, n_values, n_missing = dh.parse_measure(variant.notation(cutoff)), set(), 0
    for seed in range(40):
        qrels, run = draw(seed)
        placements = dh.place(dict(qrels), dict(run))
        codes = np.flatnonzero(~np.isnan(measure.mean(placements)))[::-1]
        found = measure.distributions(placements, codes)
        assert found is not None
        for code, (values, probabilities) in zip(codes.tolist(), found, strict=True):
            judged, scores = (of.get(sorted(qrels)[code], {}) for of in (qrels, run))
            value = variant.reference(cutoff, judged, 1.0)
            rankings = weighted_rankings(scores, judged)
            shares = [n_orders / count_orders(scores) for _, n_orders in rankings]
            expected = add_up([value(ranking) for ranking, _ in rankings], shares)
            assert add_up(values.tolist(), probabilities.tolist()) == pytest.approx(expected, abs=1e-12)
            n_values.add(len(expected))
            n_missing += not scores
    assert 1 in n_values or cutoff is not None
    assert max(n_values) >= (1 if cutoff is None and "Hit" in str(measure) else 2)  # a hit is certain, or impossible
    assert n_missing > 0 or (cutoff is None and variant.name == "FRP")


@pytest.mark.parametrize("notation", ["MTRR(definition='mid_rank')", "TMHits(definition='mid_rank')@2"])
def test_formulas_on_the_tie_itself_have_one_value(notation: str) -> None:
    measure, placements = dh.parse_measure(notation), dh.place(*draw(1))
    found = measure.distributions(placements, np.arange(placements.n_queries))
    assert found is not None
    assert [(value.item(), share.item()) for value, share in found] == [(mean, 1) for mean in measure.mean(placements)]


def test_other_measures_have_no_closed_form() -> None:
    assert dh.nDCG().distributions(dh.place(*draw(1)), np.arange(1)) is None


def test_first_relevant_rank_in_a_large_tie() -> None:
    """Of two relevant ones among 100,000 any rank may be the first; of 50,000 relevant ones, only few."""
    n = 100_000
    qrels = {"many": {str(doc): 1 for doc in range(50_000)}, "two": {"0": 1, "1": 1}}
    placements = dh.place(qrels, dict.fromkeys(qrels, dict.fromkeys(map(str, range(n)), 1.0)))
    found = dh.FRP().distributions(placements, np.array([0, 1]))
    assert found is not None
    (many, p), (two, r) = found
    np.testing.assert_array_equal(two, np.arange(1, n))
    np.testing.assert_allclose(r, 2 * np.arange(n - 1, 0, -1) / (n * (n - 1)), rtol=1e-9)
    np.testing.assert_array_equal(many, np.arange(1, len(many) + 1))
    np.testing.assert_allclose(p[:5], [0.5 * math.prod((50_000 - i) / (n - 1 - i) for i in range(x)) for x in range(5)])
    assert 50 < len(many) < 70
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert r.sum() == pytest.approx(1, abs=1e-12)
