"""Orders of ties, listed or drawn: the values of a measure in them, and sums over queries.

Documents that a measure cannot tell apart are interchangeable, so are the unjudged ones, and so is all that is
below its cutoff: what remains of the orders is listed, every order becomes a query of its own without ties, and one
call of the measure evaluates all of them.

Where they are too many to list, orders are drawn at random. Mean and variance of a sum are known exactly. How far those
of the drawn sums are off is therefore known too, which removes most of the sampling error: some hundred orders say what
ten thousand would without.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import NamedTuple

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray, run_starts
from deadheat.core.measures import Measure
from deadheat.core.placements.placements import Placements
from deadheat.core.scalars import ROUNDING
from deadheat.core.structures import group_values

MAX_ORDERS = 10_000
MAX_QUERIES = 2_000
QUERIES = 20  # orders that are listed in all, as a multiple of those of one query
CELLS = 1 << 22  # documents placed in all orders of all queries: 34 MB a column
MOST = 1_000  # orders that are drawn, at most
FEWEST = 100  # and at least
DRAWN_CELLS = 1 << 21  # documents placed in all drawn orders: some tenths of a second
AT_ONCE = 1 << 20  # the same, of those that are drawn together
IN_CACHE = 1 << 17  # the same, of those that are evaluated together: larger columns are new memory each time
MOST_CELLS = 1 << 24  # in the fewest drawn orders; where these take more, none is drawn
REPRESENTED = 0.75  # variance of the drawn sums about the exact mean, as a share of the exact variance
SPARSE = 2  # documents of a tie, as a multiple of its judged ones, from which on single ranks are drawn

MOST_LISTED = 6  # judged documents of a tie whose orders are drawn from a list of all
LISTED = math.factorial(MOST_LISTED)  # orders in that list, at most


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


@dataclass(frozen=True, eq=False)
class OpenTies:
    """Ties whose order makes a difference, as columns of shape (n_ties,), ascending by row.

    Attributes
    ----------
    query : ndarray of int
    row : ndarray of int
        The first one.
    above : ndarray of int
        Documents above the tie.
    inside : ndarray of int
        Its ranks that matter.
    first_level, end_level : ndarray of int
        Its first level, and the one after its last.
    n_judged, n_unjudged : ndarray of int
    level_counts : list of int
        The judged documents of each level, of all ties: of equal relevance to the measure, in one tie.
    """

    query: IntArray
    row: IntArray
    above: IntArray
    inside: IntArray
    first_level: IntArray
    end_level: IntArray
    n_judged: IntArray
    n_unjudged: IntArray
    level_counts: list[int]

    def of_queries(self, queries: IntArray) -> Iterator[list[OpenTie]]:
        """Give the ties of each query."""
        row, above, inside = self.row.tolist(), self.above.tolist(), self.inside.tolist()
        first_level, end_level = self.first_level.tolist(), self.end_level.tolist()
        n_unjudged = self.n_unjudged.tolist()
        for start, stop in find_spans(self.query, queries):
            ties = []
            for n in range(start, stop):
                counts = (*self.level_counts[first_level[n] : end_level[n]], n_unjudged[n])
                ties.append(OpenTie(row[n], above[n], inside[n], counts))
            yield ties


@dataclass(frozen=True, eq=False)
class RankedRows:
    """The judged documents of several orders of one query, order by order and in each by rank.

    Attributes
    ----------
    row : ndarray of int, shape (n_rows,)
        The document, as a row of the query.
    above : ndarray of int, shape (n_rows,)
        Documents above it.
    n_rows : ndarray of int, shape (n_orders,)
        How many there are in each order.
    """

    row: IntArray
    above: IntArray
    n_rows: IntArray


def list_order_values(
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
    if len(queries) > MAX_QUERIES or not measure.can_list_orders(placements):
        return None
    orders = _list_orders(measure, placements, queries, max_orders)
    if orders is None:
        return None
    values = measure.mean(as_queries(measure, placements, queries, orders))
    ends = np.cumsum([len(orders_of_query.probabilities) for orders_of_query in orders])
    values_of_queries = np.split(values, ends[:-1])
    listed = []
    for values_of_query, orders_of_query in zip(values_of_queries, orders, strict=True):
        listed.append((values_of_query, orders_of_query.probabilities))
    return listed


def _list_orders(measure: Measure, placements: Placements, queries: IntArray, max_orders: int) -> list[Orders] | None:
    """List the orders of each query, or return None if there are too many."""
    ties = _find_open_ties(measure, placements, queries)
    n_judged = np.bincount(placements.judged_query, minlength=placements.n_queries)[queries]
    in_row_order = above_in_row_order(placements)
    rows = find_spans(placements.query, queries)
    listed: list[Orders] = []
    known: dict[tuple[int, tuple[int, ...]], Orders] = {}
    n_orders_left, n_cells_left = QUERIES * max_orders, CELLS
    for ties_of_query, (start, stop), n_documents in zip(
        ties.of_queries(queries), rows, n_judged.tolist(), strict=True
    ):
        most = min(max_orders, n_orders_left, n_cells_left // max(n_documents, 1))
        orders = _combine_ties(in_row_order[start:stop], start, ties_of_query, most, known)
        if orders is None:
            return None
        n_orders_left -= len(orders.probabilities)
        n_cells_left -= len(orders.probabilities) * n_documents
        listed.append(orders)
    return listed


def above_in_row_order(placements: Placements) -> IntArray:
    """Return the documents before each row if all ties stay in the order of the rows."""
    return placements.above + np.arange(len(placements.query)) - np.repeat(placements.tie_starts, placements.tie_sizes)


def _find_open_ties(measure: Measure, placements: Placements, queries: IntArray) -> OpenTies:
    """Return the ties of some queries, ascending, whose order makes a difference to a measure."""
    cutoff: int | None = getattr(measure, "cutoff", None)
    starts = placements.tie_starts
    ends = starts + placements.tie_sizes
    query = placements.query[starts]
    above = placements.above[starts]
    tied = placements.tied[starts]
    inside = tied if cutoff is None else np.clip(cutoff - above, 0, tied)
    level_starts = run_starts(placements.query, placements.above, measure.classes(placements.relevance))
    level_counts = np.diff(np.append(level_starts, len(placements.query))).tolist()
    first_level = np.searchsorted(level_starts, starts)
    end_level = np.searchsorted(level_starts, ends)
    n_unjudged = tied - (ends - starts)
    n_kinds = end_level - first_level + (n_unjudged > 0)
    is_open = (inside > 0) & (n_kinds > 1) & np.isin(query, queries)
    return OpenTies(
        query=query[is_open],
        row=starts[is_open],
        above=above[is_open],
        inside=inside[is_open],
        first_level=first_level[is_open],
        end_level=end_level[is_open],
        n_judged=(ends - starts)[is_open],
        n_unjudged=n_unjudged[is_open],
        level_counts=level_counts,
    )


def _combine_ties(
    in_row_order: IntArray, start: int, ties: list[OpenTie], most: int, known: dict[tuple[int, tuple[int, ...]], Orders]
) -> Orders | None:
    """Combine the orders of a query's ties; None if they are too many.

    Parameters
    ----------
    in_row_order : ndarray of int, shape (n_rows,)
        Documents before each row of the query if all ties stay in the order of the rows.
    start : int
        The first row of the query.
    ties : list of OpenTie
    most : int
        Most orders.
    known : dict of (inside, counts) to Orders
        Those of ties that were listed already; others are added.
    """
    above, probabilities = in_row_order[None], np.ones(1)
    for tie in ties:
        key = tie.inside, tie.counts
        orders = known.get(key) or _list_orders_of_tie(tie.counts, tie.inside, most)
        n_before = len(probabilities)
        if orders is None or n_before * len(orders.probabilities) > most:
            return None
        known[key] = orders
        first = tie.row - start
        end = first + orders.above.shape[1]
        above = np.repeat(above, len(orders.probabilities), axis=0)
        above[:, first:end] = np.tile(tie.above + orders.above, (n_before, 1))
        probabilities = np.outer(probabilities, orders.probabilities).ravel()
    return Orders(above, probabilities)


def _list_orders_of_tie(counts: tuple[int, ...], inside: int, most: int) -> Orders | None:
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
    on_first_ranks = _trace_back(steps, np.arange(n_orders))
    level_of_cell = np.tile(np.arange(len(counts)), n_orders)
    below = np.repeat(level_of_cell, left.ravel()).reshape(n_orders, size - inside)
    levels = np.hstack((on_first_ranks, below)).astype(np.int16)  # sorts faster
    ranks = np.argsort(levels, axis=1, kind="stable")
    n_judged = size - counts[-1]
    return Orders(ranks[:, :n_judged], probabilities)


def _trace_back(steps: list[tuple[IntArray, IntArray]], order: IntArray) -> IntArray:
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
    starts = np.searchsorted(placements.query, queries).tolist()
    # the rows of all queries before the rest: made in turn with other arrays they cost a quarter more page faults
    ranked = [_rank_rows(orders_of_query.above, measure.deepest, are_alike=are_alike) for orders_of_query in orders]
    n_orders = [len(orders_of_query.probabilities) for orders_of_query in orders]
    copies = placements.rows(np.zeros(0, np.int64)).select(np.repeat(queries, n_orders))
    relevance = [placements.relevance[start:][rows.row] for rows, start in zip(ranked, starts, strict=True)]
    n_rows = np.concatenate([rows.n_rows for rows in ranked])
    query = np.repeat(np.arange(copies.n_queries), n_rows)
    return replace(
        copies,
        query=query,
        documents=np.broadcast_to(np.array("", object), len(query)),  # measures that look at them list no orders
        relevance=np.concatenate(relevance),
        above=np.concatenate([rows.above for rows in ranked]),
        tied=np.ones(len(query), np.int64),
    )


def _rank_rows(above: IntArray, deepest: int | None, *, are_alike: bool) -> RankedRows:
    """Return the rows of each order by rank; of rows that are alike it does not matter which has which rank.

    Parameters
    ----------
    above : ndarray of int, shape (n_orders, n_columns)
        Documents above each row of a query.
    deepest : int or None
        The last rank that matters; None: all do.
    are_alike : bool
        Whether all rows are.
    """
    n_orders, n_columns = above.shape
    if deepest is not None:
        cell = np.flatnonzero(above < deepest)
        order, column = np.divmod(cell, max(n_columns, 1))
        column_at = np.full(n_orders * deepest, -1)
        column_at[order * deepest + above.ravel()[cell]] = column
        place = np.flatnonzero(column_at >= 0)
        return RankedRows(column_at[place], place % deepest, np.bincount(place // deepest, minlength=n_orders))
    # of 16 bits, where they suffice, which sort faster
    small = above.astype(np.int16 if above.max(initial=0) <= np.iinfo(np.int16).max else np.int64)
    n_rows = np.full(n_orders, n_columns)
    if are_alike:
        sorted_above = np.sort(small, axis=1).ravel().astype(np.int64)
        return RankedRows(np.tile(np.arange(n_columns), n_orders), sorted_above, n_rows)
    columns = np.argsort(small, axis=1, kind="stable")
    return RankedRows(columns.ravel(), np.take_along_axis(above, columns, axis=1).ravel(), n_rows)


def find_spans(codes: IntArray, queries: IntArray) -> list[tuple[int, int]]:
    """Return where the elements of each query start and stop in ascending codes."""
    starts = np.searchsorted(codes, queries).tolist()
    stops = np.searchsorted(codes, queries + 1).tolist()
    return list(zip(starts, stops, strict=True))


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
        minuends = rng.permutation(np.resize(self.sums, n))
        subtrahends = rng.permutation(np.resize(other.sums, n))
        deviation = math.hypot(self.deviation, other.deviation)
        return DrawnSums(np.sort(minuends - subtrahends), self.mean - other.mean, deviation)

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
    if _n_cells(placements, moved) * FEWEST > MOST_CELLS:
        return None
    if means is None:
        means = measure.mean(placements)
    factors = np.ones(placements.n_queries) if weights is None else weights
    summands = factors * means
    variance = factors**2 * measure.variance(placements)
    fixed_sum = float(summands[keep & ~moved].sum())
    if not moved.any():
        return DrawnSums(np.array([fixed_sum]), fixed_sum, 0.0)
    factors_of_moved = factors[moved][:, None]
    parts = _iterate_drawn_values(measure, placements, moved, rng, share)
    sums = np.concatenate([(factors_of_moved * values).sum(axis=0) for values in parts])
    is_exact = not measure.standard_error(placements)[moved].any()
    deviation = math.sqrt(float(variance[moved].sum())) if is_exact else math.nan
    return DrawnSums(np.sort(sums) + fixed_sum, float(summands[keep].sum()), deviation)


def draw_values(
    measure: Measure, placements: Placements, moved: BoolArray, rng: np.random.Generator
) -> FloatArray | None:
    """Draw orders of the ties, and return the value of each query in each, of shape (n_moved, n_draws).

    They are shifted and stretched to the exact mean and variance of each query. None as for :func:`draw_sums`.
    """
    if _n_cells(placements, moved) * FEWEST > MOST_CELLS:
        return None
    values = np.concatenate(list(_iterate_drawn_values(measure, placements, moved, rng)), axis=1)
    drawn_mean = values.mean(axis=1, keepdims=True)
    drawn_std = values.std(axis=1, keepdims=True)
    mean = measure.mean(placements)[moved][:, None]
    std = np.sqrt(measure.variance(placements))[moved][:, None]
    stretch = np.where(drawn_std > 0, std / np.where(drawn_std > 0, drawn_std, 1.0), 0.0)
    return mean + (values - drawn_mean) * stretch


def _iterate_drawn_values(
    measure: Measure, placements: Placements, moved: BoolArray, rng: np.random.Generator, share: float = 1.0
) -> Iterator[FloatArray]:
    """Give the values of the moved queries in random orders, of shape (n_moved, n), some orders at a time."""
    n_orders = max(FEWEST, n_draws(placements, moved, share))
    n_cells = _n_cells(placements, moved)
    n_drawn_together = max(1, AT_ONCE // n_cells)
    n_evaluated_together = max(1, IN_CACHE // n_cells)
    placements = measure.contributing(placements).select(moved)
    queries = np.arange(placements.n_queries)
    ties = _find_open_ties(measure, placements, queries)
    rows = find_spans(placements.query, queries)
    in_row_order = above_in_row_order(placements)
    for n_drawn in range(0, n_orders, n_drawn_together):
        n = min(n_drawn_together, n_orders - n_drawn)
        orders = _draw_orders(in_row_order, rows, ties, n, rng)
        for start in range(0, n, n_evaluated_together):
            part = slice(start, start + n_evaluated_together)
            orders_of_part = [Orders(drawn.above[part], drawn.probabilities[part]) for drawn in orders]
            # without a name, which would keep the values in memory while the next ones are made
            yield measure.mean(as_queries(measure, placements, queries, orders_of_part)).reshape(len(queries), -1)


def probability_below(one: DrawnSums, other: DrawnSums) -> tuple[float, float]:
    """Return the probability that `one` is smaller than `other`, independent of it, and its standard error.

    Every drawn sum of one is compared with every one of the other (Mann and Whitney), and the variance is that of the
    two means over drawn sums (DeLong, DeLong and Clarke-Pearson 1988, doi:10.2307/2531595).
    """
    rounding = ROUNDING * max(1.0, np.abs(one.sums).max(), np.abs(other.sums).max())
    above = 1 - np.searchsorted(other.sums, one.sums + rounding, side="right") / len(other.sums)
    below = np.searchsorted(one.sums, other.sums - rounding, side="left") / len(one.sums)
    mean_above, variance_above = one.mean_of(above)
    mean_below, variance_below = other.mean_of(below)
    probability = mean_above + mean_below - float(above.mean())
    fewest = min((len(drawn.sums) for drawn in (one, other) if len(drawn.sums) > 1), default=MOST)
    # What was never seen in n draws may have a probability of 1/n all the same.
    standard_error = max(math.sqrt(variance_above + variance_below), 1 / fewest)
    return min(1.0, max(0.0, probability)), standard_error


def _n_cells(placements: Placements, moved: BoolArray) -> int:
    """Count the documents that one order of the moved queries places."""
    return int(moved[placements.judged_query].sum())


def _draw_orders(
    in_row_order: IntArray,
    rows: list[tuple[int, int]],
    ties: OpenTies,
    n: int,
    rng: np.random.Generator,
) -> list[Orders]:
    """Draw orders of the ties of queries, whose rows are given; ties that look alike are drawn together."""
    above = np.repeat(in_row_order[None], n, axis=0)
    has_one_level = ties.end_level - ties.first_level == 1  # beside the unjudged documents
    looks = np.column_stack((ties.n_judged + ties.n_unjudged, ties.n_judged, has_one_level))
    places_by_look = group_values((look, place) for place, look in enumerate(map(tuple, looks.tolist())))
    for (size, n_judged, are_alike), alike in places_by_look.items():
        places = _draw_places(size, n_judged, n * len(alike), rng, are_alike=are_alike)
        places = places.reshape(len(alike), n, n_judged)
        columns = ties.row[alike][:, None] + np.arange(n_judged)
        above_of_alike = (places + ties.above[alike][:, None, None]).swapaxes(0, 1).reshape(n, -1)
        above[:, columns.ravel()] = above_of_alike
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
    places = rng.integers(size, size=(n, n_judged), dtype=small)
    unchecked = np.arange(n)
    while len(unchecked):
        ascending = np.sort(places[unchecked], axis=1)
        is_taken = np.diff(ascending, axis=1, prepend=small(-1)) == 0
        ascending[is_taken] = rng.integers(size, size=int(is_taken.sum()), dtype=small)
        places[unchecked] = ascending
        unchecked = unchecked[is_taken.any(axis=1)]
    drawn = places.astype(np.int64)
    return drawn if are_alike else rng.permuted(drawn, axis=1)
