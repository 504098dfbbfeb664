"""Random tie-breaks and the sign of a difference: which of two systems is ahead may depend on the order of ties alone.

The ties of two systems and of different queries are broken independently. Where the orders of each query can be listed
and the sums over queries take few distinct values, the distribution of a sum is exact: a convolution of the queries'
own distributions. Elsewhere the mean over queries is close to normal, and its variance is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deadheat.arrays import run_starts
from deadheat.kernels.segments import segment_sums

if TYPE_CHECKING:
    from deadheat.arrays import BoolArray, FloatArray, IntArray
    from deadheat.measures import Measure
    from deadheat.placement import Placements

MAX_ORDERS = 10_000
MAX_VALUES = 200_000
QUERIES = 20  # orders that are listed in all, as a multiple of those of one query
PAIRS = 20  # sums of two values that are formed in all, as a multiple of the values that may be left
CELLS = 1 << 22  # documents placed in all orders of all queries: 34 MB a column
ROUNDING = 1e-12  # relative: sums closer than this are equal in theory


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution on finitely many values.

    Attributes
    ----------
    values : ndarray of float, shape (n,)
        Ascending, and further apart than rounding errors.
    probabilities : ndarray of float, shape (n,)
    """

    values: FloatArray
    probabilities: FloatArray


@dataclass(frozen=True)
class Flip:
    """How likely a random tie-break turns the sign of a difference.

    Attributes
    ----------
    probability : float
        Of the strictly opposite sign; NaN where there is no difference to turn.
    can_flip : bool
        Whether some order of the ties gives the opposite sign (without a difference: one sign as well as the other).
    method : {"exact", "normal", "none"}
        From the exact distributions or extremes, from a normal one of the exact variance, or nothing to compute: no
        difference, or no tie that can move it.
    """

    probability: float
    can_flip: bool
    method: str


@dataclass(frozen=True, eq=False)
class _Orders:
    """Orders that a measure can tell apart.

    Attributes
    ----------
    above : ndarray of int, shape (n_orders, n_rows)
        Documents before each judged one: in its tie or in its query.
    probabilities : ndarray of float, shape (n_orders,)
    """

    above: IntArray
    probabilities: FloatArray


def flip(
    difference: float,
    tie_variance: float,
    lowest: float,
    highest: float,
    distributions: tuple[Distribution, Distribution] | None = None,
) -> Flip:
    r"""Return the probability that random tie-breaks of both systems turn the sign of their difference.

    .. math:: \Pr[\operatorname{sign}(d) \cdot D < 0], \quad D \approx N(d, \sigma^2)

    where the distribution of D is not known. A tie-break that leaves no difference turns no sign, but the normal
    approximation counts half of those. Between rankings of 25 queries by LLM grades it is off by up to 0.003 for
    nDCG@10 and AP, which hardly ever leave none, and by up to 0.05 for RR and P@10, which take few values.

    Parameters
    ----------
    difference : float
        Exact mean difference, system less baseline, over all tie orders: d.
    tie_variance : float
        Variance of the difference over random tie-breaks.
    lowest, highest : float
        Exact extremes of the difference over tie orders.
    distributions : tuple of Distribution, optional
        Of the sums of system and baseline over the same queries, as :func:`sum_distribution` gives them.

    Returns
    -------
    Flip

    Examples
    --------
    The sums are 0.5 or 1, and 0.5 or 1.5: the system is ahead in one case of four.

    >>> system = Distribution(np.array([0.5, 1.0]), np.array([0.5, 0.5]))
    >>> baseline = Distribution(np.array([0.5, 1.5]), np.array([0.5, 0.5]))
    >>> flip(-0.25, 0.3125, -1.0, 0.5, (system, baseline))
    Flip(probability=0.25, can_flip=True, method='exact')
    >>> flip(-0.25, 0.3125, -1.0, 0.5).method
    'normal'
    """
    equal = ROUNDING * max(1.0, abs(lowest), abs(highest))
    if not abs(difference) >= equal:  # equal, or NaN
        return Flip(math.nan, can_flip=False, method="none")
    if highest - lowest < equal:
        return Flip(0.0, can_flip=False, method="none")
    if (lowest if difference > 0 else -highest) > -equal:
        return Flip(0.0, can_flip=False, method="exact")
    if distributions is not None:
        system, baseline = distributions
        ahead, behind = (system, baseline) if difference > 0 else (baseline, system)
        return Flip(_probability_below(ahead, behind), can_flip=True, method="exact")
    from scipy.special import ndtr

    deviations = abs(difference) / math.sqrt(tie_variance) if tie_variance > 0 else math.inf
    return Flip(float(ndtr(-deviations)), can_flip=True, method="normal")


def _probability_below(one: Distribution, other: Distribution) -> float:
    """Return the probability that `one` is smaller than `other`, which is independent of it."""
    rounding = ROUNDING * max(np.abs(one.values).max(), np.abs(other.values).max())
    cumulative = np.concatenate(([0.0], np.cumsum(one.probabilities)))
    n_below = np.searchsorted(one.values, other.values - rounding)
    return min(1.0, float(cumulative[n_below] @ other.probabilities))


def sum_distribution(
    measure: Measure,
    placements: Placements,
    keep: BoolArray,
    *,
    max_orders: int = MAX_ORDERS,
    max_values: int = MAX_VALUES,
) -> Distribution | None:
    """Return the exact distribution of a measure's sum over queries when each query's ties are broken at random.

    Documents that the measure cannot tell apart are interchangeable, so are the unjudged ones, and so is all that
    stands below its cutoff: what remains of the orders is listed, every order becomes a query of its own without ties,
    and one call of the measure evaluates all of them.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        From before any tie policy.
    keep : ndarray of bool, shape (n_queries,)
        The queries to sum over; the measure has a value for each.
    max_orders : int, default 10,000
        Most orders of one query; of all queries, 20 times as many.
    max_values : int, default 200,000
        Most distinct sums, also over the first queries alone; 20 times as many may be formed on the way.

    Returns
    -------
    Distribution or None
        None where there are more orders or sums than that.

    Examples
    --------
    >>> from deadheat import RR, place
    >>> placements = place({"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}})
    >>> found = sum_distribution(RR(), placements, np.array([True]))
    >>> found.values.tolist(), found.probabilities.tolist()
    ([0.5, 1.0], [0.5, 0.5])
    """
    mean = measure.mean(placements)
    moved = keep & (measure.variance(placements) > (ROUNDING * np.maximum(1.0, np.abs(mean))) ** 2)
    queries = np.flatnonzero(moved)
    # Each of them has two values or more, so that the first i have i + 1 sums or more.
    if len(queries) ** 2 > PAIRS * max_values:
        return None
    fixed = Distribution(mean[keep & ~moved].sum(keepdims=True), np.ones(1))
    if not len(queries):
        return fixed
    alike = replace(placements, relevance=measure.classes(placements.relevance))
    orders = _list_orders(alike, queries, getattr(measure, "cutoff", None), max_orders)
    if orders is None:
        return None
    ends = np.cumsum([len(found.probabilities) for found in orders])
    values = np.split(measure.mean(_as_queries(placements, queries, orders)), ends[:-1])
    parts = [_merged(value, found.probabilities) for value, found in zip(values, orders, strict=True)]
    return _convolved(fixed, parts, max_values)


def _convolved(total: Distribution, parts: list[Distribution], max_values: int) -> Distribution | None:
    """Return the distribution of the sum of independent values, or None if it has too many."""
    n_pairs = 0
    for part in parts:
        n_pairs += len(part.values) * len(total.values)
        if n_pairs > PAIRS * max_values:
            return None
        sums = part.values[:, None] + total.values  # sorted rows: the stable sort merges them
        total = _merged(sums.ravel(), np.outer(part.probabilities, total.probabilities).ravel())
        if len(total.values) > max_values:
            return None
    return total


def _merged(values: FloatArray, probabilities: FloatArray) -> Distribution:
    """Sort values and add the probabilities of those that differ by rounding errors."""
    order = np.argsort(values, kind="stable")
    ascending = values[order]
    rounding = ROUNDING * max(abs(ascending[0]), abs(ascending[-1]))
    starts = np.flatnonzero(np.diff(ascending, prepend=-np.inf) > rounding)
    return Distribution(ascending[starts], segment_sums(probabilities[order], starts))


def _list_orders(
    placements: Placements, queries: IntArray, cutoff: int | None, max_orders: int
) -> list[_Orders] | None:
    """List the orders of each query, or return None if there are too many."""
    bounds = np.searchsorted(placements.query, [queries, queries + 1]).T
    n_judged = np.bincount(placements.judged_query, minlength=placements.n_queries)[queries]
    listed: list[_Orders] = []
    shapes: dict[tuple[int, ...], _Orders] = {}
    n_orders, n_cells = QUERIES * max_orders, CELLS
    for (start, stop), judged in zip(bounds.tolist(), n_judged.tolist(), strict=True):
        most = min(max_orders, n_orders, n_cells // judged)
        found = _orders_of_query(placements, slice(start, stop), cutoff, most, shapes)
        if found is None:
            return None
        n_orders -= len(found.probabilities)
        n_cells -= len(found.probabilities) * judged
        listed.append(found)
    return listed


def _orders_of_query(
    placements: Placements, rows: slice, cutoff: int | None, most: int, shapes: dict[tuple[int, ...], _Orders]
) -> _Orders | None:
    """Combine the orders of a query's ties; `shapes` remembers those of ties that look alike."""
    first, tied, relevance = placements.above[rows], placements.tied[rows], placements.relevance[rows]
    starts = run_starts(first)
    sizes = np.diff(np.append(starts, len(first)))
    # Whatever is not listed stays in the order of the rows: it makes no difference.
    above = (first + np.arange(len(first)) - np.repeat(starts, sizes))[None]
    probabilities = np.ones(1)
    inside = tied[starts] if cutoff is None else np.clip(cutoff - first[starts], 0, tied[starts])
    for tie in np.flatnonzero((tied[starts] > 1) & (inside > 0)).tolist():
        columns = slice(starts[tie], starts[tie] + sizes[tie])
        levels = np.diff(np.append(run_starts(relevance[columns]), sizes[tie])).tolist()
        shape = (int(inside[tie]), *levels, int(tied[starts[tie]] - sizes[tie]))
        found = shapes.get(shape) or _orders_of_tie(shape[1:], shape[0], most)
        n_before = len(probabilities)
        if found is None or n_before * len(found.probabilities) > most:
            return None
        shapes[shape] = found
        above = np.repeat(above, len(found.probabilities), axis=0)
        above[:, columns] = np.tile(first[starts[tie]] + found.above, (n_before, 1))
        probabilities = np.outer(probabilities, found.probabilities).ravel()
    return _Orders(above, probabilities)


def _orders_of_tie(counts: tuple[int, ...], inside: int, most: int) -> _Orders | None:
    """List what can stand on the first ranks of a tie, rank by rank.

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
    standing = np.hstack((_traced(steps, np.arange(n_orders)), beyond)).astype(np.int16)  # sorts faster
    return _Orders(np.argsort(standing, axis=1, kind="stable")[:, : size - counts[-1]], probabilities)


def _traced(steps: list[tuple[IntArray, IntArray]], order: IntArray) -> IntArray:
    """Return what stands on each rank, of shape (n_orders, n_steps), from the order before each step and its choice."""
    ranks = []
    for parent, level in reversed(steps):
        ranks.append(level[order])
        order = parent[order]
    return np.column_stack(ranks[::-1])


def _as_queries(placements: Placements, queries: IntArray, orders: list[_Orders]) -> Placements:
    """Return placements without ties in which every order of every query is a query."""
    n_orders = np.array([len(found.probabilities) for found in orders])
    rows, judged = _spans(placements.query, queries), _spans(placements.judged_query, queries)
    ranked = [np.argsort(found.above, axis=1) for found in orders]
    sorted_rows = np.concatenate([(rank + start).ravel() for rank, (start, _) in zip(ranked, rows, strict=True)])
    above = [np.take_along_axis(found.above, rank, axis=1).ravel() for found, rank in zip(orders, ranked, strict=True)]
    judgments = [np.tile(np.arange(*span), n) for span, n in zip(judged, n_orders.tolist(), strict=True)]
    codes = np.arange(n_orders.sum())
    return replace(
        placements,
        query_ids=np.repeat(placements.query_ids[queries], n_orders),
        n_retrieved=np.repeat(placements.n_retrieved[queries], n_orders),
        query=np.repeat(codes, np.repeat([stop - start for start, stop in rows], n_orders)),
        doc_ids=placements.doc_ids[sorted_rows],
        relevance=placements.relevance[sorted_rows],
        above=np.concatenate(above),
        tied=np.ones(len(sorted_rows), np.int64),
        judged_query=np.repeat(codes, np.repeat([stop - start for start, stop in judged], n_orders)),
        judged_relevance=placements.judged_relevance[np.concatenate(judgments)],
        _cache={},
    )


def _spans(codes: IntArray, queries: IntArray) -> list[tuple[int, int]]:
    """Return where the elements of each query start and stop in ascending codes."""
    starts, stops = np.searchsorted(codes, queries).tolist(), np.searchsorted(codes, queries + 1).tolist()
    return list(zip(starts, stops, strict=True))
