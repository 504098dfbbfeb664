"""The tie profile against counting by hand, and on real runs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import factorial, log10, prod
from statistics import median
from typing import Any

import numpy as np
import pytest

from deadheat import evaluate
from deadheat.errors import DataError, DuplicateError, ParameterError
from deadheat.plugins.ties.profile import CountRange, Cut, LargestTie, tie_profile
from support.error_parts import raises_parts
from support.shared_data import hpo_run, llm_qrels, llm_run, needs_shared_data


def random_run(seed: int, n_queries: int = 12) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    return {
        f"q{query}": {f"d{doc}": float(rng.integers(0, 6)) for doc in range(rng.integers(1, 30))}
        for query in range(n_queries)
    }


def test_other_keys_order_ties_and_leave_the_scores_as_they_are() -> None:
    run = {"p": {"x": 9.0}, "q": {"a": 3.25, "b": 3.25, "c": 2.5, "d": 2.5, "e": 2.5}}
    keys = {"q": {"a": 0.5, "b": 0.7, "c": 2, "d": 1, "e": 1}}
    found, plain = tie_profile(run, then_by=keys), tie_profile(run)
    assert found.levels == plain.levels == ((9.0, 1), (3.25, 2), (2.5, 3))
    same = ("n_levels", "decimals", "grid", "distinct_scores")
    assert [getattr(found, name) for name in same] == [getattr(plain, name) for name in same]
    assert (plain.largest, plain.n_ties) == (LargestTie("q", 2.5, 3), 2)
    assert (found.largest, found.n_ties) == (LargestTie("q", 2.5, 2), 1)


@pytest.mark.parametrize("seed", range(20))
def test_profile_equals_counting(seed: int) -> None:
    run = random_run(seed)
    cutoffs = (1, 2, 5, 10, 40)
    profile = tie_profile(run, at=cutoffs)
    groups = {query: Counter(scores.values()) for query, scores in run.items()}
    sizes = [n for counts in groups.values() for n in counts.values() if n > 1]
    assert profile.n_queries == len(run)
    assert profile.n_documents == sum(map(len, run.values()))
    assert profile.n_queries_with_ties == sum(max(counts.values()) > 1 for counts in groups.values())
    assert (profile.n_ties, profile.n_tied) == (len(sizes), sum(sizes))
    assert profile.tie_size == CountRange(min(sizes), median(sizes), max(sizes))
    found = profile.per_query()
    orders = [prod(factorial(n) for n in groups[query].values()) for query in found["query_id"]]
    assert found["n_orders"].to_list() == [n if n < 10**18 else None for n in orders]
    assert found["log10_orders"].to_list() == pytest.approx([log10(n) for n in orders], abs=1e-12)
    assert profile.mean_ties == pytest.approx(sum(n > 1 for counts in groups.values() for n in counts.values()) / 12)
    assert profile.mean_largest_tie == pytest.approx(sum(max(counts.values()) for counts in groups.values()) / 12)
    assert profile.to_flat()["mean_largest_tie"] == profile.mean_largest_tie
    distinct = [len(counts) for counts in groups.values()]
    assert profile.distinct_scores == CountRange(min(distinct), median(distinct), max(distinct))
    for cut in profile.cuts:
        ranked = [sorted(scores.values(), reverse=True) for scores in run.values()]
        expected = sum(len(scores) > cut.cutoff and scores[cut.cutoff - 1] == scores[cut.cutoff] for scores in ranked)
        assert cut == Cut(cut.cutoff, expected, expected / len(run))
    levels = sum(groups.values(), Counter[float]())
    assert profile.levels == tuple(sorted(levels.items(), reverse=True))


@pytest.mark.parametrize(
    ("sizes", "n_orders"),
    [((19, 3), factorial(19) * 6), ((20,), None), ((19, 4), None), ((1000,), None), ((12, 12), factorial(12) ** 2)],
)
def test_numbers_of_orders_are_exact_up_to_18_digits(sizes: tuple[int, ...], n_orders: int | None) -> None:
    run = {"few": {"a": 1.0}, "many": {f"{tie}-{n}": float(tie) for tie, size in enumerate(sizes) for n in range(size)}}
    found = tie_profile(run, {"many": {"0-0": 1}, "lacking": {"a": 1}}, measures="RR").per_query()
    own = dict(zip(found["query_id"], found.select("n_orders", "log10_orders").rows(), strict=True))
    assert own["many"] == (n_orders, pytest.approx(sum(log10(factorial(size)) for size in sizes), rel=1e-14))
    assert own["lacking"] == (None, None)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_rows_does_not_matter(seed: int) -> None:
    rows = [(query, doc, score) for query, scores in random_run(seed).items() for doc, score in scores.items()]
    shuffled = [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))]
    ranked = sorted(rows, key=lambda row: (row[0], -row[2]))
    one, other = tie_profile(shuffled), tie_profile(ranked)
    assert (one.cuts, one.tie_size, one.levels, one.n_tied) == (other.cuts, other.tie_size, other.levels, other.n_tied)


def test_a_run_without_ties() -> None:
    profile = tie_profile({"q": {"a": 0.3, "b": 0.2}})
    assert profile.tie_size is None
    assert profile.largest is None
    assert profile.share_tied == 0
    assert all(cut.n_queries == 0 for cut in profile.cuts)


def test_the_largest_tie() -> None:
    profile = tie_profile({"q1": {"a": 1, "b": 1}, "q2": {"a": 2, "b": 2, "c": 2}})
    assert profile.largest == LargestTie("q2", 2.0, 3)


@pytest.mark.parametrize(
    ("scores", "decimals", "grid"),
    [
        ([3, 1, 0], 0, "bfloat16"),
        ([0.25, 0.12], 2, None),
        ([1 / 3, 0.1], None, None),
        (np.array([0.1234, 0.777, 0.01], np.float16).tolist(), None, "float16"),
        (np.array([0.1234, 0.777, 0.01], np.float32).tolist(), None, "float32"),
        ([round(float(np.float16(x)), 4) for x in (0.61234, 0.777, 0.91)], 4, "float16"),
        ([float(str(np.float16(x))) for x in (0.61234, 0.777, 0.91)], 4, "float16"),
        ([float(str(np.float32(x))) for x in (0.61234567, 0.77777777, 0.11919193)], 8, "float32"),
        ([0.61231, 0.77712, 0.91913], 5, None),
        ([float("inf"), 1, 2], 0, "bfloat16"),
    ],
)
def test_signs_of_coarse_scores(scores: list[float], decimals: int | None, grid: str | None) -> None:
    profile = tie_profile({"q": {f"d{n}": score for n, score in enumerate(scores)}})
    if decimals is not None:
        assert profile.decimals == decimals
    assert profile.grid == grid


def test_what_ties_decide_is_what_evaluate_says() -> None:
    run, qrels = random_run(1), {query: {"d0": 1, "d3": 2, "d9": 1} for query in random_run(1)}
    profile = tie_profile(run, qrels, measures=["RR", "nDCG@5"])
    evaluation = evaluate(qrels, run, ["RR", "nDCG@5"])
    for decided, scores in zip(profile.decided, evaluation, strict=True):
        span = scores.tie_max - scores.tie_min
        assert decided.measure == scores.measure
        assert (decided.mean, decided.tie_std) == (scores.mean, scores.mean_tie_std)
        assert decided.n_queries == np.count_nonzero(span > 1e-12)
        ranges = [query.tie_max - query.tie_min for query in decided.worst]
        assert ranges[0] == span.max()
        assert all(one >= other for one, other in pairwise(ranges))
        of_queries = scores.values.var(ddof=1) / len(span)
        assert decided.share_of_error == pytest.approx(
            scores.mean_tie_std**2 / (scores.mean_tie_std**2 + of_queries), rel=1e-12
        )


def test_bad_arguments() -> None:
    with raises_parts(ParameterError, argument="each of at", given=0, allowed="a whole number from 1 on"):
        tie_profile({"q": {"a": 1}}, at=[0])
    with pytest.raises(ParameterError, match="measures need qrels"):
        tie_profile({"q": {"a": 1}}, measures="RR")
    with pytest.raises(DuplicateError):
        tie_profile([("q", "a", 1.0), ("q", "a", 2.0)])


@needs_shared_data
def test_real_runs() -> None:
    profile = tie_profile(llm_run("Olz-gpt4o"), llm_qrels(), at=[10], measures="nDCG@10")
    assert profile.n_documents == 4423
    assert profile.levels == ((3.0, 387), (2.0, 504), (1.0, 1274), (0.0, 2258))
    assert profile.cuts == (Cut(10, 24, 24 / 25),)
    half = tie_profile(hpo_run("en.minilm-f16"), at=[10])
    assert half.grid == "float16"
    assert half.cuts[0].share == pytest.approx(0.0353356890459364)  # as counted when the run was made
    assert tie_profile(hpo_run("en.minilm-f32")).grid == "float32"
    assert tie_profile(hpo_run("en.minilm-2dec")).decimals == 2


def test_queries_that_are_not_in_both() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0, "b": 1.0}, "q3": {"a": 1.0}}
    profile = tie_profile(run, qrels, measures=["RR"])
    assert (profile.missing_queries, profile.unjudged_queries) == (("q2",), ("q3",))
    assert profile.decided[0].mean == 0.75 / 2
    assert tie_profile(run, qrels, measures=["RR"], missing="skip").decided[0].mean == 0.75
    assert tie_profile(run).missing_queries == ()
    with pytest.raises(DataError):
        tie_profile(run, qrels, missing="error")


def test_queries_without_a_relevant_document_can_be_left_out() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    assert tie_profile(run, qrels, measures=["RR"]).decided[0].mean == 0.5
    assert tie_profile(run, qrels, measures=["RR"], no_relevant="skip").decided[0].mean == 1.0


def test_repeated_judgments_are_refused() -> None:
    with pytest.raises(DuplicateError):
        tie_profile({"q": {"a": 1.0}}, [("q", "a", 1), ("q", "a", 0)])


@pytest.mark.parametrize("at", [[1.5], [0], [True], [None]])
def test_a_cutoff_that_is_no_whole_number_is_an_error(at: Any) -> None:  # noqa: ANN401 - whatever is given
    """To look for it in a range of whole numbers went through all of them."""
    with raises_parts(ParameterError, argument="each of at", allowed="a whole number from 1 on"):
        tie_profile({"q": {"a": 1}}, at=at)
