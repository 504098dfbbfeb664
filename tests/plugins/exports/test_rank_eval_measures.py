"""The counterparts of the measures of _rank_eval: each is computed here by its definition, on lists as they came."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from deadheat.core.evaluation.evaluate import EvaluationArguments
from support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAGE = ROOT / "docs" / "from" / "elasticsearch.md"
K = 5
MOST = 3  # the highest rating
Hits = list[int | None]  # the rating of each of the first k hits
Ratings = list[int]  # all ratings of the query


def precision(hits: Hits, _ratings: Ratings, *, threshold: int = 1, ignore_unlabeled: bool = False) -> float:
    """Relevant hits over the hits, or over those that have a rating."""
    counted = [rating for rating in hits if rating is not None or not ignore_unlabeled]
    n_relevant = sum(rating is not None and rating >= threshold for rating in counted)
    return n_relevant / len(counted) if counted else 0.0


def recall(hits: Hits, ratings: Ratings, *, threshold: int = 1) -> float:
    n_relevant = sum(rating >= threshold for rating in ratings)
    n_found = sum(rating is not None and rating >= threshold for rating in hits)
    return n_found / n_relevant if n_relevant else 0.0


def reciprocal_rank(hits: Hits, _ratings: Ratings, *, threshold: int = 1) -> float:
    ranks = [rank for rank, rating in enumerate(hits, start=1) if rating is not None and rating >= threshold]
    return 1 / ranks[0] if ranks else 0.0


def gain_of(ratings: Sequence[int | None]) -> float:
    gains = [0 if rating is None else 2**rating - 1 for rating in ratings]
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def dcg(hits: Hits, _ratings: Ratings) -> float:
    return gain_of(hits)


def ndcg(hits: Hits, ratings: Ratings) -> float:
    """Divide by the gain of as many best ratings as there are hits."""
    ideal = gain_of([*sorted(ratings, reverse=True)][: len(hits)])
    return gain_of(hits) / ideal if ideal else 0.0


def expected_reciprocal_rank(hits: Hits, _ratings: Ratings) -> float:
    reading, total = 1.0, 0.0
    for rank, rating in enumerate(hits, start=1):
        if rating is not None:
            stop = (2**rating - 1) / 2**MOST
            total += reading * stop / rank
            reading *= 1 - stop
    return total


def drawn(seed: int, *, fewest: int) -> tuple[Any, Any, list[tuple[Hits, Ratings]]]:
    """Return a request with ratings, responses, and of each query the ratings of its first hits and all ratings."""
    rng = random.Random(seed)
    requests: list[Any] = []
    responses: dict[str, Any] = {}
    lists: list[tuple[Hits, Ratings]] = []
    for number in range(40):
        docs = [f"d{place}" for place in range(12)]
        ratings = {doc: rng.choice([0, 0, 1, 2, 3]) for doc in rng.sample(docs, rng.randint(1, 8))}
        found = rng.sample(docs, rng.randint(fewest, 9))
        query = f"q{number}"
        rated = [{"_index": "i", "_id": doc, "rating": rating} for doc, rating in ratings.items()]
        requests.append({"id": query, "request": {}, "ratings": rated})
        hits = [{"_index": "i", "_id": doc, "_score": 1.0} for doc in found]
        responses[query] = {"took": 1, "timed_out": False, "hits": {"max_score": 1.0, "hits": hits}}
        lists.append(([ratings.get(doc) for doc in found[:K]], [*ratings.values()]))
    return {"requests": requests}, responses, lists


COUNTERPARTS: list[tuple[str, Callable[[Hits, Ratings], float], EvaluationArguments]] = [
    (f"P(norm='retrieved')@{K}", precision, {}),
    (f"P(norm='retrieved',rel=2)@{K}", lambda hits, ratings: precision(hits, ratings, threshold=2), {}),
    (
        f"P(norm='retrieved')@{K}",
        lambda hits, ratings: precision(hits, ratings, ignore_unlabeled=True),
        {"depth": K, "judged_only": True},
    ),
    (f"R@{K}", recall, {}),
    (f"R(rel=2)@{K}", lambda hits, ratings: recall(hits, ratings, threshold=2), {}),
    (f"RR@{K}", reciprocal_rank, {}),
    (f"DCG(gain='exp')@{K}", dcg, {}),
    (f"ERR(max_rel={MOST})@{K}", expected_reciprocal_rank, {}),
]


@pytest.mark.parametrize(("notation", "definition", "options"), COUNTERPARTS, ids=[one[0] for one in COUNTERPARTS])
def test_a_counterpart_has_the_values_of_its_definition(
    notation: str, definition: Callable[[Hits, Ratings], float], options: EvaluationArguments
) -> None:
    request, responses, lists = drawn(3, fewest=1)
    given: EvaluationArguments = {"ties": "input", **options}
    found = dh.evaluate(request, responses, [notation], **given)
    (scores,) = found
    by_query = dict(zip(scores.query_ids.tolist(), scores.values.tolist(), strict=True))
    for number, (hits, ratings) in enumerate(lists):
        assert by_query[f"q{number}"] == pytest.approx(definition(hits, ratings), abs=1e-12), number
    assert len({*by_query.values()}) > 3


def test_a_normalised_gain_is_the_same_where_there_are_k_hits() -> None:
    """Of a shorter list the ideal of _rank_eval has as many documents as the list, and the value is larger."""
    notation = f"nDCG(gain='exp')@{K}"
    for fewest, is_same in ((K, True), (1, False)):
        request, responses, lists = drawn(4, fewest=fewest)
        (scores,) = dh.evaluate(request, responses, [notation], ties="input")
        by_query = dict(zip(scores.query_ids.tolist(), scores.values.tolist(), strict=True))
        expected = [ndcg(hits, ratings) for hits, ratings in lists]
        values = [by_query[f"q{number}"] for number in range(len(lists))]
        assert (values == pytest.approx(expected, abs=1e-12)) is is_same
        assert all(value <= other + 1e-12 for value, other in zip(values, expected, strict=True))


def test_failed_queries_are_left_out_of_the_mean_with_missing_skip() -> None:
    request, responses, lists = drawn(5, fewest=1)
    responses["q7"] = {"error": {"type": "parsing_exception"}, "status": 400}
    found = dh.evaluate(request, responses, ["RR@5"], ties="input", missing="skip")
    expected = [reciprocal_rank(*one) for number, one in enumerate(lists) if number != 7]
    assert found.means()["RR@5"] == pytest.approx(sum(expected) / len(expected))
    assert any("1 query failed" in note for note in found.notes)


def test_the_page_names_each_counterpart() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for notation in ("P(norm='retrieved')@10", "R@10", "RR@10", "DCG(gain='exp')@10", "nDCG(gain='exp')@10"):
        assert f"`{notation}`" in text
        dh.parse_measure(notation)


def test_responses_of_msearch_are_those_of_search_in_their_order(tmp_path: Path) -> None:
    request, responses, _ = drawn(6, fewest=1)
    whole = {"took": 5, "responses": [{**response, "status": 200} for response in responses.values()]}
    (tmp_path / "msearch.json").write_text(json.dumps(whole), encoding="utf-8")
    by_place = {str(place): documents for place, documents in enumerate(dh.Run(responses).to_dict().values())}
    assert dh.read_run(tmp_path / "msearch.json").to_dict() == by_place
    ids = [one["id"] for one in request["requests"]]
    whole_responses: Any = whole["responses"]
    named = dict(zip(ids, whole_responses, strict=True))
    assert dh.Run(named).to_dict() == dh.Run(responses).to_dict()
