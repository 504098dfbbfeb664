"""Distributions over tie orders and flips of a sign, by enumeration of all orders from the definitions."""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import deadheat as dh
from deadheat import Measure
from deadheat.plugins.compare.flips import Flip, flip, summands
from deadheat.plugins.compare.sum_distributions import Distribution, match_distributions
from oracle.binary import Judged, Ranking
from oracle.orders import count_orders, weighted_rankings
from oracle.random_cases import BATCHES
from oracle.variants import VARIANTS, Variant

TOLERANCE = 1e-12
SAME = 1e-12  # values that rounding alone keeps apart are closer, all others are further away


# Enumeration


def second_and_last(relevance: np.ndarray) -> float:
    """A measure of one's own: the second document, and a little of the last."""
    return float(relevance[1:2].sum() + 0.1 * relevance[-1:].sum())


@dataclass(frozen=True)
class Defined:
    """A measure and its definition on one explicit ranking."""

    measure: Measure
    variant: Variant | None = None
    cutoff: float | None = None

    def definition(self, judged: Judged, scale: float) -> Callable[[Ranking], float]:
        """Bind everything but the ranking."""
        if self.variant is None:
            return lambda ranking: second_and_last(np.array([relevance or 0.0 for _, relevance in ranking]))
        return self.variant.reference(self.cutoff, judged, scale)


def defined(variant: Variant, cutoff: float | None) -> Defined:
    return Defined(dh.parse_measure(variant.notation(cutoff)), variant, cutoff)


MEASURES = [
    defined(Variant("nDCG", {}, ()), 3),
    defined(Variant("RR", {}, ()), None),
    defined(Variant("AP", {}, ()), None),
    defined(Variant("P", {}, ()), 2),
    defined(Variant("ERR", {}, ()), None),
    defined(Variant("bpref", {}, ()), None),
    defined(Variant("RBP", {"p": 0.5}, ()), None),
    Defined(dh.Custom("second and last", second_and_last)),
]


@dataclass(frozen=True)
class System:
    """One run and its judgments."""

    qrels: Mapping[str, Judged]
    run: Mapping[str, Mapping[str, float]]

    @cached_property
    def placements(self) -> dh.Placements:
        return dh.place(
            {query: dict(judged) for query, judged in self.qrels.items()},
            {query: dict(scores) for query, scores in self.run.items() if scores},
        )

    @property
    def scale(self) -> float:
        return max(relevance for judged in self.qrels.values() for relevance in judged.values())

    def every(self) -> np.ndarray:
        return np.ones(len(self.qrels), np.bool_)


def enumerate_query(of: Defined, system: System, query: str) -> tuple[np.ndarray, np.ndarray]:
    """Value of a query in every order of its ties, with the share of such orders."""
    judged, scores = system.qrels[query], system.run[query]
    value = of.definition(judged, system.scale)
    rankings = weighted_rankings(scores, judged)
    values = np.array([value(ranking) for ranking, _ in rankings])
    return merge(values, np.array([n_orders / count_orders(scores) for _, n_orders in rankings]))


def enumerate_sum(of: Defined, system: System) -> tuple[np.ndarray, np.ndarray]:
    """Sum of the values of all queries, in every combination of orders."""
    sums, probabilities = np.zeros(1), np.ones(1)
    for query in system.qrels:
        values, shares = enumerate_query(of, system, query)
        sums = np.add.outer(sums, values).ravel()
        probabilities = np.multiply.outer(probabilities, shares).ravel()
    return merge(sums, probabilities)


def merge(values: np.ndarray, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Put together what is the same value."""
    found: list[list[float]] = []
    for value, probability in sorted(zip(values.tolist(), probabilities.tolist(), strict=True)):
        if found and value - found[-1][0] < SAME:
            found[-1][1] += probability
        else:
            found.append([value, probability])
    return np.array([value for value, _ in found]), np.array([probability for _, probability in found])


DOCS = "abcdefgh"


def draw_systems(seed: int, *, max_queries: int, max_docs: int) -> tuple[System, System]:
    """Draw two systems that share a few queries and their judgments, and retrieve on few scores."""
    rng = random.Random(seed)
    queries = [f"q{number}" for number in range(rng.randint(1, max_queries))]
    levels = rng.choice([(0, 1), (-1, 0, 0, 1, 2, 3)])
    qrels = {query: {doc: rng.choice(levels) for doc in rng.sample(DOCS, k=rng.randint(3, 8))} for query in queries}

    def draw_run() -> dict[str, dict[str, float]]:
        shortest = [2, *(rng.choice([0, 2, 2, 2]) for _ in queries[1:])]
        docs = {query: rng.sample(DOCS, k=rng.randint(n, max_docs)) for query, n in zip(queries, shortest, strict=True)}
        return {query: {doc: float(rng.randrange(rng.choice([1, 2, 2]))) for doc in docs[query]} for query in queries}

    return System(qrels, draw_run()), System(qrels, draw_run())


def sum_distribution(
    measure: Measure,
    placements: dh.Placements,
    keep: np.ndarray,
    **limits: Any,  # noqa: ANN401 - numbers
) -> Distribution | None:
    """The distribution of a sum, as a comparison takes it."""
    found = summands(measure, placements, keep, **limits)
    both = None if found is None else match_distributions(found, found)
    return None if both is None else both[0]


def assert_same(found: Distribution | None, values: np.ndarray, probabilities: np.ndarray) -> None:
    assert found is not None
    np.testing.assert_allclose(found.values, values, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(found.probabilities, probabilities, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("of", MEASURES, ids=lambda of: str(of.measure))
def test_distribution_equals_enumeration(of: Defined) -> None:
    """Every order of every query, up to six documents each; mean and variance are those of the closed form."""
    n_values = []
    for seed in range(60):
        system, _ = draw_systems(seed, max_queries=3, max_docs=6)
        found = sum_distribution(of.measure, system.placements, system.every())
        assert_same(found, *enumerate_sum(of, system))
        assert found is not None
        mean = found.values @ found.probabilities
        variance = (found.values - mean) ** 2 @ found.probabilities
        assert mean == pytest.approx(of.measure.mean(system.placements).sum(), abs=TOLERANCE)
        assert variance == pytest.approx(of.measure.variance(system.placements).sum(), abs=TOLERANCE)
        n_values.append(len(found.values))
    assert sum(n > 2 for n in n_values) > 10
    assert 1 in n_values


# queries of the graded cases that have many rankings, but not so many that every measure cannot enumerate them
HARDEST = dict(sorted(BATCHES["graded"].cases.items(), key=lambda item: abs(len(item[1].rankings) - 50))[:5])


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.notation(None))
def test_what_is_not_listed_makes_no_difference(variant: Variant) -> None:
    """For every measure and cutoff: documents of one relevance are interchangeable, and so is all below the cutoff."""
    system = System(
        {query: case.judged for query, case in HARDEST.items()}, {query: case.scores for query, case in HARDEST.items()}
    )
    for cutoff in variant.cutoffs:
        of = defined(variant, cutoff)
        if not of.measure.can_list_orders(system.placements):
            continue
        for number, query in enumerate(sorted(HARDEST)):
            if np.isnan(of.measure.mean(system.placements)[number]):
                continue
            found = sum_distribution(of.measure, system.placements, np.arange(len(HARDEST)) == number)
            values, probabilities = enumerate_query(of, system, query)
            assert_same(found, values, probabilities)


@pytest.mark.slow
@pytest.mark.parametrize("of", MEASURES, ids=lambda of: str(of.measure))
def test_flip_equals_enumeration(of: Defined) -> None:
    """Every pair of orders of two systems."""
    seen = []
    for seed in range(100, 160):
        systems = draw_systems(seed, max_queries=2, max_docs=5)
        n_queries = len(systems[0].qrels)
        (a, p), (b, r) = (enumerate_sum(of, system) for system in systems)
        differences, weights = np.subtract.outer(a, b) / n_queries, np.multiply.outer(p, r)
        mean = (differences * weights).sum()
        variance = ((differences - mean) ** 2 * weights).sum()
        one, other = (sum_distribution(of.measure, system.placements, system.every()) for system in systems)
        assert one is not None
        assert other is not None
        found = flip(mean, variance, differences.min(), differences.max(), (one, other))
        back = flip(-mean, variance, -differences.max(), -differences.min(), (other, one))
        expected = weights[np.sign(mean) * differences < -SAME].sum()
        if abs(mean) < SAME:
            assert math.isnan(found.probability)
            assert not found.can_flip
            assert found.method == "none"
        else:
            assert found.probability == pytest.approx(expected, abs=TOLERANCE)
            assert back.probability == pytest.approx(expected, abs=TOLERANCE)
            assert found.can_flip == (expected > 0)
            assert found.method == ("exact" if np.ptp(differences) > SAME else "none")
            seen.append(expected)
    assert sum(0 < probability < 0.5 for probability in seen) > 5
    assert 0 in seen


# Bounds and special cases


def one_relevant(n_queries: int, size: int) -> dh.Placements:
    """Each query has one relevant document somewhere in a tie at the top."""
    queries = [f"q{number:04}" for number in range(n_queries)]
    scores = {f"d{number}": 1.0 for number in range(size)}
    return dh.place({query: {"d0": 1} for query in queries}, dict.fromkeys(queries, scores))


def every(placements: dh.Placements) -> np.ndarray:
    return np.ones(placements.n_queries, np.bool_)


def test_too_many_orders_of_one_query() -> None:
    placements = one_relevant(1, 100)
    found = sum_distribution(dh.AP(), placements, every(placements), max_orders=100)
    assert found is not None
    assert_same(found, np.sort(1 / np.arange(1, 101)), np.full(100, 0.01))
    assert sum_distribution(dh.AP(), placements, every(placements), max_orders=99) is None
    assert_same(
        sum_distribution(dh.RR(), placements, every(placements), max_orders=1), found.values, found.probabilities
    )


def test_a_cutoff_leaves_few_orders() -> None:
    """Only whether and where it stands in the top three counts, not which of the other 97 ranks it has."""
    placements = one_relevant(1, 100)
    found = sum_distribution(dh.AP() @ 3, placements, every(placements), max_orders=4)
    assert_same(found, np.array([0, 1 / 3, 1 / 2, 1]), np.array([0.97, 0.01, 0.01, 0.01]))


def test_too_many_orders_of_all_queries() -> None:
    """All queries together may have 20 times as many as one."""
    for n_queries, feasible in ((20, True), (21, False)):
        placements = one_relevant(n_queries, 10)
        found = sum_distribution(dh.nDCG() @ 1, placements, every(placements), max_orders=2)
        assert (found is not None) == feasible


def test_many_sums_stand_on_a_grid() -> None:
    placements = one_relevant(12, 2)
    values, probabilities = 6 + np.arange(13) / 2, np.array([math.comb(12, hits) for hits in range(13)]) / 2**12
    for max_values, cells in ((25, 0), (12, 2)):
        found = sum_distribution(dh.RR(), placements, every(placements), max_values=max_values)
        assert_same(found, values, probabilities)
        assert found is not None
        assert (found.cells, found.rounding) == (cells, 0)


def test_many_queries_are_refused_before_any_order_is_listed() -> None:
    placements = one_relevant(2_001, 2)
    assert sum_distribution(dh.AP(), placements, every(placements)) is None
    assert sum_distribution(dh.AP(), placements, np.arange(2_001) < 100) is not None


def test_far_tails_are_left_out() -> None:
    """Some hundred of 1,200 hits or fewer are less likely than rounding errors are large."""
    placements = one_relevant(1_200, 2)
    for measure in (dh.P() @ 1, dh.Hit() @ 1):
        found = sum_distribution(measure, placements, every(placements))
        assert found is not None
        assert (found.shift, found.rounding) == (0, 0)
        hits = found.values.astype(int)
        np.testing.assert_array_equal(found.values, hits)
        expected = np.array([math.comb(1_200, n) / 2**1_200 for n in hits.tolist()])
        np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=1e-16)
        assert found.probabilities.sum() == pytest.approx(1, abs=TOLERANCE)
        assert found.probabilities[hits == 600] == pytest.approx(math.comb(1_200, 600) / 2**1_200, rel=1e-12)
        assert 200 < len(hits) < 700


def test_some_queries_are_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {"b": 1}}
    tie = {"a": 1.0, "b": 1.0}
    placements = dh.place(qrels, {"q1": tie, "q2": {"b": 2.0, "a": 1.0}, "q3": tie})
    # the run lacks q4: FRP has no value there
    found = sum_distribution(dh.FRP(), placements, np.array([True, True, False, False]))
    assert_same(found, np.array([3.0, 4.0]), np.array([0.5, 0.5]))
    nothing = sum_distribution(dh.FRP(), placements, np.zeros(4, np.bool_))
    assert_same(nothing, np.zeros(1), np.ones(1))


def test_ties_that_move_nothing_leave_one_value() -> None:
    tie = dict.fromkeys("abc", 1.0)
    placements = dh.place({"q": dict.fromkeys("abc", 2)}, {"q": tie})
    assert_same(sum_distribution(dh.AP(), placements, every(placements)), np.ones(1), np.ones(1))


def certain(value: float) -> Distribution:
    return Distribution(np.array([value]), np.ones(1))


def test_no_difference_has_no_sign_to_turn() -> None:
    for difference in (0.0, 1e-13, -1e-13, math.nan):
        found = flip(difference, 0.01, -0.5, 0.5)
        assert math.isnan(found.probability)
        assert (found.can_flip, found.method) == (False, "none")
    assert not flip(0.0, 0.0, 0.0, 0.0).can_flip


@pytest.mark.parametrize("distributions", [None, (certain(3.0), certain(2.0))])
def test_extremes_of_one_sign_cannot_flip(distributions: tuple[Distribution, Distribution] | None) -> None:
    assert flip(0.2, 0.01, 0.1, 0.3, distributions) == Flip(0.0, can_flip=False, method="exact")
    assert flip(0.2, 0.01, 0.0, 0.3, distributions) == Flip(0.0, can_flip=False, method="exact")
    assert flip(0.2, 0.01, -1e-16, 0.3, distributions) == Flip(0.0, can_flip=False, method="exact")
    assert flip(0.2, 0.0, 0.2, 0.2, distributions) == Flip(0.0, can_flip=False, method="none")


def test_extremes_of_the_other_sign_cannot_flip() -> None:
    assert flip(-0.2, 0.01, -0.3, 0.0) == Flip(0.0, can_flip=False, method="exact")
    assert flip(-0.2, 0.01, -0.3, 0.1).can_flip


def test_sums_that_are_equal_in_theory_turn_no_sign() -> None:
    """0.1 + 0.2 is more than 0.3 in floating point."""
    half = np.array([0.5, 0.5])
    system = Distribution(np.array([0.3, 0.9]), half)
    baseline = Distribution(np.array([0.1, 0.1 + 0.2]), half)
    assert flip(0.4, 0.1, -0.1, 0.8, (system, baseline)).probability == 0
    assert flip(-0.4, 0.1, -0.8, 0.1, (baseline, system)).probability == 0


def test_normal_approximation() -> None:
    """One standard deviation: 0.1587, for either sign; without spread there is none."""
    for difference in (0.1, -0.1):
        found = flip(difference, 0.01, -1.0, 1.0)
        assert found.probability == pytest.approx((1 - math.erf(1 / math.sqrt(2))) / 2, abs=TOLERANCE)
        assert (found.can_flip, found.method) == (True, "normal")
        assert flip(difference, 0.0, -1.0, 1.0).probability == 0
