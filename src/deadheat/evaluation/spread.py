"""What the order of ties can make of one measure's scores: worked out from placements, or kept from a file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from deadheat.arrays import BoolArray, FloatArray
    from deadheat.measures import Measure
    from deadheat.placements.placements import Placements


DOUBTFUL = 1e-6  # a standard deviation that may be nothing but rounding, which a square root makes large


@dataclass(frozen=True, eq=False)
class PlacedSpread:
    """A spread that is worked out when it is first looked at.

    Attributes
    ----------
    measure : Measure
    placements : Placements
        From before the tie policy.
    """

    measure: Measure
    placements: Placements

    @cached_property
    def mean(self) -> FloatArray:
        """Exact mean over the orders."""
        return self.measure.mean(self.placements)

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation over the orders, exactly 0 where all give the same value."""
        found = np.sqrt(self.measure.variance(self.placements))
        is_doubtful = (found > 0) & (found < DOUBTFUL * np.maximum(1.0, np.abs(self.mean)))
        if not is_doubtful.any():
            return found
        low, high = self.extremes
        # no standard deviation is above half the range (Popoviciu); what rounding leaves where no order matters is
        return np.where(is_doubtful, np.minimum(found, (high - low) / 2), found)

    @cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest value."""
        return self.measure.extremes(self.placements)

    @cached_property
    def standard_error(self) -> FloatArray:
        """Monte Carlo error of `mean`: 0, as it is exact, but for a sampled `Custom`."""
        return self.measure.standard_error(self.placements)

    @cached_property
    def has_relevant(self) -> BoolArray:
        """Which queries have a document that counts as relevant."""
        return self.measure.has_relevant(self.placements)

    @cached_property
    def reachable(self) -> FloatArray:
        """The best values that the judgments allow; NaN where they do not say."""
        return self.measure.reachable(self.placements)


@dataclass(frozen=True, eq=False)
class StoredSpread:
    """A spread whose arrays are given, as those of a saved evaluation are.

    Attributes
    ----------
    mean, std, standard_error : ndarray of float, shape (n_queries,)
    extremes : tuple of two ndarrays of float, shape (n_queries,)
    has_relevant : ndarray of bool, shape (n_queries,)
    reachable : ndarray of float, shape (n_queries,), or None
        None in files of before it was kept.
    """

    mean: FloatArray
    std: FloatArray
    extremes: tuple[FloatArray, FloatArray]
    standard_error: FloatArray
    has_relevant: BoolArray
    reachable: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class SelectedSpread:
    """The spread of some queries.

    Attributes
    ----------
    whole : Spread
    keep : ndarray of bool, shape (n_queries of the whole,)
    """

    whole: Spread
    keep: BoolArray

    @property
    def mean(self) -> FloatArray:
        """Exact mean over the orders."""
        return self.whole.mean[self.keep]

    @property
    def std(self) -> FloatArray:
        """Standard deviation over the orders."""
        return self.whole.std[self.keep]

    @property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest value."""
        low, high = self.whole.extremes
        return low[self.keep], high[self.keep]

    @property
    def standard_error(self) -> FloatArray:
        """Monte Carlo error of `mean`."""
        return self.whole.standard_error[self.keep]

    @property
    def has_relevant(self) -> BoolArray:
        """Which queries have a document that counts as relevant."""
        return self.whole.has_relevant[self.keep]

    @property
    def reachable(self) -> FloatArray | None:
        """The best values that the judgments allow; None if they are not known."""
        return None if self.whole.reachable is None else self.whole.reachable[self.keep]


Spread: TypeAlias = PlacedSpread | StoredSpread | SelectedSpread
"""The values of a measure over all tie orders, one entry for each query."""
