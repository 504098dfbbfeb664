"""Tie policies: each turns placements into placements, so that measures need not know about it; and shorter lists.

Those are cut at a depth, or without unjudged documents; of placements, and of any engine.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.data.tables import Run
from deadheat.core.errors import Advice, DataError, ParameterError
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


def extreme(placements: Placements, *, best: bool) -> Placements:
    """Put judged documents first in their tie, the highest relevance first; or last, the lowest relevance first."""
    if not placements.have_ties:
        return placements  # what measures have found of them holds here too
    return placements.cached(("extreme", best), lambda: _ordered(placements, best=best))


def _ordered(placements: Placements, *, best: bool) -> Placements:
    """Break every tie in the order of its rows, without a sort; `best` or not as for :func:`arrange`."""
    starts, sizes, rows = placements.tie_starts, placements.tie_sizes, np.arange(len(placements.query))
    above, before = placements.above + rows - np.repeat(starts, sizes), placements.before or replace(placements)
    if not best:
        above += placements.tied - np.repeat(sizes, sizes)
        placements = placements.rows(np.repeat(2 * starts + sizes - 1, sizes) - rows)  # each tie from its end
    return replace(placements, above=above, tied=np.ones_like(above), before=before)


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


class Shortened:
    """An engine whose lists are cut and condensed, in this order (as trec_eval's -M and -J).

    Parameters
    ----------
    engine : Engine
        Finds the whole lists.
    depth : int or None
        Documents of each list that remain; None: all.
    judged_only : bool
        Whether unjudged documents are then taken out, those of negative relevance too.
    ties : str
        The tie policy, which says what remains of a tie that the depth cuts. Under "expected" it must hold no judged
        document, or be below what is looked at.
    rng : numpy.random.Generator, int or None
        For ``ties="random"``.
    deepest : int or None
        Rank below which nothing will be looked at; None: everything is.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        depth: int | None,
        judged_only: bool,
        ties: str,
        rng: Rng,
        deepest: int | None,
    ) -> None:
        self._engine, self._depth, self._judged_only = engine, depth, judged_only
        self._ties, self._rng = ties, rng
        self._deepest = None if judged_only else deepest  # ranks without unjudged documents are others

    @cached_property
    def _whole(self) -> Placements:
        return self._engine.place()

    @cached_property
    def _placed(self) -> Placements:
        shorter = self._whole
        if self._depth is not None:
            ranked = None if self._ties == "expected" else apply(self._whole, self._ties, self._rng, self._engine)
            shorter = truncate(shorter, self._depth, ranked, deepest=self._deepest)
        return condense(shorter) if self._judged_only else shorter

    def place(self) -> Placements:
        """Return the placements of the judged documents in the shorter lists."""
        return self._placed

    def count_first(self, placements: Placements, rows: IntArray, rule: str) -> IntArray:
        """Count, for each of the given placements, the remaining documents of its tie that a rule puts before it."""
        own = self._placed
        ranks = _ranks(by_rule(self._whole, self._engine, rule), own)
        if self._judged_only:  # the rank among what remains
            order = np.lexsort((ranks, own.query))
            ranks = np.empty_like(ranks)
            ranks[order] = np.arange(len(order)) - np.searchsorted(own.query, own.query)
        is_there = np.isin(own.query_ids, placements.query_ids)[own.query]
        return (ranks - own.above)[is_there][rows]


def _ranks(ranked: Placements, some: Placements) -> IntArray:
    """Return how many documents are above each row of some placements in others that hold it too."""
    keys, others = (zip(one.query.tolist(), one.doc_ids.tolist(), strict=True) for one in (ranked, some))
    places = dict(zip(keys, ranked.above.tolist(), strict=True))
    return np.array([places[key] for key in others], np.int64)


def condense(placements: Placements) -> Placements:
    """Return the placements in lists without unjudged documents; those of negative relevance count as unjudged.

    Parameters
    ----------
    placements : Placements

    Examples
    --------
    >>> from deadheat import place
    >>> condensed = condense(place({"q": {"b": 1, "d": 0}}, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}))
    >>> condensed.above.tolist(), condensed.n_retrieved.tolist()
    ([0, 1], [2])
    """
    kept = _kept(placements, placements.relevance >= 0)
    starts, tied = kept.tie_starts, kept.tie_sizes
    of_query = np.searchsorted(kept.query, kept.query[starts])
    return replace(
        kept,
        n_retrieved=np.bincount(kept.query, minlength=kept.n_queries),
        absent=placements.lacking,
        above=np.repeat(starts - of_query, tied),
        tied=np.repeat(tied, tied),
        retrieves_itself=None if placements.retrieves_itself is None else _judge_themselves(kept),
    )


def _judge_themselves(placements: Placements) -> BoolArray:
    """Tell which queries retrieve a judged document that has their id."""
    own = np.zeros(placements.n_queries, np.bool_)
    if placements.retrieves_itself is not None and placements.retrieves_itself.any():
        is_own = placements.doc_ids == placements.query_ids[placements.query]
        own[placements.query[is_own]] = True
    return own


def truncate(
    placements: Placements, depth: int, ranked: Placements | None = None, *, deepest: int | None = None
) -> Placements:
    """Return the placements in the first documents of each list.

    Parameters
    ----------
    placements : Placements
    depth : int
        Documents of a list that are kept.
    ranked : Placements, optional
        The same documents without ties: says which of a tie remain, where the cut goes through it. What remains of it
        still ties.

    deepest : int, optional
        Rank below which nothing will be looked at. If that is above the cut, a tie that is cut may stay whole.

    Raises
    ------
    ParameterError
        The cut goes through a tie that holds judged documents.

    Examples
    --------
    >>> from deadheat import place
    >>> cut = truncate(place({"q": {"b": 1, "d": 0}}, {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}), 3)
    >>> cut.above.tolist(), cut.n_retrieved.tolist()
    ([1], [3])
    """
    n_retrieved = np.minimum(placements.n_retrieved, depth)
    if ranked is not None:  # the ties are those that there were
        kept = _kept(placements, _ranks(ranked, placements) < depth)
        return replace(kept, n_retrieved=n_retrieved, tied=np.minimum(kept.tied, depth - kept.above))
    is_cut = (placements.above < depth) & (placements.above + placements.tied > depth)
    if deepest is not None and deepest <= depth:
        np.maximum.at(n_retrieved, placements.query[is_cut], (placements.above + placements.tied)[is_cut])
    elif is_cut.any():
        query = placements.query_ids[placements.query[np.flatnonzero(is_cut)[0]]]
        raise ParameterError(
            f"cuts a tie of query {query!r}, and which documents remain depends on their order",
            argument="depth",
            given=depth,
            hint=Advice(
                "ties", "doc_id", when=f"choose measures with a cutoff up to {depth}, or a rule that breaks ties: "
            ),
        )
    return replace(_kept(placements, placements.above < depth), n_retrieved=n_retrieved)


def _kept(placements: Placements, keep: BoolArray) -> Placements:
    """Return the placements with some of their rows, and without what was before a tie policy."""
    return replace(placements.rows(keep), before=None, ends_in_tie=None)
