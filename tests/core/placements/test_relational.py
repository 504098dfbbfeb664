"""Frames of Ibis and Dask give the numbers of dicts; `make spark` installs both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError, DuplicateError
from support.equal_numbers import BATCH, NAMES, assert_equal_to_dicts, rows_of
from support.error_parts import raises_parts

pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning", "default::FutureWarning")


def in_ibis(backend: str, **tables: list[tuple[str, str, float]]) -> list[Any]:
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed (make spark)")
    connection = getattr(ibis, backend).connect()
    made = {kind: pl.DataFrame(rows, schema=NAMES[kind], orient="row").to_arrow() for kind, rows in tables.items()}
    return [connection.create_table(kind, table) for kind, table in made.items()]


def in_dask(**tables: list[tuple[str, str, float]]) -> list[Any]:
    frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed (make spark)")
    made = {kind: pl.DataFrame(rows, schema=NAMES[kind], orient="row").to_pandas() for kind, rows in tables.items()}
    return [frames.from_pandas(table, npartitions=3) for table in made.values()]


@pytest.mark.parametrize("ties", ["expected", "doc_id", "random"])
@pytest.mark.parametrize("backend", ["duckdb", "polars"])
def test_tables_of_ibis_give_the_same_numbers(backend: str, ties: str) -> None:
    """DuckDB ranks and counts; the Polars of Ibis has no window functions, so it counts."""
    qrels, run = in_ibis(backend, qrels=rows_of(BATCH.qrels), run=rows_of(BATCH.run))
    assert_equal_to_dicts(qrels, run, ties)


def test_duckdb_by_ibis() -> None:
    qrels, run = in_ibis("duckdb", qrels=rows_of(BATCH.qrels), run=rows_of(BATCH.run))
    found, expected = dh.place(qrels, run), dh.place(BATCH.qrels, BATCH.run)
    assert found.to_polars().rows() == expected.to_polars().rows()


@pytest.mark.parametrize("ties", ["expected", "doc_id"])
def test_frames_of_dask_give_the_same_numbers(ties: str) -> None:
    """Its joins fail on text in some versions: then the rows are fetched."""
    qrels, run = in_dask(qrels=rows_of(BATCH.qrels), run=rows_of(BATCH.run))
    assert_equal_to_dicts(qrels, run, ties)


@pytest.mark.parametrize("make", [lambda **one: in_ibis("duckdb", **one), in_dask], ids=["Ibis", "Dask"])
def test_bad_rows_are_named(make: Any) -> None:  # noqa: ANN401 - a function of any tables
    (run,) = make(run=[("q1", "d", 1.0), ("q1", "e", float("nan"))])
    with raises_parts(DataError, r"'e' .* is (NaN|missing)", path=Path("run")):
        dh.evaluate({"q1": {"d": 1}}, run, "RR")
    (run,) = make(run=[("q1", "d", 1.0), ("q1", "d", 0.5)])
    with raises_parts(DuplicateError, "'d' is retrieved 2 times", path=Path("run")):
        dh.evaluate({"q1": {"d": 1}}, run, "RR")
