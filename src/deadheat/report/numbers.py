"""Numbers as text: the only place where they are rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from deadheat.evaluation.intervals import MANY
from deadheat.report.bars import draw
from deadheat.report.model import Bar, Cell, Marked, PValue, Ranked, Share, Span
from deadheat.wording import counted, rounded, three

if TYPE_CHECKING:
    from deadheat.comparison.pairs import Pair
    from deadheat.evaluation.intervals import Interval

DIGITS = 4
BOLD = "**"  # around the best number of a column, where there are no bold letters
DOUBT = "?"  # behind an interval that cannot be known
BOOTSTRAPS = ("bca", "percentile")  # whose intervals of few queries are too narrow: docs/figures/coverage.py
QUERY = ("query", "queries")
listed = partial(three, all_in="--format json")  # names in a fact, which JSON has all of
SMALLEST_ERROR, COARSE_ERROR = 0.0005, 0.1  # of a share: shown at all, and without a decimal


def format_cell(cell: Cell, digits: int | None = None, *, empty: str = "-") -> str:
    """Return a cell as people read it.

    Parameters
    ----------
    cell : float, int, bool, str, Span, Bar or None
        An int is not rounded, a `Share` becomes a percentage, a `Marked` one gets its marks, a `Bar` is drawn;
        a `PValue` below the last decimal is printed as a bound.
    digits : int, optional
        Decimals of a float, 4 by default.
    empty : str, default "-"
        What is printed for None and NaN.

    Examples
    --------
    >>> format_cell(Span(0.48149, 0.59151), 3)
    '[0.481, 0.592]'
    >>> format_cell(0.71234), format_cell(1234), format_cell(None), format_cell(Share(0.845)), format_cell(0.00002)
    ('0.7123', '1,234', '-', '84%', '2e-05')
    >>> format_cell(Share(0.845, 0.0041))
    '84% ± 0.4%'
    >>> format_cell(PValue(0.00002)), format_cell(PValue(0.0001)), format_cell(PValue(0.004), 2)
    ('<.0001', '0.0001', '<.01')
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return empty
    if isinstance(cell, Bar):
        return draw(cell)
    if isinstance(cell, Span):
        low, high = (format_cell(end, digits, empty="") for end in (cell.low, cell.high))
        return f"[{low}, {high}]{'' if cell.is_known else DOUBT}" if low or high else empty
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Ranked):
        around, gap = BOLD if cell.is_best else "", " " if cell.room else ""
        return f"{around}{format_cell(float(cell), digits)}{around or len(BOLD) * ' '}{gap}{cell.marks:<{cell.room}}"
    return cell if isinstance(cell, str) else _number(cell, DIGITS if digits is None else digits)


def _number(cell: float, digits: int) -> str:
    if isinstance(cell, Share):
        return _percentage(cell) + (f" ± {error_of_share(cell.error)}" if cell.error >= SMALLEST_ERROR else "")
    if isinstance(cell, int):
        return f"{cell:,}"
    is_below = isinstance(cell, PValue) and cell < 10**-digits
    # Without its first zero it is as wide as its neighbours.
    shown = f"<{10**-digits:.{digits}f}".replace("<0.", "<.") if is_below else rounded(cell, digits)
    return shown + (cell.marks if isinstance(cell, Marked) else "")


def _percentage(share: float) -> str:
    """Return a percentage, 0% and 100% only if the share is exactly 0 or 1."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


def error_of_share(error: float) -> str:
    """Return how far a percentage may be off: with a decimal, unless the error is large."""
    return f"{100 * error:.{0 if error >= COARSE_ERROR else 1}f}%"


def plain(cell: Cell, digits: int | None = None) -> float | str | None:
    """Return a cell as data: no value is None, a float is rounded only where it is asked for.

    :meth:`Table.for_data` has split spans into two numbers and removed drawings before.
    """
    if isinstance(cell, Span | Bar):
        raise TypeError(f"a table is turned into data first, which leaves no {type(cell).__name__}")
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return None if math.isnan(cell) else str(cell)
        return float(cell) if digits is None else round(float(cell), digits)
    return cell


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
    return f"a bootstrap of {units} gives intervals that are too narrow: --ci-method auto is better there"
