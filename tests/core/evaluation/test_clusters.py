"""Clusters of queries: every way to give them, what is no label, and what is refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.evaluation.query_columns import cluster_codes
from deadheat.errors import DataError, ParameterError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from deadheat.core.evaluation.intervals import Cluster

IDS = np.array(["q1", "q2", "q3", "q4"], dtype=object)
LABELS = ["b", "a", "b", "c"]
TABLE = pl.DataFrame({"query_id": IDS.tolist(), "document": LABELS})


def interval(cluster: Cluster, **options: Any) -> dh.Interval:  # noqa: ANN401 - passed on
    qrels = {query: {"a": 1} for query in IDS.tolist()}
    run = {query: {"a": float(n), "b": 1.0} for n, query in enumerate(IDS.tolist())}
    return dh.evaluate(qrels, run, "RR")["RR"].interval("t", cluster=cluster, **options)


@pytest.mark.parametrize(
    "given",
    [
        LABELS,
        tuple(LABELS),
        np.array(LABELS),
        np.array([7, 3, 7, 9]),
        pl.Series(LABELS),
        pd.Series(LABELS),
        pd.Series([2, 1, 2, 3]),
        pd.Categorical(LABELS),
        dict(zip(IDS.tolist(), LABELS, strict=True)),
        {"q1": " b", "q2": "a", "q3": "b ", "q4": "c", "q5": None},
        (label for label in LABELS),
    ],
    ids=lambda given: type(given).__name__,
)
def test_clusters_may_come_in_many_ways(given: Any) -> None:  # noqa: ANN401 - whatever a user may give
    codes = cluster_codes(given, None, IDS)
    assert codes is not None
    assert codes.tolist() == [1, 0, 1, 2]


def test_keys_of_clusters_may_be_numbers() -> None:
    codes = cluster_codes(dict(enumerate(LABELS)), None, np.array(list("0123"), object))
    assert codes is not None
    assert codes.tolist() == [1, 0, 1, 2]


def test_a_column_of_clusters() -> None:
    assert interval("document", queries=TABLE) == interval(LABELS)
    assert interval(LABELS).n_clusters == 3
    assert interval(None).n_clusters is None


@pytest.mark.parametrize("nothing", [None, "", "  ", math.nan, np.float32("nan"), pd.NA, pd.NaT])
def test_what_is_no_label(nothing: object) -> None:
    message = "cluster must name the cluster of every query; 1 without one, such as 'q3'"
    labels = ["b", "a", nothing, "c"]
    for given in (labels, dict(zip(IDS.tolist(), labels, strict=True)), {"q1": "b", "q2": "a", "q4": "c"}):
        with pytest.raises(ParameterError, match=message):
            cluster_codes(given, None, IDS)
    if nothing is None or isinstance(nothing, str):
        with pytest.raises(DataError, match=message):  # of a table the same
            cluster_codes("document", TABLE.with_columns(document=pl.Series(labels, dtype=pl.String)), IDS)


@pytest.mark.parametrize(
    ("cluster", "queries", "parts"),
    [
        (5, None, {"argument": "cluster", "given": 5}),
        ([], None, {"argument": "cluster", "given": 0, "match": "4 queries"}),
        (np.array(["a", "b"]), None, {"argument": "cluster", "given": 2, "match": "4 queries"}),
        ("document", None, {"argument": "cluster", "given": "document", "match": "give queries="}),
        (None, TABLE, {"found": "none", "match": "cluster='document'"}),
        (LABELS, "nowhere.csv", {"found": "list", "match": "cluster='document'"}),
    ],
)
def test_clusters_that_are_refused(cluster: Any, queries: Any, parts: dict[str, Any]) -> None:  # noqa: ANN401 - whatever a user may give
    with raises_parts(ParameterError, **parts):
        interval(cluster, queries=queries)


def test_only_clusters_with_a_value_count() -> None:
    qrels = {query: {"a": 1} for query in IDS.tolist()}
    run = {"q1": {"b": 1.0, "a": 0.5}, "q3": {"a": 1.0}, "q4": {"a": 1.0}}  # MR has no value for q2, which it lacks
    found = dh.evaluate(qrels, run, ["MR", "RR"], missing="empty").intervals(cluster=LABELS, method="t")
    assert (found["MR"].n_queries, found["MR"].n_clusters) == (3, 2)
    assert (found["RR"].n_queries, found["RR"].n_clusters) == (4, 3)
