"""Plain definitions of all methods, from the papers: one query, lists in strict order, loops over documents.

`RUNS` are what a method gets: for each run the list of (document, score), best first.
"""

import itertools
import math
import statistics
from collections.abc import Callable, Sequence

List = Sequence[tuple[str, float]]
Fused = dict[str, float]
BAYES_BOUNDS = (0, 5, 10, 15, 20, 30, 100, 200, 500, 1000)
SEGMENTS = (0, 5, 15, 35, 75, 155, 315, 635, 1275, 2555, 5115)


def candidates(runs: Sequence[List]) -> list[str]:
    return sorted({doc for run in runs for doc, _ in run})


def scores_of(doc: str, runs: Sequence[List]) -> list[float]:
    return [score for run in runs for other, score in run if other == doc]


def rank_of(doc: str, run: List) -> int | None:
    docs = [other for other, _ in run]
    return docs.index(doc) + 1 if doc in docs else None


def of_scores(combine: Callable[[list[float]], float]) -> Callable[..., Fused]:
    def fuse(runs: Sequence[List], _: Sequence[float]) -> Fused:
        return {doc: combine(scores_of(doc, runs)) for doc in candidates(runs)}

    return fuse


def weighted(combine: Callable[[list[tuple[float, float]]], float]) -> Callable[..., Fused]:
    def fuse(runs: Sequence[List], weights: Sequence[float]) -> Fused:
        found = {}
        for doc in candidates(runs):
            pairs = [(w, s) for w, run in zip(weights, runs, strict=True) for other, s in run if other == doc]
            found[doc] = combine(pairs)
        return found

    return fuse


def of_ranks(value: Callable[[int], float], factor: Callable[[int], float] = lambda _: 1.0) -> Callable[..., Fused]:
    def fuse(runs: Sequence[List], weights: Sequence[float]) -> Fused:
        found = {}
        for doc in candidates(runs):
            ranks = [(w, rank_of(doc, run)) for w, run in zip(weights, runs, strict=True)]
            values = [w * value(rank) for w, rank in ranks if rank is not None]
            found[doc] = factor(len(values)) * math.fsum(values)
        return found

    return fuse


def borda(runs: Sequence[List], weights: Sequence[float]) -> Fused:
    n_candidates = len(candidates(runs))
    found = {}
    for doc in candidates(runs):
        total = 0.0
        for weight, run in zip(weights, runs, strict=True):
            rank = rank_of(doc, run)
            left = (n_candidates - len(run) + 1) / 2
            total += weight * (left if rank is None else n_candidates - rank + 1)
        found[doc] = total
    return found


def copeland(runs: Sequence[dict[str, float]], weights: Sequence[float]) -> Fused:
    """Of runs as dicts, with ties: a run votes for what it has higher, half for equal ones."""
    docs = sorted({doc for run in runs for doc in run})
    found = {}
    for doc in docs:
        points = 0.0
        for other in docs:
            if other == doc:
                continue
            votes = 0.0
            for weight, run in zip(weights, runs, strict=True):
                own, its = run.get(doc, -math.inf), run.get(other, -math.inf)
                votes += weight * (1.0 if own > its else 0.5 if own == its else 0.0)
            half = sum(weights) / 2
            points += 0.5 if math.isclose(votes, half) else float(votes > half)
        found[doc] = points
    return found


METHODS: dict[str, Callable[..., Fused]] = {
    "min": of_scores(min),
    "max": of_scores(max),
    "med": of_scores(statistics.median),
    "sum": of_scores(sum),
    "anz": of_scores(statistics.fmean),
    "mnz": of_scores(lambda scores: len(scores) * sum(scores)),
    "gmnz": of_scores(lambda scores: len(scores) ** 0.5 * sum(scores)),
    "wmnz": weighted(lambda pairs: sum(s for _, s in pairs) * sum(w for w, _ in pairs)),
    "wsum": weighted(lambda pairs: sum(w * s for w, s in pairs)),
    "mixed": weighted(lambda pairs: math.sqrt(len(pairs)) * sum(w * s for w, s in pairs)),
    "rrf": of_ranks(lambda rank: 1 / (20 + rank)),
    "isr": of_ranks(lambda rank: 1 / rank**2, float),
    "log_isr": of_ranks(lambda rank: 1 / rank**2, math.log),
    "logn_isr": of_ranks(lambda rank: 1 / rank**2, lambda n: math.log(n + 0.25)),
    "rbc": of_ranks(lambda rank: 0.3 * 0.7 ** (rank - 1)),
    "bordafuse": borda,
    "w_bordafuse": borda,
}
PARAMETERS: dict[str, dict[str, float]] = {
    "gmnz": {"gamma": 0.5},
    "rrf": {"k": 20},
    "logn_isr": {"sigma": 0.25},
    "rbc": {"phi": 0.7},
    "probfuse": {"n_segments": 3},
    "slidefuse": {"w": 2},
}


def arithmetic(runs: Sequence[List], weights: Sequence[float]) -> Fused:
    found = {}
    for doc in candidates(runs):
        scores = [dict(run).get(doc, 0.0) for run in runs]
        kept = [(w, s) for w, s in zip(weights, scores, strict=True) if s >= 0]
        found[doc] = sum(w * s for w, s in kept) / sum(w for w, _ in kept) if kept else 0.0
    return found


def geometric(pairs: list[tuple[float, float]]) -> float:
    kept = [(w, s) for w, s in pairs if s > 0]
    return math.prod(s**w for w, s in kept) ** (1 / sum(w for w, _ in kept)) if kept else 0.0


def harmonic(pairs: list[tuple[float, float]]) -> float:
    kept = [(w, s) for w, s in pairs if s > 0]
    return sum(w for w, _ in kept) / sum(w / s for w, s in kept) if kept else 0.0


METHODS |= {"arithmetic_mean": arithmetic, "geometric_mean": weighted(geometric), "harmonic_mean": weighted(harmonic)}


def min_max(scores: list[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(s - low) / (high - low) if high > low else 0.0 for s in scores]


def sum_norm(scores: list[float]) -> list[float]:
    low, total = min(scores), sum(s - min(scores) for s in scores)
    return [(s - low) / total if total else 0.0 for s in scores]


def zmuv(scores: list[float]) -> list[float]:
    mean, std = statistics.fmean(scores), statistics.pstdev(scores)
    return [(s - mean) / std if len({*scores}) > 1 else 0.0 for s in scores]


def dbsf(scores: list[float]) -> list[float]:
    if len({*scores}) == 1:
        return [0.5] * len(scores)
    mean, std = statistics.fmean(scores), statistics.stdev(scores)
    return [(s - (mean - 3 * std)) / (6 * std) for s in scores]


NORMS: dict[str, Callable[[list[float]], list[float]]] = {
    "min-max": min_max,
    "max": lambda scores: [s / max(scores) for s in scores],
    "sum": sum_norm,
    "zmuv": zmuv,
    "rank": lambda scores: [1 - n / len(scores) for n in range(len(scores))],
    "l2": lambda scores: [s / math.sqrt(sum(other**2 for other in scores)) for s in scores],
    "dbsf": dbsf,
}


def learned(  # noqa: C901 - a method each
    method: str, run: Sequence[tuple[List, set[str]]], rank: int, length: int
) -> float:
    """Return what a rank of a list of some length is worth, of a run with its lists and their relevant documents."""
    hits = [[float(doc in relevant) for doc, _ in ranked] for ranked, relevant in run]
    n_lists = len(hits)
    if method == "mapfuse":
        values = []
        for found, (_, relevant) in zip(hits, run, strict=True):
            precisions = [sum(found[: n + 1]) / (n + 1) for n, hit in enumerate(found) if hit]
            values.append(sum(precisions) / len(relevant) if relevant else 0.0)
        return statistics.fmean(values) / rank
    if method == "bayesfuse":
        for first, last in itertools.pairwise(BAYES_BOUNDS):
            if first < rank <= last:
                share = statistics.fmean(sum(found[first:last]) / (last - first) for found in hits) or 0.001
                return math.log(share / ((1 - share) or 0.001))
    if method == "segfuse":
        for first, last in itertools.pairwise(SEGMENTS):
            if first < rank <= last:
                return sum(sum(found[first:last]) for found in hits) / (last - first) / n_lists
    if method == "probfuse":
        n_segments = int(PARAMETERS["probfuse"]["n_segments"])
        segment = (rank - 1) // math.ceil(length / n_segments)
        total = 0.0
        for found in hits:
            size = math.ceil(len(found) / n_segments)
            own = found[segment * size : (segment + 1) * size]
            total += sum(own) / len(own) if own else 0.0
        return total / n_lists / (segment + 1)
    shares = []
    for place in range(max(map(len, hits))):
        own = [found[place] for found in hits if place < len(found)]
        shares.append(statistics.fmean(own))
    if method == "posfuse":
        return shares[rank - 1] if rank <= len(shares) else 0.0
    width = int(PARAMETERS["slidefuse"]["w"])
    first, last = max(rank - 1 - width, 0), min(rank - 1 + width, length - 1)
    return sum(shares[first : last + 1]) / (last - first + 1)


def fuse_learned(method: str, runs: Sequence[List], trained: Sequence[Sequence[tuple[List, set[str]]]]) -> Fused:
    found = {}
    for doc in candidates(runs):
        values = []
        for run, own in zip(runs, trained, strict=True):
            rank = rank_of(doc, run)
            if rank is not None:
                factor = dict(run)[doc] + 1 if method == "segfuse" else 1.0
                values.append(factor * learned(method, own, rank, len(run)))
            elif method == "bayesfuse":
                values.append(math.log(0.001 / 0.999))
        found[doc] = math.fsum(values)
    return found


LEARNED = ("mapfuse", "bayesfuse", "posfuse", "probfuse", "segfuse", "slidefuse")
