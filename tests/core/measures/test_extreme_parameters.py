"""Parameters and cutoffs far beyond what is usual, beside fractions over every order."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

JUDGED = {"a": 2, "b": 0, "c": 1, "d": 1, "z": 1}
RUN = {"a": 2.0, "b": 2.0, "c": 2.0, "e": 1.0, "d": 0.5, "f": 0.5, "g": 0.5}
TIES = ("abc", "e", "dfg")
N_RELEVANT = 4


def assert_is_over_orders(measure: dh.Measure, of_order: Callable[[Sequence[str]], Fraction]) -> None:
    """Compare mean, standard deviation and extremes with those over every order of the ties."""
    choices = itertools.product(*(itertools.permutations(tie) for tie in TIES))
    values = [of_order(tuple(itertools.chain(*choice))) for choice in choices]
    mean = sum(values, Fraction()) / len(values)
    variance = sum(((value - mean) ** 2 for value in values), Fraction()) / len(values)
    found = dh.evaluate({"q": JUDGED}, {"q": RUN}, [measure])[measure]
    assert found.values[0] == pytest.approx(float(mean), rel=1e-14)
    assert found.tie_std[0] == pytest.approx(float(variance) ** 0.5, rel=1e-12)
    assert found.tie_min[0] == pytest.approx(float(min(values)), rel=1e-14)
    assert found.tie_max[0] == pytest.approx(float(max(values)), rel=1e-14)


@pytest.mark.parametrize("cutoff", [1, 2, 6, 7, 8, 10, 10**9, 2**53])
def test_capped_ranks(cutoff: int) -> None:
    """A cutoff beyond the list needs no weight for each of its ranks, and takes no digit from the ranks found."""

    def capped(order: Sequence[str]) -> Fraction:
        ranks = [order.index(doc) + 1 if doc in order else cutoff + 1 for doc in JUDGED if JUDGED[doc] >= 1]
        return Fraction(sum(min(rank, cutoff + 1) for rank in ranks), N_RELEVANT)

    assert_is_over_orders(dh.MR(missing="capped", cutoff=cutoff), capped)


def test_capped_ranks_keep_their_digits() -> None:
    notation = f"MR(missing='capped')@{2**53}"
    scores = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1, "c": 1}}, [notation])[notation]
    assert (scores.values[0], scores.tie_min[0], scores.tie_max[0]) == (2, 1, 3)
    assert scores.tie_std[0] == pytest.approx((2 / 3) ** 0.5, rel=1e-15)


@pytest.mark.parametrize("beta", [0, 1e-300, 0.3, 1, 3, 1e160, 1e308])
@pytest.mark.parametrize("cutoff", [1, 2, 5, 100])
def test_weights_of_recall(beta: float, cutoff: int) -> None:
    def weighted(order: Sequence[str]) -> Fraction:
        found, square = sum(JUDGED.get(doc, 0) >= 1 for doc in order[:cutoff]), Fraction(beta) ** 2
        return (1 + square) * found / (cutoff + square * N_RELEVANT)

    assert_is_over_orders(dh.F(beta=beta) @ cutoff, weighted)


@pytest.mark.parametrize("beta", [0, 1e-300, 0.3, 1, 1e6])
def test_weights_of_the_gain(beta: float) -> None:
    ideal = [2, 3, 4, 5]

    def blended(order: Sequence[str]) -> Fraction:
        total, count, gain = Fraction(), 0, 0
        for rank, doc in enumerate(order, 1):
            if JUDGED.get(doc, 0) >= 1:
                count, gain = count + 1, gain + JUDGED[doc]
                best = ideal[min(rank, len(ideal)) - 1]
                total += (count + Fraction(beta) * gain) / (rank + Fraction(beta) * best)
        return total / N_RELEVANT

    assert_is_over_orders(dh.Q(beta=beta), blended)


@pytest.mark.parametrize("beta", [1.1e6, 1e308, float("inf"), -1])
def test_weights_of_the_gain_that_are_refused(beta: float) -> None:
    with raises_parts(MeasureError, measure="Q", argument="beta", given=beta):
        dh.Q(beta=beta)


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize(
    "notation", ["DCG(discount='zipf(50, -0.99)')@2", "nDCG(discount='zipf(50, -0.99)')@2", "INSQ(T=1e-6)"]
)
def test_weights_at_their_bounds_are_numbers(notation: str) -> None:
    scores = dh.evaluate({"q": JUDGED}, {"q": dict.fromkeys([*JUDGED, "x"], 1.0)}, [notation])[notation]
    assert np.isfinite([scores.values, scores.tie_std, scores.tie_min, scores.tie_max]).all()


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize(
    ("measure", "argument", "given", "bound"),
    [
        ("DCG", "discount", "zipf(1000, 0)", "s <= 50"),
        ("DCG", "discount", "zipf(1, -0.999)", "p >= -0.99"),
        ("INSQ", "T", 1e-7, "[1e-06, 1e+100]"),
    ],
)
def test_weights_beyond_them_are_refused(measure: str, argument: str, given: object, bound: str) -> None:
    with raises_parts(MeasureError, measure=measure, argument=argument, given=given) as caught:
        dh.parse_measure(f"{measure}({argument}={given!r})")
    assert bound in str(caught.value.allowed)


SUMMED = ("SDCG@{}", "alpha_DCG@{}", "ERR_IA@{}", "NERR9@{}", "Compat(depth={})", "Compat(depth={}, normalize=False)")


@pytest.mark.plugins("diversity", "more_measures")
@pytest.mark.parametrize("notation", SUMMED)
def test_a_sum_over_more_ranks_than_memory_holds_is_refused(notation: str) -> None:
    """As where 10,000,000,000 stands for no cutoff."""
    qrels = {"q": JUDGED}
    assert 0 < dh.evaluate(qrels, {"q": RUN}, notation.format(10**6)).means().popitem()[1] < 1
    measure = dh.parse_measure(notation.format(10**10))
    n_ranks = 10**10 - 7 if notation.startswith("NERR9") else 10**10
    with raises_parts(MeasureError, measure=str(measure), found=f"{n_ranks:,}", allowed="at most 10,000,000"):
        dh.evaluate(qrels, {"q": RUN}, measure)


@pytest.mark.plugins("diversity", "more_measures")
@pytest.mark.parametrize("notation", ["nDCG@{}", "ERR@{}", "P@{}", "INST", "alpha_nDCG@{}", "NERR8@{}"])
def test_others_take_any_cutoff(notation: str) -> None:
    found = [dh.evaluate({"q": JUDGED}, {"q": RUN}, notation.format(k)).means().popitem()[1] for k in (7, 10**10)]
    assert found[0] >= found[1] > 0


def test_orders_that_no_memory_holds_are_refused() -> None:
    """Of 34 documents that tie, 14 of them relevant, there are 1.4 billion; a limit draws some."""
    qrels, run = {"q": {f"d{n}": 1 for n in range(14)}}, {"q": {f"d{n}": 1.0 for n in range(34)}}
    first = dh.Custom("first", lambda relevance: float(relevance[0]), max_orders=None)
    with (
        pytest.warns(dh.DeadheatWarning, match="takes about"),
        raises_parts(MeasureError, "379 GB", found="34 documents that tie"),
    ):
        dh.evaluate(qrels, run, [first])
    drawn = dh.Custom("first", lambda relevance: float(relevance[0]), max_orders=400)
    assert dh.evaluate(qrels, run, [drawn])[drawn].values[0] == pytest.approx(14 / 34, abs=0.1)


def test_one_drawn_order_is_refused() -> None:
    """Nothing says then how far the mean may be off."""
    with raises_parts(MeasureError, measure="Custom", argument="max_orders", given=1):
        dh.Custom("c", lambda relevance: float(relevance[0]), max_orders=1)


@pytest.mark.parametrize(
    "notation",
    [
        *("ERR(stop='identity', max_rel=9)", "nERR(stop='sigmoid(1, 2)', max_rel=9)"),
        *("RBP(max_rel=9)", "RBP(graded=True, top='query', max_rel=9)"),
    ],
)
def test_a_top_of_no_scale_is_refused(notation: str) -> None:
    """Two columns of a table had equal numbers."""
    with raises_parts(MeasureError, "max_rel is the top", measure=notation.partition("(")[0], given=9):
        dh.parse_measure(notation)


def test_a_measure_of_ones_own_without_a_limit() -> None:
    """5,040 orders are more than 100, and are enumerated all the same."""
    judged = {f"d{level}": level for level in range(7)}
    run = {"q": dict.fromkeys(judged, 1.0)}

    def discounted(relevance: Sequence[float]) -> float:
        return sum(value / rank for rank, value in enumerate(relevance, 1))

    exact, sampled = (dh.Custom("c", discounted, max_orders=limit) for limit in (None, 100))
    found = dh.evaluate({"q": judged}, run, [exact])[exact]
    expected = Fraction(sum(range(7)), 7) * sum(Fraction(1, rank) for rank in range(1, 8))
    assert found.values[0] == pytest.approx(float(expected), rel=1e-13)
    assert found.standard_error[0] == 0 < dh.evaluate({"q": judged}, run, [sampled])[sampled].standard_error[0]


@pytest.mark.parametrize("value", [float("inf"), -float("inf")])
def test_a_function_of_ones_own_returns_no_infinity(value: float) -> None:
    with raises_parts(MeasureError, "finite number", measure="own", found=f"{value!r} for query 'q'"):
        dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [dh.Custom("own", lambda _: value)])
