"""Values over groups of alternatives: from the definition, in every order of the ties, and by tie policy."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError
from deadheat.plugins.diversity.covering import count_covers, cover_chance
from oracle.orders import all_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

Groups = list[list[str]]
MEASURES = ["R@1", "R@2", "R@4", "R", "AllHit@1", "AllHit@2", "AllHit@3", "AllHit@5", "AllHit", "Hit@2", "RR", "RR@2"]


def value(name: str, order: Sequence[str], groups: Groups) -> float:
    """Return the value of one order of documents, from the definition."""
    kind, _, cut = name.partition("@")
    top = order[: int(cut) if cut else len(order)]
    is_hit = [any(doc in group for doc in top) for group in groups]
    if not groups:
        return 0.0
    if kind in {"R", "StRecall"}:
        return sum(is_hit) / len(groups)
    if kind == "AllHit":
        return float(all(is_hit))
    if kind == "Hit":
        return float(any(is_hit))
    assert kind == "RR"
    ranks = [rank for rank, doc in enumerate(top, start=1) if any(doc in group for group in groups)]
    return 1 / ranks[0] if ranks else 0.0


def draw(seed: int, n_queries: int, *, n_scores: int = 2) -> tuple[dict[str, Groups], dict[str, dict[str, float]]]:
    """Draw groups, some of which share documents or hold one that is not retrieved, and a run with ties."""
    rng = random.Random(seed)
    judged: dict[str, Groups] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(n_queries):
        docs = [f"d{place}" for place in range(rng.randint(2, 7))]
        known = [*docs, "never"] if rng.random() < 0.3 else docs
        n_groups = rng.choice((0, 1, 1, 2, 2, 3, 4))
        groups = [rng.sample(known, min(len(known), rng.choice((1, 1, 2, 3)))) for _ in range(n_groups)]
        judged[f"q{number:03}"] = groups
        run[f"q{number:03}"] = {doc: float(rng.randrange(n_scores)) for doc in docs}
    return judged, run


def test_the_example() -> None:
    found = dh.evaluate({"q": [["a", "b"], ["c"]]}, {"q": ["b", "x", "c"]}, "R@1 R@3 AllHit@1 AllHit@3 Hit@1 RR")
    assert found.means() == {"R@1": 0.5, "R@3": 1, "AllHit@1": 0, "AllHit@3": 1, "Hit@1": 1, "RR": 1}


@pytest.mark.slow
def test_moments_are_those_over_all_orders() -> None:
    judged, run = draw(1, 90)
    evaluation = dh.evaluate(judged, run, [*MEASURES])
    n_tied = 0
    for name in MEASURES:
        scores = evaluation[name]
        for place, query in enumerate(evaluation.query_ids.tolist()):
            values = [value(name, order, judged[query]) for order in all_orders(run[query])]
            n_tied += len(set(values)) > 1
            found = [scores.values[place], scores.tie_std[place], scores.tie_min[place], scores.tie_max[place]]
            expected = [np.mean(values), np.std(values), min(values), max(values)]
            assert found == pytest.approx(expected, abs=1e-12), (name, query)
    assert n_tied > 200


def test_recall_of_subtopics_is_recall_of_groups() -> None:
    judged, run = draw(2, 40)
    found = dh.evaluate(judged, run, ["R@2"])["R@2"]
    rows = [
        {"query_id": query, "doc_id": doc, "subtopic": str(place), "relevance": 1}
        for query, groups in judged.items()
        for place, group in enumerate(groups)
        for doc in sorted(set(group))
    ]
    by_subtopic = dh.evaluate(rows, run, ["StRecall@2"])["StRecall@2"]
    of_groups = dict(zip(found.query_ids.tolist(), found.values.tolist(), strict=True))
    assert [of_groups[query] for query in by_subtopic.query_ids.tolist()] == by_subtopic.values.tolist()
    assert dh.evaluate(judged, run, ["StRecall@2"])["StRecall@2"].values.tolist() == found.values.tolist()


def ordered(docs: dict[str, float], groups: Groups, ties: str) -> list[str]:
    """Return the order of documents that a tie policy takes: of those that are relevant, ids say which is first."""
    is_relevant = {doc: any(doc in group for group in groups) for doc in docs}
    if ties == "input":
        return sorted(docs, key=lambda doc: -docs[doc])
    downwards = sorted(docs, reverse=True)
    if ties == "doc_id":
        return sorted(downwards, key=lambda doc: -docs[doc])
    if ties == "best":
        return sorted(sorted(docs), key=lambda doc: (-docs[doc], not is_relevant[doc]))
    return sorted(downwards, key=lambda doc: (-docs[doc], is_relevant[doc]))


@pytest.mark.parametrize("ties", ["best", "worst", "doc_id", "input"])
def test_a_policy_takes_its_order(ties: str) -> None:
    judged, run = draw(3, 60)
    evaluation = dh.evaluate(judged, run, [*MEASURES], ties=ties)
    spread = dh.evaluate(judged, run, [*MEASURES])
    for name in MEASURES:
        for place, query in enumerate(evaluation.query_ids.tolist()):
            expected = value(name, ordered(run[query], judged[query], ties), judged[query])
            assert evaluation[name].values[place] == pytest.approx(expected, abs=1e-12), (name, query)
        np.testing.assert_array_equal(evaluation[name].tie_std, spread[name].tie_std)


def test_an_order_that_is_drawn_is_one_of_all() -> None:
    judged, run = draw(4, 30)
    evaluation = dh.evaluate(judged, run, [*MEASURES], ties="random", rng=7)
    for place, query in enumerate(evaluation.query_ids.tolist()):
        found = [evaluation[name].values[place] for name in MEASURES]
        rows = [[value(name, order, judged[query]) for name in MEASURES] for order in all_orders(run[query])]
        assert any(found == pytest.approx(row) for row in rows)


def test_a_shorter_list_has_the_values_of_what_is_left() -> None:
    judged, run = draw(5, 40)
    evaluation = dh.evaluate(judged, run, [*MEASURES], ties="doc_id", depth=3, judged_only=True)
    for name in MEASURES:
        for place, query in enumerate(evaluation.query_ids.tolist()):
            order = ordered(run[query], judged[query], "doc_id")[:3]
            left = [doc for doc in order if any(doc in group for group in judged[query])]
            assert evaluation[name].values[place] == pytest.approx(value(name, left, judged[query])), (name, query)


@pytest.mark.slow
def test_every_engine_has_the_same_values() -> None:
    import polars as pl

    judged, run = draw(6, 40)
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    expected = dh.evaluate(judged, run, [*MEASURES])
    for source in (frame, frame.sort("score"), frame.lazy(), frame.to_pandas(), rows):
        found = dh.evaluate(judged, source, [*MEASURES])
        for name in MEASURES:
            np.testing.assert_allclose(found[name].values, expected[name].values, atol=1e-12)
            np.testing.assert_allclose(found[name].tie_std, expected[name].tie_std, atol=1e-12)


def test_several_runs_have_the_values_of_each() -> None:
    judged, run = draw(7, 30)
    _, other = draw(8, 30)
    both = dh.evaluate(judged, {"one": dh.Run(run), "other": dh.Run(other)}, [*MEASURES])
    for name, source in (("one", run), ("other", other)):
        alone = dh.evaluate(judged, source, [*MEASURES])
        assert both[name].means() == pytest.approx(alone.means())


def choices_that_cover(kinds: Sequence[tuple[int, int]], n_chosen: int, n_topics: int) -> int:
    """Count the choices of documents that have all subtopics, one by one."""
    documents = [subtopics for subtopics, count in kinds for _ in range(count)]
    everything = (1 << n_topics) - 1
    n_covers = 0
    for chosen in combinations(documents, n_chosen):
        covered = 0
        for subtopics in chosen:
            covered |= subtopics
        n_covers += covered == everything
    return n_covers


def test_choices_that_have_all_subtopics_are_counted() -> None:
    rng = random.Random(9)
    n_compared = 0
    for _ in range(120):
        n_topics = rng.randint(1, 5)
        kinds: dict[int, int] = {}
        for _ in range(rng.randint(1, 5)):
            kinds[rng.randint(1, (1 << n_topics) - 1)] = rng.randint(1, 3)
        union = 0
        for subtopics in kinds:
            union |= subtopics
        if union != (1 << n_topics) - 1:
            continue  # such a tie is not asked for
        listed = tuple(sorted(kinds.items()))
        found = count_covers(listed)
        expected = [choices_that_cover(listed, n, n_topics) for n in range(sum(kinds.values()) + 1)]
        assert found == expected
        n_compared += 1
    assert n_compared > 60


@pytest.mark.parametrize(("tied", "inside"), [(3, 2), (40, 7), (1_000_000, 1000)])
def test_the_chance_of_two_groups_is_that_of_their_complements(tied: int, inside: int) -> None:
    """Of groups of two and one documents without a common one: 1 - P(no a) - P(no b) + P(neither)."""

    def none_of(n_documents: int) -> Fraction:
        chance = Fraction(1)
        for place in range(n_documents):
            chance *= Fraction(max(tied - inside - place, 0), tied - place)
        return chance

    found = cover_chance(((0b01, 2), (0b10, 1)), tied, inside)
    assert found.probability == pytest.approx(float(1 - none_of(2) - none_of(1) + none_of(3)), rel=1e-14)
    assert found.is_possible
    assert not found.is_certain


def test_a_chance_too_small_for_a_float_is_still_possible() -> None:
    """All of 100 documents on the first 100 of a hundred thousand ranks: some order has them there."""
    docs = [f"d{place}" for place in range(100)]
    run = {"q": dict.fromkeys([*docs, *(f"x{place}" for place in range(100_000))], 1.0)}
    scores = dh.evaluate({"q": [[doc] for doc in docs]}, run, ["AllHit@100"])["AllHit@100"]
    assert (scores.values[0], scores.tie_min[0], scores.tie_max[0]) == (0, 0, 1)


@pytest.mark.slow
def test_too_many_groups_that_share_documents_are_refused() -> None:
    rng = random.Random(1)
    kinds = {sum(1 << topic for topic in rng.sample(range(24), 3)): 1 for _ in range(40)}
    with pytest.raises(MeasureError):
        cover_chance(tuple(sorted(kinds.items())), 100, 50)
