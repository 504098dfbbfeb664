"""Small rankings with ties, every order of them, and the smallest of them for which something fails."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import TypeAlias

import numpy as np

import deadheat as dh
from deadheat.core.random_generators import random_generator

Relevance: TypeAlias = float | None  # None: the document is not judged
Order: TypeAlias = tuple[Relevance, ...]  # the relevance at each rank, from the first rank on
Reference: TypeAlias = Callable[..., float]

ANCHOR = "z"  # the last query of a batch: it has a document of the highest level, so that all batches share that
MOST_ORDERS_SHOWN = 6


@dataclass(frozen=True)
class TiedRanking:
    """A ranking with ties, and the judgments of its query.

    Attributes
    ----------
    ties : tuple of tuple of float or None
        The documents of each score, highest score first: their relevance, None where they are not judged.
    missed : tuple of float
        The relevance of each judged document that is not retrieved.
    """

    ties: tuple[Order, ...]
    missed: tuple[float, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """What a smaller ranking has less of: first documents, then documents that are tied."""
        n_documents = sum(map(len, self.ties)) + len(self.missed)
        return n_documents, -len(self.ties)

    @cached_property
    def judged(self) -> list[float]:
        """The relevance of all judged documents, highest first."""
        retrieved = [relevance for tie in self.ties for relevance in tie if relevance is not None]
        return sorted([*retrieved, *self.missed], reverse=True)

    def documents(self) -> list[tuple[str, Relevance, float]]:
        """Return the id, the relevance and the score of each retrieved document."""
        rows: list[tuple[str, Relevance, float]] = []
        for place, tie in enumerate(self.ties):
            for relevance in tie:
                rows.append((f"d{len(rows) + 1}", relevance, float(len(self.ties) - place)))
        return rows

    def qrels(self) -> dict[str, float]:
        """Return the judgments by document."""
        judged = {doc: relevance for doc, relevance, _ in self.documents() if relevance is not None}
        return judged | {f"m{number + 1}": relevance for number, relevance in enumerate(self.missed)}

    def run(self) -> dict[str, float]:
        """Return the scores by document."""
        return {doc: score for doc, _, score in self.documents()}

    @cached_property
    def orders(self) -> dict[Order, int]:
        """The rankings that orders of the ties give, and how many orders give each of them."""
        found: dict[Order, int] = {(): 1}
        for tie in self.ties:
            of_tie = Counter(permutations(tie))
            longer = {}
            for begin, count in found.items():
                for end, n_orders in of_tie.items():
                    longer[begin + end] = count * n_orders
            found = longer
        return found

    def order_of(self, policy: str) -> Order:
        """Return the ranking that a tie policy picks."""
        ranked = []
        documents = self.documents()
        for place in range(len(self.ties)):
            tie = [row for row in documents if row[2] == float(len(self.ties) - place)]
            if policy == "doc_id":
                tie.sort(key=lambda row: row[0].encode(), reverse=True)
            elif policy == "best":
                tie.sort(key=_by_relevance, reverse=True)
            elif policy == "worst":
                tie.sort(key=_by_relevance)
            ranked += [relevance for _, relevance, _ in tie]
        return tuple(ranked)

    def smaller(self, levels: Sequence[float]) -> Iterator[TiedRanking]:
        """Yield rankings with a document less, with one of a lower level, or with a tie less."""
        for place, tie in enumerate(self.ties):
            before, after = self.ties[:place], self.ties[place + 1 :]
            for number in range(len(tie)):
                rest = (*tie[:number], *tie[number + 1 :])
                yield replace(self, ties=(*before, *((rest,) if rest else ()), *after))
            if len(tie) > 1:
                yield replace(self, ties=(*before, *((relevance,) for relevance in tie), *after))
            for number, relevance in enumerate(tie):
                if relevance is not None:
                    for lower in (None, *(level for level in levels if 0 <= level < relevance)):
                        yield replace(self, ties=(*before, (*tie[:number], lower, *tie[number + 1 :]), *after))
        for number in range(len(self.missed)):
            yield replace(self, missed=(*self.missed[:number], *self.missed[number + 1 :]))

    def __str__(self) -> str:
        ties = []
        for tie in self.ties:
            tied = " = ".join(map(_shown, tie))
            ties.append(f"({tied})" if len(tie) > 1 else tied)
        lines = [f"  ranking: {' > '.join(ties) or 'nothing is retrieved'}"]
        if self.missed:
            lines.append(f"  judged, not retrieved: {', '.join(map(_shown, self.missed))}")
        lines.append("  (a number is a relevance, - an unjudged document, = a tie)")
        return "\n".join(lines)


def _by_relevance(row: tuple[str, Relevance, float]) -> float:
    """Unjudged documents come after judged ones, whatever their relevance."""
    return -math.inf if row[1] is None else row[1]


def _shown(relevance: Relevance) -> str:
    return "-" if relevance is None else f"{relevance:g}"


@dataclass(frozen=True)
class Moments:
    """What a measure has over equally likely orders.

    Attributes
    ----------
    mean, variance, min, max : float
    """

    mean: float
    variance: float
    min: float
    max: float


def moments_of(values: dict[Order, float], orders: dict[Order, int]) -> Moments:
    """Return the moments of the values of all orders; of a value that is NaN in one, all are NaN."""
    n_orders = sum(orders.values())
    mean = math.fsum(values[order] * count for order, count in orders.items()) / n_orders
    variance = math.fsum((values[order] - mean) ** 2 * count for order, count in orders.items()) / n_orders
    if math.isnan(mean):
        return Moments(math.nan, math.nan, math.nan, math.nan)
    return Moments(mean, variance, min(values.values()), max(values.values()))


def show_orders(values: dict[Order, float]) -> str:
    """Return the value of each order, a line an order."""
    lines = []
    for order, value in list(values.items())[:MOST_ORDERS_SHOWN]:
        lines.append(f"  {' '.join(map(_shown, order)) or 'nothing'}: {value:.6g}")
    if len(values) > MOST_ORDERS_SHOWN:
        lines.append(f"  and {len(values) - MOST_ORDERS_SHOWN} more orders")
    return "\n".join(lines)


def draw_rankings(n: int, levels: Sequence[float], most_documents: int, seed: int) -> list[TiedRanking]:
    """Return rankings to try: the awkward ones, and drawn ones, the small ones first.

    Parameters
    ----------
    n : int
        How many are drawn.
    levels : sequence of float
        Relevances that judgments have.
    most_documents : int
        Of a ranking: all orders of a tie of so many are listed.
    seed : int
    """
    low, high = min(levels), max(levels)
    found = [
        TiedRanking((), (high,)),
        TiedRanking(((high,),)),
        TiedRanking(((low,),)),
        TiedRanking(((None,),), (high,)),
        TiedRanking(((high, None),)),
        TiedRanking(((high,), (high,)), (low,)),
        TiedRanking((tuple(sorted(levels)),)),
        TiedRanking(((None, None, high),), (low,)),
        TiedRanking((tuple([high] * 3 + [None] * 2),)),
    ]
    drawn = random_generator(seed)
    for number in range(n):
        n_documents = 1 + round((most_documents - 1) * number / max(n - 1, 1))
        found.append(_draw(drawn, levels, n_documents))
    return found


def _draw(drawn: np.random.Generator, levels: Sequence[float], n_documents: int) -> TiedRanking:
    choices: list[Relevance] = [None, *levels]
    documents = [choices[place] for place in drawn.integers(len(choices), size=n_documents)]
    ties: list[Order] = []
    while documents:
        n_tied = int(drawn.integers(1, len(documents) + 1))
        ties.append(tuple(documents[:n_tied]))
        documents = documents[n_tied:]
    missed = [levels[place] for place in drawn.integers(len(levels), size=drawn.integers(3))]
    ranking = TiedRanking(tuple(ties), tuple(missed))
    return ranking if ranking.judged else replace(ranking, missed=(max(levels),))


@dataclass(frozen=True)
class Batch:
    """Rankings as qrels and a run, a query each, and one query more that has a document of the highest level.

    Attributes
    ----------
    rankings : sequence of TiedRanking
    highest : float
    """

    rankings: Sequence[TiedRanking]
    highest: float

    def qrels(self) -> dict[str, dict[str, float]]:
        """Return the judgments of each query."""
        judged = {f"q{number:04}": ranking.qrels() for number, ranking in enumerate(self.rankings)}
        return judged | {ANCHOR: {"d1": self.highest}}

    def run(self) -> dict[str, dict[str, float]]:
        """Return the scores of each query that retrieves something."""
        scores = {f"q{number:04}": ranking.run() for number, ranking in enumerate(self.rankings) if ranking.ties}
        return scores | {ANCHOR: {"d1": 1.0}}

    def place(self) -> dh.Placements:
        """Return the placements."""
        return dh.place(self.qrels(), self.run())


def smallest_that_fails(
    failing: TiedRanking, fails: Callable[[TiedRanking], bool], levels: Sequence[float]
) -> TiedRanking:
    """Return a ranking that fails, and of which no smaller one does."""
    for smaller in failing.smaller(levels):
        if smaller.judged and fails(smaller):
            return smallest_that_fails(smaller, fails, levels)
    return failing
