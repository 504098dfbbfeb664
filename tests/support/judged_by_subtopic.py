"""Random judgments by subtopic with a run, and the measures that look at them."""

from __future__ import annotations

import random

import polars as pl

Rows = list[tuple[str, str, str, int]]
Scored = dict[str, dict[str, float]]

NAMES = {
    "alpha_DCG@1": {"cutoff": 1},
    "alpha_DCG@3": {"cutoff": 3},
    "alpha_DCG(alpha=0)": {"alpha": 0.0},
    "alpha_nDCG@3": {"cutoff": 3},
    "alpha_nDCG(alpha=0.9)": {"alpha": 0.9},
    "ERR_IA@3": {"cutoff": 3},
    "nERR_IA": {},
    "nERR_IA@2": {"cutoff": 2},
    "NRBP": {},
    "NRBP(alpha=0.2, beta=0.8)": {"alpha": 0.2, "beta": 0.8},
    "nNRBP": {},
    "AP_IA": {},
    "P_IA": {},
    "P_IA@2": {"cutoff": 2},
    "StRecall": {},
    "StRecall@2": {"cutoff": 2},
    "StAllHit": {},
    "StAllHit@2": {"cutoff": 2},
    "StAllHit@4": {"cutoff": 4},
}


def drawn(seed: int, n_queries: int, *, n_docs: int, n_scores: int) -> tuple[Rows, Scored]:
    """Draw judgments by subtopic and a run."""
    rng = random.Random(seed)
    rows: Rows = []
    run: Scored = {}
    for number in range(n_queries):
        query, docs = f"q{number:02}", [f"d{doc}" for doc in range(rng.randint(2, n_docs))]
        for doc in docs:
            for topic in rng.sample("12345", rng.choice((0, 1, 1, 2, 3))):
                rows.append((query, doc, topic, rng.choice((0, 1, 1, 2))))
        rows.append((query, "never", "1", 1))
        run[query] = {doc: float(rng.randrange(n_scores)) for doc in [*docs[: len(docs) - 1], "x"]}
    return rows, run


def frame_of(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "subtopic", "relevance"], orient="row")


def sets_of(rows: Rows, query: str, rel: int = 1) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for own, doc, topic, relevance in rows:
        if own == query and relevance >= rel:
            found.setdefault(doc, set()).add(topic)
    return found
