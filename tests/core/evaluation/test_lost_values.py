"""Queries of weight 0 get their values back where new weights count them, however little."""

from __future__ import annotations

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.evaluation.lost_values import restore_values

pytestmark = pytest.mark.filterwarnings("ignore:.*means depend on few queries:deadheat.errors.DeadheatWarning")

QRELS = {"q": {"a": 1}, "r": {"a": 1}, "s": {"b": 1}}
RUN = {"q": {"a": 2.0, "b": 1.0}, "r": {"b": 2.0, "a": 1.0}, "s": {"b": 1.0}}


@pytest.mark.plugins("weeks")
@pytest.mark.parametrize("weight", [0.25, 1.0, 3.0])
def test_a_query_of_weight_0_gets_its_value_back(weight: float) -> None:
    lost = dh.evaluate(QRELS, RUN, "RR", weights={"q": 2, "r": 0, "s": 5})
    assert np.isnan(lost["RR"].values).tolist() == [False, True, False]
    restored = restore_values(lost, np.array([1.0, weight, 0.0]))
    assert restored["RR"].values.tolist() == [1.0, 0.5, 1.0]


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [0.5, 0.0, 0.0]])
def test_where_it_still_counts_nothing_all_stays(weights: list[float]) -> None:
    lost = dh.evaluate(QRELS, RUN, "RR", weights={"q": 2, "r": 0, "s": 5})
    assert restore_values(lost, np.array(weights)) is lost
