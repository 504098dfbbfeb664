"""Intervals of means: every method, and where clusters, weights, repeats, a judge and logarithms meet."""

from __future__ import annotations

from typing import Any

import numpy as np

import deadheat as dh
from golden.data import (
    HUMAN_LABELS,
    JUDGE_LABELS,
    JUDGED_RUNS,
    LABEL_WEIGHTS,
    MORE_LABELS,
    QRELS,
    QUERIES,
    REPEATS,
    RUNS,
    SESSIONS,
    WEIGHTS,
)
from golden.entries import entry
from golden.plain import Numbers, attributes
from golden.results import interval_of

EXACT = ["auto", "t", "skewed-t", "gaffke", "clopper-pearson"]
DRAWN = ["bca", "bootstrap-t", "percentile"]
MEASURES = ["nDCG@3", "AP", "DCG", "Hit@1", "P@2", "MR", "GMAP", "NumRelRet"]
FEW = ["nDCG@3", "DCG", "Hit@1", "GMAP"]  # between limits, without, a proportion, in logarithms
VALUES = {
    "skewed": [0.01, 0.02, 0.02, 0.05, 0.1, 0.3, 0.9, 1.7, 4.2],
    "few": [0.2, 0.4],
    "constant": [0.5, 0.5, 0.5, 0.5],
    "ones": [1.0, 1.0, 1.0, 0.0, 1.0, 1.0],
}


def intervals_of(evaluation: dh.Evaluation, method: str, **options: Any) -> Numbers:
    """Return the interval of each measure; where the method does not fit, that it is refused."""
    found: Numbers = {}
    for scores in evaluation:
        try:
            found[str(scores.measure)] = interval_of(scores.interval(method, n_resamples=499, **options))
        except dh.DeadheatError as error:
            found[str(scores.measure)] = type(error).__name__
    return found


@entry(EXACT)
def of_means(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], MEASURES), method)


@entry(DRAWN)
def of_means_drawn(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], MEASURES), method)


@entry(EXACT)
def of_clusters(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], FEW), method, cluster=SESSIONS)


@entry(DRAWN)
def of_clusters_drawn(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], FEW), method, cluster=SESSIONS)


@entry(EXACT)
def of_weights(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], FEW, weights=WEIGHTS), method)


@entry(DRAWN)
def of_weights_drawn(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], FEW, weights=WEIGHTS), method)


@entry(EXACT)
def of_weights_and_clusters(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], FEW, weights=WEIGHTS), method, cluster=SESSIONS)


@entry(DRAWN)
def of_weights_and_clusters_drawn(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], FEW, weights=WEIGHTS), method, cluster=SESSIONS)


@entry(EXACT)
def of_repeats(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, dh.Repeats(REPEATS["fair"]), FEW), method)


@entry(DRAWN)
def of_repeats_drawn(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, dh.Repeats(REPEATS["fair"]), FEW), method)


@entry(EXACT)
def of_repeats_and_clusters(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, dh.Repeats(REPEATS["fair"]), FEW), method, cluster=SESSIONS)


@entry(EXACT)
def of_repeats_and_weights(method: str) -> Numbers:
    evaluation = dh.evaluate(QRELS, dh.Repeats(REPEATS["fair"]), FEW, weights=WEIGHTS)
    return intervals_of(evaluation, method)


@entry(EXACT)
def of_a_judge(method: str) -> Numbers:
    """Below 50 queries the weight is cross-fitted."""
    return intervals_of(dh.evaluate(HUMAN_LABELS, JUDGED_RUNS["fair"], FEW, judge=JUDGE_LABELS), method)


@entry(EXACT)
def of_a_judge_of_more(method: str) -> Numbers:
    return intervals_of(dh.evaluate(MORE_LABELS, JUDGED_RUNS["fair"], FEW, judge=JUDGE_LABELS), method)


@entry(DRAWN)
def of_a_judge_drawn(method: str) -> Numbers:
    return intervals_of(dh.evaluate(MORE_LABELS, JUDGED_RUNS["fair"], FEW, judge=JUDGE_LABELS), method)


@entry(EXACT)
def of_a_judge_and_weights(method: str) -> Numbers:
    evaluation = dh.evaluate(MORE_LABELS, JUDGED_RUNS["fair"], FEW, judge=JUDGE_LABELS, weights=LABEL_WEIGHTS)
    return intervals_of(evaluation, method)


@entry(["auto", "t", "skewed-t"])
def of_values(method: str) -> Numbers:
    """`dh.interval`, which takes values."""
    return {name: interval_of(dh.interval(values, method)) for name, values in VALUES.items()}


@entry(DRAWN)
def of_values_drawn(method: str) -> Numbers:
    return {name: interval_of(dh.interval(values, method, n_resamples=499)) for name, values in VALUES.items()}


@entry(["gaffke", "auto"])
def of_limited_values(method: str) -> Numbers:
    options: Numbers = {"limits": (0.0, 5.0), "n_resamples": 499}
    return {name: interval_of(dh.interval(values, method, **options)) for name, values in VALUES.items()}


@entry()
def of_clusters_of_values() -> Numbers:
    values = np.linspace(0, 1, 12) ** 2
    clusters = [number // 2 for number in range(12)]
    by_level: Numbers = {}
    for level in (0.5, 0.8, 0.99):
        by_level[str(level)] = interval_of(dh.interval(values, "t", cluster=clusters, confidence_level=level))
    return by_level


@entry(["0.25", "0.5", "0.9"])
def of_quantiles(quantile: str) -> Numbers:
    """Intervals of quantiles over queries, with and without weights."""
    found: Numbers = {}
    for name, weights in (("plain", None), ("weighted", WEIGHTS)):
        evaluation = dh.evaluate(QRELS, RUNS["fair"], FEW, weights=weights)
        by_measure: Numbers = {}
        for scores in evaluation:
            try:
                by_measure[str(scores.measure)] = interval_of(scores.quantile(float(quantile)))
            except dh.DeadheatError as error:
                by_measure[str(scores.measure)] = type(error).__name__
        found[name] = by_measure
    return found


@entry()
def of_evaluations() -> Numbers:
    """The two errors of a mean, of queries and of ties."""
    evaluation = dh.evaluate(QRELS, RUNS["weak"], FEW)
    found: Numbers = {}
    for name, interval in evaluation.intervals(method="t", confidence_level=0.9).items():
        found[name] = attributes(interval, "low high standard_error query_standard_error tie_standard_error tie_share")
    return found


@entry(EXACT)
def of_columns_as_clusters(method: str) -> Numbers:
    return intervals_of(dh.evaluate(QRELS, RUNS["fair"], ["AP"]), method, cluster="session", queries=QUERIES)
