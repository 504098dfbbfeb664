"""A run in a large Parquet or TREC file: read once, whole queries at a time, with the numbers of rows in memory."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import deadheat as dh
from deadheat.core.data.rows import Blocks
from deadheat.core.data.unread_rows import UnreadRows
from deadheat.core.io import files, memory_limits
from deadheat.core.io.formats import parquet, write
from deadheat.core.placements.passes import QUERY, NotAdjacentError, make_results
from deadheat.core.placements.place import choose_engine
from deadheat.errors import DataError, DeadheatWarning, DuplicateError, MalformedRowError, ParameterError
from deadheat.plugins.engines import by_query as passes
from deadheat.plugins.engines.by_query import ByQuery
from oracle.random_cases import BATCHES
from support.equal_numbers import MEASURES, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def say_queries(blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:  # noqa: ARG001 - as every task
    return [make_results(QUERY, query_id=blocks.query_ids)]


FIELDS = ("query_ids", "n_retrieved", "query", "doc_ids", "relevance", "above", "tied", "ends_in_tie")
SCHEMA = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}


@pytest.fixture(autouse=True)
def every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGE_PARQUET", 1)


def written(rows: pl.DataFrame, tmp_path: Path, row_group_size: int = 7) -> Path:
    path = tmp_path / "x.parquet"
    rows.write_parquet(path, row_group_size=row_group_size)
    return path


def frame_of(batch: str) -> pl.DataFrame:
    return pl.DataFrame(rows_of(BATCHES[batch].run), SCHEMA, orient="row")


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3, 50, 1_000_000])
@pytest.mark.parametrize("batch", BATCHES)
def test_placements_are_those_of_memory(batch: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", size)
    path = written(frame_of(batch), tmp_path)
    qrels = BATCHES[batch].qrels
    expected, found = dh.place(qrels, BATCHES[batch].run), dh.place(qrels, path)
    for name in FIELDS:
        if name == "doc_ids":  # documents alike in everything else stand in any order
            assert found.to_polars().equals(expected.to_polars())
            continue
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "doc_id", "input", "random"])
def test_every_policy_gives_the_numbers_of_memory(ties: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 20)
    batch = BATCHES["graded"]
    rng = 5 if ties == "random" else None
    path = written(frame_of("graded"), tmp_path)
    expected, found = (
        dh.evaluate(batch.qrels, run, MEASURES, ties=ties, rng=rng) for run in (frame_of("graded"), path)
    )
    for name in MEASURES:
        np.testing.assert_array_equal(found[name].values, expected[name].values, err_msg=name)
        np.testing.assert_array_equal(found[name].tie_std, expected[name].tie_std, err_msg=name)


@pytest.mark.parametrize("depth", [None, 4])
@pytest.mark.parametrize("rule", ["doc_id", "input"])
def test_a_rule_needs_no_second_pass(
    rule: str, depth: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 100)
    read: list[str] = []
    batches = UnreadRows.batches

    def counted(rows: UnreadRows, n_rows: int) -> Iterator[pl.DataFrame]:
        read.append(rows.where)
        return batches(rows, n_rows)

    monkeypatch.setattr(UnreadRows, "batches", counted)
    batch = BATCHES["graded"]
    frame = frame_of("graded")
    path = written(frame, tmp_path)
    expected = dh.evaluate(batch.qrels, frame, MEASURES, ties=rule, depth=depth)
    assert expected.placements.have_ties
    found = dh.evaluate(batch.qrels, path, MEASURES, ties=rule, depth=depth)
    assert len(read) == 1
    for name in MEASURES:
        np.testing.assert_array_equal(found[name].values, expected[name].values, err_msg=name)


@pytest.mark.slow
def test_compare_reads_each_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 100)
    read: list[str] = []
    batches = UnreadRows.batches

    def counted(rows: UnreadRows, n_rows: int) -> Iterator[pl.DataFrame]:
        read.append(rows.where)
        return batches(rows, n_rows)

    monkeypatch.setattr(UnreadRows, "batches", counted)
    qrels, frame = BATCHES["graded"].qrels, frame_of("graded")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    frames = {"one": frame, "two": frame.with_columns(score=pl.col("score").round(0))}
    paths = {name: written(rows, tmp_path / name) for name, rows in frames.items()}
    expected, found = (dh.compare(qrels, runs, "nDCG@5", n_resamples=199) for runs in (frames, paths))
    assert read == [str(path) for path in paths.values()]
    for name in frames:
        one, other = (each.scores_by_doc_id(name, "nDCG@5") for each in (expected, found))
        assert one is not None
        assert other is not None
        np.testing.assert_array_equal(other.values, one.values)
        assert not np.array_equal(one.values, found.evaluations[name]["nDCG@5"].values)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["doc_id", "expected"])
def test_rows_in_any_order_are_placed_another_way(ties: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 10)
    batch = BATCHES["graded"]
    path = written(frame_of("graded").sample(fraction=1, shuffle=True, seed=1), tmp_path)
    qrels, run = dh.Qrels(batch.qrels), dh.Run(path)
    with pytest.raises(NotAdjacentError):
        passes.by_query(run, say_queries)
    assert type(choose_engine(qrels, run)) is ByQuery
    expected = dh.evaluate(batch.qrels, batch.run, MEASURES, ties=ties)
    assert dh.evaluate(qrels, path, MEASURES, ties=ties).means() == pytest.approx(
        expected.means(), rel=1e-14, nan_ok=True
    )


@pytest.mark.parametrize("is_adjacent", [True, False])
def test_repeated_pairs_are_found_in_the_same_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_adjacent: bool
) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 2)
    queries = ["a", "a", "a", "b", "b"] if is_adjacent else ["a", "b", "a", "b", "a"]
    docs = ["x", "y", "x", "x", "y"] if is_adjacent else ["x", "x", "y", "y", "x"]
    path = written(pl.DataFrame({"query_id": queries, "doc_id": docs, "score": [5.0, 4, 3, 2, 1]}), tmp_path, 2)
    with pytest.raises(DuplicateError, match=r"'x' is .*2 times .*'a'"):
        dh.evaluate({"a": {"x": 1}, "b": {"y": 1}}, path, ["RR"])
    assert dh.evaluate({"a": {"y": 1}}, path, ["NumRet"], duplicates="trust")["NumRet"].total == 3


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"score": math.nan}, DataError, r"x\.parquet: score of document 'd4' for query 'q1' is NaN"),
        ({"score": None}, DataError, r"score of document 'd4' for query 'q1' is missing \(null or NaN\)"),
        ({"doc_id": None}, DataError, "1 of 9 rows lack a query_id or doc_id"),
        ({"query_id": ""}, DataError, "1 of 9 rows lack a query_id or doc_id"),
        ({"query_id": None}, DataError, "1 of 9 rows lack a query_id or doc_id"),
    ],
)
def test_wrong_rows_are_named(
    change: dict[str, object],
    error: type[DataError],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 2)
    rows = [{"query_id": f"q{n // 3}", "doc_id": f"d{n}", "score": float(n)} for n in range(9)]
    rows[4].update(change)
    run = dh.read_run(written(pl.DataFrame(rows, SCHEMA), tmp_path, 2))
    with pytest.raises(error, match=message):
        dh.evaluate({"q1": {"d3": 1}}, run, ["RR"])
    with pytest.raises(error, match=message):
        run.to_polars()


def test_a_file_without_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGE_PARQUET", 0)
    with pytest.raises(DataError, match="empty: it has no rows"):
        dh.evaluate({"q": {"d": 1}}, written(pl.DataFrame(schema=SCHEMA), tmp_path), ["RR"])


@pytest.mark.slow
def test_profiles_rounding_and_direction_are_those_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 11)
    batch, frame = BATCHES["graded"], frame_of("graded")
    path = written(frame, tmp_path)
    assert isinstance(dh.Run(path).rows, UnreadRows)
    assert dh.tie_profile(path, batch.qrels).to_flat() == dh.tie_profile(frame, batch.qrels).to_flat()
    for precision in (0, None):
        one, other = (
            dh.evaluate(batch.qrels, dh.Run(run, ascending=True), MEASURES, score_precision=precision)
            for run in (frame, path)
        )
        assert one.means() == pytest.approx(other.means(), rel=0, abs=0, nan_ok=True)


def test_scores_that_rounding_makes_infinite_are_told(tmp_path: Path) -> None:
    rows = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1e6, 1.0]})
    with pytest.warns(DeadheatWarning):
        dh.evaluate({"q": {"b": 1}}, written(rows, tmp_path), ["RR"], score_precision="float16")


def test_whole_numbers_that_float64_merges_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 1)
    rows = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1, 2**53 + 1]})
    with pytest.raises(DataError, match=str(2**53 + 1)):
        dh.evaluate({"q": {"b": 1}}, written(rows, tmp_path), ["RR"])


# In TREC files


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.blocks, "__defaults__", (200,))
    monkeypatch.setattr(memory_limits, "LARGE_TEXT", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("ties", ["expected", "doc_id", "input"])
def test_trec_is_read_in_blocks(ending: str, ties: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_limits, "_MOST_ROWS", 5)
    qrels = {
        query: {doc.replace(" ", "_"): level for doc, level in judged.items()}
        for query, judged in BATCHES["graded"].qrels.items()
    }
    rows = frame_of("graded").with_columns(pl.col("doc_id").str.replace_all(" ", "_"))
    path = tmp_path / f"x.run{ending}"
    write(rows, path, "run")
    run = dh.Run(path)
    assert isinstance(run.rows, UnreadRows)
    expected = dh.evaluate(qrels, rows, MEASURES, ties=ties)
    for one in (run, path):
        found = dh.evaluate(qrels, one, MEASURES, ties=ties)
        assert found.means() == pytest.approx(expected.means(), rel=0, abs=0, nan_ok=True)
    assert run.to_polars().equals(rows)


@pytest.mark.usefixtures("small_blocks")
def test_wrong_lines_and_comments_of_blocks_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    lines = [f"q{n // 20} Q0 d{n} 1 {n / 3} t" for n in range(100)]
    path.write_text("# made by us\n" + "\n".join(lines) + "\n")
    evaluation = dh.evaluate({"q1": {"d21": 1}}, path, ["RR"])
    assert f"1 comment line skipped in {path}" in evaluation.notes
    path.write_text("\n".join([*lines, "q9 Q0 d 1 0.5"]) + "\n")
    with pytest.raises(MalformedRowError, match=r"x\.run:101"):
        dh.evaluate({"q1": {"d21": 1}}, path, ["RR"])
    path.write_text("\n".join([*lines, lines[-1]]) + "\n")
    with pytest.raises(DuplicateError, match=r"x\.run:101: .*'d99' .*'q4'"):
        dh.evaluate({"q1": {"d21": 1}}, path, ["RR"])


def test_a_bound_on_memory_decides(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("".join(f"q{n // 20} Q0 d{n} 1 {n / 3} t\n" for n in range(100)))
    assert not isinstance(dh.Run(path).rows, UnreadRows)
    with dh.max_memory(1_000):
        assert isinstance(dh.Run(path).rows, UnreadRows)
        assert memory_limits.rows_at_a_time() == 20_000
    with dh.max_memory(10**9):
        assert not isinstance(dh.Run(path).rows, UnreadRows)
        assert memory_limits.rows_at_a_time() == 1_000_000
    assert isinstance(dh.Run(frame_of("graded").lazy()).rows, UnreadRows)
    with pytest.raises(ParameterError, match="max_memory"), dh.max_memory(0):
        pass


def test_a_bound_that_is_never_entered_is_said() -> None:
    with pytest.warns(DeadheatWarning, match=r"write with dh\.max_memory\(\.\.\.\):") as told:
        dh.max_memory(1e9)
    assert told[0].filename == __file__
    with dh.max_memory(1_000):
        with dh.max_memory(10**9):
            assert memory_limits.rows_at_a_time() == 1_000_000
        assert memory_limits.rows_at_a_time() == 20_000
    assert not memory_limits.is_bounded()


def test_what_is_held_beyond_the_bound_is_said(tmp_path: Path) -> None:
    rows = [f"q{n % 5} Q0 d{n} 1 {n / 3} t\n" for n in range(3_000)]
    (tmp_path / "mixed.run").write_text("".join(rows))
    (tmp_path / "x.csv").write_text("query_id,doc_id,score\n" + "".join(f"q1,d{n},{n}\n" for n in range(100)))
    qrels = {"q1": {"d21": 1}}
    for name, note in (("mixed.run", "rows of a query are not adjacent"), ("x.csv", "all rows are in memory")):
        assert not any(note in one for one in dh.evaluate(qrels, tmp_path / name, ["RR"]).notes)
        with dh.max_memory(1e3):
            assert any(note in one for one in dh.evaluate(qrels, tmp_path / name, ["RR"]).notes)


@pytest.mark.slow
def test_a_damaged_file_is_no_bug(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"query_id": ["q"] * 500, "doc_id": [f"d{n}" for n in range(500)], "score": 1.0}).write_parquet(path)
    data, told = path.read_bytes(), ""
    for at in range(40, len(data) // 2, 30):
        path.write_bytes(data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :])
        try:
            with dh.max_memory(1):
                dh.evaluate({"q": {"d1": 1}}, path, ["RR"])
        except DataError as error:  # and nothing else
            told += str(error)
    assert "x.parquet: rows cannot be read as ids and numbers" in told
    binary = pl.DataFrame({"query_id": ["q"], "doc_id": [b"\xff"], "score": 1.0})
    with dh.max_memory(1), pytest.raises(DataError, match="rows cannot be read as ids and numbers"):
        dh.evaluate({"q": {"d1": 1}}, binary.lazy(), ["RR"])


@pytest.mark.slow
@given(
    st.lists(st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=6), max_size=6),
    st.integers(1, 4),
)
def test_batches_have_complete_queries_in_their_order(batches: list[list[str | None]], first_look: int) -> None:
    """The last query of each is completed by the next; a file without order or ids is refused by what follows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "FIRST_LOOK", first_look)
        frames = [pl.DataFrame({"query_id": own}, schema={"query_id": pl.String}) for own in batches]
        found = [part["query_id"].to_list() for part in passes._complete_queries(frames)]
    rows = [query for own in batches for query in own]
    assert [query for own in found for query in own] == rows
    assert all(found)
    assert all(one[-1] != other[0] for one, other in pairwise(found)), "a query is in two parts"
    assert len(found) <= len(batches) + 1
