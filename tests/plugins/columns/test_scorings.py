"""Many scorings of one collection: each column has the numbers of an evaluation of its own, and of brute force."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat import AP, Custom, nDCG
from deadheat.core.settings import Conventions
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    NothingJudgedWarning,
    ParameterError,
    SourceTypeError,
)
from deadheat.plugins.columns.scorings import evaluate_scorings, open_scorings
from oracle.orders import moments, pick_order, rank
from oracle.random_cases import BATCHES, Case
from oracle.variants import Variant

if TYPE_CHECKING:
    from pathlib import Path

    from deadheat.api import FloatArray

NAMES = ["nDCG@3", "AP", "RR(rel=2)", "ERR", "R@4", "MR", "bpref"]
TABLE = pl.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["a", "b", "a"],
        "relevance": [1, 0, 2],
        "bm25": [0.5, 0.5, 1.0],
        "length": [3, 4, 2],
        "language": ["en", "de", "en"],
    }
)


def random_table(seed: int, *, is_grouped: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return qrels and a table: queries of many sizes, some in one of both only, documents without judgments."""
    rng = np.random.default_rng(seed)
    rows, judged = [], []
    for query in range(12):
        for doc in range(int(rng.choice([1, 2, 3, 7, 8, 30]))):
            in_run, is_judged = query != 3, rng.random() < 0.6 and query != 5
            if in_run:
                levels = [rng.normal(), rng.integers(0, 3), 1.0, rng.choice([-np.inf, 0.0, -0.0, np.inf])]
                rows.append((f"q{query}", f"d{doc}", *map(float, levels)))
            if is_judged or query == 3:
                judged.append((f"q{query}", f"d{doc}", float(rng.integers(-1, 4))))
    table = pl.DataFrame(rows, ["query_id", "doc_id", "fine", "coarse", "same", "far"], orient="row")
    qrels = pl.DataFrame(judged, ["query_id", "doc_id", "relevance"], orient="row")
    return qrels.sample(fraction=1, shuffle=True, seed=seed), table if is_grouped else table.sample(
        fraction=1, shuffle=True, seed=seed
    )


@pytest.mark.slow
@pytest.mark.parametrize("is_grouped", [True, False], ids=["grouped", "mixed"])
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "doc_id", "input", "random"])
def test_each_column_is_evaluated_as_a_run_of_its_own(ties: str, *, is_grouped: bool) -> None:
    for seed in range(3):
        qrels, table = random_table(seed, is_grouped=is_grouped)
        rng = 3 if ties == "random" else None
        found = dh.evaluate_columns(qrels, table, NAMES, ties=ties, rng=rng)
        assert list(found) == ["fine", "coarse", "same", "far"]
        for name, own in found.items():
            run = table.select("query_id", "doc_id", score=name)
            expected = dh.evaluate(qrels, run, NAMES, ties=ties, rng=rng)
            assert own.name == name
            assert own.query_ids.tolist() == expected.query_ids.tolist()
            assert own.missing_queries == expected.missing_queries == ("q3",)
            assert own.unjudged_queries == expected.unjudged_queries
            for measure in NAMES:
                one, other = own[measure], expected[measure]
                np.testing.assert_array_equal(one.values, other.values, err_msg=f"{name} {measure}")
                for spread in ("tie_std", "tie_min", "tie_max"):
                    np.testing.assert_allclose(getattr(one, spread), getattr(other, spread), rtol=0, atol=1e-12)
            if expected.placements.ends_in_tie is not None:  # it is not known of rows that are mixed
                np.testing.assert_array_equal(own.placements.ends_in_tie, expected.placements.ends_in_tie)
            assert own.placements.to_polars().equals(expected.placements.to_polars())


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["expected", "best", "worst", "doc_id"])
def test_columns_equal_brute_force(policy: str) -> None:
    """Two scorings of the random cases, against the definitions on explicit orders."""
    batch = BATCHES["graded"]
    rows = [(query, doc, score, -score) for query, documents in batch.run.items() for doc, score in documents.items()]
    table = pl.DataFrame(rows, ["query_id", "doc_id", "up", "down"], orient="row")
    variants = [Variant("AP", {}, (None,)), Variant("nDCG", {"gain": "exp"}, (3,)), Variant("RR", {"rel": 2}, (None,))]
    names = {variant.notation(variant.cutoffs[0]): variant for variant in variants}
    found = dh.evaluate_columns(batch.qrels, table, names, ties=policy, missing="empty")
    for column, sign in (("up", 1), ("down", -1)):
        cases = [
            Case(case.judged, {doc: sign * score for doc, score in case.scores.items()})
            for case in batch.cases.values()
        ]
        for name, variant in names.items():
            own = found[column][name]
            for place, case in enumerate(cases):
                measure = variant.reference(variant.cutoffs[0], case.judged, batch.scale)
                over_orders = moments(measure, case.rankings)
                expected = over_orders.mean
                if policy != "expected":
                    expected = measure(rank(pick_order(policy, case.scores, case.judged), case.judged))
                values = own.values[place], own.tie_std[place] ** 2, own.tie_min[place], own.tie_max[place]
                wanted = expected, over_orders.variance, over_orders.minimum, over_orders.maximum
                np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-12, err_msg=f"{column} {name}")


def test_ascending_and_precision_are_those_of_a_run() -> None:
    qrels, table = random_table(1, is_grouped=True)
    found = dh.evaluate_columns(qrels, table, "nDCG@3", ["fine", "coarse"], ascending=True, score_precision=0)
    for name, own in found.items():
        run = dh.Run(table.select("query_id", "doc_id", score=name), ascending=True)
        expected = dh.evaluate(qrels, run, "nDCG@3", score_precision=0)
        np.testing.assert_array_equal(own["nDCG@3"].values, expected["nDCG@3"].values)
        assert own.notes == expected.notes


@pytest.mark.slow
@pytest.mark.parametrize("is_grouped", [True, False], ids=["grouped", "mixed"])
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "doc_id", "input"])
def test_the_reverse_of_each_column_is_that_of_a_run(ties: str, *, is_grouped: bool) -> None:
    for seed in range(3):
        qrels, table = random_table(seed, is_grouped=is_grouped)
        judged, scorings = open_scorings(qrels, table, None)
        columns = [*evaluate_scorings(Conventions(ties), judged, scorings, [nDCG @ 3, AP()], both_ways=True)]
        assert [one.name for one in columns] == ["fine", "coarse", "same", "far"]
        for one in columns:
            run = dh.Run(table.select("query_id", "doc_id", score=one.name), ascending=True)
            assert one.reversed == dh.evaluate(qrels, run, nDCG @ 3, ties=ties, missing="empty")["nDCG@3"].mean


@pytest.mark.slow
def test_a_function_of_a_user_is_called_by_one_thread() -> None:
    threads: set[int] = set()

    def first(relevance: FloatArray) -> float:
        threads.add(threading.get_ident())
        return float(relevance.max(initial=0))

    qrels, table = random_table(0, is_grouped=True)
    dh.evaluate_columns(qrels, table, [Custom("first", first)], missing="empty")
    assert len(threads) == 1


def test_one_table_holds_judgments_and_scores() -> None:
    found = dh.evaluate_columns(TABLE, measures="P@1")
    assert {name: one.means() for name, one in found.items()} == {"bm25": {"P@1": 0.75}, "length": {"P@1": 0.5}}
    assert found["bm25"].notes == ("columns that hold no numbers are left out: language",)
    assert list(dh.evaluate_columns(TABLE, measures="P@1", columns=["length"])) == ["length"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_every_format_gives_the_same_columns(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{ending}"
    if ending == "parquet":
        TABLE.write_parquet(path)
    elif ending == "jsonl":
        TABLE.write_ndjson(path)
    else:
        TABLE.write_csv(path, separator="," if ending == "csv" else "\t")
    expected = dh.evaluate_columns(TABLE, measures="nDCG")
    found = dh.evaluate_columns(path, measures="nDCG")
    assert {name: one.means() for name, one in found.items()} == {name: one.means() for name, one in expected.items()}
    assert dh.evaluate_columns(path, path, "nDCG", ["bm25"])["bm25"].means() == expected["bm25"].means()


def test_tables_of_other_libraries() -> None:
    expected = dh.evaluate_columns(TABLE, measures="RR")["length"].means()
    for table in (TABLE.lazy(), TABLE.to_pandas(), TABLE.to_arrow()):
        assert dh.evaluate_columns(TABLE, table, "RR")["length"].means() == expected


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"columns": ["bm52"]}, ColumnError, "no column 'bm52' in the table.*Did you mean 'bm25'"),
        ({"columns": ["language"]}, ColumnError, "column 'language' holds String, expected numbers"),
        ({"columns": []}, ParameterError, "names of columns"),
        ({"table": TABLE.vstack(TABLE)}, DuplicateError, "the table: document '.' is retrieved 2 times for query 'q.'"),
        ({"table": TABLE.with_columns(bm25=pl.Series([1.0, None, 2]))}, DataError, "column 'bm25' of document 'b'"),
        ({"table": TABLE.with_columns(bm25=pl.Series([1.0, float("nan"), 2]))}, DataError, "is missing"),
        ({"table": TABLE.with_columns(length=pl.Series([2**60 + 1, 1, 2]))}, DataError, "beyond 2"),
        ({"table": TABLE[:2].with_columns(query_id=pl.lit("x"))}, DataError, "share no query"),
        ({"table": {"q1": {"a": 1}}}, SourceTypeError, "one score a column"),
        ({"table": dh.Run({"q1": {"a": 1}})}, SourceTypeError, "one score a column"),
        ({"table": TABLE.drop("bm25", "length")}, ColumnError, "no column of numbers beside ids"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dh.evaluate_columns(TABLE, change.get("table", TABLE), "RR", change.get("columns"))


def test_a_column_without_a_number_is_no_score() -> None:
    found = dh.evaluate_columns(TABLE, TABLE.with_columns(bm25=None), "RR")
    assert list(found) == ["length"]
    assert found["length"].notes == ("columns that hold no numbers are left out: bm25, language",)


def test_missing_queries_are_told_once() -> None:
    qrels = {query: {"a": 1} for query in ("q1", "q2", "q3", "q4", "q5")}
    table = TABLE.filter(pl.col("query_id") == "q1")
    with pytest.warns(DeadheatWarning) as caught:
        dh.evaluate_columns(qrels, table, "RR")
    assert len(caught) == 1
    with pytest.raises(DataError):
        dh.evaluate_columns(qrels, table, "RR", missing="error")
    assert dh.evaluate_columns(qrels, table, "RR", missing="skip")["bm25"].query_ids.tolist() == ["q1"]
    with pytest.warns(NothingJudgedWarning):
        dh.evaluate_columns({"q1": {"z": 1}}, table, "RR")
