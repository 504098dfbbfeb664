"""Parameters of measures: what each may be, its default and its meaning, and the errors for unknown ones."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, dataclass_transform

from deadheat.core.checks import as_count, as_flag, as_number
from deadheat.core.errors import MeasureError, ParameterError
from deadheat.core.structures import T
from deadheat.core.wording import did_you_mean, format_given

CALL = re.compile(r"(\w+)(?:\((.*)\))?")
GAIN_OF_DCG = {"log2": "linear", "exp-log2": "exp"}  # our `gain` by what ir_measures calls `dcg`
LETTERS = "abcd"  # names of the numbers in parentheses that have none, in the text of what is allowed


def parameter(default: Any, check: "Check", meaning: str) -> Any:  # noqa: ANN401 - typed by its field
    """Return a dataclass field that knows its check and its meaning.

    A check says what is `allowed`. Called with a value, it returns its normal form, or raises ValueError; with a hint,
    if there is one, ParameterError.
    """
    return field(default=default, metadata={"check": check, "meaning": meaning})


@dataclass_transform(kw_only_default=True, frozen_default=True)
def parameters(measure: type[T]) -> type[T]:
    """Make the fields of a class its parameters. Classes that are not registered need this; `register` does it itself.

    `Measure` has the methods that a dataclass would compile for each class: that took a quarter of the import time.
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
        is_left_open = self.open_low or self.low == -math.inf
        is_right_open = self.open_high or self.high == math.inf
        left = "(" if is_left_open else "["
        right = ")" if is_right_open else "]"
        interval = f"a number in {left}{self.low:g}, {self.high:g}{right}"
        if self.optional:
            return f"{interval} or None"
        return interval

    def bounds(self, name: str) -> str:
        """Write the bounds around a name: "x > 0", "0 < x <= 1"; nothing if there are none."""
        has_low = self.low != -math.inf
        has_high = self.high != math.inf
        above = ">" if self.open_low else ">="
        below = "<" if self.open_high else "<="
        if has_low and has_high:
            after_low = "<" if self.open_low else "<="
            return f"{self.low:g} {after_low} {name} {below} {self.high:g}"
        if has_low:
            return f"{name} {above} {self.low:g}"
        if has_high:
            return f"{name} {below} {self.high:g}"
        return ""

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return a plain int or float."""
        if value is None and self.optional:
            return None
        number = as_number(self.name, value, self.low)
        if number > self.high:
            raise ValueError
        if self.open_low and number == self.low:
            raise ValueError
        if self.open_high and number == self.high:
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
    """Values that the function `normal` accepts, and brings to their normal form.

    Attributes
    ----------
    allowed : str
        Which values it accepts, in words.
    normal : callable
        Raises ValueError or TypeError for others.
    """

    allowed: str
    normal: Callable[[Any], Any]

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the value in its normal form."""
        return self.normal(value)


def _cutoff(value: Any) -> int | None:  # noqa: ANN401 - as above
    if value is None:
        return None
    return as_count("", value)


FLAG = Only("True or False", partial(as_flag, ""))
COUNT = Only("a whole number from 1 on", partial(as_count, ""))
CUTOFF = Only("a whole number from 1 on, or None", _cutoff)


@dataclass(frozen=True)
class Call:
    """A word, with numbers in parentheses where it takes some: ``"exp"``, ``"log(2)"``, ``"sigmoid(1, 2)"``.

    Attributes
    ----------
    forms : dict of str to tuple of Number
        The words, and the numbers that each takes.
    mapping : bool
        Whether a mapping from relevance to gain is allowed, too.
    """

    forms: dict[str, tuple[Number, ...]]
    mapping: bool = False

    @property
    def allowed(self) -> str:
        """Show every form, with the bounds of its numbers."""
        shown = [self._show_form(word, numbers) for word, numbers in self.forms.items()]
        if self.mapping:
            shown.append(Gains.allowed)
        return " or ".join(shown)

    @staticmethod
    def _show_form(word: str, numbers: tuple[Number, ...]) -> str:
        if not numbers:
            return f"'{word}'"
        names = []
        bounds = []
        for letter, number in zip(LETTERS, numbers, strict=False):
            name = number.name or letter
            names.append(name)
            if number.bounds(name):
                bounds.append(number.bounds(name))
        form = f"'{word}({', '.join(names)})'"
        if not bounds:
            return form
        return f"{form} ({', '.join(bounds)})"

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the text in its normal form, or the mapping as sorted pairs."""
        if self.mapping and isinstance(value, dict):
            return Gains(value)
        word, numbers = self.split(value)
        if not numbers:
            return word
        return f"{word}({', '.join(map(repr, numbers))})"

    def split(self, value: Any) -> tuple[str, tuple[float, ...]]:  # noqa: ANN401 - a check takes whatever the user gave
        """Return the word and its numbers."""
        match = None
        if isinstance(value, str):
            match = CALL.fullmatch(value.replace(" ", ""))
        if match is None or match[1] not in self.forms:
            raise ParameterError(hint=did_you_mean(value, self.forms))
        word = match[1]
        inside = match[2] or ""
        if "_" in inside or not inside.isascii():
            raise ValueError  # Python reads 1_0 as 10
        given = []
        if inside:
            given = [float(part) for part in inside.split(",")]
        numbers = tuple(check(number) for check, number in zip(self.forms[word], given, strict=True))
        return word, numbers


class Gains(dict[float, float]):
    """A mapping from relevance to gain that can be hashed, as measures are."""

    allowed = "a mapping of relevance to gain (>= 0), such as {1: 1, 2: 3}"

    def __init__(self, gains: dict[float, float]) -> None:
        if not gains:
            raise ValueError
        check_level = Number()
        check_gain = Number(low=0)
        super().__init__(sorted((check_level(level), check_gain(gain)) for level, gain in gains.items()))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


Check: TypeAlias = Number | Choice | Only | Call


def translate_gain(parameters: Mapping[str, object], names: list[str]) -> dict[str, object]:
    """Return parameters with `gain` where ir_measures has ``dcg="exp-log2"`` or ``gains={...}``.

    Nothing changes if `gain` is given or the measure has none, or if `dcg` is unknown or contradicts ``gains``.

    Parameters
    ----------
    parameters : mapping of str to object
        As they were given.
    names : list of str
        The parameters that the measure has.

    Examples
    --------
    >>> translate_gain({"dcg": "exp-log2"}, ["gain"]), translate_gain({"gains": {1: 2}}, ["rel"])
    ({'gain': 'exp'}, {'gains': {1: 2}})
    """
    translated = dict(parameters)
    if "gain" not in names or "gain" in parameters:
        return translated
    if "gains" in parameters:
        if parameters.get("dcg", "log2") == "log2":
            translated["gain"] = translated.pop("gains")
            translated.pop("dcg", None)
    elif str(parameters.get("dcg")) in GAIN_OF_DCG:
        translated["gain"] = GAIN_OF_DCG[str(translated.pop("dcg"))]
    return translated


def make_parameter_error(measure: str, name: str, value: object, names: list[str]) -> MeasureError:
    """Return the error for a parameter that a measure does not have; `names` are those that it has."""
    if name == "cutoff":
        return MeasureError(f"{measure} takes no cutoff", found=f"@{format_given(value)}")
    return MeasureError(
        f"{measure} has no parameter {name!r}; it takes {', '.join(names) or 'none'}",
        hint=_suggest_parameter(measure, name, value, names),
    )


def _suggest_parameter(measure: str, name: str, value: object, names: list[str]) -> str:
    """Return what to write instead of a misspelt parameter, or of one of another tool; empty if nothing is near."""
    if name == "judged_only":
        return "It is an option of evaluate, for all measures: judged_only=True, or deadheat evaluate -J"
    if name in {"dcg", "gains"} and "gain" in names:
        return "What ir_measures calls dcg='log2' or dcg='exp-log2' is gain='linear' or gain='exp'"
    nearest = did_you_mean(name, names)
    if not nearest and name in {"k", "at", "top"} and "cutoff" in names:
        return f"Write the cutoff behind @: {measure}@{format_given(value)}"
    return nearest
