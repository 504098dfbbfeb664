"""Both plans of the relational engine find what plain counting finds, in DuckDB; and repeated pairs are found there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io import frames
from deadheat.core.placements import relational
from deadheat.core.placements.place import choose_engine
from deadheat.errors import DuplicateError
from oracle.random_cases import BATCHES, Batch
from support.equal_numbers import NAMES, rows_of
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

duckdb = pytest.importorskip("duckdb", reason="no DuckDB")


def in_duckdb(connection: Any, **tables: Mapping[str, Mapping[str, float]]) -> list[Any]:  # noqa: ANN401 - DuckDB's
    relations = []
    for kind, table in tables.items():
        rows = pl.DataFrame(rows_of(table), schema=NAMES[kind], orient="row")
        relations.append(connection.from_arrow(rows.sample(fraction=1, shuffle=True, seed=3).to_arrow()))
    return relations


def count_plainly(batch: Batch) -> set[tuple[str, str, float, int, int]]:
    """Return query, document, relevance, above and tied of each judged document that was retrieved."""
    rows = set()
    for query, judged in batch.qrels.items():
        scores = batch.run.get(query, {})
        for doc, relevance in judged.items():
            if doc in scores:
                above = sum(score > scores[doc] for score in scores.values())
                tied = sum(score == scores[doc] for score in scores.values())
                rows.add((query, doc, float(relevance), above, tied))
    return rows


@pytest.mark.parametrize("most_pairs", [-1, 10**9], ids=["ranks", "counts"])
@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_both_plans_find_what_plain_counting_finds(
    batch: Batch, most_pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relational, "MOST_PAIRS", most_pairs)
    other_plan = "_rank" if most_pairs > 0 else "_count_around"
    monkeypatch.setattr(relational.RelationalEngine, other_plan, None)  # it is not asked
    connection = duckdb.connect()  # older versions close it when its object goes
    qrels, run = in_duckdb(connection, qrels=batch.qrels, run=batch.run)
    engine = choose_engine(dh.Qrels(qrels), dh.Run(run))
    assert isinstance(engine, relational.RelationalEngine)
    placements = engine.place()
    found = placements.to_polars().select("query_id", "doc_id", "relevance", "above", "tied")
    assert set(found.rows()) == count_plainly(batch)
    sizes = [len(batch.run.get(query, {})) for query in placements.query_ids]
    assert placements.n_retrieved.tolist() == sizes
    assert placements.retrieves_itself is not None
    assert placements.retrieves_itself.tolist() == [query in batch.run.get(query, {}) for query in placements.query_ids]


@pytest.mark.plugins("engines")
@pytest.mark.parametrize("sees_variables", [True, False])
def test_judged_rows_are_looked_for_once_where_duckdb_takes_tables(
    *, sees_variables: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that sees no variables of Python is asked for them a second time."""
    looks = []
    find_judged = relational.find_judged

    def look(*frames: Any) -> Any:  # noqa: ANN401 - Narwhals'
        looks.append(frames)
        return find_judged(*frames)

    batch = next(iter(BATCHES.values()))
    connection = duckdb.connect()
    qrels, run = in_duckdb(connection, qrels=batch.qrels, run=batch.run)
    engine = choose_engine(dh.Qrels(qrels), dh.Run(run))
    connection.execute(f"set python_enable_replacements = {sees_variables}")
    monkeypatch.setattr(relational, "MOST_PAIRS", 10**9)  # counts
    monkeypatch.setattr(relational, "find_judged", look)
    found = engine.place().to_polars().select("query_id", "doc_id", "relevance", "above", "tied")
    assert set(found.rows()) == count_plainly(batch)
    assert len(looks) == (1 if sees_variables else 2)


def test_a_document_with_the_id_of_its_query_is_seen() -> None:
    connection = duckdb.connect()  # older versions close it when its object goes
    qrels, run = in_duckdb(connection, qrels={"a": {"a": 1}, "b": {"c": 1}}, run={"a": {"a": 1}, "b": {"c": 1}})
    placements = dh.place(qrels, run)
    assert placements.retrieves_itself is not None
    assert placements.retrieves_itself.tolist() == [True, False]


@pytest.mark.parametrize("level_count", [3, 50])
def test_many_levels_are_ranked_and_few_are_counted(level_count: int) -> None:
    """A query with as many judged levels as rows meets each level with each row."""
    rows = {"q": {f"d{number}": float(number) for number in range(50)}}
    judged = {"q": {f"d{number}": 1 for number in range(level_count)}}
    found = pl.DataFrame({"query_id": ["q"] * level_count, "score": np.arange(level_count, dtype=np.float64)})
    counts = pl.DataFrame({"query_id": ["q"], "n_retrieved": [50]})
    assert relational.count_pairs(found, counts) == 50 * level_count
    connection = duckdb.connect()  # older versions close it when its object goes
    qrels, run = in_duckdb(connection, qrels=judged, run=rows)
    assert dh.evaluate(qrels, run, "AP").means() == dh.evaluate(judged, rows, "AP").means()


@pytest.mark.parametrize("is_repeated", [False, True])
@pytest.mark.parametrize("are_hashes_equal", [False, True])
def test_repeated_pairs_are_found_whatever_their_hashes_are(
    *, is_repeated: bool, are_hashes_equal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if are_hashes_equal:  # of two pairs that differ
        monkeypatch.setattr(frames, "_may_repeat_in_duckdb", lambda _: True)
    second_doc = "d" if is_repeated else "e"
    rows = [("a", "d", 1.0), ("b", "d", 1.0), ("b", second_doc, 0.5)]
    connection = duckdb.connect()
    run = connection.from_arrow(pl.DataFrame(rows, schema=NAMES["run"], orient="row").to_arrow())
    if is_repeated:
        with raises_parts(DuplicateError, path=Path("run")):
            dh.evaluate({"b": {"d": 1}}, run, "RR")
    else:
        assert dh.evaluate({"b": {"d": 1}}, run, "RR").means() == {"RR": 1.0}
