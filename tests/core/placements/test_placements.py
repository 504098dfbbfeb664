"""Placements are values: a copy with other columns answers for itself."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import parse_measure
from deadheat.core.placements.building import PlacedRows, RetrievedLists, build_placements, sort_judgments
from deadheat.core.placements.tied_rows import are_tied

QRELS = {"q": {"a": 2, "b": 1, "c": 0}}
RUN = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}


def test_a_copy_does_not_answer_for_the_original() -> None:
    placements = dh.place(QRELS, RUN)
    assert placements.relevant(1).above.tolist() == [0, 1]
    assert placements.n_relevant(1).tolist() == [2]
    other = replace(placements, relevance=np.array([0.0, 0.0, 1.0]), judged_relevance=np.array([1.0, 0.0, 0.0]))
    assert other.relevant(1).above.tolist() == [2]
    assert other.n_relevant(1).tolist() == [1]
    assert placements.relevant(1).above.tolist() == [0, 1]


def test_ids_become_text_only_where_somebody_looks() -> None:
    rows = [(query, doc, score) for query, own in RUN.items() for doc, score in own.items()]
    run = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    evaluation = dh.evaluate(QRELS, run, ["nDCG@10", "AP", "RR", "P@1"])
    assert evaluation["AP"].mean == 1.0
    held: dict[str, object] = vars(evaluation.placements)
    assert isinstance(held["documents"], pl.Series)  # text of many judgments takes half the memory
    assert evaluation.placements.doc_ids.tolist() == ["a", "b", "c"]
    assert evaluation.placements.doc_ids is evaluation.placements.doc_ids
    assert pickle.loads(pickle.dumps(evaluation.placements)).doc_ids.tolist() == ["a", "b", "c"]  # noqa: S301 - our own


@pytest.mark.parametrize(
    "levels",
    [
        [0, 3, -1, 2],
        [2**15 - 1, -(2**15) + 1, 0, 1],
        [2**15, 0, 1, 2],
        [-40_000, 1, 0, 2],
        [0.5, 1, 0.25, 0],
        [2**40, 1],
    ],
)
def test_judgments_are_ordered_whatever_their_levels(levels: list[float]) -> None:
    """Small whole numbers are sorted as integers of 16 bits, others as they are."""
    qrels = {query: {f"d{n}": level + more for n, level in enumerate(levels)} for query, more in (("p", 0), ("q", 0.0))}
    placements = dh.place(qrels, {query: {"d0": 1.0} for query in qrels})
    assert placements.judged_relevance.tolist() == sorted(levels, reverse=True) * 2
    assert placements.judged_query.tolist() == [0] * len(levels) + [1] * len(levels)


@pytest.mark.parametrize("seed", range(5))
def test_rows_and_judgments_are_sorted_whatever_their_order(seed: int) -> None:
    """By query and rank, of a tie the most relevant first, then in the order of the rows, with many ties or few."""
    rng, n = np.random.default_rng(seed), 200
    query, above = rng.integers(3, size=n), rng.integers((5, 1000)[seed % 2], size=n)
    relevance, judged = rng.integers(-1, 3, size=(2, n)).astype(float)
    judged *= (1.0, 1 / 3, 1.0, 1.0, 2.0**51)[seed]  # fractions, and numbers of which a sum is rounded
    of_judged = rng.integers(3, size=n)
    if seed in {2, 3}:  # judgments that are in order are left as they are
        of_judged.sort()
        judged[:] = 5 - np.arange(n) // 10
    doc_ids = np.array([f"d{row}" for row in range(n)], object)
    found = build_placements(
        RetrievedLists(np.array(["p", "q", "r"], object), np.full(3, 1000)),
        PlacedRows(query, doc_ids, relevance, above, np.ones(n, np.int64)),
        judged_query=of_judged,
        judged_relevance=judged,
    )
    rows = sorted(range(n), key=lambda row: (query[row], above[row], -relevance[row], row))
    assert found.doc_ids.tolist() == [f"d{row}" for row in rows]
    assert [*zip(found.query, found.above, found.relevance, strict=True)] == [
        (query[row], above[row], relevance[row]) for row in rows
    ]
    ideal = sorted(zip(of_judged.tolist(), (-judged).tolist(), strict=True))
    assert [*zip(found.judged_query.tolist(), (-found.judged_relevance).tolist(), strict=True)] == ideal


def test_placements_after_a_policy_are_freed_with_those_before() -> None:
    placements = dh.place(QRELS, RUN)
    placements.relevant(1)
    moved = placements.moved(placements.above + 1)
    assert moved.before is not None
    assert moved.before is not placements
    assert moved.relevant(1).above.tolist() == [1, 2]
    assert moved.before.relevant(1).above.tolist() == [0, 1]


def test_copies_of_queries_have_what_was_found_in_their_judgments() -> None:
    """Some queries, in any order and more than once: the values of all are those of new placements."""
    rng = np.random.default_rng(3)
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(3)) for d in range(int(rng.integers(1, 9)))} for q in range(6)}
    run = {query: {doc: float(rng.integers(3)) for doc in judged} for query, judged in qrels.items()}
    measures = [parse_measure(name) for name in ("nDCG@3", "nDCG", "AP", "R@2", "nDCG(ideal='retrieved')")]
    some = np.array([4, 1, 1, 5, 0, 4])
    placements = dh.place(qrels, run)
    new = placements.select(some)
    expected = [one.mean(new) for one in measures]
    for one in measures:
        one.mean(placements)
    copies = placements.select(some)
    for one, values in zip(measures, expected, strict=True):
        assert one.mean(copies).tobytes() == values.tobytes(), one.label
        assert one.mean(placements)[some].tobytes() == values.tobytes(), one.label


@pytest.mark.parametrize("top", [2**53, 2**53 - 20, 5 - 2**53, -(2**53) + 4])
def test_large_relevance_is_what_was_given(top: int) -> None:
    """Of several queries too, whose numbers are added to it where judgments are sorted."""
    rows = [[-2, 0, -1], [-4, -3], [0, -3], [-1, 0], [0], [-2, 0]]
    query = np.repeat(np.arange(len(rows)), [len(own) for own in rows])
    relevance = np.array([float(top + step) for own in rows for step in own])
    of_query, ordered = sort_judgments(query, relevance)
    assert of_query.tolist() == query.tolist()
    assert ordered.tolist() == [float(top + step) for own in rows for step in sorted(own, reverse=True)]


RETRIEVED = {
    "q1": {"a": 1.0, "q1": 1.0},
    "q2": {"b": 2.0, "q1": 1.0},
    "q3": {"q3": 1.0},
    "q4": {"c": 3.0, "d": 1.0, "e": 1.0},
    "q5": {"c": 3.0, "d": 3.0, "e": 1.0},
}


@pytest.mark.parametrize("is_frame", [False, True])
def test_lists_are_counted_and_a_query_without_one_has_no_document(*, is_frame: bool) -> None:
    qrels = {"q0": {"a": 1}, "q1": {"q1": 1}, "q2": {"b": 1}, "q3": {"a": 1}, "q4": {"c": 1}, "q5": {"x": 1}}
    rows = [(query, doc, score) for query, scores in RETRIEVED.items() for doc, score in scores.items()]
    run = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row") if is_frame else RETRIEVED
    placements = dh.place(qrels, run)
    assert placements.n_retrieved.tolist() == [0, 2, 2, 1, 3, 3]
    assert placements.ends_in_tie is not None
    assert placements.ends_in_tie.tolist() == [False, True, False, False, True, False]
    assert placements.top_score is not None
    assert str(placements.top_score.tolist()) == "[nan, 1.0, 2.0, 1.0, 3.0, 3.0]"
    assert placements.retrieves_itself is not None
    assert placements.retrieves_itself.tolist() == [False, True, False, True, False, False]
    judged = dh.evaluate(qrels, run, "RR", judged_only=True).placements
    assert judged.n_retrieved.tolist() == [0, 1, 1, 0, 1, 0]
    assert judged.retrieves_itself is not None
    assert judged.retrieves_itself.tolist() == [False, True, False, False, False, False]  # q3 is not judged for itself


@pytest.mark.parametrize("seed", range(5))
def test_scores_that_another_one_of_the_list_equals_are_tied(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, size=12)
    bounds = np.append(0, np.cumsum(sizes))
    lists = [np.sort(rng.integers(6, size=size))[::-1].astype(float) for size in sizes]
    expected = [bool((scores == score).sum() > 1) for scores in lists for score in scores]
    assert are_tied(np.concatenate(lists), bounds).tolist() == expected
