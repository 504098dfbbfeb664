"""All orders of tied documents, the moments of a measure over them, and the order that each policy picks."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oracle.binary import Judged, Ranking

Scores: TypeAlias = Mapping[str, float]


@dataclass(frozen=True)
class Moments:
    """Mean, population variance and extremes of a measure over equally likely orders."""

    mean: float
    variance: float
    minimum: float
    maximum: float


def tie_groups(scores: Scores) -> list[list[str]]:
    """Documents of each score, highest score first, in the order given."""
    return [[doc for doc in scores if scores[doc] == score] for score in sorted(set(scores.values()), reverse=True)]


def count_orders(scores: Scores) -> int:
    """Number of orders of the tied documents."""
    return math.prod(math.factorial(len(group)) for group in tie_groups(scores))


def all_orders(scores: Scores) -> Iterator[list[str]]:
    """Every order of all documents that the scores allow."""
    for permuted in itertools.product(*(itertools.permutations(group) for group in tie_groups(scores))):
        yield list(itertools.chain.from_iterable(permuted))


def rank(order: Sequence[str], judged: Judged) -> Ranking:
    """Put the relevance beside each document."""
    return [(doc, judged.get(doc)) for doc in order]


def weighted_rankings(scores: Scores, judged: Judged) -> list[tuple[Ranking, int]]:
    """One ranking for each sequence of relevance values that some order gives, with the number of such orders.

    No measure looks at ids, so orders that exchange documents of one relevance are counted, not evaluated again.
    """
    found: dict[tuple[float | None, ...], tuple[Ranking, int]] = {}
    for order in all_orders(scores):
        ranking = rank(order, judged)
        relevances = tuple(relevance for _, relevance in ranking)
        first, count = found.get(relevances, (ranking, 0))
        found[relevances] = (first, count + 1)
    return list(found.values())


def moments(measure: Callable[[Ranking], float], rankings: Sequence[tuple[Ranking, int]]) -> Moments:
    """Evaluate a measure on each ranking, and weigh it by its number of orders."""
    values = [(measure(ranking), count) for ranking, count in rankings]
    n_orders = sum(count for _, count in values)
    mean = math.fsum(value * count for value, count in values) / n_orders
    variance = math.fsum((value - mean) ** 2 * count for value, count in values) / n_orders
    return Moments(mean, variance, min(value for value, _ in values), max(value for value, _ in values))


def pick_order(policy: str, scores: Scores, judged: Judged) -> list[str]:
    """Order that a tie policy picks: best, worst, doc_id or input."""
    unjudged = -math.inf
    by_relevance = sorted(scores, key=lambda doc: judged.get(doc, unjudged), reverse=True)
    docs = {
        "best": by_relevance,
        "worst": by_relevance[::-1],
        "doc_id": sorted(scores, key=lambda doc: doc.encode(), reverse=True),
        "input": list(scores),
    }[policy]
    return sorted(docs, key=lambda doc: scores[doc], reverse=True)
