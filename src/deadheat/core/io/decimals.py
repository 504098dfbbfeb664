"""Decimal marks of numbers in tables of text.

The user says the mark, or it is found where a column can be read in one way only.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from deadheat.core.checks import check_choice
from deadheat.core.errors import Advice, MalformedRowError
from deadheat.core.io.values import is_number_text
from deadheat.core.io.with_value import WithValue

MARKS = (",", ".")
_decimal: ContextVar[str | None] = ContextVar("decimal", default=None)
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
    check_choice("decimal", mark, MARKS)
    return WithValue(_decimal, mark)


def get_decimal_mark() -> str | None:
    """Return the mark that :func:`decimal` set."""
    return _decimal.get()


def may_be_number(text: str, *, has_semicolons: bool) -> bool:
    """Return whether a text is a number if its marks are what they may be."""
    given = _decimal.get()
    if given is not None:
        text = text.replace(MARKS[given == ","], "").replace(given, ".")
    return is_number_text(text.replace(",", ".") if has_semicolons else text)


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
    _first: dict[str, tuple[str, int]] = field(default_factory=dict)  # number with each mark, and its line
    _may_be_grouped: bool = True

    def plain(self, text: str, line: int) -> str:
        """Return a number with a point as its decimal mark; a text that is no number stays one."""
        given = _decimal.get()
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
            self._first.setdefault(mark, (text, line))
        self._may_be_grouped &= (_GROUPED[marks[0]] if marks else _SHORT).fullmatch(text) is not None
        if len(self._first) > 1:
            (_, comma), (_, point) = (self._first[mark] for mark in MARKS)
            raise self._error(
                f"column {self.name!r} has numbers with commas (line {comma}) and with points (line {point})", line
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
        for mark, (text, line) in self._first.items() if self._may_be_grouped else ():
            both = f"{text.replace(mark, '')} or {text.replace(mark, '.').rstrip('0').rstrip('.')}"
            raise self._error(f"column {self.name!r} can be read in two ways: {text!r} is {both}", line)
        return tuple(f"column {self.name!r}: {mark!r} is the decimal mark" for mark in self._first)
