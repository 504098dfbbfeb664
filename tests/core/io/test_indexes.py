"""Ids in the index of pandas: levels with the names of columns are read, others are an error that says what to do."""

from __future__ import annotations

import pandas as pd
import pytest

import deadheat as dh
from deadheat.errors import ColumnError, DuplicateError, ParameterError
from support.error_parts import raises_parts

RUN = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["b", "a"], "score": [2.0, 1.0]})
QRELS = {"q": ["a"]}


def rr_of(run: object) -> float:
    return dh.evaluate(QRELS, run, "RR").means()["RR"]


@pytest.mark.parametrize(
    "run",
    [
        RUN.set_index("query_id"),
        RUN.set_index("doc_id"),
        RUN.set_index(["query_id", "doc_id"]),
        RUN.set_index(["doc_id", "query_id"]),
        RUN.set_index(["query_id", "doc_id"])["score"],
        RUN.set_index(["query_id", "doc_id"])["score"].rename("similarity of cosines"),
        RUN.set_index(["query_id", "doc_id"])["score"].rename(None),
        RUN.groupby(["query_id", "doc_id"])["score"].max(),
        RUN.rename(columns={"query_id": "qid", "doc_id": "docno"}).set_index("qid"),
        RUN.set_index(pd.Index([7, 3], name="row")),
        RUN.set_index(pd.Index([7, 3], name="docid")),  # beside a column of ids it is not looked at
        RUN.assign(rank=[1, 2]).drop(columns="score").set_index(["query_id", "doc_id"])["rank"],
    ],
)
def test_levels_with_names_of_columns_are_columns(run: object) -> None:
    assert rr_of(run) == 0.5


def test_judgments_may_have_them() -> None:
    frame = pd.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [1, 0]})
    for qrels in (frame.set_index(["query_id", "doc_id"]), frame.set_index(["query_id", "doc_id"])["relevance"]):
        assert dh.evaluate(qrels, RUN, ["RR", "NumRel"]).means() == {"RR": 0.5, "NumRel": 1.0}


def test_a_level_may_be_named_by_the_caller() -> None:
    frame = RUN.rename(columns={"query_id": "x"}).set_index("x")
    assert dh.Run(frame, columns={"query_id": "x"}).to_dict() == {"q": {"b": 2.0, "a": 1.0}}


def test_levels_without_names_are_an_error_whose_advice_works() -> None:
    frame = RUN.set_index(["query_id", "doc_id"]).rename_axis([None, None])
    with raises_parts(ColumnError) as caught:
        rr_of(frame)
    assert "rename_axis(['query_id', 'doc_id'])" in (caught.value.hint or "")
    assert rr_of(frame.rename_axis(["query_id", "doc_id"])) == 0.5


def test_a_column_of_each_query_has_its_documents_in_the_index() -> None:
    run = {"q": pd.Series([2.0, 1.0], index=["b", "a"]), "r": pd.Series([1.0], index=["a"])}
    found = dh.Run(run)
    assert found.to_dict() == {"q": {"b": 2.0, "a": 1.0}, "r": {"a": 1.0}}
    assert rr_of({"q": pd.Series(["b", "a"])}) == 0.5  # a ranked list
    with raises_parts(DuplicateError) as caught:
        dh.Run({"q": pd.Series([2.0, 1.0], index=["b", "b"])})
    assert "groupby(level=0).max()" in (caught.value.hint or "")


def test_arrays_whose_indexes_contradict_are_refused() -> None:
    """By places the relevant document is second, by labels of the index it is first."""
    labels = pd.Series([1, 0], index=[10, 11])
    scores = pd.Series([1.0, 2.0], index=[11, 10])
    with raises_parts(ParameterError, argument="scores"):
        dh.from_arrays(labels, scores, group_sizes=[2])
    by_places = dh.from_arrays(labels.to_numpy(), scores.to_numpy(), group_sizes=[2])
    assert dh.evaluate(*by_places, "RR").means() == {"RR": 0.5}
    by_labels = dh.from_arrays(labels, scores.loc[labels.index], group_sizes=[2])
    assert dh.evaluate(*by_labels, "RR").means() == {"RR": 1.0}
    groups = pd.Series(["q", "q"], index=[1, 0])
    with raises_parts(ParameterError, argument="groups"):
        dh.from_arrays(labels, scores.to_numpy(), groups=groups)
