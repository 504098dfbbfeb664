"""item_profile(): beside all orders of the ties, each list cut at rank k, by the definitions that RecBole states."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DuplicateError, ParameterError
from oracle.orders import all_orders
from support.error_parts import raises_parts

Run = dict[str, dict[str, float]]
Lists = tuple[list[str], ...]


def drawn(seed: int, n_scores: int = 3) -> tuple[Run, dict[str, float]]:
    rng = random.Random(seed)
    docs = "abcdefg"
    run = {
        f"u{user}": {doc: float(rng.randrange(n_scores)) for doc in rng.sample(docs, rng.randint(1, 4))}
        for user in range(4)
    }
    return run, {doc: float(rng.randrange(1, 9)) for doc in "abcdefghij"}


def cut_lists(run: Run, k: int) -> list[Lists]:
    """Every way in which the ties of all lists may be broken, each list cut at k."""
    orders = [[order[:k] for order in all_orders(scores)] for scores in run.values()]
    return list(itertools.product(*orders))


def mean_over(lists: list[Lists], value: object) -> float:
    assert callable(value)
    return float(np.mean([value(one) for one in lists]))


@pytest.mark.parametrize("k", [1, 2, 3, 10])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_means_over_all_orders(seed: int, k: int) -> None:
    run, popularity = drawn(seed)
    lists, total, n_tail = cut_lists(run, k), sum(popularity.values()), 8
    border = sorted(popularity.values())[n_tail - 1]
    expected = {
        "coverage": mean_over(lists, lambda one: len(set(itertools.chain(*one))) / 10),
        "average_popularity": mean_over(
            lists, lambda one: np.mean([np.mean([popularity[item] for item in own]) for own in one])
        ),
        "tail_share": mean_over(
            lists, lambda one: np.mean([np.mean([popularity[item] <= border for item in own]) for own in one])
        ),
        "novelty": mean_over(
            lists, lambda one: np.mean([np.mean([-math.log2(popularity[item] / total) for item in own]) for own in one])
        ),
    }
    found = dh.item_profile(run, popularity, cutoff=k, n_users=total)
    assert {name: found.means()[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    for place, user in enumerate(sorted(run)):
        own = [float(np.mean([popularity[item] for item in order[:k]])) for order in all_orders(run[user])]
        ends = found.tie_min["average_popularity"][place], found.tie_max["average_popularity"][place]
        assert ends == pytest.approx((min(own), max(own)))


@pytest.mark.parametrize("k", [1, 2, 10])
def test_gini_and_entropy_of_lists_without_ties(k: int) -> None:
    """RecBole: (2 i - n - 1) P(i) over the items from the least exposed up, and - p log p of the exposed ones."""
    run, popularity = drawn(5, n_scores=1_000_000)
    counts = Counter(itertools.chain(*cut_lists(run, k)[0]))
    total = sum(counts.values())
    ordered = sorted(counts.get(item, 0) / total for item in popularity)
    found = dh.item_profile(run, popularity, cutoff=k, n_users=100)
    assert found.gini == pytest.approx(sum((2 * i - 11) * share for i, share in enumerate(ordered, 1)) / 10)
    assert found.entropy == pytest.approx(-sum(share * math.log2(share) for share in ordered if share))
    exposed = dict(found.to_polars().select("doc_id", "exposure").rows())
    assert {item: number for item, number in exposed.items() if number} == pytest.approx(counts)


def test_gini_and_entropy_are_of_the_expected_exposure() -> None:
    """Two items that take one place in turn are exposed alike."""
    found = dh.item_profile({"u": {"a": 1.0, "b": 1.0}}, cutoff=1)
    assert (found.coverage, found.gini, found.entropy, found.n_items) == (0.5, 0.0, 1.0, 2)
    assert dh.item_profile({"u": {"a": 1.0}}, n_items=4).gini == 0.75
    assert set(found.means()) == {"coverage", "gini", "entropy"}
    assert "no popularity" in str(found)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_catalogue_is_what_the_run_and_the_popularity_have(k: int) -> None:
    """Not the items of the top k alone, of which all are covered."""
    run = {"u": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = dh.item_profile(run, cutoff=k)
    assert (found.n_items, found.coverage) == (3, k / 3)
    known = dh.item_profile(run, {"a": 2, "c": 1, "z": 5}, cutoff=k, n_users=10)
    assert (known.n_items, known.coverage) == (4, k / 4)
    with raises_parts(ParameterError, argument="n_items", given=2):
        dh.item_profile(run, cutoff=k, n_items=2)


@pytest.mark.parametrize("seed", range(4))
def test_a_dict_and_the_interactions_it_counts_say_the_same(seed: int) -> None:
    rng = random.Random(seed)
    train = {f"u{user}": dict.fromkeys(rng.sample("abcdefg", rng.randint(1, 5)), 1) for user in range(6)}
    counts = Counter(itertools.chain.from_iterable(train.values()))
    run, _ = drawn(seed)
    wanted = dh.item_profile(run, train, cutoff=2).means()
    assert dh.item_profile(run, dict(counts), cutoff=2, n_users=len(train)).means() == pytest.approx(wanted)
    with pytest.raises(ParameterError, match="does not say how many users there are"):
        dh.item_profile(run, dict(counts), cutoff=2)


def test_popularity_from_the_interactions_of_users() -> None:
    train = pl.DataFrame(
        {"user_id": ["u", "u", "v", "w"], "item_id": ["a", "b", "a", "c"], "rating": [1, 0, 5, 2]},
    )
    found = dh.item_profile({"u": {"c": 2.0, "x": 1.0}}, train, cutoff=2, n_items=4)
    assert found.n_users == 3
    assert found.means()["average_popularity"] == pytest.approx(1 / 2)
    assert found.means()["novelty"] == pytest.approx(math.log2(3))
    assert found.notes[-1] == "1 item of the top 2 without popularity: it is 0"
    by_item = dict(found.to_polars().select("doc_id", "popularity").rows())
    assert by_item == {"a": 2, "b": 0, "c": 1, "x": 0}


def test_a_head_without_an_item_is_said() -> None:
    """A fifth of four items is none, so that all are tail; and of three equals, two have no room for the third."""
    run = {"u": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    none = dh.item_profile(run, {"a": 9, "b": 5, "c": 5, "d": 5}, n_users=9)
    assert (none.n_head, none.means()["tail_share"]) == (0, 1)
    assert "4 of 4 items: all but the 20% most popular ones" in str(none)
    assert [
        dh.item_profile(run, {"a": 9, "b": 5, "c": 5, "d": 5}, n_users=9, head=head).n_head for head in (0.25, 0.75, 1)
    ] == [
        1,
        1,
        4,
    ]
    assert dh.item_profile(run).n_head == 0


def test_a_user_who_comes_back_to_an_item_is_one_user() -> None:
    train = pl.DataFrame({"user_id": ["u", "u", "u", "v"], "item_id": ["a", "a", "b", "b"], "rating": [1, 5, 2, 1]})
    found = dh.item_profile({"u": {"a": 2.0, "b": 1.0}}, train, cutoff=1)
    assert dict(found.to_polars().select("doc_id", "popularity").rows()) == {"a": 1, "b": 2}
    assert found.means()["novelty"] == 1  # one of two users


def test_many_users_are_shown_with_all_digits() -> None:
    found = dh.item_profile({"q": ["a"]}, {"a": 2}, n_users=1_234_567)
    assert "1,234,567; an item without any" in str(found)


def test_popularity_may_be_shares() -> None:
    """An item without popularity is as novel as the least popular one, or as one of a single user."""
    run = {"u": {"a": 4.0, "b": 3.0, "c": 2.0, "x": 1.0}}
    shares = {"a": 0.5, "b": np.float32(0.375), "c": 0.125}
    assert dh.item_profile(run, shares, cutoff=1, n_users=1).means()["novelty"] == 1
    assert dh.item_profile(run, shares, n_users=1).means()["novelty"] == pytest.approx(
        (1 - math.log2(0.375) + 3 + 3) / 4
    )
    counts = {"a": np.int64(4), "b": 3, "c": 1}
    assert dh.item_profile(run, counts, n_users=8).means()["novelty"] == pytest.approx(
        (1 - math.log2(0.375) + 3 + 3) / 4
    )


def test_the_tail_is_all_but_the_head() -> None:
    popularity = {"a": 9.0, "b": 5.0, "c": 5.0, "d": 1.0}
    run = {"u": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    shares = [
        dh.item_profile(run, popularity, n_users=20, head=head).means()["tail_share"]
        for head in (0, 0.25, 0.5, 0.75, 1)
    ]
    assert shares == [1, 0.75, 0.75, 0.25, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": 0}, "cutoff must be a whole number from 1 on"),
        ({"n_items": 1}, "n_items must be 2 or more"),
        ({"head": 2}, "head must be a number from 0 to 1"),
        ({"n_users": 0}, "n_users must be a number above 0"),
        ({"popularity": {"a": -1}}, "popularity must be numbers from 0 on, got -1 for 'a'"),
        ({"popularity": {"a": 0}, "n_users": 1}, "popularity must be some number above 0, got 0 for every item"),
        ({"popularity": {"a": 3}, "n_users": None}, "does not say how many users there are: give n_users=, 1 if"),
        ({"popularity": {1: 2, "1": 3}}, "^popularity has two numbers for an item"),
        ({"popularity": {"a": 3, "b": 1}, "n_users": 2}, "n_users is less than 3, the users of one item"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        dh.item_profile({"u": {"a": 1.0, "b": 2.0}}, **options)  # type: ignore[arg-type]


MATRIX = np.array([[0.1, 0.5, 0.9], [0.2, 0.6, 0.3]])
RUN = {"u": {"a": 1.0, "b": 2.0}}


@pytest.mark.parametrize("function", [dh.item_profile, dh.exposure])
@pytest.mark.parametrize(
    ("run", "options"),
    [
        (MATRIX, {"ascending": True}),
        (MATRIX, {"score_precision": "float16"}),
        (RUN, {"exclude": [[0]]}),
        (RUN, {"mask": np.ones((1, 2), np.bool_)}),
        (RUN, {"query_ids": ["x"]}),
        (RUN, {"doc_ids": ["x", "y"]}),
    ],
)
def test_an_option_that_is_of_the_other_form_is_refused(
    function: Any,  # noqa: ANN401 - either function
    run: Any,  # noqa: ANN401 - either form
    options: dict[str, Any],
) -> None:
    (name,) = options
    own, other = ("run", "matrix") if run is MATRIX else ("matrix", "run")
    with pytest.raises(ParameterError, match=f"{name} is for a {own}, not for a {other}"):
        function(run, **options)


def test_a_pair_that_comes_twice_is_an_error() -> None:
    with pytest.raises(DuplicateError):
        dh.item_profile([("u", "a", 1.0), ("u", "a", 2.0)])


def test_popularity_of_an_array_that_is_no_matrix_of_users_by_items() -> None:
    items = np.array([[0, 3], [1, 2]])  # numbers of items, two of each user
    for kwargs in ({"n_items": 5}, {"n_items": 1}):
        with pytest.raises(ParameterError, match=r"an array of shape \(2, 2\)"):
            dh.popularity(items, **kwargs)
    with pytest.raises(ParameterError, match=r"of shape \(n_users, n_items\)"):
        dh.popularity(items[0])
    assert dh.popularity(items.tolist(), 5).tolist() == [1, 1, 1, 1, 0]


def test_items_that_tie_at_the_border_of_the_tail_are_told() -> None:
    run = {"u": {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.5, "e": 0.1}}
    tied = str(dh.item_profile(run, {"v": {"a": 1, "b": 1}}, head=0.2))
    assert "5 of 5 items: all but the 20% most popular ones; 1 of those counted as tail" in " ".join(tied.split())
    clear = str(dh.item_profile(run, {"v": {"a": 1, "b": 1}, "w": {"a": 1}}, head=0.2))
    assert "4 of 5 items: all but the 20% most popular ones\n" in clear


def test_an_item_that_nobody_liked_is_in_the_catalogue_as_in_a_dict() -> None:
    """Training qrels hold what users disliked, with relevance 0 or below: the catalogue has it, with popularity 0."""
    run = {"u1": ["a", "b"], "u2": ["a", "d"]}
    train = {"u1": {"a": 1, "c": 0}, "u2": {"a": 2, "b": 1, "e": -1}}
    found = dh.item_profile(run, train, cutoff=2)
    by_dict = dh.item_profile(run, {"a": 2, "b": 1, "c": 0, "e": 0}, cutoff=2, n_users=2)
    assert found.n_items == by_dict.n_items == 5  # a, b and d of the run, c and e
    assert found.coverage == 3 / 5
    assert found.means() == by_dict.means()
    assert found.n_users == 2
    assert found.notes == by_dict.notes
    assert found.notes[-1:] == ("1 item of the top 2 without popularity: it is 0",)  # d
    assert sorted(found.to_polars().select("doc_id", "popularity").rows()) == [
        ("a", 2.0),
        ("b", 1.0),
        ("c", 0.0),
        ("d", 0.0),
        ("e", 0.0),
    ]


def test_rows_of_training_data_that_repeat_count_a_user_once() -> None:
    train = [("u1", "a", 1), ("u1", "a", 1), ("u2", "a", 0), ("u3", "b", 1)]
    found = dh.item_profile({"u1": ["a"]}, train, cutoff=1)
    assert dict(found.to_polars().select("doc_id", "popularity").rows()) == {"a": 1.0, "b": 1.0}
    assert found.n_users == 2  # u2 has nothing


def test_several_runs_are_refused_as_such() -> None:
    """A dict of frames was taken for a run, and each frame for the results of a query."""
    run = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "score": [1.0]})
    with pytest.raises(ParameterError, match="one run, got several"):
        dh.item_profile({"a": run, "b": run})
    assert dh.item_profile({"q": {"d": 1.0}}).means()["coverage"] == 1
