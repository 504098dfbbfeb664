"""Grades in answers: the number that a person or a language model wrote for a document, and no other number in it."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple, cast

from deadheat.core.libraries import polars as pl
from deadheat.core.wording import format_list

# Answers may be of any length and content: possessive quantifiers (++, *+) keep a search from quadratic time
NUMBER = r"(?<![\d.])[-+]?\d++(?:\.\d++)?+(?![\d.]*\d)"
OF_SCALE = r"\s*+(?:/|out[ ]of)\s*+(\d++(?:\.\d++)?+)(?![\d.]*\d)"
NUMBERS = re.compile(f"({NUMBER})(?:{OF_SCALE})?")
# A number that is a grade, and not that of a document or of an error; compiled when it is first used
GRADED = rf"""(?xi)
\A[\W_]* {NUMBER} (?:[^\w%]|_)*\Z  # alone
| (?:
    \A[^\w\[(]* (?=[-+]?(?:\d{{1,2}}|100)(?!\d))  # first: longer ones, such as 503, are codes
    | (?<![^\W_])(?:
        (?:final|grade|rating|relevance|relevance[ ]level|score|label|judge?ment|verdict|answer|bewertung)[\W_]+
        | (?:say|give|rated?|assign)\s+\**
    )(?:(?:is|of|as|at|an?|it|this(?:\s[^\W\d_]++)?+)[\W_]++)*
    | \b(?:ir)?relevant\W*[:(=-]\s*
)
{NUMBER} (?:{OF_SCALE})? (?:\s+(?:points?|stars?))?
(?:  # not before a word: that is what is counted
    (?:[^\w%]|_)*\Z | \s*\n | \s*[^\w\s%/\]-] | \s*-(?!\w) | \s+(?:because|since|as|for)\b
)"""
FENCED = re.compile(r"(?s)\A\s*```(?:json)?\s*(\{.*\})\s*```\s*\Z")
# Names of the column that holds what a judge wrote, the likeliest first
GRADES = ("grade", "rating", "relevance", "judgment", "judgement", "label", "score", "answer", "response", "output")


class Grade(NamedTuple):
    """A grade, and the scale that the answer names; None where it names none, or is no grade."""

    value: float | None
    scale: float | None = None


def read_grade(answer: object, grades: Mapping[str, float] | None = None) -> Grade:
    """Return the grade that an answer holds; without a value if it holds none, or several.

    Parameters
    ----------
    answer : object
        A number, or text with one, alone, first or after a word such as score: 3, "3", "8/10", "Score: 2". Any other
        text with two numbers holds none, as does one whose number may be of a document or an error.
    grades : dict of str to float, optional
        What words mean, in any case: ``{"Highly relevant": 3}``. The answer must be these words alone.

    Examples
    --------
    >>> [read_grade(one).value for one in (3, "3", "8/10", "Score: 2", "**Relevance: 1.5**", '{"score": 2}')]
    [3.0, 3.0, 8.0, 2.0, 1.5, 2.0]
    >>> read_grade("Score: 8/10").scale, read_grade("Highly relevant.", {"highly relevant": 3}).value
    (10.0, 3.0)
    >>> [read_grade(one).value for one in ("I cannot rate this.", "2 or 3", "Error 429", "Passage 2 is off topic", "")]
    [None, None, None, None, None]
    """
    answer = _take_out_of_object(answer)
    if isinstance(answer, str):
        return _read_text(answer, grades or {})
    number = math.nan
    if hasattr(answer, "__float__") and not isinstance(answer, bool):
        with suppress(TypeError, ValueError, OverflowError):  # of several numbers, one not defined, one beyond floats
            number = float(cast("float", answer))
    if not math.isfinite(number):
        return Grade(None)
    return Grade(number)


def _read_text(answer: str, grades: Mapping[str, float]) -> Grade:
    """Return the grade that words stand for, or the only number of a text."""
    if grades:
        number_of_words = {normal_words(name): number for name, number in grades.items()}
        words = normal_words(answer)
        if words in number_of_words:
            return Grade(float(number_of_words[words]))
    candidates = set()
    for number_text, scale_text in NUMBERS.findall(answer):
        candidates.add((float(number_text), float(scale_text) if scale_text else None))
    if len(candidates) != 1 or not re.search(GRADED, answer):
        return Grade(None)
    number, scale = candidates.pop()
    is_beyond_scale = scale is not None and not 0 <= number <= scale
    if is_beyond_scale or not math.isfinite(number):
        return Grade(None)
    return Grade(number, scale)


def describe_far_grades(values: Iterable[float | None]) -> str:
    """Name grades that are far beyond most others, as the number of a document may be; "" without any.

    Examples
    --------
    >>> describe_far_grades([0, 1, 3, 3, 2, 1, 0, 2, 3, 99999]), describe_far_grades([0, 3])
    ('99999 among grades of which nine in ten are at most 3: with a scale these are no grades', '')
    """
    grades = pl.Series(values, dtype=pl.Float64).drop_nulls()
    if grades.is_empty():
        return ""
    usual = max(1.0, float(cast("float", grades.quantile(0.9, "lower"))))
    far = [f"{grade:g}" for grade in grades.unique().sort() if grade > 10 * usual]
    if not far:
        return ""
    shown = format_list(far)
    return f"{shown} among grades of which nine in ten are at most {usual:g}: with a scale these are no grades"


def _take_out_of_object(answer: object) -> object:
    """Return the grade of an answer that is a JSON object with one key for it, such as ``{"score": 2, "why": ...}``."""
    if isinstance(answer, str):
        answer = FENCED.sub(r"\1", answer)
    answer = parse_json(answer, "{")
    if not isinstance(answer, Mapping):
        return answer
    values = [value for name, value in answer.items() if str(name).casefold() in GRADES]
    return values[0] if len(values) == 1 else None


def normal_words(text: str) -> str:
    """Return words without case, marks around them and blanks between."""
    words = re.search(r"(?s)\w(?:.*\w)?", text.casefold())
    if words is None:
        return ""
    return " ".join(words[0].split())


def parse_json(answer: object, opening: str) -> object:
    """Return the list or object that an answer holds as JSON, by the bracket that opens it; else the answer."""
    if isinstance(answer, str) and answer.lstrip().startswith(opening):
        with suppress(ValueError, RecursionError):
            return json.loads(answer)
    return answer
