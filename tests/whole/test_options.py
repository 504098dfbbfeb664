"""Options are dataclasses that check themselves; the functions that take them as arguments have their defaults."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.design import Design
from deadheat.core.evaluation.evaluate import EvaluationArguments
from deadheat.core.evaluation.intervals import IntervalArguments, IntervalOptions
from deadheat.core.settings import Conventions
from deadheat.errors import ParameterError
from deadheat.plugins.gates.settings import GateOptions
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

UNSAID = {"missing", "no_regression", "queries"}  # None there means "not given"


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (dh.Scores.interval, (IntervalOptions,)),
        (dh.Strata.summary, (IntervalOptions,)),
        (dh.evaluate, (Conventions,)),
        (dh.compare, (Design, Conventions)),
        (dh.compare_evaluations, (Design,)),
        (dh.gate, (GateOptions,)),
        (dh.bench, (Design,)),
        (dh.tie_profile, (Conventions,)),
        (dh.coarsening_profile, (Conventions,)),
        (dh.evaluate_with_confidence, (Conventions,)),
    ],
)
def test_arguments_have_the_defaults_of_their_options(
    function: Callable[..., object], options: tuple[Any, ...]
) -> None:
    defaults = {name: one.default for name, one in inspect.signature(function).parameters.items()}
    of_options = {one.name: one.default for kind in options for one in fields(kind)}
    shared = defaults.keys() & of_options.keys() - UNSAID
    assert shared
    assert {name: defaults[name] for name in shared} == {name: of_options[name] for name in shared}


def test_type_checkers_know_the_options_of_evaluations_and_intervals() -> None:
    assert IntervalArguments.__annotations__.keys() == {one.name for one in fields(IntervalOptions)}
    named = [one.name for one in inspect.signature(dh.evaluate).parameters.values() if one.kind is one.KEYWORD_ONLY]
    assert EvaluationArguments.__annotations__.keys() == set(named)


@pytest.mark.parametrize("function", [dh.evaluate, dh.compare])
def test_every_convention_is_an_argument(function: Callable[..., object]) -> None:
    """It is missing where a function takes `locals()` and lacks it, and nothing else would notice."""
    assert {one.name for one in fields(Conventions)} <= inspect.signature(function).parameters.keys()


@pytest.mark.parametrize(
    ("make", "argument", "given", "match"),
    [
        (IntervalOptions, "method", "bc", "'bca'[?]$"),
        (IntervalOptions, "confidence_level", 95, " 0.95[?]$"),
        (IntervalOptions, "n_resamples", 98, "from 99 on"),
        (IntervalOptions, "rng", -1, "from 0 on"),
        (Design, "confidence_level", 0, "between 0 and 1"),
        (Design, "test", "z", "'tukey'"),
        (Design, "correction", "z", "'holm'"),
        (Design, "alternative", "more", "'greater'"),
        (GateOptions, "n_resamples", 1, "from 99 on"),
        (GateOptions, "alpha", 0.5, "between 0 and 0.5"),
        (GateOptions, "no_worse_than", 0, "above 0"),
        (GateOptions, "allow_unknown", 1, "True or False"),
        (Conventions, "ties", "bset", "'best'[?]$"),
        (Conventions, "missing", None, "'empty'"),
        (Conventions, "no_relevant", "ones", "'one'[?]$"),
        (Conventions, "score_precision", 16, "from 0 to 15"),
    ],
)
def test_options_check_themselves(make: Callable[..., Any], argument: str, given: object, match: str) -> None:
    with raises_parts(ParameterError, match, argument=argument, given=given):
        make(**{argument: given})
    with raises_parts(ParameterError, match, argument=argument, given=given):
        replace(make(), **{argument: given})


def test_a_design_checks_what_goes_together() -> None:
    def change(**options: Any) -> Design:  # noqa: ANN401 - those of a design
        return replace(Design(), **options)

    makers: tuple[Callable[..., Design], ...] = (Design, change)
    for make in makers:
        with raises_parts(ParameterError, argument="alternative", given="less", beside={"test": "tukey"}):
            make(test="tukey", alternative="less")
        with raises_parts(ParameterError, "is of means", argument="method", given="clopper-pearson"):
            make(method="clopper-pearson")


def test_options_hold_plain_numbers() -> None:
    given: dict[str, Any] = {"confidence_level": np.float64(0.9), "n_resamples": np.int64(200), "rng": np.int64(3)}
    found = IntervalOptions(**given, cluster=[1, 2])
    assert found.to_dict() == {
        "method": "auto",
        "confidence_level": 0.9,
        "n_resamples": 200,
        "cluster": "given",
        "rng": 3,
    }
    assert {type(value) for value in found.to_dict().values()} == {str, float, int}
    assert IntervalOptions(rng=np.random.default_rng(1)).to_dict()["rng"] == "generator"
    assert Conventions(score_precision="3").score_precision == 3
