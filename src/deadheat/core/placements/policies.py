"""Tie policies: each turns placements into placements, so that measures need not know about it."""

from dataclasses import replace

import numpy as np

from deadheat.core.arrays import FloatArray, concatenated_ranges
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError
from deadheat.core.placements.place import Engine
from deadheat.core.placements.placements import Placements
from deadheat.core.random_generators import Rng, random_generator

LOOK_AT_RUN = ("doc_id", "input")
POLICIES = ("expected", "best", "worst")  # whose order, or mean over orders, is known without the run


def arrange(placements: Placements, key: FloatArray, *, best: bool) -> Placements:
    """Break every tie in favour of the documents with a high `key`, or against them.

    Parameters
    ----------
    placements : Placements
    key : ndarray of shape (n_rows,)
        Judged documents are ordered by it; unjudged ones come after them (`best`) or before them.
    best : bool

    Returns
    -------
    Placements
        Without ties among judged documents.
    """
    found = _ordered(placements.rows(np.lexsort((-key, placements.above, placements.query))), best=best)
    return replace(found, before=placements.before or replace(placements))


def around_unjudged(placements: Placements, key: FloatArray) -> Placements:
    """Break every tie by `key`, the highest first: unjudged documents come after 0, and before what is below it.

    Parameters
    ----------
    placements : Placements
    key : ndarray of shape (n_rows,)
    """
    rows = np.lexsort((-key, placements.above, placements.query))
    found = _ordered(placements.rows(rows), best=True)
    n_others = placements.tied - np.repeat(placements.tie_sizes, placements.tie_sizes)  # the same in all of a tie
    return replace(found, above=np.where(key[rows] < 0, found.above + n_others, found.above))


def arrange_by_weight(placements: Placements, key: FloatArray, weights: FloatArray) -> Placements:
    """Break every tie so that the documents with a high `key` are at the ranks with a large weight.

    No other order has a larger sum of key times weight, by the rearrangement inequality.

    Parameters
    ----------
    placements : Placements
    key : ndarray of shape (n_rows,)
        Of any sign; that of unjudged documents is 0.
    weights : ndarray of shape (n_ranks,)
        Of the ranks from 1 on, of any sign and in any order; ranks below them have 0.
    """
    starts, sizes = placements.tie_starts, placements.tie_sizes
    above, tied = placements.above[starts], placements.tied[starts]
    rank = concatenated_ranges(above, tied)
    weight = np.append(weights, 0.0)[np.minimum(rank, len(weights))]
    tie = np.repeat(np.arange(len(starts)), tied)
    by_weight = rank[np.lexsort((rank, -weight, tie))]
    ordered = around_unjudged(placements, key)
    place = ordered.above - np.repeat(above, sizes)  # in its tie, by the key
    first = np.cumsum(tied) - tied
    return ordered.moved(by_weight[np.repeat(first, sizes) + place])


def extreme(placements: Placements, *, best: bool) -> Placements:
    """Put judged documents first in their tie, the highest relevance first; or last, the lowest relevance first."""
    if not placements.have_ties:
        return placements  # what measures have found of them holds here too
    return placements.cached(("extreme", best), lambda: _ordered(placements, best=best))


def _ordered(placements: Placements, *, best: bool) -> Placements:
    """Break every tie in the order of its rows, without a sort; `best` or not as for :func:`arrange`."""
    first, n_judged = placements.tie_starts, placements.tie_sizes
    row = np.arange(len(placements.query))
    above = placements.above + row - np.repeat(first, n_judged)
    ordered = placements
    if not best:  # after the unjudged documents of the tie, and the rows of each tie from its end
        above += placements.tied - np.repeat(n_judged, n_judged)
        last = first + n_judged - 1
        ordered = placements.rows(np.repeat(first + last, n_judged) - row)
    return replace(ordered, above=above, tied=np.ones_like(above), before=placements.before or replace(placements))


def draw(placements: Placements, rng: Rng) -> Placements:
    """Draw an order of every tie; all orders are equally likely.

    Parameters
    ----------
    placements : Placements
    rng : numpy.random.Generator or int, optional
        The same state gives the same order.
    """
    drawn = random_generator(rng)
    starts, sizes = placements.tie_starts, placements.tie_sizes
    tied = placements.tied[starts]
    group = np.repeat(np.arange(len(starts)), tied)
    order = np.lexsort((drawn.random(len(group)), group))
    begin = np.cumsum(tied) - tied
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(begin, tied)
    within = np.arange(len(placements.query)) - np.repeat(starts, sizes)
    return placements.moved(placements.above + rank[np.repeat(begin, sizes) + within])


def check_row_order(run: Run, ties: str) -> None:
    """Raise `DataError` if a policy needs the order of the rows and their engine has none."""
    if ties == "input" and not run.rows.in_polars:
        raise DataError(
            f"ties='input' needs rows that have an order, and those of {run.where} do not",
            hint="use a file, a dict or an eager frame",
        )


def by_rule(placements: Placements, engine: Engine, rule: str) -> Placements:
    """Break ties by document id, as trec_eval (descending, by UTF-8 bytes), or by input order.

    Parameters
    ----------
    placements : Placements
        Those of the engine, or of some of its queries.
    engine : Engine
    rule : {"doc_id", "input"}
    """
    tied = np.flatnonzero(placements.tied > 1)
    above = placements.above.copy()
    if len(tied):
        above[tied] += engine.count_first(placements, tied, rule)
    return placements.moved(above)


def apply(placements: Placements, ties: str, rng: Rng = None, engine: Engine | None = None) -> Placements:
    """Apply a policy; those that look at the run need the engine of the placements."""
    if engine is not None and ties in LOOK_AT_RUN:
        return by_rule(placements, engine, ties)
    if ties in {"best", "worst"}:
        return extreme(placements, best=ties == "best")
    return draw(placements, rng) if ties == "random" else placements
