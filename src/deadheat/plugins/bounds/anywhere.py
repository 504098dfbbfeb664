"""Bounds over places: the least and greatest value if some documents of a run could be anywhere in its list.

They are the documents that a judge, whose grades rank the list, gave no grade. All others keep their order and their
ties; each of these may be above, below or inside each tie. No judgment changes, so neither does any divisor.

A measure that has bounds over unjudged documents never falls if the more relevant of two documents gets the higher of
their ranks. So its greatest value has these documents in the order of their relevance: those that nothing in the list
exceeds are first, those without a gain last. Only of the others all places in the list are tried: above and below the
judged documents, and in their ties. The least value has everything the other way round.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.libraries import polars as pl
from deadheat.core.measures.base import Measure
from deadheat.core.measures.discounted import nDCG
from deadheat.core.placements.beside import join_codes
from deadheat.core.placements.placements import Placements
from deadheat.plugins.bounds.ends import Ends, has_ends, levels_of


def ungraded_rows(placements: Placements, failures: pl.DataFrame) -> tuple[BoolArray, IntArray]:
    """Return which rows are of documents that a judge gave no grade, and how many of these each query has.

    Parameters
    ----------
    placements : Placements
    failures : polars.DataFrame
        query_id and doc_id; all are retrieved.
    """
    rows = placements.pairs(np.arange(len(placements.query))).with_row_index("row")
    is_open = np.zeros(len(rows), np.bool_)
    is_open[rows.join(failures, on=["query_id", "doc_id"], how="semi")["row"].to_numpy()] = True
    query = join_codes(failures, placements.query_ids.tolist())["code"].to_numpy()
    return is_open, np.bincount(query, minlength=placements.n_queries).astype(np.int64)


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
        For queries without such a document, and for measures without bounds.

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
    levels = levels_of(measure, own.relevance)
    highest = levels[~is_open].max(initial=0.0)
    order = np.flatnonzero(is_open)
    order = order[np.argsort(-levels[order] if best else levels[order], kind="stable")]
    is_top, is_none = levels[order] >= highest, levels[order] <= 0
    is_first, is_last = (is_top, is_none & ~is_top) if best else (is_none, is_top & ~is_none)
    first, middle, last = order[is_first], order[~is_first & ~is_last], order[is_last]
    n_kept = int(own.n_retrieved[0]) - n_open
    slots = _slots(own.above[~is_open], own.tied[~is_open], n_kept, best=best)
    if comb(len(slots) + len(middle) - 1, len(middle)) > MOST:
        return _outer_end(measure, own, is_open, n_open, middle=middle, best=best)
    chosen = list(combinations_with_replacement(slots, len(middle)))
    above, tied = _in_slots(own, middle, np.reshape(chosen, (len(chosen), len(middle), 2)).astype(np.int64))
    n_above = len(first) + (0 if best else n_open - len(order))  # unjudged ones are first where nothing is to be gained
    above += n_above
    above[:, first] = n_above - len(first) + np.arange(len(first))
    above[:, last] = n_above + n_kept + len(middle) + np.arange(len(last))
    tied[:, [*first, *last]] = 1
    found = measure.mean(_placed(own.select(np.zeros(len(chosen), np.int64)), above.ravel(), tied.ravel()))
    return float(found.max() if best else found.min())


def _in_slots(own: Placements, rows: IntArray, slots: IntArray) -> tuple[IntArray, IntArray]:
    """Return the documents above and tied of each row of a query, with some of them moved to slots among those kept.

    Parameters
    ----------
    own : Placements
        Of one query, with the rows that move behind all others.
    rows : ndarray of int, shape (n_moved,)
    slots : ndarray of int, shape (n_lists, n_moved, 2)
        The slot of each row that moves, from the first to the last; in one between ties they are one after the other.

    Returns
    -------
    above, tied : ndarray of int, shape (n_lists, n_rows)
    """
    above, tied = (np.tile(column, (len(slots), 1)) for column in (own.above, own.tied))
    start, size = slots[..., 0], slots[..., 1]
    for n in range(len(rows)):
        at, is_tie = start[:, n, np.newaxis], size[:, n, np.newaxis] > 0
        tied += is_tie & (own.above == at)  # the tie grows, and only what is below it moves down
        above += own.above >= at + is_tie
    for n, row in enumerate(rows.tolist()):
        together, is_tie = (slots == slots[:, n, np.newaxis]).all(2), size[:, n] > 0
        above[:, row] = start[:, n] + np.where(is_tie, together.argmax(1), n)
        tied[:, row] = np.where(is_tie, size[:, n] + together.sum(1), 1)
    return above, tied


def _slots(above: IntArray, tied: IntArray, n_kept: int, *, best: bool) -> list[tuple[int, int]]:
    """Return the places to try, from the first to the last: documents above, and those of a tie, 0 for between ties.

    Among unjudged documents, a higher place is never worse; only next to a judged one may that change.
    """
    edges = np.append(0, above + tied) if best else np.append(above, n_kept)
    of_ties = {(place, size) for place, size in zip(above.tolist(), tied.tolist(), strict=True) if size > 1}
    return sorted({(edge, 0) for edge in edges.tolist()} | of_ties)


def _placed(copies: Placements, above: IntArray, tied: IntArray) -> Placements:
    """Return placements with the same documents at other ranks."""
    order = np.lexsort((-copies.relevance, above, copies.query))
    return replace(copies.rows(order), above=above[order], tied=tied[order])


def _outer_end(
    measure: Measure, own: Placements, is_open: BoolArray, n_open: int, *, middle: IntArray, best: bool
) -> float:
    """Return one end with documents of a middle relevance as the most relevant ones, or as unjudged."""
    if isinstance(measure, nDCG) and measure.ideal == "retrieved":  # which other labels would change
        return float(best)
    if not best:
        kept = np.delete(np.arange(len(is_open)), middle)
        return _end(measure, own.rows(kept), is_open[kept], n_open, best=best)
    relevance = own.relevance.copy()
    relevance[middle] = own.relevance[~is_open][levels_of(measure, own.relevance[~is_open]).argmax()]
    return _end(measure, replace(own, relevance=relevance), is_open, n_open, best=best)
