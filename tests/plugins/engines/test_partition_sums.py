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
from deadheat.plugins.engines.partition_sums import JUDGED, LABELLED, RETRIEVED, PartitionTask
from deadheat.plugins.engines.spark_sums import make_table, merge_sums
from oracle.random_cases import BATCHES
from support.equal_numbers import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

pytest.importorskip("pyarrow")
ALL_MEASURES = [*MEASURES, "Hit@2", "DCG@3", "NumRelRet", "P@1"]


def rows_of_part(part: str, nested: Mapping[str, Mapping[str, float]], value: str) -> list[dict[str, object]]:
    rows = []
    for query, docs in nested.items():
        for doc, number in docs.items():
            rows.append({"part": part, "query_id": query, "doc_id": doc, value: float(number)})
    return rows


def sum_up(
    qrels: Mapping[str, Mapping[str, float]],
    run: Mapping[str, Mapping[str, float]],
    labels: Mapping[str, str],
    *,
    n_partitions: int,
    columns: Sequence[str] = ("group",),
    **conventions: Any,  # noqa: ANN401 - as of evaluate
) -> pl.DataFrame:
    """Return the table for rows that are divided by query."""
    rows = rows_of_part(RETRIEVED, run, "score") + rows_of_part(JUDGED, qrels, "relevance")
    for query, label in labels.items():
        rows.append({"part": LABELLED, "query_id": query, "labels": label})
    schema: dict[str, Any] = {"part": pl.String, "query_id": pl.String, "doc_id": pl.String}
    schema |= {"score": pl.Float64, "relevance": pl.Float64, "labels": pl.String}
    frame = pl.DataFrame(rows, schema)
    measures = tuple(parse_measures(ALL_MEASURES))
    task = PartitionTask(
        reading_of_run=Reading("run", "score"),
        reading_of_qrels=Reading("qrels", "relevance"),
        run_name="run",
        qrels_name="qrels",
        duplicates="error",
        conventions=Conventions(**conventions),
        measures=measures,
        max_relevance=max(number for docs in qrels.values() for number in docs.values()),
        columns=tuple(columns),
    )
    queries = frame["query_id"].unique().sort()
    partitions = np.random.default_rng(7).integers(0, n_partitions, len(queries))
    said: list[pl.DataFrame] = []
    for partition in range(n_partitions):
        of_partition = frame.filter(
            pl.col("query_id").is_in(queries.filter(pl.Series(partitions == partition)).implode())
        )
        for batch in task(of_partition.to_arrow().to_batches()):
            said.append(pl.DataFrame(batch))
    return make_table(merge_sums(pl.concat(said)), measures, columns, 0.9)


def assert_is_summary(found: pl.DataFrame, strata: dh.Strata) -> None:
    """Compare with the summary of an evaluation that has all values."""
    expected = strata.summary("skewed-t", confidence_level=0.9)
    proportions = strata.summary("auto", confidence_level=0.9).filter(ci_method="clopper-pearson")
    key = [*strata.columns, "measure"]
    expected = expected.join(proportions.select(key), on=key, how="anti")
    expected = pl.concat([expected, proportions]).drop("is_small")
    in_order = found.select(key).join(expected, on=key, how="left", maintain_order="left")
    assert in_order.height == expected.height
    for name in in_order.columns:
        if in_order.schema[name] == pl.Float64:
            np.testing.assert_allclose(
                found[name].to_numpy(), in_order[name].to_numpy(), rtol=1e-9, atol=1e-12, err_msg=name
            )
        else:
            assert found[name].to_list() == in_order[name].to_list(), name


@pytest.mark.parametrize("options", [{}, {"ties": "best"}, {"ties": "doc_id"}, {"no_relevant": "skip"}], ids=str)
@pytest.mark.parametrize("name", BATCHES)
def test_the_table_is_the_summary_of_strata(name: str, options: dict[str, Any]) -> None:
    batch = BATCHES[name]
    label_of_query = {query: f"g{place % 3}" for place, query in enumerate(batch.qrels)}
    labels = {query: f'["{label}"]' for query, label in label_of_query.items()}
    found = sum_up(batch.qrels, batch.run, labels, n_partitions=5, **options)
    evaluation = dh.evaluate(batch.qrels, batch.run, ALL_MEASURES, missing="empty", **options)
    assert_is_summary(found, evaluation.by("group", label_of_query))
