"""What type each value of a document has, checked before anything is made of the document.

Its hash shows that nothing was damaged by accident; it does not show that deadheat wrote the document.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from deadheat.core import hooks
from deadheat.core.settings import Conventions
from deadheat.core.wording import format_given


class WrongValueError(ValueError):
    """A value of a document is of another type than deadheat writes there."""


class Shape:
    """What may stand at one place of a document."""

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise `WrongValueError` if a value has another shape.

        Parameters
        ----------
        value : object
        place : str
            The keys that lead to it, for the message.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Single(Shape):
    """A single value.

    Attributes
    ----------
    allowed : str
        What it is, for the message.
    fits : callable
        Tells whether a value is such a one.
    """

    allowed: str
    fits: Callable[[Any], bool]

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise `WrongValueError` if a value is not such a one."""
        if not self.fits(value):
            raise WrongValueError(f"{place} is {format_given(value)}, expected {self.allowed}")


@dataclass(frozen=True)
class ListOf(Shape):
    """A list of values of one shape."""

    item: Shape

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise `WrongValueError` if a value is no such list."""
        if not isinstance(value, list):
            raise WrongValueError(f"{place} is {format_given(value)}, expected a list")
        for number, item in enumerate(value):
            self.item.check(item, f"{place}[{number}]")


@dataclass(frozen=True)
class DictOf(Shape):
    """An object with any keys, and values of one shape.

    Attributes
    ----------
    value : Shape
    is_filled : bool
        Whether it has a key.
    """

    value: Shape
    is_filled: bool = False

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise `WrongValueError` if a value is no such object."""
        if not isinstance(value, dict):
            raise WrongValueError(f"{place} is {format_given(value)}, expected an object")
        if self.is_filled and not value:
            raise WrongValueError(f"{place} is empty")
        for key, own in value.items():
            self.value.check(own, f"{place}.{key}".lstrip("."))


@dataclass(frozen=True)
class Fields(Shape):
    """An object with certain keys; others are not looked at.

    Attributes
    ----------
    needed : mapping of str to Shape
    optional : mapping of str to Shape
        Of keys that not every document has.
    """

    needed: Mapping[str, Shape]
    optional: Mapping[str, Shape]

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise `WrongValueError` if a value is no object, lacks a key, or has a wrong value."""
        if not isinstance(value, dict):
            raise WrongValueError(f"{place or 'the document'} is {format_given(value)}, expected an object")
        for key, shape in {**self.needed, **self.optional}.items():
            inner = f"{place}.{key}".lstrip(".")
            if key in value:
                shape.check(value[key], inner)
            elif key in self.needed:
                raise WrongValueError(f"lacks {key!r}" + (f" in {place}" if place else ""))


@dataclass(frozen=True)
class NoneOr(Shape):
    """A value of a shape, or null."""

    shape: Shape

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise `WrongValueError` if a value is neither."""
        if value is not None:
            self.shape.check(value, place)


class OfConventions(Shape):
    """The conventions of an evaluation, as their class checks them."""

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise `WrongValueError` or `ParameterError` if a value is no such object."""
        FIELDS.check(value, place)
        for key in value:
            if key not in Conventions.__dataclass_fields__:
                raise WrongValueError(f"{place} has the unknown key {format_given(key)}")
        _check_exclusion(value.get("exclude"), place)
        Conventions(**value)


def _check_exclusion(value: object, place: str) -> None:
    """Raise `WrongValueError` unless a value is what conventions call an exclusion: a path would be read."""
    if value is not None and not hooks.service("exclude").is_name(value):
        raise WrongValueError(f"{place}.exclude is no name of an exclusion: {format_given(value)}")


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53


def _is_number(value: object) -> bool:
    """Tell whether a value is a number that float64 can hold, or the text of an infinite one."""
    if isinstance(value, str):
        return value in {"inf", "-inf"}
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


TEXT = Single("text", lambda value: isinstance(value, str))
FLAG = Single("true or false", lambda value: isinstance(value, bool))
WHOLE = Single("a whole number from 0 on", _is_whole)
NUMBER = Single("a number", _is_number)
NUMBER_OR_NONE = NoneOr(NUMBER)
WHOLE_OR_NONE = NoneOr(WHOLE)
TEXTS = ListOf(TEXT)
PRECISIONS_OR_NONE = NoneOr(
    ListOf(NoneOr(Single("text or a whole number", lambda value: isinstance(value, str) or _is_whole(value))))
)
FIELDS = Fields({}, {})
