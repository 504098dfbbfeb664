"""Orders of ties, listed or drawn: the values of a measure in them, and sums over queries.

Documents that a measure cannot tell apart are interchangeable, so are the unjudged ones, and so is all that is
below its cutoff: what remains of the orders is listed, every order becomes a query of its own without ties, and one
call of the measure evaluates all of them.

Where they are too many to list, orders are drawn at random. Mean and variance of a sum are known exactly. How far those
of the drawn sums are off is therefore known too, which removes most of the sampling error: some hundred orders say what
ten thousand would without.

Sums of independent values, one for each query, are exact where they are few, else on a grid: every value is rounded to
a multiple of 1/M, and what rounding adds to a sum is known: its mean, which is taken back, and its standard deviation.
M has many divisors, so that 1/2, 1/3, ... are on the grid; equal values round alike, so that two sums of the same
values stay equal.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.kernels.segments import segment_sums
from deadheat.core.measures import Measure
from deadheat.core.placements.placements import Placements
from deadheat.core.scalars import ROUNDING
from deadheat.core.structures import group_values

MAX_ORDERS = 10_000
MAX_QUERIES = 2_000
QUERIES = 20  # orders that are listed in all, as a multiple of those of one query
CELLS = 1 << 22  # documents placed in all orders of all queries: 34 MB a column
MOST, FEWEST = 1_000, 100  # orders that are drawn
DRAWN_CELLS = 1 << 21  # documents placed in all drawn orders: some tenths of a second
AT_ONCE = 1 << 20  # the same, of those that are drawn together
IN_CACHE = 1 << 17  # the same, of those that are evaluated together: larger columns are new memory each time
MOST_CELLS = 1 << 24  # in the fewest drawn orders; where these take more, none is drawn
REPRESENTED = 0.75  # variance of the drawn sums about the exact mean, as a share of the exact variance
SPARSE = 2  # documents of a tie, as a multiple of its judged ones, from which on single ranks are drawn

LISTED, MOST_LISTED = math.factorial(6), 6  # orders of the judged documents of a tie that are drawn from a list of all


@dataclass(frozen=True, eq=False)
class Orders:
    """Orders that a measure can tell apart.

    Attributes
    ----------
    above : ndarray of int, shape (n_orders, n_rows)
        Documents before each judged one: in its tie or in its query.
    probabilities : ndarray of float, shape (n_orders,)
    """

    above: IntArray
    probabilities: FloatArray


class OpenTie(NamedTuple):
    """A tie whose order makes a difference.

    Attributes
    ----------
    row : int
        Its first one.
    above : int
        Documents above it.
    inside : int
        Its ranks that matter.
    counts : tuple of int
        Its documents of each relevance, in the order of the rows, and last the unjudged ones.
    """

    row: int
    above: int
    inside: int
    counts: tuple[int, ...]


def listed_values(
    measure: Measure, placements: Placements, queries: IntArray, max_orders: int = MAX_ORDERS
) -> list[tuple[FloatArray, FloatArray]] | None:
    """Return the value of each query in every order of its ties.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        From before any tie policy.
    queries : ndarray of int, shape (n,)
        Ascending.
    max_orders : int, default 10,000
        Most orders of one query; of all queries, 20 times as many.

    Returns
    -------
    list of (values, probabilities), or None
        Of each query, in the order of the listing; None where there are more orders than that, or more than 2,000
        queries: the mean over so many is as good as normal. None too for a measure that sees more than relevance.
    """
    placements = measure.contributing(placements)
    can_be = len(queries) <= MAX_QUERIES and measure.can_list_orders(placements)
    orders = _list_orders(measure, placements, queries, max_orders) if can_be else None
    if orders is None:
        return None
    values = np.split(
        measure.mean(as_queries(measure, placements, queries, orders)),
        np.cumsum([len(found.probabilities) for found in orders])[:-1],
    )
    return [(value, found.probabilities) for value, found in zip(values, orders, strict=True)]


def _list_orders(measure: Measure, placements: Placements, queries: IntArray, max_orders: int) -> list[Orders] | None:
    """List the orders of each query, or return None if there are too many."""
    rows, (ties, counts) = spans(placements.query, queries), _ties_that_matter(measure, placements, queries)
    n_judged = np.bincount(placements.judged_query, minlength=placements.n_queries)[queries]
    in_row_order = above_in_row_order(placements)
    listed: list[Orders] = []
    alike: dict[tuple[int, tuple[int, ...]], Orders] = {}
    n_orders, n_cells = QUERIES * max_orders, CELLS
    each = np.split(ties, np.searchsorted(ties[:, 0], queries[1:]))
    for some, (start, stop), judged in zip(each, rows, n_judged.tolist(), strict=True):
        own = [
            OpenTie(row, above, inside, (*counts[level:end], others))
            for _, row, above, inside, level, end, _, others in some.tolist()
        ]
        most = min(max_orders, n_orders, n_cells // max(judged, 1))
        found = _orders_of_query(in_row_order[start:stop], start, own, most, alike)
        if found is None:
            return None
        n_orders -= len(found.probabilities)
        n_cells -= len(found.probabilities) * judged
        listed.append(found)
    return listed


def above_in_row_order(placements: Placements) -> IntArray:
    """Return the documents before each row if all ties stay in the order of the rows."""
    return placements.above + np.arange(len(placements.query)) - np.repeat(placements.tie_starts, placements.tie_sizes)


def _ties_that_matter(measure: Measure, placements: Placements, queries: IntArray) -> tuple[IntArray, list[int]]:
    """Return the ties of some queries, ascending, whose order makes a difference to a measure.

    Returns
    -------
    ties : ndarray of int, shape (n, 8)
        The query of each, its first row, the documents above it, its ranks that matter, its first level and the one
        after its last, its judged and its unjudged documents.
    counts : list of int
        The judged documents of each level: of equal relevance to the measure, in one tie.
    """
    cutoff: int | None = getattr(measure, "cutoff", None)
    starts = placements.tie_starts
    ends = starts + placements.tie_sizes
    above, tied = placements.above[starts], placements.tied[starts]
    inside = tied if cutoff is None else np.clip(cutoff - above, 0, tied)
    levels = run_starts(placements.query, placements.above, measure.classes(placements.relevance))
    counts = np.diff(np.append(levels, len(placements.query))).tolist()
    first, last = np.searchsorted(levels, starts), np.searchsorted(levels, ends)
    unjudged, query = tied - (ends - starts), placements.query[starts]
    matters = (inside > 0) & (last - first + (unjudged > 0) > 1) & np.isin(query, queries)
    columns = (query, starts, above, inside, first, last, ends - starts, unjudged)
    return np.column_stack(columns)[matters], counts


def _orders_of_query(
    in_row_order: IntArray, start: int, ties: list[OpenTie], most: int, alike: dict[tuple[int, tuple[int, ...]], Orders]
) -> Orders | None:
    """Combine the orders of a query's ties; `alike` remembers those of ties that look alike."""
    above, probabilities = in_row_order[None], np.ones(1)
    for tie in ties:
        look = tie.inside, tie.counts
        found = alike.get(look) or _orders_of_tie(tie.counts, tie.inside, most)
        n_before = len(probabilities)
        if found is None or n_before * len(found.probabilities) > most:
            return None
        alike[look] = found
        first = tie.row - start
        above = np.repeat(above, len(found.probabilities), axis=0)
        above[:, first : first + found.above.shape[1]] = np.tile(tie.above + found.above, (n_before, 1))
        probabilities = np.outer(probabilities, found.probabilities).ravel()
    return Orders(above, probabilities)


def _orders_of_tie(counts: tuple[int, ...], inside: int, most: int) -> Orders | None:
    """List what can be on the first ranks of a tie, rank by rank.

    Parameters
    ----------
    counts : tuple of int
        Documents of each relevance, in the order of the rows, and last the unjudged ones.
    inside : int
        Ranks of the tie that matter.
    most : int
        Give up beyond so many orders.
    """
    size = sum(counts)
    most = min(most, CELLS // size)
    left: IntArray = np.array([counts])
    probabilities = np.ones(1)
    steps: list[tuple[IntArray, IntArray]] = []
    for rank in range(inside):
        parent, level = np.nonzero(left)
        if len(parent) > most:
            return None
        probabilities = probabilities[parent] * left[parent, level] / (size - rank)
        left = left[parent]
        left[np.arange(len(parent)), level] -= 1
        steps.append((parent, level))
    n_orders = len(probabilities)
    beyond = np.repeat(np.tile(np.arange(len(counts)), n_orders), left.ravel()).reshape(n_orders, size - inside)
    levels = np.hstack((_traced(steps, np.arange(n_orders)), beyond)).astype(np.int16)  # sorts faster
    return Orders(np.argsort(levels, axis=1, kind="stable")[:, : size - counts[-1]], probabilities)


def _traced(steps: list[tuple[IntArray, IntArray]], order: IntArray) -> IntArray:
    """Return what is on each rank, of shape (n_orders, n_steps), from the order before each step and its choice."""
    ranks = []
    for parent, level in reversed(steps):
        ranks.append(level[order])
        order = parent[order]
    return np.column_stack(ranks[::-1])


def as_queries(measure: Measure, placements: Placements, queries: IntArray, orders: list[Orders]) -> Placements:
    """Return placements without ties in which every order of every query is a query, down to the deepest rank."""
    classes = measure.classes(placements.relevance)
    are_alike = bool((classes == classes[:1]).all())
    n_orders = [len(found.probabilities) for found in orders]
    starts = np.searchsorted(placements.query, queries).tolist()
    found = [_in_order(one.above, measure.deepest, are_alike=are_alike) for one in orders]
    rows, above, n_rows = zip(*found, strict=True)
    copies = placements.rows(np.zeros(0, np.int64)).select(np.repeat(queries, n_orders))
    relevance = [placements.relevance[start:][row] for row, start in zip(rows, starts, strict=True)]
    query = np.repeat(np.arange(copies.n_queries), np.concatenate(n_rows))
    return replace(
        copies,
        query=query,
        documents=np.broadcast_to(np.array("", object), len(query)),  # measures that look at them list no orders
        relevance=np.concatenate(relevance),
        above=np.concatenate(above),
        tied=np.ones(len(query), np.int64),
    )


def _in_order(above: IntArray, deepest: int | None, *, are_alike: bool) -> tuple[IntArray, IntArray, IntArray]:
    """Return the columns of each order in the order of their ranks, these ranks, and how many columns there are.

    Of columns that are alike it does not matter which has which rank.
    """
    n_orders, n_columns = above.shape
    if deepest is not None:
        flat = np.flatnonzero(above < deepest)
        at = np.full(n_orders * deepest, -1)
        order, column = np.divmod(flat, max(n_columns, 1))
        at[order * deepest + above.ravel()[flat]] = column
        place = np.flatnonzero(at >= 0)
        return at[place], place % deepest, np.bincount(place // deepest, minlength=n_orders)
    # of 16 bits, where they suffice, which sort faster
    small = above.astype(np.int16 if above.max(initial=0) <= np.iinfo(np.int16).max else np.int64)
    n_rows = np.full(n_orders, n_columns)
    if are_alike:
        return np.tile(np.arange(n_columns), n_orders), np.sort(small, axis=1).ravel().astype(np.int64), n_rows
    column = np.argsort(small, axis=1, kind="stable")
    return column.ravel(), np.take_along_axis(above, column, axis=1).ravel(), n_rows


def spans(codes: IntArray, queries: IntArray) -> list[tuple[int, int]]:
    """Return where the elements of each query start and stop in ascending codes."""
    return list(zip(*np.searchsorted(codes, [queries, queries + 1]).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class DrawnSums:
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

    def minus(self, other: "DrawnSums", rng: np.random.Generator) -> "DrawnSums":
        """Return the difference of two sums, which are independent of each other: their draws are paired at random."""
        n = max(len(self.sums), len(other.sums))
        one, second = (rng.permutation(np.resize(sums, n)) for sums in (self.sums, other.sums))
        return DrawnSums(np.sort(one - second), self.mean - other.mean, math.hypot(self.deviation, other.deviation))

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


def n_draws(placements: Placements, moved: BoolArray, share: float = 1.0) -> int:
    """Return how many orders of the queries that ties move can be drawn at a share of a cost that does not hurt."""
    return int(min(MOST, share * DRAWN_CELLS // max(1, _n_cells(placements, moved))))


def draw_sums(
    measure: Measure,
    placements: Placements,
    keep: BoolArray,
    moved: BoolArray,
    rng: np.random.Generator,
    *,
    means: FloatArray | None = None,
    weights: FloatArray | None = None,
    share: float = 1.0,
) -> DrawnSums | None:
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
    means : ndarray of float, shape (n_queries,), optional
        Over all orders, where they are known, and not those of the measure: as of queries without a relevant document
        that count 1.
    weights : ndarray of float, shape (n_queries,), optional
        The factor of each query in the sum.
    share : float, default 1
        As for :func:`n_draws`.

    Returns
    -------
    DrawnSums or None
        None where even the fewest useful orders have too many documents to place.
    """
    n_cells, queries = _n_cells(placements, moved), np.flatnonzero(moved)
    if n_cells * FEWEST > MOST_CELLS:
        return None
    own = np.ones(placements.n_queries) if weights is None else weights
    mean = own * (measure.mean(placements) if means is None else means)
    variance = own**2 * measure.variance(placements)
    fixed, exact = float(mean[keep & ~moved].sum()), float(mean[keep].sum())
    if not len(queries):
        return DrawnSums(np.array([fixed]), fixed, 0.0)
    factors = own[moved][:, None]
    sums = [(factors * values).sum(axis=0) for values in _drawn_values(measure, placements, moved, rng, share)]
    is_exact = not measure.standard_error(placements)[moved].any()
    deviation = math.sqrt(float(variance[moved].sum())) if is_exact else math.nan
    return DrawnSums(np.sort(np.concatenate(sums)) + fixed, exact, deviation)


def draw_values(
    measure: Measure, placements: Placements, moved: BoolArray, rng: np.random.Generator
) -> FloatArray | None:
    """Draw orders of the ties, and return the value of each query in each, of shape (n_moved, n_draws).

    They are shifted and stretched to the exact mean and variance of each query. None as for :func:`draw_sums`.
    """
    if _n_cells(placements, moved) * FEWEST > MOST_CELLS:
        return None
    values = np.concatenate(list(_drawn_values(measure, placements, moved, rng)), axis=1)
    off, spread = values.mean(axis=1, keepdims=True), values.std(axis=1, keepdims=True)
    mean, std = (column[moved][:, None] for column in (measure.mean(placements), np.sqrt(measure.variance(placements))))
    return mean + (values - off) * np.where(spread > 0, std / np.where(spread > 0, spread, 1.0), 0.0)


def _drawn_values(
    measure: Measure, placements: Placements, moved: BoolArray, rng: np.random.Generator, share: float = 1.0
) -> Iterator[FloatArray]:
    """Give the values of the moved queries in random orders, of shape (n_moved, n), some orders at a time."""
    left = max(FEWEST, n_draws(placements, moved, share))
    at_once, few = (max(1, cells // _n_cells(placements, moved)) for cells in (AT_ONCE, IN_CACHE))
    placements = measure.contributing(placements).select(moved)
    queries = np.arange(placements.n_queries)
    ties, _ = _ties_that_matter(measure, placements, queries)
    rows, in_row_order = spans(placements.query, queries), above_in_row_order(placements)
    for n in (min(at_once, left - first) for first in range(0, left, at_once)):
        orders = _draw_orders(in_row_order, rows, ties, n, rng)
        for first in range(0, n, few):
            some = [Orders(one.above[first : first + few], one.probabilities[first : first + few]) for one in orders]
            yield measure.mean(as_queries(measure, placements, queries, some)).reshape(len(queries), -1)


def probability_below(one: DrawnSums, other: DrawnSums) -> tuple[float, float]:
    """Return the probability that `one` is smaller than `other`, independent of it, and its standard error.

    Every drawn sum of one is compared with every one of the other (Mann and Whitney), and the variance is that of the
    two means over drawn sums (DeLong, DeLong and Clarke-Pearson 1988, doi:10.2307/2531595).
    """
    rounding = ROUNDING * max(1.0, np.abs(one.sums).max(), np.abs(other.sums).max())
    above = 1 - np.searchsorted(other.sums, one.sums + rounding, side="right") / len(other.sums)
    below = np.searchsorted(one.sums, other.sums - rounding, side="left") / len(one.sums)
    (first, variance), (second, more) = one.mean_of(above), other.mean_of(below)
    fewest = min((len(drawn.sums) for drawn in (one, other) if len(drawn.sums) > 1), default=MOST)
    # What was never seen in n draws may have a probability of 1/n all the same.
    return min(1.0, max(0.0, first + second - float(above.mean()))), max(math.sqrt(variance + more), 1 / fewest)


def _n_cells(placements: Placements, moved: BoolArray) -> int:
    """Count the documents that one order of the moved queries places."""
    return int(moved[placements.judged_query].sum())


def _draw_orders(
    in_row_order: IntArray,
    rows: list[tuple[int, int]],
    ties: IntArray,
    n: int,
    rng: np.random.Generator,
) -> list[Orders]:
    """Draw orders of the ties of queries, whose rows are given; ties that look alike are drawn together."""
    above = np.repeat(in_row_order[None], n, axis=0)
    _, row, start, _, level, end, judged, unjudged = ties.T
    looks = np.column_stack((judged + unjudged, judged, end - level == 1))  # of one level beside the unjudged ones
    alike = group_values((look, place) for place, look in enumerate(map(tuple, looks.tolist())))
    for (size, n_judged, are_alike), of in alike.items():
        places = _draw_places(size, n_judged, n * len(of), rng, are_alike=are_alike).reshape(len(of), n, n_judged)
        own = (places + start[of][:, None, None]).swapaxes(0, 1).reshape(n, -1)
        above[:, (row[of][:, None] + np.arange(n_judged)).ravel()] = own
    return [Orders(above[:, start:stop], np.full(n, 1 / n)) for start, stop in rows]


def _draw_places(size: int, n_judged: int, n: int, rng: np.random.Generator, *, are_alike: bool = False) -> IntArray:
    """Draw the places of the judged documents in a tie, each time all different: (n, n_judged).

    Of documents that are alike it does not matter which has which place.
    """
    if n_judged <= MOST_LISTED and math.perm(size, n_judged) <= LISTED:
        listed: IntArray = np.array([*permutations(range(size), n_judged)])
        return listed[rng.integers(len(listed), size=n)]
    if size <= SPARSE * n_judged:
        return rng.permuted(np.tile(np.arange(size), (n, 1)), axis=1)[:, :n_judged]
    # Few of many: a place that is taken is drawn again, until none is.
    small = np.int16 if size <= np.iinfo(np.int16).max else np.int64  # sorts faster
    places, left = rng.integers(size, size=(n, n_judged), dtype=small), np.arange(n)
    while len(left):
        own = np.sort(places[left], axis=1)
        taken = np.diff(own, axis=1, prepend=small(-1)) == 0
        own[taken] = rng.integers(size, size=int(taken.sum()), dtype=small)
        places[left] = own
        left = left[taken.any(axis=1)]
    found = places.astype(np.int64)
    return found if are_alike else rng.permuted(found, axis=1)


Cells: TypeAlias = tuple[IntArray, FloatArray]  # numbers of cells, ascending, and probabilities to add up in each

MAX_VALUES = 50_000
PAIRS = 8  # sums of two values that are formed in all, as a multiple of the values that may be left
MAX_CELLS = 1 << 18  # of a grid, under the values of all queries laid end to end: 2 MB a sum
FEW_CELLS = 1 << 17  # of a coarse one
GRIDS = (
    *(1, 2, 6, 12, 24, 60, 120, 240, 420, 840, 1_680, 2_520, 5_040, 10_080, 20_160, 27_720, 55_440, 110_880),
    *(166_320, 332_640, 720_720, 1_441_440, 2_162_160, 3_603_600, 7_207_200),
)
ON_GRID = 1e-6  # cells: numbers closer than this are equal in theory
COARSE = 0.01  # of the standard deviation over tie orders: more than this may not be due to rounding
LEAST_PROBABILITY = 1e-17  # probability of a cell, as small as the rounding errors of a Fourier transform
SPARSE_CELLS = 4  # pairs of cells, as a multiple of the cells of their sums, that are added faster than transformed


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution on finitely many values.

    Attributes
    ----------
    values : ndarray of float, shape (n,)
        Ascending, and further apart than rounding errors; on a grid, neighbouring multiples of ``1 / cells``.
    probabilities : ndarray of float, shape (n,)
    cells : int
        Of the grid in a unit; 0 where there is none.
    shift : float
        The mean of what rounding to the grid added.
    rounding : float
        Its standard deviation; where that is 0, the values less the shift are exact.
    """

    values: FloatArray
    probabilities: FloatArray
    cells: int = 0
    shift: float = 0.0
    rounding: float = 0.0


@dataclass(frozen=True, eq=False)
class IndependentSum:
    """Independent values whose sum is wanted, one for each query.

    Attributes
    ----------
    fixed : ndarray of float, shape (n_fixed,)
        The values of queries that no tie moves.
    values, probabilities : ndarray of float, shape (n,)
        Those of the other queries one after another, ascending within each.
    starts : ndarray of int, shape (n_moved,)
        Where each of them starts.
    max_values : int
        Most distinct values of an exact sum.
    """

    fixed: FloatArray
    values: FloatArray
    probabilities: FloatArray
    starts: IntArray
    max_values: int = MAX_VALUES
    _roundings: dict[int, tuple[float, float]] = field(default_factory=dict, repr=False)
    _on_grids: dict[int, Distribution] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, fixed: FloatArray, moved: Sequence[tuple[FloatArray, FloatArray]], max_values: int = MAX_VALUES
    ) -> Self:
        """Put together the values and probabilities of each query, which may repeat and be in any order."""
        if not moved:
            return cls(fixed, np.zeros(0), np.zeros(0), np.zeros(0, np.int64), max_values)
        values, probabilities = (np.concatenate(column) for column in zip(*moved, strict=True))
        query = np.repeat(np.arange(len(moved)), [len(part) for part, _ in moved])
        order = np.lexsort((values, query))
        starts = _distinct(values[order], query)
        return cls(
            fixed,
            values[order][starts],
            segment_sums(probabilities[order], starts),
            run_starts(query[starts]),
            max_values,
        )

    def minus(self, other: Self) -> "IndependentSum":
        """Return the summands of the difference of two sums, which are independent of each other."""
        own = zip(self.split(self.values), self.split(self.probabilities), strict=True)
        others = zip(other.split(-other.values), other.split(other.probabilities), strict=True)
        return IndependentSum.of(np.concatenate([self.fixed, -other.fixed]), [*own, *others], self.max_values)

    @cached_property
    def variance(self) -> float:
        """Variance of the sum."""
        return self._variance_of(self.values)

    @cached_property
    def span(self) -> float:
        """Largest sum less the smallest."""
        return float(sum(values[-1] - values[0] for values in self.split(self.values)))

    @cached_property
    def exact(self) -> Distribution | None:
        """The distribution of the sum, or None if it takes too many values."""
        # Each query has two values or more, so that the first i have i + 1 sums or more.
        if len(self.starts) ** 2 > PAIRS * self.max_values:
            return None
        n_pairs = 0
        total = Distribution(self.fixed.sum(keepdims=True), np.ones(1))
        parts = zip(self.split(self.values), self.split(self.probabilities), strict=True)
        for values, probabilities in sorted(parts, key=lambda part: len(part[0])):
            n_pairs += len(values) * len(total.values)
            if n_pairs > PAIRS * self.max_values:
                return None
            sums = values[:, None] + total.values  # sorted rows: the stable sort merges them
            order = np.argsort(sums, axis=None, kind="stable")
            starts = _distinct(sums.ravel()[order])
            total = Distribution(
                sums.ravel()[order][starts],
                segment_sums(np.outer(probabilities, total.probabilities).ravel()[order], starts),
            )
            if len(total.values) > self.max_values:
                return None
        return total

    def rounding(self, cells: int) -> tuple[float, float]:
        """Return mean and standard deviation of what rounding to a grid adds to the sum."""
        if cells not in self._roundings:
            moved, fixed = (_nearest(values, cells)[1] / cells for values in (self.values, self.fixed))
            mean = float(fixed.sum() + moved @ self.probabilities)
            self._roundings[cells] = mean, math.sqrt(self._variance_of(moved))
        return self._roundings[cells]

    def on_grid(self, cells: int) -> Distribution:
        """Return the distribution of the sum of the rounded values."""
        if cells not in self._on_grids:
            parts = list(zip(self.split(_nearest(self.values, cells)[0]), self.split(self.probabilities), strict=True))
            fixed = _nearest(self.fixed, cells)[0].sum(keepdims=True), np.ones(1)
            first, found = _dense(_convolved([fixed, *parts]))
            self._on_grids[cells] = Distribution(
                np.arange(first, first + len(found)) / cells, found / found.sum(), cells, *self.rounding(cells)
            )
        return self._on_grids[cells]

    def split(self, of_values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return what is given for each value, by query."""
        return np.split(of_values, self.starts)[1:]

    def _variance_of(self, of_values: FloatArray) -> float:
        """Return the variance of the sum of what is given for each value."""
        if not len(self.starts):
            return 0.0
        centred = of_values - np.repeat(
            segment_sums(of_values * self.probabilities, self.starts), np.diff(np.append(self.starts, len(of_values)))
        )
        return float(centred**2 @ self.probabilities)


def comparable(
    one: IndependentSum, other: IndependentSum, *, is_coarse: bool = False
) -> tuple[Distribution, Distribution] | None:
    """Return the distributions of two sums: both exact or on the same grid.

    The grid is the coarsest that has all values, or else the finest that is not too large. It is chosen for the
    two alone, and does not depend on what else is compared; but of very many systems it is coarser (`is_coarse`).

    The mean of what rounding adds is taken back, so that the error of the probability that one sum is the smaller is
    of second order: ``0.12 * (rounding / deviation) ** 2`` at most if the difference is bell-shaped.

    Returns
    -------
    tuple of Distribution, or None
        None where rounding would be more than 1% of what tie-breaks do to the difference of the sums.
    """
    if one.exact is not None and other.exact is not None:
        return one.exact, other.exact
    most = FEW_CELLS if is_coarse else MAX_CELLS
    fitting = [cells for cells in GRIDS if max(one.span, other.span) * cells <= most]
    if not fitting:
        return None
    both = (one, other)
    cells = next((cells for cells in fitting if not any(sums.rounding(cells)[1] for sums in both)), fitting[-1])
    if math.hypot(*(sums.rounding(cells)[1] for sums in both)) > COARSE * math.sqrt(one.variance + other.variance):
        return None
    return one.on_grid(cells), other.on_grid(cells)


def _distinct(ascending: FloatArray, query: IntArray | None = None) -> IntArray:
    """Return where values start that differ by more than rounding errors, or are of another query."""
    of = np.zeros(len(ascending), np.int64) if query is None else query
    first = run_starts(of)
    largest = np.maximum.reduceat(np.abs(ascending), first)
    other = np.diff(ascending, prepend=-np.inf) > ROUNDING * largest[of]
    other[first] = True
    return np.flatnonzero(other)


def _nearest(values: FloatArray, cells: int) -> tuple[IntArray, FloatArray]:
    """Return the number of the nearest cell of a grid, and how far it is in cells: 0 for what is on it."""
    places = values * cells
    # A hair up: where two cells are as near, rounding errors do not choose between them.
    nearest = np.floor(places + (0.5 + ON_GRID))
    off = nearest - places
    return nearest.astype(np.int64), np.where(np.abs(off) < ON_GRID, 0.0, off)


def _convolved(rows: list[Cells]) -> Cells:
    """Return the distribution of the sum of independent numbers of cells: neighbours first, so that few are long."""
    while len(rows) > 1:
        rows = [*map(_added, rows[::2], rows[1::2]), *(rows[-1:] if len(rows) % 2 else [])]
    return rows[0]


def _added(one: Cells, other: Cells) -> Cells:
    """Return the distribution of the sum of two independent numbers of cells."""
    from scipy.fft import irfft, next_fast_len, rfft

    (a, p), (b, r) = one, other
    size = int(a[-1] - a[0] + b[-1] - b[0]) + 1
    if len(a) * len(b) <= SPARSE_CELLS * size:
        return _filled(*_dense((np.add.outer(a, b).ravel(), np.outer(p, r).ravel())))
    length = next_fast_len(size, real=True)
    transformed = rfft(_dense(one)[1], length) * rfft(_dense(other)[1], length)
    return _filled(int(a[0] + b[0]), irfft(transformed, length)[:size])


def _filled(first: int, probabilities: FloatArray) -> Cells:
    """Leave out the cells that nothing falls on, of a row of them."""
    kept = np.flatnonzero(probabilities >= LEAST_PROBABILITY)
    return kept + first, probabilities[kept]


def _dense(row: Cells) -> tuple[int, FloatArray]:
    """Return the first cell, and the probability of each from there on; the cells may repeat, in any order."""
    places, probabilities = row
    first = int(places.min())
    return first, np.bincount(places - first, weights=probabilities).astype(np.float64, copy=False)
