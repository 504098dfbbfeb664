"""The values of a measure over all orders of ties: the mean, the spread and the extremes of each query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, use_default_arithmetic
from deadheat.core.measures import Measure
from deadheat.core.placements.placements import Placements
from deadheat.core.structures import copy_with

COUNT_1 = ("one", "correct_if_empty")  # what `no_relevant` is where queries without a relevant document may score 1
DOUBTFUL = 1e-6  # a smaller standard deviation may be rounding error alone, which the square root enlarges


@dataclass(frozen=True, eq=False)
class TieSpread:
    """The values of a measure over all orders of the ties, an entry for each query; each is computed on first use.

    Attributes
    ----------
    measure : Measure
    placements : Placements
        From before the tie policy.
    no_relevant : str or None
        What queries without a relevant document score, as in `Conventions`.
    """

    measure: Measure
    placements: Placements
    no_relevant: str | None = None

    @classmethod
    def known(
        cls,
        measure: Measure,
        placements: Placements,
        no_relevant: str | None = None,
        *,
        mean: FloatArray,
        std: FloatArray,
        extremes: tuple[FloatArray, FloatArray],
        standard_error: FloatArray,
        has_relevant: BoolArray,
        reachable: FloatArray,
    ) -> TieSpread:
        """Return a spread whose values are known, and not computed from the placements."""
        return copy_with(
            cls(measure, placements, no_relevant),
            mean=mean,
            std=std,
            extremes=extremes,
            standard_error=standard_error,
            has_relevant=has_relevant,
            reachable=reachable,
        )

    @cached_property
    def _near(self) -> Placements:
        """The placements that the measure looks at."""
        return self.measure.near(self.placements)

    def forget(self) -> None:
        """Drop cached intermediates. For many runs they take more memory than the runs."""
        self.placements.forget()
        self.__dict__.pop("_near", None)

    @use_default_arithmetic
    def of(self, ranked: Placements) -> FloatArray:
        """Return the exact mean over the orders of other placements of the same run, such as after a tie policy."""
        return self._count_right(self.measure.mean(self.measure.near(ranked)))

    def _count_right(self, values: FloatArray) -> FloatArray:
        """Return a copy of the values, with 1 for the queries that are right."""
        if not self._may_be_right:
            return np.array(values, np.float64)
        return np.where(self.is_right, 1.0, values)

    @property
    def _may_be_right(self) -> bool:
        """Whether queries may score 1 as nothing is relevant."""
        return self.no_relevant in COUNT_1 and self.measure.is_share

    @cached_property
    def is_right(self) -> BoolArray:
        """Which queries score 1 as nothing is relevant, if that is asked for: all, or those that retrieve nothing."""
        if not self._may_be_right:
            return np.zeros(self.placements.n_queries, np.bool_)
        if self.no_relevant == "one":
            return ~self.has_relevant
        return self.placements.missing & ~self.has_relevant

    @cached_property
    @use_default_arithmetic
    def mean(self) -> FloatArray:
        """Exact mean over the orders."""
        return self._count_right(self.measure.mean(self._near))

    @cached_property
    @use_default_arithmetic
    def std(self) -> FloatArray:
        """Standard deviation over the orders, exactly 0 where all orders give the same value."""
        if not self.placements.have_ties:
            return np.zeros(self.placements.n_queries)
        std = np.sqrt(self.measure.variance(self._near))
        is_doubtful = (std > 0) & (std < DOUBTFUL * np.maximum(1.0, np.abs(self.mean)))
        if not is_doubtful.any():
            return std
        low, high = self.extremes
        # a standard deviation is at most half the range (Popoviciu), which is 0 where a rounding error is all there is
        return np.where(is_doubtful, np.minimum(std, (high - low) / 2), std)

    @cached_property
    @use_default_arithmetic
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest value."""
        if not self.placements.have_ties:
            return self.mean, self.mean
        low, high = self.measure.extremes(self._near)
        return self._count_right(low), self._count_right(high)

    @cached_property
    @use_default_arithmetic
    def standard_error(self) -> FloatArray:
        """Monte Carlo error of `mean`: 0, since it is exact, except for a sampled `Custom`."""
        return self.measure.standard_error(self.placements)

    @cached_property
    @use_default_arithmetic
    def has_relevant(self) -> BoolArray:
        """Which queries have a document that counts as relevant."""
        return self.measure.has_relevant(self._near)

    @cached_property
    @use_default_arithmetic
    def reachable(self) -> FloatArray:
        """The best values that the judgments allow; NaN where they set no limit."""
        reachable = self.measure.reachable(self._near)
        if self.no_relevant in COUNT_1:
            return np.where(self.has_relevant, reachable, 1.0)
        return np.asarray(reachable)
