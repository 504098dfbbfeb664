"""Small operations on dicts and objects: values grouped by key, copies with other attributes."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    pass


K = TypeVar("K")
T = TypeVar("T")  # of every file that has a generic function


def group_values(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the values of each key, in order of appearance.

    Examples
    --------
    >>> group_values([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def copy_with(thing: T, **attributes: Any) -> T:  # noqa: ANN401 - of any object
    """Return a copy of an object with some other attributes."""
    found = copy(thing)
    vars(found).update(attributes)
    return found
