"""Which figures there are of an object by default: those that a page shows and that --figures writes.

It does not import Altair: a page without figures and the help of commands need it, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import polars as pl

from deadheat.comparison.comparison import Comparison
from deadheat.comparison.history import History
from deadheat.comparison.judges import JudgeAgreement
from deadheat.comparison.languages import Languages
from deadheat.comparison.leaderboard import Leaderboard
from deadheat.errors import NOISE, SourceTypeError
from deadheat.evaluation.evaluation import Evaluation, Strata
from deadheat.evaluation.scores import Scores
from deadheat.profile.profile import TieProfile
from deadheat.simulation.coarsening import CoarseningProfile
from deadheat.simulation.rerankers import Simulation

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

MOST_SHOWN = 3
SHOWN: dict[SubjectKind, tuple[str, ...]] = {
    "systems": ("forest", "traditional"),
    "comparison": ("forest", "differences", "traditional"),
    "languages": ("slopes",),
    "strata": ("strata",),
    "ties": ("traditional", "largest_tie", "tie_histogram"),
    "coarsening": ("coarsening",),
    "history": ("history",),
    "leaderboard": ("rank_intervals", "tiers", "heat_map"),
    "judges": ("confusion", "judged_means", "judge_bias"),
}
"""Figures that are drawn of a kind of object unless others are asked for by name."""

OF_ONE_QUERY = "of one query a figure would show single points"
"""Why nothing is drawn by default."""


def kind_of(subject: object) -> SubjectKind:
    """Return the kind of an object, or of several objects, to draw."""
    for of, kind in KINDS.items():
        if isinstance(subject, of):
            return kind
    listed = subject.values() if isinstance(subject, Mapping) else subject
    kinds = {kind_of(one) for one in listed} if isinstance(listed, Iterable) and not isinstance(listed, str) else set()
    if len(kinds) != 1 or not kinds <= SEVERAL:
        raise SourceTypeError(
            found=type(subject).__name__,
            allowed="an Evaluation, a Comparison, Strata, several of one of these by name, or a table of ties",
        )
    return kinds.pop()


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
    kind = kind_of(subject)
    names = SHOWN[kind]
    if isinstance(subject, TieProfile):
        return () if subject.queries.height == 1 else names
    if isinstance(subject, JudgeAgreement) and not subject.conclusions:
        return names[:1]  # without runs there are no means
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
    if isinstance(subject, Comparison):
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
