"""Measures of pairs of documents, of searches in vain and of what is not judged, on one explicit ranking.

Conventions of the arguments stand in `reference`.
"""

import itertools
import math

from oracle.binary import Judged, Ranking, count_hits, count_relevant, is_relevant, ranks_of, ratio


def _are_above(ranking: Ranking, rel: float, *, with_unjudged: bool) -> list[bool]:
    """Tell of each pair of a relevant and another document whether the relevant one is above."""
    kept = [
        relevance
        for _, relevance in ranking
        if is_relevant(relevance, rel) or with_unjudged or (relevance is not None and relevance >= 0)
    ]
    return [
        first < second
        for first, one in enumerate(kept)
        for second, other in enumerate(kept)
        if is_relevant(one, rel) and not is_relevant(other, rel)
    ]


def area_under_roc(ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Share of pairs of a relevant and another judged document, both retrieved, that are in order: AUC."""
    pairs = _are_above(ranking, rel, with_unjudged=False)
    return sum(pairs) / len(pairs) if pairs else math.nan


def query_weight(ranking: Ranking, rel: float, weight: str) -> float:
    """Return what a query weighs in GAUC: its judged documents that were retrieved, or the relevant ones of these."""
    if not _are_above(ranking, rel, with_unjudged=False):
        return 0.0
    counted = [relevance for _, relevance in ranking if is_relevant(relevance, rel)]
    if weight == "judged":
        counted += [relevance for _, relevance in ranking if relevance is not None and 0 <= relevance < rel]
    return float(len(counted))


def weighted_area(ranking: Ranking, judged: Judged, scale: float, *, rel: float = 1, weight: str = "judged") -> float:
    """AUC times the weight of its query, which the mean weight is still to divide: GAUC."""
    return area_under_roc(ranking, judged, scale, rel=rel) * query_weight(ranking, rel, weight)


def pair_accuracy(
    ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, cutoff: int | None = None
) -> float:
    """Share of pairs of a relevant and any other document of the top k that are in order: Accuracy."""
    pairs = _are_above(ranking[:cutoff], rel, with_unjudged=True)
    return sum(pairs) / len(pairs) if pairs else float(count_hits(ranking[:cutoff], rel) > 0)


def search_length(ranking: Ranking, _judged: Judged, _scale: float, *, rel: float = 1, wanted: int = 1) -> float:
    """Documents that are not relevant above the one that ends the search, or in the whole list: ESL."""
    if not ranking:
        return math.nan
    ranks = ranks_of(ranking, rel)
    end = ranks[wanted - 1] if len(ranks) >= wanted else len(ranking)
    return float(sum(not is_relevant(relevance, rel) for _, relevance in ranking[:end]))


def unjudged_share(ranking: Ranking, _judged: Judged, _scale: float, *, cutoff: int | None = None) -> float:
    """Unjudged documents among the first k, over k: Hole, and unj of trec_eval."""
    unjudged = sum(relevance is None or relevance < 0 for _, relevance in ranking[:cutoff])
    return ratio(unjudged, len(ranking) if cutoff is None else cutoff)


def area_under_precision(ranking: Ranking, judged: Judged, _scale: float, *, rel: float = 1) -> float:
    """Trapezoids under the points (recall, precision) of all ranks, from (0, 1) on: AUPRC."""
    n_relevant = count_relevant(judged, rel)
    points = [(0.0, 1.0)]
    for rank in range(1, len(ranking) + 1):
        hits = count_hits(ranking[:rank], rel)
        points.append((ratio(hits, n_relevant), hits / rank))
    return math.fsum((right[0] - left[0]) * (left[1] + right[1]) / 2 for left, right in itertools.pairwise(points))
