"""What reports show of parts of evaluations, such as the labels of a judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deadheat.core.evaluation.stratum import Stratum, keys_of

if TYPE_CHECKING:
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.core.evaluation.intervals import Interval
    from deadheat.core.evaluation.reported import ReportedNumbers
    from deadheat.core.evaluation.strata import Strata
    from deadheat.core.measures import Measure
    from deadheat.core.report.model import Fact, Table


@dataclass(frozen=True, slots=True)
class PartNumbers:
    """What reports show of a measure of a run in a part of the queries.

    Attributes
    ----------
    measure : Measure
    reported : ReportedNumbers
    n_all : int
        Queries of the part, with a value or without.
    n_unexplained : int
        Queries without a value that were not skipped on demand.
    """

    measure: Measure
    reported: ReportedNumbers
    n_all: int
    n_unexplained: int


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A run in a part of the queries: in a stratum, or in all.

    Attributes
    ----------
    run : int
        The number of the run.
    whole : Evaluation
        Of all queries.
    evaluations : mapping of Stratum to Evaluation
        The strata of the run; of all queries ``{(): whole}``.
    stratum : str or tuple of str
    numbers : mapping of str to PartNumbers
        By measure.
    intervals : mapping of str to Interval
        By measure; empty if none were asked for.
    """

    run: int
    whole: Evaluation
    evaluations: Mapping[Stratum, Evaluation]
    stratum: Stratum
    numbers: Mapping[str, PartNumbers]
    intervals: Mapping[str, Interval]

    @property
    def labels(self) -> tuple[str, ...]:
        """The values of the stratum in its columns; none of all queries."""
        return keys_of(self.stratum)

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of these queries. For very many strata that takes long: `numbers` need none."""
        return self.evaluations[self.stratum]

    @property
    def has_features(self) -> bool:
        """Whether the evaluation may have more than values, such as bounds or the labels of a judge."""
        return bool(self.whole.features) or any(scores.parts for scores in self.whole)


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
