"""Sums of weight(rank) x gain(document): the family of DCG and RBP, with its moments and extremes."""

from abc import abstractmethod
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.kernels import linear
from deadheat.core.kernels.segments import segment_sums
from deadheat.core.measures.base import Measure, tie_judged_documents
from deadheat.core.measures.families import CutMeasure, SumMeasure
from deadheat.core.measures.gains import compute_gains, ideal_gains
from deadheat.core.measures.parameters import Call, Gains, parameter, parameters
from deadheat.core.placements import policies
from deadheat.core.placements.placements import Placements

MOST_RANKS = 1 << 13  # in the tie of all judged documents whose best order `reachable` looks for


def sum_gains(placements: Placements, key: object, gains: FloatArray) -> FloatArray:
    """Return the sum of the gains of each tie, of shape (n_ties,).

    Parameters
    ----------
    placements : Placements
    key : hashable
        A name for the gains: measures with the same one share the sums.
    gains : ndarray of shape (n_rows,)
    """
    if not placements.have_ties:
        return gains
    return placements.cached(("sum_gains", key), lambda: segment_sums(gains, placements.tie_starts))


def sum_squared_deviations(placements: Placements, key: object, gains: FloatArray) -> FloatArray:
    """Return the sum of the squared deviations from the mean gain of each tie; parameters as for :func:`sum_gains`."""

    def find() -> FloatArray:
        starts, sizes = placements.tie_starts, placements.tie_sizes
        tied = placements.tied[starts]
        mean_gain = sum_gains(placements, key, gains) / np.maximum(tied, 1)
        squares_of_judged = segment_sums((gains - np.repeat(mean_gain, sizes)) ** 2, starts)
        squares_of_unjudged = (tied - sizes) * mean_gain**2  # their gain is 0
        return squares_of_judged + squares_of_unjudged

    if not placements.have_ties:
        return np.zeros(len(gains))
    return placements.cached(("sum_squared_deviations", key), find)


def weighted_sum(
    measure: CutMeasure, placements: Placements, gains: tuple[object, FloatArray], weights: FloatArray, *, squares: bool
) -> FloatArray:
    """Return the mean of each query's sum of weight(rank) x gain(document), or its variance (`squares`).

    Parameters
    ----------
    measure : CutMeasure
        Whose cutoff is taken.
    placements : Placements
    gains : tuple
        A name for the gains, and the gain of each row, as :meth:`WeightedMeasure.gains` returns them.
    weights : ndarray of shape (n_ranks,)
        Those of all ranks that count, from rank 1 on.
    squares : bool
    """
    starts = placements.tie_starts
    above, tied = placements.above[starts], placements.tied[starts]
    inside = measure.inside(above, tied)
    if squares:
        part = linear.variance(above, tied, inside, sum_squared_deviations(placements, *gains), weights=weights)
    else:
        part = linear.mean(above, tied, inside, sum_gains(placements, *gains), weights=weights)
    return placements.by_query(part, placements.query[starts])


def weights_fall(weights: FloatArray) -> bool:
    """Tell whether weights never rise from a rank to the next, and none is negative."""
    return bool((weights >= 0).all() and (weights[1:] <= weights[:-1]).all())


@parameters
class GainMeasure(Measure):
    """A measure of gains: the parameter `gain` says which gain each relevance has."""

    gain: Any = parameter("linear", Call({"linear": (), "exp": ()}, mapping=True), "gain of a relevance")

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a positive gain."""
        has_gain = ideal_gains(placements, self.gain) > 0
        return np.bincount(placements.judged_query[has_gain], minlength=placements.n_queries) > 0

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value: the gains of each tie ascending, and descending."""
        may_fall_with_relevance = isinstance(self.gain, Gains)
        finds_extremes_of_any_gains = isinstance(self, WeightedMeasure)
        if not may_fall_with_relevance or finds_extremes_of_any_gains:
            return super().extremes(placements)
        gains = compute_gains(self.gain, placements.relevance)
        low = self.mean(policies.arrange(placements, gains, best=False))
        high = self.mean(policies.arrange(placements, gains, best=True))
        return low, high


class WeightedMeasure(SumMeasure, CutMeasure):
    """A sum of weight(rank) x gain(document)."""

    @abstractmethod
    def gains(self, placements: Placements) -> tuple[object, FloatArray]:
        """Return a name for the gains, and the gain of each row."""

    @abstractmethod
    def weights(self, n_ranks: int) -> FloatArray:
        """Return the weights of ranks 1 .. n_ranks."""

    def moment(self, placements: Placements, *, squares: bool) -> FloatArray:
        """Return the mean of each query's sum over all tie orders, or its variance (`squares`)."""
        gains = self.gains(placements)
        return weighted_sum(self, placements, gains, self.weights_to_depth(placements), squares=squares)

    def weights_to_depth(self, placements: Placements) -> FloatArray:
        """Return the weights of ranks 1 to the deepest one that counts in any of these lists."""
        deepest = self.depth(placements).max(initial=1)
        return self.weights(int(deepest))

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value: high gains at low weights, and high gains at high weights."""
        if not placements.have_ties:
            return super().extremes(placements)
        weights = self.weights_to_depth(placements)
        falls = weights_fall(weights)
        if falls and self.gains_follow_relevance(placements):
            return super().extremes(placements)
        _, gains = self.gains(placements)
        if falls:
            highest_first = self.mean(policies.arrange_around_unjudged(placements, gains))
            lowest_first = self.mean(policies.arrange_around_unjudged(placements, -gains))
        else:
            highest_first = self.mean(policies.arrange_by_weight(placements, gains, weights))
            lowest_first = self.mean(policies.arrange_by_weight(placements, -gains, weights))
        return np.minimum(highest_first, lowest_first), np.maximum(highest_first, lowest_first)

    def gains_follow_relevance(self, placements: Placements) -> bool:
        """Tell whether the rows of each tie, which are sorted by relevance, have falling gains, none below 0."""
        name, gains = self.gains(placements)

        def find() -> bool:
            is_in_order = gains[1:] <= gains[:-1]
            is_in_order[placements.tie_starts[1:] - 1] = True  # from one tie to the next gains may rise
            return bool(is_in_order.all() and gains.min(initial=0.0) >= 0)

        return placements.cached(("gains_follow_relevance", name), find)

    def reachable(self, placements: Placements) -> FloatArray:
        """Return the best value that the judgments of each query allow a ranking; NaN where none is known.

        Where weights do not fall, a ranking may be better with unjudged documents at the ranks of low weight. Then the
        limit is known only with a cutoff: the tie that is searched has as many unjudged documents.
        """
        best = super().reachable(placements)
        if not self.can_list_orders(placements):
            return best
        all_judged = np.ones(len(placements.judged_query), np.bool_)
        n_unjudged = min(self.cutoff or 1, MOST_RANKS)
        ideal = tie_judged_documents(placements, all_judged, n_unjudged)
        falls = weights_fall(self.weights_to_depth(ideal))
        if falls and self.gains_follow_relevance(ideal):
            return best
        if falls:
            _, gains = self.gains(ideal)
            ideal = tie_judged_documents(placements, gains > 0)
        elif self.cutoff is None or self.cutoff > MOST_RANKS:
            return np.full(placements.n_queries, np.nan)
        low, high = self.extremes(ideal)
        if self.higher_is_better:
            return np.fmax(best, high)
        return np.fmin(best, low)
