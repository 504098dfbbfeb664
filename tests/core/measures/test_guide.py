"""The guide: its measures exist, and what it says of their values is true."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from deadheat import evaluate, measures, parse_measure
from deadheat.core.measures.guide import READINGS, USES, reading, recommend
from deadheat.errors import ParameterError

if TYPE_CHECKING:
    from deadheat.core.measures.guide import Use


@pytest.mark.plugins("more_measures")
@pytest.mark.parametrize("use", USES.values(), ids=lambda use: use.key)
def test_every_measure_of_a_use_can_be_parsed_as_it_prints(use: Use) -> None:
    assert [str(parse_measure(measure)) for measure in use.measures] == list(use.measures)
    assert recommend(use.key) is use


def test_uses_of_the_sources_are_there() -> None:
    assert [*USES][:6] == ["top1", "top3", "several", "graded", "sanity", "ab-test"]
    assert recommend("top1").measures[0] == "RR"
    assert recommend("ab-test").measures == ("RR", "nDCG@5")


@pytest.mark.parametrize("spelling", ["k=10", "k10", "10", " K=10 ", "k@10"])
def test_a_cutoff_in_any_spelling(spelling: str) -> None:
    assert recommend(spelling).key == "k=10"


@pytest.mark.parametrize(("k", "nearest"), [(2, 3), (4, 5), (7, 5), (8, 10), (15, 20), (100, 20)])
def test_a_cutoff_without_advice_gets_the_nearest(k: int, nearest: int) -> None:
    assert recommend(f"k={k}").key == f"k={nearest}"


@pytest.mark.parametrize("k", [0, -3])
def test_a_cutoff_that_is_none(k: int) -> None:
    with pytest.raises(ParameterError, match=f"from 1 on, got {k}$"):
        recommend(f"k={k}")


def test_an_unknown_use_lists_all_and_names_the_nearest() -> None:
    with pytest.raises(ParameterError, match="Did you mean 'mobile'") as caught:
        recommend("mobil")
    assert all(key in str(caught.value) for key in USES)


@pytest.mark.parametrize("name", list(READINGS))
def test_readings_are_of_measures_that_exist(name: str) -> None:
    measure = measures()[name]
    for notation, value in reading(name).targets:
        assert type(parse_measure(notation)) is measure
        assert measure.range[0] <= value <= measure.range[1]
    for band, meaning in reading(name).bands:
        assert isinstance(parse_measure(band.partition(" = ")[0]), measure)
        assert meaning


def test_a_measure_without_a_reading_has_an_empty_one() -> None:
    assert reading("bpref").notes == ()


def test_what_the_guide_says_of_high_reciprocal_ranks() -> None:
    # every share of queries with the first relevant document at rank 1, 2, 3, 4 or nowhere
    ranks = np.array([1, 2, 3, 4, np.inf])
    for counts in product(range(11), repeat=4):
        if sum(counts) > 10:
            continue
        shares = np.array([*counts, 10 - sum(counts)]) / 10
        value = float(shares @ (1 / ranks))
        if value > 0.8:
            assert shares[0] >= 0.6 - 1e-9
            assert shares[:2].sum() >= 0.7 - 1e-9
        if value > 0.9:
            assert shares[0] >= 0.8 - 1e-9


def test_rr_is_the_harmonic_mean_rank() -> None:
    qrels = {f"q{rank}": {"hit": 1} for rank in (1, 2, 6)}
    run = {f"q{rank}": {**{f"d{n}": 10.0 - n for n in range(rank - 1)}, "hit": 10.5 - rank} for rank in (1, 2, 6)}
    value = evaluate(qrels, run, "RR")["RR"].mean
    assert 1 / value == pytest.approx(3 / (1 / 1 + 1 / 2 + 1 / 6))
    assert 1 / value < (1 + 2 + 6) / 3


def test_half_is_not_a_random_order() -> None:
    # the example of the German page: a random order of its grades scores 0.691
    grades = {"a": 3, "b": 0, "c": 2, "d": 1, "e": 0}
    tied = {"q": dict.fromkeys(grades, 1.0)}
    scores = evaluate({"q": grades}, tied, "nDCG(gain='exp')@5")["nDCG(gain='exp')@5"]
    assert scores.mean == pytest.approx(0.691, abs=5e-4)
    assert scores.mean_tie_min == pytest.approx(0.479, abs=5e-4)


def test_average_recall_says_nothing_of_order() -> None:
    for order in pairwise("abc"):
        run = {"q": {doc: float(n) for n, doc in enumerate(order)}}
        value = evaluate({"q": dict.fromkeys(order, 1)}, run, "AR(norm='retrieved_all')").means()
        assert list(value.values()) == [pytest.approx((2 + 1) / (2 * 2))]
