"""How probably ties alone reverse a difference: exact, over a grid, and drawn."""

from __future__ import annotations

import deadheat as dh
from golden.data import GRADED, GRADED_RUN, QRELS, REAL_QRELS, REAL_RUNS, RUNS, draw_run
from golden.entries import entry
from golden.plain import Numbers, attributes

NUMBERS = """system baseline difference flip_probability can_flip flip_method flip_standard_error tie_standard_error
expected_difference doc_id_difference doc_id_reverses"""
MEASURES = [
    "nDCG@3",
    "nDCG",
    "AP",
    "RR",
    "Hit@1",
    "P@2",
    "ERR@3",
    "bpref",
    "Q",
    "AR@2",
    "RBP",
    "MR",
    "R@5",
    "NumRelRet",
]
TWELVE = {query: QRELS[query] for query in list(QRELS)[:12]}
TIED = {name: draw_run(30 + number, TWELVE, 2, 0.4) for number, name in enumerate("abc")}


def flips_of(comparison: dh.Comparison) -> Numbers:
    """Return what is known of reversals."""
    found: Numbers = {}
    for measure in comparison.measures:
        found[str(measure)] = [attributes(pair, NUMBERS) for pair in comparison[measure]]
    return found


@entry(MEASURES)
def of_tied_systems(measure: str) -> Numbers:
    """Systems of two levels, so that nearly all documents tie."""
    return flips_of(dh.compare(TWELVE, TIED, measure, test="t"))


@entry()
def of_few_queries() -> Numbers:
    few = {query: QRELS[query] for query in list(QRELS)[:4]}
    return flips_of(dh.compare(few, TIED, ["nDCG", "AP", "RR", "P@2", "bpref"], test="t"))


@entry()
def of_real_systems() -> Numbers:
    return flips_of(dh.compare(REAL_QRELS, REAL_RUNS, ["nDCG@10", "P@10"], test="t"))


@entry(["best", "doc_id", "input"])
def under_policy(policy: str) -> Numbers:
    return flips_of(dh.compare(TWELVE, TIED, ["nDCG@3", "RR"], test="t", ties=policy))


@entry()
def of_weighted_queries() -> Numbers:
    weights = {query: 1.0 + number % 3 for number, query in enumerate(TWELVE)}
    return flips_of(dh.compare(TWELVE, TIED, ["nDCG@3", "RR", "P@2"], test="t", weights=weights))


@entry()
def of_untied_systems() -> Numbers:
    return flips_of(dh.compare(QRELS, {name: RUNS[name] for name in ("weak", "good")}, "Hit@1", test="t"))


@entry()
def of_orders_of_one_query() -> Numbers:
    """Every order of a tie, listed."""
    scores = GRADED_RUN["q02"]
    relevance = {doc: GRADED["q02"].get(doc) for doc in scores}
    orders = dh.tie_orders(scores, relevance, measures=["RR", "nDCG@3", "AP"])
    complexity = dh.tie_complexity(scores)
    return {
        "orders": attributes(orders, "mean min max std values first_relevant"),
        "complexity": attributes(complexity, "n_groups sizes max_size n_orders feasible samples_by_rule_of_thumb"),
    }
