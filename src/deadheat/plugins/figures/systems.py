"""The systems that a figure shows, and the measure that it shows of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from deadheat.core.checks import name_items
from deadheat.core.errors import FigureError, SourceTypeError, UnknownMeasureError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.ordering import order_by_mean
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.systems import kind_of_runs
from deadheat.core.measures import Measure, parse_measure
from deadheat.core.measures.notation import MeasureLike, measure_named
from deadheat.core.measures.selection import ByMeasure, with_rel
from deadheat.core.scalars import NOISE
from deadheat.core.structures import T
from deadheat.core.wording import BROKEN_BY, format_count, format_level, format_list
from deadheat.plugins.figures.style import Record
from deadheat.plugins.figures.subjects import ComparedSystems, is_comparison

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
