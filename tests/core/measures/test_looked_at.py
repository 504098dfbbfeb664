"""How many documents of a list count: those below change no value, in any order of the ties."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.run import Run
from deadheat.core.measures.notation import parse_measure
from deadheat.core.placements.place import place

QRELS = {"c and e": {"c": 1, "e": 2}, "nothing": {"a": 0}, "all": {"a": 1, "b": 1, "c": 1}}
SCORES = {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0, "e": 0.5}
RUN = dict.fromkeys(QRELS, SCORES)


def count(notation: str) -> list[int]:
    placements = place(Qrels.of(QRELS), Run.of(RUN))
    seen = parse_measure(notation).looked_at(placements).tolist()
    by_query = dict(zip(placements.query_ids.tolist(), seen, strict=True))
    return [by_query[query_id] for query_id in QRELS]


@pytest.mark.parametrize(
    ("notation", "n_seen"),
    [
        ("RR", [3, 5, 1]),  # down to the end of the first tie with a relevant document
        ("RR@2", [2, 2, 1]),
        ("RR(rel=2)", [5, 5, 5]),
        ("Hit@10", [3, 5, 1]),
        ("P@4", [4, 4, 4]),
        ("P@9", [5, 5, 5]),
        ("AP", [5, 5, 5]),
    ],
)
def test_documents_that_count(notation: str, n_seen: list[int]) -> None:
    assert count(notation) == n_seen


def list_orders() -> Iterator[list[str]]:
    groups = [list(group) for _, group in itertools.groupby(SCORES, key=SCORES.__getitem__)]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield list(itertools.chain.from_iterable(parts))


@pytest.mark.filterwarnings("ignore::deadheat.errors.NothingJudgedWarning")
@pytest.mark.parametrize(
    "notation", ["RR", "RR@2", "RR@3", "RR(rel=2)", "Hit@3", "FRP", "FRP@2", "P@2", "AP@3", "nDCG@2"]
)
def test_documents_below_change_no_value(notation: str) -> None:
    for order in list_orders():
        for query_id, n_seen in zip(QRELS, count(notation), strict=True):
            values = []
            for doc_ids in (order, order[:n_seen]):
                run = {query_id: {doc_id: -float(rank) for rank, doc_id in enumerate(doc_ids)}}
                values.append(dh.evaluate({query_id: QRELS[query_id]}, run, notation)[notation].mean)
            np.testing.assert_array_equal(values[0], values[1])  # NaN where no query counts
