"""What p values cannot fall below: with few queries, few resamples, or many tests."""

import math
from collections import Counter

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, run_starts
from deadheat.core.design import RANDOMIZATION, Design
from deadheat.plugins.compare.pair import Pair, Pairs

MULTIPLIED = ("holm", "bonferroni")  # the corrections that multiply the least p by the number of tests
OF_SIGNS = (RANDOMIZATION, "wilcoxon", "sign")  # k differences that are not 0 have 2^k patterns of signs


def n_units(pair: Pair) -> int:
    """Return what a pair's tests count: queries, or clusters; with weights no more whole ones than they are worth."""
    n = pair.n_queries if pair.n_clusters is None else pair.n_clusters
    return n if pair.n_effective is None else min(n, int(pair.n_effective))


def n_differing(pair: Pair) -> int:
    """Return how many queries differ; of clusters the most that can."""
    n = pair.wins + pair.losses
    return n if pair.n_clusters is None else min(n, pair.n_clusters)


def least_p(pair: Pair, design: Design) -> float:
    """Return the p value that a test of signs cannot fall below, however large the differences are; else 0.

    Examples
    --------
    Of three queries that differ one of the eight patterns of signs is all of theirs, and one the opposite.

    >>> from deadheat import compare
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> good = {query: {"a": 2, "b": 1} for query in qrels}
    >>> poor = {query: {"a": 1 if query < "q3" else 3, "b": 2} for query in qrels}
    >>> found = compare(qrels, {"good": good, "poor": poor}, "RR")
    >>> least_p(found.pairs[0], found.design), found.pairs[0].p_value
    (0.25, 0.25)
    """
    return float(least_ps(Pairs.of([pair]), design)[0])


def units_of(pairs: "Pairs") -> FloatArray:
    """Return what :func:`n_units` does for each of many pairs, of shape (n_pairs,)."""
    columns = [pairs.column(name) for name in ("n_queries", "n_clusters", "n_effective")]
    starts = run_starts(*columns)
    n_queries, n_clusters, n_effective = (column[starts].astype(np.float64) for column in columns)
    units = np.fmin(np.where(np.isnan(n_clusters), n_queries, n_clusters), np.floor(n_effective))
    return np.repeat(units, np.diff(starts, append=len(pairs)))


def least_ps(pairs: "Pairs", design: Design) -> FloatArray:
    """Return what :func:`least_p` does for each of many pairs, of shape (n_pairs,)."""
    if design.test not in OF_SIGNS:
        return np.zeros(len(pairs))
    differing = np.fmin(pairs.column("wins") + pairs.column("losses"), pairs.column("n_clusters").astype(np.float64))
    least = np.minimum(1.0, 0.5 ** (differing - (design.alternative == "two-sided")))
    return np.where(pairs.column("exact_p_value"), least, 0.0)


def least_adjusted(pairs: "Pairs", design: Design) -> tuple[int, float]:
    """Return for how many tests p values are corrected, and what those of resamples cannot fall below then; else 0."""
    is_tested = ~np.isnan(pairs.column("p_value").astype(np.float64))
    n_tests = max(Counter(pairs.column("measure")[is_tested].tolist()).values(), default=0)
    n_resamples = n_resamples_of(pairs)
    is_multiplied = design.correction in MULTIPLIED and n_resamples > 0
    return n_tests, min(1.0, n_tests / (n_resamples + 1)) if is_multiplied else 0.0


def n_resamples_of(pairs: "Pairs") -> int:
    """Return the most resamples that the p value of a pair was counted in; 0 if none was counted."""
    return int(pairs.column("n_resamples").max(initial=0))


def are_uncounted_bounds(pairs: "Pairs") -> BoolArray:
    """Return which p values are bounds without resamples: see `FamilyTest.is_bound`."""
    return pairs.column("p_is_bound").astype(np.bool_) & (pairs.column("n_resamples") == 0)


def is_least(p_value: float, n_resamples: int) -> bool:
    """Return whether a p value is the least that resamples give, as none of them was as extreme."""
    return n_resamples > 0 and p_value * (n_resamples + 1) < 1.5


def beyond_resamples(n_tests: int, design: Design) -> str:
    """Say what can be significant where the correction for so many tests raises p of resamples above the level."""
    n_enough = math.ceil(n_tests / (1 - design.confidence_level))
    return f"only exact p can be significant. Use the correction max-t, a baseline, or {n_enough:,} resamples"
