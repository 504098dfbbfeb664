"""What labels of unjudged documents could change, also within a depth."""

from __future__ import annotations

import deadheat as dh
from golden.data import GRADED, GRADED_RUN, QRELS, QUERIES, RUNS, WEIGHTS
from golden.entries import entry
from golden.plain import Numbers, attributes
from golden.results import sum_of

NAMES = """nDCG nDCG@3 DCG@3 AP AP@3 RR RR@2 P@3 R@3 F@3 Hit@3 Rprec RBP ERR@3 nERR@3 Q bpref Judged@3 MaxRel@3 AR@3
ERR(max_rel=5)@3 RBP(graded=True,max_rel=5)"""
MEASURES = NAMES.split()
OPTIONS: dict[str, Numbers] = {
    "plain": {},
    "doc_id": {"ties": "doc_id"},
    "input": {"ties": "input"},
    "depth 3": {"ties": "doc_id", "depth": 3},
    "depth 5": {"ties": "input", "depth": 5},
    "highest label": {"unjudged_max_rel": 2},
    "rel": {"rel": 2},
}
OF_DIFFERENCES: dict[str, Numbers] = {
    "plain": {},
    "weighted": {"weights": WEIGHTS},
    "depth 3": {"ties": "doc_id", "depth": 3},
    "input": {"ties": "input"},
}
OF_PAIRS = ["nDCG@3", "AP", "RR", "P@3", "RBP"]


def bounds_of(evaluation: dh.Evaluation) -> Numbers:
    """Return the bounds of each measure."""
    found: Numbers = {}
    for scores in evaluation:
        if scores.has_unjudged_bounds:
            bounds = attributes(scores, "mean_unjudged_min mean_unjudged_max")
            bounds |= {"min": sum_of(scores.unjudged_min), "max": sum_of(scores.unjudged_max)}
            found[str(scores.measure)] = bounds
    return found


@entry(OPTIONS)
def of_values(options: Numbers) -> Numbers:
    """Of the measures that have bounds."""
    found: Numbers = {}
    for measure in MEASURES:
        try:
            evaluation = dh.evaluate(GRADED, GRADED_RUN, measure, unjudged="bounds", **options)
        except dh.DeadheatError:
            continue
        found |= bounds_of(evaluation)
    return found


@entry(
    {
        "plain": {},
        "weighted": {"weights": WEIGHTS},
        "depth 3": {"depth": 3, "ties": "doc_id"},
        "input": {"ties": "input"},
    }
)
def of_differences(options: Numbers) -> Numbers:
    """A document has one label in both runs."""
    return {"pairs": dh.compare(QRELS, RUNS, OF_PAIRS, test="t", unjudged="bounds", **options).to_polars()}


@entry()
def of_strata() -> Numbers:
    strata = dh.evaluate(QRELS, RUNS["fair"], ["nDCG@3", "RR"], unjudged="bounds").by("market", QUERIES)
    return {str(key): bounds_of(part) for key, part in strata.items()}


@entry(["nDCG@3", "RR", "P@3"])
def of_holes(measure: str) -> Numbers:
    found = dh.holes(QRELS, RUNS, measure, n=12)
    return {"documents": found.to_polars(), "flat": found.to_flat()}


@entry()
def of_holes_by_runs() -> Numbers:
    found = dh.holes(QRELS, RUNS, "nDCG@3", by="decision", n=12)
    return {"documents": found.to_polars(), "flat": found.to_flat()}
