"""What goes together: every pair of features is computed as an oracle does, or refused in a sentence that names both.

Which pairs go together the features declare in the registry. A pair that is not declared must be refused, and one that
is declared must be computed: a feature that is ignored beside another one would be a wrong number that nobody sees.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import deadheat as dh
from deadheat.core.evaluation.together import Asked as Declared, feature_named, go_together
from deadheat.errors import DataError, ParameterError
from deadheat.plugins.judges.prediction import FEWEST_OF_MEAN, powered_mean
from oracle.evaluations import Answer, Answers, Question, answers_to, mean_of
from support.features import TRIED, Asked, asked_with
from support.what_goes_together import PAGE, table

if TYPE_CHECKING:
    from deadheat.api import FloatArray

# one source cannot hold both: answers of a judge have no such columns, and there are no spans of these
APART = [
    *({"failures", other} for other in ("unanswerable", "subtopics", "spans")),
    *({"spans", other} for other in ("negative labels", "subtopics", "alternatives")),
    *({"alternatives", other} for other in ("unanswerable", "negative labels", "subtopics", "failures")),
]
NOTHING = Answer(math.nan, math.nan, math.nan, math.nan)
NO_MEAN = ("GMAP", "NumRelRet")  # measures of which a judge estimates nothing


def is_one_question(one: str, other: str) -> bool:
    """Tell whether two features can be asked for at once: not two values of one argument."""
    is_same_argument = "=" in one and one.partition("=")[0] == other.partition("=")[0]
    return not is_same_argument and {one, other} not in APART


def declared(name: str) -> Declared | None:
    feature, _, value = TRIED[name].declared.partition("=")
    return Declared(feature_named(feature), value or None) if feature else None


def are_declared(one: str, other: str) -> bool:
    """Tell whether the registry says that two features go together; data may hold what it wants."""
    first, second = declared(one), declared(other)
    return first is None or second is None or go_together(first, second)


def test_the_guide_says_what_does_not_go_together() -> None:
    """If this fails on purpose: ``PYTHONPATH=tests:src python -m support.what_goes_together``."""
    assert table() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TRIED)
def test_a_feature_alone_is_computed(name: str) -> None:
    check_numbers(asked_with(name), asked_with(name).evaluate())


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_each_pair_is_computed_or_refused(name: str) -> None:
    earlier = itertools.takewhile(lambda other: other != name, TRIED)
    wrong = [f"{other} with {name}: {problem}" for other in earlier if (problem := problem_of_pair(other, name))]
    assert not wrong, "\n".join(wrong)


def problem_of_pair(one: str, other: str) -> str:
    """Say what is wrong with a pair of features; empty if it is computed as declared, or refused as it is not."""
    if not is_one_question(one, other):
        return ""
    asked = asked_with(one, other)
    try:
        check_numbers(asked, asked.evaluate())
    except (ParameterError, DataError) as error:
        is_wrong = are_declared(one, other)
        return f"declared, and refused: {error}" if is_wrong else problem_of_sentence(str(error), one, other)
    except AssertionError as error:
        return f"wrong: {error}"
    return "" if are_declared(one, other) else "not declared, and computed"


def problem_of_sentence(message: str, *names: str) -> str:
    """Say which feature a refusal does not name, or that it is more than a line."""
    unnamed = [name for name in names if not re.search(TRIED[name].words, message)]
    return f"{', '.join(unnamed)} is not named: {message}" if unnamed or "\n" in message else ""


def check_numbers(asked: Asked, found: dh.Evaluation) -> None:
    """Check every number of an evaluation against those of the oracle."""
    question = asked.question
    by_judge = None if question.judge is None else answers_to(question, question.judge)
    for measure, answers in answers_to(question).items():
        scores = found[measure]
        queries = scores.query_ids.tolist()
        assert set(queries) == set(answers), f"queries of {measure}"
        own = [answers[query] or NOTHING for query in queries]
        for name in ("tie_min", "tie_max", "tie_std"):
            check_equal(getattr(scores, name), [getattr(one, name) for one in own], f"{name} of {measure}")
        bounds = []
        if scores.unjudged is not None and scores.has_unjudged_bounds:
            bounds = ["unjudged_min", "unjudged_max"]
        assert question.has_bounds or not bounds
        if question.ties == "random":
            columns = [scores.values, *(getattr(scores, name) for name in bounds)]
            check_attained(np.column_stack(columns), own, measure)
            continue
        check_equal(scores.values, [one.value for one in own], f"values of {measure}")
        for name in bounds:
            check_equal(getattr(scores, name), [getattr(one, name) for one in own], f"{name} of {measure}")
        if by_judge is None or measure in NO_MEAN:
            check_equal(scores.reported(), mean_of(answers, measure, question.weights), f"mean of {measure}")
        else:
            check_estimate(question, scores, answers, by_judge[measure])


def check_equal(found: FloatArray | float, expected: list[float] | float, what: str) -> None:
    numbers, others = np.atleast_1d(found), np.atleast_1d(expected)
    wrong = ~np.isclose(numbers, others, atol=1e-7, equal_nan=True)
    assert not wrong.any(), f"{what}: {numbers[wrong][:3]} and not {others[wrong][:3]}"


def check_attained(numbers: FloatArray, answers: list[Answer], measure: str) -> None:
    """Check that value, and bounds, of each query are those of one order of its ties."""
    for row, answer in zip(numbers.round(9).tolist(), answers, strict=True):
        if answer is NOTHING:
            assert math.isnan(row[0])
        else:
            assert tuple(row) in {one[: len(row)] for one in answer.attained}, f"drawn {measure}"


def check_estimate(question: Question, scores: dh.Scores, answers: Answers, by_judge: Answers) -> None:
    """Check the mean that a judge's labels help to estimate, and that of human labels."""
    label = scores.measure.label
    check_equal(scores.human_mean, mean_of(answers, label, question.weights), f"human mean of {label}")
    known = [query for query, answer in answers.items() if answer is not None]
    others = [query for query, answer in by_judge.items() if answer is not None and query not in question.qrels]
    estimated = powered_mean(
        values_of(answers, known),
        values_of(by_judge, known),
        values_of(by_judge, others),
        weights=None if question.weights is None else np.array([question.weights[query] for query in known]),
        other_weights=None if question.weights is None else np.array([question.weights[query] for query in others]),
        fewest=FEWEST_OF_MEAN,
    )
    check_equal(scores.mean, estimated.estimate, f"estimated mean of {label}")


def values_of(answers: Answers, queries: list[str]) -> FloatArray:
    values = []
    for query in queries:
        answer = answers[query]
        assert answer is not None
        values.append(answer.value)
    return np.array(values)
