"""Gates: thresholds of means, intervals and each query, baselines, strata."""

from __future__ import annotations

from typing import Any

import deadheat as dh
from golden.data import HUMAN_LABELS, JUDGE_LABELS, JUDGED_RUNS, QRELS, QUERIES, REPEATS, RUNS, WEIGHTS
from golden.entries import entry
from golden.plain import Numbers

MEASURES = ["nDCG@3", "RR", "Hit@1"]
CHECKS = {
    "mean": ["nDCG@3 >= 0.4", "RR > 0.99", "Hit@1 < 0.5"],
    "low": ["low(nDCG@3) >= 0.3", "low(Hit@1) > 0.2"],
    "high": ["high(nDCG@3) <= 0.9"],
}
WITH_BASELINE: dict[str, Numbers] = {
    "no regression": {"no_regression": True},
    "no worse": {"no_worse_than": 0.05},
    "both": {"no_regression": True, "no_worse_than": 0.3, "alpha": 0.1},
}


def fair(**options: Any) -> dh.Evaluation:
    return dh.evaluate(QRELS, RUNS["fair"], MEASURES, **options)


def gated(*arguments: Any, **options: Any) -> Numbers:
    """Return the table of a gate; that it is refused, where it is."""
    try:
        result = dh.gate(*arguments, **options)
    except dh.DeadheatError as error:
        return {"refused": type(error).__name__}
    return {"passed": result.passed, "checks": result.to_polars(), "flat": result.to_flat()}


@entry(CHECKS)
def of_thresholds(checks: list[str]) -> Numbers:
    return gated(fair(), checks)


@entry(WITH_BASELINE)
def with_baseline(options: Numbers) -> Numbers:
    return gated(fair(), baseline=dh.evaluate(QRELS, RUNS["good"], MEASURES), **options)


@entry(["t", "bca", "gaffke"])
def by_method(method: str) -> Numbers:
    return gated(fair(), ["low(nDCG@3) >= 0.3"], method=method, n_resamples=499)


@entry()
def by_strata() -> Numbers:
    return gated(fair(), ["nDCG@3 >= 0.3", "each(device): RR >= 0.5"], queries=QUERIES, by="market")


@entry()
def of_clusters() -> Numbers:
    return gated(fair(), ["low(nDCG@3) >= 0.3"], queries=QUERIES, cluster="session")


@entry()
def of_weights() -> Numbers:
    good = dh.evaluate(QRELS, RUNS["good"], MEASURES, weights=WEIGHTS)
    return gated(fair(weights=WEIGHTS), ["low(nDCG@3) >= 0.3"], baseline=good, no_regression=True)


@entry()
def of_repeats() -> Numbers:
    evaluation = dh.evaluate(QRELS, dh.Repeats(REPEATS["fair"]), MEASURES)
    baseline = dh.evaluate(QRELS, dh.Repeats(REPEATS["good"]), MEASURES)
    return gated(evaluation, ["low(nDCG@3) >= 0.3"], baseline=baseline, no_worse_than=0.1)


@entry()
def of_a_judge() -> Numbers:
    evaluation = dh.evaluate(HUMAN_LABELS, JUDGED_RUNS["fair"], MEASURES, judge=JUDGE_LABELS)
    return gated(evaluation, ["low(nDCG@3) >= 0.3", "RR >= 0.9"])


@entry()
def of_bounds() -> Numbers:
    return gated(fair(unjudged="bounds"), ["nDCG@3 >= 0.3"])
