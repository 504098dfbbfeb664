"""What figures share: their registry, how they look, and the systems that they show.

A figure is one function in a file draw_*.py, which registers it.
"""

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, TypeAlias, TypeVar, cast

import altair as alt
import numpy as np
import polars as pl

from deadheat.core.checks import name_items
from deadheat.core.data.renderable import Plottable
from deadheat.core.errors import FigureError, ParameterError, SourceTypeError, UnknownMeasureError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Interval, IntervalOptions
from deadheat.core.evaluation.ordering import order_by_mean
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.systems import kind_of_runs
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike, measure_named
from deadheat.core.measures.selection import ByMeasure, with_rel
from deadheat.core.scalars import NOISE
from deadheat.core.structures import T
from deadheat.core.wording import (
    BROKEN_BY,
    LONGEST_LABEL,
    escape_invisible,
    format_count,
    format_level,
    format_list,
    format_p_value,
    format_rounded,
    shorten,
)
from deadheat.plugins.figures.choice import kind_of
from deadheat.plugins.figures.subjects import ComparedSystems, is_comparison

Drawable: TypeAlias = Plottable | pl.DataFrame | Mapping[str, object] | Sequence[object]
"""What can be drawn: an evaluation or several, a comparison, strata of one system or several, ties, a simulation."""

Chart: TypeAlias = alt.LayerChart | alt.ConcatChart
"""A figure as Altair has it: one of several pictures is a ConcatChart."""

Draw = TypeVar("Draw", bound=Callable[..., Chart])

REGISTRY: "dict[str, Figure]" = {}


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure.

    Attributes
    ----------
    name : str
        That of its function, which its files begin with.
    draw : callable
        Takes what it is of, and the `measure` if it has one.
    of : tuple of str
        What it can be drawn of, as the classes say it: "systems", "comparison", "strata", "ties", ...
    measures : str
        "each": it is drawn of each measure; "all": one is of all measures; else the names of its own, such as "nDCG R".
    place : int
        Its position in lists.
    """

    name: str
    draw: Callable[..., Chart]
    of: tuple[str, ...]
    measures: str
    place: int


@dataclass(frozen=True)
class Drawing:
    """A figure of an object, or the error that says why there is none.

    Attributes
    ----------
    name : str
        Of its file, without an ending.
    figure : str
    chart : altair.LayerChart, altair.ConcatChart or None
    error : FigureError or None
    """

    name: str
    figure: str
    chart: Chart | None
    error: FigureError | None = None


def figure(*of: str, measures: str = "each", place: int = 100) -> Callable[[Draw], Draw]:
    """Return a decorator that registers a figure by the name of its function, and refuses what a judge has a part in.

    A figure would show values by human labels beside means or differences that a judge's labels help to estimate.
    """

    def register(draw: Draw) -> Draw:
        @wraps(draw)
        def checked(*given: object, **options: object) -> Chart:
            if any(map(has_judge, (*given, *options.values()))):
                raise FigureError(
                    "a figure is not drawn where a judge's labels count: it would show values by human labels beside"
                    " estimates",
                    hint="leave the judge out",
                )
            return draw(*given, **options)

        drawn = cast("Draw", checked)
        REGISTRY[draw.__name__] = Figure(name=draw.__name__, draw=drawn, of=of, measures=measures, place=place)
        return drawn

    return register


def interval_options(options: Mapping[str, Any] | IntervalOptions | None, systems: object = None) -> IntervalOptions:
    """Return the options of intervals, from their names and values or as they are; by default those of a comparison."""
    if options is None and is_comparison(systems):
        return systems.options_of_intervals
    return options if isinstance(options, IntervalOptions) else IntervalOptions(**(options or {}))


def has_judge(subject: object) -> bool:
    """Return whether a judge's labels help to estimate a mean or a difference of what is to be drawn."""
    if is_comparison(subject):
        return bool(subject.by_judge)
    if isinstance(subject, Strata):
        return has_judge(subject.whole)
    if isinstance(subject, Evaluation):
        return any(scores.predicted is not None for scores in subject)
    if isinstance(subject, Mapping):
        return any(map(has_judge, subject.values()))
    return isinstance(subject, list | tuple) and any(map(has_judge, subject))


def figures_of(kind: str) -> dict[str, Figure]:
    """Return the figures of a kind of object, by name, in the order of lists."""
    return {one.name: one for one in sorted(REGISTRY.values(), key=lambda one: (one.place, one.name)) if kind in one.of}


def plot_of(subject: Drawable, kind: str | None = None, **options: object) -> Chart:
    """Draw a figure of an object; what ``.plot(kind)`` calls.

    Parameters
    ----------
    subject : Evaluation, Comparison, Strata, or several evaluations or strata
    kind : str, optional
        The name of the figure; by default the first that there is of such an object.
    **options
        Of the figure, such as `measure`.

    Raises
    ------
    ParameterError
        There is no such figure of this object.
    FigureError
        The figure cannot show this object.
    """
    known = figures_of(kind_of(subject))
    name = next(iter(known)) if kind is None else kind
    if name not in known:
        raise ParameterError(argument="kind", given=kind, allowed=list(known))
    return known[name].draw(subject, **options)


def drawings(
    subject: Drawable, measures: Sequence[str], *, names: Collection[str] | None = None, **options: object
) -> Iterator[Drawing]:
    """Draw figures of an object, for each measure where figures are of one.

    Parameters
    ----------
    subject : Evaluation, Comparison, Strata, or several evaluations or strata
    measures : sequence of str
    names : collection of str, optional
        Of the figures; by default every figure that there is of such an object.
    **options
        Of the figures; each gets those that it knows.
    """
    for one in figures_of(kind_of(subject)).values():
        if names is not None and one.name not in names:
            continue
        known = {name: value for name, value in options.items() if name in one.draw.__annotations__}
        own = {"each": measures, "all": ()}.get(one.measures, one.measures.split())
        for name, of in ({f"{one.name}-{measure}": {"measure": measure} for measure in own} or {one.name: {}}).items():
            try:
                yield Drawing(name, one.name, one.draw(subject, **known, **of))
            except FigureError as error:
                yield Drawing(name, one.name, None, error)


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
GAIN, LOSS, UNDECIDED = BLUE, RED, GREY  # of one system against another, in every figure; page.css has the same
WHISKER, CAP = "#8A8F98", "#5B6068"  # of the range over tie orders behind a bar, and the ends of it
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
    text = escape_invisible(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def unique_labels(names: Iterable[str]) -> list[str]:
    r"""Return names as labels: one line each, and different if the names are.

    Examples
    --------
    >>> print(*unique_labels(["a", "b\n", "b\\n"]), sep=" | ")
    a | b\n | b\n (2)
    """
    found: dict[str, None] = {}
    for name in names:
        text = escape_invisible(name) or "(empty)"
        label = text
        n_alike = 1
        while label in found:
            n_alike += 1
            label = f"{text} ({n_alike})"
        found[label] = None
    return list(found)


def format_number(value: float) -> str:
    """Return a number for a sentence.

    Examples
    --------
    >>> format_number(0.71234), format_number(-0.00004), format_number(123.456), format_number(0.0)
    ('0.712', '-4e-05', '123.5', '0')
    """
    if not math.isfinite(value):
        return "no value"
    if abs(value) <= NOISE:
        return "0"
    return format_rounded(value, 3 if abs(value) < 10 else 1)


def format_signed(value: float) -> str:
    """Return a difference for a sentence, with its sign.

    Examples
    --------
    >>> format_signed(0.02), format_signed(-0.02), format_signed(0.0)
    ('+0.020', '-0.020', '0')
    """
    text = format_number(value)
    return f"+{text}" if value > NOISE else text


def p_text(value: float) -> str:
    """Return a p value for a sentence.

    Examples
    --------
    >>> p_text(0.0421), p_text(0.00002), p_text(float("nan"))
    ('p = 0.042', 'p < 0.001', 'no p value')
    """
    return f"p {format_p_value(value, 3)}" if math.isfinite(value) else "no p value"


def n_queries(*numbers: int) -> str:
    """Return how many queries there are, or from how many to how many.

    Examples
    --------
    >>> n_queries(25, 25), n_queries(7, 25), n_queries(1)
    ('25 queries', '7 to 25 queries', '1 query')
    """
    low, high = min(numbers), max(numbers)
    return format_count(low, "query", "queries") if low == high else f"{low:,} to {high:,} queries"


def row_height(n_rows: int) -> int:
    """Return the pixels of a row of a chart with so many rows."""
    return 22 if n_rows <= 6 else 18 if n_rows <= 16 else 14


Systems: TypeAlias = Evaluation | ComparedSystems | Mapping[str, Evaluation] | Sequence[Evaluation]
"""One evaluation, several, or a comparison."""

TIES = {
    "expected": "exact mean over tie orders",
    "best": "judged documents first in every tie",
    "worst": "judged documents last in every tie",
    **{rule: f"ties {how}" for rule, how in BROKEN_BY.items()},
    "random": "ties in a random order",
    "unknown": "as another tool computed it",
}
"""How ties count in the values, by the policy."""


def several_by_name(argument: str, given: object, kind: type[T] | tuple[type[T], ...], allowed: str) -> dict[str, T]:
    """Return one object or several by the name of their system; equal names in a list are numbered.

    Parameters
    ----------
    argument : str
        Of the figure, for an error.
    given : object
        One, a mapping of names to several, or a sequence of several.
    kind : type or tuple of type
    allowed : str
        What the argument may be, for an error.

    Raises
    ------
    SourceTypeError
        There is none, or something else among them.
    ParameterError
        Two names are one as text.
    """
    listed = [given] if isinstance(given, kind) else given
    several = listed.values() if isinstance(listed, Mapping) else listed
    found = list(several) if isinstance(several, Collection) and not isinstance(several, str) else []
    if not found or not all(isinstance(one, kind) for one in found):
        raise SourceTypeError(argument=argument, found=type(given).__name__, allowed=allowed)
    if isinstance(listed, Mapping):
        return name_items(zip(listed, found, strict=True))
    wholes = [one.whole if isinstance(one, Strata) else one for one in found]
    names = [str(getattr(one, "name", "run")) for one in wholes]  # a table has none
    return {
        name if names.count(name) == 1 else f"{name} ({n})": one
        for n, (name, one) in enumerate(zip(names, found, strict=True), 1)
    }


def named(systems: Systems) -> dict[str, Evaluation]:
    """Return evaluations by the name of their system."""
    if is_comparison(systems):
        return dict(systems.evaluations)
    return several_by_name("systems", systems, Evaluation, "an Evaluation, several of them, or a Comparison")


def measure_of(evaluations: Mapping[str, Evaluation], measure: MeasureLike | None) -> Measure:
    """Return the measure that is asked for, the first by default; raise if a system was not evaluated with it."""
    one, *others = evaluations.values()
    if not one.measures:
        raise FigureError("nothing was evaluated", hint="give measures to evaluate()")
    found = one.measures[0] if measure is None else one[measure].measure
    for other in others:
        if found not in other.measures:
            raise UnknownMeasureError(f"{found.label} was not evaluated for {other.name}")
    return found


def refuse_systems(evaluations: Mapping[str, Evaluation]) -> None:
    """Raise for systems that were run several times, whose noise a figure would leave out."""
    runs = kind_of_runs(evaluations.values())
    if runs:
        raise FigureError(f"this figure is not drawn of systems with {runs}, whose noise it would leave out")


def refuse_two(systems: Collection[str]) -> None:
    """Raise for fewer than three systems: of two, a figure of all pairs or ranks has one cell, or one rank each."""
    if len(systems) < 3:
        raise FigureError(
            "it is not drawn of two systems, of which it shows no more than their difference",
            hint="draw differences",
        )


def name_among(names: Iterable[str], measure: MeasureLike | None) -> str:
    """Return by which of several names a measure goes, the first by default.

    "AP" is also a name of AP(rel=2) where that is the only level: the names are those of results that were made under
    ``rel=2``, perhaps, and the figure shows them.

    Raises
    ------
    FigureError
        It is none of these measures.
    """
    known: dict[Any, str] = ByMeasure((name, name) for name in names)
    wanted = next(iter(known), "") if measure is None else measure
    if wanted not in known:
        at_a_level = _names_at_a_level(known, wanted)
        if len(at_a_level) == 1:
            return at_a_level[0]
        name = wanted if isinstance(wanted, str) else parse_measure(wanted).label
        raise FigureError(
            f"there are no values of {name}, only of {', '.join(known)}" if known else "there are no values"
        )
    return known[wanted]


def _names_at_a_level(names: Iterable[str], measure: MeasureLike) -> list[str]:
    """Return the names of a measure at any lowest relevant level."""
    wanted = measure_named(measure)
    found = []
    for name in names:
        known = measure_named(name)
        if wanted is not None and known is not None and known == with_rel(wanted, getattr(known, "rel", None)):
            found.append(name)
    return found


def best_first(systems: Systems, measure: MeasureLike | None) -> dict[str, Scores]:
    """Return the scores of each system by one measure, the best first; those without a value are left out.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
    measure : measure, optional
        By default the first.

    Raises
    ------
    FigureError
        No system has a value.
    """
    evaluations = named(systems)
    of = measure_of(evaluations, measure)
    having = {name: one[of] for name, one in evaluations.items() if np.isfinite(one[of].mean)}
    if not having:
        raise FigureError(f"no system has a value of {of.label}: no query counts, or none has a relevant document")
    names = list(having)
    ranked = [names[place] for place in order_by_mean(list(having.values()))]
    return {name: having[name] for name in ranked}


def means_by_doc_id(systems: Systems, measure: Measure, beside: Systems | None) -> dict[str, float]:
    """Return the means of the systems of which they are known with ties broken by document id, as trec_eval.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
        A comparison knows them.
    measure : Measure
    beside : evaluations, optional
        The same systems with ties broken so.
    """
    if not is_comparison(systems):
        return {} if beside is None else {name: one[measure].mean for name, one in named(beside).items()}
    found = {name: systems.scores_by_doc_id(name, measure) for name in systems.evaluations}
    return {name: scores.mean for name, scores in found.items() if scores is not None}


def ties_count_as(evaluations: Mapping[str, Evaluation]) -> str:
    """Return how ties count in the values of systems, in a few words."""
    return TIES[next(iter(evaluations.values())).ties]


def better(measure: Measure) -> str:
    """Return which end of an axis is better."""
    return "higher is better" if measure.higher_is_better else "lower is better"


def of_mean(scores: Scores, interval: Interval) -> Record:
    """Return what figures hold of a mean: its interval if there is one, and its range over tie orders."""
    return {
        "n_queries": scores.n_queries,
        "mean": scores.mean,
        "low": interval.low if interval.is_known else None,
        "high": interval.high if interval.is_known else None,
        "tie_min": scores.mean_tie_min,
        "tie_max": scores.mean_tie_max,
        "unknown": interval.unknown,
        "level": interval.confidence_level,
    }


def is_moved(rows: Iterable[Record]) -> bool:
    """Return whether an order of the ties changes one of several means."""
    return any(row["tie_max"] - row["tie_min"] > NOISE for row in rows)


def marks(rows: Sequence[Record], mean: str, *others: str) -> list[str]:
    """Say what the marks of means are, and why some have no interval; empty if all have one.

    Parameters
    ----------
    rows : sequence of dict
        As :func:`of_mean` returns them.
    mean : str
        What the mark of the mean is.
    *others : str
        Other marks; those that are empty are left out.
    """
    lacking = [row["unknown"] for row in rows if row["low"] is None]
    has_some = len(lacking) < len(rows)
    line = f"line: {format_level(rows[0]['level'])} interval over queries" if has_some else ""
    band = "band: range over tie orders" if is_moved(rows) else ""
    of_whom = f" for {format_count(len(lacking), 'mean')}" if has_some else ""
    why = f"No interval{of_whom}: {format_list(list(dict.fromkeys(lacking)))}." if lacking else ""
    return ["; ".join(filter(None, [mean, line, band, *others])) + ".", why]
