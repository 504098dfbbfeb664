"""Scores, ranks and relevances of users, as text or as numbers: refused where float64 would merge neighbours."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Context, Decimal
from numbers import Rational, Real
from pathlib import Path
from typing import Any

import numpy as np

from deadheat.core.arrays import AnyArray, BoolArray
from deadheat.core.errors import DataError
from deadheat.core.io.kinds import VALUE_COLUMN, Kind
from deadheat.core.libraries import polars as pl
from deadheat.core.scalars import LARGEST_INTEGER
from deadheat.core.wording import format_given, quote_text

_EXACT = (Rational, Decimal)
BEYOND = "an integer or decimal beyond 2**53, where float64 merges neighbours; rescale it"


def is_beyond(value: Any) -> bool:  # noqa: ANN401 - any exact number
    """Tell whether float64 may merge an integer or decimal with its neighbours; infinity is not such a number."""
    return not -LARGEST_INTEGER <= value <= LARGEST_INTEGER and value not in {math.inf, -math.inf}


def are_beyond(values: AnyArray) -> BoolArray:
    """Tell which numbers of an array float64 may merge with neighbours: whole ones beyond 2**53, and longer floats."""
    beyond: BoolArray = (values > LARGEST_INTEGER) | (values < -LARGEST_INTEGER)
    if values.dtype.kind in "iu":
        return beyond
    return beyond & (values.astype(np.float64) != values)


def check_number(kind: Kind, query: str, doc: str, value: Any, where: str) -> None:  # noqa: ANN401 - it may be anything
    """Raise if a value is not a number that can be evaluated."""
    problem = find_problem(value, kind)
    if not problem:
        return
    python = None
    if isinstance(value, str) and value[:1].isdigit():
        python = 'float(text.partition("/")[0]) reads grades such as "8" and "8/10"'
    raise DataError(
        f"{VALUE_COLUMN[kind]} of document {doc!r} for query {query!r} is {problem}", python=python, path=where
    )


def find_problem(value: Any, kind: Kind) -> str:  # noqa: ANN401 - as above
    """Return what a value is, such as "NaN", if it cannot be evaluated; "" if it can."""
    number: float | None = None
    if not isinstance(value, str | bytes):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = None
        except OverflowError:
            number = math.inf
    if number is None:
        return f"not a number: {value!r}"
    if np.isnan(number):
        return "NaN"
    is_large = isinstance(value, Real | Decimal) and is_beyond(value)
    if is_large and (isinstance(value, _EXACT) or value != number):
        return f"{format_given(value)}, {BEYOND}"
    if kind == "qrels" and np.isinf(number):
        return f"infinite: {value!r}"
    return ""


# What Polars reads as a float. Python's float() accepts more: "1_0", and digits of other scripts.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII
)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)


def is_number_text(text: str) -> bool:
    """Return whether a text is a number as files have them."""
    return _NUMBER.fullmatch(text) is not None


def read_value(text: str, kind: Kind, *, path: Path, line: int | None, name: str = "") -> float:
    """Return the score, rank or relevance in `text`, or raise DataError."""
    name = name or VALUE_COLUMN[kind]
    if not is_number_text(text):
        hint = None
        if not text and kind == "qrels":
            hint = "leave out what is not judged, or add the file to the qrels: deadheat convert --add"
        raise DataError(
            f"{name} must be a number",
            given=text,
            found=None if text else "an empty field",
            hint=hint,
            path=path,
            line=line,
        )
    value = float(text)
    if math.isnan(value):
        raise DataError(f"{name} must be a number", found=f"NaN ({text!r})", path=path, line=line)
    if math.isinf(value) and kind == "qrels":
        raise DataError(f"{name} must be finite", given=text, path=path, line=line)
    if math.isinf(value) and any(char.isdigit() for char in text):
        raise DataError(f"{name} is beyond the range of float64: {quote_text(text)}", path=path, line=line)
    if abs(value) >= LARGEST_INTEGER and not math.isinf(value) and not _is_exact(text, value):
        raise DataError(f"{name} is {quote_text(text)}, {BEYOND}", path=path, line=line)
    return value


def _is_exact(text: str, value: float) -> bool:
    """Tell whether a large number keeps its text: the text is exact, rounded to its digits, or the shortest one."""
    written = Decimal(text)  # int() refuses thousands of digits
    if _INTEGER.fullmatch(text):
        return not is_beyond(written)
    mantissa, _, _ = text.lower().partition("e")
    digits = mantissa.strip("+-").replace(".", "").lstrip("0")
    exact = Decimal(value)
    rounded = Context(prec=len(digits)).plus(exact)
    shortest = Decimal(repr(value))
    return written in {exact, rounded, shortest}


def to_python_numbers(values: Sequence[Any]) -> Sequence[Any]:
    """Return values with NumPy's numbers as Python's, if they have several types; those of one type as they are.

    Polars would round the other numbers to the precision of a NumPy number among them.

    Examples
    --------
    >>> to_python_numbers([np.float32(0.5), 0.1])
    [0.5, 0.1]
    """
    types = set(map(type, values))
    if len(types) == 1 or not any(issubclass(value_type, np.generic) for value_type in types):
        return values
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def are_plain(values: pl.Series) -> bool:
    """Return whether all are numbers, finite and so small that float64 holds them exactly as they were written."""
    # chunk by chunk, as one array of all is a copy of a large file
    for chunk in values.get_chunks():
        numbers = chunk.to_numpy()
        # null is NaN, which is neither below nor above another number
        if len(numbers) and not (numbers.min() > -LARGEST_INTEGER and numbers.max() < LARGEST_INTEGER):
            return False
    return True
