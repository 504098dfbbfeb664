"""Parameters of measures: each field of a measure names its default, what it may be, and what it means."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, dataclass_transform

import numpy as np

from deadheat.errors import ParameterError, as_count, as_number, did_you_mean

M = TypeVar("M")
CALL = re.compile(r"(\w+)(?:\((.*)\))?")


class Domain(Protocol):
    """What a parameter may be."""

    @property
    def allowed(self) -> str:
        """Describe what is allowed."""
        ...

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the value in its normal form, or raise ValueError; with a hint, if there is one, ParameterError."""


def parameter(default: Any, check: Domain, meaning: str) -> Any:  # noqa: ANN401 - typed by its field
    """Return a dataclass field that knows its check and its meaning."""
    return field(default=default, metadata={"check": check, "meaning": meaning})


@dataclass_transform(kw_only_default=True, frozen_default=True)
def parameters(measure: type[M]) -> type[M]:
    """Make the fields of a measure its parameters; the class from which all measures derive has the methods for them.

    Those that a dataclass would have of its own are compiled for each class: a quarter of the time that imports take.
    """
    return dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)(measure)


@dataclass(frozen=True)
class Number:
    """A real number between two bounds; `name` is what a formula calls it."""

    name: str = ""
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    optional: bool = False

    @property
    def allowed(self) -> str:
        """Describe the interval."""
        left, right = (
            "(" if self.open_low or self.low == -math.inf else "[",
            (")" if self.open_high or self.high == math.inf else "]"),
        )
        either = " or None" if self.optional else ""
        return f"a number in {left}{self.low:g}, {self.high:g}{right}{either}"

    def bounds(self, name: str) -> str:
        """Write the bounds around a name; nothing if there are none."""
        low = "" if self.low == -math.inf else f"{name} {'>' if self.open_low else '>='} {self.low:g}"
        if self.high == math.inf:
            return low
        high = f"{name} {'<' if self.open_high else '<='} {self.high:g}"
        return f"{self.low:g} {'<' if self.open_low else '<='} {high}" if low else high

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return a plain int or float."""
        if value is None and self.optional:
            return None
        number = as_number(self.name, value, self.low)
        if (
            not number <= self.high
            or (self.open_low and number == self.low)
            or (self.open_high and number == self.high)
        ):
            raise ValueError
        return number


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """List the words."""
        return " or ".join(map(repr, self.words))

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            raise ParameterError(hint=did_you_mean(value, self.words))
        return value


@dataclass(frozen=True)
class Only:
    """Whatever a condition holds for, which `allowed` says in words, in its normal form."""

    allowed: str
    holds: Callable[[Any], bool]
    normal: Callable[[Any], Any] = lambda value: value

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the value in its normal form."""
        if not self.holds(value):
            raise ValueError
        return self.normal(value)


FLAG = Only("True or False", lambda value: isinstance(value, bool | np.bool_), bool)


@dataclass(frozen=True)
class Cutoff:
    """A positive whole number, or None for the whole list."""

    optional: bool = True

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        return "a whole number from 1 on" + (", or None" if self.optional else "")

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the cutoff as int."""
        if value is None and self.optional:
            return None
        return as_count("cutoff", value)


@dataclass(frozen=True)
class Call:
    """A word, some with numbers behind it: ``"log(2)"``, ``"sigmoid(1, 2)"``."""

    forms: dict[str, tuple[Number, ...]]
    mapping: bool = False

    @property
    def allowed(self) -> str:
        """Show every form, with the bounds of its numbers."""
        shown = [self._shown(word, numbers) for word, numbers in self.forms.items()]
        return " or ".join([*shown, Gains.allowed] if self.mapping else shown)

    @staticmethod
    def _shown(word: str, numbers: tuple[Number, ...]) -> str:
        named = [(number.name or letter, number) for letter, number in zip("abcd", numbers, strict=False)]
        if not named:
            return f"'{word}'"
        bounds = ", ".join(filter(None, (number.bounds(name) for name, number in named)))
        return f"'{word}({', '.join(name for name, _ in named)})'" + (f" ({bounds})" if bounds else "")

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the text in its normal form, or the mapping as sorted pairs."""
        if self.mapping and isinstance(value, dict | Gains):
            return Gains(value)
        word, numbers = self.split(value)
        return f"{word}({', '.join(map(repr, numbers))})" if numbers else word

    def split(self, value: Any) -> tuple[str, tuple[float, ...]]:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the word and its numbers."""
        match = CALL.fullmatch(value.replace(" ", "")) if isinstance(value, str) else None
        if not match or match[1] not in self.forms:
            raise ParameterError(hint=did_you_mean(value, self.forms))
        given = [float(part) for part in match[2].split(",")] if match[2] else []
        if match[2] and ("_" in match[2] or not match[2].isascii()):
            raise ValueError  # Python reads 1_0 as 10
        checks = self.forms[match[1]]
        if len(given) != len(checks):
            raise ValueError
        return match[1], tuple(check(number) for check, number in zip(checks, given, strict=True))


class Gains(dict[float, float]):
    """A mapping from relevance to gain that can be hashed, as measures are."""

    allowed = "a mapping of relevance to gain (>= 0), such as {1: 1, 2: 3}"

    def __init__(self, gains: dict[float, float]) -> None:
        if not gains:
            raise ValueError
        level, gain = Number(), Number(low=0)
        super().__init__(sorted((level(key), gain(value)) for key, value in gains.items()))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))
