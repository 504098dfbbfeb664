"""What is no value at all where a function wants one: the error that neighbouring inputs get, and never Python's."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import DeadheatError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS: Any = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
RUN: Any = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}
SCORES = np.array([[1.0, 2.0], [2.0, 1.0]])
QUERIES = pl.DataFrame({"query_id": ["q1", "q2"], "language": ["de", "en"]})


def matrix(rows: list[list[Any]]) -> Any:  # noqa: ANN401 - of a class that NumPy warns of
    with warnings.catch_warnings(action="ignore"):
        return np.matrix(rows)


ANYTHING: dict[str, Any] = {
    "None": None,
    "number": 5,
    "fraction": 1.5,
    "flag": True,
    "bytes": b"x",
    "list": [],
    "list of numbers": [5],
    "list of None": [None],
    "dict": {},
    "dict of numbers": {"a": 1},
    "empty array": np.array([]),
    "array without dimension": np.array(5.0),
    "matrix": matrix([[1.0, 2.0]]),
    "complex": 1j,
    "signalling": Decimal("sNaN"),
    "object": object(),
    "class": dict,
    "text": "nothing of this name",
}


def evaluation() -> Any:  # noqa: ANN401 - given to functions that take others
    return dh.evaluate(QRELS, RUN, ["RR", "nDCG"])


def comparison() -> Any:  # noqa: ANN401 - as above
    return dh.compare(QRELS, {"a": RUN, "b": {"q1": ["d1"], "q2": ["d1"]}}, "RR")


FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "judgments": lambda given: dh.evaluate(given, RUN, "RR"),
    "run": lambda given: dh.evaluate(QRELS, given, "RR"),
    "documents of judgments": lambda given: dh.evaluate({"q1": given}, RUN, "RR"),
    "documents of a run": lambda given: dh.evaluate(QRELS, {"q1": given}, "RR"),
    "relevance": lambda given: dh.evaluate({"q1": {"d1": given}}, RUN, "RR"),
    "score": lambda given: dh.evaluate(QRELS, {"q1": {"d1": given}}, "RR"),
    "score of a row": lambda given: dh.evaluate(QRELS, [("q1", "d1", given)], "RR"),
    "measures": lambda given: dh.evaluate(QRELS, RUN, given),
    "ties": lambda given: dh.evaluate(QRELS, RUN, "RR", ties=given),
    "rel": lambda given: dh.evaluate(QRELS, RUN, "RR", rel=given),
    "depth": lambda given: dh.evaluate(QRELS, RUN, "RR", depth=given),
    "score_precision": lambda given: dh.evaluate(QRELS, RUN, "RR", score_precision=given),
    "normalize_ids": lambda given: dh.evaluate(QRELS, RUN, "RR", normalize_ids=given),
    "weights": lambda given: dh.evaluate(QRELS, RUN, "RR", weights=given, queries=QUERIES),
    "matrix": lambda given: dh.evaluate_dense(given, [[0], [1]], "RR"),
    "relevant": lambda given: dh.evaluate_dense(SCORES, given, "RR"),
    "name of a run": lambda given: dh.Run(RUN, name=given),
    "name of judgments": lambda given: dh.read_qrels(QRELS, name=given),
    "renamed": lambda given: dh.Run(RUN).renamed(given),
    "called": lambda given: evaluation().called(given),
    "format": lambda given: dh.Run("x.run", format=given),
    "columns": lambda given: dh.Run("x.csv", columns=given),
    "digits": lambda given: evaluation().to_markdown(digits=given),
    "digits of a comparison": lambda given: comparison().to_latex(digits=given),
    "by": lambda given: evaluation().by(given, QUERIES),
    "queries": lambda given: evaluation().by("language", given),
    "measure": lambda given: evaluation()[given],
    "query": lambda given: evaluation().steps("RR", given),
    "save": lambda given: evaluation().save(given),
    "load_evaluation": dh.load_evaluation,
    "history": dh.history,
    "reference": lambda given: dh.history([evaluation()], reference=given),
    "compare_evaluations": dh.compare_evaluations,
    "rescored": lambda given: evaluation().rescored(given),
    "gate": lambda given: dh.gate(given, "RR >= 0.1"),
    "gates": lambda given: dh.gate(evaluation(), given),
    "interval": dh.interval,
    "paired_test": lambda given: dh.paired_test(given, [1.0, 2.0]),
    "confidence_level": lambda given: evaluation()["RR"].interval(confidence_level=given),
    "n_resamples": lambda given: evaluation()["RR"].interval(n_resamples=given),
    "parse_measure": dh.parse_measure,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_function_cannot_take_is_an_error_of_deadheat(
    function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = []
    for name, given in ANYTHING.items():
        try:
            FUNCTIONS[function](given)
        except DeadheatError:
            continue
        except Exception as error:  # noqa: BLE001 - what is looked for
            raw.append(f"{name}: {type(error).__name__}: {error}")
    assert not raw


@pytest.mark.parametrize("given", ["3", -1, 1.5, 18, True])
def test_digits_are_a_few(given: object) -> None:
    with raises_parts(DeadheatError, argument="digits", given=given, allowed="a whole number from 0 to 17"):
        evaluation().to_markdown(digits=given)


def test_labels_in_a_matrix_of_numpy_are_those_of_an_array() -> None:
    labels = [[0, 1], [1, 0]]
    found = dh.evaluate_dense(SCORES, matrix(labels), "RR").to_dict()
    assert found == dh.evaluate_dense(SCORES, np.array(labels), "RR").to_dict()


def test_a_repr_is_one_line() -> None:
    name = "a\nb\x1b[31m"
    shown = [repr(dh.Run(RUN, name=name)), repr(dh.Qrels(QRELS, name=name))]
    shown.append(repr(dh.evaluate(dh.Qrels(QRELS, name=name), dh.Run(RUN, name=name), "RR")))
    shown.append(repr(dh.compare(QRELS, {name: RUN, "b": RUN}, "RR")))
    shown.append(repr(evaluation().called(name).by("language", QUERIES)))
    shown.append(repr(dh.tie_profile(dh.Run(RUN, name=name))))
    for text in shown:
        assert text.isprintable(), text
