"""The family of measures whose value at a rank depends on how many documents of each kind are above it."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.kernels import prefix_counts
from deadheat.core.kernels.segments import divide_or_zero, scan_before, segment_sums
from deadheat.core.measures.base import Measure
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.core.placements.placements import Placements


@dataclass(frozen=True, eq=False)
class KindTies:
    """The ties of which some document counts.

    Attributes
    ----------
    query, tied : ndarray of shape (n_ties,)
    above : ndarray of shape (n_ties,)
        Documents above the tie.
    counts : ndarray of shape (n_ties, n_kinds)
        Documents of each kind in the tie.
    """

    query: IntArray
    tied: IntArray
    above: IntArray
    counts: IntArray


@dataclass(frozen=True, eq=False)
class GainTies(KindTies):
    """The ties with a gain, whose kinds are their different gains, the highest first.

    Attributes
    ----------
    levels : ndarray of shape (n_ties, n_kinds)
        The gain of each kind; 0 where a tie has fewer.
    before : ndarray of shape (n_ties,)
        The gains above the tie, added up.
    """

    levels: FloatArray
    before: FloatArray

    @classmethod
    def from_gains(cls, placements: Placements, gains: FloatArray) -> "GainTies":
        """Find the ties of which some document has a gain; `gains` is that of each row."""
        highest_first = np.lexsort((-gains, placements.above, placements.query))
        rows = highest_first[gains[highest_first] > 0]
        query, above, gains = placements.query[rows], placements.above[rows], gains[rows]
        starts = run_starts(query, above)
        sizes = np.diff(np.append(starts, len(rows)))
        tie = np.repeat(np.arange(len(starts)), sizes)
        kinds = run_starts(query, above, gains)  # the first row of each gain in each tie
        tie_of_kind = tie[kinds]
        n_of_kind = np.diff(np.append(kinds, len(rows)))
        place = np.arange(len(kinds)) - np.searchsorted(tie_of_kind, tie_of_kind)  # of a kind among those of its tie
        n_kinds = int(place.max(initial=0)) + 1
        counts = np.zeros((len(starts), n_kinds), np.int64)
        levels = np.zeros((len(starts), n_kinds))
        counts[tie_of_kind, place] = n_of_kind
        levels[tie_of_kind, place] = gains[kinds]
        return cls(
            query=query[starts],
            tied=placements.tied[rows][starts],
            above=above[starts],
            counts=counts,
            levels=levels,
            before=scan_before(segment_sums(gains, starts), query[starts], np.add),
        )

    def with_seen(self, gains: FloatArray, ties: IntArray, seen: Sequence[IntArray]) -> FloatArray:
        """Return gains, shaped as states are, and those of the documents that were seen in some ties added to them."""
        for kind, number in enumerate(seen):
            gains = gains + along(self.levels[ties, kind], seen) * number
        return gains


class PrefixMeasure(OrdersMeasure):
    """A sum over the ranks, divided by a constant of the query."""

    # states of one tie over all its ranks, in about a second; beyond, orders are drawn
    most_steps: ClassVar[int] = 1 << 24

    @abstractmethod
    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties, in the order of queries and ranks, and what their ranks add."""

    def divisor(self, placements: Placements) -> FloatArray:
        """Return what the sum is divided by, of shape (n_queries,); the value is 0 where it is 0."""
        return np.ones(placements.n_queries)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance, standard error, minimum and maximum."""
        ties, added = self.ties(placements)
        n_steps = prefix_counts.n_steps(ties.tied, ties.counts)
        large = np.unique(ties.query[n_steps > self.most_steps])  # queries whose orders are drawn
        exact = np.flatnonzero(~np.isin(ties.query, large))  # ties
        inside = self.inside(ties.above, ties.tied)

        def added_by(index: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            return added(exact[index], j, kind, seen)

        parts = prefix_counts.moments(ties.tied[exact], inside[exact], ties.counts[exact], added_by)
        mean, variance, low, high = (placements.by_query(part, ties.query[exact]) for part in parts)
        divisor = self.divisor(placements)
        moments = divide_or_zero(np.array([mean, variance, np.zeros_like(mean), low, high]), divisor)
        moments[1] = divide_or_zero(moments[1], divisor)  # of the variance, the square
        moments[:, large] = self.compute_over_orders(placements, large)
        return tuple(moments)


class MeanMeasure(PrefixMeasure):
    """A sum over the ranks whose mean is exact however many documents tie: a sum of means."""

    standard_error = Measure.standard_error  # 0: the mean is exact, also where variance and extremes are of a sample

    def has_drawn_spread(self, placements: Placements) -> BoolArray:
        """Tell for which queries variance and extremes are those of drawn orders."""
        return self.moments(placements)[2] > 0


def along(values: FloatArray | IntArray, seen: Sequence[IntArray]) -> Any:  # noqa: ANN401 - of the dtype of the values
    """Return numbers of ties, shaped for the states of the kinds, each of which has an axis in `seen`."""
    return values.reshape(-1, *(1 for _ in range(seen[0].ndim)))
