"""What a figure is: one function in one file draw_*.py, which registers it; and which figures an object has."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

import altair as alt
import polars as pl

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.history import History
from deadheat.comparison.judges import JudgeAgreement
from deadheat.comparison.languages import Languages
from deadheat.comparison.leaderboard import Leaderboard
from deadheat.errors import FigureError, ParameterError, Plain, SourceTypeError
from deadheat.evaluation.evaluation import Evaluation, Strata
from deadheat.profile.profile import TieProfile
from deadheat.simulation.coarsening import CoarseningProfile
from deadheat.simulation.rerankers import Simulation

Drawable: TypeAlias = (
    Evaluation
    | Comparison
    | Languages
    | Strata
    | TieProfile
    | CoarseningProfile
    | Simulation
    | History
    | Leaderboard
    | JudgeAgreement
    | pl.DataFrame
    | Mapping[str, object]
    | Sequence[object]
)
"""What can be drawn: an evaluation or several, a comparison, strata of one system or several, ties, a simulation."""

Chart: TypeAlias = alt.LayerChart | alt.ConcatChart
"""A figure as Altair has it: one of several pictures is a ConcatChart."""

SubjectKind: TypeAlias = Literal[
    "systems", "comparison", "languages", "strata", "ties", "coarsening", "history", "leaderboard", "judges"
]
KINDS: dict[type, SubjectKind] = {
    Comparison: "comparison",
    Languages: "languages",
    Strata: "strata",
    Evaluation: "systems",
    TieProfile: "ties",
    Simulation: "ties",
    pl.DataFrame: "ties",
    CoarseningProfile: "coarsening",
    History: "history",
    Leaderboard: "leaderboard",
    JudgeAgreement: "judges",
}
SEVERAL = {"systems", "strata", "ties"}  # kinds of objects of which a figure takes several too

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
        What it can be drawn of: "systems", "comparison", "languages", "strata", "ties", "coarsening",
        "history", "leaderboard", "judges".
    measures : str
        "each": it is drawn of each measure; "all": one is of all measures; else the names of its own, such as "nDCG R".
    place : int
        Its position in lists.
    """

    name: str
    draw: Callable[..., Chart]
    of: tuple[SubjectKind, ...]
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


def figure(*of: SubjectKind, measures: str = "each", place: int = 100) -> Callable[[Draw], Draw]:
    """Return a decorator that registers a figure by the name of its function."""

    def register(draw: Draw) -> Draw:
        name = draw.__name__
        REGISTRY[name] = Figure(name=name, draw=draw, of=of, measures=measures, place=place)
        return draw

    return register


def kind_of(subject: object) -> SubjectKind:
    """Return the kind of an object, or of several objects, to draw."""
    for of, kind in KINDS.items():
        if isinstance(subject, of):
            return kind
    listed = subject.values() if isinstance(subject, Mapping) else subject
    kinds = {kind_of(one) for one in listed} if isinstance(listed, Iterable) and not isinstance(listed, str) else set()
    if len(kinds) != 1 or not kinds <= SEVERAL:
        raise SourceTypeError(
            given=Plain(type(subject).__name__),
            allowed="an Evaluation, a Comparison, Strata, several of one of these by name, or a table of ties",
        )
    return kinds.pop()


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
    subject: Drawable, measures: Sequence[str], *, without: Collection[str] = (), **options: object
) -> Iterator[Drawing]:
    """Draw every figure that there is of an object, for each measure where figures are of one.

    Parameters
    ----------
    subject : Evaluation, Comparison, Strata, or several evaluations or strata
    measures : sequence of str
    without : collection of str, default ()
        Names of figures that are left out.
    **options
        Of the figures; each gets those that it knows.
    """
    for one in figures_of(kind_of(subject)).values():
        if one.name in without:
            continue
        known = {name: value for name, value in options.items() if name in one.draw.__annotations__}
        own = {"each": measures, "all": ()}.get(one.measures, one.measures.split())
        of_each = {f"{one.name}-{measure}": {"measure": measure} for measure in own} or {one.name: {}}
        for name, of in of_each.items():
            try:
                yield Drawing(name, one.name, one.draw(subject, **known, **of))
            except FigureError as error:
                yield Drawing(name, one.name, None, error)
