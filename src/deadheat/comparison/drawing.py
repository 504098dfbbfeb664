"""Orders of ties, drawn at random where they are too many to list: the sum over queries in each.

Mean and variance of a sum are known exactly. How far those of the drawn sums are off is therefore known too, which
removes most of the sampling error: some hundred orders say what ten thousand would without.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.comparison.listing import Orders, Tie, above_in_row_order, as_queries, spans, ties_that_matter
from deadheat.comparison.sums import ROUNDING
from deadheat.measures import Measure
from deadheat.placements.placements import Placements

MOST, FEWEST = 1_000, 100  # orders that are drawn
CELLS = 1 << 21  # documents placed in all orders: some tenths of a second
AT_ONCE = 1 << 20  # the same, of those that are in memory together: 50 MB
MAX_CELLS = 1 << 24  # in the fewest orders; where these take more, none is drawn
REPRESENTED = 0.75  # variance of the drawn sums about the exact mean, as a share of the exact variance
SPARSE = 2  # documents of a tie, as a multiple of its judged ones, from which on single ranks are drawn


@dataclass(frozen=True, eq=False)
class Drawn:
    """The sum over queries in random orders.

    Attributes
    ----------
    sums : ndarray of float, shape (n_draws,)
        Ascending; a single one where no tie moves it.
    mean, deviation : float
        Exact mean and standard deviation over all orders; NaN where they are not known exactly.
    """

    sums: FloatArray
    mean: float
    deviation: float

    def minus(self, other: Drawn, rng: np.random.Generator) -> Drawn:
        """Return the difference of two sums, which are independent of each other: their draws are paired at random."""
        n = max(len(self.sums), len(other.sums))
        one, second = (rng.permutation(np.resize(sums, n)) for sums in (self.sums, other.sums))
        deviation = math.hypot(self.deviation, other.deviation)
        return Drawn(np.sort(one - second), self.mean - other.mean, deviation)

    def mean_of(self, values: FloatArray) -> tuple[float, float]:
        """Return the mean over all orders of what is given for each drawn one, and its variance.

        A regression on the sums and their squares tells how far the drawn orders are off (control variates). It is left
        out where these do not vary as all orders do: rare ones make most of the variance, and few or none were drawn.
        """
        n = len(values)
        if n == 1:
            return float(values[0]), 0.0
        controls = np.ones((n, 1))
        off = (self.sums - self.mean) / (self.deviation or math.nan)
        if REPRESENTED <= float((off**2).mean()) <= 1 / REPRESENTED:
            controls = np.column_stack((controls, off, off**2 - 1))
        fitted = np.linalg.lstsq(controls, values, rcond=None)[0]
        left = values - controls @ fitted
        # the variance of the fit where the sums and their squares are as they should be
        leverage = float(np.linalg.pinv(controls.T @ controls)[0, 0])
        return float(fitted[0]), float(left @ left) / (n - controls.shape[1]) * leverage


def n_draws(placements: Placements, moved: BoolArray) -> int:
    """Return how many orders of the queries that ties move can be drawn at a cost that does not hurt."""
    return int(min(MOST, CELLS // max(1, _n_cells(placements, moved))))


def draw_sums(
    measure: Measure, placements: Placements, keep: BoolArray, moved: BoolArray, rng: np.random.Generator
) -> Drawn | None:
    """Draw orders of the ties, and return the sum of a measure over queries in each.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        From before any tie policy.
    keep : ndarray of bool, shape (n_queries,)
        The queries to sum over; the measure has a value for each.
    moved : ndarray of bool, shape (n_queries,)
        Those of them that the order of ties moves.
    rng : numpy.random.Generator

    Returns
    -------
    Drawn or None
        None where even the fewest useful orders have too many documents to place.
    """
    n_cells, queries = _n_cells(placements, moved), np.flatnonzero(moved)
    if n_cells * FEWEST > MAX_CELLS:
        return None
    mean, variance = measure.mean(placements), measure.variance(placements)
    fixed, exact = float(mean[keep & ~moved].sum()), float(mean[keep].sum())
    if not len(queries):
        return Drawn(np.array([fixed]), fixed, 0.0)
    sums = [values.sum(axis=0) for values in _drawn_values(measure, placements, moved, rng)]
    is_exact = not measure.standard_error(placements)[moved].any()
    deviation = math.sqrt(float(variance[moved].sum())) if is_exact else math.nan
    return Drawn(np.sort(np.concatenate(sums)) + fixed, exact, deviation)


def draw_values(
    measure: Measure, placements: Placements, moved: BoolArray, rng: np.random.Generator
) -> FloatArray | None:
    """Draw orders of the ties, and return the value of each query in each, of shape (n_moved, n_draws).

    They are shifted and stretched to the exact mean and variance of each query. None as for :func:`draw_sums`.
    """
    if _n_cells(placements, moved) * FEWEST > MAX_CELLS:
        return None
    values = np.concatenate(list(_drawn_values(measure, placements, moved, rng)), axis=1)
    off, spread = values.mean(axis=1, keepdims=True), values.std(axis=1, keepdims=True)
    mean, std = (column[moved][:, None] for column in (measure.mean(placements), np.sqrt(measure.variance(placements))))
    stretched = np.where(spread > 0, std / np.where(spread > 0, spread, 1.0), 0.0)
    return mean + (values - off) * stretched


def _drawn_values(
    measure: Measure, placements: Placements, moved: BoolArray, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Give the values of the moved queries in random orders, of shape (n_moved, n), some orders at a time."""
    queries = np.flatnonzero(moved)
    ties = ties_that_matter(measure, placements, queries)
    rows, in_row_order = spans(placements.query, queries), above_in_row_order(placements)
    left = max(FEWEST, n_draws(placements, moved))
    at_once = max(1, AT_ONCE // _n_cells(placements, moved))
    while left > 0:
        n = min(at_once, left)
        orders = [
            _draw_orders(in_row_order[start:stop], start, ties[query], n, rng)
            for query, (start, stop) in zip(queries.tolist(), rows, strict=True)
        ]
        values = measure.mean(as_queries(placements, queries, orders, measure.deepest))
        yield values.reshape(len(queries), n)
        left -= n


def probability_below(one: Drawn, other: Drawn) -> tuple[float, float]:
    """Return the probability that `one` is smaller than `other`, independent of it, and its standard error.

    Every drawn sum of one is compared with every one of the other (Mann and Whitney), and the variance is that of the
    two means over drawn sums (DeLong, DeLong and Clarke-Pearson 1988, doi:10.2307/2531595).
    """
    rounding = ROUNDING * max(1.0, np.abs(one.sums).max(), np.abs(other.sums).max())
    above = 1 - np.searchsorted(other.sums, one.sums + rounding, side="right") / len(other.sums)
    below = np.searchsorted(one.sums, other.sums - rounding, side="left") / len(one.sums)
    (first, variance), (second, more) = one.mean_of(above), other.mean_of(below)
    fewest = min((len(drawn.sums) for drawn in (one, other) if len(drawn.sums) > 1), default=MOST)
    probability = first + second - float(above.mean())
    # What was never seen in n draws may have a probability of 1/n all the same.
    return min(1.0, max(0.0, probability)), max(math.sqrt(variance + more), 1 / fewest)


def _n_cells(placements: Placements, moved: BoolArray) -> int:
    """Count the documents that one order of the moved queries places."""
    return int(moved[placements.judged_query].sum())


def _draw_orders(in_row_order: IntArray, start: int, ties: list[Tie], n: int, rng: np.random.Generator) -> Orders:
    """Draw orders of the ties of a query, whose rows begin at `start`."""
    above = np.repeat(in_row_order[None], n, axis=0)
    for tie in ties:
        first, n_judged = tie.row - start, sum(tie.counts[:-1])
        above[:, first : first + n_judged] = tie.above + _draw_places(sum(tie.counts), n_judged, n, rng)
    return Orders(above, np.full(n, 1 / n))


def _draw_places(size: int, n_judged: int, n: int, rng: np.random.Generator) -> IntArray:
    """Draw the places of the judged documents in a tie, each time all different: (n, n_judged)."""
    if size <= SPARSE * n_judged:
        return rng.permuted(np.tile(np.arange(size), (n, 1)), axis=1)[:, :n_judged]
    # Few of many: a place that is taken is drawn again, until none is.
    places = rng.integers(size, size=(n, n_judged))
    while True:
        places.sort(axis=1)
        taken = np.zeros(places.shape, np.bool_)
        taken[:, 1:] = places[:, 1:] == places[:, :-1]
        if not taken.any():
            return rng.permuted(places, axis=1)
        places[taken] = rng.integers(size, size=int(taken.sum()))
