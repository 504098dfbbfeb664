"""Parts of evaluations: what a feature knows of one evaluation as a whole, by its key.

An evaluation holds such parts and knows none of them. Some of its queries have none: a part says what becomes of it
where queries are weighted or in strata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

from deadheat.core.arrays import BoolArray, IntArray, TextArray

if TYPE_CHECKING:
    from deadheat.core.data.queries import Queries
    from deadheat.core.evaluation.query_columns import Weights
    from deadheat.core.evaluation.stratum import Stratum


Evaluation = TypeVar("Evaluation")  # the class of that name, which imports this file


class EvaluationPart(Protocol[Evaluation]):
    """A part of an evaluation, such as one by other labels, with which its means are estimated."""

    def weight(self, evaluation: Evaluation, weights: Weights | None, queries: Any) -> Evaluation:  # noqa: ANN401 - a table
        """Return an evaluation, whose own queries have their weights already, with this part weighted too."""
        ...

    def in_strata(
        self, strata: Mapping[Stratum, Evaluation], columns: Sequence[str], queries: Queries
    ) -> Mapping[Stratum, Evaluation]:
        """Return the strata that have some of it, each with its own."""
        ...

    def in_union(self, evaluation: Evaluation, strata: Sequence[Evaluation]) -> Evaluation:
        """Return an evaluation of the queries of some strata, which have some of it, with what they have together."""
        ...

    def refuse_saving(self, evaluation: Evaluation) -> None:
        """Raise `ParameterError` if an evaluation with it cannot be saved."""
        ...

    def report(self) -> Any:  # noqa: ANN401 - of a higher floor
        """Return what reports show of it, a `ReportPart`; what that takes is imported here."""
        ...


class KeptLists(Protocol):
    """The first documents of lists, judged or not, that an evaluation may keep, for what looks at them too."""

    def select(self, queries: BoolArray | IntArray) -> Self:
        """Return those of some queries, which a mask or places say."""

    def renamed(self, query_ids: TextArray) -> Self:
        """Return them with other ids of their queries."""
