"""Figures and what they can be drawn of: a figure is one function in a file draw_*.py, which registers it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeAlias, TypeVar, cast

import altair as alt
import polars as pl

from deadheat.core.data.renderable import Plottable
from deadheat.core.errors import FigureError, ParameterError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import IntervalOptions
from deadheat.core.evaluation.strata import Strata
from deadheat.plugins.figures.choice import kind_of
from deadheat.plugins.figures.subjects import is_comparison

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
