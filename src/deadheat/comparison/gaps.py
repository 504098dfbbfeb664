"""Gap: a system's difference between two languages, to be compared with the gap of another system."""

from __future__ import annotations

from dataclasses import dataclass

from deadheat.arguments import Rng, generator
from deadheat.arrays import BoolArray, FloatArray
from deadheat.comparison.drawing import Drawn
from deadheat.comparison.sides import Side
from deadheat.comparison.sums import Summands
from deadheat.measures import Measure


@dataclass(frozen=True, eq=False)
class Gap:
    """One system in one language less the same system in another, query by query.

    The ties of the two runs are broken independently, so that means subtract and variances add.

    Attributes
    ----------
    one, other : Side
    rng : numpy.random.Generator, int or None
        Of the pairing of drawn orders.
    """

    one: Side
    other: Side
    rng: Rng

    @property
    def measure(self) -> Measure:
        """The measure."""
        return self.one.measure

    @property
    def values(self) -> FloatArray:
        """Of each query, under the tie policy."""
        return self.one.values - self.other.values

    @property
    def mean(self) -> FloatArray:
        """Of each query, over all orders of the ties of both."""
        return self.one.mean - self.other.mean

    @property
    def variance(self) -> FloatArray:
        """Of each query, over all orders of both."""
        return self.one.variance + self.other.variance

    @property
    def low(self) -> FloatArray:
        """Of each query, the least over all orders of both."""
        return self.one.low - self.other.high

    @property
    def high(self) -> FloatArray:
        """Of each query, the most over all orders of both."""
        return self.one.high - self.other.low

    @property
    def by_doc_id(self) -> FloatArray:
        """Of each query, with ties broken by document id, as trec_eval."""
        return self.one.by_doc_id - self.other.by_doc_id

    @property
    def is_exact(self) -> bool:
        """Whether moments and extremes are."""
        return self.one.is_exact and self.other.is_exact

    @property
    def can_draw(self) -> bool:
        """Whether orders of both can be listed or drawn."""
        return self.one.can_draw and self.other.can_draw

    def summands(self, keep: BoolArray) -> Summands | None:
        """Return the exact distributions of some of the queries, where they are feasible."""
        first = self.one.summands(keep)
        second = self.other.summands(keep) if first else None
        return first.minus(second) if first and second else None

    def n_draws(self, keep: BoolArray) -> int:
        """Return how many orders of some queries can be drawn at a cost that does not hurt."""
        return min(self.one.n_draws(keep), self.other.n_draws(keep))

    def drawn(self, keep: BoolArray) -> Drawn | None:
        """Return sums over some of the queries in random orders, where they are feasible."""
        first = self.one.drawn(keep)
        second = self.other.drawn(keep) if first else None
        return first.minus(second, generator(self.rng, 1)) if first and second else None
