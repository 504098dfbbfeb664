"""Tie policies: each takes placements and returns placements, so that measures need not know of policies."""

from dataclasses import replace

import numpy as np

from deadheat.core.arrays import FloatArray, concatenate_ranges
from deadheat.core.data.run import Run
from deadheat.core.errors import DataError
from deadheat.core.phases import phase
from deadheat.core.placements.place import Engine
from deadheat.core.placements.placements import Placements, find_before_policy
from deadheat.core.random_generators import Rng, random_generator

LOOK_AT_RUN = ("doc_id", "input")  # policies that need the rows of the run
POLICIES = ("expected", "best", "worst")  # policies that placements are enough for


def apply(placements: Placements, ties: str, rng: Rng = None, engine: Engine | None = None) -> Placements:
    """Return the placements under a tie policy.

    Parameters
    ----------
    placements : Placements
    ties : {"expected", "best", "worst", "doc_id", "input", "random"}
    rng : numpy.random.Generator or int, optional
        For "random".
    engine : Engine, optional
        That of the placements, for "doc_id" and "input". Without it they leave the placements as they are.
    """
    if engine is not None and ties in LOOK_AT_RUN:
        return break_by_rule(placements, engine, ties)
    if ties == "best":
        return arrange_extreme(placements, best=True)
    if ties == "worst":
        return arrange_extreme(placements, best=False)
    if ties == "random":
        return draw_orders(placements, rng)
    return placements


def check_row_order(run: Run, ties: str) -> None:
    """Raise `DataError` if a policy needs the order of the rows and their engine has none."""
    if ties == "input" and not run.rows.in_polars:
        raise DataError(
            f"ties='input' needs rows that have an order, and those of {run.where} do not",
            hint="use a file, a dict or an eager frame",
        )


def break_by_rule(placements: Placements, engine: Engine, rule: str) -> Placements:
    """Break ties by document id, as trec_eval (descending, by UTF-8 bytes), or by input order.

    Parameters
    ----------
    placements : Placements
        Those of the engine, or of some of its queries.
    engine : Engine
    rule : {"doc_id", "input"}
    """
    tied_rows = np.flatnonzero(placements.tied > 1)
    above = placements.above.copy()
    if len(tied_rows):
        with phase(f"breaking ties by {rule}"):
            above[tied_rows] += engine.count_first(placements, tied_rows, rule)
    return placements.moved(above)


def arrange_extreme(placements: Placements, *, best: bool) -> Placements:
    """Put judged documents first in their tie, the highest relevance first; or last, the lowest relevance first."""
    if not placements.have_ties:
        return placements  # so that results which measures have cached are used again
    return placements.cached(("extreme", best), lambda: _arrange_rows(placements, best=best))


def draw_orders(placements: Placements, rng: Rng) -> Placements:
    """Draw an order of every tie; all orders are equally likely.

    Parameters
    ----------
    placements : Placements
    rng : numpy.random.Generator or int, optional
        The same state gives the same order.
    """
    generator = random_generator(rng)
    starts = placements.tie_starts
    n_judged = placements.tie_sizes
    tied = placements.tied[starts]
    # one entry for each document of each tie, judged or not; sorted by random keys within the tie, they have its ranks
    tie = np.repeat(np.arange(len(starts)), tied)
    order = np.lexsort((generator.random(len(tie)), tie))
    first = np.cumsum(tied) - tied  # the first entry of each tie
    rank_in_tie = np.empty(len(tie), np.int64)
    rank_in_tie[order] = np.arange(len(tie)) - np.repeat(first, tied)
    # the judged documents of a tie take its first entries
    place_in_tie = np.arange(len(placements.query)) - np.repeat(starts, n_judged)
    entry = np.repeat(first, n_judged) + place_in_tie
    return placements.moved(placements.above + rank_in_tie[entry])


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
    rows = np.lexsort((-key, placements.above, placements.query))
    arranged = _arrange_rows(placements.rows(rows), best=best)
    return replace(arranged, before=find_before_policy(placements))


def arrange_around_unjudged(placements: Placements, key: FloatArray) -> Placements:
    """Break every tie by `key`, the highest first; unjudged documents come before negative keys, after all others.

    Parameters
    ----------
    placements : Placements
    key : ndarray of shape (n_rows,)
    """
    rows = np.lexsort((-key, placements.above, placements.query))
    arranged = _arrange_rows(placements.rows(rows), best=True)
    # of each row's tie; as it is the same for all rows of a tie, the order of these does not matter
    n_unjudged = placements.tied - np.repeat(placements.tie_sizes, placements.tie_sizes)
    above = np.where(key[rows] < 0, arranged.above + n_unjudged, arranged.above)
    return replace(arranged, above=above)


def arrange_by_weight(placements: Placements, key: FloatArray, weights: FloatArray) -> Placements:
    """Break every tie so that the documents with a high `key` are at the ranks with a large weight.

    No other order has a larger sum of key times weight, by the rearrangement inequality.

    Parameters
    ----------
    placements : Placements
    key : ndarray of shape (n_rows,)
        Of any sign; that of unjudged documents is 0.
    weights : ndarray of shape (n_ranks,)
        Those of the ranks from 1 to n_ranks, of any sign, in any order; deeper ranks have the weight 0.
    """
    starts = placements.tie_starts
    n_judged = placements.tie_sizes
    above = placements.above[starts]
    tied = placements.tied[starts]
    # the ranks of each tie, the largest weight first
    rank = concatenate_ranges(above, tied)
    weight = np.append(weights, 0.0)[np.minimum(rank, len(weights))]
    tie = np.repeat(np.arange(len(starts)), tied)
    ranks_by_weight = rank[np.lexsort((rank, -weight, tie))]
    # the documents of each tie, the highest key first: each gets the rank at its place in `ranks_by_weight`
    arranged = arrange_around_unjudged(placements, key)
    place_in_tie = arranged.above - np.repeat(above, n_judged)
    first = np.cumsum(tied) - tied
    return arranged.moved(ranks_by_weight[np.repeat(first, n_judged) + place_in_tie])


def _arrange_rows(placements: Placements, *, best: bool) -> Placements:
    """Break every tie in the order of its rows (`best`) or against it, without a sort; else as :func:`arrange`."""
    first = placements.tie_starts
    n_judged = placements.tie_sizes
    row = np.arange(len(placements.query))
    place_in_tie = row - np.repeat(first, n_judged)
    above = placements.above + place_in_tie
    arranged = placements
    if not best:  # unjudged documents come first, then the rows of each tie from the last to the first
        n_unjudged = placements.tied - np.repeat(n_judged, n_judged)
        above += n_unjudged
        last_row = np.repeat(first + n_judged - 1, n_judged)
        arranged = placements.rows(last_row - place_in_tie)
    return replace(arranged, above=above, tied=np.ones_like(above), before=find_before_policy(placements))
