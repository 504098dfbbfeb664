"""Labels of a judge: how far it agrees with people, and means that are estimated from both."""

from __future__ import annotations

import deadheat as dh
from golden.data import (
    HUMAN_LABELS,
    JUDGE_LABELS,
    JUDGED_RUNS,
    LABEL_WEIGHTS,
    LABELLED_QUERIES,
    MORE_LABELS,
    OTHER_JUDGE,
)
from golden.entries import entry
from golden.plain import Numbers, attributes
from golden.results import interval_of

MEASURES = ["nDCG@3", "RR", "GMAP"]
MEANS = "mean human_mean human_tie_std human_tie_min human_tie_max n_effective"


def estimates_of(evaluation: dh.Evaluation) -> Numbers:
    """Return the means of an evaluation with a judge."""
    found: Numbers = {}
    for scores in evaluation:
        found[str(scores.measure)] = {**attributes(scores, MEANS), "interval": interval_of(scores.interval("t"))}
    return found


@entry({"few": HUMAN_LABELS, "more": MORE_LABELS})
def means(labels: object) -> Numbers:
    found: Numbers = {}
    for name, run in JUDGED_RUNS.items():
        found[name] = estimates_of(dh.evaluate(labels, run, MEASURES, judge=JUDGE_LABELS))
    return found


@entry(["best", "doc_id"])
def means_under(policy: str) -> Numbers:
    return estimates_of(dh.evaluate(MORE_LABELS, JUDGED_RUNS["weak"], MEASURES, judge=JUDGE_LABELS, ties=policy))


@entry()
def weighted_strata() -> Numbers:
    """A judge, weights and strata together."""
    evaluation = dh.evaluate(MORE_LABELS, JUDGED_RUNS["fair"], MEASURES, judge=JUDGE_LABELS, weights=LABEL_WEIGHTS)
    strata = evaluation.by("device", LABELLED_QUERIES)
    found: Numbers = {str(key): estimates_of(part) for key, part in strata.items()}
    return {**found, "averages": strata.averages()}


@entry({"one": JUDGE_LABELS, "two": [dh.Qrels(JUDGE_LABELS, name="first"), dh.Qrels(OTHER_JUDGE, name="second")]})
def agreement(judge: object) -> Numbers:
    found = dh.judge_agreement(HUMAN_LABELS, judge)
    return {"table": found.to_polars(), "flat": found.to_flat()}


@entry()
def agreement_by_stratum() -> Numbers:
    strata = dh.judge_agreement(HUMAN_LABELS, JUDGE_LABELS).by("device", LABELLED_QUERIES)
    return {str(key): part.to_flat() for key, part in strata.items()}


@entry()
def agreement_by_query() -> object:
    return dh.judge_agreement(HUMAN_LABELS, JUDGE_LABELS).per_query().head(12)


@entry()
def agreement_of_rel() -> Numbers:
    return dh.judge_agreement(HUMAN_LABELS, JUDGE_LABELS, rel=2, confidence_level=0.8).to_flat()


@entry(["nDCG@3", "RR"])
def conclusions(measure: str) -> Numbers:
    """What a judge does to differences between systems."""
    found = dh.judge_agreement(HUMAN_LABELS, JUDGE_LABELS, runs=JUDGED_RUNS, measures=measure, n_resamples=499)
    return {"flat": found.to_flat()}


@entry(["drop", "lowest", "bounds"])
def answers(failed: str) -> Numbers:
    """Grades in what a judge wrote."""
    raw = {"q1": {"a": "Score: 2", "b": 0, "c": "no idea", "d": "1/3"}, "q2": {"e": "relevant", "f": 3}}
    qrels = dh.read_judgments(raw, failed=failed, scale=3, grades={"relevant": 2})
    run = {"q1": {"c": 4.0, "a": 3.0, "b": 2.0, "d": 1.0}, "q2": {"e": 2.0, "f": 2.0}}
    scores = dh.evaluate(qrels, run, "nDCG@3")["nDCG@3"]
    found = {"labels": qrels.to_dict(), "values": scores.values}
    if scores.has_unjudged_bounds:
        found |= attributes(scores, "unjudged_min unjudged_max")
    return found
