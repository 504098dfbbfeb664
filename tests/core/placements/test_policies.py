"""Each tie policy gives the value of the order that it names, and leaves the spread over all orders alone."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.placements import policies, tied_rows
from deadheat.core.placements.contiguous import ContiguousEngine
from deadheat.core.placements.mapping_engine import MappingEngine
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.policies import arrange_by_weight, break_by_rule
from deadheat.core.placements.relational import RelationalEngine
from oracle.orders import pick_order, rank
from oracle.random_cases import BATCHES, Batch
from oracle.variants import Variant

POLICIES = ("best", "worst", "doc_id", "input")
MEASURES = [
    Variant("AP", {}, (None, 3)),
    Variant("RR", {"rel": 2}, (None, 2)),
    Variant("nDCG", {"gain": "exp"}, (None, 3)),
    Variant("ERR", {}, (None, 3)),
    Variant("RBPResidual", {}, (None, 3)),
    Variant("Judged", {}, (2, 5)),
    Variant("bpref", {}, (None,)),
    Variant("MR", {}, (None, 3)),
    Variant("MR", {"missing": "capped"}, (3,)),
    Variant("FRP", {}, (None, 2)),
    Variant("Q", {}, (None, 3)),
    Variant("GAP", {}, (None, 3)),
    Variant("AR", {"norm": "retrieved"}, (3,)),
]
NOTATIONS = [variant.notation(cutoff) for variant in MEASURES for cutoff in variant.cutoffs]


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("policy", POLICIES)
def test_policy_is_one_order(policy: str, batch: Batch) -> None:
    """The value under a policy is that of its explicit ranking."""
    evaluation = dh.evaluate(batch.qrels, batch.run, NOTATIONS, ties=policy, missing="empty")
    for variant in MEASURES:
        for cutoff in variant.cutoffs:
            expected = [
                variant.reference(cutoff, case.judged, batch.scale)(
                    rank(pick_order(policy, case.scores, case.judged), case.judged)
                )
                for case in batch.cases.values()
            ]
            notation = variant.notation(cutoff)
            np.testing.assert_allclose(evaluation[notation].values, expected, rtol=0, atol=1e-12, err_msg=notation)


@pytest.mark.parametrize("policy", [*POLICIES, "random"])
def test_spread_describes_all_orders_under_every_policy(policy: str) -> None:
    """tie_std, tie_min and tie_max do not depend on the policy."""
    batch = BATCHES["graded"]
    over_orders = dh.evaluate(batch.qrels, batch.run, NOTATIONS, missing="empty")
    one_order = dh.evaluate(
        batch.qrels, batch.run, NOTATIONS, ties=policy, rng=1 if policy == "random" else None, missing="empty"
    )
    for notation in NOTATIONS:
        for spread in ("tie_std", "tie_min", "tie_max"):
            np.testing.assert_array_equal(
                getattr(one_order[notation], spread), getattr(over_orders[notation], spread), err_msg=notation
            )


def test_best_and_worst_are_the_extremes_of_monotone_measures() -> None:
    """For measures that only gain when a better document moves up, tie_min and tie_max are these policies."""
    batch = BATCHES["graded"]
    names = ["nDCG@3", "AP", "RR", "ERR@3", "P@3", "RBP", "bpref", "Q", "GAP@3"]
    spread, best, worst = (
        dh.evaluate(batch.qrels, batch.run, names, ties=ties, missing="empty") for ties in ("expected", "best", "worst")
    )
    for name in names:
        np.testing.assert_allclose(best[name].values, spread[name].tie_max, rtol=0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(worst[name].values, spread[name].tie_min, rtol=0, atol=1e-12, err_msg=name)


def test_average_precision_over_relevant_retrieved_is_not_monotone() -> None:
    """A relevant document more can lower the mean, so no policy gives the maximum; tie_max does."""
    levels = {"a": 1, "b": 0, "c": 0, "d": 1, "e": 0, "f": 0}
    scores = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0, "e": 1.0, "f": 1.0}
    measure = "AP(norm='retrieved')@4"
    evaluation = dh.evaluate({"q": levels}, {"q": scores}, [measure], ties="best")
    assert evaluation[measure].values[0] == pytest.approx((1 + 2 / 4) / 2)
    assert evaluation[measure].tie_max[0] == pytest.approx(1)
    assert evaluation[measure].tie_min[0] == pytest.approx((1 + 2 / 4) / 2)


def largest_sum(judged: dict[str, float], scores: dict[str, float], weights: list[float]) -> float:
    """Return the largest sum of relevance times weight of the rank over the orders of each tie, by trying them all."""
    total = 0.0
    first = 0
    for level in sorted(set(scores.values()), reverse=True):
        tied = [doc for doc, score in scores.items() if score == level]
        ranks = range(first, first + len(tied))
        total += max(
            sum(judged.get(doc, 0.0) * (weights[rank] if rank < len(weights) else 0.0) for doc, rank in orders)
            for orders in (zip(order, ranks, strict=True) for order in permutations(tied))
        )
        first += len(tied)
    return total


@pytest.mark.parametrize("seed", range(8))
def test_documents_are_arranged_by_weights_of_any_sign_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for query in range(12):
        docs = [f"d{n}" for n in range(7)]
        qrels[f"q{query}"] = {doc: float(rng.integers(-2, 4)) for doc in rng.choice(docs, 5, replace=False).tolist()}
        run[f"q{query}"] = {doc: float(rng.integers(3)) for doc in docs}
    placements = dh.place(qrels, run)
    weights = rng.integers(-3, 4, size=6).astype(float)
    arranged = arrange_by_weight(placements, placements.relevance, weights)
    found = arranged.by_query(arranged.relevance * np.append(weights, 0.0)[arranged.above], arranged.query)
    expected = [largest_sum(qrels[query], run[query], weights.tolist()) for query in arranged.query_ids]
    assert found == pytest.approx(np.array(expected))
    assert (arranged.tied == 1).all()


def values_of(evaluation: dh.Evaluation, notations: list[str]) -> np.ndarray:
    """Stack values: a row for each query, a column for each measure."""
    return np.column_stack([evaluation[notation].values for notation in notations])


@pytest.mark.slow
def test_random_draws_one_order_for_all_measures() -> None:
    """All measures see the same order, and it is one that the scores allow."""
    batch = BATCHES["graded"]
    notations = [notation for notation in NOTATIONS if notation not in {"MR", "FRP"}]
    drawn = values_of(dh.evaluate(batch.qrels, batch.run, notations, ties="random", rng=7, missing="empty"), notations)
    for row, case in zip(drawn, batch.cases.values(), strict=True):
        references = [
            variant.reference(cutoff, case.judged, batch.scale)
            for variant in MEASURES
            for cutoff in variant.cutoffs
            if variant.notation(cutoff) in notations
        ]
        possible = [[reference(ranking) for reference in references] for ranking, _ in case.rankings]
        assert np.abs(np.array(possible) - row).max(axis=1).min() < 1e-12, case


def test_random_follows_its_seed() -> None:
    """The same seed draws the same order, another seed another one."""
    batch = BATCHES["graded"]
    first, again, other = (
        values_of(
            dh.evaluate(batch.qrels, batch.run, ["AP", "nDCG"], ties="random", rng=rng, missing="empty"), ["AP", "nDCG"]
        )
        for rng in (3, np.random.default_rng(3), 4)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.slow
def test_random_draws_uniformly() -> None:
    """Over many seeds the mean and variance of every query approach the exact ones."""
    batch = BATCHES["graded"]
    notations = ["AP", "nDCG@3", "RR"]
    n_draws = 400
    rng = np.random.default_rng(11)
    draws = np.array(
        [
            values_of(
                dh.evaluate(batch.qrels, batch.run, notations, ties="random", rng=rng, missing="empty"), notations
            )
            for _ in range(n_draws)
        ]
    )
    exact = dh.evaluate(batch.qrels, batch.run, notations, missing="empty")
    mean, std = values_of(exact, notations), np.column_stack([exact[notation].tie_std for notation in notations])
    error = np.abs(draws.mean(axis=0) - mean)
    assert (error <= 5 * std / np.sqrt(n_draws) + 1e-12).all()
    assert (std == 0).any()
    assert draws.var(axis=0)[std > 0].mean() == pytest.approx((std[std > 0] ** 2).mean(), rel=0.05)


@pytest.mark.slow
@pytest.mark.plugins("engines")
@pytest.mark.parametrize("most_pairs", [0, 10**9], ids=["sorted", "compared"])
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
@pytest.mark.parametrize("ties", ["doc_id", "input"])
def test_every_engine_breaks_ties_alike(
    ties: str, batch: Batch, most_pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dicts are looked up, rows in memory are counted query by query, other rows are joined."""
    from deadheat.plugins.engines.by_query import ByQuery

    monkeypatch.setattr(tied_rows, "PAIRS_PER_ROW", most_pairs)
    monkeypatch.setattr(tied_rows, "MAX_PAIRS", 7)
    rows = dh.Run(batch.run).to_polars()
    together = rows.sort("query_id", maintain_order=True)
    turns = rows.with_columns(turn=pl.int_range(pl.len()).over("query_id"))
    apart = turns.sort("turn", maintain_order=True).drop("turn")
    runs = [
        (MappingEngine, batch.run),
        (ContiguousEngine, together),
        (ContiguousEngine, apart),
        (ByQuery, together.lazy()),
    ]
    runs.append((ByQuery, apart.lazy()))
    qrels, found = dh.Qrels(batch.qrels), []
    engines = [(kind, choose_engine(qrels, dh.Run(run))) for kind, run in runs]
    if ties == "doc_id":
        import duckdb

        relations = [duckdb.from_arrow(one.to_arrow()) for one in (qrels.to_polars(), apart)]
        engines.append((RelationalEngine, choose_engine(dh.Qrels(relations[0]), dh.Run(relations[1]))))
    for kind, engine in engines:
        assert type(engine) is kind
        placements = engine.place()
        for keep in (placements.n_retrieved >= 0, ~placements.missing):
            ranked = break_by_rule(placements.select(keep), engine, ties)
            assert (ranked.tied == 1).all()
            found.append(ranked.to_polars())
    assert all(one.equals(found[0]) for one in found)


def test_without_ties_the_extremes_are_what_is_there() -> None:
    placements = dh.place({"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    assert policies.arrange_extreme(placements, best=True) is placements
    tied = dh.place({"q": {"a": 1}}, {"q": {"a": 1.0, "c": 1.0}})
    assert [policies.arrange_extreme(tied, best=best).above.tolist() for best in (True, False)] == [[0], [1]]
