"""What workers of Spark send, and the table that is made of it, without Spark: partitions are made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io.lazy import Reading
from deadheat.core.measures.notation import parse_measures
from deadheat.core.settings import Conventions
from deadheat.errors import UnlabelledQueriesWarning
from deadheat.plugins.engines.partition_sums import OF_QRELS, OF_QUERIES, OF_RUN, PartitionTask, name_label
from deadheat.plugins.engines.spark_sums import make_table, merge_sums
from oracle.random_cases import BATCHES
from support.equal_numbers import BATCH, MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

pytest.importorskip("pyarrow")
ALL_MEASURES = [*MEASURES, "Hit@2", "DCG@3", "NumRelRet", "P@1"]


def rows_of_part(part: int, nested: Mapping[str, Mapping[str, float]], value: str) -> list[dict[str, object]]:
    rows = []
    for query, docs in nested.items():
        for doc, number in docs.items():
            rows.append({"part": part, "query_id": query, "doc_id": doc, value: float(number)})
    return rows


def sum_up(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Mapping[str, float]],
    labels: Mapping[str, Sequence[str | None]],
    *,
    n_partitions: int,
    columns: Sequence[str] = ("group",),
    measures: Sequence[str] = ALL_MEASURES,
    **conventions: Any,  # noqa: ANN401 - as of evaluate
) -> pl.DataFrame:
    """Return the table for rows that are divided by query."""
    rows = rows_of_part(OF_RUN, run, "score") + rows_of_part(OF_QRELS, qrels, "relevance")
    names = [name_label(place) for place in range(len(columns))]
    for query, labels_of_query in labels.items():
        rows.append({"part": OF_QUERIES, "query_id": query, **dict(zip(names, labels_of_query, strict=True))})
    schema: dict[str, Any] = {"part": pl.Int8, "query_id": pl.String, "doc_id": pl.String}
    schema |= {"score": pl.Float64, "relevance": pl.Float64, **dict.fromkeys(names, pl.String)}
    frame = pl.DataFrame(rows, schema)
    parsed = tuple(parse_measures(measures))
    task = PartitionTask(
        reading_of_run=Reading("run", "score"),
        reading_of_qrels=Reading("qrels", "relevance"),
        run_name="run",
        qrels_name="qrels",
        duplicates="error",
        conventions=Conventions(**conventions),
        measures=parsed,
        max_relevance=max(number for docs in qrels.values() for number in docs.values()),
        n_columns=len(columns),
    )
    queries = frame["query_id"].unique().sort()
    partitions = np.random.default_rng(7).integers(0, n_partitions, len(queries))
    results: list[pl.DataFrame] = []
    for partition in range(n_partitions):
        of_partition = queries.filter(pl.Series(partitions == partition))
        for batch in task(frame.filter(pl.col("query_id").is_in(of_partition.implode())).to_arrow().to_batches()):
            results.append(pl.DataFrame(batch))
    return make_table(merge_sums(pl.concat(results)), parsed, columns, 0.9)


def assert_is_summary(found: pl.DataFrame, strata: dh.Strata) -> None:
    """Compare with the summary of an evaluation that has all values, row by row."""
    expected = strata.summary("skewed-t", confidence_level=0.9)
    automatic = strata.summary("auto", confidence_level=0.9)
    is_proportion = automatic["ci_method"] == "clopper-pearson"
    expected = pl.concat(
        [
            expected.with_row_index("row").filter(~is_proportion),
            automatic.with_row_index("row").filter(is_proportion),
        ]
    )
    expected = expected.sort("row").drop("row", "is_small")
    lacking = []
    for stratum in strata.values():
        lacking += [len(stratum.missing_queries)] * len(stratum.measures)
    assert found["n_missing"].to_list() == lacking
    for name, dtype in expected.schema.items():
        if dtype == pl.Float64:
            np.testing.assert_allclose(
                found[name].to_numpy(), expected[name].to_numpy(), rtol=1e-9, atol=1e-12, err_msg=name
            )
        else:
            assert found[name].to_list() == expected[name].to_list(), name


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"ties": "best"}, {"ties": "doc_id"}, {"no_relevant": "skip"}], ids=str)
@pytest.mark.parametrize("name", BATCHES)
def test_the_table_is_the_summary_of_strata(name: str, options: dict[str, Any]) -> None:
    batch = BATCHES[name]
    label_of_query = {query: f"g{place % 3}" for place, query in enumerate(batch.qrels)}
    labels = {query: [label] for query, label in label_of_query.items()}
    found = sum_up(batch.qrels, batch.run, labels, n_partitions=5, **options)
    evaluation = dh.evaluate(batch.qrels, batch.run, ALL_MEASURES, missing="empty", **options)
    assert_is_summary(found, evaluation.by("group", label_of_query))


@pytest.mark.slow
@pytest.mark.parametrize("n_partitions", [1, 40])
def test_labels_of_two_columns_and_several_values(n_partitions: int) -> None:
    """One column has levels, which are not sorted by letter, and queries in two strata; the other lacks a value."""
    cells = [("easy", "m2"), ("hard|easy", None), ("medium", "m2"), ("hard", "10"), ("easy", "9")]
    labels = {query: cells[place % len(cells)] for place, query in enumerate(BATCH.qrels)}
    columns = ("m2", "mean of all")
    found = sum_up(BATCH.qrels, BATCH.run, labels, n_partitions=n_partitions, columns=columns)
    table = {query: dict(zip(columns, cell, strict=True)) for query, cell in labels.items()}
    with pytest.warns(UnlabelledQueriesWarning):
        strata = dh.evaluate(BATCH.qrels, BATCH.run, ALL_MEASURES, missing="empty").by(columns, table)
    assert_is_summary(found, strata)


@pytest.mark.parametrize("n_queries", [20, 25, 29])
def test_equal_values_do_not_vary(n_queries: int) -> None:
    """Means of partitions differ in the last bit; an interval of width 1e-17 would say that the ends are known."""
    qrels = {f"q{place}": {"d": 1} for place in range(n_queries)}
    run = {query: {**{f"n{rank}": -float(rank) for rank in range(6)}, "d": -9.0} for query in qrels}
    labels = {query: ["all"] for query in qrels}
    found = sum_up(qrels, run, labels, n_partitions=3, measures=["RR", "nDCG", "RBP"])
    assert found["standard_error"].to_list() == [0, 0, 0]
    assert found["unknown"].to_list() == [f"all {n_queries} values are equal"] * 3
    assert found["known"].to_list() == [False, False, False]


def test_skipped_queries_leave_their_stratum_empty() -> None:
    qrels = {"q1": {"d": 1}, "q2": {"d": 1}}
    found = sum_up(
        qrels, {"q1": {"d": 1.0}}, {"q1": ["a"], "q2": ["b"]}, n_partitions=2, missing="skip", measures=["RR"]
    )
    assert found.select("group", "n_queries", "n_missing", "mean").rows() == [("a", 1, 0, 1.0), ("b", 0, 1, None)]
