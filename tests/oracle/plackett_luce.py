"""Orders of ties by Plackett and Luce: each with its probability, from the definition."""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from oracle.binary import Judged, Ranking
from oracle.orders import Scores, rank, tie_groups


def probability(order: Sequence[str], weights: Mapping[str, float]) -> float:
    """Product of the weight of each document over that of all that are left."""
    return math.prod(weights[doc] / sum(weights[left] for left in order[place:]) for place, doc in enumerate(order))


def orders_of_tie(group: Sequence[str], second: Scores, scale: float) -> Iterator[tuple[tuple[str, ...], float]]:
    """Every order of a tie with its probability; documents without a second score come last, in any order."""
    held = [doc for doc in group if doc in second]
    lacking = [doc for doc in group if doc not in second]
    most = max((second[doc] for doc in held), default=0.0)
    weights = {doc: math.exp((second[doc] - most) / scale) for doc in held}
    for front in itertools.permutations(held):
        for back in itertools.permutations(lacking):
            yield front + back, probability(front, weights) / math.factorial(len(lacking))


def all_orders(scores: Scores, second: Scores, scale: float) -> Iterator[tuple[list[str], float]]:
    """Every order of all documents with its probability: ties are independent of each other."""
    ties = [list(orders_of_tie(group, second, scale)) for group in tie_groups(scores)]
    for parts in itertools.product(*ties):
        yield list(itertools.chain.from_iterable(order for order, _ in parts)), math.prod(p for _, p in parts)


def mean(measure: Callable[[Ranking], float], scores: Scores, judged: Judged, second: Scores, scale: float) -> float:
    """Mean of a measure over these orders."""
    return math.fsum(p * measure(rank(order, judged)) for order, p in all_orders(scores, second, scale))
