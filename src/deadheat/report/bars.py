"""Intervals drawn as text, below each other on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deadheat.report.model import Bar, Span

WIDTH = 21  # columns of a drawing
LOW, LINE, HIGH, MIDDLE, ZERO, CROSSED = "├─┤●┊┼"


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
