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
        As for `parse_json`.

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
        self._member_offsets: dict[int, dict[str | int, int]] = {}

    def line_of(self, keys: Sequence[str | int]) -> int:
        """Return the line on which a part begins, given the object keys and list places that lead to it."""
        return self._find_line(self._find_offset(keys))

    def lines_of_items(self, keys: Sequence[str | int]) -> list[int]:
        """Return the line on which each item of a list begins."""
        offsets = self._find_members(self._find_offset(keys)).values()
        return [self._find_line(offset) for offset in offsets]

    def texts_of_items(self) -> Iterator[tuple[int, str]]:
        """Yield the line on which each item begins, and its text, of a text that is a list."""
        for start in self._find_members(self._skip_blanks(0)).values():
            _, end = _DECODER.raw_decode(self.text, start)
            yield self._find_line(start), self.text[start:end]

    @cached_property
    def _newlines(self) -> list[int]:
        return [newline.start() for newline in re.finditer("\n", self.text)]

    def _find_line(self, offset: int) -> int:
        return bisect_right(self._newlines, offset) + 1

    def _find_offset(self, keys: Sequence[str | int]) -> int:
        """Return the offset of a part, given the keys and places that lead to it."""
        offset = self._skip_blanks(0)
        for key in keys:
            offset = self._find_members(offset)[key]
        return offset

    def _find_members(self, offset: int) -> dict[str | int, int]:
        """Return the offset of each member of the object or list at an offset, by its key or place."""
        if offset in self._member_offsets:
            return self._member_offsets[offset]
        members: dict[str | int, int] = {}
        is_object = self.text[offset] == "{"
        at = self._skip_blanks(offset + 1)
        while self.text[at] not in "]}":
            key: str | int = len(members)
            if is_object:
                key, end_of_key = _DECODER.raw_decode(self.text, at)
                at = self._skip_blanks(end_of_key)
            members[key] = at
            _, end_of_value = _DECODER.raw_decode(self.text, at)
            at = self._skip_blanks(end_of_value)
        self._member_offsets[offset] = members
        return members

    def _skip_blanks(self, offset: int) -> int:
        """Return the offset of the next character that is not a blank, comma or colon."""
        between = _BETWEEN.match(self.text, offset)
        return between.end() if between else offset


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
    n_closed = 0

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build an object; JSON allows repeated keys, of which Python would keep the last."""
        nonlocal n_closed
        n_closed += 1
        built = dict(pairs)
        repeated = None
        if len(built) != len(pairs):
            repeated = _find_repeated_key(pairs, needed)
        if repeated is not None:
            raise DuplicateError(
                f"key {repeated!r} appears twice in one object",
                allowed="once",
                path=path,
                line=line or _find_line_of_object(text, n_closed),
            )
        return built

    try:
        value = json.loads(text, object_pairs_hook=build, parse_int=number, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        looks_like_lines = error.msg == "Extra data"
        raise _make_syntax_error(error, text, path, line, looks_like_lines=looks_like_lines) from error
    except DataError:
        raise
    except RecursionError:
        raise _make_too_deep_error(path, line) from None
    except ValueError as error:  # Python reads no more digits
        raise _make_digits_error(text, path, line) from error
    if text.count("[") + text.count("{") > DEEPEST and _is_deep(value):
        raise _make_too_deep_error(path, line)
    if needed is None:
        _check_characters(text, path, line)
    return value


def _find_repeated_key(pairs: Sequence[tuple[str, Any]], needed: Collection[str] | None) -> str | None:
    """Return the first key that comes again, of all keys or of those that matter."""
    names = [name for name, _ in pairs if needed is None or name in needed]
    for name in names:
        if names.count(name) > 1:
            return name
    return None


def _make_syntax_error(
    error: json.JSONDecodeError, text: str, path: Path, line: int | None, *, looks_like_lines: bool
) -> MalformedRowError:
    """Return the error for text that is not JSON; in JSON lines it shows the line, else it names the column."""
    if line:
        return MalformedRowError(f"invalid JSON, {quote_text(text.strip())}: {error.msg}", path=path, line=line)
    hint = None
    if looks_like_lines:
        hint = Advice("format", "jsonl", ".jsonl", when="this looks like JSON lines: ")
    return MalformedRowError(
        f"invalid JSON, {error.msg.removesuffix(' at')}, column {error.colno}",
        hint=hint,
        path=path,
        line=error.lineno,
    )


def _make_digits_error(text: str, path: Path, line: int | None) -> MalformedRowError:
    """Return the error for a whole number with more digits than Python reads."""
    most = sys.get_int_max_str_digits()
    digits = re.search(rf"[0-9]{{{most + 1}}}", text)
    if line is None and digits:
        line = _count_lines(text, digits.start())
    return MalformedRowError(
        f"a whole number of more than {most:,} digits, expected fewer; write it in quotes if it is text",
        path=path,
        line=line,
    )


def _check_characters(text: str, path: Path, line: int | None) -> None:
    r"""Raise `MalformedRowError` for a lone surrogate: a ``\ud800`` by itself, which no file can hold."""
    if not _SURROGATE.search(text):
        return
    for token in _STRING_OR_BRACE.finditer(text):
        if not _SURROGATE.search(token[0]):
            continue
        try:
            json.loads(token[0]).encode()
        except UnicodeEncodeError as error:
            raise MalformedRowError(
                f"{quote_text(token[0])} has a lone surrogate, expected text that UTF-8 can hold",
                path=path,
                line=line or _count_lines(text, token.start()),
            ) from error


def _count_lines(text: str, offset: int) -> int:
    """Return the number of the line on which an offset is."""
    return text.count("\n", 0, offset) + 1


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


def _is_deep(value: dict[str, Any] | list[Any], n_levels: int = DEEPEST) -> bool:
    """Return whether lists and objects are nested in more levels than allowed."""
    if n_levels == 0:
        return True
    members = value.values() if isinstance(value, dict) else value
    return any(_is_deep(member, n_levels - 1) for member in members if type(member) in _NESTED)


def _make_too_deep_error(path: Path, line: int | None) -> MalformedRowError:
    return MalformedRowError(
        f"JSON with lists and objects nested more than {DEEPEST} levels deep", path=path, line=line
    )


def _find_line_of_object(text: str, n_closed: int) -> int:
    """Return the line on which the object begins whose closing brace is number `n_closed`."""
    starts: list[int] = []
    n_left = n_closed
    for token in _STRING_OR_BRACE.finditer(text):
        if token[0] == "{":
            starts.append(token.start())
        elif token[0] == "}":
            start = starts.pop()
            n_left -= 1
            if n_left == 0:
                return _count_lines(text, start)
    raise ValueError(f"no object is closed as number {n_closed}")
