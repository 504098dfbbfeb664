"""Which figures there are of an object by default: those that a page shows and that --figures writes.

It does not import Altair: a page without figures and the help of commands need it, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from deadheat.core import hooks
from deadheat.core.data.renderable import Plottable
from deadheat.core.errors import SourceTypeError
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.scalars import NOISE
from deadheat.plugins.figures.subjects import is_comparison

SEVERAL = {"systems", "strata", "ties"}  # kinds of objects of which a figure takes several too

MOST_SHOWN = 3
STUB = Path(__file__).with_name("figures.pyi")
OF_ONE_QUERY = "of one query a figure would show single points"
"""Why nothing is drawn by default."""


def check_figure(name: str) -> None:
    """Raise `MissingPluginError` if a figure is of a plugin that is not there: the stub names all figures."""
    homes = hooks.find_homes(STUB)
    if name in homes:
        hooks.check_installed(f"the figure {name}", homes[name])


def class_of(subject: object) -> type[Plottable]:
    """Return the class that says which figures there are of an object, or of several objects, to draw."""
    if isinstance(subject, Plottable):
        return type(subject)
    if isinstance(subject, pl.DataFrame):
        of_table: type[Plottable] = hooks.service("tie_profile").TieProfile
        return of_table
    listed = subject.values() if isinstance(subject, Mapping) else subject
    classes: dict[str, type[Plottable]] = {}
    if isinstance(listed, Iterable) and not isinstance(listed, str):
        for one in listed:
            of_one = class_of(one)
            classes[of_one.figure_kind] = of_one
    if len(classes) != 1 or not classes.keys() <= SEVERAL:
        raise SourceTypeError(
            found=type(subject).__name__,
            allowed="an Evaluation, a Comparison, Strata, several of one of these by name, or a table of ties",
        )
    return next(iter(classes.values()))


def kind_of(subject: object) -> str:
    """Return the kind of an object, or of several objects, to draw."""
    return class_of(subject).figure_kind


def figures_to_show(subject: object, measure: str) -> tuple[str, ...]:
    """Return the names of the figures that are drawn of an object by default, at most three.

    Of one query there are none: each would show single points. How ties by document id compare with the exact mean is
    shown where some order of the ties ranks systems in another way, or changes the mean of a single one.

    Parameters
    ----------
    subject : object
        What can be drawn.
    measure : str
        Which the figures are of, if they are of one.
    """
    of = class_of(subject)
    kind = of.figure_kind
    names = subject.figures_by_default() if isinstance(subject, Plottable) else of.figures_shown
    if kind not in {"systems", "comparison", "strata"}:
        return names  # of judges, tasks, steps, levels of scores, or what is made up
    scores = [one[measure] for one in evaluations_of(subject)]
    if max(one.n_queries for one in scores) == 1:
        return ()
    if "traditional" in names and not do_ties_decide(scores):
        return tuple(name for name in names if name != "traditional")
    return names


def evaluations_of(subject: object) -> list[Evaluation]:
    """Return the evaluations that an object has of all queries: of systems, strata and a comparison."""
    if is_comparison(subject):
        return list(subject.evaluations.values())
    if isinstance(subject, Strata):
        return [subject.whole]
    if isinstance(subject, Evaluation):
        return [subject]
    parts: Iterable[object] = ()
    if isinstance(subject, Mapping):
        parts = subject.values()
    elif isinstance(subject, Sequence) and not isinstance(subject, str):
        parts = subject
    found = []
    for part in parts:
        found += evaluations_of(part)
    return found


def do_ties_decide(scores: Sequence[Scores]) -> bool:
    """Return whether some order of the ties ranks systems in another way, or changes the mean of a single one."""
    known = [one for one in scores if one.mean_tie_max >= one.mean_tie_min]
    if len(known) == 1:
        return known[0].mean_tie_max - known[0].mean_tie_min > NOISE
    if not known:
        return False
    sign = known[0].measure.sign
    ranked = sorted(known, key=lambda one: -sign * one.mean)
    lowest_above = _ends(ranked[0])[0]
    for one in ranked[1:]:
        low, high = _ends(one)
        if high > lowest_above + NOISE:
            return True
        lowest_above = min(lowest_above, low)
    return False


def _ends(scores: Scores) -> tuple[float, float]:
    """Return the worst and the best mean over tie orders, as numbers of which the higher is better."""
    ends = (scores.measure.sign * scores.mean_tie_min, scores.measure.sign * scores.mean_tie_max)
    return min(ends), max(ends)
