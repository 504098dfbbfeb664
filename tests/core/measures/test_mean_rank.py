"""MR against every order of the ties, where lists are shorter and longer than the cutoff, and documents are missing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.measures.notation import parse_measure
from deadheat.core.placements.place import place

RELEVANT = {
    "some": ["a", "c", "not retrieved"],
    "none": ["not retrieved", "nor this"],
    "all": ["b", "c", "d"],
}
SCORES = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 2.0}
ORDERS = [["a", *order] for order in itertools.permutations("bcd")]


def mean_rank(order: list[str], relevant: list[str], worst: int, cutoff: int) -> float:
    """Return the mean of the ranks, where each document below the cutoff or not retrieved has the worst rank."""
    ranks = []
    for doc_id in relevant:
        rank = order.index(doc_id) + 1 if doc_id in order else worst
        ranks.append(rank if rank <= cutoff else worst)
    return float(np.mean(ranks))


@pytest.mark.parametrize(
    ("notation", "worst", "cutoff"),
    [
        ("MR(missing='last')", 5, 4),
        ("MR(missing='capped')@2", 3, 2),
        ("MR(missing='capped')@4", 5, 4),
        ("MR(missing='capped')@10", 11, 10),
    ],
)
def test_documents_that_are_missing_have_the_worst_rank(notation: str, worst: int, cutoff: int) -> None:
    measure = parse_measure(notation)
    for relevant in RELEVANT.values():
        placements = place(Qrels.of({"q": dict.fromkeys(relevant, 1)}), Run.of({"q": SCORES}))
        values = [mean_rank(order, relevant, worst, cutoff) for order in ORDERS]
        np.testing.assert_allclose(measure.mean(placements), [np.mean(values)], rtol=1e-12)
        np.testing.assert_allclose(measure.variance(placements), [np.var(values)], rtol=1e-12, atol=1e-15)
        low, high = measure.extremes(placements)
        np.testing.assert_allclose([low[0], high[0]], [min(values), max(values)], rtol=1e-12)


def test_a_query_that_the_run_lacks_has_no_value_without_a_cutoff() -> None:
    placements = place(Qrels.of({"q": {"a": 1}, "r": {"a": 1}}), Run.of({"q": SCORES}))
    assert np.isnan(parse_measure("MR(missing='last')").mean(placements)).tolist() == [False, True]
    assert parse_measure("MR(missing='capped')@7").mean(placements).tolist() == [1.0, 8.0]
