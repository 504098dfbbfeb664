"""What features keep in saved evaluations: keys, a table and columns of anybody's come back, or are missed by name."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import Interval, Measure, registry
from deadheat.api import BoolArray, FloatArray, IntArray, Plugin
from deadheat.core import hooks
from deadheat.core.evaluation.kept import Kept, KeptColumns, KeptKeys, KeptTable
from deadheat.core.evaluation.packed_tables import packed, unpacked
from deadheat.core.evaluation.parts import Scored
from deadheat.core.evaluation.shapes import TEXT, WHOLE
from deadheat.core.measures.custom import StoredMeasure
from deadheat.core.plugin_records import SavedKeys
from deadheat.core.structures import copy_with
from deadheat.errors import FileFormatError
from support.error_parts import raises_parts

QRELS = {"q1": {"a": 1}, "q2": {"a": 1, "b": 2}}
RUN = {"q1": {"a": 1, "x": 1}, "q2": {"b": 2, "a": 1}}
SCHEMA = {"second": pl.Float64}
READ = dh.Custom("Read", lambda ranking: float(ranking[0]))


@dataclass(frozen=True, eq=False)
class Seconds:
    """How long each query took."""

    seconds: FloatArray

    def select(self, keep: BoolArray | IntArray) -> Seconds:
        return Seconds(self.seconds[keep])

    def columns(self) -> Mapping[str, FloatArray | None]:
        return {}

    def range_column(self) -> None: ...

    def change_interval(self, interval: Interval, scores: Scored) -> Interval:  # noqa: ARG002 - as of other parts
        return interval


class Costs(Seconds):
    """What each query costs."""

    def columns(self) -> Mapping[str, FloatArray | None]:
        return {"cost": self.seconds}


def write_table(parts: Sequence[Seconds]) -> str:
    return packed({"second": np.concatenate([part.seconds for part in parts])}, SCHEMA)


def read_table(text: str, n_measures: int, n_queries: int) -> list[Seconds]:
    rows = unpacked(text, "seconds", SCHEMA, set())["second"].to_numpy()
    return [Seconds(own) for own in rows.reshape(n_measures, n_queries)]


def read_costs(measure: Measure, costs: FloatArray) -> Costs:
    assert str(measure) in {"RR", "P@1", "Read in pages"}
    return Costs(costs)


def write_pages(subject: Any) -> dict[str, object]:  # noqa: ANN401 - qrels or a run
    return {"pages": vars(subject)["pages"]} if "pages" in vars(subject) else {}


def read_pages(subject: Any, stated: Mapping[str, Any]) -> Any:  # noqa: ANN401 - qrels or a run
    return copy_with(subject, pages=stated["pages"])


def write_unit(measure: Measure) -> dict[str, object]:
    return {"unit": "pages"} if isinstance(measure, dh.Custom) else {}


def read_unit(measure: StoredMeasure, stated: Mapping[str, Any]) -> StoredMeasure:
    return StoredMeasure(notation=f"{measure.notation} in {stated['unit']}", total=measure.total)


PAGES = KeptKeys({"pages": WHOLE}, write_pages, read_pages)
KEYS: dict[str, tuple[str, ...]] = {
    "judgments": ("pages",),
    "ranking": ("pages",),
    "table": ("seconds",),
    "columns": ("cost",),
    "measures": ("unit",),
}


@pytest.fixture
def feature() -> Iterator[Plugin]:
    module = ModuleType("kept_of_anybody")
    kept = Kept(
        PAGES,
        PAGES,
        KeptTable("seconds", write_table, read_table),
        KeptColumns("costs", ("cost",), read_costs),
        KeptKeys({"unit": TEXT}, write_unit, read_unit),
    )
    module.KEPT = kept  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    plugin = Plugin("pages", "Pages.", package="deadheat", kept=(SavedKeys(module.__name__, **KEYS),))
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, plugin)))
    yield plugin
    hooks.use_registry(registry.REGISTRY)
    del sys.modules[module.__name__]


def save(path: Path) -> Path:
    evaluation = dh.evaluate(copy_with(dh.Qrels(QRELS), pages=3), copy_with(dh.Run(RUN), pages=7), ["RR", "P@1", READ])
    scores = [
        one.with_part("seconds", Seconds(one.values * 9)).with_part("costs", Costs(one.values)) for one in evaluation
    ]
    return type(evaluation)(scores, **evaluation.parts()).save(path)


@pytest.mark.usefixtures("feature")
def test_what_a_feature_keeps_comes_back(tmp_path: Path) -> None:
    read = dh.load_evaluation(save(tmp_path / "saved.json"))
    assert vars(read.qrels)["pages"] == 3
    assert vars(read.run)["pages"] == 7
    assert [str(measure) for measure in read.measures] == ["RR", "P@1", "Read in pages"]
    for scores in read:
        seconds, costs = scores.parts["seconds"], scores.parts["costs"]
        assert isinstance(seconds, Seconds)
        assert isinstance(costs, Costs)
        assert seconds.seconds.tolist() == (scores.values * 9).tolist()
        assert costs.seconds.tolist() == scores.values.tolist()


@pytest.mark.parametrize("place", KEYS)
def test_a_file_of_a_plugin_that_is_not_there_says_so(feature: Plugin, place: str, tmp_path: Path) -> None:
    path = save(tmp_path / "saved.json")
    keys = SavedKeys("kept_of_anybody", **{place: KEYS[place]})
    absent = feature._replace(package="not_there", kept=(keys,))
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, absent)))
    with raises_parts(FileFormatError, rf"{KEYS[place][0]} .* plugin pages", path=path):
        dh.load_evaluation(path)


@pytest.mark.usefixtures("feature")
def test_a_value_of_another_shape_is_refused(tmp_path: Path) -> None:
    evaluation = dh.evaluate(copy_with(dh.Qrels(QRELS), pages="three"), RUN, "RR")
    path = evaluation.save(tmp_path / "saved.json")
    with pytest.raises(FileFormatError, match=r"data\.judgments\.pages .*'three', .* whole"):
        dh.load_evaluation(path)
