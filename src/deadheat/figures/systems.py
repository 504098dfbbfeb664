"""The systems that a figure shows: their scores, intervals, tie ranges, and values by document id, as trec_eval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from deadheat.arguments import by_name
from deadheat.comparison.comparison import Comparison
from deadheat.errors import FigureError, SourceTypeError, UnknownMeasureError
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.intervals import Interval, IntervalOptions
from deadheat.evaluation.scores import Scores, intervals
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike
from deadheat.wording import BROKEN_BY, Plain

Systems: TypeAlias = "Evaluation | Comparison | Mapping[str, Evaluation] | Sequence[Evaluation]"
"""One evaluation, several, or a comparison."""

BROKEN = {
    "expected": "exact mean over tie orders",
    "best": "judged documents first in every tie",
    "worst": "judged documents last in every tie",
    **{rule: f"ties {how}" for rule, how in BROKEN_BY.items()},
    "random": "ties in a random order",
}


@dataclass(frozen=True, eq=False)
class System:
    """One system by one measure.

    Attributes
    ----------
    name : str
    scores : Scores
    interval : Interval
    by_doc_id : float
        Its mean with ties broken by document id, as trec_eval; NaN where that is not known.
    """

    name: str
    scores: Scores
    interval: Interval
    by_doc_id: float

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.scores.measure

    @property
    def mean(self) -> float:
        """The mean over queries, under the tie policy."""
        return self.scores.mean

    @property
    def exact(self) -> float:
        """The mean over queries of the exact means over tie orders, whatever the policy."""
        own = self.scores
        return Scores(own.measure, own.query_ids, own.tie_mean, own.spread).mean


def named(systems: Systems) -> dict[str, Evaluation]:
    """Return evaluations by the name of their system."""
    if isinstance(systems, Comparison):
        return dict(systems.evaluations)
    if isinstance(systems, Evaluation):
        return {systems.name: systems}
    if isinstance(systems, Mapping):
        found = by_name(systems.items())
    else:
        _check_several(systems)
        names = [one.name for one in systems]
        found = {
            name if names.count(name) == 1 else f"{name} ({n})": one
            for n, (name, one) in enumerate(zip(names, systems, strict=True), 1)
        }
    _check_several(list(found.values()))
    return found


def _check_several(systems: object) -> None:
    """Raise `SourceTypeError` unless it is a list of evaluations."""
    several = systems if isinstance(systems, Sequence) and not isinstance(systems, str) else ()
    if not several or not all(isinstance(one, Evaluation) for one in several):
        raise SourceTypeError(
            argument="systems",
            given=Plain(type(systems).__name__),
            allowed="an Evaluation, several of them, or a Comparison",
        )


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


def systems_of(
    systems: Systems,
    measure: MeasureLike | None,
    beside: Systems | None = None,
    options: Mapping[str, Any] | IntervalOptions | None = None,
) -> list[System]:
    """Return each system by one measure, the best first; those without a value are left out.

    Parameters
    ----------
    systems : Evaluation, Comparison, or several evaluations
    measure : measure, optional
        By default the first.
    beside : evaluations, optional
        The same systems with ties broken by document id; a comparison knows them.
    options : dict or IntervalOptions, optional
        Of the intervals; a comparison has its own.

    Raises
    ------
    FigureError
        No system has a value.
    """
    evaluations = named(systems)
    of = measure_of(evaluations, measure)
    doc_id = {} if beside is None else {name: one[of].mean for name, one in named(beside).items()}
    if isinstance(systems, Comparison):
        found = [
            System(name, one[of], systems.intervals[name, systems[of][0].measure], mean_by_doc_id(systems, name, of))
            for name, one in evaluations.items()
        ]
    else:
        asked = interval_options(options)
        found = [
            System(name, one[of], intervals([one[of]], asked)[0], doc_id.get(name, float("nan")))
            for name, one in evaluations.items()
        ]
    having = [one for one in found if np.isfinite(one.mean)]
    if not having:
        raise FigureError(f"no system has a value of {of.label}: no query counts, or none has a relevant document")
    return sorted(having, key=lambda one: (-one.mean if of.higher_is_better else one.mean, one.name))


def interval_options(options: Mapping[str, Any] | IntervalOptions | None, systems: object = None) -> IntervalOptions:
    """Return the options of intervals, from their names and values or as they are; by default those of a comparison."""
    if options is None and isinstance(systems, Comparison):
        codes = systems.cluster
        cluster = None if codes is None else dict(zip(systems.query_ids.tolist(), codes.tolist(), strict=True))
        return systems.design.with_clusters(cluster)
    return options if isinstance(options, IntervalOptions) else IntervalOptions(**(options or {}))


def mean_by_doc_id(comparison: Comparison, system: str, measure: Measure) -> float:
    """Return the mean of a system, ties broken by document id, as trec_eval; NaN without the runs."""
    rule = comparison.by_doc_id.get(system)
    if rule is None:
        return float("nan")
    evaluation = comparison.evaluations[system]
    scores = evaluation[measure]
    place = evaluation.measures.index(scores.measure)
    return Scores(scores.measure, scores.query_ids, np.where(scores.kept, rule[place], np.nan), scores.spread).mean


def counted_as(systems: Systems) -> str:
    """Return how ties count in the values, in a few words."""
    first = next(iter(named(systems).values()))
    return BROKEN.get(first.ties, first.ties)


def better(measure: Measure) -> str:
    """Return which end of an axis is better."""
    return "higher is better" if measure.higher_is_better else "lower is better"
