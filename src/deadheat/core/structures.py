"""Small operations on dicts and objects: values grouped by key, copies with other attributes."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, TypeVar

K = TypeVar("K")
T = TypeVar("T")  # of every file that has a generic function


def group_values(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the values of each key, in order of appearance.

    Examples
    --------
    >>> group_values([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[K, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def copy_with(original: T, **attributes: Any) -> T:  # noqa: ANN401 - of any object
    """Return a copy of an object in which some attributes have other values."""
    changed = copy(original)
    vars(changed).update(attributes)
    return changed
