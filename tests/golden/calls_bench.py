"""Labelled cases: retrievers, their comparison, validation."""

from __future__ import annotations

from typing import Any

import deadheat as dh
from golden.data import DEMO
from golden.entries import entry
from golden.plain import Numbers

MEASURES = ["RR", "MaxRel@3", "Hit@1"]
PARENTS = {"d0": [], "d1": ["d0"], "d2": ["d0"], "d3": ["d1"], "d4": ["d1", "d2"], "d5": ["d4"], "d6": ["d2"]}


@entry(["bm25", "string"])
def of_demo(retriever: str) -> Numbers:
    """The made-up help centre of the package."""
    found = dh.bench(DEMO / "phrases.csv", DEMO / "documents.csv", [retriever], MEASURES, n_resamples=499)
    return {"flat": found.to_flat()}


@entry()
def of_two_retrievers() -> Numbers:
    found = dh.bench("cases.csv", "documents.csv", ["bm25", "string"], MEASURES, by="difficulty", n_resamples=499)
    return {"flat": found.to_flat(), "averages": found.averages()}


@entry()
def of_options() -> Numbers:
    retrievers: list[Any] = [dh.BM25(method="robertson", k1=1.2, name="robertson"), dh.StringSimilarity(name="string")]
    found = dh.bench("cases.csv", "documents.csv", retrievers, MEASURES, k=5, test="t", margin=0.1)
    return {"flat": found.to_flat()}


@entry(["lin", "resnik", "jaccard"])
def of_ontology(kind: str) -> Numbers:
    """Similarity of terms of a small made-up ontology."""
    ontology = dh.Ontology.from_parents(PARENTS)
    try:
        found = {f"{one} {other}": ontology.similarity(one, other, kind) for one in PARENTS for other in PARENTS}
    except dh.DeadheatError as error:
        return {"refused": type(error).__name__}
    return found
