"""Numbers as cells, of counts totals where others have means; and as text, the only place where they are rounded."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from deadheat.errors import counted, percentage, rounded
from deadheat.report.model import Bar, Cell, Fact, NumberCell, Span

if TYPE_CHECKING:
    from deadheat.comparison.comparison import Comparison
    from deadheat.comparison.pairs import Pair
    from deadheat.evaluation.intervals import Interval
    from deadheat.evaluation.scores import Scores
    from deadheat.measures import Measure

    T = TypeVar("T", Pair, Interval)

DIGITS = 4
BOLD = "**"  # around the best number of a column, where there are no bold letters
WIDTH = 21  # columns of a drawing
LOW, LINE, HIGH, MIDDLE, ZERO, CROSSED = "├─┤●┊┼"
DOUBT = "?"  # behind an interval that cannot be known
BOOTSTRAPS = ("bca", "percentile")  # whose intervals of few queries are too narrow: docs/figures/coverage.py
QUERY = ("query", "queries")
COARSE_ERROR = 0.1  # of a share: shown without a decimal

OF_MEANS = {
    *("mean", "baseline_mean", "difference", "low", "high", "expected_difference", "doc_id_difference"),
    *("standard_error", "query_standard_error", "tie_standard_error", "tie_std", "tie_min", "tie_max"),
}  # numbers that are as many times as large of a total as it has queries; a test and its p value do not change
OF_TIES = ("tie_std", "tie_min", "tie_max")


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
    """
    if isinstance(cell, str | tuple | Bar):
        return cell if isinstance(cell, str) else draw(cell) if isinstance(cell, Bar) else " ".join(cell)
    if isinstance(cell, Span):
        low, high = (format_cell(end, digits, empty="") for end in (cell.low, cell.high))
        return f"[{low}, {high}]{'' if cell.is_known else DOUBT}" if low or high else empty
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    digits = DIGITS if digits is None else digits
    if isinstance(cell, NumberCell):
        return _number(cell, digits, empty)
    if cell is None or math.isnan(cell):
        return empty
    return f"{cell:,}" if isinstance(cell, int) else rounded(cell, digits)


def _number(cell: NumberCell, digits: int, empty: str) -> str:
    shown = empty if math.isnan(cell.value) else rounded(cell.value, digits)
    if cell.kind == "ranked":
        around, gap = BOLD if cell.is_best else "", " " if cell.room else ""
        return f"{around}{shown}{around or len(BOLD) * ' '}{gap}{cell.marks:<{cell.room}}"
    if shown == empty:
        return empty
    if cell.kind == "share":
        shown = percentage(cell.value, cell.error)
    elif cell.kind == "worth":
        shown = rounded(cell.value, 1)
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
    value = cell.value if isinstance(cell, NumberCell) else cell
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
    from deadheat.evaluation.intervals import MANY  # loads NumPy, which --help does not need

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


def as_cell(scores: Scores, of_ties: str = "") -> Cell:
    """Return what `reported` does, of a count an int where it is a whole number."""
    return cell_of(scores.measure, scores.reported(of_ties))


def cell_of(measure: Measure, value: float) -> Cell:
    """Return a value of a measure as a cell, of a count as :func:`count_cell` does."""
    return count_cell(value) if measure.total else value


def span_of_ties(scores: Scores) -> Span:
    """Return the ends that tie orders give to the mean of scores, of a count to the total."""
    return Span(scores.reported("tie_min"), scores.reported("tie_max"))


def count_cell(value: float | None) -> Cell:
    """Return a count as an int; over ties it may have a fraction. None stays."""
    if value is None or not math.isfinite(value):
        return value
    return round(value) if math.isclose(value, round(value), rel_tol=1e-9, abs_tol=1e-9) else value


def in_totals(of_mean: T, n_queries: int) -> T:
    """Return a pair or an interval with the numbers of the total over so many queries."""
    names = OF_MEANS.intersection(field.name for field in fields(of_mean))
    return replace(of_mean, **{name: n_queries * getattr(of_mean, name) for name in names})


def reported_interval(scores: Scores, interval: Interval) -> Interval:
    """Return the interval of the mean of scores, of a count that of the total."""
    return in_totals(interval, scores.n_queries) if scores.measure.total else interval


def reported_pairs(comparison: Comparison, measure: Measure) -> list[Pair]:
    """Return the pairs of one measure, those of a count with totals over the queries that both have."""
    return [in_totals(pair, pair.n_queries) if measure.total else pair for pair in comparison[measure]]


def totals_of_row(row: Mapping[str, Any], counts: Collection[str], n_queries: int) -> dict[str, Any]:
    """Return a row with a field `total` if there are counts, and `baseline_total` of a pair.

    A row of a count has totals there, no means, and all its numbers are of the total.
    """
    found = dict(row)
    if not counts:
        return found
    is_count = row["measure"] in counts
    if is_count:
        found |= {name: n_queries * row[name] for name in OF_MEANS.intersection(row) if row[name] is not None}
    for mean, total in (("mean", "total"), ("baseline_mean", "baseline_total")):
        if mean in row:
            found[total] = found[mean] if is_count else None
            found[mean] = None if is_count else found[mean]
    return found


def places_of_best(scores: Sequence[Scores]) -> list[int]:
    """Return the places of systems by one measure, the best first; one without a mean comes last."""
    means = [-one.mean if one.measure.higher_is_better else one.mean for one in scores]
    return sorted(range(len(means)), key=lambda place: (math.isnan(means[place]), means[place]))


def mean_heading(measures: Iterable[Measure]) -> str:
    """Return the heading of a column of means, or of totals if there is nothing else in it."""
    return "total" if all(one.total for one in measures) else "mean"


def tell_counts(measures: Sequence[Measure]) -> Iterator[Fact]:
    """Say which numbers of a table are totals, if others are means, and which are geometric means."""
    counts = [one.label for one in measures if one.total]
    if counts:
        yield Fact(
            "counts",
            counts,
            "counts",
            f"{', '.join(counts)}: totals over the queries, all else means" if len(counts) < len(measures) else "",
        )
    geometric = [one.label for one in measures if one.geometric]
    if geometric:
        text = f"{', '.join(geometric)}: geometric means; the values of queries are logarithms"
        yield Fact("geometric_means", geometric, "geometric means", text)
