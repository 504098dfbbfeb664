"""Measures of binary relevance from their definitions, on one explicit ranking.

Conventions of the arguments stand in `reference`.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TypeAlias

Ranking: TypeAlias = Sequence[tuple[str, float | None]]
Judged: TypeAlias = Mapping[str, float]


def is_relevant(relevance: float | None, rel: float) -> bool:
    return relevance is not None and relevance >= rel


def count_hits(ranking: Ranking, rel: float) -> int:
    return sum(is_relevant(relevance, rel) for _, relevance in ranking)


def count_relevant(judged: Judged, rel: float) -> int:
    return sum(relevance >= rel for relevance in judged.values())


def _first(ranking: Ranking, rel: float) -> int | None:
    """Rank of the first relevant document, if any."""
    for rank, (_, relevance) in enumerate(ranking, start=1):
        if is_relevant(relevance, rel):
            return rank
    return None


def ranks_of(ranking: Ranking, rel: float) -> list[int]:
    """Ranks of all relevant documents."""
    return [rank for rank, (_, relevance) in enumerate(ranking, start=1) if is_relevant(relevance, rel)]


def ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else 0.0


def _normaliser(norm: str, ranking: Ranking, judged: Judged, rel: float, cutoff: int | None) -> int:
    n_relevant = count_relevant(judged, rel)
    if norm == "R":
        return n_relevant
    if norm == "min":
        return n_relevant if cutoff is None else min(n_relevant, cutoff)
    if norm == "retrieved":
        return count_hits(ranking[:cutoff], rel)
    if norm == "retrieved_all":
        return count_hits(ranking, rel)
    if norm == "k" and cutoff is not None:
        return cutoff
    raise ValueError(norm)


# Sets


def precision(
    ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, norm: str = "k", cutoff: int | None = None
) -> float:
    """Share of relevant documents among the first k, or among those that are retrieved."""
    top = ranking[:cutoff]
    return ratio(count_hits(top, rel), len(top) if cutoff is None or norm == "retrieved" else cutoff)


def recall(
    ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, norm: str = "R", cutoff: int | None = None
) -> float:
    """Share of the relevant documents that stand among the first k."""
    return ratio(count_hits(ranking[:cutoff], rel), _normaliser(norm, ranking, judged, rel, cutoff))


def f_measure(
    ranking: Ranking,
    judged: Judged,
    _scale: float,
    *,
    rel: float = 1,
    beta: float = 1,
    norm: str = "R",
    cutoff: int | None = None,
) -> float:
    """Weighted harmonic mean of precision and recall, as (1 + b^2) C / (k + b^2 R)."""
    k = len(ranking) if cutoff is None else cutoff
    n_relevant = _normaliser(norm, ranking, judged, rel, cutoff)
    return ratio((1 + beta**2) * count_hits(ranking[:cutoff], rel), k + beta**2 * n_relevant)


def hit(ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None) -> float:
    """1 if a relevant document stands among the first k."""
    return float(_first(ranking[:cutoff], rel) is not None)


def all_hit(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None) -> float:
    """1 if there are relevant documents, and as many stand among the first k."""
    n_relevant = count_relevant(judged, rel)
    n_found = sum(is_relevant(relevance, rel) for _, relevance in ranking[:cutoff])
    return float(0 < n_relevant == n_found)


def r_precision(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Precision among the first R, R the number of relevant documents."""
    n_relevant = count_relevant(judged, rel)
    return ratio(count_hits(ranking[:n_relevant], rel), n_relevant)


def judged_share(ranking: Ranking, _judged: Judged, _scale: float, *, cutoff: int | None = None) -> float:
    """Share of judged documents (relevance 0 or more) among the first min(k, retrieved)."""
    return ratio(count_hits(ranking[:cutoff], 0), len(ranking[:cutoff]))


def n_queries(_ranking: Ranking, _judged: Judged, _scale: float) -> float:
    """1: each query counts once."""
    return 1.0


def n_retrieved(ranking: Ranking, _judged: Judged, _scale: float) -> float:
    """Documents retrieved."""
    return float(len(ranking))


def n_relevant(_ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Relevant documents in the qrels."""
    return float(count_relevant(judged, rel))


def n_relevant_retrieved(
    ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None
) -> float:
    """Relevant documents among the first k, or among all that are retrieved."""
    return float(count_hits(ranking[:cutoff], rel))


# First relevant document, ranks of relevant documents


def reciprocal_rank(
    ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None
) -> float:
    """1 / rank of the first relevant document, 0 if none stands among the first k."""
    first = _first(ranking[:cutoff], rel)
    return 0.0 if first is None else 1 / first


def first_position(
    ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None
) -> float:
    """Rank of the first relevant document; k + 1, or retrieved + 1, if there is none; NaN for an empty ranking."""
    first = _first(ranking[:cutoff], rel)
    if first is not None:
        return float(first)
    if cutoff is not None:
        return float(cutoff + 1)
    return float(len(ranking) + 1) if ranking else math.nan


def mean_rank(
    ranking: Ranking,
    judged: Judged,
    _scale: float,
    *,
    rel: float = 1,
    missing: str = "skip",
    cutoff: int | None = None,
) -> float:
    """Mean rank of the relevant documents, those missed skipped, last, or capped at k + 1."""
    if cutoff is None and not ranking:
        return math.nan
    after = float(len(ranking) + 1 if cutoff is None else cutoff + 1)
    ranks = ranks_of(ranking[:cutoff], rel)
    if missing in {"last", "capped"}:
        ranks += [int(after)] * (count_relevant(judged, rel) - len(ranks))
    return sum(ranks) / len(ranks) if ranks else after


def average_precision(
    ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, norm: str = "R", cutoff: int | None = None
) -> float:
    """Precision at the rank of each relevant document among the first k, summed and normalised."""
    total = math.fsum(count_hits(ranking[:rank], rel) / rank for rank in ranks_of(ranking[:cutoff], rel))
    return ratio(total, _normaliser(norm, ranking, judged, rel, cutoff))


def average_recall(
    ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, norm: str = "R", cutoff: int | None = None
) -> float:
    """Recall at the rank of each relevant document among the first k, summed and normalised."""
    n_relevant = count_relevant(judged, rel)
    total = math.fsum(count_hits(ranking[:rank], rel) / n_relevant for rank in ranks_of(ranking[:cutoff], rel))
    return ratio(total, _normaliser(norm, ranking, judged, rel, cutoff))


def binary_preference(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Each relevant document, less the share of judged non-relevant documents before it: trec_eval's bpref."""
    n_relevant = count_relevant(judged, rel)
    n_nonrelevant = sum(0 <= relevance < rel for relevance in judged.values())
    total, nonrelevant_above = 0.0, 0
    for _, relevance in ranking:
        if relevance is None or relevance < 0:
            continue
        if relevance < rel:
            nonrelevant_above += 1
        elif nonrelevant_above == 0:
            total += 1
        else:
            total += 1 - min(nonrelevant_above, n_relevant) / min(n_relevant, n_nonrelevant)
    return ratio(total, n_relevant)


def set_average_precision(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Precision times recall of all that is retrieved: trec_eval's set_map."""
    found = count_hits(ranking, rel)
    return ratio(found, len(ranking)) * ratio(found, count_relevant(judged, rel))


def relative_precision(
    ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None
) -> float:
    """Precision at k over the highest that R relevant documents allow: trec_eval's relative_P and set_relative_P."""
    k = len(ranking) if cutoff is None else cutoff
    highest = ratio(min(k, count_relevant(judged, rel)), k)
    return ratio(ratio(count_hits(ranking[:cutoff], rel), k), highest)


def precision_at_multiple(
    ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, cutoff: float = 1
) -> float:
    """Precision at a multiple of R, rounded as trec_eval's Rprec_mult does."""
    k = int(cutoff * count_relevant(judged, rel) + 0.9)
    return ratio(count_hits(ranking[:k], rel), k)


def n_nonrelevant_retrieved(ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Retrieved documents that are judged and not relevant; those of negative relevance are not judged."""
    return float(sum(relevance is not None and 0 <= relevance < rel for _, relevance in ranking))


def utility(
    ranking: Ranking,
    judged: Judged,
    _scale: float,
    *,
    rel: float = 1,
    a: float = 1,
    b: float = -1,
    c: float = 0,
    d: float = 0,
    N: float = 0,  # noqa: N803 - the parameter's name in the notation
) -> float:
    """Worth of the cells of the table retrieved x relevant."""
    both = count_hits(ranking, rel)
    only_retrieved, only_relevant = len(ranking) - both, count_relevant(judged, rel) - both
    return a * both + b * only_retrieved + c * only_relevant + d * (N - both - only_retrieved - only_relevant)


def _interpolated(ranking: Ranking, rel: float, need: int) -> float:
    """Highest precision at any rank from that of the `need`-th relevant document on; 0 if there are fewer."""
    ranks = ranks_of(ranking, rel)
    return max([0.0, *(count / rank for count, rank in enumerate(ranks, start=1) if count >= need)])


def _documents_of(recall: float, n_relevant: int, rounding: str) -> int:
    if rounding == "trec_eval 9":
        return int(recall * n_relevant + 0.9)
    if rounding == "trec_eval 10":
        return int(Decimal(recall * n_relevant).to_integral_value(ROUND_HALF_UP))
    if rounding == "ceil":
        return math.ceil(recall * n_relevant)
    raise ValueError(rounding)


def interpolated_precision(
    ranking: Ranking,
    judged: Judged,
    _scale: float,
    *,
    rel: float = 1,
    rounding: str = "trec_eval 9",
    cutoff: float = 0,
) -> float:
    """Highest precision at or below the rank where a level of recall is reached: trec_eval's iprec_at_recall."""
    return _interpolated(ranking, rel, _documents_of(cutoff, count_relevant(judged, rel), rounding))


def eleven_points(
    ranking: Ranking, judged: Judged, scale: float, *, rel: float = 1, rounding: str = "trec_eval 9"
) -> float:
    """Mean of interpolated precision at recall 0, 0.1, ..., 1: trec_eval's 11pt_avg."""
    levels = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    return (
        math.fsum(
            interpolated_precision(ranking, judged, scale, rel=rel, rounding=rounding, cutoff=level) for level in levels
        )
        / 11
    )


def binary_gain(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Each relevant document, over the logarithm of 2 + the others above it: trec_eval's binG."""
    ranks = ranks_of(ranking, rel)
    total = math.fsum(1 / math.log2(2 + rank - count) for count, rank in enumerate(ranks, start=1))
    return ratio(total, count_relevant(judged, rel))


def inferred_average_precision(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Precision at each relevant document, of the pool above it as its judged documents tell: trec_eval's infAP."""
    epsilon, total = 0.00001, 0.0
    relevant, other, pooled = 0, 0, 0
    for rank, (_, relevance) in enumerate(ranking, start=1):
        if is_relevant(relevance, rel):
            share = (relevant + epsilon) / (relevant + other + 2 * epsilon)
            pool = (relevant + other + pooled) / (rank - 1) if rank > 1 else 0.0
            total += 1 / rank + (rank - 1) / rank * pool * share
            relevant += 1
        elif relevance is not None and relevance >= 0:
            other += 1
        elif relevance is not None:
            pooled += 1
    return ratio(total, count_relevant(judged, rel))


def log_average_precision(ranking: Ranking, judged: Judged, scale: float, *, rel: float = 1) -> float:
    """Logarithm of average precision, at least that of 0.00001: a query's part of trec_eval's gm_map."""
    return math.log(max(average_precision(ranking, judged, scale, rel=rel), 0.00001))


def log_binary_preference(ranking: Ranking, judged: Judged, scale: float, *, rel: float = 1) -> float:
    """Logarithm of binary preference, at least that of 0.00001: a query's part of trec_eval's gm_bpref."""
    return math.log(max(binary_preference(ranking, judged, scale, rel=rel), 0.00001))


def smoothed_log_odds(ranking: Ranking, judged: Judged, scale: float, *, rel: float = 1) -> float:
    """Logarithm of the odds of average precision, each side a document more: trec_eval's yaap."""
    n_relevant = count_relevant(judged, rel)
    total = n_relevant * average_precision(ranking, judged, scale, rel=rel)
    return math.log((1 + total) / (1 + n_relevant - total))


def abstention(ranking: Ranking, judged: Judged, _scale: float, *, of: str = "rate", rel: float = 1) -> float:
    """Whether nothing is retrieved; of those queries, or of those without an answer, whether both are so."""
    is_silent, has_none = not ranking, not any(relevance >= rel for relevance in judged.values())
    if of == "rate":
        return float(is_silent)
    return float(is_silent and has_none) if (is_silent if of == "precision" else has_none) else math.nan


def char_recall(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None) -> float:
    """Recall of characters where every document is one."""
    return ratio(count_hits(ranking[:cutoff], rel), count_relevant(judged, rel))


def char_precision(
    ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None
) -> float:
    """Precision of characters where every document is one."""
    return ratio(count_hits(ranking[:cutoff], rel), len(ranking[:cutoff]))


def char_iou(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None) -> float:
    """Intersection over union of characters where every document is one."""
    relevant = {doc for doc, relevance in judged.items() if relevance >= rel}
    top = {doc for doc, _ in ranking[:cutoff]}
    return ratio(len(relevant & top), len(relevant | top))
