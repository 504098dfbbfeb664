"""JSON and JSON lines as objects, and the line on which each part of them begins."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, Any

from deadheat.errors import DuplicateError, EmptyDataError, MalformedRowError
from deadheat.io.source import decoded, read_all, readable, refuse_binary
from deadheat.io.values import shown

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

_BETWEEN = re.compile(r"[\s,:]*")
_NEWLINE = re.compile("\n")
_DECODER = json.JSONDecoder()


class JsonText:
    r"""A JSON text and what it says.

    Parameters
    ----------
    text : str
    path : pathlib.Path
        For messages.

    Attributes
    ----------
    value : object

    Raises
    ------
    MalformedRowError, DuplicateError
        It is no JSON, or an object has a key twice.

    Examples
    --------
    >>> text = JsonText('{"cases": [\n1,\n[2,\n3]]}', "cases.json")
    >>> text.lines_of_items(["cases"]), text.line_of(["cases", 1, 1])
    ([2, 3], 4)
    """

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.value: Any = parsed(text, path)
        self._found: dict[int, dict[str | int, int]] = {}

    def line_of(self, keys: Sequence[str | int]) -> int:
        """Return the line on which a part begins: the value under keys of objects and places in lists."""
        return self._line(self._offset(keys))

    def lines_of_items(self, keys: Sequence[str | int]) -> list[int]:
        """Return the line on which each item of a list begins."""
        return [self._line(offset) for offset in self._members(self._offset(keys)).values()]

    @cached_property
    def _newlines(self) -> list[int]:
        return [found.start() for found in _NEWLINE.finditer(self.text)]

    def _line(self, offset: int) -> int:
        return bisect_right(self._newlines, offset) + 1

    def _offset(self, keys: Sequence[str | int]) -> int:
        offset = self._next(0)
        for key in keys:
            offset = self._members(offset)[key]
        return offset

    def _members(self, offset: int) -> dict[str | int, int]:
        """Return the offset of each member of the object or list that begins at an offset, by its key or place."""
        if offset not in self._found:
            members = self._found[offset] = {}
            is_object = self.text[offset] == "{"
            at = self._next(offset + 1)
            while self.text[at] not in "]}":
                key: str | int = len(members)
                if is_object:
                    key, end = _DECODER.raw_decode(self.text, at)
                    at = self._next(end)
                members[key] = at
                at = self._next(_DECODER.raw_decode(self.text, at)[1])
        return self._found[offset]

    def _next(self, offset: int) -> int:
        """Return the offset of the next character that is no blank and stands not between two parts."""
        found = _BETWEEN.match(self.text, offset)
        return found.end() if found else offset


def read_text(path: str | os.PathLike[str], expected: str) -> str:
    """Return the text of a file, unpacked; `expected` says what an empty one should have held."""
    path = readable(path)
    data = read_all(path)
    refuse_binary(data, path)
    text = decoded(data, path)
    if not text.strip():
        raise EmptyDataError(f"empty: expected {expected}", path=path)
    return text


def parsed(text: str, path: Path, line: int | None = None) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what a JSON text says; of JSON lines, the one at `line`."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _without_repeats(pairs, path, line))
    except json.JSONDecodeError as error:
        is_lines = line is None and error.msg == "Extra data"
        hint = "; this looks like JSON lines: name it .jsonl, or pass format='jsonl'" if is_lines else ""
        given = f"{shown(text.strip())}: {error.msg}" if line else f"{error.msg} at column {error.colno}"
        message = f"invalid JSON, {given}{hint}"
        raise MalformedRowError(message, path=path, line=line or error.lineno) from error
    except DuplicateError:
        raise
    except (RecursionError, ValueError) as error:  # thousands of brackets, or of digits
        message = f"JSON that cannot be read: {error}"
        raise MalformedRowError(message, path=path, line=line) from error


def parsed_lines(text: str, path: Path) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the object on each line of JSON lines that is not blank, and the number of that line."""
    objects: list[dict[str, Any]] = []
    lines: list[int] = []
    for line, raw in enumerate(text.split("\n"), 1):
        if raw.strip():
            given = parsed(raw, path, line)
            if not isinstance(given, dict):
                msg = f"expected one JSON object a line, got {shown(raw.strip())}"
                raise MalformedRowError(msg, path=path, line=line)
            objects.append(given)
            lines.append(line)
    return objects, lines


def _without_repeats(pairs: list[tuple[str, Any]], path: Path, line: int | None) -> dict[str, Any]:
    """Build an object; JSON allows a key twice, and Python would keep the last."""
    built = dict(pairs)
    if len(built) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DuplicateError(f"key {twice!r} stands twice in one object, expected once", path=path, line=line)
    return built
