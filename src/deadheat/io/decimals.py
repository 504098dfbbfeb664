"""Decimal marks in tables of text: said by the user, or found where a column can be read in one way only."""

import re
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from deadheat.errors import MalformedRowError, ParameterError
from deadheat.io.limits import WithValue
from deadheat.io.values import is_number
from deadheat.wording import Advice

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
