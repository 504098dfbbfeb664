"""Two arguments that do not go together: which one is wrong, and what it may be beside the other."""

from __future__ import annotations

import pytest

import deadheat as dh
from deadheat.errors import ParameterError
from support.error_parts import raises_parts

QRELS = {"q": {"a": 1}}
RUN = {"q": {"a": 2.0, "b": 1.0}}

pytestmark = pytest.mark.plugins("bounds")


def test_the_argument_that_comes_first_in_the_registry_is_wrong() -> None:
    beside = {"unjudged": "bounds"}
    with raises_parts(ParameterError, argument="judged_only", given=True, allowed="False", beside=beside):
        dh.evaluate(QRELS, RUN, "RR", unjudged="bounds", judged_only=True)


def test_the_values_that_go_with_the_other_argument_are_allowed() -> None:
    allowed = ["expected", "doc_id", "input", "random"]
    with raises_parts(ParameterError, argument="ties", given="best", allowed=allowed, beside={"unjudged": "bounds"}):
        dh.evaluate(QRELS, RUN, "RR", unjudged="bounds", ties="best")
    with raises_parts(ParameterError, argument="no_relevant", given="skip", allowed="'zero'"):
        dh.evaluate(QRELS, RUN, "RR", unjudged="bounds", no_relevant="skip")
