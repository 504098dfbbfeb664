"""Decimal marks of numbers in tables of text.

The user sets the mark, or it is found where a column can be read in one way only.
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
    """Set the decimal mark of numbers in CSV, TSV and TREC files; the other mark may group thousands.

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
    """Return whether a text is a number in one of the ways in which its marks can be read."""
    decimal_mark = _decimal.get()
    if decimal_mark is not None:
        text = text.replace(_get_other_mark(decimal_mark), "").replace(decimal_mark, ".")
    if has_semicolons:
        text = text.replace(",", ".")
    return is_number_text(text)


def _get_other_mark(mark: str) -> str:
    """Return the mark that may group thousands where `mark` is the decimal one."""
    return "." if mark == "," else ","


@dataclass(frozen=True)
class _MarkedNumber:
    """A number with a mark that may be the decimal one, and its line."""

    text: str
    line: int


@dataclass
class DecimalColumn:
    """The numbers of a column, as they are read one after the other.

    Parameters
    ----------
    name : str
    path : pathlib.Path
        For messages.
    has_semicolons : bool
        Whether the file separates fields by semicolons, so that a comma may be the decimal mark; else it is the point,
        unless the user sets another.

    Examples
    --------
    >>> column = DecimalColumn("score", Path("x.csv"), has_semicolons=True)
    >>> column.plain("0,5", 2), column.plain("-1,25", 3), column.notes()
    ('0.5', '-1.25', ("column 'score': ',' is the decimal mark",))
    """

    name: str
    path: Path
    has_semicolons: bool
    _first: dict[str, _MarkedNumber] = field(default_factory=dict)  # with each mark
    _may_be_grouped: bool = True

    def plain(self, text: str, line: int) -> str:
        """Return a number with a point as its decimal mark; a text that is no number stays one."""
        decimal_mark = _decimal.get()
        if decimal_mark is None and not self.has_semicolons:
            return text
        if decimal_mark is None:
            return self._read_unknown_mark(text, line)
        other_mark = _get_other_mark(decimal_mark)
        whole, mark, fraction = text.partition(decimal_mark)
        if _GROUPED[other_mark].fullmatch(whole):
            whole = whole.replace(other_mark, "")
        elif other_mark in text:
            raise MalformedRowError(
                f"column {self.name!r} has {text!r}, where {other_mark!r} does not group thousands",
                allowed=f"numbers with {decimal_mark!r} as their decimal mark",
                path=self.path,
                line=line,
            )
        if not mark:
            return whole + fraction
        return f"{whole}.{fraction}"

    def _read_unknown_mark(self, text: str, line: int) -> str:
        """Return a number with a point in place of its mark, and keep what shows which mark is the decimal one."""
        marks = [mark for mark in MARKS if mark in text]
        for mark in marks:
            if mark not in self._first:
                self._first[mark] = _MarkedNumber(text, line)
        grouped_form = _GROUPED[marks[0]] if marks else _SHORT
        if not grouped_form.fullmatch(text):
            self._may_be_grouped = False
        if len(self._first) > 1:
            line_of_comma = self._first[","].line
            line_of_point = self._first["."].line
            raise self._make_error(
                f"column {self.name!r} has numbers with commas (line {line_of_comma}) and with points (line"
                f" {line_of_point})",
                line,
            )
        if any(text.count(mark) > 1 for mark in marks):
            raise self._make_error(f"column {self.name!r} has {text!r}", line)
        return text.replace(",", ".")

    def _make_error(self, problem: str, line: int) -> MalformedRowError:
        return MalformedRowError(
            problem,
            hint=Advice("decimal", when="to say which mark is the decimal one, ',' or '.', "),
            python="as with dh.decimal(','):",
            path=self.path,
            line=line,
        )

    def notes(self) -> tuple[str, ...]:
        """Return which mark was taken for the decimal mark; raise if the marks may as well group thousands."""
        notes = []
        for mark, number in self._first.items():
            if self._may_be_grouped:
                without_groups = number.text.replace(mark, "")
                with_fraction = number.text.replace(mark, ".").rstrip("0").rstrip(".")
                raise self._make_error(
                    f"column {self.name!r} can be read in two ways: {number.text!r} is {without_groups} or"
                    f" {with_fraction}",
                    number.line,
                )
            notes.append(f"column {self.name!r}: {mark!r} is the decimal mark")
        return tuple(notes)
