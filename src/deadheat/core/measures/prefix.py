"""The family of measures whose value at a rank depends on how many documents of each kind are above it."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_sizes, run_starts
from deadheat.core.kernels import prefix_counts
from deadheat.core.kernels.segments import divide_or_zero, scan_before, segment_sums
from deadheat.core.measures.base import Measure
from deadheat.core.measures.orders import OrdersMeasure
from deadheat.core.placements.placements import Placements


@dataclass(frozen=True, eq=False)
class KindTies:
    """The ties with a document that counts. Its documents are of several kinds, and those of one kind count the same.

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
        """Return the ties with a document that has a gain; `gains` has that of each row."""
        highest_first = np.lexsort((-gains, placements.above, placements.query))
        rows = highest_first[gains[highest_first] > 0]
        query, above, gains = placements.query[rows], placements.above[rows], gains[rows]
        starts = run_starts(query, above)
        sizes = run_sizes(starts, len(rows))
        tie = np.repeat(np.arange(len(starts)), sizes)
        kinds = run_starts(query, above, gains)  # the first row of each gain in each tie
        tie_of_kind = tie[kinds]
        n_of_kind = run_sizes(kinds, len(rows))
        column = np.arange(len(kinds)) - np.searchsorted(tie_of_kind, tie_of_kind)  # the place of a kind in its tie
        n_kinds = int(column.max(initial=0)) + 1
        counts = np.zeros((len(starts), n_kinds), np.int64)
        levels = np.zeros((len(starts), n_kinds))
        counts[tie_of_kind, column] = n_of_kind
        levels[tie_of_kind, column] = gains[kinds]
        return cls(
            query=query[starts],
            tied=placements.tied[rows][starts],
            above=above[starts],
            counts=counts,
            levels=levels,
            before=scan_before(segment_sums(gains, starts), query[starts], np.add),
        )

    def add_seen(self, gains: FloatArray, ties: IntArray, seen: Sequence[IntArray]) -> FloatArray:
        """Return `gains` plus the gains of the documents that were seen; shaped as the states are.

        Parameters
        ----------
        gains : ndarray
            A number for each state, or for each tie as :func:`shape_for_states` returns it.
        ties : ndarray of int
            Which ties.
        seen : sequence of ndarray of int
            For each kind, how many documents each state has seen.
        """
        for kind, n_seen in enumerate(seen):
            gains = gains + shape_for_states(self.levels[ties, kind], seen) * n_seen
        return gains


class PrefixMeasure(OrdersMeasure):
    """A sum over the ranks, divided by a constant of the query."""

    # so many states of one tie, over all its ranks, take about a second; for a tie of more, orders are drawn
    most_steps: ClassVar[int] = 1 << 24

    @abstractmethod
    def ties(self, placements: Placements) -> tuple[KindTies, prefix_counts.Added]:
        """Return the ties, in the order of queries and ranks, and a function that returns what a rank adds."""

    def divisor(self, placements: Placements) -> FloatArray:
        """Return what the sum is divided by, of shape (n_queries,); the value is 0 where it is 0."""
        return np.ones(placements.n_queries)

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance, standard error, minimum and maximum."""
        ties, added = self.ties(placements)
        n_steps = prefix_counts.n_steps(ties.tied, ties.counts)
        sampled_queries = np.unique(ties.query[n_steps > self.most_steps])
        exact_ties = np.flatnonzero(~np.isin(ties.query, sampled_queries))
        inside = self.inside(ties.above, ties.tied)

        def added_by_exact(index: IntArray, j: int, kind: int, seen: Sequence[IntArray]) -> FloatArray:
            return added(exact_ties[index], j, kind, seen)

        parts = prefix_counts.moments(
            ties.tied[exact_ties], inside[exact_ties], ties.counts[exact_ties], added_by_exact
        )
        query = ties.query[exact_ties]
        mean, variance, low, high = (placements.by_query(part, query) for part in parts)
        no_error = np.zeros_like(mean)
        divisor = self.divisor(placements)
        moments = divide_or_zero(np.array([mean, variance, no_error, low, high]), divisor)
        moments[1] = divide_or_zero(moments[1], divisor)  # the variance is divided by the square
        moments[:, sampled_queries] = self.compute_over_orders(placements, sampled_queries)
        return tuple(moments)


class MeanMeasure(PrefixMeasure):
    """A sum over the ranks whose mean is exact however many documents tie, as it is a sum of means.

    Where orders are drawn, only its variance and extremes are those of the sample.
    """

    standard_error = Measure.standard_error  # 0 for all queries

    def has_drawn_spread(self, placements: Placements) -> BoolArray:
        """Tell for which queries variance and extremes are those of drawn orders."""
        return self.moments(placements)[2] > 0


def shape_for_states(values: FloatArray | IntArray, seen: Sequence[IntArray]) -> Any:  # noqa: ANN401 - the same dtype
    """Return numbers of ties in a shape that broadcasts with states: one axis for the ties, then the axes of `seen`."""
    return values.reshape(-1, *(1 for _ in range(seen[0].ndim)))
