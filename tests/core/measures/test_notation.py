"""Notation that cannot be read, and parameters beyond their bounds: what is told, and never a raw error."""

from __future__ import annotations

import dataclasses
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import pytest

import deadheat as dh
from deadheat.api import Number
from deadheat.core.measures.notation import LONGEST, split_notation
from deadheat.core.report.of_measures import report_measure
from deadheat.errors import MeasureError, ParameterError, UnknownMeasureError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

LOG = "'log(b)' (b > 1)"
ZIPF = "'zipf(s, p)' (0 <= s <= 50, p >= -0.99)"
EXP = "'exp(p)' (0 < p <= 1)"
MAPPING = "a mapping of relevance to gain (>= 0), such as {1: 1, 2: 3}"


@pytest.mark.parametrize(
    "notation",
    [
        pytest.param("-" * 5000 + "1", id="signs"),
        pytest.param("P@" + "-" * 5000 + "1", id="signs of a cutoff"),
        pytest.param("P(rel=" + "-" * 900 + "1)", id="signs of a parameter"),
        pytest.param("(" * 5000, id="open brackets"),
        pytest.param("P(rel=" + "[" * 150 + "]" * 150 + ")", id="brackets"),
        pytest.param("P_" + "9" * 5000, id="digits of trec_eval"),
        pytest.param("P@" + "9" * 5000, id="digits"),
        pytest.param("P(rel=" + "9" * 4000 + ")", id="more than a float"),
        "nDCG(gain={[1]:2})",
        "nDCG(gain={})",
        "nDCG(gain={1: 'x'})",
        "P(rel={1, [2]})",
        "P(rel=1+2j)",
        "P\0",
        "P_²",
        "P_0",
        "P(cls=2)",
        "f \N{LATIN SMALL LETTER LONG S}core",
        "P(self=2)",
        "nDCG(dcg={1: 2})",
        "nDCG(dcg=[1])",
        dh.Measure,
        pytest.param(10**5000, id="no notation"),
    ],
)
def test_notation_that_cannot_be_read(notation: Any) -> None:  # noqa: ANN401 - whatever a user may give
    with pytest.raises(MeasureError) as raised:
        dh.parse_measure(notation)
    assert len(str(raised.value)) < 800


@pytest.mark.plugins("gates")
@pytest.mark.parametrize(
    "text",
    [
        "P_" + "0" * 9000 + "x",
        "P" + "_0" * 4000 + "x",
        "P" + ".0" * 4000 + "x",
        "P" + " " * 9000 + "x",
        "P(" * 4000,
        "(()" * 3000,
        "P@" + "1_" * 4000,
    ],
)
def test_notation_is_read_in_time_that_grows_with_its_length(text: str) -> None:
    from deadheat.plugins.gates.notation import parse_gate

    start = time.perf_counter()
    for read in (dh.parse_measure, split_notation, parse_gate):
        with suppress(dh.DeadheatError):
            read(text)
    assert split_notation(" " * 40_000 + "P@5") == split_notation("P" + " " * 40_000 + "@5") == ("P@5",)
    assert time.perf_counter() - start < 1


@pytest.mark.plugins("gates")
def test_notation_has_a_longest_length() -> None:
    from deadheat.plugins.gates.notation import parse_gate

    for read in (dh.parse_measure, parse_gate):
        with raises_parts(ParameterError, "10,001 characters", allowed="10,000 or fewer") as raised:
            read("P@5" + " " * (LONGEST - 3) + "1")
        assert len(str(raised.value)) < 300


@pytest.mark.plugins("gates")
@pytest.mark.parametrize(
    "text",
    [
        *("nDCG@1_0", "P(rel=1_0)@5", "RBP(p=0.8_5)", "P@0x10", "P@0b11", "P@0o7", "nDCG(discount='log(1_0)')"),
        *(
            "nDCG(discount='log(\u0662)')",
            "nDCG(gain={1_0: 2})",
            "nDCG(gain={1: 2, 1: 3})",
            "nDCG(gain={1: 2, 1.0: 3})",
        ),
        "P@5 # as before",
    ],
)
def test_numbers_are_written_plainly_and_keys_once(text: str) -> None:
    from deadheat.plugins.gates.notation import parse_gate

    with pytest.raises(MeasureError, match=r"is not a value|cannot read"):
        dh.parse_measure(text)
    with pytest.raises(ParameterError):
        parse_gate(f"{text.partition('@')[0]}@5 >= 1_0")


@pytest.mark.parametrize("text", ["log(1_0)", "log(\u0662)"])
def test_numbers_in_words_are_written_plainly(text: str) -> None:
    with pytest.raises(MeasureError, match="log"):
        dh.nDCG(discount=text)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dh.P(rel=10**5000),
        lambda: dh.P @ 10**5000,
        lambda: dh.bpref @ 10**5000,
        lambda: (dh.P @ 5) @ 10**5000,
        lambda: cast("Any", dh.P)(10**5000),
        lambda: cast("Any", dh.P)(k=10**5000),
        lambda: dh.nDCG(gain={1: 10**5000}),
    ],
)
def test_numbers_that_python_does_not_print(call: Callable[[], object]) -> None:
    with pytest.raises(MeasureError, match="thousands of digits"):
        call()


def test_names_of_trec_eval_are_read() -> None:
    assert dh.parse_measure("P_05") == dh.parse_measure("P_5") == dh.P @ 5
    assert dh.parse_measure("ndcg_cut_10") == dh.nDCG @ 10


def page(name: str) -> dict[str, Any]:
    """Return what the page of a measure says."""
    return {fact.key: fact.value for fact in report_measure(dh.measures()[name]).facts}


def allowed_of(measure: type[dh.Measure]) -> dict[str, str]:
    """Return what each parameter may be, as the page of the measure says."""
    return {field.name: field.metadata["check"].allowed for field in dataclasses.fields(measure)}


@pytest.mark.parametrize(
    ("notation", "allowed"),
    [
        ("nDCG(discount='log(1)')", LOG),
        ("nDCG(discount='log(0.5)')", LOG),
        ("DCG(discount='zipf(-1,0)')", ZIPF),
        ("DCG(discount='zipf(1,-1)')", ZIPF),
        ("DCG(discount='exp(1.5)')", EXP),
        ("DCG(gain={0:-1,1:1})", MAPPING),
        ("nDCG(gain={})", MAPPING),
        ("ERR(stop='sigmoid(-1,2)')", "'sigmoid(a, b)' (a > 0)"),
    ],
)
def test_messages_and_pages_name_the_bounds(notation: str, allowed: str) -> None:
    name, parameter = re.match(r"(\w+)\((\w+)", notation).groups()  # type: ignore[union-attr]
    with raises_parts(MeasureError, measure=name, argument=parameter) as caught:
        dh.parse_measure(notation)
    assert allowed in str(caught.value.allowed)
    assert allowed in allowed_of(dh.measures()[name])[parameter]


@pytest.mark.parametrize("name", ["DCG", "ERR"])
def test_text_and_parameters_call_the_numbers_alike(name: str) -> None:
    """Each form with numbers that a parameter allows is one that the text explains."""
    measure = dh.measures()[name]
    forms = set(re.findall(r"'(\w+\([^']*\))'", " ".join(allowed_of(measure).values())))
    assert forms
    text = " ".join(page(name)["text"])
    assert {form for form in forms if f'"{form}"' not in text} == set()


@pytest.mark.parametrize(
    ("number", "bounds"),
    [
        (Number(low=0, high=1, open_high=True), "0 <= p < 1"),
        (Number(low=0, high=1, open_low=True), "0 < p <= 1"),
        (Number(high=2), "p <= 2"),
        (Number(low=-1), "p >= -1"),
        (Number(), ""),
    ],
)
def test_bounds_as_they_are_written(number: Number, bounds: str) -> None:
    assert number.bounds("p") == bounds


def test_large_numbers_print_short_and_are_read_back() -> None:
    assert repr(dh.F(beta=1e200)) == "F(beta=1e+200)"
    assert dh.parse_measure("F(beta=1e+200)") == dh.F(beta=1e200)


@pytest.mark.parametrize("name", [name for name, measure in dh.measures().items() if not measure.total])
def test_every_measure_says_where_it_comes_from(name: str) -> None:
    """Counts but for themselves."""
    assert page(name)["references"]


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        ("rbp", "RBP(p=0.9, graded=True, top='query')"),
        ("rbp(p=0.5)@10", "RBP(p=0.5, graded=True, top='query')@10"),
        ("Rbp(graded=False)", "RBP(p=0.9, top='query')"),
        ("RBP", "RBP"),
        ("RBP@10", "RBP@10"),
        ("rbp_resid", "RBPResidual(p=0.9, tail='unjudged')"),
        ("rbp_resid(p=0.5)", "RBPResidual(p=0.5, tail='unjudged')"),
    ],
)
def test_names_with_parameters_of_their_own(text: str, notation: str) -> None:
    """rbp and rbp_resid are those of trec_eval 10, whose parameters are not our defaults."""
    measure = dh.parse_measure(text)
    assert str(measure) == notation
    again = dh.parse_measure(measure.label)
    assert (again, again.label) == (measure, measure.label)
    assert measure.label == text or "(" in text


@pytest.mark.parametrize("number", ["1", "2", "0.5", "10"])
def test_a_number_behind_f_is_a_cutoff_or_beta(number: str) -> None:
    """Papers write beta there, trec_eval a cutoff: neither is taken."""
    for text in (f"F_{number}", f"f_{number}"):
        with pytest.raises(MeasureError, match="cutoff or beta") as caught:
            dh.parse_measure(text)
        assert f"'{text}'" in str(caught.value.problem)
        assert f"'F(beta={number})'" in str(caught.value.hint)
    assert dh.parse_measure("F1_5") == dh.parse_measure("F_cut_5") == dh.F @ 5


def test_messages_name_the_measure_that_was_asked_for() -> None:
    for name in ("DCG", "nDCG"):
        with raises_parts(MeasureError, measure=name, argument="gain", given={1: 2}, beside={"negative": "gain"}):
            dh.parse_measure(f"{name}(gain={{1: 2}}, negative='gain')")


@pytest.mark.parametrize("text", ["rbp.95", "rbp_10", "RBP.95"])
def test_a_number_behind_rbp_is_no_cutoff(text: str) -> None:
    """It is p to ranx, and nothing to trec_eval."""
    with pytest.raises(UnknownMeasureError, match="RBP"):
        dh.parse_measure(text)


@pytest.mark.parametrize(
    ("given", "cut", "whole"),
    [
        ("map.2", "AP@2", "map"),
        ("map_10", "AP@10", "map"),
        ("recip_rank.2", "RR@2", "recip_rank"),
        ("recip_rank_05", "RR@5", "recip_rank"),
        ("num_rel_ret.3", "NumRelRet@3", "num_rel_ret"),
        ("set_P.5", "P@5", "set_P"),
        ("set_recall_5", "R@5", "set_recall"),
        ("set_relative_P.5", "RelP@5", "set_relative_P"),
        ("set_F.0.5", "F@10", "F(beta=...)"),
    ],
)
def test_a_number_that_trec_eval_ignores_is_no_cutoff(given: str, cut: str, whole: str) -> None:
    for notation in (given, f"nDCG@10 {given}"):
        with pytest.raises(MeasureError, match="has two meanings") as caught:
            dh.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, notation)
        assert f"'{cut}'" in str(caught.value)
        assert f"'{whole}'" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "read"),
    [("map_cut.2", "AP@2"), ("map_cut_2", "AP@2"), ("map@2", "AP@2"), ("map_at_2", "AP@2"), ("MAP_2", "AP@2")],
)
def test_a_number_that_can_only_be_a_cutoff_is_one(given: str, read: str) -> None:
    assert str(dh.parse_measure(given)) == read
