"""What figures ask of a comparison of systems, of which they know no class."""

from collections.abc import Mapping
from typing import Protocol, TypeGuard

from deadheat.core.data.renderable import Plottable
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.intervals import Interval, IntervalOptions
from deadheat.core.evaluation.scores import Scores
from deadheat.core.measures.notation import MeasureLike


class ComparedSystems(Protocol):
    """A comparison of systems, which figures take in place of evaluations: what they ask of it."""

    @property
    def evaluations(self) -> Mapping[str, Evaluation]:
        """Of each system."""
        ...

    @property
    def by_judge(self) -> Mapping[str, Evaluation]:
        """Of each system by a judge's labels; empty without a judge."""
        ...

    @property
    def intervals(self) -> Mapping[tuple[str, str], Interval]:
        """Of the mean of each system by each measure."""
        ...

    @property
    def options_of_intervals(self) -> IntervalOptions:
        """How they were made."""
        ...

    def scores_by_doc_id(self, system: str, measure: MeasureLike) -> Scores | None:
        """Return the scores of a system with ties broken by document id; None if they are not known."""
        ...


def is_comparison(subject: object) -> TypeGuard[ComparedSystems]:
    """Tell whether something to draw is a comparison of systems."""
    return isinstance(subject, Plottable) and subject.figure_kind == "comparison"
