"""Checks of arguments: each returns the argument in its normal form, or raises an error that says what is allowed."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from deadheat.core.errors import ParameterError
from deadheat.core.gone import find_replacement
from deadheat.core.scalars import LARGEST_INTEGER, as_integer, is_number
from deadheat.core.structures import T
from deadheat.core.wording import did_you_mean, format_given

if TYPE_CHECKING:
    import ast

    from numpy.typing import DTypeLike

    from deadheat.core.arrays import AnyArray, ArrayLike

FLOATS = ("float32", "float16", "bfloat16")  # formats that scores may be rounded to
MOST_DIGITS = 17  # of a float64
MAX_DECIMALS = 15
# The smallest p-value is then 0.01, and two resampled means lie beyond either end of a 95% interval.
FEWEST_RESAMPLES = 99
# What Python reads as a number and nobody else writes: 1_0 and 0x10; and digits of other scripts in words
_ODD_NUMBER = re.compile(r"[0-9]_|_[0-9]|\b0[xobXOB]|(?![0-9])\d")


def read_literal(node: ast.expr, text: str) -> Any:  # noqa: ANN401 - what is written
    """Return the value of a part of a text that Python's parser read.

    Parameters
    ----------
    node : ast.expr
    text : str
        What was parsed.

    Raises
    ------
    ValueError
        The part is no value, a number is not written plainly, or a dict has a key twice, of which Python takes the
        last.

    Examples
    --------
    >>> import ast
    >>> read_literal(ast.parse("{1: 10}", mode="eval").body, "{1: 10}")
    {1: 10}
    >>> read_literal(ast.parse("1_0", mode="eval").body, "1_0")
    Traceback (most recent call last):
        ...
    ValueError: 1_0
    """
    import ast

    value = ast.literal_eval(node)
    written = ast.get_source_segment(text, node) or ""
    has_repeated_key = isinstance(node, ast.Dict) and len(value) < len(node.keys)
    if has_repeated_key or _ODD_NUMBER.search(written):
        raise ValueError(written)
    return value


def name_items(
    given: Iterable[tuple[object, T]],
    where: str = "",
    *,
    what: str = "runs",
    hint: str = "give a dict of name to run",
    python: str = "",
) -> dict[str, T]:
    """Return runs, or other things, by the text of their names; raise for a name that two have, also as 1 and "1".

    Parameters
    ----------
    given : iterable of (object, object)
        Each name with what it names.
    where : str, default ""
        Words of the message, such as " in task x".
    what : str, default "runs"
        What messages call the things.
    hint, python : str
        What to do, as of `DeadheatError`.

    Raises
    ------
    ParameterError

    Examples
    --------
    >>> name_items([(1, "a run"), ("2", "another")])
    {'1': 'a run', '2': 'another'}
    """
    named: dict[str, T] = {}
    for key, value in given:
        name = str(key)
        if name in named:
            raise ParameterError(f"two {what}{where} are named {name!r}", hint=hint, python=python)
        named[name] = value
    return named


def array_of(
    argument: str, given: ArrayLike, dtype: DTypeLike | None = None, allowed: str = "values, in rows of one length"
) -> AnyArray:
    """Return an array as NumPy makes it, but of objects where NumPy would turn numbers into text.

    Raises
    ------
    ParameterError
        NumPy makes no array of what is given, or it has a mask, which NumPy would drop.

    Examples
    --------
    >>> array_of("groups", [1, "1"]).tolist(), array_of("groups", ["a", "b"]).dtype.kind
    ([1, '1'], 'U')
    """
    import numpy as np

    if np.ma.is_masked(given):
        raise ParameterError(
            argument=argument,
            found="a masked array",
            allowed="an array without a mask",
            hint="select what is not masked, or give array.data",
        )
    try:
        array = np.asarray(given, dtype)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(argument=argument, given=given, allowed=allowed) from None
    if array.dtype.kind == "U" and not isinstance(given, np.ndarray):
        objects = np.asarray(given, object)
        if not all(isinstance(item, str) for item in objects.flat):
            return objects
    return array


def as_count(name: str, given: int, low: int = 1) -> int:
    """Return an argument as a count: a whole number of at least `low`."""
    number = as_integer(given)
    if number is None or not low <= number <= LARGEST_INTEGER:
        raise ParameterError(argument=name, given=given, allowed=f"a whole number from {low} on")
    return number


def as_digits(given: int) -> int:
    """Return how many digits a table has behind the point."""
    digits = as_integer(given)
    if digits is None or not 0 <= digits <= MOST_DIGITS:
        raise ParameterError(argument="digits", given=given, allowed=f"a whole number from 0 to {MOST_DIGITS}")
    return digits


def as_text(name: str, given: str) -> str:
    """Return an argument that is text."""
    if not isinstance(given, str):
        raise ParameterError(argument=name, given=given, allowed="text")
    return given


def as_list(name: str, given: object, allowed: str) -> list[Any]:
    """Return an argument that has several values as a list of them; raise for text and for a single value."""
    is_single = isinstance(given, str | bytes) or getattr(given, "ndim", 1) == 0
    if is_single or not isinstance(given, Iterable):
        raise ParameterError(argument=name, given=given, allowed=allowed)
    return list(given)


def as_cutoffs(given: object) -> list[int]:
    """Return the cutoffs that were given as `at`."""
    cutoffs = as_list("at", given, "a list of cutoffs, such as (1, 3, 5, 10)")
    return [as_count("each of at", cutoff) for cutoff in cutoffs]


def as_resamples(name: str, given: int) -> int:
    """Return a number of resamples, if it is large enough for intervals and p-values."""
    return as_count(name, given, FEWEST_RESAMPLES)


def as_flag(name: str, given: object) -> bool:
    """Return True or False, Python's or NumPy's, as a bool."""
    import numpy as np

    if not isinstance(given, bool | np.bool_):
        raise ParameterError(argument=name, given=given, allowed="True or False")
    return bool(given)


def _to_finite(given: float) -> float:
    """Return a value as a float; NaN if it is not a finite number, or beyond floats."""
    with suppress(OverflowError):
        if is_number(given) and math.isfinite(given):
            return float(given)
    return math.nan


def as_pattern(name: str, given: object, example: str, flags: int = 0) -> re.Pattern[str]:
    """Return an argument as a regular expression, or raise `ParameterError`, also where Python's parser gives up."""
    allowed = f"a regular expression such as {example!r}"
    try:
        pattern: re.Pattern[str] = re.compile(given, flags)  # type: ignore[call-overload]
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ParameterError(argument=name, given=given, allowed=allowed, hint=f"{error}") from error
    if not isinstance(pattern.pattern, str):  # of bytes, which matches no text
        raise ParameterError(argument=name, given=given, allowed=allowed)
    return pattern


def as_number(name: str, given: float, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number from `low` to `high`; one without a fraction as an int."""
    number = _to_finite(given)
    if not low <= number <= high:
        raise ParameterError(argument=name, given=given, allowed=_describe_range(low, high))
    if number.is_integer() and abs(number) < LARGEST_INTEGER:
        return int(number)
    return number


def _describe_range(low: float, high: float) -> str:
    """Say which numbers are allowed; those without a lower end have no upper end, either."""
    if low == -math.inf:
        return "a number"
    if high == math.inf:
        return f"a number from {low:g} on"
    return f"a number from {low:g} to {high:g}"


def as_precision(name: str, given: str | int) -> str | int:
    """Return what scores are rounded to: a floating-point format, or a number of decimals, which may be a text."""
    if isinstance(given, str) and given in FLOATS:
        return given
    if isinstance(given, str) and re.fullmatch("[0-9]{1,2}", given):
        decimals: int | None = int(given)
    else:
        decimals = as_integer(given)
    if decimals is None or not 0 <= decimals <= MAX_DECIMALS:
        raise ParameterError(
            argument=name,
            given=given,
            allowed=f"one of {', '.join(map(repr, FLOATS))} or a number of decimals from 0 to {MAX_DECIMALS}",
            hint=did_you_mean(format_given(given), FLOATS),
        )
    return decimals


def as_positive(name: str, given: float) -> float:
    """Return a finite number above 0."""
    number = _to_finite(given)
    if not number > 0:
        raise ParameterError(argument=name, given=given, allowed="a number above 0")
    return number


def as_level(name: str, given: float, high: float = 1.0, example: str = "0.95") -> float:
    """Return a probability, such as a confidence level, between 0 and `high`."""
    if is_number(given) and 0 < given < high:
        return float(given)
    is_percentage = is_number(given) and 2 <= given < 100 * high
    hint = f"Did you mean {given / 100:g}?" if is_percentage else None
    allowed = f"a number between 0 and {high:g}, such as {example}"
    raise ParameterError(argument=name, given=given, allowed=allowed, hint=hint)


def check_choice(name: str, given: object, allowed: Collection[str]) -> None:
    """Raise `ParameterError` unless an argument is one of the allowed words."""
    if not isinstance(given, str) or given not in allowed:
        hint = find_replacement(f"{name}={given!r}") or None
        raise ParameterError(argument=name, given=given, allowed=tuple(allowed), hint=hint)


def refuse_arguments(function: str, given: Mapping[str, object]) -> None:
    """Raise for arguments that a function does not have: of one that is gone the error says what to write instead.

    Examples
    --------
    >>> refuse_arguments("evaluate", {"check_duplicates": False})
    Traceback (most recent call last):
    ...
    deadheat.core.errors.ParameterError: check_duplicates is gone: give duplicates='trust' for False
    """
    for name in given:
        instead = find_replacement(f"{name}=")
        if instead:
            raise ParameterError("is gone", argument=name, hint=instead)
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")
