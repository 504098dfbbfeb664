"""How a value comes about: against every order of the ties, and the worked examples of a textbook chapter."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DataError, ParameterError
from oracle.orders import all_orders
from support.command import call, ok
from support.error_parts import raises_parts

Parts = dict[str, float]
SCORES = {"a": 3.0, "x": 3.0, "b": 2.0, "c": 2.0, "d": 2.0, "y": 2.0, "e": 1.0, "z": 0.5, "f": 0.5}
JUDGED = {"a": 3, "b": 2, "c": 0, "d": 1, "e": 3, "f": 1, "not there": 2}


def _gains(order: list[str]) -> Parts:
    return {doc: JUDGED.get(doc, 0) / math.log2(rank + 1) for rank, doc in enumerate(order[:5], 1)}


def _precisions(order: list[str]) -> Parts:
    is_relevant = [JUDGED.get(doc, 0) > 0 for doc in order]
    return {doc: sum(is_relevant[:rank]) / rank for rank, doc in enumerate(order, 1) if is_relevant[rank - 1]}


def _first(order: list[str]) -> Parts:
    rank = next(rank for rank, doc in enumerate(order, 1) if JUDGED.get(doc, 0) > 0)
    return {order[rank - 1]: 1 / rank}


def _stops(order: list[str]) -> Parts:
    left, found = 1.0, {}
    for doc in order[:6]:
        stop = (2 ** JUDGED.get(doc, 0) - 1) / 8
        found[doc] = left * stop
        left *= 1 - stop
    return found


def _cascade(order: list[str]) -> Parts:
    return {doc: chance / rank for rank, (doc, chance) in enumerate(_stops(order).items(), 1)}


def _biased(order: list[str]) -> Parts:
    return {doc: 0.2 * 0.8 ** (rank - 1) * (JUDGED.get(doc, 0) > 0) for rank, doc in enumerate(order, 1)}


def _top(order: list[str]) -> Parts:
    return {doc: float(JUDGED.get(doc, 0) > 0) for doc in order[:4]}


CASES: list[tuple[str, str, Callable[[list[str]], Parts]]] = [
    ("nDCG@5", "part", _gains),
    ("DCG@5", "part", _gains),
    ("AP", "part", _precisions),
    ("RR", "part", _first),
    ("ERR@6", "part", _cascade),
    ("ERR@6", "stops_here", _stops),
    ("RBP", "part", _biased),
    ("P@4", "part", _top),
    ("R@4", "part", _top),
]


@pytest.mark.parametrize(("measure", "column", "parts"), CASES)
@pytest.mark.parametrize("has_run", [False, True])
def test_each_document_adds_its_mean_over_all_orders(
    measure: str, column: str, parts: Callable[[list[str]], Parts], *, has_run: bool
) -> None:
    steps = dh.evaluate({"q": JUDGED}, {"q": SCORES}, measure).steps(measure, "q", {"q": SCORES} if has_run else None)
    orders = [parts(order) for order in all_orders(SCORES)]
    right = {doc: math.fsum(one.get(doc, 0.0) for one in orders) / len(orders) for doc in SCORES}
    found = dict(steps.documents.select("doc_id", column).iter_rows())
    assert found.keys() <= right.keys()
    assert found == pytest.approx({doc: right[doc] for doc in found}, abs=1e-12)
    assert math.fsum(right.values()) == pytest.approx(math.fsum(found.values()), abs=1e-12)
    assert steps.n_missed == 1
    assert steps.n_unjudged == 3


@pytest.mark.parametrize("ties", ["best", "worst", "doc_id", "input"])
@pytest.mark.parametrize(("measure", "column", "parts"), CASES)
def test_one_order_of_the_ties(measure: str, column: str, parts: Callable[[list[str]], Parts], ties: str) -> None:
    steps = dh.evaluate({"q": JUDGED}, {"q": SCORES}, measure, ties=ties).steps(measure, "q", {"q": SCORES})
    within: dict[str, Callable[[str], int]] = {
        "best": lambda doc: -JUDGED.get(doc, -1),
        "worst": lambda doc: JUDGED.get(doc, -1),
        "doc_id": lambda doc: -ord(doc),
        "input": [*SCORES].index,
    }
    order = sorted(SCORES, key=lambda doc: (-SCORES[doc], within[ties](doc)))
    found = dict(steps.documents.select("doc_id", column).iter_rows())
    right = parts(order)
    assert found == pytest.approx({doc: right.get(doc, 0.0) for doc in found}, abs=1e-12)
    judged = steps.documents.filter(pl.col("relevance").is_not_null())
    if ties in {"doc_id", "input"}:
        assert steps.documents["doc_id"].to_list() == order[: steps.documents.height]
    assert judged["first"].to_list() == [order.index(doc) + 1 for doc in judged["doc_id"]] == judged["last"].to_list()


@pytest.mark.slow
def test_the_last_sum_over_the_divisor_is_the_value_of_every_measure() -> None:
    rng = np.random.default_rng(5)
    ids = [f"d{n}" for n in range(12)]
    qrels = {f"q{q}": {doc: int(rng.integers(0, 2)) for doc in ids[:8]} | {"d0": 1} for q in range(6)}
    run = {query: {doc: float(rng.integers(0, 4)) for doc in ids} for query in qrels}
    evaluation = dh.evaluate(qrels, run, [*MEASURES])
    for measure in evaluation.measures:
        for query, value in evaluation.to_dict().items():
            steps = evaluation.steps(measure, query)
            last = steps.documents["sum"].drop_nulls()[-1]
            assert last / steps.divisor == pytest.approx(value[measure.label], abs=1e-12)
            assert steps.value == pytest.approx(value[measure.label], abs=1e-12)


MEASURES = (
    *("P@5", "R@5", "F@5", "Hit@3", "RR", "AP", "AP@5", "AP(norm='min')@5", "AP(norm='retrieved')@5", "AR", "DCG@3"),
    *(
        "nDCG@10",
        "nDCG(gain='exp')@5",
        "nDCG(ideal='retrieved')@5",
        "IDCG@5",
        "P(norm='retrieved')@5",
        "RBP",
        "RBPResidual",
        "ERR",
        "nERR@5",
        "GAP",
        "Q",
    ),
    *("Rprec", "bpref", "MR", "FRP", "FRP@5", "Judged@5", "NumRet", "NumRel", "NumRelRet", "infAP", "INST", "INSQ"),
    *("ERR(stop='sigmoid(1, 1)')", "MTRR", "TMHits@3", "AP11", "IPrec@0.5", "AUC", "ESL", "BPM", "RnDCG", "Utility"),
)


def steps_of(relevance: list[int], measure: str, **judged: int) -> dh.Steps:
    """Return the steps for documents in this order."""
    ids = [f"d{n}" for n in range(1, len(relevance) + 1)]
    run = {"q": {doc: -float(n) for n, doc in enumerate(ids)}}
    return dh.evaluate({"q": dict(zip(ids, relevance, strict=True)) | judged}, run, measure).steps(measure, "q", run)


def test_examples_of_a_chapter_on_average_precision() -> None:
    """Precisions at each rank; the chapter rounds the third AP to 0.609 and the mean to 0.708."""
    steps = steps_of([1, 0, 1, 0, 1], "AP")
    assert steps.documents["precision"].to_list() == pytest.approx([1, 1 / 2, 2 / 3, 2 / 4, 3 / 5])
    assert steps.documents["part"].to_list() == pytest.approx([1, 0, 2 / 3, 0, 3 / 5])
    assert (steps.divisor, round(steps.value, 2)) == (3, 0.76)
    assert steps_of([1, 1, 1, 0, 0], "AP").documents["precision"].to_list() == pytest.approx([1, 1, 1, 0.75, 0.6])
    lists = [[1, 1, 0, 1, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 0, 1], [0, 1, 1, 0, 1, 1]]
    found = [steps_of(one, "AP") for one in lists]
    assert [round(one.value, 4) for one in found] == [0.8218, 0.6917, 0.6083]
    at_relevant = found[0].documents.filter(pl.col("relevance") > 0)["precision"].to_list()
    assert [round(one, 3) for one in at_relevant] == [1, 1, 0.75, 0.8, 0.714, 0.667]


def test_example_of_a_chapter_on_discounted_gain() -> None:
    """The chapter rounds the ideal sum to 7.253."""
    steps = steps_of([3, 3, 0, 3, 2], "nDCG@5")
    assert [round(one, 3) for one in steps.documents["part"]] == [3, 1.893, 0, 1.292, 0.774]
    assert round(steps.documents["sum"][-1], 3) == 6.959
    assert steps.ideal is not None
    assert [round(one, 3) for one in steps.ideal["part"]] == [3, 1.893, 1.5, 0.861, 0]
    assert round(steps.divisor, 3) == round(steps.ideal["sum"][-1], 3) == 7.254
    assert round(steps.value, 3) == 0.959
    ideal = steps_of([3, 3, 0, 3, 2], "IDCG@5")
    assert ideal.ideal is not None
    assert ideal.value == ideal.ideal["sum"][-1] == steps.divisor


def test_example_of_a_chapter_on_expected_reciprocal_rank() -> None:
    """The third stop probability of the chapter takes 0.953 for 1 - 0.375; so its ERR is 0.936."""
    steps = steps_of([3, 2, 3, 1, 0], "ERR(max_rel=3)")
    assert steps.documents["stop"].to_list() == [0.875, 0.375, 0.875, 0.125, 0]
    assert steps.documents["stops_here"].to_list() == pytest.approx([0.875, 0.046875, 0.068359375, 0.001220703125, 0])
    assert steps.value == pytest.approx(45295 / 49152)


@pytest.mark.parametrize(("measure", "ends"), [("RR", ("0.5000", "1.0000")), ("FRP", ("2.0000", "1.0000"))])
def test_the_worst_order_of_the_ties_is_named_first(measure: str, ends: tuple[str, str]) -> None:
    """A relevant document in a tie of two is at rank 2 in the worst order, and at rank 1 in the best."""
    steps = dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1, "b": 1}}, measure).steps(measure, "q")
    assert f"from {ends[0]} in the worst order of the ties to {ends[1]} in the best" in " ".join(str(steps).split())


def test_what_has_no_steps_is_refused() -> None:
    qrels, run = {"query 1": {"a": 1}}, {"query 1": {"a": 1.0, "b": 1.0}}
    evaluation = dh.evaluate(qrels, run, "RR")
    with raises_parts(DataError, hint="Did you mean 'query 1'?"):
        evaluation.steps("RR", "query1")
    with raises_parts(ParameterError, argument="ties", given="doc_id", allowed=("expected", "best", "worst")):
        dh.evaluate(qrels, run, "RR", ties="doc_id").steps("RR", "query 1")
    for ties in ("expected", "doc_id"):
        with raises_parts(DataError, found="a list without 'a'", path=Path("run")):
            dh.evaluate(qrels, run, "RR", ties=ties).steps("RR", "query 1", {"query 1": {"b": 1.0}})


def test_silence_where_nothing_is_relevant_is_right() -> None:
    evaluation = dh.evaluate({"q": {}, "p": {"a": 1}}, {"p": {"a": 1}}, "RR", no_relevant="correct_if_empty")
    assert evaluation.steps("RR", "q").value == evaluation.to_dict()["q"]["RR"] == 1


@pytest.mark.parametrize("measure", ["AP", "ERR", "bpref", "Q", "FRP", "MR", "infAP", "RR", "P@3", "R@3", "F@3", "RBP"])
@pytest.mark.parametrize("run", [None, {"q": {"b": 1.0}, "p": {"a": 1}}])
def test_nothing_judged_has_no_steps_by_any_measure(measure: str, run: Any) -> None:  # noqa: ANN401 - a run or none
    evaluation = dh.evaluate({"q": {"a": 1}, "p": {"a": 1}}, {"q": {"b": 1.0}, "p": {"a": 1}}, measure)
    steps = evaluation.steps(measure, "q", run)
    assert (steps.n_missed, steps.documents.height) == (1, 0)
    np.testing.assert_equal(steps.value, evaluation[measure].spread.mean[1])


def test_a_list_without_a_judged_document_has_no_steps() -> None:
    steps = dh.evaluate({"q": {"a": 1}, "p": {"a": 1}}, {"q": {"b": 1.0}, "p": {"a": 1}}, "nDCG").steps("nDCG", "q")
    assert (steps.value, steps.n_missed, steps.documents.height) == (0, 1, 0)
    assert "not retrieved  1 relevant document" in " ".join(str(steps).split("\n"))


def test_the_command_shows_what_python_does(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("".join(f"q 0 {doc} {grade}\n" for doc, grade in JUDGED.items() if " " not in doc))
    (tmp_path / "r.run").write_text("".join(f"q Q0 {doc} 1 {score} t\n" for doc, score in SCORES.items()))
    files = (str(tmp_path / "q.txt"), str(tmp_path / "r.run"))
    printed = ok("steps", *files, "--query", "q", "-m", "nDCG@5")
    steps = dh.evaluate(*files, "nDCG@5").steps("nDCG@5", "q", files[1])
    assert [line.rstrip() for line in printed.splitlines()] == [line.rstrip() for line in str(steps).splitlines()]
    table = pl.read_csv(ok("steps", *files, "--query", "q", "-m", "nDCG@5", "--format", "csv").encode())
    assert table["part"].to_list() == pytest.approx(steps.documents["part"].to_list())
    assert "ideal" in ok("steps", *files, "--query", "q", "-m", "nDCG@5", "--format", "html")
    assert call("steps", *files, "--query", "q", "-m", "RR", "-m", "AP").exit_code == 2


@pytest.mark.parametrize("measure", ["AP", "nDCG", "RR", "P@3", "MR@3"])
@pytest.mark.parametrize("rule", ["zero", "one", "skip", "correct_if_empty"])
def test_a_query_without_a_relevant_document_has_the_value_of_the_conventions(measure: str, rule: str) -> None:
    """It was said to be 0 / 0 = 1, and 0 where the query is left out."""
    if rule == "one" and measure == "MR@3":
        pytest.skip("not for measures that are no shares")
    qrels = {"q": {"a": 0}, "p": {"a": 1}}
    evaluation = dh.evaluate(qrels, {"q": {"a": 1.0}, "p": {"a": 1.0}}, measure, no_relevant=rule)
    steps = evaluation.steps(measure, "q")
    assert steps.lacks_relevant
    np.testing.assert_equal(steps.value, evaluation[measure].values[1])  # NaN where it is left out
    printed = " ".join(str(steps).split())
    assert "/ 0" not in printed
    if rule == "skip":
        assert "value none: no document is relevant, and the query is left out" in printed
    else:
        assert f"value {steps.value:.4f}, as no document is relevant" in printed
    assert not evaluation.steps(measure, "p").lacks_relevant


def test_the_command_prints_json_of_a_query_without_a_value(tmp_path: Path) -> None:
    """NaN was exit 70."""
    (tmp_path / "q.txt").write_text("q 0 a 1\np 0 a 0\nr 0 a 1\n")
    (tmp_path / "r.run").write_text("q Q0 a 1 1 t\np Q0 a 1 1 t\n")
    files = (str(tmp_path / "q.txt"), str(tmp_path / "r.run"))
    for query, *options in (("p", "AP", "--no-relevant", "skip"), ("r", "FRP")):
        document = json.loads(ok("steps", *files, "--query", query, "--format", "json", "-m", *options))
        assert document["value"] is None
