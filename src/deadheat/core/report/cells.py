"""What a cell of a table is, and how a number is written.

Numbers are rounded here only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deadheat.core.wording import format_percentage, format_rounded, is_shown_as_one

MARK, OF_FEW, LACKING, BEYOND = "*", "°", "#", "!"
"""Behind a number, one meaning each: significant, of few queries, without some queries, out of reach."""
DIGITS = 4
BOLD = "**"  # around the best number of a column, where there are no bold letters
LOW, LINE, HIGH, MIDDLE, ZERO, CROSSED = "├─┤●┊┼"
DOUBT = "?"  # behind an interval that cannot be known

Cell: TypeAlias = "bool | float | str | tuple[str, ...] | NumberCell | Span | Bar | None"
"""A float is rounded where it is printed, an int (a count) is not; None and NaN mean "no value"."""


@dataclass(frozen=True, slots=True)
class NumberCell:
    """A number that is not printed as a plain decimal, or has something behind it.

    Attributes
    ----------
    value : float
    kind : str
        "share": printed as a percentage. "p": a p value; one that would read as 0 or 1 is printed as a bound, such as
        <.0001. "worth": how many queries something is worth, with one decimal. "ranked": in a column in which the best
        one is bold. Empty: a decimal.
    error : float
        Of a share.
    marks : str
        Printed behind it; facts below the table, or its caption, say what they mean.
    is_best : bool
    room : int
        What the longest marks of a column of ranked numbers take, so that text can leave as much.
    """

    value: float
    kind: str = ""
    error: float = 0.0
    marks: str = ""
    is_best: bool = False
    room: int = 0


def ranked(
    sign: float, values: Mapping[str, float], marks: Mapping[str, str] | None = None, digits: int | None = None
) -> dict[str, NumberCell | None]:
    """Return the cells of a column by the names of their rows, the best bold; None where there is no value.

    Parameters
    ----------
    sign : float
        1 if more is better, -1 if less is, 0 if none is the best.
    values, marks : mapping of str to float, and to str
    digits : int, optional
        Decimals that will be printed: values that look alike are both bold if one is the best.
    """
    known, marks = [sign * value for value in values.values() if not math.isnan(value)], marks or {}
    shown = format_cell(sign * max(known), digits) if sign and known else None
    room = max(map(len, marks.values()), default=0)
    return {
        name: None
        if math.isnan(value)
        else NumberCell(
            value, "ranked", marks=marks.get(name, ""), is_best=format_cell(value, digits) == shown, room=room
        )
        for name, value in values.items()
    }


def share_cell(value: float | None, error: float = 0.0) -> NumberCell | None:
    """Return a number from 0 to 1 as a cell that is printed as a percentage."""
    return None if value is None else NumberCell(value, "share", error)


def p_value_cell(value: float | None, *, is_significant: bool = False, is_bound: bool = False) -> NumberCell | None:
    """Return a p value as a cell; a significant one is marked."""
    if value is None:
        return None
    return NumberCell(value, "p at most" if is_bound else "p", marks=MARK if is_significant else "")


@dataclass(frozen=True)
class Span:
    """An interval: printed as one text, [0.482, 0.591]; CSV and JSON have its two ends.

    Attributes
    ----------
    low, high : float
    is_known : bool, default True
        If False, a question mark follows it, and a fact below the table says why.
    """

    low: float
    high: float
    is_known: bool = True


@dataclass(frozen=True)
class Bar:
    """An interval that a text table draws on a scale that it shares with other rows.

    Attributes
    ----------
    low, middle, high : float
    start, end : float
        The numbers at both ends of the drawing.
    """

    low: float
    middle: float
    high: float
    start: float
    end: float

    def place(self, number: float) -> float:
        """Return where a number is on the scale, from 0 to 1; one beyond it is at the end."""
        place = (number - self.start) / (self.end - self.start) if self.end > self.start else 0.5
        return min(max(place, 0.0), 1.0)


def format_cell(cell: Cell, digits: int | None = None, *, empty: str = "-") -> str:
    """Return a cell as people read it.

    Parameters
    ----------
    cell : Cell
        An int is not rounded; a `NumberCell` is printed as its kind says, with its marks; a `Bar` is drawn.
    digits : int, optional
        Decimals of a float, 4 by default.
    empty : str, default "-"
        What is printed for None and NaN.

    Examples
    --------
    >>> format_cell(Span(0.48149, 0.59151), 3)
    '[0.481, 0.592]'
    >>> [format_cell(cell) for cell in (0.71234, 1234, None, NumberCell(0.845, "share"), 0.00002)]
    ['0.7123', '1,234', '-', '84%', '2e-05']
    >>> format_cell(NumberCell(0.845, "share", 0.0041))
    '84% ± 0.4%'
    >>> [format_cell(NumberCell(p, "p"), digits) for p, digits in ((0.00002, 4), (0.0001, 4), (0.004, 2))]
    ['<.0001', '0.0001', '<.01']
    >>> [format_cell(NumberCell(p, "p")) for p in (0.9999, 0.99997, 1.0)]
    ['0.9999', '>.9999', '1.0000']
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, tuple):
        return " ".join(cell)
    if isinstance(cell, Bar):
        return draw(cell)
    if isinstance(cell, Span):
        low, high = (format_cell(end, digits, empty="") for end in (cell.low, cell.high))
        return f"[{low}, {high}]{marks_of(cell)}" if low or high else empty
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    digits = DIGITS if digits is None else digits
    if isinstance(cell, NumberCell):
        return _number(cell, digits, empty)
    if cell is None or math.isnan(cell):
        return empty
    return f"{cell:,}" if isinstance(cell, int) else format_rounded(cell, digits)


def marks_of(cell: NumberCell | Span) -> str:
    """Return what is printed behind a number or an interval; ranked numbers leave room for theirs themselves."""
    if isinstance(cell, Span):
        return "" if cell.is_known or (math.isnan(cell.low) and math.isnan(cell.high)) else DOUBT
    return "" if cell.kind == "ranked" or math.isnan(cell.value) else cell.marks


def _number(cell: NumberCell, digits: int, empty: str) -> str:
    shown = empty if math.isnan(cell.value) else format_rounded(cell.value, digits)
    if cell.kind == "ranked":
        around, gap = BOLD if cell.is_best else "", " " if cell.room else ""
        return f"{around}{shown}{around or len(BOLD) * ' '}{gap}{cell.marks:<{cell.room}}"
    if shown == empty:
        return empty
    if cell.kind == "share":
        shown = format_percentage(cell.value, cell.error)
    elif cell.kind == "worth":
        shown = format_rounded(cell.value, 1)
    elif cell.kind == "p at most" and cell.value >= 10**-digits / 2:
        shown = f"<={shown.removeprefix('0')}"
    elif cell.kind in {"p", "p at most"} and cell.value < 10**-digits:
        shown = f"<{10**-digits:.{digits}f}".replace("<0.", "<.")  # without its first zero as wide as its neighbours
    elif cell.kind == "p" and is_shown_as_one(cell.value, digits):
        shown = f">{1 - 10**-digits:.{digits}f}".replace(">0.", ">.")
    return shown + cell.marks


def ranks(low: int | None, high: int | None) -> str:
    """Return from which rank to which as text, 2-5; empty if it is not known."""
    return "" if low is None else f"{low}" if low == high else f"{low}-{high}"


def plain(cell: Cell, digits: int | None = None) -> float | str | None:
    """Return a cell as data: no value is None, a float is rounded only where it is asked for.

    :meth:`Table.for_data` has split spans into two numbers and removed drawings before.
    """
    if isinstance(cell, Span | Bar):
        raise TypeError(f"a table is turned into data first, which leaves no {type(cell).__name__}")
    value = cell.value if isinstance(cell, NumberCell) else cell
    if isinstance(value, tuple):
        return " ".join(value)
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return float(value) if digits is None else round(float(value), digits)


def finite_or_none(number: float) -> float | None:
    """Return a number as JSON can hold it: None if it is infinite or NaN."""
    return number if math.isfinite(number) else None


def bars(spans: Sequence[Span], middles: Sequence[float]) -> list[Bar]:
    """Return intervals and what lies inside them as bars on the scale that all of them need.

    Parameters
    ----------
    spans : sequence of Span
    middles : sequence of float, of the same length
    """
    ends = [end for span, middle in zip(spans, middles, strict=True) for end in (span.low, middle, span.high)]
    finite = [end for end in ends if math.isfinite(end)] or [0.0]
    start, end = min(finite), max(finite)
    return [Bar(span.low, middle, span.high, start, end) for span, middle in zip(spans, middles, strict=True)]


def draw(bar: Bar, width: int = 21) -> str:
    """Return a bar as text; a scale that contains zero has a mark there.

    Parameters
    ----------
    bar : Bar
        Without finite ends only its middle is drawn, without that nothing.
    width : int, default 21

    Examples
    --------
    >>> draw(Bar(0.4, 0.6, 0.7, 0.0, 1.0), 11)
    '    ├─●┤   '
    >>> draw(Bar(-0.5, -0.2, 0.5, -0.5, 0.5), 11)
    '├──●─┼────┤'
    """
    drawn = [" "] * width
    zero, last = None, width - 1
    if bar.start < 0 < bar.end:
        zero = round(bar.place(0.0) * last)
        drawn[zero] = ZERO
    if math.isfinite(bar.low) and math.isfinite(bar.high):
        low, high = round(bar.place(bar.low) * last), round(bar.place(bar.high) * last)
        drawn[low : high + 1] = LINE * (high + 1 - low)
        if zero is not None and low <= zero <= high:
            drawn[zero] = CROSSED
        drawn[low], drawn[high] = LOW, HIGH
    if math.isfinite(bar.middle):
        drawn[round(bar.place(bar.middle) * last)] = MIDDLE
    return "".join(drawn)


def count_cell(value: float | None) -> Cell:
    """Return a count as an int; over ties it may have a fraction. None stays."""
    if value is None or not math.isfinite(value):
        return value
    return round(value) if math.isclose(value, round(value), rel_tol=1e-9, abs_tol=1e-9) else value
