"""Predictions of MTEB: where MTEB takes a document with the id of its query out of the list, reading them does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from deadheat.plugins.exports.mteb_tasks import WITHOUT_IDENTICAL

if TYPE_CHECKING:
    from pathlib import Path

SCORES: dict[str, dict[str, float]] = {"1": {"1": 3.0, "2": 2.0, "3": 1.0}, "2": {"3": 1.0}, "4": {"4": 1.0}}


def read(folder: Path, task: str) -> dh.Run:
    path = folder / f"{task}_predictions.json"
    held: dict[str, Any] = {"mteb_model_meta": {"model_name": "me/model"}, "default": {"test": SCORES}}
    path.write_text(json.dumps(held), encoding="utf-8")
    return dh.Run(path)


@pytest.mark.parametrize("task", ["ArguAna", "QuoraRetrieval", "FiQA2018", "FEVERHardNegatives.v2"])
def test_tasks_that_drop_them_do_so_and_say_it(task: str, tmp_path: Path) -> None:
    run = read(tmp_path, task)
    assert run.to_dict() == {"1": {"2": 2.0, "3": 1.0}, "2": {"3": 1.0}, "4": {}}
    assert run.notes[1] == f"2 documents with the id of their query left out, as MTEB does in {task}"


@pytest.mark.parametrize("task", ["SciFact", "NFCorpus", "Touche2020", "arguana"])
def test_other_tasks_keep_them(task: str, tmp_path: Path) -> None:
    run = read(tmp_path, task)
    assert run.to_dict() == SCORES
    assert len(run.notes) == 1


def test_no_ranks_are_left_open(tmp_path: Path) -> None:
    """Query 1 finds 2 at rank 1, as for MTEB; query 4 finds nothing."""
    found = dh.evaluate({"1": {"2": 1}, "4": {"9": 1}}, read(tmp_path, "ArguAna"), "RR")
    assert found["RR"].values.tolist() == [1.0, 0.0]
    assert found.missing_queries == ()


def test_the_tasks_are_those_of_mteb_where_it_is_installed() -> None:
    mteb = pytest.importorskip("mteb")
    tasks = [task for task in mteb.get_tasks() if getattr(task, "ignore_identical_ids", False)]
    assert {task.metadata.name for task in tasks} <= WITHOUT_IDENTICAL
