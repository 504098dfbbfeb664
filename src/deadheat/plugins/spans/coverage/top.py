"""How much of a line the intervals of the top k cover, where a tie leaves it open which intervals these are.

Passages of all documents of all queries lie on one line, and those of different documents apart. `Top` is what a cutoff
makes of them: intervals that are in the top k in every order, and for each query those of at most one tie that the
cutoff goes through, of which it takes some.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, sum_by_code

MAX_SUBSETS = 10_000  # that are listed; beyond, as many are drawn, or fewer of large ties
MOST_CELLS = 1 << 22  # of the matrices of drawn subsets, as long as 100 are drawn
FEWEST_DRAWN = 100

Measured = Callable[[IntArray], FloatArray]  # returns how much of something is left of some points, of their shape


def of_points(points: IntArray) -> FloatArray:
    """Return how many points of the line are left of some."""
    return points.astype(np.float64)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Intervals that are disjoint and in order, and how much of something is in them.

    Attributes
    ----------
    begin, end : ndarray of int, shape (n_pieces,)
    upto : callable
        How much is left of some points; by default how many points of the line are.
    """

    begin: IntArray
    end: IntArray
    upto: Measured = of_points

    @classmethod
    def of(cls, low: IntArray, high: IntArray, upto: Measured = of_points) -> "tuple[Pieces, IntArray]":
        """Return the union of intervals in order of their `low`, and which of them begins each piece."""
        before = np.maximum.accumulate(np.append(low[:1], high))[:-1]
        begin = np.maximum(low, before[: len(low)])
        kept = np.flatnonzero(begin < high)
        return cls(begin[kept], high[kept], upto), kept

    def sizes(self) -> FloatArray:
        """Return how much is in each piece."""
        return self.upto(self.end) - self.upto(self.begin)

    def __call__(self, points: IntArray) -> FloatArray:
        """Return how much of the pieces is left of some points."""
        before = np.append(0.0, np.cumsum(self.sizes()))
        place = np.searchsorted(self.begin, points, side="right")
        last = self.end[np.maximum(place - 1, 0)] if len(self.end) else points
        beyond = self.upto(last) - self.upto(np.minimum(points, last))
        return before[place] - np.where(place > 0, beyond, 0.0)


@dataclass(frozen=True, eq=False)
class CutTie:
    """The tie of one query that a cutoff goes through.

    Attributes
    ----------
    query : int
    size, n_taken : int
        Its documents, and how many of them are in the top k; those that are no interval cover one point each.
    low, high : ndarray of int, shape (n_intervals,)
        Its intervals, in order of their `low`.
    points : ndarray of int, shape (n_segments,)
        Where each segment begins, in which the same intervals cover every point.
    relevant, length : ndarray of float, shape (n_segments,)
        What is relevant in each segment, and how many points it has, of those that nothing else covers.
    """

    query: int
    size: int
    n_taken: int
    low: IntArray
    high: IntArray
    points: IntArray
    relevant: FloatArray
    length: FloatArray

    @property
    def covers(self) -> BoolArray:
        """Which intervals cover each segment, of shape (n_segments, n_intervals)."""
        return (self.low <= self.points[:, None]) & (self.points[:, None] < self.high)

    def variance(self) -> FloatArray:
        """Return the variance of what is relevant and covered: a sum over pairs of segments."""
        some = self.relevant > 0
        held, weight = self.covers[some].astype(np.int64), self.relevant[some]
        count = held.sum(axis=1)
        either = count[:, None] + count - held @ held.T
        alone, both = (missed(one, self.size, self.n_taken) for one in (count, either))
        return np.maximum(weight @ (both - np.outer(alone, alone)) @ weight, 0.0)

    def of_relevant(self) -> "CutTie":
        """Return the tie with those of its intervals alone that cover something relevant."""
        some = (self.covers & (self.relevant > 0)[:, None]).any(axis=0)
        return replace(self, low=self.low[some], high=self.high[some])

    def best(self, weights: FloatArray) -> FloatArray:
        """Return the amounts, as :meth:`amounts` does, of a subset whose weighted sum of them is the largest.

        Intervals are taken in order of their `low`, so that of those before only their number and their last end
        matter: what the next one adds is to the right of that end.

        Parameters
        ----------
        weights : ndarray of shape (3,)
            The first is not 0.
        """
        at, to = (np.searchsorted(self.points, of) for of in (self.low, self.high))
        before = np.zeros((3, len(self.points) + 1))
        np.cumsum((self.relevant, self.length), axis=1, out=before[:2, 1:])
        n_own, size = len(self.low), self.high - self.low

        def better(one: FloatArray, other: FloatArray) -> FloatArray:
            return np.where(weights @ one >= weights @ other, one, other)

        none: FloatArray = np.zeros((3, min(self.n_taken, n_own) + 1))  # by the number of intervals that are taken
        none[0, 1:] = -math.copysign(np.inf, weights[0])
        found: dict[int, FloatArray] = {0: none}  # by the last end
        for one, (low, high) in enumerate(zip(at.tolist(), to.tolist(), strict=True)):
            past, found = found, {}
            for last, held in past.items():
                begin = max(last, low)
                more = np.concatenate([none[:, -1:], held[:, :-1]], axis=1)
                more += (before[:, max(begin, high)] - before[:, begin] + (0, 0, size[one]))[:, None]
                for end, own in ((begin, held), (max(begin, high), more)):
                    found[end] = better(found[end], own) if end in found else own
        amounts = reduce(better, found.values())
        amounts[1:] += self.n_taken - np.arange(amounts.shape[1])  # the others
        amounts = amounts[:, max(0, self.n_taken - self.size + n_own) :]
        return amounts[:, int(np.argmax(weights @ amounts))]

    @property
    def is_listed(self) -> bool:
        """Whether its subsets are listed, and not drawn."""
        return math.comb(self.size, self.n_taken) <= MAX_SUBSETS

    def subsets(self, seed: int) -> BoolArray:
        """Return which documents are taken in each subset, intervals first."""
        if self.is_listed:
            chosen = np.array(list(combinations(range(self.size), self.n_taken)), np.int64)
        else:
            n_cells = self.size * max(len(self.points), 1)
            n_drawn = int(np.clip(MOST_CELLS // n_cells, FEWEST_DRAWN, MAX_SUBSETS))
            order = np.random.default_rng(seed).random((n_drawn, self.size))
            chosen = np.argpartition(order, self.n_taken - 1, axis=1)[:, : self.n_taken]
        found = np.zeros((len(chosen), self.size), np.bool_)
        np.put_along_axis(found, chosen, values=True, axis=1)
        return found

    def amounts(self, taken: BoolArray) -> FloatArray:
        """Return what is relevant in each subset, all points that it covers, and the lengths of its documents."""
        own = taken[:, : len(self.low)]
        covered = (own.astype(np.float32) @ self.covers.T.astype(np.float32)) > 0
        n_others = self.n_taken - own.sum(axis=1)
        lengths = own @ (self.high - self.low) + n_others
        return np.array([covered @ self.relevant, covered @ self.length + n_others, lengths], np.float64)


@dataclass(frozen=True, eq=False)
class Top:
    """What the intervals of the top k of each query cover.

    Attributes
    ----------
    relevant, length, sizes : ndarray of float, shape (n_queries,)
        What is relevant, the points, and the lengths added up, of the intervals that are in the top k in every order.
    mean : ndarray of float, shape (n_queries,)
        The mean over all orders of what is relevant and covered.
    ties : list of CutTie
        Of each query that the cutoff goes through a tie of.
    """

    relevant: FloatArray
    length: FloatArray
    sizes: FloatArray
    mean: FloatArray
    ties: list[CutTie]


def missed(count: IntArray, size: IntArray | int, n_taken: IntArray | int) -> FloatArray:
    r"""Return the probability that none of `count` documents is among `n_taken` drawn of `size`.

    .. math:: \binom{t - c}{j} / \binom{t}{j} = \prod_{i < \min(c, j)} \frac{t - \max(c, j) - i}{t - i}

    Running products, as factorials lose digits.

    Examples
    --------
    >>> missed(np.array([0, 1, 2, 3]), 4, 2).round(4).tolist()
    [1.0, 0.5, 0.1667, 0.0]
    """
    fewer, more = np.minimum(count, n_taken), np.maximum(count, n_taken)
    found = np.ones(np.shape(count))
    for n in range(int(fewer.max(initial=0))):
        found = np.where(n < fewer, found * np.maximum(size - more - n, 0) / np.maximum(size - n, 1), found)
    return found


def top_of(
    low: IntArray,
    high: IntArray,
    relevant: Pieces,
    *,
    query: IntArray,
    above: IntArray,
    tied: IntArray,
    cutoff: int | None,
    n_queries: int,
) -> Top:
    """Return what the top k of each query covers.

    Parameters
    ----------
    low, high : ndarray of int, shape (n_rows,)
        The intervals, in order of their `low`, those of each query together.
    relevant : Pieces
        What is relevant.
    query, above, tied : ndarray of int, shape (n_rows,)
        The query of each interval, how many documents have a higher score, and how many have the same.
    cutoff : int or None
    n_queries : int
    """
    inside = tied if cutoff is None else np.clip(cutoff - above, 0, tied)
    is_in = inside == tied
    held, first = Pieces.of(low[is_in], high[is_in], relevant)

    of_held = query[is_in]
    amounts = (of_held[first], held.sizes()), (of_held[first], held.end - held.begin), (of_held, (high - low)[is_in])
    sure, length, sizes = (sum_by_code(own, values, n_queries) for own, values in amounts)
    cut = np.flatnonzero((inside > 0) & ~is_in)
    low, high, query, tied, n_taken = (column[cut] for column in (low, high, query, tied, inside))
    points = np.concatenate([high, low])  # at one point, first what ends there, of this query or the last
    order = np.argsort(points, kind="stable")
    points, count = points[order], np.cumsum(np.repeat((-1, 1), len(cut))[order])
    some = np.flatnonzero((count[:-1] > 0) & (points[:-1] < points[1:]))  # segments, covered by the same intervals
    begin, end, of_segment = points[some], points[some + 1], np.tile(query, 2)[order][some]
    lengths = Pieces(held.begin, held.end)
    found = relevant(end) - relevant(begin) - held(end) + held(begin)
    others = end - begin - lengths(end) + lengths(begin)
    row = np.searchsorted(query, of_segment)
    mean = sure + sum_by_code(of_segment, found * (1 - missed(count[some], tied[row], n_taken[row])), n_queries)
    ties = []
    for code in np.unique(query).tolist():
        own, part = (slice(*np.searchsorted(of, (code, code + 1)).tolist()) for of in (query, of_segment))
        size, taken = int(tied[own.start]), int(n_taken[own.start])
        ties.append(CutTie(code, size, taken, low[own], high[own], begin[part], found[part], others[part]))
    return Top(sure, length, sizes, mean, ties)
