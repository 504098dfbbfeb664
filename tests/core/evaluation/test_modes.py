"""Modes: one of anybody's changes the conventions, refuses others, and gives scores a part, where it is on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

import deadheat as dh
from deadheat import Interval, Scores, registry
from deadheat.api import BoolArray, FloatArray, IntArray, Plugin
from deadheat.core import hooks
from deadheat.core.evaluation.modes import Placed
from deadheat.core.evaluation.parts import Scored
from deadheat.core.settings import Conventions
from deadheat.errors import ParameterError

QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 2}}
RUN = {"q1": {"a": 1, "x": 1}, "q2": {"b": 2, "a": 1}}


class Lengths:
    """A part: how long the list of each query is."""

    def __init__(self, lengths: IntArray) -> None:
        self.lengths = lengths

    def select(self, keep: BoolArray | IntArray) -> Lengths:
        return Lengths(self.lengths[keep])

    def columns(self) -> dict[str, FloatArray | None]:
        return {"length": self.lengths.astype(np.float64)}

    def range_column(self) -> None: ...

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:  # noqa: ARG002 - as of other parts
        return interval


class OfLongRuns:
    """Runs named "long" are evaluated in their order, and their scores say how long the lists are."""

    def is_on(self, conventions: Conventions, qrels: dh.Qrels, run: dh.Run) -> bool:  # noqa: ARG002 - as of others
        return run.name == "long"

    def prepare(self, conventions: Conventions, qrels: dh.Qrels, run: dh.Run) -> Conventions:  # noqa: ARG002 - so
        if conventions.judged_only:
            raise ParameterError(argument="judged_only", given=True, allowed="False")
        return replace(conventions, ties="input")

    def finish(self, scores: list[Scores], placed: Placed) -> list[Scores]:
        assert placed.conventions.ties == "input"
        assert placed.ranked.tied.tolist() == [1, 1, 1]
        assert placed.placements.tied.tolist() == [2, 1, 1]
        return [one.with_part("lengths", Lengths(placed.ranked.n_retrieved)) for one in scores]


@pytest.fixture(autouse=True)
def of_long_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("of_long_runs")
    module.MODE = OfLongRuns()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "of_long_runs", module)
    plugin = Plugin("of_long_runs", "Long runs.", package="deadheat", modes=("of_long_runs",))
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, plugin)))
    yield
    hooks.use_registry(registry.REGISTRY)


def test_a_mode_changes_conventions_and_gives_scores_a_part() -> None:
    found = dh.evaluate(QRELS, dh.Run(RUN, name="long"), "RR")
    assert found.conventions.ties == "input"
    assert found["RR"].values.tolist() == [1.0, 1.0]
    assert found.to_polars()["length"].to_list() == [2.0, 2.0]
    assert found.select(np.array([True, False])).to_polars()["length"].to_list() == [2.0]


def test_a_run_that_a_mode_is_not_for_is_evaluated_as_ever() -> None:
    found = dh.evaluate(QRELS, dh.Run(RUN, name="short"), "RR")
    assert found["RR"].values.tolist() == [0.75, 1.0]
    assert "length" not in found.to_polars().columns


def test_of_several_runs_a_mode_is_on_for_its_own() -> None:
    found = dh.evaluate(QRELS, {"long": dh.Run(RUN), "short": dh.Run(RUN)}, "RR")
    assert [one["RR"].values.tolist() for one in found.values()] == [[1.0, 1.0], [0.75, 1.0]]


def test_a_mode_refuses_conventions_that_do_not_go_with_it() -> None:
    with pytest.raises(ParameterError, match="judged_only must be False"):
        dh.evaluate(QRELS, dh.Run(RUN, name="long"), "RR", judged_only=True)
    assert dh.evaluate(QRELS, dh.Run(RUN, name="short"), "RR", judged_only=True).means() == {"RR": 1.0}
