"""AllHit: the cases of its definition, and ties that are too large for a list of their orders."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest

import deadheat as dh
from deadheat.plugins.more_measures.all_hit import probability_of_all

RUN = {"q": {"a": 0.9, "b": 0.5, "c": 0.5}}


def value(judged: dict[str, float], notation: str, no_relevant: str | None = None) -> float:
    return dh.evaluate({"q": judged}, RUN, [notation], no_relevant=no_relevant).means()[notation]


def test_a_document_that_was_not_retrieved_is_missed() -> None:
    assert value({"a": 1, "z": 1}, "AllHit@3") == 0
    assert value({"a": 1, "z": 1}, "AllHit") == 0
    assert value({"a": 1, "z": 1}, "AllHit(rel=2)", no_relevant="zero") == 0
    assert value({"a": 2, "z": 1}, "AllHit(rel=2)@1") == 1


def test_more_relevant_documents_than_ranks_are_never_all_found() -> None:
    assert value({"a": 1, "b": 1, "c": 1}, "AllHit@2") == 0
    assert value({"a": 1, "b": 1, "c": 1}, "AllHit@3") == 1


def test_without_relevant_documents_it_is_0_as_hit_is() -> None:
    assert value({"a": 0}, "AllHit@3", no_relevant="zero") == value({"a": 0}, "Hit@3", no_relevant="zero") == 0
    skipped = dh.evaluate({"q": {"a": 0}, "p": {"x": 1}}, RUN | {"p": {"x": 1.0}}, ["AllHit"], no_relevant="skip")
    assert (skipped["AllHit"].mean, skipped["AllHit"].n_queries) == (1, 1)


def test_of_one_relevant_document_it_is_hit() -> None:
    assert value({"b": 1}, "AllHit@2") == value({"b": 1}, "Hit@2") == 0.5


def test_the_name_of_longmemeval_is_read() -> None:
    assert dh.parse_measure("recall_all@5") == dh.AllHit @ 5


@pytest.mark.parametrize("tied", [1, 2, 7, 400, 5000])
def test_the_probability_is_that_of_binomials(tied: int) -> None:
    rng = np.random.default_rng(tied)
    inside = np.append(rng.integers(0, tied + 1, 40), [0, tied, tied - 1])
    relevant = np.append(rng.integers(1, tied + 1, 40), [1, tied, 1])
    found = probability_of_all(np.full(len(inside), tied), inside, relevant)
    for m, r, probability in zip(inside.tolist(), relevant.tolist(), found.tolist(), strict=True):
        expected = Fraction(comb(m, r), comb(tied, r))
        assert probability == pytest.approx(float(expected), rel=1e-11, abs=1e-300)
