"""Several runs that are placed as one: each is evaluated as it is alone, from dicts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.placements.stacked_runs import can_be_stacked

MEASURES = ["nDCG", "AP", "P@3", "NumRet"]


@pytest.mark.parametrize("missing", ["empty", "skip"])
@pytest.mark.parametrize("ties", ["expected", "best", "doc_id"])
def test_each_run_is_evaluated_as_alone(ties: str, missing: str) -> None:
    rng = np.random.default_rng(4)
    docs = [f"d{n}" for n in range(9)]
    qrels = dh.Qrels({f"q{n}": {doc: int(rng.integers(3)) for doc in rng.permutation(docs)[:4]} for n in range(6)})
    lists, frames = {}, {}
    for system in "abcd":
        rows = []
        for query in rng.permutation(7)[: rng.integers(3, 7)].tolist():  # q6 is not judged
            for doc in rng.permutation(docs)[: rng.integers(1, 9)].tolist():
                rows.append((f"q{query}", doc, float(rng.integers(3))))
        frames[system] = dh.Run(pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row"))
        lists[system] = {query: {doc: score for one, doc, score in rows if one == query} for query, _, _ in rows}
    assert can_be_stacked(qrels, list(frames.values()))
    together = dh.evaluate(qrels, frames, MEASURES, ties=ties, missing=missing)
    for system, evaluation in together.items():
        alone = dh.evaluate(qrels, lists[system], MEASURES, ties=ties, missing=missing)
        assert evaluation.to_polars().equals(alone.to_polars())
        assert evaluation.missing_queries == alone.missing_queries
        assert evaluation.unjudged_queries == alone.unjudged_queries
        assert evaluation.facts == alone.facts
