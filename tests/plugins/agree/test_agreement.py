"""agree(): beside all orders of the ties, SciPy, and what the program of Corsi and Urbano prints."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping

import numpy as np
import pytest
import scipy

import deadheat as dh
from deadheat.core.kernels import agreement
from deadheat.errors import DataError, DuplicateError, ParameterError
from oracle.orders import all_orders
from support.shared_data import LLM_RUNS, llm_run, needs_shared_data, run_dict

Scores = Mapping[str, float]
Order = list[str]
FAR = 200  # depth at which nothing is left of 0.8 to the power of it: 4e-20

KEPT = {  # of rankings with ties in parentheses, p and form: extrapolated, least and greatest, as they print it
    ("red (blue green) yellow pink", "(blue red) white (yellow black purple) green", 0.9, "w"): (
        0.693589075758,
        0.472335591836,
        0.835408925108,
    ),
    ("red (blue green) yellow pink", "(blue red) white (yellow black purple) green", 0.9, "a"): (
        0.668452357143,
        0.449158652442,
        0.812231985714,
    ),
    ("red (blue green) yellow pink", "(blue red) white (yellow black purple) green", 0.9, "b"): (
        0.712655462201,
        0.486965857925,
        0.850039191198,
    ),
    ("a (b c)", "(a b c d e)", 0.8, "w"): (0.73664, 0.513211767659, 0.783288888889),
    ("a (b c)", "(a b c d e)", 0.8, "a"): (0.598592, 0.404518434326, 0.67232),
    ("a (b c)", "(a b c d e)", 0.8, "b"): (0.764536698524, 0.536409014292, 0.806627916056),
    ("(a b)", "c", 0.5, "w"): (0.0, 0.0, 0.375),
    ("(a b)", "c", 0.5, "a"): (0.0, 0.0, 0.375),
    ("(a b)", "c", 0.5, "b"): (0.0, 0.0, 0.375),
}


def drawn(seed: int, n_cases: int = 60) -> list[tuple[Scores, Scores]]:
    """Draw pairs of short lists with every kind of tie."""
    rng = random.Random(seed)

    def draw(docs: list[str]) -> Scores:
        levels = rng.choice((1, 2, 4, 50))
        return {doc: float(rng.randrange(levels)) for doc in rng.sample(docs, rng.randint(1, len(docs)))}

    found = []
    for _ in range(n_cases):
        docs = [f"d{n}" for n in range(rng.randint(1, 6))]
        found.append((draw(docs), draw(docs)))
    return found


def over_orders(pair: tuple[Scores, Scores], value: Callable[[Order, Order], float]) -> list[float]:
    return [value(one, other) for one, other in itertools.product(*map(list, map(all_orders, pair)))]


def tau(one: Order, other: Order) -> float:
    common = [doc for doc in one if doc in other]
    return float(scipy.stats.kendalltau(range(len(common)), [other.index(doc) for doc in common]).statistic)


def ap_correlation(one: Order, other: Order) -> float:
    """tau-AP of the other order, the first one being the truth, from its definition."""
    ranked = [doc for doc in other if doc in one]
    total = math.fsum(
        sum(one.index(above) < one.index(ranked[place]) for above in ranked[:place]) / place
        for place in range(1, len(ranked))
    )
    return 2 * total / (len(ranked) - 1) - 1


def overlap_of(one: Order, other: Order, depth: int) -> int:
    return len(set(one[:depth]) & set(other[:depth]))


def least_rbo(one: Order, other: Order) -> float:
    """Rank-biased overlap at p = 0.8 if nothing below the lists agreed, summed rank by rank."""
    return 0.2 * math.fsum(0.8 ** (depth - 1) * overlap_of(one, other, depth) / depth for depth in range(1, FAR))


def extrapolated_rbo(one: Order, other: Order) -> float:
    """Webber, Moffat and Zobel 2010, section 4.4: the shorter list goes on to agree as it did at its end."""
    s, length = sorted((len(one), len(other)))
    agreement = overlap_of(one, other, s) / s

    def at(depth: int) -> float:
        reach = min(depth, length)
        return (overlap_of(one, other, depth) + max(reach - s, 0) * agreement) / reach

    return 0.2 * math.fsum(0.8 ** (depth - 1) * at(depth) for depth in range(1, FAR))


@pytest.fixture(scope="module")
def found() -> list[tuple[tuple[Scores, Scores], dh.Agreement]]:
    return [(pair, dh.agree({"q": pair[0]}, {"q": pair[1]}, p=0.8, cutoff=2)) for pair in drawn(1)]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "value"), [("tau", tau), ("tau_ap", ap_correlation)])
def test_correlations_are_means_over_all_orders(
    found: list[tuple[tuple[Scores, Scores], dh.Agreement]], kind: str, value: Callable[[Order, Order], float]
) -> None:
    n_compared = 0
    for pair, one in found:
        if len(pair[0].keys() & pair[1].keys()) < 2:
            assert np.isnan(one.values[kind][0])
            continue
        n_compared += 1
        assert one.values[kind][0] == pytest.approx(np.mean(over_orders(pair, value)), abs=1e-12)
    assert n_compared > 20


def test_tau_b_is_that_of_scipy(found: list[tuple[tuple[Scores, Scores], dh.Agreement]]) -> None:
    for pair, one in found:
        common = sorted(pair[0].keys() & pair[1].keys())
        if len(common) >= 2:
            expected = scipy.stats.kendalltau(
                [pair[0][doc] for doc in common], [pair[1][doc] for doc in common]
            ).statistic
            assert one.values["tau_b"][0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@needs_shared_data
def test_tau_b_of_real_runs_is_that_of_scipy() -> None:
    runs = [run_dict(llm_run(name)) for name in LLM_RUNS[:2]]
    one = dh.agree(*runs)
    for query, value in zip(one.query_ids, one.values["tau_b"].tolist(), strict=True):
        common = sorted(runs[0][query].keys() & runs[1][query].keys())
        scores = [[run[query][doc] for doc in common] for run in runs]
        assert value == pytest.approx(scipy.stats.kendalltau(*scores).statistic, abs=1e-12, nan_ok=True)


@pytest.mark.slow
def test_the_a_form_of_rbo_is_a_mean_over_all_orders(found: list[tuple[tuple[Scores, Scores], dh.Agreement]]) -> None:
    """Its least value always; the extrapolated one where both lists are of a length."""
    for pair, one in found:
        assert one.low["rbo_a"][0] == pytest.approx(np.mean(over_orders(pair, least_rbo)), abs=1e-9)
        if len(pair[0]) == len(pair[1]):
            assert one.values["rbo_a"][0] == pytest.approx(np.mean(over_orders(pair, extrapolated_rbo)), abs=1e-9)


def test_the_a_form_of_lists_of_different_lengths_is_extrapolated_from_means() -> None:
    """As its authors do, which is not the mean of what each order is extrapolated to; the documentation says so."""
    pair = ({"a": 2.0, "b": 1.0}, {"a": 2.0, "b": 1.0, "c": 0.0, "d": 0.0, "e": 0.0, "x": 1.0})
    one = dh.agree({"q": pair[0]}, {"q": pair[1]}, p=0.8)
    assert abs(one.values["rbo_a"][0] - np.mean(over_orders(pair, extrapolated_rbo))) > 0.01
    assert one.low["rbo_a"][0] == pytest.approx(np.mean(over_orders(pair, least_rbo)), abs=1e-9)


def test_all_forms_are_one_without_ties(found: list[tuple[tuple[Scores, Scores], dh.Agreement]]) -> None:
    n_compared = 0
    for pair, one in found:
        if all(len(set(scores.values())) == len(scores) for scores in pair):
            n_compared += 1
            (expected,) = over_orders(pair, extrapolated_rbo)
            assert [one.values[f"rbo_{form}"][0] for form in "wab"] == pytest.approx([expected] * 3, abs=1e-9)
    assert n_compared > 3


@pytest.mark.parametrize("given", KEPT)
def test_rbo_is_what_the_program_of_its_authors_prints(given: tuple[str, str, float, str]) -> None:
    one, other, p, form = given
    rankings = []
    for text in (one, other):
        scores: dict[str, float] = {}
        for place, group in enumerate(text.replace("(", "|(").replace(")", ")|").split("|")):
            if group.startswith("("):
                scores |= dict.fromkeys(group.strip("()").split(), -float(place))
            else:
                scores |= {doc: -place - n / 100 for n, doc in enumerate(group.split())}
        rankings.append({"q": scores})
    agreed = dh.agree(*rankings, p=p)
    name = f"rbo_{form}"
    values = [held[name][0] for held in (agreed.values, agreed.low, agreed.high)]
    assert values == pytest.approx(KEPT[given], abs=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_the_overlap_of_the_top_is_exact_over_all_orders(k: int) -> None:
    for pair in drawn(2):
        size = min(k, max(map(len, pair)))
        expected = over_orders(pair, lambda one, other, size=size: overlap_of(one, other, k) / size)  # type: ignore[misc]
        one = dh.agree({"q": pair[0]}, {"q": pair[1]}, cutoff=k)
        values = [held["overlap"][0] for held in (one.values, one.low, one.high)]
        assert values == pytest.approx([np.mean(expected), min(expected), max(expected)], abs=1e-12)


def test_ranks_of_no_weight_are_left_out() -> None:
    """Long lists: the sum ends where weights are below 1e-18, which changes nothing."""
    rng = random.Random(3)
    runs = [{"q": {f"d{n}": float(rng.randrange(100)) for n in range(1_000)}} for _ in range(2)]
    far, near = dh.agree(*runs, p=0.99), dh.agree(*runs, p=0.5)
    assert far.low["rbo_a"][0] <= far.values["rbo_a"][0] <= far.high["rbo_a"][0]
    assert near.low["rbo_a"][0] == pytest.approx(near.high["rbo_a"][0], abs=1e-12)


@pytest.mark.slow
def test_depths_may_be_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long lists are, so that they fit into memory."""
    pairs = drawn(4)
    whole = [dh.agree({"q": one}, {"q": other}, p=0.95) for one, other in pairs]
    monkeypatch.setattr("deadheat.core.kernels.overlap.MAX_CELLS", 5)
    for (one, other), expected in zip(pairs, whole, strict=True):
        found = dh.agree({"q": one}, {"q": other}, p=0.95)
        assert found.to_polars().row(0)[1:] == pytest.approx(expected.to_polars().row(0)[1:], abs=1e-12)


def test_a_run_agrees_with_itself() -> None:
    run = {"q": {"a": 2.0, "b": 1.0, "c": 1.0}, "r": {"a": 1.0, "b": 0.0}}
    means = dh.agree(run, run).means()
    assert (means["tau_b"], means["rbo_w"], means["rbo_b"]) == pytest.approx((1, 1, 1))
    assert means["rbo_a"] < 1


def test_queries_of_one_run_are_named_and_left_out() -> None:
    one = dh.agree({"q": {"a": 1.0}, "x": {"a": 1.0}}, {"q": {"a": 2.0}, "y": {"b": 1.0}})
    assert (list(one.query_ids), one.only_first, one.only_second) == (["q"], ("x",), ("y",))
    assert "1 query that only" in str(one)
    assert one.to_polars().row(0, named=True)["n_common"] == 1
    assert one.to_flat()["n_queries"] == 1


def test_what_cannot_be_compared_is_refused() -> None:
    run = {"q": {"a": 1.0}}
    with pytest.raises(DataError, match="share no query with results: 'q' and 'x'"):
        dh.agree(run, {"x": {"a": 1.0}})
    with pytest.raises(ParameterError, match="p must be a number between 0 and 1"):
        dh.agree(run, run, p=1)
    with pytest.raises(ParameterError, match="cutoff must be a whole number from 1 on"):
        dh.agree(run, run, cutoff=0)
    with pytest.raises(DuplicateError):
        dh.agree(run, [("q", "a", 1.0), ("q", "a", 2.0)])


def test_scores_may_be_rounded_first() -> None:
    one, other = {"q": {"a": 0.31, "b": 0.29}}, {"q": {"a": 1.0, "b": 2.0}}
    assert dh.agree(one, other).means()["tau"] == -1
    assert dh.agree(one, other, score_precision=1).means()["tau"] == 0


@pytest.mark.parametrize("seed", range(20))
def test_equal_rankings_agree_fully_and_no_more(seed: int) -> None:
    """1, where rounding would leave 1.0000000000000002."""
    rng = random.Random(seed)
    run = {"q": {f"d{n}": float(rng.randrange(4)) for n in range(rng.randrange(20, 90))}}
    means = dh.agree(run, run, p=0.9).means()
    assert means["tau_b"] == 1
    assert all(-1 <= value <= 1 for value in means.values())


@pytest.mark.parametrize("n_levels", [2, 10, 2000])
def test_many_documents_are_counted_as_few_are(n_levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(n_levels)
    first, second = rng.integers(0, n_levels, (2, 600))
    by_sorting = [agreement.tau(first, second), agreement.tau_ap(first, second)]
    n_swapped = agreement.n_swapped_pairs(first, second)
    monkeypatch.setattr(agreement, "FEW_DOCUMENTS", 600)
    assert [agreement.tau(first, second), agreement.tau_ap(first, second)] == by_sorting
    orders = np.sign(np.subtract.outer(first, first)) * np.sign(np.subtract.outer(second, second))
    assert agreement.n_swapped_pairs(first, second) == n_swapped == np.count_nonzero(orders < 0) // 2
