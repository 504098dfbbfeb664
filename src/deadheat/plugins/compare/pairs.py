"""Pair: one row of a comparison; all rows at once, as columns of one matrix; and pairs of bare lists of values."""

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from deadheat.core.arrays import AnyArray, BoolArray, FloatArray, IntArray, use_default_arithmetic
from deadheat.core.design import RANDOMIZATION, TUKEY, Design
from deadheat.core.errors import warn_of_time
from deadheat.core.kernels import weighting
from deadheat.core.measures import Measure
from deadheat.core.phases import phase
from deadheat.core.random_generators import random_generator
from deadheat.core.stats import interval_bounds, is_doubtful, skewness, standard_errors
from deadheat.core.stats.units import NEGLIGIBLE_DIFFERENCE
from deadheat.plugins.compare.flips import (
    FEW_SIDES,
    LITTLE,
    Flip,
    Side,
    TieSums,
    flip,
    gap_of,
    normal_errors_of,
    normal_flips,
)
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.pair_parts import ComparedPairs, pair_parts
from deadheat.plugins.compare.stack import K, Stack, block_size
from deadheat.plugins.compare.testing import check_tukey, corrected, test_pairs

LIKELY = 0.05  # probability of a reversal that is worth saying
MOST_CELLS = 1 << 19  # judged documents of many sides whose orders are looked at; with more, those of the leading
LEADING = 3  # systems
BYTES = 300  # of memory for a pair
SECONDS, FLIP_SECONDS = 1.2e-5, 1.5e-9  # of a pair, and of one of its flips on a core


@use_default_arithmetic
def compare_sides(
    asked: Sequence[Measure],
    measures: Sequence[Mapping[K, Side]],
    places: Sequence[tuple[K, K]],
    *,
    name_of: Callable[[K], str] = str,
    design: Design,
    cluster: IntArray | None,
) -> Pairs:
    """Compare some pairs of sides, in blocks of pairs, so that memory does not grow with their number but for results.

    Parameters
    ----------
    asked : sequence of Measure
    measures : sequence of mapping of key to Side, shape (n_measures,)
        Each with the same keys in the same order.
    places : sequence of (key, key)
        System and baseline of each pair.
    name_of : callable
        Returns what the rows call a side, by its key.
    design : Design
    cluster : ndarray of int, shape (n_queries,), or None

    Returns
    -------
    Pairs
        By measure, then in the order of `places`.
    """
    if design.test == TUKEY:
        check_tukey(measures, places, name_of)
    parts = pair_parts(side for own in measures for side in own.values())
    for part in parts:
        design = part.change_design(design)
    n_sides = len(measures[0])
    if n_sides * len(measures) > FEW_SIDES:
        share = FEW_SIDES / (n_sides * len(measures))
        measures = [
            {
                key: replace(side, share=share, parts=tuple(replace(part, share=share) for part in side.parts))
                for key, side in sides.items()
            }
            for sides in measures
        ]
    stack, row = Stack.of(measures), {key: n for n, key in enumerate(measures[0])}
    of_keys = np.fromiter((row[key] for pair in places for key in pair), np.int32, 2 * len(places)).reshape(-1, 2)
    first, second = (np.concatenate([own + n * n_sides for n in range(len(measures))]) for own in of_keys.T)
    size = block_size(stack)
    blocks = [(first[start : start + size], second[start : start + size]) for start in range(0, len(first), size)]
    if len(blocks) > 1 and not isinstance(design.rng, int):  # all blocks share the resamples
        design = replace(design, rng=int(random_generator(design.rng).integers(1 << 63)))
    n_flips = design.n_resamples if design.test == RANDOMIZATION else 0
    warn_of_time(  # before anything is computed
        f"comparing {len(first):,} pairs, in {len(first) * BYTES / 1e9:.1f} GB of memory,",
        len(first) * (SECONDS + n_flips * FLIP_SECONDS / (os.cpu_count() or 1)),
        ": with a baseline, or fewer measures, they are fewer",
    )
    columns: dict[str, Any] = {}
    with phase("comparing pairs", len(first)) as advance, ThreadPoolExecutor(os.cpu_count()) as beside:
        described = (beside.map if len(blocks) > 1 else map)(
            lambda block: _described(stack, block[0], block[1], design, cluster), blocks
        )
        for start, found in zip(range(0, len(first), size), described, strict=True):
            for name, column in found.items():
                if name not in columns:
                    columns[name] = np.empty(len(first), column.dtype)
                columns[name][start : start + len(column)] = column
            advance(len(found["difference"]))
    with phase("testing differences"):
        columns |= test_pairs(measures, stack, first, second, blocks, design, cluster)
    for part in parts:
        part.change(columns, ComparedPairs(stack, first, second, design, cluster))
    columns |= corrected(columns, design, np.repeat(np.arange(len(measures)), len(places)))
    with phase("flips", len(first)) as advance:
        _refine(columns, measures, places, advance)
    is_unknown = np.repeat(np.array([not one.knows_ties for one in asked]), len(places))  # of values without rankings
    if is_unknown.any():
        columns["can_flip"] = np.where(is_unknown, None, columns["can_flip"])
    names = np.array([name_of(key) for key in row], object)
    unknown = np.broadcast_to(np.array(None, object), len(first))  # of very many pairs, without memory for each
    return Pairs(
        {
            "measure": np.repeat(np.array([one.label for one in asked], object), len(places)),
            "system": names[first % n_sides],
            "baseline": names[second % n_sides],
            **columns,
            "n_clusters": columns.get("n_clusters", unknown),
            "n_effective": columns.get("n_effective", unknown),
            "method": np.broadcast_to(np.array(design.difference_method, object), len(first)),
        }
    )


def _described(stack: Stack, a: IntArray, b: IntArray, design: Design, cluster: IntArray | None) -> dict[str, AnyArray]:
    """Return what needs no test of some pairs of rows: means, intervals, effect sizes, wins, and what ties can do."""
    gap = stack.values[a] - stack.values[b]
    keep = ~np.isnan(gap)
    weights = None if stack.weights is None else stack.weights[a]
    own = keep.astype(np.float64) if weights is None else np.where(keep, weights, 0.0)
    own /= np.maximum(own.max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    n, total = keep.sum(axis=1, dtype=np.int32), own.sum(axis=1)
    is_plain = weights is None and bool(keep.all())

    def weighed(values: FloatArray, power: int = 1) -> FloatArray:
        return values if is_plain else np.where(keep, own**power * values, 0.0)

    def summed(values: FloatArray, power: int = 1) -> FloatArray:
        return np.asarray(weighed(values, power).sum(axis=1))

    expected, variance = stack.mean[a] - stack.mean[b], stack.variance[a] + stack.variance[b]
    with np.errstate(divide="ignore", invalid="ignore"):  # of pairs without a query
        mean, its, other, of_exact, of_rule = (
            summed(values) / total
            for values in (gap, stack.values[a], stack.values[b], expected, stack.by_doc_id[a] - stack.by_doc_id[b])
        )
        its, other = (np.exp(each, out=each, where=stack.is_geometric[a]) for each in (its, other))
        std = np.where(n > 1, np.sqrt(summed((gap - mean[:, None]) ** 2) / (total * (n - 1) / n)), np.nan)
        tie_error = np.sqrt(summed(variance, 2)) / total
        effect = np.where(
            (std > NEGLIGIBLE_DIFFERENCE) | np.isnan(std),
            mean / std,
            np.where(np.abs(mean) > NEGLIGIBLE_DIFFERENCE, np.copysign(np.inf, mean), 0.0),
        )
    better = stack.sign[a, None] * gap
    options: dict[str, Any] = {"cluster": cluster, "weights": None if weights is None else weights.T}
    low, high = interval_bounds(
        gap.T,
        method=design.difference_method,
        confidence_level=design.confidence_level,
        n_resamples=design.n_resamples,
        rng=design.rng,
        **options,
    )
    skew, sizes = skewness(gap.T, **options)
    is_other = (np.abs(of_rule) > NEGLIGIBLE_DIFFERENCE) & (np.abs(of_exact) > NEGLIGIBLE_DIFFERENCE)
    return {
        "mean": its,
        "baseline_mean": other,
        "difference": mean,
        "low": low,
        "high": high,
        "effect_size": effect,
        "wins": (better > NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "draws": (np.abs(gap) <= NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "losses": (better < -NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "n_queries": n,
        "standard_error": standard_errors(np.where(keep, expected, np.nan).T, **options),
        "tie_standard_error": np.where(n > 0, tie_error, np.nan),
        "std": std,
        "expected_difference": of_exact,
        "doc_id_difference": of_rule,
        "doc_id_reverses": is_other & (of_rule * of_exact < 0),
        "skewness": skew,
        "doubtful": is_doubtful(skew, sizes, design.test),
        **_worth(stack, a, own, keep, cluster),
        **_flips(stack, a, b, weighed, np.maximum(total, 1.0)),
    }


def _worth(
    stack: Stack, a: IntArray, own: FloatArray, keep: BoolArray, cluster: IntArray | None
) -> dict[str, AnyArray]:
    """Return how many clusters the queries of pairs fall into, and how many they are worth, if they have weights."""
    found = {}
    if cluster is not None:
        found["n_clusters"] = np.array([len(np.unique(cluster[kept])) for kept in keep], object)
    if stack.weights is not None:
        found["n_effective"] = np.array(
            [
                None if stack.sides[row].weights is None else weighting.effective_number(of_pair[of_pair > 0])
                for of_pair, row in zip(own, a.tolist(), strict=True)
            ],
            object,
        )
    return found


def _flips(
    stack: Stack, a: IntArray, b: IntArray, weighed: Callable[..., FloatArray], n: FloatArray
) -> dict[str, AnyArray]:
    """Return what tie orders do to the signs of differences, by normal distributions where no order says it."""
    difference = weighed(stack.mean[a] - stack.mean[b]).sum(axis=1)
    lowest = weighed(stack.low[a] - stack.high[b]).sum(axis=1) / n
    highest = weighed(stack.high[a] - stack.low[b]).sum(axis=1) / n
    variances = [weighed(stack.variance[rows], 2) for rows in (a, b)]
    deviations = [weighed(stack.deviation[rows]) for rows in (a, b)]
    variance = sum(of_side.sum(axis=1) for of_side in variances) / n**2
    most_off = normal_errors_of(difference, variances, deviations, stack.is_exact[a] & stack.is_exact[b])
    probability, can_flip, method, error = normal_flips(
        difference / n, variance, lowest, highest, most_off, difference / n
    )
    return {
        "flip_probability": probability,
        "can_flip": can_flip,
        "flip_method": method,
        "flip_standard_error": error,
    }


def _refine(
    columns: dict[str, Any],
    measures: Sequence[Mapping[K, Side]],
    places: Sequence[tuple[K, K]],
    advance: Callable[[int], None],
) -> None:
    """Put exact probabilities of a reversal, or those of drawn orders, in place of normal ones that may be off.

    Of many systems those of pairs alone that may well be reversed: others are not shown. Of very many those of the
    systems that lead.
    """
    doubtful = columns["flip_method"] == "normal"
    known = [side for sides in measures for side in sides.values() if doubtful.any() and side.can_draw]
    if known and known[0].share < LITTLE:
        n_cells = sum(len(side.placements.query) for side in known)
        doubtful &= columns["flip_probability"] + columns["flip_standard_error"] >= LIKELY
        if n_cells > MOST_CELLS:
            doubtful &= np.concatenate([_are_leading(sides, places) for sides in measures])
    for n, sides in enumerate(measures):
        sums = TieSums(sides)
        for place in np.flatnonzero(doubtful[n * len(places) : (n + 1) * len(places)]).tolist():
            row = n * len(places) + place
            found = _reversal(sums, *places[place], columns["flip_standard_error"][row])
            if found:
                columns["flip_probability"][row] = found.probability
                columns["can_flip"][row] = found.can_flip
                columns["flip_method"][row] = found.method
                columns["flip_standard_error"][row] = found.standard_error
    advance(len(doubtful))


def _are_leading(sides: Mapping[K, Side], places: Sequence[tuple[K, K]]) -> BoolArray:
    """Tell which pairs are of two systems that lead by a measure, or of one of them and one of few baselines."""
    of_some = {key: side for key, side in sides.items() if not np.isnan(side.values).all()}
    means = {key: side.measure.sign * float(np.nanmean(side.values)) for key, side in of_some.items()}
    leading = set(sorted(means, key=means.__getitem__, reverse=True)[:LEADING])
    baselines = {baseline for _, baseline in places}
    others = baselines if len(baselines) <= LEADING else leading
    return np.array([system in leading and baseline in others for system, baseline in places], np.bool_)


def pairs_of(names: Sequence[str], baselines: Sequence[str]) -> list[tuple[str, str]]:
    """Return (system, baseline) of each pair: of every two, or of all with each baseline."""
    if not baselines:
        return [(second, first) for first, second in combinations(names, 2)]
    done = {baseline: set(baselines[:n]) for n, baseline in enumerate(baselines)}  # of two baselines one pair is enough
    return [(name, one) for one in baselines for name in names if name != one and name not in done[one]]


def _reversal(sums: TieSums, a: Hashable, b: Hashable, normal_error: float) -> Flip | None:
    """Return what tie orders do to the sign of the difference of two systems: exact if possible, sampled if need be.

    None if neither is feasible, or the normal distribution, which is off by so much at most, will do.
    """
    gap = gap_of(sums.sides[a], sums.sides[b])
    keep: BoolArray = ~np.isnan(gap.values)
    found = sums.distributions(a, b, keep, normal_error)
    if not found:
        return None
    own = gap.factors(keep)
    n = max(float(own.sum()), 1.0)
    lowest, highest = (float((own * end[keep]).sum() / n) for end in (gap.low, gap.high))
    difference, variance = float((own * gap.mean[keep]).sum() / n), float((own**2 * gap.variance[keep]).sum() / n**2)
    return flip(difference, variance, lowest, highest, found)
