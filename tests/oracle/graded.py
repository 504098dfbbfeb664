"""Measures of graded relevance from their definitions, on one explicit ranking.

Conventions of the arguments stand in `reference`.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import TypeAlias

from oracle.binary import Judged, Ranking, count_hits, count_relevant, is_relevant, ranks_of, ratio

Gain: TypeAlias = str | Mapping[float, float]


def _gain(relevance: float | None, gain: Gain, negative: str = "zero") -> float:
    if relevance is None:
        return 0.0
    if negative == "gain" and relevance < 0:
        return relevance if gain == "linear" else 2**relevance - 1
    if not isinstance(gain, str):
        return gain.get(relevance, 0.0)
    if gain == "linear":
        return max(relevance, 0.0)
    if gain == "exp":
        return math.exp2(relevance) - 1 if relevance > 0 else 0.0
    raise ValueError(gain)


@cache
def _weight(rank: int, discount: str) -> float:
    name, _, rest = discount.rstrip(")").partition("(")
    arguments = [math.e if argument.strip() == "e" else float(argument) for argument in rest.split(",") if argument]
    if name == "log":
        return 1 / math.log(rank + 1, arguments[0])
    if name == "linear":
        return 1 / rank
    if name == "zipf":
        exponent, shift = arguments
        return math.pow(rank + shift, -exponent)
    if name == "exp":
        return math.pow(arguments[0], rank)
    if name == "none":
        return 1.0
    raise ValueError(discount)


def discounted_gain(
    ranking: Ranking,
    _judged: Judged,
    _scale: float,
    *,
    gain: Gain = "linear",
    discount: str = "log(2)",
    negative: str = "zero",
    cutoff: int | None = None,
) -> float:
    """Sum of gain x weight of the rank over the first k: DCG."""
    return math.fsum(
        _gain(relevance, gain, negative) * _weight(rank, discount)
        for rank, (_, relevance) in enumerate(ranking[:cutoff], start=1)
    )


def normalised_gain(
    ranking: Ranking,
    judged: Judged,
    scale: float,
    *,
    gain: Gain = "linear",
    discount: str = "log(2)",
    ideal: str = "judged",
    negative: str = "zero",
    floor: str = "zero",
    cutoff: int | None = None,
) -> float:
    """DCG over that of the best possible ranking of all judged documents, or of the retrieved ones: nDCG.

    With a floor, from that of the worst ranking on, in which what does harm comes first and everything else is 0.
    """
    best = ideal_gain(ranking, judged, scale, gain=gain, discount=discount, ideal=ideal, cutoff=cutoff)
    own = discounted_gain(ranking, judged, scale, gain=gain, discount=discount, negative=negative, cutoff=cutoff)
    if floor == "zero":
        return ratio(own, best)
    known = list(judged.values()) if ideal == "judged" else [relevance for _, relevance in ranking]
    harm = sorted(own for own in (_gain(relevance, gain, "gain") for relevance in known) if own < 0)[:cutoff]
    worst = math.fsum(own * _weight(rank, discount) for rank, own in enumerate(harm, start=1))
    return ratio(own - worst, best - worst)


def ideal_gain(
    ranking: Ranking,
    judged: Judged,
    scale: float,
    *,
    gain: Gain = "linear",
    discount: str = "log(2)",
    ideal: str = "judged",
    cutoff: int | None = None,
) -> float:
    """DCG of the best possible ranking of all judged documents, or of the retrieved ones: IDCG."""
    ranked = list(judged.items()) if ideal == "judged" else list(ranking)
    ranked = sorted(ranked, key=lambda item: _gain(item[1], gain), reverse=True)
    return discounted_gain(ranked, judged, scale, gain=gain, discount=discount, cutoff=cutoff)


def rank_biased_precision(
    ranking: Ranking,
    judged: Judged,
    scale: float,
    *,
    p: float = 0.8,
    rel: float = 1,
    graded: bool = False,
    max_rel: float | None = None,
    top: str = "qrels",
    cutoff: int | None = None,
) -> float:
    """Expected gain per document of a reader who goes on with probability p: RBP."""
    highest = scale if max_rel is None else max_rel
    if top == "query":  # as trec_eval 10 does
        highest = max([1, *judged.values()])
    total = 0.0
    for rank, (_, relevance) in enumerate(ranking[:cutoff], start=1):
        if graded:
            total += ratio(max(relevance or 0.0, 0.0), highest) * p ** (rank - 1)
        elif is_relevant(relevance, rel):
            total += p ** (rank - 1)
    return (1 - p) * total


def rank_biased_residual(
    ranking: Ranking, _judged: Judged, _scale: float, *, p: float = 0.8, tail: str = "always", cutoff: int | None = None
) -> float:
    """What RBP could still gain from unjudged documents and those below the last rank."""
    top = ranking[:cutoff]
    unjudged = [rank for rank, (_, relevance) in enumerate(top, start=1) if relevance is None or relevance < 0]
    if tail == "unjudged" and not unjudged:
        return 0.0
    return (1 - p) * math.fsum(p ** (rank - 1) for rank in unjudged) + p ** len(top)


# Cascades and graded precision


def _stop(relevance: float | None, stop: str, top: float) -> float:
    grade = max(relevance or 0.0, 0.0)
    name, _, rest = stop.rstrip(")").partition("(")
    if name == "exp":
        return (math.exp2(grade) - 1) / math.exp2(top)
    if name == "identity":
        return grade
    if name == "sigmoid":
        steepness, middle = (float(argument) for argument in rest.split(","))
        return 1 / (1 + math.exp(-steepness * (grade - middle)))
    raise ValueError(stop)


def expected_reciprocal_rank(
    ranking: Ranking,
    judged: Judged,
    scale: float,
    *,
    stop: str = "exp",
    max_rel: float | None = None,
    cutoff: int | None = None,
) -> float:
    """Mean of 1 / the rank where a reader stops who is satisfied by each document independently: ERR."""
    if count_relevant(judged, math.ulp(0.0)) == 0:
        return 0.0
    total, still_reading = 0.0, 1.0
    for rank, (_, relevance) in enumerate(ranking[:cutoff], start=1):
        satisfied = _stop(relevance, stop, scale if max_rel is None else max_rel)
        total += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return total


def normalised_reciprocal_rank(
    ranking: Ranking,
    judged: Judged,
    scale: float,
    *,
    stop: str = "exp",
    max_rel: float | None = None,
    cutoff: int | None = None,
) -> float:
    """ERR over that of all judged documents in their best order."""
    ideal = sorted(judged.items(), key=lambda item: item[1], reverse=True)
    best = expected_reciprocal_rank(ideal, judged, scale, stop=stop, max_rel=max_rel, cutoff=cutoff)
    return ratio(expected_reciprocal_rank(ranking, judged, scale, stop=stop, max_rel=max_rel, cutoff=cutoff), best)


def graded_average_precision(
    ranking: Ranking, judged: Judged, scale: float, *, max_rel: float | None = None, cutoff: int | None = None
) -> float:
    """Average precision at every relevance level, each level as likely to be a reader's threshold: GAP."""
    levels = range(1, int(scale if max_rel is None else max_rel) + 1)
    total = math.fsum(
        count_hits(ranking[:rank], level) / rank for level in levels for rank in ranks_of(ranking[:cutoff], level)
    )
    return ratio(total, sum(count_relevant(judged, level) for level in levels))


def q_measure(
    ranking: Ranking,
    judged: Judged,
    _scale: float,
    *,
    rel: float = 1,
    beta: float = 1,
    cutoff: int | None = None,
) -> float:
    """Blended ratio (C + beta cg) / (i + beta cg*) at the rank i of each relevant document, over R: Q-measure.

    Only relevant documents gain, so that no document of relevance below `rel` counts in favour of a later one.
    """

    def gain(relevance: float | None) -> float:
        return _gain(relevance, "linear") if relevance is not None and relevance >= rel else 0.0

    gains = [gain(relevance) for _, relevance in ranking]
    ideal = sorted(map(gain, judged.values()), reverse=True)
    total = math.fsum(
        (count_hits(ranking[:rank], rel) + beta * sum(gains[:rank])) / (rank + beta * sum(ideal[:rank]))
        for rank in ranks_of(ranking[:cutoff], rel)
    )
    return ratio(total, count_relevant(judged, rel))


def largest_relevance(ranking: Ranking, _judged: Judged, _scale: float, *, cutoff: int | None = None) -> float:
    """Highest relevance among the first k; unjudged documents and negative relevance are worth 0: MaxRel."""
    return max([0.0, *(relevance for _, relevance in ranking[:cutoff] if relevance is not None)])


def _gain_at_ranks(ranking: Ranking, judged: Judged, gain: Gain) -> tuple[list[float], list[float], list[float]]:
    """Return the DCG after each rank, the ideal one, and the positive gains of the ideal ranking."""
    ideal = sorted(value for value in (_gain(relevance, gain) for relevance in judged.values()) if value > 0)[::-1]
    own = [_gain(relevance, gain) for _, relevance in ranking]
    found, best = (
        [
            math.fsum(value / math.log2(rank + 1) for rank, value in enumerate(gains[:depth], start=1))
            for depth in range(max(len(own), len(ideal)) + 1)
        ]
        for gains in (own, ideal)
    )
    return found, best, ideal


def gain_at_levels(ranking: Ranking, judged: Judged, _scale: float, *, gain: Gain = "linear", rel: float = 1) -> float:
    """Mean nDCG at the ranks where levels end in the ideal ranking, and at the end of a longer list: Rndcg."""
    if count_relevant(judged, rel) == 0:
        return 0.0
    found, best, ideal = _gain_at_ranks(ranking, judged, gain)
    ends = [rank for rank in range(1, len(ideal) + 1) if rank == len(ideal) or ideal[rank] != ideal[rank - 1]]
    if ideal and len(ranking) >= len(ideal) + 2:
        ends.append(len(ranking))
    return ratio(math.fsum(found[end] / best[end] for end in ends), len(ends))


def gain_at_documents(ranking: Ranking, judged: Judged, _scale: float, *, gain: Gain = "linear") -> float:
    """Mean nDCG at the ranks of the documents with a gain; those missed count at the end of the list: ndcg_rel."""
    found, best, ideal = _gain_at_ranks(ranking, judged, gain)
    ranks = [rank for rank, (_, relevance) in enumerate(ranking, start=1) if _gain(relevance, gain) > 0]
    missed = (len(ideal) - len(ranks)) * ratio(found[len(ranking)], best[-1])
    return ratio(math.fsum(found[rank] / best[rank] for rank in ranks) + missed, len(ideal))


def gain_measure(ranking: Ranking, judged: Judged, _scale: float, *, gain: Gain = "linear") -> float:
    """Each gain over the logarithm of what an ideal list would have gained more, at least 1 a rank: trec_eval's G."""
    ideal = sorted((_gain(relevance, gain) for relevance in judged.values()), reverse=True)
    best = [*ideal, *[0.0] * len(ranking)]
    gains = [_gain(relevance, gain) for _, relevance in ranking]
    total = 0.0
    for rank, own in enumerate(gains, start=1):
        missed = math.fsum(max(1.0, value) for value in best[:rank]) - math.fsum(gains[:rank])
        total += own / math.log2(2 + missed)
    return ratio(total, math.fsum(ideal))
