"""Families of measures: what most measures are made from, and what such measures call."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.errors import MeasureError
from deadheat.core.kernels.segments import divide_or_zero
from deadheat.core.measures.base import Measure
from deadheat.core.measures.parameters import CUTOFF, parameter, parameters
from deadheat.core.placements.placements import Placements
from deadheat.core.structures import T

MANY = 1 << 13  # judged documents: with so many it is faster to leave out those ranked too low to count
MOST_SUMMED = 10_000_000  # ranks, also below a list, over which a divisor is summed


@parameters
class CutMeasure(Measure):
    """A measure that can be cut at a rank."""

    cutoff: int | None = parameter(None, CUTOFF, "rank at which the list is cut; what @ sets")

    @property
    def deepest(self) -> int | None:
        """The cutoff; a measure whose divisor looks at the whole list has none."""
        return self.cutoff

    def _ideal_lists(self, placements: Placements) -> Iterator[BoolArray]:
        """Yield the lists of every measure, and each query's first k where documents below k take something away."""
        yield from super()._ideal_lists(placements)
        if self.cutoff is not None and self.deepest is None:
            query = placements.judged_query
            first_of_query = np.searchsorted(query, query)
            rank = np.arange(len(query)) - first_of_query  # from 0 on
            yield rank < self.cutoff

    def inside(self, above: IntArray, tied: IntArray) -> IntArray:
        """Return how many ranks of each tie are within the cutoff."""
        if self.cutoff is None:
            return tied
        return np.clip(self.cutoff - above, 0, tied)

    def k(self, placements: Placements) -> IntArray:
        """Return the cutoff, or the number of documents retrieved, of shape (n_queries,)."""
        if self.cutoff is None:
            return placements.n_retrieved
        return np.full(placements.n_queries, self.cutoff)

    def depth(self, placements: Placements) -> IntArray:
        """Return how many documents of each list are within the cutoff."""
        if self.cutoff is None:
            return placements.n_retrieved
        return np.minimum(placements.n_retrieved, self.cutoff)


class JointMeasure(Measure):
    """A measure whose mean and variance are computed together, once for the same placements."""

    @abstractmethod
    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean and variance over all tie orders, and what else comes with them."""

    def moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Return what :meth:`find_moments` finds."""
        return placements.cached(("moments", self.key), lambda: self.find_moments(placements))

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders."""
        return self.moments(placements)[0]

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return self.moments(placements)[1]


class SumMeasure(Measure):
    """A sum over the ranked documents, divided by a number that no tie order changes."""

    def near(self, placements: Placements) -> Placements:
        """Return the placements within the cutoff if there are many: of few it costs more than it saves."""
        if len(placements.query) < MANY or self.deepest is None:
            return placements
        return placements.within(self.deepest)

    @abstractmethod
    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""

    def divisor(self, placements: Placements) -> FloatArray | IntArray:
        """Return what each query's sum is divided by: 1 by default. Where it is 0, the value is 0."""
        return np.ones(placements.n_queries)

    def mean(self, placements: Placements) -> FloatArray:
        """Return the exact mean over all tie orders, computed once for the same placements."""

        def find() -> FloatArray:
            return divide_or_zero(self.moment(placements, squares=False), self.divisor(placements))

        return placements.cached(("mean", self.key), find)

    def variance(self, placements: Placements) -> FloatArray:
        """Return the exact variance over all tie orders."""
        return divide_or_zero(self.moment(placements, squares=True), self.divisor(placements) ** 2)


def ranks_to(measure: Measure, last: int) -> FloatArray:
    """Return the ranks from 1 to the last one that a measure sums over; raise if they are more than memory may hold."""
    if last > MOST_SUMMED:
        raise MeasureError(
            "its divisor is a sum over more ranks than memory may hold",
            measure=str(measure),
            found=f"{last:,}",
            allowed=f"at most {MOST_SUMMED:,}",
        )
    return np.arange(1.0, last + 1)


def divide_moments(
    placements: Placements, parts: Iterable[FloatArray], query: IntArray, divisor: FloatArray | IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each query's sum over its divisor, from those of the parts that add up to it."""
    part_means, part_variances = parts
    mean = divide_or_zero(placements.by_query(part_means, query), divisor)
    variance = divide_or_zero(placements.by_query(part_variances, query), divisor**2)
    return mean, variance


def computed_once(*names: str) -> Callable[[Callable[[Any, Placements], T]], Callable[[Any, Placements], T]]:
    """Return a decorator: the method looks at the same placements once for all measures with the same parameters.

    Parameters
    ----------
    *names : str
        The parameters that it looks at.
    """

    def decorate(method: Callable[[Any, Placements], T]) -> Callable[[Any, Placements], T]:
        @wraps(method)
        def call_once(measure: Any, placements: Placements) -> T:  # noqa: ANN401 - of any class
            values = [getattr(measure, name) for name in names]
            key = (method.__qualname__, *values)
            return placements.cached(key, lambda: method(measure, placements))

        return call_once

    return decorate
