"""Measures of the C/W/L framework and compatibility from their definitions, on one explicit ranking.

Conventions of the arguments stand in `reference`.
"""

import math
from collections.abc import Callable
from functools import cache

import scipy

from oracle.binary import Judged, Ranking, ratio

GoesOn = Callable[[int, float, float], float]
"""From rank, gain and the gain down to the rank to the probability of going on."""


def _gains(ranking: Ranking, scale: float, min_rel: float, max_rel: float | None) -> list[float]:
    top = scale if max_rel is None else max_rel
    return [
        ratio(max((relevance or 0) - min_rel, 0), top - min_rel) if top > min_rel else 0.0 for _, relevance in ranking
    ]


def _per_document(gains: list[float], goes_on: GoesOn, n_ranks: int, rest: Callable[[float], float] | None) -> float:
    """Return the expected gain over the expected number of documents read.

    `rest` is that number below the last of `n_ranks` ranks, for the gain down to it, of a user who arrives there.
    """
    arrives, gained, read, total = 1.0, 0.0, 0.0, 0.0
    for rank in range(1, n_ranks + 1):
        gain = gains[rank - 1] if rank <= len(gains) else 0.0
        gained += gain
        read += arrives
        total += arrives * gain
        arrives *= goes_on(rank, gain, gained)
    if rest is not None:
        read += arrives * rest(gained)
    return ratio(total, read)


@cache
def _squares_from(start: float) -> float:
    """Return 1/start^2 + 1/(start + 1)^2 + ..."""
    return float(scipy.special.polygamma(1, start))


def _wishes(gains: list[float], ranks: int | None) -> int:
    return len(gains) if ranks is None else ranks


def inverse_squares(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    T: float = 1,  # noqa: N803 - the parameter's name in the notation
    min_rel: float = 0,
    max_rel: float | None = None,
    ranks: int | None = None,
    cutoff: int | None = None,
) -> float:
    """Gain of a user who goes on with ((i + 2T - 1) / (i + 2T))^2: INSQ."""
    gains = _gains(ranking, scale, min_rel, max_rel)
    n = _wishes(gains, ranks)
    rest = None if ranks is not None else lambda _: (n + 2 * T) ** 2 * _squares_from(n + 2 * T)
    kept = [gain if cutoff is None or rank <= cutoff else 0.0 for rank, gain in enumerate(gains, start=1)]
    return _per_document(kept, lambda rank, _, __: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2, n, rest)


def scaled_dcg(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    min_rel: float = 0,
    max_rel: float | None = None,
    cutoff: int | None = None,
) -> float:
    """Gain of a user who goes on with log(i + 1) / log(i + 2), down to rank k: SDCG."""
    gains = _gains(ranking, scale, min_rel, max_rel)
    k = len(gains) if cutoff is None else cutoff
    return _per_document(gains, lambda rank, _, __: math.log(rank + 1) / math.log(rank + 2), k, None)


def bejeweled(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    T: float = 1,  # noqa: N803 - the parameter's name in the notation
    min_rel: float = 0,
    max_rel: float | None = None,
    cutoff: int | None = None,
) -> float:
    """Gain of a user who goes on until it is T, down to rank k: BPM."""
    gains = _gains(ranking, scale, min_rel, max_rel)
    k = len(gains) if cutoff is None else cutoff
    return _per_document(gains, lambda _, __, gained: float(gained < T - 1e-9), k, None)


def adaptive_inverse_squares(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    T: float = 1,  # noqa: N803 - the parameter's name in the notation
    min_rel: float = 0,
    max_rel: float | None = None,
    ranks: int | None = None,
) -> float:
    """Gain of a user who goes on with ((i + T + T_i - 1) / (i + T + T_i))^2, T_i the gain still wanted: INST."""

    def goes_on(rank: int, _: float, gained: float) -> float:
        wanted = T - gained
        return max((rank + T + wanted - 1) / (rank + T + wanted), 0.0) ** 2

    gains = _gains(ranking, scale, min_rel, max_rel)
    n = _wishes(gains, ranks)

    def rest(gained: float) -> float:
        start = n + 2 * T - gained
        return start**2 * _squares_from(start)

    return _per_document(gains, goes_on, n, None if ranks is not None else rest)


def nearly_err_8(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    min_rel: float = 0,
    max_rel: float | None = None,
    cutoff: int | None = None,
) -> float:
    """Gain of a user who goes on with 1 - g, down to rank k: NERR8."""
    gains = _gains(ranking, scale, min_rel, max_rel)
    return _per_document(gains, lambda _, gain, __: 1 - gain, len(gains) if cutoff is None else cutoff, None)


def nearly_err_9(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    min_rel: float = 0,
    max_rel: float | None = None,
    cutoff: int | None = None,
) -> float:
    """Gain of a user who goes on with i / (i + 1) times 1 - g, down to rank k: NERR9."""
    gains = _gains(ranking, scale, min_rel, max_rel)
    k = len(gains) if cutoff is None else cutoff
    return _per_document(gains, lambda rank, gain, _: rank / (rank + 1) * (1 - gain), k, None)


def nearly_err_10(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    p: float = 0.9,
    min_rel: float = 0,
    max_rel: float | None = None,
    ranks: int | None = None,
) -> float:
    """Gain of a user who goes on with p (1 - g): NERR10."""
    gains = _gains(ranking, scale, min_rel, max_rel)
    rest = None if ranks is not None else lambda _: 1 / (1 - p)
    return _per_document(gains, lambda _, gain, __: p * (1 - gain), _wishes(gains, ranks), rest)


def nearly_err_11(
    ranking: Ranking,
    _judged: Judged,
    scale: float,
    *,
    T: float = 1,  # noqa: N803 - the parameter's name in the notation
    min_rel: float = 0,
    max_rel: float | None = None,
    ranks: int | None = None,
) -> float:
    """Gain of a user who goes on as for INSQ, times 1 - g: NERR11."""
    gains = _gains(ranking, scale, min_rel, max_rel)
    n = _wishes(gains, ranks)
    rest = None if ranks is not None else lambda _: (n + 2 * T) ** 2 * _squares_from(n + 2 * T)
    return _per_document(gains, lambda rank, gain, _: ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gain), n, rest)


def _overlap(one: list[str], other: list[str], p: float, depth: int) -> float:
    return math.fsum(p ** (rank - 1) * len({*one[:rank]} & {*other[:rank]}) / rank for rank in range(1, depth + 1))


def compatibility(
    ranking: Ranking,
    judged: Judged,
    _scale: float,
    *,
    p: float = 0.95,
    normalize: bool = True,
    depth: int | None = None,
) -> float:
    """Rank-biased overlap with the ideal ranking that keeps the order of the list within a level: Compat."""
    found = [doc for doc, _ in ranking]
    place = {doc: rank for rank, doc in enumerate(found)}
    ideal = [doc for doc, relevance in judged.items() if relevance > 0]
    ideal.sort(key=lambda doc: (-judged[doc], place.get(doc, len(found))))
    depth = max(len(found), len(ideal)) if depth is None else depth
    best = _overlap(ideal, ideal, p, depth) if normalize else math.fsum(p**rank for rank in range(depth))
    return ratio(_overlap(found, ideal, p, depth), best)
