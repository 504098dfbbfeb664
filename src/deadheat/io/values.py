"""Scores and relevances as text: which are numbers, which a float64 can hold, and which mark is the decimal one.

That mark is said by the user, or found where a column can be read in one way only.
"""

import math
import re
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Context, Decimal
from pathlib import Path
from typing import cast

import polars as pl

from deadheat.errors import LARGEST_INTEGER, Advice, DataError, MalformedRowError, ParameterError, Plain, shown
from deadheat.io.kinds import VALUE_COLUMN, Kind
from deadheat.io.mappings import BEYOND, is_beyond
from deadheat.io.source import WithValue

# What Polars reads as a float. Python's float() accepts more: "1_0", and digits of other scripts.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII
)
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
# C0, DEL and C1, some of which end lines or move the cursor, and the two non-ASCII characters that end lines.
CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]"
_FIND_CONTROL = re.compile(CONTROL)
LINE_ENDS = r"lines end with \n or \r\n"


def is_number(text: str) -> bool:
    """Return whether a text is a number as files have them."""
    return _NUMBER.fullmatch(text) is not None


def read_value(text: str, kind: Kind, *, path: Path, line: int | None, name: str = "") -> float:
    """Return the score, rank or relevance in `text`, or raise DataError or DataError."""
    name = name or VALUE_COLUMN[kind]
    if not _NUMBER.fullmatch(text):
        raise DataError(
            f"{name} must be a number",
            given=text or Plain("an empty field"),
            hint="leave out what is not judged, or add the file to the qrels: deadheat convert --add"
            if not text and kind == "qrels"
            else None,
            path=path,
            line=line,
        )
    value = float(text)
    if math.isnan(value):
        raise DataError(f"{name} must be a number", given=Plain(f"NaN ({text!r})"), path=path, line=line)
    if math.isinf(value) and kind == "qrels":
        raise DataError(f"{name} must be finite", given=text, path=path, line=line)
    if math.isinf(value) and any(char.isdigit() for char in text):
        raise DataError(f"{name} is beyond the range of float64: {shown(text)}", path=path, line=line)
    if abs(value) >= LARGEST_INTEGER and not math.isinf(value) and not _is_held(text, value):
        raise DataError(f"{name} is {shown(text)}, {BEYOND}", path=path, line=line)
    return value


def _is_held(text: str, value: float) -> bool:
    """Tell whether a large number is what float64 makes of its text: exactly, rounded to its digits, or in short."""
    given = Decimal(text)  # int() refuses thousands of digits
    if _INTEGER.fullmatch(text):
        return not is_beyond(given)
    n_digits = len(text.lower().partition("e")[0].strip("+-").replace(".", "").lstrip("0"))
    return given in {Decimal(value), Decimal(repr(value)), Context(prec=n_digits).plus(Decimal(value))}


def check_ids_of_row(query_id: str, doc_id: str, path: Path, line: int | None = None) -> None:
    """Raise MalformedRowError if an id contains a control character."""
    if query_id.isprintable() and doc_id.isprintable():
        return
    for name, given in (("query_id", query_id), ("doc_id", doc_id)):
        if found := _FIND_CONTROL.search(given):
            if found[0] == "\ufeff":
                raise MalformedRowError(
                    f"{name} {shown(given)} contains a byte order mark, which only the start of a file may have",
                    hint="were files concatenated?",
                    path=path,
                    line=line,
                )
            raise MalformedRowError(
                f"{name} {shown(given)} contains the control character U+{ord(found[0]):04X}; ids have none,"
                f" and {LINE_ENDS}",
                path=path,
                line=line,
            )


def check_comment(comment: str, path: Path, line: int) -> None:
    """Raise MalformedRowError for a control character in a comment: after some of them another row may follow."""
    found = _FIND_CONTROL.search(comment.replace("\t", " ").rstrip("\r"))
    if found:
        raise MalformedRowError(
            f"a comment contains the control character U+{ord(found[0]):04X}: {shown(comment)}",
            hint=LINE_ENDS,
            path=path,
            line=line,
        )


def holds_controls(frame: pl.DataFrame) -> bool:
    """Return whether an id contains a control character."""
    return any(ids.str.contains(CONTROL).any() for ids in frame.select("query_id", "doc_id"))


def holds_only_ids(frame: pl.DataFrame) -> bool:
    """Return whether no id is null or empty."""
    return not any(ids.null_count() or (ids == "").any() for ids in frame.select("query_id", "doc_id"))


def are_plain(values: pl.Series) -> bool:
    """Return whether all are numbers, finite and so small that float64 holds them exactly as they were written."""
    values = values.alias("value")  # a name of the user's own might be read as a pattern
    low, high = values.min(), values.max()
    if values.null_count() or values.is_nan().any():
        return False
    return not len(values) or -LARGEST_INTEGER < cast("float", low) <= cast("float", high) < LARGEST_INTEGER


MARKS = (",", ".")
_given: ContextVar[str | None] = ContextVar("decimal", default=None)
_GROUPED = {mark: re.compile(rf"[+-]?[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+", re.ASCII) for mark in MARKS}
_SHORT = re.compile(r"[+-]?[0-9]{1,3}", re.ASCII)  # no thousands to group


def decimal(mark: str) -> AbstractContextManager[None]:
    """Set the decimal mark of numbers in CSV and TSV files; the other mark may group thousands.

    By default it is the point. In files with semicolons it may also be the comma, where the numbers of a column can be
    read in one way only: a column of ``999`` and ``1.500`` is an error without this.

    Parameters
    ----------
    mark : {",", "."}

    Raises
    ------
    ParameterError
        If it is neither.

    Examples
    --------
    >>> import deadheat as dh
    >>> with dh.decimal(","):
    ...     pass  # dh.evaluate("qrels.csv", "run.csv")
    """
    if mark not in MARKS:
        raise ParameterError(argument="decimal", given=mark, allowed=MARKS)
    return WithValue(_given, mark)


def given_decimal() -> str | None:
    """Return the mark that :func:`decimal` set."""
    return _given.get()


def may_be_number(text: str, *, has_semicolons: bool) -> bool:
    """Return whether a text is a number if its marks are what they may be."""
    given = _given.get()
    if given is not None:
        text = text.replace(MARKS[given == ","], "").replace(given, ".")
    return is_number(text.replace(",", ".") if has_semicolons else text)


@dataclass
class DecimalColumn:
    """The numbers of a column, as they are read one after the other.

    Parameters
    ----------
    name : str
    path : pathlib.Path
        For messages.
    has_semicolons : bool
        Whether the marks of the file tell which one is the decimal mark; else it is the point, if none was given.

    Examples
    --------
    >>> column = DecimalColumn("score", Path("x.csv"), has_semicolons=True)
    >>> column.plain("0,5", 2), column.plain("-1,25", 3), column.notes()
    ('0.5', '-1.25', ("column 'score': ',' is the decimal mark",))
    """

    name: str
    path: Path
    has_semicolons: bool
    _lines: dict[str, int] = field(default_factory=dict)  # on which each mark was found first
    _grouped: str = ""  # the first number that may have grouped thousands
    _may_be_grouped: bool = True

    def plain(self, text: str, line: int) -> str:
        """Return a number with a point as its decimal mark; a text that is no number stays one."""
        given = _given.get()
        if given is None:
            return self._of_unknown_mark(text, line) if self.has_semicolons else text
        other = MARKS[given == ","]
        whole, mark, rest = text.partition(given)
        if _GROUPED[other].fullmatch(whole):
            whole = whole.replace(other, "")
        elif other in text:
            raise MalformedRowError(
                f"column {self.name!r} has {text!r}, where {other!r} does not group thousands",
                allowed=f"numbers with {given!r} as their decimal mark",
                path=self.path,
                line=line,
            )
        return whole + mark.replace(",", ".") + rest

    def _of_unknown_mark(self, text: str, line: int) -> str:
        marks = [mark for mark in MARKS if mark in text]
        for mark in marks:
            self._lines.setdefault(mark, line)
            self._grouped = self._grouped or text
        self._may_be_grouped &= (_GROUPED[marks[0]] if marks else _SHORT).fullmatch(text) is not None
        if len(self._lines) > 1:
            raise self._error(
                f"column {self.name!r} has numbers with commas (line {self._lines[',']}) and with points"
                f" (line {self._lines['.']})",
                line,
            )
        if any(text.count(mark) > 1 for mark in marks):
            raise self._error(f"column {self.name!r} has {text!r}", line)
        return text.replace(",", ".")

    def _error(self, problem: str, line: int) -> MalformedRowError:
        return MalformedRowError(
            problem,
            hint=Advice("decimal", when="to say which mark is the decimal one, ',' or '.', "),
            python="as with dh.decimal(','):",
            path=self.path,
            line=line,
        )

    def notes(self) -> tuple[str, ...]:
        """Return which mark was taken for the decimal mark; raise if the marks may as well group thousands."""
        if self._grouped and self._may_be_grouped:
            (mark, line), *_ = self._lines.items()
            both = f"{self._grouped.replace(mark, '')} or {self._grouped.replace(mark, '.').rstrip('0').rstrip('.')}"
            raise self._error(f"column {self.name!r} can be read in two ways: {self._grouped!r} is {both}", line)
        return tuple(f"column {self.name!r}: {mark!r} is the decimal mark" for mark in self._lines)
