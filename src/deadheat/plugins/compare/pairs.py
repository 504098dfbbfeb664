"""All rows of a comparison at once, as columns: differences and what tests, intervals and ties say of them."""

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
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
    normal_errors_of,
    normal_flips,
    subtract_sides,
)
from deadheat.plugins.compare.pair import Pairs
from deadheat.plugins.compare.pair_parts import ComparedPairs, pair_parts
from deadheat.plugins.compare.stack import K, Stack, split_pairs
from deadheat.plugins.compare.testing import check_tukey, correct_p_values, test_pairs

LIKELY = 0.05  # probability of a reversal that is worth saying
MOST_CELLS = 1 << 19  # judged documents of many sides whose orders are looked at; with more, those of the leading
LEADING = 3  # systems
BYTES = 300  # of memory for a pair
SECONDS = 1.2e-5  # of a pair
FLIP_SECONDS = 1.5e-9  # of a sign flip of a pair, on one core


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
    parts = pair_parts(_iterate_sides(measures))
    for part in parts:
        design = part.change_design(design)
    measures = _share_orders(measures)
    pairs = _prepare_pairs(measures, places, design, cluster)
    n_pairs = len(pairs.first)
    _warn_of_many(n_pairs, design)
    columns = _describe_pairs(pairs)
    with phase("testing differences"):
        columns |= test_pairs(pairs, len(measures))
    for part in parts:
        part.change(columns, pairs)
    columns |= correct_p_values(columns, design, np.repeat(np.arange(len(measures)), len(places)))
    with phase("flips", n_pairs) as advance:
        _refine_flips(columns, measures, places)
        advance(n_pairs)
    has_no_ranking = np.repeat(np.array([not measure.knows_ties for measure in asked]), len(places))
    if has_no_ranking.any():
        columns["can_flip"] = np.where(has_no_ranking, None, columns["can_flip"])
    names = np.array([name_of(key) for key in measures[0]], object)
    labels = np.array([measure.label for measure in asked], object)
    unknown = np.broadcast_to(np.array(None, object), n_pairs)  # takes no memory for each of very many pairs
    return Pairs(
        {
            "measure": np.repeat(labels, len(places)),
            "system": names[pairs.first % len(names)],
            "baseline": names[pairs.second % len(names)],
            **columns,
            "n_clusters": columns.get("n_clusters", unknown),
            "n_effective": columns.get("n_effective", unknown),
            "method": np.broadcast_to(np.array(design.difference_method, object), n_pairs),
        }
    )


def _iterate_sides(measures: Sequence[Mapping[K, Side]]) -> Iterator[Side]:
    """Give the sides of all measures."""
    for sides in measures:
        yield from sides.values()


def _share_orders(measures: Sequence[Mapping[K, Side]]) -> Sequence[Mapping[K, Side]]:
    """Return the sides with what may be spent on tie orders shared among them, where they are many."""
    n_sides = len(measures) * len(measures[0])
    if n_sides <= FEW_SIDES:
        return measures
    share = FEW_SIDES / n_sides
    measures_with_share = []
    for sides in measures:
        sides_with_share = {}
        for key, side in sides.items():
            parts = tuple(replace(part, share=share) for part in side.parts)
            sides_with_share[key] = replace(side, share=share, parts=parts)
        measures_with_share.append(sides_with_share)
    return measures_with_share


def _prepare_pairs(
    measures: Sequence[Mapping[K, Side]], places: Sequence[tuple[K, K]], design: Design, cluster: IntArray | None
) -> ComparedPairs:
    """Stack all sides, and find the rows of the pairs: by measure, then in the order of `places`."""
    stack = Stack.of(measures)
    n_measures, n_sides = len(measures), len(measures[0])
    row_of = {key: n for n, key in enumerate(measures[0])}
    systems = np.fromiter((row_of[system] for system, _ in places), np.int32, len(places))
    baselines = np.fromiter((row_of[baseline] for _, baseline in places), np.int32, len(places))
    first = np.concatenate([systems + n * n_sides for n in range(n_measures)])
    second = np.concatenate([baselines + n * n_sides for n in range(n_measures)])
    n_blocks = len(split_pairs(len(first), stack.values.shape[1]))
    if n_blocks > 1 and not isinstance(design.rng, int):  # all blocks share the resamples
        seed = int(random_generator(design.rng).integers(1 << 63))
        design = replace(design, rng=seed)
    return ComparedPairs(stack, first, second, design, cluster)


def _warn_of_many(n_pairs: int, design: Design) -> None:
    """Warn, before anything is computed, of pairs that take long."""
    n_flips = design.n_resamples if design.test == RANDOMIZATION else 0
    seconds_of_pair = SECONDS + n_flips * FLIP_SECONDS / (os.cpu_count() or 1)
    warn_of_time(
        f"comparing {n_pairs:,} pairs, in {n_pairs * BYTES / 1e9:.1f} GB of memory,",
        n_pairs * seconds_of_pair,
        ": with a baseline, or fewer measures, they are fewer",
    )


def _describe_pairs(pairs: ComparedPairs) -> dict[str, Any]:
    """Return all columns that need no test, by the names of the fields of `Pair`; several blocks on all cores."""
    n_pairs, n_queries = len(pairs.first), pairs.stack.values.shape[1]
    blocks = split_pairs(n_pairs, n_queries)
    describe = partial(_describe_block, pairs)
    columns: dict[str, Any] = {}
    with phase("comparing pairs", n_pairs) as advance, ThreadPoolExecutor(os.cpu_count()) as executor:
        columns_of_blocks: Iterator[dict[str, AnyArray]]
        if len(blocks) > 1:
            columns_of_blocks = executor.map(describe, blocks)
        else:
            columns_of_blocks = map(describe, blocks)
        for block, columns_of_block in zip(blocks, columns_of_blocks, strict=True):
            for name, column in columns_of_block.items():
                if name not in columns:
                    columns[name] = np.empty(n_pairs, column.dtype)
                columns[name][block] = column
            advance(block.stop - block.start)
    return columns


@dataclass(frozen=True, eq=False)
class PairBlock:
    """Some pairs, and the factors of queries in their sums.

    Attributes
    ----------
    stack : Stack
    first, second : ndarray of int, shape (n_pairs,)
        The rows of the system and of the baseline of each pair in the stack.
    gap : ndarray of float, shape (n_pairs, n_queries)
        Value of the system less that of the baseline; NaN where one has none.
    expected_gap : ndarray of float, shape (n_pairs, n_queries)
        The same over all tie orders.
    has_both : ndarray of bool, shape (n_pairs, n_queries)
        Whether both have a value.
    factors : ndarray of float, shape (n_pairs, n_queries)
        The weight of each query, over the largest of its pair; 0 where a value lacks.
    is_plain : bool
        Whether all factors are 1.
    n_queries : ndarray of int, shape (n_pairs,)
        How many queries have a value of both.
    total : ndarray of float, shape (n_pairs,)
        The sum of the factors.
    weights : ndarray of float, shape (n_queries, n_pairs), or None
        As they were given, queries first, as the statistics take them; None: all count the same.
    """

    stack: Stack
    first: IntArray
    second: IntArray
    gap: FloatArray
    expected_gap: FloatArray
    has_both: BoolArray
    factors: FloatArray
    is_plain: bool
    n_queries: IntArray
    total: FloatArray
    weights: FloatArray | None

    @classmethod
    def of(cls, pairs: ComparedPairs, places: slice) -> "PairBlock":
        """Return the pairs at some places."""
        stack, first, second = pairs.stack, pairs.first[places], pairs.second[places]
        gap = pairs.differences(places)
        has_both = ~np.isnan(gap)
        weights = pairs.weights(places)
        factors = has_both.astype(np.float64) if weights is None else np.where(has_both, weights, 0.0)
        largest = factors.max(axis=1, keepdims=True, initial=0.0)
        factors /= np.maximum(largest, np.finfo(float).tiny)
        return cls(
            stack=stack,
            first=first,
            second=second,
            gap=gap,
            expected_gap=stack.mean[first] - stack.mean[second],
            has_both=has_both,
            factors=factors,
            is_plain=weights is None and bool(has_both.all()),
            n_queries=has_both.sum(axis=1, dtype=np.int32),
            total=factors.sum(axis=1),
            weights=None if weights is None else weights.T,
        )

    def weigh(self, values: FloatArray, power: int = 1) -> FloatArray:
        """Return values times a power of the factors; 0 where a value lacks."""
        if self.is_plain:
            return values
        return np.where(self.has_both, self.factors**power * values, 0.0)

    def sum_up(self, values: FloatArray, power: int = 1) -> FloatArray:
        """Return the weighted sum of each pair."""
        return np.asarray(self.weigh(values, power).sum(axis=1))


def _describe_block(pairs: ComparedPairs, places: slice) -> dict[str, AnyArray]:
    """Return the columns of some pairs that need no test."""
    block = PairBlock.of(pairs, places)
    columns = _describe_means(block)
    columns |= _describe_intervals(block, pairs.design, pairs.cluster)
    columns |= _count_queries(block, pairs.cluster)
    columns |= _describe_flips(block)
    return columns


def _describe_means(block: PairBlock) -> dict[str, AnyArray]:
    """Return the means of some pairs and of their differences, also over tie orders, and how these spread."""
    stack, first, second = block.stack, block.first, block.second
    with np.errstate(divide="ignore", invalid="ignore"):  # of pairs without a query
        difference = block.sum_up(block.gap) / block.total
        system_mean = block.sum_up(stack.values[first]) / block.total
        baseline_mean = block.sum_up(stack.values[second]) / block.total
        expected_difference = block.sum_up(block.expected_gap) / block.total
        doc_id_difference = block.sum_up(stack.by_doc_id[first] - stack.by_doc_id[second]) / block.total
        is_geometric = stack.is_geometric[first]
        np.exp(system_mean, out=system_mean, where=is_geometric)
        np.exp(baseline_mean, out=baseline_mean, where=is_geometric)
        squares = block.sum_up((block.gap - difference[:, None]) ** 2)
        variance = squares / (block.total * (block.n_queries - 1) / block.n_queries)
        std = np.where(block.n_queries > 1, np.sqrt(variance), np.nan)
        tie_variance = block.sum_up(stack.variance[first] + stack.variance[second], 2)
        tie_standard_error = np.sqrt(tie_variance) / block.total
        effect_without_spread = np.where(
            np.abs(difference) > NEGLIGIBLE_DIFFERENCE, np.copysign(np.inf, difference), 0.0
        )
        has_spread = (std > NEGLIGIBLE_DIFFERENCE) | np.isnan(std)
        effect_size = np.where(has_spread, difference / std, effect_without_spread)
    is_different_by_doc_id = np.abs(doc_id_difference) > NEGLIGIBLE_DIFFERENCE
    is_different = np.abs(expected_difference) > NEGLIGIBLE_DIFFERENCE
    has_other_sign = doc_id_difference * expected_difference < 0
    return {
        "mean": system_mean,
        "baseline_mean": baseline_mean,
        "difference": difference,
        "effect_size": effect_size,
        "tie_standard_error": np.where(block.n_queries > 0, tie_standard_error, np.nan),
        "std": std,
        "expected_difference": expected_difference,
        "doc_id_difference": doc_id_difference,
        "doc_id_reverses": is_different_by_doc_id & is_different & has_other_sign,
    }


def _describe_intervals(block: PairBlock, design: Design, cluster: IntArray | None) -> dict[str, AnyArray]:
    """Return the confidence intervals of some pairs, and whether skewness makes them doubtful."""
    low, high = interval_bounds(
        block.gap.T,
        method=design.difference_method,
        confidence_level=design.confidence_level,
        n_resamples=design.n_resamples,
        rng=design.rng,
        cluster=cluster,
        weights=block.weights,
    )
    skew, n_units = skewness(block.gap.T, cluster=cluster, weights=block.weights)
    expected_gap = np.where(block.has_both, block.expected_gap, np.nan)
    return {
        "low": low,
        "high": high,
        "standard_error": standard_errors(expected_gap.T, cluster=cluster, weights=block.weights),
        "skewness": skew,
        "doubtful": is_doubtful(skew, n_units, design.test),
    }


def _count_queries(block: PairBlock, cluster: IntArray | None) -> dict[str, AnyArray]:
    """Count the queries of some pairs: won, drawn, lost and all; their clusters; and how many they are worth."""
    gain = block.stack.sign[block.first, None] * block.gap
    columns: dict[str, AnyArray] = {
        "wins": (gain > NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "draws": (np.abs(block.gap) <= NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "losses": (gain < -NEGLIGIBLE_DIFFERENCE).sum(axis=1, dtype=np.int32),
        "n_queries": block.n_queries,
    }
    if cluster is not None:
        n_clusters = [len(np.unique(cluster[has_both])) for has_both in block.has_both]
        columns["n_clusters"] = np.array(n_clusters, object)
    if block.weights is not None:
        n_effective: list[float | None] = []
        for row, factors in zip(block.first.tolist(), block.factors, strict=True):
            if block.stack.sides[row].weights is None:
                n_effective.append(None)
            else:
                n_effective.append(weighting.effective_number(factors[factors > 0]))
        columns["n_effective"] = np.array(n_effective, object)
    return columns


def _describe_flips(block: PairBlock) -> dict[str, AnyArray]:
    """Return what tie orders do to the signs of differences, by normal distributions where no order says it."""
    stack, first, second = block.stack, block.first, block.second
    n = np.maximum(block.total, 1.0)
    difference = block.sum_up(block.expected_gap)
    lowest = block.sum_up(stack.low[first] - stack.high[second]) / n
    highest = block.sum_up(stack.high[first] - stack.low[second]) / n
    variances = [block.weigh(stack.variance[rows], 2) for rows in (first, second)]
    deviations = [block.weigh(stack.deviation[rows]) for rows in (first, second)]
    variance = sum(variances_of_side.sum(axis=1) for variances_of_side in variances) / n**2
    most_off = normal_errors_of(difference, variances, deviations, stack.is_exact[first] & stack.is_exact[second])
    probability, can_flip, method, standard_error = normal_flips(
        difference / n, variance, lowest, highest, most_off, difference / n
    )
    return {
        "flip_probability": probability,
        "can_flip": can_flip,
        "flip_method": method,
        "flip_standard_error": standard_error,
    }


def _refine_flips(columns: dict[str, Any], measures: Sequence[Mapping[K, Side]], places: Sequence[tuple[K, K]]) -> None:
    """Put exact probabilities of a reversal, or those of drawn orders, in place of normal ones that may be off."""
    is_refined = np.split(_choose_flips(columns, measures, places), len(measures))
    for n, sides in enumerate(measures):
        sums = TieSums(sides)
        for place in np.flatnonzero(is_refined[n]).tolist():
            row = n * len(places) + place
            system, baseline = places[place]
            refined = _find_flip(sums, system, baseline, columns["flip_standard_error"][row])
            if refined is not None:
                columns["flip_probability"][row] = refined.probability
                columns["can_flip"][row] = refined.can_flip
                columns["flip_method"][row] = refined.method
                columns["flip_standard_error"][row] = refined.standard_error


def _choose_flips(
    columns: Mapping[str, Any], measures: Sequence[Mapping[K, Side]], places: Sequence[tuple[K, K]]
) -> BoolArray:
    """Return the pairs whose orders are listed or drawn, of shape (n_measures * n_places,).

    Of many systems those alone that may well be reversed: others are not shown. Of very many those of the systems that
    lead.
    """
    is_normal: BoolArray = columns["flip_method"] == "normal"
    if not is_normal.any():
        return is_normal
    sides_with_orders = [side for side in _iterate_sides(measures) if side.can_draw]
    if not sides_with_orders or sides_with_orders[0].share >= LITTLE:
        return is_normal
    is_likely = columns["flip_probability"] + columns["flip_standard_error"] >= LIKELY
    n_cells = sum(len(side.placements.query) for side in sides_with_orders)
    if n_cells <= MOST_CELLS:
        return is_normal & is_likely
    is_of_leading = np.concatenate([_are_leading(sides, places) for sides in measures])
    return is_normal & is_likely & is_of_leading


def _are_leading(sides: Mapping[K, Side], places: Sequence[tuple[K, K]]) -> BoolArray:
    """Tell which pairs are of two systems that lead by a measure, or of one of them and one of few baselines."""
    means = {}
    for key, side in sides.items():
        if not np.isnan(side.values).all():
            means[key] = side.measure.sign * float(np.nanmean(side.values))
    leading = set(sorted(means, key=means.__getitem__, reverse=True)[:LEADING])
    baselines = {baseline for _, baseline in places}
    opponents = baselines if len(baselines) <= LEADING else leading
    return np.array([system in leading and baseline in opponents for system, baseline in places], np.bool_)


def _find_flip(sums: TieSums, system: Hashable, baseline: Hashable, normal_error: float) -> Flip | None:
    """Return what tie orders do to the sign of the difference of two systems: exact if possible, sampled if need be.

    None if neither is feasible, or the normal distribution, which is off by so much at most, will do.
    """
    gap = subtract_sides(sums.sides[system], sums.sides[baseline])
    has_both: BoolArray = ~np.isnan(gap.values)
    distributions = sums.distributions(system, baseline, has_both, normal_error)
    if not distributions:
        return None
    factors = gap.factors(has_both)
    n = max(float(factors.sum()), 1.0)
    return flip(
        difference=float((factors * gap.mean[has_both]).sum() / n),
        tie_variance=float((factors**2 * gap.variance[has_both]).sum() / n**2),
        lowest=float((factors * gap.low[has_both]).sum() / n),
        highest=float((factors * gap.high[has_both]).sum() / n),
        distributions=distributions,
    )


def list_pairs(names: Sequence[str], baselines: Sequence[str]) -> list[tuple[str, str]]:
    """Return (system, baseline) of each pair: of every two, or of all with each baseline."""
    if not baselines:
        return [(second, first) for first, second in combinations(names, 2)]
    pairs: list[tuple[str, str]] = []
    for n, baseline in enumerate(baselines):
        passed_over = {baseline, *baselines[:n]}  # of two baselines one pair is enough
        pairs += [(name, baseline) for name in names if name not in passed_over]
    return pairs
