"""The files of `expected/`: one a feature, its entries sorted, those that are drawn apart from the others."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).parent / "expected"
MOST_BYTES = 1_050_000  # of all files together, saved ones too
WIDTH = 300


@dataclass(frozen=True)
class Kept:
    """What is kept of an entry.

    Attributes
    ----------
    result : object
        What the call returned, as `plain_numbers` makes it.
    is_drawn : bool
        Whether it depends on random numbers, which other versions of NumPy may draw otherwise.
    """

    result: Any
    is_drawn: bool


@cache
def read_feature(feature: str) -> dict[str, Kept]:
    """Return what is kept of a feature by entry; nothing if it has no file yet."""
    path = EXPECTED / f"{feature}.json"
    if not path.exists():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    kept = {}
    for name, result in document["exact"].items():
        kept[name] = Kept(result, is_drawn=False)
    for name, result in document["drawn"].items():
        kept[name] = Kept(result, is_drawn=True)
    return kept


def write_feature(feature: str, kept: dict[str, Kept]) -> None:
    """Write what is kept of a feature; without an entry it has no file."""
    path = EXPECTED / f"{feature}.json"
    if not kept:
        path.unlink()
        return
    document: dict[str, dict[str, Any]] = {"exact": {}, "drawn": {}}
    for name, one in kept.items():
        part = "drawn" if one.is_drawn else "exact"
        document[part][name] = one.result
    EXPECTED.mkdir(exist_ok=True)
    path.write_text("\n".join(lines_of(document, "")) + "\n", encoding="utf-8")
    read_feature.cache_clear()


def lines_of(value: Any, indent: str) -> list[str]:
    """Return the lines of some JSON: what fits on a line stands on one, as does a list without lists and objects."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False, separators=(",", ":"))
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list):
        return [line]
    inner = indent + " "
    parts: list[list[str]] = []
    if isinstance(value, list):
        if not any(isinstance(one, dict | list) for one in value):
            return [line]
        opening, closing = "[", "]"
        for one in value:
            parts.append(lines_of(one, inner))
    else:
        opening, closing = "{", "}"
        for key in sorted(value):
            first, *others = lines_of(value[key], inner)
            parts.append([f"{json.dumps(key, ensure_ascii=False)}:{first}", *others])
    return [opening, *(" " + one for one in fill(parts, WIDTH - len(inner))), closing]


def fill(parts: list[list[str]], width: int) -> list[str]:
    """Return the lines of several parts with commas between them; short ones stand side by side."""
    lines: list[str] = []
    for number, part in enumerate(parts):
        comma = "," if number < len(parts) - 1 else ""
        *others, last = part
        new = [*others, last + comma]
        is_short = len(part) == 1 and number > 0 and len(parts[number - 1]) == 1
        if is_short and len(lines[-1]) + len(new[0]) < width:
            lines[-1] += new[0]
        else:
            lines += new
    return lines
