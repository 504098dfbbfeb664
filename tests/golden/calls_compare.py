"""Differences between systems: every test, correction and alternative, and where modes meet."""

from __future__ import annotations

from typing import Any

import deadheat as dh
from golden.data import (
    HUMAN_LABELS,
    JUDGE_LABELS,
    JUDGED_RUNS,
    LABEL_WEIGHTS,
    LABELLED_QUERIES,
    MORE_LABELS,
    QRELS,
    QUERIES,
    REAL_QRELS,
    REAL_RUNS,
    REPEATS,
    RUNS,
    WEIGHTS,
    query_ids,
)
from golden.entries import entry
from golden.plain import Numbers, attributes
from golden.results import PAIR, pair_of, pairs_of

MEASURES = ["nDCG@3", "AP", "GMAP", "NumRelRet"]
EXACT_TESTS = ["t", "wilcoxon", "sign", "tukey"]
DRAWN_TESTS = ["randomization", "bootstrap-t", "bootstrap"]
CORRECTIONS = ["none", "bonferroni", "holm", "bh"]
VERDICT = """leader runner_up system baseline difference low high p_value p_adjusted detectable unweighted outcome
n_better n_tests flip_probability can_flip"""
REPEATED = {name: dh.Repeats(runs) for name, runs in REPEATS.items()}
CONVENTIONS: dict[str, Numbers] = {
    "rel": {"rel": 2},
    "judged_only": {"judged_only": True},
    "depth": {"depth": 3, "ties": "doc_id"},
    "rounded": {"score_precision": 0},
    "skip": {"no_relevant": "skip", "missing": "skip"},
}
JUDGE_AND_WEIGHTS: Numbers = {"judge": JUDGE_LABELS, "weights": LABEL_WEIGHTS}
TWO = {"weak": RUNS["weak"], "good": RUNS["good"]}
PAIRS = {
    "differ": ([0.1, 0.4, 0.5, 0.9, 0.3, 0.2, 0.8], [0.2, 0.6, 0.5, 1.0, 0.1, 0.6, 0.9]),
    "equal": ([0.5, 0.5, 0.5], [0.5, 0.5, 0.5]),
    "skewed": ([0.0, 0.0, 0.1, 0.0, 0.2, 0.0], [0.1, 0.0, 0.1, 0.0, 1.0, 0.1]),
}


def compared(**options: Any) -> Numbers:
    """Compare the three drawn systems."""
    return pairs_of(dh.compare(QRELS, RUNS, "nDCG@3", n_resamples=499, **options))


@entry(EXACT_TESTS)
def by_test(test: str) -> Numbers:
    return pairs_of(dh.compare(QRELS, RUNS, MEASURES, test=test))


@entry(DRAWN_TESTS)
def by_drawn_test(test: str) -> Numbers:
    return pairs_of(dh.compare(QRELS, RUNS, MEASURES, test=test, n_resamples=499, rng=7))


@entry()
def by_default() -> Numbers:
    """The number of sign flips is not named, so that more are drawn where it matters."""
    return pairs_of(dh.compare(QRELS, RUNS, MEASURES), PAIR)


@entry(CORRECTIONS)
def by_correction(correction: str) -> Numbers:
    return compared(test="t", correction=correction)


@entry(["none", "holm", "max-t", "max-t-step-down"])
def by_correction_of_flips(correction: str) -> Numbers:
    return compared(correction=correction)


@entry(["none", "max-t", "max-t-step-down"])
def of_all_flips(correction: str) -> Numbers:
    """Of eight queries every sign flip is made, the one that was observed too; two of the systems are equal."""
    eight = {query: QRELS[query] for query in query_ids(8)}
    runs = {**RUNS, "copy": RUNS["weak"]}
    return pairs_of(dh.compare(eight, runs, "nDCG@3", correction=correction))


@entry(["t", "wilcoxon", "sign"])
def one_sided(test: str) -> Numbers:
    by_side: Numbers = {}
    for side in ("greater", "less"):
        comparison = dh.compare(QRELS, TWO, "nDCG@3", test=test, alternative=side, n_resamples=499)
        by_side[side] = pairs_of(comparison)
    return by_side


@entry(DRAWN_TESTS)
def one_sided_drawn(test: str) -> Numbers:
    by_side: Numbers = {}
    for side in ("greater", "less"):
        comparison = dh.compare(QRELS, TWO, "nDCG@3", test=test, alternative=side, n_resamples=499)
        by_side[side] = pairs_of(comparison)
    return by_side


@entry(["t", "skewed-t"])
def by_method(method: str) -> Numbers:
    return compared(test="t", method=method)


@entry(["bca", "bootstrap-t", "percentile"])
def by_drawn_method(method: str) -> Numbers:
    return compared(test="t", method=method)


@entry({"one": "weak", "two": ["weak", "fair"]})
def with_baseline(baseline: Any) -> Numbers:
    return compared(baseline=baseline)


@entry(["t", "tukey"])
def with_clusters(test: str) -> Numbers:
    return compared(test=test, cluster="session", queries=QUERIES)


@entry(DRAWN_TESTS)
def with_clusters_drawn(test: str) -> Numbers:
    return compared(test=test, cluster="session", queries=QUERIES)


@entry(["t", "tukey"])
def with_weights(test: str) -> Numbers:
    return compared(test=test, weights=WEIGHTS)


@entry(DRAWN_TESTS)
def with_weights_drawn(test: str) -> Numbers:
    return compared(test=test, weights=WEIGHTS)


@entry(["t", "tukey"])
def with_weights_and_clusters(test: str) -> Numbers:
    return compared(test=test, weights="traffic", cluster="session", queries=QUERIES)


@entry(DRAWN_TESTS)
def with_weights_and_clusters_drawn(test: str) -> Numbers:
    return compared(test=test, weights="traffic", cluster="session", queries=QUERIES)


@entry(["expected", "best", "worst", "doc_id", "input"])
def under_policy(policy: str) -> Numbers:
    return compared(test="t", ties=policy)


@entry(CONVENTIONS)
def under_conventions(conventions: Numbers) -> Numbers:
    return compared(test="t", **conventions)


@entry()
def real() -> Numbers:
    """Real runs, of which ties reverse differences."""
    return pairs_of(dh.compare(REAL_QRELS, REAL_RUNS, "RR", n_resamples=499), PAIR)


@entry(["t"])
def with_repeats(test: str) -> Numbers:
    return pairs_of(dh.compare(QRELS, REPEATED, ["nDCG@3", "GMAP"], test=test), PAIR)


@entry(DRAWN_TESTS)
def with_repeats_drawn(test: str) -> Numbers:
    """What is drawn over repeats."""
    return pairs_of(dh.compare(QRELS, REPEATED, ["nDCG@3", "GMAP"], test=test, n_resamples=499))


@entry(["t", "randomization"])
def repeats_and_single(test: str) -> Numbers:
    """A system with repeats beside one without."""
    runs = {"repeated": REPEATED["fair"], "single": RUNS["good"]}
    return pairs_of(dh.compare(QRELS, runs, ["nDCG@3"], test=test, n_resamples=499))


@entry(["t", "bootstrap-t"])
def repeats_and_clusters(test: str) -> Numbers:
    clusters: Numbers = {"cluster": "session", "queries": QUERIES}
    return pairs_of(dh.compare(QRELS, REPEATED, ["nDCG@3"], test=test, n_resamples=499, **clusters))


@entry(["t", "randomization"])
def repeats_and_weights(test: str) -> Numbers:
    return pairs_of(dh.compare(QRELS, REPEATED, ["nDCG@3"], test=test, n_resamples=499, weights=WEIGHTS))


@entry({"few": HUMAN_LABELS, "more": MORE_LABELS})
def with_judge(labels: Any) -> Numbers:
    return pairs_of(dh.compare(labels, JUDGED_RUNS, ["nDCG@3", "GMAP"], test="t", judge=JUDGE_LABELS), PAIR)


@entry(["randomization", "bootstrap-t"])
def with_judge_drawn(test: str) -> Numbers:
    runs = {"weak": JUDGED_RUNS["weak"], "good": JUDGED_RUNS["good"]}
    return pairs_of(dh.compare(MORE_LABELS, runs, "nDCG@3", test=test, judge=JUDGE_LABELS, n_resamples=499))


@entry(["t"])
def judge_and_weights(test: str) -> Numbers:
    judge: Numbers = {"judge": JUDGE_LABELS, "weights": LABEL_WEIGHTS}
    return pairs_of(dh.compare(MORE_LABELS, JUDGED_RUNS, "nDCG@3", test=test, **judge))


@entry()
def judge_weights_and_strata() -> Numbers:
    """Each stratum has the judge and the weights of its own queries."""
    comparison = dh.compare(
        MORE_LABELS, JUDGED_RUNS, "nDCG@3", test="t", judge=JUDGE_LABELS, weights="traffic", queries=LABELLED_QUERIES
    )
    return {
        "/".join(map(str, key)) if isinstance(key, tuple) else str(key): pairs_of(part)
        for key, part in comparison.by("device", LABELLED_QUERIES).items()
    }


@entry({"device": "device", "market": ["market"]})
def by_strata(columns: Any) -> Numbers:
    comparison = dh.compare(QRELS, RUNS, "nDCG@3", test="t")
    return {str(key): pairs_of(part) for key, part in comparison.by(columns, QUERIES).items()}


@entry(PAIRS)
def paired_values(values: tuple[list[float], list[float]]) -> Numbers:
    """`dh.paired_test`, which takes values."""
    return {test: pair_of(dh.paired_test(*values, test), PAIR) for test in ("t", "wilcoxon", "sign")}


@entry(PAIRS)
def paired_values_drawn(values: tuple[list[float], list[float]]) -> Numbers:
    return {test: pair_of(dh.paired_test(*values, test, n_resamples=499)) for test in DRAWN_TESTS}


@entry()
def equivalence() -> Numbers:
    comparison = dh.compare(QRELS, RUNS, ["nDCG@3", "AP"], test="t")
    return {str(margin): comparison.equivalence(margin) for margin in (0.01, 0.2)}


@entry({"plain": {}, "weighted": {"weights": WEIGHTS}, "clusters": {"cluster": "session", "queries": QUERIES}})
def sample_sizes(options: Numbers) -> Numbers:
    comparison = dh.compare(QRELS, RUNS, ["nDCG@3", "AP"], test="t", **options)
    return {str(difference): comparison.sample_sizes(difference, power=0.9) for difference in (None, 0.05)}


@entry()
def ranks() -> Numbers:
    comparison = dh.compare(QRELS, RUNS, ["nDCG@3", "AP"], test="t")
    return {str(measure): comparison.rank_intervals(measure, n_resamples=499) for measure in comparison.measures}


@entry()
def orders_of_systems() -> Numbers:
    orders = dh.compare(REAL_QRELS, REAL_RUNS, ["P@10", "RR"], test="t").orders()
    return {"table": orders.to_polars(), **orders.to_flat()}


@entry()
def queries_that_decide() -> object:
    return dh.compare(QRELS, TWO, "nDCG@3", test="t").queries(3)


@entry()
def one_rule() -> object:
    return dh.compare(QRELS, RUNS, ["nDCG@3", "AP"], test="t").significant_by_one_rule()


@entry({"plain": {}, "weighted": {"weights": WEIGHTS}, "margin": {"margin": 0.1}})
def verdict(options: Numbers) -> Numbers:
    """What decides, in numbers."""
    comparison = dh.compare(QRELS, RUNS, ["nDCG@3", "AP"], **options)
    return attributes(comparison.verdict, VERDICT)
