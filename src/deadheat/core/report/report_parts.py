"""What reports show of parts of evaluations, such as the labels of a judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.core.evaluation.intervals import Interval
    from deadheat.core.evaluation.strata import Strata
    from deadheat.core.report.model import Fact, Table

Part: TypeAlias = "tuple[tuple[str, ...], int, Evaluation, Mapping[str, Interval]]"
"""The labels of a stratum, or none; the number of a run, its evaluation there, and its intervals by measure."""


class ReportPart(Protocol):
    """What the reports of evaluations show of one part of them; an `EvaluationPart` returns it."""

    @property
    def values_are_by(self) -> str:
        """What the values of queries are by where means are by more, such as ``human labels``."""
        ...

    def tabulate_means(
        self, parts: Sequence[Part], names: Sequence[str], columns: Sequence[str], level: float
    ) -> Table:
        """Return a table of what it adds to each mean; arguments are as for `tabulate_quantiles`."""
        ...

    def tell(self, evaluations: Sequence[Evaluation]) -> list[Fact]:
        """Return facts on what was assumed, of evaluations that have it."""
        ...

    def tell_of_strata(self, strata: Strata) -> Iterable[Fact]:
        """Return facts on strata of queries."""
        ...

    def describe_means(self, evaluation: Evaluation) -> str:
        """Say in a sentence how means are estimated."""
        ...


def report_parts_of(evaluation: Evaluation) -> list[ReportPart]:
    """Return what reports show of the parts of an evaluation."""
    return [part.report() for part in evaluation.features.values()]


def tell_parts(evaluations: Sequence[Evaluation]) -> list[Fact]:
    """Return the facts on the parts of evaluations, all of which have the parts of the first."""
    facts = []
    for part in report_parts_of(evaluations[0]):
        facts += part.tell(evaluations)
    return facts
