"""The numbers of all strata of one measure at once, as arrays: to the last bit those of the scores of each stratum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, use_default_arithmetic
from deadheat.core.evaluation.parts import EstimatesMean
from deadheat.core.evaluation.reported import ReportedNumbers
from deadheat.core.kernels.exact_sums import sum_segments

if TYPE_CHECKING:
    from deadheat.core.evaluation.scores import Scores
    from deadheat.core.evaluation.stratum_places import StratumPlaces


@dataclass(frozen=True, eq=False)
class StrataNumbers:
    """What `Scores` of the same names say of each stratum; each is of shape (n_strata,).

    Attributes
    ----------
    n_queries : ndarray of int
    mean, mean_tie_std, mean_tie_min, mean_tie_max : ndarray of float
    """

    n_queries: IntArray
    mean: FloatArray
    mean_tie_std: FloatArray
    mean_tie_min: FloatArray
    mean_tie_max: FloatArray


def are_means_of_values(scores: Scores) -> bool:
    """Tell whether the means of strata are those of values: no part estimates them with more."""
    return not any(isinstance(part, EstimatesMean) for part in scores.parts.values())


def collect_numbers(scores_of_strata: Sequence[Scores]) -> StrataNumbers:
    """Return the numbers of strata whose scores were made, as where a part estimates their means."""
    return StrataNumbers(
        np.array([scores.n_queries for scores in scores_of_strata], np.int64),
        np.array([scores.mean for scores in scores_of_strata], np.float64),
        np.array([scores.mean_tie_std for scores in scores_of_strata], np.float64),
        np.array([scores.mean_tie_min for scores in scores_of_strata], np.float64),
        np.array([scores.mean_tie_max for scores in scores_of_strata], np.float64),
    )


@use_default_arithmetic
def compute_numbers(scores: Scores, strata: StratumPlaces) -> StrataNumbers:
    """Return the numbers of all strata, whose means are those of values."""
    mean, counts = _average(scores, scores.values, strata)
    low, _ = _average(scores, scores.tie_min, strata)
    high, _ = _average(scores, scores.tie_max, strata)
    places, bounds = select_places(strata, scores.kept)
    weights = _select_weights(scores, places, bounds)
    variance_of_sum = sum_segments((weights * scores.tie_std[places]) ** 2, bounds)
    with np.errstate(invalid="ignore"):  # of no query
        std = np.sqrt(variance_of_sum) / sum_segments(weights, bounds)
    if scores.measure.geometric:
        std = std * mean  # the values are logarithms: to first order
    return StrataNumbers(counts, mean, std, low, high)


@use_default_arithmetic
def compute_totals(scores: Scores, strata: StratumPlaces) -> list[ReportedNumbers]:
    """Return what is reported of a count in each stratum: that of its total."""
    counts = strata.count_queries(scores.kept)
    totals = _add_up(scores.values, strata)
    if not scores.measure.knows_ties:
        return [
            ReportedNumbers(n_queries, total, math.nan, math.nan, math.nan, math.nan)
            for n_queries, total in zip(counts.tolist(), totals.tolist(), strict=True)
        ]
    std = np.sqrt(_add_up(scores.tie_std**2, strata))
    low = _add_up(scores.tie_min, strata)
    high = _add_up(scores.tie_max, strata)
    columns = (counts, totals, std, low, high, high - low)
    return list(map(ReportedNumbers, *(column.tolist() for column in columns)))


def report_means(numbers: StrataNumbers) -> list[ReportedNumbers]:
    """Return what is reported of each stratum whose mean is that of values."""
    low = numbers.mean_tie_min
    high = numbers.mean_tie_max
    columns = (numbers.n_queries, numbers.mean, numbers.mean_tie_std, low, high, high - low)
    return list(map(ReportedNumbers, *(column.tolist() for column in columns)))


def _add_up(values: FloatArray, strata: StratumPlaces) -> FloatArray:
    """Return the sum of the values of each stratum; NaN counts as 0."""
    numbers = np.where(np.isnan(values), 0.0, values)
    return sum_segments(numbers[strata.places], strata.bounds)


def _average(scores: Scores, values: FloatArray, strata: StratumPlaces) -> tuple[FloatArray, IntArray]:
    """Return the mean of the values of each stratum, and how many there are; NaN where there are none."""
    places, bounds = select_places(strata, ~np.isnan(values))
    counts = np.diff(bounds)
    weights = _select_weights(scores, places, bounds)
    with np.errstate(invalid="ignore"):  # of no value
        means = sum_segments(weights * values[places], bounds) / sum_segments(weights, bounds)
    if scores.measure.geometric:
        means = np.array([math.exp(mean) for mean in means.tolist()])  # np.exp may differ in the last bit
    return means, counts


def select_places(strata: StratumPlaces, counts: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the places of the queries that count in each stratum, and where each stratum begins among them."""
    is_counted = counts[strata.places]
    n_before = np.append(0, np.cumsum(is_counted))
    return strata.places[is_counted], n_before[strata.bounds]


def _select_weights(scores: Scores, places: IntArray, bounds: IntArray) -> FloatArray:
    """Return the weight of each place over the largest one of its stratum."""
    if scores.weights is None:
        return np.ones(len(places))
    weights = scores.weights[places]
    firsts = bounds[:-1]
    sizes = np.diff(bounds)
    largest = np.ones(len(firsts))
    if len(places):
        largest[sizes > 0] = np.maximum.reduceat(weights, firsts[sizes > 0])
    return weights / np.repeat(largest, sizes)
