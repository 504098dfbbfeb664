"""What the workers of Spark do, tried without Spark: parts in this process give the numbers of dicts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.placements.passes import make_results
from deadheat.core.placements.place import choose_engine
from deadheat.core.placements.policies import break_by_rule
from deadheat.errors import DataError, DeadheatWarning, DuplicateError, MissingDependencyError
from deadheat.plugins.engines.by_query import ByQuery, by_query
from oracle.random_cases import BATCHES
from support.cut_in_parts import Parts, cut
from support.equal_numbers import BATCH, MEASURES, NAMES, rows_of

if TYPE_CHECKING:
    from deadheat.core.data.rows import Blocks
    from support.equal_numbers import Rows


def frame(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema=dict(zip(NAMES["run"], (pl.String, pl.String, pl.Float64), strict=True)), orient="row"
    )


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_parts_give_the_placements_of_dicts(batch: Any) -> None:  # noqa: ANN401 - a class of the oracle's
    run = cut(frame(rows_of(batch.run)))
    engines = [choose_engine(dh.Qrels(batch.qrels), one) for one in (dh.Run(batch.run), run)]
    assert type(engines[1]) is ByQuery
    expected, found = (engine.place() for engine in engines)
    assert found.to_polars().equals(expected.to_polars())
    for name in ("query_ids", "n_retrieved", "query", "relevance", "above", "tied", "ends_in_tie", "unjudged_queries"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    ranked = [break_by_rule(one, engine, "doc_id") for one, engine in zip((expected, found), engines, strict=True)]
    assert ranked[1].to_polars().equals(ranked[0].to_polars())


@pytest.mark.parametrize("ties", ["expected", "doc_id", "best", "random"])
def test_parts_give_the_values_of_dicts_bit_by_bit(ties: str) -> None:
    rng = 1 if ties == "random" else None
    found, expected = (
        dh.evaluate(BATCH.qrels, run, MEASURES, ties=ties, rng=rng)
        for run in (cut(frame(rows_of(BATCH.run))), BATCH.run)
    )
    assert found.to_polars().equals(expected.to_polars())


def test_a_profile_of_parts() -> None:
    run = cut(frame(rows_of(BATCH.run)))
    found, expected = dh.tie_profile(run, BATCH.qrels), dh.tie_profile(BATCH.run, BATCH.qrels)
    assert found.to_polars().equals(expected.to_polars())
    assert found.per_query().equals(expected.per_query())
    for name in ("n_queries", "n_documents", "n_ties", "n_tied", "tie_size", "distinct_scores", "cuts", "n_levels"):
        assert getattr(found, name) == getattr(expected, name), name
    assert (found.levels, found.decimals, found.grid) == (expected.levels, expected.decimals, expected.grid)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", 0])
def test_workers_round(precision: str | int) -> None:
    found, expected = (
        dh.evaluate(BATCH.qrels, run, MEASURES, score_precision=precision)
        for run in (cut(frame(rows_of(BATCH.run))), BATCH.run)
    )
    assert found.to_polars().equals(expected.to_polars())


def test_rounding_that_makes_scores_infinite() -> None:
    run = cut(frame([("q1", "d", 1e39), ("q2", "d", -2e39), ("q3", "d", math.inf), ("q3", "e", 1.0)]))
    with pytest.warns(DeadheatWarning, match=r"float32 cannot hold the score 1e\+39"):
        dh.place({"q1": {"d": 1}}, run, score_precision="float32")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        (
            [("q9", "e", math.nan), ("q1", "f", math.nan)],
            DataError,
            "'f' for query 'q1' is NaN; .* 2 rows",
        ),
        ([("q1", "f", None)], DataError, r"'f' for query 'q1' is missing \(null or NaN\)"),
        ([(None, "e", 1.0), ("q1", "", 1.0)], DataError, "2 of 4 rows lack a query_id or doc_id"),
        (
            [("q1", "d", 0.5), ("q2", "d", 0.5)],
            DuplicateError,
            "'d' is retrieved 2 times .* 1 more pair is",
        ),
    ],
    ids=["nan", "null", "no id", "twice"],
)
def test_wrong_rows_of_all_parts_make_one_error(wrong: Any, error: type[DataError], message: str) -> None:  # noqa: ANN401 - None too
    run = cut(frame([("q1", "d", 2.0), ("q2", "d", 1.0), *wrong]))
    with pytest.raises(error, match=message):
        dh.evaluate({"q1": {"d": 1}}, run, "RR")


def test_whole_numbers_beyond_and_ranks() -> None:
    rows = frame([("q1", "d", 2.0), ("q1", "e", 3.0)]).with_columns(pl.col("score").cast(pl.Int64))
    with pytest.raises(DataError, match=r"score 115292150460684697\d is"):
        dh.place({"q1": {"d": 1}}, cut(rows.with_columns(score=pl.col("score") + 2**60 - 3)))
    assert dh.place({"q1": {"d": 1}}, cut(rows)).above.tolist() == [1]
    ranks = rows.rename({"score": "rank"})
    assert dh.place({"q1": {"d": 1}}, cut(ranks, value="rank")).above.tolist() == [0]
    with pytest.raises(DataError, match=r"rank .*'d' .*'q1' is -1"):
        dh.place({"q1": {"d": 1}}, cut(ranks.with_columns(rank=pl.col("rank") - 3), value="rank"))


def test_no_rows() -> None:
    with pytest.raises(DataError, match="it has no rows"):
        dh.place({"q1": {"d": 1}}, cut(frame([])))


def test_a_query_in_two_parts_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which would give wrong numbers in silence, were the rows of a query not together."""
    monkeypatch.setattr(Parts, "repartition", lambda self, _: self)
    with pytest.raises(DataError, match="'q1' to several workers"):
        dh.place({"q1": {"a": 1}}, cut(frame([("q1", doc, 1.0) for doc in "abc"])))


def test_workers_without_deadheat_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("PythonException: ... ModuleNotFoundError: No module named 'deadheat'")

    monkeypatch.setattr(Parts, "mapInArrow", fail)
    with pytest.raises(MissingDependencyError, match="the Python of Spark's workers has no deadheat"):
        dh.place({"q1": {"a": 1}}, cut(frame([("q1", "a", 1.0)])))


def test_a_task_of_ones_own() -> None:
    def count(blocks: Blocks, judgments: pl.DataFrame) -> list[pl.DataFrame]:
        assert not len(judgments)
        return [make_results("size", query_id=blocks.query_ids, above=np.diff(blocks.bounds))]

    found = by_query(cut(frame([("q1", "a", 1.0), ("q2", "a", 1.0), ("q1", "b", 1.0)])), count)
    sizes = found.filter(pl.col("what") == "size").sort("query_id")
    assert sizes["above"].to_list() == [2, 1]
