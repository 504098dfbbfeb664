"""How all figures look: sizes, colours, titles, channels that several share, and numbers as text."""

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import altair as alt
import polars as pl

from deadheat.errors import NOISE, counted, printable, rounded

WIDTH = 420  # pixels of the whole picture: in a paper's column of 84 mm, text of 11 of them is 6.2 points
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
TITLE, SUBTITLE, LABEL = 13, 11, 11  # pixels
TITLE_LINE, SUBTITLE_LINE = 52, 70  # characters that fit the width at these sizes, also in wider fonts
LONGEST_NAME = 26  # characters of a system's name in a sentence
LABEL_LIMIT = 150  # pixels of a label beside an axis

# Okabe and Ito's colours: people who are colour-blind tell them apart; dark and light ones differ in grey print too.
BLACK, BLUE, SKY, GREEN, ORANGE, RED, PURPLE, GREY = (
    "#000000",
    "#0072B2",
    "#56B4E9",
    "#009E73",
    "#E69F00",
    "#D55E00",
    "#CC79A7",
    "#767676",
)
BAND = "#F5C26B"  # a light orange, for ranges over tie orders
OF_BAND: dict[str, Any] = {"color": BAND, "stroke": "#B9770E", "strokeWidth": 0.6}  # whose edge one sees on white
SERIES = (BLUE, RED, GREEN, BLACK, PURPLE, ORANGE, SKY, GREY)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [10, 4], [1, 3], [5, 2, 1, 2, 1, 2])
MOST_READ_OUT = 100  # rows whose marks have a description for people who do not see them; it doubles a file
SIGNS, FIXED = "=<", "\u00a0"

Channel = TypeVar("Channel", alt.X, alt.Y)

Record: TypeAlias = "dict[str, Any]"
"""A row of a figure's data."""

CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "align": "left",
        "fontSize": TITLE,
        "subtitleFontSize": SUBTITLE,
        "subtitleColor": "#444",
        "lineHeight": 16,
        "subtitleLineHeight": 14,
        "subtitlePadding": 4,
        "offset": 8,
    },
    "axis": {
        "labelFontSize": LABEL,
        "titleFontSize": LABEL,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelColor": "#222",
        "titleColor": "#222",
        "gridColor": "#e4e4e4",
        "domainColor": "#888",
        "tickColor": "#888",
        "labelLimit": LABEL_LIMIT,
    },
    "axisX": {"labelFlush": False, "labelSeparation": 6},
    "legend": {
        "labelFontSize": LABEL,
        "titleFontSize": LABEL,
        "titleFontWeight": "normal",
        "labelLimit": 180,
        "orient": "bottom",
        "symbolStrokeWidth": 2,
    },
    "header": {"labelFontSize": LABEL},
}


def finished(
    layers: Sequence[alt.Chart], rows: Sequence[Record], *, height: float, title: str, notes: Iterable[str]
) -> alt.LayerChart:
    """Return layers as one chart of the common width, with a title that says the finding, and notes below it.

    Parameters
    ----------
    layers : sequence of altair.Chart
        Without data of their own, or with them.
    rows : sequence of dict
        The data that layers share.
    height : float
        Of the plot, in pixels.
    title : str
    notes : iterable of str
        What bands and whiskers are, and what is not shown; those that are empty are left out.
    """
    subtitle = [line for note in notes if note for line in wrapped(note, SUBTITLE_LINE)]
    data = [  # JSON has neither NaN nor infinity
        {key: None if isinstance(one, float) and not math.isfinite(one) else one for key, one in row.items()}
        for row in rows
    ]
    return alt.LayerChart(  # at once: its `properties` copies and checks all of it anew
        layer=list(layers),
        data=alt.InlineData(values=data),
        width=WIDTH,
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        title=alt.TitleParams(text=wrapped(title, TITLE_LINE), subtitle=subtitle),
        description=" ".join([title, *subtitle]),
        config=alt.Config(**CONFIG | ({"mark": {"aria": False}} if len(rows) > MOST_READ_OUT else {})),
    )


def series(field: str, names: Sequence[str]) -> tuple[alt.Color, alt.Shape, alt.StrokeDash]:
    """Return the colours, shapes and dashes that tell systems apart, at most eight.

    Parameters
    ----------
    field : str
        Of the system's name.
    names : sequence of str
    """
    legend = alt.Legend(title=None, columns=2, labelLimit=170, symbolOpacity=1, symbolStrokeWidth=0)
    of_field: dict[str, Any] = {"type": "nominal", "sort": names, "legend": legend if len(names) > 1 else None}
    colours, shapes, dashes = (
        alt.Scale(domain=names, range=values[: len(names)]) for values in (SERIES, SHAPES, DASHES)
    )
    return (
        alt.Color(field, scale=colours, **of_field),
        alt.Shape(field, scale=shapes, **of_field),
        alt.StrokeDash(field, scale=dashes, **of_field),
    )


def quantity(
    channel: Callable[..., Channel],
    title: str,
    axis: alt.Axis | None = None,
    **scale: Any,  # noqa: ANN401 - as Altair takes it
) -> Callable[[str], Channel]:
    """Return a channel of numbers, which takes the name of a column: all marks of an axis share title and scale."""
    own = {} if axis is None else {"axis": axis}
    return partial(channel, type="quantitative", title=title, scale=alt.Scale(**scale), **own)


def gathered(points: pl.DataFrame, cells: tuple[int, int] | None = None, by: Sequence[str] = ()) -> pl.DataFrame:
    """Return the means of points that are equal, or in one cell of a grid, and n_queries, how many they are.

    Parameters
    ----------
    points : polars.DataFrame
        A point for each query; the first two columns are its place.
    cells : tuple of two int, optional
        Of the grid, along both axes.
    by : sequence of str, default ()
        Columns that points of one place have to share.
    """
    codes = [pl.col(name).alias(f"of {name}") for name in points.columns[:2]]
    if cells is not None:
        codes = [_cell(code, n) for code, n in zip(codes, cells, strict=True)]
    values = [name for name in points.columns if name not in by]
    found = points.group_by(*codes, *by).agg(pl.col(values).mean(), n_queries=pl.len())
    return found.sort(found.columns[: 2 + len(by)]).select(*points.columns, "n_queries")


def _cell(place: pl.Expr, n_cells: int) -> pl.Expr:
    """Return in which of the cells between the lowest and the highest place each one is."""
    width = pl.max_horizontal(place.max() - place.min(), NOISE)
    return ((place - place.min()) / width * n_cells).floor().clip(upper_bound=n_cells - 1)


def row_axis(order: Sequence[str], *, grid: bool = False) -> alt.Y:
    """Return a vertical axis with a row for each label, in this order."""
    return alt.Y("label:N", sort=order, title=None, axis=alt.Axis(ticks=False, domain=False, grid=grid))


def tips(*columns: str) -> list[alt.Tooltip]:
    """Return the columns that are shown under the mouse; Altair takes ten times as long to do this from their names."""
    return list(map(alt.Tooltip, columns))


def zero_line() -> alt.Chart:
    """Return a horizontal line where nothing differs."""
    data = alt.InlineData(values=[{"zero": 0}])
    return alt.Chart(data).mark_rule(color="#444", strokeWidth=0.8).encode(alt.Y("zero:Q"))


def left_out(n_shown: int, n_all: int, things: str = "systems", which: str = "best") -> str:
    """Say how many of several things a figure shows; empty if it shows all."""
    return f"The {which} {n_shown} of {n_all:,} {things}." if n_shown < n_all else ""


def wrapped(text: str, width: int) -> list[str]:
    """Return a text as lines of about the same length; names are not split at their hyphens, nor `n = 5`."""
    for sign in SIGNS:
        text = text.replace(f" {sign} ", f"{FIXED}{sign}{FIXED}")
    n_lines = len(textwrap.wrap(text, width, break_on_hyphens=False))
    while len(textwrap.wrap(text, width - 1, break_on_hyphens=False)) == n_lines and width > 2:
        width -= 1
    return [line.replace(FIXED, " ") for line in textwrap.wrap(text, width, break_on_hyphens=False)]


def short(name: str) -> str:
    r"""Return a name as one line of a sentence: invisible characters as escapes, and not too long.

    Examples
    --------
    >>> print(short("a\nb"), short("a" * 40))
    a\nb aaaaaaaaaaaaaaaaaaaaaaaaa…
    """
    text = printable(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def labels(names: Iterable[str]) -> list[str]:
    r"""Return names as labels: one line each, and different if the names are.

    Examples
    --------
    >>> print(*labels(["a", "b\n", "b\\n"]), sep=" | ")
    a | b\n | b\n (2)
    """
    found: dict[str, None] = {}
    for name in names:
        text, number = printable(name) or "(empty)", 1
        while (label := text if number == 1 else f"{text} ({number})") in found:
            number += 1
        found[label] = None
    return list(found)


def number(value: float) -> str:
    """Return a number for a sentence.

    Examples
    --------
    >>> number(0.71234), number(-0.00004), number(123.456), number(0.0)
    ('0.712', '-4e-05', '123.5', '0')
    """
    if not math.isfinite(value):
        return "no value"
    if abs(value) <= NOISE:
        return "0"
    return rounded(value, 3 if abs(value) < 10 else 1)


def signed(value: float) -> str:
    """Return a difference for a sentence, with its sign.

    Examples
    --------
    >>> signed(0.02), signed(-0.02), signed(0.0)
    ('+0.020', '-0.020', '0')
    """
    text = number(value)
    return f"+{text}" if value > NOISE else text


def p_text(value: float) -> str:
    """Return a p value for a sentence.

    Examples
    --------
    >>> p_text(0.0421), p_text(0.00002), p_text(float("nan"))
    ('p = 0.042', 'p < 0.001', 'no p value')
    """
    if not math.isfinite(value):
        return "no p value"
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def n_queries(*numbers: int) -> str:
    """Return how many queries there are, or from how many to how many.

    Examples
    --------
    >>> n_queries(25, 25), n_queries(7, 25), n_queries(1)
    ('25 queries', '7 to 25 queries', '1 query')
    """
    low, high = min(numbers), max(numbers)
    return counted(low, "query", "queries") if low == high else f"{low:,} to {high:,} queries"


def row_height(n_rows: int) -> int:
    """Return the pixels of a row of a chart with so many rows."""
    return 22 if n_rows <= 6 else 18 if n_rows <= 16 else 14
