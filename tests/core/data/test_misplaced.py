"""Objects that another function takes, or in the other place: the message names what takes them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import deadheat as dh
from deadheat.core.io.result_parts import describe_object
from deadheat.errors import ColumnError, DeadheatWarning, ParameterError, SourceTypeError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUN = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"a": 0.3, "b": 0.1}}
SCORES = np.array([[0.1, 0.2], [0.3, 0.4]])
HELD = sparse.csr_matrix(np.eye(2))
any_of: Any = dh  # whose arguments are wrong on purpose


@pytest.fixture(scope="module")
def ev() -> dh.Evaluation:
    return dh.evaluate(QRELS, RUN, "RR")


@pytest.mark.plugins("compare")
@pytest.mark.parametrize(
    "call",
    [
        lambda ev: any_of.compare(ev, ev),
        lambda ev: any_of.compare(None, {"a": ev, "b": ev}),
        lambda ev: any_of.compare(QRELS, {"a": ev, "b": ev}),
        lambda ev: any_of.evaluate(ev, RUN),
    ],
)
def test_evaluations_are_compared_by_another_function(
    call: Callable[[dh.Evaluation], object], ev: dh.Evaluation
) -> None:
    with raises_parts(SourceTypeError, r"; dh\.compare_evaluations\(", found="an evaluation"):
        call(ev)


@pytest.mark.parametrize("qrels", [HELD, SCORES, sparse.coo_array(np.eye(2))])
def test_matrices_are_evaluated_by_another_function(qrels: object) -> None:
    with raises_parts(SourceTypeError, r"; dh\.evaluate_dense\(", found="a matrix of shape (2, 2)", allowed="qrels"):
        dh.evaluate(qrels, SCORES)
    with raises_parts(SourceTypeError, found="a matrix of shape (2, 2)", allowed="run"):
        dh.evaluate(QRELS, qrels)


@pytest.mark.plugins("dense")
@pytest.mark.parametrize("given", [(HELD, SCORES), ([[0, 1], [1]], SCORES), ([[0], [1]], SCORES)])
def test_scores_and_relevant_in_the_wrong_order(given: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(ParameterError, match=r"wrong order\? It is evaluate_"):
        dh.evaluate_dense(*given)


@pytest.mark.plugins("dense")
def test_arrays_that_look_swapped() -> None:
    with pytest.warns(DeadheatWarning, match="relevant has fractions"):
        dh.evaluate_dense(np.eye(2), SCORES)
    with warnings.catch_warnings(action="error"):
        dh.evaluate_dense(SCORES, np.eye(2))
        dh.evaluate_dense(np.eye(2), np.eye(2))


@pytest.mark.plugins("gates")
def test_a_gate_takes_an_evaluation(ev: dh.Evaluation) -> None:
    hint = r"write dh\.gate\(dh\.evaluate\(qrels, run, \['RR'\]\), \['RR >= 0.8'\]\)"
    for first, second in ((QRELS, RUN), (ev, RUN), (ev, dh.read_run(RUN)), (QRELS, "RR > 0.1")):
        with pytest.raises(ParameterError, match=hint):
            any_of.gate(first, second)


class Document:
    """As a document of LangChain is."""

    id = None

    def __init__(self, doc_id: str) -> None:
        self.page_content, self.metadata = "x" * 100, {"id": doc_id}

    def __repr__(self) -> str:
        return f"Document(metadata={self.metadata}, page_content={self.page_content!r})"


def test_a_function_of_a_pair_that_looks_for_a_document() -> None:
    results = {"q1": [(Document("a"), 0.5), (Document("b"), 0.4)]}
    problem = "id= cannot find the id of result 1 for query 'q1': 'tuple' object has no attribute 'metadata'"
    hint = "the function is given the pair: its first part is the document"
    with raises_parts(SourceTypeError, problem=problem, hint=hint):
        dh.Run.of_results(results, id=lambda d: d.metadata["id"])
    expected = {"q1": {"a": 0.5, "b": 0.4}}
    assert dh.Run.of_results(results, id=lambda one: one[0].metadata["id"]).to_dict() == expected
    assert dh.Run.of_results(results, id="metadata.id").to_dict() == expected
    with raises_parts(SourceTypeError, "result 1 .*'q': 'nothing'", found="dict {'x': 1}"):
        dh.Run.of_results({"q": [{"x": 1}]}, id=lambda one: one["nothing"])
    with raises_parts(SourceTypeError, hint=hint):
        dh.Run.of_results({"q": [({"x": 1}, 0.5)]}, id=lambda one: one["x"])


@pytest.mark.plugins
def test_how_an_object_is_shown() -> None:
    whole = repr(Document("a"))
    assert describe_object(Document("a")) == f"{whole[:60]}..."
    with raises_parts(SourceTypeError, "; write dh", found=f"{whole[:60]}..."):
        dh.evaluate(QRELS, {"q1": [(Document("a"), 0.5)]})


def test_swapped_dicts_of_cosines_get_no_advice_on_levels() -> None:
    qrels = {f"q{n}": {"d0": 1} for n in range(20)}
    run = {f"q{n}": {f"d{m}": 0.99 - 0.01 * m for m in range(10)} for n in range(20)}
    with warnings.catch_warnings(record=True, action="always") as caught:
        dh.evaluate(run, qrels)
    assert [one.category for one in caught] == [DeadheatWarning]


def test_swapped_frames_are_asked_about() -> None:
    qrels = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [1]})
    for score in ("score", "similarity", "prediction"):
        run = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], score: [0.5]})
        with pytest.raises(ColumnError, match=r"in the wrong order\?"):
            dh.evaluate(run, qrels)


LISTS = [[[1, 2, 3], [4, 5, 6]], [[1, 2], [4, 5, 6]], [["a", "b"], ["c"]], [["a", "b", "c"]], [[1, 2, 3], []]]


@pytest.mark.plugins("compare")
@pytest.mark.parametrize("lists", LISTS)
def test_lists_of_ids_are_no_rows(lists: list[list[Any]]) -> None:
    """Three whole numbers were a query, a document and its relevance."""
    hint = r"if each list has the documents of one query, write dict\(enumerate\(lists\)\)"
    for given in (lists, tuple(lists), iter(lists)):
        with pytest.raises(SourceTypeError, match=hint):
            dh.Qrels(given)
    calls: list[Any] = [dh.evaluate, dh.place, lambda qrels, run: dh.compare(qrels, {"a": run, "b": run})]
    for call in calls:
        with pytest.raises(SourceTypeError, match=hint):
            call({0: [1], 1: [4]}, lists)
    with pytest.raises(SourceTypeError, match="for row in rows"):
        dh.Run(LISTS[0])


def test_both_readings_of_lists_of_three_numbers() -> None:
    relevant, retrieved = [[1, 2, 3], [4, 5, 6]], [[1, 2, 9], [4, 8, 6]]
    found = dh.evaluate(dict(enumerate(relevant)), dict(enumerate(retrieved)), "R@3")
    assert found.means() == {"R@3": pytest.approx(2 / 3)}
    rows = dh.evaluate([tuple(row) for row in relevant], [tuple(row) for row in retrieved], "R@3")
    assert rows.to_dict() == {"1": {"R@3": 1.0}, "4": {"R@3": 0.0}}


def test_rows_as_json_holds_them_are_rows() -> None:
    """JSON has no tuples: a text beside a number, or a fraction, shows that they are rows."""
    assert dh.Qrels([["q", "a", 1], ["q", "b", 0]]).to_dict() == {"q": {"a": 1.0, "b": 0.0}}
    assert dh.Qrels([[7, "a", 1]]).to_dict() == {"7": {"a": 1.0}}
    assert dh.Run([[7, 1, 0.5], [7, 2, 1]]).to_dict() == {"7": {"1": 0.5, "2": 1.0}}


def test_a_matrix_of_ids_is_no_matrix_of_scores() -> None:
    ids = np.array([[1, 2, 9], [4, 8, 6]])
    with raises_parts(SourceTypeError, r"dict\(enumerate\(ids\)\)$", found="a matrix of shape (2, 3)", allowed="run"):
        dh.Run(ids)
    assert dh.evaluate({0: [2], 1: [4]}, dict(enumerate(ids)), "RR").means() == {"RR": (1 / 2 + 1) / 2}
