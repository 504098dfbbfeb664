"""Tables beside the judgments: one that a plugin adds goes with its judgments wherever they go."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import Qrels, registry
from deadheat.api import Plugin
from deadheat.core import hooks
from deadheat.core.evaluation.documents import checksum
from deadheat.core.placements.beside import (
    BESIDE,
    BesideRows,
    BesideTable,
    PlacedTable,
    TableForm,
    add_beside,
    beside_tables,
    join_codes,
)
from deadheat.core.plugin_records import BesideTables
from deadheat.errors import FileFormatError

QRELS = {"q1": {"a": 1}, "q2": {"b": 1, "e\u0301": 2}}
RUN = {"q1": {"a": 2, "b": 1}, "q2": {"e\u0301": 1, "b": 1}}


@dataclass(frozen=True, eq=False)
class Ages(BesideRows):
    age: np.ndarray


def ages_of(ages: pl.DataFrame, query_ids: Sequence[str]) -> Ages:
    rows = join_codes(ages, query_ids).sort("code", maintain_order=True)
    return Ages(rows["code"].to_numpy(), rows["doc_id"], rows["age"].to_numpy())


def use(*others: Plugin) -> None:
    hooks.use_registry(registry.REGISTRY._replace(plugins=(*registry.PLUGINS, *others)))


def plugin(package: str) -> Plugin:
    return Plugin("ages", "Ages of documents.", package=package, beside=(BesideTables("ages", ("ages",)),))


@pytest.fixture
def qrels(monkeypatch: pytest.MonkeyPatch) -> Iterator[Qrels]:
    """Judgments with a table that a plugin has added."""
    monkeypatch.setitem(sys.modules, "ages", ModuleType("ages"))
    of_qrels = TableForm("ages", lambda: {"query_id": pl.String, "doc_id": pl.String, "age": pl.Int64})
    of_placements = TableForm("placed ages", lambda: {"query": pl.Int64, "doc_id": pl.String, "age": pl.Int64})
    add_beside(BesideTable("ages", of_qrels, PlacedTable(Ages, ages_of, of_placements)))
    use(plugin("deadheat"))
    found = Qrels(QRELS)
    rows = [("q2", "b", 3), ("q2", "e\u0301", 5), ("q1", "a", 4)]
    found.ages = pl.DataFrame(rows, schema=of_qrels.schema(), orient="row")  # type: ignore[attr-defined]
    yield found
    del BESIDE["ages"]
    use()


@pytest.mark.plugins
def test_the_registry_states_the_order_of_tables() -> None:
    keys = [key for one in registry.PLUGINS for tables in one.beside for key in tables.keys]
    assert [table.key for table in beside_tables()] == list(hooks.list_tables_beside()) == keys
    assert [table.key for table in beside_tables() if table.placed] == ["subtopics", "passages"]


def test_a_table_of_a_plugin_is_placed_and_selected(qrels: Qrels) -> None:
    placed = dh.place(qrels, RUN)
    ages = placed.beside["ages"]
    assert isinstance(ages, Ages)
    assert ages.age.tolist() == [4, 3, 5]
    (second,) = placed.select(np.array([False, True])).beside.values()
    assert isinstance(second, Ages)
    assert (second.query.tolist(), second.age.tolist()) == ([0, 0], [3, 5])


def test_runs_are_not_placed_together_with_one(qrels: Qrels) -> None:
    for found in dh.evaluate(qrels, {"one": dh.Run(RUN), "other": dh.Run(RUN)}, "RR").values():
        assert list(found.placements.beside) == ["ages"]


def test_a_table_of_a_plugin_follows_its_judgments(qrels: Qrels) -> None:
    (renamed,) = qrels.of_queries({"q2": "new"}).beside().values()
    assert renamed.rows() == [("new", "b", 3), ("new", "e\u0301", 5)]
    (composed,) = qrels.normalized("NFC").beside().values()
    assert composed["doc_id"].to_list() == ["b", "\u00e9", "a"]


def test_a_saved_file_keeps_a_table_of_a_plugin(qrels: Qrels, tmp_path: Path) -> None:
    evaluation = dh.evaluate(qrels, RUN, "RR")
    path = evaluation.save(tmp_path / "run.json")
    loaded = dh.load_evaluation(path)
    (frame,) = loaded.qrels.beside().values()
    assert frame.equals(qrels.beside()["ages"])
    ages = loaded.placements.beside["ages"]
    assert isinstance(ages, Ages)
    assert ages.age.tolist() == [4, 3, 5]
    assert list(ages.doc_ids) == ["a", "b", "e\u0301"]
    use(plugin("deadheat.plugins.ages"))
    with pytest.raises(FileFormatError, match=r"table ages .* the plugin ages"):
        dh.load_evaluation(path)


def test_a_saved_table_without_a_column_is_refused(qrels: Qrels, tmp_path: Path) -> None:
    path = Path(dh.evaluate(qrels, RUN, "RR").save(tmp_path / "run.json"))
    document = json.loads(path.read_text(encoding="utf-8"))
    document["data"]["ages"] = document["data"]["judged"]
    document["sha256"] = checksum(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(FileFormatError, match="'doc_id' of placed ages"):
        dh.load_evaluation(path)
