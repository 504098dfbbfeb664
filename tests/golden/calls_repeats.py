"""Several runs of one system; their intervals are in calls_intervals.py, their differences in calls_compare.py."""

from __future__ import annotations

from typing import Any

import deadheat as dh
from golden.data import GRADED, QRELS, QUERIES, REPEATS, WEIGHTS, draw_run
from golden.entries import entry
from golden.plain import Numbers, attributes
from golden.results import interval_of, pairs_of, scores_of

MEASURES = ["nDCG@3", "RR", "GMAP", "NumRelRet", "MR@5"]
COMPONENTS = "queries repeats ties shared shared_p_value n_queries n_repeats"
TIED = [draw_run(seed, GRADED, 3, 0.2) for seed in (61, 62, 63, 64)]


@entry()
def values() -> Numbers:
    """Means over repeats of each query, and their spread."""
    evaluation = dh.evaluate(GRADED, dh.Repeats(TIED), MEASURES)
    return {str(scores.measure): scores_of(scores) for scores in evaluation}


@entry({"plain": {}, "weighted": {"weights": WEIGHTS}})
def components(options: Numbers) -> Numbers:
    """What queries, repeats and ties add to the variance."""
    found: Numbers = {}
    for name, runs in REPEATS.items():
        for scores in dh.evaluate(QRELS, dh.Repeats(runs), ["nDCG@3", "RR"], **options):
            found[f"{name} {scores.measure}"] = attributes(scores.variance_components, COMPONENTS)
    return found


@entry()
def plans() -> Numbers:
    scores = dh.evaluate(QRELS, dh.Repeats(REPEATS["fair"]), "nDCG@3")["nDCG@3"]
    return {str(width): scores.plan_repeats(width) for width in (0.05, 0.2)}


@entry()
def of_different_skill() -> Numbers:
    """Repeats that share an effect."""
    repeats = dh.Repeats([runs[0] for runs in REPEATS.values()])
    found: Numbers = {}
    for scores in dh.evaluate(QRELS, repeats, ["nDCG@3", "GMAP"]):
        found[f"components of {scores.measure}"] = attributes(scores.variance_components, COMPONENTS)
        for method in ("t", "skewed-t", "gaffke"):
            found[f"{method} of {scores.measure}"] = interval_of(scores.interval(method))
    return found


def of_shared_effects(**options: Any) -> Numbers:
    """Compare systems whose repeats share an effect."""
    first, second, third = REPEATS.values()
    systems = {"one": dh.Repeats([first[0], second[0]]), "two": dh.Repeats([second[1], third[1], third[2]])}
    return pairs_of(dh.compare(QRELS, systems, ["nDCG@3", "GMAP"], n_resamples=499, **options))


@entry(["t", "randomization", "bootstrap-t", "bootstrap"])
def shared_effects_compared(test: str) -> Numbers:
    return of_shared_effects(test=test)


@entry(["greater", "less"])
def shared_effects_one_sided(side: str) -> Numbers:
    return of_shared_effects(test="t", alternative=side)


@entry({"weights": {"weights": WEIGHTS}, "clusters": {"cluster": "session", "queries": QUERIES}})
def shared_effects_and(options: Numbers) -> Numbers:
    return of_shared_effects(test="t", **options)


@entry()
def missing_queries() -> Numbers:
    short = {query: docs for query, docs in TIED[0].items() if query != "q02"}
    found: Numbers = {}
    for missing in ("empty", "skip"):
        evaluation = dh.evaluate(GRADED, dh.Repeats([short, TIED[1]]), MEASURES, missing=missing)
        found[missing] = evaluation.means()
    return found


@entry()
def strata() -> Numbers:
    evaluation = dh.evaluate(QRELS, dh.Repeats(REPEATS["fair"]), ["nDCG@3", "GMAP"])
    return {str(key): part.means() for key, part in evaluation.by("device", QUERIES, smallest=1).items()}
