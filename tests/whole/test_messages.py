"""What a user is told where the library is called wrongly: nothing raw, nothing silent."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.errors import ColumnError, DataError, DeadheatError, MeasureError, ParameterError, SourceTypeError

if TYPE_CHECKING:
    from collections.abc import Callable

WRONG: Any = dh  # what is called as its types forbid
QRELS = {"q1": {"d1": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.5}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: WRONG.nDCG(k=10), r"nDCG has no parameter 'k'; it takes .*\. Write the cutoff behind @: nDCG@10"),
        (lambda: WRONG.nDCG(10), r"name each parameter and write a cutoff behind @"),
        (lambda: WRONG.P(rl=2), r"P has no parameter 'rl'; it takes cutoff, rel, norm\. Did you mean 'rel'\?"),
        (lambda: dh.bpref @ 3, r"bpref takes no cutoff, got @3"),
        (lambda: dh.parse_measure("P@99999999999999999999"), r"cutoff must be a whole number from 1 on"),
        (lambda: dh.parse_measure("nDCG(gain='exp', gain='linear')"), r"gain appears twice"),
        (lambda: WRONG.parse_measure(math), r"expected a measure of deadheat"),
        (lambda: dh.Custom("RR", max), r"name must be a text without @ that is not another measure's name"),
        (lambda: WRONG.Custom("first", 3), r"function must be a function"),
    ],
)
def test_measures_called_wrongly(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        call()


def test_a_custom_function_that_fails_is_named_with_the_query() -> None:
    with pytest.raises(MeasureError, match=r"boom: the function raised ZeroDivisionError.* for query 'q1'"):
        dh.evaluate(QRELS, RUN, [dh.Custom("boom", lambda _: 1 / 0)])
    with pytest.raises(MeasureError, match=r"must return a finite number, .* got 'x'"):
        dh.evaluate(QRELS, RUN, [WRONG.Custom("boom", lambda _: "x")])


def test_two_measures_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match="two different measures are named 'a'"):
        dh.evaluate(QRELS, RUN, [dh.Custom("a", min), dh.Custom("a", max)])


def test_an_evaluation_knows_what_it_holds() -> None:
    evaluation = dh.evaluate(QRELS, RUN, ["RR", dh.Custom("first", lambda relevance: float(relevance[0]))])
    assert "RR" in evaluation
    assert dh.RR in evaluation
    assert "recip_rank" in evaluation
    assert "first" in evaluation
    assert "AP" not in evaluation
    assert "nonsense" not in evaluation
    assert (
        repr(evaluation) == "<Evaluation run, n_queries=1, unjudged@10=50%, ties='expected': RR=0.7500, first=0.5000>"
    )


def test_orders_beyond_printing() -> None:
    many = dh.tie_complexity([1] * 2000)
    assert repr(many) == "<TieComplexity sizes=(2000,), n_orders=about 10**5735, feasible=False>"
    with pytest.raises(ParameterError, match=r"about 10\*\*5735 orders are more than max_orders=10000"):
        dh.tie_orders([1] * 2000, [1] * 2000)
    assert repr(dh.tie_orders([1, 1], [0, 1])) == "<TieOrders RR: 2 orders, mean 0.7500>"


@pytest.mark.parametrize("scores", [[], "ab"])
def test_orders_need_scores(scores: list[float]) -> None:
    with pytest.raises(ParameterError, match="scores must be numbers"):
        dh.tie_orders(scores, [])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: WRONG.tie_profile(RUN, at=5), r"at must be a list of cutoffs.*got 5"),
        (lambda: WRONG.tie_profile(RUN, at="RR"), r"at must be a list of cutoffs.*got 'RR'"),
        (lambda: WRONG.figures.cutoffs(dh.evaluate(QRELS, RUN), at=5), r"at must be a list of cutoffs.*got 5"),
        (lambda: WRONG.gate(dh.evaluate(QRELS, RUN), 5), r"checks must be gates such as 'RR >= 0.8', got 5"),
        (lambda: WRONG.tie_complexity(0.5), r"scores must be numbers, at least one, got 0\.5"),
        (lambda: WRONG.tie_complexity([1, 1], doc_ids=5), r"doc_ids must be 2 different ids.*got 5"),
        (
            lambda: dh.tie_complexity({"a": 1}, doc_ids=["b"]),
            r"doc_ids must be None, as the keys of scores are the ids",
        ),
        (lambda: WRONG.tie_orders([0.9, 0.8], 5), r"relevance must be 2 values, one for each score, got 5"),
        (lambda: dh.compare(QRELS, {"a": RUN, "b": RUN}, baseline=[]), r"baseline must be a system, several or None"),
        (
            lambda: WRONG.evaluate(QRELS, RUN).rescored(QRELS, ids=["a"]),
            r"ids must be a dict of old id to new.*\['a'\]",
        ),
    ],
)
def test_a_value_that_is_none_of_several_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()


@pytest.mark.parametrize("source", [None, 5, [1]])
def test_judgments_that_are_no_table_are_refused(source: object) -> None:
    with pytest.raises(SourceTypeError, match=r"expected judgments: a path, a list of dicts or a dataframe, got"):
        WRONG.read_judgments(source)


@pytest.mark.parametrize("score", [None, math.nan, "1", {"d": 1}])
def test_orders_need_numbers(score: float) -> None:
    with pytest.raises(DataError, match="score of document 'doc2'"):
        dh.tie_orders([1, score], [0, 1])


def test_orders_take_unjudged_documents() -> None:
    """None is one, in a list and in a dict; a ranking without a judgment has nothing to be measured by."""
    scores = {"a": 1, "b": 1, "c": -0.0, "d": 0.0}
    expected = [1, 1, 1 / 2, 1 / 2]
    assert dh.tie_orders(scores, {"a": 1, "b": None}).values.tolist() == expected
    assert dh.tie_orders([1, 1, 0, 0], [1, None, None, 0]).values.tolist() == expected
    for nothing in ([None, None], {"doc1": None}, {}):
        with pytest.raises(ParameterError, match="relevance must judge at least one document, got"):
            dh.tie_orders([1, 1], nothing)
    with pytest.raises(DataError, match="relevance of document 'doc2'"):
        dh.tie_orders([1, 1], [1, "x"])  # type: ignore[list-item]


@pytest.mark.parametrize("given", ["x", None, 0, 1.5, True])
def test_numbers_of_orders_that_are_refused(given: int) -> None:
    for call in (lambda: dh.tie_complexity([1], max_orders=given), lambda: dh.tie_orders([1], [1], max_orders=given)):
        with pytest.raises(ParameterError, match=r"max_orders must be a whole number from 1 on, got"):
            call()


def test_a_seed_that_is_none_is_refused() -> None:
    with pytest.raises(ParameterError, match="rng must be a whole number"):
        dh.evaluate(QRELS, RUN, ties="random", rng="x")  # type: ignore[call-overload]


def test_float_ids_are_refused() -> None:
    frame = pl.DataFrame({"query_id": ["q1"], "doc_id": [880.0], "score": [1.0]})
    with pytest.raises(ColumnError, match=r"'doc_id' holds Float64, expected text"):
        dh.evaluate(QRELS, frame)


def test_ids_of_different_types_are_refused() -> None:
    frame = pd.DataFrame({"query_id": ["q1", 1], "doc_id": ["a", "b"], "score": [1.0, 2.0]})
    with pytest.raises(ColumnError, match=r"column 'query_id' holds values of several types, .*got str, int"):
        dh.evaluate(QRELS, frame)
    broken = pd.DataFrame({"query_id": ["q1"], "doc_id": pd.Series(["\ud800"], dtype=object), "score": [1.0]})
    with pytest.raises(ColumnError, match=r"column 'doc_id' holds .* text that UTF-8 cannot hold, .*got str"):
        dh.evaluate(QRELS, broken)


def test_pandas_without_pyarrow_is_read_through_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        message = "pyarrow is required"
        raise ImportError(message)

    monkeypatch.setattr(nw.DataFrame, "to_polars", refuse)
    frame = pd.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [0.5, 0.5], "rank": [0, 1]})
    assert dh.evaluate(QRELS, frame, ["RR"]).means() == {"RR": 0.75}


@pytest.mark.parametrize("source", ["dict", "frame"])
def test_document_ids_written_in_two_ways_are_noticed(source: str) -> None:
    run: object = {"q1": {"d1.0": 0.5, "d2.0": 0.5}}
    if source == "frame":
        run = dh.Run(run).to_polars()
    with pytest.warns(
        dh.DeadheatWarning, match=r"no retrieved document is judged.*has 'd1\.0', 'd2\.0'; qrels has 'd1'"
    ):
        assert dh.evaluate(QRELS, run, ["RR"]).means() == {"RR": 0.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dh.compare(QRELS, "bm25.run", "RR"), "runs must be a dict of name to run, or a list of runs, got"),
        (lambda: dh.compare(QRELS, cast("Any", 5), "RR"), "got 5"),
        (lambda: dh.evaluate(QRELS, QRELS, cast("Any", 42)), "measures must be a measure, its notation such as"),
        (lambda: dh.evaluate(QRELS, ["a.run", "b.run"]), "several runs are {name: run}"),
        (
            lambda: dh.evaluate(QRELS, io.StringIO("q Q0 d 1 1 x")),
            "rows cannot be read from an open file, got StringIO",
        ),
    ],
)
def test_arguments_of_another_kind(call: Callable[[], object], message: str) -> None:
    with pytest.raises(DeadheatError, match=re.escape(message)):
        call()
