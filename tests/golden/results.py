"""What is kept of each kind of result."""

from __future__ import annotations

import numpy as np

import deadheat as dh
from golden.plain import Numbers, attributes

INTERVAL = """mean low high standard_error method n_queries n_clusters n_effective judge_weight skewness open_ends
doubtful quantile"""
PAIR = """system baseline mean baseline_mean difference low high p_value p_adjusted significant effect_size wins draws
losses flip_probability can_flip flip_method flip_standard_error n_queries standard_error tie_standard_error std
exact_p_value expected_difference doc_id_difference doc_id_reverses n_clusters method skewness doubtful n_effective
rerun_probability simultaneous_low simultaneous_high undecided n_resamples p_is_bound judge_weight"""


ESTIMATES = """system baseline difference low high p_value p_adjusted significant standard_error n_effective
simultaneous_low simultaneous_high undecided n_resamples doubtful skewness judge_weight rerun_probability"""


def spread_of(scores: dh.Scores) -> Numbers:
    """Return what the orders of ties can make of each query's value, and of the mean."""
    by_query = attributes(scores, "tie_std tie_min tie_max")
    of_mean = attributes(scores, "mean_tie_std mean_tie_min mean_tie_max")
    return {**by_query, **of_mean}


def sum_of(values: np.ndarray) -> float:
    """Return the sum of values times their place, which stands for all of them; NaN is -1."""
    known = np.where(np.isnan(values), -1.0, values)
    return float(np.sum(known * np.arange(1, len(values) + 1)))


def scores_of(scores: dh.Scores) -> Numbers:
    """Return the values of one measure and their spread."""
    values = attributes(scores, "values mean std total")
    return {**values, **spread_of(scores)}


def means_of(evaluation: dh.Evaluation) -> Numbers:
    """Return the mean of each measure with its spread."""
    names = "mean std mean_tie_std mean_tie_min mean_tie_max"
    return {str(scores.measure): attributes(scores, names) for scores in evaluation}


def interval_of(interval: dh.Interval) -> Numbers:
    """Return the numbers of an interval; with a judge also of the one from people's labels alone."""
    numbers = attributes(interval, INTERVAL)
    if interval.alone is not None:
        numbers["alone"] = attributes(interval.alone, "low high standard_error method")
    return numbers


def pair_of(pair: dh.Pair, names: str = ESTIMATES) -> Numbers:
    """Return the numbers of a difference; those that tests and intervals give, if no others are named."""
    return attributes(pair, names)


def pairs_of(comparison: dh.Comparison, names: str = ESTIMATES) -> Numbers:
    """Return the numbers of all differences by measure."""
    found: Numbers = {}
    for measure in comparison.measures:
        found[str(measure)] = [pair_of(pair, names) for pair in comparison[measure]]
    return found
