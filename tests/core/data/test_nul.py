"""A NUL in an id is an error in whatever form the ids come: NumPy loses it at the end, and then q and q\\0 are one."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import deadheat as dh
from deadheat.core.io import id_columns
from deadheat.errors import DataError, SourceTypeError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IDS = [("q\0", "d"), ("q", "d\0"), ("q", "d\0e"), ("\0", "d")]
each_pair = pytest.mark.parametrize(("query", "doc"), IDS)


def duckdb_relation(columns: dict[str, Any]) -> object:
    import duckdb

    return duckdb.from_arrow(pa.table(columns))  # of the connection that stays


FRAMES: list[Any] = [
    pl.DataFrame,
    pl.LazyFrame,
    pd.DataFrame,
    pa.table,
    pytest.param(duckdb_relation, marks=pytest.mark.skipif(not find_spec("duckdb"), reason="no DuckDB")),
]


@each_pair
@pytest.mark.parametrize("make", FRAMES)
def test_frames(make: Callable[[dict[str, Any]], Any], query: str, doc: str) -> None:
    for value, read in (("score", dh.Run), ("relevance", dh.Qrels)):
        columns = {"query_id": ["q", query], "doc_id": ["c", doc], value: [1.0, 2.0]}
        with raises_parts(DataError, r"'.*\\x00.*' .*U\+0000", allowed="text without it"):
            read(make(columns)).to_polars()


@pytest.mark.plugins("engines")
@each_pair
@pytest.mark.parametrize("most_memory", [None, 1])
def test_parquet(query: str, doc: str, most_memory: int | None, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    rows = {"query_id": ["q", query], "doc_id": ["c", doc], "score": [1.0, 2.0]}
    pl.DataFrame(rows).write_parquet(path)
    with dh.max_memory(most_memory or 10**10), pytest.raises(DataError, match=r"x\.parquet: id '.*\\x00"):
        dh.read_run(path).to_polars()
    with dh.max_memory(most_memory or 10**10), pytest.raises(DataError, match=r"x\.parquet: id '.*\\x00"):
        dh.evaluate({"q": {"c": 1}}, path, "RR")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["query_id", "doc_id"])
@pytest.mark.parametrize("wrong", ["\0", "", None])
def test_parquet_of_many_rows(where: str, wrong: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some ids are joined at a time to look for a NUL: it is found wherever it is, also beside very long ids."""
    monkeypatch.setattr(id_columns, "AT_ONCE", 7)
    monkeypatch.setattr(id_columns, "MOST_TEXT", 100)
    path = tmp_path / "x.parquet"
    rows: dict[str, list[Any]]
    rows = {"query_id": [f"q{n // 4}" for n in range(20)], "doc_id": [f"d{n}" for n in range(20)], "score": [1.0] * 20}
    for longest in ("x", "x" * 50, "x" * 500):
        rows["doc_id"][9] = longest
        pl.DataFrame(rows).write_parquet(path)
        assert dh.read_run(path).to_dict() == dh.Run(pl.DataFrame(rows)).to_dict()
        for at in (0, 6, 7, 19):
            other = list(rows[where])
            other[at] = wrong if not wrong else f"a{wrong}b"
            pl.DataFrame({**rows, where: other}).write_parquet(path)
            with raises_parts(DataError, r"id 'a\\x00b'" if wrong else "1 of 20 rows lack", path=path):
                dh.read_run(path)


@each_pair
def test_rows(query: str, doc: str) -> None:
    for rows in (
        [("q", "c", 1.0), (query, doc, 2.0)],
        [{"query_id": "q", "doc_id": "c", "score": 1.0}, {"query_id": query, "doc_id": doc, "score": 2.0}],
    ):
        with pytest.raises(DataError, match=r"id '.*\\x00"):
            dh.Run(rows)


@pytest.mark.plugins("compat")
@each_pair
def test_dicts(query: str, doc: str) -> None:
    """All ids of judgments and of runs, judged or not."""
    from deadheat.compat.pytrec_eval import RelevanceEvaluator

    with pytest.raises(DataError, match=r"qrels: id '.*\\x00"):
        dh.evaluate({"q": {"c": 1}, query: {"c": 1, doc: 1}}, {"q": {"c": 1.0}}, "RR")
    with pytest.raises(DataError, match=r"run: id '.*\\x00"):
        dh.evaluate({"q": {"c": 1}}, {"q": {"c": 1.0}, query: {"c": 1.0, doc: 1.0}}, "RR")
    with pytest.raises(DataError, match=r"id '.*\\x00"):
        RelevanceEvaluator({"q": {"c": 1}}, {"recip_rank"}).evaluate({"q": {"c": 1.0, query: 0.5, doc: 0.5}})


@pytest.mark.parametrize("doc", [7, b"d", None, ("d",)])
def test_ids_of_dicts_that_are_not_text(doc: object) -> None:
    """Also of a document that nobody judged, of which nothing but its rank counts."""
    with pytest.raises(SourceTypeError, match="ids are text, got "):
        dh.evaluate({"q": {"c": 1}}, {"q": {"c": 1.0, doc: 0.5}}, "RR")


@pytest.mark.plugins("dense")
def test_queries_arrays_and_subtopics() -> None:
    for ids in (["q\0"], np.array(["q\0"], object)):
        with pytest.raises(DataError, match=r"query_ids: id 'q\\x00'"):
            dh.evaluate_dense(np.array([[0.5, 0.1]]), [[0]], ["RR"], query_ids=ids)
    for source in (pl.DataFrame({"query_id": ["q\0"], "x": ["a"]}), {"q\0": {"x": "a"}}):
        with pytest.raises(DataError, match=r"id 'q\\x00'"):
            dh.Queries(source)
    rows = pl.DataFrame({"query_id": ["q"], "doc_id": ["d"], "relevance": [1], "subtopic": ["a\0"]})
    with pytest.raises(DataError, match=r"id 'a\\x00'"):
        dh.Qrels(rows)
