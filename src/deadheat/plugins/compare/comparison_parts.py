"""Parts of whole comparisons: what a feature makes of all pairs at once, by its key.

A `Comparison` holds such parts and knows none of them; parts of pairs, which are there while pairs are made, are in
`pair_parts`. A part changes the pairs when it is added, goes with strata, and has columns and tables of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from deadheat.core.data.qrels import Qrels
    from deadheat.core.data.run import Run
    from deadheat.core.data.sources import Source
    from deadheat.core.design import Design
    from deadheat.core.evaluation.evaluation import Evaluation
    from deadheat.core.evaluation.query_columns import Weights
    from deadheat.core.evaluation.stratum import Stratum
    from deadheat.core.measures import Measure
    from deadheat.core.report.model import Column, Fact, Table
    from deadheat.core.settings import Conventions
    from deadheat.plugins.compare.pair import Pair, Pairs


Comparison = TypeVar("Comparison")  # the class of that name, which imports this file


class ComparisonPart(Protocol[Comparison]):
    """A part of a whole comparison, such as evaluations by other labels, with which differences are estimated."""

    @property
    def fields_of_values(self) -> Collection[str]:
        """The fields of a pair that stay those of the values of queries, whatever the part does to others."""
        ...

    @property
    def prefix(self) -> str:
        """What the names of such fields begin with in tables, and of all numbers of single systems."""
        ...

    @property
    def values_are_by(self) -> str:
        """What these values are by, such as ``human labels``."""
        ...

    @property
    def differences_are(self) -> str:
        """How differences are estimated, such as ``with the judge's labels``."""
        ...

    def add_to(self, comparison: Comparison) -> Comparison:
        """Return a comparison with this part, and its pairs as the part changes them, corrected."""
        ...

    def in_strata(
        self, columns: str | Sequence[str], queries: Source
    ) -> Callable[[Stratum], ComparisonPart[Comparison]]:
        """Return what gives the part in a stratum of queries."""
        ...

    def refuse(self, what: str) -> None:
        """Raise `ParameterError` if `what` is not for a comparison with it."""
        ...

    def columns_of(self, pairs: Pairs) -> Mapping[str, list[Any]]:
        """Return columns of its own, by the names that they have in tables."""
        ...

    def numbers_of(self, pair: Pair, scale: float) -> Iterable[tuple[str, float]]:
        """Give numbers of its own by name; those of a difference are `scale` times as large."""
        ...

    def tabulate_pairs(
        self, parts: Mapping[tuple[str, ...], Comparison], leading: Iterable[Column], measure: Measure
    ) -> Table:
        """Return a table of what it adds to each pair, for people; `parts` are strata, or the whole alone."""
        ...

    def tell(self, comparison: Comparison, parts: Mapping[tuple[str, ...], Comparison]) -> list[Fact]:
        """Return facts on what was assumed."""
        ...


class OtherLabels(Protocol[Comparison]):
    """Labels that are given to `compare` beside the qrels, of which a part of the comparison is made."""

    @property
    def qrels(self) -> Qrels:
        """The labels."""
        ...

    def change_design(self, design: Design) -> Design:
        """Return the design with them; raise `ParameterError` for what does not go with them."""
        ...

    def help_runs(  # noqa: PLR0917 - as they were given
        self,
        comparison: Comparison,
        conventions: Conventions,
        runs: Mapping[str, Run],
        measures: Sequence[Measure],
        weights: Weights | None,
        queries: Source | None,
    ) -> Comparison:
        """Return a comparison of runs with their help."""
        ...

    def help_evaluations(
        self,
        comparison: Comparison,
        evaluations: Mapping[str, Evaluation],
        weights: Weights | None,
        queries: Source | None,
    ) -> Comparison:
        """Return a comparison of evaluations, which have the rankings of runs, with their help."""
        ...
