"""How figures look: sizes, colours, and the parts of Altair's charts that they share."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

import altair as alt
import polars as pl

from deadheat.core.scalars import NOISE
from deadheat.core.wording import LONGEST_LABEL, shorten
from deadheat.plugins.figures.texts import wrapped

WIDTH = 420  # pixels of the whole picture: in a paper's column of 84 mm, text of 11 of them is 6.2 points
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
TITLE, SUBTITLE, LABEL = 13, 11, 11  # pixels
TITLE_LINE, SUBTITLE_LINE = 52, 70  # characters that fit the width at these sizes, also in wider fonts
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
GAIN, LOSS, UNDECIDED = BLUE, RED, GREY  # of one system against another, in every figure; page.css has the same
WHISKER, CAP = "#8A8F98", "#5B6068"  # of the range over tie orders behind a bar, and the ends of it
BAND = "#F5C26B"  # a light orange, for ranges over tie orders
OF_BAND: dict[str, Any] = {"color": BAND, "stroke": "#B9770E", "strokeWidth": 0.6}  # whose edge one sees on white
SERIES = (BLUE, RED, GREEN, BLACK, PURPLE, ORANGE, SKY, GREY)
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [10, 4], [1, 3], [5, 2, 1, 2, 1, 2])
MOST_READ_OUT = 100  # rows whose marks have a description for people who do not see them; it doubles a file

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
    "axisX": {"labelFlush": False, "labelSeparation": 12},
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
    chart = alt.LayerChart(  # at once: its `properties` copies and checks all of it anew
        layer=list(layers),
        data=alt.InlineData(values=data),
        width=WIDTH,
        height=height,
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        title=alt.TitleParams(text=wrapped(title, TITLE_LINE), subtitle=subtitle),
        description=" ".join([title, *subtitle]),
        config=alt.Config(**CONFIG | ({"mark": {"aria": False}} if len(rows) > MOST_READ_OUT else {})),
    )
    _shorten_texts(chart, ShortTexts())
    return chart


NAMES_OF_JAVASCRIPT = {
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
}


@dataclass
class ShortTexts:
    """Long names and ids of a chart, and what they are in it.

    Equal texts stay equal, and others different: an axis finds its rows by them.

    Attributes
    ----------
    by_text : dict of str to str
    n_alike : Counter
        How many texts became each short one.
    """

    by_text: dict[str, str] = field(default_factory=dict)
    n_alike: Counter[str] = field(default_factory=Counter)

    def short(self, text: str) -> str:
        """Return a text, cut and with a number if another one looks alike; vl-convert takes long for each character.

        Vega looks names up in objects of JavaScript, which have some from the start: to these, a blank is added.
        """
        if text in NAMES_OF_JAVASCRIPT:
            return f"{text} "
        if len(text) <= LONGEST_LABEL:
            return text
        if text not in self.by_text:
            cut = shorten(text)
            self.n_alike[cut] += 1
            number = self.n_alike[cut]
            self.by_text[text] = cut if number == 1 else f"{cut} ({number})"
        return self.by_text[text]


def _shorten_texts(part: Any, texts: ShortTexts) -> Any:  # noqa: ANN401 - of any part of a chart
    """Return a part of a chart with its long texts cut; a chart, and what it holds, is changed itself."""
    if isinstance(part, str):
        return texts.short(part)
    if isinstance(part, alt.SchemaBase):
        _shorten_texts(part._kwds, texts)  # noqa: SLF001 - Altair has no other way to all of it
    elif isinstance(part, dict):
        for name, inner in part.items():
            if name != "description":
                part[name] = _shorten_texts(inner, texts)
    elif isinstance(part, list | tuple):
        return [_shorten_texts(inner, texts) for inner in part]
    return part


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
    axis: Any = alt.Undefined,  # noqa: ANN401 - as Altair takes it
    **scale: Any,  # noqa: ANN401 - as Altair takes it
) -> Callable[[str], Channel]:
    """Return a channel of numbers, which takes the name of a column: all marks of an axis share title and scale."""
    return partial(channel, type="quantitative", title=title, axis=axis, scale=alt.Scale(**scale))


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
    here = alt.Chart(alt.InlineData(values=[{"zero": 0}]))
    return here.mark_rule(color="#444", strokeWidth=0.8).encode(alt.Y("zero:Q"))


def row_height(n_rows: int) -> int:
    """Return the pixels of a row of a chart with so many rows."""
    return 22 if n_rows <= 6 else 18 if n_rows <= 16 else 14
