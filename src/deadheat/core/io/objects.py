"""JSON and JSON lines as objects, with the line on which each part begins."""

import json
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from deadheat.core.errors import Advice, DataError, DuplicateError, MalformedRowError
from deadheat.core.io.files import check_readable, decode_utf8, read_all
from deadheat.core.wording import quote_text

_BETWEEN = re.compile(r"[\s,:]*")
_STRING_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_DECODER = json.JSONDecoder()
_NESTED = {dict, list}
DEEPEST = 200  # levels of nested lists and objects: later steps may recurse


class JsonText:
    r"""A JSON text and its value.

    Parameters
    ----------
    text : str
    path : pathlib.Path
        For messages.
    number : callable, optional
        As for `parsed`.

    Attributes
    ----------
    value : object

    Raises
    ------
    MalformedRowError, DuplicateError
        It is not JSON, or an object has a repeated key.

    Examples
    --------
    >>> text = JsonText('{"cases": [\n1,\n[2,\n3]]}', "cases.json")
    >>> text.lines_of_items(["cases"]), text.line_of(["cases", 1, 1])
    ([2, 3], 4)
    >>> list(JsonText('[{"a": 1},\n {"a": [2]}]', "rows.json").texts_of_items())
    [(1, '{"a": 1}'), (2, '{"a": [2]}')]
    """

    def __init__(self, text: str, path: Path, *, number: Callable[[str], object] | None = None) -> None:
        self.text = text
        self.value: Any = parse_json(text, path, number=number)
        self._found: dict[int, dict[str | int, int]] = {}

    def line_of(self, keys: Sequence[str | int]) -> int:
        """Return the line on which a part begins, given the object keys and list places that lead to it."""
        return self._line(self._offset(keys))

    def lines_of_items(self, keys: Sequence[str | int]) -> list[int]:
        """Return the line on which each item of a list begins."""
        return [self._line(offset) for offset in self._members(self._offset(keys)).values()]

    def texts_of_items(self) -> Iterator[tuple[int, str]]:
        """Yield the line on which each item begins, and its text, of a text that is a list."""
        for at in self._members(self._next(0)).values():
            yield self._line(at), self.text[at : _DECODER.raw_decode(self.text, at)[1]]

    @cached_property
    def _newlines(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]

    def _line(self, offset: int) -> int:
        return bisect_right(self._newlines, offset) + 1

    def _offset(self, keys: Sequence[str | int]) -> int:
        offset = self._next(0)
        for key in keys:
            offset = self._members(offset)[key]
        return offset

    def _members(self, offset: int) -> dict[str | int, int]:
        """Return the offset of each member of the object or list at an offset, by its key or place."""
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
        """Return the offset of the next character that is not a blank, comma or colon."""
        found = _BETWEEN.match(self.text, offset)
        return found.end() if found else offset


def read_text(path: str | os.PathLike[str], expected: str, *, has_lines: bool = False) -> str:
    """Return the text of a file, unpacked; `expected` says what should be in an empty one."""
    path = check_readable(path)
    text = decode_utf8(read_all(path, has_lines=has_lines, as_objects=True), path)
    if not text.strip():
        raise DataError("empty", allowed=expected, path=path)
    return text


def parse_json(
    text: str,
    path: Path,
    line: int | None = None,
    *,
    number: Callable[[str], object] | None = None,
    needed: Collection[str] | None = None,
) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a JSON text.

    Parameters
    ----------
    text : str
    path : pathlib.Path
        For messages.
    line : int, optional
        The line number of the text in a file of JSON lines.
    number : callable, optional
        Makes the value of a number from its text, also of NaN and Infinity.
    needed : collection of str, optional
        The keys whose values matter: others may be repeated, and hold whatever JSON can. Default: all.

    Raises
    ------
    MalformedRowError, DuplicateError
        It is not JSON, or UTF-8 cannot hold it, or an object has a repeated key.
    """
    closed = 0

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build an object; JSON allows repeated keys, of which Python would keep the last."""
        nonlocal closed
        closed += 1
        built = dict(pairs)
        if len(built) != len(pairs):
            names = [name for name, _ in pairs if needed is None or name in needed]
            for twice in (name for name in names if names.count(name) > 1):
                raise DuplicateError(
                    f"key {twice!r} appears twice in one object",
                    allowed="once",
                    path=path,
                    line=line or _line_of_object(text, closed),
                )
        return built

    try:
        value = json.loads(text, object_pairs_hook=build, parse_int=number, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        raise MalformedRowError(
            f"invalid JSON, {quote_text(text.strip())}: {error.msg}"
            if line
            else f"invalid JSON, {error.msg.removesuffix(' at')}, column {error.colno}",
            hint=Advice("format", "jsonl", ".jsonl", when="this looks like JSON lines: ")
            if line is None and error.msg == "Extra data"
            else None,
            path=path,
            line=line or error.lineno,
        ) from error
    except DataError:
        raise
    except RecursionError:
        raise _too_deep(path, line) from None
    except ValueError as error:  # Python reads no more digits
        most = sys.get_int_max_str_digits()
        found = re.search(rf"[0-9]{{{most + 1}}}", text)
        raise MalformedRowError(
            f"a whole number of more than {most:,} digits, expected fewer; write it in quotes if it is text",
            path=path,
            line=line or (text.count("\n", 0, found.start()) + 1 if found else None),
        ) from error
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value):
        raise _too_deep(path, line)
    if needed is None:
        _check_characters(text, path, line)
    return value


def _check_characters(text: str, path: Path, line: int | None) -> None:
    r"""Raise `MalformedRowError` for a lone surrogate: a ``\ud800`` by itself, which no file can hold."""
    for found in _STRING_OR_BRACE.finditer(text) if _SURROGATE.search(text) else ():
        try:
            if _SURROGATE.search(found[0]):
                json.loads(found[0]).encode()
        except UnicodeEncodeError as error:
            raise MalformedRowError(
                f"{quote_text(found[0])} has a lone surrogate, expected text that UTF-8 can hold",
                path=path,
                line=line or text.count("\n", 0, found.start()) + 1,
            ) from error


def parse_object(
    raw: str,
    path: Path,
    line: int,
    *,
    number: Callable[[str], object] | None = None,
    needed: Collection[str] | None = None,
) -> dict[str, Any]:
    """Return the object on a line of JSON lines; parameters as of :func:`parse_json`."""
    given = parse_json(raw, path, line, number=number, needed=needed)
    if not isinstance(given, dict):
        raise MalformedRowError(given=raw.strip(), allowed="one JSON object a line", path=path, line=line)
    return given


def _is_deep(held: dict[str, Any] | list[Any], left: int = DEEPEST) -> bool:
    """Return whether lists and objects are nested too deeply."""
    members = held.values() if isinstance(held, dict) else held
    return not left or any(_is_deep(one, left - 1) for one in members if type(one) in _NESTED)


def _too_deep(path: Path, line: int | None) -> MalformedRowError:
    return MalformedRowError(
        f"JSON with lists and objects nested more than {DEEPEST} levels deep", path=path, line=line
    )


def _line_of_object(text: str, closed: int) -> int:
    """Return the line on which the object begins whose closing brace is number `closed`."""
    starts: list[int] = []
    for found in _STRING_OR_BRACE.finditer(text):
        if found[0] == "{":
            starts.append(found.start())
        elif found[0] == "}":
            start, closed = starts.pop(), closed - 1
            if not closed:
                return text.count("\n", 0, start) + 1
    raise ValueError(f"no object is closed as number {closed}")
