"""Orders of ties, listed: the value of a measure in each of them, and how likely it is.

Documents that a measure cannot tell apart are interchangeable, so are the unjudged ones, and so is all that is
below its cutoff: what remains of the orders is listed, every order becomes a query of its own without ties, and one
call of the measure evaluates all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from deadheat.arrays import FloatArray, IntArray, run_starts
from deadheat.measures import Measure
from deadheat.placements.placements import Placements

MAX_ORDERS = 10_000
MAX_QUERIES = 2_000
QUERIES = 20  # orders that are listed in all, as a multiple of those of one query
CELLS = 1 << 22  # documents placed in all orders of all queries: 34 MB a column


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


class Tie(NamedTuple):
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
    max_orders : int, default 10,000
        Most orders of one query; of all queries, 20 times as many.

    Returns
    -------
    list of (values, probabilities), or None
        Of each query, in the order of the listing; None where there are more orders than that, or more than 2,000
        queries: the mean over so many is as good as normal. None too for a measure that sees more than relevance.
    """
    if len(queries) > MAX_QUERIES or not measure.can_list_orders(placements):
        return None
    orders = _list_orders(measure, placements, queries, max_orders)
    if orders is None:
        return None
    ends = np.cumsum([len(found.probabilities) for found in orders])
    values = np.split(measure.mean(as_queries(placements, queries, orders, measure.deepest)), ends[:-1])
    return [(value, found.probabilities) for value, found in zip(values, orders, strict=True)]


def _list_orders(measure: Measure, placements: Placements, queries: IntArray, max_orders: int) -> list[Orders] | None:
    """List the orders of each query, or return None if there are too many."""
    rows, ties = spans(placements.query, queries), ties_that_matter(measure, placements, queries)
    n_judged = np.bincount(placements.judged_query, minlength=placements.n_queries)[queries]
    in_row_order = above_in_row_order(placements)
    listed: list[Orders] = []
    alike: dict[tuple[int, tuple[int, ...]], Orders] = {}
    n_orders, n_cells = QUERIES * max_orders, CELLS
    for query, (start, stop), judged in zip(queries.tolist(), rows, n_judged.tolist(), strict=True):
        most = min(max_orders, n_orders, n_cells // judged)
        found = _orders_of_query(in_row_order[start:stop], start, ties[query], most, alike)
        if found is None:
            return None
        n_orders -= len(found.probabilities)
        n_cells -= len(found.probabilities) * judged
        listed.append(found)
    return listed


def above_in_row_order(placements: Placements) -> IntArray:
    """Return the documents before each row if all ties stay in the order of the rows."""
    starts, places = placements.tie_starts, np.arange(len(placements.query))
    return placements.above + places - np.repeat(starts, np.diff(np.append(starts, len(places))))


def ties_that_matter(measure: Measure, placements: Placements, queries: IntArray) -> dict[int, list[Tie]]:
    """Return, for some queries, the ties whose order makes a difference to a measure."""
    cutoff: int | None = getattr(measure, "cutoff", None)
    starts = placements.tie_starts
    ends = np.append(starts[1:], len(placements.query))
    above, tied = placements.above[starts], placements.tied[starts]
    inside = tied if cutoff is None else np.clip(cutoff - above, 0, tied)
    levels = run_starts(placements.query, placements.above, measure.classes(placements.relevance))
    counts = np.diff(np.append(levels, len(placements.query))).tolist()
    first, last = np.searchsorted(levels, starts), np.searchsorted(levels, ends)
    unjudged, query = tied - (ends - starts), placements.query[starts]
    matters = (inside > 0) & (last - first + (unjudged > 0) > 1) & np.isin(query, queries)
    found: dict[int, list[Tie]] = {code: [] for code in queries.tolist()}
    columns = (query, starts, above, inside, first, last, unjudged)
    for code, row, before, ranks, level, end, others in np.column_stack(columns)[matters].tolist():
        found[code].append(Tie(row, before, ranks, (*counts[level:end], others)))
    return found


def _orders_of_query(
    in_row_order: IntArray, start: int, ties: list[Tie], most: int, alike: dict[tuple[int, tuple[int, ...]], Orders]
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


def as_queries(placements: Placements, queries: IntArray, orders: list[Orders], deepest: int | None) -> Placements:
    """Return placements without ties in which every order of every query is a query, down to the deepest rank."""
    n_orders = np.array([len(found.probabilities) for found in orders])
    rows, judged = spans(placements.query, queries), spans(placements.judged_query, queries)
    ranked = [np.argsort(found.above, axis=1)[:, :deepest] for found in orders]
    sorted_rows = np.concatenate([(rank + start).ravel() for rank, (start, _) in zip(ranked, rows, strict=True)])
    above = [np.take_along_axis(found.above, rank, axis=1).ravel() for found, rank in zip(orders, ranked, strict=True)]
    judgments = [np.tile(np.arange(*span), n) for span, n in zip(judged, n_orders.tolist(), strict=True)]
    codes = np.arange(n_orders.sum())
    return replace(
        placements,
        query_ids=np.repeat(placements.query_ids[queries], n_orders),
        n_retrieved=np.repeat(placements.n_retrieved[queries], n_orders),
        query=np.repeat(codes, np.repeat([rank.shape[1] for rank in ranked], n_orders)),
        doc_ids=placements.doc_ids[sorted_rows],
        relevance=placements.relevance[sorted_rows],
        above=np.concatenate(above),
        tied=np.ones(len(sorted_rows), np.int64),
        judged_query=np.repeat(codes, np.repeat([stop - start for start, stop in judged], n_orders)),
        judged_relevance=placements.judged_relevance[np.concatenate(judgments)],
    )


def spans(codes: IntArray, queries: IntArray) -> list[tuple[int, int]]:
    """Return where the elements of each query start and stop in ascending codes."""
    return list(zip(*np.searchsorted(codes, [queries, queries + 1]).tolist(), strict=True))
