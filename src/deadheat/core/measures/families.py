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

WORTH_DROPPING = 1 << 13  # with so many judged documents it is faster to drop those ranked too low to count
MOST_SUMMED = 10_000_000  # ranks over which a divisor may be summed; they may go on below the list


@parameters
class CutMeasure(Measure):
    """A measure that can be cut at a rank."""

    cutoff: int | None = parameter(None, CUTOFF, "rank at which the list is cut; what @ sets")

    @property
    def deepest(self) -> int | None:
        """The cutoff; a measure whose divisor looks at the whole list returns None instead."""
        return self.cutoff

    def _ideal_lists(self, placements: Placements) -> Iterator[BoolArray]:
        """Yield the lists of every measure, and each query's first k where documents below k can lower the value."""
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
        return np.minimum(np.maximum(self.cutoff - above, 0), tied)

    def k(self, placements: Placements) -> IntArray:
        """Return the cutoff of each list, also where fewer are retrieved; without a cutoff the number retrieved."""
        if self.cutoff is None:
            return placements.n_retrieved
        return np.full(placements.n_queries, self.cutoff)

    def depth(self, placements: Placements) -> IntArray:
        """Return how many documents of each list are within the cutoff: at most as many as are retrieved."""
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
        """Return the placements within the cutoff; all if there are so few that to drop some would take longer."""
        if len(placements.query) < WORTH_DROPPING or self.deepest is None:
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
    """Return the ranks from 1 to `last`, over which a measure sums; raise if there are too many for memory."""
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
    """Add up the means and variances of each query's independent parts, and divide them by its divisor."""
    part_means, part_variances = parts
    mean = divide_or_zero(placements.by_query(part_means, query), divisor)
    variance = divide_or_zero(placements.by_query(part_variances, query), divisor**2)
    return mean, variance


def computed_once(*names: str) -> Callable[[Callable[[Any, Placements], T]], Callable[[Any, Placements], T]]:
    """Return a decorator for a method whose result is shared by all measures with the same values of some parameters.

    Parameters
    ----------
    *names : str
        The parameters that the result depends on.
    """

    def decorate(method: Callable[[Any, Placements], T]) -> Callable[[Any, Placements], T]:
        @wraps(method)
        def call_once(measure: Any, placements: Placements) -> T:  # noqa: ANN401 - of any class
            values = [getattr(measure, name) for name in names]
            key = (method.__qualname__, *values)
            return placements.cached(key, lambda: method(measure, placements))

        return call_once

    return decorate


def distributions_of_chances(chances: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return the values of a measure that is 0 or 1, and their probabilities.

    Parameters
    ----------
    chances : ndarray, shape (n_queries,)
        The probability of 1 over all tie orders, of each query.

    Returns
    -------
    list of tuple of ndarray
        Of each query the values that are possible, and the probability of each.
    """
    distributions = []
    for chance in chances.tolist():
        probabilities = np.array([1 - chance, chance])
        is_possible = probabilities > 0
        distributions.append((np.array([0.0, 1.0])[is_possible], probabilities[is_possible]))
    return distributions
