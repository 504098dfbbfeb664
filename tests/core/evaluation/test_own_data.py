"""What an evaluation says later is of the moment when it was made, whatever became of what it was made from."""

from __future__ import annotations

import copy
import os
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Nested = dict[str, dict[str, Any]]
QRELS: Nested = {"q1": {"d1": 0, "d2": 0, "d3": 2}, "q2": {"d1": 1}}
RUN: Nested = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d1": 1.0, "d5": 2.0}}
LATER: Nested = {"q1": {"d2": 1, "d3": 2}, "q2": {"d5": 1}}


def rows(nested: Nested) -> list[tuple[str, str, Any]]:
    return [(query, doc, value) for query, documents in nested.items() for doc, value in documents.items()]


def frame(nested: Nested, value: str) -> pl.DataFrame:
    return pl.DataFrame(rows(nested), schema=["query_id", "doc_id", value], orient="row")


def said_later(evaluation: dh.Evaluation, folder: Path) -> dict[str, Any]:
    """Return what an evaluation says from what it keeps; it is not to have said anything before."""
    path = evaluation.save(folder / "ev.json")
    loaded = dh.load_evaluation(path)
    assert evaluation.run is not None
    assert loaded.run is not None
    return {
        "values": evaluation.to_dict(),
        "hash": evaluation.qrels_hash,
        "judgments": evaluation.qrels.to_dict(),
        "run": rows(evaluation.run.to_dict()),
        "saved judgments": loaded.qrels.to_dict(),
        "saved ranking": loaded.run.to_polars().rows(),
        "scored again": evaluation.rescored(LATER).to_dict(),
        "scored again from the file": loaded.rescored(LATER).to_dict(),
        "ends": [evaluation["RR"].tie_min.tolist(), evaluation["RR"].tie_max.tolist()],
        "steps": evaluation.steps("RR", "q1").to_polars().rows(),
        "items": evaluation.item_profile(1).to_polars().rows(),
    }


def fill_again(nested: Nested) -> None:
    for documents in nested.values():
        documents.clear()
        documents.update({"d3": 9.0, "d9": 8.0})


def set_zero_dimensional(nested: Nested) -> None:
    nested["q1"]["d3"][...] = 99.0


def write_to_pandas(given: pd.DataFrame) -> None:
    given.loc[2, given.columns[2]] = 99.0


def write_to_polars(given: pl.DataFrame) -> None:
    given[2, given.columns[2]] = 99.0


def arrays_without_dimension() -> Nested:
    return {query: {doc: np.array(score) for doc, score in own.items()} for query, own in RUN.items()}


@pytest.mark.plugins("weeks")
@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda: copy.deepcopy(RUN), lambda run: run["q1"].update(d3=99.0)),
        (lambda: copy.deepcopy(RUN), fill_again),
        (lambda: copy.deepcopy(RUN), lambda run: run.clear()),
        (lambda: defaultdict(dict, copy.deepcopy(RUN)), fill_again),
        (arrays_without_dimension, set_zero_dimensional),
        (lambda: {query: [*own] for query, own in RUN.items()}, lambda run: run["q1"].reverse()),
        (lambda: rows(RUN), lambda run: run.clear()),
        (lambda: frame(RUN, "score").to_pandas(), write_to_pandas),
        (lambda: frame(RUN, "score"), write_to_polars),
    ],
    ids=("dict", "filled again", "emptied", "subclass", "arrays", "lists", "tuples", "pandas", "polars"),
)
def test_a_change_of_the_run_changes_no_result(
    make: Callable[[], Any], change: Callable[[Any], object], tmp_path: Path
) -> None:
    expected = said_later(dh.evaluate(QRELS, make(), ["RR", "nDCG"]), tmp_path)
    run = make()
    evaluation = dh.evaluate(QRELS, run, ["RR", "nDCG"])
    change(run)
    assert said_later(evaluation, tmp_path) == expected


@pytest.mark.plugins("weeks")
@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda: copy.deepcopy(QRELS), lambda qrels: qrels["q1"].update(d2=1)),
        (lambda: copy.deepcopy(QRELS), fill_again),
        (lambda: frame(QRELS, "relevance").to_pandas(), write_to_pandas),
        (lambda: frame(QRELS, "relevance").cast({"relevance": pl.Float64}), write_to_polars),
    ],
    ids=("dict", "filled again", "pandas", "polars"),
)
def test_a_change_of_the_judgments_changes_no_result(
    make: Callable[[], Any], change: Callable[[Any], object], tmp_path: Path
) -> None:
    expected = said_later(dh.evaluate(make(), RUN, ["RR", "nDCG"]), tmp_path)
    qrels = make()
    evaluation = dh.evaluate(qrels, RUN, ["RR", "nDCG"])
    change(qrels)
    assert said_later(evaluation, tmp_path) == expected


def test_qrels_and_runs_keep_what_they_read() -> None:
    judgments, ranking = copy.deepcopy(QRELS), copy.deepcopy(RUN)
    qrels, run = dh.Qrels(judgments), dh.Run(ranking)
    before = dh.evaluate(qrels, run, "RR").means()
    judgments["q1"]["d2"] = 1
    ranking["q1"]["d3"] = 99.0
    assert dh.evaluate(qrels, run, "RR").means() == before


@pytest.mark.plugins("exports")
def test_predictions_of_mteb_are_copied() -> None:
    given = {"mteb_model_meta": {"model_name": "m"}, "default": {"test": copy.deepcopy(RUN)}}
    run = dh.Run(given)
    given["default"]["test"]["q1"]["d3"] = 99.0  # type: ignore[index]
    assert run.to_dict() == RUN


@pytest.mark.plugins("weeks")
def test_what_was_given_out_is_a_copy_or_cannot_be_written_to(tmp_path: Path) -> None:
    expected = said_later(dh.evaluate(QRELS, frame(RUN, "score"), ["RR", "nDCG"]), tmp_path)
    evaluation = dh.evaluate(QRELS, frame(RUN, "score"), ["RR", "nDCG"])
    assert evaluation.run is not None
    write_to_polars(evaluation.run.to_polars())
    write_to_polars(evaluation.qrels.to_polars())
    scores = evaluation["RR"]
    for array in (
        scores.values,
        scores.tie_max,
        scores.tie_min,
        scores.tie_std,
        scores.query_ids,
        evaluation.query_ids,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[-1]
    assert said_later(evaluation, tmp_path) == expected


@pytest.mark.plugins("dense")
def test_arrays_of_the_caller_stay_writable() -> None:
    scores, relevant = np.array([[3.0, 2.0], [1.0, 3.0]]), np.array([[0, 1], [1, 0]])
    query_ids = np.array(["a", "b"], object)
    evaluation = dh.evaluate_dense(scores, relevant, "RR", query_ids=query_ids)
    expected = evaluation.to_dict()
    scores[:] = 0.0
    relevant[:] = 1
    query_ids[0] = "c"
    assert evaluation.to_dict() == expected
    assert evaluation.qrels.to_dict() == {"a": {"1": 1.0}, "b": {"0": 1.0}}


def write_trec(path: Path, sign: float) -> None:
    path.write_text("".join(f"{query} Q0 {doc} 1 {sign * score} t\n" for query, doc, score in rows(RUN)))


def write_parquet(path: Path, sign: float) -> None:
    frame(RUN, "score").with_columns(pl.col("score") * sign).write_parquet(path)


@pytest.mark.plugins("engines")
@pytest.mark.parametrize(("name", "write"), [("x.run", write_trec), ("x.parquet", write_parquet)])
def test_a_large_file_that_changed_is_not_read_again(
    name: str, write: Callable[[Path, float], None], tmp_path: Path
) -> None:
    path = tmp_path / name
    write(path, 1.0)
    with dh.max_memory(1):
        evaluation = dh.evaluate(QRELS, path, "RR")
        again = evaluation.rescored(LATER).to_dict()
        run = dh.Run(path)
        assert evaluation.rescored(LATER).to_dict() == again  # it is the same file still
        write(path, -1.0)
        os.utime(path, ns=(1, 1))  # writing may take less time than a tick of the clock
        for read in (
            lambda: evaluation.rescored(LATER),
            lambda: evaluation.item_profile(1),
            lambda: dh.evaluate(QRELS, run, "RR"),
        ):
            with pytest.raises(DataError, match=f"{name}: changed since"):
                read()


@pytest.mark.plugins("weeks")
def test_a_run_in_a_database_is_not_read_again() -> None:
    connection = duckdb.connect()
    connection.register("given", frame(RUN, "score").to_arrow())
    connection.register("judged", frame(QRELS, "relevance").to_arrow())
    connection.sql("create table run as select * from given")
    evaluation = dh.evaluate(connection.table("judged"), connection.table("run"), "RR")
    assert evaluation.means() == dh.evaluate(QRELS, RUN, "RR").means()
    connection.sql("update run set score = -score")
    for read in (lambda: evaluation.rescored(LATER), lambda: evaluation.item_profile(1)):
        with pytest.raises(DataError, match="may have changed since"):
            read()


@pytest.mark.plugins("weeks")
def test_a_lazy_frame_of_a_file_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    write_parquet(path, 1.0)
    evaluation = dh.evaluate(QRELS, pl.scan_parquet(path), "RR")
    write_parquet(path, -1.0)
    with pytest.raises(DataError, match=r"fetch the rows into memory"):
        evaluation.rescored(LATER)
    in_memory = dh.evaluate(QRELS, frame(RUN, "score").lazy(), "RR")
    assert in_memory.rescored(LATER).to_dict() == dh.evaluate(LATER, RUN, "RR").to_dict()
