"""Measures without a closed form, which are computed on the orders of a query's ties themselves."""

import math
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.core.arrays import FloatArray, IntArray
from deadheat.core.errors import warn_of_time
from deadheat.core.kernels import orders
from deadheat.core.measures.families import JointMeasure
from deadheat.core.measures.parameters import parameters
from deadheat.core.phases import Advance, lasting, phase
from deadheat.core.placements.placements import Placements

MAX_ORDERS = 10_000  # that are listed; beyond, as many are drawn, or fewer of large ties
MOST_RANKS = 1 << 23  # in the ties of all drawn orders of a query, as long as 100 are drawn
FEWEST_DRAWN = 100
CELLS_A_SECOND = 5e7  # ranks of orders
TO_TAKE_LESS = "with a cutoff or a limit of ranks it takes less"
RULE_OF_THREE = 3.0  # over the number of draws: with 95% confidence, what no draw shows is at most so probable


@dataclass(frozen=True, eq=False)
class Plan:
    """Which orders of a query are looked at: all of them, or a sample.

    Attributes
    ----------
    ranking : ndarray of shape (n_ranks,)
        Codes by rank.
    ties : list of (int, ndarray)
        Of each tie in which codes differ: how many ranks are above it, and its codes.
    n_orders : int
    is_listed : bool
        Whether these are all orders, and not drawn ones.
    """

    ranking: FloatArray
    ties: list[tuple[int, FloatArray]]
    n_orders: int
    is_listed: bool

    @classmethod
    def choose(
        cls, ranking: FloatArray, ties: list[tuple[int, FloatArray]], *, fewest: int, most: int | None
    ) -> "Plan":
        """List orders if they are at most `most` (None: however many), else draw as many, or down to `fewest`."""
        sizes = [len(codes) for _, codes in ties]
        if most is None or all(size <= most for size in sizes):  # of larger ties there are more orders than that
            n_orders = math.prod(orders.count_arrangements(codes) for _, codes in ties)
            if most is None or n_orders <= most:
                return cls(ranking, ties, n_orders, is_listed=True)
        n_drawn = int(np.clip(MOST_RANKS // sum(sizes), fewest, most))
        return cls(ranking, ties, n_drawn, is_listed=False)


def summarize_values(
    values: FloatArray, *, is_listed: bool, furthest_from: Callable[[float], float]
) -> tuple[float, float, float, float, float]:
    """Return mean, variance, the error of the mean, minimum and maximum of the values of all orders, or drawn ones.

    Parameters
    ----------
    values : ndarray of float, shape (n_orders,)
    is_listed : bool
        Whether these are the values of all orders, so that the mean has no error.
    furthest_from : callable
        Returns how far from the mean the value of another order could be. It counts where all drawn ones agree.
    """
    mean = float(values.mean())
    low, high = float(values.min()), float(values.max())
    if is_listed:
        return mean, float(values.var()), 0.0, low, high
    variance = float(values.var(ddof=1))
    error = math.sqrt(variance / len(values))
    if low == high:
        furthest = furthest_from(mean)
        if math.isfinite(furthest):
            error = RULE_OF_THREE / len(values) * furthest
    return mean, variance, error, low, high


@parameters
class OrdersMeasure(JointMeasure):
    """A measure that can be computed on the orders of a query's ties: on all if they are few, else on a sample.

    The sample is the same in every call. Its :meth:`moments` are mean, variance, the error of the mean, minimum and
    maximum. The error is 0 but for queries of which orders are drawn; where all of these agree, 3 by their number times
    how far another one could be off.
    """

    @property
    def n_orders(self) -> tuple[int, int | None]:
        """Fewest orders that are drawn, and most that are drawn or listed; None: all are listed."""
        return FEWEST_DRAWN, MAX_ORDERS

    def find_moments(self, placements: Placements) -> tuple[FloatArray, ...]:
        """Compute mean, variance, standard error, minimum and maximum."""
        return tuple(self.compute_over_orders(placements, np.arange(placements.n_queries)))

    def extremes(self, placements: Placements) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value over tie orders.

        Where orders are drawn, they are those of the sample, and of the documents in order of relevance.
        """
        _, _, error, low, high = self.moments(placements)
        if not (error > 0).any():
            return low, high
        is_drawn = error > 0
        low_by_relevance, high_by_relevance = super().extremes(placements)
        low = np.where(is_drawn, np.minimum(low, low_by_relevance), low)
        high = np.where(is_drawn, np.maximum(high, high_by_relevance), high)
        return low, high

    def standard_error(self, placements: Placements) -> FloatArray:
        """Return the standard error of :meth:`mean`: 0 but for queries of which orders are drawn."""
        return self.moments(placements)[2]

    def codes(self, relevance: FloatArray) -> FloatArray:
        """Return numbers that are equal where the measure sees no difference: the relevance, 0 for unjudged documents.

        NaN is the relevance of the unjudged; of measures by subtopic it is the sets of subtopics.
        """
        return np.nan_to_num(relevance)

    @abstractmethod
    def score_rankings(self, rankings: FloatArray, placements: Placements, query: int) -> FloatArray:
        """Return the value of each ranking.

        Parameters
        ----------
        rankings : ndarray of shape (n_orders, n_ranks)
            Codes of the documents by rank.
        placements : Placements
        query : int
            Whose rankings they are.

        Returns
        -------
        ndarray of shape (n_orders,)
        """

    def reach(self, placements: Placements, query: int) -> int:
        """Return the rank below which no document makes a difference to the value of a query."""
        return int(placements.n_retrieved[query])

    def compute_over_orders(self, placements: Placements, queries: IntArray) -> FloatArray:
        """Return mean, variance, standard error, minimum and maximum of some queries, of shape (5, n_queries)."""
        fewest, most = self.n_orders
        plans = []
        for query in queries.tolist():
            ranking, ties = self._ties(placements, query)
            plans.append(Plan.choose(ranking, ties, fewest=fewest, most=most))
        n_cells = sum(plan.n_orders * len(plan.ranking) for plan in plans)
        is_warned = warn_of_time(
            str(self),
            n_cells / CELLS_A_SECOND,
            f": orders of the ties of {len(plans):,} queries are listed or drawn; {TO_TAKE_LESS}",
        )
        if is_warned:
            progress = phase(str(self), n_cells)
        else:
            progress = lasting(str(self), n_cells, f"; {TO_TAKE_LESS}")
        rows = []
        with progress as advance:
            for query, plan in zip(queries.tolist(), plans, strict=True):
                values = self._values(placements, query, plan, advance)
                rows.append(summarize_values(values, is_listed=plan.is_listed, furthest_from=self._furthest_from))
        return np.array(rows).reshape(len(queries), 5).T

    def _values(self, placements: Placements, query: int, plan: Plan, advance: Advance) -> FloatArray:
        """Return the value of each order of a query."""
        if plan.is_listed:
            matrices = orders.list_rankings(plan.ranking, plan.ties)
        else:
            seed = zlib.crc32(placements.query_ids[query].encode())
            matrices = self.draw_rankings(plan, seed)
        parts = []
        for rankings in matrices:
            parts.append(self.score_rankings(rankings, placements, query))
            advance(rankings.size)
        return np.concatenate(parts)

    def _furthest_from(self, mean: float) -> float:
        """Return how far from the mean a value can be."""
        lowest, highest = self.range
        return max(highest - mean, mean - lowest)

    def draw_rankings(self, plan: Plan, seed: int) -> Iterator[FloatArray]:
        """Draw orders of a query, in matrices of shape (n_orders, n_ranks)."""
        return orders.draw_rankings(plan.ranking, plan.ties, plan.n_orders, np.random.default_rng(seed))

    def _ties(self, placements: Placements, query: int) -> tuple[FloatArray, list[tuple[int, FloatArray]]]:
        """Return the codes of the ranks down to the reach, or to the end of a tie there, and the ties that differ."""
        first, end = np.searchsorted(placements.query, [query, query + 1])
        above, tied = placements.above[first:end], placements.tied[first:end]
        codes = self.codes(placements.relevance[first:end])
        reach = self.reach(placements, query)
        is_near = above < reach
        above, tied, codes = above[is_near], tied[is_near], codes[is_near]
        last_rank = int((above + tied).max(initial=0))
        unjudged = float(self.codes(np.array([np.nan]))[0])
        ranking = np.full(max(reach, last_rank), unjudged)
        ties: list[tuple[int, FloatArray]] = []
        for start in np.unique(above).tolist():
            is_in_tie = above == start
            judged = codes[is_in_tie]
            values = np.full(int(tied[is_in_tie][0]), unjudged)
            values[: len(judged)] = judged
            ranking[start : start + len(values)] = values
            if len(np.unique(values)) > 1:
                ties.append((start, values))
        return ranking, ties
