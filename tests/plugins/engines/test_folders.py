"""A folder of Parquet files without --engine: one table, with the numbers of one file that has all rows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.io.formats import parquet
from deadheat.errors import ColumnError, DataError, DuplicateError, FileFormatError
from oracle.random_cases import BATCHES
from support.command import ok
from support.equal_numbers import MEASURES, rows_of
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from pathlib import Path

BATCH = BATCHES["graded"]
RUN = pl.DataFrame(rows_of(BATCH.run), {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}, orient="row")
ROWS = pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["d", "d"], "score": [2.0, 1.0]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The rows of each query in two files, and what is no data beside them."""
    folder = tmp_path / "parts"
    (folder / "more").mkdir(parents=True)
    RUN.gather_every(2, 0).write_parquet(folder / "part-0.parquet")
    RUN.gather_every(2, 1).write_parquet(folder / "more" / "part-1.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_temporary").mkdir()
    RUN.write_parquet(folder / "_temporary" / "part-0.parquet")
    return folder


@pytest.mark.parametrize("n_rows", [1, 4_000_000])
def test_a_folder_is_evaluated_as_dicts_of_its_rows(folder: Path, n_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGE_PARQUET", n_rows)
    run = dh.read_run(folder)
    assert isinstance(run.rows, UnreadRows) == (n_rows == 1)
    assert "2 Parquet files" in " ".join(run.notes)
    found = dh.evaluate(BATCH.qrels, run, MEASURES)
    assert found.to_dict() == dh.evaluate(BATCH.qrels, BATCH.run, MEASURES).to_dict()
    assert (
        dh.evaluate(BATCH.qrels, run, "RR", ties="doc_id").means()
        == dh.evaluate(BATCH.qrels, BATCH.run, "RR", ties="doc_id").means()
    )


def test_judgments_are_read_from_a_folder_and_the_command_takes_both(tmp_path: Path) -> None:
    judgments = pl.DataFrame({"query_id": ["a", "b"], "doc_id": ["d", "e"], "relevance": [1, 1]})
    for name, rows in (("qrels", judgments), ("run", ROWS)):
        (tmp_path / name).mkdir()
        for part in range(2):
            rows[part : part + 1].write_parquet(tmp_path / name / f"{part}.parquet")
    printed = ok("evaluate", tmp_path / "qrels", tmp_path / "run", "-m", "RR", "--format", "csv")
    assert printed.splitlines()[1].split(",")[:3] == ["run", "RR", "0.5"]


def test_columns_of_a_folder_are_named_as_those_of_a_file(folder: Path) -> None:
    for file in folder.rglob("*.parquet"):
        pl.read_parquet(file).rename({"score": "points"}).write_parquet(file)
    with pytest.raises(ColumnError):
        dh.read_run(folder)
    assert dh.evaluate(BATCH.qrels, dh.Run(folder, columns={"score": "points"}), "RR").means() == (
        dh.evaluate(BATCH.qrels, BATCH.run, "RR").means()
    )


def test_a_damaged_file_is_named(folder: Path) -> None:
    damaged = folder / "part-0.parquet"
    damaged.write_bytes(damaged.read_bytes()[:200])
    with raises_parts(FileFormatError, path=damaged):
        dh.read_run(folder)


def test_a_document_in_two_files_is_a_duplicate(folder: Path) -> None:
    RUN.head(1).write_parquet(folder / "part-2.parquet")
    with raises_parts(DuplicateError, path=folder):
        dh.evaluate(BATCH.qrels, folder, "RR")


def test_a_folder_without_parquet_files_is_none(tmp_path: Path) -> None:
    with raises_parts(DataError, path=tmp_path):
        dh.read_run(tmp_path)


@pytest.mark.parametrize("change", ["another file", "a file written anew"])
def test_a_large_folder_that_changed_is_not_read_again(
    folder: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "LARGE_PARQUET", 1)
    run = dh.read_run(folder)
    dh.evaluate(BATCH.qrels, run, "RR")
    changed = folder / "part-0.parquet"
    if change == "another file":
        ROWS.write_parquet(folder / "part-2.parquet")
    else:
        changed.write_bytes(changed.read_bytes())
        os.utime(changed, ns=(1, changed.stat().st_mtime_ns + 10**9))
    with raises_parts(DataError, "changed", path=folder):
        dh.evaluate(BATCH.qrels, run, "RR")
