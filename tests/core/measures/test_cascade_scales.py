"""ERR and nERR on wide scales, where a document stops the reading almost never: against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.errors import MeasureError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

Moments = tuple[Fraction, Fraction, Fraction, Fraction]


def reading(stops: Sequence[Fraction], cutoff: int) -> Fraction:
    """Return the expected reciprocal rank of the document where the reading stops, for one order."""
    arrived, gain = Fraction(1), Fraction(0)
    for rank, stop in enumerate(stops[:cutoff], start=1):
        gain += arrived * stop / rank
        arrived *= 1 - stop
    return gain


def enumerated(grades: Sequence[int], top: int, cutoff: int) -> Moments:
    """Return mean, variance, minimum and maximum over all orders of documents that are all tied."""
    stops = [Fraction(2**grade - 1, 2**top) for grade in grades]
    values = [reading(order, cutoff) for order in permutations(stops)]
    mean = sum(values, Fraction(0)) / len(values)
    squares = sum(((value - mean) * (value - mean) for value in values), Fraction(0))
    return mean, squares / len(values), min(values), max(values)


def evaluated(grades: Sequence[int], notation: str) -> dh.Scores:
    """Return the scores of a query whose documents are all tied; those of grade 0 are not judged."""
    judged = {f"d{n}": grade for n, grade in enumerate(grades) if grade}
    return dh.evaluate({"q": judged}, {"q": dict.fromkeys(map("d{}".format, range(len(grades))), 1.0)}, [notation])[
        notation
    ]


CASES = [
    ([1, 0], 30),
    ([1, 0, 0, 2], 60),
    ([1, 2, 0, 0, 1, 2], 100),
    ([40, 20, 0], 100),
    ([100, 1, 0, 99], 100),
    ([3, 3, 0, 5, 1], 12),
    ([500, 0, 250, 1], 500),
    ([1, 0, 0], 500),
]


@pytest.mark.parametrize("cutoff", [1, 3, 10])
@pytest.mark.parametrize(("grades", "top"), CASES)
def test_err_keeps_its_digits_on_a_wide_scale(grades: list[int], top: int, cutoff: int) -> None:
    scores = evaluated(grades, f"ERR(max_rel={top})@{cutoff}")
    mean, variance, low, high = (float(value) for value in enumerated(grades, top, cutoff))
    assert scores.values[0] == pytest.approx(mean, rel=1e-13, abs=0)
    assert scores.tie_min[0] == pytest.approx(low, rel=1e-13, abs=0)
    assert scores.tie_max[0] == pytest.approx(high, rel=1e-13, abs=0)
    # a variance far below the squared mean keeps what float64 leaves of their difference
    assert scores.tie_std[0] ** 2 == pytest.approx(variance, rel=1e-12, abs=4e-16 * mean**2)


@pytest.mark.parametrize(("grades", "top"), CASES)
def test_nerr_of_a_wide_scale_is_the_share_of_the_ideal(grades: list[int], top: int) -> None:
    scores = evaluated(grades, f"nERR(max_rel={top})")
    mean, variance, low, high = enumerated(grades, top, len(grades))
    expected = [float(value) for value in (mean / high, low / high, variance / high**2)]
    found = [scores.values[0], scores.tie_min[0], scores.tie_std[0] ** 2]
    assert found == pytest.approx(expected, rel=1e-12, abs=4e-16)
    assert scores.tie_max[0] == pytest.approx(1.0, rel=1e-13)


def test_judgments_from_0_to_100_rank_as_they_should() -> None:
    qrels = {"q1": {"a": 40, "b": 20}, "q2": {"c": 100}}
    run = {"q1": {"a": 3.0, "b": 2.0, "n": 1.0}, "q2": {"c": 1.0}}
    assert dh.evaluate(qrels, run, ["nERR"])["nERR"].values == pytest.approx([1.0, 1.0], rel=1e-13)


def test_the_merged_way_keeps_the_digits_too() -> None:
    # 1,200 tied documents of grade 1 on a scale of 80 stop the reading alike, wherever they stand among 300 others
    grades = [1] * 1200 + [0] * 300
    stop = 2.0**-80
    expected = stop * 1200 / 1500 * (1 / np.arange(1.0, 11)).sum()
    assert evaluated(grades, "ERR(max_rel=80)@10").values[0] == pytest.approx(expected, rel=1e-13, abs=0)


@pytest.mark.parametrize(("stop", "highest"), [("exp", 1), ("identity", 1), ("sigmoid(1, 2)", np.inf)])
def test_a_share_of_the_ideal_has_a_limit_unless_unjudged_documents_add_to_it(stop: str, highest: float) -> None:
    measure = dh.parse_measure(f"nERR(stop='{stop}')")
    assert measure.range[1] == highest
    qrels = {f"q{n}": {"a": 1, "b": n % 2} for n in range(8)}
    scores = dh.evaluate(qrels, {query: {"b": 2.0, "a": 1.0} for query in qrels}, [measure])[measure]
    assert scores.interval().method == ("gaffke" if highest == 1 else "skewed-t")


@pytest.mark.parametrize("notation", ["ERR", "nERR", "ERR(max_rel=501)"])
def test_a_scale_beyond_float64_is_refused(notation: str) -> None:
    with raises_parts(MeasureError, "stop='exp'", measure=notation.partition("(")[0], found="501"):
        dh.evaluate({"q": {"a": 501}}, {"q": {"a": 1.0, "b": 1.0}}, [notation])


@pytest.mark.parametrize(
    ("notation", "relevance", "remedy"),
    [
        ("nDCG(gain='exp')", 501, "gain='linear'"),
        ("DCG(gain='exp')@3", 2000, "gain='linear'"),
        ("nDCG", 1e200, "smaller scale"),
        ("DCG(gain={1: 1, 2: 1e155})", 2, "smaller scale"),
        ("Q", 1e200, "smaller scale"),
    ],
)
def test_gains_beyond_float64_are_refused(notation: str, relevance: float, remedy: str) -> None:
    with pytest.raises(MeasureError, match=r"beyond 2\*\*500") as caught:
        dh.evaluate({"q": {"a": relevance, "c": 1}}, {"q": {"a": 1.0, "b": 1.0}}, [notation])
    assert f" {relevance} " in str(caught.value.problem)
    assert remedy in str(caught.value.hint)


@pytest.mark.parametrize("notation", ["nDCG(gain='exp')", "DCG(gain='exp')"])
def test_the_largest_powers_have_a_spread(notation: str) -> None:
    scores = evaluated([500, 260, 0], notation)
    orders = [
        [
            dh.evaluate({"q": {"a": 500, "b": 260}}, {"q": dict(zip(order, (3.0, 2.0, 1.0), strict=True))}, [notation])[
                notation
            ].values[0]
        ]
        for order in permutations("abc")
    ]
    assert scores.tie_std[0] == pytest.approx(np.std(orders), rel=1e-12)


def test_a_stop_that_never_comes_gives_no_warning() -> None:
    scores = evaluated([1, 2, 0], "ERR(stop='sigmoid(400, 100)')")
    assert scores.values[0] == 0
