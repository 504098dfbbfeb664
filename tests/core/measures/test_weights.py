"""Sums of gain times weight whose weights do not fall, or whose gains do not rise with relevance: their exact extremes.

Measures that ship have weights that fall, so relevant documents first are best. Those of others need not.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.api import GainMeasure, WeightedMeasure
from deadheat.core.measures.gains import compute_gains
from deadheat.core.measures.parameters import parameters
from deadheat.core.random_generators import random_generator

if TYPE_CHECKING:
    from deadheat import Measure, Placements
    from deadheat.api import FloatArray

RELEVANT = {0: 0.0, 1: 1.0, 2: 3.0}
WITH_HARM = {0: 0.0, 1: -2.0, 2: 1.0}


@parameters
class OddRanks(WeightedMeasure):
    """Gains at ranks 1, 3, 5, ..."""

    gain_of = RELEVANT

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        gains = [self.gain_of[int(relevance)] for relevance in placements.relevance]
        return (type(self), "gains"), np.array(gains)

    def weights(self, n_ranks: int) -> FloatArray:
        return np.arange(n_ranks) % 2 == 0.0


class EvenRanks(OddRanks):
    """Gains at ranks 2, 4, 6, ..."""

    def weights(self, n_ranks: int) -> FloatArray:
        return np.arange(n_ranks) % 2 * 1.0


class Signed(OddRanks):
    """Weights 2, -1, 0, 2, -1, 0, ..."""

    def weights(self, n_ranks: int) -> FloatArray:
        return np.array([2.0, -1.0, 0.0])[np.arange(n_ranks) % 3]


class Costs(OddRanks):
    """Weights that fall below 0."""

    def weights(self, n_ranks: int) -> FloatArray:
        return 1.0 - np.arange(n_ranks)


class Harmful(OddRanks):
    """Weights that fall, and a gain below 0 for a relevance above that of unjudged documents."""

    gain_of = WITH_HARM

    def weights(self, n_ranks: int) -> FloatArray:
        return 1 / np.arange(1.0, n_ranks + 1)


class SignedHarmful(Signed):
    """Both."""

    gain_of = WITH_HARM


class Mean(OddRanks):
    """The share of all odd ranks, less is better."""

    higher_is_better = False

    def divisor(self, placements: Placements) -> FloatArray:
        return (self.depth(placements) + 1) // 2 * 1.0


@parameters
class MappedOdd(GainMeasure, WeightedMeasure):
    """Gains of a mapping at odd ranks."""

    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        return ("mapped", self.gain), compute_gains(self.gain, placements.relevance)

    def weights(self, n_ranks: int) -> FloatArray:
        return np.arange(n_ranks) % 2 == 0.0


MEASURES: list[Any] = [
    OddRanks,
    EvenRanks,
    Signed,
    Costs,
    Harmful,
    SignedHarmful,
    Mean,
    MappedOdd(gain={0: 0, 1: 4, 2: 1}),
]


def drawn_queries(n_queries: int = 40) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Draw judgments and runs of up to five documents that tie."""
    rng = random_generator(3)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(n_queries):
        documents = [f"d{place}" for place in range(rng.integers(1, 6))]
        run[f"q{number}"] = {doc: float(rng.integers(0, 2)) for doc in documents}
        judged = [doc for doc in [*documents, "missed"] if rng.random() < 0.75]
        qrels[f"q{number}"] = {doc: int(rng.integers(0, 3)) for doc in judged or ["missed"]}
    return qrels, run


def orders_of(run: dict[str, float]) -> list[list[str]]:
    """List every order of the ties of a query."""
    levels = sorted(set(run.values()), reverse=True)
    ties = [permutations([doc for doc in run if run[doc] == level]) for level in levels]
    return [[doc for tie in order for doc in tie] for order in product(*ties)]


def values_of(measure: Measure, qrels: dict[str, int], rankings: list[list[str]]) -> FloatArray:
    """Return the value of each of some rankings without ties."""
    names = [f"q{number}" for number in range(len(rankings))]
    runs = {
        name: {doc: -1.0 * rank for rank, doc in enumerate(ranking)}
        for name, ranking in zip(names, rankings, strict=True)
    }
    return measure.mean(dh.place(dict.fromkeys(names, qrels), runs))


@pytest.mark.parametrize("cutoff", [None, 1, 2, 3, 9])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_extremes_are_those_of_all_orders(measure: type[Measure], cutoff: int | None) -> None:
    qrels, run = drawn_queries()
    own = measure(cutoff=cutoff)
    placements = dh.place(qrels, run)
    low, high = own.extremes(placements)
    mean = own.mean(placements)
    for place, query in enumerate(placements.query_ids.tolist()):
        values = values_of(own, qrels[query], orders_of(run[query]))
        assert [low[place], mean[place], high[place]] == pytest.approx([values.min(), values.mean(), values.max()])


@pytest.mark.parametrize("cutoff", [1, 2, 3])
@pytest.mark.parametrize("measure", [one for one in MEASURES if one.higher_is_better], ids=str)
def test_no_list_is_better_than_what_can_be_reached(measure: type[Measure], cutoff: int) -> None:
    """Every list of the judged documents and of three others is tried."""
    judged = {"a": 2, "b": 1, "c": 1}
    own = measure(cutoff=cutoff)
    reachable = own.reachable(dh.place({"q": judged}, {"q": {"x": 1.0}}))
    lists = [list(ranking) for size in range(1, 7) for ranking in permutations([*judged, "x", "y", "z"], size)]
    values = values_of(own, judged, lists)
    assert reachable.tolist() == pytest.approx([values.max()])


def test_without_a_cutoff_nothing_is_known_of_what_weights_that_rise_allow() -> None:
    placements = dh.place({"q": {"a": 2, "b": 1}}, {"q": {"a": 1.0}})
    assert np.isnan(OddRanks().reachable(placements)).all()
    assert Harmful().reachable(placements).tolist() == [1.0]


def test_the_policies_order_documents_whatever_the_weights() -> None:
    """`ties="best"` puts relevant documents first, where a measure of the second rank does not want them."""
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    second = EvenRanks()
    assert dh.evaluate(qrels, run, second, ties="best")[second].mean == 0
    assert dh.evaluate(qrels, run, second, ties="worst")[second].mean == 1
    scores = dh.evaluate(qrels, run, second)[second]
    assert [scores.tie_min.tolist(), scores.mean, scores.tie_max.tolist()] == [[0], 0.5, [1]]
