"""The lowest relevant level of all measures, and measures that name one themselves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import deadheat as dh
from deadheat import AP, RR, P
from deadheat.errors import ParameterError, UnknownMeasureError

QRELS, RUN = {"q": {"a": 1, "b": 2}}, {"q": {"a": 3, "x": 2, "b": 1}}


@pytest.mark.parametrize(
    "name",
    [
        lambda: "P(rel=1)@2",
        lambda: "MAP(rel=1)",
        lambda: P(rel=1) @ 2,
        lambda: (P @ 2)(rel=1),
        lambda: RR(rel=1.0),
        lambda: AP(rel=2)(rel=1),
    ],
)
def test_the_default_level_is_not_changed_where_it_is_named(name: Callable[[], str]) -> None:
    """By hand: P@2 is 1/2 from 1 on, and 0 from 2 on; the notation P@2 could be either, so that is refused."""
    with pytest.raises(ParameterError, match="rel=1, got 2"):
        dh.evaluate(QRELS, RUN, [name()], rel=2)
    assert dh.evaluate(QRELS, RUN, [name()], rel=1).means()
    assert dh.evaluate(QRELS, RUN, [name()]).means()


def test_other_levels_and_measures_without_one_are_as_they_are() -> None:
    found = dh.evaluate(QRELS, RUN, ["P@2", "P(rel=3)@3", "nDCG@2", "RR"], rel=2)
    assert [str(one) for one in found.measures] == ["P(rel=2)@2", "P(rel=3)@3", "nDCG@2", "RR(rel=2)"]
    assert found["P@2"].mean == found["P(rel=2)@2"].mean == 0
    assert found["RR"].mean == 1 / 3
    with pytest.raises(UnknownMeasureError):
        _ = found["P(rel=1)@2"]
    assert P(rel=1) @ 2 == P @ 2
