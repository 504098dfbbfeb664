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

MAX_ORDERS = 10_000  # a query with at most so many orders has them listed; of others, at most so many are drawn
MOST_RANKS = 1 << 23  # of larger ties fewer orders are drawn, so that their ties have at most so many ranks in all
FEWEST_DRAWN = 100  # orders that are drawn however large the ties are
CELLS_A_SECOND = 5e7  # ranks of orders
TO_TAKE_LESS = "with a cutoff or a limit of ranks it takes less"
# Divided by the number of draws: at 95% confidence, an outcome that no draw has shown is at most so probable
RULE_OF_THREE = 3.0


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
        """Return a plan to list the orders if there are at most `most`, else to draw `fewest` to `most` of them.

        None as `most` lists them however many there are.
        """
        sizes = [len(codes) for _, codes in ties]
        if most is None or all(size <= most for size in sizes):  # a tie of more documents has more orders than `most`
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
        Takes the mean, and returns how far from it the value of an order could be. Called if all drawn ones are equal.
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
    maximum. The error is 0 where orders are listed. Where all drawn orders have one value, their variance says nothing,
    and the error is how far another order could be from it, times 3 divided by the number of draws (the rule of three).
    """

    @property
    def n_orders(self) -> tuple[int, int | None]:
        """The fewest orders to draw, and the most to draw or to list; None as the most lists all."""
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
        """Return a number for each relevance, the same for documents that the measure cannot tell apart.

        By default it is the relevance. Unjudged documents are given as NaN, and have 0.
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
        """Return the rank below which no document changes the value of a query."""
        return int(placements.n_retrieved[query])

    def compute_over_orders(self, placements: Placements, queries: IntArray) -> FloatArray:
        """Return mean, variance, standard error, minimum and maximum of some queries, of shape (5, n_queries)."""
        fewest, most = self.n_orders
        plans = []
        for query in queries.tolist():
            ranking, ties = self._find_ties(placements, query)
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
                values = self._score_orders(placements, query, plan, advance)
                rows.append(summarize_values(values, is_listed=plan.is_listed, furthest_from=self._measure_furthest))
        return np.array(rows).reshape(len(queries), 5).T

    def _score_orders(self, placements: Placements, query: int, plan: Plan, advance: Advance) -> FloatArray:
        """Return the value of each order of a query that is listed or drawn."""
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

    def _measure_furthest(self, mean: float) -> float:
        """Return how far from the mean a possible value can be."""
        lowest, highest = self.range
        return max(highest - mean, mean - lowest)

    def draw_rankings(self, plan: Plan, seed: int) -> Iterator[FloatArray]:
        """Draw orders of a query, in matrices of shape (n_orders, n_ranks)."""
        return orders.draw_rankings(plan.ranking, plan.ties, plan.n_orders, np.random.default_rng(seed))

    def _find_ties(self, placements: Placements, query: int) -> tuple[FloatArray, list[tuple[int, FloatArray]]]:
        """Return what :class:`Plan` needs: the codes by rank, and the ties in which codes differ.

        The ranks go down to the reach, or to the end of the tie that the reach is in.
        """
        first, end = np.searchsorted(placements.query, [query, query + 1])
        above, tied = placements.above[first:end], placements.tied[first:end]
        codes = self.codes(placements.relevance[first:end])
        reach = self.reach(placements, query)
        is_within_reach = above < reach
        above, tied, codes = above[is_within_reach], tied[is_within_reach], codes[is_within_reach]
        last_rank = int((above + tied).max(initial=0))
        unjudged = float(self.codes(np.array([np.nan]))[0])
        ranking = np.full(max(reach, last_rank), unjudged)
        ties: list[tuple[int, FloatArray]] = []
        for start in np.unique(above).tolist():
            is_in_tie = above == start
            judged_codes = codes[is_in_tie]
            tie_codes = np.full(int(tied[is_in_tie][0]), unjudged)
            tie_codes[: len(judged_codes)] = judged_codes
            ranking[start : start + len(tie_codes)] = tie_codes
            if len(np.unique(tie_codes)) > 1:
                ties.append((start, tie_codes))
        return ranking, ties
