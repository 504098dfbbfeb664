"""Measures of diversity from their definitions, on one explicit ranking.

A list has the set of subtopics that each document is relevant to, in rank order; *judged* is that of all judged
documents by id. The references of `reference` know no subtopics: a query is one there.
"""

import math
from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import TypeAlias

from oracle.binary import Judged, Ranking, is_relevant, ratio

Sets: TypeAlias = Mapping[str, AbstractSet[str]]


def _gains(lists: Sequence[AbstractSet[str]], alpha: float) -> list[float]:
    return [
        sum((1 - alpha) ** sum(topic in above for above in lists[:rank]) for topic in own)
        for rank, own in enumerate(lists)
    ]


def _weighted(gains: Sequence[float], name: str, beta: float, k: int) -> float:
    def weight(rank: int) -> float:
        if "DCG" in name:
            return 1 / math.log2(rank + 1)
        return 1 / rank if "ERR" in name else beta ** (rank - 1)

    return math.fsum(gain * weight(rank) for rank, gain in enumerate(gains[:k], start=1))


def _ideal(judged: Sets, alpha: float) -> list[AbstractSet[str]]:
    """Each document in turn that gains most, of equal ones the higher id."""
    left = dict(judged)
    found: list[AbstractSet[str]] = []
    while left:
        best = max(left, key=lambda doc: (_gains([*found, left[doc]], alpha)[-1], doc))
        found.append(left.pop(best))
    return found


def diversity(
    name: str,
    lists: Sequence[AbstractSet[str]],
    judged: Sets,
    *,
    alpha: float = 0.5,
    beta: float = 0.5,
    cutoff: int | None = None,
) -> float:
    """Return a measure of a list."""
    topics: set[str] = set().union(*judged.values())
    k = len(lists) if cutoff is None else cutoff
    if not topics:
        return 0.0
    if name == "StAllHit":
        return float(topics <= set().union(*lists[:k]))
    if name in {"StRecall", "P_IA", "AP_IA"}:
        return math.fsum(_of_topic(name, topic, lists, judged, k) for topic in topics) / len(topics)
    total = _weighted(_gains(lists, alpha), name, beta, k)
    if name == "NRBP":
        return (1 - (1 - alpha) * beta) / len(topics) * total
    if name in {"alpha_DCG", "ERR_IA"}:
        return ratio(total, _weighted(_gains([topics] * k, alpha), name, beta, k))
    ideal = _gains(_ideal(judged, alpha), alpha)
    return ratio(total, _weighted(ideal, name, beta, len(ideal) if cutoff is None else cutoff))


def _of_topic(name: str, topic: str, lists: Sequence[AbstractSet[str]], judged: Sets, k: int) -> float:
    ranks = [rank for rank, own in enumerate(lists, start=1) if topic in own]
    if name == "AP_IA":
        precisions = math.fsum(count / rank for count, rank in enumerate(ranks, start=1))
        return precisions / sum(topic in own for own in judged.values())
    n_found = sum(rank <= k for rank in ranks)
    return float(n_found > 0) if name == "StRecall" else ratio(n_found, k)


def of_one_subtopic(
    name: str, ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, **parameters: float
) -> float:
    """Return a measure where each query is one subtopic."""
    lists = [{"all"} if is_relevant(relevance, rel) else set() for _, relevance in ranking]
    of_judged: Sets = {doc: {"all"} for doc, relevance in judged.items() if relevance >= rel}
    return diversity(name, lists, of_judged, **parameters)  # type: ignore[arg-type]  # a cutoff is whole
