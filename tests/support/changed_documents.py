"""Documents of JSON in which one part is of a wrong type, or one key is missing or misspelled."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

OTHERS: tuple[Any, ...] = (5, -1.5, None, True, "x", "", [], {}, [5], [None], [[]], {"a": 1}, {"x": {"y": []}})


def changes(document: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """Yield every document that differs in one place."""
    for *way, key in places(document):
        for other in OTHERS:
            changed, inner = copied(document, way)
            inner[key] = copy.deepcopy(other)
            yield changed
        changed, inner = copied(document, way)
        del inner[key]
        yield changed
        if isinstance(key, str):
            changed, inner = copied(document, way)
            inner[f"{key[:-1]}_"] = inner.pop(key)
            yield changed


def places(held: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Yield the path of keys and indices of each part."""
    items = held.items() if isinstance(held, dict) else enumerate(held) if isinstance(held, list) else ()
    for key, inner in items:
        yield (*way, key)
        yield from places(inner, (*way, key))


def copied(document: Any, way: list[Any]) -> tuple[Any, Any]:  # noqa: ANN401 - JSON
    """Return a copy, and the part of it that a path leads to."""
    changed = inner = copy.deepcopy(document)
    for key in way:
        inner = inner[key]
    return changed, inner
