"""Chunks held against judged passages, and judgments by subtopic."""

from __future__ import annotations

from typing import Any

import deadheat as dh
from golden.data import CHUNKS, PASSAGES
from golden.entries import entry
from golden.plain import Numbers
from golden.results import means_of, pairs_of, scores_of

MEASURES = ["R@3", "P@2", "Hit@2", "RR", "R@1"]
OF_CHARACTERS = ["CharRecall", "CharRecall@2", "CharPrecision@2", "CharIoU@2", "CharDensity@2", "CharDensity"]
RULES: dict[str, Numbers] = {
    "half of the span": {},
    "0.3 of the chunk": {"overlap": 0.3, "overlap_of": "chunk"},
    "all of the span": {"overlap": 1},
    "any character": {"overlap_of": "any"},
}
OF_SUBTOPICS = """alpha_DCG@3 alpha_DCG(alpha=0)@3 alpha_nDCG@3 alpha_nDCG(alpha=0.3) ERR_IA@3 nERR_IA nERR_IA(rel=2)@3
NRBP NRBP(alpha=0.2,beta=0.8) nNRBP AP_IA AP_IA(rel=2) P_IA@3 StRecall StRecall@2 nDCG@3 RR"""


@entry(RULES)
def of_chunks(rule: Numbers) -> Numbers:
    return {
        name: means_of(dh.evaluate(dh.Spans(PASSAGES, **rule), chunks, MEASURES)) for name, chunks in CHUNKS.items()
    }


@entry(OF_CHARACTERS)
def of_characters(measure: str) -> Numbers:
    return scores_of(dh.evaluate(dh.Spans(PASSAGES), CHUNKS["fine"], measure)[measure])


@entry(["best", "worst", "input"])
def under_policy(policy: str) -> Numbers:
    evaluation = dh.evaluate(dh.Spans(PASSAGES), CHUNKS["fine"], [*MEASURES, *OF_CHARACTERS], ties=policy)
    return evaluation.means()


@entry()
def compared() -> Numbers:
    """Two ways to cut documents."""
    return pairs_of(dh.compare(dh.Spans(PASSAGES), CHUNKS, ["R@3", "RR"], test="t"))


@entry(["expected", "best", "worst", "doc_id"])
def of_subtopics(policy: str) -> Numbers:
    return means_of(dh.evaluate("subtopics.txt", "fair.run", OF_SUBTOPICS.split(), ties=policy))


@entry()
def of_passages_and_depth() -> Numbers:
    options: dict[str, Any] = {"depth": 3, "ties": "input"}
    return means_of(dh.evaluate(dh.Spans(PASSAGES), CHUNKS["fine"], [*MEASURES, *OF_CHARACTERS], **options))
