"""The docs are true about other tools: they answer so, and deadheat the same for the notation beside it."""

from __future__ import annotations

import copy
import warnings

import pytest

import deadheat as dh
from support.other_tools import MODULES, TOOLS, same
from support.tool_answers import KNOWN, QUESTIONS, Answer, Question

CASES = [
    pytest.param(question, answer, id=f"{question.title} {answer.tool} {answer.metric}")
    for question in QUESTIONS
    for answer in question.answers
]


@pytest.mark.parametrize(("question", "answer"), CASES)
def test_a_tool_answers_so(question: Question, answer: Answer) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(MODULES[answer.tool])
        try:
            found = TOOLS[answer.tool](copy.deepcopy(question.qrels), copy.deepcopy(question.run), answer.metric)
        except ValueError as error:  # ir_measures without a provider, as without Perl
            if "Unsupported measures" not in str(error):
                raise
            pytest.skip(str(error))
    assert same(found, answer.value)


@pytest.mark.parametrize(("question", "answer"), CASES)
def test_the_notation_beside_it_gives_the_same(question: Question, answer: Answer) -> None:
    if not answer.ours:
        pytest.skip("there is no notation for it")
    options = {name: value for name, value in answer.options.items() if name != KNOWN}
    qrels = question.qrels
    if KNOWN in answer.options:
        qrels = {query: {one: own.get(one, 0) for one in question.run[query]} for query, own in qrels.items()}
    found = dh.evaluate(qrels, question.run, answer.ours, **{"missing": "empty", **options})
    assert same(next(iter(found.means().values())), answer.value)


def test_where_tools_differ_deadheat_has_a_value_of_its_own() -> None:
    """The mean over the orders: neither of the two that tools with an order give."""
    for question in QUESTIONS[:2]:
        found = dh.evaluate(question.qrels, question.run, "RR").means()["RR"]
        assert found == 0.75
        assert found not in {answer.value for answer in question.answers}
