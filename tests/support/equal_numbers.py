"""Data in any form, and whether they give the numbers of dicts of dicts."""

from collections.abc import Mapping

import numpy as np

import deadheat as dh
from oracle.random_cases import BATCHES

BATCH = BATCHES["graded"]
MEASURES = ["nDCG@3", "AP", "RR(rel=2)", "ERR", "bpref", "Judged@3", "RBPResidual", "FRP", "Q@5", "P@2", "AR@2"]
Rows = list[tuple[str, str, float]]
NAMES = {"qrels": ["query_id", "doc_id", "relevance"], "run": ["query_id", "doc_id", "score"]}


def rows_of(nested: Mapping[str, Mapping[str, float]]) -> Rows:
    """Flatten a dict of dicts."""
    return [(query, doc, float(value)) for query, docs in nested.items() for doc, value in docs.items()]


def assert_equal_to_dicts(qrels: object, run: object, ties: str) -> None:
    """Compare all numbers with those from dicts of dicts, exactly."""
    rng = 3 if ties == "random" else None
    expected = dh.evaluate(BATCH.qrels, BATCH.run, MEASURES, ties=ties, rng=rng, missing="empty")
    found = dh.evaluate(qrels, run, MEASURES, ties=ties, rng=rng, missing="empty")
    for measure in MEASURES:
        assert list(found[measure].query_ids) == list(expected[measure].query_ids)
        for field in ("values", "tie_std", "tie_min", "tie_max"):
            np.testing.assert_array_equal(
                getattr(found[measure], field), getattr(expected[measure], field), err_msg=f"{measure} {field}"
            )
