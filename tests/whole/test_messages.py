"""What a user is told where the library is called wrongly: nothing raw, nothing silent."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any, cast

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatError,
    MeasureError,
    NothingJudgedWarning,
    ParameterError,
    SourceTypeError,
)
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

WRONG: Any = dh  # what is called as its types forbid
QRELS = {"q1": {"d1": 1}}
RUN = {"q1": {"d1": 0.5, "d2": 0.5}}
MANY = 99_999_999_999_999_999_999  # more than an index can be


@pytest.mark.parametrize(
    ("call", "match", "parts"),
    [
        (lambda: WRONG.nDCG(k=10), r"nDCG .* 'k'.*: nDCG@10$", {}),
        (lambda: WRONG.nDCG(10), "behind @", {"measure": "nDCG", "given": (10,)}),
        (lambda: WRONG.P(rl=2), "P .* 'rl'; .* cutoff, rel, norm", {"hint": "Did you mean 'rel'?"}),
        (lambda: dh.bpref @ 3, "bpref", {"found": "@3"}),
        (lambda: dh.parse_measure(f"P@{MANY}"), "from 1 on", {"measure": "P", "argument": "cutoff", "given": MANY}),
        (lambda: dh.parse_measure("nDCG(gain='exp', gain='linear')"), "gain appears twice", {}),
        (lambda: WRONG.parse_measure(math), "measure of deadheat", {"argument": None}),
        (lambda: dh.Custom("RR", max), "another measure's name", {"argument": "name", "given": "RR"}),
        (lambda: WRONG.Custom("first", 3), None, {"measure": "Custom", "argument": "function", "given": 3}),
    ],
)
def test_measures_called_wrongly(call: Callable[[], Any], match: str | None, parts: dict[str, object]) -> None:
    with raises_parts(MeasureError, match, **parts):
        call()


def test_a_custom_function_that_fails_is_named_with_the_query() -> None:
    with raises_parts(MeasureError, "ZeroDivisionError.*'q1'", measure="boom"):
        dh.evaluate(QRELS, RUN, [dh.Custom("boom", lambda _: 1 / 0)])
    with raises_parts(MeasureError, "finite", measure="boom", found="'x' for query 'q1'"):
        dh.evaluate(QRELS, RUN, [WRONG.Custom("boom", lambda _: "x")])


def test_two_measures_of_one_name_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"different measures .* 'a'"):
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
    with pytest.raises(ParameterError, match=r"10\*\*5735 .* max_orders=10000"):
        dh.tie_orders([1] * 2000, [1] * 2000)
    assert repr(dh.tie_orders([1, 1], [0, 1])) == "<TieOrders RR: 2 orders, mean 0.7500>"


@pytest.mark.parametrize("scores", [[], "ab"])
def test_orders_need_scores(scores: list[float]) -> None:
    with raises_parts(ParameterError, argument="scores", given=scores, allowed="numbers, at least one"):
        dh.tie_orders(scores, [])


@pytest.mark.parametrize(
    ("call", "argument", "given", "allowed"),
    [
        (lambda: WRONG.tie_profile(RUN, at=5), "at", 5, "list of cutoffs"),
        (lambda: WRONG.tie_profile(RUN, at="RR"), "at", "RR", "list of cutoffs"),
        (lambda: WRONG.figures.cutoffs(dh.evaluate(QRELS, RUN), at=5), "at", 5, "list of cutoffs"),
        (lambda: WRONG.gate(dh.evaluate(QRELS, RUN), 5), "checks", 5, "'RR >= 0.8'"),
        (lambda: WRONG.tie_complexity(0.5), "scores", 0.5, "numbers"),
        (lambda: WRONG.tie_complexity([1, 1], doc_ids=5), "doc_ids", 5, "2 different ids"),
        (lambda: dh.tie_complexity({"a": 1}, doc_ids=["b"]), "doc_ids", ["b"], "None"),
        (lambda: WRONG.tie_orders([0.9, 0.8], 5), "relevance", 5, "2 values"),
        (lambda: dh.compare(QRELS, {"a": RUN, "b": RUN}, baseline=[]), "baseline", [], "None"),
        (lambda: WRONG.evaluate(QRELS, RUN).rescored(QRELS, ids=["a"]), "ids", ["a"], "a dict"),
    ],
)
def test_a_value_that_is_none_of_several_is_refused(
    call: Callable[[], object], argument: str, given: object, allowed: str
) -> None:
    with raises_parts(ParameterError, argument=argument, given=given) as caught:
        call()
    assert allowed in str(caught.value.allowed)


@pytest.mark.parametrize("source", [None, 5, [1]])
def test_judgments_that_are_no_table_are_refused(source: object) -> None:
    with raises_parts(SourceTypeError, found=str(source)) as caught:
        WRONG.read_judgments(source)
    assert str(caught.value.allowed).startswith("judgments: ")


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
        with raises_parts(ParameterError, "at least one document") as caught:
            dh.tie_orders([1, 1], nothing)
        assert caught.value.is_given


def test_orders_say_which_value_is_no_number() -> None:
    """They named a query, which the caller never gave."""
    unjudged = "expected a number, or None for an unjudged document"
    with pytest.raises(DataError, match=f"^relevance of document 'doc2' is not a number: 'x', {unjudged}$"):
        WRONG.tie_orders([1, 1], [1, "x"])
    with pytest.raises(DataError, match=f"^relevance of document 'doc1' is infinite: inf, {unjudged}$"):
        dh.tie_orders([1, 1], [float("inf"), 1])
    with pytest.raises(
        DataError, match=r"^score of document 'a' is not a number: '0.5', expected a number: write 0.5$"
    ):
        WRONG.tie_orders({"a": "0.5"}, {"a": 1})
    with pytest.raises(DataError, match=r"of several queries give one, as relevance\['q'\]$"):
        WRONG.tie_orders({"a": 1}, {"q": {"a": 1}})


@pytest.mark.parametrize("given", ["x", None, 0, 1.5, True])
def test_numbers_of_orders_that_are_refused(given: int) -> None:
    for call in (lambda: dh.tie_complexity([1], max_orders=given), lambda: dh.tie_orders([1], [1], max_orders=given)):
        with raises_parts(ParameterError, argument="max_orders", given=given, allowed="a whole number from 1 on"):
            call()


def test_a_seed_that_is_none_is_refused() -> None:
    with raises_parts(ParameterError, argument="rng", given="x"):
        dh.evaluate(QRELS, RUN, ties="random", rng="x")  # type: ignore[call-overload]


def test_float_ids_are_refused() -> None:
    frame = pl.DataFrame({"query_id": ["q1"], "doc_id": [880.0], "score": [1.0]})
    with raises_parts(ColumnError, "'doc_id' holds Float64", allowed="text or whole numbers as ids"):
        dh.evaluate(QRELS, frame)


def test_ids_of_different_types_are_refused() -> None:
    frame = pd.DataFrame({"query_id": ["q1", 1], "doc_id": ["a", "b"], "score": [1.0, 2.0]})
    with raises_parts(ColumnError, "'query_id' .* several types", found="str, int"):
        dh.evaluate(QRELS, frame)
    broken = pd.DataFrame({"query_id": ["q1"], "doc_id": pd.Series(["\ud800"], dtype=object), "score": [1.0]})
    with raises_parts(ColumnError, "'doc_id' .* UTF-8", found="str"):
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
    with pytest.warns(NothingJudgedWarning, match=r"'d1\.0', 'd2\.0'; qrels has 'd1'"):
        assert dh.evaluate(QRELS, run, ["RR"]).means() == {"RR": 0.0}


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: dh.compare(QRELS, "bm25.run", "RR"), {"argument": "runs", "given": "bm25.run"}),
        (lambda: dh.compare(QRELS, cast("Any", 5), "RR"), {"argument": "runs", "given": 5}),
        (lambda: dh.evaluate(QRELS, QRELS, cast("Any", 42)), {"argument": "measures", "given": 42}),
        (lambda: dh.evaluate(QRELS, ["a.run", "b.run"]), {"match": "several runs are {name: run}"}),
        (lambda: dh.evaluate(QRELS, io.StringIO("q Q0 d 1 1 x")), {"match": "open file", "found": "StringIO"}),
    ],
)
def test_arguments_of_another_kind(call: Callable[[], object], parts: dict[str, Any]) -> None:
    with raises_parts(DeadheatError, **parts):
        call()
