"""Small seeded cases with every kind of tie: cut, whole, none, unjudged, unretrieved, without a relevant document."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from oracle.binary import Judged, Ranking
from oracle.orders import Scores, count_orders, weighted_rankings

MAX_ORDERS = 2_000
IDS = ("d1", "d10", "d2", "D3", "é4", "\uffee5", "\U0001f3c67", "z", "0880", "d b", "a-8", "ß")
"""Bytes, code points and UTF-16 units order them differently."""


@dataclass(frozen=True)
class Case:
    """One query: its judgments and its retrieved documents, the latter in the order given."""

    judged: Judged
    scores: Scores

    @cached_property
    def rankings(self) -> list[tuple[Ranking, int]]:
        """Every distinct ranking with its number of orders."""
        return weighted_rankings(self.scores, self.judged)


@dataclass(frozen=True)
class Batch:
    """The queries that are evaluated together, so that they share the scale."""

    cases: dict[str, Case]

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        """Judgments of all queries."""
        return {query: dict(case.judged) for query, case in self.cases.items()}

    @property
    def run(self) -> dict[str, dict[str, float]]:
        """Scores of all queries that have retrieved documents."""
        return {query: dict(case.scores) for query, case in self.cases.items() if case.scores}

    @property
    def scale(self) -> float:
        """Highest relevance in the whole qrels."""
        return max(relevance for case in self.cases.values() for relevance in case.judged.values())


def draw_case(rng: random.Random, levels: Sequence[float], *, max_docs: int = 8) -> Case:
    """Draw one query; at least one document is judged, and the orders can be enumerated."""
    while True:
        docs = rng.sample(IDS, k=rng.randint(1, max_docs))
        share_judged = rng.choice([0.3, 0.7, 1.0])
        judged = {doc: rng.choice(levels) for doc in docs if rng.random() < share_judged}
        unretrieved = [doc for doc in IDS if doc not in docs][: rng.choice([0, 0, 1, 3])]
        judged |= {doc: rng.choice(levels) for doc in unretrieved}
        n_scores = rng.choice([1, 2, 2, 3, 20])
        scores = {doc: rng.randint(-2, n_scores - 3) / 4 for doc in docs}
        if judged and count_orders(scores) <= MAX_ORDERS:
            return Case(judged, scores)


def special_cases(levels: Sequence[float]) -> list[Case]:
    """Cases that chance might leave out."""
    top, low = max(levels), min(levels)
    five = {"a": top, "b": low, "c": top, "d": low}
    return [
        Case({"a": top}, {}),
        Case({"a": low}, {}),
        Case({"a": top}, {"a": 1.0}),
        Case({"a": low}, {"a": 1.0}),
        Case({"a": top}, {"b": 1.0}),
        Case({"a": low}, {"a": 1.0, "b": 1.0, "c": 1.0}),
        Case({"a": top}, {"a": -math.inf, "b": math.inf, "c": -math.inf}),
        Case(five, {"a": 0.0, "b": -0.0, "c": 0.0, "e": 0.0}),
        Case(five, dict.fromkeys("abcde", 0.5)),
        Case(five, {doc: float(rank) for rank, doc in enumerate("abcde")}),
        Case(five, {"e": 3.0, "a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0}),
        Case(dict.fromkeys("abcd", top), dict.fromkeys("abcdef", 1.0)),
        Case({"a": top, "b": top, "c": top, "d": max(low, 0), "e": low}, dict.fromkeys("abcdefg", 1.0)),
        Case({"a": top, "b": top, "c": top, "d": top, "e": max(low, 0)}, dict.fromkeys("abcdefg", 1.0) | {"x": 2.0}),
    ]


def draw_batch(seed: int, n_cases: int, levels: Sequence[float], *, max_docs: int = 8) -> Batch:
    """Draw a batch of queries over the given relevance levels."""
    rng = random.Random(seed)
    cases = special_cases(levels) + [draw_case(rng, levels, max_docs=max_docs) for _ in range(n_cases)]
    return Batch({f"q{number:03}": case for number, case in enumerate(cases)})


BATCHES: dict[str, Batch] = {
    "graded": draw_batch(1, 120, (-1, 0, 0, 1, 2, 3)),
    "binary": draw_batch(2, 130, (0, 1)),
    "sparse": draw_batch(3, 90, (-1, 0, 0, 0, 2)),
    "real gains": draw_batch(4, 60, (-0.5, 0, 0.25, 0.5, 1, 1.5)),
    "nothing relevant": draw_batch(5, 15, (-1, 0)),
}
