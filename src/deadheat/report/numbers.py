"""Numbers as text: the only place where they are rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from deadheat.evaluation.intervals import MANY
from deadheat.report.model import Bar, Cell, Number, Span
from deadheat.wording import counted, percentage, rounded

if TYPE_CHECKING:
    from deadheat.comparison.pairs import Pair
    from deadheat.evaluation.intervals import Interval

DIGITS = 4
BOLD = "**"  # around the best number of a column, where there are no bold letters
WIDTH = 21  # columns of a drawing
LOW, LINE, HIGH, MIDDLE, ZERO, CROSSED = "├─┤●┊┼"
DOUBT = "?"  # behind an interval that cannot be known
BOOTSTRAPS = ("bca", "percentile")  # whose intervals of few queries are too narrow: docs/figures/coverage.py
QUERY = ("query", "queries")
COARSE_ERROR = 0.1  # of a share: shown without a decimal


def format_cell(cell: Cell, digits: int | None = None, *, empty: str = "-") -> str:
    """Return a cell as people read it.

    Parameters
    ----------
    cell : Cell
        An int is not rounded; a `Number` is printed as its kind says, with its marks; a `Bar` is drawn.
    digits : int, optional
        Decimals of a float, 4 by default.
    empty : str, default "-"
        What is printed for None and NaN.

    Examples
    --------
    >>> format_cell(Span(0.48149, 0.59151), 3)
    '[0.481, 0.592]'
    >>> [format_cell(cell) for cell in (0.71234, 1234, None, Number(0.845, "share"), 0.00002)]
    ['0.7123', '1,234', '-', '84%', '2e-05']
    >>> format_cell(Number(0.845, "share", 0.0041))
    '84% ± 0.4%'
    >>> [format_cell(Number(p, "p"), digits) for p, digits in ((0.00002, 4), (0.0001, 4), (0.004, 2))]
    ['<.0001', '0.0001', '<.01']
    """
    if isinstance(cell, str | tuple | Bar):
        return cell if isinstance(cell, str) else draw(cell) if isinstance(cell, Bar) else " ".join(cell)
    if isinstance(cell, Span):
        low, high = (format_cell(end, digits, empty="") for end in (cell.low, cell.high))
        return f"[{low}, {high}]{'' if cell.is_known else DOUBT}" if low or high else empty
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    digits = DIGITS if digits is None else digits
    if isinstance(cell, Number):
        return _number(cell, digits, empty)
    if cell is None or math.isnan(cell):
        return empty
    return f"{cell:,}" if isinstance(cell, int) else rounded(cell, digits)


def _number(cell: Number, digits: int, empty: str) -> str:
    shown = empty if math.isnan(cell.value) else rounded(cell.value, digits)
    if cell.kind == "ranked":
        around, gap = BOLD if cell.is_best else "", " " if cell.room else ""
        return f"{around}{shown}{around or len(BOLD) * ' '}{gap}{cell.marks:<{cell.room}}"
    if shown == empty:
        return empty
    if cell.kind == "share":
        shown = percentage(cell.value, cell.error)
    elif cell.kind == "p" and cell.value < 10**-digits:
        shown = f"<{10**-digits:.{digits}f}".replace("<0.", "<.")  # without its first zero as wide as its neighbours
    return shown + cell.marks


def error_of_share(error: float) -> str:
    """Return how far a percentage may be off: with a decimal, unless the error is large."""
    return f"{100 * error:.{0 if error >= COARSE_ERROR else 1}f}%"


def plain(cell: Cell, digits: int | None = None) -> float | str | None:
    """Return a cell as data: no value is None, a float is rounded only where it is asked for.

    :meth:`Table.for_data` has split spans into two numbers and removed drawings before.
    """
    if isinstance(cell, Span | Bar):
        raise TypeError(f"a table is turned into data first, which leaves no {type(cell).__name__}")
    value = cell.value if isinstance(cell, Number) else cell
    if isinstance(value, tuple):
        return " ".join(value)
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return float(value) if digits is None else round(float(value), digits)


def span_of(one: Interval | Pair) -> Span:
    """Return the ends of an interval, or of that of a pair, as a cell."""
    return Span(one.low, one.high, one.is_known)


def few_units(found: Iterable[Interval | Pair], unit: tuple[str, str] = QUERY) -> str:
    """Return a warning if bootstrap intervals rest on few queries or clusters, or an empty string.

    Those that cannot be known are not counted: `cannot_be_known` reports them.
    """
    units = [
        (one.n_queries, *unit) if one.n_clusters is None else (one.n_clusters, "cluster", None)
        for one in found
        if one.is_known and one.method in BOOTSTRAPS
    ]
    fewest = min(units, default=None)
    return "" if fewest is None else too_narrow(*fewest)


def too_narrow(number: int, noun: str, plural: str | None = None) -> str:
    """Return the warning of a bootstrap of so few queries or clusters, or an empty string where they are enough."""
    if number >= MANY:
        return ""
    units = counted(number, noun, plural)
    return f"a bootstrap of {units} gives intervals that are too narrow: the method auto is better there"


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


def draw(bar: Bar, width: int = WIDTH) -> str:
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
    zero = _place(0.0, bar, width) if bar.start < 0 < bar.end else None
    if zero is not None:
        drawn[zero] = ZERO
    if math.isfinite(bar.low) and math.isfinite(bar.high):
        low, high = _place(bar.low, bar, width), _place(bar.high, bar, width)
        drawn[low : high + 1] = LINE * (high + 1 - low)
        if zero is not None and low <= zero <= high:
            drawn[zero] = CROSSED
        drawn[low], drawn[high] = LOW, HIGH
    if math.isfinite(bar.middle):
        drawn[_place(bar.middle, bar, width)] = MIDDLE
    return "".join(drawn)


def _place(number: float, bar: Bar, width: int) -> int:
    """Return the column of a number, at the ends of the scale for one beyond it."""
    share = (number - bar.start) / (bar.end - bar.start) if bar.end > bar.start else 0.5
    return round(min(max(share, 0.0), 1.0) * (width - 1))
