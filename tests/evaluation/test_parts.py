"""Parts of scores: one of anybody's goes with the queries, has columns, and changes intervals in the stated order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

import deadheat as dh
from deadheat import hooks, registry
from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import Interval
from deadheat.evaluation.parts import Scored
from deadheat.evaluation.scores import Scores

QRELS = {f"q{n}": {"a": 1} for n in range(8)}
RUN = {f"q{n}": {"a": n % 3, "b": 1} for n in range(8)}


@dataclass(frozen=True, eq=False)
class Costs:
    """What each query costs; the interval is raised by their mean, and says how high it was before."""

    costs: FloatArray

    def select(self, keep: BoolArray | IntArray) -> Costs:
        return Costs(self.costs[keep])

    def columns(self) -> Mapping[str, FloatArray | None]:
        return {"cost": self.costs, "none": None}

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:
        return replace(interval, high=interval.high + float(self.costs[scores.kept].mean()), alone=interval)


def scores_of(measure: str = "RR") -> Scores:
    return dh.evaluate(QRELS, RUN, measure)[measure]


def with_costs(scores: Scores) -> Scores:
    return scores.with_part("costs", Costs(np.arange(8) / 10))


def test_a_part_goes_with_its_queries() -> None:
    scores = with_costs(scores_of())
    kept = scores.select(np.array([5, 2])).parts["costs"]
    assert isinstance(kept, Costs)
    assert kept.costs.tolist() == [0.5, 0.2]
    assert scores.with_part("costs", None).parts == {}


def test_a_part_has_columns_where_queries_count() -> None:
    scores = with_costs(scores_of())
    fifth = np.array([0.0] * 5 + [1.0] * 3)
    cost = scores.weighted(fifth).columns()["cost"]
    assert cost is not None
    assert np.isnan(cost[:5]).all()
    assert cost[5:].tolist() == [0.5, 0.6, 0.7]
    whole = dh.evaluate(QRELS, RUN, "RR")
    frame = Evaluation([scores], **whole.parts()).to_polars()
    assert frame["cost"].to_list() == (np.arange(8) / 10).tolist()
    assert frame["none"].dtype == pl.Float64
    assert frame["none"].null_count() == 8


def test_a_part_that_the_registry_does_not_name_changes_the_interval_last() -> None:
    for measure in ("RR", "GMAP"):
        plain = scores_of(measure)
        before, found = plain.interval(), with_costs(plain).interval()
        assert found.alone == before  # of a geometric mean after it has become one
        assert found.high == before.high + 0.35


def test_the_registry_states_the_order_of_steps() -> None:
    assert registry.ORDER_OF_INTERVAL_STEPS == ("repeats", "geometric", "judge")
    assert hooks.interval_steps(["judge", "costs", "repeats"]) == ["repeats", "geometric", "judge", "costs"]
