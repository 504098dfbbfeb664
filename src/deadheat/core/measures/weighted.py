"""Sums of weight(rank) x gain(document): the family of DCG and RBP, with its moments and extremes."""

from abc import abstractmethod
from typing import Any

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray
from deadheat.core.kernels import linear
from deadheat.core.kernels.segments import segment_sums
from deadheat.core.measures.base import Measure, ideal_ties
from deadheat.core.measures.families import CutMeasure, SumMeasure
from deadheat.core.measures.gains import compute_gains, ideal_gains
from deadheat.core.measures.parameters import Call, Gains, parameter, parameters
from deadheat.core.placements import policies
from deadheat.core.placements.placements import Placements

MOST_RANKS = 1 << 13  # of the tie of all judgments in which the best value is searched


def gain_moments(placements: Placements, key: object, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return, for each tie, the sum of the gains and the sum of their squares about the tie's mean.

    Parameters
    ----------
    placements : Placements
    key : hashable
        Names the gains, so that measures with the same ones share the sums.
    gains : ndarray of shape (n_rows,)

    Returns
    -------
    total, squares : ndarray of shape (n_groups,)
    """

    def find() -> tuple[FloatArray, FloatArray]:
        if not placements.have_ties:
            return gains, np.zeros(len(gains))
        starts, sizes = placements.tie_starts, placements.tie_sizes
        tied = placements.tied[starts]
        total = segment_sums(gains, starts)
        centre = total / np.maximum(tied, 1)
        squares = segment_sums((gains - np.repeat(centre, sizes)) ** 2, starts)
        of_unjudged = (tied - sizes) * centre**2  # their gain is 0
        return total, squares + of_unjudged

    return placements.cached(("gain_moments", key), find)


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
        A name for the gains, and the gain of each row.
    weights : ndarray of shape (n_ranks,)
        Of all ranks that count.
    squares : bool
    """
    starts = placements.tie_starts
    above, tied = placements.above[starts], placements.tied[starts]
    inside = measure.inside(above, tied)
    total, spread = gain_moments(placements, *gains)
    if squares:
        part = linear.variance(above, tied, inside, spread, weights=weights)
    else:
        part = linear.mean(above, tied, inside, total, weights=weights)
    return placements.by_query(part, placements.query[starts])


def weights_fall(weights: FloatArray) -> bool:
    """Tell whether no rank has a larger weight than one above it, nor a negative one."""
    return bool((weights >= 0).all() and (weights[1:] <= weights[:-1]).all())


@parameters
class GainMeasure(Measure):
    """A measure of gains, which a relevance is mapped to."""

    gain: Any = parameter("linear", Call({"linear": (), "exp": ()}, mapping=True), "gain of a relevance")

    def has_relevant(self, placements: Placements) -> BoolArray:
        """Tell which queries have a positive gain."""
        has_gain = ideal_gains(placements, self.gain) > 0
        return np.bincount(placements.judged_query[has_gain], minlength=placements.n_queries) > 0

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the values with the gains of each tie ascending and descending, also if a mapping does not rise."""
        rises_with_relevance = not isinstance(self.gain, Gains)
        if rises_with_relevance or isinstance(self, WeightedMeasure):
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
        """Return the weights of all ranks that count in some of these lists."""
        deepest = self.depth(placements).max(initial=1)
        return self.weights(int(deepest))

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value: the gains of each tie against its weights, and along with them."""
        if not placements.have_ties:
            return super().extremes(placements)
        weights = self.weights_to_depth(placements)
        falls = weights_fall(weights)
        if falls and self.gains_follow_relevance(placements):
            return super().extremes(placements)
        _, gains = self.gains(placements)
        if falls:
            along = self.mean(policies.arrange_around_unjudged(placements, gains))
            against = self.mean(policies.arrange_around_unjudged(placements, -gains))
        else:
            along = self.mean(policies.arrange_by_weight(placements, gains, weights))
            against = self.mean(policies.arrange_by_weight(placements, -gains, weights))
        return np.minimum(along, against), np.maximum(along, against)

    def gains_follow_relevance(self, placements: Placements) -> bool:
        """Tell whether the gains of each tie rise with relevance, from 0 on, so that its rows are best first."""
        name, gains = self.gains(placements)

        def find() -> bool:
            is_in_order = gains[1:] <= gains[:-1]
            is_in_order[placements.tie_starts[1:] - 1] = True  # of two ties any order will do
            return bool(is_in_order.all() and gains.min(initial=0.0) >= 0)

        return placements.cached(("gains_follow_relevance", name), find)

    def reachable(self, placements: Placements) -> FloatArray:
        """Return the best value that the judgments of each query allow a ranking; NaN where none is known.

        Where weights do not fall, unjudged documents may keep the others from ranks of a low weight. Then the limit is
        known with a cutoff alone.
        """
        best = super().reachable(placements)
        if not self.can_list_orders(placements):
            return best
        all_judged = np.ones(len(placements.judged_query), np.bool_)
        ideal = ideal_ties(placements, all_judged, min(self.cutoff or 1, MOST_RANKS))
        falls = weights_fall(self.weights_to_depth(ideal))
        if falls and self.gains_follow_relevance(ideal):
            return best
        if falls:
            _, gains = self.gains(ideal)
            ideal = ideal_ties(placements, gains > 0)
        elif self.cutoff is None or self.cutoff > MOST_RANKS:
            return np.full(placements.n_queries, np.nan)
        low, high = self.extremes(ideal)
        if self.higher_is_better:
            return np.fmax(best, high)
        return np.fmin(best, low)
