"""Parts of scores: one of anybody's goes with the queries, has columns, and changes intervals in the stated order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import Evaluation, Interval, Scores, registry
from deadheat.api import BoolArray, FloatArray, IntArray
from deadheat.core import hooks
from deadheat.core.evaluation.parts import RangeColumn, Scored
from deadheat.core.report.cells import Span
from deadheat.core.report.of_evaluation import report_evaluations

QRELS = {f"q{n}": {"a": 1} for n in range(8)}
RUN = {f"q{n}": {"a": n % 3, "b": 1} for n in range(8)}


@dataclass(frozen=True, eq=False)
class Costs:
    """What each query costs; the interval is raised by their mean, and says how high it was before."""

    costs: FloatArray

    def select(self, keep: BoolArray | IntArray) -> Costs:
        return Costs(self.costs[keep])

    def columns(self) -> Mapping[str, FloatArray | None]:
        return {"cost": self.costs, "most": self.costs + 1, "none": None}

    def range_column(self) -> RangeColumn:
        return RangeColumn("costs", "from to", ("cost", "most"))

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


def test_a_part_shows_a_range_in_tables_and_numbers() -> None:
    whole = dh.evaluate(QRELS, RUN, ["RR", "P@1"])
    scores = [with_costs(whole["RR"]), whole["P@1"]]
    found = Evaluation(scores, **whole.parts())
    numbers = found.to_flat()
    assert numbers["rr.cost"] == pytest.approx(0.35)
    assert numbers["rr.most"] == pytest.approx(1.35)
    assert "p_at_1.cost" not in numbers
    assert "from to" in str(found)
    assert "[0.3500, 1.3500]" in str(found)
    by_query = next(
        table for table in report_evaluations([found], "qrels", per_query=True).tables if table.key == "per_query"
    )
    assert by_query.columns[-1].heading == "from to"
    assert by_query.rows[2].cells[0][-1] == Span(0.1, 1.1)  # of the second query


@pytest.mark.plugins("more_measures")
def test_a_part_that_the_registry_does_not_name_changes_the_interval_last() -> None:
    for measure in ("RR", "GMAP"):
        plain = scores_of(measure)
        before, found = plain.interval(), with_costs(plain).interval()
        assert found.alone == before  # of a geometric mean after it has become one
        assert found.high == before.high + 0.35


def test_the_registry_states_the_order_of_steps() -> None:
    assert registry.ORDER_OF_INTERVAL_STEPS == ("repeats", "geometric", "judge")
    assert hooks.order_interval_steps(["judge", "costs", "repeats"]) == ["repeats", "geometric", "judge", "costs"]
