"""Checks of arguments that several layers take; an error says what was given and what is allowed.

Options of commands need them, and help must not wait for NumPy: it is imported where it is needed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
from collections.abc import Collection, Iterable
from copy import copy
from importlib import import_module
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from deadheat.errors import MissingDependencyError, ParameterError, Plain, as_given, did_you_mean

if TYPE_CHECKING:
    import numpy as np

    from deadheat.arrays import AnyArray, ArrayLike

K = TypeVar("K")
T = TypeVar("T")
Rng: TypeAlias = "np.random.Generator | int | None"
LARGEST_INTEGER = 2**53  # from here on a float has no fraction, and no neighbour less than 1 away
FORMATS = ("float32", "float16", "bfloat16")  # that scores may be rounded to
MAX_DECIMALS = 15
FEWEST_RESAMPLES = (
    99  # the smallest p-value is then 0.01, and two resampled means lie beyond either end of a 95% interval
)
# what Python reads as a number and nobody else writes: 1_0 and 0x10; and digits of other scripts in words
_ODD = re.compile(r"[0-9]_|_[0-9]|\b0[xobXOB]|(?![0-9])\d")


def literal(node: ast.expr, text: str) -> Any:  # noqa: ANN401 - what is written
    """Return the value of a part of a text that Python's parser read.

    Parameters
    ----------
    node : ast.expr
    text : str
        What was parsed.

    Raises
    ------
    ValueError
        It is no value, a number is not written plainly, or a dict has a key twice, of which Python takes the last.

    Examples
    --------
    >>> literal(ast.parse("{1: 10}", mode="eval").body, "{1: 10}")
    {1: 10}
    >>> literal(ast.parse("1_0", mode="eval").body, "1_0")
    Traceback (most recent call last):
        ...
    ValueError: 1_0
    """
    found, written = ast.literal_eval(node), ast.get_source_segment(text, node) or ""
    if _ODD.search(written) or (isinstance(node, ast.Dict) and len(found) < len(node.keys)):
        raise ValueError(written)
    return found


def by_name(given: Iterable[tuple[object, T]]) -> dict[str, T]:
    """Return runs or evaluations by name, as text; raise for a name that two have, also as 1 and "1".

    Examples
    --------
    >>> by_name([(1, "a run"), ("2", "another")])
    {'1': 'a run', '2': 'another'}
    """
    named: dict[str, T] = {}
    for name, one in given:
        if str(name) in named:
            raise ParameterError(f"two runs are named {str(name)!r}", hint="give a dict of name to run")
        named[str(name)] = one
    return named


def collected(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the values of each key, in order of appearance.

    Examples
    --------
    >>> collected([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def changed(thing: T, **attributes: Any) -> T:  # noqa: ANN401 - of any object
    """Return a copy of an object with some other attributes."""
    found = copy(thing)
    vars(found).update(attributes)
    return found


def array_of(argument: str, given: ArrayLike) -> AnyArray:
    """Return an array as NumPy makes it, of objects where it would make text of numbers; raise for one with a mask.

    Examples
    --------
    >>> array_of("groups", [1, "1"]).tolist(), array_of("groups", ["a", "b"]).dtype.kind
    ([1, '1'], 'U')
    """
    import numpy as np

    if np.ma.is_masked(given):  # NumPy would drop the mask
        hint = "select what is not masked, or give array.data"
        raise ParameterError(
            argument=argument, given=Plain("a masked array"), allowed="an array without a mask", hint=hint
        )
    found = np.asarray(given)
    if found.dtype.kind == "U" and not isinstance(given, np.ndarray):
        as_given = np.asarray(given, object)
        return found if all(isinstance(one, str) for one in as_given.flat) else as_given
    return found


def generator(rng: Rng, *keys: int) -> np.random.Generator:
    """Return a random generator; the same seed and keys give the same one.

    Parameters
    ----------
    rng : numpy.random.Generator, int or None
        A generator is returned as it is; None takes a new seed each time.
    *keys : int
        Tell apart generators that share a seed.
    """
    import numpy as np

    number = whole(as_rng("rng", rng))
    return np.random.default_rng(rng if number is None else [number, *keys])


def as_rng(name: str, given: Rng) -> Rng:
    """Return what `generator` takes; to check a seed loads no generators of NumPy."""
    import numpy as np

    number = whole(given)
    is_allowed = given is None or isinstance(given, np.random.Generator) if number is None else number >= 0
    if not is_allowed:
        raise ParameterError(
            argument=name, given=given, allowed="a whole number from 0 on, a numpy.random.Generator or None"
        )
    return given


def whole(given: object) -> int | None:
    """Return an integer, Python's or NumPy's, as an int; None for anything else."""
    try:
        return None if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_number(given: object) -> bool:
    """Tell whether an argument is a single real number, Python's or NumPy's."""
    return isinstance(given, Real) and not isinstance(given, bool)


def as_count(name: str, given: int, low: int = 1) -> int:
    """Return an argument as a count: a whole number of at least `low`."""
    number = whole(given)
    if number is None or not low <= number <= LARGEST_INTEGER:
        raise ParameterError(argument=name, given=given, allowed=f"a whole number from {low} on")
    return number


def resamples(name: str, given: int) -> int:
    """Return a number of resamples, if it is large enough for intervals and p-values."""
    return as_count(name, given, FEWEST_RESAMPLES)


def as_flag(name: str, given: object) -> bool:
    """Return True or False, Python's or NumPy's, as a bool."""
    import numpy as np

    if not isinstance(given, bool | np.bool_):
        raise ParameterError(argument=name, given=given, allowed="True or False")
    return bool(given)


def as_number(name: str, given: float, low: float = -math.inf) -> float:
    """Return a finite number of at least `low`; one without a fraction as an int."""
    if not is_number(given) or not low <= given or abs(given) > sys.float_info.max:
        allowed = "a number" + (f" from {low:g} on" if low > -math.inf else "")
        raise ParameterError(argument=name, given=given, allowed=allowed)
    number = float(given)
    return int(number) if number.is_integer() and abs(number) < LARGEST_INTEGER else number


def as_precision(name: str, given: str | int) -> str | int:
    """Return what scores are rounded to: a floating-point format, or a number of decimals, also one given as text."""
    if isinstance(given, str) and given in FORMATS:
        return given
    is_text = isinstance(given, str) and re.fullmatch("[0-9]{1,2}", given)
    decimals = int(given) if is_text else whole(given)
    if decimals is None or not 0 <= decimals <= MAX_DECIMALS:
        raise ParameterError(
            argument=name,
            given=given,
            allowed=f"one of {', '.join(map(repr, FORMATS))} or a number of decimals from 0 to {MAX_DECIMALS}",
            hint=did_you_mean(as_given(given), FORMATS),
        )
    return decimals


def positive(name: str, given: float) -> float:
    """Return a finite number above 0."""
    if not is_number(given) or not 0 < given < math.inf:
        raise ParameterError(argument=name, given=given, allowed="a number above 0")
    return float(given)


def level(name: str, given: float, high: float = 1.0, example: str = "0.95") -> float:
    """Return a probability, such as a confidence level, that lies between 0 and `high`."""
    if not is_number(given) or not 0 < given < high:
        is_percent = is_number(given) and 2 <= given < 100 * high
        hint = f"Did you mean {given / 100:g}?" if is_percent else None
        allowed = f"a number between 0 and {high:g}, such as {example}"
        raise ParameterError(argument=name, given=given, allowed=allowed, hint=hint)
    return float(given)


def check_choice(name: str, given: object, allowed: Collection[str]) -> None:
    """Raise `ParameterError` unless an argument is one of the allowed words."""
    if given not in allowed:
        raise ParameterError(argument=name, given=given, allowed=tuple(allowed))


def package(name: str, what: str, extra: str) -> Any:  # noqa: ANN401 - many are published without types
    """Return a module of a package that may not be installed; `what` needs it, and an extra installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{what}, which is not installed", hint=f"pip install 'deadheat[{extra}]'"
        ) from error
