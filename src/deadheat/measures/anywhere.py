"""Bounds over places: the least and greatest value if some documents of a run could be anywhere in its list.

They are the documents that a judge, whose grades rank the list, gave no grade. All others keep their order and their
ties; each of these may be above, below or inside each tie. No judgment changes, so neither does any divisor.

A measure that has bounds over unjudged documents never falls if the more relevant of two documents gets the higher of
their ranks. So its greatest value has these documents in the order of their relevance: those that nothing in the list
exceeds are first, those without a gain last. Only of the others all places in the list are tried: above and below the
judged documents, and in their ties. The least value has everything the other way round.
"""

from dataclasses import replace
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from deadheat.arrays import BoolArray, FloatArray, IntArray
from deadheat.measures.base import Measure
from deadheat.measures.cascade import ERR
from deadheat.measures.gains import GainMeasure, gains_of
from deadheat.measures.unjudged import Ends, has_ends
from deadheat.placements.placements import Placements

MOST = 2_000  # combinations of places that are tried for a query


def ends_anywhere(
    measure: Measure, placements: Placements, is_open: BoolArray, n_open: IntArray, values: FloatArray
) -> Ends:
    """Return the least and the greatest value of each query over all places of some documents.

    Parameters
    ----------
    measure : Measure
    placements : Placements
        With these documents behind all others.
    is_open : ndarray of bool, shape (n_rows,)
        Which judged documents they are.
    n_open : ndarray of int, shape (n_queries,)
        How many there are of each query, judged or not.
    values : ndarray of float, shape (n_queries,)
        Of queries without such a document, and of measures without bounds.

    Returns
    -------
    low, high : ndarray of shape (n_queries,)
        Exact, and values of some places, unless more than 2,000 combinations were to be tried for a query: then these
        documents count as the most relevant of the list, or as not relevant, which only makes the range wider.

    Examples
    --------
    >>> from deadheat import RR, place
    >>> placements = place({"q": {"b": 1}}, {"q": {"a": 2, "c": 2, "b": 0}})
    >>> low, high = ends_anywhere(RR(), placements, np.array([True]), np.array([1]), np.zeros(1))
    >>> low.round(4).tolist(), high.tolist()
    ([0.3333], [1.0])
    """
    low, high = values.copy(), values.copy()
    for code in np.flatnonzero(n_open).tolist() if has_ends(measure) else ():
        own, rows = placements.select(np.array([code])), is_open[placements.query == code]
        low[code], high[code] = (_end(measure, own, rows, int(n_open[code]), best=best) for best in (False, True))
    return low, high


def _end(measure: Measure, own: Placements, is_open: BoolArray, n_open: int, *, best: bool) -> float:
    """Return one end of one query."""
    levels = _levels(measure, own.relevance)
    highest = levels[~is_open].max(initial=0.0)
    order = np.flatnonzero(is_open)
    order = order[np.argsort(-levels[order] if best else levels[order], kind="stable")]
    is_top, is_none = levels[order] >= highest, levels[order] <= 0
    is_first, is_last = (is_top, is_none & ~is_top) if best else (is_none, is_top & ~is_none)
    first, middle, last = order[is_first], order[~is_first & ~is_last], order[is_last]
    n_kept = int(own.n_retrieved[0]) - n_open
    start, width = _slots(own.above[~is_open], own.tied[~is_open], n_kept, best=best)
    if comb(len(start) + len(middle) - 1, len(middle)) > MOST:
        return _outer_end(measure, own, is_open, n_open, middle=middle, best=best)
    chosen = np.array(list(combinations_with_replacement(range(len(start)), len(middle))), np.int64)
    n_above = len(first) + (0 if best else n_open - len(order))  # unjudged ones are first where nothing is to be gained
    above, tied = (np.tile(column, (len(chosen), 1)) for column in (own.above + n_above, own.tied))
    tied[:, order] = 1
    above[:, first] = n_above - len(first) + np.arange(len(first))
    above[:, last] = n_above + n_kept + len(middle) + np.arange(len(last))
    at, wide = start[chosen], width[chosen]
    kept = np.flatnonzero(~is_open)
    above[:, kept] += ((at + (wide > 0))[:, :, None] <= own.above[kept]).sum(1)
    tied[:, kept] += ((wide > 0)[:, :, None] & (at[:, :, None] == own.above[kept])).sum(1)
    earlier = (chosen[:, None, :] < chosen[:, :, None]).sum(2)
    together = (chosen[:, None, :] == chosen[:, :, None]).sum(2)
    above[:, middle] = n_above + at + np.where(wide > 0, earlier, np.arange(len(middle)))
    tied[:, middle] = np.where(wide > 0, wide + together, 1)
    copies = own.select(np.zeros(len(chosen), np.int64))
    found = measure.mean(_placed(copies, above.ravel(), tied.ravel()))
    return float(found.max() if best else found.min())


def _levels(measure: Any, relevance: FloatArray) -> FloatArray:  # noqa: ANN401 - any measure with bounds
    """Return what a measure sees of each relevance, from 0 on."""
    if isinstance(measure, GainMeasure):
        return gains_of(measure.gain, relevance)
    if isinstance(measure, ERR) or getattr(measure, "graded", False):
        return np.maximum(relevance, 0.0)
    return (relevance >= measure.rel).astype(np.float64)


def _slots(above: IntArray, tied: IntArray, n_kept: int, *, best: bool) -> tuple[IntArray, IntArray]:
    """Return the places to try, from the first to the last: documents above, and those of a tie, 0 for between ties.

    Between unjudged documents it is better to be higher, and worse to be lower: only next to a judged one it may turn.
    """
    edges = np.append(0, above + tied) if best else np.append(above, n_kept)
    slots = {(edge, 0) for edge in edges.tolist()}
    slots |= {(place, size) for place, size in zip(above.tolist(), tied.tolist(), strict=True) if size > 1}
    start, width = np.array(sorted(slots)).T
    return start, width


def _placed(copies: Placements, above: IntArray, tied: IntArray) -> Placements:
    """Return placements with the same documents at other ranks."""
    order = np.lexsort((-copies.relevance, above, copies.query))
    return replace(copies.rows(order), above=above[order], tied=tied[order])


def _outer_end(
    measure: Measure, own: Placements, is_open: BoolArray, n_open: int, *, middle: IntArray, best: bool
) -> float:
    """Return one end with documents of a middle relevance as the most relevant ones, or as unjudged."""
    if getattr(measure, "ideal", "") == "retrieved":  # which other labels would change
        return float(best)
    if not best:
        kept = np.delete(np.arange(len(is_open)), middle)
        return _end(measure, own.rows(kept), is_open[kept], n_open, best=best)
    relevance = own.relevance.copy()
    relevance[middle] = own.relevance[~is_open][_levels(measure, own.relevance[~is_open]).argmax()]
    return _end(measure, replace(own, relevance=relevance), is_open, n_open, best=best)
