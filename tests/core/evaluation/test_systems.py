"""Systems of several runs: one of anybody's is given in the place of a run, or found in a table by its column."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

import deadheat as dh
from deadheat import Evaluation, registry
from deadheat.api import Plugin
from deadheat.core import hooks
from deadheat.core.data.sources import Source
from deadheat.core.evaluation.systems import is_system
from deadheat.core.plugin_records import RunColumn
from deadheat.errors import MissingPluginError

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}
GOOD = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
MIXED = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 2.0, "b": 1.0}}
ROWS = [
    {"query_id": query, "doc_id": doc, "score": score, "shard": shard}
    for shard, run in (("x", GOOD), ("y", MIXED))
    for query, scores in run.items()
    for doc, score in scores.items()
]


class Shards:
    """Runs of which the worst counts, query by query."""

    kind_of_system: ClassVar[str] = "shards"

    def __init__(self, runs: Sequence[Source], *, is_ascending: bool = False) -> None:
        self.runs = runs
        self.name = "sharded"
        self.is_ascending = is_ascending

    def together(self, evaluations: Sequence[Evaluation], missing: str) -> Evaluation:
        assert missing == "empty"
        first = evaluations[0]
        worst = []
        for scores in first:
            values = np.min([one[scores.measure].values for one in evaluations], axis=0)
            worst.append(replace(scores, values=values))
        return Evaluation(worst, **first.parts() | {"name": self.name})


def system_of(runs: Sequence[dh.Run], *, is_ascending: bool) -> Shards:
    return Shards(runs, is_ascending=is_ascending)


@pytest.fixture
def shards(monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugin]:
    module = ModuleType("shards")
    module.system_of = system_of  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "shards", module)
    columns = (RunColumn("shard", "shards"),)
    plugin = Plugin("shards", "Shards.", package="deadheat", run_columns=columns)
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, plugin)))
    yield plugin
    hooks.use_registry(registry.REGISTRY)


def test_a_system_is_evaluated_run_by_run() -> None:
    system = Shards([GOOD, MIXED])
    assert is_system(system)
    found = dh.evaluate(QRELS, system, "RR")
    assert found.name == "sharded"
    assert found["RR"].values.tolist() == [0.5, 1.0]


@pytest.mark.plugins("compare")
def test_a_system_is_compared() -> None:
    (pair,) = dh.compare(QRELS, {"good": GOOD, "sharded": Shards([GOOD, MIXED])}, "RR", baseline="good").pairs
    assert pair.difference == -0.25


@pytest.mark.usefixtures("shards")
def test_a_system_is_found_in_a_table_by_its_column() -> None:
    assert dh.evaluate(QRELS, ROWS, "RR")["RR"].values.tolist() == [0.5, 1.0]
    both = dh.evaluate(QRELS, {"one": dh.Run(GOOD), "both": dh.Run(MIXED)}, "RR")
    assert both["one"]["RR"].values.tolist() == [1.0, 1.0]
    one_shard = [row for row in ROWS if row["shard"] == "x"]
    assert dh.evaluate(QRELS, one_shard, "RR")["RR"].values.tolist() == [1.0, 1.0]


def test_a_table_of_a_plugin_that_is_not_there_says_so(shards: Plugin) -> None:
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, shards._replace(package="not_there"))))
    with pytest.raises(MissingPluginError, match=r"'shard', .* plugin shards"):
        dh.evaluate(QRELS, ROWS, "RR")
    one_shard = [row for row in ROWS if row["shard"] == "x"]
    assert dh.evaluate(QRELS, one_shard, "RR")["RR"].values.tolist() == [1.0, 1.0]
