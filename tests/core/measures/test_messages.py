"""The whole sentence of each error that the measures make; other tests tell these errors apart by their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import deadheat as dh
from deadheat.errors import DeadheatError

if TYPE_CHECKING:
    from collections.abc import Callable


def evaluate(relevance: float, *measures: dh.Measure | str, rel: float | None = None) -> dh.Evaluation:
    """Evaluate a run of one document of this relevance."""
    return dh.evaluate({"q": {"a": relevance}}, {"q": {"a": 1.0}}, measures, rel=rel)


MESSAGES: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: evaluate(501, "ERR"),
        "ERR: stop='exp' takes a scale up to 500, got 501; use stop='sigmoid(a, b)'",
    ),
    (
        lambda: dh.ERR(stop="identity", max_rel=9),
        "ERR: max_rel is the top of the scale of stop='exp' alone, got 9",
    ),
    (
        lambda: dh.RBP(max_rel=9),
        "RBP: max_rel is the top of the scale of graded=True, without top='query', got 9",
    ),
    (
        lambda: evaluate(501, "nDCG(gain='exp')"),
        "the gain of relevance 501 is beyond 2**500, above which squares overflow: use gain='linear' or a mapping",
    ),
    (
        lambda: evaluate(1e200, "nDCG"),
        "the gain of relevance 1e+200 is beyond 2**500, above which squares overflow: use a smaller scale",
    ),
    (
        lambda: dh.AP(norm="k"),
        "AP: norm='k' needs a cutoff, as in \"AP(norm='k')@10\": in Python write AP(norm='k', cutoff=10)",
    ),
    (
        lambda: dh.Q(beta=-1),
        "Q: beta must be a number in [0, 1e+06], got -1",
    ),
    (
        lambda: dh.nDCG(gain={1: 2}, negative="gain"),
        "nDCG: gain must be 'linear' or 'exp' with negative='gain', got {1: 2}",
    ),
    (
        lambda: dh.Custom("c", max, max_orders=1),
        "Custom: max_orders must be a whole number from 2 on, or None, got 1",
    ),
    (
        lambda: evaluate(1, dh.Custom("own", lambda _: float("inf"))),
        "own: the function must return a finite number, or NaN where no value is defined, got inf for query 'q'",
    ),
    (
        lambda: dh.parse_measure("nDCG@1_0"),
        (
            "'1_0' in 'nDCG@1_0' is not a value: write a number behind @, and @ behind all parameters, as in"
            " nDCG(gain='exp')@10"
        ),
    ),
    (
        lambda: dh.parse_measure("nDCG(gain=exp)@10"),
        "'exp' in 'nDCG(gain=exp)@10' is not a value: write gain='exp'",
    ),
    (
        lambda: dh.parse_measure("nDCG(gian=exp)@10"),
        "nDCG has no parameter 'gian'; it takes cutoff, gain, discount, negative, ideal, floor. Did you mean 'gain'?",
    ),
    (lambda: dh.parse_measure("P(rel=x)@5"), "P: rel must be a number in (-inf, inf), got 'x'"),
    (
        lambda: dh.parse_measure("nDCG(gain={1: 1, 1: 2})"),
        (
            "'{1: 1, 1: 2}' in 'nDCG(gain={1: 1, 1: 2})' is not a value: write numbers plainly, words in quotes and"
            " keys once"
        ),
    ),
    (
        lambda: dh.parse_measure("F_2"),
        "the number in 'F_2' may be a cutoff or beta: write 'F(beta=2)', or a cutoff behind @, as in 'F@10'",
    ),
    (
        lambda: dh.parse_measure("xyzzy"),
        "unknown measure 'xyzzy'. All: deadheat measures, or dh.measures() in Python",
    ),
    (
        lambda: dh.parse_measure("nDCG(dcg='burges')"),
        (
            "nDCG has no parameter 'dcg'; it takes cutoff, gain, discount, negative, ideal, floor. What ir_measures"
            " calls dcg='log2' or dcg='exp-log2' is gain='linear' or gain='exp'"
        ),
    ),
    (
        lambda: evaluate(1, "ndcg_cut.5,10"),
        (
            "cannot read the measure '10'; write it like 'nDCG@10' or 'P(rel=2)@5'; name the measure at each cutoff,"
            " as in 'P@5 P@10'"
        ),
    ),
    (
        lambda: evaluate(1, "AP", "AP(rel=1)", rel=2),
        (
            "rel cannot be combined with AP, which names the default, rel=1, got 2; leave it out, and name each level"
            " that is not the default in its measure"
        ),
    ),
    (
        lambda: dh.register("mine")(type("P", (dh.RR,), {"__module__": __name__})),
        "P: its name is taken by deadheat.core.measures.top.P: choose another for the class",
    ),
]


@pytest.mark.parametrize(("call", "message"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages_in_whole_sentences(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(DeadheatError) as caught:
        call()
    assert str(caught.value) == message


def test_notation_that_is_too_long_is_shown_in_part() -> None:
    with pytest.raises(DeadheatError) as caught:
        dh.parse_measure("P" * 10_001)
    shown = "P" * 197
    assert str(caught.value) == f"a measure of 10,001 characters, '{shown}...', expected 10,000 or fewer"


@pytest.mark.plugins("more_measures")
def test_a_sum_over_too_many_ranks() -> None:
    with pytest.raises(DeadheatError) as caught:
        evaluate(1, "SDCG@10000000000")
    assert str(caught.value) == (
        "SDCG@10000000000: its divisor is a sum over more ranks than memory may hold, expected at most 10,000,000, got"
        " 10,000,000,000"
    )
