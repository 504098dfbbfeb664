"""Whether two results are the same but for the last digits of floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

RELATIVE = 1e-10  # logarithms of Intel's and of AMD's processors differ: 1.5e-12 was seen in errors of geometric means
RELATIVE_OF_OTHER_SCIPY = 1e-9  # quantiles of t differ by up to 1e-10 between versions of SciPy
ABSOLUTE = 1e-14
MISSING = "(missing)"


@dataclass(frozen=True)
class Difference:
    """A key whose values differ."""

    key: str
    expected: object
    found: object

    def __str__(self) -> str:
        return f"{self.key or 'the result'}: {self.expected!r} is expected, {self.found!r} was found"


def differences(expected: Any, found: Any, key: str = "", *, relative: float = RELATIVE) -> list[Difference]:
    """Return what differs between two results, as `plain_numbers` makes them, by more than a relative error."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return differences_of_dicts(expected, found, key, relative)
    if isinstance(expected, list) and isinstance(found, list):
        return differences_of_lists(expected, found, key, relative)
    if are_equal(expected, found, relative):
        return []
    return [Difference(key, expected, found)]


def differences_of_dicts(
    expected: dict[str, Any], found: dict[str, Any], key: str, relative: float
) -> list[Difference]:
    """Compare key by key; a key that only one has is a difference."""
    result = []
    for name in sorted({*expected, *found}):
        inner = f"{key}.{name}" if key else name
        result += differences(expected.get(name, MISSING), found.get(name, MISSING), inner, relative=relative)
    return result


def differences_of_lists(expected: list[Any], found: list[Any], key: str, relative: float) -> list[Difference]:
    """Compare item by item, in their order."""
    if len(expected) != len(found):
        return [Difference(f"{key} (its length)", len(expected), len(found))]
    result = []
    for number, (old, new) in enumerate(zip(expected, found, strict=True)):
        result += differences(old, new, f"{key}[{number}]", relative=relative)
    return result


def are_equal(expected: object, found: object, relative: float) -> bool:
    """Whether two values are equal; of two floats, but for their last digits. An integer is no float."""
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(expected, found, rel_tol=relative, abs_tol=ABSOLUTE)
    return type(expected) is type(found) and expected == found
