"""Options of retrievers: checked, and written as they can be read."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from deadheat.arguments import as_count, is_number
from deadheat.errors import ParameterError
from deadheat.wording import Plain, shown

T = TypeVar("T")


def options_of(retriever: object, *names: str) -> dict[str, object]:
    """Return some attributes by name."""
    return {name: getattr(retriever, name) for name in names}


def written(name: str, kind: type, options: Mapping[str, object]) -> str:
    """Return a name with the options that are not the defaults of a class, as `make_retriever` reads them."""
    defaults = inspect.signature(kind).parameters
    given = [f"{key}={_plain(value)!r}" for key, value in options.items() if value != defaults[key].default]
    return name + (f"({', '.join(given)})" if given else "")


def _plain(value: object) -> object:
    """Return a number without a fraction as people write it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def check_number(name: str, given: object, *, low: float, high: float = math.inf) -> None:
    """Raise `ParameterError` if an option is not a number in its range."""
    number = float(given) if is_number(given) else math.nan  # type: ignore[arg-type]
    if not low <= number <= high or math.isinf(number):
        allowed = f"from {low:g} to {high:g}" if high < math.inf else f"from {low:g} on"
        raise ParameterError(argument=name, given=given, allowed=f"a number {allowed}")


def check_search(texts: Sequence[str], k: int) -> None:
    """Raise `ParameterError` if what is searched for is not a list of texts, or if k is not a count."""
    as_count("k", k)
    if isinstance(texts, str):
        raise ParameterError(
            argument="texts",
            given=Plain(f"the text {shown(texts)}"),
            allowed="a list of texts",
            hint=f"write [{shown(texts)}]",
        )
    given: Sequence[object] = texts
    for one in given:
        if not isinstance(one, str):
            raise ParameterError(
                argument="texts", given=Plain(f"{one!r} ({type(one).__name__}) in it"), allowed="a list of texts"
            )


def check_indexed(retriever: object, made: T | None) -> T:
    """Return what `index` made, or raise if it was not called."""
    if made is None:
        raise ParameterError(f"{retriever!r} has no documents yet", hint="call index(collection) before search")
    return made
